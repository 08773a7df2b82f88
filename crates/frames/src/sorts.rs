//! The places of sorts.

use crate::timeline::Sort;
use std::collections::BTreeMap;

/// Places of so many sorts are found at once.
const LATELY: usize = 256;

/// Sorts, each of which has a place in the order of their first.
#[derive(Debug)]
pub struct Sorts {
    known: Vec<Sort>,
    places: BTreeMap<Sort, usize>,
    /// Places of sorts that were looked up lately, by a hash of the sort.
    lately: [usize; LATELY],
}

impl Default for Sorts {
    fn default() -> Sorts {
        Sorts { known: Vec::new(), places: BTreeMap::new(), lately: [0; LATELY] }
    }
}

impl Sorts {
    /// The place of a sort, and whether it is new.
    pub fn place(&mut self, sort: &Sort) -> (usize, bool) {
        let hash = sort.from ^ sort.to << 3 ^ sort.kind << 5 ^ sort.flow << 6 ^ sort.airtime >> 10;
        let slot = hash as usize % LATELY;
        if self.known.get(self.lately[slot]) == Some(sort) {
            return (self.lately[slot], false);
        }
        let next = self.known.len();
        let place = *self.places.entry(*sort).or_insert(next);
        if place == next {
            self.known.push(*sort);
        }
        self.lately[slot] = place;
        (place, place == next)
    }
}
