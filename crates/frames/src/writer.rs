//! Writes a log as a run goes on, block by block.

use crate::coding::{pack_rows, put};
use crate::head::deflated;
use crate::layout::TABLES;
use crate::runs::Rows;
use crate::streams::Written;
use crate::timeline::{Constants, Model, Sort, Transmission};
use crate::{END, HEAD, Head, MAGIC, Table, VERSION};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Rows of a block.
const ROWS: usize = 1 << 15;
/// A block of transmissions has no more rows of another table: where packets are many, its model would be
/// forgotten too often.
const MOST_BESIDE: usize = 1 << 19;
/// A block has no stream that is longer.
const MOST_BYTES: usize = 1 << 22;

/// Places of so many sorts are found at once.
const LATELY: usize = 256;

/// A block has no more packets in aggregates, and NAVs that are set, than these, or a damaged one could ask
/// for any memory.
pub(crate) const MOST_PARTS: usize = 1 << 24;

/// Writes a log. Rows of a table are kept until there are enough of them for a block and another one comes:
/// what belongs to the last transmission of a block comes after it.
pub struct Writer<W> {
    out: W,
    model: Model,
    streams: Written,
    /// Beginnings of the transmissions that are in no block yet.
    starts: Vec<i64>,
    /// Packets in their aggregates, and NAVs that they set.
    parts: usize,
    sorts: BTreeMap<Sort, usize>,
    /// Places of sorts that were looked up lately, by a hash of the sort.
    lately: [usize; LATELY],
    /// By table: rows that are in no block yet.
    pending: [Rows; TABLES.len()],
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
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let mut writer = Writer {
            out,
            model: Model::new(constants),
            streams: Written::default(),
            starts: Vec::new(),
            parts: 0,
            sorts: BTreeMap::new(),
            lately: [0; LATELY],
            pending: Default::default(),
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
    /// If an index of a node is negative where it may not be, or a million or more.
    pub fn transmission(&mut self, sort: &Sort, row: &mut Transmission) -> io::Result<()> {
        let parts = row.reserves.len() + row.mpdus.len();
        if self.starts.len() == ROWS
            || self.parts + parts > MOST_PARTS
            || (self.starts.len().is_multiple_of(256) && self.streams.longest() > MOST_BYTES)
        {
            self.end_block()?;
        }
        self.parts += parts;
        let mut place = self.place_of(sort);
        self.model.code(&mut self.streams, &mut place, row).expect("what is written can be coded");
        self.starts.push(row.start);
        Ok(())
    }

    /// The place of a sort, which may be new.
    fn place_of(&mut self, sort: &Sort) -> usize {
        let hash = sort.from ^ sort.to << 3 ^ sort.kind << 5 ^ sort.flow << 6 ^ sort.airtime >> 10;
        let slot = hash as usize % LATELY;
        if self.model.is(self.lately[slot], sort) {
            return self.lately[slot];
        }
        let known = self.sorts.get(sort).copied();
        let place = known.unwrap_or_else(|| {
            let place = self.model.learn(*sort).expect("nodes have an index");
            self.sorts.insert(*sort, place);
            self.pending[Table::Sorts as usize].add(Table::Sorts, &sort.row());
            place
        });
        self.lately[slot] = place;
        place
    }

    /// Adds a row to a table that has no model, with a value for each column.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    #[inline]
    pub fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) -> io::Result<()> {
        self.add(table, &values)
    }

    /// The same.
    #[inline]
    pub(crate) fn add(&mut self, table: Table, values: &[i64]) -> io::Result<()> {
        debug_assert_eq!(table.columns().len(), values.len(), "{} has other columns", table.name());
        let is_beside = table.is_with_transmissions();
        if self.pending[table as usize].are_many(table, if is_beside { MOST_BESIDE } else { ROWS }) {
            if is_beside { self.end_block()? } else { self.flush(table)? }
        }
        self.pending[table as usize].add(table, values);
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
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let mut pass = |time: i64| (first, last) = (first.min(time), last.max(time));
        self.starts.first().into_iter().chain(self.starts.last()).for_each(|start| pass(*start));
        self.model.flush(&mut self.streams);
        let mut content = Vec::new();
        self.streams.pack(&mut content);
        for table in BESIDE {
            let rows = &mut self.pending[table as usize];
            let columns = table.columns().len();
            let time = table.time().expect("it has times");
            rows.values.chunks_exact(columns).for_each(|row| pass(row[time]));
            put(&mut content, rows.count() as u64);
            pack_rows(table, rows, &self.starts, &mut content);
            rows.clear();
        }
        self.model.restart();
        if first > last {
            return Ok(());
        }
        let rows = self.starts.len();
        self.transmissions += rows as u64;
        self.starts.clear();
        self.parts = 0;
        self.block(Table::Transmissions as u8, rows as u32, [first as u64, last as u64], &content)
    }

    /// Writes the rows of a table that stands alone.
    fn flush(&mut self, table: Table) -> io::Result<()> {
        let rows = std::mem::take(&mut self.pending[table as usize]);
        let columns = table.columns().len();
        if rows.count() == 0 {
            return Ok(());
        }
        let at = |row: usize| table.time().map_or(0, |time| rows.values[row * columns + time] as u64);
        let times = [at(0), at(rows.count() - 1)];
        let mut content = Vec::new();
        pack_rows(table, &rows, &[], &mut content);
        self.block(table as u8, rows.count() as u32, times, &content)
    }

    fn block(&mut self, table: u8, rows: u32, times: [u64; 2], content: &[u8]) -> io::Result<()> {
        self.out.write_all(&[table])?;
        self.out.write_all(&rows.to_le_bytes())?;
        self.out.write_all(&times[0].to_le_bytes())?;
        self.out.write_all(&times[1].to_le_bytes())?;
        self.out.write_all(&(content.len() as u32).to_le_bytes())?;
        self.out.write_all(content)?;
        self.bytes += (crate::BLOCK_HEADER + content.len()) as u64;
        self.blocks += 1;
        Ok(())
    }
}

/// Tables of which the rows are behind the transmissions of a block.
pub(crate) const BESIDE: [Table; 3] = [Table::Drops, Table::Windows, Table::Entries];
