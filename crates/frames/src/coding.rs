//! Numbers as bytes, and the columns of tables that need no model.

use crate::runs::{self, Rows};
use crate::{Table, rans, since};
use serde::Serialize;

/// Keys by which differences are taken are smaller, or a damaged log could ask for any memory.
const MOST_KEYS: usize = 1 << 24;

/// How the values of a column become numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "coding", content = "by", rename_all = "kebab-case")]
pub enum Coding {
    /// The value itself, which is not negative.
    Plain,
    /// One more than the value; 0 for none, which readers give as -1.
    Optional,
    /// The difference from the row before (from 0 in the first), zigzag: 0, -1, 1, -2 are 0, 1, 2, 3.
    Delta,
    /// The difference, zigzag, from the last row of the block (from 0 in the first) with the same value in an
    /// earlier column, the index of which this is.
    DeltaBy(usize),
    /// The same, in nanoseconds: twice the difference in microseconds, zigzag, if these are whole; otherwise
    /// one more than twice the difference in nanoseconds, zigzag.
    TimeBy(usize),
    /// So is the difference from what it would be at a steady pace: from the last row of the block with the
    /// same value in the first of these columns on, for each number by which the second has more since, as
    /// much (rounded towards 0) as between that row and the one before it.
    PacedBy([usize; 2]),
    /// 0 if it is what came after the value of the row before (-1 before the first) the last time in the
    /// block that this was there (0 if it never was); otherwise one more than the value, zigzag.
    Follows,
    /// Two numbers, zigzag, in streams of their own: by how many transmissions of the block that began until
    /// then there are more than in the row before, and the difference from the beginning of the latest of
    /// these (from 0 if there is none).
    After,
    /// A number and, unless it is 0 or 1, more of them in two further streams. 0 if it is as in the row
    /// before (0 before the first); 1 if it is what it would be at a steady pace (see `PacedBy`); otherwise
    /// how much more than the beginning of the latest transmission of the block that began until then (0 if
    /// there is none): 2 to 5 as much as lately in rows with the same value in the first of these columns
    /// (the latest such difference first; all are 0 at first), 6 as much as the third stream says, zigzag.
    /// The second stream has, zigzag, how many more transmissions began until then than in the last row that
    /// had such a number.
    Since([usize; 2]),
    /// By what differs from what a model of the table expects (module `timeline`).
    Modelled,
}

#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The next number, and what follows it; none if it is cut short or too long.
pub fn take(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

/// Puts a value in front, where those before this place move back by one, and the one there goes.
#[inline]
pub fn to_front<T>(values: &mut [T], place: usize, mut value: T) {
    for known in &mut values[..=place] {
        value = std::mem::replace(known, value);
    }
}

pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A length of time, which may be whole microseconds.
pub fn thousands(value: i64) -> u64 {
    if value % 1_000 == 0 { zigzag(value / 1_000) << 1 } else { zigzag(value) << 1 | 1 }
}

pub fn of_thousands(number: u64) -> i64 {
    let value = unzigzag(number >> 1);
    if number & 1 == 0 { value.wrapping_mul(1_000) } else { value }
}

impl Coding {
    /// How many streams it has.
    pub(crate) fn streams(self) -> usize {
        match self {
            Coding::After => 2,
            Coding::Since(_) => 3,
            _ => 1,
        }
    }

    /// The columns of the key, and of what is counted.
    fn by(self) -> (Option<usize>, Option<usize>) {
        match self {
            Coding::DeltaBy(by) | Coding::TimeBy(by) => (Some(by), None),
            Coding::PacedBy([by, count]) | Coding::Since([by, count]) => (Some(by), Some(count)),
            _ => (None, None),
        }
    }
}

/// What a coding remembers of the last row with a key.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    value: i64,
    count: i64,
    step: i64,
}

/// Guesses are nearer to zero than this: 36 years in nanoseconds.
const FARTHEST: u64 = 1 << 60;

