//! The future-event set.
//!
//! Every pending event is a *slot*: a node's MAC timer, a flow's deadline, a frame's next edge. There are
//! finitely many, known when the run starts, and each is pending at most once: arming an armed slot moves it,
//! disarming is exact, and no stale entry is ever popped.
//!
//! What is due before a *horizon* lies in an unsorted array, in which arming and disarming cost nothing and
//! the earliest is found by looking at all; what is due later lies in a timing wheel and a heap. Most timers
//! of MACs are due soon and are disarmed before. The horizon is half a minute away at most, and comes nearer
//! where much is pending.
//!
//! Events at the same instant are ordered by [`Lane`], then by slot. Only the order of an *owner's* slots may
//! matter to results; [`Agenda::with_reversed_ties`] reverses that of owners, and a test demands that nothing
//! changes.

mod far;
mod heap;
mod near;

use far::Far;
use multihop_core::Time;
use near::Near;

/// A pending-event slot: an index given out by the world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

/// The order of events at one instant.
///
/// What a wire has sent leaves its queue first, so that whatever comes at this instant finds room. Frames end
/// before anything else happens at a MAC, so that an ACK beats its own timeout. Frames start after what MACs
/// and those above them do, so that two back-offs that run out in the same slot both transmit, and collide.
/// What is recorded at an instant is what is so after it.
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
/// Set in the position of a slot that is in `far`.
const FAR: u32 = 1 << 31;
/// Bits of a rank and of a lane in a key of `near`.
const RANK_BITS: u32 = 24;
const LANE_BITS: u32 = 3;
const TIME_SHIFT: u32 = LANE_BITS + RANK_BITS;
/// Keys of `near` say how late it is since `base`, in nanoseconds below this: half a minute.
const REACH: u64 = Near::RANGE >> TIME_SHIFT;
/// So many events at most are before the horizon, and so many are left or brought there.
const NEAR_MOST: usize = 256;
const NEAR_AGAIN: usize = 64;

/// The future-event set; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Keys of what is due before the horizon: above [`Near::FIRST`], nanoseconds since `base`, lane, rank.
    near: Near,
    /// Where these are while they are sorted out.
    spare: Near,
    /// Keys of everything else: time (upper 64 bits), lane (above 32 bits), rank (lower 32 bits).
    far: Far,
    /// What is brought from there to `near`.
    taken: Vec<u128>,
    /// Position of each rank: in `near`, or in `far` with `FAR` set, or `ABSENT`.
    position: Vec<u32>,
    /// In nanoseconds.
    base: u64,
    /// A key of `near`: those of events before the horizon are less.
    horizon: u64,
    /// None where slots are their own ranks.
    ranks: Option<Box<Ranks>>,
}

/// Rank of each slot, and its inverse.
#[derive(Clone, Debug)]
struct Ranks {
    rank_of: Vec<u32>,
    slot_of: Vec<u32>,
}

impl Agenda {
    /// An empty agenda for so many slots.
    pub fn new(slots: usize) -> Agenda {
        assert!(slots < 1 << RANK_BITS, "{slots} slots are too many");
        Agenda {
            near: Near::with_room(NEAR_MOST),
            spare: Near::with_room(NEAR_MOST),
            far: Far::default(),
            taken: Vec::new(),
            position: vec![ABSENT; slots],
            base: 0,
            horizon: Near::NONE,
            ranks: None,
        }
    }

    /// The same for the slots `0..owners.len()`, where ties between owners, of which `owners[i]` is that of
    /// slot `i`, are resolved the other way round.
    pub fn with_reversed_ties(owners: &[u32]) -> Agenda {
        let mut slot_of: Vec<u32> = (0..owners.len() as u32).collect();
        slot_of.sort_by_key(|slot| (std::cmp::Reverse(owners[*slot as usize]), *slot));
        let mut rank_of = vec![0; owners.len()];
        for (rank, slot) in slot_of.iter().enumerate() {
            rank_of[*slot as usize] = rank as u32;
        }
        Agenda { ranks: Some(Box::new(Ranks { rank_of, slot_of })), ..Agenda::new(owners.len()) }
    }

