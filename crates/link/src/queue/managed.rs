//! Disciplines other than drop-tail: under active queue management, or with several sub-queues.

use super::cobalt::Cobalt;
use super::dual_pi2::DualPi2;
use super::fq_codel::FqCodel;
use super::line::{Line, Queued, Sought};
use super::pie::Pie;
use super::stations::Stations;
use super::{Arrival, Discipline};
use multihop_core::Time;
use std::collections::VecDeque;

/// Data packets under a discipline other than drop-tail.
#[derive(Clone, Debug)]
pub(super) enum Managed<T> {
    Pie(Pie<T>),
    DualPi2(DualPi2<T>),
    FqCodel(FqCodel<T>),
    Cake(FqCodel<T, Cobalt>),
    Stations(Stations<T>),
}

impl<T> Managed<T> {
    /// Creates an empty queue; none for drop-tail, which is a [`Line`].
    pub(super) fn new(discipline: &Discipline, salt: u64) -> Option<Managed<T>> {
        Some(match discipline {
            Discipline::DropTail => return None,
            Discipline::Pie(options) => Managed::Pie(Pie::new(*options, salt)),
            Discipline::DualPi2(options) => Managed::DualPi2(DualPi2::new(*options, salt)),
            Discipline::FqCodel(options) => Managed::FqCodel(FqCodel::new(*options, salt)),
            Discipline::Cake(options) => Managed::Cake(options.queues(salt)),
            Discipline::Stations(options) => Managed::Stations(Stations::new(*options, salt)),
        })
    }

    /// Enqueues a packet. Returns it if the discipline drops it on arrival.
    pub(super) fn push(&mut self, arrival: &Arrival, packet: Queued<T>) -> Option<T> {
        match self {
            Managed::Pie(pie) => return pie.push(packet),
            Managed::DualPi2(queues) => queues.push(arrival.is_low_latency(), packet),
            Managed::FqCodel(set) => set.push(arrival.flow, arrival.hosts, packet),
            Managed::Cake(set) => set.push(arrival.flow, arrival.hosts, packet),
            Managed::Stations(stations) => stations.push(arrival.next_hop, arrival.flow, packet),
        }
        None
    }

    /// Dequeues the next packet. Packets that the discipline drops are added to `lost`.
    pub(super) fn pop(&mut self, now: Time, lost: &mut VecDeque<T>) -> Option<Queued<T>> {
        match self {
            Managed::Pie(pie) => pie.take(now, Line::pop),
            Managed::DualPi2(queues) => queues.take(now, lost, Line::pop),
            Managed::FqCodel(set) => set.pop(now, lost),
            Managed::Cake(set) => set.pop(now, lost),
            Managed::Stations(stations) => stations.pop(now, lost),
        }
    }

    /// Dequeues the next packet that can share a frame, as [`pop_for`](super::InterfaceQueue::pop_for) does.
    pub(super) fn pop_for(
        &mut self,
        now: Time,
        sought: Sought,
        wanted: &impl Fn(&T) -> bool,
        most: u32,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>> {
        match self {
            Managed::Pie(pie) => pie.take(now, |line| line.pop_wanted(sought, wanted, most)),
            Managed::DualPi2(queues) => queues.take(now, lost, |line| line.pop_wanted(sought, wanted, most)),
            Managed::FqCodel(set) => set.pop_wanted(now, wanted, most, lost),
            Managed::Cake(set) => set.pop_wanted(now, wanted, most, lost),
            Managed::Stations(stations) => stations.pop_for(now, sought.0, most, lost),
        }
    }

    /// Line of all packets, where they leave in the order of arrival.
    pub(super) fn line(&self) -> Option<&Line<T>> {
        if let Managed::Pie(pie) = self { Some(pie.line()) } else { None }
    }

    /// Whether packets for which `wanted` holds can be added to a retransmitted frame.
    pub(super) fn can_aggregate(&self, wanted: &impl Fn(&T) -> bool) -> bool {
        match self {
            Managed::Pie(_) | Managed::DualPi2(_) | Managed::Stations(_) => true,
            Managed::FqCodel(set) => set.is_next(wanted),
            Managed::Cake(set) => set.is_next(wanted),
        }
    }

    /// Sub-queues of neighbours, of the discipline that has them.
    pub(super) fn stations(&self) -> Option<&Stations<T>> {
        if let Managed::Stations(stations) = self { Some(stations) } else { None }
    }

    /// Sub-queues of neighbours, to be changed.
    pub(super) fn stations_mut(&mut self) -> Option<&mut Stations<T>> {
        if let Managed::Stations(stations) = self { Some(stations) } else { None }
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        match self {
            Managed::Pie(pie) => pie.purge(broken, removed),
            Managed::DualPi2(queues) => queues.purge(broken, removed),
            Managed::FqCodel(set) => set.purge(broken, removed),
            Managed::Cake(set) => set.purge(broken, removed),
            Managed::Stations(stations) => stations.purge(broken, removed),
        }
    }

    /// Number of packets.
    pub(super) fn len(&self) -> usize {
        match self {
            Managed::Pie(pie) => pie.line().len(),
            Managed::DualPi2(queues) => queues.len(),
            Managed::FqCodel(set) => set.len(),
            Managed::Cake(set) => set.len(),
            Managed::Stations(stations) => stations.len(),
        }
    }

    /// Whether [`pop`](Managed::pop) would return a packet, unless the discipline drops the last ones.
    pub(super) fn offers(&self) -> bool {
        if let Managed::Stations(stations) = self { stations.offers() } else { self.len() > 0 }
    }

    /// Whether the queue exceeds its limit in bytes.
    pub(super) fn has_too_many_bytes(&self) -> bool {
        match self {
            Managed::Pie(_) | Managed::DualPi2(_) => false,
            Managed::FqCodel(set) => set.bytes() > set.byte_limit(),
            Managed::Cake(set) => set.bytes() > set.byte_limit(),
            Managed::Stations(stations) => stations.bytes() > stations.byte_limit(),
        }
    }

    /// Drops a packet of the discipline's choice into `lost`, if there is one.
    pub(super) fn shed(&mut self, now: Time, lost: &mut VecDeque<T>) {
        match self {
            Managed::Pie(pie) => lost.extend(pie.pop_last().map(|packet| packet.item)),
            Managed::DualPi2(queues) => lost.extend(queues.pop_last().map(|packet| packet.item)),
            Managed::FqCodel(set) => set.shed(now, lost),
            Managed::Cake(set) => set.shed(now, lost),
            Managed::Stations(stations) => stations.shed(now, lost),
        }
    }
}
