//! The interface queue: what enters it, what the MAC takes from it, and what is lost before.

use super::{Stack, StackContext};
use crate::record::Recorder;
use crate::slab::{Handle, Slab};
use multihop_core::{DropCause, Dscp, NodeId, Packet, Span, Time};
use multihop_dot11::{AccessCategory, user_priority};
use multihop_link::{
    Arrival, Hop, InterfaceQueue, LinkState, LinkView, QueueEvent, Queued, RouterPolicy, Verdict,
};

/// A packet waiting in the interface queue, and where it goes; none for a broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub handle: Handle,
    /// Its next hop.
    pub peer: Option<NodeId>,
    /// Its traffic identifier, by which its access category goes; 0 where there is one queue.
    pub tid: u8,
}

impl Stack {
    /// The next packet of a category for the MAC.
    pub fn next(
        &mut self,
        now: Time,
        category: AccessCategory,
        packets: &mut Slab,
        record: &mut Recorder,
    ) -> Option<Queued<Waiting>> {
        self.take(now, category, packets, record, |queue| queue.pop(now))
    }

    /// The next packet of a category, of no more than so many bytes, for the MAC that can go to this next hop
    /// in one frame with others of this traffic identifier.
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

    /// May a frame to this next hop, of this traffic identifier, that is sent again take more packets along?
    pub fn can_aggregate(&self, (category, peer, tid): (AccessCategory, NodeId, u8)) -> bool {
        self.queues.of(category).can_aggregate(&|waiting| waiting.peer == Some(peer) && waiting.tid == tid)
    }

    /// Is the next packet of a category to be served before one that has left the queue, and had entered it
    /// then? None where the discipline has no order of arrival to keep.
    pub fn precedes(&self, category: AccessCategory, entered: Time) -> Option<bool> {
        self.queues.of(category).precedes(entered)
    }

    /// Would a packet that entered the queue then be dropped for its age now?
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

    /// By how much longer than usual the back-off before the first transmission of a packet with a next hop
    /// is.
    pub fn extra_backoff(&self, packet: &Packet) -> Span {
        self.policies.extra_backoff(packet)
    }

    /// Puts a packet with a next hop into the queue, if the policy lets it.
    pub(super) fn admit(&mut self, around: &mut StackContext, handle: Handle, peer: NodeId) {
        if let Some(port) = self.port_towards(peer) {
            self.admit_to_wire(around, port, handle);
            return;
        }
        if self.hand_over(around, handle, peer) || !self.is_resolved(around, handle, peer) {
            return;
        }
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

    /// Puts a packet into the interface queue; if that is full, some are lost.
    pub(super) fn queue_up(&mut self, around: &mut StackContext, handle: Handle, peer: Option<NodeId>) {
        let packet = &around.packets.get(handle).packet;
        self.policies.report_other(around.now, packet, QueueEvent::Enqueue);
        self.policies.entered(around.now, peer, packet.size);
        let tid = self.tid(packet.segment.dscp);
        let category = AccessCategory::from_priority(tid);
        let waiting = Waiting { handle, peer, tid };
        self.queues.of_mut(category).push(&Arrival::of(packet, peer, around.now), waiting);
        self.lose_queued(around.now, category, DropCause::QueueFull, around.packets, around.record);
        around.record.queue(self.id, self.queues.len(), around.now);
    }

    /// The traffic identifier of packets with a codepoint.
    fn tid(&self, dscp: Dscp) -> u8 {
        if self.queues.differentiate() { user_priority(dscp) } else { 0 }
    }

    /// The access category of packets with a codepoint.
    pub(super) fn category(&self, dscp: Dscp) -> AccessCategory {
        AccessCategory::from_priority(self.tid(dscp))
    }

    /// Does a packet of a category wait?
    #[inline]
    pub fn has_waiting(&self, category: AccessCategory) -> bool {
        !self.queues.of(category).is_empty()
    }

    /// Does [`Stack::next`] find a packet of a category that may leave? The last ones may be lost then.
    #[inline]
    pub fn offers(&self, category: AccessCategory) -> bool {
        self.queues.of(category).offers()
    }

    /// The MAC had a packet, which was too old when its turn came.
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

    /// What the queue lost is lost for this cause.
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

    /// Does it matter how long neighbours use the medium?
    #[inline]
    pub fn shares_airtime(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).shares_airtime()
    }

    /// The medium was in use for this long by a frame of a category to a neighbour and what belongs to it,
    /// all tries together.
    pub fn on_airtime(&mut self, category: AccessCategory, neighbour: NodeId, airtime: Span) {
        self.queues.of_mut(category).charge(neighbour, airtime);
    }

    /// The same, by a frame from it.
    #[inline]
    pub fn on_received_airtime(&mut self, category: AccessCategory, neighbour: NodeId, airtime: Span) {
        let queue = self.queues.of_mut(category);
        if queue.charges_received() {
            queue.charge(neighbour, airtime);
        }
    }

    /// Does the discipline limit the airtime that the hardware holds?
    #[inline]
    pub fn limits_airtime(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).limits_airtime()
    }

    /// The hardware took a packet of a category for a neighbour, or a broadcast, that is expected to take so
    /// long.
    pub fn hold_airtime(&mut self, category: AccessCategory, peer: Option<NodeId>, airtime: Span) {
        self.queues.of_mut(category).hold(peer.unwrap_or(NodeId::BROADCAST), airtime);
        self.queues.share_pending();
    }

    /// It is done with one.
    pub fn release_airtime(&mut self, category: AccessCategory, peer: Option<NodeId>, airtime: Span) {
        self.queues.of_mut(category).release(peer.unwrap_or(NodeId::BROADCAST), airtime);
        self.queues.share_pending();
    }

    /// Airtime that the hardware holds of a category.
    pub fn airtime_pending(&self, category: AccessCategory) -> Span {
        self.queues.of(category).pending()
    }

    /// The same for a neighbour.
    #[cfg(test)]
    pub fn pending_airtime(&self, category: AccessCategory, peer: NodeId) -> Span {
        self.queues.of(category).pending_for(peer)
    }

    /// Does the discipline's `CoDel` follow what links can do?
    #[inline]
    pub fn adapts_codel(&self) -> bool {
        self.queues.of(AccessCategory::BestEffort).adapts()
    }

    /// What the link to a neighbour can do by now.
    pub fn adapt_codel(&mut self, category: AccessCategory, neighbour: NodeId, link: LinkState) {
        self.queues.of_mut(category).adapt(neighbour, link);
    }

    /// What waits for a next hop that cannot be reached is the routing protocol's, or lost.
    pub(super) fn purge(&mut self, now: Time, peer: NodeId, packets: &mut Slab, record: &mut Recorder) {
        let mut stranded = Vec::new();
        self.queues.purge(peer, |waiting| stranded.push(waiting.handle));
        for handle in stranded {
            self.policies.removed(now, Some(peer), packets.get(handle).packet.size);
            self.strand_or_lose(now, handle, packets, record);
        }
        record.queue(self.id, self.queues.len(), now);
        if let Some(held) = self.forget_address(peer) {
            self.strand_or_lose(now, held, packets, record);
        }
    }

    fn strand_or_lose(&mut self, now: Time, handle: Handle, packets: &mut Slab, record: &mut Recorder) {
        if self.agent.is_some() && !packets.get(handle).packet.is_arp() {
            self.return_to_agent(now, packets.routed(handle));
        } else {
            self.lose(now, handle, DropCause::LinkBroken, packets, record);
        }
    }

    /// Puts a packet into the queue as it is; returns whether there was room.
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
