//! Events far ahead: a timing wheel (Varghese and Lauck, 1987) with the events of the next 34 ms, and a
//! heap with the events before and after the wheel's window.
//!
//! A bucket of the wheel spans 16 us and holds its keys unsorted, so that adding and removing a key costs the
//! same however many events are pending. In a network of 30,000 nodes most MAC timers lie in the wheel.

use super::heap::Heap;

/// Base-2 logarithms of the width of a bucket in nanoseconds and of the number of buckets.
const WIDTH: u32 = 14;
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Number of keys for which an empty bucket keeps its memory at most.
const KEPT: usize = 256;
/// Bit that marks a position inside the wheel; bucket and index within the bucket follow in lower bits.
const WHEEL: usize = 1 << 30;
const INDEX_BITS: u32 = 30 - BUCKET_BITS;

/// Keys whose upper 64 bits are a time in nanoseconds. The caller tracks positions: `place(key, at)` is
/// called whenever a key moves to position `at`, which is below 2^31.
#[derive(Clone, Debug, Default)]
pub(super) struct TimingWheel {
    /// Keys by bucket: bucket `b` is in `buckets[b % BUCKETS]`. Empty until the first key is added.
    buckets: Vec<Vec<u128>>,
    /// Occupancy bitmap of `buckets`, one bit per bucket.
    filled: Vec<u64>,
    /// Number of the wheel's first bucket, counted from time zero.
    first: u64,
    in_wheel: usize,
    heap: Heap,
}

/// Number of the bucket that a key belongs to, counted from time zero.
fn bucket_of(key: u128) -> u64 {
    (key >> 64) as u64 >> WIDTH
}

/// Smallest key that a bucket may hold.
fn beginning(bucket: u64) -> u128 {
    u128::from(bucket << WIDTH) << 64
}

