//! Network layer of a node: next hops of packets, and the delay of the link layer below.

use super::backlogged::OutputQueue;
use super::{Stack, StackContext};
use crate::agenda::Lane;
use crate::routing::Routes;
use crate::slab::{Handle, StoredPacket};
use multihop_core::{Arrived, DropCause, LinkEvent, NodeId, Packet, Segment, Span};

/// Network data shared by all nodes.
#[derive(Clone, Debug)]
pub struct Network {
    /// Next hops of static routes.
    pub routes: Routes,
    /// Endpoints of the flows.
    pub flows: Vec<FlowRoute>,
    /// Bytes added to every packet below the transport.
    pub extra_header: u32,
    /// Delay between the network layer and the interface queue, in each direction.
    pub link_layer_delay: Span,
    /// Largest number of hops, beyond which a packet is dropped.
    pub hop_limit: u16,
}

/// Location of a flow's endpoints.
#[derive(Clone, Copy, Debug)]
pub struct FlowRoute {
    /// Indices of the endpoints at their nodes, by [`multihop_core::Port`].
    pub ends: [u32; 2],
}

/// Direction of a packet in the link layer.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkLayerDirection {
    Down,
    Up,
}

impl Stack {
    /// Sends a packet that an endpoint made or that was injected.
    pub fn emit(&mut self, around: &mut StackContext, packet: Packet) {
        around.record.sent(&packet, around.now);
        around.record.media_sent(&packet, around.now);
        let handle = around.packets.insert(packet);
        self.send(around, handle);
    }

    /// Handles a packet that leaves the link layer.
    pub fn on_link_layer(&mut self, around: &mut StackContext) {
        while let Some(&(due, direction, handle)) = self.passing.front() {
            if due > around.now {
                around.agenda.arm(self.link_slot, due, Lane::Upper);
                return;
            }
            self.passing.pop_front();
            match direction {
                LinkLayerDirection::Down => self.enqueue(around, handle),
                LinkLayerDirection::Up => self.pass_up(around, handle),
            }
        }
    }

    pub(super) fn send(&mut self, around: &mut StackContext, handle: Handle) {
        let Packet { destination, segment, .. } = around.packets.get(handle).packet;
        let delayed = around.network.link_layer_delay > Span::ZERO
            && matches!(self.output_towards(around, destination, segment.dscp), OutputQueue::Radio(_));
        if delayed {
            self.delay(around, LinkLayerDirection::Down, handle);
        } else {
            self.enqueue(around, handle);
        }
    }

    pub(super) fn delay(&mut self, around: &mut StackContext, direction: LinkLayerDirection, handle: Handle) {
        let due = around.now + around.network.link_layer_delay;
        if self.passing.is_empty() {
            around.agenda.arm(self.link_slot, due, Lane::Upper);
        }
        self.passing.push_back((due, direction, handle));
    }

    /// Looks up the next hop of a packet, and enqueues it.
    pub(super) fn enqueue(&mut self, around: &mut StackContext, handle: Handle) {
        let packet = &around.packets.get(handle).packet;
        if packet.is_multicast() {
            return self.enqueue_multicast(around, handle);
        }
        if packet.is_control() {
            let peer = (packet.destination != NodeId::BROADCAST).then_some(packet.destination);
            if peer.is_some_and(|peer| !self.is_resolved(around, handle, peer)) {
                return;
            }
            self.queue_up(around, handle, peer);
            return;
        }
        if self.agent.is_some() {
            self.enqueue_routed(around, handle);
            return;
        }
        let cause = match around.network.routes.next_hop(self.id, packet.destination) {
            None => DropCause::NoRoute,
            Some(peer) if self.failures.broken_until(peer, around.now).is_some() => DropCause::LinkBroken,
            Some(_) if packet.hops >= around.network.hop_limit => DropCause::HopLimit,
            Some(peer) => return self.admit(around, handle, peer),
        };
        self.lose(around.now, handle, cause, around.packets, around.record);
    }

    /// Forwards a packet, delivers it to its endpoint, or both for a multicast flow.
    pub(super) fn pass_up(&mut self, around: &mut StackContext, handle: Handle) {
        let packet = &around.packets.get(handle).packet;
        if packet.is_control() {
            self.take_message(around, handle);
            return;
        }
        if packet.destination != self.id {
            return if packet.is_multicast() {
                self.relay_multicast(around, handle);
            } else {
                self.send(around, handle);
            };
        }
        let StoredPacket { packet, payload_air, .. } = around.packets.get(handle);
        if packet.carries_data() {
            self.on_link(&LinkEvent::Arrived(Arrived {
                node: self.id,
                flow: packet.flow,
                number: packet.number,
                size: packet.size,
                sent: packet.created,
                at: around.now,
            }));
        }
        let flow = packet.flow;
        let index = around.network.flows[flow.index()].ends[packet.port as usize];
        let end = &mut self.ends[index as usize];
        let (hops, identification) = (packet.hops, packet.identification());
        let segment = Segment { hops, identification, ..packet.segment };
        let delivered = end.endpoint.on_segment(around.now, &segment);
        around.record.delivered(packet, delivered, *payload_air, around.now);
        around.record.media_delivered(packet, delivered, around.now);
        around.packets.discard(handle);
        if let Some((app, slot)) = &mut end.app
            && let Some(again) =
                app.on_progress(around.now, end.endpoint.progress().acked, around.record.last_delivery(flow))
        {
            around.agenda.arm(*slot, again, Lane::Upper);
        }
        self.touched.push(index);
    }
}
