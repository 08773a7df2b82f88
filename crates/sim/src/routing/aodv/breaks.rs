//! Broken links in AODV: local repair of the route, or loss of the packet and a RERR.

use super::wire::{AodvMessage, Unreachable};
use super::{Action, Aodv, GivenUp, RoutedPacket};
use crate::config::{AodvConfig, LocalRepair};
use multihop_core::{DropCause, NodeId, Time};

impl Aodv {
    /// Handles a packet for this neighbour that the MAC gave up. Returns whether the packets waiting for it
    /// are stranded.
    pub(super) fn give_packet_up(
        &mut self,
        now: Time,
        next_hop: NodeId,
        breaks: bool,
        what: GivenUp,
    ) -> bool {
        let (destination, hops, packet) = match what {
            GivenUp::Packet(packet) => (packet.destination, packet.hops, Some(packet)),
            GivenUp::Arrived { destination, hops, .. } => (destination, hops, None),
            // ns-2 ignores lost messages.
            GivenUp::Message(_) | GivenUp::MessageArrived => return false,
        };
        let is_known = self.table.contains_key(&destination);
        if !breaks || !is_known {
            self.lose_packet(packet.as_ref());
            return false;
        }
        let remaining = self.table[&destination].known().map(|hop| hop.hops);
        if remaining.is_none_or(|remaining| hops <= remaining) {
            self.lose_packet(packet.as_ref());
            self.lose(now, next_hop);
            return true;
        }
        match self.parameters.local_repair {
            LocalRepair::Off => {
                self.lose_packet(packet.as_ref());
                self.lose(now, next_hop);
                true
            }
            LocalRepair::Ns2 => {
                self.repair(now, destination, packet);
                false
            }
            LocalRepair::Rfc => {
                self.repair_once(now, next_hop, destination, hops, packet);
                true
            }
        }
    }

    fn lose_packet(&mut self, packet: Option<&RoutedPacket>) {
        if let Some(packet) = packet {
            self.actions.push_back(Action::Drop(packet.handle, DropCause::RetryLimit));
        }
    }

    /// Starts a local repair as ns-2 does.
    fn repair(&mut self, now: Time, destination: NodeId, packet: Option<RoutedPacket>) {
        if let Some(packet) = packet {
            self.hold(now, packet);
        }
        self.table.entry(destination).or_default().repair();
        self.ask(now, destination);
        // ns-2 uses an absolute time here as if it were a delay.
        let instant = self.table[&destination].discovery.not_before();
        self.repairs.insert((now + instant.since(Time::ZERO), destination));
    }

    /// Starts a local repair as in RFC 3561 (6.12), if this neighbour was the next hop.
    fn repair_once(
        &mut self,
        now: Time,
        next_hop: NodeId,
        destination: NodeId,
        travelled: u16,
        packet: Option<RoutedPacket>,
    ) {
        let rules = &self.parameters;
        let entry = self.table.entry(destination).or_default();
        let Some(hop) = entry.hop().filter(|hop| hop.next == next_hop) else {
            self.lose_packet(packet.as_ref());
            self.lose(now, next_hop);
            return;
        };
        entry.sequence += 1;
        entry.repair_broken();
        let reach = hop.hops.max(travelled / 2).saturating_add(AodvConfig::LOCAL_ADD_TTL);
        let reach = reach.min(rules.network_diameter);
        entry.discovery.ask_once(now, reach);
        self.repairs.insert((entry.discovery.not_before(), destination));
        if let Some(packet) = packet {
            self.hold(now, packet);
        }
        self.send_request(now, destination, reach);
        self.lose(now, next_hop);
    }

    /// Ends a local repair whose time is over.
    pub(super) fn end_repair(&mut self, now: Time, destination: NodeId) {
        let entry = self.table.entry(destination).or_default();
        if entry.hop().is_some() {
            return;
        }
        entry.take_down();
        self.watched.note_failure(destination);
        if self.parameters.local_repair == LocalRepair::Rfc {
            let unreachable = Unreachable { destination, sequence: entry.sequence };
            self.give_up(destination);
            self.broadcast(now, &AodvMessage::Error(vec![unreachable]));
        }
    }

    /// Removes a lost neighbour, and breaks all routes through it.
    pub(super) fn lose(&mut self, now: Time, neighbour: NodeId) {
        self.sequence += 2;
        if let Some(hellos) = &mut self.hellos {
            hellos.neighbours.remove(&neighbour);
        }
        let mut list = Vec::new();
        for (destination, entry) in &mut self.table {
            if entry.known().is_some_and(|hop| hop.next == neighbour) {
                entry.invalidate(entry.sequence + 1);
                self.watched.note_failure(*destination);
                list.push(Unreachable { destination: *destination, sequence: entry.sequence });
            }
            entry.precursors.remove(&neighbour);
        }
        if !list.is_empty() {
            self.broadcast(now, &AodvMessage::Error(list));
        }
    }
}
