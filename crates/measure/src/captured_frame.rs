//! A frame, as a sniffer saw it.

use crate::{Number, Part, StampReference, StationId};
use multihop_capture::{Control, Frame, FrameType};
use multihop_core::{Interval, Rate, Span, Time};

/// A frame with its times.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFrame {
    /// Its stamp, on the time line of the sniffer.
    pub stamp: Time,
    /// Whether the stamp is a guess, as all that the frame had was wild: nothing can be said of how long an
    /// exchange with it took.
    pub is_guessed: bool,
    /// What that marks, if the radio says so itself.
    pub marks: Option<StampReference>,
    /// The radio says so, and counts in less than microseconds.
    pub exact: bool,
    /// The sniffer's own host sent it.
    pub sent: bool,
    /// For how long it was on the air, of an A-MPDU its share; none if the receiver did not say enough.
    pub airtime: Option<Span>,
    /// The part of it before the MAC header: preamble and PLCP header.
    pub preamble: Span,
    /// Bit rate, if known.
    pub rate: Option<Rate>,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Bytes that the network layer asked the MAC to carry; of an A-MPDU that a frame stands for, of all its
    /// data.
    pub size: u32,
    /// The frame.
    pub frame: Frame,
    /// Its sender, where the frame says so.
    pub transmitter: Option<StationId>,
    /// Whom it is for, if one station.
    pub receiver: Option<StationId>,
    /// SIFS of its band.
    pub sifs: Span,
    /// Time from its last symbol to its answer.
    pub answer_gap: Span,
    /// Its place in its A-MPDU, if it was in one.
    pub part: Option<Part>,
}

impl CapturedFrame {
    /// The same on a time line that begins later, but not after its stamp.
    #[must_use]
    pub fn after(&self, origin: Span) -> CapturedFrame {
        let after = |stamp: Time| stamp - origin.min(stamp.since(Time::ZERO));
        let part =
            self.part.map(|part| Part { stamps: (after(part.stamps.0), after(part.stamps.1)), ..part });
        CapturedFrame { stamp: after(self.stamp), part, ..*self }
    }

    /// When it was on the air, if its stamp marks what `marks` says; what the radio says of that goes first.
    pub fn air(&self, marks: StampReference) -> Interval {
        let ppdu = self.ppdu(marks);
        let Some(part) = self.part else { return ppdu };
        let start = ppdu.end.min(ppdu.start + part.before);
        Interval { start, end: ppdu.end.min(start + self.airtime.unwrap_or_default()) }
    }

    /// When the PPDU was on the air that it was part of. Receivers stamp each frame of an A-MPDU by itself,
    /// or all alike.
    pub fn ppdu(&self, marks: StampReference) -> Interval {
        let (first, last) = self.stamps();
        let length = self.ppdu_airtime().unwrap_or_default();
        match self.marks.unwrap_or(marks) {
            StampReference::Begin => Interval { start: first, end: first + length },
            StampReference::Mpdu => {
                let start = first - self.preamble.min(length).min(first.since(Time::ZERO));
                Interval { start, end: start + length }
            }
            StampReference::End => Interval { start: last - length.min(last.since(Time::ZERO)), end: last },
        }
    }

    /// Carrying another number of bytes.
    #[must_use]
    pub fn with_size(&self, size: u32) -> CapturedFrame {
        CapturedFrame { size, ..*self }
    }

    /// Stamps of the first and of the last frame of its PPDU.
    pub fn stamps(&self) -> (Time, Time) {
        self.part.map_or((self.stamp, self.stamp), |part| part.stamps)
    }

    /// For how long its PPDU was on the air.
    pub fn ppdu_airtime(&self) -> Option<Span> {
        self.airtime.map(|share| self.part.map_or(share, |part| part.whole))
    }

    /// It arrived damaged, or cannot be read: of it only its time is known.
    pub fn is_damaged(&self) -> bool {
        self.frame.kind == FrameType::Unknown
    }

    /// A unicast data or management frame, which is answered by an ACK.
    pub fn wants_ack(&self) -> bool {
        let unicast = self.receiver.is_some();
        match self.frame.kind {
            // Policy 0, or none: answered at once. In an A-MPDU a BlockAck answers.
            FrameType::Data(data) => unicast && data.ack_policy.unwrap_or(0) == 0,
            FrameType::Management(_) => unicast,
            _ => false,
        }
    }

    /// The number of a data or management frame.
    pub fn number(&self) -> Option<Number> {
        let tid = match self.frame.kind {
            FrameType::Data(data) => data.tid,
            _ => None,
        };
        self.frame.sequence.map(|sequence| Number { tid, sequence: sequence.number })
    }

    /// What kind of control frame it is.
    pub fn control(&self) -> Option<Control> {
        match self.frame.kind {
            FrameType::Control(control) => Some(control),
            _ => None,
        }
    }
}

/// Bytes that the network layer asked the MAC to carry in a frame: the IP packet, where it can be read;
/// otherwise what is left of the body without LLC and SNAP (8 bytes) and, if it is encrypted, CCMP's header
/// and check (16 bytes; 12.5.3.2), the most common. A packet that says it is longer than the body is a part
/// of one. Of an A-MSDU all packets count.
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
