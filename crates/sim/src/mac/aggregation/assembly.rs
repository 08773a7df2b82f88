//! Choice of the next neighbour, and assembly of its frame.

use super::Originator;
use super::psdu::{Psdu, a_msdu_with, limits_on};
use super::transmit_window::{MpduState, PendingMpdu, TransmitWindow};
use crate::config::AggregationConfig;
use crate::mac::rate_control::RateDemands;
use crate::mac::{Context, FramePayload, Mac, OutgoingFrame};
use crate::medium::Mpdu;
use crate::stack::Waiting;
use multihop_core::{FlowId, NodeId, Span, Time};
use multihop_link::Queued;

/// Next hop that is served.
enum FrameTarget {
    /// The neighbour with this transmit window.
    Window(usize),
    /// All neighbours, by a broadcast.
    Broadcast(Queued<Waiting>),
}

impl Originator {
    /// Chooses the next hop. If the queue serves packets in order of arrival: the next hop of the oldest
    /// packet. Otherwise a next hop from the queue and one with retransmissions take turns.
    fn choose(&mut self, mac: &mut Mac, ctx: &mut Context, size: u32) -> Option<FrameTarget> {
        let by_arrival = self.by_arrival(mac, ctx);
        let (waiting, queue_first) = by_arrival.unwrap_or_else(|| {
            let waiting = self.pending();
            (waiting, waiting.is_none() || std::mem::take(&mut self.queue_next))
        });
        self.fills = true;
        if queue_first {
            let next = self.set_aside.pop_front();
            if let Some(next) = next.or_else(|| mac.next_packet(ctx, self.category)) {
                let Some(peer) = next.item.peer else { return Some(FrameTarget::Broadcast(next)) };
                let index = self.window(peer, next.item.tid, size);
                if self.windows[index].has_room() {
                    self.windows[index].push(pending_mpdu(&next, ctx, ctx.now));
                    return Some(FrameTarget::Window(index));
                }
                self.set_aside.push_front(next);
                if by_arrival.is_none()
                    && let Some(index) = self.choose_other(mac, ctx)
                {
                    return Some(FrameTarget::Window(index));
                }
            }
        }
        self.queue_next = true;
        let index = waiting?;
        self.served = index;
        let window = &self.windows[index];
        self.fills = ctx.stack.can_aggregate((self.category, window.peer, window.tid));
        mac.put_back_frame(self.category);
        Some(FrameTarget::Window(index))
    }

    /// The window with the oldest first MPDU, and whether a packet outside the windows is older. None if no
    /// window has anything to send, or if the queue discipline or the hardware queue does not keep the order
    /// of arrival.
    fn by_arrival(&self, mac: &Mac, ctx: &Context) -> Option<(Option<usize>, bool)> {
        if mac.has_hardware_queue() {
            return None;
        }
        let pending = self.windows.iter().enumerate().filter(|(_, window)| window.is_pending());
        let (entered, first) = pending.map(|(index, window)| (window.entered(), index)).min()?;
        let queue_precedes = ctx.stack.precedes(self.category, entered)?;
        let set_aside_precedes = self.set_aside.front().is_some_and(|next| next.came < entered);
        Some((Some(first), set_aside_precedes || queue_precedes))
    }

    /// Chooses another window in turn, with room and without retransmissions, and adds a packet to it. A
    /// neighbour whose window is full thus does not delay other neighbours.
    fn choose_other(&mut self, mac: &mut Mac, ctx: &mut Context) -> Option<usize> {
        for index in in_turns(self.last_other, self.windows.len()) {
            let window = &self.windows[index];
            if window.is_pending() {
                continue;
            }
            let to = (window.peer, window.tid);
            if let Some(next) = self.next_for(mac, ctx, to, u32::MAX) {
                self.windows[index].push(pending_mpdu(&next, ctx, ctx.now));
                self.last_other = index;
                return Some(index);
            }
        }
        None
    }

    /// The pending window that was served least recently.
    pub(super) fn pending(&self) -> Option<usize> {
        in_turns(self.served, self.windows.len()).find(|index| self.windows[*index].is_pending())
    }

