//! Instants and spans of virtual time, in whole nanoseconds.

use serde::Serialize;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// Instant, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(u64);

/// Duration in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Span(u64);

impl Time {
    /// Start of the run.
    pub const ZERO: Time = Time(0);
    /// Instant later than any event: 2^62 ns, about 146 years.
    pub const NEVER: Time = Time(1 << 62);

    /// Instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// Number of nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Number of seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Duration from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Duration of zero.
    pub const ZERO: Span = Span(0);

    /// Duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns)
    }

    /// Duration of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000)
    }

    /// Duration of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// Duration of `s` seconds, rounded to the nearest nanosecond; negative and non-finite values become
    /// zero.
    pub fn from_seconds(s: f64) -> Span {
        Span((s * 1e9).round() as u64)
    }

    /// Number of nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Number of seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Difference `self - other`; zero if negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Number of whole `unit`s in the duration. `unit` must not be zero.
    pub const fn whole(self, unit: Span) -> u64 {
        self.0 / unit.0
    }

    /// Duration rounded up to a whole number of `unit`s.
    #[must_use]
    pub const fn rounded_up(self, unit: Span) -> Span {
        Span(self.0.div_ceil(unit.0) * unit.0)
    }

    /// Duration rounded to the nearest whole number of `unit`s, halves up.
    #[must_use]
    pub const fn rounded(self, unit: Span) -> Span {
        Span((self.0 + unit.0 / 2) / unit.0 * unit.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.seconds())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0 * n)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_round_as_named() {
        let us = Span::from_us(1);
        assert_eq!(Span::from_ns(1_400).rounded_up(us), Span::from_us(2));
        assert_eq!(Span::from_ns(1_400).rounded(us), Span::from_us(1));
        assert_eq!(Span::from_ns(1_500).rounded(us), Span::from_us(2));
        assert_eq!(Span::from_us(59).whole(Span::from_us(20)), 2);
    }

    #[test]
    fn since_is_zero_when_the_order_is_wrong() {
        assert_eq!(Time::from_ns(5).since(Time::from_ns(9)), Span::ZERO);
        assert_eq!(Time::from_ns(9) - Time::from_ns(5), Span::from_ns(4));
    }
}
