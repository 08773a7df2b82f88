//! A frame on the air.

use crate::slab::Handle;
use multihop_core::{FrameKind, Interval, NodeId, Span, Time};

/// Which of the run's rates a frame is sent at.
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
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// What it is.
    pub kind: FrameKind,
    /// Who sends it.
    pub from: NodeId,
    /// Who it is for; none for a broadcast.
    pub to: Option<NodeId>,
    /// Its duration field.
    pub duration: Span,
    /// MAC bytes, FCS included.
    pub bytes: u32,
    /// Its rate.
    pub rate: RateClass,
    /// The packet in it: the sender's copy.
    pub packet: Option<Handle>,
    /// The sender's sequence number of that packet, for the duplicate filter.
    pub sequence: u32,
    /// It is DATA that was sent before (8.2.4.1.6).
    pub retry: bool,
    /// Preamble and PLCP header.
    pub overhead: Span,
    /// When its first and last bit are at the listeners.
    pub air: Interval,
}

impl Frame {
    /// When it is over at the listeners.
    pub fn end(&self) -> Time {
        self.air.end
    }

    /// How long it is on the air.
    pub fn airtime(&self) -> Span {
        self.air.length()
    }
}
