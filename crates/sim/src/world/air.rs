//! Frames on the air: transmission, arrival at listeners, and end.

use super::World;
use crate::agenda::{Lane, Slot};
use crate::mac::{Context, Mac, Reservation};
use crate::medium::{Finished, Frame, Group, Link, NodeOrder, Reception, Wavefront};
use crate::node::{Node, at_listener, at_node, in_node, settle};
use crate::outages::TransmittedPart;
use crate::stack::Network;
use multihop_core::{DropCause, Span};

/// Listeners that a bit of a frame reaches at this instant: all, or those at these indices of the sender's
/// links.
pub(super) type Reached<'f> = Option<&'f [(Span, u32)]>;

impl World {
    /// Starts a frame at its listeners; with delays by distance, at some of them.
    pub(super) fn air_starts(&mut self, slot: Slot, row: u32) {
        if self.wavefronts.is_some() {
            return self.with_wavefront(row, |world, wavefront| world.wavefront_starts(slot, row, wavefront));
        }
        let frame = self.nodes[row as usize].mac.on_air();
        if self.leaves(slot, row, &frame, None) {
            self.signal_starts::<true>(&frame, None);
        }
    }

    /// Calls a handler with the wavefront of the sender in this row.
    #[inline(never)]
    fn with_wavefront(&mut self, row: u32, what: impl FnOnce(&mut World, &mut Wavefront)) {
        let Some(mut wavefronts) = self.wavefronts.take() else { return };
        what(self, &mut wavefronts[self.nodes[row as usize].mac.id().index()]);
        self.wavefronts = Some(wavefronts);
    }

    fn wavefront_starts(&mut self, slot: Slot, row: u32, wavefront: &mut Wavefront) {
        if wavefront.frame().is_none() {
            let frame = self.nodes[row as usize].mac.on_air();
            if !self.leaves(slot, row, &frame, Some(wavefront)) {
                return;
            }
            wavefront.send(frame);
        }
        let Group { frame, listeners, next } = wavefront.begins(self.now);
        self.signal_starts::<false>(&frame, Some(listeners));
        if let Some(next) = next {
            self.agenda.arm(slot, next, Lane::AirStart);
        }
    }

    /// Starts a frame at its sender; returns whether anything is transmitted.
    #[inline]
    fn leaves(&mut self, slot: Slot, row: u32, frame: &Frame, wavefront: Option<&mut Wavefront>) -> bool {
        self.agenda.arm(Slot(slot.0 + 1), frame.end(), Lane::AirEnd);
        if self.nodes[row as usize].radio.is_off() {
            self.outages.set_part(frame.from.0, TransmittedPart::Nothing);
            self.count_unsent(frame, row);
            return false;
        }
        self.listeners.refresh(frame.from, wavefront, self.now);
        if self.record.causes.are_known() {
            self.trace_tx_start(frame, row);
        }
        true
    }

    /// Starts a frame at the listeners reached. `ALL` is whether it reaches all listeners; each case is
    /// compiled separately.
    fn signal_starts<const ALL: bool>(&mut self, frame: &Frame, reached: Reached) {
        let reached = reached.filter(|_| !ALL);
        let by_pairs = self.timing.collisions.are_by_pairs();
        let links = self.listeners.of(frame.from);
        self.fetch(links);
        for index in 0..reached.map_or(links.len(), <[_]>::len) {
            let link = &links[reached.map_or(index, |places| places[index].1 as usize)];
            let node = &mut self.nodes[link.row()];
            if by_pairs && let Some(might_reset) = node.senses_begin(link, frame, self.now) {
                if node.mac.needs_slow_path() {
                    at_listener!(self, node, self.now, |mac, ctx| mac.freeze_backoff(ctx, might_reset));
                }
                continue;
            }
            if node.radio.begin(&self.timing.collisions, link, frame, self.now) {
                at_listener!(self, node, self.now, |mac, ctx| mac.on_busy(ctx));
            }
        }
        if frame.load.is_some() && !self.mpdu_ends.is_empty() {
            self.expect_mpdus(frame, reached);
        }
    }

    /// In a network larger than the caches, reads all listeners first, so that memory accesses overlap.
    #[inline]
    fn fetch(&self, links: &[Link]) {
        if self.nodes.len() >= NodeOrder::LARGE {
            self.fetch_all(links);
        }
    }