    #[inline]
    fn rank(&self, slot: Slot) -> u32 {
        self.ranks.as_ref().map_or(slot.0, |ranks| ranks.rank_of[slot.0 as usize])
    }

    #[inline]
    fn slot(&self, rank: usize) -> Slot {
        Slot(self.ranks.as_ref().map_or(rank as u32, |ranks| ranks.slot_of[rank]))
    }

    /// Makes `slot` pending at `time` in `lane`; if it was pending already, it is moved there.
    pub fn arm(&mut self, slot: Slot, time: Time, lane: Lane) {
        let rank = self.rank(slot);
        let at = self.position[rank as usize];
        // Before `base` this is very late.
        let since_base = time.ns().wrapping_sub(self.base);
        let key = near_key(since_base, lane as u64, rank);
        if since_base >= REACH || key >= self.horizon || (at >= FAR && at != ABSENT) {
            return self.arm_late(rank, at, time.ns(), lane);
        }
        let Some(at) = self.near.put(at as usize, key) else { return self.arm_in_crowd(slot, time, lane) };
        self.position[rank as usize] = at as u32;
    }

    /// The same, where so much lies before the horizon that looking at all takes long: the later part goes
    /// into `far`.
    #[cold]
    fn arm_in_crowd(&mut self, slot: Slot, time: Time, lane: Lane) {
        let later = self.near.of_rank(NEAR_AGAIN);
        self.sort_out(later);
        self.arm(slot, time, lane);
    }

    /// The same, where the slot of this rank is in `far`, or comes there.
    #[inline(never)]
    fn arm_late(&mut self, rank: u32, at: u32, time: u64, lane: Lane) {
        if time < self.base {
            self.begin_at(time);
            return self.arm_late(rank, self.position[rank as usize], time, lane);
        }
        let is_far = at >= FAR && at != ABSENT;
        let since_base = time - self.base;
        if since_base < REACH && near_key(since_base, lane as u64, rank) < self.horizon {
            self.remove_far(at);
            self.position[rank as usize] = ABSENT;
            return self.arm(self.slot(rank as usize), Time::from_ns(time), lane);
        }
        let key = u128::from(time) << 64 | (lane as u128) << 32 | u128::from(rank);
        if is_far {
            return self.far.replace((at ^ FAR) as usize, key, &mut keep(&mut self.position));
        }
        if at != ABSENT {
            self.remove_near(rank as usize, at);
        }
        self.far.push(key, &mut keep(&mut self.position));
    }

    /// Makes `slot` not pending; it may be not pending already.
    #[inline]
    pub fn disarm(&mut self, slot: Slot) {
        let rank = self.rank(slot) as usize;
        let at = self.position[rank];
        if at == ABSENT {
            return;
        }
        if at < FAR {
            return self.remove_near(rank, at);
        }
        self.position[rank] = ABSENT;
        self.remove_far(at);
    }

    /// Is the slot pending?
    pub fn is_armed(&self, slot: Slot) -> bool {
        self.position[self.rank(slot) as usize] != ABSENT
    }

    /// All pending events, in no order.
    pub fn pending(&self) -> impl Iterator<Item = (Time, Slot)> {
        let near = self.near.keys().map(|key| (self.time_of(key), rank_in(key)));
        let far = self.far.keys().map(|key| ((key >> 64) as u64, key as u32 as usize));
        near.chain(far).map(|(time, rank)| (Time::from_ns(time), self.slot(rank)))
    }

    /// When the earliest pending event is due.
    pub fn next(&mut self) -> Option<Time> {
        let first = self.first_key();
        (first != Near::NONE).then(|| Time::from_ns(self.time_of(first)))
    }

