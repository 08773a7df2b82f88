//! Logs on disk: a folder with one Parquet file per table.
//!
//! `names.parquet` maps the indices of nodes, flows and enumerations to names. The metadata of
//! `transmissions.parquet` contains the description under the key [`HEAD`]. The layout of a file is:
//!
//! | content | length in bytes |
//! |---|---|
//! | `PAR1` | 4 |
//! | first footer, with the description and without rows | |
//! | for each batch: row group, its CRC-32 (IEEE 802.3, little-endian), footer of this row group | |
//! | last footer, with the description and all row groups | |
//!
//! The CRC-32 of its metadata precedes each footer. Parquet readers use the last footer only. A file that is
//! cut short has no last footer; the footers of its batches locate the complete batches.

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
/// Key of the number of a batch, from 1, in the footer of a batch; 0 in the first footer.
const BATCH: &str = "multihop.batch";
/// Key of the number of batches in the last footer.
const BATCHES: &str = "multihop.batches";
/// First bytes of a Parquet file, and last bytes of each footer.
const MAGIC: &[u8; 4] = b"PAR1";
/// Size of a checksum in bytes.
const CHECKSUM: usize = 4;

/// Returns the name of a table's file.
fn file_name(table: Table) -> String {
    format!("{}.parquet", table.name())
}

/// Returns the checksum of bytes as a file contains it.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// Returns the Parquet schema of a table.
fn schema(table: Table) -> TypePtr {
    let field = |column: &Column| {
        let (physical, logical) = match column.of {
            Type::U8 => (Physical::INT32, Some(LogicalType::integer(8, false))),
            Type::I32 => (Physical::INT32, None),
            Type::I64 => (Physical::INT64, None),
        };
        let field = Schema::primitive_type_builder(column.name, physical);
        let field = field.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build();
        Arc::new(field.expect("the logical type fits the physical type"))
    };
    let fields = table.columns().iter().map(field).collect();
    Arc::new(
        Schema::group_type_builder(table.name())
            .with_fields(fields)
            .build()
            .expect("the schema is a group of columns"),
    )
}

/// Returns the encodings, the compression and the statistics of a table's columns.
fn properties(table: Table) -> Arc<WriterProperties> {
    let builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("multihop {}", env!("CARGO_PKG_VERSION")))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(None);
    let builder = table.columns().iter().enumerate().fold(builder, |builder, (place, column)| {
        let path = ColumnPath::from(column.name);
        let is_key = table.key() == Some(place);
        let builder = if is_key {
            builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk)
        } else {
            builder
        };
        let builder =
            builder.set_column_dictionary_enabled(path.clone(), column.encoding == Encoding::Dictionary);
        match column.encoding {
            Encoding::Delta => builder.set_column_encoding(path, Coded::DELTA_BINARY_PACKED),
            Encoding::Plain | Encoding::Dictionary => builder,
        }
    });
    Arc::new(builder.build())
}

/// Returns a footer with these row groups, preceded by its checksum.
fn footer(schema: &SchemaDescPtr, groups: Vec<RowGroupMetaData>, values: Vec<KeyValue>) -> Vec<u8> {
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let author = Some(format!("multihop {}", env!("CARGO_PKG_VERSION")));
    let file = FileMetaData::new(1, rows, author, Some(values), schema.clone(), None);
    let mut bytes = vec![0; CHECKSUM];
    ParquetMetaDataWriter::new(&mut bytes, &ParquetMetaData::new(file, groups))
        .finish()
        .expect("writing to memory succeeds");
    let metadata = CHECKSUM..bytes.len() - 2 * MAGIC.len();
    let sum = checksum(&bytes[metadata]);
    bytes[..CHECKSUM].copy_from_slice(&sum);
    bytes
}
