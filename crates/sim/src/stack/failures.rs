//! Next hops that failed recently: when their links break, and for how long static routes do not use them.

use crate::config::LinkFailureRule;
use multihop_core::{NodeId, Packet, Time};
use std::sync::Arc;

/// Failure counts of a node's next hops.
#[derive(Debug)]
pub struct Failures {
    rule: LinkFailureRule,
    /// Whether packets of a flow break no link, by flow; may be empty.
    blind_to: Arc<[bool]>,
    hops: Vec<Failing>,
}

#[derive(Clone, Copy, Debug)]
struct Failing {
    peer: NodeId,
    /// Number of consecutive failures.
    failures: u32,
    broken_until: Time,
}

impl Failures {
    /// Creates the counts; packets of flows with `blind_to` set break no link.
    pub fn new(rule: LinkFailureRule, blind_to: Arc<[bool]>) -> Failures {
        Failures { rule, blind_to, hops: Vec::new() }
    }

    /// Whether the loss of this packet counts as a failure.
    pub(super) fn counts_loss(&self, packet: &Packet) -> bool {
        packet.is_control() || !self.blind_to.get(packet.flow.index()).is_some_and(|blind| *blind)
    }

    /// Records that the MAC delivered a packet to a next hop.
    pub(super) fn on_delivered(&mut self, peer: NodeId) {
        if let Some(failing) = self.hops.iter_mut().find(|failing| failing.peer == peer) {
            failing.failures = 0;
        }
    }

    /// Records that the MAC gave up a packet. Returns whether that breaks the link.
    pub(super) fn on_given_up(&mut self, now: Time, peer: NodeId) -> bool {
        let LinkFailureRule::Break { failures, hold } = self.rule else { return false };
        let known = self.hops.iter().position(|failing| failing.peer == peer);
        let at = known.unwrap_or_else(|| {
            self.hops.push(Failing { peer, failures: 0, broken_until: Time::ZERO });
            self.hops.len() - 1
        });
        let failing = &mut self.hops[at];
        failing.failures += 1;
        if failing.failures < failures {
            return false;
        }
        failing.failures = 0;
        failing.broken_until = now + hold;
        true
    }

    /// Time at which a broken link to this next hop is usable again.
    pub(super) fn broken_until(&self, peer: NodeId, now: Time) -> Option<Time> {
        let failing = self.hops.iter().find(|failing| failing.peer == peer)?;
        (failing.broken_until > now).then_some(failing.broken_until)
    }
}
