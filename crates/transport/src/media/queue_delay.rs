//! Queueing delay from one-way delays.

use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// Time for which a minimum is kept, and number of minima (RFC 6817, section 3.4.1: `BASE_HISTORY`).
const INTERVAL: Span = Span::from_ms(60_000);
const INTERVALS: usize = 10;

/// Base delay: minimum of the one-way delays of the last ten minutes. The difference of the two clocks
/// cancels in the queueing delay.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueDelay {
    /// Number of the minute, and the minimum in it.
    minima: VecDeque<(u64, f64)>,
}

impl QueueDelay {
    /// Adds a one-way delay in seconds. Returns the part of it above the base delay.
    pub(crate) fn add(&mut self, now: Time, delay: f64) -> f64 {
        let minute = now.since(Time::ZERO).whole(INTERVAL);
        match self.minima.back_mut() {
            Some((latest, least)) if *latest == minute => *least = least.min(delay),
            _ => self.minima.push_back((minute, delay)),
        }
        while self.minima.front().is_some_and(|(at, _)| at + INTERVALS as u64 <= minute) {
            self.minima.pop_front();
        }
        delay - self.minima.iter().fold(f64::INFINITY, |least, (_, delay)| least.min(*delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_the_minimum_of_ten_minutes() {
        let mut delay = QueueDelay::default();
        let mut add = |minute: u64, seconds: f64| delay.add(Time::ZERO + INTERVAL * minute, seconds);
        assert_eq!(add(0, -3.0), 0.0, "clocks may differ");
        assert_eq!(add(0, -2.5), 0.5);
        assert_eq!(add(0, -3.5), 0.0);
        assert_eq!(add(9, -3.0), 0.5);
        assert_eq!(add(10, -3.0), 0.0, "the first minute is over");
    }
}
