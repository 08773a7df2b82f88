//! Exchanges, put together from frames that follow each other.

use crate::{CapturedFrame, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{Interval, Rate, Span, Time};
use multihop_link::{WinfReading, capacity_bps};

/// An answer begins SIFS after what it answers. Stamps of hosts are late by much more, so that what counts is
/// that nothing was heard in between; after so long, though, it answers something else.
const LATEST_ANSWER: Span = Span::from_ms(2);

/// What distinguishes a station's frames: each traffic identifier counts for itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Number {
    /// Traffic identifier; none without quality of service.
    pub tid: Option<u8>,
    /// Sequence number.
    pub sequence: u16,
}

/// An exchange, as far as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Transmitter of the data.
    pub sender: Option<StationId>,
    /// Whom it is for; none for a group.
    pub receiver: Option<StationId>,
    /// The RTS.
    pub rts: Option<Interval>,
    /// The CTS.
    pub cts: Option<Interval>,
    /// The DATA, of several the last.
    pub data: Option<Interval>,
    /// The ACK or block acknowledgement.
    pub ack: Option<Interval>,
    /// Number of the DATA.
    pub number: Option<Number>,
    /// Bytes that the network layer asked the MAC to carry.
    pub size: u32,
    /// Bit rate of the DATA.
    pub rate: Option<Rate>,
    /// Time from the last symbol of its first frame to an answer: SIFS, behind the signal extension.
    pub sifs: Span,
    /// It is data, not management.
    pub is_data: bool,
    /// It is data with a frame body, not a null frame.
    pub has_payload: bool,
    /// It was sent before.
    pub retry: bool,
    /// It was to be answered.
    pub wants_ack: bool,
    /// The answer is one for several frames.
    pub block: bool,
    /// The DATA was part of an A-MPDU.
    pub aggregate: bool,
    /// The stamp of one of its frames is a guess.
    pub is_guessed: bool,
}

impl Seen {
    /// The last instant of it.
    pub fn end(&self) -> Time {
        [self.ack, self.data, self.cts, self.rts]
            .into_iter()
            .flatten()
            .map(|air| air.end)
            .next()
            .unwrap_or(Time::ZERO)
    }

    /// More than a CTS was seen.
    fn is_one(&self) -> bool {
        self.data.is_some() || self.rts.is_some()
    }

    /// Could it have been as the stamps say? Each of its frames begins after the one before has ended; a host
    /// that stamps frames when it gets around to it may say otherwise, and then nothing can be said of how
    /// long the exchange took.
    pub fn is_possible(&self) -> bool {
        let frames = [self.rts, self.cts, self.data, self.ack].into_iter().flatten();
        frames.clone().zip(frames.skip(1)).all(|(before, after)| before.end <= after.start)
    }

    /// DATA and ACK were seen, and it is known when, and for how long the DATA was on the air.
    pub fn is_timed(&self) -> bool {
        !self.is_guessed && self.ack.is_some() && self.data.is_some_and(|data| data.length() > Span::ZERO)
    }

    /// What the link carries of such packets while it does, in bits per second, by rt-Winf as printed: with
    /// RTS/CTS of Eq. 6, and without of Eq. 12 (Barreto 2015). An A-MPDU with its block acknowledgement
    /// counts as one frame, all of which arrived. None unless DATA and ACK were seen at times that are
    /// possible. It is never above the bit rate of the DATA: what would be is not a capacity.
    pub fn capacity_bps(&self) -> Option<f64> {
        let (data, ack) = (self.data?, self.ack?);
        let transfer = match self.cts {
            Some(cts) => WinfReading::Printed.transfer(cts.end, ack, self.sifs),
            None => ack.end.since(data.start),
        };
        let is_whole = (!self.block || self.aggregate) && self.is_timed() && self.is_possible();
        let rate = self.rate?;
        capacity_bps(self.size, transfer, rate, None).filter(|&bps| is_whole && bps <= rate.bps() as f64)
    }
}

/// Puts exchanges together. At any time there is at most one: the medium is shared.
#[derive(Clone, Debug)]
pub struct Exchanges {
    open: Option<Seen>,
    /// After so long, a frame is no answer any more.
    timeout: Span,
    /// ACKs that answer no frame that was seen.
    pub orphan_acks: u64,
    /// Block acknowledgements that answer no data that was seen, nor a request for one.
    pub orphan_block_acks: u64,
    /// The last request for a block acknowledgement: its transmitter, and its end.
    request: Option<(Option<StationId>, Time)>,
    /// Who had the last exchange that was answered, and its end: a CF-End that follows is of the same
    /// station.
    holder: Option<(StationId, Time)>,
}

impl Default for Exchanges {
    fn default() -> Exchanges {
        let (orphan_acks, orphan_block_acks) = (0, 0);
        Exchanges {
            open: None,
            timeout: LATEST_ANSWER,
            orphan_acks,
            orphan_block_acks,
            request: None,
            holder: None,
        }
    }
}

impl Exchanges {
    /// Stamps are exact, so that no answer comes later than this after what it answers.
    pub fn expect_answers_within(&mut self, timeout: Span) {
        self.timeout = timeout;
    }

    /// The exchange that is over because nothing has been on the air since up to `now`.
    pub fn expire(&mut self, now: Time) -> Option<Seen> {
        let timeout = self.timeout;
        self.open.take_if(|open| now.since(open.end()) > answer_timeout(open, timeout)).filter(Seen::is_one)
    }

