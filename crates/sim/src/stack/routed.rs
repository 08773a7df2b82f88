//! A stack whose routes come from a routing protocol.

use super::{Stack, Surroundings};
use crate::agenda::{Agenda, Lane, Slot};
use crate::message::Message;
use crate::record::Recorder;
use crate::routing::{self, Action, RoutingAgent};
use crate::slab::{Handle, Slab};
use multihop_core::{DropCause, FlowId, NodeId, Time};

/// A routing protocol at a node.
pub(super) struct Agent {
    protocol: Box<dyn RoutingAgent>,
    timer: Slot,
    /// It was called and not yet asked what it wants.
    pub(super) pending: bool,
}

impl Agent {
    /// Where packets for this destination go at present.
    pub(super) fn next_hop(&self, destination: NodeId) -> Option<NodeId> {
        self.protocol.next_hop(destination)
    }
}

impl Stack {
    /// Routes come from this protocol from now on.
    pub fn route_by(&mut self, protocol: Box<dyn RoutingAgent>, timer: Slot, agenda: &mut Agenda) {
        if let Some(at) = protocol.next_timer() {
            agenda.arm(timer, at, Lane::Upper);
        }
        self.agent = Some(Agent { protocol, timer, pending: false });
    }

    /// The protocol's time has come.
    pub fn on_routing_timer(&mut self, now: Time) {
        self.call(|protocol| protocol.on_timer(now));
    }

    /// The MAC gave up a packet, which the next hop does not have.
    pub fn on_given_up(
        &mut self,
        now: Time,
        peer: NodeId,
        handle: Handle,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        if self.agent.is_none() || packets.get(handle).packet.is_routing() {
            self.lose(now, handle, DropCause::RetryLimit, packets, record);
            return;
        }
        self.call(|protocol| protocol.on_link_failure(now, peer, handle));
    }

    fn call(&mut self, what: impl FnOnce(&mut dyn RoutingAgent)) {
        if let Some(agent) = &mut self.agent {
            what(agent.protocol.as_mut());
            agent.pending = true;
        }
    }

    /// A message of the protocol came from a neighbour.
    pub(super) fn take_routing(&mut self, now: Time, from: NodeId, message: &routing::Message) {
        self.call(|protocol| protocol.on_message(now, from, message));
    }

    /// Does what the protocol asks for, and arms its timer. Returns whether there was anything to ask for.
    pub(super) fn serve_agent(&mut self, around: &mut Surroundings) -> bool {
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.pending) else { return false };
        let Some(action) = agent.protocol.poll(around.now) else {
            agent.pending = false;
            match agent.protocol.next_timer() {
                Some(at) => around.agenda.arm(agent.timer, at.max(around.now), Lane::Upper),
                None => around.agenda.disarm(agent.timer),
            }
            return false;
        };
        match action {
            Action::Broadcast(message, size) => {
                self.broadcast(around, FlowId::ROUTING, Message::Routing(message), size);
            }
            Action::Route(handle) => self.enqueue_routed(around, handle),
            Action::Drop(handle, cause) => {
                self.lose(around.now, handle, cause, around.packets, around.record);
            }
        }
        true
    }

    /// As [`Stack::enqueue`], but what has no route is the protocol's to hold.
    pub(super) fn enqueue_routed(&mut self, around: &mut Surroundings, handle: Handle) {
        let packet = around.packets.get(handle).packet;
        let loops = packet.hops > 0 && packet.source == self.id;
        if loops || packet.hops >= around.network.hop_limit {
            self.lose(around.now, handle, DropCause::HopLimit, around.packets, around.record);
            return;
        }
        let agent = self.agent.as_ref().expect("only stacks with an agent route by it");
        let Some(peer) = agent.next_hop(packet.destination) else {
            self.call(|protocol| protocol.on_no_route(around.now, packet.destination, handle));
            return;
        };
        self.admit(around, handle, peer);
    }
}
