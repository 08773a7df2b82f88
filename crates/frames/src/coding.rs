//! Numbers as bytes.

use serde::Serialize;

/// How the values of a column become varints.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "coding", content = "by", rename_all = "kebab-case")]
pub enum Coding {
    /// The value itself, which is not negative.
    Plain,
    /// One more than the value; 0 for none, which readers give as -1.
    Optional,
    /// The value, zigzag: 0, -1, 1, -2 are 0, 1, 2, 3.
    Signed,
    /// The difference from the row before (from 0 in the first) in two numbers: whole slots (rounded down, zigzag), and the rest.
    DeltaSlots,
    /// The difference from the row before (from 0 in the first), zigzag.
    Delta,
    /// The difference, zigzag, from the last row of the block (from 0 in the first) with the same value in an earlier column, the index of which this is.
    DeltaBy(usize),
}

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

pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// What a coding remembers of rows before.
#[derive(Clone, Debug, Default)]
pub struct Memory(Vec<i64>);

impl Memory {
    /// The last value that was kept under this key.
    pub fn at(&mut self, key: usize) -> &mut i64 {
        if key >= self.0.len() {
            self.0.resize(key + 1, 0);
        }
        &mut self.0[key]
    }

    /// Begins afresh.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
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
