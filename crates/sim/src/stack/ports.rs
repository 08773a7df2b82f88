//! Output ports onto wires: each has its own queue and sends one packet after the other.

use super::backlogged::OutputQueue;
use super::{Policies, Stack, StackContext};
use crate::agenda::{Lane, Slot};
use crate::config::WireConfig;
use crate::slab::Handle;
use multihop_core::{DropCause, Dropped, Dscp, Interval, LinkEvent, NodeId, Rate, Span, Time};
use multihop_link::{Arrival, Hop, InterfaceQueue, QueueEvent, Queued, Verdict};

/// Output port of a node onto a wire.
pub struct Port {
    /// Number of the wire.
    wire: u32,
    peer: NodeId,
    rate: Rate,
    queue: InterfaceQueue<Handle>,
    /// Packet being sent, and the start of its transmission.
    sending: Option<(Time, Handle)>,
    /// Slot for the end of the transmission.
    sent: Slot,
    policies: Policies,
}

impl Port {
    /// Creates an idle port onto the wire with this number. `policies` are the schemes' policies at its
    /// queue, `salt` is that of its queue.
    pub fn new(wire: u32, config: &WireConfig, policies: Policies, sent: Slot, salt: u64) -> Port {
        Port {
            wire,
            peer: config.to,
            rate: config.rate,
            queue: InterfaceQueue::new(&config.discipline, config.queue_limit, salt),
            sending: None,
            sent,
            policies,
        }
    }

    /// Start of the transmission in progress.
    pub fn sending_since(&self) -> Option<Time> {
        self.sending.map(|(since, _)| since)
    }

    /// Number of packets in the queue, plus the one being sent.
    pub(super) fn held(&self) -> usize {
        self.queue.len() + usize::from(self.sending.is_some())
    }
}

impl Stack {
    /// Adds a port; ports are added in the order of their peers. Returns its index.
    pub fn add_port(&mut self, port: Port) -> u32 {
        debug_assert!(self.ports.last().is_none_or(|last| last.peer < port.peer));
        self.ports.push(port);
        (self.ports.len() - 1) as u32
    }

    /// Port with this index.
    pub fn port(&self, index: u32) -> &Port {
        &self.ports[index as usize]
    }

    /// Length of the queue for packets to this next hop.
    pub fn queue_towards(&self, next_hop: Option<NodeId>) -> usize {
        match next_hop.and_then(|peer| self.port_towards(peer)) {
            Some(port) => self.ports[port].queue.len(),
            None => self.queues.len(),
        }
    }

    /// Port that leads to a neighbour, if any.
    pub(super) fn port_towards(&self, peer: NodeId) -> Option<usize> {
        self.ports.binary_search_by_key(&peer, |port| port.peer).ok()
    }

    /// Output queue for packets to this destination with this DSCP.
    pub(super) fn output_towards(
        &self,
        around: &StackContext,
        destination: NodeId,
        dscp: Dscp,
    ) -> OutputQueue {
        let radio = OutputQueue::Radio(self.category(dscp));
        if self.ports.is_empty() || destination == NodeId::BROADCAST {
            return radio;
        }
        let next_hop = around.network.routes.next_hop(self.id, destination);
        next_hop.and_then(|peer| self.port_towards(peer)).map_or(radio, OutputQueue::Wire)
    }

    /// Enqueues a packet at a port, if the policy admits it and there is room, and sends it if the wire is
    /// free.
    pub(super) fn admit_to_wire(&mut self, around: &mut StackContext, port: usize, handle: Handle) {
        let now = around.now;
        let packet = &mut around.packets.get_mut(handle).packet;
        let hop = Hop { now, peer: self.ports[port].peer };
        let policies = &mut self.ports[port].policies;
        let verdict =
            policies.consult(now, packet, |policy, packet, view| policy.on_arrival(hop, packet, view));
        if verdict == Verdict::Drop {
            self.lose_at_port(around, port, handle, DropCause::Policy);
            return;
        }
        policies.report_other(now, packet, QueueEvent::Enqueue);
        policies.entered(now, Some(hop.peer), packet.size);
        self.ports[port].queue.push(&Arrival::of(packet, Some(hop.peer), now), handle);
        self.lose_queued_at_port(around, port, self.ports[port].queue.push_loss());
        if self.ports[port].sending.is_none() && !self.off {
            self.send_next(around, port);
        }
        self.note_queue(around, port);
    }

    /// Stops the ports of a node that is switched off: packets being sent are lost.
    pub(super) fn stop_wires(&mut self, around: &mut StackContext) {
        for port in 0..self.ports.len() {
            if let Some((_, handle)) = self.ports[port].sending.take() {
                let size = around.packets.get(handle).packet.size;
                let peer = self.ports[port].peer;
                self.ports[port].policies.done(around.now, Some(peer), size);
                around.agenda.disarm(self.ports[port].sent);
                self.lose_at_port(around, port, handle, DropCause::LinkBroken);
            }
        }
    }

