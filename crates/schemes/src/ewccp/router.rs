//! Router of EWCCP: queues of the neighbourhood, and the feedback computed from them.
//!
//! Each node divides time into rounds of its own. The mean queues of a round are signalled in the next round:
//! in link headers of packets, in broadcasts, and as feedback. Rounds without events are completed at the
//! next event.

use super::header::{EwccpHeader, EwccpLink};
use super::signalling::{self, EntryOnAir};
use super::summary::Hashing;
use super::table::{QueueTable, queue_units};
use crate::neighbourhood::{BroadcastTimer, DirectedLink, read, write};
use multihop_core::{Fate, FrameKind, HeaderBytes, LinkEvent, NodeId, Packet, Rate, Span, Time};
use multihop_link::{Estimator, Hop, LinkView, Notice, RateInUse, RouterPolicy, Verdict};

/// Constants of an EWCCP router. Sizes are in bytes, rates in bytes per second, and times in seconds or
/// spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct EwccpConstants {
    /// Share of the queue by which rates are lowered per control interval, `beta`.
    pub beta: f64,
    /// Neighbourhood queue up to which there is no congestion, `gamma`.
    pub threshold: f64,
    /// Control interval, `d`.
    pub round: Span,
    /// Time between broadcasts, `d_s`; none if there are no neighbours.
    pub signalling: Option<Span>,
    /// Maximum random variation of the time between broadcasts, as a share of that time.
    pub jitter: f64,
    /// Number of hops over which queues are signalled.
    pub hops: u8,
    /// Lifetime of a signalled queue.
    pub lifetime: Span,
    /// Parameters of the summaries of links.
    pub hashing: Hashing,
    /// Bytes of a broadcast besides its entries.
    /// Bytes of one entry of a broadcast.
    pub header: u32,
    pub entry: u32,
    /// Sum of the rates in a congested interference set, `psi C`.
    pub capacity: SharedCapacity,
    /// Bit rate of the link before the first transmission.
    pub rate: Rate,
}

/// Source of the sum of the rates in a congested interference set, `psi C`.
#[derive(Clone, Copy, Debug)]
pub(super) enum SharedCapacity {
    /// Constant, in bytes per second.
    Constant(f64),
    /// Share of the bit rate in use.
    Share(f64),
    /// Data overheard and delivered in the last round, and at least this share of the bit rate in use.
    Measured { least: f64 },
}

/// Queue of the node's own packets for one next hop.
#[derive(Clone, Copy, Debug)]
struct OwnQueue {
    next_hop: NodeId,
    /// Bytes in the queue, with the frame that is being sent.
    backlog: u64,
    /// Integral of the backlog over the round up to `at`, in byte-nanoseconds.
    integral: u128,
    at: Time,
    sequence: u8,
    /// Latest time at which the queue was not empty.
    last_used: Time,
}

impl OwnQueue {
    fn integrate(&mut self, now: Time) {
        self.integral += u128::from(self.backlog) * u128::from(now.since(self.at).ns());
        self.at = now;
        if self.backlog > 0 {
            self.last_used = now;
        }
    }
}

/// Router policy of EWCCP at one queue.
pub(super) struct EwccpRouter {
    id: NodeId,
    constants: EwccpConstants,
    in_use: RateInUse,
    own_queues: Vec<OwnQueue>,
    table: QueueTable,
    /// End of the round; none before the first event.
    round_ends: Option<Time>,
    /// Bytes overheard or delivered in the round so far.
    /// Bytes per second overheard or delivered in the last round.
    carried: u64,
    carried_rate: f64,
    broadcasts: BroadcastTimer,
}

impl EwccpRouter {
    /// Creates the policy of node `id` at a queue.
    pub fn new(id: NodeId, constants: EwccpConstants, seed: u64) -> EwccpRouter {
        EwccpRouter {
            id,
            in_use: RateInUse::new(constants.rate),
            own_queues: Vec::new(),
            table: QueueTable::new(id, constants.hashing, constants.lifetime),
            round_ends: None,
            carried: 0,
            carried_rate: 0.0,
            broadcasts: BroadcastTimer::new(
                constants.signalling,
                constants.jitter,
                constants.header,
                constants.entry,
                seed,
            ),
            constants,
        }
    }

