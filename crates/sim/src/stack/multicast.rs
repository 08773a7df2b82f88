//! Multicast packets: which of them a node receives, and which way they leave it.

use super::{Stack, StackContext};
use crate::slab::Handle;
use multihop_core::{DropCause, FlowId, NodeId};

/// A node's part in multicast groups.
#[derive(Debug, Default)]
pub(super) struct Multicast {
    /// Receives these groups.
    joined: Vec<Membership>,
    /// Sends the group-addressed frames of this node's packets; none if the node does so itself.
    relay: Option<NodeId>,
}

/// A group that a node receives.
#[derive(Clone, Copy, Debug)]
struct Membership {
    /// The flow that sends for the group.
    sender: FlowId,
    /// The flow of which the node is the receiver.
    flow: FlowId,
    /// The node whose group-addressed frames are meant.
    from: NodeId,
}

impl Stack {
    /// Multicast packets of this node go to that one, which sends them to the group.
    pub fn relay_multicast_by(&mut self, relay: Option<NodeId>) {
        self.multicast.relay = relay;
    }

    /// Receives what `from` sends to the multicast group of `sender`, as the receiver of `flow`.
    pub fn join_group(&mut self, sender: FlowId, flow: FlowId, from: NodeId) {
        self.multicast.joined.push(Membership { sender, flow, from });
    }

    /// The flow of which the node is the receiver, of the multicast group of this sender whose frames a node
    /// sends.
    pub fn receives(&self, sender: FlowId, from: NodeId) -> Option<FlowId> {
        let known = |group: &&Membership| (group.sender, group.from) == (sender, from);
        self.multicast.joined.iter().find(known).map(|group| group.flow)
    }

    /// Puts a multicast packet into the queue: to the relay as a unicast, or to the group.
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

    /// A relay has a multicast packet: passes it up if it is one of the receivers, and sends it to the group.
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
