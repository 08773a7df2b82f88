//! Reads a log back into columns.

use crate::coding::{Memory, take, unzigzag};
use crate::layout::TABLES;
use crate::{BLOCK_HEADER, Coding, END, HEAD, MAGIC, Table, VERSION};
use flate2::read::DeflateDecoder;
use std::io::Read;

/// The instants that a reader wants, in nanoseconds, both included.
pub type Window = [u64; 2];

/// A log that was read.
#[derive(Clone, Debug, Default)]
pub struct FrameLog {
    /// The description, as JSON.
    pub head: String,
    /// By [`Table`].
    pub tables: [Columns; TABLES.len()],
    /// The file ends before its end: the last rows are missing.
    pub cut_short: bool,
}

/// The columns of a table, in the order of its layout.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Columns(pub Vec<Vec<i64>>);

/// Why something is no frame log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// It begins otherwise.
    #[error("no frame log: it does not begin with `mhframes`")]
    NoFrameLog,
    /// It was written by a later version.
    #[error("a frame log of version {0}; this build reads version {VERSION}")]
    Version(u32),
    /// A block is not what it says.
    #[error("damaged at byte {0}: the block there is not what its header says")]
    Damaged(usize),
    /// There are more transmissions than were asked for.
    #[error("{found} transmissions are more than {most}; name a window of time")]
    TooMany {
        /// In the window.
        found: u64,
        /// What there may be.
        most: u64,
    },
}

impl FrameLog {
    /// A column by its name.
    ///
    /// # Panics
    /// If the table has none of this name.
    pub fn column(&self, table: Table, name: &str) -> &[i64] {
        let index = table.columns().iter().position(|column| column.name == name);
        let index = index.unwrap_or_else(|| panic!("{} has no column {name}", table.name()));
        self.tables[table as usize].0.get(index).map_or(&[], Vec::as_slice)
    }
}

/// Reads a log; of a `window` only blocks of transmissions, and of packets in aggregates, that overlap it, and at most so many transmissions.
///
/// # Errors
/// If it is no frame log, is damaged, or has too many transmissions. One that is cut short is none: its whole blocks are read.
pub fn read(bytes: &[u8], window: Option<Window>, most: u64) -> Result<FrameLog, ReadError> {
    let blocks = blocks(body(bytes)?);
    let mut log = FrameLog { cut_short: true, ..FrameLog::default() };
    for (table, _) in TABLES {
        log.tables[table as usize].0 = vec![Vec::new(); table.columns().len()];
    }
    let wanted = |block: &&Block| block.is_in(window);
    let transmissions = |block: &Block| block.table == Table::Transmissions as u8;
    let found = blocks
        .iter()
        .filter(|block| transmissions(block))
        .filter(wanted)
        .map(|block| u64::from(block.rows))
        .sum();
    if found > most {
        return Err(ReadError::TooMany { found, most });
    }
    let mut slot = 1;
    for block in blocks.iter().filter(wanted) {
        let damaged = ReadError::Damaged(block.at + MAGIC.len() + 4);
        match block.table {
            END => log.cut_short = false,
            HEAD => {
                log.head =
                    inflated(block.content).and_then(|json| String::from_utf8(json).ok()).ok_or(damaged)?;
                slot = slot_of(&log.head).ok_or(damaged)?;
            }
            index => {
                let table = TABLES.get(usize::from(index)).ok_or(damaged)?.0;
                decode(table, (block.rows, slot), block.content, &mut log.tables[table as usize])
                    .ok_or(damaged)?;
            }
        }
    }
    if log.head.is_empty() { Err(ReadError::Damaged(MAGIC.len() + 4)) } else { Ok(log) }
}

/// The log without the blocks that [`read`] leaves out for this window.
///
/// # Errors
/// If it is no frame log.
pub fn cut(bytes: &[u8], window: Window) -> Result<Vec<u8>, ReadError> {
    let body = body(bytes)?;
    let mut made = bytes[..bytes.len() - body.len()].to_vec();
    for block in blocks(body).iter().filter(|block| block.is_in(Some(window))) {
        made.extend(&body[block.at..block.at + BLOCK_HEADER + block.content.len()]);
    }
    Ok(made)
}

/// What follows magic and version.
fn body(bytes: &[u8]) -> Result<&[u8], ReadError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(ReadError::NoFrameLog)?;
    let (version, body) = rest.split_first_chunk().ok_or(ReadError::NoFrameLog)?;
    match u32::from_le_bytes(*version) {
        VERSION => Ok(body),
        other => Err(ReadError::Version(other)),
    }
}

struct Block<'b> {
    at: usize,
    table: u8,
    rows: u32,
    times: [u64; 2],
    content: &'b [u8],
}

impl Block<'_> {
    /// Is it of a table without a window, or does it overlap this one?
    fn is_in(&self, window: Option<Window>) -> bool {
        ![Table::Transmissions as u8, Table::Mpdus as u8].contains(&self.table)
            || window.is_none_or(|[from, to]| self.times[0] <= to && self.times[1] >= from)
    }
}

/// By which starts are divided, as a description says.
fn slot_of(head: &str) -> Option<i64> {
    let head: serde_json::Value = serde_json::from_str(head).ok()?;
    head.get("slot_ns")?.as_i64().map(|slot| slot.max(1))
}

/// The whole blocks.
fn blocks(bytes: &[u8]) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK_HEADER) {
        let word =
            |place: usize| u32::from_le_bytes(header[place..place + 4].try_into().expect("four bytes"));
        let long =
            |place: usize| u64::from_le_bytes(header[place..place + 8].try_into().expect("eight bytes"));
        let start = at + BLOCK_HEADER;
        let Some(content) = bytes.get(start..start + word(21) as usize) else { break };
        found.push(Block { at, table: header[0], rows: word(1), times: [long(5), long(13)], content });
        at = start + content.len();
    }
    found
}

/// Appends the rows of a block; none if it is not what its header says.
fn decode(table: Table, (rows, slot): (u32, i64), mut content: &[u8], out: &mut Columns) -> Option<()> {
    let first = out.0[0].len();
    for (index, column) in table.columns().iter().enumerate() {
        let (length, rest) = content.split_first_chunk()?;
        let (packed, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        content = rest;
        let unpacked = inflated(packed)?;
        let mut bytes = unpacked.as_slice();
        let mut memory = Memory::default();
        for row in 0..rows as usize {
            let number;
            (number, bytes) = take(bytes)?;
            let value = match column.coding {
                Coding::Plain => number as i64,
                Coding::Signed => unzigzag(number),
                Coding::DeltaSlots => {
                    let rest;
                    (rest, bytes) = take(bytes)?;
                    let difference = unzigzag(number).wrapping_mul(slot).wrapping_add(rest as i64);
                    let before = memory.at(0);
                    *before = before.wrapping_add(difference);
                    *before
                }
                Coding::Optional => number as i64 - 1,
                Coding::Delta => {
                    let before = memory.at(0);
                    *before = before.wrapping_add(unzigzag(number));
                    *before
                }
                Coding::DeltaBy(by) => {
                    let key = *out.0[by].get(first + row)?;
                    let before = memory.at(usize::try_from(key).ok().filter(|key| *key < 1 << 28)?);
                    *before = before.wrapping_add(unzigzag(number));
                    *before
                }
            };
            out.0[index].push(value);
        }
    }
    content.is_empty().then_some(())
}

fn inflated(packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
