//! Rows of a table in groups: what packets of a group have in common is said once, and runs of packets that
//! follow each other are one.

use std::collections::BTreeMap;

/// A block has no more rows of a table in groups than these, or a damaged one could ask for any memory.
pub const MOST_ROWS: usize = 1 << 24;
/// Columns that rows of a group have in common, at most.
pub const KEYS: usize = 5;
/// Places of so many groups are found at once.
const LATELY: usize = 32;

/// Packets with numbers that follow each other, at one instant or at a steady pace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Run {
    /// The number of the first packet.
    pub packet: i64,
    /// How many more there are.
    pub more: i64,
    /// The instant of the first.
    pub time: i64,
    /// How much later the next one is each time.
    pub step: i64,
}

impl Run {
    /// The instant of the last one.
    fn last(&self) -> i64 {
        self.time.wrapping_add(self.more.wrapping_mul(self.step))
    }

    /// Number and instant of each packet.
    pub fn rows(&self) -> impl Iterator<Item = (i64, i64)> {
        let row =
            |at: i64| (self.packet.wrapping_add(at), self.time.wrapping_add(at.wrapping_mul(self.step)));
        (0..=self.more).map(row)
    }
}

/// The last packet that a group had, and its pace: by how much a packet was later than the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    pub packet: i64,
    pub time: i64,
    pub step: i64,
}

impl Pace {
    /// The instant that a packet has if it is at the pace.
    #[inline]
    pub fn guess(&self, packet: i64) -> i64 {
        self.time.wrapping_add(packet.wrapping_sub(self.packet).wrapping_mul(self.step))
    }

    /// A run begins.
    #[inline]
    pub fn begin(&mut self, packet: i64, time: i64) {
        let (packets, passed) = (packet.wrapping_sub(self.packet), time.wrapping_sub(self.time));
        self.step = if packets == 1 { passed } else { passed.checked_div(packets).unwrap_or(self.step) };
        (self.packet, self.time) = (packet, time);
    }

    /// A run is over.
    #[inline]
    pub fn end(&mut self, run: &Run) {
        (self.packet, self.time) = (run.packet.wrapping_add(run.more), run.last());
    }
}

/// Rows with the same values in the columns that make a group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub key: [i64; KEYS],
    pub runs: Vec<Run>,
    pace: Pace,
}

impl Group {
    #[inline]
    fn add(&mut self, packet: i64, time: i64) -> bool {
        let follows = packet == self.pace.packet.wrapping_add(1);
        if let Some(run) = self.runs.last_mut()
            && follows
        {
            let passed = time.wrapping_sub(self.pace.time);
            let is_alone = run.more == 0;
            if passed == run.step || (is_alone && passed == self.pace.step) {
                run.step = passed;
                run.more += 1;
                (self.pace.packet, self.pace.time) = (packet, time);
                return false;
            }
        }
        self.pace.begin(packet, time);
        self.runs.push(Run { packet, more: 0, time, step: 0 });
        true
    }
}

/// The groups of a table.
#[derive(Debug, Default)]
pub struct Groups {
    /// In the order of their first rows.
    pub all: Vec<Group>,
    places: BTreeMap<[i64; KEYS], usize>,
    /// Places of groups that were looked up lately, by a hash of the key.
    lately: [usize; LATELY],
    rows: usize,
    runs: usize,
}

