//! The future-event set.
//!
//! A *slot* is one potential event: a node's MAC timer, a flow's deadline, the next edge of a frame. The set
//! of slots is fixed when the run starts, and each slot is pending at most once. Arming an armed slot moves
//! it, and disarming removes it at once, so that no stale entry is ever popped.
//!
//! Events due before a *horizon* lie in an unsorted array: arming and disarming cost nothing, and a scan of
//! the whole array finds the earliest. Later events lie in a timing wheel and a heap. Most MAC timers are due
//! soon and are disarmed before they expire. The horizon is at most half a minute ahead, and closer where
//! many events are pending.
//!
//! Events at the same instant are ordered by [`Lane`], then by slot. Results may depend only on the order of
//! slots of one *owner*. [`Agenda::with_reversed_ties`] reverses the order of owners, and a test checks that
//! results stay the same.

mod heap;
mod near_events;
mod timing_wheel;

use multihop_core::Time;
use near_events::NearEvents;
use timing_wheel::TimingWheel;

/// Identifier of a potential event, assigned by the world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

/// Order of events at one instant.
///
/// * A wire dequeues a packet before anything arrives at the queue, so that the arrival finds room.
/// * Frames end before other MAC events, so that an ACK precedes its own timeout.
/// * Frames start after the events of MACs and upper layers, so that two back-offs that expire in the same
///   slot both transmit and collide.
/// * Records are last, so that they show the state after the instant.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Lane {
    /// End of the transmission of a packet by a wire.
    WireSent,
    /// End of a frame at its listeners.
    AirEnd,
    /// Expiry of a MAC timer.
    Mac,
    /// Event above the MAC: link layer, transport, application, or arrival over a wire.
    Upper,
    /// Start of a frame at its listeners.
    AirStart,
    /// End of the warm-up, or a row of the time series.
    Record,
}

/// Position of a slot that is not pending.
const ABSENT: u32 = u32::MAX;
/// Bit that marks a position as one in `far`.
const FAR: u32 = 1 << 31;
/// Numbers of bits of a rank and of a lane in a key of `near`.
const RANK_BITS: u32 = 24;
const LANE_BITS: u32 = 3;
const TIME_SHIFT: u32 = LANE_BITS + RANK_BITS;
/// Span that keys of `near` cover from `base` on, in nanoseconds: half a minute.
const REACH: u64 = NearEvents::RANGE >> TIME_SHIFT;
/// Largest number of events before the horizon, and number of events moved there at a time.
const NEAR_MOST: usize = 256;
const NEAR_AGAIN: usize = 64;

/// Future-event set; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Keys of events before the horizon: [`NearEvents::FIRST`] plus nanoseconds since `base`, lane and rank.
    near: NearEvents,
    /// Buffer for the keys of `near` while the horizon moves.
    spare: NearEvents,
    /// Keys of all other events: time in nanoseconds (upper 64 bits), lane (next 32 bits), rank (lower 32
    /// bits).
    far: TimingWheel,
    /// Buffer for keys that move from `far` to `near`.
    taken: Vec<u128>,
    /// Position of each rank: index in `near`, or position in `far` with the bit `FAR` set, or `ABSENT`.
    position: Vec<u32>,
    /// Time from which keys of `near` count, in nanoseconds.
    base: u64,
    /// Horizon, as a key of `near`: events due before it have smaller keys.
    horizon: u64,
    /// Ranks of slots; none if each slot is its own rank.
    ranks: Option<Box<Ranks>>,
}

/// Rank of each slot, and the inverse permutation.
#[derive(Clone, Debug)]
struct Ranks {
    rank_of: Vec<u32>,
    slot_of: Vec<u32>,
}

impl Agenda {
    /// Creates an empty agenda with the given number of slots.
    pub fn new(slots: usize) -> Agenda {
        assert!(slots < 1 << RANK_BITS, "{slots} slots are too many");
        Agenda {
            near: NearEvents::with_room(NEAR_MOST),
            spare: NearEvents::with_room(NEAR_MOST),
            far: TimingWheel::default(),
            taken: Vec::new(),
            position: vec![ABSENT; slots],
            base: 0,
            horizon: NearEvents::NONE,
            ranks: None,
        }
    }

    /// Creates an empty agenda that reverses the order of owners among simultaneous events. `owners[i]` is
    /// the owner of slot `i`.
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

    /// Schedules `slot` at `time` in `lane`; a pending slot is moved.
    pub fn arm(&mut self, slot: Slot, time: Time, lane: Lane) {
        let rank = self.rank(slot);
        let at = self.position[rank as usize];
        // Times before `base` wrap around to very large values.
        let since_base = time.ns().wrapping_sub(self.base);
        let key = near_key(since_base, lane as u64, rank);
        if since_base >= REACH || key >= self.horizon || (at >= FAR && at != ABSENT) {
            return self.arm_late(rank, at, time.ns(), lane);
        }
        let Some(at) = self.near.put(at as usize, key) else { return self.arm_in_crowd(slot, time, lane) };
        self.position[rank as usize] = at as u32;
    }

    /// Variant of [`Agenda::arm`] for a full `near`: moves its later half into `far` first.
    #[cold]
    fn arm_in_crowd(&mut self, slot: Slot, time: Time, lane: Lane) {
        let later = self.near.of_rank(NEAR_AGAIN);
        self.sort_out(later);
        self.arm(slot, time, lane);
    }

