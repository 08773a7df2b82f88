//! FQ-CoDel (RFC 8290): one sub-queue per flow, each under `CoDel`, served by deficit round robin, sparse
//! flows first. CAKE has such sub-queues too, under `Cobalt`, and shares the rate among hosts.

use super::aqm::Aqm;
use super::codel::{Codel, CodelOptions};
use super::host_loads::{HostLoads, Hosts};
use super::line::{Line, Queued};
use multihop_core::Time;
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FqCodelOptions {
    /// Parameters of the queue management of each sub-queue.
    pub codel: CodelOptions,
    /// Bytes that a sub-queue may send in its turn.
    pub quantum: u32,
    /// Number of sub-queues, to which a hash assigns flows.
    pub flows: u32,
    /// Largest number of bytes in all sub-queues together.
    pub byte_limit: u64,
    /// Largest number of packets dropped from the longest sub-queue at an overflow; at most half of its bytes
    /// are dropped.
    pub drop_batch: u32,
}

impl Default for FqCodelOptions {
    /// Returns the constants of RFC 8290, section 5.2, and Linux's `fq_codel`.
    fn default() -> FqCodelOptions {
        FqCodelOptions {
            codel: CodelOptions::default(),
            quantum: 1514,
            flows: 1024,
            byte_limit: 32 << 20,
            drop_batch: 64,
        }
    }
}

/// List of the schedule in which a sub-queue is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Listed {
    Nowhere,
    New,
    Old,
}

/// Sub-queue, and its place in the schedule.
#[derive(Clone, Debug)]
struct Flow<T, A> {
    line: Line<T>,
    aqm: A,
    deficit: i64,
    listed: Listed,
    /// Key and hosts of the flow that last used the sub-queue.
    key: u64,
    hosts: Hosts,
    /// Whether the flow counts as a backlogged one of its hosts.
    counted: bool,
}

/// Set of sub-queues, each under a queue management `A`.
#[derive(Clone, Debug)]
pub(super) struct FqCodel<T, A = Codel> {
    options: FqCodelOptions,
    salt: u64,
    /// Number of neighbouring hash values among which a flow finds a sub-queue that no other flow uses: the
    /// ways of a set-associative hash. 1 for a plain hash.
    ways: usize,
    /// Index plus one of the used sub-queue for each hash value; empty before the first packet.
    places: Vec<u32>,
    flows: Vec<Flow<T, A>>,
    /// Backlogged flows of each host. None if flows share the rate, whatever hosts they are of.
    loads: Option<HostLoads>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// Bytes of the largest packet so far.
    largest: u32,
}

impl<T, A: Aqm> FqCodel<T, A> {
    pub(super) fn new(options: FqCodelOptions, salt: u64) -> FqCodel<T, A> {
        FqCodel {
            options,
            salt,
            ways: 1,
            places: Vec::new(),
            flows: Vec::new(),
            loads: None,
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            largest: 0,
        }
    }

