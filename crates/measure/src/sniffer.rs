//! One channel of an interface of a capture, frame by frame.

use crate::captured_frame::network_bytes;
use crate::gauges::Gauges;
use crate::interface::{Sighting, Stamp, State};
use crate::profile::{Profile, answer_gap, sifs};
use crate::reconstruction::Reconstruction;
use crate::{
    Aggregates, BlockAcks, CapturedFrame, Exchanges, Gauge, Kept, Kind, Ledger, Link, Links, Quality,
    RateCount, Reading, Row, Seen, Settled, StampReference, Stamps, Station, StationId, Stations,
    Transmissions,
};
use multihop_capture::{Address, Control, Encoding, FrameType, airtime_of, legacy_airtime, ppdu};
use multihop_core::{Interval, Span, Time};

/// What to measure how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Width of the bins of time, and of the steps of the estimators' time series; not zero.
    pub bin: Span,
    /// What stamps mark, if it is known; else it is found out.
    pub marks: Option<StampReference>,
    /// The station whose estimators are run, as far as the sniffer shows what it saw. None: that of the radio
    /// itself, if the capture shows which one it is, and otherwise a node that sends nothing.
    pub station: Option<Address>,
    /// The estimators.
    pub gauges: Vec<Gauge>,
    /// The transmissions to keep, if any.
    pub transmissions: Option<Kept>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bin: Span::from_ms(1_000),
            marks: None,
            station: None,
            gauges: Gauge::standard(),
            transmissions: None,
        }
    }
}

/// Frames that wait until it is known what stamps mark.
const WAITING: usize = 4_096;

/// Pairs that decide it.
const ENOUGH_VOTES: u64 = 64;

/// Measures what one radio saw on one channel, as a stream.
pub(crate) struct Sniffer {
    options: Options,
    stamps: Stamps,
    marks: Option<StampReference>,
    /// The station that the radio is, and whether its frames are stamped when they begin and those of others
    /// when they end.
    own: Option<StationId>,
    own_begins: bool,
    /// Where the time line of this sniffer begins: estimators take it that nothing was on the air before.
    origin: Span,
    /// The station whose estimators are run.
    at: Option<StationId>,
    gauges: Option<Gauges>,
    aggregates: Aggregates,
    /// Frames that wait until it is known what stamps mark; none for a while in which the radio was
    /// elsewhere.
    waiting: Vec<Option<CapturedFrame>>,
    /// Of the frames that wait, those that are stamped by TSFT.
    by_tsft: usize,
    stations: Stations,
    exchanges: Exchanges,
    block_acks: BlockAcks,
    links: Links,
    ledger: Ledger,
    quality: Quality,
    transmissions: Option<Transmissions>,
    first: Option<Time>,
    last: Time,
    /// The time up to the next frame is no silence.
    is_interrupted: bool,
}

/// What a sniffer saw.
#[derive(Clone, Debug)]
pub struct SnifferReport {
    /// When the first frame began, in nanoseconds since 1970 or of the radio's timer.
    pub start: Option<Time>,
    /// From there to the end of the last frame; of one channel of several for how long the radio listened
    /// there, which is also what all times of the report count.
    pub length: Span,
    /// What stamps mark.
    pub marks: StampReference,
    /// Pairs of a frame and its answer from which that was found; none if it was given.
    pub pairs: u64,
    /// The station that the sniffer is itself: it marks what it sends, or stamps it when it begins, and what
    /// it receives when that ends.
    pub own: Option<StationId>,
    /// The station whose estimators were run; none for a sniffer that sends nothing.
    pub at: Option<StationId>,
    /// When the time line of the readings begins, as `start`: with the bin in which the first frame began, or
    /// with zero where stamps are no dates.
    pub origin: Time,
    /// The time series of the estimators, with [`Options::gauges`] by index.
    pub readings: Vec<Reading>,
    /// From one reading to the next.
    pub step: Span,
    /// Width of the bins.
    pub bin: Span,
    /// Airtime by bin, station and kind.
    pub rows: Vec<Row>,
    /// Time of each bin in which a frame was on the air.
    pub busy: Vec<Span>,
    /// Stations whose frames were captured, and what is known of them.
    pub stations: Vec<Station>,
    /// What became of data, by sender and receiver.
    pub links: Vec<(StationId, StationId, Link)>,
    /// At which rates stations sent data to each other.
    pub rates: Vec<RateCount>,
    /// How far to trust all this.
    pub quality: Quality,
    /// Its transmissions, if they were to be kept.
    pub transmissions: Option<Transmissions>,
}

