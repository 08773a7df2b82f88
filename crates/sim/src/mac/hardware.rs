//! The queue of the hardware, below the interface queue: packets that no discipline reaches any more.
//!
//! A driver hands packets over while there is room, and asks again when some were sent. Within a station and
//! traffic identifier they stay in order. Limited by packets, the stations take turns, a frame each, which
//! takes along what waits for the same station, as firmware does that aggregates by itself. Limited by
//! frames, each is put together when it is handed over, of what waits then, and they are sent in that order,
//! as ath9k has it with two of them (`ATH_AGGR_MIN_QDEPTH`); what is to be sent again waits in the station,
//! and takes along what has been handed over for its receiver, or else what waits above.
//!
//! Where airtime is limited, each packet is taken to last as long as Linux expects (`net/mac80211/airtime.c`,
//! `ieee80211_calc_expected_tx_airtime`), from when it is handed over until it is acknowledged, given up or
//! lost.

use super::aggregation::{Fullest, limits_on};
use super::{Context, Mac, Timing};
use crate::config::HardwareQueueConfig;
use crate::medium::RateClass;
use crate::slab::Handle;
use crate::stack::{Stack, Waiting};
use multihop_core::{NodeId, Span, Time};
use multihop_dot11::AccessCategory;
use multihop_link::Queued;
use std::collections::VecDeque;

/// The queues of a station's hardware, by access category.
#[derive(Clone, Debug)]
pub(super) struct HardwareQueue {
    config: HardwareQueueConfig,
    buffers: [CategoryQueue; AccessCategory::COUNT],
}

/// One of them.
#[derive(Clone, Debug, Default)]
struct CategoryQueue {
    /// In the order of their first packets.
    lines: Vec<PeerQueue>,
    /// What is sent, in this order: limited by packets, a turn of each line that has some.
    frames: VecDeque<PlannedFrame>,
    /// Limited by frames: what is left of the one that the station is about to send, or is sending.
    begun: Option<PlannedFrame>,
    waiting: u32,
    /// Packets that wait, and those that the station is sending.
    held: u32,
}

/// What waits for a neighbour with a traffic identifier.
#[derive(Clone, Debug)]
struct PeerQueue {
    peer: Option<NodeId>,
    tid: u8,
    /// With the time at which each came.
    packets: VecDeque<(Time, Queued<Waiting>)>,
}

/// So many packets of the line of this index.
#[derive(Clone, Copy, Debug)]
struct PlannedFrame {
    line: usize,
    packets: u32,
}

impl CategoryQueue {
    fn line(&mut self, peer: Option<NodeId>, tid: u8) -> usize {
        let known = self.lines.iter().position(|line| (line.peer, line.tid) == (peer, tid));
        known.unwrap_or_else(|| {
            self.lines.push(PeerQueue { peer, tid, packets: VecDeque::new() });
            self.lines.len() - 1
        })
    }

    /// A packet more for a line: in its turn, or in a frame that is put together.
    fn push(&mut self, now: Time, packet: Queued<Waiting>, frame: Option<&mut PlannedFrame>) {
        let line = self.line(packet.item.peer, packet.item.tid);
        self.lines[line].packets.push_back((now, packet));
        self.waiting += 1;
        self.held += 1;
        if let Some(frame) = frame {
            frame.packets += 1;
            return;
        }
        match self.frames.iter_mut().find(|frame| frame.line == line) {
            Some(frame) => frame.packets += 1,
            None => self.frames.push_back(PlannedFrame { line, packets: 1 }),
        }
    }

    /// What the station did not send of its last frame is the next one.
    fn put_back(&mut self) {
        if let Some(rest) = self.begun.take().filter(|rest| rest.packets > 0) {
            self.frames.push_front(rest);
        }
    }

    /// The first packet of the next frame.
    fn first(&mut self, by_frames: bool) -> Option<(Time, Queued<Waiting>)> {
        self.put_back();
        let mut frame = self.frames.pop_front()?;
        frame.packets -= 1;
        if by_frames {
            self.begun = Some(frame);
        } else if frame.packets > 0 {
            self.frames.push_back(frame);
        }
        self.take(frame.line)
    }

