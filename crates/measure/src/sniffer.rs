//! Measurement of one channel of an interface, frame by frame.

use crate::captured_frame::network_bytes;
use crate::estimators::EstimatorSeries;
use crate::interface::{FrameIntegrity, FrameTime, UntimedFrame};
use crate::profile::{Profile, response_gap, sifs};
use crate::reconstruction::Reconstruction;
use crate::{
    AirtimeRow, AirtimeUse, AmpduAssembler, BlockAckOutcome, BlockAcks, CapturedFrame, ExchangeAssembler,
    Ledger, LinkStatistics, LinkTable, NamedEstimator, ObservedExchange, Quality, RateCount, Reading,
    StampReference, StampVotes, StationId, StationStatistics, StationTable, TransmissionFilter,
    TransmissionLog,
};
use multihop_capture::{Control, Encoding, FrameType, MacAddress, airtime_of, legacy_airtime, ppdu};
use multihop_core::{Interval, Span, Time};

/// Options of a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyOptions {
    /// Width of the time bins, and initial interval of the estimators' time series; not zero.
    pub bin: Span,
    /// Instant that timestamps refer to; detected if none.
    pub stamp_reference: Option<StampReference>,
    /// Station whose estimators are run, as far as the sniffer captured its view. None: that of the radio
    /// itself, if the capture shows which one it is, else a node that sends nothing.
    pub station: Option<MacAddress>,
    /// Estimators to run.
    pub estimators: Vec<NamedEstimator>,
    /// Transmissions to log, if any.
    pub transmissions: Option<TransmissionFilter>,
}

impl Default for SurveyOptions {
    fn default() -> SurveyOptions {
        SurveyOptions {
            bin: Span::from_ms(1_000),
            stamp_reference: None,
            station: None,
            estimators: NamedEstimator::standard(),
            transmissions: None,
        }
    }
}

/// Limit on the frames that are buffered until the timestamp reference is known.
const MAX_BUFFERED: usize = 4_096;

/// Number of pairs that decide the timestamp reference.
const ENOUGH_VOTES: u64 = 64;

/// Measures the frames of one radio on one channel as a stream.
pub(crate) struct Sniffer {
    options: SurveyOptions,
    stamps: StampVotes,
    stamp_reference: Option<StampReference>,
    /// Station of the radio itself, and whether timestamps of its frames refer to their start, and those of
    /// other frames to their end.
    own: Option<StationId>,
    own_begins: bool,
    /// Start of this sniffer's time line; estimators assume that the medium was idle before.
    origin: Span,
    /// Station whose estimators are run.
    at: Option<StationId>,
    estimators: Option<EstimatorSeries>,
    aggregates: AmpduAssembler,
    /// Frames buffered until the timestamp reference is known; none stands for a time on other channels.
    buffered: Vec<Option<CapturedFrame>>,
    /// Number of buffered frames with a TSFT timestamp.
    by_tsft: usize,
    stations: StationTable,
    exchanges: ExchangeAssembler,
    block_acks: BlockAcks,
    links: LinkTable,
    ledger: Ledger,
    quality: Quality,
    transmissions: Option<TransmissionLog>,
    first: Option<Time>,
    last: Time,
    /// Whether the time until the next frame does not count as silence.
    is_interrupted: bool,
}

