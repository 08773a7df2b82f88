//! Queue disciplines of interface queues: what waits in which order, and what is lost or marked on the way.
//!
//! * `line` is a first-in first-out line of packets, of which every discipline is made;
//! * `codel` decides at the head of a line whether a packet is lost or marked (RFC 8289);
//! * `fq_codel` has a line for each flow and serves them in turns (RFC 8290);
//! * `stations` has such a set for each next hop and serves these by airtime, as Linux's mac80211 does;
//! * `airtime` limits what it hands to the hardware.
//!
//! [`InterfaceQueue`] is one of them, with routing packets ahead.

mod airtime;
mod codel;
mod fq_codel;
mod line;
mod stations;

#[cfg(test)]
mod tests;

pub use airtime::AirtimeLimits;
pub use codel::CodelOptions;
pub use fq_codel::FqCodelOptions;
pub use line::{Queued, Sought};
pub use stations::{Adaptation, LinkState, SlowStations, StationsOptions};

use fq_codel::FqCodel;
use line::Line;
use multihop_core::{NodeId, Packet, Port, Span, Time};
use serde::Serialize;
use stations::Stations;
use std::collections::VecDeque;

/// Which of the two bands a packet waits in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Priority {
    /// Routing packets: ahead of all data, which makes room for them (ns-2's `PriQueue`).
    Routing,
    /// Everything else.
    Data,
}

/// How data packets wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub enum Discipline {
    /// One line; what does not fit is lost.
    #[default]
    DropTail,
    /// A line for each flow, served in turns, each under `CoDel`.
    FqCodel(FqCodelOptions),
    /// The same for each next hop, and these served by airtime.
    Stations(StationsOptions),
}

/// What a queue has to know of a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it comes.
    pub at: Time,
    /// Its band.
    pub priority: Priority,
    /// Its bytes.
    pub size: u32,
    /// What it has in common with the packets of its flow, or of its stream of it, in this direction, and
    /// with no others.
    pub flow: u64,
    /// Its next hop; [`NodeId::BROADCAST`] if it has none.
    pub next_hop: NodeId,
    /// Its transport understands ECN.
    pub markable: bool,
}

impl Arrival {
    /// A packet comes that goes to this next hop; to none, if it is a broadcast.
    pub fn of(packet: &Packet, next_hop: Option<NodeId>, at: Time) -> Arrival {
        let port = u64::from(packet.port == Port::Sender);
        let ends = u64::from(packet.source.0) << 32 | u64::from(packet.destination.0);
        let number = u64::from(packet.segment.stream) << 33 | u64::from(packet.flow.0) << 1 | port;
        Arrival {
            at,
            priority: if packet.is_control() && !packet.is_arp() {
                Priority::Routing
            } else {
                Priority::Data
            },
            size: packet.size,
            flow: ends ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15), // disciplines mix it further
            next_hop: next_hop.unwrap_or(NodeId::BROADCAST),
            markable: packet.understands_ecn(),
        }
    }
}

/// A queue of packets in front of a radio or a wire. `T` is the packet, or a handle to it.
///
/// What is lost is asked for afterwards: after [`push`](InterfaceQueue::push), what found no room; after
/// [`pop`](InterfaceQueue::pop) or [`pop_for`](InterfaceQueue::pop_for), what the discipline dropped.
#[derive(Clone, Debug)]
pub struct InterfaceQueue<T> {
    routing: Line<T>,
    data: Data<T>,
    limit: usize,
    lost: VecDeque<T>,
}

#[derive(Clone, Debug)]
enum Data<T> {
    DropTail(Line<T>),
    FqCodel(Box<FqCodel<T>>),
    Stations(Box<Stations<T>>),
}