impl Sniffer {
    /// Has seen nothing yet.
    pub fn new(options: Options) -> Sniffer {
        Sniffer {
            stamps: Stamps::default(),
            marks: None,
            own: None,
            own_begins: false,
            origin: Span::ZERO,
            at: None,
            gauges: None,
            aggregates: Aggregates::default(),
            waiting: Vec::new(),
            by_tsft: 0,
            stations: Stations::default(),
            exchanges: Exchanges::default(),
            block_acks: BlockAcks::default(),
            links: Links::default(),
            ledger: Ledger::new(options.bin),
            quality: Quality::default(),
            transmissions: options.transmissions.map(Transmissions::new),
            first: None,
            last: Time::ZERO,
            is_interrupted: true,
            options,
        }
    }

    /// The next frame.
    pub fn process(&mut self, sighting: &Sighting, stamp: Stamp) {
        let Sighting { timer, reception, frame, state, .. } = sighting;
        self.quality.records += 1;
        match state {
            State::Good | State::Empty => {}
            State::Damaged => self.quality.damaged += 1,
            State::Unreadable { cut } => {
                self.quality.unreadable += 1;
                self.quality.cut += u64::from(*cut);
            }
        }
        let (how, announced) = (ppdu(reception), legacy_airtime(reception));
        self.quality.damaged_headers += u64::from(reception.header_damaged);
        let is_he = matches!(reception.encoding, Some(Encoding::He(_)));
        self.quality.unknown_extension += u64::from(is_he && announced.is_none());
        self.by_tsft += usize::from(stamp.is_tsft && self.marks.is_none());
        // What the user knows of stamps goes before what the radio says.
        let marks = timer.marks.filter(|_| self.options.marks.is_none());
        let air_bytes = frame.air_bytes;
        let airtime = match (how, state) {
            (_, State::Empty) | (None, _) => announced,
            (Some(how), _) => airtime_of(&how, reception, air_bytes),
        };
        let captured_frame = CapturedFrame {
            stamp: stamp.at,
            is_guessed: stamp.is_guessed,
            marks,
            exact: timer.exact && marks.is_some(),
            sent: reception.sent,
            airtime,
            preamble: how.map_or(Span::ZERO, |how| how.overhead()),
            rate: how.and_then(|how| how.rate()),
            signal_dbm: reception.signal_dbm,
            transmitter: self.stations.id(frame.transmitter),
            receiver: self.stations.id(frame.receiver),
            sifs: sifs(reception.channel),
            answer_gap: answer_gap(reception.channel, how),
            part: None,
            size: network_bytes(frame),
            frame: *frame,
        };
        if !self.aggregates.continues(&captured_frame, reception.aggregate, how) {
            self.end_aggregate();
        }
        match reception.aggregate {
            Some(aggregate) => {
                self.aggregates.push(captured_frame, aggregate, how, announced);
            }
            None => self.next(&captured_frame),
        }
    }

    /// The radio is elsewhere until the next frame: nothing of before goes on, and what was sent meanwhile
    /// was not missed.
    pub fn interrupt(&mut self) {
        self.end_aggregate();
        if self.marks.is_some() {
            self.end_all();
        } else {
            self.stamps.interrupt();
            self.waiting.push(None);
        }
    }

    fn end_all(&mut self) {
        if let Some(open) = self.exchanges.finish() {
            self.end_exchange(&open);
        }
        self.stations.interrupt();
        self.is_interrupted = true;
    }

    fn end_aggregate(&mut self) {
        let frames = self.aggregates.end();
        for frame in &frames {
            self.next(frame);
        }
        self.aggregates.reuse(frames);
    }

