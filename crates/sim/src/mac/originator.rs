//! Getting the station's own frame across (9.3.2.8, 9.3.4.4).

use super::phase::{Event, Phase};
use super::{Context, FramePayload, Mac, Outgoing, Try};
use crate::medium::{Frame, RateClass, RateSet};
use crate::outcome::LossCause;
use crate::stack::Waiting;
use multihop_core::{Attempt, Exchange, Fate, FrameKind, Interval, LinkEvent, NodeId, Span, Time};
use multihop_dot11::ResponseTimeout;
use multihop_link::{Departure, LinkState, Queued};

impl Mac {
    /// Takes the next packet from the queue, if the station has none. Returns whether it has one now.
    pub(super) fn take_next(&mut self, ctx: &mut Context) -> bool {
        if self.station.hardware.is_some() {
            self.fill_hardware(ctx);
        }
        if self.station.agreements.is_some() {
            return self.take_block(ctx);
        }
        let Some(next) = self.next_packet(ctx, self.station.function.category) else { return false };
        self.take_packet(ctx, &next);
        true
    }

    /// This packet is sent next, in a frame of its own.
    pub(super) fn take_packet(&mut self, ctx: &mut Context, next: &Queued<Waiting>) {
        let Waiting { handle, peer, tid } = next.item;
        let packet = &ctx.packets.get(handle).packet;
        let bytes = ctx.timing.data_bytes(packet.size);
        let rate = if peer.is_some() { RateClass::Data } else { RateClass::Control };
        let rates = peer.map_or(RateSet::NOMINAL, |peer| ctx.timing.between(self.id, peer));
        self.number(tid);
        self.station.function.current = Some(Outgoing {
            cargo: FramePayload::Packet(handle),
            peer,
            flow: packet.flow,
            size: packet.size,
            bytes,
            rates,
            data: ctx.timing.on(rates).airtime(rate, bytes),
            with_rts: peer.is_some() && ctx.timing.needs_rts(bytes),
            enqueued: next.came,
            head_of_line: ctx.now,
            rts_tries: 0,
            rts_failures: 0,
            data_tries: 0,
            short_retries: 0,
            long_retries: 0,
            slots: 0,
            extra_slots: ctx.timing.slots_of(peer.map_or(Span::ZERO, |_| ctx.stack.extra_backoff(packet))),
        });
    }

    /// The access was won: RTS, or DATA at once.
    pub(super) fn begin_exchange(&mut self, ctx: &mut Context) {
        let demands = self.choose_rate(ctx);
        if self.station.agreements.is_some() {
            self.begin_block(ctx, demands);
        }
        let out = self.station.function.current.as_mut().expect("access is used only with a frame to send");
        let Some(peer) = out.peer.filter(|_| out.with_rts) else {
            if out.protection(ctx.timing.on(out.rates)) > Span::ZERO {
                self.send_cts_to_self(ctx);
            } else {
                self.send_data(ctx);
            }
            return;
        };
        out.rts_tries += 1;
        let out = self.station.function.current.as_ref().expect("it was there");
        let link = ctx.timing.on(out.rates);
        let (response, _) = out.response(link);
        let exchange = ctx.timing.exchange_with(out.rates, out.data, response, true);
        let duration = ctx.timing.rules.duration_field.apply(exchange - link.rts);
        let duration = duration + self.txop_reservation(ctx, out, exchange);
        let between = [self.id, peer];
        let frame = ctx.timing.control_frame(
            FrameKind::Rts,
            between,
            out.rates,
            self.station.function.sequence,
            duration,
            ctx.now,
        );
        self.station.function.attempt.rts = Some(sent(&frame, ctx));
        self.station.phase.change(Event::RtsSent);
        self.arm(ctx, ctx.now + link.rts + link.cts_timeout);
        self.transmit(ctx, frame);
    }

