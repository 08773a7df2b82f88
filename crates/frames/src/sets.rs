//! Sets of nodes that set the NAV by a frame, each of which is written once in a batch.

use crate::columns::Tables;
use crate::layout::Table;

/// Slots of the table of sets at first.
const SLOTS: usize = 1 << 10;

/// Numbers of the sets of a batch.
#[derive(Debug)]
pub(crate) struct Sets {
    /// Number of the latest set.
    last: i64,
    /// Sets of the batch: number, and where its nodes begin and end.
    known: Vec<(i64, usize, usize)>,
    nodes: Vec<(u32, i64)>,
    /// One more than the place in `known`, by hash, with open addressing; 0 is free.
    slots: Vec<u32>,
}

impl Default for Sets {
    fn default() -> Sets {
        Sets { last: 0, known: Vec::new(), nodes: Vec::new(), slots: vec![0; SLOTS] }
    }
}

impl Sets {
    /// Returns the number of a set, from 1; a new set is added to the table of reservations. 0 is the number
    /// of the empty set.
    pub fn number(&mut self, set: &mut [(u32, i64)], tables: &mut Tables) -> i64 {
        if set.is_empty() {
            return 0;
        }
        set.sort_unstable_by_key(|(node, _)| *node);
        let mut slot = self.slot_of(set);
        while self.slots[slot] != 0 {
            let (number, from, to) = self.known[self.slots[slot] as usize - 1];
            if self.nodes[from..to] == *set {
                return number;
            }
            slot = (slot + 1) % self.slots.len();
        }
        self.last += 1;
        let from = self.nodes.len();
        self.nodes.extend_from_slice(set);
        self.known.push((self.last, from, self.nodes.len()));
        self.slots[slot] = self.known.len() as u32;
        for (node, nav) in set {
            tables.push(Table::Reservations, [self.last, i64::from(*node), *nav]);
        }
        if 2 * self.known.len() > self.slots.len() {
            self.spread();
        }
        self.last
    }

    /// Forgets the sets of a batch; numbers go on.
    pub fn forget(&mut self) {
        self.known.clear();
        self.nodes.clear();
        self.slots.fill(0);
    }

    fn slot_of(&self, set: &[(u32, i64)]) -> usize {
        let mixed = |sum: u64, value: u64| (sum ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let hash = set.iter().fold(0, |sum, (node, nav)| mixed(mixed(sum, u64::from(*node)), *nav as u64));
        hash as usize % self.slots.len()
    }

    fn spread(&mut self) {
        self.slots = vec![0; 2 * self.slots.len()];
        for place in 0..self.known.len() {
            let (_, from, to) = self.known[place];
            let mut slot = self.slot_of(&self.nodes[from..to]);
            while self.slots[slot] != 0 {
                slot = (slot + 1) % self.slots.len();
            }
            self.slots[slot] = place as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_one_number_whatever_the_order_of_its_nodes() {
        let (mut sets, mut tables) = (Sets::default(), Tables::default());
        assert_eq!(sets.number(&mut [], &mut tables), 0);
        for nav in 0..3_000 {
            assert_eq!(sets.number(&mut [(7, nav), (3, 5)], &mut tables), nav + 1);
        }
        assert_eq!(sets.number(&mut [(3, 5), (7, 1_234)], &mut tables), 1_235);
        assert_eq!(tables.rows(Table::Reservations), 6_000);
        sets.forget();
        assert_eq!(sets.number(&mut [(3, 5), (7, 0)], &mut tables), 3_001, "numbers go on");
    }
}
