//! Rows before they are in a block; of tables in which packets come one after the other, runs of them: rows
//! that follow each other and differ in nothing but the number of the packet, which is one more each time.

use crate::Table;

/// A block has no more rows of a table with runs than these, or a damaged one could ask for any memory.
pub const MOST_ROWS: usize = 1 << 24;

/// Rows of a table, one after the other.
#[derive(Debug, Default)]
pub struct Rows {
    /// Of runs the first rows.
    pub values: Vec<i64>,
    /// By run, of tables without runs by row: how many rows more it has.
    pub more: Vec<i64>,
    count: usize,
}

impl Rows {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, table: Table, row: &[i64]) {
        self.count += 1;
        if let Some(counted) = table.counted()
            && let Some(more) = self.more.last_mut()
        {
            let first = &self.values[self.values.len() - row.len()..];
            if row[counted] == first[counted] + *more + 1
                && (0..row.len()).all(|at| at == counted || row[at] == first[at])
            {
                *more += 1;
                return;
            }
        }
        self.more.push(0);
        self.values.extend_from_slice(row);
    }

    /// How many rows there are, with all of runs.
    pub fn count(&self) -> usize {
        self.count
    }

    /// First rows, and how many more there are after each; there are so many columns.
    pub fn runs(&self, columns: usize) -> impl Iterator<Item = (&[i64], i64)> {
        self.values.chunks_exact(columns).zip(self.more.iter().copied())
    }

    /// Is it time for a block, where this is the most that is to be kept?
    pub fn are_many(&self, table: Table, most: usize) -> bool {
        self.values.len() >= most * table.columns().len() || self.count >= MOST_ROWS
    }

    pub fn clear(&mut self) {
        self.values.clear();
        self.more.clear();
        self.count = 0;
    }
}

impl Table {
    /// By how much a column has more in the last row of a run than in the first, after which so many come.
    pub(crate) fn more(self, column: usize, more: i64) -> i64 {
        if self.counted() == Some(column) { more } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a source hands over beyond what the queue holds: packets 7, 8 and 9 at one instant, then another.
    #[test]
    fn rows_that_differ_in_the_number_alone_are_one_run() {
        let counted = Table::Entries.counted().unwrap();
        let row = |number: i64, time: i64| {
            let mut row = vec![time; Table::Entries.columns().len()];
            row[0] = 3;
            row[counted] = number;
            row
        };
        let mut rows = Rows::default();
        for (number, time) in [(7, 50), (8, 50), (9, 50), (10, 51), (12, 51), (11, 51)] {
            rows.add(Table::Entries, &row(number, time));
        }
        let runs: Vec<_> = rows.runs(row(0, 0).len()).map(|(first, more)| (first[counted], more)).collect();
        assert_eq!(runs, [(7, 2), (10, 0), (12, 0), (11, 0)]);
        assert_eq!(rows.count(), 6);
        rows.clear();
        assert_eq!((rows.count(), rows.runs(3).count()), (0, 0));
    }

    /// Windows have no runs: each row is there.
    #[test]
    fn rows_of_tables_without_runs_stay() {
        assert_eq!(Table::Windows.counted(), None);
        let columns = Table::Windows.columns().len();
        let mut rows = Rows::default();
        (0..3).for_each(|_| rows.add(Table::Windows, &vec![1; columns]));
        assert_eq!((rows.count(), rows.runs(columns).count()), (3, 3));
    }
}
