//! Responses to frames of other stations: CTS, ACK, duplicate detection.

use super::phase::{MacEvent, Phase};
use super::{Context, Mac, PendingResponse};
use crate::medium::{Finished, Frame, Reception};
use crate::outcome::LossCause;
use crate::slab::Handle;
use multihop_core::{DecodedFrame, FlowId, FrameKind, LinkEvent, NodeId, Reported, Span, Time};
use multihop_dot11::{AccessCategory, EifsRule, user_priority};

impl Mac {
    /// Handles the end of a signal that changes carrier sense and back-off alone: the frame was for another
    /// station, no response is overdue here, and the stack watches no overheard frames. Otherwise does
    /// nothing and returns false.
    #[expect(clippy::inline_always, reason = "like `contend`")]
    #[inline(always)]
    pub fn overhear_fast(&mut self, ctx: &mut Context, frame: &Frame, finished: Finished) -> bool {
        if self.needs_every_frame() || finished.ignored_until > Time::ZERO {
            return false;
        }
        match finished.reception {
            Reception::Decoded if frame.to.is_none_or(|to| to == self.id) => return false,
            Reception::Decoded => self.on_frame_for_others(ctx, frame),
            bad => self.on_fcs_error(ctx, bad),
        }
        if finished.turns_idle {
            self.turn_idle(ctx);
            if self.needs_slow_path() {
                self.contend(ctx);
            }
        }
        true
    }

    /// A signal ended. Returns whether that may change anything above the MAC except observers of the link.
    pub fn on_signal_end(&mut self, ctx: &mut Context, frame: &Frame, finished: Finished) -> bool {
        let until = finished.ignored_until;
        if until > Time::ZERO && ctx.timing.rules.eifs == EifsRule::AsNav {
            // ns-2 keeps the NAV set until EIFS after the end of a signal that it ignored.
            self.set_nav(ctx, until + ctx.timing.eifs);
        }
        let late = self.station.receiving_at_timeout;
        match finished.reception {
            Reception::NotSynchronised | Reception::Transmitting => return false,
            Reception::Decoded => {
                self.on_frame(ctx, frame);
                return late || frame.to.is_none_or(|to| to == self.id);
            }
            bad => {
                self.fail_if_late(ctx);
                self.on_fcs_error(ctx, bad);
            }
        }
        late
    }

    /// Fails the attempt if the frame that was being received at the timeout was not the response.
    pub(super) fn fail_if_late(&mut self, ctx: &mut Context) {
        if self.station.receiving_at_timeout {
            self.fail_attempt(ctx);
        }
    }

    /// A frame was decoded.
    fn on_frame(&mut self, ctx: &mut Context, frame: &Frame) {
        if self.is_sensed() {
            self.report_decoded(ctx, frame);
        }
        if frame.to.is_some_and(|to| to != self.id) {
            self.fail_if_late(ctx);
            self.on_frame_for_others(ctx, frame);
            if let Some(handle) = frame.packet {
                Mac::overhear(ctx, frame, handle);
            }
            return;
        }
        self.end_eifs();
        self.sample_snr(ctx, frame.from);
        if let Some(report) = frame.report.filter(|_| self.is_sensed()) {
            let reported = Reported { from: frame.from, at: ctx.now, report };
            ctx.stack.on_link(&LinkEvent::Reported(reported));
        }
        ctx.record.received(self.id, frame, ctx.now);
        if frame.to.is_some() && frame.kind == FrameKind::Data {
            let category = AccessCategory::from_priority(self.tid(ctx, frame));
            ctx.stack.on_received_airtime(category, frame.from, frame.airtime());
        }
        match frame.kind {
            FrameKind::Cts => self.on_cts(ctx, frame),
            FrameKind::Ack => self.on_ack(ctx, frame),
            FrameKind::Rts => self.on_rts(ctx, frame),
            FrameKind::Data => self.on_data(ctx, frame),
            FrameKind::BlockAckRequest => self.on_block_ack_request(ctx, frame),
            FrameKind::BlockAck => self.on_block_ack(ctx, frame),
            FrameKind::CfEnd => self.on_cf_end(ctx),
        }
        self.fail_if_late(ctx);
    }

    /// Passes the decoded packets of a frame for another station to the stack. `first` is the first packet in
    /// it.
    fn overhear(ctx: &mut Context, frame: &Frame, first: Handle) {
        if ctx.loads.mpdus(frame.load).len() < 2 {
            return ctx.stack.on_overheard(ctx.now, frame.from, first, ctx.packets, ctx.agenda);
        }
        for (place, mpdu) in ctx.loads.mpdus(frame.load).iter().enumerate() {
            if ctx.radio.arrived().has(place) {
                ctx.stack.on_overheard(ctx.now, frame.from, mpdu.packet, ctx.packets, ctx.agenda);
            }
        }
    }

