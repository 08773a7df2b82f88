//! Exchange of A-MPDUs and block acknowledgement requests, and the fate of each MPDU.

use super::psdu::BLOCK_ACK_REQUEST_BYTES;
use super::transmit_window::{MpduState, PendingMpdu, TransmitWindow};
use crate::config::AggregationConfig;
use crate::mac::phase::{MacEvent, Phase};
use crate::mac::rate_control::RateDemands;
use crate::mac::{Context, FramePayload, Mac, OutgoingFrame};
use crate::medium::{Bitmap, Frame, RateClass};
use crate::outcome::LossCause;
use multihop_core::{DropCause, Exchange, Fate, FrameKind, LinkEvent, Span};

use super::sequence::{after, ahead};

/// Result of an exchange for its MPDUs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExchangeResult {
    /// An ACK: the single MPDU of the frame arrived.
    Ack,
    /// A block acknowledgement: MPDUs that arrived, from a sequence number on.
    BlockAck(u16, Bitmap),
    /// No response to DATA or to a request.
    None,
    /// No CTS to as many RTS as the retry limit allows.
    Unreachable,
}

/// Totals of an exchange over its MPDUs of one fate.
#[derive(Clone, Copy, Debug, Default)]
struct MpduTotals {
    mpdus: u64,
    size: u32,
    payload: u32,
    /// Sum of the queueing delays.
    queueing: Span,
    /// Sum of the service delays.
    service: Span,
}

