//! Packets that come from outside of the run, and what becomes of them: what
//! [`World::inject`](crate::World::inject) takes, and [`World::poll_outcome`](crate::World::poll_outcome)
//! returns.
//!
//! The simulator knows how long they are, never what is in them, but for headers that a capture shows: the
//! program that injects a packet keeps its bytes, by its number.

use multihop_core::{DropCause, Ecn, FlowId, HeaderBytes, NodeId, Segment, Time};
use multihop_transport::{Delivered, Endpoint, Progress};

/// A packet from outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Injection {
    /// Its flow, whose application is [`External`](crate::config::AppConfig::External): it goes from the
    /// flow's source to its destination.
    pub flow: FlowId,
    /// Payload bytes, which goodput counts.
    pub payload: u32,
    /// Bytes of network and transport headers: together with the payload what the MAC is asked to carry.
    pub header: u32,
    /// ECN codepoint of the network header.
    pub ecn: Ecn,
    /// Which connection it is of: queues that keep flows apart keep these apart.
    pub stream: u16,
    /// Its congestion header, whose bytes are among those of `header`; routers of the flow's scheme change
    /// it.
    pub congestion: HeaderBytes,
}

/// A frame from outside, which goes one hop: the program that injects it does the routing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OutsideFrame {
    /// Its transmitter.
    pub from: NodeId,
    /// The neighbour that it is for; none for a broadcast, which is sent at the control rate and reaches
    /// everyone around, or not.
    pub to: Option<NodeId>,
    /// Bytes that the MAC is asked to carry.
    pub size: u32,
}

/// What became of a packet or a frame from outside. Each has one outcome, but a broadcast one for each node
/// that hears it, around one that says that it was sent; those that are still queued have none yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketOutcome {
    /// It reached its destination.
    Delivered {
        /// The number that `inject` returned.
        number: u64,
        /// When.
        at: Time,
        /// Its ECN codepoint then.
        ecn: Ecn,
        /// Its congestion header then.
        congestion: HeaderBytes,
        /// Hops that it took.
        hops: u16,
    },
    /// A frame reached this node.
    Heard {
        /// The number that `inject_frame` returned.
        number: u64,
        /// When.
        at: Time,
        /// Where.
        node: NodeId,
    },
    /// A broadcast was sent. Its listeners receive it now, or as much later as light takes.
    Sent {
        /// The number that `inject_frame` returned.
        number: u64,
        /// When.
        at: Time,
    },
    /// It was lost.
    Lost {
        /// The number that `inject` returned.
        number: u64,
        /// When.
        at: Time,
        /// Where.
        node: NodeId,
        /// Why.
        cause: DropCause,
    },
}

impl PacketOutcome {
    /// The number of the packet.
    pub fn number(&self) -> u64 {
        match self {
            PacketOutcome::Delivered { number, .. }
            | PacketOutcome::Heard { number, .. }
            | PacketOutcome::Sent { number, .. }
            | PacketOutcome::Lost { number, .. } => *number,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Time {
        match self {
            PacketOutcome::Delivered { at, .. }
            | PacketOutcome::Heard { at, .. }
            | PacketOutcome::Sent { at, .. }
            | PacketOutcome::Lost { at, .. } => *at,
        }
    }
}

/// Both ends of a flow whose packets come from outside: what arrives counts, and nothing is answered.
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
