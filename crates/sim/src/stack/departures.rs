//! Local feedback to endpoints: packets that the MAC gave up or that departed from the node, and routes that
//! failed.

use super::Stack;
use multihop_core::{NodeId, Packet, Time};

impl Stack {
    /// Signals an endpoint here that the MAC gave up one of its packets.
    pub(super) fn signal_given_up(&mut self, now: Time, packet: &Packet) {
        let Some(index) = self.sending_end(packet) else { return };
        if self.ends[index].endpoint.on_given_up(now, &packet.segment) {
            self.touched.push(index as u32);
        }
    }

    /// Signals the endpoints here with this peer that their route failed.
    pub(super) fn signal_route_failed(&mut self, now: Time, peer: NodeId) {
        for (index, end) in (0..).zip(&mut self.ends) {
            if end.peer == peer && end.endpoint.on_route_failed(now) {
                self.touched.push(index);
            }
        }
    }

    /// Signals an endpoint here that its packet had no usable route.
    pub(super) fn signal_no_route(&mut self, now: Time, packet: &Packet) {
        let Some(index) = self.sending_end(packet) else { return };
        if self.ends[index].endpoint.on_route_failed(now) {
            self.touched.push(index as u32);
        }
    }

    /// Endpoint here that sent a packet, if any.
    fn sending_end(&self, packet: &Packet) -> Option<usize> {
        if packet.source != self.id || packet.is_control() {
            return None;
        }
        // A packet has the port of its destination.
        self.ends.iter().position(|end| end.flow == packet.flow && end.port != packet.port)
    }

    /// Notifies an endpoint here that its packet has left the node, delivered to the next hop or lost, if it
    /// asked for that.
    #[inline]
    pub fn on_departed(&mut self, now: Time, packet: &Packet) {
        if self.followed {
            self.report_departed(now, packet);
        }
    }

    #[inline(never)]
    fn report_departed(&mut self, now: Time, packet: &Packet) {
        // A packet that returns on a routing loop has departed before.
        let Some(index) = self.sending_end(packet).filter(|_| packet.hops == 0) else { return };
        let changed = self.ends[index].endpoint.on_departed(now, &packet.segment);
        if changed && self.touched.last() != Some(&(index as u32)) {
            self.touched.push(index as u32);
        }
    }
}