/// Measurements of a sniffer.
#[derive(Clone, Debug)]
pub struct SnifferReport {
    /// Start of the first frame, in nanoseconds since 1970 or of the radio's timer.
    pub start: Option<Time>,
    /// Time from there to the end of the last frame; for one of several channels, the time spent on it. All
    /// times of the report count this time.
    pub length: Span,
    /// Instant that timestamps refer to.
    pub stamp_reference: StampReference,
    /// Number of pairs of a frame and its response that decided the reference; zero if it was given.
    pub pairs: u64,
    /// Station of the sniffer itself, recognised by the mark on frames that it sends, or by timestamps at the
    /// start of its own frames and at the end of others.
    pub own: Option<StationId>,
    /// Station whose estimators were run; none for a sniffer that sends nothing.
    pub at: Option<StationId>,
    /// Start of the bin of the first frame, from which the times of `readings` count. Zero if timestamps are
    /// within three years of zero, and so no dates.
    pub origin: Time,
    /// Time series of the estimators, with indices into [`SurveyOptions::estimators`].
    pub readings: Vec<Reading>,
    /// Interval between readings.
    pub step: Span,
    /// Width of the bins.
    pub bin: Span,
    /// Airtime by bin, station and use.
    pub rows: Vec<AirtimeRow>,
    /// Busy time of each bin.
    pub busy: Vec<Span>,
    /// Stations whose frames were captured.
    pub stations: Vec<StationStatistics>,
    /// Outcomes of data, by sender and receiver.
    pub links: Vec<(StationId, StationId, LinkStatistics)>,
    /// Number of data frames by sender, receiver and rate.
    pub rates: Vec<RateCount>,
    /// Reliability of the measurements.
    pub quality: Quality,
    /// Logged transmissions, if requested.
    pub transmissions: Option<TransmissionLog>,
}

impl Sniffer {
    /// Starts without frames.
    pub fn new(options: SurveyOptions) -> Sniffer {
        Sniffer {
            stamps: StampVotes::default(),
            stamp_reference: None,
            own: None,
            own_begins: false,
            origin: Span::ZERO,
            at: None,
            estimators: None,
            aggregates: AmpduAssembler::default(),
            buffered: Vec::new(),
            by_tsft: 0,
            stations: StationTable::default(),
            exchanges: ExchangeAssembler::default(),
            block_acks: BlockAcks::default(),
            links: LinkTable::default(),
            ledger: Ledger::new(options.bin),
            quality: Quality::default(),
            transmissions: options.transmissions.map(TransmissionLog::new),
            first: None,
            last: Time::ZERO,
            is_interrupted: true,
            options,
        }
    }

    /// Processes the next frame.
    pub fn process(&mut self, untimed: &UntimedFrame, stamp: FrameTime) {
        let UntimedFrame { timer, reception, frame, state, .. } = untimed;
        self.quality.records += 1;
        match state {
            FrameIntegrity::Intact | FrameIntegrity::Empty => {}
            FrameIntegrity::Damaged => self.quality.damaged += 1,
            FrameIntegrity::Unreadable { cut } => {
                self.quality.unreadable += 1;
                self.quality.cut += u64::from(*cut);
            }
        }
        let (ppdu_format, legacy_airtime) = (ppdu(reception), legacy_airtime(reception));
        self.quality.damaged_headers += u64::from(reception.header_damaged);
        let is_he = matches!(reception.encoding, Some(Encoding::He(_)));
        self.quality.unknown_extension += u64::from(is_he && legacy_airtime.is_none());
        self.by_tsft += usize::from(stamp.is_tsft && self.stamp_reference.is_none());
        // The user's reference takes precedence over the radio's.
        let stamp_reference = timer.stamp_reference.filter(|_| self.options.stamp_reference.is_none());
        let air_bytes = frame.air_bytes;
        let airtime = match (ppdu_format, state) {
            (_, FrameIntegrity::Empty) | (None, _) => legacy_airtime,
            (Some(ppdu_format), _) => airtime_of(&ppdu_format, reception, air_bytes),
        };
        let captured_frame = CapturedFrame {
            stamp: stamp.at,
            is_guessed: stamp.is_guessed,
            stamp_reference,
            exact: timer.exact && stamp_reference.is_some(),
            sent: reception.sent,
            airtime,
            preamble: ppdu_format.map_or(Span::ZERO, |ppdu_format| ppdu_format.overhead()),
            rate: ppdu_format.and_then(|ppdu_format| ppdu_format.rate()),
            signal_dbm: reception.signal_dbm,
            transmitter: self.stations.id(frame.transmitter),
            receiver: self.stations.id(frame.receiver),
            sifs: sifs(reception.channel),
            response_gap: response_gap(reception.channel, ppdu_format),
            ampdu: None,
            size: network_bytes(frame),
            frame: *frame,
        };
        if !self.aggregates.is_continued_by(&captured_frame, reception.aggregate, ppdu_format) {
            self.end_aggregate();
        }
        match reception.aggregate {
            Some(aggregate) => {
                self.aggregates.push(captured_frame, aggregate, ppdu_format, legacy_airtime);
            }
            None => self.next(&captured_frame),
        }
    }

