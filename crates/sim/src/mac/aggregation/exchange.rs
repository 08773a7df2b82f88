//! Sending what was put together, and what becomes of each MPDU.

use super::psdu::BLOCK_ACK_REQUEST_BYTES;
use super::transmit_window::{MpduState, PendingMpdu, TransmitWindow};
use crate::config::AggregationConfig;
use crate::mac::phase::{Event, Phase};
use crate::mac::rate_control::RateDemands;
use crate::mac::{Context, FramePayload, Mac, OutgoingFrame};
use crate::medium::{Bitmap, Frame, RateClass};
use crate::outcome::LossCause;
use multihop_core::{DropCause, Exchange, Fate, FrameKind, LinkEvent, Span};

use super::sequence::{after, ahead};

/// What the recipient said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExchangeResult {
    /// The one MPDU of the frame arrived.
    Ack,
    /// These arrived, from a sequence number on.
    BlockAck(u16, Bitmap),
    /// Nothing.
    None,
    /// Nothing, as often as it may be asked whether it can receive.
    Unreachable,
}

/// What an exchange did for several MPDUs of one fate.
#[derive(Clone, Copy, Debug, Default)]
struct MpduTotals {
    mpdus: u64,
    size: u32,
    payload: u32,
    /// Of all together.
    queueing: Span,
    service: Span,
}

impl MpduTotals {
    fn add(&mut self, held: &PendingMpdu, exchange: &Exchange) {
        self.mpdus += 1;
        self.size += held.size;
        self.payload += held.payload;
        self.queueing += exchange.queueing_delay();
        self.service += exchange.service_delay();
    }
}

