//! Reader of a folder of Parquet files, or of an interval of it.

use super::{BATCH, BATCHES, CHECKSUM, HEAD, MAGIC, checksum, file_name};
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

/// Closed interval in nanoseconds.
pub type Window = [u64; 2];

/// Limit of rows for a file of any size. A few damaged bytes must not fill the memory.
const MAX_ROWS: u64 = 1 << 20;
/// Additional limit of rows for each byte of a file. A writer reaches 170 rows per byte, if all rows are
/// equal.
const MAX_ROWS_PER_BYTE: u64 = 500;
/// Size of the end of a footer: length of its metadata, and `MAGIC`.
const TAIL: usize = 8;

/// Reason why a log cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// A file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The folder is not a frame log.
    #[error("not a frame log: {0}")]
    NoLog(String),
    /// A file is damaged.
    #[error("{file} is damaged: {fault}; write the log again")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Fault, and its position in the file.
        fault: String,
    },
    /// The log has more transmissions than the caller accepts.
    #[error("found {found} transmissions, at most {limit} can be read; name an interval")]
    TooMany {
        /// Number of transmissions in the batches that overlap the window.
        found: u64,
        /// Maximum number of transmissions.
        limit: u64,
    },
}

/// Reads the log in a folder. With a `window`, the result contains the rows that begin in it, and all routes
/// and places. The batches that overlap the window must have at most `limit` transmissions.
///
/// # Errors
/// If the folder is not a log, a file is damaged where it is read, or the log has too many transmissions. A
/// log that is cut short is no error: its complete batches are read.
pub fn read(folder: &Path, window: Option<Window>, limit: u64) -> Result<Log, ReadError> {
    let transmissions = File::open(folder, Table::Transmissions)?;
    let head = transmissions.head.clone();
    let head = head.ok_or_else(|| transmissions.damaged("the description is missing".into()))?;
    let times = window.map(|window| window.map(|end| i64::try_from(end).unwrap_or(i64::MAX)));
    let found = transmissions.groups_in(times).map(|(_, group)| group.meta.num_rows() as u64).sum();
    if found > limit {
        return Err(ReadError::TooMany { found, limit });
    }
    let mut log = Log { cut_short: transmissions.cut_short(), ..Log::default() };
    transmissions.read(times, &mut log.tables)?;
    for (table, _) in TABLES.into_iter().filter(|(table, _)| *table != Table::Transmissions) {
        let file = File::open(folder, table)?;
        let range = match table {
            Table::Reservations => set_range(&log.tables, window),
            _ => times.filter(|_| table.is_restricted()),
        };
        file.read(range, &mut log.tables)?;
        log.cut_short = log.cut_short.or(file.cut_short());
    }
    log.head = match window {
        Some(window) => head::restrict(&head, window)
            .ok_or_else(|| transmissions.damaged("the description is not JSON".into()))?,
        None => head,
    };
    if let Some((table, column)) = dangling(&log.head, &log.tables) {
        let fault = format!("column {column} contains an index out of range");
        return Err(ReadError::Damaged { file: format!("{table}.parquet"), fault });
    }
    Ok(log)
}

/// Returns the first and the last number of the sets that the transmissions of a window use; none without a
/// window.
fn set_range(tables: &Tables, window: Option<Window>) -> Option<[i64; 2]> {
    window?;
    let sets: BTreeSet<i64> =
        tables.column(Table::Transmissions, "reserves").iter().filter(|set| *set > 0).collect();
    Some([sets.first().copied().unwrap_or(0), sets.last().copied().unwrap_or(-1)])
}

/// Row group of a file, and its bytes.
struct Group {
    meta: RowGroupMetaData,
    start: usize,
    end: usize,
}

