//! When packets come or are lost: mostly soon after what causes it, or at a steady pace.

use super::runs::{MOST_ROWS, Pace, Run};
use crate::coding::{of_thousands, thousands, to_front, unzigzag, zigzag};
use crate::streams::{Coder, Stream};

/// What something may follow from, and how many packets it brought.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    pub time: i64,
    pub packets: i64,
}

/// A run is at the pace, at the instant of the last row, or as long after a cause as lately: the first of the
/// latest lengths.
const PACED: u64 = 0;
const SAME: u64 = 1;
const LATELY: u64 = 2;
/// So many lengths are known, the latest first; at first they are 0.
const LENGTHS: usize = 4;
/// As long after it as is said.
const SAID: u64 = LATELY + LENGTHS as u64;
/// What is known of how many packets follow from how many is halved when these are more.
const MANY: i64 = 64;

/// The streams of a table.
#[derive(Clone, Copy)]
pub struct Streams {
    pub packet: Stream,
    pub choice: Stream,
    pub step: Stream,
    pub said: Stream,
    pub count: Stream,
}

/// Instants after causes.
#[derive(Default)]
pub struct After {
    /// How many causes there were until the last row that follows from one.
    pub place: i64,
    /// How much later rows were lately, the latest first.
    pub lengths: [i64; LENGTHS],
}

impl After {
    /// The place of the latest cause before an instant, from 1 (0 if there is none), which of the lengths it
    /// is later, and how much.
    pub fn find(&mut self, causes: &[Cause], time: i64, before: i64) -> (i64, usize, i64) {
        let place = causes.partition_point(|cause| cause.time <= time);
        let length = time.wrapping_sub(base(causes, place as i64, before).unwrap_or(0));
        let known = self.lengths.iter().position(|known| *known == length).unwrap_or(LENGTHS);
        (place as i64, known, length)
    }

    /// Codes the place of the cause, which should be the one that is expected, and the length.
    pub fn code<C: Coder>(
        &mut self,
        c: &mut C,
        streams: Streams,
        causes: &[Cause],
        (place, known, length): (i64, usize, i64),
        [expected, before]: [i64; 2],
    ) -> Option<i64> {
        let mut place = place;
        if !causes.is_empty() {
            let step = c.varint(streams.step, zigzag(place.wrapping_sub(expected)));
            place = expected.wrapping_add(unzigzag(step));
        }
        let length = match self.lengths.get(known) {
            Some(length) => *length,
            None => of_thousands(c.varint(streams.said, thousands(length))),
        };
        to_front(&mut self.lengths, known.min(LENGTHS - 1), length);
        self.place = place;
        Some(base(causes, place, before)?.wrapping_add(length))
    }
}

/// The instant of the cause at this place, from 1; of the row before where there are no causes.
fn base(causes: &[Cause], place: i64, before: i64) -> Option<i64> {
    match place {
        _ if causes.is_empty() => Some(before),
        0 => Some(0),
        _ => Some(causes.get(usize::try_from(place.wrapping_sub(1)).ok()?)?.time),
    }
}

/// How many packets follow from those that came.
#[derive(Default)]
struct Counts {
    /// Packets that came, and that followed.
    sums: [i64; 2],
    /// Twice the packets that should have followed and did not yet.
    owed: i64,
}

impl Counts {
    /// How many should follow now.
    fn guess(&mut self, came: i64) -> i64 {
        let [of, made] = self.sums;
        let twice = if of == 0 { 2 } else { (2 * made + of / 2) / of };
        self.owed += came.min(MOST_ROWS as i64) * twice;
        self.sums[0] += came.min(MOST_ROWS as i64);
        (self.owed / 2).max(1)
    }

    fn keep(&mut self, count: i64) {
        self.owed = (self.owed - 2 * count).clamp(0, 1);
        self.sums[1] += count;
        if self.sums[0] > MANY {
            self.sums = self.sums.map(|sum| sum / 2);
        }
    }
}

/// Codes the runs of a group; a reader has as many as there will be. None if they cannot be.
pub fn code<C: Coder>(c: &mut C, streams: Streams, runs: &mut [Run], causes: &[Cause]) -> Option<()> {
    let (mut pace, mut after, mut counts) = (Pace::default(), After::default(), Counts::default());
    let mut last = 0;
    for run in runs {
        let expected = pace.packet.wrapping_add(1);
        let number = c.varint(streams.packet, zigzag(run.packet.wrapping_sub(expected)));
        run.packet = expected.wrapping_add(unzigzag(number));
        let guess = pace.guess(run.packet);
        let (mut choice, mut found) = (PACED, (0, LENGTHS, 0));
        if C::WRITES && run.time != guess {
            choice = SAME;
            if run.time != pace.time {
                found = after.find(causes, run.time, pace.time);
                choice = LATELY + found.1 as u64;
            }
        }
        let number = c.varint(streams.choice, choice << 1 | u64::from(run.step != 0));
        let is_paced = number & 1 == 1;
        choice = number >> 1;
        let mut count = 1;
        run.time = match choice {
            PACED => guess,
            SAME => pace.time,
            LATELY..=SAID => {
                found.1 = (choice - LATELY) as usize;
                let time = after.code(c, streams, causes, found, [last + 1, pace.time])?;
                let came = usize::try_from(last).ok().zip(usize::try_from(after.place).ok());
                let came = came.and_then(|(last, place)| causes.get(last..place)).unwrap_or_default();
                if !causes.is_empty() {
                    count = counts.guess(came.iter().map(|cause| cause.packets).sum());
                }
                last = after.place;
                time
            }
            _ => return None,
        };
        pace.begin(run.packet, run.time);
        let number = c.varint(streams.count, zigzag(run.more.wrapping_add(1).wrapping_sub(count)));
        let rows = count.wrapping_add(unzigzag(number));
        if !(1..=MOST_ROWS as i64).contains(&rows) {
            return None;
        }
        counts.keep(rows);
        run.more = rows - 1;
        run.step = if is_paced { pace.step } else { 0 };
        pace.end(run);
    }
    Some(())
}
