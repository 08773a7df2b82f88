//! The retransmission timeout (RFC 6298).

use crate::Flavour;
use multihop_config::parameters;
use multihop_core::{Span, Time};

parameters! {
    ($)
    /// Options of the retransmission timer.
    #[derive(Clone, Debug, PartialEq)]
    RtoOptions by Flavour, listed by rto_parameters:
    /// Retransmission timeout before the first round-trip sample (RFC 6298, section 2.1).
    initial_rto: Span from "1 ms" to "1 h" = Span::from_ms(1_000), Ns2: Span::from_ms(3_000);
    /// Minimum retransmission timeout, before back-off (RFC 6298, section 2.4).
    min_rto: Span from "0 s" to "1 h" = Span::from_ms(1_000), Ns2: Span::from_ms(200), Linux: LINUX_RTO_MIN;
    /// Maximum retransmission timeout, after back-off (RFC 6298: at least 60 s).
    max_rto: Span from "1 ms" to "1 h" = Span::from_ms(60_000), Linux: Span::from_ms(120_000);
    /// Tick of the clock that measures round trips; "0 s" for an exact clock. With a tick, a sample is the
    /// number of elapsed ticks, and the timeout is a multiple of the tick, as in BSD and ns-2 (`tcpTick_`).
    tick: (Option<Span> as Span) from "0 s" to "1 s" = None, Ns2: Some(Span::from_ms(10));
    {
        /// Minimum of the term `4 RTTVAR`, `G` in section 2.3 of RFC 6298. Zero for a clock of nanoseconds.
        /// Linux sets its minimum timeout there (`tcp_rto_min`), so that long round trips through a full
        /// queue do not reach the timeout.
        margin: Span = Span::ZERO, Linux: LINUX_RTO_MIN;
        /// Estimate `4 RTTVAR` as Linux does (`tcp_rtt_estimator`): it is at least the largest deviation of a
        /// round trip, decreases once per round trip, and counts a shorter sample by an eighth. An expiry
        /// keeps the estimate.
        by_round: bool = false, Linux: true;
        /// Double the timeout at each expiry (RFC 6298, section 5.5).
        exponential: bool = true;
    }
}

/// `TCP_RTO_MIN` of Linux's `include/net/tcp.h`.
const LINUX_RTO_MIN: Span = Span::from_ms(200);

impl Default for RtoOptions {
    /// Options of RFC 6298.
    fn default() -> RtoOptions {
        RtoOptions::of(Flavour::Rfc)
    }
}

impl RtoOptions {
    /// Options of ns-2.35.
    pub fn ns2() -> RtoOptions {
        RtoOptions::of(Flavour::Ns2)
    }

    /// Options of Linux (`include/net/tcp.h`).
    pub fn linux() -> RtoOptions {
        RtoOptions::of(Flavour::Linux)
    }
}

/// Deviation of the round-trip time by rounds, in units of the clock (`tcp_rtt_estimator` of Linux).
#[derive(Clone, Copy, Debug, Default)]
struct RoundDeviation {
    /// Smoothed mean deviation, times 4 (`mdev_us`).
    mean: u64,
    /// Its maximum in this round (`mdev_max_us`).
    maximum: u64,
    /// The term `4 RTTVAR` (`rttvar_us`).
    term: u64,
    /// Start of the round, which ends when data sent later is acknowledged.
    since: Time,
}

impl RoundDeviation {
    /// Adds the first sample, with this minimum of the term.
    fn first(now: Time, sample: u64, least: u64) -> RoundDeviation {
        let (mean, term) = (2 * sample, (2 * sample).max(least));
        RoundDeviation { mean, maximum: term, term, since: now }
    }

    /// Adds a sample from data sent at `sent`, given the smoothed round-trip time before it.
    fn add(&mut self, sent: Time, now: Time, sample: u64, srtt: u64, least: u64) {
        let error = sample.abs_diff(srtt);
        let quarter = self.mean >> 2;
        self.mean = if sample < srtt && error > quarter {
            // A shorter round trip is no sign of a longer one to come.
            self.mean + ((error - quarter) >> 3)
        } else {
            (self.mean + error).saturating_sub(quarter)
        };
        if self.mean > self.maximum {
            self.maximum = self.mean;
            self.term = self.term.max(self.maximum);
        }
        if sent >= self.since {
            self.since = now;
            if self.maximum < self.term {
                self.term -= (self.term - self.maximum) >> 2;
            }
            self.maximum = least;
        }
    }
}

/// Estimator of the retransmission timeout.
///
/// Computes in whole units (the tick, or 1 ns), with 8 SRTT and 4 RTTVAR stored as integers (Jacobson 1988,
/// appendix A). This equals RFC 6298 with a fine unit, and the BSD arithmetic with a coarse one.
#[derive(Clone, Debug)]
pub struct Rto {
    options: RtoOptions,
    unit: Span,
    /// 8 SRTT and 4 RTTVAR in units; none before the first sample.
    smoothed: Option<(u64, u64)>,
    /// SRTT + 4 RTTVAR, before minimum and back-off.
    base: Span,
    /// State of the estimate by rounds.
    rounds: RoundDeviation,
    doublings: u32,
}

