//! Instants that mostly follow from a transmission, or come at a steady pace: the coding of when packets come
//! to a node.

use crate::coding::{Memory, put, take, to_front, unzigzag, zigzag};
use crate::{Coding, rans};

/// The same instant as in the row before (0 before the first).
const SAME: u64 = 0;
/// What it would be at a steady pace.
const PACED: u64 = 1;
/// As long after the latest transmission as lately: the first of these numbers.
const LATELY: u64 = 2;
/// So many lengths are known of a key, the latest first; at first they are 0.
const LENGTHS: usize = 4;
/// As long after it as is said.
const SAID: u64 = LATELY + LENGTHS as u64;

/// What is known of the rows before.
struct Past {
    paced: Memory,
    /// By key, which is at least -1.
    lengths: Vec<[i64; LENGTHS]>,
    before: i64,
    place: i64,
}

impl Past {
    fn new(coding: Coding) -> Past {
        Past { paced: Memory::new(coding), lengths: Vec::new(), before: 0, place: 0 }
    }

    /// What the lengths of a key were, the latest first. Keys are those of a memory, which refuses large
    /// ones.
    fn lengths(&mut self, key: i64) -> Option<&mut [i64; LENGTHS]> {
        let key = usize::try_from(key.wrapping_add(1)).ok()?;
        if key >= self.lengths.len() {
            self.lengths.resize(key + 1, [0; LENGTHS]);
        }
        Some(&mut self.lengths[key])
    }

    fn keep(&mut self, key: i64, count: i64, value: i64) -> Option<()> {
        self.before = value;
        self.paced.keep(key, count, value)
    }
}

/// The beginning of the transmission before this place; 0 if there is none.
fn start_before(starts: &[i64], place: i64) -> Option<i64> {
    if place == 0 { Some(0) } else { starts.get(usize::try_from(place - 1).ok()?).copied() }
}

/// Appends the streams of instants, each of which is with its key, its count, and how much more the count is
/// in the last row of the run.
pub fn pack(
    coding: Coding,
    rows: impl Iterator<Item = ([i64; 2], i64, i64)>,
    starts: &[i64],
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut past = Past::new(coding);
    let mut streams: [Vec<u8>; 3] = Default::default();
    let [choices, steps, said] = &mut streams;
    for ([key, count], more, value) in rows {
        let guess = past.paced.pass::<true>(key, [count, count + more], value)?;
        // Where both would do, what is more often so takes less.
        if value == guess {
            put(choices, PACED);
        } else if value == past.before {
            put(choices, SAME);
        } else {
            let place = starts.partition_point(|start| *start <= value) as i64;
            put(steps, zigzag(place - std::mem::replace(&mut past.place, place)));
            let length = value.wrapping_sub(start_before(starts, place)?);
            let lengths = past.lengths(key)?;
            let known = lengths.iter().position(|known| *known == length);
            put(choices, known.map_or(SAID, |at| LATELY + at as u64));
            if known.is_none() {
                put(said, zigzag(length));
            }
            to_front(lengths, known.unwrap_or(LENGTHS - 1), length);
        }
        past.before = value;
    }
    for stream in &streams {
        rans::pack(stream, out);
    }
    Some(())
}

/// Reads so many instants into `out`; `of` says key and count of a row, and how much more that is at the end
/// of the run. What follows them in the block; none
/// if they are not there.
pub fn unpack<'b>(
    coding: Coding,
    rows: usize,
    content: &'b [u8],
    starts: &[i64],
    of: impl Fn(usize) -> Option<([i64; 2], i64)>,
    mut out: impl FnMut(i64),
) -> Option<&'b [u8]> {
    let (choices, content) = rans::unpack(content)?;
    let (steps, content) = rans::unpack(content)?;
    let (said, content) = rans::unpack(content)?;
    let (mut choices, mut steps, mut said) = (choices.as_slice(), steps.as_slice(), said.as_slice());
    let mut past = Past::new(coding);
    for row in 0..rows {
        let ([key, count], more) = of(row)?;
        let guess = past.paced.guess(key, count)?;
        let choice;
        (choice, choices) = take(choices)?;
        let value = match choice {
            SAME => past.before,
            PACED => guess,
            LATELY..=SAID => {
                let step;
                (step, steps) = take(steps)?;
                past.place = past.place.checked_add(unzigzag(step))?;
                let start = start_before(starts, past.place)?;
                let lengths = past.lengths(key)?;
                let at = ((choice - LATELY) as usize).min(LENGTHS - 1);
                let length = if choice == SAID {
                    let number;
                    (number, said) = take(said)?;
                    unzigzag(number)
                } else {
                    lengths[at]
                };
                to_front(lengths, at, length);
                start.wrapping_add(length)
            }
            _ => return None,
        };
        past.keep(key, count.wrapping_add(more), value)?;
        out(value);
    }
    [choices, steps, said].iter().all(|rest| rest.is_empty()).then_some(content)
}