    /// One more packet for a line, of no more than so many bytes: of the frame that was begun, or else of the
    /// first that there is.
    fn next_for(&mut self, line: usize, most: u32) -> Option<(Time, Queued<Waiting>)> {
        if self.lines[line].packets.front()?.1.size > most {
            return None;
        }
        if let Some(begun) = &mut self.begun {
            if begun.line != line || begun.packets == 0 {
                return None;
            }
            begun.packets -= 1;
        } else {
            let at = self.frames.iter().position(|frame| frame.line == line)?;
            self.frames[at].packets -= 1;
            if self.frames[at].packets == 0 {
                self.frames.remove(at);
            }
        }
        self.take(line)
    }

    fn take(&mut self, line: usize) -> Option<(Time, Queued<Waiting>)> {
        self.waiting -= 1;
        self.lines[line].packets.pop_front()
    }
}

impl HardwareQueue {
    fn buffer(&mut self, category: AccessCategory) -> &mut CategoryQueue {
        &mut self.buffers[category as usize]
    }

    fn has_waiting(&self, category: AccessCategory) -> bool {
        self.buffers[category as usize].waiting > 0
    }

    /// Is there room for a frame more, besides that which the station sends or is to send again, and for a
    /// packet?
    fn has_room(&self, category: AccessCategory, sends: bool) -> bool {
        let buffer = &self.buffers[category as usize];
        let frames = buffer.frames.len() + usize::from(sends);
        self.config.packets.is_none_or(|most| buffer.held < most)
            && self.config.aggregates.is_none_or(|most| frames < most as usize)
    }
}

impl Mac {
    /// The hardware has a queue of its own from now on.
    pub fn queue_in_hardware(&mut self, config: HardwareQueueConfig) {
        self.station.hardware = Some(Box::new(HardwareQueue { config, buffers: Default::default() }));
    }

    /// Does a packet of a category wait, here or above, that may be sent next?
    pub(super) fn has_supply(&self, stack: &Stack, category: AccessCategory) -> bool {
        self.station.hardware.as_ref().map_or_else(
            || stack.has_waiting(category),
            |hardware| hardware.has_waiting(category) || stack.offers(category),
        )
    }

    /// Could it take a packet that waits, or its hardware?
    pub(super) fn hardware_wants_packet(&self, stack: &Stack) -> bool {
        let Some(hardware) = &self.station.hardware else { return false };
        self.functions().any(|function| {
            let category = function.category;
            (function.current.is_none() && hardware.has_waiting(category))
                || (stack.offers(category) && hardware.has_room(category, self.is_sending(category)))
        })
    }

    /// Does the station send a frame of a category, or has it one to send again?
    fn is_sending(&self, category: AccessCategory) -> bool {
        let mut functions = self.functions().filter(|function| function.category == category);
        functions.any(|function| function.current.is_some()) || self.has_pending_window(category)
    }

    /// Hands over what there is room for, of all categories.
    #[inline(never)]
    pub(super) fn fill_hardware(&mut self, ctx: &mut Context) {
        for category in AccessCategory::ALL {
            if ctx.stack.offers(category) && self.functions().any(|function| function.category == category) {
                self.fill(ctx, category);
            }
        }
    }

    /// Hands over what there is room for of a category.
    fn fill(&mut self, ctx: &mut Context, category: AccessCategory) {
        let sends = self.is_sending(category);
        let Some(mut hardware) = self.station.hardware.take() else { return };
        if !sends {
            hardware.buffer(category).put_back();
        }
        let by_frames = hardware.config.aggregates.is_some();
        while hardware.has_room(category, sends) {
            let Some(next) = ctx.stack.next(ctx.now, category, ctx.packets, ctx.record) else { break };
            self.hold(ctx, category, &next);
            if by_frames {
                self.put_together(ctx, category, next, &mut hardware);
            } else {
                hardware.buffer(category).push(ctx.now, next, None);
            }
        }
        self.station.hardware = Some(hardware);
    }

