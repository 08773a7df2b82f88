//! A frame on the air.

use super::LoadId;
use crate::slab::Handle;
use multihop_core::{FrameKind, Interval, NodeId, Report, Span, Time};

/// What a frame is sent for, which decides its rate among those of its link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateClass {
    /// RTS and broadcasts.
    Control,
    /// CTS.
    Cts,
    /// ACK.
    Ack,
    /// Unicast data.
    Data,
    /// CF-End.
    CfEnd,
}

impl RateClass {
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// Which rates the frames of a link have: links of one DATA rate share a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RateSet(pub u8);

impl RateSet {
    /// That of links without a rate of their own, and of broadcasts.
    pub const NOMINAL: RateSet = RateSet(0);

    /// The place of a class of this set in lists of all rates of a run.
    pub fn index(self, class: RateClass) -> usize {
        usize::from(self.0) * RateClass::COUNT + class as usize
    }
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// What it is.
    pub kind: FrameKind,
    /// Its transmitter.
    pub from: NodeId,
    /// Its receiver; none for a broadcast, its transmitter of a CTS to itself.
    pub to: Option<NodeId>,
    /// Its duration field.
    pub duration: Span,
    /// MAC bytes, FCS included.
    pub bytes: u32,
    /// Its rate, among those of `rates`.
    pub rate: RateClass,
    /// The rates of its link.
    pub rates: RateSet,
    /// The packet in it: the sender's copy.
    pub packet: Option<Handle>,
    /// The sender's sequence number of that packet, for the duplicate filter; of a CTS or an ACK that of the
    /// frame that it answers, which is not on the air.
    pub sequence: u32,
    /// What the sender of an ACK says of its links. It takes no airtime.
    pub report: Option<Report>,
    /// What it carries besides, if its DATA is part of a block acknowledgement agreement, or it is about one.
    /// Its sequence number counts exchanges then, and `packet` is the first of its packets.
    pub load: Option<LoadId>,
    /// It is DATA that was sent before (8.2.4.1.6).
    pub retry: bool,
    /// Preamble and PLCP header.
    pub overhead: Span,
    /// When its first and last bit are at the listeners; where delays go by distance, of the sender's own
    /// frame at itself.
    pub air: Interval,
}

impl Frame {
    /// When it is over at the listeners.
    pub fn end(&self) -> Time {
        self.air.end
    }

    /// Is it a CTS that its sender addresses to itself, so that others set their NAV?
    #[inline]
    pub fn is_to_self(&self) -> bool {
        self.kind == FrameKind::Cts && self.to == Some(self.from)
    }

    /// Is it sent because of what came from another station?
    pub fn is_answer(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck) && !self.is_to_self()
    }

    /// The node that is to decode it, if it is a single one, and not itself.
    pub fn receiver(&self) -> Option<NodeId> {
        self.to.filter(|to| *to != self.from)
    }

    /// The place of its rate in lists of all rates of the run.
    pub fn rate_index(&self) -> usize {
        self.rates.index(self.rate)
    }

    /// Which part of that these bytes of it take.
    pub fn airtime_of(&self, bytes: u32) -> Span {
        let octets = self.psdu_airtime().ns();
        Span::from_ns(octets * u64::from(bytes) / u64::from(self.bytes))
    }

    /// When it is at its sender, if it is at the listeners this much later; 0 where that goes by distance.
    pub fn air_at_sender(&self, propagation: Span) -> Interval {
        Interval { start: self.air.start - propagation, end: self.air.end - propagation }
    }

    /// How long its octets take, behind preamble and header.
    pub fn psdu_airtime(&self) -> Span {
        self.airtime().saturating_sub(self.overhead)
    }

    /// When the MPDU is over at the listeners that ends at this fraction of its PSDU.
    pub fn mpdu_end(&self, fraction: f64) -> Time {
        let octets = (self.psdu_airtime().ns() as f64 * fraction) as u64;
        self.air.start + self.overhead + Span::from_ns(octets)
    }

    /// How long it is on the air.
    pub fn airtime(&self) -> Span {
        self.air.length()
    }
}

#[cfg(test)]
impl Frame {
    /// DATA of a node for node 9, which says and carries nothing.
    pub fn sample(from: u32, air: Interval) -> Frame {
        Frame {
            kind: FrameKind::Data,
            from: NodeId(from),
            to: Some(NodeId(9)),
            duration: Span::ZERO,
            bytes: 100,
            rate: RateClass::Data,
            rates: RateSet::NOMINAL,
            packet: None,
            sequence: 0,
            report: None,
            load: None,
            retry: false,
            overhead: Span::ZERO,
            air,
        }
    }
}
