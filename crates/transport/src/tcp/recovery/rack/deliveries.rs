//! Deliveries, from which RACK tells reordering from loss (RFC 8985, sections 5 and 6.2).

use super::segments::OutstandingSegment;
use multihop_core::{Span, Time};

/// Number of recoveries without a duplicate report after which the reordering window is narrow again.
const RECOVERIES_KEPT: u32 = 16;

/// State of RACK that deliveries change.
#[derive(Clone, Debug)]
pub(super) struct Deliveries {
    /// Number of the newest transmission that was delivered. RFC 8985 orders by `RACK.xmit_ts` and
    /// `RACK.end_seq`, as its clock may be coarse.
    newest: Option<u64>,
    /// `RACK.rtt`: round trip of that segment.
    round_trip: Span,
    /// `RACK.fack`: end of the highest delivered data.
    highest: u64,
    /// `RACK.reordering_seen`.
    reordering_seen: bool,
    /// `RACK.reo_wnd_mult` and `RACK.reo_wnd_persist`.
    multiplier: u64,
    recoveries_left: u32,
    /// End of the round in which a duplicate report widened the window.
    widened_until: Option<u64>,
}

/// Acknowledgement that delivers segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveredBy {
    pub now: Time,
    /// Echoed timestamp; none for selectively acknowledged segments, which do not change it (RFC 7323,
    /// section 4.3).
    pub echoed_time: Option<Time>,
    pub min_rtt: Option<Span>,
}

/// Deliveries by one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeliveredNow {
    /// Number of bytes newly delivered.
    pub bytes: u64,
    /// Whether a segment that was sent once, before the last timeout, is among them.
    pub original: bool,
    /// Transmission time of the oldest segment that was sent once.
    pub sent_once: Option<Time>,
}

impl Default for Deliveries {
    fn default() -> Deliveries {
        Deliveries {
            newest: None,
            round_trip: Span::ZERO,
            highest: 0,
            reordering_seen: false,
            multiplier: 1,
            recoveries_left: 0,
            widened_until: None,
        }
    }
}

impl Deliveries {
    /// Number of the newest transmission that was delivered.
    pub fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Round trip of the newest delivered segment.
    pub fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// Processes a segment that is delivered for the first time (`RACK_update`, `RACK_detect_reordering`).
    /// `high` is the end of the data that was outstanding at the last timeout.
    pub fn on_delivered(
        &mut self,
        segment: &OutstandingSegment,
        by: &DeliveredBy,
        high: u64,
        delivered: &mut DeliveredNow,
    ) {
        delivered.bytes += segment.bytes();
        let round_trip = by.now.since(segment.sent);
        if !segment.was_retransmitted {
            delivered.original |= segment.end <= high;
            delivered.sent_once =
                Some(delivered.sent_once.map_or(segment.sent, |first| first.min(segment.sent)));
            self.reordering_seen |= segment.end < self.highest;
        }
        self.highest = self.highest.max(segment.end);
        // An echo of an earlier timestamp, or a round trip below the minimum, belongs to an earlier copy.
        let is_earlier = by.echoed_time.is_some_and(|echo| echo < segment.sent)
            || by.min_rtt.is_some_and(|least| round_trip < least);
        if segment.was_retransmitted && is_earlier {
            return;
        }
        if self.newest.is_none_or(|newest| newest < segment.transmission) {
            (self.newest, self.round_trip) = (Some(segment.transmission), round_trip);
        }
    }

    /// Records that data arrived later than data sent after it.
    pub fn note_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Widens the reordering window after a report of duplicate data, once per round (`RACK_update_reo_wnd`).
    pub fn on_duplicate_report(&mut self, una: u64, max: u64) {
        if self.widened_until.is_some_and(|until| una < until) {
            return;
        }
        self.widened_until = Some(max);
        self.recoveries_left = RECOVERIES_KEPT;
        self.multiplier = (self.multiplier + 1).min(255);
    }

    /// Records the end of a recovery, of which 16 narrow the reordering window again.
    pub fn on_recovered(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.multiplier = 1;
        }
    }

    /// Reordering window (`RACK_update_reo_wnd`): zero without reordering, if losses are being repaired or
    /// `many` segments were selectively acknowledged.
    pub fn reordering_window(&self, many: bool, min_rtt: Option<Span>, srtt: Option<Span>) -> Span {
        if !self.reordering_seen && many {
            return Span::ZERO;
        }
        let quarter = Span::from_ns(min_rtt.unwrap_or(Span::ZERO).ns() / 4 * self.multiplier);
        srtt.map_or(quarter, |srtt| quarter.min(srtt))
    }
}