impl<T> InterfaceQueue<T> {
    /// An empty queue that holds at most `limit` packets, those of both bands together. `salt` decides which
    /// flows share a line, where they do.
    pub fn new(discipline: &Discipline, limit: usize, salt: u64) -> InterfaceQueue<T> {
        let data = match discipline {
            Discipline::DropTail => Data::DropTail(Line::default()),
            Discipline::FqCodel(options) => Data::FqCodel(Box::new(FqCodel::new(*options, salt))),
            Discipline::Stations(options) => Data::Stations(Box::new(Stations::new(*options, salt))),
        };
        InterfaceQueue { routing: Line::default(), data, limit, lost: VecDeque::new() }
    }

    /// Takes a packet in. If it is one too many, data packets are lost, which ones is the discipline's
    /// choice; if there are none, the last routing packet.
    pub fn push(&mut self, arrival: &Arrival, item: T) {
        let packet =
            Queued { item, came: arrival.at, size: arrival.size, markable: arrival.markable, marked: false };
        match arrival.priority {
            Priority::Routing => self.routing.push(packet),
            Priority::Data => match &mut self.data {
                Data::DropTail(line) => line.push(packet),
                Data::FqCodel(set) => set.push(arrival.flow, packet),
                Data::Stations(stations) => stations.push(arrival.next_hop, arrival.flow, packet),
            },
        }
        while self.len() > self.limit || self.has_too_many_bytes() {
            self.shed();
        }
    }

    /// Takes the next packet out.
    pub fn pop(&mut self, now: Time) -> Option<Queued<T>> {
        if let Some(packet) = self.routing.pop() {
            return Some(packet);
        }
        match &mut self.data {
            Data::DropTail(line) => line.pop(),
            Data::FqCodel(set) => set.pop(now, &mut self.lost),
            Data::Stations(stations) => stations.pop(now, &mut self.lost),
        }
    }

    /// Is what [`pop`](InterfaceQueue::pop) takes out next to be served before a packet that has left the
    /// queue already, and had entered it at `entered`? None where the discipline chooses among flows or
    /// neighbours: it has no order of arrival to keep.
    pub fn precedes(&self, entered: Time) -> Option<bool> {
        match &self.data {
            Data::DropTail(line) => {
                Some(self.routing.len() > 0 || line.next_came().is_some_and(|came| came < entered))
            }
            Data::FqCodel(_) | Data::Stations(_) => None,
        }
    }

    /// May a frame that is sent again take packets for which `wanted` holds along? Not where others have
    /// their turn before, and share frames. Arrival and airtime have rules of their own.
    pub fn can_aggregate(&self, wanted: &impl Fn(&T) -> bool) -> bool {
        match &self.data {
            Data::DropTail(_) | Data::Stations(_) => true,
            Data::FqCodel(set) => set.is_next(wanted),
        }
    }

    /// Takes the next packet for one neighbour out, where one can go with others to it in one frame: the
    /// first for which `wanted` holds, if it has no more than `most` bytes. A discipline may have none
    /// although one waits, where it is the turn of others.
    pub fn pop_for(
        &mut self,
        now: Time,
        sought: Sought,
        wanted: &impl Fn(&T) -> bool,
        most: u32,
    ) -> Option<Queued<T>> {
        if self.routing.offers(wanted, most) {
            return self.routing.pop();
        }
        match &mut self.data {
            Data::DropTail(line) => line.pop_wanted(sought, wanted, most),
            Data::FqCodel(set) => set.pop_wanted(now, wanted, most, &mut self.lost),
            Data::Stations(stations) => stations.pop_for(now, sought.0, most, &mut self.lost),
        }
    }

    /// Has the last call of [`push`](InterfaceQueue::push) or [`pop`](InterfaceQueue::pop) lost anything that
    /// was not asked for yet?
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// What the last call of [`push`](InterfaceQueue::push) or [`pop`](InterfaceQueue::pop) lost, one after
    /// the other.
    pub fn poll_lost(&mut self) -> Option<T> {
        self.lost.pop_front()
    }

