//! Route discovery of DSR: first a non-propagating request, then floods with increasing intervals.

use crate::config::DsrConfig;
use multihop_core::{NodeId, Span, Time};
use std::collections::BTreeMap;

/// Requests of the node and of other nodes.
#[derive(Default)]
pub(super) struct Discoveries {
    /// Discoveries of the node, by target.
    own: BTreeMap<NodeId, TargetDiscovery>,
    /// Number of the latest request, by originator and target. Requests for different targets may overtake
    /// each other.
    others: BTreeMap<(NodeId, NodeId), u16>,
}

/// Requests for one destination since it was last found.
#[derive(Default)]
struct TargetDiscovery {
    begun: u32,
    /// Time of the last request.
    last: Option<Time>,
    /// Time of the last non-propagating request; none if a flood followed it.
    neighbours_since: Option<Time>,
}

/// Decision about a missing route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DiscoveryStep {
    /// Send a request that may be relayed this many times.
    Ask(u16),
    /// Wait for a reply.
    Wait,
    /// Give up the packet of another node.
    GiveUp,
}

impl Discoveries {
    /// Decides what to do about a route missing for the node's own packet or another node's. For another
    /// node's packet, it asks its neighbours once.
    pub(super) fn next_step(
        &mut self,
        now: Time,
        target: NodeId,
        is_own: bool,
        rules: &DsrConfig,
    ) -> DiscoveryStep {
        let discovery = self.own.entry(target).or_default();
        if discovery.last.is_none_or(|last| now.since(last) >= discovery.period(rules)) {
            discovery.begun += 1;
            discovery.last = Some(now);
            if !is_own && discovery.begun > 1 {
                return DiscoveryStep::GiveUp;
            }
            discovery.neighbours_since = Some(now);
            return DiscoveryStep::Ask(0);
        }
        match discovery.neighbours_since {
            Some(since) if is_own && now.since(since) > DsrConfig::NONPROP_REQUEST_TIMEOUT => {
                discovery.neighbours_since = None;
                DiscoveryStep::Ask(rules.route_limit)
            }
            _ => DiscoveryStep::Wait,
        }
    }

    /// Records that a route was found.
    pub(super) fn found(&mut self, target: NodeId) {
        self.own.remove(&target);
    }

    /// Records a request. Returns whether it is newer than all requests of the same source for this target;
    /// numbers wrap at 2^16.
    pub(super) fn is_new(&mut self, source: NodeId, target: NodeId, number: u16) -> bool {
        let newest = self.others.get(&(source, target));
        let is_new = newest.is_none_or(|newest| (number.wrapping_sub(*newest) as i16) > 0);
        if is_new {
            self.others.insert((source, target), number);
        }
        is_new
    }
}

impl TargetDiscovery {
    /// Time until the next request.
    fn period(&self, rules: &DsrConfig) -> Span {
        let times = u64::from(rules.request_backoff).saturating_pow(self.begun.saturating_sub(1));
        let period = Span::from_ns(rules.request_period.ns().saturating_mul(times));
        period.min(DsrConfig::REQUEST_PERIOD_MAX)
    }
}
