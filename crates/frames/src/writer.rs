//! Writes a log as a run goes on, block by block.

use crate::beside::{Beside, QUEUE_FULL};
use crate::coding::pack_rows;
use crate::head::deflated;
use crate::layout::TABLES;
use crate::sorts::Sorts;
use crate::streams::Written;
use crate::timeline::{Constants, Model, Sort, Transmission};
use crate::{BLOCK_HEADER, CHECK_SUM, END, HEAD, Head, MAGIC, Table, VERSION};
use std::io::{self, Write};

/// Rows of a block.
pub(crate) const ROWS: usize = 1 << 15;
/// A block of transmissions has no more rows of another table: where packets are many, its model would be
/// forgotten too often.
const MOST_BESIDE: usize = 1 << 19;
/// A block has no stream that is longer.
const MOST_BYTES: usize = 1 << 22;

/// A block has no more packets in aggregates, and NAVs that are set, than these, or a damaged one could ask
/// for any memory.
pub(crate) const MOST_PARTS: usize = 1 << 24;

/// Writes a log. Rows of a table are kept until there are enough of them for a block and another one comes:
/// what belongs to the last transmission of a block comes after it.
pub struct Writer<W> {
    out: W,
    /// The check sum of what was written, but for check sums.
    sum: crc32fast::Hasher,
    model: Model,
    streams: Written,
    /// How many transmissions are in no block yet, and when the first and the last of them begin.
    rows: usize,
    starts: [i64; 2],
    /// Packets in their aggregates, and NAVs that they set.
    parts: usize,
    sorts: Sorts,
    /// By table that stands alone: rows that are in no block yet, one after the other.
    pending: [Vec<i64>; TABLES.len()],
    /// Rows of the others.
    beside: Beside,
    /// All rows of that table.
    ingresses: Vec<[i64; 4]>,
    blocks: u32,
    bytes: u64,
    transmissions: u64,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Transmissions.
    pub transmissions: u64,
    /// Length of the file.
    pub bytes: u64,
}

