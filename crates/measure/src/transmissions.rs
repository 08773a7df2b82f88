//! The transmissions that a sniffer saw, as a frame log: lanes as of a run, as far as a capture shows them.
//!
//! A PPDU is one transmission. Its beginning and airtime are those that the rest of this crate reckons with.
//! What frames do not say is concluded, and the log's description names it: the sender of a CTS or an ACK,
//! from the frame that it answers; that something arrived, from its answer; the try, from sequence numbers
//! and the retry bit. Back-off, queues, NAVs of others and collisions are not seen by a sniffer, and are not
//! there.

use crate::{CapturedFrame, Seen, SnifferReport, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{Interval, Span, Time};
use multihop_frames::layout::{ARRIVED, BROADCAST, UNKNOWN};
use multihop_frames::{Flow, Head, Node, Sort, Summary, Transmission, Writer};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What is concluded, and not observed: columns of the log.
const INFERRED: [&str; 5] = ["start", "airtime", "from", "try", "outcome"];
/// An answer comes within so many frames of what it answers.
const ANSWERED_WITHIN: usize = 64;
/// Sequence numbers count modulo this.
const SEQUENCES: u64 = 4_096;

/// Which transmissions to keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Kept {
    /// From the beginning of the first frame on; none for all.
    pub between: Option<[Span; 2]>,
    /// No more than these.
    pub most: usize,
}

/// Transmissions, in the order in which they were captured.
#[derive(Clone, Debug)]
pub struct Transmissions {
    kept: Kept,
    /// When the first frame began, kept or not.
    first: Option<Time>,
    sifs: Span,
    /// How many there are in the interval.
    pub found: u64,
    seen: Vec<LoggedFrame>,
    /// By sender, receiver and traffic identifier.
    numbers: BTreeMap<(StationId, StationId, Option<u8>), Numbers>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedFrame {
    air: Interval,
    sender: Option<StationId>,
    receiver: Option<StationId>,
    kind: i64,
    /// It carries data, or management.
    carries: bool,
    bytes: u32,
    rate: u64,
    nav: Span,
    tries: u32,
    packet: u64,
    outcome: i64,
}

/// Numbers of a sender's frames, which go on counting where sequence numbers begin anew.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    last: u64,
    tries: u32,
}

