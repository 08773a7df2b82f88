//! What can be wrong with a file.

use std::io;
use thiserror::Error;

/// Why reading a capture ended before the end of the file. Positions count from the beginning of the
/// (decompressed) file; records count from 1.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The stream cannot be read on, or its compression is damaged.
    #[error("byte {offset}, after {records} records: {source}; what was read before stands")]
    Read {
        /// Where.
        offset: u64,
        /// Records before.
        records: u64,
        /// What the system, or the decompression, said.
        source: io::Error,
    },
    /// There are no bytes at all.
    #[error(
        "there is nothing to read: the file is empty, or compressed and cut before the first byte; \
         a capture begins with a header of pcap or pcapng"
    )]
    Empty,
    /// It is something else than pcap or pcapng.
    #[error(
        "no pcap or pcapng file: it begins with {found}; `editcap -F pcapng IN OUT` converts other captures"
    )]
    UnknownFormat {
        /// The first bytes, or what they are known to mean.
        found: String,
    },
    /// A version of the format that is not defined.
    #[error("version {major}.{minor} of {format}; {known} would do")]
    UnknownVersion {
        /// The format.
        format: &'static str,
        /// Major version found.
        major: u16,
        /// Minor version found.
        minor: u16,
        /// What is known.
        known: &'static str,
    },
    /// The file ends in the middle of a header, record or block.
    #[error(
        "truncated at byte {end}, in record {record}: {what} at byte {offset} needs {needed} bytes, {found} are left; \
         whole records before it: {complete}",
        end = offset + found,
        complete = record - 1
    )]
    Truncated {
        /// The record that is cut; if it is another block of pcapng, the record that would have come next.
        record: u64,
        /// Where it begins.
        offset: u64,
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// A length that cannot be right.
    #[error(
        "record {record}, which begins at byte {offset}: {what} of {found} bytes, at most {limit} would do; \
         the file is damaged here, what was read before stands"
    )]
    TooLong {
        /// The record.
        record: u64,
        /// Where it begins.
        offset: u64,
        /// What has that length.
        what: &'static str,
        /// Bytes claimed.
        found: u64,
        /// Bytes that are accepted.
        limit: u64,
    },
    /// A block of pcapng that contradicts itself or the file.
    #[error("block at byte {offset}, after {records} records: {found}; {remedy}")]
    Block {
        /// Where it begins.
        offset: u64,
        /// Records before.
        records: u64,
        /// What was found.
        found: String,
        /// What would do.
        remedy: &'static str,
    },
}
