//! Detection of a policed path, as in Linux (`bbr_lt_bw_sampling`): a token bucket delivers at a steady rate
//! and drops what exceeds it. Two consecutive intervals of many losses and of nearly the same delivery rate
//! show one.

use multihop_core::Time;

/// Minimum and maximum number of round trips in an interval (`bbr_lt_intvl_min_rtts`).
const INTERVAL_ROUNDS: std::ops::RangeInclusive<u32> = 4..=16;

/// Minimum ratio of lost to delivered bytes in an interval (`bbr_lt_loss_thresh`).
const LOSS_RATIO: f64 = 50.0 / 256.0;

/// Maximum difference of the rates of two intervals, relative and in bytes per second (`bbr_lt_bw_ratio`,
/// `bbr_lt_bw_diff`).
const RATE_DIFFERENCE: (f64, f64) = (1.0 / 8.0, 500.0);

/// Number of round trips after which a policer's rate is forgotten (`bbr_lt_bw_max_rtts`).
const ROUNDS_IN_USE: u32 = 48;

/// State of the search for a policer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PolicerDetector {
    /// Whether an interval is measured, which begins with a loss.
    is_sampling: bool,
    /// Number of round trips in the interval, or since a policer was found.
    rounds: u32,
    interval: Totals,
    /// Rate of the previous interval, or of the policer.
    rate: Option<f64>,
    is_policed: bool,
}

/// Totals of the connection: time of the last delivery, and bytes delivered and lost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub at: Time,
    pub delivered: u64,
    pub lost: u64,
}

/// Acknowledgement or timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolicerSample {
    pub totals: Totals,
    /// Whether it shows losses, is application-limited, or begins a round trip.
    pub has_losses: bool,
    pub app_limited: bool,
    pub round_start: bool,
    /// Whether the state is ProbeBW.
    pub probes_bandwidth: bool,
}

impl PolicerDetector {
    /// Rate of the policer in bytes per second, if one was found.
    pub fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.is_policed)
    }

    /// Forgets all intervals.
    pub fn restart(&mut self) {
        *self = PolicerDetector::default();
    }

    fn begin_interval(&mut self, totals: Totals) {
        (self.interval, self.rounds) = (totals, 0);
    }

    /// Processes a sample. Returns whether the use of a policer's rate ends.
    pub fn update(&mut self, sample: &PolicerSample) -> bool {
        if self.is_policed {
            self.rounds += u32::from(sample.probes_bandwidth && sample.round_start);
            let ends = self.rounds >= ROUNDS_IN_USE;
            if ends {
                self.restart();
            }
            return ends;
        }
        // The first loss shows that the tokens are used up.
        if !self.is_sampling {
            if !sample.has_losses {
                return false;
            }
            self.begin_interval(sample.totals);
            self.is_sampling = true;
        }
        self.rounds += u32::from(sample.round_start && !sample.app_limited);
        if sample.app_limited || self.rounds > *INTERVAL_ROUNDS.end() {
            self.restart();
        } else if self.rounds >= *INTERVAL_ROUNDS.start() && sample.has_losses {
            self.end_interval(sample.totals);
        }
        false
    }

    fn end_interval(&mut self, totals: Totals) {
        let delivered = (totals.delivered - self.interval.delivered) as f64;
        let lost = (totals.lost - self.interval.lost) as f64;
        let elapsed = totals.at.since(self.interval.at).seconds();
        if delivered == 0.0 || lost < LOSS_RATIO * delivered || elapsed < 1e-3 {
            return;
        }
        let rate = delivered / elapsed;
        let (ratio, difference) = RATE_DIFFERENCE;
        let before = self.rate.replace(rate);
        if let Some(before) = before
            && (rate - before).abs() <= (ratio * before).max(difference)
        {
            self.rate = Some(f64::midpoint(rate, before));
            (self.is_policed, self.rounds) = (true, 0);
        } else {
            self.begin_interval(totals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;

    /// One sample per round trip of 100 ms.
    struct Script {
        detector: PolicerDetector,
        totals: Totals,
    }

    impl Script {
        fn new() -> Script {
            Script { detector: PolicerDetector::default(), totals: Totals::default() }
        }

        fn sample(&mut self, delivered: u64, lost: u64) -> PolicerSample {
            self.totals.at += Span::from_ms(100);
            self.totals.delivered += delivered;
            self.totals.lost += lost;
            PolicerSample {
                totals: self.totals,
                has_losses: lost > 0,
                app_limited: false,
                round_start: true,
                probes_bandwidth: true,
            }
        }

        fn round(&mut self, delivered: u64, lost: u64) -> Option<f64> {
            let sample = self.sample(delivered, lost);
            self.detector.update(&sample);
            self.detector.rate()
        }
    }

    /// A fifth of the delivered bytes, 50/256, must be lost, in two intervals whose rates differ by an eighth
    /// at most.
    #[test]
    fn two_lossy_intervals_of_nearly_the_same_rate_show_a_policer() {
        for (lost, second, found) in
            [(196, 1_000, true), (195, 1_000, false), (300, 1_120, true), (300, 1_130, false)]
        {
            let mut script = Script::new();
            (0..4).for_each(|_| _ = script.round(1_000, lost));
            (0..3).for_each(|_| assert_eq!(script.round(second, lost), None));
            let found_rate = script.round(second, lost);
            assert_eq!(found_rate.is_some(), found, "{lost} {second}");
        }
    }

    /// An interval ends with a loss, after four to sixteen round trips.
    #[test]
    fn an_interval_without_a_loss_at_its_end_is_too_long() {
        let intervals = |quiet: usize| {
            let mut script = Script::new();
            for _ in 0..2 {
                script.round(1_000, 20_000);
                (0..quiet).for_each(|_| _ = script.round(1_000, 0));
            }
            script.round(1_000, 20_000)
        };
        assert!(intervals(3).is_some() && intervals(14).is_some());
        assert!(intervals(16).is_none());
    }

    /// Data that the application held back tells nothing.
    #[test]
    fn an_application_limited_sample_restarts_the_search() {
        let mut script = Script::new();
        (0..7).for_each(|_| assert_eq!(script.round(1_000, 300), None));
        let sample = script.sample(1_000, 300);
        script.detector.update(&PolicerSample { app_limited: true, ..sample });
        (0..7).for_each(|_| assert_eq!(script.round(1_000, 300), None));
        assert!(script.round(1_000, 300).is_some());
    }

    #[test]
    fn a_policer_is_forgotten_after_48_round_trips_of_probe_bw() {
        let mut script = Script::new();
        (0..7).for_each(|_| _ = script.round(1_000, 300));
        assert_eq!(script.round(1_000, 300), Some(10_000.0));
        let elsewhere = PolicerSample { probes_bandwidth: false, ..script.sample(1_000, 300) };
        (0..100).for_each(|_| assert!(!script.detector.update(&elsewhere)));
        let sample = script.sample(1_000, 300);
        (0..47).for_each(|_| assert!(!script.detector.update(&sample)));
        assert!(script.detector.update(&sample));
        assert_eq!(script.detector.rate(), None);
    }
}
