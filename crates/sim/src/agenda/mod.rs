//! The future-event set.
//!
//! Every pending event is a *slot*: a node's MAC timer, a flow's deadline, a frame's next edge. There are finitely many, known
//! when the run starts, and each is pending at most once: arming an armed slot moves it, disarming is exact, nothing is allocated,
//! and no stale entry is ever popped.
//!
//! What is due before a *horizon* lies in an unsorted array, in which arming and disarming cost nothing and the earliest is found by
//! looking at all; what is due later lies in a heap. Most timers of MACs are due soon and are disarmed before. The horizon follows
//! from how much there is: where little is pending, nothing is late.
//!
//! Events at the same instant are ordered by [`Lane`], then by the slot's owner, then by slot. The order of *owners* must not
//! matter to any result; [`Agenda::with_reversed_ties`] reverses it, and a test demands that nothing changes.

mod far;

use far::Heap;
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

/// Position of a slot that is not pending.
const ABSENT: u32 = u32::MAX;
/// Set in the position of a slot that is in the heap.
const FAR: u32 = 1 << 31;
/// Bits of a lane.
const LANE_BITS: u32 = 3;
/// Set in all keys before the horizon, and the bit above it in none: read as `f64` they are normal numbers in the same order, of
/// which SSE2 has a minimum, as it has none of `u64`.
const NORMAL: u64 = 1 << 62;
/// So many events at most are before the horizon, unless more are at one instant, and so many are left or brought there.
const NEAR_MOST: usize = 384;
const NEAR_AGAIN: usize = 96;

