//! Transmissions that the frame log has begun and not written yet.

use multihop_core::Time;
use multihop_frames::Transmission;

/// A transmission that may still be on the air.
#[derive(Debug, Default)]
pub struct Pending {
    /// When it is over at its nearest listener.
    pub end: Time,
    /// The place of its sort in the log.
    pub sort: usize,
    pub row: Transmission,
}

/// Transmissions in the order of their beginnings, in a ring: rows are used again, with the memory of their
/// sets.
#[derive(Debug)]
pub struct Ring {
    /// A power of two.
    rows: Vec<Pending>,
    /// The numbers of the first one, and of the next one to come.
    first: u64,
    next: u64,
}

impl Ring {
    /// The number of none.
    pub const NONE: u64 = u64::MAX;

    /// An empty one, with room for so many, a power of two.
    pub fn new(room: usize) -> Ring {
        debug_assert!(room.is_power_of_two());
        Ring { rows: (0..room).map(|_| Pending::default()).collect(), first: 0, next: 0 }
    }

    #[inline]
    pub fn len(&self) -> usize {
        (self.next - self.first) as usize
    }

    /// The number that the next one has.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.rows.len() - 1)
    }

    /// That of a number; none if it is no longer there.
    #[inline]
    pub fn get(&mut self, number: u64) -> Option<&mut Pending> {
        let slot = self.slot(number);
        (self.first <= number && number < self.next).then(|| &mut self.rows[slot])
    }

    /// The first one.
    #[inline]
    pub fn first(&mut self) -> Option<&mut Pending> {
        self.get(self.first)
    }

    /// Another one: sets are empty, everything else is as it happens to be.
    #[inline]
    pub fn add(&mut self) -> &mut Pending {
        if self.len() == self.rows.len() {
            self.grow();
        }
        let slot = self.slot(self.next);
        self.next += 1;
        &mut self.rows[slot]
    }

    /// The first one, which there is, is written.
    #[inline]
    pub fn drop_first(&mut self) {
        let slot = self.slot(self.first);
        let row = &mut self.rows[slot].row;
        row.reserves.clear();
        row.mpdus.clear();
        self.first += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Ring::new(2 * self.rows.len());
        for number in self.first..self.next {
            let (from, to) = (self.slot(number), larger.slot(number));
            std::mem::swap(&mut self.rows[from], &mut larger.rows[to]);
        }
        self.rows = larger.rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_numbers_when_there_are_more_of_them() {
        let mut ring = Ring::new(2);
        for number in 0..100 {
            assert_eq!(ring.next(), number);
            ring.add().row.reserves.push((number as u32, 0));
            if number % 3 == 0 {
                ring.drop_first();
            }
        }
        assert_eq!(ring.len(), 66);
        assert!(ring.get(33).is_none() && ring.get(100).is_none());
        assert!((34..100).all(|number| ring.get(number).unwrap().row.reserves == [(number as u32, 0)]));
        assert_eq!(ring.first().unwrap().row.reserves, [(34, 0)]);
    }
}
