//! Windowed maxima and minima, of which BBR's path models consist.

use multihop_core::{Span, Time};

/// Exact maximum over the last `ROUNDS` round trips, or other periods that are counted
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.5). Without a new sample the value stays,
/// however many round trips pass.
#[derive(Clone, Debug)]
pub(super) struct MaxFilter<const ROUNDS: usize> {
    /// Maximum of each round trip, by its number modulo `ROUNDS`.
    maxima: [(u64, f64); ROUNDS],
    value: f64,
}

impl<const ROUNDS: usize> Default for MaxFilter<ROUNDS> {
    fn default() -> Self {
        MaxFilter { maxima: [(0, 0.0); ROUNDS], value: 0.0 }
    }
}

impl<const ROUNDS: usize> MaxFilter<ROUNDS> {
    /// Adds a sample of a round trip, which is not earlier than the last one.
    pub fn update(&mut self, round: u64, value: f64) {
        let slot = &mut self.maxima[(round % ROUNDS as u64) as usize];
        *slot = (round, if slot.0 == round { slot.1.max(value) } else { value });
        self.value = self.over(round, ROUNDS as u64);
    }

    /// Maximum over the `rounds` round trips up to this one.
    pub fn over(&self, round: u64, rounds: u64) -> f64 {
        let recent = self.maxima.iter().filter(|(of, _)| of + rounds > round);
        recent.fold(0.0, |most, (_, value)| most.max(*value))
    }

    /// The maximum; zero before the first sample.
    pub fn value(&self) -> f64 {
        self.value
    }
}

/// Maximum over the last `ROUNDS + 1` round trips as Linux estimates it (`lib/win_minmax.c`): three samples
/// are kept, and when the maximum leaves the window, a sample of its first quarter that was below it is
/// forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunningMax<const ROUNDS: usize> {
    /// Maximum, maximum since a later round trip, and maximum since a still later one; each with its round
    /// trip.
    best: [(u64, f64); 3],
}

impl<const ROUNDS: usize> RunningMax<ROUNDS> {
    /// Adds a sample of a round trip, which is not earlier than the last one.
    pub fn update(&mut self, round: u64, value: f64) {
        let new = (round, value);
        let window = ROUNDS as u64;
        if value >= self.best[0].1 || round - self.best[2].0 > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        let age = round - self.best[0].0;
        if age > window {
            self.best = [self.best[1], self.best[2], new];
            if round - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = new;
        }
    }

    /// The maximum; zero before the first sample.
    pub fn value(&self) -> f64 {
        self.best[0].1
    }
}

/// Minimum round-trip time over the last ten seconds (section 4.1.2.3).
#[derive(Clone, Debug)]
pub(super) struct MinFilter {
    window: Span,
    value: Option<Span>,
    since: Time,
    expired: bool,
}

impl MinFilter {
    pub fn new(window: Span) -> MinFilter {
        MinFilter { window, value: None, since: Time::ZERO, expired: false }
    }

    /// Advances to `now`, with a round-trip sample if there is one.
    pub fn update(&mut self, now: Time, rtt: Option<Span>) {
        self.expired = self.value.is_some() && now > self.since + self.window;
        if let Some(rtt) = rtt.filter(|rtt| self.expired || self.value.is_none_or(|least| *rtt <= least)) {
            self.value = Some(rtt);
            self.since = now;
        }
    }

    /// Restarts the window of the present minimum at `now`.
    pub fn confirm(&mut self, now: Time) {
        self.since = now;
    }

    /// Whether the minimum was older than the window at the last update.
    pub fn expired(&self) -> bool {
        self.expired
    }

    /// The minimum round-trip time.
    pub fn value(&self) -> Option<Span> {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_ten_round_trips() {
        let mut filter = MaxFilter::<10>::default();
        // Round trip, sample, and expected value.
        for (round, value, expected) in [
            (0, 5.0, 5.0),
            (0, 9.0, 9.0),
            (0, 7.0, 9.0),
            (1, 4.0, 9.0),
            (3, 6.0, 9.0),
            (9, 1.0, 9.0),
            (10, 1.0, 6.0), // 1 to 10: round trip 0 is out of the window
            (12, 2.0, 6.0),
            (13, 2.0, 2.0), // 4 to 13
            (40, 0.5, 0.5), // all earlier round trips are out
            (41, 0.25, 0.5),
        ] {
            filter.update(round, value);
            assert_eq!(filter.value(), expected, "round trip {round}");
        }
    }

    /// A window of ten round trips holds eleven. After round trip 0 leaves it, 8 of round trip 2 is
    /// forgotten: it came in the first quarter of the window.
    #[test]
    fn linux_keeps_three_samples() {
        let mut filter = RunningMax::<10>::default();
        for (round, value, expected) in [
            (0, 9.0, 9.0),
            (2, 8.0, 9.0),
            (3, 5.0, 9.0), // after a quarter: second best
            (6, 4.0, 9.0), // after a half: third best
            (10, 1.0, 9.0),
            (11, 1.0, 5.0),
            (13, 1.0, 5.0),
            (14, 1.0, 4.0),
            (15, 4.5, 4.5),
            (27, 0.5, 0.5), // all are out
            (28, 0.25, 0.5),
        ] {
            filter.update(round, value);
            assert_eq!(filter.value(), expected, "round trip {round}");
        }
    }

    /// Compares with the maximum over all samples.
    #[test]
    fn agrees_with_the_definition() {
        let mut rng = multihop_core::Rng::at(5, &["filter"]);
        let (mut filter, mut seen, mut round) = (MaxFilter::<10>::default(), Vec::new(), 0);
        for _ in 0..2_000 {
            round +=
                u64::from(rng.below(3) / 2) + if rng.below(50) == 0 { u64::from(rng.below(25)) } else { 0 };
            let value = rng.unit();
            filter.update(round, value);
            seen.push((round, value));
            let recent = seen.iter().filter(|(of, _)| of + 10 > round).map(|(_, value)| *value);
            assert_eq!(filter.value(), recent.fold(0.0, f64::max));
        }
    }

    #[test]
    fn the_least_round_trip_is_replaced_when_it_is_old() {
        let mut filter = MinFilter::new(Span::from_ms(10_000));
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        for (now, rtt, expected, expired) in [
            (0, 50, 50, false),
            (4_000, 40, 40, false),
            (9_000, 60, 40, false),
            (10_000, 40, 40, false), // equal: the window restarts
            (20_000, 60, 40, false),
            (20_001, 60, 60, true),
            (20_002, 70, 60, false),
        ] {
            filter.update(ms(now), Some(Span::from_ms(rtt)));
            assert_eq!(
                (filter.value(), filter.expired()),
                (Some(Span::from_ms(expected)), expired),
                "{now} ms"
            );
        }
        filter.update(ms(31_000), None);
        assert!(filter.expired() && filter.value() == Some(Span::from_ms(60)));
    }

    #[test]
    fn what_is_confirmed_holds_for_another_window() {
        let mut filter = MinFilter::new(Span::from_ms(10_000));
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        filter.update(ms(0), Some(Span::from_ms(50)));
        filter.confirm(ms(9_000));
        for (now, expired) in [(10_001, false), (19_000, false), (19_001, true)] {
            filter.update(ms(now), None);
            assert_eq!(filter.expired(), expired, "{now} ms");
        }
    }
}
