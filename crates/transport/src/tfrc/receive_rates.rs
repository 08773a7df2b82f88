//! Receive rates of the last two round-trip times, and the limit that they set (RFC 5348, section 4.3).

use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// Reported receive rates in bytes per second (`X_recv_set`).
#[derive(Clone, Debug)]
pub struct ReceiveRates {
    rates: VecDeque<(Time, f64)>,
}

impl ReceiveRates {
    /// Starts without a limit.
    pub fn new() -> ReceiveRates {
        ReceiveRates { rates: VecDeque::from([(Time::ZERO, f64::INFINITY)]) }
    }

    /// Starts the record at the first report.
    pub fn restart(&mut self, now: Time) {
        self.rates.iter_mut().for_each(|(at, _)| *at = now);
    }

    /// Highest rate.
    pub fn highest(&self) -> f64 {
        self.rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// Adds the rate of an interval that was not data-limited.
    pub fn add(&mut self, now: Time, rate: f64, rtt: Span) {
        self.rates.push_back((now, rate));
        self.rates.retain(|(at, _)| now.since(*at) <= rtt * 2);
    }

    /// Adds the rate of a data-limited interval, and keeps only the highest rate.
    pub fn maximise(&mut self, now: Time, rate: f64) {
        let known = self.rates.iter().map(|(_, rate)| *rate).filter(|rate| rate.is_finite());
        let highest = known.fold(rate, f64::max);
        self.replace(now, highest);
    }

    /// Halves all rates.
    pub fn halve(&mut self) {
        self.rates.iter_mut().for_each(|(_, rate)| *rate *= 0.5);
    }

    /// Replaces all rates.
    pub fn replace(&mut self, now: Time, rate: f64) {
        self.rates.clear();
        self.rates.push_back((now, rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_limit_is_of_two_round_trips() {
        let mut rates = ReceiveRates::new();
        let rtt = Span::from_ms(100);
        rates.restart(at(1_000));
        rates.add(at(1_100), 50.0, rtt);
        assert_eq!(rates.highest(), f64::INFINITY);
        rates.add(at(1_250), 40.0, rtt);
        assert_eq!(rates.highest(), 50.0);
        rates.add(at(1_350), 30.0, rtt);
        assert_eq!(rates.highest(), 40.0);
    }

    #[test]
    fn without_enough_to_send_the_highest_rate_stays() {
        let mut rates = ReceiveRates::new();
        rates.maximise(at(10), 20.0);
        assert_eq!(rates.highest(), 20.0, "what was unknown is forgotten");
        rates.maximise(at(900), 10.0);
        assert_eq!(rates.highest(), 20.0);
        rates.halve();
        rates.maximise(at(950), 12.0);
        assert_eq!(rates.highest(), 12.0);
    }
}
