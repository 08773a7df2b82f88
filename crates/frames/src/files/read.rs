//! Reads a folder of Parquet files, or what of it is in an interval.

use super::{BATCH, BATCHES, CHECK_SUM, HEAD, MAGIC, check_sum, file_name};
use crate::columns::{Tables, Values};
use crate::head;
use crate::layout::{TABLES, Table, Type};
use crate::ranges::dangling;
use crate::writer::Log;
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};
use thiserror::Error;

/// An interval in nanoseconds, its ends included.
pub type Window = [u64; 2];

/// Rows that any file may have, and how many more for each of its bytes: a file that would fill the memory
/// from a few bytes was made by no writer. Rows that are alike take 170 of them a byte.
const ROWS: u64 = 1 << 20;
const ROWS_OF_BYTE: u64 = 500;
/// Length of a footer behind its metadata: the length of the metadata, and the magic.
const TAIL: usize = 8;

/// Reason why a log cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The path is not that of a frame log.
    #[error("this is no frame log: {0}")]
    NoLog(String),
    /// A file has other bytes than were written.
    #[error("damaged: {file}, {place}; write the log again")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Place in the file, and the fault.
        place: String,
    },
    /// There are more transmissions than were asked for.
    #[error("{found} transmissions are more than {most}; name a window of time")]
    TooMany {
        /// Transmissions of the batches that overlap the window.
        found: u64,
        /// Transmissions that there may be.
        most: u64,
    },
}

/// Reads the log in a folder. With a `window` only the rows that begin in it are there, and all routes and
/// places; the batches that overlap it may have at most so many transmissions.
///
/// # Errors
/// If it is no log, is damaged where it is read, or has too many transmissions. A log that is cut short is
/// no error: its whole batches are read.
pub fn read(folder: &Path, window: Option<Window>, most: u64) -> Result<Log, ReadError> {
    let transmissions = File::open(folder, Table::Transmissions)?;
    let head = transmissions.head.clone();
    let head = head.ok_or_else(|| transmissions.damaged("has no description".into()))?;
    let times = window.map(|window| window.map(|end| i64::try_from(end).unwrap_or(i64::MAX)));
    let found = transmissions.groups_in(times).map(|group| group.meta.num_rows() as u64).sum();
    if found > most {
        return Err(ReadError::TooMany { found, most });
    }
    let mut log = Log { cut_short: transmissions.cut_short(), ..Log::default() };
    transmissions.read(times, &mut log.tables)?;
    for (table, _) in TABLES.into_iter().filter(|(table, _)| *table != Table::Transmissions) {
        let file = File::open(folder, table)?;
        let range = match table {
            Table::Reservations => sets_of(&log.tables, window),
            _ => times.filter(|_| table.is_cut()),
        };
        file.read(range, &mut log.tables)?;
        log.cut_short = log.cut_short.or(file.cut_short());
    }
    log.head = match window {
        Some(window) => {
            head::cut(&head, window).ok_or_else(|| transmissions.damaged("has another description".into()))?
        }
        None => head,
    };
    if let Some((table, column)) = dangling(&log.head, &log.tables) {
        let place = format!("column {column}, refers to what is not there");
        return Err(ReadError::Damaged { file: format!("{table}.parquet"), place });
    }
    Ok(log)
}

/// First and last number of the sets of a part of a log; none of a whole one.
fn sets_of(tables: &Tables, window: Option<Window>) -> Option<[i64; 2]> {
    window?;
    let sets: BTreeSet<i64> =
        tables.column(Table::Transmissions, "reserves").iter().filter(|set| *set > 0).collect();
    Some([sets.first().copied().unwrap_or(0), sets.last().copied().unwrap_or(-1)])
}

/// A row group, and where its file has it.
struct Group {
    meta: RowGroupMetaData,
    at: usize,
    end: usize,
}

/// A file of a table.
struct File {
    table: Table,
    name: String,
    bytes: Bytes,
    head: Option<String>,
    groups: Vec<Group>,
    is_whole: bool,
}

