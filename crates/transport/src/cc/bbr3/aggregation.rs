//! Excess of acknowledgements over the bandwidth (section 5.5.9).

use super::RoundTrips;
use crate::DeliverySample;
use crate::cc::filters::MaxFilter;
use multihop_core::Time;

/// `ExtraAckedFilterLen`: number of round trips of which the maximum excess counts.
const ROUNDS: usize = 10;

/// Bytes acknowledged beyond those that the bandwidth explains.
#[derive(Clone, Debug, Default)]
pub(super) struct ExtraAcked {
    /// Start of the interval over which the excess is measured, and bytes delivered since.
    since: Time,
    delivered: f64,
    maximum: MaxFilter<ROUNDS>,
    round: u64,
}

impl ExtraAcked {
    /// Starts a new interval, after an idle period.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
    }

    /// `UpdateACKAggregation`, at the current bandwidth and window.
    pub fn update(&mut self, delivery: &DeliverySample, bandwidth: f64, window: f64, rounds: &RoundTrips) {
        let mut expected = bandwidth * delivery.now.since(self.since).seconds();
        if self.delivered <= expected {
            (self.since, self.delivered, expected) = (delivery.now, 0.0, 0.0);
        }
        self.delivered += delivery.size as f64;
        self.round = rounds.count;
        self.maximum.update(self.round, (self.delivered - expected).min(window));
    }

    /// `BBR.extra_acked`: maximum of ten round trips, and of one until the full bandwidth was reached.
    pub fn value(&self, full_bandwidth_reached: bool) -> f64 {
        self.maximum.over(self.round, if full_bandwidth_reached { ROUNDS as u64 } else { 1 })
    }
}
