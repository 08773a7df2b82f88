//! Indexed 4-ary min-heap of keys.

const ARITY: usize = 4;

/// Keys in heap order. The caller tracks positions: `place(key, at)` is called whenever a key moves to
/// position `at`.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    keys: Vec<u128>,
}

impl Heap {
    /// Number of keys.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// All keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u128> {
        self.keys.iter().copied()
    }

    /// The least key.
    pub(super) fn first(&self) -> Option<u128> {
        self.keys.first().copied()
    }

    /// Adds a key.
    pub(super) fn push(&mut self, key: u128, place: &mut impl FnMut(u128, usize)) {
        self.keys.push(key);
        self.sift_up(self.keys.len() - 1, key, place);
    }

    /// Removes the key at a position.
    pub(super) fn remove(&mut self, at: usize, place: &mut impl FnMut(u128, usize)) {
        let last = self.keys.pop().expect("a removed key was there");
        if at == self.keys.len() {
            return;
        }
        if at > 0 && last < self.keys[(at - 1) / ARITY] {
            self.sift_up(at, last, place);
        } else {
            self.sift_down(at, last, place);
        }
    }

    /// Moves the hole at `at` up until `key` fits in.
    fn sift_up(&mut self, mut at: usize, key: u128, place: &mut impl FnMut(u128, usize)) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            place(self.keys[at], at);
            at = parent;
        }
        self.keys[at] = key;
        place(key, at);
    }

    /// Moves the hole at `at` down until `key` fits in.
    fn sift_down(&mut self, mut at: usize, key: u128, place: &mut impl FnMut(u128, usize)) {
        loop {
            let first = at * ARITY + 1;
            if first >= self.keys.len() {
                break;
            }
            let end = (first + ARITY).min(self.keys.len());
            let mut least = first;
            for child in first + 1..end {
                if self.keys[child] < self.keys[least] {
                    least = child;
                }
            }
            if key <= self.keys[least] {
                break;
            }
            self.keys[at] = self.keys[least];
            place(self.keys[at], at);
            at = least;
        }
        self.keys[at] = key;
        place(key, at);
    }
}
