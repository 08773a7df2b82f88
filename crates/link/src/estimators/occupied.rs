//! Share of recent time that exchanges occupied.

use multihop_core::{Interval, Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Divisor of sums of time: `T_Total` of Barreto 2015.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Elapsed {
    /// Latest time of this length, which must not be zero; at first the time since the start.
    Window(Span),
    /// Time since the first exchange, however long ago.
    SinceStart,
}

/// Periods of time, in which overlaps count once.
#[derive(Clone, Debug)]
pub(crate) struct Occupied {
    elapsed: Elapsed,
    /// Retained periods, sorted and disjoint, and their total length.
    periods: VecDeque<Interval>,
    total: Span,
    /// Total length and number of periods no longer retained; they still count if there is no window.
    gone: Span,
    gone_periods: u64,
    start: Option<Time>,
}

/// Occupied periods in the window, and the time that elapsed in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within {
    /// Total length of the occupied periods in the window.
    pub time: Span,
    /// Number of occupied periods that lie in the window, wholly or in part.
    pub periods: u64,
    elapsed: Span,
}

impl Within {
    /// Share of the elapsed time that the periods and `seconds` occupy; zero if no time has elapsed.
    pub(crate) fn share_with(&self, seconds: f64) -> f64 {
        if self.elapsed == Span::ZERO {
            return 0.0;
        }
        (self.time.seconds() + seconds) / self.elapsed.seconds()
    }
}

/// Largest number of later periods that may begin before a period is reported.
const KEPT: usize = 16;

impl Occupied {
    /// Creates an empty set of periods.
    pub(crate) fn new(elapsed: Elapsed) -> Occupied {
        Occupied {
            elapsed,
            periods: VecDeque::new(),
            total: Span::ZERO,
            gone: Span::ZERO,
            gone_periods: 0,
            start: None,
        }
    }

    /// Adds a period, which may end in the future. An empty one changes nothing.
    pub(crate) fn add(&mut self, period: Interval) {
        if period.length() == Span::ZERO {
            return;
        }
        self.start = Some(self.start.map_or(period.start, |start| start.min(period.start)));
        // Searches from the end: new periods are late by a few at most.
        let later = self.periods.iter().rev().take_while(|known| known.end >= period.start).count();
        let first = self.periods.len() - later;
        let mut merged = period;
        while let Some(known) = self.periods.get(first).copied().filter(|known| known.start <= merged.end) {
            merged = Interval { start: merged.start.min(known.start), end: merged.end.max(known.end) };
            self.periods.remove(first);
            self.total -= known.length();
        }
        self.periods.insert(first, merged);
        self.total += merged.length();
        self.forget(period.start);
    }

    /// Removes the occupied time after `at`, because the NAV was reset then.
    pub(crate) fn cut(&mut self, at: Time) {
        while let Some(last) = self.periods.back_mut().filter(|last| last.end > at) {
            self.total -= last.end - last.start.max(at);
            if last.start < at {
                last.end = at;
                return;
            }
            self.periods.pop_back();
        }
    }

    /// Share of the elapsed time that the periods occupy, in [0, 1]; zero if no time has elapsed.
    pub(crate) fn share(&self, now: Time) -> f64 {
        self.within(now).share_with(0.0)
    }

    /// Part of the elapsed time that the periods occupy.
    pub(crate) fn within(&self, now: Time) -> Within {
        let from = match self.elapsed {
            Elapsed::Window(window) if now > Time::ZERO + window => now - window,
            Elapsed::Window(_) => Time::ZERO,
            Elapsed::SinceStart => self.start.unwrap_or(now),
        };
        let mut within =
            Within { time: self.gone + self.total, periods: self.gone_periods, elapsed: now.since(from) };
        within.periods += self.periods.len() as u64;
        for period in self.periods.iter().take_while(|period| period.start < from) {
            within.time -= period.end.min(from).since(period.start);
            within.periods -= u64::from(period.end <= from);
        }
        for period in self.periods.iter().rev().take_while(|period| period.end > now) {
            within.time -= period.end.since(period.start.max(now));
            within.periods -= u64::from(period.start >= now);
        }
        within
    }

    /// End of the last period.
    pub(crate) fn end(&self) -> Time {
        self.periods.back().map_or(Time::ZERO, |last| last.end)
    }

    /// Drops periods that no later query can concern.
    fn forget(&mut self, now: Time) {
        while self.periods.len() > KEPT {
            let oldest = self.periods[0];
            match self.elapsed {
                Elapsed::Window(window) if oldest.end + window > now => return,
                Elapsed::Window(_) => {}
                Elapsed::SinceStart => {
                    self.gone += oldest.length();
                    self.gone_periods += 1;
                }
            }
            self.periods.pop_front();
            self.total -= oldest.length();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1_000)
    }

    fn period(start: u64, end: u64) -> Interval {
        Interval { start: us(start), end: us(end) }
    }

    /// Occupied microseconds among the last 1000.
    fn share_us(occupied: &Occupied, now: u64) -> u64 {
        (occupied.share(us(now)) * 1_000.0).round() as u64
    }

