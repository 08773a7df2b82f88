//! Excess of acknowledgements over the bandwidth, because data or acknowledgements are aggregated
//! (draft-cardwell-iccrg-bbr-congestion-control-02, section 4.5.5).

use multihop_core::{Span, Time};

/// Number of round trips in one of the two halves of the window of the maximum filter.
const ROUNDS: u32 = 5;

/// Limit of the excess, as a time at the bandwidth.
const MAX_PERIOD: Span = Span::from_ms(100);

/// Maximum excess over the last five to ten round trips, in bytes.
#[derive(Clone, Debug)]
pub(super) struct AckAggregation {
    /// Bytes of a full segment.
    segment: f64,
    /// Start of the interval over which the excess is measured, and bytes acknowledged since.
    since: Time,
    acked: f64,
    /// Maximum excess in the current half of the window and in the previous one.
    maxima: [f64; 2],
    rounds: u32,
}

impl AckAggregation {
    /// Starts with segments of this many bytes.
    pub fn new(segment: f64) -> AckAggregation {
        AckAggregation { segment, since: Time::ZERO, acked: 0.0, maxima: [0.0; 2], rounds: 0 }
    }

    /// Starts a new interval, after an idle period.
    pub fn restart(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }

    /// Adds an acknowledgement of `size` bytes, at the current bandwidth and window. The expected bytes are
    /// rounded down to whole segments, so that the excess includes a fraction of a segment.
    pub fn update(&mut self, now: Time, size: f64, round_start: bool, bandwidth: f64, window: f64) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.maxima = [0.0, self.maxima[0]];
            }
        }
        let expected = bandwidth * now.since(self.since).seconds();
        let mut expected = (expected / self.segment).floor() * self.segment;
        if self.acked <= expected {
            (self.since, self.acked, expected) = (now, 0.0, 0.0);
        }
        self.acked += size;
        let excess = (self.acked - expected).min(window);
        self.maxima[0] = self.maxima[0].max(excess);
    }

    /// Bytes that the window needs in addition, so that the sender does not stall between aggregates.
    pub fn excess(&self, bandwidth: f64) -> f64 {
        self.maxima[0].max(self.maxima[1]).min(bandwidth * MAX_PERIOD.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// 1000 bytes every 10 ms as expected: each acknowledgement restarts the interval, and is itself the
    /// excess. Then five at once, each beyond the bandwidth.
    #[test]
    fn a_bunch_is_an_excess() {
        let mut aggregation = AckAggregation::new(1_000.0);
        (1..=10).for_each(|at| aggregation.update(ms(10 * at), 1_000.0, false, 100_000.0, 50_000.0));
        assert_eq!(aggregation.excess(100_000.0), 1_000.0);
        (0..5).for_each(|_| aggregation.update(ms(150), 1_000.0, false, 100_000.0, 50_000.0));
        assert_eq!(aggregation.excess(100_000.0), 5_000.0);
        // 10 ms later the bandwidth accounts for 1000 of these bytes.
        aggregation.update(ms(160), 2_500.0, false, 100_000.0, 50_000.0);
        assert_eq!(aggregation.excess(100_000.0), 6_500.0);
    }

    #[test]
    fn an_excess_is_bounded_by_the_window_and_by_a_tenth_of_a_second() {
        let mut aggregation = AckAggregation::new(1_000.0);
        aggregation.update(ms(10), 9_000.0, false, 100_000.0, 4_000.0);
        assert_eq!(aggregation.excess(100_000.0), 4_000.0);
        assert_eq!(aggregation.excess(30_000.0), 3_000.0);
    }

    /// The bandwidth accounts for 1900 bytes of an acknowledgement 19 ms later: one whole segment is
    /// expected.
    #[test]
    fn what_is_expected_is_of_whole_segments() {
        let mut aggregation = AckAggregation::new(1_000.0);
        aggregation.update(ms(10), 2_000.0, false, 100_000.0, 50_000.0);
        aggregation.update(ms(29), 2_000.0, false, 100_000.0, 50_000.0);
        assert_eq!(aggregation.excess(100_000.0), 3_000.0);
    }

    /// The maximum covers five to ten round trips: the tenth round start discards values before the fifth.
    #[test]
    fn an_excess_is_forgotten_after_two_halves_of_the_window() {
        let mut aggregation = AckAggregation::new(1_000.0);
        aggregation.update(ms(10), 9_000.0, false, 100_000.0, 50_000.0);
        let mut at = 1_000;
        let mut round = |aggregation: &mut AckAggregation| {
            at += 1_000;
            aggregation.update(ms(at), 1_000.0, true, 100_000.0, 50_000.0);
            aggregation.excess(100_000.0)
        };
        assert_eq!([(); 9].map(|()| round(&mut aggregation)), [9_000.0; 9]);
        assert_eq!(round(&mut aggregation), 1_000.0);
    }
}
