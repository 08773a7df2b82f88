//! The future-event set.
//!
//! Every pending event is a *slot*: a node's MAC timer, a flow's deadline, a frame's next edge. There are finitely many, known
//! when the run starts, and each is pending at most once. So the set orders dense slot numbers in an indexed 4-ary heap:
//! arming an armed slot moves it, disarming is exact, nothing is allocated, and no stale entry is ever popped.
//!
//! Events at the same instant are ordered by [`Lane`], then by the slot's owner, then by slot. The order of *owners* must not
//! matter to any result; [`Agenda::with_reversed_ties`] reverses it, and a test demands that nothing changes.

use multihop_core::Time;

/// A pending-event slot: an index given out by the world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

/// The order of events at one instant.
///
/// What a wire has sent leaves its queue first, so that whatever comes at this instant finds room. Frames end before anything
/// else happens at a MAC, so that an ACK beats its own timeout. Frames start after what MACs and those above them do, so that
/// two back-offs that run out in the same slot both transmit, and collide. What is recorded at an instant is what is so after it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Lane {
    /// The last bit of a packet leaves the sending end of a wire.
    WireSent,
    /// A frame ends at its listeners.
    AirEnd,
    /// MAC timers.
    Mac,
    /// Everything above the MAC: link layer, transports, applications, arrivals over wires.
    Upper,
    /// A frame starts at its listeners.
    AirStart,
    /// Warm-up ends, or a row of the time series is written.
    Record,
}

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// The future-event set; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Heap of keys: time (upper 64 bits), lane (8 bits), rank (lower 32 bits).
    heap: Vec<u128>,
    /// Position of each rank in the heap, or `ABSENT`.
    position: Vec<u32>,
    /// Rank of each slot, and its inverse.
    rank_of: Vec<u32>,
    slot_of: Vec<Slot>,
}

impl Agenda {
    /// An empty agenda for the slots `0..owners.len()`; `owners[i]` is the owner of slot `i`.
    pub fn new(owners: &[u32]) -> Agenda {
        Agenda::ranked(owners, false)
    }

    /// The same, with ties between owners resolved in the opposite order.
    pub fn with_reversed_ties(owners: &[u32]) -> Agenda {
        Agenda::ranked(owners, true)
    }

    fn ranked(owners: &[u32], reversed: bool) -> Agenda {
        let mut slot_of: Vec<Slot> = (0..owners.len() as u32).map(Slot).collect();
        slot_of.sort_by_key(|slot| {
            let owner = owners[slot.0 as usize];
            (if reversed { u32::MAX - owner } else { owner }, *slot)
        });
        let mut rank_of = vec![0; owners.len()];
        for (rank, slot) in slot_of.iter().enumerate() {
            rank_of[slot.0 as usize] = rank as u32;
        }
        Agenda {
            heap: Vec::with_capacity(owners.len()),
            position: vec![ABSENT; owners.len()],
            rank_of,
            slot_of,
        }
    }

    /// Makes `slot` pending at `time` in `lane`; if it was pending already, it is moved there.
    pub fn arm(&mut self, slot: Slot, time: Time, lane: Lane) {
        let rank = self.rank_of[slot.0 as usize];
        let key = u128::from(time.ns()) << 64 | (lane as u128) << 32 | u128::from(rank);
        let at = self.position[rank as usize];
        if at == ABSENT {
            self.heap.push(key);
            self.sift_up(self.heap.len() - 1, key);
        } else if key < self.heap[at as usize] {
            self.sift_up(at as usize, key);
        } else {
            self.sift_down(at as usize, key);
        }
    }

    /// Makes `slot` not pending; it may be not pending already.
    pub fn disarm(&mut self, slot: Slot) {
        let at = self.position[self.rank_of[slot.0 as usize] as usize];
        if at != ABSENT {
            self.remove(at as usize);
        }
    }

    /// Is the slot pending?
    pub fn is_armed(&self, slot: Slot) -> bool {
        self.position[self.rank_of[slot.0 as usize] as usize] != ABSENT
    }