impl Rto {
    /// An estimator without samples.
    pub fn new(options: RtoOptions) -> Rto {
        let unit = options.tick.unwrap_or(Span::from_ns(1));
        let rounds = RoundDeviation::default();
        Rto { base: options.initial_rto, options, unit, smoothed: None, doublings: 0, rounds }
    }

    /// Timeout of a timer that is started now.
    pub fn timeout(&self) -> Span {
        let base = self.base.max(self.options.min_rto);
        let backed_off = base.ns().saturating_mul(1 << self.doublings);
        Span::from_ns(backed_off).min(self.options.max_rto).max(self.unit * 2)
    }

    /// Smoothed round-trip time, after the first sample.
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed.map(|(srtt8, _)| Span::from_ns(self.unit.ns() * srtt8 / 8))
    }

    /// Adds a valid sample (Karn): a segment that was sent once, at `sent`, was acknowledged at `now`.
    /// Back-off continues until [`Rto::end_backoff`].
    pub fn sample(&mut self, sent: Time, now: Time) {
        // Number of ticks, at multiples of the unit, between the two instants.
        let ticks = now.ns() / self.unit.ns() - sent.ns() / self.unit.ns();
        let sample = ticks.max(1);
        let margin = self.options.margin.ns() / self.unit.ns();
        match self.smoothed {
            None => self.rounds = RoundDeviation::first(now, sample, margin),
            Some((srtt8, _)) => self.rounds.add(sent, now, sample, srtt8 >> 3, margin),
        }
        let (srtt8, rttvar4) = match self.smoothed {
            None => (8 * sample, 2 * sample),
            Some((srtt8, rttvar4)) => {
                let srtt = srtt8 >> 3;
                let error = sample.abs_diff(srtt);
                // RTTVAR first, with the old SRTT (RFC 6298, section 2.3).
                let rttvar4 = (rttvar4 + error).saturating_sub(rttvar4 >> 2).max(1);
                ((srtt8 + sample).saturating_sub(srtt).max(1), rttvar4)
            }
        };
        self.smoothed = Some((srtt8, rttvar4));
        let above = if self.options.by_round { self.rounds.term } else { rttvar4.max(margin) };
        self.base = self.unit * (((above << 3) + srtt8) >> 3);
    }

    /// Ends back-off, usually after a sample.
    pub fn end_backoff(&mut self) {
        self.doublings = 0;
    }

    /// Backs off after an expiry: the timeout doubles (RFC 6298, section 5.5). After the fourth doubling in a
    /// row the estimate is discarded, as the RFC allows, and as in BSD and ns-2.
    pub fn back_off(&mut self) {
        if !self.options.exponential {
            return;
        }
        if self.timeout() < self.options.max_rto {
            self.doublings = (self.doublings + 1).min(40);
        }
        if self.doublings > 3 && !self.options.by_round {
            self.smoothed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_ns(7_000_000);

    fn fine() -> Rto {
        Rto::new(RtoOptions { min_rto: Span::ZERO, ..RtoOptions::default() })
    }

    fn after(rto: &mut Rto, ms: u64) -> Span {
        rto.sample(START, START + Span::from_ms(ms));
        rto.end_backoff();
        rto.timeout()
    }

    #[test]
    fn rfc_6298_2_two_samples() {
        let mut rto = fine();
        assert_eq!(rto.timeout(), Span::from_ms(1_000));
        assert_eq!(after(&mut rto, 100), Span::from_ms(300));
        assert_eq!(after(&mut rto, 200), Span::from_us(362_500));
        assert_eq!(rto.smoothed(), Some(Span::from_us(112_500)));
    }

    #[test]
    fn rfc_6298_2_4_floor_and_2_5_ceiling() {
        let mut rto = Rto::new(RtoOptions::default());
        assert_eq!(after(&mut rto, 100), Span::from_ms(1_000));
        for _ in 0..70 {
            rto.back_off();
        }
        assert_eq!(rto.timeout(), Span::from_ms(60_000));
    }

    /// Nearly constant round trips: without a margin the timeout converges to them.
    #[test]
    fn the_margin_is_above_the_smoothed_round_trip() {
        let steady = |options: RtoOptions| {
            let mut rto = Rto::new(options);
            (0..40).for_each(|round| {
                let sent = START + Span::from_ms(230 * round);
                rto.sample(sent, sent + Span::from_ms(230));
            });
            rto.timeout().ns() / 1_000_000
        };
        assert_eq!(steady(RtoOptions { min_rto: Span::ZERO, ..RtoOptions::default() }), 230);
        assert_eq!(steady(RtoOptions::linux()), 430);
    }

    #[test]
    fn rfc_6298_5_5_back_off_lasts_until_a_sample() {
        let mut rto = fine();
        after(&mut rto, 100);
        rto.back_off();
        assert_eq!(rto.timeout(), Span::from_ms(600));
        rto.back_off();
        assert_eq!(rto.timeout(), Span::from_ms(1_200));
        // RTTVAR decays to 3/4 if the sample equals SRTT.
        assert_eq!(after(&mut rto, 100), Span::from_ms(250));
    }

    #[test]
    fn rfc_6298_5_7_after_many_doublings_the_next_sample_is_the_first() {
        let mut rto = fine();
        after(&mut rto, 100);
        (0..4).for_each(|_| rto.back_off());
        assert_eq!(rto.smoothed(), None);
        assert_eq!(after(&mut rto, 200), Span::from_ms(600));
    }

    #[test]
    fn without_back_off_expiries_change_nothing() {
        let mut rto =
            Rto::new(RtoOptions { exponential: false, min_rto: Span::ZERO, ..RtoOptions::default() });
        let before = after(&mut rto, 100);
        (0..9).for_each(|_| rto.back_off());
        assert_eq!((rto.timeout(), rto.smoothed()), (before, Some(Span::from_ms(100))));
    }

    /// ns-2, `tcpTick_` 10 ms: the sample is the number of ticks between the two instants, whatever the
    /// phase.
    #[test]
    fn a_coarse_clock_counts_its_ticks() {
        let mut rto = Rto::new(RtoOptions::ns2());
        assert_eq!(rto.timeout(), Span::from_ms(3_000));
        // From 7 ms to 107 ms: ten ticks. SRTT 10, RTTVAR 5.
        assert_eq!(after(&mut rto, 100), Span::from_ms(300));
        // From 7 ms to 16 ms: one tick. 4 RTTVAR = 20 + 9 - 5 = 24; 8 SRTT = 80 + 1 - 10 = 71; (24 * 8 + 71)
        // / 8 = 32.
        assert_eq!(after(&mut rto, 9), Span::from_ms(320));
        // Less than a tick counts as one.
        let mut rto = Rto::new(RtoOptions::ns2());
        assert_eq!(after(&mut rto, 1), Span::from_ms(200), "floor");
        assert_eq!(rto.smoothed(), Some(Span::from_ms(10)));
    }

    /// At the maximum timeout expiries do not count as doublings, and the estimate stays. 30 s double once.
    #[test]
    fn rfc_6298_2_5_at_the_largest_timeout_nothing_doubles() {
        let mut rto = fine();
        assert_eq!(after(&mut rto, 10_000), Span::from_ms(30_000));
        for _ in 0..9 {
            rto.back_off();
            assert_eq!(rto.timeout(), Span::from_ms(60_000));
        }
        assert_eq!(rto.smoothed(), Some(Span::from_ms(10_000)));
        // Three doublings keep the estimate, the fourth discards it.
        let mut rto = fine();
        after(&mut rto, 100);
        for (smoothed, timeout) in [(true, 600), (true, 1_200), (true, 2_400), (false, 4_800)] {
            rto.back_off();
            assert_eq!((rto.smoothed().is_some(), rto.timeout()), (smoothed, Span::from_ms(timeout)));
        }
    }

    /// The maximum applies to the first timeout as well; the minimum is two ticks of the clock.
    #[test]
    fn a_timeout_is_two_ticks_at_least() {
        let options = RtoOptions { min_rto: Span::ZERO, initial_rto: Span::from_ms(1), ..RtoOptions::ns2() };
        assert_eq!(Rto::new(options).timeout(), Span::from_ms(20));
        let options = RtoOptions { initial_rto: Span::from_ms(90_000), ..RtoOptions::default() };
        assert_eq!(Rto::new(options).timeout(), Span::from_ms(60_000));
    }

    /// RFC 6298, sections 2.2 and 2.3, in real numbers: a timer of nanoseconds agrees to the nanosecond.
    #[test]
    fn rfc_6298_2_any_samples() {
        let mut rng = multihop_core::Rng::at(2, &["rto"]);
        let mut rto = fine();
        let mut estimate: Option<(f64, f64)> = None;
        for _ in 0..300 {
            let ms = 1 + u64::from(rng.below(700));
            let sample = ms as f64 * 1e6;
            let (srtt, rttvar) = match estimate {
                None => (sample, sample / 2.0),
                Some((srtt, rttvar)) => {
                    (0.875 * srtt + 0.125 * sample, 0.75 * rttvar + 0.25 * (srtt - sample).abs())
                }
            };
            estimate = Some((srtt, rttvar));
            let found = after(&mut rto, ms).ns() as f64;
            assert!((found - (srtt + 4.0 * rttvar)).abs() < 100.0, "{found}");
            assert!((rto.smoothed().unwrap().ns() as f64 - srtt).abs() < 20.0);
        }
    }
}
