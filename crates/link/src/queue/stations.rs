//! Set of sub-queues for each next hop, served by airtime: the scheduler of Høiland-Jørgensen et al., "Ending
//! the Anomaly" (USENIX ATC 2017), Algorithm 3, with the deficits of Linux's mac80211.
//!
//! With a hardware queue, the airtime of a packet is known long after the next one was dequeued.
//! [`AirtimeLimits`] bound the pending airtime of a station, which counts as used.

use super::airtime::AirtimeLimits;
use super::codel::CodelOptions;
use super::fq_codel::{FqCodel, FqCodelOptions};
use super::host_loads::Hosts;
use super::line::Queued;
use multihop_core::{NodeId, Rate, Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of queues per station.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StationsOptions {
    /// Parameters of each station's sub-queues; the byte limit is that of all stations together.
    pub lines: FqCodelOptions,
    /// Airtime of a station in its turn (mac80211: 256 us; the paper's evaluation: 300 us).
    pub airtime_quantum: Span,
    /// Whether frames from a station are charged like frames to it.
    pub charge_received: bool,
    /// Adaptation of `CoDel` to a station's link.
    pub adaptation: Adaptation,
}

/// Adaptation of a station's `CoDel` to its link; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Adaptation {
    /// Parameters of slow stations; none if all stations have the same.
    pub slow: Option<SlowStations>,
    /// Smallest target of `CoDel`, in durations of the last exchange with the station.
    pub exchanges: u32,
}

/// `CoDel` parameters for stations with an expected throughput below a rate (mac80211:
/// `sta_update_codel_params`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowStations {
    /// Rate per existing station below which a station is slow: with ten stations, below ten times this rate.
    pub below: Rate,
    /// `CoDel` parameters of slow stations.
    pub codel: CodelOptions,
}

impl Default for SlowStations {
    /// Returns mac80211's parameters.
    fn default() -> SlowStations {
        let codel = CodelOptions { target: Span::from_ms(50), interval: Span::from_ms(300), ecn: false };
        SlowStations { below: Rate::from_kbps(6_000), codel }
    }
}

/// State of the link to a station after an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkState {
    /// Throughput that rate control expects of the link, in bit/s.
    pub throughput: f64,
    /// Duration of the last exchange that succeeded at its first attempt.
    pub exchange: Span,
}

impl Default for StationsOptions {
    /// Returns mac80211's parameters, for stations that are not slow and radios before 802.11ac.
    fn default() -> StationsOptions {
        StationsOptions {
            lines: FqCodelOptions {
                codel: CodelOptions { target: Span::from_ms(20), ..CodelOptions::default() },
                quantum: 300,
                flows: 4096,
                byte_limit: 4 << 20,
                drop_batch: 1,
            },
            airtime_quantum: Span::from_us(256),
            charge_received: true,
            adaptation: Adaptation::default(),
        }
    }
}

/// Next hop, and its place in the schedule.
#[derive(Clone, Debug)]
struct StationQueue<T> {
    id: NodeId,
    lines: FqCodel<T>,
    /// Airtime in nanoseconds left in this turn.
    deficit: i64,
    /// Expected airtime of the packets that the hardware holds for the station.
    pending: Span,
    /// Whether the station is in the list of new or of old ones.
    listed: bool,
}

impl<T> StationQueue<T> {
    /// Airtime in nanoseconds left once all pending packets have been sent.
    fn credit(&self) -> i64 {
        self.deficit - self.pending.ns() as i64
    }
}

/// Stations of a queue.
#[derive(Clone, Debug)]
pub(super) struct Stations<T> {
    options: StationsOptions,
    salt: u64,
    /// Airtime queue limits; none if the hardware may hold whatever fits.
    limits: Option<AirtimeLimits>,
    /// Airtime pending for all stations of this queue, and for those of the radio's other queues.
    pending: Span,
    pending_elsewhere: Span,
    known: Vec<StationQueue<T>>,
    /// Index of each station, sorted by identifier.
    by_id: Vec<(NodeId, u32)>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
}

