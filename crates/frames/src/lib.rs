//! The frame log: every transmission of a run or of a capture, in less than three bytes each.
//!
//! It is a sibling of the capture that a run can write, and says what a capture cannot: which frames
//! collided, how long stations backed off, at which stations the NAV was set, how long queues were.
//! [`layout`] is its one definition: the file carries a description of its own tables, so that readers in
//! other languages decode it without a copy of that. [`Writer`] writes it as a run goes on, [`read`] reads
//! it.
//!
//! A file is:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`], little-endian as all numbers of fixed length |
//! | blocks | until the end of the file |
//!
//! A block is:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | the index of its table in the description; [`HEAD`] for the description itself, [`END`] for the end |
//! | 4 | how many rows it has; of the end, in how many blocks the file has them |
//! | 8, 8 | the first and the last instant in it, in nanoseconds; 0 where the table has no times |
//! | 4 | the length of what follows |
//! | as many | its content |
//! | 4 | its check sum: the CRC-32 (IEEE 802.3) of the file until here, but for earlier check sums |
//!
//! The description is JSON ([`Head`]), compressed by DEFLATE (RFC 1951) without a header, as of `deflate-raw`
//! in browsers. Any other block has streams of bytes, each packed by its frequencies (module `rans`). Of a
//! table that stands alone these are its columns: a number for each row, made as its [`Coding`] says, in a
//! varint: seven bits in each byte, the lowest first, the highest bit set in all bytes but the last (LEB128).
//!
//! A block of transmissions has the streams of module `streams`, which are read in the order in which each
//! can be told from what was read before:
//!
//! 1. packets that did not fit a queue (module `beside`): they are not among those that are sent;
//! 2. transmissions (module `timeline`), from which packets in aggregates and reservations are read too;
//! 3. other drops, and entries: they follow from transmissions, or come at a steady pace;
//! 4. windows: they are seen when a frame begins, and an RTT lies between two entries;
//! 5. queues (module `timeline::queues`): they follow from all of these.
//!
//! Rows of drops, windows and entries are in the order of their times, and of what makes their groups at one
//! instant. Codings begin afresh in each block, so that blocks can be skipped: a reader that wants a window
//! of time looks at the instants alone. A reader of this version reads no other one.
//!
//! Blocks before the first one that is not whole, or has another check sum, are read of a file that is cut
//! short, and of one that is damaged if all of the window that is wanted is in them.

#![forbid(unsafe_code)]

mod beside;
mod blocks;
mod chance;
mod coding;
mod head;
pub mod layout;
mod part;
mod ranges;
mod rans;
mod reader;
mod room;
mod sorts;
mod streams;
mod timeline;
mod writer;

pub use blocks::{Fault, Gap};
pub use coding::Coding;
pub use head::{Flow, Head, Node};
pub use layout::{Column, Table};
pub use part::cut;
pub use reader::{Columns, FrameLog, ReadError, Window, check, read, sizes};
pub use sorts::Sorts;
pub use timeline::{Mpdu, Sort, Transmission};
pub use writer::{Summary, Writer};

/// How a frame log begins.
pub const MAGIC: [u8; 8] = *b"mhframes";
/// The version of the format.
pub const VERSION: u32 = 6;
/// The table of a block that holds the description.
pub const HEAD: u8 = 0xfe;
/// The table of the last block; without one the file is cut short.
pub const END: u8 = 0xff;
/// Bytes of a block before its content.
const BLOCK_HEADER: usize = 25;
/// And behind it.
const CHECK_SUM: usize = 4;
