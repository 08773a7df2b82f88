//! Events that are due soon: keys in no order, of which the least is found by looking at all.

/// Keys are looked at in groups of so many.
const LANES: usize = 4;
/// Greater than any key.
const NEVER: u64 = f64::INFINITY.to_bits();

/// Keys that, read as `f64`, are positive normal numbers in the same order: SSE2 has a minimum of `f64`, and
/// none of `u64`.
#[derive(Clone, Debug)]
pub(super) struct Near {
    /// In places from `len` on, up to the end of a group at least, is `NEVER`.
    keys: Vec<u64>,
    len: usize,
}

impl Near {
    /// The least key of all.
    pub(super) const FIRST: u64 = 1 << 62;
    /// All keys lie below `FIRST` and this.
    pub(super) const RANGE: u64 = NEVER - Near::FIRST;

    /// None, with room for so many.
    pub(super) fn with_room(keys: usize) -> Near {
        Near { keys: vec![NEVER; keys.next_multiple_of(LANES)], len: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Is there none?
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.keys[..self.len].iter().copied()
    }

    /// The key at a place.
    pub(super) fn at(&self, at: usize) -> u64 {
        self.keys[at]
    }

    /// Adds a key; returns its place. Returns none, and adds nothing, if there is no room.
    #[inline]
    pub(super) fn try_push(&mut self, key: u64) -> Option<usize> {
        let at = self.len;
        *self.keys.get_mut(at)? = key;
        self.len = at + 1;
        Some(at)
    }

    /// Adds a key, and makes room if there is none; returns its place.
    pub(super) fn push(&mut self, key: u64) -> usize {
        if self.len == self.keys.len() {
            self.keys.extend([NEVER; LANES]);
        }
        self.keys[self.len] = key;
        self.len += 1;
        self.len - 1
    }

    /// From now on there is room for so many, or for those that there are.
    pub(super) fn set_room(&mut self, keys: usize) {
        self.keys.resize(keys.max(self.len).next_multiple_of(LANES), NEVER);
    }

    /// Puts a key in the place of another one.
    #[inline]
    pub(super) fn replace(&mut self, at: usize, key: u64) {
        self.keys[at] = key;
    }

    /// Takes the key at a place out. The last one comes there; none, if it was that.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> Option<u64> {
        self.len -= 1;
        let last = std::mem::replace(&mut self.keys[self.len], NEVER);
        if at == self.len {
            return None;
        }
        self.keys[at] = last;
        Some(last)
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.keys.fill(NEVER);
        self.len = 0;
    }

    /// The key that so many are less than.
    pub(super) fn of_rank(&mut self, rank: usize) -> u64 {
        *self.keys[..self.len].select_nth_unstable(rank).1
    }

    /// The least.
    #[inline]
    pub(super) fn least(&self) -> Option<u64> {
        // Written so that it becomes one instruction for two lanes.
        let lesser = |one: f64, other: f64| if one < other { one } else { other };
        let mut least = [f64::INFINITY; LANES];
        for group in self.keys[..self.len.next_multiple_of(LANES)].as_chunks::<LANES>().0 {
            for (least, key) in least.iter_mut().zip(group) {
                *least = lesser(*least, f64::from_bits(*key));
            }
        }
        let [a, b, c, d] = least;
        let found = lesser(lesser(a, c), lesser(b, d)).to_bits();
        (found < NEVER).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_whole_range_are_in_order() {
        let mut near = Near::with_room(2);
        let last = Near::FIRST + Near::RANGE - 1;
        let keys = [last, last - 1, Near::FIRST + 1, Near::FIRST, last - 2, last - 3];
        for (index, key) in keys.into_iter().enumerate() {
            let place = near.try_push(key);
            assert_eq!(place, (index != 4).then_some(index), "four fit, and then as many again");
            assert_eq!(place.unwrap_or_else(|| near.push(key)), index);
            let least = (0..near.len()).map(|at| near.at(at)).min();
            assert_eq!(near.least(), least);
        }
        assert_eq!(near.remove(3), Some(last - 3));
        assert_eq!(near.remove(2), Some(last - 2));
        assert_eq!((near.least(), near.len()), (Some(last - 3), 4));
        assert_eq!(near.of_rank(3), last);
        near.clear();
        assert_eq!(near.least(), None);
    }
}
