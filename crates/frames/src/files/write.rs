//! Writes a folder of Parquet files, batch by batch.

use super::{BATCH, BATCHES, HEAD, check_sum, file_name, footer, properties, schema};
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

/// Opens a new file of the folder for writing.
pub type Open = fn(&Path) -> io::Result<Box<dyn Write + Send>>;

/// A folder that a log is written to.
pub struct Folder {
    path: PathBuf,
    open: Open,
    /// By table, once the log has begun.
    files: Vec<File>,
    /// Values of a column of bytes, as Parquet has them.
    wide: Vec<i32>,
}

impl Folder {
    /// Creates a log at `path`, a folder that is there, whose files `open` opens.
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

    /// Transmissions come last: what they refer to is there before.
    fn write(&mut self, rows: &Tables) -> io::Result<()> {
        for table in in_order().filter(|table| rows.rows(*table) > 0) {
            self.files[table as usize].write(rows.columns(table), &mut self.wide)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        in_order().try_for_each(|table| self.files[table as usize].finish())
    }
}

/// All tables, transmissions last.
fn in_order() -> impl Iterator<Item = Table> {
    let others = TABLES.into_iter().map(|(table, _)| table).filter(|table| *table != Table::Transmissions);
    others.chain([Table::Transmissions])
}

/// A Parquet file that is being written. Its writer writes to memory, from which each batch goes to the file
/// at once.
struct File {
    out: Box<dyn Write + Send>,
    writer: SerializedFileWriter<Vec<u8>>,
    head: Option<KeyValue>,
}

impl File {
    fn new(table: Table, out: Box<dyn Write + Send>, head: Option<KeyValue>) -> io::Result<File> {
        let writer = SerializedFileWriter::new(Vec::new(), schema(table), properties(table));
        let mut made = File { out, writer: writer.map_err(io::Error::other)?, head };
        let values = made.head.iter().cloned().chain([KeyValue::new(BATCH.into(), "0".to_owned())]).collect();
        made.add_footer(Vec::new(), values)?;
        made.hand_over()?;
        Ok(made)
    }

    fn write(&mut self, columns: &[Values], wide: &mut Vec<i32>) -> io::Result<()> {
        write_group(&mut self.writer, columns, wide).map_err(io::Error::other)?;
        self.writer.flush()?;
        let sum = check_sum(self.writer.inner());
        self.writer.write_all(&sum)?;
        let groups = self.writer.flushed_row_groups();
        let number = KeyValue::new(BATCH.into(), groups.len().to_string());
        let latest = groups.last().cloned().into_iter().collect();
        self.add_footer(latest, vec![number])?;
        self.hand_over()
    }

    fn finish(&mut self) -> io::Result<()> {
        let groups = self.writer.flushed_row_groups().to_vec();
        let number = KeyValue::new(BATCHES.into(), groups.len().to_string());
        let values = self.head.take().into_iter().chain([number]).collect();
        self.add_footer(groups, values)?;
        self.hand_over()
    }

    fn add_footer(
        &mut self,
        groups: Vec<parquet::file::metadata::RowGroupMetaData>,
        values: Vec<KeyValue>,
    ) -> io::Result<()> {
        let made = footer(&self.writer.schema_descr().clone().into(), groups, values);
        self.writer.write_all(&made)
    }

    /// Moves what is in memory to the file.
    fn hand_over(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.out.write_all(self.writer.inner())?;
        self.out.flush()?;
        self.writer.inner_mut().clear();
        Ok(())
    }
}

/// Writes a row group with these columns.
fn write_group(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    columns: &[Values],
    wide: &mut Vec<i32>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for values in columns {
        let mut column = group.next_column()?.expect("the schema has every column");
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

/// A Parquet file of names by unit and number.
fn names(head: &Head) -> Result<Vec<u8>, ParquetError> {
    let of_nodes = head.nodes.iter().map(|node| node.name.as_str());
    let of_flows = head.flows.iter().map(|flow| flow.name.as_str());
    let of_words = ENUMERATIONS.iter().map(|(unit, names)| (*unit, names.to_vec()));
    let lists = [("node", of_nodes.collect()), ("flow", of_flows.collect())].into_iter().chain(of_words);
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
        let mut column = group.next_column()?.expect("there are three columns");
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
