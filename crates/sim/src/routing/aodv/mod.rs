//! Ad hoc on-demand distance vector routing (Perkins, Belding-Royer and Das, RFC 3561) as in ns-2.35
//! (aodv/aodv.cc).
//!
//! A node without a route floods a request; a node that relays it learns the reverse route. The target, or a
//! node with a recent enough route, sends a reply along the reverse route, and nodes that relay the reply
//! learn the forward route. Sequence numbers say how recent a route is: only the destination makes even ones,
//! and a break makes a number odd. The node before a broken link sends a RERR to its neighbours, and nodes
//! that used the link send it on.
//!
//! * `wire`: messages, and their bytes. `table`: routing table.
//! * `discovery`: times and TTLs of requests. `receive`: processing of messages. `breaks`: broken links.
//!
//! Differences between ns-2 and the RFC, and omissions here, are listed in `docs/explanation/aodv.md`.

mod breaks;
mod discovery;
mod receive;
mod table;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use wire::FORMAT;

use super::buffer::SendBuffer;
use super::{Action, GivenUp, NextHop, RoutedPacket, RoutingAgent, WatchedRoutes, uniform};
use crate::config::AodvConfig;
use crate::slab::Datagram;
use discovery::DiscoveryStep;
use multihop_core::{DropCause, NodeId, Rng, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use table::AodvTable;
use wire::{AodvMessage, AodvRequest, Hello, Unreachable};

/// AODV agent of a node.
pub(super) struct Aodv {
    id: NodeId,
    parameters: AodvConfig,
    rng: Rng,
    table: AodvTable,
    /// Sequence number of the node.
    sequence: u32,
    /// Number of the node's next request.
    number: u32,
    /// Expiry time of each request seen, by source and number.
    seen: BTreeMap<(NodeId, u32), Time>,
    buffer: SendBuffer,
    watched: WatchedRoutes,
    /// Time of the next search for expired routes.
    next_check: Time,
    /// Deadlines of local repairs.
    repairs: BTreeSet<(Time, NodeId)>,
    /// State of hello messages, where only silence breaks links.
    hellos: Option<Hellos>,
    /// Scheduled actions and their times.
    later: Vec<(Time, Action)>,
    actions: VecDeque<Action>,
}

/// State for the detection of silent neighbours.
struct Hellos {
    /// Time of the next hello.
    next: Time,
    /// Time of the next search for silent neighbours.
    next_check: Time,
    /// Time at which each neighbour is lost if it stays silent.
    neighbours: BTreeMap<NodeId, Time>,
}

impl Aodv {
    /// Creates the agent of node `id`, from time 0 on.
    pub(super) fn new(id: NodeId, parameters: AodvConfig, mut rng: Rng) -> Aodv {
        let hellos = (!parameters.link_layer_detection).then(|| Hellos {
            next: Time::ZERO + uniform(&mut rng, parameters.broadcast_jitter),
            next_check: Time::ZERO + parameters.hello_interval,
            neighbours: BTreeMap::new(),
        });
        Aodv {
            id,
            rng,
            table: AodvTable::new(),
            sequence: 2,
            number: 1,
            seen: BTreeMap::new(),
            buffer: SendBuffer::new(parameters.buffer),
            watched: WatchedRoutes::default(),
            next_check: Time::ZERO + AodvConfig::CHECK_INTERVAL,
            repairs: BTreeSet::new(),
            hellos,
            later: Vec::new(),
            actions: VecDeque::new(),
            parameters,
        }
    }

    // ---- packets that wait ----

    /// Holds a packet until a route is found.
    fn hold(&mut self, now: Time, packet: RoutedPacket) {
        self.drop_aged(now);
        if let Some(oldest) = self.buffer.hold(now, packet) {
            self.actions.push_back(Action::Drop(oldest.handle, DropCause::NoRoute));
        }
    }

    fn drop_aged(&mut self, now: Time) {
        let timeout = AodvConfig::BUFFER_TIMEOUT;
        let actions = &mut self.actions;
        self.buffer.sift(|held| {
            let stays = !held.is_older(now, timeout);
            if !stays {
                actions.push_back(Action::Drop(held.packet.handle, DropCause::NoRoute));
            }
            stays
        });
    }

    /// Drops the packets that wait for this destination.
    fn give_up(&mut self, destination: NodeId) {
        let actions = &mut self.actions;
        self.buffer.sift(|held| {
            let stays = held.destination() != destination;
            if !stays {
                actions.push_back(Action::Drop(held.packet.handle, DropCause::NoRoute));
            }
            stays
        });
    }

    /// Sends the packets that wait for this destination along its route, the first at `due`, the others
    /// `interval` apart. Returns the time at which another could leave.
    fn release(&mut self, now: Time, destination: NodeId, mut due: Time, interval: Span) -> Time {
        let entry = self.table.entry(destination).or_default();
        let Some(hop) = entry.hop() else { return due };
        let (later, lifetime) = (&mut self.later, self.parameters.active_route_timeout);
        self.buffer.sift(|held| {
            if held.destination() != destination {
                return true;
            }
            entry.refresh(now, lifetime);
            later.push((due, Action::SendTo(held.packet.handle, hop.next)));
            due += interval;
            false
        });
        due
    }

    // ---- route discovery ----

    /// Sends a request for a destination without a route, if one is due.
    fn ask(&mut self, now: Time, target: NodeId) {
        let entry = self.table.entry(target).or_default();
        if entry.hop().is_some() {
            return;
        }
        match entry.discovery.next_step(now, entry.last_hops, &self.parameters) {
            DiscoveryStep::Ask(reach) => self.send_request(now, target, reach),
            DiscoveryStep::Wait => {}
            DiscoveryStep::GiveUp => {
                self.drop_aged(now);
                self.give_up(target);
            }
        }
    }

    fn send_request(&mut self, now: Time, target: NodeId, reach: u16) {
        self.sequence += 2;
        let request = AodvRequest {
            source: self.id,
            source_sequence: self.sequence,
            number: self.number,
            target,
            target_sequence: self.table.entry(target).or_default().sequence,
            hops: 1,
            reach,
            asked: now,
        };
        self.number += 1;
        let due = now + uniform(&mut self.rng, self.parameters.rreq_jitter);
        self.broadcast(due, &AodvMessage::Request(request));
    }

    // ---- sending ----

    fn broadcast(&mut self, due: Time, message: &AodvMessage) {
        let size = message.size(&self.parameters);
        let message = message.emit(self.id, NodeId::BROADCAST);
        self.later.push((due, Action::Broadcast(message, size)));
    }

    /// Broadcasts after a random delay, because neighbours may broadcast at the same time.
    fn broadcast_soon(&mut self, now: Time, message: &AodvMessage) {
        let due = now + uniform(&mut self.rng, self.parameters.broadcast_jitter);
        self.broadcast(due, message);
    }

    fn unicast(&mut self, message: &AodvMessage, to: NodeId) {
        let size = message.size(&self.parameters);
        self.actions.push_back(Action::Unicast(message.emit(self.id, to), size, to));
    }

    // ---- time ----

    /// Expires unused routes, and repeats requests for packets that wait.
    fn check(&mut self, now: Time) {
        self.next_check = now + AodvConfig::CHECK_INTERVAL;
        self.seen.retain(|_, until| *until > now);
        self.drop_aged(now);
        let mut due = now;
        let destinations: Vec<NodeId> = self.table.keys().copied().collect();
        for destination in destinations {
            let entry = self.table.entry(destination).or_default();
            if entry.hop().is_some() && entry.expires < now {
                entry.invalidate(entry.sequence + 1);
                self.give_up(destination);
            } else if entry.hop().is_some() {
                due = self.release(now, destination, due, AodvConfig::RELEASE_INTERVAL);
            } else if self.buffer.holds(destination) {
                self.ask(now, destination);
            }
        }
    }

    /// Sends a hello, and removes silent neighbours.
    fn greet(&mut self, now: Time) {
        let interval = self.parameters.hello_interval;
        let Some(hellos) = &mut self.hellos else { return };
        let says_hello = hellos.next <= now;
        if says_hello {
            hellos.next = now + Span::from_seconds(interval.seconds() * (0.75 + 0.5 * self.rng.unit()));
        }
        let mut silent = Vec::new();
        if hellos.next_check <= now {
            hellos.next_check = now + interval;
            silent.extend(hellos.neighbours.iter().filter(|(_, until)| **until <= now).map(|(id, _)| *id));
        }
        if says_hello {
            let lifetime = interval * u64::from(AodvConfig::ALLOWED_HELLO_LOSS);
            let hello = Hello { sender: self.id, sequence: self.sequence, lifetime };
            self.broadcast(now, &AodvMessage::Hello(hello));
        }
        for neighbour in silent {
            self.lose(now, neighbour);
        }
    }

    /// Times of pending events other than messages.
    fn timers(&self) -> impl Iterator<Item = Time> {
        let hellos = self.hellos.iter().flat_map(|hellos| [hellos.next, hellos.next_check]);
        self.repairs.first().map(|(due, _)| *due).into_iter().chain(hellos).chain([self.next_check])
    }
}

impl RoutingAgent for Aodv {
    fn next_hop(&self, destination: NodeId) -> Option<NodeId> {
        Some(self.table.get(&destination)?.hop()?.next)
    }

    fn route(&mut self, now: Time, destination: NodeId) -> Option<NextHop> {
        let entry = self.table.get_mut(&destination)?;
        let hop = entry.hop()?;
        entry.refresh(now, self.parameters.active_route_timeout);
        Some(NextHop::Neighbour(hop.next))
    }

    /// Holds the packet if it is the node's own or the route is being repaired. Otherwise a RERR goes to the
    /// neighbour that sent it.
    fn on_no_route(&mut self, now: Time, packet: RoutedPacket) {
        let RoutedPacket { handle, source, destination, .. } = packet;
        let entry = self.table.entry(destination).or_default();
        if source == self.id {
            self.hold(now, packet);
            self.ask(now, destination);
        } else if entry.is_repaired() {
            self.hold(now, packet);
        } else {
            let unreachable = Unreachable { destination, sequence: entry.sequence };
            self.broadcast(now, &AodvMessage::Error(vec![unreachable]));
            self.actions.push_back(Action::Drop(handle, DropCause::NoRoute));
        }
    }

    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, breaks: bool, what: GivenUp) -> bool {
        self.give_packet_up(now, next_hop, breaks && self.parameters.link_layer_detection, what)
    }

    fn on_stranded(&mut self, now: Time, packet: RoutedPacket) {
        if self.table.get(&packet.destination).is_some_and(table::AodvRoute::is_repaired) {
            self.hold(now, packet);
        } else {
            self.actions.push_back(Action::Drop(packet.handle, DropCause::LinkBroken));
        }
    }

    fn on_message(&mut self, now: Time, from: NodeId, message: &Datagram) {
        match AodvMessage::parse(message) {
            Some(AodvMessage::Request(request)) => self.on_request(now, from, &request),
            Some(AodvMessage::Reply(reply)) => self.on_reply(now, from, &reply),
            Some(AodvMessage::Error(list)) => self.on_error(now, from, &list),
            Some(AodvMessage::Hello(_)) => self.on_hello(now, from),
            None => debug_assert!(false, "no message of AODV: {message:?}"),
        }
    }

    fn watched_routes(&mut self) -> &mut WatchedRoutes {
        &mut self.watched
    }

    fn on_timer(&mut self, now: Time) {
        while let Some((due, destination)) = self.repairs.pop_first() {
            if due > now {
                self.repairs.insert((due, destination));
                break;
            }
            self.end_repair(now, destination);
        }
        if self.next_check <= now {
            self.check(now);
        }
        self.greet(now);
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let at = self.later.iter().position(|(due, _)| *due <= now)?;
        Some(self.later.remove(at).1)
    }

    fn next_timer(&self) -> Option<Time> {
        self.later.iter().map(|(due, _)| *due).chain(self.timers()).min()
    }
}
