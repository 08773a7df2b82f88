//! Stack with a routing protocol.

use super::{Stack, StackContext};
use crate::agenda::{Agenda, Lane, Slot};
use crate::record::Recorder;
use crate::routing::{
    Action, GivenUp, NextHop, Overheard, RoutedPacket, RoutingAgent, next_on, source_route_bytes,
};
use crate::slab::{Datagram, Handle, PacketContent, Slab, SourceRoute};
use multihop_core::{DropCause, FlowId, NodeId, Time};

/// Routing protocol of a node.
pub(super) struct Agent {
    protocol: Box<dyn RoutingAgent>,
    timer: Slot,
    /// Whether the protocol overhears frames for other nodes.
    listens: bool,
    /// Whether the protocol was called and not yet polled.
    pub(super) pending: bool,
}

impl Agent {
    /// Next hop towards this destination in the present routing table.
    pub(super) fn next_hop(&self, destination: NodeId) -> Option<NodeId> {
        self.protocol.next_hop(destination)
    }
}

impl Stack {
    /// Installs a routing protocol.
    pub fn route_by(&mut self, mut protocol: Box<dyn RoutingAgent>, timer: Slot, agenda: &mut Agenda) {
        if let Some(at) = protocol.next_timer() {
            agenda.arm(timer, at, Lane::Upper);
        }
        self.watched |= protocol.listens();
        self.ends
            .iter()
            .filter(|end| end.endpoint.follows_routes())
            .for_each(|end| protocol.watched_routes().watch(end.peer));
        self.agent = Some(Agent { listens: protocol.listens(), protocol, timer, pending: false });
    }

    /// Handles the protocol's timer.
    pub fn on_routing_timer(&mut self, now: Time) {
        self.call(|protocol| protocol.on_timer(now));
    }

    /// Reports a packet that the MAC gave up. Returns whether other packets are stranded with it.
    pub(super) fn report_failure(
        &mut self,
        now: Time,
        peer: NodeId,
        breaks: bool,
        handle: Handle,
        packets: &mut Slab,
        record: &mut Recorder,
    ) -> bool {
        let entry = packets.get(handle);
        let message = if entry.packet.is_routing() {
            packets.content(handle).and_then(PacketContent::routing)
        } else {
            None
        };
        let what = match (message, entry.passed_on) {
            (None, false) => GivenUp::Packet(RoutedPacket::new(packets, handle)),
            (Some(message), false) => GivenUp::Message(message.clone()),
            (Some(_), true) => GivenUp::MessageArrived,
            (None, true) => GivenUp::Arrived {
                destination: entry.packet.destination,
                hops: entry.packet.hops,
                route: packets.route(handle).cloned(),
            },
        };
        match &what {
            GivenUp::Packet(_) => {}
            GivenUp::Message(_) => self.lose(now, handle, DropCause::RetryLimit, packets, record),
            GivenUp::Arrived { .. } | GivenUp::MessageArrived => {
                self.on_departed(now, &packets.get(handle).packet);
                packets.discard(handle);
            }
        }
        self.call(|protocol| protocol.on_link_failure(now, peer, breaks, what)).unwrap_or(false)
    }

    /// Returns a packet whose link broke while it waited to the protocol.
    pub(super) fn return_to_agent(&mut self, now: Time, packet: RoutedPacket) {
        self.call(|protocol| protocol.on_stranded(now, packet));
    }

    /// Reports DATA that a neighbour sent to another node.
    #[inline]
    pub fn on_overheard(
        &mut self,
        now: Time,
        from: NodeId,
        handle: Handle,
        packets: &Slab,
        agenda: &mut Agenda,
    ) {
        if let Some(agent) = self.agent.as_mut().filter(|agent| agent.listens) {
            let packet = &packets.get(handle).packet;
            let what = if packet.is_routing() {
                packets.content(handle).and_then(PacketContent::routing).map(Overheard::Message)
            } else {
                packets.route(handle).map(|route| Overheard::Packet(packet.source, route))
            };
            let Some(what) = what else { return };
            agent.protocol.on_overheard(now, from, what);
            // Other frames may end at this instant: requested actions follow them.
            let fails = agent.protocol.watched_routes().has_failure();
            let due = if fails { Some(now) } else { agent.protocol.next_timer() };
            if let Some(at) = due {
                agenda.arm(agent.timer, at.max(now), Lane::Upper);
            }
        }
    }