    /// Hands over a frame: this packet, and what waits for the same neighbour, as far as it fits.
    fn put_together(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
        first: Queued<Waiting>,
        hardware: &mut HardwareQueue,
    ) {
        let Waiting { peer, tid, .. } = first.item;
        let line = hardware.buffer(category).line(peer, tid);
        let mut frame = PlannedFrame { line, packets: 0 };
        hardware.buffer(category).push(ctx.now, first, Some(&mut frame));
        if let (Some(peer), Some(limits)) = (peer, &ctx.timing.aggregation) {
            let rates = self.last_rates(ctx.timing, peer);
            let most = Fullest::new(limits, ctx.timing, rates, category, first.size).packets;
            let mut left =
                ctx.timing.on(rates).longest_psdu.saturating_sub(ctx.timing.data_bytes(first.size));
            let around = ctx.timing.data_bytes(0);
            while frame.packets < most
                && hardware.config.packets.is_none_or(|most| hardware.buffer(category).held < most)
            {
                let to = (category, peer, tid);
                let room = left.saturating_sub(around);
                let Some(next) = ctx.stack.next_for(ctx.now, to, room, ctx.packets, ctx.record) else {
                    break;
                };
                self.hold(ctx, category, &next);
                left = left.saturating_sub(ctx.timing.data_bytes(next.size));
                let of_this = (next.item.peer, next.item.tid) == (Some(peer), tid);
                hardware.buffer(category).push(ctx.now, next, of_this.then_some(&mut frame));
            }
        }
        hardware.buffer(category).frames.push_back(frame);
    }

    /// The first packet of the next frame.
    #[inline]
    pub(super) fn next_packet(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
    ) -> Option<Queued<Waiting>> {
        if self.station.hardware.is_none() {
            return ctx.stack.next(ctx.now, category, ctx.packets, ctx.record);
        }
        self.take_from_hardware(ctx, category, CategoryQueue::first)
    }

    /// Has the hardware a queue of its own?
    #[inline]
    pub(super) fn has_hardware_queue(&self) -> bool {
        self.station.hardware.is_some()
    }

    /// One more packet of a category, of no more than so many bytes, that can go to this neighbour in one
    /// frame with others of this traffic identifier; of what the hardware has not, only if it is asked for.
    #[inline(never)]
    pub(super) fn next_in_hardware(
        &mut self,
        ctx: &mut Context,
        to: (AccessCategory, NodeId, u8),
        most: u32,
        fills: bool,
    ) -> Option<Queued<Waiting>> {
        let hardware = self.station.hardware.as_mut()?;
        let (category, peer, tid) = to;
        let by_frames = hardware.config.aggregates.is_some();
        let buffer = hardware.buffer(category);
        let line = buffer.line(Some(peer), tid);
        // What comes from above must not overtake.
        let from_above = by_frames && buffer.begun.is_none() && buffer.lines[line].packets.is_empty();
        if !from_above {
            return self.take_from_hardware(ctx, category, |buffer, _| buffer.next_for(line, most));
        }
        if !fills {
            return None;
        }
        let next = ctx.stack.next_for(ctx.now, to, most, ctx.packets, ctx.record)?;
        self.hold(ctx, category, &next);
        let buffer = self.station.hardware.as_mut()?.buffer(category);
        if next.item.tid != tid {
            buffer.push(ctx.now, next, None); // behind those of its own
            return None;
        }
        buffer.held += 1;
        Some(next)
    }

    /// What is put together next is sent again, and no frame of the hardware.
    #[inline]
    pub(super) fn put_back_frame(&mut self, category: AccessCategory) {
        if let Some(hardware) = &mut self.station.hardware {
            hardware.buffer(category).put_back();
        }
    }