impl Mac {
    /// Assembles MPDUs for one neighbour after the station has won the medium, if its frame holds MPDUs.
    pub(in crate::mac) fn assemble_frame(&mut self, ctx: &mut Context, demands: RateDemands) {
        let out = self.outgoing_mut();
        match out.payload {
            FramePayload::Packet(_) => {}
            FramePayload::Mpdus { window, .. } => self.assemble(ctx, window, demands),
            FramePayload::Request { .. } => {
                let link = ctx.timing.on(out.rates);
                out.airtime = link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES);
            }
        }
    }

    /// A block acknowledgement request for a transmit window.
    pub(in crate::mac) fn request_frame(&self, ctx: &mut Context, out: &OutgoingFrame, index: u32) -> Frame {
        let peer = out.peer.expect("agreements are with one neighbour");
        let duration = self.duration_field(ctx, out);
        let (between, sequence) = ([self.id, peer], self.station.function.sequence);
        let kind = FrameKind::BlockAckRequest;
        let frame = ctx.timing.control_frame(kind, between, out.rates, sequence, duration, ctx.now);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let load = ctx.loads.get_mut(agreements.load);
        load.mpdus.clear();
        (load.start, load.tid, load.agreement) = (window.start(), window.tid, window.agreement);
        Frame { load: Some(agreements.load), ..frame }
    }

    /// DATA with the assembled MPDUs. Router policies see their packets before they leave.
    pub(in crate::mac) fn mpdus_frame(&mut self, ctx: &mut Context, index: u32, aggregate: bool) -> Frame {
        let (out, category) = (*self.outgoing(), self.station.function.category);
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let load = agreements.load;
        let window = &mut agreements.originators[category as usize].windows[index as usize];
        let (response, _) = out.response(ctx.timing.on(out.rates));
        window.airtime = ctx.timing.exchange_with(out.rates, out.airtime, response, out.with_rts);
        window.mpdus = ctx.loads.get(load).mpdus.len() as u32;
        for held in window.iter_mut().filter(|held| held.flying) {
            let departure = out.departure(ctx.timing, category, ctx.now, held.head_of_line, held.tries);
            held.tries += 1;
            held.tries_alone += u32::from(!aggregate);
            let mut packet = Some(held.packet);
            while let Some(handle) = packet {
                ctx.stack.on_departure(ctx.now, || departure, &mut ctx.packets.get_mut(handle).packet);
                packet = ctx.packets.next_msdu(handle);
            }
        }
        let first = ctx.loads.get(load).mpdus[0];
        let retry = !aggregate && first.retry;
        Frame { load: Some(load), retry, ..self.data_frame(ctx, &out, first.packet) }
    }

    /// A block acknowledgement for this station.
    pub(in crate::mac) fn on_block_ack(&mut self, ctx: &mut Context, frame: &Frame) {
        let awaited = self.station.function.current.as_ref().is_some_and(OutgoingFrame::wants_block_ack);
        let Some(load) = frame
            .load
            .filter(|_| awaited && self.station.phase == Phase::AwaitingAck && self.answers_outgoing(frame))
        else {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        };
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        self.end_attempt(ctx, Some(frame.air));
        let load = ctx.loads.get(load);
        self.end_mpdus(ctx, ExchangeResult::BlockAck(load.start, load.arrived));
    }

    /// The ACK of a single MPDU.
    pub(in crate::mac) fn on_ack_of_mpdu(&mut self, ctx: &mut Context) {
        self.end_mpdus(ctx, ExchangeResult::Ack);
    }

    /// A try failed, of which everyone knows by now.
    pub(in crate::mac) fn fail_mpdus(&mut self, ctx: &mut Context, awaited_cts: bool) {
        if !awaited_cts {
            return self.end_mpdus(ctx, ExchangeResult::None);
        }
        let out = self.station.function.current.as_mut().expect("a CTS was awaited for a frame");
        out.short_retries += 1;
        if out.short_retries >= ctx.timing.short_retry_limit {
            return self.end_mpdus(ctx, ExchangeResult::Unreachable);
        }
        self.double_cw(ctx);
        self.draw_backoff(ctx.timing);
        self.station.phase.change(Event::AttemptFailed);
    }

    /// The exchange is over: what became of each MPDU, and what is done next.
    fn end_mpdus(&mut self, ctx: &mut Context, answer: ExchangeResult) {
        let mut agreements = self.agreements();
        let out = self.station.function.current.take().expect("an exchange is over");
        let index = out.payload.window().expect("it was one of an agreement");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        let request_failed =
            out.is_request() && answer == ExchangeResult::None && window.request_failed(ctx.timing);
        let gives_up = settle_mpdus(window, answer, request_failed, ctx);
        if self.station.rates.is_some() && !out.is_request() && answer != ExchangeResult::Unreachable {
            let [sent, acknowledged] = window.in_flight();
            self.report_attempt_to(ctx, window.peer, sent, acknowledged);
        }
        self.report_exchange(ctx, &out, window, answer, gives_up);
        if self.station.hardware.is_some() {
            self.release_done(ctx, window);
        }
        let gave_up = release_packets(window, ctx);
        let answered = matches!(answer, ExchangeResult::Ack | ExchangeResult::BlockAck(..));
        if answered {
            ctx.stack.on_delivered(window.peer);
            window.request_tries = 0;
            window.request = std::mem::take(&mut window.owes_request) || gave_up;
        } else if request_failed {
            window.request = false;
        } else if (out.wants_block_ack() && answer != ExchangeResult::Unreachable) || gave_up {
            window.request = true;
            if gave_up {
                window.request_tries = 0;
            }
        }
        if answered || request_failed || answer == ExchangeResult::Unreachable || !window.is_behind() {
            self.reset_cw(ctx); // 10.22.2.2
        } else {
            self.double_cw(ctx);
        }
        window.advance(answered);
        self.station.agreements = Some(agreements);
        self.end_exchange(ctx, answered);
    }

    /// The hardware is done with the packets of MPDUs that will not be sent again.
    #[inline(never)]
    fn release_done(&mut self, ctx: &mut Context, window: &TransmitWindow) {
        let done = |held: &&PendingMpdu| !matches!(held.state, MpduState::Waiting | MpduState::Gone);
        for held in window.iter().filter(done) {
            let mut packet = Some(held.packet);
            while let Some(handle) = packet {
                packet = ctx.packets.next_msdu(handle);
                self.release(ctx, self.station.function.category, Some(window.peer), handle);
            }
        }
    }

    /// The first MPDU that waits will not be sent any more.
    pub(in crate::mac) fn give_up_first_mpdu(&mut self, ctx: &mut Context, index: u32) {
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        if let Some(first) = window.iter_mut().find(|held| held.state == MpduState::Waiting) {
            first.flying = true;
        }
        self.end_mpdus(ctx, ExchangeResult::Unreachable);
    }

    /// Airtime of the shortest frame that can be sent for a window, that of its answer, and whether an RTS
    /// comes before.
    pub(in crate::mac) fn shortest_of_window(
        &self,
        ctx: &Context,
        out: &OutgoingFrame,
        index: u32,
    ) -> (Span, Span, bool) {
        let link = ctx.timing.on(out.rates);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let first = window.iter().find(|held| held.state == MpduState::Waiting);
        match first.filter(|_| !out.is_request()) {
            Some(first) => (link.psdu_airtime(first.bytes), link.ack, ctx.timing.needs_rts(first.bytes)),
            None => (link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES), link.block_ack, false),
        }
    }

    /// Bytes of the longest PSDU that fits into the rest of the opportunity with its answer, if that has a
    /// limit.
    pub(super) fn longest_in_txop(&self, ctx: &Context, limits: &AggregationConfig) -> Option<u32> {
        let out = self.station.function.current.as_ref().expect("a window is served");
        let left = self.txop_end()?.since(ctx.now);
        Some(ctx.timing.longest_psdu_within(out.rates, limits, left))
    }

    /// Reports it to all that count.
    fn report_exchange(
        &self,
        ctx: &mut Context,
        out: &OutgoingFrame,
        window: &mut TransmitWindow,
        answer: ExchangeResult,
        gives_up: bool,
    ) {
        let sent_data = u32::from(!out.is_request()) * out.data_tries;
        let spent = &mut window.spent;
        spent.rts_tries += out.rts_tries;
        spent.rts_failures += out.rts_failures;
        spent.data_tries += sent_data;
        spent.slots += out.slots;
        let template = Exchange {
            node: self.id,
            peer: window.peer,
            flow: out.flow,
            size: 0,
            rate: ctx.timing.on(out.rates).rate(RateClass::Data),
            payload: 0,
            enqueued: ctx.now,
            head_of_line: ctx.now,
            done: ctx.now,
            fate: Fate::Acknowledged,
            rts_tries: 0,
            rts_failures: 0,
            data_tries: 0,
            slots: 0,
            airtime: window.airtime,
            mpdus: window.mpdus,
        };
        for fate in [Fate::Acknowledged, Fate::GivenUp] {
            if fate == Fate::GivenUp && !gives_up {
                continue;
            }
            let Some(exchange) = report_mpdus(ctx, window, &template, fate) else { continue };
            ctx.stack.on_link(&LinkEvent::Exchange(exchange));
        }
        let answered = matches!(answer, ExchangeResult::Ack | ExchangeResult::BlockAck(..));
        let fate = if answered { Fate::Acknowledged } else { Fate::GivenUp };
        self.count_airtime(ctx, out, window.peer, fate, [sent_data, window.mpdus]);
    }
}

