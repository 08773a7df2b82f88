//! Motion files of ns-2, `BonnMotion` and SUMO.
//!
//! Each file is read as a stream, plain or compressed by gzip. The result is a [`Trace`] in metres and
//! seconds, or a [`TraceError`] that names the line.

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

/// Format of a motion file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Script of ns-2, as written by setdest and SUMO's `traceExporter --ns2mobility-output`.
    Setdest,
    /// `.movements` of `BonnMotion`: one line for each node, with repeated `t x y` or `t x y z`.
    BonnMotion {
        /// Number of coordinates of a place, 2 or 3; none for the number that fits all lines.
        dimensions: Option<u32>,
    },
    /// Floating car data of SUMO, as XML.
    Fcd,
}

/// Content of a motion file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Nodes in ascending order of their numbers.
    pub nodes: Vec<TraceNode>,
    /// Distances in hops as computed by setdest (`$god_ set-dist`), in the order of their times. The engine
    /// does not use them.
    pub hops: Vec<HopCount>,
}

/// Node of a motion file.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// Number of the node: stated in scripts of setdest, the order of first appearance from 0 in other files.
    pub index: usize,
    /// Name of the node in the file.
    pub name: String,
    /// First line that names the node, counted from 1.
    pub line: usize,
    /// Motion of the node.
    pub motion: Motion,
    /// Start and end of the node's outages in seconds: absence of its vehicle, or `switch OFF` of a script.
    pub off: Vec<[f64; 2]>,
}

/// Number of hops between two nodes from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopCount {
    /// Time in seconds.
    pub time: f64,
    /// Numbers of the nodes.
    pub nodes: [usize; 2],
    /// Number of hops; none without a path.
    pub hops: Option<u32>,
}

/// Problem with a motion file.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}: {}; {}", self.found(), self.remedy())]
pub struct TraceError {
    /// Line, counted from 1.
    pub line: usize,
    /// The problem.
    pub problem: TraceProblem,
}

/// Maximum size of a line in bytes: a megabyte holds tens of thousands of places.
const LONGEST: u64 = 64 << 20;

/// Result of reading a motion file.
type Result<T> = std::result::Result<T, TraceError>;

/// Reads a file, plain or compressed by gzip.
///
/// # Errors
/// The outer error if the file cannot be opened, the inner one if it is not of this format.
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

    /// A remedy.
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

/// A number from `low` to `high`, parsed from `text`.
fn number(line: usize, what: impl fmt::Display, text: &str, low: f64, high: f64) -> Result<f64> {
    let value = text.parse::<f64>().ok().filter(|value| (low..=high).contains(value));
    value.ok_or_else(|| {
        let (what, written) = (what.to_string(), shortened(text));
        TraceError::new(line, TraceProblem::OutOfRange { what, written, low, high })
    })
}

/// Adds a leg to a motion: the node moves from its place at `start` to `to` until `end`.
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

/// Start of a text, for a message.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { start + "..." } else { start }
}
