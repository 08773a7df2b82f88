//! Queue length over time.

use multihop_core::{Span, Time};

/// Mean and maximum of a queue's length, from the instant at which counting begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    /// Maximum length in packets.
    pub max: u64,
    now: u64,
    since: Time,
    area: u128,
}

impl Occupancy {
    /// Sets the queue length from now on. Counting begins at `from`; `counts` is whether it has begun.
    pub fn set(&mut self, length: usize, from: Time, now: Time, counts: bool) {
        self.advance(from, now);
        self.now = length as u64;
        if counts {
            self.max = self.max.max(self.now);
        }
    }

    /// Mean over time, from `from` to `end`.
    pub fn mean(&mut self, from: Time, end: Time) -> f64 {
        self.advance(from, end);
        self.area as f64 / end.since(from).ns().max(1) as f64
    }

    fn advance(&mut self, from: Time, now: Time) {
        if self.since == now {
            return; // several packets at one instant, as in an aggregate
        }
        let span = now.since(self.since.max(from));
        if span > Span::ZERO {
            self.max = self.max.max(self.now);
        }
        self.area += u128::from(span.ns()) * u128::from(self.now);
        self.since = now;
    }
}