/// Reports the MPDUs of a fate one by one; what they were together, if there were any.
fn report_mpdus(
    ctx: &mut Context,
    window: &mut TransmitWindow,
    template: &Exchange,
    fate: Fate,
) -> Option<Exchange> {
    let (mut sum, mut flow) = (MpduTotals::default(), None);
    let mut all_spent = window.spent;
    for held in window.iter() {
        let is_so = match held.state {
            MpduState::Acknowledged => fate == Fate::Acknowledged,
            MpduState::GivenUp | MpduState::Expired => fate == Fate::GivenUp,
            MpduState::Waiting | MpduState::Gone => false,
        };
        if !is_so {
            continue;
        }
        // What the exchange took besides is the first one's.
        let spent = std::mem::take(&mut all_spent);
        let mpdu = Exchange {
            flow: held.flow,
            size: held.size,
            payload: held.payload,
            enqueued: held.enqueued,
            head_of_line: held.head_of_line,
            fate,
            rts_tries: spent.rts_tries,
            rts_failures: spent.rts_failures,
            data_tries: held.tries,
            slots: spent.slots,
            ..*template
        };
        flow.get_or_insert(Exchange { data_tries: spent.data_tries, ..mpdu });
        sum.add(held, &mpdu);
        ctx.record.exchange(&mpdu, ctx.now);
        ctx.stack.on_link(&LinkEvent::Mpdu(mpdu));
    }
    window.spent = all_spent;
    let head_of_line = template.done - sum.service / sum.mpdus.max(1);
    flow.map(|first| Exchange {
        size: sum.size,
        payload: sum.payload,
        head_of_line,
        enqueued: head_of_line - sum.queueing / sum.mpdus,
        ..first
    })
}

