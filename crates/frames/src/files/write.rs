//! Writer of a folder of Parquet files, batch by batch.

use super::{BATCH, BATCHES, HEAD, checksum, file_name, footer, properties, schema};
use crate::columns::{Tables, Values};
use crate::head::Head;
use crate::layout::{ENUMERATIONS, TABLES, Table};
use crate::writer::Sink;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as Schema;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Function that creates a file of the folder for writing.
pub type Open = fn(&Path) -> io::Result<Box<dyn Write + Send>>;

/// Folder to which a log is written.
pub struct Folder {
    path: PathBuf,
    open: Open,
    /// Files by table; empty before the log begins.
    files: Vec<File>,
    /// Buffer for the values of a column of 8 bits, which Parquet stores as 32 bits.
    wide: Vec<i32>,
}

impl Folder {
    /// Creates a log in the existing folder `path`; `open` creates its files.
    pub fn new(path: PathBuf, open: Open) -> Folder {
        Folder { path, open, files: Vec::new(), wide: Vec::new() }
    }
}

impl Sink for Folder {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        let mut out = (self.open)(&self.path.join("names.parquet"))?;
        out.write_all(&names(head).map_err(io::Error::other)?)?;
        out.flush()?;
        for (table, _) in TABLES {
            let out = (self.open)(&self.path.join(file_name(table)))?;
            let head = (table == Table::Transmissions).then(|| KeyValue::new(HEAD.into(), head.json()));
            self.files.push(File::new(table, out, head)?);
        }
        Ok(())
    }

    /// Writes transmissions last, after the rows to which they refer.
    fn write(&mut self, rows: &Tables) -> io::Result<()> {
        for table in write_order().filter(|table| rows.rows(*table) > 0) {
            self.files[table as usize].write(rows.columns(table), &mut self.wide)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        write_order().try_for_each(|table| self.files[table as usize].finish())
    }
}

/// Returns all tables, transmissions last.
fn write_order() -> impl Iterator<Item = Table> {
    let others = TABLES.into_iter().map(|(table, _)| table).filter(|table| *table != Table::Transmissions);
    others.chain([Table::Transmissions])
}

/// Parquet file that is being written. The Parquet writer fills a buffer, which is moved to the file after
/// each batch.
struct File {
    out: Box<dyn Write + Send>,
    writer: SerializedFileWriter<Vec<u8>>,
    head: Option<KeyValue>,
}

impl File {
    fn new(table: Table, out: Box<dyn Write + Send>, head: Option<KeyValue>) -> io::Result<File> {
        let writer = SerializedFileWriter::new(Vec::new(), schema(table), properties(table));
        let mut file = File { out, writer: writer.map_err(io::Error::other)?, head };
        let values = file.head.iter().cloned().chain([KeyValue::new(BATCH.into(), "0".to_owned())]).collect();
        file.add_footer(Vec::new(), values)?;
        file.flush_buffer()?;
        Ok(file)
    }

    fn write(&mut self, columns: &[Values], wide: &mut Vec<i32>) -> io::Result<()> {
        write_group(&mut self.writer, columns, wide).map_err(io::Error::other)?;
        self.writer.flush()?;
        let sum = checksum(self.writer.inner());
        self.writer.write_all(&sum)?;
        let groups = self.writer.flushed_row_groups();
        let number = KeyValue::new(BATCH.into(), groups.len().to_string());
        let latest = groups.last().cloned().into_iter().collect();
        self.add_footer(latest, vec![number])?;
        self.flush_buffer()
    }

    fn finish(&mut self) -> io::Result<()> {
        let groups = self.writer.flushed_row_groups().to_vec();
        let number = KeyValue::new(BATCHES.into(), groups.len().to_string());
        let values = self.head.take().into_iter().chain([number]).collect();
        self.add_footer(groups, values)?;
        self.flush_buffer()
    }

    fn add_footer(
        &mut self,
        groups: Vec<parquet::file::metadata::RowGroupMetaData>,
        values: Vec<KeyValue>,
    ) -> io::Result<()> {
        let bytes = footer(&self.writer.schema_descr().clone().into(), groups, values);
        self.writer.write_all(&bytes)
    }

    /// Moves the buffer to the file.
    fn flush_buffer(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.out.write_all(self.writer.inner())?;
        self.out.flush()?;
        self.writer.inner_mut().clear();
        Ok(())
    }
}

/// Writes columns as one row group.
fn write_group(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    columns: &[Values],
    wide: &mut Vec<i32>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for values in columns {
        let mut column = group.next_column()?.expect("the schema contains every column");
        match (column.untyped(), values) {
            (ColumnWriter::Int32ColumnWriter(out), Values::U8(values)) => {
                wide.clear();
                wide.extend(values.iter().map(|value| i32::from(*value)));
                out.write_batch(wide, None, None)?;
            }
            (ColumnWriter::Int32ColumnWriter(out), Values::I32(values)) => {
                out.write_batch(values, None, None)?;
            }
            (ColumnWriter::Int64ColumnWriter(out), Values::I64(values)) => {
                out.write_batch(values, None, None)?;
            }
            _ => unreachable!("the schema has the types of the columns"),
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// Returns a Parquet file of names by unit and number.
fn names(head: &Head) -> Result<Vec<u8>, ParquetError> {
    let node_names = head.nodes.iter().map(|node| node.name.as_str());
    let flow_names = head.flows.iter().map(|flow| flow.name.as_str());
    let enumerations = ENUMERATIONS.iter().map(|(unit, names)| (*unit, names.to_vec()));
    let lists =
        [("node", node_names.collect()), ("flow", flow_names.collect())].into_iter().chain(enumerations);
    let (mut units, mut numbers, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (unit, names) in lists {
        for (number, name) in (0..).zip(names) {
            units.push(ByteArray::from(unit));
            numbers.push(number);
            texts.push(ByteArray::from(name));
        }
    }
    let field = |name, of, logical| {
        let field = Schema::primitive_type_builder(name, of).with_repetition(Repetition::REQUIRED);
        Ok::<_, ParquetError>(Arc::new(field.with_logical_type(logical).build()?))
    };
    let fields = vec![
        field("unit", Physical::BYTE_ARRAY, Some(LogicalType::String))?,
        field("number", Physical::INT32, None)?,
        field("name", Physical::BYTE_ARRAY, Some(LogicalType::String))?,
    ];
    let schema = Schema::group_type_builder("names").with_fields(fields).build()?;
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default())?;
    let mut group = writer.next_row_group()?;
    let mut add = |texts: Option<&[ByteArray]>| {
        let mut column = group.next_column()?.expect("the schema has three columns");
        match texts {
            Some(texts) => column.typed::<ByteArrayType>().write_batch(texts, None, None)?,
            None => column.typed::<Int32Type>().write_batch(&numbers, None, None)?,
        };
        column.close()
    };
    add(Some(&units))?;
    add(None)?;
    add(Some(&texts))?;
    group.close()?;
    writer.into_inner()
}
