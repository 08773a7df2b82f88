//! When a node asks for a destination, and how far: an expanding ring search, then network-wide floods, and
//! then a pause.

use crate::config::AodvConfig;
use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// Requests for one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovery {
    /// No request before this; none since the destination was last found.
    not_before: Option<Time>,
    /// RREQs that flooded the network since the destination was last found, or given up.
    floods: u32,
    /// Hops that the last request went, or to the destination, where it was found since.
    reach: u16,
    /// How long it took to find it, per hop, the last few times.
    latencies: VecDeque<Span>,
}

/// What to do about a route that is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// Ask nodes that are up to so many hops away.
    Ask(u16),
    /// An answer may still come, or it was given up not long ago.
    Wait,
    /// Packets for it have waited in vain.
    GiveUp,
}

impl Discovery {
    /// A route is missing now to a destination that was so many hops away when it was last known.
    pub(super) fn turn(&mut self, now: Time, last_hops: Option<u16>, rules: &AodvConfig) -> Turn {
        if self.not_before.is_some_and(|earliest| earliest > now) {
            return Turn::Wait;
        }
        if self.floods > rules.rreq_retries {
            self.floods = 0;
            self.not_before = Some(now + AodvConfig::HOLD_DOWN);
            return Turn::GiveUp;
        }
        self.reach = self.next_reach(last_hops, rules);
        self.wait(now, self.reach);
        Turn::Ask(self.reach)
    }

    /// The node asks nodes so many hops away, whatever it asked before.
    pub(super) fn ask_once(&mut self, now: Time, reach: u16) {
        self.reach = reach;
        self.wait(now, reach);
    }

    /// The destination was found at this distance.
    pub(super) fn found(&mut self, hops: u16) {
        self.floods = 0;
        self.not_before = None;
        self.reach = hops;
    }

    /// It took this long to find it, over so many hops.
    pub(super) fn took(&mut self, latency: Span, hops: u16) {
        let per_hop = Span::from_ns(latency.ns() / u64::from(hops.max(1)));
        if per_hop > Span::ZERO {
            self.latencies.push_back(per_hop);
        }
        while self.latencies.len() > AodvConfig::LATENCY_SAMPLES {
            self.latencies.pop_front();
        }
    }

    /// Is the destination looked for, and was not found since?
    pub(super) fn is_on(&self) -> bool {
        self.not_before.is_some()
    }

    /// When it may be asked for again.
    pub(super) fn not_before(&self) -> Time {
        self.not_before.unwrap_or(Time::ZERO)
    }

    fn next_reach(&mut self, last_hops: Option<u16>, rules: &AodvConfig) -> u16 {
        let network_wide = rules.network_diameter;
        // In ns-2 a destination that was never known is as far away as can be.
        let last = self.reach.max(last_hops.unwrap_or(u16::MAX));
        if last >= AodvConfig::TTL_THRESHOLD {
            self.floods += 1;
            return network_wide;
        }
        let reach =
            if last == 0 { AodvConfig::TTL_START } else { last.saturating_add(AodvConfig::TTL_INCREMENT) };
        reach.min(network_wide)
    }

    /// An answer may take this long: there and back, and longer after each RREQ that flooded the network.
    fn wait(&mut self, now: Time, reach: u16) {
        let hops = 2 * u64::from(reach) * u64::from(self.floods.max(1));
        let timeout = Span::from_ns(self.per_hop().ns().saturating_mul(hops));
        self.not_before = Some(now + timeout.min(AodvConfig::RREQ_TIMEOUT_MAX));
    }

    fn per_hop(&self) -> Span {
        let known = self.latencies.len() as u64;
        let sum: u64 = self.latencies.iter().map(|latency| latency.ns()).sum();
        sum.checked_div(known).map_or(AodvConfig::NODE_TRAVERSAL_TIME, Span::from_ns)
    }
}
