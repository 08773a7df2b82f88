//! Interface queue: enqueueing, dequeueing by the MAC, and losses.

use super::{Stack, StackContext};
use crate::record::Recorder;
use crate::routing::RoutedPacket;
use crate::slab::{Handle, Slab};
use multihop_core::{DropCause, Dscp, NodeId, Packet, Span, Time};
use multihop_dot11::{AccessCategory, user_priority};
use multihop_link::{
    Arrival, Hop, InterfaceQueue, LinkState, LinkView, QueueEvent, Queued, RouterPolicy, Verdict,
};

/// Packet in the interface queue, with its next hop.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Handle of the packet.
    pub handle: Handle,
    /// Next hop; none for a broadcast.
    pub peer: Option<NodeId>,
    /// Traffic identifier, which selects the access category; 0 with a single queue.
    pub tid: u8,
}

impl Stack {
    /// Dequeues the next packet of a category for the MAC.
    pub fn next(
        &mut self,
        now: Time,
        category: AccessCategory,
        packets: &mut Slab,
        record: &mut Recorder,
    ) -> Option<Queued<Waiting>> {
        self.take(now, category, packets, record, |queue| queue.pop(now))
    }

    /// Dequeues the next packet of a category that can share a frame to this next hop and of this traffic
    /// identifier, and has at most `limit` bytes.
    #[inline]
    pub fn next_for(
        &mut self,
        now: Time,
        (category, peer, tid): (AccessCategory, NodeId, u8),
        most: u32,
        packets: &mut Slab,
        record: &mut Recorder,
    ) -> Option<Queued<Waiting>> {
        let to_peer = |waiting: &Waiting| waiting.peer == Some(peer) && waiting.tid == tid;
        self.take(now, category, packets, record, |queue| queue.pop_for(now, (peer, tid), &to_peer, most))
    }

    /// Whether more packets can be added to a retransmitted frame to this next hop and of this traffic
    /// identifier.
    pub fn can_aggregate(&self, (category, peer, tid): (AccessCategory, NodeId, u8)) -> bool {
        self.queues.of(category).can_aggregate(&|waiting| waiting.peer == Some(peer) && waiting.tid == tid)
    }

    /// Whether the next packet of a category precedes a dequeued packet that entered the queue at this time.
    /// None if the discipline does not keep the order of arrival.
    pub fn precedes(&self, category: AccessCategory, entered: Time) -> Option<bool> {
        self.queues.of(category).precedes(entered)
    }

    /// Whether a packet that entered the queue at this time has exceeded its maximum age.
    pub fn is_expired(&self, now: Time, enqueued: Time) -> bool {
        self.lifetime.is_some_and(|limit| now.since(enqueued) > limit)
    }

