//! Loss event rate from loss intervals (RFC 5348, sections 5.3 to 5.5).

use crate::Flavour;
use multihop_config::parameters;

/// Number of closed intervals that are kept.
pub const INTERVALS: usize = 8;

/// Weights of the mean, newest first: `w_i` = min(1, 2 (n - i) / (n + 2)), for n = 8 (RFC 5348, section 5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Minimum of the discount factor (RFC 5348, section 5.5).
const LEAST_DISCOUNT: f64 = 0.5;

parameters! {
    ($)
    /// Computation of the loss event rate from loss intervals.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Averaging by Flavour, listed by averaging_parameters:
    {
        /// Discount older loss intervals while the newest one is more than twice as long as their mean (RFC
        /// 5348, section 5.5, where it is optional).
        discounting: bool = true;
        /// Rules of ns-2: the open interval does not count its first packet, and the mean with the open
        /// interval includes the oldest interval while there are fewer than eight.
        ns2: bool = false, Ns2: true;
    }
}

/// Number of packets between the starts of loss events.
#[derive(Clone, Copy, Debug)]
pub struct LossIntervals {
    averaging: Averaging,
    /// Lengths of closed intervals in packets, newest first, with their discount factors.
    closed: [(f64, f64); INTERVALS],
    count: usize,
    /// Number of the first packet of the latest loss event.
    start: u64,
}

impl LossIntervals {
    /// Starts without losses.
    pub fn new(averaging: Averaging) -> LossIntervals {
        LossIntervals { averaging, closed: [(0.0, 1.0); INTERVALS], count: 0, start: 0 }
    }

    /// Whether there was a loss event.
    pub fn has_losses(&self) -> bool {
        self.count > 0
    }

    /// Starts the first loss event, which begins with packet `start`. The data before it counts as an
    /// interval of this length.
    pub fn first(&mut self, length: f64, start: u64) {
        self.closed[0] = (length, 1.0);
        self.count = 1;
        self.start = start;
    }

    /// Starts the next loss event, which begins with packet `start`.
    pub fn next(&mut self, start: u64) {
        let discount = self.discount(start.saturating_sub(1));
        let length = start.saturating_sub(self.start) as f64;
        self.closed.iter_mut().for_each(|(_, kept)| *kept *= discount);
        self.closed.rotate_right(1);
        self.closed[0] = (length, 1.0);
        self.count = (self.count + 1).min(INTERVALS);
        self.start = start;
    }

    /// Loss event rate if `highest` is the highest number that arrived; 0 without losses.
    pub fn loss_event_rate(&self, highest: u64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let discount = self.discount(highest);
        let closed = &self.closed[..self.count];
        let open_too = if self.averaging.ns2 { self.count } else { self.count - 1 };
        let (mut length, mut weight) = (self.open(highest), 1.0);
        for ((interval, kept), factor) in closed[..open_too].iter().zip(&WEIGHTS[1..]) {
            length += interval * factor * kept * discount;
            weight += factor * kept * discount;
        }
        let with_open = length / weight;
        1.0 / with_open.max(self.mean()).max(1.0)
    }

    /// Length of the open interval in packets if `highest` is the highest number that arrived.
    pub fn open(&self, highest: u64) -> f64 {
        let after = highest.saturating_sub(self.start) as f64;
        if self.averaging.ns2 { after } else { after + 1.0 }
    }

    /// Mean of the closed intervals in packets; not a number without losses.
    pub fn mean(&self) -> f64 {
        let closed = || self.closed[..self.count].iter().zip(&WEIGHTS);
        let length: f64 = closed().map(|((interval, kept), factor)| interval * factor * kept).sum();
        let weight: f64 = closed().map(|((_, kept), factor)| factor * kept).sum();
        length / weight
    }