    fn call<T>(&mut self, what: impl FnOnce(&mut dyn RoutingAgent) -> T) -> Option<T> {
        let agent = self.agent.as_mut()?;
        agent.pending = true;
        Some(what(agent.protocol.as_mut()))
    }

    /// Passes a message from a neighbour to the protocol.
    pub(super) fn take_routing(&mut self, now: Time, from: NodeId, message: &Datagram) {
        self.call(|protocol| protocol.on_message(now, from, message));
    }

    /// Performs the protocol's requested actions, and arms its timer. Returns whether there were any.
    pub(super) fn serve_agent(&mut self, around: &mut StackContext) -> bool {
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.pending) else { return false };
        if let Some(destination) = agent.protocol.watched_routes().take_failure() {
            self.signal_route_failed(around.now, destination);
            return true;
        }
        let Some(action) = agent.protocol.poll(around.now) else {
            agent.pending = false;
            match agent.protocol.next_timer() {
                Some(at) => around.agenda.arm(agent.timer, at.max(around.now), Lane::Upper),
                None => around.agenda.disarm(agent.timer),
            }
            return false;
        };
        match action {
            Action::Broadcast(message, size) => self.say(around, message, size, NodeId::BROADCAST),
            Action::Unicast(message, size, to) => self.say(around, message, size, to),
            Action::Route(handle) => self.enqueue_routed(around, handle),
            Action::SendTo(handle, peer) => self.admit(around, handle, peer),
            Action::Purge(peer) => self.purge(around.now, peer, around.packets, around.record),
            Action::SendAlong(handle, route) => self.send_along(around, handle, route),
            Action::Drop(handle, cause) => {
                self.lose(around.now, handle, cause, around.packets, around.record);
            }
        }
        true
    }

    /// Sends a message to a neighbour, or to all.
    fn say(&mut self, around: &mut StackContext, message: Datagram, size: u32, to: NodeId) {
        self.send_control(around, FlowId::ROUTING, PacketContent::Routing(message), size, to);
    }

    /// Variant of [`Stack::enqueue`] that returns packets without a route to the protocol.
    pub(super) fn enqueue_routed(&mut self, around: &mut StackContext, handle: Handle) {
        let packet = around.packets.get(handle).packet;
        let along = around.packets.route(handle).cloned();
        // A source route may pass the packet's source: the node that wrote it knew that.
        let loops = packet.hops > 0 && packet.source == self.id && along.is_none();
        if loops || packet.hops >= around.network.hop_limit {
            self.lose(around.now, handle, DropCause::HopLimit, around.packets, around.record);
            return;
        }
        let agent = self.agent.as_mut().expect("only stacks with an agent route by it");
        if let Some(route) = along {
            agent.protocol.on_forwarded(&route);
            self.admit(around, handle, next_on(&route.nodes, self.id));
            return;
        }
        match agent.protocol.route(around.now, packet.destination) {
            Some(NextHop::Neighbour(peer)) => self.admit(around, handle, peer),
            Some(NextHop::Along(route)) => self.send_along(around, handle, route),
            None => {
                let packet = RoutedPacket::new(around.packets, handle);
                self.call(|protocol| protocol.on_no_route(around.now, packet));
            }
        }
    }

    /// Writes a source route into a packet, which becomes longer, and sends it.
    fn send_along(&mut self, around: &mut StackContext, handle: Handle, route: SourceRoute) {
        let bytes = |route: &SourceRoute| source_route_bytes(&route.nodes);
        let before = around.packets.route(handle).map_or(0, bytes);
        let peer = route.nodes[1];
        let packet = &mut around.packets.get_mut(handle).packet;
        packet.size = packet.size - before + bytes(&route);
        around.packets.set_route(handle, route);
        self.admit(around, handle, peer);
    }
}