    fn next(&mut self, captured_frame: &CapturedFrame) {
        let is_known_to_be = !captured_frame.is_damaged() || captured_frame.frame.air_bytes == 0;
        self.quality.unknown_airtime += u64::from(captured_frame.airtime.is_none() && is_known_to_be);
        match self.marks {
            Some(marks) => self.account(captured_frame, marks),
            None => self.wait(captured_frame),
        }
    }

    fn wait(&mut self, captured_frame: &CapturedFrame) {
        self.stamps.process(captured_frame);
        self.waiting.push(Some(*captured_frame));
        if self.waiting.len() >= WAITING || self.stamps.deciding() >= ENOUGH_VOTES {
            self.settle();
        }
    }

    /// What stamps mark, which station the radio is, and how it sends are known from now on as well as they
    /// will be.
    fn settle(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let frames: Vec<CapturedFrame> = waiting.iter().copied().flatten().collect();
        let stated = frames.first().and_then(|captured_frame| captured_frame.marks);
        let by_tsft = self.by_tsft * 2 > frames.len();
        let usual = self.stamps.usual(by_tsft);
        let known = self.options.marks.or(stated);
        self.quality.marks_are_known = known.is_some();
        let marks = known.or_else(|| self.stamps.marks(by_tsft)).unwrap_or(usual);
        self.marks = Some(marks);
        self.own = sender_of_own(&frames).or_else(|| self.stamps.own());
        self.own_begins = self.options.marks.is_none() && self.stamps.own().is_some();
        self.at = self.asked_for();
        // Of frames that do not say how fast they were, estimators would only repeat their defaults.
        let say_rates = frames.iter().any(|captured_frame| captured_frame.rate.is_some());
        if let Some(first) = frames.first() {
            self.origin = origin(first.air(marks).start, self.options.bin);
            let start = first.after(self.origin).air(marks).start;
            let profile = Profile::of(&frames);
            if frames.iter().all(|captured_frame| captured_frame.exact) {
                self.exchanges.expect_answers_within(profile.answer_timeout);
            }
            let reconstruction = Reconstruction::new(self.at, self.options.station.is_none(), &profile);
            let bin = self.options.bin;
            let gauges = &self.options.gauges;
            self.gauges = say_rates.then(|| Gauges::new(gauges, reconstruction, &profile, start, bin));
        }
        for one in waiting {
            match one {
                Some(captured_frame) => self.account(&captured_frame, marks),
                None => self.end_all(),
            }
        }
    }

    /// Asks the estimators at the instants that came before the end of this frame.
    fn read_gauges(&mut self, air: Interval) {
        while let Some(now) = self.gauges.as_mut().and_then(|gauges| gauges.due(air)) {
            if let Some(over) = self.exchanges.expire(now.min(air.start)) {
                self.end_exchange(&over);
            }
            self.gauges.iter_mut().for_each(|gauges| gauges.read_during(air));
        }
    }

    /// The station whose estimators are to run, if it was seen.
    fn asked_for(&self) -> Option<StationId> {
        match self.options.station {
            Some(station) => self.stations.known(station),
            None => self.own,
        }
    }

    /// The radio, or the station that was asked for, may show itself only now.
    fn recognise(&mut self, captured_frame: &CapturedFrame, sender: Option<StationId>) {
        if self.own.is_none() && captured_frame.sent {
            self.own = sender;
        }
        if self.at.is_none() {
            self.at = self.asked_for();
            if let (Some(at), Some(gauges)) = (self.at, &mut self.gauges) {
                gauges.set_station(at);
            }
        }
    }