    /// Sets the ways of the hash, and whether hosts share the rate.
    pub(super) fn isolating(self, ways: usize, hosts: bool) -> FqCodel<T, A> {
        FqCodel { ways, loads: hosts.then(HostLoads::default), ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn byte_limit(&self) -> u64 {
        self.options.byte_limit
    }

    /// Changes the parameters of the sub-queues' management.
    pub(super) fn control_by(&mut self, codel: CodelOptions) {
        self.options.codel = codel;
    }

    /// Bytes of the longest sub-queue.
    pub(super) fn fattest(&self) -> u64 {
        self.flows.iter().map(|flow| flow.line.bytes()).max().unwrap_or(0)
    }

    /// Enqueues a packet in the sub-queue of its flow.
    pub(super) fn push(&mut self, key: u64, hosts: Hosts, packet: Queued<T>) {
        let index = self.line_of(key, hosts);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.largest = self.largest.max(packet.size);
        let flow = &mut self.flows[index as usize];
        let was_empty = flow.line.len() == 0;
        flow.line.push(packet);
        match flow.listed {
            Listed::Nowhere => {
                flow.listed = Listed::New;
                let quantum = self.quantum_of(index);
                self.flows[index as usize].deficit = quantum;
                self.new.push_back(index);
            }
            // The flow had used its quantum when it ran empty.
            Listed::Old if was_empty => self.count(index),
            Listed::New | Listed::Old => {}
        }
    }

    /// Dequeues the next packet (RFC 8290, section 4.2); packets that are dropped go to `lost`.
    pub(super) fn pop(&mut self, now: Time, lost: &mut VecDeque<T>) -> Option<Queued<T>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            if self.flows[index as usize].deficit <= 0 {
                list.pop_front();
                self.refill(index);
                continue;
            }
            if let Some(taken) = self.take(index, now, lost) {
                return Some(taken);
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            // A new sub-queue passes the old ones once, so that sparse flows do not starve them.
            if is_new && !self.old.is_empty() {
                self.flows[index as usize].listed = Listed::Old;
                self.old.push_back(index);
            } else {
                self.flows[index as usize].listed = Listed::Nowhere;
                self.discount(index);
            }
        }
    }

    /// Dequeues the next packet from the sub-queues whose first packet satisfies `wanted`, if it has at most
    /// `most` bytes. Sub-queues take turns as in [`FqCodel::pop`]. Where flows share a sub-queue, the
    /// management may drop such a packet and leave another one, which is returned too.
    pub(super) fn pop_wanted(
        &mut self,
        now: Time,
        wanted: &impl Fn(&T) -> bool,
        most: u32,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>> {
        loop {
            let offers = |index: &u32| self.flows[*index as usize].line.offers(wanted, most);
            let new = self.new.iter().position(offers);
            let at = new.or_else(|| self.old.iter().position(offers))?;
            let list = if new.is_some() { &mut self.new } else { &mut self.old };
            let index = list[at];
            if self.flows[index as usize].deficit <= 0 {
                list.remove(at);
                self.refill(index);
            } else if let Some(taken) = self.take(index, now, lost) {
                return Some(taken);
            }
        }
    }

    /// Whether the first packet of the next sub-queue satisfies `wanted`.
    pub(super) fn is_next(&self, wanted: &impl Fn(&T) -> bool) -> bool {
        let mut lines = self.new.iter().chain(&self.old).map(|index| &self.flows[*index as usize].line);
        lines.find(|line| line.len() > 0).is_some_and(|line| line.offers(wanted, u32::MAX))
    }

    /// Drops packets from the head of the longest sub-queue: half of its bytes, at most a batch (RFC 8290,
    /// section 4.1).
    pub(super) fn shed(&mut self, now: Time, lost: &mut VecDeque<T>) {
        let bytes = self.fattest();
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.line.bytes() == bytes) else { return };
        let mut dropped = 0;
        while dropped < self.options.drop_batch && (dropped == 0 || flow.line.bytes() > bytes - bytes / 2) {
            let Some(packet) = flow.line.pop() else { break };
            lost.push_back(packet.item);
            dropped += 1;
        }
        flow.aqm.overflowed(now, &self.options.codel, dropped);
        self.packets -= dropped as usize;
        self.bytes -= bytes - flow.line.bytes();
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.flows.iter_mut().for_each(|flow| flow.line.purge(broken, removed));
        self.packets = self.flows.iter().map(|flow| flow.line.len()).sum();
        self.bytes = self.flows.iter().map(|flow| flow.line.bytes()).sum();
    }

    /// Dequeues the next packet of a sub-queue, and charges the sub-queue for it.
    fn take(&mut self, index: u32, now: Time, lost: &mut VecDeque<T>) -> Option<Queued<T>> {
        let flow = &mut self.flows[index as usize];
        let (packets, bytes) = (flow.line.len(), flow.line.bytes());
        let taken = flow.aqm.take(now, &self.options.codel, self.largest, &mut flow.line, lost);
        self.packets -= packets - flow.line.len();
        self.bytes -= bytes - flow.line.bytes();
        flow.deficit -= taken.as_ref().map_or(0, |taken| i64::from(taken.size));
        taken
    }

    /// Gives a sub-queue that was taken from its list another quantum, behind the old ones.
    fn refill(&mut self, index: u32) {
        if self.flows[index as usize].line.len() > 0 {
            self.count(index);
        }
        let quantum = self.quantum_of(index);
        let flow = &mut self.flows[index as usize];
        flow.deficit += quantum;
        flow.listed = Listed::Old;
        self.old.push_back(index);
    }

    /// Bytes that a sub-queue may send in its turn.
    fn quantum_of(&self, index: u32) -> i64 {
        let quantum = i64::from(self.options.quantum);
        match &self.loads {
            Some(loads) => (quantum / loads.of(self.flows[index as usize].hosts)).max(1),
            None => quantum,
        }
    }

    /// Counts a flow as a backlogged one of its hosts.
    fn count(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Some(loads) = self.loads.as_mut().filter(|_| !flow.counted) {
            loads.add(flow.hosts);
            flow.counted = true;
        }
    }

    /// No longer counts a flow that ran empty.
    fn discount(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Some(loads) = self.loads.as_mut().filter(|_| flow.counted) {
            loads.remove(flow.hosts);
            flow.counted = false;
        }
    }

    /// Index of the sub-queue of the flow with this key. Sub-queues are created at their first use, and kept
    /// with the state of their management.
    fn line_of(&mut self, key: u64, hosts: Hosts) -> u32 {
        let lines = u64::from(self.options.flows);
        if self.places.is_empty() {
            self.places.resize(lines as usize, 0);
        }
        let place = (((mix(key ^ self.salt) >> 32) * lines) >> 32) as usize;
        let place = if self.ways > 1 { self.way_of(key, place) } else { place };
        let known = self.places[place];
        if known == 0 {
            let number = self.flows.len() as u32;
            self.flows.push(Flow {
                line: Line::default(),
                aqm: A::new(self.salt, number),
                deficit: 0,
                listed: Listed::Nowhere,
                key,
                hosts,
                counted: false,
            });
            self.places[place] = number + 1;
            return number;
        }
        let flow = &mut self.flows[known as usize - 1];
        if flow.listed == Listed::Nowhere {
            (flow.key, flow.hosts) = (key, hosts);
        }
        known - 1
    }

    /// Place of the flow with this key in the set of a place: its own, else an unused one, else the place
    /// itself.
    fn way_of(&self, key: u64, place: usize) -> usize {
        let first = place - place % self.ways;
        let ways = (0..self.ways).map(|way| first + (place + way) % self.ways);
        let ways = ways.filter(|place| *place < self.places.len());
        let user = |place: usize| {
            let known = self.places[place].checked_sub(1)?;
            Some(&self.flows[known as usize])
        };
        let is_own = |place: &usize| user(*place).is_some_and(|flow| flow.key == key);
        let is_unused = |place: &usize| user(*place).is_none_or(|flow| flow.listed == Listed::Nowhere);
        ways.clone().find(is_own).or_else(|| ways.clone().find(is_unused)).unwrap_or(place)
    }
}

/// Mixes the bits of a number (the finaliser of `SplitMix64`).
pub(super) fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u64, size: u32) -> Queued<u64> {
        Queued { item: flow, came: Time::ZERO, size, markable: false, marked: false }
    }

    /// Set whose packets never wait too long, with packets of these flows and sizes.
    fn filled(options: FqCodelOptions, flows: &[(u64, u32, u32)]) -> FqCodel<u64> {
        let mut set = FqCodel::new(options, 0);
        for (flow, packets, size) in flows {
            (0..*packets).for_each(|_| set.push(*flow, Hosts::default(), packet(*flow, *size)));
        }
        set
    }

    fn take(set: &mut FqCodel<u64>) -> Queued<u64> {
        set.pop(Time::ZERO, &mut VecDeque::new()).unwrap()
    }

    #[test]
    fn a_flow_that_begins_overtakes_those_that_wait() {
        let mut set = filled(FqCodelOptions::default(), &[(1, 100, 1500), (2, 100, 1500)]);
        for _ in 0..20 {
            take(&mut set);
        }
        set.push(3, Hosts::default(), packet(3, 100));
        assert_eq!(take(&mut set).item, 3);
        assert_ne!(take(&mut set).item, 3);
        // The flow passes the others once; a further packet waits for its turn.
        set.push(3, Hosts::default(), packet(3, 1600));
        set.push(3, Hosts::default(), packet(3, 100));
        let order: Vec<u64> = (0..6).map(|_| take(&mut set).item).collect();
        assert_eq!(order.iter().filter(|flow| **flow == 3).count(), 2, "{order:?}");
        assert_ne!(order[..2], [3, 3]);
    }

    /// A flow that has used exactly its quantum waits (RFC 8290, section 4.2): packets of the size of the
    /// quantum alternate between flows.
    #[test]
    fn a_quantum_that_is_just_used_up_ends_a_turn() {
        let mut set = filled(FqCodelOptions::default(), &[(1, 3, 1514), (2, 3, 1514)]);
        let order: Vec<u64> = (0..6).map(|_| take(&mut set).item).collect();
        assert_eq!(order, [1, 2, 1, 2, 1, 2]);
        let mut smaller = filled(FqCodelOptions::default(), &[(1, 3, 1513), (2, 3, 1513)]);
        let order: Vec<u64> = (0..4).map(|_| take(&mut smaller).item).collect();
        assert_eq!(order, [1, 1, 2, 2], "a byte is left of it");
    }

    #[test]
    fn flows_share_bytes_and_not_packets() {
        let mut set = filled(FqCodelOptions::default(), &[(1, 400, 1500), (2, 4000, 150), (3, 1000, 600)]);
        let mut bytes = [0; 4];
        for _ in 0..2000 {
            let taken = take(&mut set);
            bytes[taken.item as usize] += taken.size;
        }
        let (least, most) = (bytes[1..].iter().min().unwrap(), bytes[1..].iter().max().unwrap());
        assert!(most - least <= 1514 + 1500, "{bytes:?}");
        assert!(*least > 200_000);
    }

    #[test]
    fn the_fattest_line_loses_half_of_its_bytes_but_no_more_than_a_batch() {
        for (drop_batch, expected) in [(64, 4), (3, 3), (1, 1)] {
            let options = FqCodelOptions { drop_batch, ..FqCodelOptions::default() };
            // Flow 2 has most packets, flow 1 most bytes.
            let mut set = filled(options, &[(1, 8, 1500), (2, 20, 100)]);
            let mut lost = VecDeque::new();
            set.shed(Time::ZERO, &mut lost);
            assert_eq!(lost, vec![1; expected]);
            assert_eq!(set.len(), 28 - expected);
            assert_eq!(set.bytes(), 14_000 - 1500 * expected as u64);
        }
    }

    #[test]
    fn flows_of_one_line_wait_in_one_line() {
        let options = FqCodelOptions { flows: 1, ..FqCodelOptions::default() };
        let mut set = filled(options, &[(1, 3, 1500), (2, 3, 100)]);
        let order: Vec<u64> = (0..6).map(|_| take(&mut set).item).collect();
        assert_eq!(order, [1, 1, 1, 2, 2, 2]);
    }

    /// Drops of `CoDel` in one sub-queue do not affect the others, and are not charged to the deficit.
    #[test]
    fn each_line_has_a_codel_of_its_own() {
        let mut set = filled(FqCodelOptions::default(), &[(1, 1000, 1000)]);
        let mut lost = VecDeque::new();
        for at in 10..400 {
            let now = Time::from_ns(at * 1_000_000);
            set.push(
                2,
                Hosts::default(),
                Queued { item: 2, came: now, size: 1000, markable: false, marked: false },
            );
            set.pop(now, &mut lost).unwrap();
            set.pop(now, &mut lost).unwrap();
        }
        assert!(lost.len() > 3 && lost.iter().all(|flow| *flow == 1), "{lost:?}");
        assert_eq!(set.len(), 1000 + 390 - 780 - lost.len());
    }

    /// Sequential numbers, as flows have, spread over sub-queues like random ones: 100 flows over 1024
    /// sub-queues share about five.
    #[test]
    fn keys_spread_over_the_lines() {
        let mut counts = Vec::new();
        for salt in 0..20 {
            let mut set: FqCodel<u64> = FqCodel::new(FqCodelOptions::default(), mix(salt));
            (0..100).for_each(|flow| set.push(flow, Hosts::default(), packet(flow, 100)));
            counts.push(set.flows.len());
        }
        let mean = counts.iter().sum::<usize>() as f64 / 20.0;
        assert!((94.0..97.0).contains(&mean), "{counts:?}");
    }

    /// The first two numbers of the generator with a seed of 0 (Steele, Lea and Flood, *Fast splittable
    /// pseudorandom number generators*, 2014).
    #[test]
    fn numbers_are_spread_as_splitmix_does() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    /// RFC 8290, section 4.2: a new sub-queue that ran empty moves to the end of the old ones, so that its
    /// next packet does not overtake them.
    #[test]
    fn a_line_that_ran_empty_is_not_new_before_the_others_had_their_turn() {
        let mut set = filled(FqCodelOptions::default(), &[(1, 100, 100)]);
        (0..20).for_each(|_| assert_eq!(take(&mut set).item, 1)); // 16 of them are a quantum
        set.push(3, Hosts::default(), packet(3, 100));
        assert_eq!((take(&mut set).item, take(&mut set).item), (3, 1));
        set.push(3, Hosts::default(), packet(3, 100));
        assert_eq!(take(&mut set).item, 1);
    }
}