    fn link_to(&self, next_hop: NodeId) -> DirectedLink {
        DirectedLink { from: self.id, to: next_hop }
    }

    // ---- rounds ----

    /// Ends the rounds that are over at `now`.
    fn catch_up(&mut self, now: Time) {
        let round = self.constants.round;
        let Some(ends) = self.round_ends else {
            self.round_ends = Some(now + round);
            return;
        };
        if now < ends {
            return;
        }
        self.end_round(ends);
        // After several rounds without an event only the last one counts, because nothing changed in them.
        let missed = now.since(ends).ns() / round.ns();
        let last = ends + Span::from_ns(round.ns() * missed);
        if missed > 0 {
            for own in &mut self.own_queues {
                own.at = last - round;
            }
            self.end_round(last);
        }
        self.round_ends = Some(last + round);
        self.table.expire(now);
    }

    fn end_round(&mut self, ends: Time) {
        let length = self.constants.round;
        self.carried_rate = std::mem::take(&mut self.carried) as f64 / length.seconds();
        for index in 0..self.own_queues.len() {
            let own = &mut self.own_queues[index];
            own.integrate(ends);
            let mean = std::mem::take(&mut own.integral) as f64 / length.ns() as f64;
            own.sequence = own.sequence.wrapping_add(1);
            let OwnQueue { next_hop, sequence, last_used, .. } = *own;
            let link = self.link_to(next_hop);
            if ends.since(last_used) > self.constants.lifetime {
                self.table.forget(link);
            } else {
                self.table.learn(ends, link, 0, queue_units(mean), sequence);
            }
        }
        self.broadcasts.plan(ends, !self.table.is_empty());
    }

    // ---- feedback ----

    /// Returns the negative feedback `beta Q / (psi C d^2) rtt s` (Eq. 6) in bytes, for a packet of `size`
    /// bytes. `rtt` is the flow's round-trip time in header units.
    fn negative_feedback(&self, queued: f64, rtt: u16, size: u32) -> f64 {
        let capacity = match self.constants.capacity {
            SharedCapacity::Constant(capacity) => capacity,
            SharedCapacity::Share(psi) => psi * (self.in_use.bps() / 8.0),
            SharedCapacity::Measured { least } => self.carried_rate.max(least * (self.in_use.bps() / 8.0)),
        };
        let d = self.constants.round.seconds();
        self.constants.beta * queued * EwccpHeader::rtt_seconds(rtt) * f64::from(size) / (capacity * d * d)
    }

    /// Adds the feedback of one end of the link to a header, from the queues that this end counts.
    fn add_feedback(&self, header: &mut EwccpHeader, queued: f64, congested: bool, size: u32) {
        if !congested {
            return;
        }
        if std::mem::take(&mut header.probe) {
            // The field changes its meaning from credit to debit, so the credit gathered so far is void.
            header.feedback = 0;
        }
        let bytes = self.negative_feedback(queued, header.rtt, size);
        header.feedback = header.feedback.saturating_add((bytes * EwccpHeader::PER_BYTE) as u32);
    }
}

impl RouterPolicy for EwccpRouter {
    fn on_backlog(&mut self, now: Time, next_hop: NodeId, bytes: i64) {
        self.catch_up(now);
        let known = self.own_queues.iter().position(|own| own.next_hop == next_hop);
        let index = known.unwrap_or_else(|| {
            let fresh = OwnQueue { next_hop, backlog: 0, integral: 0, at: now, sequence: 0, last_used: now };
            self.own_queues.push(fresh);
            self.own_queues.len() - 1
        });
        let own = &mut self.own_queues[index];
        own.integrate(now);
        own.backlog = own.backlog.saturating_add_signed(bytes);
        own.last_used = now;
    }