    /// The next packet that is not too old.
    #[inline(never)]
    fn take_from_hardware(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
        take: impl Fn(&mut CategoryQueue, bool) -> Option<(Time, Queued<Waiting>)>,
    ) -> Option<Queued<Waiting>> {
        loop {
            let hardware = self.station.hardware.as_mut()?;
            let by_frames = hardware.config.aggregates.is_some();
            let (came, next) = take(hardware.buffer(category), by_frames)?;
            ctx.record.left_hardware(self.id, ctx.now.since(came), ctx.now);
            if !ctx.stack.is_expired(ctx.now, next.came) {
                return Some(next);
            }
            self.release(ctx, category, next.item.peer, next.item.handle);
            ctx.stack.lose_expired(ctx.now, &next, ctx.packets, ctx.record);
        }
    }

    /// The hardware has a packet more.
    fn hold(&mut self, ctx: &mut Context, category: AccessCategory, packet: &Queued<Waiting>) {
        if ctx.stack.limits_airtime() {
            let Waiting { handle, peer, .. } = packet.item;
            let airtime = self.expected_airtime(ctx.timing, peer, packet.size);
            ctx.packets.get_mut(handle).pending = airtime;
            ctx.stack.hold_airtime(category, peer, airtime);
        }
    }

    /// The hardware is done with a packet to a neighbour, which is still there.
    #[inline]
    pub(super) fn release(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
        peer: Option<NodeId>,
        packet: Handle,
    ) {
        if self.station.hardware.is_some() {
            self.release_held(ctx, category, peer, packet);
        }
    }

    #[inline(never)]
    fn release_held(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
        peer: Option<NodeId>,
        packet: Handle,
    ) {
        let Some(hardware) = &mut self.station.hardware else { return };
        let buffer = hardware.buffer(category);
        buffer.held -= 1;
        if ctx.stack.limits_airtime() {
            ctx.stack.release_airtime(category, peer, ctx.packets.get(packet).pending);
            debug_assert!(
                buffer.held > 0 || ctx.stack.airtime_pending(category) == Span::ZERO,
                "what holds nothing has nothing pending"
            );
        }
    }

    /// How long a packet is expected to be on the air: at the last rate to its receiver, with its share of
    /// the preamble of an A-MPDU as long as Linux expects at such a rate.
    fn expected_airtime(&self, timing: &Timing, peer: Option<NodeId>, size: u32) -> Span {
        let bytes = timing.data_bytes(size);
        let Some(peer) = peer else {
            return timing.nominal.airtime(RateClass::Control, bytes) + timing.sifs;
        };
        let link = timing.on(self.last_rates(timing, peer));
        let aggregates =
            timing.aggregation.is_some_and(|limits| limits_on(link.single_mpdu, &limits).mpdus > 1);
        if !aggregates {
            return link.airtime(RateClass::Data, bytes) + timing.sifs;
        }
        let preamble = link.overhead(RateClass::Data);
        let sixteen = link.psdu_airtime(16 << 10).saturating_sub(preamble);
        sixteen * u64::from(bytes) / (16 << 10) + preamble / packets_together(sixteen / 16)
    }
}

/// Packets of an A-MPDU that Linux expects where a kibibyte takes so long.
fn packets_together(kibibyte: Span) -> u64 {
    let bounds = [(400, 2), (250, 4), (150, 8), (70, 16)];
    bounds.iter().find(|(us, _)| kibibyte > Span::from_us(*us)).map_or(32, |(_, packets)| *packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11ac at 20 MHz, long guard interval, one stream: 6.5, 19.5, 26, 39 and 78 Mb/s.
    #[test]
    fn slow_rates_have_short_aggregates() {
        let at = |bps: u64| packets_together(Span::from_ns(8192 * 1_000_000_000 / bps));
        assert_eq!(
            [6_500_000, 19_500_000, 26_000_000, 39_000_000, 78_000_000, 433_000_000].map(at),
            [2, 2, 4, 8, 16, 32]
        );
    }
}
