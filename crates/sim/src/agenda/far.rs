//! Events that are not due soon: a timing wheel (Varghese and Lauck, 1987) for those of the next 34 ms, and a
//! heap for what is due later, or comes before the wheel begins.
//!
//! The wheel has buckets of 16 us, in each of which keys are in no order: what comes and goes costs the same
//! however much is pending. In a network of 30,000 nodes most timers of MACs lie there.

use super::heap::Heap;

/// Nanoseconds of a bucket, and buckets, as powers of two.
const WIDTH: u32 = 14;
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// An empty bucket keeps room for so many keys at most.
const KEPT: usize = 256;
/// A place in the wheel: this bit, the bucket, and the place in the bucket.
const WHEEL: usize = 1 << 30;
const INDEX_BITS: u32 = 30 - BUCKET_BITS;

/// Keys, of which the upper 64 bits are a time in nanoseconds. The caller says how a key's place is kept:
/// `place(key, at)` is called whenever a key comes to stand at a place, which is below 2^31.
#[derive(Clone, Debug, Default)]
pub(super) struct Far {
    /// Those of bucket `b` are in `buckets[b % BUCKETS]`; empty until something comes.
    buckets: Vec<Vec<u128>>,
    /// A bit for each that holds something.
    filled: Vec<u64>,
    /// The wheel has this bucket, counted from time zero on, and those that follow.
    first: u64,
    in_wheel: usize,
    heap: Heap,
}

/// The bucket of a key, counted from time zero on.
fn bucket_of(key: u128) -> u64 {
    (key >> 64) as u64 >> WIDTH
}

/// The least key that a bucket may hold.
fn beginning(bucket: u64) -> u128 {
    u128::from(bucket << WIDTH) << 64
}

impl Far {
    /// How many keys there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.in_wheel + self.heap.len()
    }

    /// For how many keys there is room in the wheel.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.buckets.iter().map(Vec::capacity).sum()
    }

    /// All keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u128> {
        self.buckets.iter().flatten().copied().chain(self.heap.keys())
    }

    /// The wheel begins at this time in nanoseconds, if it is empty. What is due before goes into the heap.
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

    /// Puts a key in the place of another one.
    pub(super) fn replace(&mut self, at: usize, key: u128, place: &mut impl FnMut(u128, usize)) {
        self.remove(at, place);
        self.push(key, place);
    }

    /// Takes the key at a place out.
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

    /// Takes the first keys out, some `most` of them and twice as many at most, all within `reach`
    /// nanoseconds. Returns a time that none is before, and a key that all of them are less than, and none of
    /// those that stay; none if there is no key. They come to `taken`, in no order.
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

    /// Takes all of a bucket, which is the first that holds something.
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

    /// Drops the room of a burst, whose like comes to other buckets, once a bucket is empty.
    fn trim(&mut self, at: usize) {
        if self.buckets.get(at).is_some_and(|keys| keys.is_empty() && keys.capacity() > KEPT) {
            self.buckets[at] = Vec::new();
        }
    }

    /// Puts all but the first `most` back; returns the first of the others.
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

    /// The first bucket that holds something, or that something of the heap belongs to.
    fn first_bucket(&self) -> Option<u64> {
        let of_heap = self.heap.first().map(bucket_of);
        let of_wheel = (self.in_wheel > 0).then(|| self.first + self.steps_to_filled());
        [of_heap, of_wheel].into_iter().flatten().min()
    }

    /// How far behind the wheel's first bucket the first is that holds something.
    fn steps_to_filled(&self) -> u64 {
        let start = self.first as usize % BUCKETS;
        let words = self.filled.len();
        // The word in which it begins comes twice: its upper part first, and its lower part last.
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
