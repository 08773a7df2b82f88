//! Entry of the routing table of DSDV.

use super::wire::Advert;
use multihop_core::{NodeId, Span, Time};

/// Metric of an unreachable destination (ns-2's `BIG`).
pub(super) const UNREACHABLE: u32 = 250;

/// Entry of the routing table for one destination.
#[derive(Clone, Debug)]
pub(super) struct DsdvRoute {
    pub(super) next_hop: NodeId,
    /// Number of hops, or `UNREACHABLE`.
    pub(super) metric: u32,
    pub(super) sequence: u32,
    /// Earliest time of an advertisement, because a better route may follow.
    pub(super) advertise_from: Time,
    /// Changes not advertised yet: of the sequence number, and of the metric since the last full update.
    pub(super) new_sequence: bool,
    pub(super) new_metric: bool,
    advertised_metric: u32,
    /// Time of the last change of the route, and time at which its sequence number was first heard.
    changed_at: Time,
    new_sequence_at: Time,
    /// Weighted settling time: usual delay from a new sequence number to the best route with it.
    pub(super) settling: Span,
    /// Time of the next triggered update about the destination.
    pub(super) trigger: Option<Time>,
    /// Time at which the neighbour is lost if it stays silent; none for other nodes.
    pub(super) lost_at: Option<Time>,
}

impl DsdvRoute {
    /// Creates the entry of a route that was just heard.
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

    /// Creates the entry of the node itself.
    pub(super) fn of_self(id: NodeId, sequence: u32, now: Time) -> DsdvRoute {
        let advert = Advert { destination: id, metric: 0, sequence };
        DsdvRoute { new_sequence: true, ..DsdvRoute::new(&advert, id, Span::ZERO, now) }
    }

    /// Creates the entry of a destination that was never heard of; it is never advertised.
    pub(super) fn silent(destination: NodeId, metric: u32, settling: Span, now: Time) -> DsdvRoute {
        let advert = Advert { destination, metric, sequence: 0 };
        DsdvRoute { advertise_from: Time::NEVER, ..DsdvRoute::new(&advert, destination, settling, now) }
    }

    /// Time of the entry's next event: a triggered update, or the loss of the neighbour.
    pub(super) fn earliest(&self) -> Time {
        let trigger = self.trigger.unwrap_or(Time::NEVER);
        trigger.min(self.lost_at.unwrap_or(Time::NEVER))
    }

    /// Whether the entry has changes to advertise.
    pub(super) fn is_news(&self, now: Time) -> bool {
        (self.new_sequence || self.new_metric) && self.advertise_from <= now
    }

    /// Records that an update included the entry.
    pub(super) fn advertised(&mut self, full: bool) {
        self.advertised_metric = self.metric;
        self.new_sequence = false;
        self.new_metric &= !full;
    }

    /// Accepts a shorter route with the same sequence number.
    pub(super) fn shorten(&mut self, heard: &Advert, from: NodeId, now: Time) {
        self.replace(heard, from, now);
        if self.new_metric {
            self.trigger = Some(self.advertise_from);
        }
    }

    /// Accepts a new sequence number. `weight` is the weight of the past in the settling time.
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

    /// Schedules the entry for immediate advertisement.
    pub(super) fn assert_again(&mut self, now: Time) {
        self.advertise_from = now;
        self.new_metric = true;
        self.trigger = Some(now);
    }

    /// Breaks the route to the next hop. `changed_at` stays, so that the break does not count as the best
    /// route of its sequence number.
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
