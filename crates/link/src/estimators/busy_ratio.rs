//! Channel busyness ratio, `R_b` (Zhai, Chen and Fang 2007).

use crate::{Estimator, LinkView};
use multihop_config::parameters;
use multihop_core::{Interval, LinkEvent, Span, Time};
use std::collections::VecDeque;

parameters! {
    ($)
    /// Options of [`BusyRatio`].
    #[derive(Clone, Copy, Debug, PartialEq)]
    BusyRatioOptions, listed by busy_ratio_options:
    /// Length of the sliding window.
    window: Span from "1 ms" to "1 min" = Span::from_ms(1_000);
}

/// Measures the share of the last `window` during which the station could not use the medium: it transmitted,
/// received or sensed a signal, or its network allocation vector was set.
///
/// The window ends at the instant of the query, even during a busy period. There is no value before a whole
/// window has passed since the start. The SIFS within the station's own exchanges count as idle. Under ns-2's
/// rules, which implement EIFS as a NAV, EIFS counts as busy.
#[derive(Clone, Debug)]
pub struct BusyRatio {
    window: Span,
    /// Finished periods that may still be in the window, sorted and disjoint, and their total length.
    over: VecDeque<Interval>,
    total: Span,
    /// Whether the medium is physically busy, and since when it is busy or idle.
    busy: bool,
    since: Time,
    nav: Time,
}

impl BusyRatio {
    /// Creates an estimator with this window, which must not be zero.
    pub fn new(window: Span) -> BusyRatio {
        BusyRatio {
            window,
            over: VecDeque::new(),
            total: Span::ZERO,
            busy: false,
            since: Time::ZERO,
            nav: Time::ZERO,
        }
    }

    /// Ratio at `now`, which must not precede the last event.
    pub fn at(&self, now: Time) -> Option<f64> {
        if now < Time::ZERO + self.window {
            return None;
        }
        let from = now - self.window;
        let open = self.open(now);
        let periods = self.over.iter().copied().chain([open]);
        let early: Span =
            periods.take_while(|period| period.start < from).map(|period| length_before(period, from)).sum();
        Some((self.total + open.length() - early).seconds() / self.window.seconds())
    }

    /// Present busy period, or the part of the idle period that the NAV reserves; may be empty.
    fn open(&self, now: Time) -> Interval {
        Interval { start: self.since, end: if self.busy { now } else { self.nav.min(now) } }
    }

    /// Records that the medium turns busy or idle.
    fn turn(&mut self, busy: bool, now: Time) {
        let period = self.open(now);
        if period.length() > Span::ZERO {
            self.over.push_back(period);
            self.total += period.length();
        }
        (self.busy, self.since) = (busy, now);
        while let Some(gone) = self.over.front().copied().filter(|period| period.end + self.window <= now) {
            self.over.pop_front();
            self.total -= gone.length();
        }
    }
}

impl Estimator for BusyRatio {
    fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::BusyFrom(start) => self.turn(true, *start),
            LinkEvent::Busy(period) => self.turn(false, period.end),
            LinkEvent::NavSet(reserved) => self.nav = self.nav.max(reserved.end),
            LinkEvent::NavReset(at) => self.nav = self.nav.min(*at),
            _ => {}
        }
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        view.busy_ratio = self.at(now);
    }
}