    /// Reports a decoded frame to the observers of the medium.
    fn report_decoded(&self, ctx: &mut Context, frame: &Frame) {
        let packet = frame.packet.map(|handle| &ctx.packets.get(handle).packet);
        ctx.stack.on_link(&LinkEvent::Decoded(DecodedFrame {
            node: self.id,
            // For observers a block acknowledgement ends an exchange like an ACK.
            kind: if frame.kind == FrameKind::BlockAck { FrameKind::Ack } else { frame.kind },
            from: frame.from,
            to: frame.to,
            air: frame.air,
            duration: frame.duration,
            size: decoded_size(ctx, frame),
            flow: packet.map(|packet| packet.flow),
            rate: ctx.timing.on(frame.rates).rate(frame.rate),
        }));
    }

    /// A frame for another station was decoded: ends EIFS and sets the NAV (9.3.2.4).
    #[inline]
    fn on_frame_for_others(&mut self, ctx: &mut Context, frame: &Frame) {
        self.end_eifs();
        self.set_nav_by(ctx, frame);
    }

    /// Whether the station could respond to a frame now, possibly by ending a wait for a response.
    fn may_respond(&self, ctx: &Context) -> bool {
        match self.station.phase {
            Phase::Contending => true,
            Phase::AwaitingCts | Phase::AwaitingAck => ctx.timing.rules.answer_rts_while_waiting,
            _ => false,
        }
    }

    /// Makes the station free to respond, and returns whether it is. Under the standard, another frame than
    /// the awaited response ends the wait for a CTS or an ACK.
    fn free_to_respond(&mut self, ctx: &mut Context) -> bool {
        if self.station.phase != Phase::Contending && self.may_respond(ctx) {
            self.fail_attempt(ctx);
        }
        self.station.phase == Phase::Contending
    }

    /// An RTS for this station was decoded.
    fn on_rts(&mut self, ctx: &mut Context, frame: &Frame) {
        self.expire_nav(ctx.now, ctx.stack);
        if !self.free_to_respond(ctx) || (self.nav > ctx.now && !ctx.timing.rules.cts_needs_idle_medium) {
            ctx.record.record_frame_loss(
                FrameKind::Rts,
                [frame.from, self.id],
                LossCause::Unanswered,
                ctx.now,
            );
            return;
        }
        let after_cts = frame.duration.saturating_sub(ctx.timing.sifs + ctx.timing.on(frame.rates).cts);
        let duration = ctx.timing.rules.duration_field.apply(after_cts);
        self.owe_response(ctx, MacEvent::RtsReceived, PendingResponse::new(frame, duration));
    }

    /// Sends a CTS SIFS after the RTS. The rules of ns-2 withhold it if the medium is not idle.
    pub(super) fn send_cts(&mut self, ctx: &mut Context) {
        let pending = self.station.pending_response;
        self.expire_nav(ctx.now, ctx.stack);
        if ctx.timing.rules.cts_needs_idle_medium && (self.is_busy() || self.nav > ctx.now) {
            ctx.record.record_frame_loss(
                FrameKind::Rts,
                [pending.to, self.id],
                LossCause::Unanswered,
                ctx.now,
            );
            self.resume_contention(ctx, MacEvent::Withheld);
            return;
        }
        let frame = self.response(ctx, FrameKind::Cts, pending);
        self.station.phase.change(MacEvent::CtsSent);
        if ctx.timing.rules.data_needs_own_cts {
            // ns-2 receives no other frame until the DATA is overdue.
            let slack = Span::from_us(4);
            let link = ctx.timing.on(frame.rates);
            let wait = link.cts + pending.duration + slack - ctx.timing.sifs - link.ack;
            self.arm(ctx, ctx.now + wait);
        }
        self.transmit(ctx, frame);
    }

    /// Notes a response that the timer sends after SIFS.
    pub(super) fn owe_response(&mut self, ctx: &mut Context, event: MacEvent, response: PendingResponse) {
        self.station.phase.change(event);
        self.station.pending_response = response;
        self.arm(ctx, ctx.now + ctx.timing.sifs);
    }

    /// A pending CTS, ACK or block acknowledgement.
    pub(super) fn response(&self, ctx: &Context, kind: FrameKind, pending: PendingResponse) -> Frame {
        let PendingResponse { to, rates, sequence, duration } = pending;
        ctx.timing.control_frame(kind, [self.id, to], rates, sequence, duration, ctx.now)
    }

    /// Whether the station would respond to a frame that ended now.
    pub(super) fn would_respond(&self, ctx: &Context, frame: &Frame) -> bool {
        let needs_cts = ctx.timing.rules.data_needs_own_cts && ctx.timing.needs_rts(frame.bytes);
        self.station.phase == Phase::AwaitingData || (!needs_cts && self.may_respond(ctx))
    }

