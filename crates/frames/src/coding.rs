//! Numbers as bytes, and the columns of tables that need no model.

use crate::room::Room;
use crate::{Table, rans};
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// 0 if it is as in the last row of the block with the same values in two earlier columns, the indices of
    /// which these are (0 if there is none); otherwise one more than the value, zigzag.
    Like([usize; 2]),
    /// By what differs from what is expected (modules `timeline` and `beside`).
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

/// Appends the columns of a table to a block, each of which is a packed stream of varints. `rows` are one
/// after the other.
pub fn pack_rows(table: Table, rows: &[i64], out: &mut Vec<u8>) {
    let columns = table.columns();
    let mut bytes = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        bytes.clear();
        let (mut last, mut latest) = (BTreeMap::new(), BTreeMap::new());
        for row in rows.chunks_exact(columns.len()) {
            let value = row[index];
            let number = match column.coding {
                Coding::Plain => value as u64,
                Coding::Optional => value.wrapping_add(1) as u64,
                Coding::Delta => zigzag(value.wrapping_sub(last.insert(0, value).unwrap_or(0))),
                Coding::DeltaBy(by) => zigzag(value.wrapping_sub(last.insert(row[by], value).unwrap_or(0))),
                Coding::Like(by) => match latest.insert(by.map(|by| row[by]), value).unwrap_or(0) {
                    known if known == value => 0,
                    _ => zigzag(value).wrapping_add(1),
                },
                Coding::Modelled => unreachable!("it has a model"),
            };
            put(&mut bytes, number);
        }
        rans::pack(&bytes, out);
    }
}

/// Appends so many rows of a table to its columns, and says what follows them in the block. None if they are
/// not there.
pub fn unpack_rows<'b>(
    table: Table,
    rows: usize,
    mut content: &'b [u8],
    out: &mut [Vec<i64>],
    room: &mut Room,
) -> Option<&'b [u8]> {
    room.take_rows(rows)?;
    for (index, column) in table.columns().iter().enumerate() {
        let (unpacked, rest) = rans::unpack(content, room)?;
        content = rest;
        let mut bytes = unpacked.as_slice();
        let (mut last, mut latest) = (BTreeMap::new(), BTreeMap::new());
        for row in 0..rows {
            let number;
            (number, bytes) = take(bytes)?;
            let mut from = |key: i64| {
                let last = last.entry(key).or_insert(0_i64);
                *last = last.wrapping_add(unzigzag(number));
                *last
            };
            let value = match column.coding {
                Coding::Plain => number as i64,
                Coding::Optional => (number as i64).wrapping_sub(1),
                Coding::Delta => from(0),
                Coding::DeltaBy(by) => from(*out[by].get(row)?),
                Coding::Like([one, other]) => {
                    let key = [*out[one].get(row)?, *out[other].get(row)?];
                    let value = match number.checked_sub(1) {
                        Some(number) => unzigzag(number),
                        None => latest.get(&key).copied().unwrap_or(0),
                    };
                    latest.insert(key, value);
                    value
                }
                Coding::Modelled => return None,
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
