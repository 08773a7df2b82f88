//! Reception under an agreement: MPDUs, their acknowledgement, and delivery in order.

use super::Agreements;
use super::reorder_buffer::{MpduArrival, ReorderBuffer};
use crate::agenda::Lane;
use crate::mac::phase::MacEvent;
use crate::mac::{Context, Mac, PendingResponse};
use crate::medium::{Frame, Load, Mpdu};
use crate::slab::Handle;
use multihop_core::{DropCause, FrameKind, NodeId};

impl Agreements {
    /// Index of the reorder buffer of an originator and traffic identifier.
    fn reorder_buffer(&mut self, from: NodeId, tid: u8, size: u32) -> usize {
        let known = |known: &ReorderBuffer| (known.from, known.tid) == (from, tid);
        self.reorder_buffers.iter().position(known).unwrap_or_else(|| {
            self.reorder_buffers.push(ReorderBuffer::new(from, tid, size));
            self.reorder_buffers.len() - 1
        })
    }
}

impl Mac {
    /// The MPDU at this place of an A-MPDU was decoded; others follow.
    pub fn on_mpdu(&mut self, ctx: &mut Context, frame: &Frame, place: usize) {
        if !self.would_respond(ctx, frame) {
            return; // the station may respond at the end of the frame
        }
        let mut agreements = self.take_agreements();
        let index = Mac::take_mpdus(ctx, &mut agreements, frame, place + 1);
        Mac::pass_on(ctx, &mut agreements, index);
        self.station.agreements = Some(agreements);
    }

    /// DATA of an agreement with this station was decoded.
    pub(in crate::mac) fn on_mpdus(&mut self, ctx: &mut Context, frame: &Frame) {
        let load = frame.load.expect("the caller checked that the frame carries MPDUs");
        let several = ctx.loads.get(load).mpdus.len() > 1;
        let tid = ctx.loads.get(load).tid;
        let link = ctx.timing.on(frame.rates);
        let duration = self.duration_after(ctx, frame, if several { link.block_ack } else { link.ack });
        let event = if several { MacEvent::AggregateReceived } else { MacEvent::DataReceived };
        self.owe_response(ctx, event, PendingResponse::new(frame, duration));
        let mut agreements = self.take_agreements();
        agreements.pending_tid = tid;
        let all = ctx.loads.get(load).mpdus.len();
        let index = Mac::take_mpdus(ctx, &mut agreements, frame, all);
        Mac::pass_on(ctx, &mut agreements, index);
        self.station.agreements = Some(agreements);
    }

    /// Takes the decoded MPDUs among the first `places` of a frame, except those that were taken before.
    /// Returns the index of their reorder buffer.
    fn take_mpdus(ctx: &mut Context, agreements: &mut Agreements, frame: &Frame, places: usize) -> usize {
        let load = frame.load.expect("the caller checked that the frame carries MPDUs");
        let window = ctx.timing.aggregation.map_or(0, |limits| limits.window);
        let index = agreements.reorder_buffer(frame.from, ctx.loads.get(load).tid, window);
        let about = ctx.loads.get(load);
        let (ready, known) = (&mut agreements.ready, &mut agreements.reorder_buffers[index]);
        known.follow(about.agreement, about.start, ctx.now, ready);
        let (of, taken) = agreements.taken;
        let first = if of == frame.air.start { taken } else { 0 };
        let several = ctx.loads.get(load).mpdus.len() > 1;
        for place in first..places {
            if several && !ctx.radio.arrived().has(place) {
                continue;
            }
            let mpdu = ctx.loads.get(load).mpdus[place];
            Mac::take_mpdu(ctx, agreements, index, frame, &mpdu);
        }
        agreements.taken = (frame.air.start, places);
        index
    }

    /// Keeps or drops a decoded MPDU.
    fn take_mpdu(ctx: &mut Context, agreements: &mut Agreements, index: usize, frame: &Frame, mpdu: &Mpdu) {
        let arrival = agreements.reorder_buffers[index].record_arrival(mpdu.sequence);
        if arrival == MpduArrival::Repeated
            || (arrival == MpduArrival::Late && ctx.packets.get(mpdu.packet).passed_on)
        {
            return;
        }
        let copy = copy_packets(ctx, frame, mpdu.packet);
        if arrival == MpduArrival::Fresh {
            agreements.reorder_buffers[index].keep(mpdu.sequence, copy, ctx.now, &mut agreements.ready);
            return;
        }
        let mut late = Some(copy);
        while let Some(handle) = late {
            late = ctx.packets.detach_msdu(handle);
            ctx.stack.lose(ctx.now, handle, DropCause::Reordering, ctx.packets, ctx.record);
        }
    }

