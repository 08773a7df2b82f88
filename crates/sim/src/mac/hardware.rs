//! Queue of the hardware below the interface queue, out of reach of every queue discipline.
//!
//! The driver fills the hardware queue while it has room. Packets for one station and traffic identifier stay
//! in order. The limit decides when frames are assembled:
//!
//! - A limit in packets: neighbours take turns, one frame each. A frame is assembled when it is sent, of all
//!   packets that wait for the neighbour, like in firmware that aggregates.
//! - A limit in frames: a frame is assembled when the driver hands it over, of the packets that wait then.
//!   Frames are sent in that order, like in ath9k with two of them (`ATH_AGGR_MIN_QDEPTH`). A retransmission
//!   waits in the station, and is filled up with packets for its receiver from the hardware queue, or else
//!   from the interface queue.
//!
//! A limit in airtime counts each packet with the airtime that Linux expects (`net/mac80211/airtime.c`,
//! `ieee80211_calc_expected_tx_airtime`), from when the hardware has it until it is acknowledged, given up or
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

/// Hardware queues of a station, one per access category.
#[derive(Clone, Debug)]
pub(super) struct HardwareQueue {
    config: HardwareQueueConfig,
    queues: [CategoryQueue; AccessCategory::COUNT],
}

/// Hardware queue of one access category.
#[derive(Clone, Debug, Default)]
struct CategoryQueue {
    /// Queues of the neighbours, in the order of their first packets.
    peers: Vec<PeerQueue>,
    /// Frames in the order in which they are sent. Under a limit in packets: one for each neighbour with
    /// packets.
    frames: VecDeque<PlannedFrame>,
    /// Under a limit in frames: packets left of the frame that the station sends.
    begun: Option<PlannedFrame>,
    /// Packets that wait.
    waiting: u32,
    /// Packets that wait, and packets that the station is sending.
    held: u32,
}

/// Packets that wait for a neighbour, of one traffic identifier.
#[derive(Clone, Debug)]
struct PeerQueue {
    peer: Option<NodeId>,
    tid: u8,
    /// The packets, with the time at which each entered.
    packets: VecDeque<(Time, Queued<Waiting>)>,
}

/// A frame: number of packets from the queue of a neighbour.
#[derive(Clone, Copy, Debug)]
struct PlannedFrame {
    /// Index of the neighbour's queue.
    peer: usize,
    packets: u32,
}

impl CategoryQueue {
    /// Index of the queue of a neighbour and traffic identifier.
    fn peer_index(&mut self, peer: Option<NodeId>, tid: u8) -> usize {
        let known = self.peers.iter().position(|queue| (queue.peer, queue.tid) == (peer, tid));
        known.unwrap_or_else(|| {
            self.peers.push(PeerQueue { peer, tid, packets: VecDeque::new() });
            self.peers.len() - 1
        })
    }

    /// Adds a packet to the queue of its neighbour, and to `frame` or else to the neighbour's next frame.
    fn push(&mut self, now: Time, packet: Queued<Waiting>, frame: Option<&mut PlannedFrame>) {
        let peer = self.peer_index(packet.item.peer, packet.item.tid);
        self.peers[peer].packets.push_back((now, packet));
        self.waiting += 1;
        self.held += 1;
        if let Some(frame) = frame {
            frame.packets += 1;
            return;
        }
        match self.frames.iter_mut().find(|frame| frame.peer == peer) {
            Some(frame) => frame.packets += 1,
            None => self.frames.push_back(PlannedFrame { peer, packets: 1 }),
        }
    }

    /// Makes the packets that the station did not send of its last frame the next frame.
    fn put_back(&mut self) {
        if let Some(unsent) = self.begun.take().filter(|frame| frame.packets > 0) {
            self.frames.push_front(unsent);
        }
    }

    /// Removes the first packet of the next frame.
    fn first(&mut self, by_frames: bool) -> Option<(Time, Queued<Waiting>)> {
        self.put_back();
        let mut frame = self.frames.pop_front()?;
        frame.packets -= 1;
        if by_frames {
            self.begun = Some(frame);
        } else if frame.packets > 0 {
            self.frames.push_back(frame);
        }
        self.take(frame.peer)
    }

    /// Removes one more packet for a neighbour, of at most `most` bytes: from the frame that the station
    /// sends, or else from the neighbour's first frame.
    fn next_for(&mut self, peer: usize, most: u32) -> Option<(Time, Queued<Waiting>)> {
        if self.peers[peer].packets.front()?.1.size > most {
            return None;
        }
        if let Some(begun) = &mut self.begun {
            if begun.peer != peer || begun.packets == 0 {
                return None;
            }
            begun.packets -= 1;
        } else {
            let at = self.frames.iter().position(|frame| frame.peer == peer)?;
            self.frames[at].packets -= 1;
            if self.frames[at].packets == 0 {
                self.frames.remove(at);
            }
        }
        self.take(peer)
    }