    #[inline(never)]
    fn fetch_all(&self, links: &[Link]) {
        let looks = links.iter().map(|link| {
            let Node { radio, mac, .. } = &self.nodes[link.row()];
            radio.peek() ^ mac.peek()
        });
        std::hint::black_box(looks.fold(0, std::ops::BitXor::bitxor));
    }

    /// Ends a frame at its listeners; with delays by distance, at some of them.
    pub(super) fn air_ends(&mut self, slot: Slot, row: u32) {
        if self.wavefronts.is_some() {
            return self.with_wavefront(row, |world, wavefront| world.wavefront_ends(slot, row, wavefront));
        }
        let frame = self.nodes[row as usize].mac.take_off_air();
        self.arrives(&frame, None);
        self.log_sent(&frame);
        self.outages.set_part(frame.from.0, TransmittedPart::Whole);
        self.is_over_for_all(&frame);
        self.sent(row, &frame);
    }

    /// Handles a frame that has ended at all listeners. A frame for a multicast group is lost at receivers
    /// that did not decode it.
    #[inline]
    fn is_over_for_all(&mut self, frame: &Frame) {
        if let Some(packet) = frame.packet.filter(|_| frame.to.is_none()) {
            let packet = &self.packets.get(packet).packet;
            if packet.is_multicast() {
                self.record.dropped_for_all(frame.from, packet, DropCause::Multicast, self.now);
            }
        }
    }

    fn wavefront_ends(&mut self, slot: Slot, row: u32, wavefront: &mut Wavefront) {
        let from = self.nodes[row as usize].mac.id().0;
        let Some(at_sender) = wavefront.frame().copied() else {
            self.outages.set_part(from, TransmittedPart::Whole); // this frame was never transmitted
            let frame = self.nodes[row as usize].mac.take_off_air();
            self.is_over_for_all(&frame);
            return self.sent(row, &frame);
        };
        let Group { frame, listeners, next } = wavefront.ends(self.now);
        self.arrives(&frame, Some(listeners));
        let broadcast = frame.packet.filter(|_| frame.to.is_none());
        if self.now == at_sender.end() {
            self.log_sent(&frame);
            // The sender has finished a broadcast now, the medium has not.
            if let (Some(packet), Some(frame)) = (broadcast, wavefront.frame()) {
                frame.packet = Some(self.packets.copy(packet));
            }
            let frame = self.nodes[row as usize].mac.take_off_air();
            self.sent(row, &frame);
        }
        if let Some(next) = next {
            self.agenda.arm(slot, next, Lane::AirEnd);
            return;
        }
        let over = wavefront.finish().expect("it was there");
        self.is_over_for_all(&over);
        if let Some(packet) = over.packet.filter(|_| over.to.is_none()) {
            self.packets.remove(packet);
        }
        self.outages.set_part(from, TransmittedPart::Whole);
    }

    /// Ends the transmitted part of a frame at the listeners reached.
    fn arrives(&mut self, frame: &Frame, reached: Reached) {
        let sent = self.outages.sent(frame.from.0);
        if sent == TransmittedPart::Nothing {
            return;
        }
        let is_plain = reached.is_none() && sent == TransmittedPart::Whole && self.air_log.is_none();
        match (is_plain, self.record.causes.are_known()) {
            (true, false) => self.signal_ends::<true, false>(frame, None, false),
            (true, true) => self.signal_ends::<true, true>(frame, None, false),
            (false, _) => self.signal_ends::<false, true>(frame, reached, sent == TransmittedPart::Cut),
        }
    }

