//! Helpers of routing tests.

use crate::slab::{Datagram, Handle, Slab};
use multihop_core::{FlowId, NodeId, Packet, Port, Segment, Span, Time};

/// Instant at this number of seconds.
pub(super) fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// Handles of packets for an agent to hold, which it never reads.
pub(crate) fn handles(count: u64) -> Vec<Handle> {
    let mut slab = Slab::default();
    let packet = |number| Packet {
        segment: Segment::default(),
        flow: FlowId(0),
        port: Port::Receiver,
        source: NodeId(0),
        destination: NodeId(1),
        size: 100,
        number,
        created: Time::ZERO,
        hops: 0,
    };
    (0..count).map(|number| slab.insert(packet(number))).collect()
}

/// Copy of a message, truncated to its first `length` bytes.
pub(super) fn cut(message: &Datagram, length: usize) -> Datagram {
    Datagram::new(message.carrier, message.ip, &message.bytes()[..length], 0)
}