    /// The next frame, which was on the air at `air`. Returns the exchange that it ends, if any, and the
    /// transmitter of the frame, as far as this follows from the frames before.
    pub fn process(&mut self, frame: &CapturedFrame, air: Interval) -> (Option<Seen>, Option<StationId>) {
        let open =
            self.open.take_if(|open| air.start.since(open.end()) <= answer_timeout(open, self.timeout));
        let stale = self.open.take();
        let (done, sender) = match frame.control() {
            Some(Control::Rts) => {
                self.open = Some(Seen { rts: Some(air), ..begin(frame) });
                (open, frame.transmitter)
            }
            Some(Control::Cts) => self.clear_to_send(frame, air, open),
            Some(Control::Ack) => self.acknowledge(frame, air, open, false),
            Some(Control::BlockAck(_)) => self.acknowledge(frame, air, open, true),
            Some(Control::BlockAckRequest(_)) => {
                self.request = Some((frame.transmitter, air.end));
                (open, frame.transmitter)
            }
            Some(Control::CfEnd) => {
                let holder = self.holder.filter(|(_, end)| air.start.since(*end) <= self.timeout);
                (open, holder.map(|(station, _)| station))
            }
            Some(_) => (open, frame.transmitter),
            None => self.data(frame, air, open),
        };
        (stale.or(done).filter(Seen::is_one), sender)
    }

    /// Transmitter of this response, if it is one to what was heard last.
    pub fn answerer(&self, frame: &CapturedFrame) -> Option<StationId> {
        let open = self.open.filter(|open| open.sender == frame.receiver)?;
        match frame.control() {
            Some(Control::Cts) if open.rts.is_some() && open.cts.is_none() && open.data.is_none() => {
                open.receiver
            }
            Some(Control::Ack | Control::BlockAck(_)) if open.data.is_some() => open.receiver,
            _ => None,
        }
    }

    /// What is under way when the capture ends.
    pub fn finish(&mut self) -> Option<Seen> {
        self.open.take().filter(|seen| seen.data.is_some())
    }

    fn clear_to_send(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<Seen>,
    ) -> (Option<Seen>, Option<StationId>) {
        match open {
            Some(asked) if asked.rts.is_some() && asked.cts.is_none() && asked.sender == frame.receiver => {
                let is_guessed = asked.is_guessed || frame.is_guessed;
                self.open = Some(Seen { cts: Some(air), is_guessed, ..asked });
                (None, asked.receiver)
            }
            other => {
                self.open =
                    Some(Seen { sender: frame.receiver, receiver: None, cts: Some(air), ..begin(frame) });
                (other, None)
            }
        }
    }

    fn data(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<Seen>,
    ) -> (Option<Seen>, Option<StationId>) {
        let (FrameType::Data(_) | FrameType::Management(_)) = frame.frame.kind else {
            return (open, frame.transmitter);
        };
        let mine = open.filter(|open| open.sender == frame.transmitter && open.data.is_none());
        let before = mine.unwrap_or_else(|| begin(frame));
        let now = Seen {
            sender: frame.transmitter,
            receiver: frame.receiver,
            data: Some(air),
            number: frame.number(),
            size: frame.size,
            rate: frame.rate,
            is_data: matches!(frame.frame.kind, FrameType::Data(_)),
            has_payload: matches!(frame.frame.kind, FrameType::Data(data) if !data.null),
            retry: frame.frame.retry,
            wants_ack: frame.wants_ack(),
            aggregate: frame.part.is_some(),
            is_guessed: before.is_guessed || frame.is_guessed,
            ..before
        };
        let replaced = if mine.is_some() { None } else { open };
        self.open = Some(now);
        (replaced, frame.transmitter)
    }

    /// An ACK, or a block acknowledgement.
    fn acknowledge(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<Seen>,
        block: bool,
    ) -> (Option<Seen>, Option<StationId>) {
        match open {
            Some(sent)
                if sent.data.is_some() && (block || sent.wants_ack) && sent.sender == frame.receiver =>
            {
                let sender = if block { frame.transmitter } else { sent.receiver };
                self.holder = sent.sender.map(|station| (station, air.end));
                let is_guessed = sent.is_guessed || frame.is_guessed;
                (Some(Seen { ack: Some(air), block, is_guessed, ..sent }), sender)
            }
            other => {
                let asked = self
                    .request
                    .take()
                    .is_some_and(|(by, end)| by == frame.receiver && air.start.since(end) <= self.timeout);
                let orphans = if block { &mut self.orphan_block_acks } else { &mut self.orphan_acks };
                *orphans += u64::from(!(block && asked));
                (other, frame.transmitter)
            }
        }
    }
}

/// A frame of unknown length may have ended later than it is known to.
fn answer_timeout(open: &Seen, timeout: Span) -> Span {
    if open.data.is_some_and(|data| data.length() == Span::ZERO) { LATEST_ANSWER } else { timeout }
}

fn begin(frame: &CapturedFrame) -> Seen {
    Seen {
        sender: frame.transmitter,
        receiver: frame.receiver,
        rts: None,
        cts: None,
        data: None,
        ack: None,
        number: None,
        size: 0,
        rate: None,
        sifs: frame.answer_gap,
        is_data: false,
        has_payload: false,
        retry: false,
        wants_ack: false,
        block: false,
        aggregate: false,
        is_guessed: frame.is_guessed,
    }
}