impl File {
    fn open(folder: &Path, table: Table) -> Result<File, ReadError> {
        let name = file_name(table);
        let bytes = match fs::read(folder.join(&name)) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound && table == Table::Transmissions => {
                return Err(ReadError::NoLog(format!("it has no {name}")));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::Damaged { file: name, place: "which is missing".into() });
            }
            Err(error) => return Err(error.into()),
        };
        let mut file = File { table, name, bytes, head: None, groups: Vec::new(), is_whole: false };
        match footer_at(&file.bytes, file.bytes.len()).filter(|last| value(last, BATCHES).is_some()) {
            Some(last) => {
                file.head = value(&last, HEAD);
                file.is_whole = true;
                file.add(&last)?;
            }
            None => file.add_batches()?,
        }
        Ok(file)
    }

    /// Adds the row groups of all batches before the first one that is not whole.
    fn add_batches(&mut self) -> Result<(), ReadError> {
        let bytes = self.bytes.clone();
        let ends =
            (0..bytes.len().saturating_sub(MAGIC.len() - 1)).filter(|at| bytes[*at..].starts_with(MAGIC));
        let mut is_begun = false;
        for footer in ends.filter_map(|at| footer_at(&bytes, at + MAGIC.len())) {
            let Some(number) = value(&footer, BATCH).and_then(|number| number.parse().ok()) else { continue };
            match number {
                0_usize if !is_begun => {
                    self.head = value(&footer, HEAD);
                    is_begun = true;
                }
                _ if is_begun && number == self.groups.len() + 1 => self.add(&footer)?,
                _ => break,
            }
        }
        if is_begun {
            Ok(())
        } else {
            Err(ReadError::NoLog(format!("{} does not begin as one of its files", self.name)))
        }
    }

    /// Adds the row groups of a footer.
    fn add(&mut self, footer: &ParquetMetaData) -> Result<(), ReadError> {
        let columns = footer.file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| column.name());
        if !names.eq(self.table.columns().iter().map(|column| column.name)) {
            return Err(ReadError::NoLog(format!(
                "{} has other columns; it is of another version",
                self.name
            )));
        }
        let rows =
            footer.row_groups().iter().fold(0, |sum: u64, group| sum.saturating_add(group.num_rows() as u64));
        if rows > ROWS + ROWS_OF_BYTE * self.bytes.len() as u64 {
            return Err(self.damaged("says that it has more rows than fit its bytes".into()));
        }
        for meta in footer.row_groups() {
            let is_sound = |column: &ColumnChunkMetaData| {
                let begins = column.dictionary_page_offset().unwrap_or(0).min(column.data_page_offset());
                begins >= 0 && column.compressed_size() >= 0
            };
            if !meta.columns().iter().all(is_sound) {
                return Err(self.damaged("says that it has columns before its beginning".into()));
            }
            let ranges = meta.columns().iter().map(|column| column.byte_range());
            let ends = ranges.map(|(at, length)| (at, at.saturating_add(length)));
            let Some((at, end)) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) else {
                continue;
            };
            self.groups.push(Group { meta: meta.clone(), at: at as usize, end: end as usize });
        }
        Ok(())
    }

    fn cut_short(&self) -> Option<String> {
        let at = self.groups.last().map_or(0, |group| group.end);
        let rows: i64 = self.groups.iter().map(|group| group.meta.num_rows()).sum();
        let said = || format!("{} is cut short at byte {at}, after {rows} rows", self.name);
        (!self.is_whole).then(said)
    }

    fn damaged(&self, place: String) -> ReadError {
        ReadError::Damaged { file: self.name.clone(), place }
    }

    /// Row groups with rows of which the key may be in a range.
    fn groups_in(&self, range: Option<[i64; 2]>) -> impl Iterator<Item = &Group> {
        let key = self.table.key();
        self.groups.iter().filter(move |group| {
            let statistics = key.and_then(|key| group.meta.columns().get(key)?.statistics());
            match (range, statistics.and_then(ends_of)) {
                (Some([from, to]), Some([least, most])) => least <= to && most >= from,
                _ => true,
            }
        })
    }

    /// Reads the rows of which the key is in a range.
    fn read(&self, range: Option<[i64; 2]>, to: &mut Tables) -> Result<(), ReadError> {
        for group in self.groups_in(range) {
            let number =
                self.groups.iter().position(|known| std::ptr::eq(known, group)).map_or(0, |at| at + 1);
            let place = |fault: &str| self.damaged(format!("batch {number}, at byte {}, {fault}", group.at));
            let sum = self.bytes.get(group.end..group.end.saturating_add(CHECK_SUM));
            let content = self.bytes.get(group.at..group.end);
            match (content, sum) {
                (Some(content), Some(sum)) if sum == check_sum(content) => (),
                (Some(_), Some(_)) => return Err(place("has another check sum than it says")),
                _ => return Err(place("is not in the file")),
            }
            for (column, values) in to.columns_mut(self.table).iter_mut().enumerate() {
                let of = self.table.columns()[column].of;
                self.read_column(group, column, of, values)
                    .ok_or_else(|| place("is not what its footer says"))?;
            }
        }
        if let (Some([from, last]), Some(key)) = (range, self.table.key()) {
            let columns = to.columns_mut(self.table);
            let kept: Vec<bool> = columns[key].iter().map(|value| (from..=last).contains(&value)).collect();
            columns.iter_mut().for_each(|column| column.keep(&kept));
        }
        Ok(())
    }

    /// Appends the values of a column of a row group; none if they are not there.
    fn read_column(&self, group: &Group, column: usize, of: Type, to: &mut Values) -> Option<()> {
        let meta = group.meta.columns().get(column)?;
        let rows = usize::try_from(group.meta.num_rows()).ok()?;
        let pages = SerializedPageReader::new(Arc::new(self.bytes.clone()), meta, rows, None).ok()?;
        let reader = get_column_reader(meta.column_descr_ptr(), Box::new(pages));
        match (reader, of, to) {
            (ColumnReader::Int32ColumnReader(reader), Type::U8, Values::U8(to)) => {
                let values = all(reader, rows)?;
                to.extend(values.into_iter().map(|value| value as u8));
            }
            (ColumnReader::Int32ColumnReader(reader), Type::I32, Values::I32(to)) => {
                to.append(&mut all(reader, rows)?)
            }
            (ColumnReader::Int64ColumnReader(reader), Type::I64, Values::I64(to)) => {
                to.append(&mut all(reader, rows)?)
            }
            _ => return None,
        }
        Some(())
    }
}

