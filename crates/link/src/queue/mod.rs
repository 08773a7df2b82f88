//! Queue disciplines of interface queues: the order of packets, drops and marks.
//!
//! * `line` is a FIFO line of packets, used by every discipline;
//! * `codel` decides at the head of a line whether a packet is dropped or marked (RFC 8289);
//! * `pie` decides at random as packets arrive (RFC 8033);
//! * `dual_pi2` has a queue of low latency and a classic queue under one controller (RFC 9332), and `updates`
//!   the times of the controllers' updates;
//! * `fq_codel` has a sub-queue for each flow and serves them in turn (RFC 8290);
//! * `stations` has such a set for each next hop and serves these by airtime, as Linux's mac80211 does;
//! * `airtime` limits the airtime in the hardware.
//!
//! [`InterfaceQueue`] is one of them, with routing packets ahead.

mod airtime;
mod codel;
mod dual_pi2;
mod fq_codel;
mod line;
mod pie;
mod stations;
mod updates;

#[cfg(test)]
mod tests;

pub use airtime::AirtimeLimits;
pub use codel::CodelOptions;
pub use dual_pi2::{DualPi2Options, DualQueueSchedule, LowLatencyMarking};
pub use fq_codel::FqCodelOptions;
pub use line::{Queued, Sought};
pub use pie::PieOptions;
pub use stations::{Adaptation, LinkState, SlowStations, StationsOptions};

use dual_pi2::DualPi2;
use fq_codel::FqCodel;
use line::Line;
use multihop_core::{DropCause, Ecn, NodeId, Packet, Port, Span, Time};
use pie::Pie;
use serde::Serialize;
use stations::Stations;
use std::collections::VecDeque;

/// Priority band of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Priority {
    /// Routing packets: ahead of all data, which is dropped to make room for them (ns-2's `PriQueue`).
    Routing,
    /// All other packets.
    Data,
}

/// Queue discipline of data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub enum Discipline {
    /// FIFO; packets that do not fit are lost.
    #[default]
    DropTail,
    /// FIFO; arrivals are dropped or marked at random, by the queue delay.
    Pie(PieOptions),
    /// A low-latency queue and a classic queue under one controller.
    DualPi2(DualPi2Options),
    /// One sub-queue per flow, served in turn, each under `CoDel`.
    FqCodel(FqCodelOptions),
    /// One set of sub-queues per next hop, served by airtime.
    Stations(StationsOptions),
}

/// Properties of a packet that enters a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Time of arrival.
    pub at: Time,
    /// Priority band.
    pub priority: Priority,
    /// Size in bytes.
    pub size: u32,
    /// Key of the packet's flow, or of its connection within the flow, in this direction.
    pub flow: u64,
    /// Next hop; [`NodeId::BROADCAST`] for a broadcast.
    pub next_hop: NodeId,
    /// ECN codepoint.
    pub ecn: Ecn,
}

impl Arrival {
    /// Properties of a packet for this next hop; none for a broadcast.
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
            flow: ends ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15), // disciplines mix the bits further
            next_hop: next_hop.unwrap_or(NodeId::BROADCAST),
            ecn: packet.segment.ecn,
        }
    }

    /// Whether the packet belongs to a queue of low latency: ECT(1), or CE (RFC 9331, section 5.1).
    fn is_low_latency(&self) -> bool {
        matches!(self.ecn, Ecn::Ect1 | Ecn::CongestionExperienced)
    }
}

/// Queue of packets in front of a radio or a wire. `T` is the packet, or a handle to it.
///
/// Lost packets are polled afterwards: after [`push`](InterfaceQueue::push), those that did not fit; after
/// [`pop`](InterfaceQueue::pop) or [`pop_for`](InterfaceQueue::pop_for), those that the discipline dropped.
#[derive(Clone, Debug)]
pub struct InterfaceQueue<T> {
    routing: Line<T>,
    data: Data<T>,
    limit: usize,
    lost: VecDeque<T>,
    push_loss: DropCause,
}

#[derive(Clone, Debug)]
enum Data<T> {
    DropTail(Line<T>),
    Pie(Box<Pie<T>>),
    DualPi2(Box<DualPi2<T>>),
    FqCodel(Box<FqCodel<T>>),
    Stations(Box<Stations<T>>),
}