    /// Whether the station responds to a frame. A frame without response is recorded as lost.
    pub(super) fn will_respond(&mut self, ctx: &mut Context, frame: &Frame) -> bool {
        let would = self.would_respond(ctx, frame);
        let accepted = would && (self.station.phase == Phase::AwaitingData || self.free_to_respond(ctx));
        if !accepted {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Unanswered, ctx.now);
        }
        accepted
    }

    /// DATA for this station, or a broadcast, was decoded.
    fn on_data(&mut self, ctx: &mut Context, frame: &Frame) {
        if frame.to.is_some() {
            if !self.will_respond(ctx, frame) {
                return;
            }
            if frame.load.is_some() {
                return self.on_mpdus(ctx, frame);
            }
            let duration = self.duration_after(ctx, frame, ctx.timing.on(frame.rates).ack);
            self.owe_response(ctx, MacEvent::DataReceived, PendingResponse::new(frame, duration));
            if self.is_duplicate(ctx, frame) {
                return;
            }
        }
        let handle = frame.packet.expect("DATA carries a packet");
        let packet = &ctx.packets.get(handle).packet;
        if frame.to.is_none() && packet.is_multicast() {
            if let Some(flow) = ctx.stack.receives(packet.flow, frame.from) {
                self.receive_multicast(ctx, frame, handle, flow);
            }
            return;
        }
        let entry = ctx.packets.get_mut(handle);
        entry.passed_on = frame.to.is_some();
        let payload = entry.packet.segment.payload;
        let copy = ctx.packets.copy(handle);
        ctx.packets.get_mut(copy).payload_air += frame.airtime_of(payload);
        ctx.stack.on_received(ctx.now, frame.from, copy, ctx.packets, ctx.record);
    }

    /// Passes a multicast packet to the stack, as a packet of the flow that this station receives.
    #[inline(never)]
    fn receive_multicast(&mut self, ctx: &mut Context, frame: &Frame, handle: Handle, flow: FlowId) {
        let copy = ctx.packets.copy(handle);
        let entry = ctx.packets.get_mut(copy);
        ctx.record.multicast_received(flow, &entry.packet);
        (entry.packet.flow, entry.packet.destination) = (flow, self.id);
        entry.payload_air += frame.airtime_of(entry.packet.segment.payload);
        ctx.stack.on_received(ctx.now, frame.from, copy, ctx.packets, ctx.record);
    }

    /// Duration field of the response to a frame, from the frame's own. Above zero only if another exchange
    /// follows in the same TXOP.
    pub(super) fn duration_after(&self, ctx: &Context, frame: &Frame, answer: Span) -> Span {
        if self.station.edca.is_none() {
            return Span::ZERO;
        }
        frame.duration.saturating_sub(ctx.timing.rules.duration_field.apply(ctx.timing.sifs + answer))
    }

    /// Sends an ACK SIFS after the DATA, also in a busy medium (9.3.2.8).
    pub(super) fn send_ack(&mut self, ctx: &mut Context) {
        let frame = self.response(ctx, FrameKind::Ack, self.station.pending_response);
        let frame = Frame { report: ctx.stack.report(ctx.now), ..frame };
        self.station.phase.change(MacEvent::AckSent);
        self.transmit(ctx, frame);
    }

    /// Traffic identifier of a DATA frame; 0 without EDCA.
    #[inline]
    fn tid(&self, ctx: &Context, frame: &Frame) -> u8 {
        let packet = frame.packet.filter(|_| self.station.edca.is_some());
        packet.map_or(0, |handle| user_priority(ctx.packets.get(handle).packet.segment.dscp))
    }

    /// Whether a DATA frame was received before (9.3.2.10).
    fn is_duplicate(&mut self, ctx: &Context, frame: &Frame) -> bool {
        let tid = self.tid(ctx, frame);
        let known = |(from, of, _): &&mut (NodeId, u8, u32)| (*from, *of) == (frame.from, tid);
        if let Some((.., last)) = self.station.last_sequences.iter_mut().find(known) {
            return std::mem::replace(last, frame.sequence) == frame.sequence;
        }
        self.station.last_sequences.push((frame.from, tid, frame.sequence));
        false
    }
}

/// Network-layer bytes of the decoded packets of a frame.
fn decoded_size(ctx: &Context, frame: &Frame) -> u32 {
    if frame.load.is_none() {
        return frame.packet.map_or(0, |handle| ctx.packets.get(handle).packet.size);
    }
    let mpdus = ctx.loads.mpdus(frame.load);
    let decoded = |place: usize| mpdus.len() < 2 || ctx.radio.arrived().has(place);
    let sizes = mpdus.iter().enumerate().filter(|(place, _)| decoded(*place)).map(|(_, mpdu)| {
        let packets = std::iter::successors(Some(mpdu.packet), |packet| ctx.packets.next_msdu(*packet));
        packets.map(|packet| ctx.packets.get(packet).packet.size).sum::<u32>()
    });
    sizes.sum()
}