    /// The earliest pending event, which is pending no more.
    pub fn pop(&mut self) -> Option<(Time, Slot)> {
        let key = *self.heap.first()?;
        self.remove(0);
        Some((Time::from_ns((key >> 64) as u64), self.slot_of[(key & 0xffff_ffff) as usize]))
    }

    /// When the earliest pending event is due.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.first().map(|key| Time::from_ns((key >> 64) as u64))
    }

    fn remove(&mut self, at: usize) {
        self.position[(self.heap[at] & 0xffff_ffff) as usize] = ABSENT;
        let last = self.heap.pop().expect("a removed entry was there");
        if at == self.heap.len() {
            return;
        }
        if at > 0 && last < self.heap[(at - 1) / ARITY] {
            self.sift_up(at, last);
        } else {
            self.sift_down(at, last);
        }
    }

    /// Moves the hole at `at` up until `key` fits in.
    fn sift_up(&mut self, mut at: usize, key: u128) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, key);
    }

    /// Moves the hole at `at` down until `key` fits in.
    fn sift_down(&mut self, mut at: usize, key: u128) {
        loop {
            let first = at * ARITY + 1;
            if first >= self.heap.len() {
                break;
            }
            let end = (first + ARITY).min(self.heap.len());
            let mut least = first;
            for child in first + 1..end {
                if self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if key <= self.heap[least] {
                break;
            }
            self.place(at, self.heap[least]);
            at = least;
        }
        self.place(at, key);
    }

    fn place(&mut self, at: usize, key: u128) {
        self.heap[at] = key;
        self.position[(key & 0xffff_ffff) as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;
    use std::collections::BTreeSet;

    /// The indexed heap against a plain ordered set, over random operations.
    #[test]
    fn agrees_with_an_ordered_set() {
        const SLOTS: u32 = 97;
        let owners: Vec<u32> = (0..SLOTS).map(|slot| slot % 7).collect();
        for reversed in [false, true] {
            let mut agenda = Agenda::ranked(&owners, reversed);
            let mut plain: BTreeSet<(u64, u8, u32, u32)> = BTreeSet::new();
            let mut rng = Rng::at(5, &["agenda"]);
            let lanes = [Lane::WireSent, Lane::AirEnd, Lane::Mac, Lane::Upper, Lane::AirStart, Lane::Record];
            for step in 0..200_000u64 {
                let slot = rng.below(SLOTS);
                match rng.below(4) {
                    0 | 1 => {
                        let (time, lane) =
                            (step / 50 + u64::from(rng.below(40)), lanes[rng.below(6) as usize]);
                        let owner = owners[slot as usize];
                        let owner = if reversed { u32::MAX - owner } else { owner };
                        plain.retain(|entry| entry.3 != slot);
                        plain.insert((time, lane as u8, owner, slot));
                        agenda.arm(Slot(slot), Time::from_ns(time), lane);
                    }
                    2 => {
                        plain.retain(|entry| entry.3 != slot);
                        agenda.disarm(Slot(slot));
                    }
                    _ => {
                        let expected =
                            plain.pop_first().map(|(time, _, _, slot)| (Time::from_ns(time), Slot(slot)));
                        assert_eq!(agenda.pop(), expected);
                    }
                }
                assert_eq!(agenda.heap.len(), plain.len());
            }
        }
    }

    #[test]
    fn an_ack_beats_its_timeout_and_frames_start_last() {
        let mut agenda = Agenda::new(&[0, 0, 0]);
        let now = Time::from_ns(10);
        agenda.arm(Slot(0), now, Lane::AirStart);
        agenda.arm(Slot(1), now, Lane::Mac);
        agenda.arm(Slot(2), now, Lane::AirEnd);
        let order: Vec<u32> = std::iter::from_fn(|| agenda.pop().map(|(_, slot)| slot.0)).collect();
        assert_eq!(order, [2, 1, 0]);
    }
}