    /// A CTS to the station itself, by which others set their NAV for the frame that follows, and its answer
    /// (9.3.2.11).
    #[inline(never)]
    fn send_cts_to_self(&mut self, ctx: &mut Context) {
        let out = self.station.function.current.as_ref().expect("a frame is to be protected");
        let link = ctx.timing.on(out.rates);
        let answer = out.peer.map_or(Span::ZERO, |_| ctx.timing.sifs + out.response(link).0);
        let rest = ctx.timing.sifs + out.data + answer;
        let cts = out.protection(link) - ctx.timing.sifs;
        let duration =
            ctx.timing.rules.duration_field.apply(rest) + self.txop_reservation(ctx, out, cts + rest);
        let (own, sequence) = ([self.id, self.id], self.station.function.sequence);
        let frame = ctx.timing.control_frame(FrameKind::Cts, own, out.rates, sequence, duration, ctx.now);
        self.station.function.attempt.cts = Some(sent(&frame, ctx));
        self.station.phase.change(Event::CtsToSelfSent);
        self.arm(ctx, ctx.now + cts + ctx.timing.sifs);
        self.transmit(ctx, frame);
    }

    /// SIFS after the CTS.
    pub(super) fn send_data_after_cts(&mut self, ctx: &mut Context) {
        self.expire_nav(ctx.now, ctx.stack);
        let was_answered = self.station.function.attempt.rts.is_some();
        let needs_idle = ctx.timing.rules.data_needs_idle_medium && was_answered;
        if needs_idle && (self.is_busy() || self.nav > ctx.now) {
            if let Some(peer) = self.station.function.current.as_ref().and_then(|out| out.peer) {
                ctx.record.record_frame_loss(FrameKind::Cts, [peer, self.id], LossCause::Late, ctx.now);
            }
            self.double_cw(ctx);
            self.draw(ctx.timing);
            self.end_attempt(ctx, None);
            self.resume_contention(ctx, Event::Withheld);
            return;
        }
        self.send_data(ctx);
    }

    fn send_data(&mut self, ctx: &mut Context) {
        let out = self.station.function.current.as_ref().expect("DATA is sent only with a frame to send");
        let handle = match out.cargo {
            FramePayload::Packet(handle) => handle,
            FramePayload::Block { window, several } => return self.send_block(ctx, window, several),
            FramePayload::Request { window } => return self.send_request(ctx, window),
        };
        let link = ctx.timing.on(out.rates);
        let departure = || Departure {
            now: ctx.now,
            service_so_far: ctx.now.since(out.head_of_line),
            data: out.data,
            ack: link.ack,
            sifs: ctx.timing.sifs,
            propagation: ctx.timing.propagation,
            exchange: ctx.timing.exchange(out.rates, out.data, out.with_rts),
            access: ctx.timing.mean_access(self.station.function.category),
            rts_tries: out.rts_tries,
            rts_failures: out.rts_failures,
            data_tries: out.data_tries,
        };
        ctx.stack.on_departure(ctx.now, departure, &mut ctx.packets.get_mut(handle).packet);
        let rate = if out.peer.is_some() { RateClass::Data } else { RateClass::Control };
        let after = if out.peer.is_some() { ctx.timing.sifs + link.ack } else { Span::ZERO };
        let after =
            ctx.timing.rules.duration_field.apply(after) + self.txop_reservation(ctx, out, out.data + after);
        let start = ctx.now + ctx.timing.propagation;
        let frame = Frame {
            kind: FrameKind::Data,
            from: self.id,
            to: out.peer,
            duration: after,
            bytes: out.bytes,
            rate,
            rates: out.rates,
            packet: Some(handle),
            sequence: self.station.function.sequence,
            report: None,
            load: None,
            retry: out.data_tries > 0,
            overhead: link.overhead(rate),
            air: Interval { start, end: start + out.data },
        };
        let overdue = ctx.now + out.data + link.ack_timeout;
        self.station.function.attempt.data = Some(sent(&frame, ctx));
        self.station.function.current.as_mut().expect("it was there").data_tries += 1;
        if frame.to.is_some() {
            self.station.phase.change(Event::DataSent);
            self.arm(ctx, overdue);
        } else {
            self.station.phase.change(Event::BroadcastSent);
        }
        self.transmit(ctx, frame);
    }

    /// No CTS or ACK by the deadline.
    pub(super) fn on_response_overdue(&mut self, ctx: &mut Context) {
        if ctx.timing.rules.response_timeout == ResponseTimeout::FirstBit && ctx.radio.is_receiving() {
            self.station.receiving_at_timeout = true;
            return;
        }
        self.fail_attempt(ctx);
        self.contend(ctx);
    }