impl Groups {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, key: [i64; KEYS], packet: i64, time: i64) {
        let place = self.place_of(key);
        self.add_to(place, packet, time);
    }

    /// Adds a row to the group at a place.
    #[inline]
    pub fn add_to(&mut self, place: usize, packet: i64, time: i64) {
        self.rows += 1;
        self.runs += usize::from(self.all[place].add(packet, time));
    }

    /// The place of a group, which may be new.
    #[inline]
    pub fn place_of(&mut self, key: [i64; KEYS]) -> usize {
        let hash = key[0] ^ key[1] << 3 ^ key[2] << 1 ^ key[3] << 4 ^ key[4] << 2;
        let slot = hash as usize % LATELY;
        if self.all.get(self.lately[slot]).is_some_and(|group| group.key == key) {
            return self.lately[slot];
        }
        let known = self.all.len();
        let place = *self.places.entry(key).or_insert(known);
        if place == known {
            self.all.push(Group { key, ..Group::default() });
        }
        self.lately[slot] = place;
        place
    }

    /// Is it time for a block, where this is the most that is to be kept?
    pub fn are_many(&self, most: usize) -> bool {
        self.runs >= most || self.rows >= MOST_ROWS
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        for group in &mut self.all {
            group.runs.clear();
            group.pace = Pace::default();
        }
        (self.rows, self.runs) = (0, 0);
    }

    /// A group that was read, of so many rows. None if there are too many.
    pub fn read(&mut self, key: [i64; KEYS], runs: Vec<Run>) -> Option<()> {
        for run in &runs {
            self.rows = self.rows.checked_add(usize::try_from(run.more).ok()?)?.checked_add(1)?;
        }
        self.all.push(Group { key, runs, pace: Pace::default() });
        (self.rows <= MOST_ROWS).then_some(())
    }

    /// The group of a key.
    pub fn of(&self, key: [i64; KEYS]) -> Option<&Group> {
        self.all.iter().find(|group| group.key == key)
    }

    /// All rows in the order of their times, and of keys at one instant: the key of each, its number and its
    /// time.
    pub fn sorted(&self, mut row: impl FnMut(&[i64; KEYS], i64, i64)) {
        let mut order: Vec<&Group> = self.all.iter().collect();
        order.sort_by_key(|group| group.key);
        // What is at one instant stays together.
        let mut parts: Vec<(i64, u32, i64, i64)> = Vec::with_capacity(self.rows.min(1 << 20));
        for (place, group) in (0..).zip(&order) {
            for run in &group.runs {
                if run.step == 0 {
                    parts.push((run.time, place, run.packet, run.more));
                } else {
                    parts.extend(run.rows().map(|(packet, time)| (time, place, packet, 0)));
                }
            }
        }
        parts.sort_by_key(|part| part.0);
        for (time, place, packet, more) in parts {
            let key = &order[place as usize].key;
            (0..=more).for_each(|at| row(key, packet.wrapping_add(at), time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(rows: &[(i64, i64)]) -> Vec<(i64, i64, i64)> {
        let mut groups = Groups::default();
        for (packet, time) in rows {
            groups.add([1; KEYS], *packet, *time);
        }
        groups.all[0].runs.iter().map(|run| (run.packet, run.more, run.step)).collect()
    }

    /// What a source hands over at one instant, and what it sends at a steady pace.
    #[test]
    fn packets_that_follow_each_other_are_one_run() {
        let at_once = [(7, 50), (8, 50), (9, 50), (10, 51), (12, 51), (11, 51)];
        assert_eq!(runs_of(&at_once), [(7, 2, 0), (10, 0, 0), (12, 0, 0), (11, 0, 0)]);
        let paced = [(7, 50), (8, 60), (9, 70), (10, 80), (11, 91)];
        assert_eq!(runs_of(&paced), [(7, 0, 0), (8, 2, 10), (11, 0, 0)]);
    }

    #[test]
    fn rows_come_in_the_order_of_their_times() {
        let mut groups = Groups::default();
        let rows = [(1, 1, 10), (2, 5, 10), (2, 6, 10), (1, 2, 20), (1, 3, 30), (2, 7, 25)];
        for (key, packet, time) in rows {
            groups.add([key; KEYS], packet, time);
        }
        let mut found = Vec::new();
        groups.sorted(|key, packet, time| found.push((key[0], packet, time)));
        assert_eq!(found, [(1, 1, 10), (2, 5, 10), (2, 6, 10), (1, 2, 20), (2, 7, 25), (1, 3, 30)]);
        groups.clear();
        groups.sorted(|_, _, _| panic!("there are none"));
    }
}