    /// Index of the window of a neighbour and traffic identifier.
    fn window(&mut self, peer: NodeId, tid: u8, size: u32) -> usize {
        let known = |window: &TransmitWindow| (window.peer, window.tid) == (peer, tid);
        self.windows.iter().position(known).unwrap_or_else(|| {
            self.windows.push(TransmitWindow::new(peer, tid, size));
            self.windows.len() - 1
        })
    }

    /// Dequeues one more packet of at most `most` bytes for an agreement.
    fn next_for(
        &mut self,
        mac: &mut Mac,
        ctx: &mut Context,
        (peer, tid): (NodeId, u8),
        most: u32,
    ) -> Option<Queued<Waiting>> {
        let fits = |next: &Queued<Waiting>| {
            (next.item.peer, next.item.tid) == (Some(peer), tid) && next.size <= most
        };
        if let Some(at) = self.set_aside.iter().position(fits) {
            return self.set_aside.remove(at);
        }
        let to = (self.category, peer, tid);
        let next = if mac.has_hardware_queue() {
            mac.next_in_hardware(ctx, to, most, self.fills)?
        } else {
            if !self.fills {
                return None;
            }
            ctx.stack.next_for(ctx.now, to, most, ctx.packets, ctx.record)?
        };
        if !fits(&next) {
            self.set_aside.push_back(next);
            return None;
        }
        Some(next)
    }

    /// Extends an MPDU to an A-MSDU with packets that wait, up to `most` bytes from its header to its FCS.
    fn extend_to_a_msdu(
        &mut self,
        mac: &mut Mac,
        ctx: &mut Context,
        to: (NodeId, u8),
        limits: &AggregationConfig,
        pending: &mut PendingMpdu,
        most: u32,
    ) {
        let Some(a_msdu) = limits.a_msdu else { return };
        let llc = ctx.timing.rules.llc_header;
        let around = ctx.timing.data_bytes(0) - llc;
        let most = a_msdu.min(most.min(limits.mpdu).saturating_sub(around));
        let mut bytes = a_msdu_with(0, pending.size + llc);
        let mut last = pending.packet;
        loop {
            let room = most.saturating_sub(a_msdu_with(bytes, llc));
            let Some(next) = self.next_for(mac, ctx, to, room) else { return };
            let more = pending_mpdu(&next, ctx, pending.head_of_line);
            ctx.packets.append_msdu(last, more.packet);
            last = more.packet;
            bytes = a_msdu_with(bytes, more.size + llc);
            if pending.payload == 0 && more.payload > 0 {
                pending.flow = more.flow;
            }
            pending.size += more.size;
            pending.payload += more.payload;
            pending.bytes = around + bytes;
        }
    }
}

/// Indices of `count` windows in turn, from the one after `last` on.
fn in_turns(last: usize, count: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |step| (last + step) % count)
}

/// Makes an MPDU of a packet from the queue.
fn pending_mpdu(next: &Queued<Waiting>, ctx: &Context, head_of_line: Time) -> PendingMpdu {
    let packet = &ctx.packets.get(next.item.handle).packet;
    PendingMpdu {
        packet: next.item.handle,
        flow: packet.flow,
        size: packet.size,
        payload: packet.segment.payload,
        bytes: ctx.timing.data_bytes(packet.size),
        enqueued: next.came,
        head_of_line: head_of_line.max(next.came),
        tries: 0,
        tries_alone: 0,
        in_frame: false,
        state: MpduState::Waiting,
    }
}

impl Mac {
    /// Chooses the next hop and makes its window, or a broadcast, the outgoing frame. Returns whether there
    /// is one.
    pub(in crate::mac) fn choose_window(&mut self, ctx: &mut Context) -> bool {
        let limits = ctx.timing.aggregation.expect("the station aggregates");
        let mut agreements = self.take_agreements();
        let originator = &mut agreements.originators[self.station.function.category as usize];
        let choice = originator.choose(self, ctx, limits.window);
        match &choice {
            Some(FrameTarget::Window(index)) => self.set_window(ctx, *index, &originator.windows[*index]),
            Some(FrameTarget::Broadcast(next)) => self.set_packet(ctx, next),
            None => {}
        }
        self.station.agreements = Some(agreements);
        choice.is_some()
    }

