//! Send buffer: packets that wait for a route.

use crate::routing::RoutedPacket;
use multihop_core::{NodeId, Span, Time};
use std::collections::VecDeque;

/// Packets that a node holds, oldest first.
pub(in crate::routing) struct SendBuffer {
    held: VecDeque<Held>,
    limit: usize,
}

/// Packet that waits for a route.
pub(in crate::routing) struct Held {
    pub(in crate::routing) packet: RoutedPacket,
    since: Time,
}

impl SendBuffer {
    /// Creates a buffer for `limit` packets.
    pub(in crate::routing) fn new(limit: usize) -> SendBuffer {
        SendBuffer { held: VecDeque::new(), limit }
    }

    /// Adds a packet. Returns the oldest packet if the buffer is full.
    pub(in crate::routing) fn hold(&mut self, now: Time, packet: RoutedPacket) -> Option<RoutedPacket> {
        self.held.push_back(Held { packet, since: now });
        let overfull = self.held.len() > self.limit;
        overfull.then(|| self.held.pop_front().expect("there is one more than fits").packet)
    }

    /// Removes the packets for which `stays` is false; `stays` takes ownership of their handles.
    pub(in crate::routing) fn sift(&mut self, mut stays: impl FnMut(&Held) -> bool) {
        self.held.retain(|held| stays(held));
    }

    /// Whether a packet waits for this destination.
    pub(in crate::routing) fn holds(&self, destination: NodeId) -> bool {
        self.held.iter().any(|held| held.destination() == destination)
    }

    /// Whether the buffer is empty.
    pub(in crate::routing) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl Held {
    /// Whether the packet has waited for longer than this.
    pub(in crate::routing) fn is_older(&self, now: Time, than: Span) -> bool {
        now.since(self.since) > than
    }

    /// Destination of the packet.
    pub(in crate::routing) fn destination(&self) -> NodeId {
        self.packet.destination
    }
}
