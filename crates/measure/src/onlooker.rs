//! One interface of a capture, frame by frame.

use crate::{
    Aggregates, Clock, Exchanges, Kind, Ledger, Link, Links, Marks, Quality, Row, Seen, Sighting, Stamps,
    Station, StationId, Stations,
};
use multihop_capture::{
    Channel, Control, DissectError, Fcs, Frame, FrameError, FrameType, Reception, Record, airtime, dissect,
    ppdu,
};
use multihop_core::{Span, Time};

/// What to measure how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Width of the bins of time, not zero.
    pub bin: Span,
    /// What stamps mark, if it is known; else it is found out.
    pub marks: Option<Marks>,
}

impl Default for Options {
    fn default() -> Options {
        Options { bin: Span::from_ms(1_000), marks: None }
    }
}

/// Frames that wait until it is known what stamps mark.
const WAITING: usize = 4_096;

/// Pairs that decide it.
const ENOUGH_VOTES: u64 = 64;

/// Measures what one interface saw, as a stream.
#[derive(Clone, Debug)]
pub struct Onlooker {
    clock: Clock,
    stamps: Stamps,
    marks: Option<Marks>,
    own: Option<StationId>,
    aggregates: Aggregates,
    waiting: Vec<Sighting>,
    stations: Stations,
    exchanges: Exchanges,
    links: Links,
    ledger: Ledger,
    quality: Quality,
    first: Option<Time>,
    last: Time,
}

/// What an onlooker saw.
#[derive(Clone, Debug)]
pub struct Findings {
    /// When the first frame began, in nanoseconds since 1970 or of the radio's timer.
    pub start: Option<Time>,
    /// From there to the end of the last frame.
    pub length: Span,
    /// What stamps mark.
    pub marks: Marks,
    /// Pairs of a frame and its answer from which that was found; none if it was given.
    pub pairs: u64,
    /// The station that the onlooker is itself, if it stamps what it sends when that begins, and what it receives when it ends.
    pub own: Option<StationId>,
    /// Width of the bins.
    pub bin: Span,
    /// Airtime by bin, station and kind.
    pub rows: Vec<Row>,
    /// Time of each bin in which a frame was on the air.
    pub busy: Vec<Span>,
    /// Who was heard, and what of them.
    pub stations: Vec<Station>,
    /// What became of data, by sender and receiver.
    pub links: Vec<(StationId, StationId, Link)>,
    /// How far to trust all this.
    pub quality: Quality,
}

impl Onlooker {
    /// Has seen nothing yet.
    pub fn new(options: Options) -> Onlooker {
        Onlooker {
            clock: Clock::default(),
            stamps: Stamps::default(),
            marks: options.marks,
            own: None,
            aggregates: Aggregates::default(),
            waiting: Vec::new(),
            stations: Stations::default(),
            exchanges: Exchanges::default(),
            links: Links::default(),
            ledger: Ledger::new(options.bin),
            quality: Quality::default(),
            first: None,
            last: Time::ZERO,
        }
    }

    /// The next record of the interface.
    pub fn see(&mut self, record: &Record<'_>) {
        self.quality.records += 1;
        match dissect(record) {
            Ok((reception, frame)) => self.frame(record.time, &reception, frame),
            Err(DissectError::Frame { error, reception, air_bytes }) => {
                self.quality.unreadable += 1;
                self.quality.cut += u64::from(matches!(error, FrameError::Short { .. }));
                self.sighting(record.time, &reception, Frame::unreadable(air_bytes));
            }
            Err(_) => self.quality.unreadable += 1,
        }
    }

    /// The file is broken from here on.
    pub fn broken(&mut self) {
        self.quality.broken = true;
    }

    fn frame(&mut self, time: Option<Time>, reception: &Reception, frame: Frame) {
        if frame.fcs == Fcs::Wrong || reception.bad_fcs == Some(true) || reception.damaged {
            // Addresses and lengths in it may be anything; that it was on the air, and for how long, is all that is known.
            self.quality.damaged += 1;
            self.sighting(time, reception, Frame::unreadable(frame.air_bytes));
        } else if !self.sighting(time, reception, frame) {
            self.quality.unreadable += 1;
        }
    }

    /// Is there a stamp, so that it can be told when the frame was on the air?
    fn sighting(&mut self, time: Option<Time>, reception: &Reception, frame: Frame) -> bool {
        let Some(stamp) = self.clock.read(time, reception.tsft_us) else { return false };
        let how = ppdu(reception);
        let sighting = Sighting {
            stamp,
            airtime: airtime(reception, frame.air_bytes),
            preamble: how.map_or(Span::ZERO, |how| how.overhead()),
            rate: how.and_then(|how| how.rate()),
            signal_dbm: reception.signal_dbm,
            transmitter: self.stations.id(frame.transmitter),
            receiver: self.stations.id(frame.receiver),
            sifs: sifs(reception.channel),
            part: None,
            frame,
        };
        if !self.aggregates.continues(&sighting, reception.aggregate, how) {
            self.end_aggregate();
        }
        match reception.aggregate {
            Some(aggregate) => self.aggregates.push(sighting, aggregate, how),
            None => self.next(&sighting),
        }
        true
    }

