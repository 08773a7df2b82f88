//! Journal of injected packets, from which a run can be replayed.
//!
//! A journal is text. The program that writes it defines the first line. Each further line is an injection:
//!
//! * of a packet: time in nanoseconds, flow, payload and header in bytes, ECN codepoint, stream, the
//!   congestion header if there is one (its bytes on the air, a colon, all of its bytes in hexadecimal), the
//!   packet's headers in hexadecimal, for captures, and a hash of its bytes;
//! * of a frame over one hop: time, the word `frame`, source, destination or `all`, bytes, and the hash.
//!
//! The last line has the end of the run, and its fingerprint. If the writer was killed, this line is missing,
//! and the previous one may be incomplete.

use multihop_core::{Ecn, FlowId, HeaderBytes, NodeId, Time};
use multihop_sim::World;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::external::{Injection, OutsideFrame};
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// Writer of a journal.
pub struct JournalWriter<W: Write> {
    out: W,
    /// First error, after which nothing is written.
    failure: Option<io::Error>,
}

impl<W: Write> JournalWriter<W> {
    /// Starts a journal with this first line.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub fn new(mut out: W, first: &str) -> io::Result<JournalWriter<W>> {
        debug_assert!(!first.contains('\n'));
        writeln!(out, "{first}")?;
        Ok(JournalWriter { out, failure: None })
    }

    /// Records the injection of a packet with these headers.
    pub fn inject(&mut self, at: Time, injection: &Injection, headers: &[u8], packet: &[u8]) {
        let Injection { flow, payload, header, ecn, stream, congestion } = *injection;
        self.write(|out| {
            write!(out, "{} {} {payload} {header} {} {stream} ", at.ns(), flow.0, ecn.bits())?;
            if !congestion.is_none() {
                write!(out, "{}:", congestion.on_air().len())?;
                write_hexadecimal(out, congestion.as_slice())?;
            }
            write_hexadecimal(out, headers)?;
            writeln!(out, "{:016x}", hash(packet))
        });
    }

    /// Records the injection of a frame over one hop.
    pub fn inject_frame(&mut self, at: Time, frame: &OutsideFrame, bytes: &[u8]) {
        let OutsideFrame { from, to, size } = *frame;
        let to = to.map_or("all".to_owned(), |to| to.0.to_string());
        self.write(|out| writeln!(out, "{} frame {} {to} {size} {:016x}", at.ns(), from.0, hash(bytes)));
    }

    /// Records the end of the run.
    ///
    /// # Errors
    /// If this or an earlier line cannot be written; the journal ends there.
    pub fn end(mut self, at: Time, fingerprint: u64) -> io::Result<()> {
        self.write(|out| {
            writeln!(out, "end {} {fingerprint:016x}", at.ns())?;
            out.flush()
        });
        self.failure.map_or(Ok(()), Err)
    }

    fn write(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = write(&mut self.out).err();
        }
    }
}

fn write_hexadecimal(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    write!(out, " ")
}

/// FNV-1a hash over eight bytes at a time.
fn hash(packet: &[u8]) -> u64 {
    packet.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Error of a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The journal cannot be read.
    #[error("the journal cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line is no valid entry.
    #[error("line {line}: found {found:?}; needs {needs}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Text of the line.
        found: String,
        /// Expected content.
        needs: &'static str,
    },
}

/// End of a journal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ending {
    /// Time of the end.
    pub at: Time,
    /// Fingerprint of the run that wrote the journal.
    pub fingerprint: u64,
}