    fn account(&mut self, captured_frame: &CapturedFrame, marks: StampReference) {
        let captured_frame = &captured_frame.after(self.origin);
        let sender = captured_frame.transmitter.or_else(|| self.exchanges.answerer(captured_frame));
        self.recognise(captured_frame, sender);
        let begins = self.own_begins && self.own.is_some() && sender == self.own;
        let marks = if begins { StampReference::Begin } else { marks };
        let air = captured_frame.air(marks);
        self.first.get_or_insert(air.start);
        let silence = air.start.since(self.last.min(air.start));
        if !std::mem::take(&mut self.is_interrupted) {
            self.quality.longest_silence = self.quality.longest_silence.max(silence);
        }
        self.last = self.last.max(air.end);
        let orphans = self.exchanges.orphan_acks;
        let settled = self.block_ack(captured_frame);
        // In an exchange an A-MPDU is one frame.
        let (done, sender) = match captured_frame.part.map(|part| part.stands_for) {
            None => self.exchange_frame(captured_frame, air, settled.as_ref()),
            Some(Some(size)) => {
                self.exchange_frame(&captured_frame.with_size(size), captured_frame.ppdu(marks), None)
            }
            Some(None) => (None, sender),
        };
        if let (Some(log), None | Some(Some(_))) =
            (&mut self.transmissions, captured_frame.part.map(|part| part.stands_for))
        {
            log.process(captured_frame, captured_frame.ppdu(marks), sender);
        }
        if let Some(done) = done {
            self.exchange(&done);
        }
        let frame = &captured_frame.frame;
        match captured_frame.control() {
            Some(Control::Ack) => {
                if let Some(station) =
                    captured_frame.receiver.and_then(|receiver| self.stations.get_mut(receiver))
                {
                    station.acks += 1;
                    station.orphan_acks += self.exchanges.orphan_acks - orphans;
                }
            }
            Some(_) => {}
            None => self.data(captured_frame, captured_frame.ppdu(marks).start),
        }
        self.ledger.add(sender, Kind::of(frame), frame.air_bytes, air);
        if let Some(station) = sender.and_then(|sender| self.stations.get_mut(sender)) {
            station.sent(frame, air.length(), air.start, captured_frame.signal_dbm);
        }
    }

    /// What a block acknowledgement says of data, if this is one.
    fn block_ack(&mut self, captured_frame: &CapturedFrame) -> Option<Settled> {
        let Some(Control::BlockAck(said)) = captured_frame.control() else { return None };
        self.quality.block_acks += 1;
        let (sender, receiver) = (captured_frame.receiver?, captured_frame.transmitter?);
        let settled = self.block_acks.block(sender, receiver, &said);
        if settled.arrived.frames > 0 {
            self.links.arrived(sender, receiver, &settled.arrived);
        }
        Some(settled)
    }

    /// Data that an ACK, or a block acknowledgement, is to be about, in a PPDU that began then.
    fn data(&mut self, captured_frame: &CapturedFrame, ppdu: Time) {
        if let (FrameType::Data(data), Some(sender), Some(receiver)) =
            (captured_frame.frame.kind, captured_frame.transmitter, captured_frame.receiver)
            && !data.null
        {
            self.links.sent(sender, receiver, captured_frame.rate);
            self.block_acks.sent(captured_frame, ppdu);
        }
    }

    /// An exchange is over of which no more frames came.
    fn end_exchange(&mut self, over: &Seen) {
        self.exchange(over);
        self.gauges.iter_mut().for_each(|gauges| gauges.exchange(over));
    }

    /// A frame as part of an exchange, before the estimators too, and what it settles if it is a block
    /// acknowledgement. Returns the exchange that it ends, and its sender.
    fn exchange_frame(
        &mut self,
        captured_frame: &CapturedFrame,
        air: Interval,
        settled: Option<&Settled>,
    ) -> (Option<Seen>, Option<StationId>) {
        self.read_gauges(air);
        let (done, sender) = self.exchanges.process(captured_frame, air);
        if let Some(gauges) = &mut self.gauges {
            gauges.frame(captured_frame, air, sender, (done.as_ref(), settled));
        }
        (done, sender)
    }

    fn exchange(&mut self, seen: &Seen) {
        let possible = seen.is_possible();
        if let Some(log) = &mut self.transmissions {
            log.settle(seen);
        }
        if let (Some(ack), Some(sender), true) = (seen.ack, seen.sender, seen.is_data) {
            self.quality.timed += u64::from(seen.is_timed());
            self.quality.impossible += u64::from(seen.is_timed() && !possible);
            if let Some(station) = self.stations.get_mut(sender) {
                station.acknowledged(Some(ack.end).filter(|_| seen.is_timed() && possible));
            }
        }
        if let (Some(_), false, Some(sender), Some(receiver), Some(number)) =
            (seen.ack, seen.block, seen.sender, seen.receiver, seen.number)
        {
            self.block_acks.acknowledged(sender, receiver, number);
        }
        self.links.add(seen);
    }

