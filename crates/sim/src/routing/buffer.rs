//! Packets that wait for a route.

use crate::routing::RoutedPacket;
use multihop_core::{NodeId, Span, Time};
use std::collections::VecDeque;

/// The packets that a node holds, oldest first.
pub(in crate::routing) struct SendBuffer {
    held: VecDeque<Held>,
    limit: usize,
}

/// A packet that waits.
pub(in crate::routing) struct Held {
    pub(in crate::routing) packet: RoutedPacket,
    since: Time,
}

impl SendBuffer {
    /// Room for so many packets.
    pub(in crate::routing) fn new(limit: usize) -> SendBuffer {
        SendBuffer { held: VecDeque::new(), limit }
    }

    /// Holds a packet. Returns the one that does not fit any more.
    pub(in crate::routing) fn hold(&mut self, now: Time, packet: RoutedPacket) -> Option<RoutedPacket> {
        self.held.push_back(Held { packet, since: now });
        let overfull = self.held.len() > self.limit;
        overfull.then(|| self.held.pop_front().expect("there is one more than fits").packet)
    }

    /// Looks at every packet in turn; those for which `stays` is false are given to it for good.
    pub(in crate::routing) fn sift(&mut self, mut stays: impl FnMut(&Held) -> bool) {
        self.held.retain(|held| stays(held));
    }

    /// Does something wait for this destination?
    pub(in crate::routing) fn holds(&self, destination: NodeId) -> bool {
        self.held.iter().any(|held| held.destination() == destination)
    }

    /// Is nothing held?
    pub(in crate::routing) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl Held {
    /// Has it waited for longer than this?
    pub(in crate::routing) fn is_older(&self, now: Time, than: Span) -> bool {
        now.since(self.since) > than
    }

    /// Where it goes.
    pub(in crate::routing) fn destination(&self) -> NodeId {
        self.packet.destination
    }
}
