//! What comes to a queue in intervals of a fixed length, and how long the queue is on average: what load
//! factors are made of.

use multihop_core::{Span, Time};

/// What an interval was like that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Bytes that came.
    pub arrived: f64,
    /// Mean queue in bytes.
    pub queue: f64,
}

/// Divides time into intervals, and each into steps of 10 ms at which the queue is looked at. The mean has a
/// weight of 1/4 for each look, as in the authors' program for VCP (Xia et al. 2005).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    /// Steps in an interval.
    steps: u64,
    /// The step under way, by number from the start of the run.
    step: u64,
    arrived: f64,
    queue: f64,
}

const STEP: Span = Span::from_ms(10);
const WEIGHT: f64 = 0.25;

impl Meter {
    /// Of intervals of this length, in whole steps; at least one.
    pub(crate) fn new(interval: Span) -> Meter {
        Meter { steps: interval.rounded(STEP).whole(STEP).max(1), step: 0, arrived: 0.0, queue: 0.0 }
    }

    /// Length of an interval in seconds.
    pub(crate) fn length(&self) -> f64 {
        (STEP * self.steps).seconds()
    }

    /// Time has come to `now`, and up to there `waiting` bytes were in the queue. Returns the last interval
    /// that ended, if one did.
    pub(crate) fn advance(&mut self, now: Time, waiting: f64) -> Option<Interval> {
        let present = now.since(Time::ZERO).whole(STEP);
        if present == self.step {
            return None;
        }
        let mut ended = None;
        // After two intervals of rest nothing is left of what was before, within half a percent.
        let rest = (2 * self.steps).max(20);
        if present - self.step > rest {
            (self.step, self.arrived, self.queue) = (present - rest, 0.0, waiting);
        }
        while self.step < present {
            self.queue += WEIGHT * (waiting - self.queue);
            self.step += 1;
            if self.step.is_multiple_of(self.steps) {
                ended = Some(Interval { arrived: std::mem::take(&mut self.arrived), queue: self.queue });
            }
        }
        ended
    }

    /// So many bytes come.
    pub(crate) fn arrive(&mut self, bytes: f64) {
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
    fn an_interval_has_its_arrivals_and_the_mean_of_its_queue() {
        let mut meter = Meter::new(Span::from_ms(30));
        assert_eq!(meter.advance(ms(5), 0.0), None);
        meter.arrive(1_000.0);
        // Looks at 10, 20 and 30 ms see 0, 800 and 800 bytes: 0, 200, 350.
        assert_eq!(meter.advance(ms(15), 0.0), None);
        meter.arrive(500.0);
        assert_eq!(meter.advance(ms(31), 800.0), Some(Interval { arrived: 1_500.0, queue: 350.0 }));
        assert_eq!(meter.advance(ms(59), 350.0), None);
        assert_eq!(meter.advance(ms(60), 350.0), Some(Interval { arrived: 0.0, queue: 350.0 }));
    }

    /// Up to two intervals of rest are looked at step by step: 40 looks of 10 ms with a weight of 1/4.
    #[test]
    fn two_intervals_of_rest_have_the_mean_that_their_steps_have() {
        let mut meter = Meter::new(Span::from_ms(200));
        let last = meter.advance(ms(400), 1e6).unwrap();
        assert!((last.queue - 1e6 * (1.0 - 0.75f64.powi(40))).abs() < 1e-3, "{}", last.queue);
        // After more it is what waits.
        let last = meter.advance(ms(10_000), 5e5).unwrap();
        assert!((last.queue - 5e5).abs() < 1e-3, "{}", last.queue);
    }

    #[test]
    fn a_long_rest_ends_with_an_empty_interval() {
        let mut meter = Meter::new(Span::from_ms(200));
        meter.arrive(9_000.0);
        let last = meter.advance(ms(3_600_000), 0.0).unwrap();
        assert_eq!(last.arrived, 0.0);
        assert!(last.queue < 1e-9);
        assert_eq!(meter.advance(ms(3_600_199), 0.0), None, "in step with the clock");
    }
}
