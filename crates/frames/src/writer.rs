//! Writes a log as a run goes on, block by block.

use crate::coding::{Memory, put, zigzag};
use crate::layout::TABLES;
use crate::{Coding, END, HEAD, Head, MAGIC, Table, VERSION};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write};

/// Rows of a block.
const ROWS: u32 = 1 << 15;
/// Of the compression: more takes more time than it saves bytes.
const LEVEL: u32 = 6;

/// Writes a log. Rows of a table are kept until there are enough of them for a block.
pub struct Writer<W> {
    out: W,
    slot: i64,
    pending: [Pending; TABLES.len()],
    blocks: u32,
    bytes: u64,
    rows: [u64; TABLES.len()],
}

/// How much was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Transmissions.
    pub transmissions: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// Rows of a table that are in no block yet.
#[derive(Default)]
struct Pending {
    rows: u32,
    times: [u64; 2],
    columns: Vec<(Vec<u8>, Memory)>,
}

impl<W: Write> Writer<W> {
    /// A log that begins with this description.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: W, head: &Head) -> io::Result<Writer<W>> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let pending = TABLES.map(|(table, _)| Pending {
            columns: table.columns().iter().map(|_| Default::default()).collect(),
            ..Pending::default()
        });
        let bytes = (MAGIC.len() + 4) as u64;
        let mut writer =
            Writer { out, slot: head.slot(), pending, blocks: 0, bytes, rows: [0; TABLES.len()] };
        writer.block(HEAD, 1, [0, 0], &deflated(&head.json())?)?;
        Ok(writer)
    }

    /// Adds a row, with a value for each column of the table. Returns its place among the rows of the table, from 0.
    ///
    /// # Errors
    /// If a block is full and cannot be written.
    pub fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) -> io::Result<u64> {
        let columns = table.columns();
        debug_assert_eq!(columns.len(), N, "{} has other columns", table.name());
        let pending = &mut self.pending[table as usize];
        for (index, (column, (bytes, memory))) in columns.iter().zip(&mut pending.columns).enumerate() {
            let value = values[index];
            let number = match column.coding {
                Coding::Signed => zigzag(value),
                Coding::DeltaSlots => {
                    let difference = value.wrapping_sub(std::mem::replace(memory.at(0), value));
                    put(bytes, zigzag(difference.div_euclid(self.slot)));
                    difference.rem_euclid(self.slot) as u64
                }
                Coding::Plain => value as u64,
                Coding::Optional => (value + 1) as u64,
                Coding::Delta => zigzag(value.wrapping_sub(std::mem::replace(memory.at(0), value))),
                Coding::DeltaBy(by) => {
                    let before = std::mem::replace(memory.at(values[by] as usize), value);
                    zigzag(value.wrapping_sub(before))
                }
            };
            put(bytes, number);
        }
        if table.has_times() {
            let time = values[0] as u64;
            pending.times = [if pending.rows == 0 { time } else { pending.times[0] }, time];
        }
        pending.rows += 1;
        let place = self.rows[table as usize];
        self.rows[table as usize] += 1;
        if pending.rows == ROWS {
            self.flush(table)?;
        }
        Ok(place)
    }

    /// Writes what is left, and the end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<Summary> {
        for (table, _) in TABLES {
            self.flush(table)?;
        }
        self.block(END, self.blocks, [0, 0], &[])?;
        self.out.flush()?;
        Ok(Summary { transmissions: self.rows[Table::Transmissions as usize], bytes: self.bytes })
    }

    /// Writes the rows of a table, after those that they refer to.
    fn flush(&mut self, table: Table) -> io::Result<()> {
        if table == Table::Transmissions {
            self.flush(Table::Sorts)?;
            self.flush(Table::Reservations)?;
        }
        let pending = &mut self.pending[table as usize];
        if pending.rows == 0 {
            return Ok(());
        }
        let mut content = Vec::new();
        for (bytes, memory) in &mut pending.columns {
            let packed = deflated(bytes)?;
            content.extend((packed.len() as u32).to_le_bytes());
            content.extend(packed);
            bytes.clear();
            memory.clear();
        }
        let (rows, times) = (std::mem::take(&mut pending.rows), std::mem::take(&mut pending.times));
        self.block(table as u8, rows, times, &content)
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

fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(bytes)?;
    encoder.finish()
}
