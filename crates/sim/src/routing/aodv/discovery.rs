//! Route discovery of AODV: times and TTLs of requests. An expanding ring search, then network-wide floods,
//! then a pause.

use crate::config::AodvConfig;
use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// State of route discovery for one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteDiscovery {
    /// Earliest time of the next request; none since the destination was last found.
    not_before: Option<Time>,
    /// Network-wide RREQs since the destination was last found or given up.
    floods: u32,
    /// TTL of the last request, or the distance in hops at which the destination was found since.
    reach: u16,
    /// Durations of the last discoveries, per hop.
    latencies: VecDeque<Span>,
}

/// Decision about a missing route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DiscoveryStep {
    /// Send a request with this TTL.
    Ask(u16),
    /// Wait: a reply may still arrive, or the destination was given up recently.
    Wait,
    /// Give up: drop the packets that wait for the destination.
    GiveUp,
}

impl RouteDiscovery {
    /// Decides what to do about a missing route; `last_hops` is the distance of the destination when last
    /// known.
    pub(super) fn next_step(
        &mut self,
        now: Time,
        last_hops: Option<u16>,
        rules: &AodvConfig,
    ) -> DiscoveryStep {
        if self.not_before.is_some_and(|earliest| earliest > now) {
            return DiscoveryStep::Wait;
        }
        if self.floods > rules.rreq_retries {
            self.floods = 0;
            self.not_before = Some(now + AodvConfig::HOLD_DOWN);
            return DiscoveryStep::GiveUp;
        }
        self.reach = self.next_reach(last_hops, rules);
        self.wait(now, self.reach);
        DiscoveryStep::Ask(self.reach)
    }

    /// Records a request with this TTL outside of the ring search.
    pub(super) fn ask_once(&mut self, now: Time, reach: u16) {
        self.reach = reach;
        self.wait(now, reach);
    }

    /// Records that the destination was found at this distance.
    pub(super) fn found(&mut self, hops: u16) {
        self.floods = 0;
        self.not_before = None;
        self.reach = hops;
    }

    /// Records the duration of a discovery over this number of hops.
    pub(super) fn took(&mut self, latency: Span, hops: u16) {
        let per_hop = Span::from_ns(latency.ns() / u64::from(hops.max(1)));
        if per_hop > Span::ZERO {
            self.latencies.push_back(per_hop);
        }
        while self.latencies.len() > AodvConfig::LATENCY_SAMPLES {
            self.latencies.pop_front();
        }
    }

    /// Whether a discovery is in progress.
    pub(super) fn is_on(&self) -> bool {
        self.not_before.is_some()
    }

    /// Earliest time of the next request.
    pub(super) fn not_before(&self) -> Time {
        self.not_before.unwrap_or(Time::ZERO)
    }

    fn next_reach(&mut self, last_hops: Option<u16>, rules: &AodvConfig) -> u16 {
        let network_wide = rules.network_diameter;
        // ns-2 starts at the largest TTL for a destination that was never known.
        let last = self.reach.max(last_hops.unwrap_or(u16::MAX));
        if last >= AodvConfig::TTL_THRESHOLD {
            self.floods += 1;
            return network_wide;
        }
        let reach =
            if last == 0 { AodvConfig::TTL_START } else { last.saturating_add(AodvConfig::TTL_INCREMENT) };
        reach.min(network_wide)
    }

    /// Sets the time to wait for a reply: a round trip, and more after each network-wide RREQ.
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
