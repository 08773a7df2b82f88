//! Assembly of exchanges from consecutive frames.

use crate::{CapturedFrame, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{Interval, Rate, Span, Time};
use multihop_link::{WinfReading, capacity_bps};

/// Limit on the time from a frame to its response. A response begins after SIFS, but host timestamps are much
/// later. Within the limit, a response is recognised by the absence of frames in between.
const MAX_RESPONSE_DELAY: Span = Span::from_ms(2);

/// Number that distinguishes the frames of a station; each traffic identifier has its own count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameNumber {
    /// Traffic identifier; none without QoS.
    pub tid: Option<u8>,
    /// Sequence number.
    pub sequence: u16,
}

/// Exchange, as far as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct ObservedExchange {
    /// Transmitter of the data.
    pub sender: Option<StationId>,
    /// Receiver of the data; none for a group address.
    pub receiver: Option<StationId>,
    /// The RTS.
    pub rts: Option<Interval>,
    /// The CTS.
    pub cts: Option<Interval>,
    /// The last DATA frame.
    pub data: Option<Interval>,
    /// The ACK or block acknowledgement.
    pub ack: Option<Interval>,
    /// Traffic identifier and sequence number of the DATA.
    pub number: Option<FrameNumber>,
    /// Number of bytes that the network layer asked the MAC to carry.
    pub size: u32,
    /// Bit rate of the DATA.
    pub rate: Option<Rate>,
    /// Time from the last symbol of the first frame to a response: signal extension and SIFS.
    pub sifs: Span,
    /// Whether the exchange carries a data frame, not a management frame.
    pub is_data: bool,
    /// Whether the data frame has a body, unlike a null frame.
    pub has_payload: bool,
    /// Whether the DATA is a retransmission.
    pub retry: bool,
    /// Whether the DATA requires a response.
    pub requires_ack: bool,
    /// Whether the response is a block acknowledgement.
    pub is_block_ack: bool,
    /// Whether the DATA is an A-MPDU.
    pub aggregate: bool,
    /// Whether the timestamp of one of the frames is interpolated.
    pub is_guessed: bool,
}

impl ObservedExchange {
    /// End of the exchange.
    pub fn end(&self) -> Time {
        [self.ack, self.data, self.cts, self.rts]
            .into_iter()
            .flatten()
            .map(|air| air.end)
            .next()
            .unwrap_or(Time::ZERO)
    }

    /// Whether more than a CTS was captured.
    fn has_rts_or_data(&self) -> bool {
        self.data.is_some() || self.rts.is_some()
    }

    /// Whether the timestamps are possible: each frame begins after the end of the previous one. Timestamps
    /// of a slow host may be impossible; then the duration of the exchange is unknown.
    pub fn is_possible(&self) -> bool {
        let frames = [self.rts, self.cts, self.data, self.ack].into_iter().flatten();
        frames.clone().zip(frames.skip(1)).all(|(before, after)| before.end <= after.start)
    }

    /// Whether DATA and ACK were captured with known times, and the airtime of the DATA is known.
    pub fn is_timed(&self) -> bool {
        !self.is_guessed && self.ack.is_some() && self.data.is_some_and(|data| data.length() > Span::ZERO)
    }

    /// Capacity of the link during this exchange in bits per second, by rt-Winf as printed: Eq. 6 with
    /// RTS/CTS, Eq. 12 without (Barreto 2015). An A-MPDU with its block acknowledgement counts as one frame
    /// that was delivered in full. None unless DATA and ACK have possible times. Values above the bit rate of
    /// the DATA are rejected.
    pub fn capacity_bps(&self) -> Option<f64> {
        let (data, ack) = (self.data?, self.ack?);
        let transfer = match self.cts {
            Some(cts) => WinfReading::Printed.transfer(cts.end, ack, self.sifs),
            None => ack.end.since(data.start),
        };
        let is_whole = (!self.is_block_ack || self.aggregate) && self.is_timed() && self.is_possible();
        let rate = self.rate?;
        capacity_bps(self.size, transfer, rate, None).filter(|&bps| is_whole && bps <= rate.bps() as f64)
    }
}

/// Assembles exchanges. As the medium is shared, at most one is open at a time.
#[derive(Clone, Debug)]
pub struct ExchangeAssembler {
    open: Option<ObservedExchange>,
    /// Time after which a frame is no longer a response.
    timeout: Span,
    /// Number of ACKs without a captured frame that they acknowledge.
    pub orphan_acks: u64,
    /// Number of block acknowledgements without captured data or a request that they answer.
    pub orphan_block_acks: u64,
    /// Transmitter and end of the last block acknowledgement request.
    request: Option<(Option<StationId>, Time)>,
    /// Sender and end of the last acknowledged exchange; a CF-End that follows is from the same station.
    txop_holder: Option<(StationId, Time)>,
}

impl Default for ExchangeAssembler {
    fn default() -> ExchangeAssembler {
        let (orphan_acks, orphan_block_acks) = (0, 0);
        ExchangeAssembler {
            open: None,
            timeout: MAX_RESPONSE_DELAY,
            orphan_acks,
            orphan_block_acks,
            request: None,
            txop_holder: None,
        }
    }
}

impl ExchangeAssembler {
    /// Sets the response timeout, for captures with exact timestamps.
    pub fn set_response_timeout(&mut self, timeout: Span) {
        self.timeout = timeout;
    }