    #[test]
    fn overlaps_count_once_in_whatever_order_they_are_reported() {
        let periods =
            [period(100, 200), period(150, 300), period(500, 600), period(300, 320), period(50, 90)];
        let mut orders = [periods; 5];
        (0..5).for_each(|by| orders[by].rotate_left(by));
        for order in orders {
            let mut occupied = Occupied::new(Elapsed::Window(Span::from_ms(1)));
            for period in order {
                occupied.add(period);
            }
            assert_eq!(share_us(&occupied, 1_000), 40 + 220 + 100, "{order:?}");
            assert_eq!(share_us(&occupied, 1_250), 70 + 100, "the window cuts 100-320 at 250");
            occupied.add(period(80, 550));
            assert_eq!(share_us(&occupied, 1_000), 550, "one period is left: 50-600");
        }
    }

    #[test]
    fn what_is_reserved_for_later_does_not_count_yet_and_may_be_taken_back() {
        let mut occupied = Occupied::new(Elapsed::Window(Span::from_ms(1)));
        occupied.add(period(900, 1_500));
        occupied.add(period(1_600, 1_700));
        assert_eq!(share_us(&occupied, 1_000), 100);
        occupied.cut(us(1_100));
        assert_eq!(share_us(&occupied, 1_800), 200);
        occupied.cut(us(1_100));
        assert_eq!(share_us(&occupied, 1_800), 200);
    }

    #[test]
    fn a_window_that_is_not_full_yet_counts_from_the_start() {
        let mut occupied = Occupied::new(Elapsed::Window(Span::from_ms(1)));
        assert_eq!(occupied.share(Time::ZERO), 0.0);
        occupied.add(period(100, 200));
        assert_eq!(occupied.share(us(200)), 0.5);
        assert_eq!(occupied.share(us(400)), 0.25);
    }

    #[test]
    fn without_a_window_everything_counts_from_the_first_period_on() {
        let mut occupied = Occupied::new(Elapsed::SinceStart);
        assert_eq!(occupied.share(us(700)), 0.0);
        for start in (1_000..1_001_000).step_by(100) {
            occupied.add(period(start, start + 30));
            assert!(occupied.periods.len() <= KEPT);
        }
        assert!((occupied.share(us(1_001_000)) - 0.3).abs() < 1e-12);
    }

    /// A window of a second with an exchange every 100 us retains what it holds, and no more.
    #[test]
    fn what_has_left_the_window_is_forgotten() {
        let mut occupied = Occupied::new(Elapsed::Window(Span::from_ms(5)));
        for start in (0..1_000_000).step_by(100) {
            occupied.add(period(start, start + 40));
            assert!(occupied.periods.len() <= 52, "{}", occupied.periods.len());
        }
        assert!((occupied.share(us(1_000_000)) - 0.4).abs() < 1e-12);
        assert_eq!(occupied.periods.iter().map(|period| period.length()).sum::<Span>(), occupied.total);
    }

    /// Periods outside the window do not count; periods that the window cuts do; adjacent periods are one.
    #[test]
    fn periods_are_counted_as_the_window_holds_them() {
        let count = |occupied: &Occupied, now| {
            let within = occupied.within(us(now));
            (within.periods, within.time)
        };
        for elapsed in [Elapsed::Window(Span::from_ms(1)), Elapsed::SinceStart] {
            let mut occupied = Occupied::new(elapsed);
            for start in [100, 300, 500, 2_500] {
                occupied.add(period(start, start + 100));
            }
            assert_eq!(count(&occupied, 50), (0, Span::ZERO));
            assert_eq!(count(&occupied, 100), (0, Span::ZERO));
            assert_eq!(count(&occupied, 350), (2, Span::from_us(150)));
            assert_eq!(count(&occupied, 400), (2, Span::from_us(200)));
            assert_eq!(count(&occupied, 1_000), (3, Span::from_us(300)));
            let all = elapsed == Elapsed::SinceStart;
            let [cut, left] = if all { [(3, 300), (3, 300)] } else { [(2, 150), (1, 100)] };
            assert_eq!(count(&occupied, 1_350), (cut.0, Span::from_us(cut.1)));
            assert_eq!(count(&occupied, 1_400), (left.0, Span::from_us(left.1)));
            occupied.add(period(600, 700));
            assert_eq!(count(&occupied, 1_000), (3, Span::from_us(400)), "500-700 is one");
            occupied.add(period(450, 500));
            assert_eq!(count(&occupied, 1_000), (3, Span::from_us(450)), "450-700 is one");
            assert_eq!(occupied.end(), us(2_600));
        }
        // Dropped periods still count if there is no window.
        let mut occupied = Occupied::new(Elapsed::SinceStart);
        (0..100).for_each(|n| occupied.add(period(100 * n, 100 * n + 10)));
        assert_eq!(count(&occupied, 10_000), (100, Span::from_us(1_000)));
    }
}