    fn take(&mut self, peer: usize) -> Option<(Time, Queued<Waiting>)> {
        self.waiting -= 1;
        self.peers[peer].packets.pop_front()
    }
}

impl HardwareQueue {
    fn queue(&mut self, category: AccessCategory) -> &mut CategoryQueue {
        &mut self.queues[category as usize]
    }

    fn has_waiting(&self, category: AccessCategory) -> bool {
        self.queues[category as usize].waiting > 0
    }

    /// Whether the hardware has room for another packet, in another frame. `sends`: whether the station
    /// already sends or retransmits a frame, which occupies a place.
    fn has_room(&self, category: AccessCategory, sends: bool) -> bool {
        let queue = &self.queues[category as usize];
        let frames = queue.frames.len() + usize::from(sends);
        self.config.packets.is_none_or(|most| queue.held < most)
            && self.config.aggregates.is_none_or(|most| frames < most as usize)
    }
}

impl Mac {
    /// Gives the station a hardware queue.
    pub fn queue_in_hardware(&mut self, config: HardwareQueueConfig) {
        self.station.hardware = Some(Box::new(HardwareQueue { config, queues: Default::default() }));
    }

    /// Whether a packet of a category waits, in the hardware or above, and can be sent next.
    pub(super) fn has_supply(&self, stack: &Stack, category: AccessCategory) -> bool {
        self.station.hardware.as_ref().map_or_else(
            || stack.has_waiting(category),
            |hardware| hardware.has_waiting(category) || stack.offers(category),
        )
    }

    /// Whether a packet can be dequeued, from the hardware queue to the MAC or from the interface queue to
    /// the hardware. False without a hardware queue.
    pub(super) fn hardware_wants_packet(&self, stack: &Stack) -> bool {
        let Some(hardware) = &self.station.hardware else { return false };
        self.functions().any(|function| {
            let category = function.category;
            (function.current.is_none() && hardware.has_waiting(category))
                || (stack.offers(category) && hardware.has_room(category, self.is_sending(category)))
        })
    }

    /// Whether the station sends or retransmits a frame of a category.
    fn is_sending(&self, category: AccessCategory) -> bool {
        let mut functions = self.functions().filter(|function| function.category == category);
        functions.any(|function| function.current.is_some()) || self.has_pending_window(category)
    }

    /// Fills the hardware queues of all categories.
    #[inline(never)]
    pub(super) fn fill_hardware(&mut self, ctx: &mut Context) {
        for category in AccessCategory::ALL {
            if ctx.stack.offers(category) && self.functions().any(|function| function.category == category) {
                self.fill(ctx, category);
            }
        }
    }

    /// Fills the hardware queue of a category.
    fn fill(&mut self, ctx: &mut Context, category: AccessCategory) {
        let sends = self.is_sending(category);
        let Some(mut hardware) = self.station.hardware.take() else { return };
        if !sends {
            hardware.queue(category).put_back();
        }
        let by_frames = hardware.config.aggregates.is_some();
        while hardware.has_room(category, sends) {
            let Some(next) = ctx.stack.next(ctx.now, category, ctx.packets, ctx.record) else { break };
            self.hold(ctx, category, &next);
            if by_frames {
                self.hand_over_frame(ctx, category, next, &mut hardware);
            } else {
                hardware.queue(category).push(ctx.now, next, None);
            }
        }
        self.station.hardware = Some(hardware);
    }

    /// Hands over a frame: a packet, and packets that wait for the same neighbour and fit.
    fn hand_over_frame(
        &mut self,
        ctx: &mut Context,
        category: AccessCategory,
        first: Queued<Waiting>,
        hardware: &mut HardwareQueue,
    ) {
        let Waiting { peer, tid, .. } = first.item;
        let index = hardware.queue(category).peer_index(peer, tid);
        let mut frame = PlannedFrame { peer: index, packets: 0 };
        hardware.queue(category).push(ctx.now, first, Some(&mut frame));
        if let (Some(peer), Some(limits)) = (peer, &ctx.timing.aggregation) {
            let rates = self.last_rates(ctx.timing, peer);
            let most = Fullest::new(limits, ctx.timing, rates, category, first.size).packets;
            let mut left =
                ctx.timing.on(rates).longest_psdu.saturating_sub(ctx.timing.data_bytes(first.size));
            let around = ctx.timing.data_bytes(0);
            while frame.packets < most
                && hardware.config.packets.is_none_or(|most| hardware.queue(category).held < most)
            {
                let to = (category, peer, tid);
                let room = left.saturating_sub(around);
                let Some(next) = ctx.stack.next_for(ctx.now, to, room, ctx.packets, ctx.record) else {
                    break;
                };
                self.hold(ctx, category, &next);
                left = left.saturating_sub(ctx.timing.data_bytes(next.size));
                let of_this = (next.item.peer, next.item.tid) == (Some(peer), tid);
                hardware.queue(category).push(ctx.now, next, of_this.then_some(&mut frame));
            }
        }
        hardware.queue(category).frames.push_back(frame);
    }