impl MpduTotals {
    fn add(&mut self, pending: &PendingMpdu, exchange: &Exchange) {
        self.mpdus += 1;
        self.size += pending.size;
        self.payload += pending.payload;
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
    pub(in crate::mac) fn request_frame(
        &self,
        ctx: &mut Context,
        out: &OutgoingFrame,
        duration: Span,
        index: u32,
    ) -> Frame {
        let peer = out.peer.expect("agreements are with one neighbour");
        let (between, sequence) = ([self.id, peer], self.station.function.sequence);
        let kind = FrameKind::BlockAckRequest;
        let mut frame = ctx.timing.control_frame(kind, between, out.rates, sequence, duration, ctx.now);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let load = ctx.loads.get_mut(agreements.load);
        load.mpdus.clear();
        (load.start, load.tid, load.agreement) = (window.start(), window.tid, window.agreement);
        frame.load = Some(agreements.load);
        frame
    }

    /// DATA with the assembled MPDUs. Router policies see their packets before they leave.
    pub(in crate::mac) fn mpdus_frame(
        &mut self,
        ctx: &mut Context,
        duration: Span,
        index: u32,
        aggregate: bool,
    ) -> Frame {
        let (out, category) = (*self.outgoing(), self.station.function.category);
        let (timing, now) = (ctx.timing, ctx.now);
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let load = agreements.load;
        let window = &mut agreements.originators[category as usize].windows[index as usize];
        let (response, _) = out.response(timing.on(out.rates));
        window.airtime = timing.exchange_with(out.rates, out.airtime, response, out.with_rts);
        window.mpdus = ctx.loads.get(load).mpdus.len() as u32;
        for pending in window.iter_mut().filter(|pending| pending.in_frame) {
            let (head_of_line, tries) = (pending.head_of_line, pending.tries);
            pending.tries += 1;
            pending.tries_alone += u32::from(!aggregate);
            let mut packet = Some(pending.packet);
            while let Some(handle) = packet {
                let departure = || out.departure(timing, category, now, head_of_line, tries);
                ctx.stack.on_departure(now, departure, &mut ctx.packets.get_mut(handle).packet);
                packet = ctx.packets.next_msdu(handle);
            }
        }
        let first = ctx.loads.get(load).mpdus[0];
        let mut frame = self.data_frame(ctx, &out, duration, first.packet);
        (frame.load, frame.retry) = (Some(load), !aggregate && first.retry);
        frame
    }

    /// A block acknowledgement for this station was decoded.
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

    /// The ACK of a single MPDU was decoded.
    pub(in crate::mac) fn on_ack_of_mpdu(&mut self, ctx: &mut Context) {
        self.end_mpdus(ctx, ExchangeResult::Ack);
    }

    /// An attempt failed: ends the exchange of its MPDUs, or retries the RTS.
    pub(in crate::mac) fn fail_mpdus(&mut self, ctx: &mut Context, awaited_cts: bool) {
        if !awaited_cts {
            return self.end_mpdus(ctx, ExchangeResult::None);
        }
        let out = self.outgoing_mut();
        out.short_retries += 1;
        if out.short_retries >= ctx.timing.short_retry_limit {
            return self.end_mpdus(ctx, ExchangeResult::Unreachable);
        }
        self.double_cw(ctx);
        self.draw_backoff(ctx.timing);
        self.station.phase.change(MacEvent::AttemptFailed);
    }

    /// Ends an exchange: settles the fate of each MPDU, and decides whether a block acknowledgement is
    /// requested.
    fn end_mpdus(&mut self, ctx: &mut Context, result: ExchangeResult) {
        let mut agreements = self.take_agreements();
        let out = self.station.function.current.take().expect("the station has an outgoing frame");
        let index = out.payload.window().expect("the frame belongs to an agreement");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        let request_failed =
            out.is_request() && result == ExchangeResult::None && window.count_failed_request(ctx.timing);
        let gives_up = settle_mpdus(window, result, request_failed, ctx);
        if self.station.rates.is_some() && !out.is_request() && result != ExchangeResult::Unreachable {
            let [sent, acknowledged] = window.sent_and_acknowledged();
            self.report_attempt_to(ctx, window.peer, sent, acknowledged);
        }
        self.report_exchange(ctx, &out, window, result, gives_up);
        if self.station.hardware.is_some() {
            self.release_finished(ctx, window);
        }
        let gave_up = release_packets(window, ctx);
        let answered = matches!(result, ExchangeResult::Ack | ExchangeResult::BlockAck(..));
        if answered {
            ctx.stack.on_delivered(window.peer);
            window.request_tries = 0;
            window.request = std::mem::take(&mut window.postponed_request) || gave_up;
        } else if request_failed {
            window.request = false;
        } else if (out.wants_block_ack() && result != ExchangeResult::Unreachable) || gave_up {
            window.request = true;
            if gave_up {
                window.request_tries = 0;
            }
        }
        if answered || request_failed || result == ExchangeResult::Unreachable || !window.has_retransmission()
        {
            self.reset_cw(ctx); // 10.22.2.2
        } else {
            self.double_cw(ctx);
        }
        window.advance(answered);
        self.station.agreements = Some(agreements);
        self.end_exchange(ctx, answered);
    }

    /// Releases the packets of finished MPDUs from the hardware.
    #[inline(never)]
    fn release_finished(&mut self, ctx: &mut Context, window: &TransmitWindow) {
        let is_finished =
            |pending: &&PendingMpdu| !matches!(pending.state, MpduState::Waiting | MpduState::Gone);
        for pending in window.iter().filter(is_finished) {
            let mut packet = Some(pending.packet);
            while let Some(handle) = packet {
                packet = ctx.packets.next_msdu(handle);
                self.release(ctx, self.station.function.category, Some(window.peer), handle);
            }
        }
    }

    /// Gives up the first waiting MPDU of a window.
    pub(in crate::mac) fn give_up_first_mpdu(&mut self, ctx: &mut Context, index: u32) {
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        if let Some(first) = window.iter_mut().find(|pending| pending.state == MpduState::Waiting) {
            first.in_frame = true;
        }
        self.end_mpdus(ctx, ExchangeResult::Unreachable);
    }

    /// Shortest frame of a window: its airtime, the airtime of its acknowledgement, and whether an RTS
    /// precedes it.
    pub(in crate::mac) fn shortest_of_window(
        &self,
        ctx: &Context,
        out: &OutgoingFrame,
        index: u32,
    ) -> (Span, Span, bool) {
        let link = ctx.timing.on(out.rates);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let first = window.iter().find(|pending| pending.state == MpduState::Waiting);
        match first.filter(|_| !out.is_request()) {
            Some(first) => (link.psdu_airtime(first.bytes), link.ack, ctx.timing.needs_rts(first.bytes)),
            None => (link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES), link.block_ack, false),
        }
    }

    /// Bytes of the longest PSDU that fits into the rest of the TXOP with its acknowledgement; none without a
    /// limit.
    pub(super) fn longest_in_txop(&self, ctx: &Context, limits: &AggregationConfig) -> Option<u32> {
        let out = self.outgoing();
        let left = self.txop_end()?.since(ctx.now);
        Some(ctx.timing.longest_psdu_within(out.rates, limits, left))
    }