    /// The earliest pending event, if it is due up to `end`; it is pending no more.
    #[inline]
    pub fn pop_until(&mut self, end: Time) -> Option<(Time, Slot)> {
        let first = self.first_key();
        let time = Time::from_ns(self.time_of(first));
        if first == Near::NONE || time > end {
            return None;
        }
        let rank = rank_in(first);
        self.remove_near(rank, self.position[rank]);
        Some((time, self.slot(rank)))
    }

    /// The least key of `near`, where something comes if anything is pending.
    #[inline]
    fn first_key(&mut self) -> u64 {
        let least = self.near.least();
        if least == Near::NONE { self.bring_near() } else { least }
    }

    /// When the event of a key of `near` is due, in nanoseconds.
    #[inline]
    fn time_of(&self, key: u64) -> u64 {
        self.base + since_base(key)
    }

    /// The slot of this rank, whose key stands at this place of `near`, is not pending any more.
    #[inline]
    fn remove_near(&mut self, rank: usize, at: u32) {
        let moved = rank_in(self.near.remove(at as usize));
        self.position[moved] = at;
        self.position[rank] = ABSENT; // it may be the same
    }

    fn remove_far(&mut self, at: u32) {
        self.far.remove((at ^ FAR) as usize, &mut keep(&mut self.position));
    }

    /// Nothing is left before the horizon: the next events come there. Returns the least key.
    #[cold]
    fn bring_near(&mut self) -> u64 {
        let (position, taken) = (&mut self.position, &mut self.taken);
        let first = self.far.take_first(NEAR_AGAIN, REACH, taken, &mut keep(position));
        let Some((base, horizon)) = first else { return Near::NONE };
        self.base = base;
        let later = (horizon >> 64) as u64 - base;
        self.horizon =
            if later < REACH { near_key(later, far_lane(horizon), horizon as u32) } else { Near::NONE };
        for key in self.taken.drain(..) {
            let (since_base, rank) = ((key >> 64) as u64 - base, key as u32);
            self.position[rank as usize] = self.near.push(near_key(since_base, far_lane(key), rank)) as u32;
        }
        self.near.least()
    }

    /// An event comes earlier than all that have been: none is due before the horizon, until the next is
    /// looked for.
    #[cold]
    fn begin_at(&mut self, base: u64) {
        self.sort_out(Near::FIRST);
        self.base = base;
    }

    /// What is not due before this horizon goes from `near` into `far`.
    fn sort_out(&mut self, horizon: u64) {
        self.horizon = horizon;
        let least = self.near.least();
        if least != Near::NONE {
            self.far.begin_at(self.time_of(least));
        }
        std::mem::swap(&mut self.near, &mut self.spare);
        for at in 0..self.spare.len() {
            let key = self.spare.at(at);
            let rank = rank_in(key);
            if key < horizon {
                self.position[rank] = self.near.push(key) as u32;
            } else {
                let key = u128::from(self.time_of(key)) << 64 | u128::from(lane_in(key)) << 32 | rank as u128;
                self.far.push(key, &mut keep(&mut self.position));
            }
        }
        self.spare.clear();
    }
}

/// A key of `near`, of an event that is due so many nanoseconds after `base`.
#[inline]
fn near_key(since_base: u64, lane: u64, rank: u32) -> u64 {
    Near::FIRST | since_base << TIME_SHIFT | lane << RANK_BITS | u64::from(rank)
}

fn since_base(key: u64) -> u64 {
    (key ^ Near::FIRST) >> TIME_SHIFT
}

fn lane_in(key: u64) -> u64 {
    key >> RANK_BITS & ((1 << LANE_BITS) - 1)
}

/// The lane in a key of `far`.
fn far_lane(key: u128) -> u64 {
    (key >> 32) as u64 & ((1 << LANE_BITS) - 1)
}

fn rank_in(key: u64) -> usize {
    (key & ((1 << RANK_BITS) - 1)) as usize
}