    /// Sending half of separated control: adds feedback from the node's own table and lists the links that it
    /// counted.
    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.catch_up(hop.now);
        let size = packet.segment.payload;
        let Some(mut header) = packet.segment.feedback.parse::<EwccpHeader>() else { return Verdict::Pass };
        if size == 0 {
            return Verdict::Pass;
        }
        let queued = self.table.queued();
        let congested = queued > self.constants.threshold;
        if header.probe && !congested {
            header.feedback =
                header.feedback.saturating_add((f64::from(size) * EwccpHeader::PER_BYTE) as u32);
        }
        self.add_feedback(&mut header, queued, congested, size);
        let own = self.table.get(self.link_to(hop.peer));
        let link = EwccpLink {
            queue: own.map_or(0, |own| own.value.queue),
            sequence: own.map_or(0, |own| own.sequence),
            is_known: own.is_some(),
            congested,
            summary: split_summary(self.table.summary()),
        };
        packet.segment.feedback = HeaderBytes::of(&header.with_link(link));
        Verdict::Pass
    }

    /// Receiving half of separated control: adds feedback from the queues that the sending node does not
    /// know.
    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.catch_up(hop.now);
        let size = packet.segment.payload;
        let Some(mut header) = packet.segment.feedback.parse::<EwccpHeader>() else { return Verdict::Pass };
        if size == 0 {
            return Verdict::Pass;
        }
        let link = header.link();
        if link.is_known {
            let incoming = DirectedLink { from: hop.peer, to: self.id };
            self.table.learn(hop.now, incoming, 0, link.queue, link.sequence);
        }
        let queued = self.table.queued_beyond(join_summary(link.summary));
        let congested = queued > self.constants.threshold || (link.congested && queued > 0.0);
        self.add_feedback(&mut header, queued, congested, size);
        packet.segment.feedback = HeaderBytes::of(&header.with_link(EwccpLink::default()));
        self.broadcasts.plan(hop.now, !self.table.is_empty());
        Verdict::Pass
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.in_use.on_link(event);
        let carried = match event {
            LinkEvent::Decoded(heard) if heard.kind == FrameKind::Data && heard.to.is_some() => heard.size,
            LinkEvent::Exchange(exchange) if exchange.fate == Fate::Acknowledged => exchange.size,
            _ => return,
        };
        self.carried += u64::from(carried);
    }

    fn on_notice(&mut self, now: Time, _from: NodeId, content: &[u8]) {
        self.catch_up(now);
        for (link, EntryOnAir { hops, queue, sequence, .. }) in read(content) {
            // The node knows its own queues better than any neighbour.
            if link.from != self.id {
                self.table.learn(now, link, hops.saturating_add(1), queue, sequence);
            }
        }
        self.broadcasts.plan(now, !self.table.is_empty());
    }

    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        self.catch_up(now);
        self.table.expire(now);
        if !self.broadcasts.begin(now, !self.table.is_empty()) {
            return None;
        }
        let content = write(self.table.entries(), self.constants.hops, signalling::entry);
        self.broadcasts.notice::<EntryOnAir>(signalling::CARRIER, content)
    }

    fn next_notice(&self) -> Option<Time> {
        self.broadcasts.next()
    }

    /// Forgets the table, the means and the round numbers. Packets in the queues remain.
    fn on_restart(&mut self, now: Time) {
        self.table.clear();
        self.round_ends = None;
        self.broadcasts.cancel();
        (self.carried, self.carried_rate) = (0, 0.0);
        for own in &mut self.own_queues {
            *own = OwnQueue { integral: 0, at: now, sequence: 0, last_used: now, ..*own };
        }
        self.catch_up(now);
    }
}

/// Splits a summary into its upper and lower half.
fn split_summary(summary: u128) -> [u64; 2] {
    [(summary >> 64) as u64, summary as u64]
}

/// Joins the upper and lower half of a summary.
fn join_summary([high, low]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests;
