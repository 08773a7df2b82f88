//! Destination-sequenced distance vector routing (Perkins and Bhagwat, SIGCOMM 1994) as in ns-2.35
//! (dsdv/dsdv.cc).
//!
//! Every node numbers its own updates evenly. A node that finds a route broken makes its number odd and its
//! metric infinite. A greater number is accepted with any metric, an equal one with a smaller metric.
//!
//! ns-2 differs from the paper in three ways:
//!
//! * A triggered update follows from a new destination, a shorter route of the same number, a lost neighbour,
//!   or a neighbour that believes in an old break. A new number never triggers one, even with another metric.
//! * A triggered update repeats each changed metric until the next full update.
//! * Only silence breaks the link to a neighbour unless `use_mac` is set.
//!
//! One thing differs from ns-2: packets that wait for a route leave when the *table* has one. In ns-2 they
//! leave when an update mentions one, and wait forever if that update was not accepted.

mod route;
mod table;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use wire::FORMAT;

use super::{Action, GivenUp, RoutedPacket, RoutingAgent, WatchedRoutes, uniform};
use crate::config::DsdvConfig;
use crate::slab::{Datagram, Handle};
use multihop_core::{DropCause, NodeId, Rng, Span, Time};
use route::{DsdvRoute, UNREACHABLE};
use std::collections::{BTreeMap, VecDeque};
use table::DsdvTable;
use wire::Advert;

/// DSDV agent of a node.
pub(super) struct Dsdv {
    id: NodeId,
    parameters: DsdvConfig,
    rng: Rng,
    table: DsdvTable,
    /// Sequence number of the node.
    sequence: u32,
    next_full: Time,
    /// Earliest time of a triggered update.
    triggered_from: Time,
    /// Updates that wait for the broadcast jitter.
    outgoing: Vec<(Time, Action)>,
    /// Packets that wait for a route, by destination.
    waiting: BTreeMap<NodeId, VecDeque<Handle>>,
    actions: VecDeque<Action>,
    watched: WatchedRoutes,
}

impl Dsdv {
    /// Creates the agent of node `id`, from time 0 on.
    pub(super) fn new(id: NodeId, parameters: DsdvConfig, mut rng: Rng) -> Dsdv {
        let next_full = Time::ZERO + uniform(&mut rng, parameters.start_jitter);
        let mut table = DsdvTable::default();
        table.insert(id, DsdvRoute::of_self(id, 0, Time::ZERO));
        Dsdv {
            id,
            rng,
            table,
            sequence: 2,
            next_full,
            triggered_from: Time::ZERO,
            outgoing: Vec::new(),
            waiting: BTreeMap::new(),
            actions: VecDeque::new(),
            watched: WatchedRoutes::default(),
            parameters,
        }
    }

    // ---- sending ----

    /// Schedules an update: of the whole table, if `full` or if much of it changed, and otherwise of the
    /// changes.
    fn advertise(&mut self, now: Time, mut full: bool) {
        let changed = self.table.iter().filter(|(_, entry)| entry.is_news(now)).count();
        full |= changed * 3 > self.table.len() && changed > 3;
        if full {
            self.sequence += 2;
            self.table.insert(self.id, DsdvRoute::of_self(self.id, self.sequence, now));
            self.schedule_full(now);
        } else if changed == 0 {
            return;
        }
        self.triggered_from = now + self.parameters.triggered_interval;
        let mut adverts = Vec::new();
        for (destination, entry) in self.table.iter_mut() {
            if entry.advertise_from <= now && (full || entry.is_news(now)) {
                let advert = Advert { destination, metric: entry.metric, sequence: entry.sequence };
                // The sender is first, so that a node that does not know it learns of it before its routes.
                let at = if destination == self.id { 0 } else { adverts.len() };
                adverts.insert(at, advert);
                entry.advertised(full);
            }
        }
        for part in adverts.chunks(DsdvConfig::ENTRIES) {
            let due = now + uniform(&mut self.rng, self.parameters.broadcast_jitter);
            let size = DsdvConfig::HEADER_SIZE + DsdvConfig::ENTRY_SIZE * part.len() as u32;
            self.outgoing.push((due, Action::Broadcast(wire::emit(self.id, part), size)));
        }
    }

    /// Schedules the next full update after 3/4 to 4/4 of the period.
    fn schedule_full(&mut self, now: Time) {
        let share = 0.75 + 0.25 * self.rng.unit();
        self.next_full = now + Span::from_seconds(self.parameters.update_period.seconds() * share);
    }

    /// Sends a triggered update about a destination. If it is too early, it is postponed together with others
    /// that would be earlier still.
    fn trigger(&mut self, now: Time, destination: NodeId) {
        let entry = self.table.get_mut(destination).expect("entries are never removed");
        entry.trigger = None;
        if now >= self.triggered_from {
            self.advertise(now, false);
            return;
        }
        let later = self.triggered_from;
        entry.trigger = Some(later);
        for (_, entry) in self.table.iter_mut() {
            entry.trigger = entry.trigger.filter(|due| *due >= later);
        }
    }

    // ---- receiving ----

