//! A node's routing table.

use super::discovery::Discovery;
use multihop_core::{NodeId, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Entries by destination; they stay when their routes break, for what they know of sequence numbers.
pub(super) type Table = BTreeMap<NodeId, AodvRoute>;

/// What a node knows of a destination.
#[derive(Clone, Debug, Default)]
pub(super) struct AodvRoute {
    /// How recent that is: even from the destination itself, odd for a break (RFC 3561, 6.1).
    pub(super) sequence: u32,
    state: State,
    /// Hops of the route when there was one last.
    pub(super) last_hops: Option<u16>,
    /// When the route expires if no packet takes it.
    pub(super) expires: Time,
    /// Neighbours whose routes to the destination go through this node, so that they want to know of a break.
    pub(super) precursors: BTreeSet<NodeId>,
    /// Requests for it.
    pub(super) discovery: Discovery,
}

/// What became of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    /// There is none.
    #[default]
    Down,
    /// Packets take it.
    Up(Hop),
    /// Packets wait until its end is found anew; but it is advertised.
    Repairing(Hop),
    /// Packets wait until its end is found anew.
    Lost,
}

/// The first hop of a route, and how long the route is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hop {
    pub(super) next: NodeId,
    /// Hops to the destination.
    pub(super) hops: u16,
}

impl AodvRoute {
    /// The hop that packets take.
    pub(super) fn hop(&self) -> Option<Hop> {
        if let State::Up(hop) = self.state { Some(hop) } else { None }
    }

    /// The route that the node advertises: that which packets take, and, in ns-2, one that is being repaired.
    pub(super) fn known(&self) -> Option<Hop> {
        match self.state {
            State::Up(hop) | State::Repairing(hop) => Some(hop),
            State::Down | State::Lost => None,
        }
    }

    /// Do packets of others wait for it?
    pub(super) fn is_repaired(&self) -> bool {
        matches!(self.state, State::Repairing(_) | State::Lost)
    }

    /// Is a route of this sequence number and length better than what is known?
    pub(super) fn is_beaten_by(&self, sequence: u32, hops: u16) -> bool {
        let shorter = self.known().is_none_or(|known| hops < known.hops);
        sequence > self.sequence || sequence == self.sequence && shorter
    }

    /// There is a route, which expires then.
    pub(super) fn set(&mut self, sequence: u32, hop: Hop, expires: Time) {
        self.sequence = sequence;
        self.state = State::Up(hop);
        self.expires = expires;
    }

    /// A packet takes it.
    pub(super) fn refresh(&mut self, now: Time, lifetime: Span) {
        self.expires = now + lifetime;
    }

    /// Its end is to be found anew while the route is still advertised.
    pub(super) fn repair(&mut self) {
        if let Some(hop) = self.known() {
            self.state = State::Repairing(hop);
            self.expires = Time::ZERO;
        }
    }

    /// It broke, and is to be discovered anew.
    pub(super) fn repair_broken(&mut self) {
        self.take_down();
        self.state = State::Lost;
    }

    /// It broke, with this sequence number.
    pub(super) fn invalidate(&mut self, sequence: u32) {
        self.sequence = sequence;
        self.take_down();
    }

    /// There is none any more.
    pub(super) fn take_down(&mut self) {
        if let Some(hop) = self.known() {
            self.last_hops = Some(hop.hops);
        }
        self.state = State::Down;
        self.expires = Time::ZERO;
    }
}