    /// The medium was in use for this long by frames to this neighbour, or from it.
    pub fn charge(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.charge(neighbour, airtime);
        }
    }

    /// Does it want to know of airtime at all?
    pub fn shares_airtime(&self) -> bool {
        matches!(self.data, Data::Stations(_))
    }

    /// Are frames from neighbours to be charged as well?
    pub fn charges_received(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.charges_received())
    }

    /// Does `CoDel` want to know what links can do?
    pub fn adapts(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.adapts())
    }

    /// What the link to a neighbour can do by now.
    pub fn adapt(&mut self, neighbour: NodeId, link: LinkState) {
        if let Data::Stations(stations) = &mut self.data {
            stations.adapt(neighbour, link);
        }
    }

    /// Limits the airtime that the hardware holds, where there are stations.
    pub fn limit_airtime(&mut self, limits: AirtimeLimits) {
        if let Data::Stations(stations) = &mut self.data {
            stations.limit_airtime(limits);
        }
    }

    /// Is it limited? Then [`hold`](InterfaceQueue::hold) and [`release`](InterfaceQueue::release) say what
    /// the hardware has.
    pub fn limits_airtime(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.limits_airtime())
    }

    /// The hardware took a packet that is expected to take so long; broadcasts are those of
    /// [`NodeId::BROADCAST`].
    pub fn hold(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.hold(neighbour, airtime);
        }
    }

    /// It is done with packets that were expected to take so long: sent, given up or lost.
    pub fn release(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.release(neighbour, airtime);
        }
    }

    /// Airtime that the hardware holds of this queue.
    pub fn pending(&self) -> Span {
        if let Data::Stations(stations) = &self.data { stations.pending() } else { Span::ZERO }
    }

    /// The same for one neighbour.
    pub fn pending_for(&self, neighbour: NodeId) -> Span {
        if let Data::Stations(stations) = &self.data { stations.pending_for(neighbour) } else { Span::ZERO }
    }

    /// Airtime that the hardware holds of the other queues of the radio.
    pub fn note_pending_elsewhere(&mut self, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.note_pending_elsewhere(airtime);
        }
    }

    /// Removes every data packet for which `broken` holds and hands each to `dropped`, oldest first.
    pub fn purge(&mut self, broken: impl Fn(&T) -> bool, mut dropped: impl FnMut(T)) {
        let mut removed = Vec::new();
        match &mut self.data {
            Data::DropTail(line) => line.purge(&broken, &mut removed),
            Data::FqCodel(set) => set.purge(&broken, &mut removed),
            Data::Stations(stations) => stations.purge(&broken, &mut removed),
        }
        removed.sort_by_key(|packet| packet.came);
        for packet in removed {
            dropped(packet.item);
        }
    }

    /// Packets that fit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Packets waiting.
    pub fn len(&self) -> usize {
        let data = match &self.data {
            Data::DropTail(line) => line.len(),
            Data::FqCodel(set) => set.len(),
            Data::Stations(stations) => stations.len(),
        };
        self.routing.len() + data
    }

    /// Does [`pop`](InterfaceQueue::pop) find a packet that may leave? The last ones may be lost then.
    pub fn offers(&self) -> bool {
        let data = match &self.data {
            Data::DropTail(line) => line.len() > 0,
            Data::FqCodel(set) => set.len() > 0,
            Data::Stations(stations) => stations.offers(),
        };
        data || self.routing.len() > 0
    }

    /// Is nothing waiting?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_too_many_bytes(&self) -> bool {
        match &self.data {
            Data::DropTail(_) => false,
            Data::FqCodel(set) => set.bytes() > set.byte_limit(),
            Data::Stations(stations) => stations.bytes() > stations.byte_limit(),
        }
    }

    fn shed(&mut self) {
        let before = self.lost.len();
        match &mut self.data {
            Data::DropTail(line) => self.lost.extend(line.pop_last().map(|packet| packet.item)),
            Data::FqCodel(set) => set.shed(&mut self.lost),
            Data::Stations(stations) => stations.shed(&mut self.lost),
        }
        if self.lost.len() == before {
            self.lost.extend(self.routing.pop_last().map(|packet| packet.item));
        }
    }
}
