//! What was injected when, so that the run can be run again.
//!
//! A journal is text. Its first line belongs to the program that writes it. Each line after it is an
//! injection: the instant in nanoseconds, flow, payload and header in bytes, ECN codepoint, stream, the
//! congestion header if there is one (its bytes on the air, a colon, all of its bytes in hexadecimal), the
//! headers of the packet in hexadecimal, for captures, and a hash of its bytes; or, of a frame of one hop,
//! the word `frame`, from which node to which or `all`, bytes, and the hash. The last one says when the run
//! ended, and its fingerprint; it is missing if the writer was killed, and so may be the end of the line
//! before.

use multihop_core::{Ecn, FlowId, HeaderBytes, NodeId, Time};
use multihop_sim::World;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::external::{Injection, OutsideFrame};
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// Writes a journal.
pub struct Recorder<W: Write> {
    out: W,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl<W: Write> Recorder<W> {
    /// A journal with this first line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut out: W, first: &str) -> io::Result<Recorder<W>> {
        debug_assert!(!first.contains('\n'));
        writeln!(out, "{first}")?;
        Ok(Recorder { out, failure: None })
    }

    /// A packet with these headers is injected.
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

    /// A frame of one hop is injected.
    pub fn inject_frame(&mut self, at: Time, frame: &OutsideFrame, bytes: &[u8]) {
        let OutsideFrame { from, to, size } = *frame;
        let to = to.map_or("all".to_owned(), |to| to.0.to_string());
        self.write(|out| writeln!(out, "{} frame {} {to} {size} {:016x}", at.ns(), from.0, hash(bytes)));
    }

    /// The run ends.
    ///
    /// # Errors
    /// If this or anything before cannot be written: the journal ends there.
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

/// FNV-1a over eight bytes at a time.
fn hash(packet: &[u8]) -> u64 {
    packet.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What is wrong with a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error("the journal cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line says nothing that a journal can say.
    #[error("line {line}: found {found:?}; needs {needs}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What would do.
        needs: &'static str,
    },
}

/// How a journal ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ending {
    /// When, by the journal.
    pub at: Time,
    /// The fingerprint of the run that wrote it.
    pub fingerprint: u64,
}

/// Repeats in `world` what a journal says behind its first line, and leaves it where the journal ends. None
/// if its last line is missing.
///
/// # Errors
/// If the journal is damaged, or not of such a run.
pub fn replay(mut journal: impl BufRead, world: &mut World) -> Result<Option<Ending>, JournalError> {
    let mut text = String::new();
    for line in 2.. {
        text.clear();
        journal.read_line(&mut text)?;
        // The process that wrote it was killed, perhaps within a line.
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
        if let Some(needs) = misfit(&entry, world.config()) {
            return Err(wrong(needs));
        }
        if at < world.now() || at > world.end() {
            return Err(wrong("instants that do not go backwards, before the end of the run"));
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

/// What is injected.
enum Entry {
    /// With the headers that captures show.
    Packet(Injection, Vec<u8>),
    Frame(OutsideFrame),
}

/// What a run would have to have for this; none if it has it.
fn misfit(entry: &Entry, config: &Config) -> Option<&'static str> {
    let is_node = |node: NodeId| node.index() < config.nodes.len();
    let (fits, size) = match entry {
        Entry::Packet(Injection { flow, payload, header, .. }, _) => {
            let flow = config.flows.get(flow.index());
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
