//! Saturated sources of datagrams: they refill the egress queue in turn, so that it never runs empty and
//! never overflows.

use super::{Stack, StackContext};
use crate::agenda::Lane;
use multihop_core::{NodeId, Span, Time};
use multihop_dot11::AccessCategory;

/// Queue length in packets below which sources refill a queue. Where frames carry several packets, the limit
/// is one full frame per source; otherwise an access point with more clients would send shorter aggregates.
const LOW: usize = 2;

/// Time after which a source tries again if its datagram was lost.
const SOON: Span = Span::from_ms(1);
/// Time after which a source tries again if the routing protocol has no route.
const LATER: Span = Span::from_ms(100);

/// Output queue of a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OutputQueue {
    /// Interface queue of an access category.
    Radio(AccessCategory),
    /// Queue of the wire port with this index.
    Wire(usize),
}

/// Endpoints that offer a datagram whenever their queue runs low, by queue.
#[derive(Debug, Default)]
pub(super) struct BackloggedSources {
    queues: Vec<Backlog>,
}

/// Endpoints that are backlogged at a queue, in round-robin order.
#[derive(Debug)]
struct Backlog {
    output: OutputQueue,
    ends: Vec<u32>,
    turn: usize,
}

/// State of the egress of an endpoint's packets.
enum Egress {
    Open,
    /// Closed until this time at least.
    ClosedUntil(Time),
    /// Closed forever.
    None,
}

impl BackloggedSources {
    /// Adds a backlogged endpoint.
    pub(super) fn add(&mut self, end: u32, output: OutputQueue) {
        let known = self.queues.iter().position(|queue| queue.output == output).unwrap_or_else(|| {
            self.queues.push(Backlog { output, ends: Vec::new(), turn: 0 });
            self.queues.len() - 1
        });
        let ends = &mut self.queues[known].ends;
        if !ends.contains(&end) {
            ends.push(end);
        }
    }

    /// Whether no endpoint is backlogged.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.ends.is_empty())
    }
}

impl Backlog {
    fn next(&mut self) -> u32 {
        self.turn = (self.turn + 1) % self.ends.len();
        self.ends[self.turn]
    }
}

impl Stack {
    /// Lets the next backlogged endpoint send a datagram, if its queue runs low. Returns whether there was
    /// anything to do.
    pub(super) fn refill(&mut self, around: &mut StackContext) -> bool {
        let runs_low = |queue: &Backlog| self.is_low(queue);
        let Some(queue) = self.backlogged.queues.iter().position(runs_low) else { return false };
        let output = self.backlogged.queues[queue].output;
        let index = self.backlogged.queues[queue].next();
        let end = &mut self.ends[index as usize];
        let is_saturated = end.app.as_ref().is_some_and(|(app, _)| app.follows_queue(around.now));
        if !is_saturated {
            self.put_aside(around, index, None);
            return true;
        }
        end.endpoint.push(around.now, end.segment_size);
        let peer = end.peer;
        let before = self.waiting(output);
        // Determined before the datagram leaves: the link layer may delay it before it turns out to have no
        // route.
        let egress = self.egress(around, peer);
        self.drain(around, index);
        match egress {
            Egress::Open if self.waiting(output) > before => {}
            Egress::Open => self.put_aside(around, index, Some(around.now + SOON)),
            Egress::ClosedUntil(open) => self.put_aside(around, index, Some(open)),
            Egress::None => self.put_aside(around, index, None),
        }
        true
    }

    /// Whether a saturated source has a queue to refill.
    #[inline(never)]
    pub(super) fn needs_refill(&self) -> bool {
        self.backlogged.queues.iter().any(|queue| self.is_low(queue))
    }

    #[inline]
    fn is_low(&self, queue: &Backlog) -> bool {
        if queue.ends.is_empty() {
            return false;
        }
        let low = match queue.output {
            OutputQueue::Radio(category) => {
                let wanted = if self.frame_takes > 1 { self.frame_takes * queue.ends.len() } else { LOW };
                wanted.min(self.queues.of(category).limit())
            }
            OutputQueue::Wire(_) => LOW, // one is being sent, and the queue has room for at least one
        };
        self.waiting(queue.output) < low
    }

    /// Packets in the queue or on their way to it; on a wire, also the packet being sent.
    #[inline]
    fn waiting(&self, output: OutputQueue) -> usize {
        match output {
            OutputQueue::Radio(category) => self.queues.of(category).len() + self.passing.len(),
            OutputQueue::Wire(port) => self.ports[port].held(),
        }
    }

    fn egress(&self, around: &StackContext, to: NodeId) -> Egress {
        let now = around.now;
        if to == NodeId::BROADCAST {
            return Egress::Open;
        }
        if let Some(agent) = &self.agent {
            let known = agent.next_hop(to).is_some_and(|hop| self.is_ready(hop));
            return if known { Egress::Open } else { Egress::ClosedUntil(now + LATER) };
        }
        match around.network.routes.next_hop(self.id, to) {
            Some(hop) if !self.is_ready(hop) => Egress::ClosedUntil(now + LATER),
            Some(hop) => self.failures.broken_until(hop, now).map_or(Egress::Open, Egress::ClosedUntil),
            None => Egress::None,
        }
    }

    /// Whether packets can be sent to this next hop at once.
    fn is_ready(&self, hop: NodeId) -> bool {
        self.is_known(hop) && !self.is_probing(hop) || self.port_towards(hop).is_some()
    }

    /// Ends the backlog of an endpoint; its application is called again at `again`, if ever.
    fn put_aside(&mut self, around: &mut StackContext, index: u32, again: Option<Time>) {
        for queue in &mut self.backlogged.queues {
            queue.ends.retain(|end| *end != index);
        }
        if let (Some(again), Some((_, slot))) = (again, &self.ends[index as usize].app) {
            around.agenda.arm(*slot, again, Lane::Upper);
        }
    }
}