impl Last {
    /// What the next value should be.
    #[inline]
    fn guess(&self, count: i64) -> i64 {
        if self.step == 0 {
            return self.value;
        }
        let paced = count.checked_sub(self.count).and_then(|more| more.checked_mul(self.step));
        let guess = paced.and_then(|more| self.value.checked_add(more));
        // What is far from every value would leave a difference that a number cannot say.
        guess.filter(|guess| guess.unsigned_abs() < FARTHEST).unwrap_or(self.value)
    }

    /// Remembers a row.
    #[inline]
    fn keep(&mut self, is_paced: bool, count: i64, value: i64) {
        if is_paced {
            let (step, more) = (value.wrapping_sub(self.value), count.wrapping_sub(self.count));
            self.step = if more == 1 { step } else { step.checked_div(more).unwrap_or(self.step) };
        }
        (self.value, self.count) = (value, count);
    }
}

/// What a coding remembers of rows before.
#[derive(Clone, Debug)]
pub struct Memory {
    coding: Coding,
    /// By key, which is at least -1.
    last: Vec<Last>,
    before: i64,
}

impl Memory {
    pub fn new(coding: Coding) -> Memory {
        Memory { coding, last: Vec::new(), before: -1 }
    }

    /// What is remembered of a key; none if it is too large.
    #[inline]
    fn at(&mut self, key: i64) -> Option<&mut Last> {
        let place = usize::try_from(key.wrapping_add(1)).ok().filter(|place| *place < MOST_KEYS)?;
        if place >= self.last.len() {
            self.last.resize(place + 1, Last::default());
        }
        Some(&mut self.last[place])
    }

    /// What a value should be.
    pub fn guess(&mut self, key: i64, count: i64) -> Option<i64> {
        let key = if self.coding == Coding::Follows { self.before } else { key };
        Some(self.at(key)?.guess(count))
    }

    /// Remembers a row, of a run its last one.
    pub fn keep(&mut self, key: i64, count: i64, value: i64) -> Option<()> {
        let key =
            if self.coding == Coding::Follows { std::mem::replace(&mut self.before, value) } else { key };
        let is_paced = matches!(self.coding, Coding::PacedBy(_) | Coding::Since(_));
        self.at(key)?.keep(is_paced, count, value);
        Some(())
    }

    /// The same of a writer, which finds the key of what follows itself; what the first row of the run should
    /// be, the count of which is the first of these.
    #[inline]
    pub fn pass<const PACED: bool>(&mut self, key: i64, count: [i64; 2], value: i64) -> Option<i64> {
        let last = self.at(key)?;
        let guess = if PACED { last.guess(count[0]) } else { last.value };
        last.keep(PACED, count[1], value);
        Some(guess)
    }

    /// The value of a number, of a run that of its first row; in its last one the count is so much more, and
    /// the value is.
    fn value(&mut self, key: i64, count: i64, number: u64, [counts, values]: [i64; 2]) -> Option<i64> {
        let guess = self.guess(key, count)?;
        let value = match self.coding {
            Coding::Plain => return Some(number as i64),
            Coding::Optional => return Some((number as i64).wrapping_sub(1)),
            Coding::Follows if number == 0 => guess,
            Coding::Follows => unzigzag(number - 1),
            Coding::TimeBy(_) | Coding::PacedBy(_) => guess.wrapping_add(of_thousands(number)),
            _ => guess.wrapping_add(unzigzag(number)),
        };
        self.keep(key, count.wrapping_add(counts), value.wrapping_add(values))?;
        Some(value)
    }
}

