//! Saturated sources of datagrams: they follow the interface queue, in turns, so that it never runs empty and never overflows.

use super::{Stack, Surroundings};
use crate::agenda::Lane;
use multihop_core::{NodeId, Span, Time};

/// The queue runs low when it holds fewer packets than this.
const LOW: usize = 2;

/// A source whose datagram was lost tries again after this.
const SOON: Span = Span::from_ms(1);
/// Protocols need longer to find a route.
const LATER: Span = Span::from_ms(100);

/// Ends that offer a datagram whenever the queue runs low, and whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Followers {
    ends: Vec<u32>,
    turn: usize,
}

/// Where the packets of an end can go at present.
enum Way {
    Open,
    /// It may be open again then.
    ClosedUntil(Time),
    /// For ever.
    None,
}

impl Followers {
    /// This end follows from now on.
    pub(super) fn add(&mut self, end: u32) {
        if !self.ends.contains(&end) {
            self.ends.push(end);
        }
    }

    /// Does nobody follow?
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn next(&mut self) -> u32 {
        self.turn = (self.turn + 1) % self.ends.len();
        self.ends[self.turn]
    }
}

impl Stack {
    /// Gives the next follower a datagram to send, if the queue runs low. Returns whether there was anything to do.
    pub(super) fn refill(&mut self, around: &mut Surroundings) -> bool {
        if self.followers.is_empty() || self.waiting() >= LOW.min(self.queue.limit()) {
            return false;
        }
        let index = self.followers.next();
        let end = &mut self.ends[index as usize];
        let goes_on = end.app.as_ref().is_some_and(|(app, _)| app.follows_queue(around.now));
        if !goes_on {
            self.put_aside(around, index, None);
            return true;
        }
        end.endpoint.push(around.now, end.segment_size);
        let peer = end.peer;
        let before = self.waiting();
        // Asked before the datagram leaves: the link layer may hold it for a while before it is found to have no way.
        let way = self.way(around, peer);
        self.drain(around, index);
        match way {
            Way::Open if self.waiting() > before => {}
            Way::Open => self.put_aside(around, index, Some(around.now + SOON)),
            Way::ClosedUntil(open) => self.put_aside(around, index, Some(open)),
            Way::None => self.put_aside(around, index, None),
        }
        true
    }

    /// Packets in the queue, or on their way to it.
    fn waiting(&self) -> usize {
        self.queue.len() + self.passing.len()
    }

    fn way(&self, around: &Surroundings, to: NodeId) -> Way {
        let now = around.now;
        if let Some(agent) = &self.agent {
            return if agent.next_hop(to).is_some() { Way::Open } else { Way::ClosedUntil(now + LATER) };
        }
        match around.network.routes.next_hop(self.id, to) {
            Some(hop) => self.failures.broken_until(hop, now).map_or(Way::Open, Way::ClosedUntil),
            None => Way::None,
        }
    }

    /// A follower follows no more; its application is called again then, if ever.
    fn put_aside(&mut self, around: &mut Surroundings, index: u32, again: Option<Time>) {
        self.followers.ends.retain(|follower| *follower != index);
        if let (Some(again), Some((_, slot))) = (again, &self.ends[index as usize].app) {
            around.agenda.arm(*slot, again, Lane::Upper);
        }
    }
}