impl Transmissions {
    /// None yet.
    pub fn new(kept: Kept) -> Transmissions {
        Transmissions {
            kept,
            first: None,
            sifs: Span::ZERO,
            found: 0,
            seen: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// A PPDU, which was on the air at `air`.
    pub(crate) fn process(&mut self, frame: &CapturedFrame, air: Interval, sender: Option<StationId>) {
        let first = *self.first.get_or_insert(air.start);
        self.sifs = self.sifs.max(frame.sifs);
        let (packet, tries) = self.number(frame);
        let after = air.start.since(first.min(air.start));
        if self.kept.between.is_some_and(|[from, to]| after < from || after > to) {
            return;
        }
        self.found += 1;
        if self.seen.len() >= self.kept.most {
            return;
        }
        let kind = kind(frame);
        self.seen.push(LoggedFrame {
            air,
            sender,
            receiver: frame.receiver,
            kind,
            carries: matches!(frame.frame.kind, FrameType::Data(_) | FrameType::Management(_)),
            bytes: frame.frame.air_bytes,
            rate: frame.rate.map_or(0, multihop_core::Rate::bps),
            nav: frame.frame.duration.unwrap_or_default(),
            tries,
            packet,
            outcome: if frame.receiver.is_some() || frame.is_damaged() { UNKNOWN } else { BROADCAST },
        });
    }

    /// The number of a frame's packet, from 1, and which try it is at least; 0 of frames that have none.
    fn number(&mut self, frame: &CapturedFrame) -> (u64, u32) {
        let (Some(number), Some(sender), Some(receiver)) =
            (frame.number(), frame.transmitter, frame.receiver)
        else {
            return (0, 0);
        };
        let known = self.numbers.entry((sender, receiver, number.tid)).or_default();
        let sequence = u64::from(number.sequence);
        let ahead = (sequence + SEQUENCES - known.last % SEQUENCES) % SEQUENCES;
        let now = if known.tries == 0 {
            sequence
        } else if ahead < SEQUENCES / 2 {
            known.last + ahead
        } else {
            (known.last + ahead).saturating_sub(SEQUENCES)
        };
        let again = frame.frame.retry && known.tries > 0 && now == known.last;
        let tries = if again { known.tries + 1 } else { 1 + u32::from(frame.frame.retry) };
        *known = Numbers { last: now, tries };
        (now + 1, tries)
    }

    /// An exchange is over: what was answered in it did arrive.
    pub(crate) fn settle(&mut self, seen: &Seen) {
        for air in [seen.rts.filter(|_| seen.cts.is_some()), seen.data.filter(|_| seen.ack.is_some())] {
            let Some(air) = air else { continue };
            let lately = self.seen.iter_mut().rev().take(ANSWERED_WITHIN);
            let is = |logged: &&mut LoggedFrame| logged.air == air && logged.sender == seen.sender;
            if let Some(found) = lately.into_iter().find(is) {
                found.outcome = ARRIVED;
            }
        }
    }

    /// Writes them as a frame log of this name.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write<W: Write>(mut self, name: String, report: &SnifferReport, out: W) -> io::Result<Summary> {
        self.seen.sort_by_key(|logged| logged.air.start);
        let first = self.first.unwrap_or(Time::ZERO);
        let (flows, places) = self.flows(report);
        let mut writer = Writer::new(out, &self.head(name, report, flows))?;
        let node = |station: Option<StationId>| station.map_or(-1, |station| station.index() as i64);
        let unknown = report.stations.len() as i64;
        for logged in &self.seen {
            let ends = logged.sender.zip(logged.receiver).filter(|_| logged.carries);
            let flow = ends.and_then(|ends| places.get(&ends)).map_or(-1, |flow| *flow as i64);
            let sort = Sort {
                airtime: logged.air.length().ns() as i64,
                to: node(logged.receiver),
                flow,
                carries: i64::from(flow >= 0),
                kind: logged.kind,
                from: logged.sender.map_or(unknown, |sender| sender.index() as i64),
                bytes: i64::from(logged.bytes),
                rate: logged.rate as i64,
                nav: logged.nav.ns() as i64,
            };
            let start = logged.air.start.since(first.min(logged.air.start)).ns() as i64;
            writer.transmission(
                &sort,
                &mut Transmission {
                    start,
                    tries: i64::from(logged.tries),
                    waited: -1,
                    packet: if flow >= 0 { logged.packet as i64 } else { 0 },
                    outcome: logged.outcome,
                    collided: -1,
                    ..Transmission::default()
                },
            )?;
        }
        writer.finish()
    }

    /// A flow for each transmitter and receiver of frames with numbers; and their places.
    fn flows(&self, report: &SnifferReport) -> (Vec<Flow>, BTreeMap<(StationId, StationId), usize>) {
        let name = |station: StationId| report.stations[station.index()].address.to_string();
        let mut places = BTreeMap::new();
        let mut flows = Vec::new();
        for logged in self.seen.iter().filter(|logged| logged.packet > 0) {
            let Some((from, to)) = logged.sender.zip(logged.receiver) else { continue };
            places.entry((from, to)).or_insert_with(|| {
                flows.push(Flow {
                    name: format!("{} > {}", name(from), name(to)),
                    source: from.index() as u32,
                    destination: to.index() as u32,
                    scheme: String::new(),
                });
                flows.len() - 1
            });
        }
        (flows, places)
    }

    fn head(&self, name: String, report: &SnifferReport, flows: Vec<Flow>) -> Head {
        let named = |name: String| Node { name, ..Node::default() };
        let mut nodes: Vec<Node> =
            report.stations.iter().map(|station| named(station.address.to_string())).collect();
        if self.seen.iter().any(|logged| logged.sender.is_none()) {
            nodes.push(named("unknown".into()));
        }
        // SIFS and slot go together: 16 and 9 us of OFDM, 32 and 13, 64 and 21 us in narrow channels, 10 and 20 us at 2.4 GHz,
        // unless all stations there have short slots.
        let slot_us = match self.sifs.ns() / 1_000 {
            64 => 21,
            32 => 13,
            0..=10 => 20,
            _ => 9,
        };
        Head {
            name,
            source: "capture",
            inferred: INFERRED.to_vec(),
            duration_ns: report.length.ns(),
            slot_ns: 1_000 * slot_us,
            nodes,
            flows,
            only_between: self.kept.between.map(|between| between.map(Span::ns)),
            ..Head::default()
        }
    }
}

/// Its place in the enumeration `kind`.
fn kind(frame: &CapturedFrame) -> i64 {
    match frame.frame.kind {
        FrameType::Control(Control::Rts) => 0,
        FrameType::Control(Control::Cts) => 1,
        FrameType::Data(_) => 2,
        FrameType::Control(Control::Ack) => 3,
        FrameType::Control(Control::BlockAckRequest(_)) => 4,
        FrameType::Control(Control::BlockAck(_)) => 5,
        FrameType::Management(_) => 6,
        FrameType::Control(_) | FrameType::Extension(_) => 7,
        FrameType::Unknown => 8,
    }
}
