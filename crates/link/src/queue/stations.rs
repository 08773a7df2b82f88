//! A set of lines for each next hop, served by airtime: the scheduler of Høiland-Jørgensen et al., "Ending
//! the Anomaly" (USENIX ATC 2017), Algorithm 3, with the deficits of Linux's mac80211.
//!
//! Where the hardware has a queue of its own, the airtime of a packet is known long after the next was taken.
//! With [`AirtimeLimits`] what a station has pending there is bounded, and counts as if it had been used.

use super::airtime::AirtimeLimits;
use super::codel::CodelOptions;
use super::fq_codel::{FqCodel, FqCodelOptions};
use super::line::Queued;
use multihop_core::{NodeId, Rate, Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of queues per station.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StationsOptions {
    /// The lines of each station; the limit of bytes is that of all stations together.
    pub lines: FqCodelOptions,
    /// Airtime that a station has in its turn (mac80211: 256 us; the paper's evaluation: 300 us).
    pub airtime_quantum: Span,
    /// Frames from a station are charged to it like those to it.
    pub charge_received: bool,
    /// How `CoDel` follows what a station's link can do.
    pub adaptation: Adaptation,
}

/// How the `CoDel` of a station follows what its link can do; by default it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Adaptation {
    /// What slow stations have instead.
    pub slow: Option<SlowStations>,
    /// A target is at least as long as so many exchanges like the last one with the station.
    pub exchanges: u32,
}

/// Stations are slow whose expected throughput is below a rate (mac80211: `sta_update_codel_params`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowStations {
    /// The rate for each station that there is: with ten of them, those below ten times this are slow.
    pub below: Rate,
    /// Their `CoDel`.
    pub codel: CodelOptions,
}

impl Default for SlowStations {
    /// mac80211's.
    fn default() -> SlowStations {
        let codel = CodelOptions { target: Span::from_ms(50), interval: Span::from_ms(300), ecn: false };
        SlowStations { below: Rate::from_kbps(6_000), codel }
    }
}

/// What the MAC knows of the link to a station after an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkState {
    /// What rate control expects the link to carry, in bit/s.
    pub throughput: f64,
    /// How long the last exchange was, if it succeeded at its first try.
    pub exchange: Span,
}

impl Default for StationsOptions {
    /// mac80211's, for stations that are not slow and radios before 802.11ac.
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

/// A next hop, and its place in the schedule.
#[derive(Clone, Debug)]
struct StationQueue<T> {
    id: NodeId,
    lines: FqCodel<T>,
    /// Airtime in nanoseconds that it may still use in this turn.
    deficit: i64,
    /// What the hardware holds for it is expected to take so long.
    pending: Span,
    /// It is in one of the lists.
    listed: bool,
}

impl<T> StationQueue<T> {
    /// What is left to it, in nanoseconds, once all that is pending will have been sent.
    fn credit(&self) -> i64 {
        self.deficit - self.pending.ns() as i64
    }
}

/// The stations of a queue.
#[derive(Clone, Debug)]
pub(super) struct Stations<T> {
    options: StationsOptions,
    salt: u64,
    /// None if the hardware may hold whatever it has room for.
    limits: Option<AirtimeLimits>,
    /// Airtime pending for all stations here, and for those of the other queues of the radio.
    pending: Span,
    pending_elsewhere: Span,
    known: Vec<StationQueue<T>>,
    /// Indices of them, in the order of their identifiers.
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

    /// A packet joins the lines of its next hop, which is served before those that have waited already if it
    /// held none.
    pub(super) fn push(&mut self, next_hop: NodeId, key: u64, packet: Queued<T>) {
        let index = self.station(next_hop);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        let station = &mut self.known[index as usize];
        station.lines.push(key, packet);
        if !station.listed {
            station.listed = true;
            self.new.push_back(index);
        }
    }

    /// The next packet, of the station whose turn it is and that may; those that `CoDel` drops go to `lost`.
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
                // It passes the old ones once, lest a new one with a packet now and then starves them.
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

    /// One more packet for a station that has credit, or that alone has packets waiting, of no more than so
    /// many bytes.
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

    /// May the hardware get more for a station?
    fn may(&self, station: &StationQueue<T>) -> bool {
        self.limits.is_none_or(|limits| {
            limits.allow(station.id, station.pending, self.pending + self.pending_elsewhere)
        })
    }

    /// May the hardware get more for any station?
    fn any_may(&self) -> bool {
        let waiting = self.new.len() + self.old.len();
        self.limits.is_none_or(|limits| limits.allow_any(waiting, self.pending))
    }

    /// Has a station a packet that may leave?
    pub(super) fn offers(&self) -> bool {
        if self.limits.is_none() {
            return self.packets > 0;
        }
        self.packets > 0
            && self.any_may()
            && self.known.iter().any(|station| station.lines.len() > 0 && self.may(station))
    }

    /// The hardware holds no more than this for a station from now on.
    pub(super) fn limit_airtime(&mut self, limits: AirtimeLimits) {
        self.limits = Some(limits);
    }

    /// Is what the hardware holds limited?
    pub(super) fn limits_airtime(&self) -> bool {
        self.limits.is_some()
    }

    /// The hardware has a packet more for a station, which is expected to take so long.
    pub(super) fn hold(&mut self, station: NodeId, airtime: Span) {
        let index = self.station(station);
        self.known[index as usize].pending += airtime;
        self.pending += airtime;
    }

    /// It is done with packets that were expected to take so long.
    pub(super) fn release(&mut self, station: NodeId, airtime: Span) {
        let index = self.station(station);
        let pending = &mut self.known[index as usize].pending;
        debug_assert!(*pending >= airtime, "what is released was held");
        *pending = pending.saturating_sub(airtime);
        self.pending = self.pending.saturating_sub(airtime);
    }

    /// Airtime that is pending for the stations of this queue.
    pub(super) fn pending(&self) -> Span {
        self.pending
    }

    /// The same for one of them.
    pub(super) fn pending_for(&self, station: NodeId) -> Span {
        let known = self.by_id.binary_search_by_key(&station, |(id, _)| *id);
        known.map_or(Span::ZERO, |at| self.known[self.by_id[at].1 as usize].pending)
    }

    /// Airtime that is pending for those of the other queues of the radio.
    pub(super) fn note_pending_elsewhere(&mut self, airtime: Span) {
        self.pending_elsewhere = airtime;
    }

    /// Does `CoDel` follow what links can do?
    pub(super) fn adapts(&self) -> bool {
        self.options.adaptation != Adaptation::default()
    }

    /// What the link to a station can do by now.
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

    /// The fattest line of all stations loses packets from its head.
    pub(super) fn shed(&mut self, lost: &mut VecDeque<T>) {
        // Of equals the first, as within a station.
        let fattest = self.known.iter().map(|station| station.lines.fattest()).max().unwrap_or(0);
        let is_fattest = |station: &&mut StationQueue<T>| station.lines.fattest() == fattest;
        let Some(station) = self.known.iter_mut().find(is_fattest) else { return };
        let (packets, bytes) = (station.lines.len(), station.lines.bytes());
        station.lines.shed(lost);
        self.packets -= packets - station.lines.len();
        self.bytes -= bytes - station.lines.bytes();
    }

    /// Frames to a station, or from it, took this long.
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

    /// Rounds in which no station that may send would get a positive credit happen at once.
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

    /// Takes a packet, whose exchange takes as long as `airtime` says of its station, in microseconds.
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
            // Long enough for the others' turns to come, and for it to be old, and gone.
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

    /// However much a station used before it had anything to wait for: the turns that it has to miss cost no
    /// time.
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
