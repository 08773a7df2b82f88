//! What the station does with frames of others.

use super::phase::{Event, Phase};
use super::{Context, Mac, PendingResponse};
use crate::medium::{Finished, Frame, Reception};
use crate::outcome::LossCause;
use crate::slab::Handle;
use multihop_core::{DecodedFrame, FlowId, FrameKind, LinkEvent, NodeId, Reported, Span, Time};
use multihop_dot11::{AccessCategory, EifsRule, user_priority};

impl Mac {
    /// A signal ended here. If it is none of the station's business, because it was for others and no
    /// response is awaited here or watches the link, all that follows is done, up to the back-off that goes
    /// on. Otherwise nothing is done, and false returned.
    #[expect(clippy::inline_always, reason = "as for `contend`")]
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

    /// A signal ended here. Returns whether it may matter above the MAC, besides to what watches the link.
    pub fn on_signal_end(&mut self, ctx: &mut Context, frame: &Frame, finished: Finished) -> bool {
        let until = finished.ignored_until;
        if until > Time::ZERO && ctx.timing.rules.eifs == EifsRule::AsNav {
            // Of a signal that it ignored ns-2 keeps the NAV set until EIFS after its end.
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

    /// What was heard beyond the deadline was not the awaited response.
    pub(super) fn fail_if_late(&mut self, ctx: &mut Context) {
        if self.station.receiving_at_timeout {
            self.fail_attempt(ctx);
        }
    }

    fn on_frame(&mut self, ctx: &mut Context, frame: &Frame) {
        if ctx.stack.observes() {
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
        self.after_correct();
        self.sample_snr(ctx, frame.from);
        if let Some(report) = frame.report {
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

    /// Packets for another station were decoded, of which this is the first in the frame.
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

    fn report_decoded(&self, ctx: &mut Context, frame: &Frame) {
        let packet = frame.packet.map(|handle| &ctx.packets.get(handle).packet);
        ctx.stack.on_link(&LinkEvent::Decoded(DecodedFrame {
            node: self.id,
            // It ends an exchange as an ACK does.
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

    /// A frame for another station was decoded: the NAV (9.3.2.4).
    #[inline]
    fn on_frame_for_others(&mut self, ctx: &mut Context, frame: &Frame) {
        self.after_correct();
        self.set_nav_by(ctx, frame);
    }

    /// Could it be? Nothing is done for it.
    fn may_respond(&self, ctx: &Context) -> bool {
        match self.station.phase {
            Phase::Contending => true,
            Phase::AwaitingCts | Phase::AwaitingAck => ctx.timing.rules.answer_rts_while_waiting,
            _ => false,
        }
    }

    /// May a response be owed now? Under the standard, a wait for a CTS or an ACK ends first: the frame was
    /// not the one awaited.
    fn free_to_respond(&mut self, ctx: &mut Context) -> bool {
        if self.station.phase != Phase::Contending && self.may_respond(ctx) {
            self.fail_attempt(ctx);
        }
        self.station.phase == Phase::Contending
    }

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
        let rest = frame.duration.saturating_sub(ctx.timing.sifs + ctx.timing.on(frame.rates).cts);
        let duration = ctx.timing.rules.duration_field.apply(rest);
        self.owe_response(ctx, Event::RtsReceived, PendingResponse::new(frame, duration));
    }

    /// SIFS after the RTS.
    pub(super) fn send_cts(&mut self, ctx: &mut Context) {
        let PendingResponse { to, duration, .. } = self.station.pending_response;
        self.expire_nav(ctx.now, ctx.stack);
        if ctx.timing.rules.cts_needs_idle_medium && (self.is_busy() || self.nav > ctx.now) {
            ctx.record.record_frame_loss(FrameKind::Rts, [to, self.id], LossCause::Unanswered, ctx.now);
            self.resume_contention(ctx, Event::Withheld);
            return;
        }
        let frame = self.response(ctx, FrameKind::Cts);
        self.station.phase.change(Event::CtsSent);
        if ctx.timing.rules.data_needs_own_cts {
            // ns-2 receives nothing but the DATA until it should have come.
            let slack = Span::from_us(4);
            let link = ctx.timing.on(frame.rates);
            let wait = link.cts + duration + slack - ctx.timing.sifs - link.ack;
            self.arm(ctx, ctx.now + wait);
        }
        self.transmit(ctx, frame);
    }

    /// Sends a response after SIFS.
    pub(super) fn owe_response(&mut self, ctx: &mut Context, event: Event, response: PendingResponse) {
        self.station.phase.change(event);
        self.station.pending_response = response;
        self.arm(ctx, ctx.now + ctx.timing.sifs);
    }

    /// The CTS, ACK or block acknowledgement that is owed.
    pub(super) fn response(&self, ctx: &Context, kind: FrameKind) -> Frame {
        let PendingResponse { to, rates, sequence, duration, .. } = self.station.pending_response;
        ctx.timing.control_frame(kind, [self.id, to], rates, sequence, duration, ctx.now)
    }

    /// Would a frame be answered if it ended now?
    pub(super) fn would_respond(&self, ctx: &Context, frame: &Frame) -> bool {
        let needs_cts = ctx.timing.rules.data_needs_own_cts && ctx.timing.needs_rts(frame.bytes);
        self.station.phase == Phase::AwaitingData || (!needs_cts && self.may_respond(ctx))
    }

    /// Can a frame be answered?
    pub(super) fn will_respond(&mut self, ctx: &mut Context, frame: &Frame) -> bool {
        let would = self.would_respond(ctx, frame);
        let accepted = would && (self.station.phase == Phase::AwaitingData || self.free_to_respond(ctx));
        if !accepted {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Unanswered, ctx.now);
        }
        accepted
    }

    fn on_data(&mut self, ctx: &mut Context, frame: &Frame) {
        if frame.to.is_some() {
            if !self.will_respond(ctx, frame) {
                return;
            }
            if frame.load.is_some() {
                return self.on_mpdus(ctx, frame);
            }
            let duration = self.duration_after(ctx, frame, ctx.timing.on(frame.rates).ack);
            self.owe_response(ctx, Event::DataReceived, PendingResponse::new(frame, duration));
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

    /// A multicast packet was decoded, which is of this flow here.
    #[inline(never)]
    fn receive_multicast(&mut self, ctx: &mut Context, frame: &Frame, handle: Handle, flow: FlowId) {
        let copy = ctx.packets.copy(handle);
        let entry = ctx.packets.get_mut(copy);
        ctx.record.multicast_received(flow, &entry.packet);
        (entry.packet.flow, entry.packet.destination) = (flow, self.id);
        entry.payload_air += frame.airtime_of(entry.packet.segment.payload);
        ctx.stack.on_received(ctx.now, frame.from, copy, ctx.packets, ctx.record);
    }

    /// What is left of the duration field of a frame behind its answer: more than nothing only where another
    /// exchange follows in the same transmission opportunity.
    pub(super) fn duration_after(&self, ctx: &Context, frame: &Frame, answer: Span) -> Span {
        if self.station.edca.is_none() {
            return Span::ZERO;
        }
        frame.duration.saturating_sub(ctx.timing.rules.duration_field.apply(ctx.timing.sifs + answer))
    }

    /// SIFS after the DATA, whatever the medium does (9.3.2.8).
    pub(super) fn send_ack(&mut self, ctx: &mut Context) {
        let frame = self.response(ctx, FrameKind::Ack);
        let frame = Frame { report: ctx.stack.report(ctx.now), ..frame };
        self.station.phase.change(Event::AckSent);
        self.transmit(ctx, frame);
    }

    /// The traffic identifier of DATA.
    #[inline]
    fn tid(&self, ctx: &Context, frame: &Frame) -> u8 {
        let packet = frame.packet.filter(|_| self.station.edca.is_some());
        packet.map_or(0, |handle| user_priority(ctx.packets.get(handle).packet.segment.dscp))
    }

    /// Has this DATA frame come before (9.3.2.10)?
    fn is_duplicate(&mut self, ctx: &Context, frame: &Frame) -> bool {
        let tid = self.tid(ctx, frame);
        let known = |(from, of, _): &&mut (NodeId, u8, u32)| (*from, *of) == (frame.from, tid);
        if let Some((.., last)) = self.station.heard_last.iter_mut().find(known) {
            return std::mem::replace(last, frame.sequence) == frame.sequence;
        }
        self.station.heard_last.push((frame.from, tid, frame.sequence));
        false
    }
}

/// Network-layer bytes of the packets of a frame that were decoded.
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
