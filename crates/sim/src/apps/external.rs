//! Packets injected from outside the run, and their outcomes: the input of
//! [`World::inject`](crate::World::inject) and the output of
//! [`World::poll_outcome`](crate::World::poll_outcome).
//!
//! The simulator knows the lengths of injected packets, and their headers where a capture shows them. The
//! program that injects a packet keeps its bytes, by packet number.

use multihop_core::{DropCause, Ecn, FlowId, HeaderBytes, NodeId, Segment, Time};
use multihop_transport::{Delivered, Endpoint, Progress};

/// Packet to inject into a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Injection {
    /// Flow of the packet, with the application [`External`](crate::config::AppConfig::External). The packet
    /// goes from the flow's source to its destination.
    pub flow: FlowId,
    /// Payload bytes, which goodput counts.
    pub payload: u32,
    /// Bytes of network and transport headers. The MAC carries these and the payload.
    pub header: u32,
    /// ECN codepoint of the network header.
    pub ecn: Ecn,
    /// Number of the packet's connection, by which fair queues separate flows.
    pub stream: u16,
    /// Congestion header, whose bytes are part of `header`. Routers of the flow's scheme change it.
    pub congestion: HeaderBytes,
}

/// Frame to inject for a single hop, for programs that do their own routing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OutsideFrame {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver, a neighbour of the transmitter; none for a broadcast, which is sent at the control rate and
    /// not acknowledged.
    pub to: Option<NodeId>,
    /// Bytes that the MAC carries.
    pub size: u32,
}

/// Outcome of an injected packet or frame. Each has one outcome, except a broadcast: one for each node that
/// receives it, and one for its transmission. Packets still queued have none yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketOutcome {
    /// The packet reached its destination.
    Delivered {
        /// Packet number that `inject` returned.
        number: u64,
        /// Time of delivery.
        at: Time,
        /// ECN codepoint at delivery.
        ecn: Ecn,
        /// Congestion header at delivery.
        congestion: HeaderBytes,
        /// Number of hops taken.
        hops: u16,
    },
    /// The frame reached a node.
    Heard {
        /// Frame number that `inject_frame` returned.
        number: u64,
        /// Time of reception.
        at: Time,
        /// Node that received the frame.
        node: NodeId,
    },
    /// The broadcast was sent. Its listeners receive it now, or one propagation delay later.
    Sent {
        /// Frame number that `inject_frame` returned.
        number: u64,
        /// Time at which the transmission ended.
        at: Time,
    },
    /// The packet was lost.
    Lost {
        /// Packet number that `inject` returned.
        number: u64,
        /// Time of the loss.
        at: Time,
        /// Node at which the packet was lost.
        node: NodeId,
        /// Cause of the loss.
        cause: DropCause,
    },
}

impl PacketOutcome {
    /// Number of the packet or frame.
    pub fn number(&self) -> u64 {
        match self {
            PacketOutcome::Delivered { number, .. }
            | PacketOutcome::Heard { number, .. }
            | PacketOutcome::Sent { number, .. }
            | PacketOutcome::Lost { number, .. } => *number,
        }
    }

    /// Time of the outcome.
    pub fn at(&self) -> Time {
        match self {
            PacketOutcome::Delivered { at, .. }
            | PacketOutcome::Heard { at, .. }
            | PacketOutcome::Sent { at, .. }
            | PacketOutcome::Lost { at, .. } => *at,
        }
    }
}

/// Endpoint of a flow with injected packets, at both ends: arrivals are counted, and nothing is answered.
pub(crate) struct Outside;

impl Endpoint for Outside {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, _now: Time, segment: &Segment) -> Delivered {
        Delivered { bytes: u64::from(segment.payload), offset: segment.offset }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}