    /// Ends a frame at the listeners; returns whether it was truncated. `PLAIN`: the frame is whole, reaches
    /// all of them, and no capture records it. `KNOWN`: causes of losses may be determined. Each case is
    /// compiled separately.
    fn signal_ends<const PLAIN: bool, const KNOWN: bool>(
        &mut self,
        frame: &Frame,
        reached: Reached,
        cut: bool,
    ) {
        let (reached, cut) = (reached.filter(|_| !PLAIN), cut && !PLAIN);
        if !PLAIN && self.air_log.is_some() {
            self.log_end(frame);
        }
        let loss = self.timing.frame_loss.from(frame.from, frame.kind);
        let links = self.listeners.of(frame.from);
        self.fetch(links);
        let collisions = &self.timing.collisions;
        let may_be_sensed = PLAIN && !KNOWN && collisions.are_by_pairs();
        let reserves = Reservation::of(frame, &self.timing, self.now);
        let certain = loss.is_none() && frame.load.is_none();
        let kept = KNOWN && (PLAIN || self.record.causes.are_known());
        let wanted = frame.to.filter(|_| kept).map_or(u32::MAX, |to| to.0);
        let (mut is_there, mut lost) = (false, None);
        let mut navs = self.frame_log.as_deref_mut().filter(|_| KNOWN).map(|log| log.navs_of(frame));
        for index in 0..reached.map_or(links.len(), <[_]>::len) {
            let mut link = &links[reached.map_or(index, |places| places[index].1 as usize)];
            let without_checksum;
            if cut {
                without_checksum = link.without_checksum();
                link = &without_checksum;
            }
            let node = &mut self.nodes[link.row()];
            if may_be_sensed && node.senses_end(link, frame, certain, &reserves, self.now) {
                if node.mac.needs_slow_path() {
                    at_listener!(self, node, self.now, |mac, ctx| mac.contend(ctx));
                }
                continue;
            }
            let loss = || loss.to(link.to);
            let finished = node.radio.finish(collisions, link, frame, loss, &self.loads, self.now);
            if finished.reception == Reception::Decoded
                && let Some(log) = self.air_log.as_mut().filter(|_| !PLAIN)
            {
                log.received(frame, link, node.radio.arrived());
            }
            if kept && link.to == wanted {
                is_there = true;
                lost = (finished.reception != Reception::Decoded).then_some((*link, finished));
            }
            if !finished.is_nothing() {
                let before = node.mac.nav();
                let passes =
                    at_listener!(self, node, self.now, |mac, ctx| mac.overhear_fast(ctx, frame, finished));
                if !passes {
                    in_node!(self, node, self.now, |mac, ctx| {
                        signal_ends_at(mac, ctx, frame, finished, &self.network);
                    });
                }
                let nav = node.mac.nav();
                if KNOWN
                    && nav != before
                    && nav > self.now
                    && let Some(navs) = &mut navs
                {
                    navs.set(link.to, nav);
                }
            }
        }
        if kept && is_there {
            self.record_end(frame, lost);
        }
    }

    /// Records the end of a frame at its receiver, decoded or not.
    fn record_end(&mut self, frame: &Frame, lost: Option<(Link, Finished)>) {
        if let Some((link, finished)) = lost {
            self.count_loss(frame, &link, finished);
        }
        self.frame_ended(frame, lost.is_some());
    }

    /// Logs a frame that has ended at its listeners.
    #[inline(never)]
    fn log_end(&mut self, frame: &Frame) {
        let at_head = || self.nodes[self.order.of(frame.from)].mac.access(frame).packet;
        let packet = frame.packet.or_else(at_head);
        if let Some(log) = &mut self.air_log {
            log.frame_ended(frame, packet, &self.packets, &self.loads, &self.record.outcomes);
        }
    }

    /// Ends a frame at its sender.
    fn sent(&mut self, row: u32, frame: &Frame) {
        at_node!(self, row, self.now, |mac, ctx| {
            let alone = mac.sends_by_itself();
            mac.on_sent(ctx, frame);
            if !ctx.radio.is_busy() {
                mac.on_idle(ctx);
            }
            if !alone {
                settle(mac, ctx, &self.network);
            }
        });
    }

    #[inline]
    fn log_sent(&mut self, frame: &Frame) {
        if self.air_log.is_some() {
            self.log_to_air(frame);
        }
    }

    #[inline(never)]
    fn log_to_air(&mut self, frame: &Frame) {
        if let Some(log) = &mut self.air_log
            && self.outages.sent(frame.from.0) != TransmittedPart::Nothing
        {
            log.sent(frame);
        }
    }
}

/// Ends a signal at a station that may be involved.
#[inline(never)]
fn signal_ends_at(mac: &mut Mac, ctx: &mut Context, frame: &Frame, finished: Finished, network: &Network) {
    let reaches_above = mac.on_signal_end(ctx, frame, finished);
    if finished.turns_idle {
        mac.on_idle(ctx);
    }
    if reaches_above || ctx.stack.senses() {
        settle(mac, ctx, network);
    }
}