/// All values of a column, which are so many.
fn all<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Option<Vec<T::T>> {
    let mut values = Vec::with_capacity(rows);
    while values.len() < rows {
        let (_, found, _) = reader.read_records(rows - values.len(), None, None, &mut values).ok()?;
        if found == 0 {
            return None;
        }
    }
    Some(values)
}

/// The footer that ends before a place, if there is one and it is as it was written.
fn footer_at(bytes: &[u8], end: usize) -> Option<ParquetMetaData> {
    let tail = bytes.get(end.checked_sub(TAIL)?..end)?;
    let length = u32::from_le_bytes(tail.strip_suffix(MAGIC)?.try_into().ok()?) as usize;
    let metadata = bytes.get(end.checked_sub(TAIL + length)?..end - TAIL)?;
    let sum = bytes.get((end - TAIL - length).checked_sub(CHECK_SUM)?..end - TAIL - length)?;
    if sum != check_sum(metadata) {
        return None;
    }
    ParquetMetaDataReader::decode_metadata(metadata).ok()
}

/// A value of a footer by its key.
fn value(footer: &ParquetMetaData, key: &str) -> Option<String> {
    let values = footer.file_metadata().key_value_metadata()?;
    values.iter().find(|known| known.key == key)?.value.clone()
}

/// Least and greatest value of a column.
fn ends_of(statistics: &Statistics) -> Option<[i64; 2]> {
    match statistics {
        Statistics::Int32(known) => Some([i64::from(*known.min_opt()?), i64::from(*known.max_opt()?)]),
        Statistics::Int64(known) => Some([*known.min_opt()?, *known.max_opt()?]),
        _ => None,
    }
}