    /// Whatever waits is accounted for.
    pub fn finish(mut self) -> SnifferReport {
        self.end_aggregate();
        if self.marks.is_none() {
            self.settle();
        }
        let open = self.exchanges.finish();
        if let Some(open) = &open {
            self.end_exchange(open);
        }
        let (readings, step) =
            self.gauges.take().map_or((Vec::new(), self.options.bin), |gauges| gauges.finish(self.last));
        let (bin, rows, busy, start) = self.ledger.finish();
        self.stations.finish();
        let stations = self.stations.all().to_vec();
        let airtime: Span = rows.iter().map(|row| row.cell.airtime).sum();
        let (links, rates) = self.links.finish();
        // A station that is never heard is out of range: what it sends, and answers, is not missing.
        let near = |id: StationId| stations[id.index()].frames > 0;
        let answerable = || links.iter().filter(|(_, receiver, _)| near(*receiver)).map(|(_, _, link)| link);
        let heard = || stations.iter().filter(|station| station.frames > 0);
        let to_answer = answerable().map(|link| link.exchanges).sum();
        let quality = Quality {
            acks: heard().map(|station| station.acks).sum(),
            orphan_acks: heard().map(|station| station.orphan_acks).sum(),
            to_answer,
            unanswered: to_answer - answerable().map(|link| link.answered).sum::<u64>(),
            numbered: stations.iter().map(|station| station.numbered).sum(),
            missed: stations.iter().map(|station| station.missed).sum(),
            aggregates: self.aggregates.count,
            partial_aggregates: self.aggregates.partial,
            orphan_block_acks: self.exchanges.orphan_block_acks,
            length: self.first.map_or(Span::ZERO, |first| self.last.since(first)),
            // Stamps of the beginning do not depend on it.
            unknown_extension: self
                .marks
                .filter(|marks| *marks == StampReference::End)
                .map_or(0, |_| self.quality.unknown_extension),
            airtime,
            overlapping: airtime.saturating_sub(busy.iter().copied().sum()),
            copies: stations.iter().map(|station| station.copies).sum(),
            stamp_pairs: self.stamps.pairs(),
            // Whoever says what stamps mark is believed.
            other_pairs: self
                .marks
                .filter(|_| !self.quality.marks_are_known)
                .map_or(0, |marks| self.stamps.contradicting(marks)),
            stations_beyond: self.stations.beyond,
            ..self.quality
        };
        SnifferReport {
            start: start.map(|start| start + self.origin),
            length: self.first.map_or(Span::ZERO, |first| self.last.since(first)),
            marks: self.marks.unwrap_or(StampReference::End),
            pairs: self.stamps.pairs(),
            own: self.own,
            at: self.at,
            origin: Time::ZERO + self.origin,
            readings,
            step,
            bin,
            rows,
            busy,
            stations,
            links,
            rates,
            quality,
            transmissions: self.transmissions,
        }
    }
}

/// Where the time line begins of a capture whose first frame began at `start`: with a whole bin. Stamps that
/// lie within three years of zero are no dates but times of a simulation, or of a radio's timer, which begin
/// there themselves.
fn origin(start: Time, bin: Span) -> Span {
    const DATES: Span = Span::from_ms(100_000_000_000);
    let since = start.since(Time::ZERO);
    if since < DATES { Span::ZERO } else { bin * since.whole(bin) }
}

/// The station whose frames are marked as sent by the host, if any are: it names itself, or it answers a
/// frame for it.
fn sender_of_own(seen: &[CapturedFrame]) -> Option<StationId> {
    let named = || seen.iter().find(|frame| frame.sent && frame.transmitter.is_some());
    let answer = || {
        let is_answer = |pair: &&[CapturedFrame]| {
            pair[1].sent && pair[1].transmitter.is_none() && pair[1].receiver == pair[0].transmitter
        };
        seen.windows(2).find(is_answer).and_then(|pair| pair[0].receiver)
    };
    named().and_then(|frame| frame.transmitter).or_else(answer)
}