/// What the answer means for each MPDU, or that the neighbour was asked without an answer; returns whether
/// any is given up.
fn settle_mpdus(
    window: &mut TransmitWindow,
    answer: ExchangeResult,
    request_failed: bool,
    ctx: &Context,
) -> bool {
    // Tries that have no end are not ended by RTS either.
    let unreachable = answer == ExchangeResult::Unreachable && !ctx.timing.tries_without_end();
    let mut gives_up = false;
    let mut next = window.start();
    for held in window.iter_mut() {
        let sequence = next;
        next = after(next, 1);
        if held.state != MpduState::Waiting || !(held.flying || held.tries > 0) {
            continue;
        }
        let arrived = match answer {
            ExchangeResult::Ack => held.flying,
            ExchangeResult::BlockAck(start, bitmap) => bitmap.has(usize::from(ahead(start, sequence))),
            ExchangeResult::None | ExchangeResult::Unreachable => false,
        };
        let alone = ctx.timing.retry_limit_of(held.bytes);
        let exhausted = held.tries >= ctx.timing.mpdu_retry_limit || held.tries_alone >= alone;
        if arrived {
            held.state = MpduState::Acknowledged;
        } else if exhausted || request_failed || (unreachable && held.flying) {
            held.state = MpduState::GivenUp;
        } else if ctx.stack.is_expired(ctx.now, held.enqueued) {
            held.state = MpduState::Expired;
        }
        gives_up |= matches!(held.state, MpduState::GivenUp | MpduState::Expired);
    }
    gives_up
}

/// The packets of MPDUs that are done with leave; returns whether any was not acknowledged.
fn release_packets(window: &mut TransmitWindow, ctx: &mut Context) -> bool {
    let mut gave_up = false;
    let peer = window.peer;
    for held in window.iter_mut() {
        held.flying = false;
        if held.state == MpduState::Waiting {
            continue;
        }
        let state = std::mem::replace(&mut held.state, MpduState::Gone);
        gave_up |= matches!(state, MpduState::GivenUp | MpduState::Expired);
        let mut packet = Some(held.packet).filter(|_| state != MpduState::Gone);
        while let Some(handle) = packet {
            packet = ctx.packets.detach_msdu(handle);
            match state {
                MpduState::GivenUp => {
                    ctx.stack.on_given_up(ctx.now, peer, handle, ctx.packets, ctx.record);
                }
                MpduState::Expired if !ctx.packets.get(handle).passed_on => {
                    ctx.stack.lose(ctx.now, handle, DropCause::Lifetime, ctx.packets, ctx.record);
                }
                _ => {
                    ctx.stack.on_departed(ctx.now, &ctx.packets.get(handle).packet);
                    ctx.packets.discard(handle);
                }
            }
        }
    }
    gave_up
}
