//! Input and mean queue of intervals of a fixed length, from which load factors are computed.

use multihop_core::{Span, Time};

/// Input and mean queue of a completed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IntervalDemand {
    /// Bytes that arrived at the queue.
    pub arrived: f64,
    /// Mean queue in bytes.
    pub queue: f64,
}

/// Meter of a queue's input and length in intervals. The queue is sampled in steps of 10 ms. Each sample has
/// a weight of 1/4 in the mean, as in the authors' program for VCP (Xia et al. 2005).
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemandMeter {
    /// Number of steps in an interval.
    steps: u64,
    /// Number of the current step, from the start of the run.
    step: u64,
    arrived: f64,
    queue: f64,
}

const STEP: Span = Span::from_ms(10);
const WEIGHT: f64 = 0.25;

impl DemandMeter {
    /// Creates a meter for intervals of this length, rounded to whole steps, at least one.
    pub(crate) fn new(interval: Span) -> DemandMeter {
        DemandMeter { steps: interval.rounded(STEP).whole(STEP).max(1), step: 0, arrived: 0.0, queue: 0.0 }
    }

    /// Returns the length of an interval in seconds.
    pub(crate) fn length(&self) -> f64 {
        (STEP * self.steps).seconds()
    }

    /// Advances to `now`, with `waiting` bytes in the queue since the last call. Returns the last interval
    /// that ended, if one did.
    pub(crate) fn advance(&mut self, now: Time, waiting: f64) -> Option<IntervalDemand> {
        let present = now.since(Time::ZERO).whole(STEP);
        if present == self.step {
            return None;
        }
        let mut ended = None;
        // After two intervals of constant queue, the earlier mean contributes less than half a percent.
        let rest = (2 * self.steps).max(20);
        if present - self.step > rest {
            (self.step, self.arrived, self.queue) = (present - rest, 0.0, waiting);
        }
        while self.step < present {
            self.queue += WEIGHT * (waiting - self.queue);
            self.step += 1;
            if self.step.is_multiple_of(self.steps) {
                ended =
                    Some(IntervalDemand { arrived: std::mem::take(&mut self.arrived), queue: self.queue });
            }
        }
        ended
    }

    /// Adds bytes that arrive at the queue.
    pub(crate) fn add_arrival(&mut self, bytes: f64) {
        self.arrived += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn an_interval_reports_its_input_and_mean_queue() {
        let mut meter = DemandMeter::new(Span::from_ms(30));
        assert_eq!(meter.advance(ms(5), 0.0), None);
        meter.add_arrival(1_000.0);
        // The samples at 10, 20 and 30 ms are 0, 800 and 800 bytes; the means are 0, 200 and 350.
        assert_eq!(meter.advance(ms(15), 0.0), None);
        meter.add_arrival(500.0);
        assert_eq!(meter.advance(ms(31), 800.0), Some(IntervalDemand { arrived: 1_500.0, queue: 350.0 }));
        assert_eq!(meter.advance(ms(59), 350.0), None);
        assert_eq!(meter.advance(ms(60), 350.0), Some(IntervalDemand { arrived: 0.0, queue: 350.0 }));
    }

    /// Up to two idle intervals are computed step by step: 40 samples with a weight of 1/4.
    #[test]
    fn two_idle_intervals_are_computed_step_by_step() {
        let mut meter = DemandMeter::new(Span::from_ms(200));
        let last = meter.advance(ms(400), 1e6).unwrap();
        assert!((last.queue - 1e6 * (1.0 - 0.75f64.powi(40))).abs() < 1e-3, "{}", last.queue);
        // After a longer idle time the mean is the present queue.
        let last = meter.advance(ms(10_000), 5e5).unwrap();
        assert!((last.queue - 5e5).abs() < 1e-3, "{}", last.queue);
    }

    #[test]
    fn a_long_idle_time_ends_with_an_empty_interval() {
        let mut meter = DemandMeter::new(Span::from_ms(200));
        meter.add_arrival(9_000.0);
        let last = meter.advance(ms(3_600_000), 0.0).unwrap();
        assert_eq!(last.arrived, 0.0);
        assert!(last.queue < 1e-9);
        assert_eq!(meter.advance(ms(3_600_199), 0.0), None, "intervals remain aligned with the clock");
    }
}
