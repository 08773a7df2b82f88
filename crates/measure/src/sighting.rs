//! A frame, as an onlooker saw it.

use crate::StationId;
use multihop_capture::{Control, Frame, FrameType};
use multihop_core::{Interval, Rate, Span, Time};

/// A frame with its times.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// Its stamp, on the time line of the onlooker.
    pub stamp: Time,
    /// What that marks, if the radio says so itself.
    pub marks: Option<crate::Marks>,
    /// The onlooker's own host sent it.
    pub sent: bool,
    /// It is part of an A-MPDU.
    pub aggregate: bool,
    /// For how long it was on the air; none if the receiver did not say enough.
    pub airtime: Option<Span>,
    /// The part of it before the MAC header: preamble and PLCP header.
    pub preamble: Span,
    /// Bit rate, if known.
    pub rate: Option<Rate>,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// The frame.
    pub frame: Frame,
    /// Its sender, where the frame says so.
    pub transmitter: Option<StationId>,
    /// Whom it is for, if one station.
    pub receiver: Option<StationId>,
    /// SIFS of its band.
    pub sifs: Span,
}

impl Sighting {
    /// The same on a time line that begins later, but not after its stamp.
    #[must_use]
    pub fn after(&self, origin: Span) -> Sighting {
        Sighting { stamp: self.stamp - origin.min(self.stamp.since(Time::ZERO)), ..*self }
    }

    /// When it was on the air, if its stamp marks what `marks` says; what the radio says of that goes first.
    pub fn air(&self, marks: crate::Marks) -> Interval {
        let length = self.airtime.unwrap_or(Span::ZERO);
        match self.marks.unwrap_or(marks) {
            crate::Marks::Begin => Interval { start: self.stamp, end: self.stamp + length },
            crate::Marks::Mpdu => {
                let start = self.stamp - self.preamble.min(length).min(self.stamp.since(Time::ZERO));
                Interval { start, end: start + length }
            }
            crate::Marks::End => {
                let length = length.min(self.stamp.since(Time::ZERO));
                Interval { start: self.stamp - length, end: self.stamp }
            }
        }
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

    /// Bytes that the network layer asked the MAC to carry: the IP packet, where it can be read; otherwise what is left of the body
    /// without LLC and SNAP (8 bytes) and, if it is encrypted, CCMP's header and check (16 bytes; 12.5.3.2), the most common.
    pub fn network_bytes(&self) -> u32 {
        let overhead = if self.frame.protected { 8 + 16 } else { 8 };
        let network = self.frame.payload.and_then(|payload| payload.network);
        network.map_or(self.frame.body_bytes.saturating_sub(overhead), |network| network.total_bytes)
    }

    /// What kind of control frame it is.
    pub fn control(&self) -> Option<Control> {
        match self.frame.kind {
            FrameType::Control(control) => Some(control),
            _ => None,
        }
    }
}
