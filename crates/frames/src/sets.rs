//! Sets of nodes that set their NAV by a frame. A batch contains each distinct set once.

use crate::columns::Tables;
use crate::layout::Table;

/// Initial number of slots of the hash table.
const INITIAL_SLOTS: usize = 1 << 10;

/// Sets of the current batch, and their numbers.
#[derive(Debug)]
pub(crate) struct Sets {
    /// Number of the last set.
    last: i64,
    /// Sets of the batch: number, and range in `nodes`.
    known: Vec<(i64, usize, usize)>,
    nodes: Vec<(u32, i64)>,
    /// Hash table with open addressing: index in `known` plus 1; 0 marks a free slot.
    slots: Vec<u32>,
}

impl Default for Sets {
    fn default() -> Sets {
        Sets { last: 0, known: Vec::new(), nodes: Vec::new(), slots: vec![0; INITIAL_SLOTS] }
    }
}

impl Sets {
    /// Returns the number of a set, from 1, or 0 for the empty set. A new set is added to the table of
    /// reservations.
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
            self.grow();
        }
        self.last
    }

    /// Removes the sets of the batch. The numbers continue in the next batch.
    pub fn clear(&mut self) {
        self.known.clear();
        self.nodes.clear();
        self.slots.fill(0);
    }

    fn slot_of(&self, set: &[(u32, i64)]) -> usize {
        let mixed = |sum: u64, value: u64| (sum ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let hash = set.iter().fold(0, |sum, (node, nav)| mixed(mixed(sum, u64::from(*node)), *nav as u64));
        hash as usize % self.slots.len()
    }

    /// Doubles the hash table.
    fn grow(&mut self) {
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
    fn the_number_of_a_set_does_not_depend_on_the_order_of_its_nodes() {
        let (mut sets, mut tables) = (Sets::default(), Tables::default());
        assert_eq!(sets.number(&mut [], &mut tables), 0);
        for nav in 0..3_000 {
            assert_eq!(sets.number(&mut [(7, nav), (3, 5)], &mut tables), nav + 1);
        }
        assert_eq!(sets.number(&mut [(3, 5), (7, 1_234)], &mut tables), 1_235);
        assert_eq!(tables.rows(Table::Reservations), 6_000);
        sets.clear();
        assert_eq!(sets.number(&mut [(3, 5), (7, 0)], &mut tables), 3_001, "the numbers continue");
    }
}
