//! The frame log: every transmission of a run or of a capture, as tables of typed columns.
//!
//! The log says what a capture cannot: which frames collided, how long stations backed off, at which
//! stations the NAV was set, how long queues were. [`layout`] is its one definition. A [`Writer`] collects
//! rows and hands them in batches to a [`Sink`]: to [`Memory`], or with the feature `files` to a folder of
//! Parquet files (module `files`), which `files::read` reads. [`page`](mod@page) is what the viewer reads.

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
