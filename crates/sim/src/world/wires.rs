//! Wires in a run: construction, and packets on them.

use super::World;
use super::build::{SlotPlan, policies_at, salt_of};
use super::purpose::Purpose;
use crate::config::Config;
use crate::medium::Wire;
use crate::node::Node;
use crate::outcome::WireOutcome;
use crate::stack::Port;
use multihop_core::{DropCause, NodeId};
use multihop_link::EgressQueue;

/// Direction of a wire, with its port.
pub(super) struct Wired {
    wire: Wire,
    /// Sending node, and index of its port.
    from: u32,
    port: u32,
}

/// Creates the wires of a configuration, and adds their ports to the nodes.
pub(super) fn build(config: &Config, nodes: &mut [Node], plan: &mut SlotPlan) -> Vec<Wired> {
    let wires = &config.topology.wires;
    let mut laid: Vec<Wired> = Vec::with_capacity(wires.len());
    for (index, wire) in (0..).zip(wires) {
        // Arrivals belong to the receiver: simultaneous ones are in the order of the wires.
        let arrival = plan.add(wire.to.0, Purpose::WireArrives(index));
        laid.push(Wired { wire: Wire::new(wire, config.seed, arrival), from: wire.from.0, port: 0 });
    }
    let scheme_of = config.traffic.scheme_of();
    let mut by_peer: Vec<usize> = (0..wires.len()).collect();
    by_peer.sort_by_key(|index| wires[*index].to);
    for index in by_peer {
        let wire = &wires[index];
        let id: NodeId = wire.from;
        let egress = EgressQueue {
            rate: wire.rate,
            is_wired: true,
            queue_limit: wire.queue_limit,
            rts_from: None,
            aggregates: false,
            seed: config.seed,
        };
        let queue = format!("wire to {}", wire.to.0);
        let policies = policies_at(&config.traffic, id, &queue, egress, None, &scheme_of);
        let sent = plan.add(id.0, Purpose::WireSent(index as u32));
        let port = Port::new(index as u32, wire, policies, sent, salt_of(config.seed, id, &queue));
        laid[index].port = nodes[id.index()].stack.add_port(port);
    }
    laid
}

impl World {
    /// Ends the transmission of a packet at the sending end of a wire.
    pub(super) fn wire_sent(&mut self, index: u32) {
        let Wired { from, port, .. } = self.wires[index as usize];
        let mut handle = None;
        let row = self.order.of(NodeId(from)) as u32;
        self.above(row, |stack, around| handle = Some(stack.on_wire_sent(around, port)));
        let handle = handle.expect("it was sent");
        if self.wires[index as usize].wire.draw_loss() {
            let packet = self.packets.remove(handle).packet;
            self.record.wire_lost(index, self.now);
            self.record.dropped(NodeId(from), &packet, DropCause::WireLoss, self.now);
            return;
        }
        self.wires[index as usize].wire.carry(self.now, handle, &mut self.agenda);
    }

    /// Handles a packet that arrives at the receiving end of a wire.
    pub(super) fn wire_arrives(&mut self, index: u32) {
        let Wired { wire, from, .. } = &mut self.wires[index as usize];
        let (from, to, handle) = (NodeId(*from), wire.to, wire.arrive(&mut self.agenda));
        let row = self.order.of(NodeId(to));
        if !self.nodes[row].radio.is_off() {
            self.record.wire_delivered(index, self.now);
            self.record.packet_arrived(&self.packets.get(handle).packet, from, NodeId(to), self.now);
        }
        self.above(row as u32, |stack, around| stack.on_wire_arrival(around, handle));
    }

    /// Results of the wires.
    pub(super) fn wire_outcomes(&mut self) -> Vec<WireOutcome> {
        let ends = self.wires.iter().map(|wired| {
            let sender = &self.nodes[self.order.of(NodeId(wired.from))];
            let sending = sender.stack.port(wired.port).sending_since();
            ((wired.from, wired.wire.to), sending)
        });
        let ends: Vec<_> = ends.collect();
        (0..)
            .zip(ends)
            .map(|(index, (ends, sending))| self.record.wire_outcome(index, ends, sending, self.now))
            .collect()
    }
}
