//! An entry of a node's routing table.

use super::wire::Advert;
use multihop_core::{NodeId, Span, Time};

/// The metric of a destination that cannot be reached (ns-2's `BIG`).
pub(super) const UNREACHABLE: u32 = 250;

/// What a node knows of a destination.
#[derive(Clone, Debug)]
pub(super) struct DsdvRoute {
    pub(super) next_hop: NodeId,
    /// Hops, or `UNREACHABLE`.
    pub(super) metric: u32,
    pub(super) sequence: u32,
    /// It is not advertised before: a better route may follow.
    pub(super) advertise_from: Time,
    /// What was not advertised yet; a new metric counts as such until the next full update.
    pub(super) new_sequence: bool,
    pub(super) new_metric: bool,
    advertised_metric: u32,
    /// When the route last changed, and when its sequence number was first heard.
    changed_at: Time,
    new_sequence_at: Time,
    /// Weighted settling time: how long after a new number the best route usually comes.
    pub(super) settling: Span,
    /// A triggered update is due then.
    pub(super) trigger: Option<Time>,
    /// For a neighbour: it is lost then, unless it is heard before.
    pub(super) lost_at: Option<Time>,
}

impl DsdvRoute {
    /// A route that was just heard of.
    pub(super) fn new(heard: &Advert, from: NodeId, settling: Span, now: Time) -> DsdvRoute {
        let reachable = heard.metric != UNREACHABLE;
        DsdvRoute {
            next_hop: from,
            metric: heard.metric,
            sequence: heard.sequence,
            advertise_from: if reachable { now + settling * 2 } else { now },
            new_sequence: false,
            new_metric: false,
            advertised_metric: 0,
            changed_at: now,
            new_sequence_at: now,
            settling,
            trigger: None,
            lost_at: None,
        }
    }

    /// The node itself.
    pub(super) fn own(id: NodeId, sequence: u32, now: Time) -> DsdvRoute {
        let advert = Advert { destination: id, metric: 0, sequence };
        DsdvRoute { new_sequence: true, ..DsdvRoute::new(&advert, id, Span::ZERO, now) }
    }

    /// A destination that nothing was heard of yet: never advertised.
    pub(super) fn silent(destination: NodeId, metric: u32, settling: Span, now: Time) -> DsdvRoute {
        let advert = Advert { destination, metric, sequence: 0 };
        DsdvRoute { advertise_from: Time::NEVER, ..DsdvRoute::new(&advert, destination, settling, now) }
    }

    /// When it has something to do: a triggered update is due, or the neighbour is lost.
    pub(super) fn earliest(&self) -> Time {
        let trigger = self.trigger.unwrap_or(Time::NEVER);
        trigger.min(self.lost_at.unwrap_or(Time::NEVER))
    }

    /// Is there something in it to advertise?
    pub(super) fn is_news(&self, now: Time) -> bool {
        (self.new_sequence || self.new_metric) && self.advertise_from <= now
    }

    /// It is in an update.
    pub(super) fn advertised(&mut self, full: bool) {
        self.advertised_metric = self.metric;
        self.new_sequence = false;
        self.new_metric &= !full;
    }

    /// A shorter route of the same number.
    pub(super) fn shorten(&mut self, heard: &Advert, from: NodeId, now: Time) {
        self.replace(heard, from, now);
        if self.new_metric {
            self.trigger = Some(self.advertise_from);
        }
    }

    /// A new number, which is believed. `weight` is that of the past in the settling time.
    pub(super) fn refresh(&mut self, heard: &Advert, from: NodeId, weight: f64, now: Time) {
        let latest = self.changed_at.since(self.new_sequence_at).seconds();
        let settling = weight * self.settling.seconds() + (1.0 - weight) * latest;
        self.settling = Span::from_seconds(settling);
        self.new_sequence_at = now;
        self.new_sequence = true;
        self.replace(heard, from, now);
    }

    fn replace(&mut self, heard: &Advert, from: NodeId, now: Time) {
        let settles = heard.metric != UNREACHABLE && self.metric != UNREACHABLE;
        self.advertise_from = if settles { now + self.settling * 2 } else { now };
        self.new_metric = heard.metric != self.advertised_metric;
        self.next_hop = from;
        self.metric = heard.metric;
        self.sequence = heard.sequence;
        self.changed_at = now;
    }

    /// The route is to be advertised again at once.
    pub(super) fn assert_again(&mut self, now: Time) {
        self.advertise_from = now;
        self.new_metric = true;
        self.trigger = Some(now);
    }

    /// The link to the next hop is broken. `changed_at` stays, so that the break is not taken for the best
    /// route of its number.
    pub(super) fn break_off(&mut self, now: Time) {
        if self.metric == UNREACHABLE {
            return;
        }
        self.metric = UNREACHABLE;
        self.sequence += 1;
        self.advertise_from = now;
        self.new_metric = true;
        self.new_sequence = true;
        self.trigger = Some(now);
    }
}