    /// Dequeues the first packet of the next frame, from the hardware or from the interface queue.
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

    /// Whether the hardware has a queue.
    #[inline]
    pub(super) fn has_hardware_queue(&self) -> bool {
        self.station.hardware.is_some()
    }

    /// Dequeues one more packet of at most `most` bytes for a frame to a neighbour, of one traffic
    /// identifier. If the hardware has none and `fills` is set, takes the packet from the interface queue.
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
        let queue = hardware.queue(category);
        let index = queue.peer_index(Some(peer), tid);
        // A packet from above must not overtake one in the hardware.
        let from_above = by_frames && queue.begun.is_none() && queue.peers[index].packets.is_empty();
        if !from_above {
            return self.take_from_hardware(ctx, category, |queue, _| queue.next_for(index, most));
        }
        if !fills {
            return None;
        }
        let next = ctx.stack.next_for(ctx.now, to, most, ctx.packets, ctx.record)?;
        self.hold(ctx, category, &next);
        let queue = self.station.hardware.as_mut()?.queue(category);
        if next.item.tid != tid {
            queue.push(ctx.now, next, None); // behind packets of its own traffic identifier
            return None;
        }
        queue.held += 1;
        Some(next)
    }

    /// Puts back the rest of the begun frame, because a retransmission is sent next.
    #[inline]
    pub(super) fn put_back_frame(&mut self, category: AccessCategory) {
        if let Some(hardware) = &mut self.station.hardware {
            hardware.queue(category).put_back();
        }
    }

    /// Dequeues the next packet whose lifetime has not ended.
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
            let (entered, next) = take(hardware.queue(category), by_frames)?;
            ctx.record.left_hardware(self.id, ctx.now.since(entered), ctx.now);
            if !ctx.stack.is_expired(ctx.now, next.came) {
                return Some(next);
            }
            self.release(ctx, category, next.item.peer, next.item.handle);
            ctx.stack.lose_expired(ctx.now, &next, ctx.packets, ctx.record);
        }
    }

    /// Counts the airtime of a packet that enters the hardware.
    fn hold(&mut self, ctx: &mut Context, category: AccessCategory, packet: &Queued<Waiting>) {
        if ctx.stack.limits_airtime() {
            let Waiting { handle, peer, .. } = packet.item;
            let airtime = self.expected_airtime(ctx.timing, peer, packet.size);
            ctx.packets.get_mut(handle).pending = airtime;
            ctx.stack.hold_airtime(category, peer, airtime);
        }
    }

    /// Releases the place and the airtime of a packet that leaves the hardware.
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
        let queue = hardware.queue(category);
        queue.held -= 1;
        if ctx.stack.limits_airtime() {
            ctx.stack.release_airtime(category, peer, ctx.packets.get(packet).pending);
            debug_assert!(
                queue.held > 0 || ctx.stack.airtime_pending(category) == Span::ZERO,
                "an empty hardware queue has no pending airtime"
            );
        }
    }

    /// Expected airtime of a packet at the last rate to its receiver. With aggregation: with its share of the
    /// preamble of an A-MPDU, whose length is what Linux expects at this rate.
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
        sixteen * u64::from(bytes) / (16 << 10) + preamble / expected_packets(sixteen / 16)
    }
}

/// Packets of an A-MPDU that Linux expects if a kibibyte has this airtime.
fn expected_packets(kibibyte: Span) -> u64 {
    let bounds = [(400, 2), (250, 4), (150, 8), (70, 16)];
    bounds.iter().find(|(us, _)| kibibyte > Span::from_us(*us)).map_or(32, |(_, packets)| *packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11ac at 20 MHz, long guard interval, one stream: 6.5, 19.5, 26, 39 and 78 Mb/s.
    #[test]
    fn slow_rates_are_expected_to_have_short_aggregates() {
        let at = |bps: u64| expected_packets(Span::from_ns(8192 * 1_000_000_000 / bps));
        assert_eq!(
            [6_500_000, 19_500_000, 26_000_000, 39_000_000, 78_000_000, 433_000_000].map(at),
            [2, 2, 4, 8, 16, 32]
        );
    }
}