/// File of a table.
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
                return Err(ReadError::NoLog(format!("{name} is missing")));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::Damaged { file: name, fault: "the file is missing".into() });
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

    /// Adds the row groups of all batches before the first incomplete one.
    fn add_batches(&mut self) -> Result<(), ReadError> {
        let bytes = self.bytes.clone();
        let ends =
            (0..bytes.len().saturating_sub(MAGIC.len() - 1)).filter(|at| bytes[*at..].starts_with(MAGIC));
        let mut has_first_footer = false;
        for footer in ends.filter_map(|at| footer_at(&bytes, at + MAGIC.len())) {
            let Some(number) = value(&footer, BATCH).and_then(|number| number.parse().ok()) else { continue };
            match number {
                0_usize if !has_first_footer => {
                    self.head = value(&footer, HEAD);
                    has_first_footer = true;
                }
                _ if has_first_footer && number == self.groups.len() + 1 => self.add(&footer)?,
                _ => break,
            }
        }
        if has_first_footer {
            Ok(())
        } else {
            Err(ReadError::NoLog(format!("{} does not begin with a description of multihop", self.name)))
        }
    }

    /// Adds the row groups of a footer.
    fn add(&mut self, footer: &ParquetMetaData) -> Result<(), ReadError> {
        let columns = footer.file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| column.name());
        if !names.eq(self.table.columns().iter().map(|column| column.name)) {
            return Err(ReadError::NoLog(format!(
                "{} has other columns; another version of multihop wrote it",
                self.name
            )));
        }
        let rows =
            footer.row_groups().iter().fold(0, |sum: u64, group| sum.saturating_add(group.num_rows() as u64));
        if rows > MAX_ROWS + MAX_ROWS_PER_BYTE * self.bytes.len() as u64 {
            return Err(self.damaged(format!("{rows} rows do not fit {} bytes", self.bytes.len())));
        }
        for meta in footer.row_groups() {
            let is_valid = |column: &ColumnChunkMetaData| {
                let start = column.dictionary_page_offset().unwrap_or(0).min(column.data_page_offset());
                start >= 0 && column.compressed_size() >= 0
            };
            if !meta.columns().iter().all(is_valid) {
                return Err(self.damaged("a column has a negative offset or size".into()));
            }
            let ranges = meta.columns().iter().map(ColumnChunkMetaData::byte_range);
            let bounds = ranges.map(|(start, length)| (start, start.saturating_add(length)));
            let Some((start, end)) = bounds.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
            else {
                continue;
            };
            self.groups.push(Group { meta: meta.clone(), start: start as usize, end: end as usize });
        }
        Ok(())
    }

    fn cut_short(&self) -> Option<String> {
        let at = self.groups.last().map_or(0, |group| group.end);
        let rows: i64 = self.groups.iter().map(|group| group.meta.num_rows()).sum();
        let reason = || format!("{} is cut short at byte {at}, after {rows} rows", self.name);
        (!self.is_whole).then(reason)
    }

    fn damaged(&self, fault: String) -> ReadError {
        ReadError::Damaged { file: self.name.clone(), fault }
    }

    /// Row groups that may contain rows whose key is in a range, each with its number from 1.
    fn groups_in(&self, range: Option<[i64; 2]>) -> impl Iterator<Item = (usize, &Group)> {
        let key = self.table.key();
        (1..).zip(&self.groups).filter(move |(_, group)| {
            let statistics = key.and_then(|key| group.meta.columns().get(key)?.statistics());
            match (range, statistics.and_then(extremes)) {
                (Some([from, to]), Some([min, max])) => min <= to && max >= from,
                _ => true,
            }
        })
    }

    /// Reads the rows whose key is in a range.
    fn read(&self, range: Option<[i64; 2]>, to: &mut Tables) -> Result<(), ReadError> {
        for (number, group) in self.groups_in(range) {
            let damaged =
                |fault: &str| self.damaged(format!("batch {number} at byte {} {fault}", group.start));
            let sum = self.bytes.get(group.end..group.end.saturating_add(CHECKSUM));
            let content = self.bytes.get(group.start..group.end);
            match (content, sum) {
                (Some(content), Some(sum)) if sum == checksum(content) => (),
                (Some(_), Some(_)) => return Err(damaged("does not match its checksum")),
                _ => return Err(damaged("is outside the file")),
            }
            for (column, values) in to.columns_mut(self.table).iter_mut().enumerate() {
                let of = self.table.columns()[column].of;
                self.read_column(group, column, of, values)
                    .ok_or_else(|| damaged("does not match its footer"))?;
            }
        }
        if let (Some([from, last]), Some(key)) = (range, self.table.key()) {
            let columns = to.columns_mut(self.table);
            let marks: Vec<bool> = columns[key].iter().map(|value| (from..=last).contains(&value)).collect();
            for column in columns {
                column.retain(&marks);
            }
        }
        Ok(())
    }

    /// Appends the values of a column of a row group; none if the row group does not match its footer.
    fn read_column(&self, group: &Group, column: usize, of: Type, to: &mut Values) -> Option<()> {
        let meta = group.meta.columns().get(column)?;
        let rows = usize::try_from(group.meta.num_rows()).ok()?;
        let pages = SerializedPageReader::new(Arc::new(self.bytes.clone()), meta, rows, None).ok()?;
        let reader = get_column_reader(meta.column_descr_ptr(), Box::new(pages));
        match (reader, of, to) {
            (ColumnReader::Int32ColumnReader(reader), Type::U8, Values::U8(to)) => {
                let values = read_values(reader, rows)?;
                to.extend(values.into_iter().map(|value| value as u8));
            }
            (ColumnReader::Int32ColumnReader(reader), Type::I32, Values::I32(to)) => {
                to.append(&mut read_values(reader, rows)?);
            }
            (ColumnReader::Int64ColumnReader(reader), Type::I64, Values::I64(to)) => {
                to.append(&mut read_values(reader, rows)?);
            }
            _ => return None,
        }
        Some(())
    }
}

/// Reads a column of `rows` values; none if it has fewer.
fn read_values<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Option<Vec<T::T>> {
    let mut values = Vec::with_capacity(rows);
    while values.len() < rows {
        let (_, found, _) = reader.read_records(rows - values.len(), None, None, &mut values).ok()?;
        if found == 0 {
            return None;
        }
    }
    Some(values)
}

/// Returns the footer that ends at `end`; none if there is none or its checksum differs.
fn footer_at(bytes: &[u8], end: usize) -> Option<ParquetMetaData> {
    let tail = bytes.get(end.checked_sub(TAIL)?..end)?;
    let length = u32::from_le_bytes(tail.strip_suffix(MAGIC)?.try_into().ok()?) as usize;
    let metadata = bytes.get(end.checked_sub(TAIL + length)?..end - TAIL)?;
    let sum = bytes.get((end - TAIL - length).checked_sub(CHECKSUM)?..end - TAIL - length)?;
    if sum != checksum(metadata) {
        return None;
    }
    ParquetMetaDataReader::decode_metadata(metadata).ok()
}

/// Returns the value of a key in a footer.
fn value(footer: &ParquetMetaData, key: &str) -> Option<String> {
    let values = footer.file_metadata().key_value_metadata()?;
    values.iter().find(|known| known.key == key)?.value.clone()
}

/// Returns the minimum and the maximum of a column.
fn extremes(statistics: &Statistics) -> Option<[i64; 2]> {
    match statistics {
        Statistics::Int32(known) => Some([i64::from(*known.min_opt()?), i64::from(*known.max_opt()?)]),
        Statistics::Int64(known) => Some([*known.min_opt()?, *known.max_opt()?]),
        _ => None,
    }
}
