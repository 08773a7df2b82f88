//! Sets of bytes as ranges.

use std::collections::VecDeque;

/// Range of bytes, `start..end`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ByteRange {
    pub start: u64,
    pub end: u64,
    /// Index of the last addition to this range.
    pub last_addition: u64,
}

/// Ranges in ascending order that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteRanges {
    sorted: VecDeque<ByteRange>,
    bytes: u64,
    additions: u64,
}

impl ByteRanges {
    /// Adds `start..end`. Returns the number of bytes that are new.
    pub fn add(&mut self, mut start: u64, mut end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        self.additions += 1;
        let first = self.sorted.partition_point(|range| range.end < start);
        let mut last = first;
        let mut absorbed = 0;
        while let Some(range) = self.sorted.get(last).filter(|range| range.start <= end) {
            absorbed += range.end - range.start;
            start = start.min(range.start);
            end = end.max(range.end);
            last += 1;
        }
        let merged = ByteRange { start, end, last_addition: self.additions };
        if first == last {
            self.sorted.insert(first, merged);
        } else {
            self.sorted[first] = merged;
            self.sorted.drain(first + 1..last);
        }
        let added = end - start - absorbed;
        self.bytes += added;
        added
    }

    /// Removes everything below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        while let Some(range) = self.sorted.front_mut().filter(|range| range.start < bound) {
            let end = range.end.min(bound);
            self.bytes -= end - range.start;
            range.start = end;
            if range.start == range.end {
                self.sorted.pop_front();
            }
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.sorted.clear();
        self.bytes = 0;
    }

    /// Number of bytes in the set.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of bytes of the set below `bound`.
    pub fn bytes_below(&self, bound: u64) -> u64 {
        self.iter()
            .take_while(|range| range.start < bound)
            .map(|range| range.end.min(bound) - range.start)
            .sum()
    }

    /// Range that contains `byte`.
    pub fn containing(&self, byte: u64) -> Option<ByteRange> {
        let index = self.sorted.partition_point(|range| range.end <= byte);
        self.sorted.get(index).copied().filter(|range| range.start <= byte)
    }

    /// First range that begins after `byte`.
    pub fn after(&self, byte: u64) -> Option<ByteRange> {
        self.sorted.get(self.sorted.partition_point(|range| range.start <= byte)).copied()
    }

    /// Ranges in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &ByteRange> {
        self.sorted.iter()
    }

    /// End of the last range.
    pub fn end(&self) -> Option<u64> {
        self.sorted.back().map(|range| range.end)
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;

    /// Compares with an array of flags.
    #[test]
    fn agrees_with_an_array_of_flags() {
        let mut rng = Rng::at(1, &["ranges"]);
        for _ in 0..200 {
            let mut ranges = ByteRanges::default();
            let mut flags = [false; 64];
            for _ in 0..40 {
                let (a, b) = (rng.below(64) as usize, rng.below(12) as usize);
                if rng.below(8) == 0 {
                    ranges.remove_below(a as u64);
                    flags[..a].fill(false);
                } else {
                    let end = (a + b).min(64);
                    let fresh = flags[a..end].iter().filter(|flag| !**flag).count();
                    assert_eq!(ranges.add(a as u64, end as u64), fresh as u64);
                    flags[a..end].fill(true);
                }
                for (byte, &flag) in flags.iter().enumerate() {
                    assert_eq!(ranges.containing(byte as u64).is_some(), flag);
                }
                assert_eq!(ranges.bytes(), flags.iter().filter(|flag| **flag).count() as u64);
                assert_eq!(
                    ranges.bytes_below(a as u64),
                    flags[..a].iter().filter(|flag| **flag).count() as u64
                );
                let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
                assert!(ranges.iter().zip(starts.iter().skip(1)).all(|(range, next)| range.end < *next));
                assert_eq!(
                    ranges.after(a as u64).map(|r| r.start),
                    starts.iter().copied().find(|s| *s > a as u64)
                );
            }
        }
    }
}
