//! A captured frame with its times.

use crate::{AmpduPosition, FrameNumber, StampReference, StationId};
use multihop_capture::{Control, Frame, FrameType};
use multihop_core::{Interval, Rate, Span, Time};

/// Frame with its times, as the sniffer captured it.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFrame {
    /// Timestamp on the sniffer's time line.
    pub stamp: Time,
    /// Whether the timestamp is interpolated because all timestamps of the frame were outliers. The duration
    /// of an exchange with such a frame is unknown.
    pub is_guessed: bool,
    /// Instant that the timestamp refers to, if the radio reports it.
    pub stamp_reference: Option<StampReference>,
    /// Whether the radio reports that instant, with a resolution finer than microseconds.
    pub exact: bool,
    /// Whether the sniffer's own host sent the frame.
    pub sent: bool,
    /// Airtime; in an A-MPDU the frame's share. None if the receiver reported too little.
    pub airtime: Option<Span>,
    /// Airtime before the MAC header: preamble and PLCP header.
    pub preamble: Span,
    /// Bit rate, if known.
    pub rate: Option<Rate>,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Number of bytes that the network layer asked the MAC to carry; for the representative of an A-MPDU,
    /// those of all its data frames.
    pub size: u32,
    /// MAC header and payload.
    pub frame: Frame,
    /// Transmitter, if the frame carries its address.
    pub transmitter: Option<StationId>,
    /// Receiver; none for a group address.
    pub receiver: Option<StationId>,
    /// SIFS of the frame's band.
    pub sifs: Span,
    /// Time from the last symbol of the frame to a response.
    pub response_gap: Span,
    /// Position in the A-MPDU, if the frame is part of one.
    pub ampdu: Option<AmpduPosition>,
}

impl CapturedFrame {
    /// This frame on a time line that begins later by `origin`, but not after the frame's timestamp.
    #[must_use]
    pub fn after(&self, origin: Span) -> CapturedFrame {
        let after = |stamp: Time| stamp - origin.min(stamp.since(Time::ZERO));
        let ampdu = self
            .ampdu
            .map(|part| AmpduPosition { stamps: (after(part.stamps.0), after(part.stamps.1)), ..part });
        CapturedFrame { stamp: after(self.stamp), ampdu, ..*self }
    }

    /// Time on the air, if its timestamp refers to `stamp_reference`; the radio's own report takes
    /// precedence.
    pub fn air(&self, stamp_reference: StampReference) -> Interval {
        let ppdu = self.ppdu(stamp_reference);
        let Some(part) = self.ampdu else { return ppdu };
        let start = ppdu.end.min(ppdu.start + part.offset);
        Interval { start, end: ppdu.end.min(start + self.airtime.unwrap_or_default()) }
    }

    /// Time on the air of the frame's PPDU. Receivers either stamp each frame of an A-MPDU, or all with the
    /// same time.
    pub fn ppdu(&self, stamp_reference: StampReference) -> Interval {
        let (first, last) = self.stamps();
        let length = self.ppdu_airtime().unwrap_or_default();
        match self.stamp_reference.unwrap_or(stamp_reference) {
            StampReference::Begin => Interval { start: first, end: first + length },
            StampReference::Mpdu => {
                let start = first - self.preamble.min(length).min(first.since(Time::ZERO));
                Interval { start, end: start + length }
            }
            StampReference::End => Interval { start: last - length.min(last.since(Time::ZERO)), end: last },
        }
    }

    /// This frame with another number of bytes.
    #[must_use]
    pub fn with_size(&self, size: u32) -> CapturedFrame {
        CapturedFrame { size, ..*self }
    }

    /// Timestamps of the first and of the last frame of the PPDU.
    pub fn stamps(&self) -> (Time, Time) {
        self.ampdu.map_or((self.stamp, self.stamp), |part| part.stamps)
    }

    /// Airtime of the PPDU.
    pub fn ppdu_airtime(&self) -> Option<Span> {
        self.airtime.map(|share| self.ampdu.map_or(share, |part| part.airtime))
    }

    /// Whether the frame is damaged or unreadable, so that only its time is known.
    pub fn is_damaged(&self) -> bool {
        self.frame.kind == FrameType::Unknown
    }

    /// Whether an ACK must follow: unicast data and management frames.
    pub fn requires_ack(&self) -> bool {
        let unicast = self.receiver.is_some();
        match self.frame.kind {
            // Ack policy 0 or none: an immediate ACK; in an A-MPDU, a block acknowledgement.
            FrameType::Data(data) => unicast && data.ack_policy.unwrap_or(0) == 0,
            FrameType::Management(_) => unicast,
            _ => false,
        }
    }

    /// Traffic identifier and sequence number of a data or management frame.
    pub fn number(&self) -> Option<FrameNumber> {
        let tid = match self.frame.kind {
            FrameType::Data(data) => data.tid,
            _ => None,
        };
        self.frame.sequence.map(|sequence| FrameNumber { tid, sequence: sequence.number })
    }

    /// Type of a control frame; none for other frames.
    pub fn control(&self) -> Option<Control> {
        match self.frame.kind {
            FrameType::Control(control) => Some(control),
            _ => None,
        }
    }
}

/// Number of bytes that the network layer asked the MAC to carry: the length of the IP packet if it is
/// readable, else the body without LLC and SNAP (8 bytes) and, if encrypted, without header and check of CCMP
/// (16 bytes; 12.5.3.2), the most common cipher. An IP length above that of the body belongs to a fragment.
/// An A-MSDU counts all its packets.
pub fn network_bytes(frame: &Frame) -> u32 {
    if let Some(bytes) = frame.a_msdu_bytes {
        return bytes.min(frame.body_bytes);
    }
    let overhead = if frame.protected { 8 + 16 } else { 8 };
    let network = frame.payload.and_then(|payload| payload.network);
    network.map_or(frame.body_bytes.saturating_sub(overhead), |network| {
        network.total_bytes.min(frame.body_bytes)
    })
}