/// Writes down where keys stand in `far`.
fn keep(position: &mut [u32]) -> impl FnMut(u128, usize) {
    move |key, at| position[(key & 0xffff_ffff) as usize] = at as u32 | FAR
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;
    use std::collections::BTreeSet;

    /// Against a plain ordered set, over random operations: few slots, and more than are looked at one by
    /// one; many at one instant, some in each bucket of the wheel, and beyond its end. Some are due long
    /// after the others, so that the horizon moves.
    #[test]
    fn agrees_with_an_ordered_set() {
        let few = [(97, 100_000, false, 1), (97, 100_000, true, 1)];
        let many =
            [(1_000, 20_000, false, 1), (2_000, 40_000, false, 2_000), (2_000, 40_000, true, 2_000_000)];
        for (slots, steps, reversed, apart) in few.into_iter().chain(many) {
            let owners: Vec<u32> = (0..slots).map(|slot| slot % 7).collect();
            let mut agenda = Agenda::new(slots as usize);
            if reversed {
                agenda = Agenda::with_reversed_ties(&owners);
            }
            let mut plain: BTreeSet<(u64, u8, u32, u32)> = BTreeSet::new();
            let mut rng = Rng::at(5, &["agenda"]);
            let lanes = [Lane::WireSent, Lane::AirEnd, Lane::Mac, Lane::Upper, Lane::AirStart, Lane::Record];
            for step in 0..steps {
                let slot = rng.below(slots);
                match rng.below(4) {
                    0 | 1 => {
                        let late = u64::from(rng.below(16) == 0) * 2 * REACH;
                        let time = (step / 50 + u64::from(rng.below(40))) * apart + late;
                        let lane = lanes[rng.below(6) as usize];
                        let owner = if reversed { u32::MAX - owners[slot as usize] } else { 0 };
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

    /// However much is at one instant, few are looked at one by one, then and later.
    #[test]
    fn a_burst_does_not_crowd_what_is_near() {
        let slots = 5_000;
        let mut agenda = Agenda::new(slots as usize);
        (0..slots).for_each(|slot| agenda.arm(Slot(slot), Time::from_ns(7), Lane::Upper));
        let mut rng = Rng::at(6, &["agenda"]);
        for popped in 0..4 * slots {
            let (time, slot) = agenda.pop_until(Time::NEVER).expect("all are pending");
            assert!(popped >= slots || slot == Slot(popped), "in the order of slots");
            assert!(agenda.near.len() <= NEAR_MOST, "{}", agenda.near.len());
            let later = time + multihop_core::Span::from_us(1 + u64::from(rng.below(20_000)));
            agenda.arm(slot, later, Lane::Mac);
        }
    }

    /// Bursts that recur come to one bucket of the wheel after the other: none keeps the room of its burst.
    #[test]
    fn bursts_leave_no_room_behind() {
        let slots = 2_000;
        let mut agenda = Agenda::new(slots as usize);
        let period = multihop_core::Span::from_us(6_400);
        (0..slots).for_each(|slot| agenda.arm(Slot(slot), Time::from_ns(7), Lane::Upper));
        for _ in 0..200 * slots {
            let (time, slot) = agenda.pop_until(Time::NEVER).expect("all are pending");
            agenda.arm(slot, time + period, Lane::Upper);
        }
        assert!(agenda.far.room() < 50 * slots as usize, "{}", agenda.far.room());
    }

    #[test]
    fn an_ack_beats_its_timeout_and_frames_start_last() {
        let mut agenda = Agenda::new(3);
        let now = Time::from_ns(10);
        agenda.arm(Slot(0), now, Lane::AirStart);
        agenda.arm(Slot(1), now, Lane::Mac);
        agenda.arm(Slot(2), now, Lane::AirEnd);
        let order: Vec<u32> =
            std::iter::from_fn(|| agenda.pop_until(Time::NEVER).map(|(_, slot)| slot.0)).collect();
        assert_eq!(order, [2, 1, 0]);
    }
}