/// Appends the columns of a table to a block, each of which is a packed stream of varints; before them, where
/// runs of rows are one, how many more each has. `starts` are the beginnings of the transmissions in the
/// block.
pub fn pack_rows(table: Table, rows: &Rows, starts: &[i64], out: &mut Vec<u8>) {
    let columns = table.columns();
    let mut bytes = Vec::new();
    if table.counted().is_some() {
        rows.more.iter().for_each(|more| put(&mut bytes, *more as u64));
        rans::pack(&bytes, out);
    }
    for (index, column) in columns.iter().enumerate() {
        bytes.clear();
        bytes.reserve(rows.more.len());
        let values = rows.values.get(index..).unwrap_or_default().iter().step_by(columns.len());
        match column.coding {
            Coding::Plain => plain(values, &mut bytes),
            Coding::Optional => values.for_each(|value| put(&mut bytes, value.wrapping_add(1) as u64)),
            Coding::Follows => {
                let mut before = -1;
                let key = |row: &[i64]| std::mem::replace(&mut before, row[index]);
                differences::<false>(table, index, rows, &mut bytes, key, |value, guess| {
                    if value == guess { 0 } else { zigzag(value).wrapping_add(1) }
                });
            }
            Coding::TimeBy(by) => {
                differences::<false>(table, index, rows, &mut bytes, |row| row[by], time_from);
            }
            Coding::PacedBy([by, _]) => {
                differences::<true>(table, index, rows, &mut bytes, |row| row[by], time_from);
            }
            Coding::DeltaBy(by) => {
                differences::<false>(table, index, rows, &mut bytes, |row| row[by], number_from);
            }
            Coding::Delta => differences::<false>(table, index, rows, &mut bytes, |_| 0, number_from),
            Coding::Modelled => unreachable!("it has a model"),
            Coding::After => after(values, starts, &mut bytes, out),
            Coding::Since(by) => {
                let rows =
                    rows.runs(columns.len()).map(|(row, more)| (by.map(|by| row[by]), more, row[index]));
                since::pack(column.coding, rows, starts, out).expect("keys are small");
                continue;
            }
        }
        rans::pack(&bytes, out);
    }
}

/// Appends values, which are often all the same.
fn plain<'v>(values: impl Iterator<Item = &'v i64> + Clone, out: &mut Vec<u8>) {
    let first = values.clone().next().copied().unwrap_or_default();
    if (0..0x80).contains(&first) && values.clone().all(|value| *value == first) {
        out.resize(out.len() + values.count(), first as u8);
    } else {
        values.for_each(|value| put(out, *value as u64));
    }
}

/// Appends a column that goes by rows before with the same key: of each row its number, which follows from
/// its value and what that should be.
#[inline]
fn differences<const PACED: bool>(
    table: Table,
    index: usize,
    rows: &Rows,
    out: &mut Vec<u8>,
    mut key: impl FnMut(&[i64]) -> i64,
    number: impl Fn(i64, i64) -> u64,
) {
    let coding = table.columns()[index].coding;
    let mut memory = Memory::new(coding);
    // Where nothing is counted, a count is not looked at.
    let counts = coding.by().1.unwrap_or(index);
    let goes_on = |at| if table.counted() == Some(at) { -1 } else { 0 };
    let (of_count, of_value) = (goes_on(counts), goes_on(index));
    for (row, more) in rows.runs(table.columns().len()) {
        let (count, value) = (row[counts], row[index]);
        let (counts, last) =
            ([count, count.wrapping_add(more & of_count)], value.wrapping_add(more & of_value));
        let guess = memory.pass::<PACED>(key(row), counts, last).expect("keys are small");
        put(out, number(value, guess));
    }
}

fn number_from(value: i64, guess: i64) -> u64 {
    zigzag(value.wrapping_sub(guess))
}

fn time_from(value: i64, guess: i64) -> u64 {
    thousands(value.wrapping_sub(guess))
}

/// Instants by the transmissions that began before: where these are, as a packed stream, and how much later.
fn after<'v>(values: impl Iterator<Item = &'v i64>, starts: &[i64], later: &mut Vec<u8>, out: &mut Vec<u8>) {
    let (mut places, mut before) = (Vec::new(), 0);
    for value in values {
        let place = starts.partition_point(|start| start <= value);
        put(&mut places, zigzag(place as i64 - std::mem::replace(&mut before, place as i64)));
        put(later, zigzag(value.wrapping_sub(if place == 0 { 0 } else { starts[place - 1] })));
    }
    rans::pack(&places, out);
}

