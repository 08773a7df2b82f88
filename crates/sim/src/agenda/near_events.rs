//! Near part of the agenda: unsorted keys, of which a scan finds the smallest.

/// Number of keys that the scan compares at a time.
const LANES: usize = 4;
/// Number of keys that are always allocated and are scanned first, without a loop. Few networks of some hops
/// have more events due soon.
const FEW: usize = 2 * LANES;

/// Keys that, read as `f64`, are positive normal numbers in the same order: SSE2 has a minimum of `f64` but
/// none of `u64`.
#[derive(Clone, Debug)]
pub(super) struct NearEvents {
    /// Keys; the places from `len` on hold `NearEvents::NONE`.
    keys: Vec<u64>,
    len: usize,
}

impl NearEvents {
    /// Smallest valid key.
    pub(super) const FIRST: u64 = 1 << 62;
    /// Marker of an empty place, greater than any key.
    pub(super) const NONE: u64 = f64::INFINITY.to_bits();
    /// Number of distinct keys from `FIRST` on.
    pub(super) const RANGE: u64 = NearEvents::NONE - NearEvents::FIRST;

    /// Creates an empty set with memory for `keys` keys.
    pub(super) fn with_room(keys: usize) -> NearEvents {
        NearEvents { keys: vec![NearEvents::NONE; keys.max(FEW).next_multiple_of(LANES)], len: 0 }
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.keys[..self.len].iter().copied()
    }

    /// Key at a position.
    pub(super) fn at(&self, at: usize) -> u64 {
        self.keys[at]
    }

    /// Replaces the key at a position, or appends the key if the position is past the end. Returns its
    /// position, or none if nothing was added for lack of memory.
    #[inline]
    pub(super) fn put(&mut self, at: usize, key: u64) -> Option<usize> {
        let is_new = at >= self.len;
        let at = if is_new { self.len } else { at };
        *self.keys.get_mut(at)? = key;
        self.len += usize::from(is_new);
        Some(at)
    }

    /// Appends a key, growing the memory if needed; returns its position.
    pub(super) fn push(&mut self, key: u64) -> usize {
        if self.len == self.keys.len() {
            self.keys.extend([NearEvents::NONE; LANES]);
        }
        self.keys[self.len] = key;
        self.len += 1;
        self.len - 1
    }

    /// Removes the key at a position. The last key moves there and is returned, even if it is the removed
    /// one: a branch would not be predictable.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> u64 {
        self.len -= 1;
        let last = self.keys[self.len];
        self.keys[at] = last;
        self.keys[self.len] = NearEvents::NONE;
        last
    }

    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        self.keys.fill(NearEvents::NONE);
        self.len = 0;
    }

    /// Key of the given rank in ascending order.
    pub(super) fn of_rank(&mut self, rank: usize) -> u64 {
        *self.keys[..self.len].select_nth_unstable(rank).1
    }

    /// Smallest key; [`NearEvents::NONE`] if there is none.
    #[inline]
    pub(super) fn least(&self) -> u64 {
        let Some((few, more)) = self.keys.split_first_chunk::<FEW>() else { return NearEvents::NONE };
        // Loads single keys: a load of two keys would wait for both of their separate stores.
        let [a, b, c, d] = [0, 2, 4, 6].map(|at| few[at].min(few[at + 1]));
        let least = a.min(b).min(c.min(d));
        if self.len <= FEW { least } else { least.min(self.least_of(more)) }
    }

    /// Smallest of the keys behind the first [`FEW`].
    #[inline]
    fn least_of(&self, more: &[u64]) -> u64 {
        let mut least = [f64::INFINITY; LANES];
        // Written so that the compiler uses one instruction for two keys.
        for group in more[..(self.len - FEW).next_multiple_of(LANES)].as_chunks::<LANES>().0 {
            for (least, key) in least.iter_mut().zip(group) {
                *least = lesser(*least, f64::from_bits(*key));
            }
        }
        let [a, b, c, d] = least;
        lesser(lesser(a, c), lesser(b, d)).to_bits()
    }
}

#[inline]
fn lesser(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_whole_range_are_in_order() {
        let mut near = NearEvents::with_room(2);
        let last = NearEvents::FIRST + NearEvents::RANGE - 1;
        let middle = (4..16).map(|before| last - before);
        let keys =
            [last, last - 1, NearEvents::FIRST + 1, NearEvents::FIRST, last - 2].into_iter().chain(middle);
        assert_eq!(near.least(), NearEvents::NONE);
        for (index, key) in keys.chain([last - 3]).enumerate() {
            let place = near.put(usize::MAX, key);
            let fits = index != 8 && index != 12 && index != 16;
            assert_eq!(place, fits.then_some(index), "eight fit, and then four more in turn");
            assert_eq!(place.unwrap_or_else(|| near.push(key)), index);
            let least = (0..near.len()).map(|at| near.at(at)).min();
            assert_eq!(Some(near.least()), least);
        }
        assert_eq!(near.remove(3), last - 3);
        assert_eq!(near.remove(2), last - 15);
        assert_eq!((near.least(), near.len()), (last - 15, 16));
        assert_eq!(near.of_rank(15), last);
        near.clear();
        assert_eq!(near.least(), NearEvents::NONE);
    }
}
