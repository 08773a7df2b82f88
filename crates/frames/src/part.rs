//! The part of a log that is in a window of time.

use crate::head;
use crate::reader::{ReadError, Take, Window, walk};
use crate::timeline::{Sort, Transmission};
use crate::{BLOCK_HEADER, CHECK_SUM, Gap, Table, Writer};

/// What is in a window. Stations that contend since an exchange that is not there are said to wait for as
/// long.
pub(crate) struct Part {
    window: Option<Window>,
    /// Does the log know of contention?
    pub(crate) contends: bool,
    /// By node: when its latest exchange ended, as far as that was read, and whether it is in the window.
    ends: Vec<Option<(i64, bool)>>,
}

impl Part {
    pub(crate) fn new(window: Option<Window>) -> Part {
        Part { window, contends: false, ends: Vec::new() }
    }

    fn has(&self, time: i64) -> bool {
        let time = u64::try_from(time).unwrap_or(0);
        self.window.is_none_or(|[from, to]| from <= time && time <= to)
    }

    /// Does a transmission begin in the window? They are asked for in their order.
    pub(crate) fn takes(&mut self, sort: &Sort, row: &mut Transmission) -> bool {
        if self.window.is_none() {
            return true;
        }
        let inside = self.has(row.start);
        if inside && self.contends && sort.may_begin() && row.waited < 0 {
            match self.end_of(sort.from) {
                Some((_, true)) => (),
                Some((end, false)) => row.waited = row.start.wrapping_sub(end).max(0),
                // What was before is in a block that was not read.
                None => (row.waited, row.frozen) = (0, 0),
            }
        }
        let node = if sort.is_answer() { sort.to } else { sort.from };
        if let Ok(node) = usize::try_from(node) {
            if node >= self.ends.len() {
                self.ends.resize(node + 1, None);
            }
            self.ends[node] = Some((row.start.wrapping_add(sort.airtime), inside));
        }
        inside
    }

    fn end_of(&self, node: i64) -> Option<(i64, bool)> {
        *self.ends.get(usize::try_from(node).ok()?)?
    }

    /// Leaves the rows of a table that are in the window.
    pub(crate) fn cut(&self, table: Table, columns: &mut [Vec<i64>]) {
        let Some(time) = table.time().filter(|_| self.window.is_some()) else { return };
        let left: Vec<bool> = columns[time].iter().map(|time| self.has(*time)).collect();
        for column in columns {
            let mut rows = left.iter();
            column.retain(|_| *rows.next().expect("columns are as long as each other"));
        }
    }
}

/// A log of what begins in a window, with all routes and places.
///
/// # Errors
/// As [`read`](crate::read).
pub fn cut(bytes: &[u8], window: Window) -> Result<Vec<u8>, ReadError> {
    let mut copy = Copy { window, writer: None };
    let cut_short = walk(bytes, Some(window), u64::MAX, &mut copy)?;
    let finished = copy.writer.and_then(|writer| writer.finished().ok());
    let mut made = finished.ok_or(Gap::HEAD)?;
    if cut_short.is_some() {
        made.truncate(made.len() - BLOCK_HEADER - CHECK_SUM);
    }
    Ok(made)
}

/// Writes what is read.
struct Copy {
    window: Window,
    writer: Option<Writer<Vec<u8>>>,
}

impl Take for Copy {
    fn head(&mut self, text: String) -> Option<()> {
        let constants = head::constants(&text)?;
        let described = head::cut(&text, self.window)?;
        self.writer = Some(Writer::described(Vec::new(), &described, constants).ok()?);
        Some(())
    }

    fn transmission(&mut self, _: usize, sort: &Sort, row: &mut Transmission) -> Option<()> {
        self.writer.as_mut()?.transmission(sort, row).ok()
    }

    fn rows(&mut self, table: Table, columns: Vec<Vec<i64>>) -> Option<()> {
        // The writer finds sorts itself.
        if table == Table::Sorts {
            return Some(());
        }
        let writer = self.writer.as_mut()?;
        (0..columns[0].len()).try_for_each(|row| {
            let values: Vec<i64> = columns.iter().map(|column| column[row]).collect();
            writer.add(table, &values).ok()
        })
    }

    /// What is beside transmissions comes after all of them: the next ones are in a block of their own.
    fn block_ends(&mut self) -> Option<()> {
        self.writer.as_mut()?.end_block().ok()
    }
}