impl<W: Write> Writer<W> {
    /// A log that begins with this description.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, head: &Head) -> io::Result<Writer<W>> {
        Writer::described(out, &head.json(), head.constants())
    }

    /// The same with a description as JSON, which says this.
    pub(crate) fn described(mut out: W, head: &[u8], constants: Constants) -> io::Result<Writer<W>> {
        let mut sum = crc32fast::Hasher::new();
        for part in [&MAGIC[..], &VERSION.to_le_bytes()] {
            sum.update(part);
            out.write_all(part)?;
        }
        let mut writer = Writer {
            out,
            sum,
            model: Model::new(constants),
            streams: Written::default(),
            rows: 0,
            starts: [0; 2],
            parts: 0,
            sorts: Sorts::default(),
            pending: Default::default(),
            beside: Beside::default(),
            ingresses: Vec::new(),
            blocks: 0,
            bytes: (MAGIC.len() + 4) as u64,
            transmissions: 0,
        };
        writer.block(HEAD, 1, [0, 0], &deflated(head)?)?;
        Ok(writer)
    }

    /// Adds a transmission, none of which may begin before one that was added earlier. What it is given stays
    /// as it is.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    ///
    /// # Panics
    /// As [`Writer::sort`].
    pub fn transmission(&mut self, sort: &Sort, row: &mut Transmission) -> io::Result<()> {
        let place = self.sort(sort);
        self.transmission_of(place, row)
    }

    /// The same of the sort at a place, which [`Writer::sort`] said.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    ///
    /// # Panics
    /// If there is no such sort.
    pub fn transmission_of(&mut self, sort: usize, row: &mut Transmission) -> io::Result<()> {
        let parts = row.reserves.len() + row.mpdus.len();
        if self.rows == ROWS
            || self.parts + parts > MOST_PARTS
            || (self.rows.is_multiple_of(256) && self.streams.longest() > MOST_BYTES)
        {
            self.end_block()?;
        }
        self.parts += parts;
        let mut place = sort;
        self.model.code(&mut self.streams, &mut place, row).expect("what is written can be coded");
        if self.rows == 0 {
            self.starts[0] = row.start;
        }
        self.starts[1] = row.start;
        self.rows += 1;
        Ok(())
    }

    /// The place of a sort, which may be new.
    ///
    /// # Panics
    /// If an index of a node is negative where it may not be, or a million or more.
    pub fn sort(&mut self, sort: &Sort) -> usize {
        let (place, is_new) = self.sorts.place(sort);
        if is_new {
            self.model.learn(*sort).expect("nodes have an index");
            self.pending[Table::Sorts as usize].extend(sort.row());
        }
        place
    }

    /// Adds a row to another table, with a value for each column.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    #[inline]
    pub fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) -> io::Result<()> {
        self.add(table, &values)
    }

    /// The same.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    #[inline]
    pub fn add(&mut self, table: Table, values: &[i64]) -> io::Result<()> {
        debug_assert_eq!(table.columns().len(), values.len(), "{} has other columns", table.name());
        if table.is_with_transmissions() {
            if self.beside.are_many(MOST_BESIDE) {
                self.end_block()?;
            }
            let is_early = |time: i64| self.rows == 0 || self.starts[1] < time;
            let is_early = match (table, values) {
                (Table::Drops, [flow, carries, node, QUEUE_FULL, packet, time]) if is_early(*time) => {
                    self.model.did_not_fit(*node, [*flow, *carries], *packet, *time);
                    true
                }
                _ => false,
            };
            self.beside.add(table, values, is_early);
            return Ok(());
        }
        if let (Table::Ingress, Ok(ingress)) = (table, values.try_into()) {
            self.ingresses.push(ingress);
        }
        if self.pending[table as usize].len() >= ROWS * values.len() {
            self.flush(table)?;
        }
        self.pending[table as usize].extend_from_slice(values);
        Ok(())
    }

    /// Writes what is left, and the end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<Summary> {
        self.end()?;
        Ok(Summary { transmissions: self.transmissions, bytes: self.bytes })
    }

    /// The same; what it was written to.
    pub(crate) fn finished(mut self) -> io::Result<W> {
        self.end()?;
        Ok(self.out)
    }

    fn end(&mut self) -> io::Result<()> {
        self.end_block()?;
        for table in [Table::Sorts, Table::Routes, Table::Places, Table::Ingress] {
            self.flush(table)?;
        }
        self.block(END, self.blocks, [0, 0], &[])?;
        self.out.flush()
    }

    /// Writes transmissions and what belongs to them, after the sorts and ingresses that they refer to.
    pub(crate) fn end_block(&mut self) -> io::Result<()> {
        self.flush(Table::Sorts)?;
        self.flush(Table::Ingress)?;
        let starts = self.starts.into_iter().filter(|_| self.rows > 0);
        let times = starts.chain(self.beside.times.into_iter().flatten());
        let Some([first, last]) =
            times.map(|time| [time; 2]).reduce(|[first, last], [time, _]| [first.min(time), last.max(time)])
        else {
            return Ok(());
        };
        self.model.flush(&mut self.streams);
        let coded = self.beside.code(&mut self.streams, &mut self.model, &self.ingresses);
        coded.expect("what is written can be coded");
        let mut content = Vec::new();
        self.streams.pack(&mut content);
        self.beside.clear();
        self.model.restart();
        let rows = std::mem::take(&mut self.rows);
        self.transmissions += rows as u64;
        self.parts = 0;
        self.block(Table::Transmissions as u8, rows as u32, [first as u64, last as u64], &content)
    }

    /// Writes the rows of a table that stands alone.
    fn flush(&mut self, table: Table) -> io::Result<()> {
        let rows = std::mem::take(&mut self.pending[table as usize]);
        let columns = table.columns().len();
        let count = rows.len() / columns;
        if count == 0 {
            return Ok(());
        }
        let at = |row: usize| table.time().map_or(0, |time| rows[row * columns + time] as u64);
        let times = [at(0), at(count - 1)];
        let mut content = Vec::new();
        pack_rows(table, &rows, &mut content);
        self.block(table as u8, count as u32, times, &content)
    }

    fn block(&mut self, table: u8, rows: u32, times: [u64; 2], content: &[u8]) -> io::Result<()> {
        let mut header = [0; BLOCK_HEADER];
        header[0] = table;
        header[1..5].copy_from_slice(&rows.to_le_bytes());
        header[5..13].copy_from_slice(&times[0].to_le_bytes());
        header[13..21].copy_from_slice(&times[1].to_le_bytes());
        header[21..].copy_from_slice(&(content.len() as u32).to_le_bytes());
        for part in [&header, content] {
            self.sum.update(part);
            self.out.write_all(part)?;
        }
        self.out.write_all(&self.sum.clone().finalize().to_le_bytes())?;
        self.bytes += (BLOCK_HEADER + content.len() + CHECK_SUM) as u64;
        self.blocks += 1;
        Ok(())
    }
}
