//! Multicast packets: reception by a node, and forwarding.

use super::{Stack, StackContext};
use crate::slab::Handle;
use multihop_core::{DropCause, FlowId, NodeId};

/// Membership of a node in multicast groups.
#[derive(Debug, Default)]
pub(super) struct Multicast {
    /// Groups that the node receives.
    joined: Vec<Membership>,
    /// Node that relays this node's multicast packets as group-addressed frames; none if the node sends them
    /// itself.
    relay: Option<NodeId>,
}

/// Group that a node receives.
#[derive(Clone, Copy, Debug)]
struct Membership {
    /// Flow that sends for the group.
    sender: FlowId,
    /// Flow whose receiver is the node.
    flow: FlowId,
    /// Node whose group-addressed frames are received.
    from: NodeId,
}

impl Stack {
    /// Sets the relay, which sends this node's multicast packets to the group.
    pub fn relay_multicast_by(&mut self, relay: Option<NodeId>) {
        self.multicast.relay = relay;
    }

    /// Joins the multicast group of flow `sender`, whose frames come from `from`, as the receiver of `flow`.
    pub fn join_group(&mut self, sender: FlowId, flow: FlowId, from: NodeId) {
        self.multicast.joined.push(Membership { sender, flow, from });
    }

    /// Flow whose receiver is the node, in the multicast group of `sender` with frames from `from`.
    pub fn receives(&self, sender: FlowId, from: NodeId) -> Option<FlowId> {
        let known = |group: &&Membership| (group.sender, group.from) == (sender, from);
        self.multicast.joined.iter().find(known).map(|group| group.flow)
    }

    /// Enqueues a multicast packet: for the relay as unicast, or for the group.
    pub(super) fn enqueue_multicast(&mut self, around: &mut StackContext, handle: Handle) {
        let is_own = around.packets.get(handle).packet.source == self.id;
        match self.multicast.relay.filter(|_| is_own) {
            None => self.queue_up(around, handle, None),
            Some(relay) if self.failures.broken_until(relay, around.now).is_some() => {
                self.lose(around.now, handle, DropCause::LinkBroken, around.packets, around.record);
            }
            Some(relay) => self.admit(around, handle, relay),
        }
    }

    /// Relays a multicast packet to the group, and passes it up if the relay is a receiver.
    pub(super) fn relay_multicast(&mut self, around: &mut StackContext, handle: Handle) {
        let packet = around.packets.get(handle).packet;
        if let Some(flow) = self.receives(packet.flow, self.id) {
            let copy = around.packets.copy(handle);
            let own = &mut around.packets.get_mut(copy).packet;
            (own.flow, own.destination) = (flow, self.id);
            self.pass_up(around, copy);
        }
        around.packets.get_mut(handle).packet.segment.hops = packet.hops;
        self.send(around, handle);
    }
}