    /// Passes on MPDUs that are in order, and arms the timeout for the others.
    fn pass_on(ctx: &mut Context, agreements: &mut Agreements, index: usize) {
        let from = agreements.reorder_buffers[index].from;
        while let Some(first) = agreements.ready.pop_front() {
            let mut packet = Some(first);
            while let Some(handle) = packet {
                packet = ctx.packets.detach_msdu(handle);
                ctx.stack.on_received(ctx.now, from, handle, ctx.packets, ctx.record);
            }
        }
        let Some(timeout) = ctx.timing.reordering_timeout else { return };
        let due = agreements.reorder_buffers.iter().filter_map(|known| known.due(timeout)).min();
        match due {
            Some(due) if !ctx.agenda.is_armed(agreements.timer) => {
                ctx.agenda.arm(agreements.timer, due.max(ctx.now), Lane::Upper);
            }
            _ => {} // an early timeout does no harm
        }
    }

    /// The reordering timeout ended: passes on MPDUs that waited too long for a missing one.
    pub fn on_reordering_due(&mut self, ctx: &mut Context) {
        let Some(timeout) = ctx.timing.reordering_timeout else { return };
        let mut agreements = self.take_agreements();
        for index in 0..agreements.reorder_buffers.len() {
            if agreements.reorder_buffers[index].due(timeout).is_some_and(|due| due <= ctx.now) {
                agreements.reorder_buffers[index].give_up_first_mpdu(ctx.now, &mut agreements.ready);
            }
            Mac::pass_on(ctx, &mut agreements, index);
        }
        self.station.agreements = Some(agreements);
    }

    /// A block acknowledgement request was decoded.
    pub(in crate::mac) fn on_block_ack_request(&mut self, ctx: &mut Context, frame: &Frame) {
        let Some(load) = frame.load.filter(|_| self.will_respond(ctx, frame)) else { return };
        let Load { start, tid, agreement, .. } = *ctx.loads.get(load);
        let duration = self.duration_after(ctx, frame, ctx.timing.on(frame.rates).block_ack);
        self.owe_response(ctx, MacEvent::RequestReceived, PendingResponse::new(frame, duration));
        let mut agreements = self.take_agreements();
        agreements.pending_tid = tid;
        let index = agreements.reorder_buffer(
            frame.from,
            tid,
            ctx.timing.aggregation.map_or(0, |limits| limits.window),
        );
        let (ready, known) = (&mut agreements.ready, &mut agreements.reorder_buffers[index]);
        known.follow(agreement, start, ctx.now, ready);
        known.move_to(start, ctx.now, ready);
        Mac::pass_on(ctx, &mut agreements, index);
        self.station.agreements = Some(agreements);
    }

    /// Sends a block acknowledgement SIFS after the frame that it answers, also in a busy medium.
    pub(in crate::mac) fn send_block_ack(&mut self, ctx: &mut Context) {
        let pending = self.station.pending_response;
        let frame = self.response(ctx, FrameKind::BlockAck, pending);
        let mut agreements = self.take_agreements();
        let (to, tid) = (pending.to, agreements.pending_tid);
        let index =
            agreements.reorder_buffer(to, tid, ctx.timing.aggregation.map_or(0, |limits| limits.window));
        let load = ctx.loads.get_mut(agreements.load);
        load.mpdus.clear();
        load.tid = tid;
        (load.start, load.arrived) = agreements.reorder_buffers[index].scoreboard();
        let frame = Frame { report: ctx.stack.report(ctx.now), load: Some(agreements.load), ..frame };
        self.station.agreements = Some(agreements);
        self.station.phase.change(MacEvent::BlockAckSent);
        self.transmit(ctx, frame);
    }
}

/// Copies the packets of an MPDU for this station. The sender's packets are not needed any more.
fn copy_packets(ctx: &mut Context, frame: &Frame, first: Handle) -> Handle {
    let (mut packet, mut last, mut head) = (Some(first), None, None);
    while let Some(handle) = packet {
        let entry = ctx.packets.get_mut(handle);
        entry.passed_on = true;
        let payload = entry.packet.segment.payload;
        let copy = ctx.packets.copy(handle);
        ctx.packets.get_mut(copy).payload_air += frame.airtime_of(payload);
        if let Some(before) = last {
            ctx.packets.append_msdu(before, copy);
        }
        head = head.or(Some(copy));
        last = Some(copy);
        packet = ctx.packets.next_msdu(handle);
    }
    head.expect("an MPDU has a packet")
}
