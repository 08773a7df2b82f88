//! Events that are due soon: keys in no order, of which the least is found by looking at all.

/// Keys are looked at in groups of so many.
const LANES: usize = 4;
/// There is always room for so many, which are looked at first, without a loop: few networks of some hops
/// have more that is due soon.
const FEW: usize = 2 * LANES;

/// Keys that, read as `f64`, are positive normal numbers in the same order: SSE2 has a minimum of `f64`, and
/// none of `u64`.
#[derive(Clone, Debug)]
pub(super) struct Near {
    /// In places from `len` on is `Near::NONE`.
    keys: Vec<u64>,
    len: usize,
}

impl Near {
    /// The least key of all.
    pub(super) const FIRST: u64 = 1 << 62;
    /// Greater than any key.
    pub(super) const NONE: u64 = f64::INFINITY.to_bits();
    /// All keys lie below `FIRST` and this.
    pub(super) const RANGE: u64 = Near::NONE - Near::FIRST;

    /// None, with room for so many.
    pub(super) fn with_room(keys: usize) -> Near {
        Near { keys: vec![Near::NONE; keys.max(FEW).next_multiple_of(LANES)], len: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.keys[..self.len].iter().copied()
    }

    /// The key at a place.
    pub(super) fn at(&self, at: usize) -> u64 {
        self.keys[at]
    }

    /// Puts a key in the place of another one, or behind all if it is none of these; returns the place.
    /// Returns none, and adds nothing, if there is no room.
    #[inline]
    pub(super) fn put(&mut self, at: usize, key: u64) -> Option<usize> {
        let is_new = at >= self.len;
        let at = if is_new { self.len } else { at };
        *self.keys.get_mut(at)? = key;
        self.len += usize::from(is_new);
        Some(at)
    }

    /// Adds a key, and makes room if there is none; returns its place.
    pub(super) fn push(&mut self, key: u64) -> usize {
        if self.len == self.keys.len() {
            self.keys.extend([Near::NONE; LANES]);
        }
        self.keys[self.len] = key;
        self.len += 1;
        self.len - 1
    }

    /// Takes the key at a place out. The last one, which may be that itself, comes there and is returned:
    /// no processor could predict which it is.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> u64 {
        self.len -= 1;
        let last = self.keys[self.len];
        self.keys[at] = last;
        self.keys[self.len] = Near::NONE;
        last
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.keys.fill(Near::NONE);
        self.len = 0;
    }

    /// The key that so many are less than.
    pub(super) fn of_rank(&mut self, rank: usize) -> u64 {
        *self.keys[..self.len].select_nth_unstable(rank).1
    }

    /// The least; [`Near::NONE`] if there is none.
    #[inline]
    pub(super) fn least(&self) -> u64 {
        let Some((few, more)) = self.keys.split_first_chunk::<FEW>() else { return Near::NONE };
        // One by one: what was stored just now comes late for a load of two keys, which no store held both of.
        let [a, b, c, d] = [0, 2, 4, 6].map(|at| few[at].min(few[at + 1]));
        let least = a.min(b).min(c.min(d));
        if self.len <= FEW { least } else { least.min(self.least_of(more)) }
    }

    /// The least of those that are behind the first.
    #[inline]
    fn least_of(&self, more: &[u64]) -> u64 {
        let mut least = [f64::INFINITY; LANES];
        // Written so that it becomes one instruction for two lanes.
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
        let mut near = Near::with_room(2);
        let last = Near::FIRST + Near::RANGE - 1;
        let middle = (4..16).map(|before| last - before);
        let keys = [last, last - 1, Near::FIRST + 1, Near::FIRST, last - 2].into_iter().chain(middle);
        assert_eq!(near.least(), Near::NONE);
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
        assert_eq!(near.least(), Near::NONE);
    }
}
