//! How many packets a queue holds over time.

use multihop_core::{Span, Time};

/// Mean and maximum of a queue's length, from the instant on at which counting begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    /// The most packets.
    pub max: u64,
    now: u64,
    since: Time,
    area: u128,
}

impl Occupancy {
    /// The queue holds this many packets from now on. Counting begins at `from`; `counts` says whether it has
    /// begun.
    pub fn set(&mut self, length: usize, from: Time, now: Time, counts: bool) {
        self.advance(from, now);
        self.now = length as u64;
        if counts {
            self.max = self.max.max(self.now);
        }
    }

    /// The mean over time, up to `end`.
    pub fn mean(&mut self, from: Time, end: Time) -> f64 {
        self.advance(from, end);
        self.area as f64 / end.since(from).ns().max(1) as f64
    }

    fn advance(&mut self, from: Time, now: Time) {
        if self.since == now {
            return; // as when the packets of an aggregate leave
        }
        let span = now.since(self.since.max(from));
        if span > Span::ZERO {
            self.max = self.max.max(self.now);
        }
        self.area += u128::from(span.ns()) * u128::from(self.now);
        self.since = now;
    }
}