    /// Marks a time on other channels: open exchanges end, and frames sent meanwhile do not count as missed.
    pub fn interrupt(&mut self) {
        self.end_aggregate();
        if self.stamp_reference.is_some() {
            self.end_all();
        } else {
            self.stamps.interrupt();
            self.buffered.push(None);
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
        let frames = self.aggregates.close();
        for frame in &frames {
            self.next(frame);
        }
        self.aggregates.recycle(frames);
    }

    fn next(&mut self, captured_frame: &CapturedFrame) {
        let is_known_to_be = !captured_frame.is_damaged() || captured_frame.frame.air_bytes == 0;
        self.quality.unknown_airtime += u64::from(captured_frame.airtime.is_none() && is_known_to_be);
        match self.stamp_reference {
            Some(stamp_reference) => self.measure_frame(captured_frame, stamp_reference),
            None => self.buffer_frame(captured_frame),
        }
    }

    fn buffer_frame(&mut self, captured_frame: &CapturedFrame) {
        self.stamps.process(captured_frame);
        self.buffered.push(Some(*captured_frame));
        if self.buffered.len() >= MAX_BUFFERED || self.stamps.decisive() >= ENOUGH_VOTES {
            self.determine_reference();
        }
    }

    /// Determines the timestamp reference, the radio's station and its sending behaviour, and processes the
    /// buffered frames.
    fn determine_reference(&mut self) {
        let buffered = std::mem::take(&mut self.buffered);
        let frames: Vec<CapturedFrame> = buffered.iter().copied().flatten().collect();
        let stated = frames.first().and_then(|captured_frame| captured_frame.stamp_reference);
        let by_tsft = self.by_tsft * 2 > frames.len();
        let default_reference = self.stamps.default_reference(by_tsft);
        let known = self.options.stamp_reference.or(stated);
        self.quality.reference_is_known = known.is_some();
        let stamp_reference =
            known.or_else(|| self.stamps.stamp_reference(by_tsft)).unwrap_or(default_reference);
        self.stamp_reference = Some(stamp_reference);
        self.own = sender_of_own(&frames).or_else(|| self.stamps.own());
        self.own_begins = self.options.stamp_reference.is_none() && self.stamps.own().is_some();
        self.at = self.requested_station();
        // Without any rates, estimators would only repeat their defaults.
        let has_rates = frames.iter().any(|captured_frame| captured_frame.rate.is_some());
        if let Some(first) = frames.first() {
            self.origin = origin(first.air(stamp_reference).start, self.options.bin);
            let start = first.after(self.origin).air(stamp_reference).start;
            let profile = Profile::from_frames(&frames);
            if frames.iter().all(|captured_frame| captured_frame.exact) {
                self.exchanges.set_response_timeout(profile.response_timeout);
            }
            let reconstruction = Reconstruction::new(self.at, self.options.station.is_none(), &profile);
            let bin = self.options.bin;
            let estimators = &self.options.estimators;
            self.estimators =
                has_rates.then(|| EstimatorSeries::new(estimators, reconstruction, &profile, start, bin));
        }
        for one in buffered {
            match one {
                Some(captured_frame) => self.measure_frame(&captured_frame, stamp_reference),
                None => self.end_all(),
            }
        }
    }

    /// Reads the estimators at all instants before the end of this frame.
    fn read_estimators(&mut self, air: Interval) {
        while let Some(now) = self.estimators.as_mut().and_then(|estimators| estimators.due(air)) {
            if let Some(over) = self.exchanges.expire(now.min(air.start)) {
                self.end_exchange(&over);
            }
            self.estimators.iter_mut().for_each(|estimators| estimators.read_during(air));
        }
    }

    /// Station whose estimators are to be run, if it was captured.
    fn requested_station(&self) -> Option<StationId> {
        match self.options.station {
            Some(station) => self.stations.known(station),
            None => self.own,
        }
    }

    /// Recognises the radio's station, or the requested one, when it first appears.
    fn recognise(&mut self, captured_frame: &CapturedFrame, sender: Option<StationId>) {
        if self.own.is_none() && captured_frame.sent {
            self.own = sender;
        }
        if self.at.is_none() {
            self.at = self.requested_station();
            if let (Some(at), Some(estimators)) = (self.at, &mut self.estimators) {
                estimators.set_station(at);
            }
        }
    }

    fn measure_frame(&mut self, captured_frame: &CapturedFrame, stamp_reference: StampReference) {
        let captured_frame = &captured_frame.after(self.origin);
        let sender = captured_frame.transmitter.or_else(|| self.exchanges.responder(captured_frame));
        self.recognise(captured_frame, sender);
        let begins = self.own_begins && self.own.is_some() && sender == self.own;
        let stamp_reference = if begins { StampReference::Begin } else { stamp_reference };
        let air = captured_frame.air(stamp_reference);
        self.first.get_or_insert(air.start);
        let silence = air.start.since(self.last.min(air.start));
        if !std::mem::take(&mut self.is_interrupted) {
            self.quality.longest_silence = self.quality.longest_silence.max(silence);
        }
        self.last = self.last.max(air.end);
        let orphans = self.exchanges.orphan_acks;
        let settled = self.block_ack(captured_frame);
        // An A-MPDU counts as one frame in an exchange.
        let (done, sender) = match captured_frame.ampdu.map(|part| part.represented_bytes) {
            None => self.exchange_frame(captured_frame, air, settled.as_ref()),
            Some(Some(size)) => self.exchange_frame(
                &captured_frame.with_size(size),
                captured_frame.ppdu(stamp_reference),
                None,
            ),
            Some(None) => (None, sender),
        };
        if let (Some(log), None | Some(Some(_))) =
            (&mut self.transmissions, captured_frame.ampdu.map(|part| part.represented_bytes))
        {
            log.process(captured_frame, captured_frame.ppdu(stamp_reference), sender);
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
            None => self.data(captured_frame, captured_frame.ppdu(stamp_reference).start),
        }
        self.ledger.add(sender, AirtimeUse::of_frame(frame), frame.air_bytes, air);
        if let Some(station) = sender.and_then(|sender| self.stations.get_mut(sender)) {
            station.sent(frame, air.length(), air.start, captured_frame.signal_dbm);
        }
    }

    /// Outcome of data by a block acknowledgement; none for other frames.
    fn block_ack(&mut self, captured_frame: &CapturedFrame) -> Option<BlockAckOutcome> {
        let Some(Control::BlockAck(said)) = captured_frame.control() else { return None };
        self.quality.block_acks += 1;
        let (sender, receiver) = (captured_frame.receiver?, captured_frame.transmitter?);
        let settled = self.block_acks.on_block_ack(sender, receiver, &said);
        if settled.delivered.frames > 0 {
            self.links.delivered(sender, receiver, &settled.delivered);
        }
        Some(settled)
    }

    /// Counts a data frame that an ACK or a block acknowledgement may concern, in a PPDU that began at
    /// `ppdu`.
    fn data(&mut self, captured_frame: &CapturedFrame, ppdu: Time) {
        if let (FrameType::Data(data), Some(sender), Some(receiver)) =
            (captured_frame.frame.kind, captured_frame.transmitter, captured_frame.receiver)
            && !data.null
        {
            self.links.sent(sender, receiver, captured_frame.rate);
            self.block_acks.on_data(captured_frame, ppdu);
        }
    }

    /// Processes an exchange that ended without further frames.
    fn end_exchange(&mut self, over: &ObservedExchange) {
        self.exchange(over);
        self.estimators.iter_mut().for_each(|estimators| estimators.exchange(over));
    }

    /// Processes a frame as part of an exchange, also for the estimators, with the outcome of a block
    /// acknowledgement. Returns the exchange that it closes, and the frame's sender.
    fn exchange_frame(
        &mut self,
        captured_frame: &CapturedFrame,
        air: Interval,
        settled: Option<&BlockAckOutcome>,
    ) -> (Option<ObservedExchange>, Option<StationId>) {
        self.read_estimators(air);
        let (done, sender) = self.exchanges.process(captured_frame, air);
        if let Some(estimators) = &mut self.estimators {
            estimators.frame(captured_frame, air, sender, (done.as_ref(), settled));
        }
        (done, sender)
    }

    fn exchange(&mut self, seen: &ObservedExchange) {
        let possible = seen.is_possible();
        if let Some(log) = &mut self.transmissions {
            log.on_exchange(seen);
        }
        if let (Some(ack), Some(sender), true) = (seen.ack, seen.sender, seen.is_data) {
            self.quality.timed += u64::from(seen.is_timed());
            self.quality.impossible += u64::from(seen.is_timed() && !possible);
            if let Some(station) = self.stations.get_mut(sender) {
                station.acknowledged(Some(ack.end).filter(|_| seen.is_timed() && possible));
            }
        }
        if let (Some(_), false, Some(sender), Some(receiver), Some(number)) =
            (seen.ack, seen.is_block_ack, seen.sender, seen.receiver, seen.number)
        {
            self.block_acks.on_ack(sender, receiver, number);
        }
        self.links.add(seen);
    }

    /// Processes all buffered frames, and returns the report.
    pub fn finish(mut self) -> SnifferReport {
        self.end_aggregate();
        if self.stamp_reference.is_none() {
            self.determine_reference();
        }
        if let Some(open) = &self.exchanges.finish() {
            self.end_exchange(open);
        }
        let (readings, step) = self
            .estimators
            .take()
            .map_or((Vec::new(), self.options.bin), |estimators| estimators.finish(self.last));
        let (bin, rows, busy, start) = self.ledger.finish();
        self.stations.finish();
        let stations = self.stations.all().to_vec();
        let airtime: Span = rows.iter().map(|row| row.cell.airtime).sum();
        let (links, rates) = self.links.finish();
        // A station without captured frames is out of range: nothing to it counts as missing.
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
            // Timestamps of the start do not depend on the packet extension.
            unknown_extension: self
                .stamp_reference
                .filter(|stamp_reference| *stamp_reference == StampReference::End)
                .map_or(0, |_| self.quality.unknown_extension),
            airtime,
            overlapping: airtime.saturating_sub(busy.iter().copied().sum()),
            copies: stations.iter().map(|station| station.copies).sum(),
            stamp_pairs: self.stamps.pairs(),
            // A stated timestamp reference is not questioned.
            other_pairs: self
                .stamp_reference
                .filter(|_| !self.quality.reference_is_known)
                .map_or(0, |stamp_reference| self.stamps.contradicting(stamp_reference)),
            stations_beyond: self.stations.over_limit,
            ..self.quality
        };
        SnifferReport {
            start: start.map(|start| start + self.origin),
            length: self.first.map_or(Span::ZERO, |first| self.last.since(first)),
            stamp_reference: self.stamp_reference.unwrap_or(StampReference::End),
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

/// Start of the time line of a capture whose first frame began at `start`: a whole bin. Timestamps within
/// three years of zero are not dates but times of a simulation or of a radio's timer, and start at zero.
fn origin(start: Time, bin: Span) -> Span {
    const DATES: Span = Span::from_ms(100_000_000_000);
    let since = start.since(Time::ZERO);
    if since < DATES { Span::ZERO } else { bin * since.whole(bin) }
}

/// Station whose frames are marked as sent by the host, if any: by a transmitter address, or by a response to
/// a frame addressed to it.
fn sender_of_own(seen: &[CapturedFrame]) -> Option<StationId> {
    let named = || seen.iter().find(|frame| frame.sent && frame.transmitter.is_some());
    let answer = || {
        let is_response = |pair: &&[CapturedFrame]| {
            pair[1].sent && pair[1].transmitter.is_none() && pair[1].receiver == pair[0].transmitter
        };
        seen.windows(2).find(is_response).and_then(|pair| pair[0].receiver)
    };
    named().and_then(|frame| frame.transmitter).or_else(answer)
}
