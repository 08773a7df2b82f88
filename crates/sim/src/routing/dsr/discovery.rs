//! When a node sends a Route Request: first a non-propagating one, then one that floods the network, and less
//! and less often.

use crate::config::DsrConfig;
use multihop_core::{NodeId, Span, Time};
use std::collections::BTreeMap;

/// What a node asked for, and what it was asked.
#[derive(Default)]
pub(super) struct Discoveries {
    /// By what is looked for.
    own: BTreeMap<NodeId, Discovery>,
    /// By originator and target: the number of the latest request. Requests for several targets may overtake
    /// each other.
    others: BTreeMap<(NodeId, NodeId), u16>,
}

/// Requests for one destination since it was last found.
#[derive(Default)]
struct Discovery {
    begun: u32,
    /// When the last began.
    last: Option<Time>,
    /// Since when neighbours alone were asked, if they were asked last.
    neighbours_since: Option<Time>,
}

/// What to do about a route that is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// Ask nodes that are up to so many relays away.
    Ask(u16),
    /// An answer may still come.
    Wait,
    /// This node has done enough for the packet of another.
    GiveUp,
}

impl Discoveries {
    /// A route is missing now, for a packet of the node's own or of another. For another's, the node asks its
    /// neighbours once.
    pub(super) fn turn(&mut self, now: Time, target: NodeId, is_own: bool, rules: &DsrConfig) -> Turn {
        let discovery = self.own.entry(target).or_default();
        if discovery.last.is_none_or(|last| now.since(last) >= discovery.period(rules)) {
            discovery.begun += 1;
            discovery.last = Some(now);
            if !is_own && discovery.begun > 1 {
                return Turn::GiveUp;
            }
            discovery.neighbours_since = Some(now);
            return Turn::Ask(0);
        }
        match discovery.neighbours_since {
            Some(since) if is_own && now.since(since) > DsrConfig::NONPROP_REQUEST_TIMEOUT => {
                discovery.neighbours_since = None;
                Turn::Ask(rules.route_limit)
            }
            _ => Turn::Wait,
        }
    }

    /// A route came.
    pub(super) fn found(&mut self, target: NodeId) {
        self.own.remove(&target);
    }

    /// A request came. Returns whether it is newer than those that its source sent for this target before;
    /// numbers begin anew after 2^16.
    pub(super) fn is_new(&mut self, source: NodeId, target: NodeId, number: u16) -> bool {
        let newest = self.others.get(&(source, target));
        let is_new = newest.is_none_or(|newest| (number.wrapping_sub(*newest) as i16) > 0);
        if is_new {
            self.others.insert((source, target), number);
        }
        is_new
    }
}

impl Discovery {
    /// How long the next has to wait for.
    fn period(&self, rules: &DsrConfig) -> Span {
        let times = u64::from(rules.request_backoff).saturating_pow(self.begun.saturating_sub(1));
        let period = Span::from_ns(rules.request_period.ns().saturating_mul(times));
        period.min(DsrConfig::REQUEST_PERIOD_MAX)
    }
}