/// Appends so many rows of a table to its columns, and says what follows them in the block. None if they are
/// not there.
pub fn unpack_rows<'b>(
    table: Table,
    rows: usize,
    content: &'b [u8],
    starts: &[i64],
    out: &mut [Vec<i64>],
) -> Option<&'b [u8]> {
    let Some(counted) = table.counted() else {
        return unpack_columns(table, rows, content, starts, &[], out);
    };
    let (lengths, content) = rans::unpack(content)?;
    let (mut lengths, mut more, mut all) = (lengths.as_slice(), Vec::new(), 0_usize);
    while !lengths.is_empty() {
        let next;
        (next, lengths) = take(lengths)?;
        all = usize::try_from(next).ok().and_then(|next| all.checked_add(next)?.checked_add(1))?;
        more.push(next as i64);
    }
    if all != rows || rows > runs::MOST_ROWS {
        return None;
    }
    let mut firsts = vec![Vec::new(); out.len()];
    let rest = unpack_columns(table, more.len(), content, starts, &more, &mut firsts)?;
    for (index, (out, firsts)) in out.iter_mut().zip(firsts).enumerate() {
        let step = i64::from(index == counted);
        out.reserve(rows);
        for (first, more) in firsts.iter().zip(&more) {
            out.extend((0..=*more).map(|at| first.wrapping_add(at * step)));
        }
    }
    Some(rest)
}

/// The same of the first rows of runs, each of which has so many more.
fn unpack_columns<'b>(
    table: Table,
    rows: usize,
    mut content: &'b [u8],
    starts: &[i64],
    more: &[i64],
    out: &mut [Vec<i64>],
) -> Option<&'b [u8]> {
    let first = out.first()?.len();
    let more = |row: usize| more.get(row).copied().unwrap_or(0);
    for (index, column) in table.columns().iter().enumerate() {
        if let Coding::Since(by) = column.coding {
            let (before, after) = out.split_at_mut(index);
            let of = |row: usize| {
                let [key, count] = by.map(|by| before[by].get(first + row).copied());
                Some(([key?, count?], more(row)))
            };
            content = since::unpack(column.coding, rows, content, starts, of, |value| after[0].push(value))?;
            continue;
        }
        let mut places = Vec::new();
        if column.coding == Coding::After {
            (places, content) = rans::unpack(content)?;
        }
        let (unpacked, rest) = rans::unpack(content)?;
        content = rest;
        let (mut bytes, mut places) = (unpacked.as_slice(), places.as_slice());
        let mut memory = Memory::new(column.coding);
        let mut place = 0_i64;
        let (by, counts) = column.coding.by();
        for row in 0..rows {
            let number;
            (number, bytes) = take(bytes)?;
            let value = if column.coding == Coding::After {
                let step;
                (step, places) = take(places)?;
                place = place.checked_add(unzigzag(step))?;
                let start = if place == 0 { 0 } else { *starts.get(usize::try_from(place - 1).ok()?)? };
                start.wrapping_add(unzigzag(number))
            } else {
                let of = |by: Option<usize>| by.map_or(Some(0), |by| out[by].get(first + row).copied());
                let ends = [counts.map_or(0, |at| table.more(at, more(row))), table.more(index, more(row))];
                memory.value(of(by)?, of(counts)?, number, ends)?
            };
            out[index].push(value);
        }
        if !bytes.is_empty() {
            return None;
        }
    }
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_leb128_and_zigzag() {
        let mut out = Vec::new();
        for value in [0, 127, 128, 300] {
            put(&mut out, value);
        }
        assert_eq!(out, [0, 0x7f, 0x80, 1, 0xac, 2]);
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        for value in [0, -1, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put(&mut out, zigzag(value));
            let (read, rest) = take(&out).unwrap();
            assert_eq!((unzigzag(read), rest.len()), (value, 0));
        }
        assert_eq!(take(&[0x80]), None);
        assert_eq!(take(&[0xff; 11]), None);
    }
}
