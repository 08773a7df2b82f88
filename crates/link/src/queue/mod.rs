//! Queue disciplines of interface queues: the order of packets, drops and marks.
//!
//! * `line` is a FIFO line of packets, used by every discipline;
//! * `codel` decides at the head of a line whether a packet is dropped or marked (RFC 8289);
//! * `pie` decides at random as packets arrive (RFC 8033);
//! * `dual_pi2` has a queue of low latency and a classic queue under one controller (RFC 9332), and `updates`
//!   the times of the controllers' updates;
//! * `aqm` is the interface of `codel` and `cobalt`, which is `CoDel` with BLUE;
//! * `fq_codel` has a sub-queue for each flow and serves them in turn (RFC 8290);
//! * `cake` does so under `cobalt`, and shares the rate among hosts by their `host_loads`;
//! * `stations` has such a set for each next hop and serves these by airtime, as Linux's mac80211 does;
//! * `airtime` limits the airtime in the hardware;
//! * `managed` is any of them but drop-tail, which is a line alone.
//!
//! [`InterfaceQueue`] is one of them, with routing packets ahead.

mod airtime;
mod aqm;
mod cake;
mod cobalt;
mod codel;
mod dual_pi2;
mod fq_codel;
mod host_loads;
mod line;
mod managed;
mod pie;
mod stations;
mod updates;

#[cfg(test)]
mod tests;

pub use airtime::AirtimeLimits;
pub use cake::CakeOptions;
pub use codel::CodelOptions;
pub use dual_pi2::{DualPi2Options, DualQueueSchedule, LowLatencyMarking};
pub use fq_codel::FqCodelOptions;
pub use host_loads::Hosts;
pub use line::{Queued, Sought};
pub use pie::PieOptions;
pub use stations::{Adaptation, LinkState, SlowStations, StationsOptions};

use line::Line;
use managed::Managed;
use multihop_core::{DropCause, Ecn, NodeId, Packet, Port, Span, Time};
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
    /// One sub-queue per flow, each under `Cobalt`; hosts share the rate.
    Cake(CakeOptions),
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
    /// Source and destination of the packet.
    pub hosts: Hosts,
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
            priority: if packet.is_control() && !packet.is_arp() && !packet.is_probe() {
                Priority::Routing
            } else {
                Priority::Data
            },
            size: packet.size,
            flow: ends ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15), // disciplines mix the bits further
            hosts: Hosts { source: packet.source, destination: packet.destination },
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

/// Data packets. Drop-tail has a variant of its own, so that its path has one branch and no indirection.
#[derive(Clone, Debug)]
enum Data<T> {
    DropTail(Line<T>),
    Managed(Box<Managed<T>>),
}

impl<T> Data<T> {
    fn stations(&self) -> Option<&Stations<T>> {
        if let Data::Managed(managed) = self { managed.stations() } else { None }
    }

    fn stations_mut(&mut self) -> Option<&mut Stations<T>> {
        if let Data::Managed(managed) = self { managed.stations_mut() } else { None }
    }
}