    /// A CTS for this station.
    pub(super) fn on_cts(&mut self, ctx: &mut Context, frame: &Frame) {
        if self.station.phase != Phase::AwaitingCts || !self.is_answer(frame) {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        }
        self.station.receiving_at_timeout = false;
        self.station.function.attempt.cts = Some(frame.air);
        self.station.function.current.as_mut().expect("checked above").short_retries = 0;
        self.station.phase.change(Event::CtsReceived);
        self.arm(ctx, ctx.now + ctx.timing.sifs);
    }

    /// An ACK for this station.
    pub(super) fn on_ack(&mut self, ctx: &mut Context, frame: &Frame) {
        let awaited = self.station.phase == Phase::AwaitingAck
            && !self.station.function.current.is_some_and(|out| out.wants_block_ack());
        if !awaited || !self.is_answer(frame) {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        }
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        self.end_attempt(ctx, Some(frame.air));
        if self.station.agreements.is_some() {
            return self.on_ack_of_block(ctx);
        }
        self.learn_rate(ctx, 1, 1);
        self.finish(ctx, Fate::Acknowledged);
    }

    /// Does a CTS or an ACK answer a try of the present frame? On the air it does not say which frame it
    /// answers, and where propagation takes longer than the timeout a station may take a late one for an
    /// answer to its next frame: that would then be lost without a cause.
    pub(super) fn is_answer(&self, frame: &Frame) -> bool {
        frame.sequence == self.station.function.sequence
            && self.station.function.current.is_some_and(|out| out.peer == Some(frame.from))
    }

    /// A try failed: the next one is prepared, or the frame is given up.
    pub(super) fn fail_attempt(&mut self, ctx: &mut Context) {
        let awaited_cts = self.station.phase == Phase::AwaitingCts;
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        if self.station.edca.is_some() {
            self.wait_longer(self.station.eifs_until.max(ctx.now)); // AIFS follows the wait for a response (802.11-2016, 10.22.2.4 c)
        }
        self.end_attempt(ctx, None);
        let out = self.station.function.current.as_mut().expect("a response was awaited for a frame");
        out.rts_failures += u32::from(awaited_cts);
        if awaited_cts {
            self.learn_rate(ctx, 0, 0);
        }
        if self.station.agreements.is_some() {
            return self.fail_block(ctx, awaited_cts);
        }
        if !awaited_cts {
            self.learn_rate(ctx, 1, 0);
        }
        let out = self.station.function.current.as_mut().expect("it was there");
        let exhausted = if awaited_cts || !out.with_rts {
            out.short_retries += 1;
            out.short_retries >= ctx.timing.short_retry_limit
        } else {
            out.long_retries += 1;
            out.long_retries >= ctx.timing.long_retry_limit
        };
        if exhausted {
            self.finish(ctx, Fate::GivenUp);
        } else {
            self.double_cw(ctx);
            self.draw(ctx.timing);
            self.station.phase.change(Event::AttemptFailed);
        }
    }

    /// The frame's life ends; a post-back-off begins and the next packet is taken (9.3.4.4).
    pub(super) fn finish(&mut self, ctx: &mut Context, fate: Fate) {
        let out = self.station.function.current.take().expect("a frame's life ended");
        if fate == Fate::Broadcast {
            self.station.function.current = Some(out);
            self.end_attempt(ctx, None);
            self.station.function.current = None;
        }
        let FramePayload::Packet(handle) = out.cargo else { unreachable!("MPDUs have lives of their own") };
        let class = if out.peer.is_some() { RateClass::Data } else { RateClass::Control };
        let exchange = Exchange {
            node: self.id,
            peer: out.peer.unwrap_or(NodeId::BROADCAST),
            flow: out.flow,
            size: out.size,
            rate: ctx.timing.on(out.rates).rate(class),
            payload: ctx.packets.get(handle).packet.segment.payload,
            enqueued: out.enqueued,
            head_of_line: out.head_of_line,
            done: ctx.now,
            fate,
            rts_tries: out.rts_tries,
            rts_failures: out.rts_failures,
            data_tries: out.data_tries,
            slots: out.slots + self.station.function.attempt.slots,
            airtime: ctx.timing.exchange(out.rates, out.data, out.with_rts),
            mpdus: 1,
        };
        ctx.record.exchange(&exchange, ctx.now);
        ctx.stack.on_link(&LinkEvent::Exchange(exchange));
        if let Some(peer) = out.peer {
            self.used_airtime(ctx, &out, peer, fate, [out.data_tries, 1]);
        }
        self.release(ctx, self.station.function.category, out.peer, handle);
        match out.peer {
            Some(peer) if fate == Fate::GivenUp => {
                ctx.stack.on_given_up(ctx.now, peer, handle, ctx.packets, ctx.record);
            }
            delivered => {
                ctx.stack.on_departed(ctx.now, &ctx.packets.get(handle).packet);
                ctx.packets.discard(handle);
                if let Some(peer) = delivered {
                    ctx.stack.on_delivered(peer);
                }
            }
        }
        self.reset_cw(ctx);
        self.end_exchange(ctx, fate != Fate::GivenUp);
    }

