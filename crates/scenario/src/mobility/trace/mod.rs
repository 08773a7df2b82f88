//! Files of motion: what ns-2, `BonnMotion` and SUMO write.
//!
//! Each is read as a stream, plain or by gzip, and ends as a [`Trace`] in metres and seconds, or as one
//! [`TraceError`] that names the line.

mod bonnmotion;
mod fcd;
mod setdest;
mod tcl;
mod units;

use crate::error::TraceProblem;
use flate2::bufread::MultiGzDecoder;
use multihop_sim::mobility::{FASTEST, Motion, distance};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use thiserror::Error;
pub use units::{Coordinates, Times, Units};

/// Formats of files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// ns-2's scripts, as setdest writes them, and SUMO's `traceExporter --ns2mobility-output`.
    Setdest,
    /// `BonnMotion`'s `.movements`: a node a line, `t x y` again and again, or `t x y z`.
    BonnMotion {
        /// Coordinates of a place, 2 or 3; none for what fits.
        dimensions: Option<u32>,
    },
    /// SUMO's floating car data, as XML.
    Fcd,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its nodes, by ascending index.
    pub nodes: Vec<TraceNode>,
    /// Distances in hops as setdest found them (`$god_ set-dist`), in the order of their times; the engine
    /// does not use them.
    pub hops: Vec<HopCount>,
}

/// A node of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// Its number: in setdest's scripts their own, in others the order of first appearance, from 0.
    pub index: usize,
    /// What the file calls it.
    pub name: String,
    /// The line that names it first, from 1.
    pub line: usize,
    /// Its trajectory.
    pub motion: Motion,
    /// Since when and until when it is off, in seconds, again and again: vehicles come and go, and scripts
    /// switch nodes.
    pub off: Vec<[f64; 2]>,
}

/// How many hops two nodes are apart from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopCount {
    /// Since when, in seconds.
    pub time: f64,
    /// The nodes, by their numbers.
    pub nodes: [usize; 2],
    /// The hops; none if there is no path.
    pub hops: Option<u32>,
}

/// What is wrong with a file of motion.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}: {}; {}", self.found(), self.remedy())]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: TraceProblem,
}

/// Bytes of a line at most: a megabyte has tens of thousands of places.
const LONGEST: u64 = 64 << 20;

/// What every reader returns.
type Result<T> = std::result::Result<T, TraceError>;

/// Reads a file, which may be compressed by gzip.
///
/// # Errors
/// The outer one if it cannot be opened, the inner one if it is not of this format.
pub fn read_file(path: &Path, format: Format, units: Units) -> io::Result<Result<Trace>> {
    let mut file = BufReader::new(std::fs::File::open(path)?);
    Ok(if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        read(BufReader::new(MultiGzDecoder::new(file)), format, units)
    } else {
        read(file, format, units)
    })
}

/// Reads a trace.
///
/// # Errors
/// If it is not of this format, or the motion contradicts the units.
pub fn read(from: impl BufRead, format: Format, units: Units) -> Result<Trace> {
    match format {
        Format::Setdest => setdest::read(from, units),
        Format::BonnMotion { dimensions } => bonnmotion::read(from, dimensions, units),
        Format::Fcd => fcd::read(from, units),
    }
}

impl TraceError {
    fn new(line: usize, problem: TraceProblem) -> TraceError {
        TraceError { line, problem }
    }

    /// What was found.
    pub fn found(&self) -> String {
        self.problem.found(None)
    }

    /// What would do.
    pub fn remedy(&self) -> String {
        self.problem.remedy()
    }
}

/// Calls `each` with the number and the text of every line that is not empty.
fn for_each_line(from: impl BufRead, mut each: impl FnMut(usize, &str) -> Result<()>) -> Result<()> {
    let mut from = from;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let end = from.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        if end.map_err(|error| unreadable(line, &error))? == 0 {
            return Ok(());
        }
        if bytes.len() as u64 == LONGEST {
            return Err(TraceError::new(line, TraceProblem::LongLine));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| TraceError::new(line, TraceProblem::NoText))?;
        let text = text.trim();
        if !text.is_empty() {
            each(line, text)?;
        }
    }
    unreachable!("files end before line numbers do")
}

fn unreadable(line: usize, error: &io::Error) -> TraceError {
    TraceError::new(line, TraceProblem::Unreadable { why: error.to_string() })
}

/// A number within bounds.
fn number(line: usize, what: impl fmt::Display, text: &str, low: f64, high: f64) -> Result<f64> {
    let value = text.parse::<f64>().ok().filter(|value| (low..=high).contains(value));
    value.ok_or_else(|| {
        let (what, written) = (what.to_string(), shortened(text));
        TraceError::new(line, TraceProblem::OutOfRange { what, written, low, high })
    })
}

/// Adds to a motion that the node, which stood at `from` at `start`, is at `to` at `end`.
fn reach(line: usize, motion: &mut Motion, [start, end]: [f64; 2], to: [f64; 2]) -> Result<()> {
    let length = distance(motion.at(start), to);
    if length == 0.0 {
        return Ok(());
    }
    if end <= start || length / (end - start) > FASTEST {
        let problem = TraceProblem::Jump { metres: length, seconds: end - start, fastest: FASTEST };
        return Err(TraceError::new(line, problem));
    }
    motion.reach(start, end, to);
    Ok(())
}

/// The start of a text, for a message.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { start + "..." } else { start }
}
