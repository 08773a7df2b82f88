//! FQ-CoDel (RFC 8290): one sub-queue per flow, each under `CoDel`, served by deficit round robin, sparse
//! flows first.

use super::codel::{Codel, CodelOptions};
use super::line::{Line, Queued};
use multihop_core::Time;
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FqCodelOptions {
    /// `CoDel` parameters of each sub-queue.
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

/// Sub-queue, and its place in the schedule.
#[derive(Clone, Debug)]
struct Flow<T> {
    line: Line<T>,
    codel: Codel,
    deficit: i64,
    /// Whether the sub-queue is in the list of new or of old ones.
    listed: bool,
}

/// Set of sub-queues.
#[derive(Clone, Debug)]
pub(super) struct FqCodel<T> {
    options: FqCodelOptions,
    salt: u64,
    /// Index plus one of the used sub-queue for each hash value; empty before the first packet.
    places: Vec<u32>,
    flows: Vec<Flow<T>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// Bytes of the largest packet so far.
    largest: u32,
}

impl<T> FqCodel<T> {
    pub(super) fn new(options: FqCodelOptions, salt: u64) -> FqCodel<T> {
        FqCodel {
            options,
            salt,
            places: Vec::new(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            largest: 0,
        }
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

    /// Changes the `CoDel` parameters of the sub-queues.
    pub(super) fn control_by(&mut self, codel: CodelOptions) {
        self.options.codel = codel;
    }

    /// Bytes of the longest sub-queue.
    pub(super) fn fattest(&self) -> u64 {
        self.flows.iter().map(|flow| flow.line.bytes()).max().unwrap_or(0)
    }

    /// Enqueues a packet in the sub-queue of its flow.
    pub(super) fn push(&mut self, key: u64, packet: Queued<T>) {
        let index = self.line_of(key);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.largest = self.largest.max(packet.size);
        let flow = &mut self.flows[index as usize];
        flow.line.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = i64::from(self.options.quantum);
            self.new.push_back(index);
        }
    }

    /// Dequeues the next packet (RFC 8290, section 4.2); packets that `CoDel` drops go to `lost`.
    pub(super) fn pop(&mut self, now: Time, lost: &mut VecDeque<T>) -> Option<Queued<T>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.options.quantum);
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (flow.line.len(), flow.line.bytes());
            let taken = flow.codel.take(now, &self.options.codel, self.largest, &mut flow.line, lost);
            self.packets -= packets - flow.line.len();
            self.bytes -= bytes - flow.line.bytes();
            let Some(taken) = taken else {
                list.pop_front();
                // A new sub-queue passes the old ones once, so that sparse flows do not starve them.
                if is_new && !self.old.is_empty() {
                    self.old.push_back(index);
                } else {
                    flow.listed = false;
                }
                continue;
            };
            flow.deficit -= i64::from(taken.size);
            return Some(taken);
        }
    }

    /// Dequeues the next packet from the sub-queues whose first packet satisfies `wanted`, if it has at most
    /// `most` bytes. Sub-queues take turns as in [`FqCodel::pop`]. Where flows share a sub-queue, `CoDel` may
    /// drop such a packet and leave another one, which is returned too.
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
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.options.quantum);
                list.remove(at);
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (flow.line.len(), flow.line.bytes());
            let taken = flow.codel.take(now, &self.options.codel, self.largest, &mut flow.line, lost);
            self.packets -= packets - flow.line.len();
            self.bytes -= bytes - flow.line.bytes();
            if let Some(taken) = taken {
                flow.deficit -= i64::from(taken.size);
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
    pub(super) fn shed(&mut self, lost: &mut VecDeque<T>) {
        let bytes = self.fattest();
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.line.bytes() == bytes) else { return };
        let mut dropped = 0;
        while dropped < self.options.drop_batch && (dropped == 0 || flow.line.bytes() > bytes - bytes / 2) {
            let Some(packet) = flow.line.pop() else { break };
            lost.push_back(packet.item);
            dropped += 1;
        }
        flow.codel.overflowed(dropped);
        self.packets -= dropped as usize;
        self.bytes -= bytes - flow.line.bytes();
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.flows.iter_mut().for_each(|flow| flow.line.purge(broken, removed));
        self.packets = self.flows.iter().map(|flow| flow.line.len()).sum();
        self.bytes = self.flows.iter().map(|flow| flow.line.bytes()).sum();
    }

    /// Index of the sub-queue of the flow with this key. Sub-queues are created at their first use, and kept
    /// with their `CoDel` state.
    fn line_of(&mut self, key: u64) -> u32 {
        let lines = u64::from(self.options.flows);
        if self.places.is_empty() {
            self.places.resize(lines as usize, 0);
        }
        let place = ((mix(key ^ self.salt) >> 32) * lines) >> 32;
        let known = &mut self.places[place as usize];
        if *known == 0 {
            self.flows.push(Flow {
                line: Line::default(),
                codel: Codel::default(),
                deficit: 0,
                listed: false,
            });
            *known = self.flows.len() as u32;
        }
        *known - 1
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
            (0..*packets).for_each(|_| set.push(*flow, packet(*flow, *size)));
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
        set.push(3, packet(3, 100));
        assert_eq!(take(&mut set).item, 3);
        assert_ne!(take(&mut set).item, 3);
        // The flow passes the others once; a further packet waits for its turn.
        set.push(3, packet(3, 1600));
        set.push(3, packet(3, 100));
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
            set.shed(&mut lost);
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
            set.push(2, Queued { item: 2, came: now, size: 1000, markable: false, marked: false });
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
            (0..100).for_each(|flow| set.push(flow, packet(flow, 100)));
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
        set.push(3, packet(3, 100));
        assert_eq!((take(&mut set).item, take(&mut set).item), (3, 1));
        set.push(3, packet(3, 100));
        assert_eq!(take(&mut set).item, 1);
    }
}
