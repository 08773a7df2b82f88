//! Multicast flows: one packet on the air, and a flow's counters for each of its receivers.

use super::Recorder;
use crate::config::Config;
use multihop_core::{DropCause, FlowId, NodeId, Packet, Time};

impl Recorder {
    /// The same, which knows the flows of multicast groups.
    #[must_use]
    pub fn with_multicast(mut self, config: &Config) -> Recorder {
        for (index, flow) in (0..).zip(&config.flows) {
            if let Some(first) = flow.group.filter(|_| flow.is_sent_by_another(FlowId(index))) {
                self.flows[first.index()].further_receivers += 1;
            }
        }
        self
    }

    /// The flows whose packets this one sends: itself, and the others of its multicast group.
    pub fn sent_by(&self, flow: FlowId) -> impl Iterator<Item = FlowId> + use<> {
        (flow.0..=flow.0 + self.flows[flow.index()].further_receivers).map(FlowId)
    }

    /// A multicast packet is sent, which is one packet of each flow of its group.
    #[inline(never)]
    pub(super) fn sent_to_all(&mut self, packet: &Packet, now: Time) {
        for flow in self.sent_by(packet.flow) {
            self.sent_to_one(&Packet { flow, ..*packet }, now);
        }
    }

    /// A multicast packet is lost before it is on the air.
    #[inline(never)]
    pub(super) fn dropped_for_all(&mut self, node: NodeId, packet: &Packet, cause: DropCause, now: Time) {
        for flow in self.sent_by(packet.flow) {
            self.dropped_for_one(node, packet, flow, cause, now);
        }
    }

    /// The receiver of this flow decoded a multicast packet.
    pub fn multicast_received(&mut self, flow: FlowId, packet: &Packet) {
        self.flows[flow.index()].last_received = packet.number;
    }

    /// The flows of the group of a multicast packet whose receivers have not decoded it.
    pub fn without_it(&self, packet: &Packet) -> impl Iterator<Item = FlowId> {
        let number = packet.number;
        self.sent_by(packet.flow).filter(move |flow| self.flows[flow.index()].last_received != number)
    }

    /// The frame of a multicast packet is over at all listeners of its sender.
    pub fn multicast_ended(&mut self, packet: &Packet, now: Time) {
        for flow in self.sent_by(packet.flow) {
            if self.flows[flow.index()].last_received != packet.number {
                self.dropped_for_one(packet.source, packet, flow, DropCause::Multicast, now);
            }
        }
    }

    fn dropped_for_one(&mut self, node: NodeId, packet: &Packet, flow: FlowId, cause: DropCause, now: Time) {
        // A packet of one receiver has that as its destination.
        self.dropped(node, &Packet { flow, destination: node, ..*packet }, cause, now);
    }
}
