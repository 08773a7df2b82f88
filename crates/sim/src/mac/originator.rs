//! Exchange of the station's own frame: RTS, CTS, DATA, ACK and retries (9.3.2.8, 9.3.4.4).

use super::phase::{MacEvent, Phase};
use super::{Context, FramePayload, Mac, OngoingAttempt, OutgoingFrame};
use crate::medium::{Frame, RateClass, RateSet};
use crate::outcome::LossCause;
use crate::slab::Handle;
use crate::stack::Waiting;
use multihop_core::{Attempt, Exchange, Fate, FrameKind, Interval, LinkEvent, NodeId, Span, Time};
use multihop_dot11::ResponseTimeout;
use multihop_link::{LinkState, Queued};

impl Mac {
    /// The outgoing frame.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn outgoing(&self) -> &OutgoingFrame {
        self.station.function.current.as_ref().expect("the station has an outgoing frame")
    }

    /// The outgoing frame, mutable.
    pub(super) fn outgoing_mut(&mut self) -> &mut OutgoingFrame {
        self.station.function.current.as_mut().expect("the station has an outgoing frame")
    }

    /// Dequeues the next packet if the station has none. Returns whether it has one afterwards.
    pub(super) fn dequeue_next(&mut self, ctx: &mut Context) -> bool {
        if self.station.hardware.is_some() {
            self.fill_hardware(ctx);
        }
        if self.station.agreements.is_some() {
            return self.choose_window(ctx);
        }
        let Some(next) = self.next_packet(ctx, self.station.function.category) else { return false };
        self.set_packet(ctx, &next);
        true
    }

    /// Makes a packet the outgoing frame.
    pub(super) fn set_packet(&mut self, ctx: &mut Context, next: &Queued<Waiting>) {
        let Waiting { handle, peer, tid } = next.item;
        let packet = &ctx.packets.get(handle).packet;
        let bytes = ctx.timing.data_bytes(packet.size);
        let class = if peer.is_some() { RateClass::Data } else { RateClass::Control };
        let rates = peer.map_or(RateSet::NOMINAL, |peer| ctx.timing.between(self.id, peer));
        self.assign_sequence(tid);
        self.station.function.current = Some(OutgoingFrame {
            size: packet.size,
            bytes,
            airtime: ctx.timing.on(rates).airtime(class, bytes),
            with_rts: peer.is_some() && ctx.timing.needs_rts(bytes),
            enqueued: next.came,
            extra_slots: ctx.timing.slots_of(peer.map_or(Span::ZERO, |_| ctx.stack.extra_backoff(packet))),
            ..OutgoingFrame::new(FramePayload::Packet(handle), peer, packet.flow, rates, ctx.now)
        });
    }

    /// Begins an exchange after the station has won the medium: sends an RTS, a CTS-to-self or DATA.
    pub(super) fn begin_exchange(&mut self, ctx: &mut Context) {
        let demands = self.choose_rate(ctx);
        if self.station.agreements.is_some() {
            self.assemble_frame(ctx, demands);
        }
        let out = self.outgoing_mut();
        let Some(peer) = out.peer.filter(|_| out.with_rts) else {
            if out.protection(ctx.timing.on(out.rates)) > Span::ZERO {
                self.send_cts_to_self(ctx);
            } else {
                self.send_data(ctx);
            }
            return;
        };
        out.rts_tries += 1;
        let out = self.outgoing();
        let link = ctx.timing.on(out.rates);
        let (response, _) = out.response(link);
        let exchange = ctx.timing.exchange_with(out.rates, out.airtime, response, true);
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
        self.station.function.attempt.rts = Some(air_at_sender(&frame, ctx));
        self.station.phase.change(MacEvent::RtsSent);
        self.arm(ctx, ctx.now + link.rts + link.cts_timeout);
        self.transmit(ctx, frame);
    }

    /// Sends a CTS-to-self, by which other stations set their NAV for the frame that follows and for its
    /// acknowledgement (9.3.2.11).
    #[inline(never)]
    fn send_cts_to_self(&mut self, ctx: &mut Context) {
        let out = self.outgoing();
        let link = ctx.timing.on(out.rates);
        let answer = out.peer.map_or(Span::ZERO, |_| ctx.timing.sifs + out.response(link).0);
        let after_cts = ctx.timing.sifs + out.airtime + answer;
        let cts = out.protection(link) - ctx.timing.sifs;
        let duration = ctx.timing.rules.duration_field.apply(after_cts)
            + self.txop_reservation(ctx, out, cts + after_cts);
        let (between, sequence) = ([self.id, self.id], self.station.function.sequence);
        let frame = ctx.timing.control_frame(FrameKind::Cts, between, out.rates, sequence, duration, ctx.now);
        self.station.function.attempt.cts = Some(air_at_sender(&frame, ctx));
        self.station.phase.change(MacEvent::CtsToSelfSent);
        self.arm(ctx, ctx.now + cts + ctx.timing.sifs);
        self.transmit(ctx, frame);
    }

    /// Sends DATA SIFS after the CTS. The rules of ns-2 withhold it after a CTS of the receiver if the medium
    /// is not idle.
    pub(super) fn send_data_after_cts(&mut self, ctx: &mut Context) {
        self.expire_nav(ctx.now, ctx.stack);
        let has_receivers_cts = self.station.function.attempt.rts.is_some();
        let needs_idle = ctx.timing.rules.data_needs_idle_medium && has_receivers_cts;
        if needs_idle && (self.is_busy() || self.nav > ctx.now) {
            if let Some(peer) = self.station.function.current.as_ref().and_then(|out| out.peer) {
                ctx.record.record_frame_loss(FrameKind::Cts, [peer, self.id], LossCause::Late, ctx.now);
            }
            self.double_cw(ctx);
            self.draw_backoff(ctx.timing);
            self.end_attempt(ctx, None);
            self.resume_contention(ctx, MacEvent::Withheld);
            return;
        }
        self.send_data(ctx);
    }

    /// Sends DATA, or the block acknowledgement request in its place.
    fn send_data(&mut self, ctx: &mut Context) {
        let out = self.outgoing();
        let (response, timeout) = out.response(ctx.timing.on(out.rates));
        let after = out.peer.map_or(Span::ZERO, |_| ctx.timing.sifs + response);
        let duration = ctx.timing.rules.duration_field.apply(after)
            + self.txop_reservation(ctx, out, out.airtime + after);
        let frame = match out.payload {
            FramePayload::Packet(handle) => self.packet_frame(ctx, out, duration, handle),
            FramePayload::Mpdus { window, aggregate } => self.mpdus_frame(ctx, duration, window, aggregate),
            FramePayload::Request { window } => self.request_frame(ctx, out, duration, window),
        };
        let on_air = air_at_sender(&frame, ctx);
        let out = self.outgoing_mut();
        out.data_tries += 1;
        if !out.is_request() {
            self.station.function.attempt.data = Some(on_air);
        }
        if frame.to.is_some() {
            self.station.phase.change(MacEvent::DataSent);
            self.arm(ctx, on_air.end + timeout);
        } else {
            self.station.phase.change(MacEvent::BroadcastSent);
        }
        self.transmit(ctx, frame);
    }

    /// DATA with one packet. Router policies see the packet before it leaves.
    #[inline]
    fn packet_frame(&self, ctx: &mut Context, out: &OutgoingFrame, duration: Span, handle: Handle) -> Frame {
        let (timing, now, category) = (ctx.timing, ctx.now, self.station.function.category);
        let departure = || out.departure(timing, category, now, out.head_of_line, out.data_tries);
        ctx.stack.on_departure(now, departure, &mut ctx.packets.get_mut(handle).packet);
        let mut frame = self.data_frame(ctx, out, duration, handle);
        frame.retry = out.data_tries > 0;
        frame
    }

    /// A DATA frame that starts now, without aggregation; `packet` is the first packet in it.
    #[inline]
    pub(super) fn data_frame(
        &self,
        ctx: &Context,
        out: &OutgoingFrame,
        duration: Span,
        packet: Handle,
    ) -> Frame {
        let class = if out.peer.is_some() { RateClass::Data } else { RateClass::Control };
        let start = ctx.now + ctx.timing.propagation;
        Frame {
            kind: FrameKind::Data,
            from: self.id,
            to: out.peer,
            duration,
            bytes: out.bytes,
            rate: class,
            rates: out.rates,
            packet: Some(packet),
            sequence: self.station.function.sequence,
            report: None,
            load: None,
            retry: false,
            overhead: ctx.timing.on(out.rates).overhead(class),
            air: Interval { start, end: start + out.airtime },
        }
    }

    /// The response timeout ended without a CTS or an acknowledgement.
    pub(super) fn on_response_overdue(&mut self, ctx: &mut Context) {
        if ctx.timing.rules.response_timeout == ResponseTimeout::FirstBit && ctx.radio.is_receiving() {
            self.station.receiving_at_timeout = true;
            return;
        }
        self.fail_attempt(ctx);
        self.contend(ctx);
    }

    /// A CTS for this station was decoded.
    pub(super) fn on_cts(&mut self, ctx: &mut Context, frame: &Frame) {
        if self.station.phase != Phase::AwaitingCts || !self.answers_outgoing(frame) {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        }
        self.station.receiving_at_timeout = false;
        self.station.function.attempt.cts = Some(frame.air);
        self.outgoing_mut().short_retries = 0;
        self.station.phase.change(MacEvent::CtsReceived);
        self.arm(ctx, ctx.now + ctx.timing.sifs);
    }

    /// An ACK for this station was decoded.
    pub(super) fn on_ack(&mut self, ctx: &mut Context, frame: &Frame) {
        let awaited = self.station.phase == Phase::AwaitingAck
            && !self.station.function.current.is_some_and(|out| out.wants_block_ack());
        if !awaited || !self.answers_outgoing(frame) {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        }
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        self.end_attempt(ctx, Some(frame.air));
        if self.station.agreements.is_some() {
            return self.on_ack_of_mpdu(ctx);
        }
        self.report_attempt(ctx, 1, 1);
        self.finish(ctx, Fate::Acknowledged);
    }

    /// Whether a CTS or an ACK responds to the outgoing frame, at any of its transmissions.
    ///
    /// On the air a response does not name the frame that it answers. With a propagation delay above the
    /// timeout, a station could take a late response for the response to its next frame, which would then be
    /// lost without a cause. The simulated response therefore carries a sequence number.
    pub(super) fn answers_outgoing(&self, frame: &Frame) -> bool {
        frame.sequence == self.station.function.sequence
            && self.station.function.current.is_some_and(|out| out.peer == Some(frame.from))
    }

    /// An attempt failed: prepares the next one, or gives the frame up.
    pub(super) fn fail_attempt(&mut self, ctx: &mut Context) {
        let awaited_cts = self.station.phase == Phase::AwaitingCts;
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        if self.station.edca.is_some() {
            // AIFS follows the response timeout (802.11-2016, 10.22.2.4 c).
            self.delay_ifs(self.station.eifs_until.max(ctx.now));
        }
        self.end_attempt(ctx, None);
        let out = self.outgoing_mut();
        out.rts_failures += u32::from(awaited_cts);
        if awaited_cts {
            self.report_attempt(ctx, 0, 0);
        }
        if self.station.agreements.is_some() {
            return self.fail_mpdus(ctx, awaited_cts);
        }
        if !awaited_cts {
            self.report_attempt(ctx, 1, 0);
        }
        let out = self.outgoing_mut();
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
            self.draw_backoff(ctx.timing);
            self.station.phase.change(MacEvent::AttemptFailed);
        }
    }

    /// Reports the outgoing frame with its fate and ends the exchange (9.3.4.4).
    pub(super) fn finish(&mut self, ctx: &mut Context, fate: Fate) {
        let out = self.station.function.current.take().expect("the station has an outgoing frame");
        if fate == Fate::Broadcast {
            self.station.function.current = Some(out);
            self.end_attempt(ctx, None);
            self.station.function.current = None;
        }
        let FramePayload::Packet(handle) = out.payload else { unreachable!("MPDUs are reported one by one") };
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
            airtime: ctx.timing.exchange(out.rates, out.airtime, out.with_rts),
            mpdus: 1,
        };
        ctx.record.exchange(&exchange, ctx.now);
        ctx.stack.on_link(&LinkEvent::Exchange(exchange));
        if let Some(peer) = out.peer {
            self.count_airtime(ctx, &out, peer, fate, [out.data_tries, 1]);
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

    /// Ends an exchange. After a success the next exchange may follow in the same TXOP. Otherwise a back-off
    /// from the present window begins, and the station dequeues the next packet.
    pub(super) fn end_exchange(&mut self, ctx: &mut Context, succeeded: bool) {
        if self.station.edca.is_some() && succeeded && self.continue_txop(ctx) {
            return;
        }
        self.draw_backoff(ctx.timing);
        if self.station.function.current.is_some() || self.dequeue_next(ctx) {
            self.extend_backoff(ctx);
        }
        if succeeded && self.returns_txop(ctx) {
            self.station.phase.change(MacEvent::TxopReturned);
            self.arm(ctx, ctx.now + ctx.timing.sifs);
        } else {
            self.station.phase.change(MacEvent::ExchangeEnded);
        }
    }

    /// Counts the airtime of a frame, or of an attempt of an aggregate. `data` is the number of PPDUs with
    /// DATA, and the number of MPDUs in each.
    pub(super) fn count_airtime(
        &self,
        ctx: &mut Context,
        out: &OutgoingFrame,
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
                let exchange = ctx.timing.exchange_with(out.rates, out.airtime, answer, out.with_rts);
                let link = LinkState { throughput: self.expected_throughput(ctx.timing, peer), exchange };
                ctx.stack.adapt_codel(self.station.function.category, peer, link);
            }
        }
    }

    /// Ends the ongoing attempt and reports it; `ack` is the acknowledgement, if one was decoded.
    pub(super) fn end_attempt(&mut self, ctx: &mut Context, ack: Option<Interval>) {
        let function = &mut self.station.function;
        let OngoingAttempt { slots, rts, cts, data } = std::mem::take(&mut function.attempt);
        let out = function.current.as_mut().expect("an attempt is of a frame");
        out.slots += slots;
        let Some(peer) = out.peer.filter(|_| !out.is_request()) else { return };
        let (node, flow, cw) = (self.id, out.flow, function.cw);
        let attempt = Attempt { node, peer, flow, cw, slots, rts, cts, data, ack };
        ctx.stack.on_link(&LinkEvent::Attempt(attempt));
    }
}

/// Airtime that a frame used: all of its RTS and DATA, their responses, and the SIFS between them.
pub(super) fn airtime_used(out: &OutgoingFrame, fate: Fate, ctx: &Context) -> Span {
    let (sifs, link) = (ctx.timing.sifs, ctx.timing.on(out.rates));
    let protected = if out.with_rts { 0 } else { u64::from(out.data_tries) };
    let answered = u64::from(out.rts_tries - out.rts_failures);
    let acknowledged = u64::from(fate == Fate::Acknowledged);
    out.protection(link) * protected
        + link.rts * u64::from(out.rts_tries)
        + (sifs + link.cts + sifs) * answered
        + out.airtime * u64::from(out.data_tries)
        + (sifs + out.response(link).0) * acknowledged
}

/// Interval in which a frame that starts now is on the air at its sender.
fn air_at_sender(frame: &Frame, ctx: &Context) -> Interval {
    let start: Time = ctx.now;
    Interval { start, end: start + frame.airtime() }
}
