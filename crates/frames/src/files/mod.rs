//! Logs on disk: a folder with a Parquet file for each table.
//!
//! `names.parquet` has the names of nodes, flows and enumerations by their numbers. The description is in the
//! metadata of `transmissions.parquet`, under the key [`HEAD`]. A file is:
//!
//! | content | length in bytes |
//! |---|---|
//! | `PAR1` | 4 |
//! | the first footer, with the description and no rows | |
//! | for each batch: a row group, its CRC-32 (IEEE 802.3, little-endian), a footer of this row group alone | |
//! | the last footer, with the description and all row groups | |
//!
//! Before each footer is the CRC-32 of its metadata. Parquet readers see the last footer and what it points
//! to. A file that was cut short has no last footer; the footers of its batches say how far it is whole.

mod read;
mod write;

pub use read::{ReadError, Window, read};
pub use write::{Folder, Open};

use crate::layout::{Column, Encoding, Table, Type};
use parquet::basic::{Compression, Encoding as Coded, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, SchemaDescPtr, Type as Schema, TypePtr};
use std::sync::Arc;

/// Key of the description in the metadata of `transmissions.parquet`.
pub const HEAD: &str = "multihop";
/// Key of the number of a batch, from 1, in a footer of one batch; in the last footer, of all batches.
const BATCH: &str = "multihop.batch";
const BATCHES: &str = "multihop.batches";
/// First and last bytes of a Parquet file, and of each footer the last.
const MAGIC: &[u8; 4] = b"PAR1";
const CHECK_SUM: usize = 4;

/// Name of a table's file.
fn file_name(table: Table) -> String {
    format!("{}.parquet", table.name())
}

/// A check sum as it is written.
fn check_sum(bytes: &[u8]) -> [u8; CHECK_SUM] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// The Parquet schema of a table.
fn schema(table: Table) -> TypePtr {
    let field = |column: &Column| {
        let (physical, logical) = match column.of {
            Type::U8 => (Physical::INT32, Some(LogicalType::integer(8, false))),
            Type::I32 => (Physical::INT32, None),
            Type::I64 => (Physical::INT64, None),
        };
        let field = Schema::primitive_type_builder(column.name, physical);
        let field = field.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build();
        Arc::new(field.expect("the types go together"))
    };
    let fields = table.columns().iter().map(field).collect();
    Arc::new(
        Schema::group_type_builder(table.name()).with_fields(fields).build().expect("a group of columns"),
    )
}

/// How the columns of a table are written.
fn properties(table: Table) -> Arc<WriterProperties> {
    let made = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("multihop {}", env!("CARGO_PKG_VERSION")))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(None);
    let made = table.columns().iter().enumerate().fold(made, |made, (place, column)| {
        let path = ColumnPath::from(column.name);
        let is_key = table.key() == Some(place);
        let made = if is_key {
            made.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk)
        } else {
            made
        };
        let made = made.set_column_dictionary_enabled(path.clone(), column.encoding == Encoding::Dictionary);
        match column.encoding {
            Encoding::Delta => made.set_column_encoding(path, Coded::DELTA_BINARY_PACKED),
            Encoding::Plain | Encoding::Dictionary => made,
        }
    });
    Arc::new(made.build())
}

/// A footer with these row groups, behind its check sum.
fn footer(schema: &SchemaDescPtr, groups: Vec<RowGroupMetaData>, values: Vec<KeyValue>) -> Vec<u8> {
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let author = Some(format!("multihop {}", env!("CARGO_PKG_VERSION")));
    let file = FileMetaData::new(1, rows, author, Some(values), schema.clone(), None);
    let mut bytes = vec![0; CHECK_SUM];
    ParquetMetaDataWriter::new(&mut bytes, &ParquetMetaData::new(file, groups))
        .finish()
        .expect("memory can be written");
    let metadata = CHECK_SUM..bytes.len() - 2 * MAGIC.len();
    let sum = check_sum(&bytes[metadata]);
    bytes[..CHECK_SUM].copy_from_slice(&sum);
    bytes
}