    /// Variant of [`Agenda::arm`] for a slot that is in `far` or moves there.
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

    /// Cancels the event of `slot`, if it is pending.
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

    /// Whether the slot is pending.
    pub fn is_armed(&self, slot: Slot) -> bool {
        self.position[self.rank(slot) as usize] != ABSENT
    }

    /// Pending events, in no particular order.
    pub fn pending(&self) -> impl Iterator<Item = (Time, Slot)> {
        let near = self.near.keys().map(|key| (self.time_of(key), rank_in(key)));
        let far = self.far.keys().map(|key| ((key >> 64) as u64, key as u32 as usize));
        near.chain(far).map(|(time, rank)| (Time::from_ns(time), self.slot(rank)))
    }

    /// Time of the earliest pending event.
    pub fn next(&mut self) -> Option<Time> {
        let first = self.first_key();
        (first != NearEvents::NONE).then(|| Time::from_ns(self.time_of(first)))
    }

    /// Removes and returns the earliest pending event that is due at or before `end`.
    #[inline]
    pub fn pop_until(&mut self, end: Time) -> Option<(Time, Slot)> {
        let first = self.first_key();
        let time = Time::from_ns(self.time_of(first));
        if first == NearEvents::NONE || time > end {
            return None;
        }
        let rank = rank_in(first);
        self.remove_near(rank, self.position[rank]);
        Some((time, self.slot(rank)))
    }

    /// Smallest key of `near`, which is refilled from `far` if it is empty.
    #[inline]
    fn first_key(&mut self) -> u64 {
        let least = self.near.least();
        if least == NearEvents::NONE { self.bring_near() } else { least }
    }

    /// Time of the event with a key of `near`, in nanoseconds.
    #[inline]
    fn time_of(&self, key: u64) -> u64 {
        self.base + since_base(key)
    }

    /// Removes the slot of this rank from position `at` of `near`.
    #[inline]
    fn remove_near(&mut self, rank: usize, at: u32) {
        let moved = rank_in(self.near.remove(at as usize));
        self.position[moved] = at;
        self.position[rank] = ABSENT; // the moved key may be the removed one
    }

    fn remove_far(&mut self, at: u32) {
        self.far.remove((at ^ FAR) as usize, &mut keep(&mut self.position));
    }

    /// Refills an empty `near` with the next events of `far`. Returns the smallest key.
    #[cold]
    fn bring_near(&mut self) -> u64 {
        let (position, taken) = (&mut self.position, &mut self.taken);
        let first = self.far.take_first(NEAR_AGAIN, REACH, taken, &mut keep(position));
        let Some((base, horizon)) = first else { return NearEvents::NONE };
        self.base = base;
        let later = (horizon >> 64) as u64 - base;
        self.horizon =
            if later < REACH { near_key(later, far_lane(horizon), horizon as u32) } else { NearEvents::NONE };
        for key in self.taken.drain(..) {
            let (since_base, rank) = ((key >> 64) as u64 - base, key as u32);
            self.position[rank as usize] = self.near.push(near_key(since_base, far_lane(key), rank)) as u32;
        }
        self.near.least()
    }

    /// Rebases `near` for an event earlier than `base`: all events move to `far`, and the next look-up
    /// refills `near`.
    #[cold]
    fn begin_at(&mut self, base: u64) {
        self.sort_out(NearEvents::FIRST);
        self.base = base;
    }

    /// Moves the events at or after this horizon from `near` into `far`.
    fn sort_out(&mut self, horizon: u64) {
        self.horizon = horizon;
        let least = self.near.least();
        if least != NearEvents::NONE {
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

/// Builds a key of `near` for an event due `since_base` nanoseconds after `base`.
#[inline]
fn near_key(since_base: u64, lane: u64, rank: u32) -> u64 {
    NearEvents::FIRST | since_base << TIME_SHIFT | lane << RANK_BITS | u64::from(rank)
}

fn since_base(key: u64) -> u64 {
    (key ^ NearEvents::FIRST) >> TIME_SHIFT
}

fn lane_in(key: u64) -> u64 {
    key >> RANK_BITS & ((1 << LANE_BITS) - 1)
}

/// Lane of a key of `far`.
fn far_lane(key: u128) -> u64 {
    (key >> 32) as u64 & ((1 << LANE_BITS) - 1)
}

fn rank_in(key: u64) -> usize {
    (key & ((1 << RANK_BITS) - 1)) as usize
}

/// Callback that records the positions of keys of `far`.
fn keep(position: &mut [u32]) -> impl FnMut(u128, usize) {
    move |key, at| position[(key & 0xffff_ffff) as usize] = at as u32 | FAR
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;
    use std::collections::BTreeSet;

    /// Random operations against a plain ordered set: with few slots and with more than one scan covers; with
    /// many events at one instant, some per bucket of the wheel, and some beyond its end. Some are due much
    /// later than the others, so that the horizon moves.
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

    /// A burst of simultaneous events never leaves more than [`NEAR_MOST`] events in `near`.
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

    /// Recurring bursts fill one bucket of the wheel after another; no bucket keeps the memory of its burst.
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
