//! Routing table of AODV.

use super::discovery::RouteDiscovery;
use multihop_core::{NodeId, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Entries by destination. An entry stays when its route breaks, because of its sequence number.
pub(super) type AodvTable = BTreeMap<NodeId, AodvRoute>;

/// Entry of the routing table for one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct AodvRoute {
    /// Sequence number: even from the destination itself, odd after a break (RFC 3561, 6.1).
    pub(super) sequence: u32,
    state: RouteState,
    /// Hops of the latest route.
    pub(super) last_hops: Option<u16>,
    /// Time at which the route expires unless a packet uses it.
    pub(super) expires: Time,
    /// Neighbours whose routes to the destination use this node, and which need to know of a break.
    pub(super) precursors: BTreeSet<NodeId>,
    /// Route discovery for the destination.
    pub(super) discovery: RouteDiscovery,
}

/// State of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum RouteState {
    /// No route.
    #[default]
    Down,
    /// Usable route.
    Up(Hop),
    /// Broken route under local repair that is still advertised; packets wait.
    Repairing(Hop),
    /// Broken route under local repair; packets wait.
    Lost,
}

/// Next hop and length of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hop {
    pub(super) next: NodeId,
    /// Hops to the destination.
    pub(super) hops: u16,
}

impl AodvRoute {
    /// Next hop for packets, if the route is usable.
    pub(super) fn hop(&self) -> Option<Hop> {
        if let RouteState::Up(hop) = self.state { Some(hop) } else { None }
    }

    /// Next hop that the node advertises: that of a usable route, and in ns-2 that of a route under repair.
    pub(super) fn known(&self) -> Option<Hop> {
        match self.state {
            RouteState::Up(hop) | RouteState::Repairing(hop) => Some(hop),
            RouteState::Down | RouteState::Lost => None,
        }
    }

    /// Whether packets of other nodes wait for a repair.
    pub(super) fn is_repaired(&self) -> bool {
        matches!(self.state, RouteState::Repairing(_) | RouteState::Lost)
    }

    /// Whether a route with this sequence number and length is better than the known one.
    pub(super) fn is_beaten_by(&self, sequence: u32, hops: u16) -> bool {
        let shorter = self.known().is_none_or(|known| hops < known.hops);
        sequence > self.sequence || sequence == self.sequence && shorter
    }

    /// Sets a usable route that expires at this time.
    pub(super) fn set(&mut self, sequence: u32, hop: Hop, expires: Time) {
        self.sequence = sequence;
        self.state = RouteState::Up(hop);
        self.expires = expires;
    }

    /// Extends the lifetime of a route that a packet uses.
    pub(super) fn refresh(&mut self, now: Time, lifetime: Span) {
        self.expires = now + lifetime;
    }

    /// Starts a local repair of a route that stays advertised.
    pub(super) fn repair(&mut self) {
        if let Some(hop) = self.known() {
            self.state = RouteState::Repairing(hop);
            self.expires = Time::ZERO;
        }
    }

    /// Starts a local repair of a broken route.
    pub(super) fn repair_broken(&mut self) {
        self.take_down();
        self.state = RouteState::Lost;
    }

    /// Breaks the route, with this sequence number.
    pub(super) fn invalidate(&mut self, sequence: u32) {
        self.sequence = sequence;
        self.take_down();
    }

    /// Removes the route.
    pub(super) fn take_down(&mut self) {
        if let Some(hop) = self.known() {
            self.last_hops = Some(hop.hops);
        }
        self.state = RouteState::Down;
        self.expires = Time::ZERO;
    }
}