    /// Reports an exchange to counters, estimators and policies.
    fn report_exchange(
        &self,
        ctx: &mut Context,
        out: &OutgoingFrame,
        window: &mut TransmitWindow,
        result: ExchangeResult,
        gives_up: bool,
    ) {
        let sent_data = u32::from(!out.is_request()) * out.data_tries;
        let spent = &mut window.unreported;
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
        let answered = matches!(result, ExchangeResult::Ack | ExchangeResult::BlockAck(..));
        let fate = if answered { Fate::Acknowledged } else { Fate::GivenUp };
        self.count_airtime(ctx, out, window.peer, fate, [sent_data, window.mpdus]);
    }
}

/// Reports the MPDUs of a fate one by one. Returns the exchange of all of them, if there are any.
fn report_mpdus(
    ctx: &mut Context,
    window: &mut TransmitWindow,
    template: &Exchange,
    fate: Fate,
) -> Option<Exchange> {
    let (mut sum, mut flow) = (MpduTotals::default(), None);
    let mut all_spent = window.unreported;
    for pending in window.iter() {
        let has_fate = match pending.state {
            MpduState::Acknowledged => fate == Fate::Acknowledged,
            MpduState::GivenUp | MpduState::Expired => fate == Fate::GivenUp,
            MpduState::Waiting | MpduState::Gone => false,
        };
        if !has_fate {
            continue;
        }
        // The tries of the exchange count for the first MPDU.
        let spent = std::mem::take(&mut all_spent);
        let mpdu = Exchange {
            flow: pending.flow,
            size: pending.size,
            payload: pending.payload,
            enqueued: pending.enqueued,
            head_of_line: pending.head_of_line,
            fate,
            rts_tries: spent.rts_tries,
            rts_failures: spent.rts_failures,
            data_tries: pending.tries,
            slots: spent.slots,
            ..*template
        };
        flow.get_or_insert(Exchange { data_tries: spent.data_tries, ..mpdu });
        sum.add(pending, &mpdu);
        ctx.record.exchange(&mpdu, ctx.now);
        ctx.stack.on_link(&LinkEvent::Mpdu(mpdu));
    }
    window.unreported = all_spent;
    let head_of_line = template.done - sum.service / sum.mpdus.max(1);
    flow.map(|first| Exchange {
        size: sum.size,
        payload: sum.payload,
        head_of_line,
        enqueued: head_of_line - sum.queueing / sum.mpdus,
        ..first
    })
}

/// Settles the state of each MPDU after an exchange. Returns whether any is given up.
fn settle_mpdus(
    window: &mut TransmitWindow,
    result: ExchangeResult,
    request_failed: bool,
    ctx: &Context,
) -> bool {
    // Without a retry limit, failed RTS do not end an MPDU either.
    let unreachable = result == ExchangeResult::Unreachable && !ctx.timing.tries_without_end();
    let mut gives_up = false;
    let mut next = window.start();
    for pending in window.iter_mut() {
        let sequence = next;
        next = after(next, 1);
        if pending.state != MpduState::Waiting || !(pending.in_frame || pending.tries > 0) {
            continue;
        }
        let arrived = match result {
            ExchangeResult::Ack => pending.in_frame,
            ExchangeResult::BlockAck(start, bitmap) => bitmap.has(usize::from(ahead(start, sequence))),
            ExchangeResult::None | ExchangeResult::Unreachable => false,
        };
        let alone = ctx.timing.retry_limit_of(pending.bytes);
        let exhausted = pending.tries >= ctx.timing.mpdu_retry_limit || pending.tries_alone >= alone;
        if arrived {
            pending.state = MpduState::Acknowledged;
        } else if exhausted || request_failed || (unreachable && pending.in_frame) {
            pending.state = MpduState::GivenUp;
        } else if ctx.stack.is_expired(ctx.now, pending.enqueued) {
            pending.state = MpduState::Expired;
        }
        gives_up |= matches!(pending.state, MpduState::GivenUp | MpduState::Expired);
    }
    gives_up
}

/// Releases the packets of finished MPDUs. Returns whether any MPDU was given up.
fn release_packets(window: &mut TransmitWindow, ctx: &mut Context) -> bool {
    let mut gave_up = false;
    let peer = window.peer;
    for pending in window.iter_mut() {
        pending.in_frame = false;
        if pending.state == MpduState::Waiting {
            continue;
        }
        let state = std::mem::replace(&mut pending.state, MpduState::Gone);
        gave_up |= matches!(state, MpduState::GivenUp | MpduState::Expired);
        let mut packet = Some(pending.packet).filter(|_| state != MpduState::Gone);
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