    /// Makes a window the outgoing frame. Its MPDUs are assembled when the station wins the medium.
    fn set_window(&mut self, ctx: &mut Context, index: usize, window: &TransmitWindow) {
        self.assign_sequence(window.tid);
        let first = window.iter().find(|pending| pending.state == MpduState::Waiting);
        let fresh = first.filter(|pending| pending.tries == 0);
        let extra = fresh
            .map_or(Span::ZERO, |pending| ctx.stack.extra_backoff(&ctx.packets.get(pending.packet).packet));
        let payload = if window.request {
            FramePayload::Request { window: index as u32 }
        } else {
            FramePayload::Mpdus { window: index as u32, aggregate: false }
        };
        let flow = first.map_or(FlowId::ROUTING, |pending| pending.flow);
        let rates = ctx.timing.between(self.id, window.peer);
        self.station.function.current = Some(OutgoingFrame {
            extra_slots: ctx.timing.slots_of(extra),
            ..OutgoingFrame::new(payload, Some(window.peer), flow, rates, ctx.now)
        });
    }

    /// Assembles a frame: first of MPDUs that are retransmitted, then of packets from the queue.
    pub(super) fn assemble(&mut self, ctx: &mut Context, index: u32, demands: RateDemands) {
        let rates = self.outgoing().rates;
        let limits = ctx.timing.aggregation.as_ref().expect("the station aggregates");
        let mut limits = limits_on(ctx.timing.on(rates).single_mpdu, limits);
        if demands.single {
            limits.mpdus = 1;
        }
        let in_txop = self.longest_in_txop(ctx, &limits);
        let mut agreements = self.take_agreements();
        let (load, originator) =
            (agreements.load, &mut agreements.originators[self.station.function.category as usize]);
        let out = self.outgoing();
        let (rates, since, mut size) = (out.rates, out.head_of_line, 0);
        let window = &mut originator.windows[index as usize];
        let (peer, tid) = (window.peer, window.tid);
        let mut window = std::mem::replace(window, TransmitWindow::new(peer, tid, 0));
        let link = ctx.timing.on(rates);
        let longest = link.longest_psdu.min(in_txop.unwrap_or(u32::MAX));
        let mut psdu = Psdu::new(&limits, longest, link.mpdu_spacing);
        let carried = ctx.loads.get_mut(load);
        carried.mpdus.clear();
        (carried.start, carried.tid, carried.agreement) = (window.start(), tid, window.agreement);
        window.iter_mut().for_each(|pending| pending.in_frame = false);
        let mut place = 0;
        loop {
            if place == window.len() {
                let most = psdu.room().saturating_sub(ctx.timing.data_bytes(0));
                let next = if window.has_room() && most > 0 {
                    originator.next_for(self, ctx, (peer, tid), most)
                } else {
                    None
                };
                let Some(next) = next else { break };
                window.push(pending_mpdu(&next, ctx, since));
            }
            let is_last = place + 1 == window.len();
            let pending = window.get_mut(place);
            place += 1;
            if pending.state != MpduState::Waiting {
                continue;
            }
            if is_last && pending.tries == 0 && ctx.packets.next_msdu(pending.packet).is_none() {
                let room = psdu.room().min(longest);
                originator.extend_to_a_msdu(self, ctx, (peer, tid), &limits, pending, room);
            }
            if !psdu.add(pending.bytes) {
                break;
            }
            pending.in_frame = true;
            size += pending.size;
            let mpdu = Mpdu {
                packet: pending.packet,
                sequence: window.sequence(place - 1),
                bytes: window.get(place - 1).bytes,
                retry: window.get(place - 1).tries > 0,
            };
            ctx.loads.get_mut(load).mpdus.push(mpdu);
        }
        let aggregate = ctx.loads.get(load).mpdus.len() > 1;
        let out = self.outgoing_mut();
        out.size = size;
        out.payload = FramePayload::Mpdus { window: index, aggregate };
        out.bytes = psdu.bytes();
        out.airtime = link.psdu_airtime(out.bytes);
        out.with_rts = (aggregate && limits.rts) || demands.rts || ctx.timing.needs_rts(out.bytes);
        originator.windows[index as usize] = window;
        self.station.agreements = Some(agreements);
    }
}