/// Replays a journal in `world`, from its second line to its end. None if the last line is missing.
///
/// # Errors
/// If the journal is damaged, or belongs to another run.
pub fn replay(mut journal: impl BufRead, world: &mut World) -> Result<Option<Ending>, JournalError> {
    let mut text = String::new();
    for line in 2.. {
        text.clear();
        journal.read_line(&mut text)?;
        // The writing process was killed, possibly within a line.
        let Some(text) = text.strip_suffix('\n') else { break };
        let wrong = |needs| JournalError::Line { line, found: text.chars().take(80).collect(), needs };
        let words: Vec<&str> = text.split(' ').collect();
        if let ["end", at, fingerprint] = words[..] {
            let at = at.parse().map(Time::from_ns).ok().filter(|at| *at >= world.now());
            let fingerprint = u64::from_str_radix(fingerprint, 16).ok();
            let (Some(at), Some(fingerprint)) = (at, fingerprint) else {
                return Err(wrong("`end`, nanoseconds and a fingerprint"));
            };
            world.advance(at);
            return Ok(Some(Ending { at, fingerprint }));
        }
        let Some((at, entry)) = entry(&words) else {
            return Err(wrong(
                "nanoseconds, flow, payload, header, ECN, stream, a congestion header if any, headers, and a hash",
            ));
        };
        if let Some(needs) = missing_requirement(&entry, world.config()) {
            return Err(wrong(needs));
        }
        if at < world.now() || at > world.end() {
            return Err(wrong("non-decreasing times before the end of the run"));
        }
        world.advance(at);
        match entry {
            Entry::Packet(injection, headers) => world.inject_with_headers(&injection, &headers),
            Entry::Frame(frame) => world.inject_frame(&frame),
        };
        while world.poll_outcome().is_some() {}
    }
    Ok(None)
}

/// Injected packet or frame.
enum Entry {
    /// Packet with the headers that captures show.
    Packet(Injection, Vec<u8>),
    Frame(OutsideFrame),
}

/// Requirement of an entry that the run does not meet, if any.
fn missing_requirement(entry: &Entry, config: &Config) -> Option<&'static str> {
    let is_node = |node: NodeId| node.index() < config.topology.nodes.len();
    let (fits, size) = match entry {
        Entry::Packet(Injection { flow, payload, header, .. }, _) => {
            let flow = config.traffic.flows.get(flow.index());
            (flow.is_some_and(|flow| flow.app == AppConfig::External), payload + header)
        }
        Entry::Frame(OutsideFrame { from, to, size }) => (is_node(*from) && to.is_none_or(is_node), *size),
    };
    match entry {
        Entry::Packet(..) if !fits => Some("a flow that takes packets from outside"),
        Entry::Frame(_) if !fits => Some("nodes of the scenario"),
        _ if size > config.largest_packet() => Some("a packet that fits into an MSDU"),
        _ => None,
    }
}

fn entry(words: &[&str]) -> Option<(Time, Entry)> {
    let (at, hash) = (words.first()?, words.last()?);
    u64::from_str_radix(hash, 16).ok()?;
    let at = Time::from_ns(at.parse().ok()?);
    let size = |word: &str| word.parse::<u16>().ok().map(u32::from);
    let node = |word: &str| word.parse().ok().map(NodeId);
    if let [_, "frame", from, to, bytes, _] = *words {
        let to = if to == "all" { None } else { Some(node(to)?) };
        return Some((at, Entry::Frame(OutsideFrame { from: node(from)?, to, size: size(bytes)? })));
    }
    let [_, flow, payload, header, ecn, stream, ref congestion @ .., headers, _] = *words else {
        return None;
    };
    let congestion = match *congestion {
        [] => HeaderBytes::NONE,
        [word] => congestion_header(word)?,
        _ => return None,
    };
    let injection = Injection {
        flow: FlowId(flow.parse().ok()?),
        payload: size(payload)?,
        header: size(header)?,
        ecn: ecn.parse().ok().filter(|bits| *bits < 4).map(Ecn::from_bits)?,
        stream: stream.parse().ok()?,
        congestion,
    };
    Some((at, Entry::Packet(injection, hexadecimal(headers)?)))
}

fn congestion_header(word: &str) -> Option<HeaderBytes> {
    let (air, digits) = word.split_once(':')?;
    HeaderBytes::from_bytes(&hexadecimal(digits)?, air.parse().ok()?)
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}