impl<T> Stations<T> {
    pub(super) fn new(options: StationsOptions, salt: u64) -> Stations<T> {
        Stations {
            options,
            salt,
            limits: None,
            pending: Span::ZERO,
            pending_elsewhere: Span::ZERO,
            known: Vec::new(),
            by_id: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn byte_limit(&self) -> u64 {
        self.options.lines.byte_limit
    }

    pub(super) fn charges_received(&self) -> bool {
        self.options.charge_received
    }

    /// Enqueues a packet for its next hop, which is served before those already waiting if it had no packets.
    pub(super) fn push(&mut self, next_hop: NodeId, key: u64, packet: Queued<T>) {
        let index = self.station(next_hop);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        let station = &mut self.known[index as usize];
        station.lines.push(key, Hosts::default(), packet);
        if !station.listed {
            station.listed = true;
            self.new.push_back(index);
        }
    }

    /// Dequeues the next packet of the station whose turn it is and whose limits allow it; packets that
    /// `CoDel` drops go to `lost`.
    pub(super) fn pop(&mut self, now: Time, lost: &mut VecDeque<T>) -> Option<Queued<T>> {
        if !self.any_may() {
            return None;
        }
        let mut moved = 0;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let may = self.may(&self.known[index as usize]);
            let list = if is_new { &mut self.new } else { &mut self.old };
            let station = &mut self.known[index as usize];
            let is_indebted = station.credit() <= 0;
            if is_indebted {
                station.deficit += self.options.airtime_quantum.ns() as i64;
            }
            if is_indebted || !may {
                list.pop_front();
                self.old.push_back(index);
                moved += 1;
                if self.new.is_empty() && moved > self.old.len() {
                    if self.limits.is_some() && !self.offers() {
                        return None;
                    }
                    self.skip_rounds();
                }
                continue;
            }
            let (packets, bytes) = (station.lines.len(), station.lines.bytes());
            let Some(taken) = station.lines.pop(now, lost) else {
                list.pop_front();
                // A new station passes the old ones once, so that stations with sparse traffic do not starve
                // them.
                if is_new {
                    self.old.push_back(index);
                } else {
                    station.listed = false;
                }
                continue;
            };
            self.packets -= packets - station.lines.len();
            self.bytes -= bytes - station.lines.bytes();
            return Some(taken);
        }
    }

    /// Dequeues a further packet for a station that has credit, or is the only one waiting, if it has at most
    /// `most` bytes.
    pub(super) fn pop_for(
        &mut self,
        now: Time,
        station: NodeId,
        most: u32,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>> {
        let index = self.station(station);
        if !self.may(&self.known[index as usize]) {
            return None;
        }
        let station = &mut self.known[index as usize];
        let (packets, bytes) = (station.lines.len(), station.lines.bytes());
        if station.deficit <= 0 && packets < self.packets {
            return None;
        }
        let taken = station.lines.pop_wanted(now, &|_| true, most, lost);
        self.packets -= packets - station.lines.len();
        self.bytes -= bytes - station.lines.bytes();
        taken
    }

    /// Whether the limits allow the hardware more for a station.
    fn may(&self, station: &StationQueue<T>) -> bool {
        self.limits.is_none_or(|limits| {
            limits.allow(station.id, station.pending, self.pending + self.pending_elsewhere)
        })
    }

    /// Whether the limits allow the hardware more for any station.
    fn any_may(&self) -> bool {
        let waiting = self.new.len() + self.old.len();
        self.limits.is_none_or(|limits| limits.allow_any(waiting, self.pending))
    }

    /// Whether a station has a packet that may leave.
    pub(super) fn offers(&self) -> bool {
        if self.limits.is_none() {
            return self.packets > 0;
        }
        self.packets > 0
            && self.any_may()
            && self.known.iter().any(|station| station.lines.len() > 0 && self.may(station))
    }

    /// Sets the airtime queue limits.
    pub(super) fn limit_airtime(&mut self, limits: AirtimeLimits) {
        self.limits = Some(limits);
    }

    /// Whether the airtime in the hardware is limited.
    pub(super) fn limits_airtime(&self) -> bool {
        self.limits.is_some()
    }

    /// Records that the hardware took a packet for a station with this expected airtime.
    pub(super) fn hold(&mut self, station: NodeId, airtime: Span) {
        let index = self.station(station);
        self.known[index as usize].pending += airtime;
        self.pending += airtime;
    }

    /// Records that the hardware has finished packets with this expected airtime.
    pub(super) fn release(&mut self, station: NodeId, airtime: Span) {
        let index = self.station(station);
        let pending = &mut self.known[index as usize].pending;
        debug_assert!(*pending >= airtime, "what is released was held");
        *pending = pending.saturating_sub(airtime);
        self.pending = self.pending.saturating_sub(airtime);
    }

    /// Airtime pending for the stations of this queue.
    pub(super) fn pending(&self) -> Span {
        self.pending
    }

    /// Airtime pending for one station.
    pub(super) fn pending_for(&self, station: NodeId) -> Span {
        let known = self.by_id.binary_search_by_key(&station, |(id, _)| *id);
        known.map_or(Span::ZERO, |at| self.known[self.by_id[at].1 as usize].pending)
    }

    /// Sets the airtime pending for the radio's other queues.
    pub(super) fn note_pending_elsewhere(&mut self, airtime: Span) {
        self.pending_elsewhere = airtime;
    }

    /// Whether `CoDel` adapts to the links.
    pub(super) fn adapts(&self) -> bool {
        self.options.adaptation != Adaptation::default()
    }

    /// Passes the present state of the link to a station to `CoDel`.
    pub(super) fn adapt(&mut self, station: NodeId, link: LinkState) {
        let index = self.station(station);
        let stations = self.by_id.iter().filter(|(id, _)| *id != NodeId::BROADCAST).count();
        let StationsOptions { lines, adaptation: Adaptation { slow, exchanges }, .. } = self.options;
        let is_slow = |slow: &SlowStations| link.throughput < slow.below.bps() as f64 * stations as f64;
        let mut codel = slow.filter(is_slow).map_or(lines.codel, |slow| slow.codel);
        codel.target = codel.target.max(link.exchange * u64::from(exchanges));
        codel.interval = codel.interval.max(codel.target);
        self.known[index as usize].lines.control_by(codel);
    }

    /// Drops packets from the head of the longest sub-queue of all stations.
    pub(super) fn shed(&mut self, now: Time, lost: &mut VecDeque<T>) {
        // Among equals the first, as within a station.
        let fattest = self.known.iter().map(|station| station.lines.fattest()).max().unwrap_or(0);
        let is_fattest = |station: &&mut StationQueue<T>| station.lines.fattest() == fattest;
        let Some(station) = self.known.iter_mut().find(is_fattest) else { return };
        let (packets, bytes) = (station.lines.len(), station.lines.bytes());
        station.lines.shed(now, lost);
        self.packets -= packets - station.lines.len();
        self.bytes -= bytes - station.lines.bytes();
    }

    /// Charges a station for the airtime of frames to or from it.
    pub(super) fn charge(&mut self, station: NodeId, airtime: Span) {
        let index = self.station(station);
        self.known[index as usize].deficit -= airtime.ns() as i64;
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.known.iter_mut().for_each(|station| station.lines.purge(broken, removed));
        self.packets = self.known.iter().map(|station| station.lines.len()).sum();
        self.bytes = self.known.iter().map(|station| station.lines.bytes()).sum();
    }

    fn station(&mut self, id: NodeId) -> u32 {
        match self.by_id.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.by_id[at].1,
            Err(at) => {
                let index = self.known.len() as u32;
                self.by_id.insert(at, (id, index));
                self.known.push(StationQueue {
                    id,
                    lines: FqCodel::new(self.options.lines, self.salt),
                    deficit: self.options.airtime_quantum.ns() as i64,
                    pending: Span::ZERO,
                    listed: false,
                });
                index
            }
        }
    }

    /// Advances the deficits by whole rounds, as long as no station that may send has a positive credit.
    fn skip_rounds(&mut self) {
        let quantum = self.options.airtime_quantum.ns() as i64;
        let rounds = |station: &StationQueue<T>| (-station.credit() / quantum).max(0);
        let stations = self.old.iter().map(|index| &self.known[*index as usize]);
        let skipped = stations.filter(|station| self.may(station)).map(rounds).min().unwrap_or(0);
        for index in &self.old {
            let station = &mut self.known[*index as usize];
            station.deficit += skipped.min(rounds(station)) * quantum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(stations: &[(u32, u32)]) -> Stations<u32> {
        let mut queue = Stations::new(StationsOptions::default(), 0);
        for (station, packets) in stations {
            (0..*packets).for_each(|_| join(&mut queue, *station));
        }
        queue
    }

    fn join(queue: &mut Stations<u32>, station: u32) {
        let packet = Queued { item: station, came: Time::ZERO, size: 1500, markable: false, marked: false };
        queue.push(NodeId(station), 0, packet);
    }

    /// Dequeues a packet, whose exchange takes `airtime` of its station, in microseconds.
    fn serve(queue: &mut Stations<u32>, airtime: impl Fn(u32) -> u64) -> u32 {
        let station = queue.pop(Time::ZERO, &mut VecDeque::new()).unwrap().item;
        queue.charge(NodeId(station), Span::from_us(airtime(station)));
        station
    }

    #[test]
    fn stations_share_airtime_and_not_packets() {
        let airtime = [2_000, 4_100, 13_000];
        let mut queue = filled(&[(0, 2000), (1, 2000), (2, 2000)]);
        let mut used = [0; 3];
        while used.iter().sum::<u64>() < 6_000_000 {
            let station = serve(&mut queue, |station| airtime[station as usize]) as usize;
            used[station] += airtime[station];
        }
        let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
        assert!(most - least <= 13_000 + 256, "{used:?}");
    }

    #[test]
    fn a_station_with_a_packet_now_and_then_does_not_wait() {
        let mut queue = filled(&[(0, 1000), (1, 1000)]);
        for _ in 0..50 {
            serve(&mut queue, |_| 2_000);
        }
        for _ in 0..10 {
            join(&mut queue, 7);
            assert_eq!(serve(&mut queue, |_| 100), 7);
            // Long enough for the others' turns to come, and for the station to become old and be removed.
            (0..6).for_each(|_| assert_ne!(serve(&mut queue, |_| 2_000), 7));
        }
    }

    #[test]
    fn frames_from_a_station_count_like_those_to_it() {
        let mut queue = filled(&[(0, 2000), (1, 2000)]);
        let mut packets = [0; 2];
        for _ in 0..900 {
            let station = serve(&mut queue, |_| 2_000);
            packets[station as usize] += 1;
            if station == 0 {
                queue.charge(NodeId(0), Span::from_us(4_000)); // it answers with twice as much
            }
        }
        assert!((i32::abs(packets[1] - 3 * packets[0])) <= 6, "{packets:?}");
    }

    /// A station's missed turns take no time, however large its debt before it had packets.
    #[test]
    fn deep_debts_are_paid_at_once_if_nobody_else_waits() {
        let mut queue = filled(&[]);
        queue.charge(NodeId(0), Span::from_ms(360_000_000_000));
        queue.charge(NodeId(1), Span::from_ms(360_000_000_100));
        (0..200).for_each(|_| join(&mut queue, 0));
        (0..200).for_each(|_| join(&mut queue, 1));
        let alone = (0..200).position(|_| serve(&mut queue, |_| 2_000) == 1).unwrap();
        // The second is 100 ms behind: 50 packets of 2 ms.
        assert!((49..=52).contains(&alone), "{alone}");
    }

    #[test]
    fn a_deep_debt_is_paid_at_once_by_who_is_alone() {
        let mut queue = filled(&[]);
        queue.charge(NodeId(0), Span::from_ms(360_000_000_000));
        join(&mut queue, 0);
        assert_eq!(serve(&mut queue, |_| 2_000), 0);
    }
}