    /// Closes the exchange if nothing has been on the air since, up to `now`.
    pub fn expire(&mut self, now: Time) -> Option<ObservedExchange> {
        let timeout = self.timeout;
        self.open
            .take_if(|open| now.since(open.end()) > response_timeout(open, timeout))
            .filter(ObservedExchange::has_rts_or_data)
    }

    /// Processes the next frame, which was on the air at `air`. Returns the exchange that it closes, if any,
    /// and the transmitter of the frame, as far as it follows from earlier frames.
    pub fn process(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
    ) -> (Option<ObservedExchange>, Option<StationId>) {
        let open =
            self.open.take_if(|open| air.start.since(open.end()) <= response_timeout(open, self.timeout));
        let stale = self.open.take();
        let (done, sender) = match frame.control() {
            Some(Control::Rts) => {
                self.open = Some(ObservedExchange { rts: Some(air), ..begin(frame) });
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
                let txop_holder = self.txop_holder.filter(|(_, end)| air.start.since(*end) <= self.timeout);
                (open, txop_holder.map(|(station, _)| station))
            }
            Some(_) => (open, frame.transmitter),
            None => self.data(frame, air, open),
        };
        (stale.or(done).filter(ObservedExchange::has_rts_or_data), sender)
    }

    /// Transmitter of a response to the last frame; none for other frames.
    pub fn responder(&self, frame: &CapturedFrame) -> Option<StationId> {
        let open = self.open.filter(|open| open.sender == frame.receiver)?;
        match frame.control() {
            Some(Control::Cts) if open.rts.is_some() && open.cts.is_none() && open.data.is_none() => {
                open.receiver
            }
            Some(Control::Ack | Control::BlockAck(_)) if open.data.is_some() => open.receiver,
            _ => None,
        }
    }

    /// Closes the open exchange at the end of the capture.
    pub fn finish(&mut self) -> Option<ObservedExchange> {
        self.open.take().filter(|seen| seen.data.is_some())
    }

    fn clear_to_send(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<ObservedExchange>,
    ) -> (Option<ObservedExchange>, Option<StationId>) {
        match open {
            Some(asked) if asked.rts.is_some() && asked.cts.is_none() && asked.sender == frame.receiver => {
                let is_guessed = asked.is_guessed || frame.is_guessed;
                self.open = Some(ObservedExchange { cts: Some(air), is_guessed, ..asked });
                (None, asked.receiver)
            }
            other => {
                self.open = Some(ObservedExchange {
                    sender: frame.receiver,
                    receiver: None,
                    cts: Some(air),
                    ..begin(frame)
                });
                (other, None)
            }
        }
    }

    fn data(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<ObservedExchange>,
    ) -> (Option<ObservedExchange>, Option<StationId>) {
        let (FrameType::Data(_) | FrameType::Management(_)) = frame.frame.kind else {
            return (open, frame.transmitter);
        };
        let mine = open.filter(|open| open.sender == frame.transmitter && open.data.is_none());
        let before = mine.unwrap_or_else(|| begin(frame));
        let now = ObservedExchange {
            sender: frame.transmitter,
            receiver: frame.receiver,
            data: Some(air),
            number: frame.number(),
            size: frame.size,
            rate: frame.rate,
            is_data: matches!(frame.frame.kind, FrameType::Data(_)),
            has_payload: matches!(frame.frame.kind, FrameType::Data(data) if !data.null),
            retry: frame.frame.retry,
            requires_ack: frame.requires_ack(),
            aggregate: frame.ampdu.is_some(),
            is_guessed: before.is_guessed || frame.is_guessed,
            ..before
        };
        let replaced = if mine.is_some() { None } else { open };
        self.open = Some(now);
        (replaced, frame.transmitter)
    }

    /// Processes an ACK or a block acknowledgement.
    fn acknowledge(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        open: Option<ObservedExchange>,
        is_block_ack: bool,
    ) -> (Option<ObservedExchange>, Option<StationId>) {
        match open {
            Some(sent)
                if sent.data.is_some()
                    && (is_block_ack || sent.requires_ack)
                    && sent.sender == frame.receiver =>
            {
                let sender = if is_block_ack { frame.transmitter } else { sent.receiver };
                self.txop_holder = sent.sender.map(|station| (station, air.end));
                let is_guessed = sent.is_guessed || frame.is_guessed;
                (Some(ObservedExchange { ack: Some(air), is_block_ack, is_guessed, ..sent }), sender)
            }
            other => {
                let asked = self
                    .request
                    .take()
                    .is_some_and(|(by, end)| by == frame.receiver && air.start.since(end) <= self.timeout);
                let orphans = if is_block_ack { &mut self.orphan_block_acks } else { &mut self.orphan_acks };
                *orphans += u64::from(!(is_block_ack && asked));
                (other, frame.transmitter)
            }
        }
    }
}

/// Response timeout of the open exchange. A frame of unknown length may have ended later than assumed.
fn response_timeout(open: &ObservedExchange, timeout: Span) -> Span {
    if open.data.is_some_and(|data| data.length() == Span::ZERO) { MAX_RESPONSE_DELAY } else { timeout }
}

fn begin(frame: &CapturedFrame) -> ObservedExchange {
    ObservedExchange {
        sender: frame.transmitter,
        receiver: frame.receiver,
        rts: None,
        cts: None,
        data: None,
        ack: None,
        number: None,
        size: 0,
        rate: None,
        sifs: frame.response_gap,
        is_data: false,
        has_payload: false,
        retry: false,
        requires_ack: false,
        is_block_ack: false,
        aggregate: false,
        is_guessed: frame.is_guessed,
    }
}