impl TimingWheel {
    /// Number of keys.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.in_wheel + self.heap.len()
    }

    /// Number of keys for which the wheel has memory allocated.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.buckets.iter().map(Vec::capacity).sum()
    }

    /// All keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u128> {
        self.buckets.iter().flatten().copied().chain(self.heap.keys())
    }

    /// Moves the start of an empty wheel to `time`, in nanoseconds. Events due earlier go to the heap.
    pub(super) fn begin_at(&mut self, time: u64) {
        if self.in_wheel == 0 {
            self.first = time >> WIDTH;
        }
    }

    /// Adds a key.
    pub(super) fn push(&mut self, key: u128, place: &mut impl FnMut(u128, usize)) {
        let bucket = bucket_of(key);
        if bucket.wrapping_sub(self.first) >= BUCKETS as u64 {
            return self.heap.push(key, place);
        }
        if self.buckets.is_empty() {
            (self.buckets, self.filled) = (vec![Vec::new(); BUCKETS], vec![0; BUCKETS / 64]);
        }
        let at = bucket as usize % BUCKETS;
        let keys = &mut self.buckets[at];
        let index = keys.len();
        if (index + 1) >> INDEX_BITS != 0 {
            return self.heap.push(key, place);
        }
        keys.push(key);
        self.filled[at / 64] |= 1 << (at % 64);
        self.in_wheel += 1;
        place(key, WHEEL | at << INDEX_BITS | index);
    }

    /// Replaces the key at a position.
    pub(super) fn replace(&mut self, at: usize, key: u128, place: &mut impl FnMut(u128, usize)) {
        self.remove(at, place);
        self.push(key, place);
    }

    /// Removes the key at a position.
    pub(super) fn remove(&mut self, at: usize, place: &mut impl FnMut(u128, usize)) {
        if at & WHEEL == 0 {
            return self.heap.remove(at, place);
        }
        let (bucket, index) = ((at ^ WHEEL) >> INDEX_BITS, at & ((1 << INDEX_BITS) - 1));
        let keys = &mut self.buckets[bucket];
        keys.swap_remove(index);
        self.in_wheel -= 1;
        match keys.get(index) {
            Some(moved) => place(*moved, at),
            None if keys.is_empty() => {
                self.filled[bucket / 64] &= !(1 << (bucket % 64));
                self.trim(bucket);
            }
            None => {}
        }
    }

    /// Moves about `most` of the smallest keys, at most `2 * most`, into `taken`, unsorted. All of them are
    /// due within `reach` nanoseconds of the first.
    ///
    /// Returns a time in nanoseconds at or before all of them, and a key greater than all of them and not
    /// greater than any key that remains. Returns none if there is no key.
    pub(super) fn take_first(
        &mut self,
        most: usize,
        reach: u64,
        taken: &mut Vec<u128>,
        place: &mut impl FnMut(u128, usize),
    ) -> Option<(u64, u128)> {
        let begin = self.first_bucket()?;
        let horizon = loop {
            let Some(bucket) = self.first_bucket() else { break u128::MAX };
            if bucket >= self.first || self.in_wheel == 0 {
                self.first = bucket;
            }
            let waiting = if bucket == self.first { self.bucket(bucket).len() } else { 0 };
            let is_enough = !taken.is_empty() && taken.len() + waiting > most;
            if is_enough || bucket + 1 - begin > reach >> WIDTH {
                break beginning(bucket);
            }
            self.take_bucket(bucket, taken, place);
            if taken.len() > 2 * most {
                break self.leave_later(most, taken, place);
            }
            self.trim(bucket as usize % BUCKETS);
        };
        Some((begin << WIDTH, horizon))
    }

    fn bucket(&self, bucket: u64) -> &[u128] {
        self.buckets.get(bucket as usize % BUCKETS).map_or(&[], Vec::as_slice)
    }

    /// Moves all keys of a bucket into `taken`; the bucket is the first that is not empty.
    fn take_bucket(&mut self, bucket: u64, taken: &mut Vec<u128>, place: &mut impl FnMut(u128, usize)) {
        if bucket == self.first && !self.buckets.is_empty() {
            let at = bucket as usize % BUCKETS;
            self.in_wheel -= self.buckets[at].len();
            taken.append(&mut self.buckets[at]);
            self.filled[at / 64] &= !(1 << (at % 64));
        }
        while let Some(key) = self.heap.first().filter(|key| bucket_of(*key) == bucket) {
            self.heap.remove(0, place);
            taken.push(key);
        }
    }

    /// Releases the memory of an empty bucket beyond [`KEPT`] keys, because the next burst fills another
    /// bucket.
    fn trim(&mut self, at: usize) {
        if self.buckets.get(at).is_some_and(|keys| keys.is_empty() && keys.capacity() > KEPT) {
            self.buckets[at] = Vec::new();
        }
    }

    /// Returns all but the first `most` taken keys to the wheel, and the smallest of the returned keys to the
    /// caller.
    fn leave_later(
        &mut self,
        most: usize,
        taken: &mut Vec<u128>,
        place: &mut impl FnMut(u128, usize),
    ) -> u128 {
        let horizon = *taken.select_nth_unstable(most).1;
        taken.drain(most..).for_each(|key| self.push(key, place));
        horizon
    }

    /// First bucket that holds a key, or to which the first key of the heap belongs.
    fn first_bucket(&self) -> Option<u64> {
        let of_heap = self.heap.first().map(bucket_of);
        let of_wheel = (self.in_wheel > 0).then(|| self.first + self.steps_to_filled());
        [of_heap, of_wheel].into_iter().flatten().min()
    }

    /// Number of buckets from the wheel's first bucket to the first one that is not empty.
    fn steps_to_filled(&self) -> u64 {
        let start = self.first as usize % BUCKETS;
        let words = self.filled.len();
        // The word that contains the first bucket is examined twice: its upper bits first, its lower bits
        // last.
        let found = (0..=words).find_map(|step| {
            let word = (start / 64 + step) % words;
            let upper = u64::MAX << (start % 64);
            let seen = match step {
                0 => self.filled[word] & upper,
                step if step == words => self.filled[word] & !upper,
                _ => self.filled[word],
            };
            (seen != 0).then(|| word * 64 + seen.trailing_zeros() as usize)
        });
        let at = found.expect("something is in the wheel");
        (at.wrapping_sub(start) % BUCKETS) as u64
    }
}
