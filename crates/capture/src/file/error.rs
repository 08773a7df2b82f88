//! Errors of capture files.

use std::io;
use thiserror::Error;

/// Reason why reading a capture stopped before the end of the file. Offsets count from the beginning of the
/// decompressed file, records from 1.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened.
    #[error("{path}: {source}")]
    Open {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The stream cannot be read further, or its compression is damaged.
    #[error("byte {offset}, after {records} records: {source}; the records before it are valid")]
    Read {
        /// Offset of the error.
        offset: u64,
        /// Number of records before the error.
        records: u64,
        /// Error of the operating system or of the decompression.
        source: io::Error,
    },
    /// The file has no bytes.
    #[error(
        "there is nothing to read: the file is empty, or compressed and cut before the first byte; \
         a capture begins with a header of pcap or pcapng"
    )]
    Empty,
    /// The file is neither pcap nor pcapng.
    #[error(
        "not a pcap or pcapng file: the file begins with {found}; `editcap -F pcapng IN OUT` converts other captures"
    )]
    UnknownFormat {
        /// First bytes of the file, with their format if known.
        found: String,
    },
    /// Version of the format that is not defined.
    #[error("version {major}.{minor} of {format}; {known} would do")]
    UnknownVersion {
        /// Name of the format.
        format: &'static str,
        /// Major version in the file.
        major: u16,
        /// Minor version in the file.
        minor: u16,
        /// Supported versions.
        known: &'static str,
    },
    /// The file ends in the middle of a header, record or block.
    #[error(
        "truncated at byte {end}, in record {record}: {what} at byte {offset} needs {needed} bytes, {found} remain; \
         complete records before it: {complete}",
        end = offset + found,
        complete = record - 1
    )]
    Truncated {
        /// Number of the truncated record; for another block of pcapng, that of the next record.
        record: u64,
        /// Offset of the record or block.
        offset: u64,
        /// Structure that was read.
        what: &'static str,
        /// Number of bytes that the structure needs.
        needed: u64,
        /// Number of bytes that remain.
        found: u64,
    },
    /// Length field beyond the limit.
    #[error(
        "record {record}, which begins at byte {offset}: {what} of {found} bytes, at most {limit} would do; \
         the file is damaged here, the records before it are valid"
    )]
    TooLong {
        /// Number of the record.
        record: u64,
        /// Offset of the record.
        offset: u64,
        /// Structure with that length.
        what: &'static str,
        /// Length in the file.
        found: u64,
        /// Limit of the length.
        limit: u64,
    },
    /// Block of pcapng that contradicts itself or the file.
    #[error("block at byte {offset}, after {records} records: {found}; {remedy}")]
    Block {
        /// Offset of the block.
        offset: u64,
        /// Number of records before the block.
        records: u64,
        /// Contradiction that was found.
        found: String,
        /// Remedy.
        remedy: &'static str,
    },
}