impl<T> InterfaceQueue<T> {
    /// Creates an empty queue for at most `limit` packets in both bands together. `salt` selects the hash of
    /// flows to sub-queues and the random numbers, where the discipline has them.
    pub fn new(discipline: &Discipline, limit: usize, salt: u64) -> InterfaceQueue<T> {
        let data = match discipline {
            Discipline::DropTail => Data::DropTail(Line::default()),
            Discipline::Pie(options) => Data::Pie(Box::new(Pie::new(*options, salt))),
            Discipline::DualPi2(options) => Data::DualPi2(Box::new(DualPi2::new(*options, salt))),
            Discipline::FqCodel(options) => Data::FqCodel(Box::new(FqCodel::new(*options, salt))),
            Discipline::Stations(options) => Data::Stations(Box::new(Stations::new(*options, salt))),
        };
        InterfaceQueue {
            routing: Line::default(),
            data,
            limit,
            lost: VecDeque::new(),
            push_loss: DropCause::QueueFull,
        }
    }

    /// Enqueues a packet. If the queue is full, data packets of the discipline's choice are lost; without
    /// data packets, the last routing packet. A discipline may also drop the arriving packet.
    pub fn push(&mut self, arrival: &Arrival, item: T) {
        self.push_loss = DropCause::QueueFull;
        let Arrival { at: came, size, ecn, .. } = *arrival;
        let packet = Queued { item, came, size, markable: ecn != Ecn::NotCapable, marked: false };
        match arrival.priority {
            Priority::Routing => self.routing.push(packet),
            Priority::Data => match &mut self.data {
                Data::DropTail(line) => line.push(packet),
                Data::Pie(pie) => {
                    if let Some(dropped) = pie.push(packet) {
                        self.lost.push_back(dropped);
                        self.push_loss = DropCause::Aqm;
                        return;
                    }
                }
                Data::DualPi2(queues) => queues.push(arrival.is_low_latency(), packet),
                Data::FqCodel(set) => set.push(arrival.flow, packet),
                Data::Stations(stations) => stations.push(arrival.next_hop, arrival.flow, packet),
            },
        }
        while self.len() > self.limit || self.has_too_many_bytes() {
            self.shed();
        }
    }

    /// Cause of the packets lost in the last [`push`](InterfaceQueue::push).
    pub fn push_loss(&self) -> DropCause {
        self.push_loss
    }

    /// Dequeues the next packet.
    pub fn pop(&mut self, now: Time) -> Option<Queued<T>> {
        if let Some(packet) = self.routing.pop() {
            return Some(packet);
        }
        match &mut self.data {
            Data::DropTail(line) => line.pop(),
            Data::Pie(pie) => pie.take(now, Line::pop),
            Data::DualPi2(queues) => queues.take(now, &mut self.lost, Line::pop),
            Data::FqCodel(set) => set.pop(now, &mut self.lost),
            Data::Stations(stations) => stations.pop(now, &mut self.lost),
        }
    }

    /// Whether the packet that [`pop`](InterfaceQueue::pop) returns next precedes a dequeued packet that
    /// entered the queue at `entered`. None if the discipline chooses among flows or neighbours, and so keeps
    /// no order of arrival.
    pub fn precedes(&self, entered: Time) -> Option<bool> {
        let line = match &self.data {
            Data::DropTail(line) => line,
            Data::Pie(pie) => pie.line(),
            Data::DualPi2(_) | Data::FqCodel(_) | Data::Stations(_) => return None,
        };
        Some(self.routing.len() > 0 || line.next_came().is_some_and(|came| came < entered))
    }

    /// Whether packets for which `wanted` holds can be added to a retransmitted frame. False where frames are
    /// shared and the turn is another one's. Order of arrival and airtime have rules of their own.
    pub fn can_aggregate(&self, wanted: &impl Fn(&T) -> bool) -> bool {
        match &self.data {
            Data::DropTail(_) | Data::Pie(_) | Data::DualPi2(_) | Data::Stations(_) => true,
            Data::FqCodel(set) => set.is_next(wanted),
        }
    }