    /// Restarts the ports of a node that is switched on: they continue with their queues.
    pub(super) fn restart_wires(&mut self, around: &mut StackContext) {
        for port in 0..self.ports.len() {
            self.ports[port].policies.restart(around.now);
            self.send_next(around, port);
            self.note_queue(around, port);
        }
    }

    /// Ends the transmission of a port's packet and returns the packet. The next transmission starts.
    ///
    /// # Panics
    /// If the port was not sending.
    pub fn on_wire_sent(&mut self, around: &mut StackContext, port: u32) -> Handle {
        let (start, handle) =
            self.ports[port as usize].sending.take().expect("the slot is armed while a packet is sent");
        let bytes = around.packets.get(handle).packet.size;
        let wire = self.ports[port as usize].wire;
        around.record.wire_sent(wire, bytes, Interval { start, end: around.now });
        let peer = self.ports[port as usize].peer;
        self.ports[port as usize].policies.done(around.now, Some(peer), bytes);
        self.on_departed(around.now, &around.packets.get(handle).packet);
        self.send_next(around, port as usize);
        self.note_queue(around, port as usize);
        handle
    }

    /// Handles a packet that arrived over a wire. While the node is off it is lost without a link event.
    pub fn on_wire_arrival(&mut self, around: &mut StackContext, handle: Handle) {
        if self.off {
            let packet = around.packets.remove(handle).packet;
            around.record.dropped(self.id, &packet, DropCause::LinkBroken, around.now);
            return;
        }
        around.packets.get_mut(handle).packet.hops += 1;
        self.pass_up(around, handle);
    }

    /// Starts to send the first packet in the queue that the policy admits.
    fn send_next(&mut self, around: &mut StackContext, port: usize) {
        let now = around.now;
        loop {
            let taken = self.ports[port].queue.pop(now);
            self.lose_queued_at_port(around, port, DropCause::Aqm);
            let Some(Queued { item: handle, marked, .. }) = taken else { return };
            let packet = &mut around.packets.get_mut(handle).packet;
            if marked {
                packet.mark();
            }
            let hop = Hop { now, peer: self.ports[port].peer };
            let policies = &mut self.ports[port].policies;
            policies.taken(packet.size);
            policies.report_other(now, packet, QueueEvent::Dequeue);
            let verdict = policies
                .consult(now, packet, |policy, packet, view| policy.on_head_of_line(hop, packet, view));
            if verdict == Verdict::Drop {
                policies.done(now, Some(hop.peer), packet.size);
                self.lose_at_port(around, port, handle, DropCause::Policy);
                continue;
            }
            let bytes = u64::from(around.packets.get(handle).packet.size);
            let port = &mut self.ports[port];
            // At least 1 ns on any wire, so that the effects of a packet's end follow its start.
            let duration = port.rate.span_of_bytes(bytes).max(Span::from_ns(1));
            port.sending = Some((now, handle));
            around.agenda.arm(port.sent, now + duration, Lane::WireSent);
            return;
        }
    }

    fn note_queue(&self, around: &mut StackContext, port: usize) {
        let port = &self.ports[port];
        around.record.wire_queue(port.wire, port.queue.len(), around.now);
    }

    /// Drops the packets that the queue discipline of a port removed, for this cause.
    fn lose_queued_at_port(&mut self, around: &mut StackContext, port: usize, cause: DropCause) {
        while let Some(lost) = self.ports[port].queue.poll_lost() {
            let size = around.packets.get(lost).packet.size;
            let peer = self.ports[port].peer;
            self.ports[port].policies.removed(around.now, Some(peer), size);
            self.lose_at_port(around, port, lost, cause);
        }
    }

    /// Drops a packet at a port. Only the policies there are notified: link events of the node are those of
    /// its MAC.
    fn lose_at_port(&mut self, around: &mut StackContext, port: usize, handle: Handle, cause: DropCause) {
        let packet = around.packets.remove(handle).packet;
        around.record.dropped(self.id, &packet, cause, around.now);
        let port = &mut self.ports[port];
        around.record.wire_dropped(port.wire, around.now);
        let dropped = Dropped { node: self.id, flow: packet.flow, size: packet.size, at: around.now, cause };
        port.policies.on_link(&LinkEvent::Dropped(dropped));
        if cause == DropCause::LinkBroken {
            self.signal_no_route(around.now, &packet);
        }
        self.on_departed(around.now, &packet);
    }
}