impl<T> InterfaceQueue<T> {
    /// Creates an empty queue for at most `limit` packets in both bands together. `salt` selects the hash of
    /// flows to sub-queues and the random numbers, where the discipline has them.
    pub fn new(discipline: &Discipline, limit: usize, salt: u64) -> InterfaceQueue<T> {
        let managed = Managed::new(discipline, salt).map(|managed| Data::Managed(Box::new(managed)));
        InterfaceQueue {
            routing: Line::default(),
            data: managed.unwrap_or_else(|| Data::DropTail(Line::default())),
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
        match (arrival.priority, &mut self.data) {
            (Priority::Routing, _) => self.routing.push(packet),
            (Priority::Data, Data::DropTail(line)) => line.push(packet),
            (Priority::Data, Data::Managed(managed)) => {
                if let Some(dropped) = managed.push(arrival, packet) {
                    self.lost.push_back(dropped);
                    self.push_loss = DropCause::Aqm;
                    return;
                }
            }
        }
        while self.len() > self.limit || self.has_too_many_bytes() {
            self.shed(came);
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
            Data::Managed(managed) => managed.pop(now, &mut self.lost),
        }
    }

    /// Whether the packet that [`pop`](InterfaceQueue::pop) returns next precedes a dequeued packet that
    /// entered the queue at `entered`. None if the discipline chooses among flows or neighbours, and so keeps
    /// no order of arrival.
    pub fn precedes(&self, entered: Time) -> Option<bool> {
        let line = match &self.data {
            Data::DropTail(line) => line,
            Data::Managed(managed) => managed.line()?,
        };
        Some(self.routing.len() > 0 || line.next_came().is_some_and(|came| came < entered))
    }

    /// Whether packets for which `wanted` holds can be added to a retransmitted frame. False where frames are
    /// shared and the turn is another one's. Order of arrival and airtime have rules of their own.
    pub fn can_aggregate(&self, wanted: &impl Fn(&T) -> bool) -> bool {
        match &self.data {
            Data::DropTail(_) => true,
            Data::Managed(managed) => managed.can_aggregate(wanted),
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
            Data::Managed(managed) => managed.pop_for(now, sought, wanted, most, &mut self.lost),
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
        if let Some(stations) = self.data.stations_mut() {
            stations.charge(neighbour, airtime);
        }
    }

    /// Whether the discipline uses airtime at all.
    pub fn shares_airtime(&self) -> bool {
        self.data.stations().is_some()
    }

    /// Whether frames from neighbours are charged too.
    pub fn charges_received(&self) -> bool {
        self.data.stations().is_some_and(Stations::charges_received)
    }

    /// Whether `CoDel` adapts to the links.
    pub fn adapts(&self) -> bool {
        self.data.stations().is_some_and(Stations::adapts)
    }

    /// Passes the present state of the link to a neighbour to `CoDel`.
    pub fn adapt(&mut self, neighbour: NodeId, link: LinkState) {
        if let Some(stations) = self.data.stations_mut() {
            stations.adapt(neighbour, link);
        }
    }

    /// Limits the airtime that the hardware holds, where there are stations.
    pub fn limit_airtime(&mut self, limits: AirtimeLimits) {
        if let Some(stations) = self.data.stations_mut() {
            stations.limit_airtime(limits);
        }
    }

    /// Whether that airtime is limited, so that [`hold`](InterfaceQueue::hold) and
    /// [`release`](InterfaceQueue::release) have to be called.
    pub fn limits_airtime(&self) -> bool {
        self.data.stations().is_some_and(Stations::limits_airtime)
    }

    /// Records that the hardware took a packet with this expected airtime; `neighbour` is
    /// [`NodeId::BROADCAST`] for broadcasts.
    pub fn hold(&mut self, neighbour: NodeId, airtime: Span) {
        if let Some(stations) = self.data.stations_mut() {
            stations.hold(neighbour, airtime);
        }
    }

    /// Records that the hardware has finished packets with this expected airtime: sent, given up or lost.
    pub fn release(&mut self, neighbour: NodeId, airtime: Span) {
        if let Some(stations) = self.data.stations_mut() {
            stations.release(neighbour, airtime);
        }
    }

    /// Expected airtime of this queue's packets in the hardware.
    pub fn pending(&self) -> Span {
        self.data.stations().map_or(Span::ZERO, Stations::pending)
    }

    /// Expected airtime of packets for one neighbour in the hardware.
    pub fn pending_for(&self, neighbour: NodeId) -> Span {
        self.data.stations().map_or(Span::ZERO, |stations| stations.pending_for(neighbour))
    }

    /// Sets the expected airtime of the radio's other queues in the hardware.
    pub fn note_pending_elsewhere(&mut self, airtime: Span) {
        if let Some(stations) = self.data.stations_mut() {
            stations.note_pending_elsewhere(airtime);
        }
    }

    /// Removes every data packet for which `broken` holds and passes it to `dropped`, oldest first.
    pub fn purge(&mut self, broken: impl Fn(&T) -> bool, mut dropped: impl FnMut(T)) {
        let mut removed = Vec::new();
        match &mut self.data {
            Data::DropTail(line) => line.purge(&broken, &mut removed),
            Data::Managed(managed) => managed.purge(&broken, &mut removed),
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
            Data::Managed(managed) => managed.len(),
        };
        self.routing.len() + data
    }

    /// Whether [`pop`](InterfaceQueue::pop) would return a packet, unless the discipline drops the last ones.
    pub fn offers(&self) -> bool {
        let data = match &self.data {
            Data::DropTail(line) => line.len() > 0,
            Data::Managed(managed) => managed.offers(),
        };
        data || self.routing.len() > 0
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_too_many_bytes(&self) -> bool {
        match &self.data {
            Data::DropTail(_) => false,
            Data::Managed(managed) => managed.has_too_many_bytes(),
        }
    }

    fn shed(&mut self, now: Time) {
        let before = self.lost.len();
        match &mut self.data {
            Data::DropTail(line) => self.lost.extend(line.pop_last().map(|packet| packet.item)),
            Data::Managed(managed) => managed.shed(now, &mut self.lost),
        }
        if self.lost.len() == before {
            self.lost.extend(self.routing.pop_last().map(|packet| packet.item));
        }
    }
}