    /// Dequeues the next packet for one neighbour that can share a frame: the first for which `wanted` holds,
    /// if it has at most `most` bytes. A discipline may return none although one waits, because the turn is
    /// another one's.
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
            Data::Pie(pie) => pie.take(now, |line| line.pop_wanted(sought, wanted, most)),
            Data::DualPi2(queues) => {
                queues.take(now, &mut self.lost, |line| line.pop_wanted(sought, wanted, most))
            }
            Data::FqCodel(set) => set.pop_wanted(now, wanted, most, &mut self.lost),
            Data::Stations(stations) => stations.pop_for(now, sought.0, most, &mut self.lost),
        }
    }

    /// Whether the last [`push`](InterfaceQueue::push) or [`pop`](InterfaceQueue::pop) lost packets that were
    /// not polled yet.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Next packet lost in the last [`push`](InterfaceQueue::push) or [`pop`](InterfaceQueue::pop).
    pub fn poll_lost(&mut self) -> Option<T> {
        self.lost.pop_front()
    }

    /// Charges a neighbour for the medium time of frames to or from it.
    pub fn charge(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.charge(neighbour, airtime);
        }
    }

    /// Whether the discipline uses airtime at all.
    pub fn shares_airtime(&self) -> bool {
        matches!(self.data, Data::Stations(_))
    }

    /// Whether frames from neighbours are charged too.
    pub fn charges_received(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.charges_received())
    }

    /// Whether `CoDel` adapts to the links.
    pub fn adapts(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.adapts())
    }

    /// Passes the present state of the link to a neighbour to `CoDel`.
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

    /// Whether that airtime is limited, so that [`hold`](InterfaceQueue::hold) and
    /// [`release`](InterfaceQueue::release) have to be called.
    pub fn limits_airtime(&self) -> bool {
        matches!(&self.data, Data::Stations(stations) if stations.limits_airtime())
    }

    /// Records that the hardware took a packet with this expected airtime; `neighbour` is
    /// [`NodeId::BROADCAST`] for broadcasts.
    pub fn hold(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.hold(neighbour, airtime);
        }
    }

    /// Records that the hardware has finished packets with this expected airtime: sent, given up or lost.
    pub fn release(&mut self, neighbour: NodeId, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.release(neighbour, airtime);
        }
    }

    /// Expected airtime of this queue's packets in the hardware.
    pub fn pending(&self) -> Span {
        if let Data::Stations(stations) = &self.data { stations.pending() } else { Span::ZERO }
    }

    /// Expected airtime of packets for one neighbour in the hardware.
    pub fn pending_for(&self, neighbour: NodeId) -> Span {
        if let Data::Stations(stations) = &self.data { stations.pending_for(neighbour) } else { Span::ZERO }
    }

    /// Sets the expected airtime of the radio's other queues in the hardware.
    pub fn note_pending_elsewhere(&mut self, airtime: Span) {
        if let Data::Stations(stations) = &mut self.data {
            stations.note_pending_elsewhere(airtime);
        }
    }

    /// Removes every data packet for which `broken` holds and passes it to `dropped`, oldest first.
    pub fn purge(&mut self, broken: impl Fn(&T) -> bool, mut dropped: impl FnMut(T)) {
        let mut removed = Vec::new();
        match &mut self.data {
            Data::DropTail(line) => line.purge(&broken, &mut removed),
            Data::Pie(pie) => pie.purge(&broken, &mut removed),
            Data::DualPi2(queues) => queues.purge(&broken, &mut removed),
            Data::FqCodel(set) => set.purge(&broken, &mut removed),
            Data::Stations(stations) => stations.purge(&broken, &mut removed),
        }
        removed.sort_by_key(|packet| packet.came);
        for packet in removed {
            dropped(packet.item);
        }
    }

    /// Largest number of packets.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Number of packets in the queue.
    pub fn len(&self) -> usize {
        let data = match &self.data {
            Data::DropTail(line) => line.len(),
            Data::Pie(pie) => pie.line().len(),
            Data::DualPi2(queues) => queues.len(),
            Data::FqCodel(set) => set.len(),
            Data::Stations(stations) => stations.len(),
        };
        self.routing.len() + data
    }

    /// Whether [`pop`](InterfaceQueue::pop) would return a packet, unless the discipline drops the last ones.
    pub fn offers(&self) -> bool {
        let data = match &self.data {
            Data::DropTail(line) => line.len() > 0,
            Data::Pie(pie) => pie.line().len() > 0,
            Data::DualPi2(queues) => queues.len() > 0,
            Data::FqCodel(set) => set.len() > 0,
            Data::Stations(stations) => stations.offers(),
        };
        data || self.routing.len() > 0
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_too_many_bytes(&self) -> bool {
        match &self.data {
            Data::DropTail(_) | Data::Pie(_) | Data::DualPi2(_) => false,
            Data::FqCodel(set) => set.bytes() > set.byte_limit(),
            Data::Stations(stations) => stations.bytes() > stations.byte_limit(),
        }
    }

    fn shed(&mut self) {
        let before = self.lost.len();
        match &mut self.data {
            Data::DropTail(line) => self.lost.extend(line.pop_last().map(|packet| packet.item)),
            Data::Pie(pie) => self.lost.extend(pie.pop_last().map(|packet| packet.item)),
            Data::DualPi2(queues) => self.lost.extend(queues.pop_last().map(|packet| packet.item)),
            Data::FqCodel(set) => set.shed(&mut self.lost),
            Data::Stations(stations) => stations.shed(&mut self.lost),
        }
        if self.lost.len() == before {
            self.lost.extend(self.routing.pop_last().map(|packet| packet.item));
        }
    }
}
