//! Ad hoc on-demand distance vectors (Perkins, Belding-Royer and Das, RFC 3561) as ns-2.35 has them
//! (aodv/aodv.cc).
//!
//! A node that has no route floods a request; a node that relays it learns the reverse route. The target, or
//! a node that knows a route that is recent enough, sends a reply along it, and a node that relays that
//! learns the forward route. Sequence numbers say how recent: only the destination makes even ones, and a
//! break makes a number odd. Where a link breaks, the node before it sends an RERR to its neighbours, and
//! those that used it send it to theirs.
//!
//! * `wire`: messages, and their bytes. `table`: the routes that a node knows.
//! * `discovery`: when it asks for one, and how far. `receive`: what it does with messages. `breaks`: what it
//!   does where a link breaks.
//!
//! What ns-2 does and the RFC does not, and what this leaves out of both, is in `docs/explanation/aodv.md`.

mod breaks;
mod discovery;
mod receive;
mod table;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use wire::FORMAT;

use super::buffer::SendBuffer;
use super::{Action, GivenUp, Message, NextHop, RoutedPacket, RoutingAgent, uniform};
use crate::config::AodvConfig;
use discovery::Turn;
use multihop_core::{DropCause, NodeId, Rng, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use table::Table;
use wire::{AodvMessage, Hello, Request, Unreachable};

/// AODV at a node.
pub(super) struct Aodv {
    id: NodeId,
    parameters: AodvConfig,
    rng: Rng,
    table: Table,
    /// Its own sequence number.
    sequence: u32,
    /// Number of its next request.
    number: u32,
    /// Requests that it has seen, by source and number, and until when it knows.
    seen: BTreeMap<(NodeId, u32), Time>,
    buffer: SendBuffer,
    /// When it looks for routes that have expired next.
    next_check: Time,
    /// Repairs that are given up, and when.
    repairs: BTreeSet<(Time, NodeId)>,
    /// Where links break by silence alone.
    hellos: Option<Hellos>,
    /// What is to be done later, and when.
    later: Vec<(Time, Action)>,
    actions: VecDeque<Action>,
}

/// What a node needs to know which neighbours are silent.
struct Hellos {
    /// When the next is sent.
    next: Time,
    /// When neighbours are looked through next.
    next_check: Time,
    /// Neighbours, and when they are lost if nothing is heard of them.
    neighbours: BTreeMap<NodeId, Time>,
}

impl Aodv {
    /// AODV at node `id`, from time 0 on.
    pub(super) fn new(id: NodeId, parameters: AodvConfig, mut rng: Rng) -> Aodv {
        let hellos = (!parameters.link_layer_detection).then(|| Hellos {
            next: Time::ZERO + uniform(&mut rng, parameters.broadcast_jitter),
            next_check: Time::ZERO + parameters.hello_interval,
            neighbours: BTreeMap::new(),
        });
        Aodv {
            id,
            rng,
            table: Table::new(),
            sequence: 2,
            number: 1,
            seen: BTreeMap::new(),
            buffer: SendBuffer::new(parameters.buffer),
            next_check: Time::ZERO + AodvConfig::CHECK_INTERVAL,
            repairs: BTreeSet::new(),
            hellos,
            later: Vec::new(),
            actions: VecDeque::new(),
            parameters,
        }
    }

    // ---- packets that wait ----

    /// A packet waits for a route.
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

    /// What waits for this destination is lost.
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

    /// What waits for this destination leaves by its route, the first packet at `due`, each next one
    /// `interval` later. Returns when another could leave.
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

    // ---- looking for routes ----

    /// Sends a request for a destination that has no route, if it is time for one.
    fn ask(&mut self, now: Time, target: NodeId) {
        let entry = self.table.entry(target).or_default();
        if entry.hop().is_some() {
            return;
        }
        match entry.discovery.turn(now, entry.last_hops, &self.parameters) {
            Turn::Ask(reach) => self.send_request(now, target, reach),
            Turn::Wait => {}
            Turn::GiveUp => {
                self.drop_aged(now);
                self.give_up(target);
            }
        }
    }

    fn send_request(&mut self, now: Time, target: NodeId, reach: u16) {
        self.sequence += 2;
        let request = Request {
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

    /// The same after a random time, as neighbours may do so as well.
    fn broadcast_soon(&mut self, now: Time, message: &AodvMessage) {
        let due = now + uniform(&mut self.rng, self.parameters.broadcast_jitter);
        self.broadcast(due, message);
    }

    fn unicast(&mut self, message: &AodvMessage, to: NodeId) {
        let size = message.size(&self.parameters);
        self.actions.push_back(Action::Unicast(message.emit(self.id, to), size, to));
    }

    // ---- time ----

    /// Routes that no packet took for long are gone, and packets that wait for others ask again.
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

    /// Says hello, and looks for neighbours that did not.
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

    /// Times at which something is to be done besides sending.
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

    /// Its own packet waits, and another's if the route is being repaired; if not, an RERR goes to the
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

    fn on_message(&mut self, now: Time, from: NodeId, message: &Message) {
        match AodvMessage::parse(message) {
            Some(AodvMessage::Request(request)) => self.on_request(now, from, &request),
            Some(AodvMessage::Reply(reply)) => self.on_reply(now, from, &reply),
            Some(AodvMessage::Error(list)) => self.on_error(now, from, &list),
            Some(AodvMessage::Hello(_)) => self.on_hello(now, from),
            None => debug_assert!(false, "no message of AODV: {message:?}"),
        }
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