fn length_before(period: Interval, instant: Time) -> Span {
    period.end.min(instant).since(period.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1_000)
    }

    fn air(start: u64, end: u64) -> Interval {
        Interval { start: us(start), end: us(end) }
    }

    /// Reports a busy period; `nav` is the end of a reservation that its frame made.
    fn busy(estimator: &mut BusyRatio, start: u64, end: u64, nav: Option<u64>) {
        estimator.on_link(&LinkEvent::BusyFrom(us(start)));
        if let Some(nav) = nav {
            estimator.on_link(&LinkEvent::NavSet(air(end, nav)));
        }
        estimator.on_link(&LinkEvent::Busy(air(start, end)));
    }

    /// Busy microseconds among the last 1000.
    fn busy_us(estimator: &BusyRatio, now: u64) -> Option<u64> {
        estimator.at(us(now)).map(|ratio| (ratio * 1_000.0).round() as u64)
    }

    fn millisecond() -> BusyRatio {
        BusyRatio::new(Span::from_ms(1))
    }

    #[test]
    fn nothing_is_known_before_a_window_has_passed() {
        let mut estimator = millisecond();
        busy(&mut estimator, 100, 300, None);
        assert_eq!(busy_us(&estimator, 999), None);
        assert_eq!(busy_us(&estimator, 1_000), Some(200));
    }

    /// ```text
    /// busy      100-300   400-500   700-800   1000-1100      1500-2100   2150-
    /// reserved      300-600 (overlaps 400-500)    1100-1300              2100-2600 (but reset at 2120)
    /// unusable  100-600             700-800   1000-1300      1500-2120   2150-
    /// ```
    #[test]
    fn a_timeline_by_hand() {
        let mut estimator = millisecond();
        busy(&mut estimator, 100, 300, Some(600));
        busy(&mut estimator, 400, 500, Some(550)); // shorter than what is set: changes nothing
        busy(&mut estimator, 700, 800, None);
        assert_eq!(busy_us(&estimator, 1_000), Some(500 + 100));
        busy(&mut estimator, 1_000, 1_100, Some(1_300));
        assert_eq!(busy_us(&estimator, 1_200), Some(400 + 100 + 200), "within the NAV; 100-200 is out");
        assert_eq!(busy_us(&estimator, 1_450), Some(150 + 100 + 300), "the NAV is over; 450-600 is left");
        estimator.on_link(&LinkEvent::BusyFrom(us(1_500)));
        assert_eq!(busy_us(&estimator, 1_750), Some(50 + 300 + 250), "busy when asked; 750-800 is left");
        assert_eq!(busy_us(&estimator, 2_050), Some(250 + 550), "busy when asked; 1050-1300 is left");
        estimator.on_link(&LinkEvent::NavSet(air(2_100, 2_600)));
        estimator.on_link(&LinkEvent::Busy(air(1_500, 2_100)));
        assert_eq!(busy_us(&estimator, 2_110), Some(190 + 610));
        estimator.on_link(&LinkEvent::NavReset(us(2_120)));
        assert_eq!(busy_us(&estimator, 2_140), Some(160 + 620));
        estimator.on_link(&LinkEvent::BusyFrom(us(2_150)));
        assert_eq!(busy_us(&estimator, 2_200), Some(100 + 620 + 50));
        assert_eq!(busy_us(&estimator, 3_150), Some(1_000), "busy for longer than a window");
        estimator.on_link(&LinkEvent::Busy(air(2_150, 3_200)));
        assert_eq!(busy_us(&estimator, 4_100), Some(100));
        assert_eq!(busy_us(&estimator, 9_000), Some(0));
    }

    #[test]
    fn a_nav_that_was_set_during_a_busy_period_counts_once() {
        let mut estimator = millisecond();
        estimator.on_link(&LinkEvent::BusyFrom(us(100)));
        estimator.on_link(&LinkEvent::NavSet(air(200, 700)));
        estimator.on_link(&LinkEvent::Busy(air(100, 500)));
        assert_eq!(busy_us(&estimator, 1_000), Some(600));
    }

    /// Old periods are dropped, so that the memory is bounded by the window.
    #[test]
    fn what_has_left_the_window_is_forgotten() {
        let mut estimator = millisecond();
        for start in (0..1_000_000).step_by(100) {
            busy(&mut estimator, start, start + 25, Some(start + 50));
            assert!(estimator.over.len() <= 2 * 11, "{}", estimator.over.len());
        }
        assert_eq!(busy_us(&estimator, 1_000_000), Some(500));
        let kept: Span = estimator.over.iter().map(|period| period.length()).sum();
        assert_eq!(kept, estimator.total);
    }
}
