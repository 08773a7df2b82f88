//! Which neighbour is served, and what goes into its next frame.

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

/// The next hop that is served.
enum NextHop {
    /// The neighbour of this window.
    Window(usize),
    /// Everyone: a broadcast.
    Broadcast(Queued<Waiting>),
}

impl Originator {
    /// Which next hop is served next: that of what came first, where the queue serves packets as they come;
    /// else the one for which it has a packet and one that has waited here, in turns.
    fn choose(&mut self, mac: &mut Mac, ctx: &mut Context, size: u32) -> Option<NextHop> {
        let by_arrival = self.by_arrival(mac, ctx);
        let (waiting, queue_first) = by_arrival.unwrap_or_else(|| {
            let waiting = self.waiting();
            (waiting, waiting.is_none() || std::mem::take(&mut self.queue_next))
        });
        self.fills = true;
        if queue_first {
            let next = self.set_aside.pop_front();
            if let Some(next) = next.or_else(|| mac.next_packet(ctx, self.category)) {
                let Some(peer) = next.item.peer else { return Some(NextHop::Broadcast(next)) };
                let index = self.window(peer, next.item.tid, size);
                if self.windows[index].has_room() {
                    self.windows[index].push(held(&next, ctx, ctx.now));
                    return Some(NextHop::Window(index));
                }
                self.set_aside.push_front(next);
                if by_arrival.is_none()
                    && let Some(index) = self.another(mac, ctx)
                {
                    return Some(NextHop::Window(index));
                }
            }
        }
        self.queue_next = true;
        let index = waiting?;
        self.served = index;
        let window = &self.windows[index];
        self.fills = ctx.stack.can_aggregate((self.category, window.peer, window.tid));
        mac.put_back_frame(self.category);
        Some(NextHop::Window(index))
    }

    /// The window whose first MPDU came before those of the others, and whether what is not in a window came
    /// before that. None where no window has something to send, or the order of arrival is not kept: by the
    /// queue's discipline, or by a hardware queue, which has an order of its own.
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

    /// A window with room, and now with a packet, of those that have nothing to send again, in turns: a
    /// neighbour whose window is full does not hold up the others that have one.
    fn another(&mut self, mac: &mut Mac, ctx: &mut Context) -> Option<usize> {
        for index in in_turns(self.last_other, self.windows.len()) {
            let window = &self.windows[index];
            if window.is_pending() {
                continue;
            }
            let to = (window.peer, window.tid);
            if let Some(next) = self.next_for(mac, ctx, to, u32::MAX) {
                self.windows[index].push(held(&next, ctx, ctx.now));
                self.last_other = index;
                return Some(index);
            }
        }
        None
    }

    /// The window that has something to send and was served least lately.
    pub(super) fn waiting(&self) -> Option<usize> {
        in_turns(self.served, self.windows.len()).find(|index| self.windows[*index].is_pending())
    }

    fn window(&mut self, peer: NodeId, tid: u8, size: u32) -> usize {
        let known = |window: &TransmitWindow| (window.peer, window.tid) == (peer, tid);
        self.windows.iter().position(known).unwrap_or_else(|| {
            self.windows.push(TransmitWindow::new(peer, tid, size));
            self.windows.len() - 1
        })
    }

    /// One more packet of no more than so many bytes for an agreement.
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

    /// Makes an A-MSDU of an MPDU and packets that wait, of no more than so many bytes from its header to its
    /// FCS.
    fn bundle(
        &mut self,
        mac: &mut Mac,
        ctx: &mut Context,
        to: (NodeId, u8),
        limits: &AggregationConfig,
        held: &mut PendingMpdu,
        most: u32,
    ) {
        let Some(a_msdu) = limits.a_msdu else { return };
        let llc = ctx.timing.rules.llc_header;
        let around = ctx.timing.data_bytes(0) - llc;
        let most = a_msdu.min(most.min(limits.mpdu).saturating_sub(around));
        let mut bytes = a_msdu_with(0, held.size + llc);
        let mut last = held.packet;
        loop {
            let room = most.saturating_sub(a_msdu_with(bytes, llc));
            let Some(next) = self.next_for(mac, ctx, to, room) else { return };
            let more = self::held(&next, ctx, held.head_of_line);
            ctx.packets.append_msdu(last, more.packet);
            last = more.packet;
            bytes = a_msdu_with(bytes, more.size + llc);
            if held.payload == 0 && more.payload > 0 {
                held.flow = more.flow;
            }
            held.size += more.size;
            held.payload += more.payload;
            held.bytes = around + bytes;
        }
    }
}

/// Places of so many windows, from the one behind the last that was served on.
fn in_turns(last: usize, count: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |step| (last + step) % count)
}

/// A packet from the queue as an MPDU.
fn held(next: &Queued<Waiting>, ctx: &Context, head_of_line: Time) -> PendingMpdu {
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
        flying: false,
        state: MpduState::Waiting,
    }
}

