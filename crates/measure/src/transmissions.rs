//! Frame log of a capture: lanes like those of a run, as far as a capture shows them.
//!
//! A PPDU is one transmission. Some columns are inferred, and the log's description names them: the sender of
//! a CTS or an ACK from the frame that it answers, reception from the response, and the attempt from sequence
//! numbers and the retry bit. Back-off, queues, NAVs of other stations and collisions are not captured and
//! not logged.

use crate::{CapturedFrame, ObservedExchange, SnifferReport, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{Interval, Span, Time};
use multihop_frames::layout::{ARRIVED, BROADCAST, UNKNOWN};
use multihop_frames::{Flow, Head, Node, Sink, Transmission, Writer};
use std::collections::BTreeMap;
use std::io;

/// Columns of the log that are inferred, not observed.
const INFERRED: [&str; 5] = ["start", "airtime", "from", "try", "outcome"];
/// Number of frames within which a response follows.
const ANSWERED_WITHIN: usize = 64;
/// Sequence numbers are modulo `SEQUENCES`.
const SEQUENCES: u64 = 4_096;

/// Selection of transmissions to log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TransmissionFilter {
    /// Interval after the start of the first frame; none for all.
    pub between: Option<[Span; 2]>,
    /// Maximum number of transmissions.
    pub most: usize,
}

/// Logged transmissions, in the order of capture.
#[derive(Clone, Debug)]
pub struct TransmissionLog {
    filter: TransmissionFilter,
    /// Start of the first frame, logged or not.
    first: Option<Time>,
    sifs: Span,
    /// Number of transmissions in the interval.
    pub count: u64,
    seen: Vec<LoggedFrame>,
    /// Sequence state by sender, receiver and traffic identifier.
    numbers: BTreeMap<(StationId, StationId, Option<u8>), SequenceState>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedFrame {
    air: Interval,
    sender: Option<StationId>,
    receiver: Option<StationId>,
    kind: i64,
    /// Whether the frame carries data or management.
    carries: bool,
    bytes: u32,
    rate: u64,
    nav: Span,
    tries: u32,
    packet: u64,
    outcome: i64,
}

/// Unwrapped sequence number of a sender's frames, and attempts of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct SequenceState {
    last: u64,
    tries: u32,
}

impl TransmissionLog {
    /// Starts an empty log.
    pub fn new(filter: TransmissionFilter) -> TransmissionLog {
        TransmissionLog {
            filter,
            first: None,
            sifs: Span::ZERO,
            count: 0,
            seen: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Processes a PPDU that was on the air at `air`.
    pub(crate) fn process(&mut self, frame: &CapturedFrame, air: Interval, sender: Option<StationId>) {
        let first = *self.first.get_or_insert(air.start);
        self.sifs = self.sifs.max(frame.sifs);
        let (packet, tries) = self.number(frame);
        let after = air.start.since(first.min(air.start));
        if self.filter.between.is_some_and(|[from, to]| after < from || after > to) {
            return;
        }
        self.count += 1;
        if self.seen.len() >= self.filter.most {
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

    /// Packet number of a frame, from 1, and a lower bound of its attempt number; 0 for frames without a
    /// number.
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
        *known = SequenceState { last: now, tries };
        (now + 1, tries)
    }

    /// Marks the frames of a closed exchange that had a response as received.
    pub(crate) fn on_exchange(&mut self, seen: &ObservedExchange) {
        for air in [seen.rts.filter(|_| seen.cts.is_some()), seen.data.filter(|_| seen.ack.is_some())] {
            let Some(air) = air else { continue };
            let lately = self.seen.iter_mut().rev().take(ANSWERED_WITHIN);
            let is = |logged: &&mut LoggedFrame| logged.air == air && logged.sender == seen.sender;
            if let Some(count) = lately.into_iter().find(is) {
                count.outcome = ARRIVED;
            }
        }
    }

    /// Writes the transmissions as a frame log with this name. Returns their number.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(mut self, name: String, report: &SnifferReport, out: Box<dyn Sink>) -> io::Result<u64> {
        self.seen.sort_by_key(|logged| logged.air.start);
        let first = self.first.unwrap_or(Time::ZERO);
        let (flows, places) = self.flows(report);
        let mut writer = Writer::new(out, &self.head(name, report, flows))?;
        let node = |station: Option<StationId>| station.map_or(-1, |station| station.index() as i64);
        let unknown = report.stations.len() as i64;
        for logged in &self.seen {
            let ends = logged.sender.zip(logged.receiver).filter(|_| logged.carries);
            let flow = ends.and_then(|ends| places.get(&ends)).map_or(-1, |flow| *flow as i64);
            let start = logged.air.start.since(first.min(logged.air.start)).ns() as i64;
            let row = Transmission {
                start,
                airtime: logged.air.length().ns() as i64,
                to: node(logged.receiver),
                flow,
                carries: i64::from(flow >= 0),
                kind: logged.kind,
                from: logged.sender.map_or(unknown, |sender| sender.index() as i64),
                bytes: i64::from(logged.bytes),
                rate: logged.rate as i64,
                nav: logged.nav.ns() as i64,
                tries: i64::from(logged.tries),
                waited: -1,
                contended: -1,
                packet: if flow >= 0 { logged.packet as i64 } else { 0 },
                outcome: logged.outcome,
                collided: -1,
                ..Transmission::default()
            };
            writer.transmission(&row, &mut [], &[])?;
        }
        writer.finish()
    }

    /// Flows by transmitter and receiver of numbered frames, with their indices.
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
        // The slot follows from SIFS: 9 us with 16 us of OFDM; 13 and 21 us with 32 and 64 us in narrow
        // channels; 20 us with 10 us at 2.4 GHz, unless all stations there use the short slot.
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
            only_between: self.filter.between.map(|between| between.map(Span::ns)),
            ..Head::default()
        }
    }
}

/// Index in the enumeration `kind`.
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
