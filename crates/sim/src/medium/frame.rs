//! Frames on the air.

use super::LoadId;
use crate::slab::Handle;
use multihop_core::{FrameKind, Interval, NodeId, Report, Span, Time};

/// Class of a frame that selects its rate among those of its link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateClass {
    /// RTS and broadcasts.
    Control,
    /// CTS.
    Cts,
    /// ACK.
    Ack,
    /// Unicast DATA.
    Data,
    /// CF-End.
    CfEnd,
}

impl RateClass {
    /// Number of classes.
    pub const COUNT: usize = 5;
}

/// Identifier of the rates of a link's frames. Links with the same DATA rate share a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RateSet(pub u8);

impl RateSet {
    /// Rates of links without a rate of their own, and of broadcasts.
    pub const NOMINAL: RateSet = RateSet(0);

    /// Index of a class of this set in tables of all rates of a run.
    pub fn index(self, class: RateClass) -> usize {
        usize::from(self.0) * RateClass::COUNT + class as usize
    }
}

/// Frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Type of the frame.
    pub kind: FrameKind,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; none for a broadcast, the transmitter itself for a CTS-to-self.
    pub to: Option<NodeId>,
    /// Value of the duration field.
    pub duration: Span,
    /// Length of the MAC frame in bytes, FCS included.
    pub bytes: u32,
    /// Class of the frame among the rates of `rates`.
    pub rate: RateClass,
    /// Rates of the frame's link.
    pub rates: RateSet,
    /// Packet that the frame carries: the sender's copy.
    pub packet: Option<Handle>,
    /// Sequence number of the packet, for the duplicate filter. In a CTS or an ACK, the number of the frame
    /// that it answers, which is not transmitted.
    pub sequence: u32,
    /// Report of the ACK's sender about its links, which takes no airtime.
    pub report: Option<Report>,
    /// MPDUs or block acknowledgement of the frame, if it belongs to a block acknowledgement agreement.
    /// `sequence` then counts exchanges, and `packet` is the first packet.
    pub load: Option<LoadId>,
    /// Whether the frame is DATA sent before: the retry bit (8.2.4.1.6).
    pub retry: bool,
    /// Duration of preamble and PLCP header.
    pub overhead: Span,
    /// Times of the first and the last bit at the listeners; where propagation delays depend on distance,
    /// those at the sender itself.
    pub air: Interval,
}

impl Frame {
    /// Time at which the frame ends at the listeners.
    pub fn end(&self) -> Time {
        self.air.end
    }

    /// Whether the frame is a CTS-to-self, by which other stations set their NAV.
    #[inline]
    pub fn is_to_self(&self) -> bool {
        self.kind == FrameKind::Cts && self.to == Some(self.from)
    }

    /// Whether the frame is a response to a frame of another station.
    pub fn is_answer(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck) && !self.is_to_self()
    }

    /// Single node that is to decode the frame; none for a broadcast or a CTS-to-self.
    pub fn receiver(&self) -> Option<NodeId> {
        self.to.filter(|to| *to != self.from)
    }

    /// Index of the frame's rate in tables of all rates of the run.
    pub fn rate_index(&self) -> usize {
        self.rates.index(self.rate)
    }

    /// Share of the PSDU's airtime that `bytes` bytes of the frame take.
    pub fn airtime_of(&self, bytes: u32) -> Span {
        let octets = self.psdu_airtime().ns();
        Span::from_ns(octets * u64::from(bytes) / u64::from(self.bytes))
    }

    /// Times of the frame at its sender, if the listeners are `propagation` later; 0 where the delay depends
    /// on distance.
    pub fn air_at_sender(&self, propagation: Span) -> Interval {
        Interval { start: self.air.start - propagation, end: self.air.end - propagation }
    }

    /// Airtime of the PSDU: the octets behind preamble and header.
    pub fn psdu_airtime(&self) -> Span {
        self.airtime().saturating_sub(self.overhead)
    }

    /// Time at the listeners at which the MPDU ends that ends at this fraction of the PSDU.
    pub fn mpdu_end(&self, fraction: f64) -> Time {
        let octets = (self.psdu_airtime().ns() as f64 * fraction) as u64;
        self.air.start + self.overhead + Span::from_ns(octets)
    }

    /// Airtime of the whole frame.
    pub fn airtime(&self) -> Span {
        self.air.length()
    }
}

#[cfg(test)]
impl Frame {
    /// Sample DATA frame for node 9, without contents, for tests.
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
