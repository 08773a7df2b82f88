//! Multicast flows: one packet on the air, counted for the flow of each receiver.

use super::Recorder;
use crate::config::Config;
use multihop_core::{DropCause, FlowId, NodeId, Packet, Time};

impl Recorder {
    /// Adds the multicast groups of the configuration.
    #[must_use]
    pub fn with_multicast(mut self, config: &Config) -> Recorder {
        for (index, flow) in (0..).zip(&config.traffic.flows) {
            if let Some(first) = flow.group.filter(|_| flow.is_sent_by_another(FlowId(index))) {
                self.flows[first.index()].further_receivers += 1;
            }
            let is_relay = flow.group.is_some() && config.multicast_sender(flow) == flow.destination;
            self.flows[index as usize].ends_at_relay = is_relay;
        }
        self
    }

    /// Flows whose packets a flow sends: itself, and the others of its multicast group.
    pub fn sent_by(&self, flow: FlowId) -> impl Iterator<Item = FlowId> + use<> {
        (flow.0..=flow.0 + self.flows[flow.index()].further_receivers).map(FlowId)
    }

    /// Counts a multicast packet that was sent, once for each flow of its group.
    #[inline(never)]
    pub(super) fn sent_to_all(&mut self, packet: &Packet, now: Time) {
        for flow in self.sent_by(packet.flow) {
            self.sent_to_one(&Packet { flow, ..*packet }, now);
        }
    }

    /// Counts a multicast packet lost at a node, for all receivers without it. A packet whose frame has ended
    /// at all listeners is lost by [`DropCause::Multicast`].
    #[inline(never)]
    pub fn dropped_for_all(&mut self, node: NodeId, packet: &Packet, cause: DropCause, now: Time) {
        for flow in self.sent_by(packet.flow) {
            if self.lacks(flow, packet) {
                // The destination of a packet of one receiver is that receiver.
                self.dropped(node, &Packet { flow, destination: node, ..*packet }, cause, now);
            }
        }
    }

    /// Records that the receiver of this flow decoded a multicast packet.
    pub fn multicast_received(&mut self, flow: FlowId, packet: &Packet) {
        self.flows[flow.index()].last_received = packet.number;
    }

    /// Number of receivers that do not have a multicast packet yet.
    pub fn lacking(&self, packet: &Packet) -> u64 {
        self.sent_by(packet.flow).filter(|flow| self.lacks(*flow, packet)).count() as u64
    }

    /// Whether the receiver of this flow lacks a multicast packet of its group. A relay has every packet that
    /// it passed up, and may have later packets before this frame; others decode frames in the order of
    /// packets.
    fn lacks(&self, flow: FlowId, packet: &Packet) -> bool {
        let counters = &self.flows[flow.index()];
        if counters.ends_at_relay {
            packet.segment.hops == 0
        } else {
            counters.last_received != packet.number
        }
    }
}