    fn end_aggregate(&mut self) {
        let frames = self.aggregates.end();
        for frame in &frames {
            self.next(frame);
        }
        self.aggregates.reuse(frames);
    }

    fn next(&mut self, sighting: &Sighting) {
        self.quality.unknown_airtime += u64::from(sighting.airtime.is_none() && !sighting.is_damaged());
        match self.marks {
            Some(marks) => self.account(sighting, marks),
            None => self.wait(*sighting),
        }
    }

    fn wait(&mut self, sighting: Sighting) {
        self.stamps.see(&sighting);
        self.waiting.push(sighting);
        if self.waiting.len() >= WAITING || self.stamps.pairs() >= ENOUGH_VOTES {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let marks = self.stamps.marks();
        self.marks = Some(marks);
        self.own = self.stamps.own();
        for sighting in std::mem::take(&mut self.waiting) {
            self.account(&sighting, marks);
        }
    }

    fn account(&mut self, sighting: &Sighting, marks: Marks) {
        let sender = sighting.transmitter.or_else(|| self.exchanges.answerer(sighting));
        let is_own = self.own.is_some() && sender == self.own;
        let marks = if is_own { Marks::Begin } else { marks };
        let air = sighting.air(marks);
        self.first.get_or_insert(air.start);
        self.last = self.last.max(air.end);
        let orphans = self.exchanges.orphan_acks;
        // In an exchange an A-MPDU is one frame.
        let (done, sender) = match sighting.part.map(|part| part.stands_for) {
            None => self.exchanges.see(sighting, air),
            Some(Some(bodies)) => self.exchanges.see(&sighting.with_body(bodies), sighting.ppdu(marks)),
            Some(None) => (None, sender),
        };
        if let Some(done) = done {
            self.exchange(&done);
        }
        let frame = &sighting.frame;
        match sighting.control() {
            Some(Control::Ack) => {
                if let Some(station) = sighting.receiver.and_then(|receiver| self.stations.get_mut(receiver))
                {
                    station.acks += 1;
                    station.orphan_acks += self.exchanges.orphan_acks - orphans;
                }
            }
            Some(Control::BlockAck(_)) => self.quality.block_acks += 1,
            _ => {}
        }
        self.ledger.add(sender, kind(frame), frame.air_bytes, air);
        if let Some(station) = sender.and_then(|sender| self.stations.get_mut(sender)) {
            station.sent(frame, air.length(), air.start, sighting.signal_dbm);
        }
    }

    fn exchange(&mut self, seen: &Seen) {
        if let (Some(ack), Some(sender), true) = (seen.ack, seen.sender, seen.is_data)
            && let Some(station) = self.stations.get_mut(sender)
        {
            station.acknowledged(ack.end);
        }
        self.links.add(seen);
    }

    /// Whatever waits is accounted for.
    pub fn finish(mut self) -> Findings {
        self.end_aggregate();
        if self.marks.is_none() {
            self.settle();
        }
        if let Some(open) = self.exchanges.finish() {
            self.exchange(&open);
        }
        let (bin, rows, busy, start) = self.ledger.finish();
        let stations = self.stations.all().to_vec();
        let links = self.links.finish();
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
            timer_steps: self.clock.timer_steps,
            backward: self.clock.backward,
            stations_beyond: self.stations.beyond,
            ..self.quality
        };
        Findings {
            start,
            length: self.first.map_or(Span::ZERO, |first| self.last.since(first)),
            marks: self.marks.unwrap_or(Marks::End),
            pairs: self.stamps.pairs(),
            own: self.own,
            bin,
            rows,
            busy,
            stations,
            links,
            quality,
        }
    }
}

fn kind(frame: &Frame) -> Kind {
    match frame.kind {
        FrameType::Management(_) => Kind::Management,
        FrameType::Control(Control::Rts | Control::Cts) => Kind::Reservation,
        FrameType::Control(Control::Ack | Control::BlockAck(_) | Control::BlockAckRequest(_)) => {
            Kind::Acknowledgement
        }
        FrameType::Data(_) if frame.retry => Kind::Retry,
        FrameType::Data(_) => Kind::Data,
        FrameType::Control(_) | FrameType::Extension(_) => Kind::Control,
        FrameType::Unknown => Kind::Damaged,
    }
}

/// 10 us at 2.4 GHz, 16 us at 5 GHz and above (Tables 15-6, 17-21, 18-5); where the band is not known, the former.
fn sifs(channel: Option<Channel>) -> Span {
    let is_high = channel.is_some_and(|channel| !channel.is_2_4_ghz() && channel.mhz > 3_000);
    Span::from_us(if is_high { 16 } else { 10 })
}