    fn learn(&mut self, now: Time, from: NodeId, advert: Advert) {
        let Advert { destination, metric, sequence } = advert;
        if destination == self.id {
            if metric == UNREACHABLE {
                self.next_full = now; // no other node has a newer number
            }
            return;
        }
        let metric = if metric == UNREACHABLE { UNREACHABLE } else { (metric + 1).min(UNREACHABLE) };
        let heard = Advert { destination, metric, sequence };
        let weight = DsdvConfig::SETTLING_WEIGHT;
        let had_route = self.next_hop(destination).is_some();
        let is_known = self.table.change(destination, |known| {
            if sequence == known.sequence {
                if metric < known.metric {
                    known.shorten(&heard, from, now);
                }
            } else if sequence > known.sequence {
                known.refresh(&heard, from, weight, now);
            } else if metric == UNREACHABLE && known.metric != UNREACHABLE {
                known.assert_again(now); // the neighbour believes in an old break
            }
        });
        if !is_known {
            let mut entry = DsdvRoute::new(&heard, from, self.parameters.settling_time, now);
            if metric < UNREACHABLE {
                entry.new_metric = true;
                entry.trigger = Some(entry.advertise_from);
            }
            self.table.insert(destination, entry);
        }
        if had_route && self.next_hop(destination).is_none() {
            self.watched.note_failure(destination);
        }
    }

    /// Records that a neighbour is alive. A neighbour without an entry gets one for its timeout that is never
    /// advertised.
    fn keep_alive(&mut self, now: Time, neighbour: NodeId) {
        let periods = u64::from(self.parameters.missed_updates);
        // The product may exceed the clock; no run lasts that long.
        let silence = self.parameters.update_period.ns().saturating_mul(periods).min(Time::NEVER.ns());
        let settling = self.parameters.settling_time;
        self.table.ensure(neighbour, || DsdvRoute::silent(neighbour, 1, settling, now));
        self.table.change(neighbour, |entry| entry.lost_at = Some(now + Span::from_ns(silence)));
    }

    /// Breaks the routes through this neighbour.
    fn lose(&mut self, now: Time, neighbour: NodeId) {
        if let Some(entry) = self.table.get_mut(neighbour) {
            entry.lost_at = None;
        }
        for (destination, entry) in self.table.iter_mut().filter(|(_, entry)| entry.next_hop == neighbour) {
            if entry.metric != UNREACHABLE {
                self.watched.note_failure(destination);
            }
            entry.break_off(now);
        }
    }

    /// Sends the packets whose destinations have a route now.
    fn release(&mut self) {
        let routed: Vec<NodeId> =
            self.waiting.keys().copied().filter(|to| self.next_hop(*to).is_some()).collect();
        for destination in routed {
            let packets = self.waiting.remove(&destination).unwrap_or_default();
            self.actions.extend(packets.into_iter().map(Action::Route));
        }
    }
}

impl RoutingAgent for Dsdv {
    fn next_hop(&self, destination: NodeId) -> Option<NodeId> {
        let entry = self.table.get(destination)?;
        (entry.metric != UNREACHABLE).then_some(entry.next_hop)
    }

    /// Holds the packet; per destination only the last few are held.
    fn on_no_route(&mut self, now: Time, RoutedPacket { handle, destination, .. }: RoutedPacket) {
        let settling = self.parameters.settling_time;
        self.table.ensure(destination, || DsdvRoute::silent(destination, UNREACHABLE, settling, now));
        let waiting = self.waiting.entry(destination).or_default();
        waiting.push_back(handle);
        while waiting.len() > self.parameters.buffer {
            let oldest = waiting.pop_front().expect("there are more than fit");
            self.actions.push_back(Action::Drop(oldest, DropCause::NoRoute));
        }
    }

    /// Breaks the link if `use_mac` is set and the next hop does not have the packet.
    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, _: bool, what: GivenUp) -> bool {
        let GivenUp::Packet(RoutedPacket { handle, .. }) = what else { return false };
        if self.parameters.use_mac {
            self.lose(now, next_hop);
            self.actions.push_back(Action::Route(handle));
        } else {
            self.actions.push_back(Action::Drop(handle, DropCause::RetryLimit));
        }
        false
    }

    fn on_message(&mut self, now: Time, from: NodeId, message: &Datagram) {
        let Some(adverts) = wire::parse(message) else {
            debug_assert!(false, "no update of DSDV: {message:?}");
            return;
        };
        for advert in adverts {
            self.learn(now, from, advert);
        }
        self.keep_alive(now, from);
        self.table.find_earliest();
        self.release();
    }

    fn watched_routes(&mut self) -> &mut WatchedRoutes {
        &mut self.watched
    }

    fn on_timer(&mut self, now: Time) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let chosen = |table: &DsdvTable, is_due: &dyn Fn(&DsdvRoute) -> bool| -> Vec<NodeId> {
            table.iter().filter(|(_, entry)| is_due(entry)).map(|(destination, _)| destination).collect()
        };
        for neighbour in chosen(&self.table, &|entry| due(entry.lost_at)) {
            self.lose(now, neighbour);
        }
        if self.next_full <= now {
            self.advertise(now, true);
        }
        for destination in chosen(&self.table, &|entry| due(entry.trigger)) {
            // An earlier update may have included it.
            if due(self.table[destination].trigger) {
                self.trigger(now, destination);
            }
        }
        self.table.find_earliest();
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let at = self.outgoing.iter().position(|(due, _)| *due <= now)?;
        Some(self.outgoing.remove(at).1)
    }

    fn next_timer(&self) -> Option<Time> {
        let outgoing = self.outgoing.iter().map(|(due, _)| *due);
        Some(outgoing.fold(self.next_full.min(self.table.earliest()), Time::min))
    }
}