impl Mac {
    /// Takes what is to be sent next. Returns whether there is anything.
    pub(in crate::mac) fn choose_window(&mut self, ctx: &mut Context) -> bool {
        let limits = ctx.timing.aggregation.expect("the station aggregates");
        let mut agreements = self.agreements();
        let originator = &mut agreements.originators[self.station.function.category as usize];
        let choice = originator.choose(self, ctx, limits.window);
        match &choice {
            Some(NextHop::Window(index)) => self.set_window(ctx, *index, &originator.windows[*index]),
            Some(NextHop::Broadcast(next)) => self.set_packet(ctx, next),
            None => {}
        }
        self.station.agreements = Some(agreements);
        choice.is_some()
    }

    /// Wants to send what is in a window; what that is, is decided when the station may.
    fn set_window(&mut self, ctx: &mut Context, index: usize, window: &TransmitWindow) {
        self.assign_sequence(window.tid);
        let first = window.iter().find(|held| held.state == MpduState::Waiting);
        let fresh = first.filter(|held| held.tries == 0);
        let extra =
            fresh.map_or(Span::ZERO, |held| ctx.stack.extra_backoff(&ctx.packets.get(held.packet).packet));
        let window_index = index as u32;
        self.station.function.current = Some(OutgoingFrame {
            payload: if window.request {
                FramePayload::Request { window: window_index }
            } else {
                FramePayload::Mpdus { window: window_index, aggregate: false }
            },
            peer: Some(window.peer),
            flow: first.map_or(FlowId::ROUTING, |held| held.flow),
            size: 0,
            bytes: 0,
            rates: ctx.timing.between(self.id, window.peer),
            airtime: Span::ZERO,
            with_rts: false,
            enqueued: ctx.now,
            head_of_line: ctx.now,
            rts_tries: 0,
            rts_failures: 0,
            data_tries: 0,
            short_retries: 0,
            long_retries: 0,
            slots: 0,
            extra_slots: ctx.timing.slots_of(extra),
        });
    }

    /// Puts the frame together, of what was sent before and then of what waits in the queue.
    pub(super) fn assemble(&mut self, ctx: &mut Context, index: u32, demands: RateDemands) {
        let rates = self.station.function.current.as_ref().expect("a window is served").rates;
        let limits = ctx.timing.aggregation.as_ref().expect("the station aggregates");
        let mut limits = limits_on(ctx.timing.on(rates).single_mpdu, limits);
        if demands.single {
            limits.mpdus = 1;
        }
        let in_txop = self.longest_in_txop(ctx, &limits);
        let mut agreements = self.agreements();
        let (load, originator) =
            (agreements.load, &mut agreements.originators[self.station.function.category as usize]);
        let out = self.station.function.current.as_ref().expect("a window is served");
        let (rates, since, mut size) = (out.rates, out.head_of_line, 0);
        let window = &mut originator.windows[index as usize];
        let (peer, tid) = (window.peer, window.tid);
        let mut window = std::mem::replace(window, TransmitWindow::new(peer, tid, 0));
        let link = ctx.timing.on(rates);
        let longest = link.longest_psdu.min(in_txop.unwrap_or(u32::MAX));
        let mut psdu = Psdu::new(&limits, longest, link.mpdu_spacing);
        let about = ctx.loads.get_mut(load);
        about.mpdus.clear();
        (about.start, about.tid, about.agreement) = (window.start(), tid, window.agreement);
        window.iter_mut().for_each(|held| held.flying = false);
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
                window.push(held(&next, ctx, since));
            }
            let is_last = place + 1 == window.len();
            let held = window.get_mut(place);
            place += 1;
            if held.state != MpduState::Waiting {
                continue;
            }
            if is_last && held.tries == 0 && ctx.packets.next_msdu(held.packet).is_none() {
                let room = psdu.room().min(longest);
                originator.bundle(self, ctx, (peer, tid), &limits, held, room);
            }
            if !psdu.add(held.bytes) {
                break;
            }
            held.flying = true;
            size += held.size;
            let mpdu = Mpdu {
                packet: held.packet,
                sequence: window.sequence(place - 1),
                bytes: window.get(place - 1).bytes,
                retry: window.get(place - 1).tries > 0,
            };
            ctx.loads.get_mut(load).mpdus.push(mpdu);
        }
        let aggregate = ctx.loads.get(load).mpdus.len() > 1;
        let out = self.station.function.current.as_mut().expect("it was there");
        out.size = size;
        out.payload = FramePayload::Mpdus { window: index, aggregate };
        out.bytes = psdu.bytes();
        out.airtime = link.psdu_airtime(out.bytes);
        out.with_rts = (aggregate && limits.rts) || demands.rts || ctx.timing.needs_rts(out.bytes);
        originator.windows[index as usize] = window;
        self.station.agreements = Some(agreements);
    }
}