/// The future-event set; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Keys of what is due before the horizon, in no order: `NORMAL`, nanoseconds since `base`, lane, rank.
    near: Vec<u64>,
    /// Where these are while they are sorted out.
    spare: Vec<u64>,
    /// Keys of everything else: time (upper 64 bits), lane (above 32 bits), rank (lower 32 bits).
    far: Heap,
    /// Position of each rank: in `near`, or in `far` with `FAR` set, or `ABSENT`.
    position: Vec<u32>,
    /// In nanoseconds.
    base: u64,
    horizon: u64,
    /// When `near` is longer than this, the horizon comes nearer.
    near_most: usize,
    /// Bits of a rank in `near`, and those below the time.
    rank_bits: u32,
    shift: u32,
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
        let rank_bits = usize::BITS - owners.len().leading_zeros();
        let mut agenda = Agenda {
            near: Vec::with_capacity(NEAR_MOST + 1),
            spare: Vec::with_capacity(NEAR_MOST + 1),
            far: Heap::default(),
            position: vec![ABSENT; owners.len()],
            base: 0,
            horizon: 0,
            near_most: NEAR_MOST,
            rank_bits,
            shift: LANE_BITS + rank_bits,
            rank_of,
            slot_of,
        };
        agenda.horizon = agenda.reach();
        agenda
    }

    /// Instants from here on are too late for the keys of `near`.
    fn reach(&self) -> u64 {
        self.base.saturating_add((NORMAL - 1) >> self.shift)
    }

    /// Makes `slot` pending at `time` in `lane`; if it was pending already, it is moved there.
    pub fn arm(&mut self, slot: Slot, time: Time, lane: Lane) {
        let rank = self.rank_of[slot.0 as usize];
        let at = self.position[rank as usize];
        if !(self.base..self.horizon).contains(&time.ns()) || (at >= FAR && at != ABSENT) {
            return self.arm_late(rank, at, time.ns(), lane);
        }
        let key = self.near_key(time.ns(), lane as u64, rank);
        if at != ABSENT {
            self.near[at as usize] = key;
            return;
        }
        self.position[rank as usize] = self.near.len() as u32;
        self.near.push(key);
        if self.near.len() > self.near_most {
            self.draw_horizon_nearer();
        }
    }

    /// The same, where the slot of this rank is in the heap, or comes there.
    #[inline(never)]
    fn arm_late(&mut self, rank: u32, at: u32, time: u64, lane: Lane) {
        if time < self.base {
            self.begin_at(time);
            return self.arm_late(rank, self.position[rank as usize], time, lane);
        }
        let is_far = at >= FAR && at != ABSENT;
        if time < self.horizon {
            self.remove_far(at);
            self.position[rank as usize] = self.near.len() as u32;
            self.near.push(self.near_key(time, lane as u64, rank));
            return;
        }
        let key = u128::from(time) << 64 | (lane as u128) << 32 | u128::from(rank);
        if is_far {
            return self.far.replace((at ^ FAR) as usize, key, &mut keep(&mut self.position));
        }
        if at != ABSENT {
            self.remove_near(at);
        }
        self.far.push(key, &mut keep(&mut self.position));
    }

    fn near_key(&self, time: u64, lane: u64, rank: u32) -> u64 {
        NORMAL | (time - self.base) << self.shift | lane << self.rank_bits | u64::from(rank)
    }

    /// Makes `slot` not pending; it may be not pending already.
    #[inline]
    pub fn disarm(&mut self, slot: Slot) {
        let rank = self.rank_of[slot.0 as usize] as usize;
        let at = self.position[rank];
        if at == ABSENT {
            return;
        }
        self.position[rank] = ABSENT;
        if at < FAR { self.remove_near(at) } else { self.remove_far(at) }
    }

    /// Is the slot pending?
    pub fn is_armed(&self, slot: Slot) -> bool {
        self.position[self.rank_of[slot.0 as usize] as usize] != ABSENT
    }

    /// When the earliest pending event is due.
    pub fn next(&mut self) -> Option<Time> {
        if self.near.is_empty() {
            self.bring_near();
        }
        Some(Time::from_ns(self.time_of(least(&self.near)?)))
    }

    /// The earliest pending event, if it is due up to `end`; it is pending no more.
    pub fn pop_until(&mut self, end: Time) -> Option<(Time, Slot)> {
        if self.near.is_empty() {
            self.bring_near();
        }
        let least = least(&self.near)?;
        let time = Time::from_ns(self.time_of(least));
        if time > end {
            return None;
        }
        let rank = self.rank_in(least);
        let at = std::mem::replace(&mut self.position[rank], ABSENT);
        self.remove_near(at);
        Some((time, self.slot_of[rank]))
    }

    /// When the event of a key of `near` is due, in nanoseconds.
    fn time_of(&self, key: u64) -> u64 {
        self.base + ((key ^ NORMAL) >> self.shift)
    }

    fn lane_in(&self, key: u64) -> u64 {
        key >> self.rank_bits & ((1 << LANE_BITS) - 1)
    }

    fn rank_in(&self, key: u64) -> usize {
        (key & ((1 << self.rank_bits) - 1)) as usize
    }

    /// Fills the hole that a key of `near` leaves.
    #[inline]
    fn remove_near(&mut self, at: u32) {
        self.near.swap_remove(at as usize);
        if let Some(&moved) = self.near.get(at as usize) {
            let rank = self.rank_in(moved);
            self.position[rank] = at;
        }
    }

    fn remove_far(&mut self, at: u32) {
        self.far.remove((at ^ FAR) as usize, &mut keep(&mut self.position));
    }

    /// Nothing is left before the horizon: the next events come there.
    #[cold]
    fn bring_near(&mut self) {
        let Some(first) = self.far.first() else { return };
        self.base = (first >> 64) as u64;
        self.horizon = self.reach();
        let mut last = self.base;
        while let Some(key) = self.far.first() {
            let time = (key >> 64) as u64;
            // What is at one instant stays together.
            if time >= self.horizon || (self.near.len() >= NEAR_AGAIN && time > last) {
                self.horizon = time.min(self.horizon);
                break;
            }
            self.far.remove(0, &mut keep(&mut self.position));
            let (lane, rank) = ((key >> 32) as u64 & ((1 << LANE_BITS) - 1), key as u32);
            self.position[rank as usize] = self.near.len() as u32;
            self.near.push(self.near_key(time, lane, rank));
            last = time;
        }
        self.near_most = NEAR_MOST.max(2 * self.near.len());
    }

    /// So much lies before the horizon that looking at all takes long: the later part goes into the heap.
    #[cold]
    fn draw_horizon_nearer(&mut self) {
        let (_, later, _) = self.near.select_nth_unstable(NEAR_AGAIN);
        let later = *later;
        self.horizon = self.time_of(later);
        self.near_most = NEAR_MOST;
        self.sort_out();
    }

    /// An event comes earlier than all that have been: none is due before the horizon, until the next is looked for.
    #[cold]
    fn begin_at(&mut self, base: u64) {
        self.horizon = self.base;
        self.sort_out();
        (self.base, self.horizon) = (base, base);
    }

    /// What is not due before the horizon goes from `near` into the heap.
    fn sort_out(&mut self) {
        std::mem::swap(&mut self.near, &mut self.spare);
        for at in 0..self.spare.len() {
            let key = self.spare[at];
            let (time, rank) = (self.time_of(key), self.rank_in(key));
            if time < self.horizon {
                self.position[rank] = self.near.len() as u32;
                self.near.push(key);
            } else {
                let key = u128::from(time) << 64 | u128::from(self.lane_in(key)) << 32 | rank as u128;
                self.far.push(key, &mut keep(&mut self.position));
            }
        }
        self.spare.clear();
    }
}

/// The least of these keys.
fn least(keys: &[u64]) -> Option<u64> {
    const LANES: usize = 4;
    // Written so that it becomes one instruction for two lanes.
    let lesser = |one: f64, other: f64| if one < other { one } else { other };
    let mut least = [f64::INFINITY; LANES];
    let chunks = keys.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (least, key) in least.iter_mut().zip(chunk) {
            *least = lesser(*least, f64::from_bits(*key));
        }
    }
    let rest = rest.iter().map(|key| f64::from_bits(*key));
    let found = rest.chain(least).fold(f64::INFINITY, lesser);
    (found < f64::INFINITY).then_some(found.to_bits())
}

/// Writes down where keys stand in the heap.
fn keep(position: &mut [u32]) -> impl FnMut(u128, usize) {
    move |key, at| position[(key & 0xffff_ffff) as usize] = at as u32 | FAR
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
                        assert_eq!(agenda.pop_until(Time::NEVER), expected);
                    }
                }
                assert_eq!(agenda.near.len() + agenda.far.len(), plain.len());
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
        let order: Vec<u32> =
            std::iter::from_fn(|| agenda.pop_until(Time::NEVER).map(|(_, slot)| slot.0)).collect();
        assert_eq!(order, [2, 1, 0]);
    }
}
