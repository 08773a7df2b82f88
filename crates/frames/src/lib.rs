//! Frame logs: every transmission of a run or of a capture, as tables of typed columns.
//!
//! A log of a run records what no capture contains: collisions, durations of backoff, stations that set the
//! NAV, lengths of queues. [`layout`] defines all tables and columns. A [`Writer`] collects rows and passes
//! them in batches to a [`Sink`]: [`Memory`], or a folder of Parquet files (module `files`, feature `files`).
//! `files::read` reads such a folder. [`page`](mod@page) converts a log to the bytes that the viewer reads.

#![forbid(unsafe_code)]

mod columns;
#[cfg(feature = "files")]
pub mod files;
mod head;
pub mod layout;
pub mod page;
#[cfg(feature = "files")]
mod ranges;
mod sets;
mod writer;

pub use columns::{Tables, Values};
pub use head::{Flow, Head, Node};
pub use layout::{Column, Table};
pub use writer::{Log, Memory, Mpdu, ROWS, Sink, Transmission, Writer};