    /// Factor by which the open interval discounts the closed ones (`DF`).
    fn discount(&self, highest: u64) -> f64 {
        let (open, twice) = (self.open(highest), 2.0 * self.mean());
        if self.averaging.discounting && self.count > 0 && open > twice {
            (twice / open).max(LEAST_DISCOUNT)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Averaging = Averaging { discounting: false, ns2: false };
    const DISCOUNTING: Averaging = Averaging { discounting: true, ns2: false };

    /// Eight intervals of 100 packets. Returns the loss event rate with an open interval of this length.
    fn after_eight(averaging: Averaging, open: u64) -> f64 {
        let mut intervals = LossIntervals::new(averaging);
        intervals.first(100.0, 0);
        (1..8).for_each(|event| intervals.next(100 * event));
        intervals.loss_event_rate(700 + open - u64::from(!averaging.ns2))
    }

    #[test]
    fn without_losses_there_is_no_rate() {
        let intervals = LossIntervals::new(PLAIN);
        assert_eq!((intervals.has_losses(), intervals.loss_event_rate(1_000_000)), (false, 0.0));
    }

    #[test]
    fn the_open_interval_counts_where_it_lengthens_the_mean() {
        assert_eq!(after_eight(PLAIN, 10), 0.01);
        assert!((after_eight(PLAIN, 400) - 1.0 / 150.0).abs() < 1e-12);
        assert_eq!(after_eight(DISCOUNTING, 10), 0.01);
    }

    #[test]
    fn a_long_open_interval_discounts_the_others() {
        // With a factor of 0.5: (1 + 5 / 2) / (400 + 500 / 2); beyond, the factor is at its minimum.
        assert!((after_eight(DISCOUNTING, 400) - 3.5 / 650.0).abs() < 1e-12);
        assert!((after_eight(DISCOUNTING, 1_000) - 0.0028).abs() < 1e-12);
        let ns2 = Averaging { ns2: true, ..DISCOUNTING };
        assert_eq!(after_eight(ns2, 400), after_eight(DISCOUNTING, 400), "with eight intervals they agree");
    }

    #[test]
    fn discounts_stay_with_their_intervals() {
        let mut intervals = LossIntervals::new(DISCOUNTING);
        intervals.first(100.0, 0);
        intervals.next(100);
        // The interval discounts both earlier ones by the minimum factor: (1000 + 0.5 * 100 + 0.5 * 100) / 2.
        intervals.next(1_100);
        assert!((1.0 / intervals.loss_event_rate(1_100) - 1_100.0 / 2.0).abs() < 1e-9);
    }

    #[test]
    fn while_young_ns2_counts_the_oldest_interval_with_the_open_one() {
        let rate = |ns2| {
            let mut intervals = LossIntervals::new(Averaging { discounting: false, ns2 });
            intervals.first(100.0, 0);
            intervals.loss_event_rate(if ns2 { 300 } else { 299 })
        };
        assert_eq!((rate(false), rate(true)), (1.0 / 300.0, 1.0 / 200.0));
    }

    #[test]
    fn the_oldest_interval_is_forgotten() {
        let mut intervals = LossIntervals::new(PLAIN);
        intervals.first(1e6, 0);
        (1..=8).for_each(|event| intervals.next(50 * event));
        assert_eq!(intervals.loss_event_rate(400), 0.02);
    }

    #[test]
    fn losses_of_every_packet_are_a_rate_of_one() {
        let mut intervals = LossIntervals::new(PLAIN);
        intervals.first(1.0, 0);
        (1..20).for_each(|event| intervals.next(event));
        assert_eq!(intervals.loss_event_rate(19), 1.0);
    }

    /// Intervals of 10, 20, ... 80 packets, the oldest first, and an open one of 500. By section 5.4 the open
    /// one counts with weight 1, and those before it with 1, 1, 1, 0.8, 0.6, 0.4, 0.2, of 6 in total: 500 +
    /// 80 + 70 + 60 + 40 + 24 + 12 + 4.
    #[test]
    fn rfc_5348_5_4_each_interval_has_the_weight_of_its_age() {
        let grown = |averaging| {
            let mut intervals = LossIntervals::new(averaging);
            intervals.first(10.0, 0);
            let mut start = 0;
            for length in [20, 30, 40, 50, 60, 70, 80] {
                start += length;
                intervals.next(start);
            }
            (intervals, start)
        };
        let (intervals, start) = grown(PLAIN);
        assert!((1.0 / intervals.loss_event_rate(start + 499) - 790.0 / 6.0).abs() < 1e-9);
        // Without the open one: 80 + 70 + 60 + 50 + 0.8 * 40 + 0.6 * 30 + 0.4 * 20 + 0.2 * 10, of 6.
        let mean = 320.0 / 6.0;
        assert!((1.0 / intervals.loss_event_rate(start) - mean).abs() < 1e-9);
        // Section 5.5: beyond twice the mean, each closed interval counts with a factor of 2 * 53.33 / 150.
        let (intervals, start) = grown(DISCOUNTING);
        let discount = 2.0 * mean / 150.0;
        let expected = (150.0 + 290.0 * discount) / (1.0 + 5.0 * discount);
        assert!((1.0 / intervals.loss_event_rate(start + 149) - expected).abs() < 1e-9);
        assert!((1.0 / intervals.loss_event_rate(start + 99) - (100.0 + 290.0) / 6.0).abs() < 1e-9);
        // ns-2's open interval is one packet shorter.
        let (intervals, start) = grown(Averaging { ns2: true, ..PLAIN });
        assert!((1.0 / intervals.loss_event_rate(start + 499) - 789.0 / 6.0).abs() < 1e-9);
    }

    /// A lost packet before the last event gives an empty interval, which counts as one packet.
    #[test]
    fn an_interval_is_a_packet_at_least() {
        let mut intervals = LossIntervals::new(PLAIN);
        intervals.first(0.0, 10);
        intervals.next(4);
        assert_eq!(intervals.loss_event_rate(3), 1.0);
        assert!(intervals.has_losses());
    }

    /// An interval of 1000 packets permanently discounts two earlier ones of 100 by half (section 5.5). With
    /// an open interval of 800, which discounts nothing: 800 + 1000 + 0.5 * 100, of 2.5.
    #[test]
    fn rfc_5348_5_5_a_discount_outlives_the_interval_that_made_it() {
        let mut intervals = LossIntervals::new(DISCOUNTING);
        intervals.first(100.0, 0);
        intervals.next(100);
        intervals.next(1_100);
        assert!((1.0 / intervals.loss_event_rate(1_899) - 740.0).abs() < 1e-9);
    }
}