    /// What was sent is done with. If that was a success, the next packet may follow at once; otherwise a
    /// back-off from the present window begins, and the next packet is taken.
    pub(super) fn end_exchange(&mut self, ctx: &mut Context, succeeded: bool) {
        if self.station.edca.is_some() && succeeded && self.continue_txop(ctx) {
            return;
        }
        self.draw(ctx.timing);
        if self.station.function.current.is_some() || self.take_next(ctx) {
            self.add_extra_backoff(ctx);
        }
        if succeeded && self.returns_opportunity(ctx) {
            self.station.phase.change(Event::TxopReturned);
            self.arm(ctx, ctx.now + ctx.timing.sifs);
        } else {
            self.station.phase.change(Event::ExchangeEnded);
        }
    }

    /// Counts what a frame, or a try of an aggregate, took of the medium: so many PPDUs with DATA, each with
    /// so many MPDUs.
    pub(super) fn used_airtime(
        &self,
        ctx: &mut Context,
        out: &Outgoing,
        peer: NodeId,
        fate: Fate,
        data: [u32; 2],
    ) {
        let used = airtime_used(out, fate, ctx);
        ctx.record.used([self.id, peer], used, data, ctx.timing.on(out.rates).rate(RateClass::Data), ctx.now);
        if ctx.stack.shares_airtime() {
            ctx.stack.on_airtime(self.station.function.category, peer, used);
            if ctx.stack.adapts_codel() && !out.is_request() {
                let (answer, _) = out.response(ctx.timing.on(out.rates));
                let exchange = ctx.timing.exchange_with(out.rates, out.data, answer, out.with_rts);
                let link = LinkState { throughput: self.expected_throughput(ctx.timing, peer), exchange };
                ctx.stack.adapt_codel(self.station.function.category, peer, link);
            }
        }
    }

    pub(super) fn end_attempt(&mut self, ctx: &mut Context, ack: Option<Interval>) {
        let Try { slots, rts, cts, data } = std::mem::take(&mut self.station.function.attempt);
        let out = self.station.function.current.as_mut().expect("a try belongs to a frame");
        out.slots += slots;
        let Some(peer) = out.peer.filter(|_| !out.is_request()) else { return };
        let attempt = Attempt {
            node: self.id,
            peer,
            flow: out.flow,
            cw: self.station.function.cw,
            slots,
            rts,
            cts,
            data,
            ack,
        };
        ctx.stack.on_link(&LinkEvent::Attempt(attempt));
    }
}

/// How long the medium was in use for a frame: all its RTS and DATA, what answered them, and the SIFS
/// between.
pub(super) fn airtime_used(out: &Outgoing, fate: Fate, ctx: &Context) -> Span {
    let (sifs, link) = (ctx.timing.sifs, ctx.timing.on(out.rates));
    let protected = if out.with_rts { 0 } else { u64::from(out.data_tries) };
    let answered = u64::from(out.rts_tries - out.rts_failures);
    let acknowledged = u64::from(fate == Fate::Acknowledged);
    out.protection(link) * protected
        + link.rts * u64::from(out.rts_tries)
        + (sifs + link.cts + sifs) * answered
        + out.data * u64::from(out.data_tries)
        + (sifs + out.response(link).0) * acknowledged
}

/// When a frame that starts now is on the air at its sender.
pub(super) fn sent(frame: &Frame, ctx: &Context) -> Interval {
    let start: Time = ctx.now;
    Interval { start, end: start + frame.airtime() }
}