    #[expect(
        clippy::inline_always,
        reason = "else what it is asked for is a call of its own for each packet of an aggregate"
    )]
    #[inline(always)]
    fn take(
        &mut self,
        now: Time,
        category: AccessCategory,
        packets: &mut Slab,
        record: &mut Recorder,
        pop: impl Fn(&mut InterfaceQueue<Waiting>) -> Option<Queued<Waiting>>,
    ) -> Option<Queued<Waiting>> {
        loop {
            let taken = pop(self.queues.of_mut(category));
            self.lose_queued(now, category, DropCause::Aqm, packets, record);
            let taken = taken?;
            let Queued { item: Waiting { handle, peer, .. }, size, came: enqueued, marked, .. } = taken;
            if marked {
                packets.get_mut(handle).packet.mark();
            }
            self.policies.taken(size);
            record.queue(self.id, self.queues.len(), now);
            if self.is_expired(now, enqueued) {
                self.lose_expired(now, &taken, packets, record);
                continue;
            }
            let packet = &mut packets.get_mut(handle).packet;
            self.policies.report_other(now, packet, QueueEvent::Dequeue);
            let verdict = peer.map_or(Verdict::Pass, |peer| {
                let hop = Hop { now, peer };
                let ask = |policy: &mut dyn RouterPolicy, packet: &mut Packet, view: &LinkView| {
                    policy.on_head_of_line(hop, packet, view)
                };
                self.policies.consult(now, packet, ask)
            });
            if verdict == Verdict::Drop {
                self.policies.done(now, peer, size);
                self.lose(now, handle, DropCause::Policy, packets, record);
                continue;
            }
            return Some(taken);
        }
    }

    /// Addition to the back-off before the first transmission of a packet.
    pub fn extra_backoff(&self, packet: &Packet) -> Span {
        self.policies.extra_backoff(packet)
    }

    /// Enqueues a packet with a next hop, if the policy admits it.
    pub(super) fn admit(&mut self, around: &mut StackContext, handle: Handle, peer: NodeId) {
        if let Some(port) = self.port_towards(peer) {
            self.admit_to_wire(around, port, handle);
            return;
        }
        if self.hand_over(around, handle, peer) || !self.is_resolved(around, handle, peer) {
            return;
        }
        if self.probes.is_none() || !self.waits_for_probes(around, handle, peer) {
            self.admit_to_radio(around, handle, peer);
        }
    }

    /// Enqueues a packet for the radio, if the policy admits it.
    pub(super) fn admit_to_radio(&mut self, around: &mut StackContext, handle: Handle, peer: NodeId) {
        let packet = &mut around.packets.get_mut(handle).packet;
        let hop = Hop { now: around.now, peer };
        let verdict = self
            .policies
            .consult(hop.now, packet, |policy, packet, view| policy.on_arrival(hop, packet, view));
        if verdict == Verdict::Drop {
            self.lose(around.now, handle, DropCause::Policy, around.packets, around.record);
        } else {
            self.queue_up(around, handle, Some(peer));
        }
    }

    /// Enqueues a packet; a full queue drops packets.
    pub(super) fn queue_up(&mut self, around: &mut StackContext, handle: Handle, peer: Option<NodeId>) {
        let packet = &around.packets.get(handle).packet;
        self.policies.report_other(around.now, packet, QueueEvent::Enqueue);
        self.policies.entered(around.now, peer, packet.size);
        let tid = self.tid(packet.segment.dscp);
        let category = AccessCategory::from_priority(tid);
        let waiting = Waiting { handle, peer, tid };
        let queue = self.queues.of_mut(category);
        queue.push(&Arrival::of(packet, peer, around.now), waiting);
        let cause = queue.push_loss();
        self.lose_queued(around.now, category, cause, around.packets, around.record);
        around.record.queue(self.id, self.queues.len(), around.now);
    }

    /// Traffic identifier of packets with a DSCP.
    fn tid(&self, dscp: Dscp) -> u8 {
        if self.queues.has_categories() { user_priority(dscp) } else { 0 }
    }

    /// Access category of packets with a DSCP.
    pub(super) fn category(&self, dscp: Dscp) -> AccessCategory {
        AccessCategory::from_priority(self.tid(dscp))
    }

    /// Whether a packet of a category waits.
    #[inline]
    pub fn has_waiting(&self, category: AccessCategory) -> bool {
        !self.queues.of(category).is_empty()
    }

    /// Whether [`Stack::next`] would return a packet of a category, unless the queue drops the last ones.
    #[inline]
    pub fn offers(&self, category: AccessCategory) -> bool {
        self.queues.of(category).offers()
    }

    /// Drops a packet that the MAC held too long before its turn.
    pub fn lose_expired(
        &mut self,
        now: Time,
        packet: &Queued<Waiting>,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        self.policies.done(now, packet.item.peer, packet.size);
        self.lose(now, packet.item.handle, DropCause::Lifetime, packets, record);
    }

    /// Drops the packets that the queue discipline removed, for this cause.
    #[inline]
    fn lose_queued(
        &mut self,
        now: Time,
        category: AccessCategory,
        cause: DropCause,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        if self.queues.of_mut(category).has_lost() {
            self.lose_all_queued(now, category, cause, packets, record);
        }
    }

    #[inline(never)]
    fn lose_all_queued(
        &mut self,
        now: Time,
        category: AccessCategory,
        cause: DropCause,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        while let Some(Waiting { handle, peer, .. }) = self.queues.of_mut(category).poll_lost() {
            self.policies.removed(now, peer, packets.get(handle).packet.size);
            self.lose(now, handle, cause, packets, record);
        }
    }

    /// Whether the discipline uses the airtime of neighbours.
    #[inline]
    pub fn shares_airtime(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).shares_airtime()
    }

    /// Reports the medium time of an exchange with a neighbour, all attempts together.
    pub fn on_airtime(&mut self, category: AccessCategory, neighbour: NodeId, airtime: Span) {
        self.queues.of_mut(category).charge(neighbour, airtime);
    }

    /// Reports the medium time of a frame from a neighbour.
    #[inline]
    pub fn on_received_airtime(&mut self, category: AccessCategory, neighbour: NodeId, airtime: Span) {
        let queue = self.queues.of_mut(category);
        if queue.charges_received() {
            queue.charge(neighbour, airtime);
        }
    }

    /// Whether the discipline limits the airtime that the hardware holds.
    #[inline]
    pub fn limits_airtime(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).limits_airtime()
    }

    /// Records that the hardware took a packet of a category with this expected airtime; `peer` is none for a
    /// broadcast.
    pub fn hold_airtime(&mut self, category: AccessCategory, peer: Option<NodeId>, airtime: Span) {
        self.queues.of_mut(category).hold(peer.unwrap_or(NodeId::BROADCAST), airtime);
        self.queues.share_pending();
    }

    /// Records that the hardware has finished a packet with this expected airtime.
    pub fn release_airtime(&mut self, category: AccessCategory, peer: Option<NodeId>, airtime: Span) {
        self.queues.of_mut(category).release(peer.unwrap_or(NodeId::BROADCAST), airtime);
        self.queues.share_pending();
    }

    /// Expected airtime of a category's packets in the hardware.
    pub fn airtime_pending(&self, category: AccessCategory) -> Span {
        self.queues.of(category).pending()
    }

    /// Expected airtime of a category's packets for a neighbour in the hardware.
    #[cfg(test)]
    pub fn pending_airtime(&self, category: AccessCategory, peer: NodeId) -> Span {
        self.queues.of(category).pending_for(peer)
    }

    /// Whether the discipline's `CoDel` adapts to the link rate.
    #[inline]
    pub fn adapts_codel(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).adapts()
    }

    /// Passes the present state of the link to a neighbour to `CoDel`.
    pub fn adapt_codel(&mut self, category: AccessCategory, neighbour: NodeId, link: LinkState) {
        self.queues.of_mut(category).adapt(neighbour, link);
    }

    /// Removes the packets for an unreachable next hop: returns them to the routing protocol, or drops them.
    pub(super) fn purge(&mut self, now: Time, peer: NodeId, packets: &mut Slab, record: &mut Recorder) {
        let mut stranded = Vec::new();
        self.queues.purge(peer, |waiting| stranded.push(waiting.handle));
        for handle in stranded {
            self.policies.removed(now, Some(peer), packets.get(handle).packet.size);
            self.strand_or_lose(now, handle, packets, record);
        }
        record.queue(self.id, self.queues.len(), now);
        for held in self.forget_address(peer).into_iter().chain(self.forget_probes(peer)) {
            self.strand_or_lose(now, held, packets, record);
        }
    }

    fn strand_or_lose(&mut self, now: Time, handle: Handle, packets: &mut Slab, record: &mut Recorder) {
        let packet = &packets.get(handle).packet;
        if self.agent.is_some() && !packet.is_arp() && !packet.is_probe() {
            self.return_to_agent(now, RoutedPacket::new(packets, handle));
        } else {
            self.lose(now, handle, DropCause::LinkBroken, packets, record);
        }
    }

    /// Enqueues a packet without policies; returns whether there was room.
    #[cfg(test)]
    pub fn put(&mut self, now: Time, handle: Handle, peer: Option<NodeId>, packet: &Packet) -> bool {
        let tid = self.tid(packet.segment.dscp);
        let queue = self.queues.of_mut(AccessCategory::from_priority(tid));
        queue.push(&Arrival::of(packet, peer, now), Waiting { handle, peer, tid });
        let fits = queue.poll_lost().is_none();
        if fits {
            self.policies.entered(now, peer, packet.size);
        }
        fits
    }
}
