//! Detector of over-use with an adaptive threshold (draft-ietf-rmcat-gcc-02, section 5.4).

/// Usage of the path.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Usage {
    /// Queues drain.
    Under,
    /// Neither under-use nor over-use.
    #[default]
    Normal,
    /// Queues grow.
    Over,
}

/// Initial threshold, and its range in milliseconds (`del_var_th`).
const FIRST_THRESHOLD: f64 = 12.5;
const MIN_THRESHOLD: f64 = 6.0;
const MAX_THRESHOLD: f64 = 600.0;
/// Speed at which the threshold rises and falls, per millisecond (`K_u`, `K_d`).
const RISE: f64 = 0.01;
const FALL: f64 = 0.000_18;
/// Distance in milliseconds above the threshold from which on an estimate does not move it.
const OUTLIER: f64 = 15.0;
/// Duration of over-use in milliseconds before it is signalled (`overuse_time_th`).
const LASTING: f64 = 10.0;
/// Number of groups for which an estimate counts. The draft compares the variation from group to group with
/// the threshold; libwebrtc, where the threshold is from, multiplies it by the number of groups, up to 60. A
/// path that is over-used by a few percent is not detected without the factor.
const MAX_GROUPS: u32 = 60;
/// Maximum time in milliseconds that counts for the threshold, as in libwebrtc.
const MAX_ELAPSED: f64 = 100.0;

/// Detector of over-use.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    threshold: f64,
    groups: u32,
    last_estimate: f64,
    /// Arrival of the last group in milliseconds.
    last_arrival: Option<f64>,
    /// Arrival of the first group of the present over-use in milliseconds.
    over_since: Option<f64>,
    usage: Usage,
}

impl Default for Detector {
    fn default() -> Detector {
        Detector {
            threshold: FIRST_THRESHOLD,
            groups: 0,
            last_estimate: 0.0,
            last_arrival: None,
            over_since: None,
            usage: Usage::Normal,
        }
    }
}

impl Detector {
    /// Usage by the last group.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Processes the estimated delay variation of a group in milliseconds, and its arrival.
    pub(super) fn update(&mut self, estimate: f64, arrival_ms: f64) -> Usage {
        self.groups = (self.groups + 1).min(MAX_GROUPS);
        let offset = f64::from(self.groups) * estimate;
        if offset > self.threshold {
            let since = *self.over_since.get_or_insert(arrival_ms);
            let is_lasting = arrival_ms - since >= LASTING;
            self.usage =
                if is_lasting && estimate >= self.last_estimate { Usage::Over } else { Usage::Normal };
        } else {
            self.over_since = None;
            self.usage = if offset < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.adapt(offset.abs(), arrival_ms);
        self.last_estimate = estimate;
        self.usage
    }

    fn adapt(&mut self, offset: f64, arrival_ms: f64) {
        let last = self.last_arrival.replace(arrival_ms).unwrap_or(arrival_ms);
        if offset - self.threshold > OUTLIER {
            return;
        }
        let speed = if offset < self.threshold { FALL } else { RISE };
        let elapsed = (arrival_ms - last).clamp(0.0, MAX_ELAPSED);
        self.threshold += elapsed * speed * (offset - self.threshold);
        self.threshold = self.threshold.clamp(MIN_THRESHOLD, MAX_THRESHOLD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detector that has seen 60 groups without variation, the last one at 0 ms.
    fn detector() -> Detector {
        Detector { groups: 60, last_arrival: Some(0.0), ..Detector::default() }
    }

    /// Estimates of a quarter of a millisecond are 15 ms, above 12.5 ms. Over-use must last for 10 ms since
    /// its first group, and not recede.
    #[test]
    fn over_use_must_last_and_not_recede() {
        let mut detector = detector();
        let found =
            [(0.25, 5.0), (0.25, 10.0), (0.25, 15.0), (0.24, 20.0), (0.26, 25.0), (0.1, 30.0), (0.3, 50.0)]
                .map(|(estimate, arrival)| detector.update(estimate, arrival));
        let (normal, over) = (Usage::Normal, Usage::Over);
        let expected = [normal, normal, over, normal, over, normal, normal];
        assert_eq!(found, expected);
    }

    #[test]
    fn draining_queues_are_under_use() {
        let mut detector = detector();
        assert_eq!(detector.update(-0.25, 5.0), Usage::Under);
        assert_eq!((detector.update(-0.1, 10.0), detector.usage()), (Usage::Normal, Usage::Normal));
    }

    /// An estimate counts as often as there were groups: 1 * 5 is less than 12.5, 3 * 5 is more.
    #[test]
    fn first_estimates_count_less() {
        let mut detector = Detector::default();
        let found = [0.0, 10.0, 20.0, 30.0].map(|arrival| detector.update(5.0, arrival));
        assert_eq!(found, [Usage::Normal, Usage::Normal, Usage::Normal, Usage::Over]);
    }

    /// 10 ms after the last group. At 18 ms (0.3 * 60): 12.5 + 10 * 0.01 * 5.5 = 13.05. At 0: 13.05 less 10 *
    /// 0.00018 * 13.05. At 30 ms, more than 15 above it, the threshold stays. Time counts up to 100 ms.
    #[test]
    fn the_threshold_by_hand() {
        let mut detector = detector();
        let mut after = |estimate: f64, arrival: f64| {
            detector.update(estimate, arrival);
            detector.threshold
        };
        assert!((after(0.3, 10.0) - 13.05).abs() < 1e-12);
        let fallen = 13.05 * (1.0 - 0.001_8);
        assert!((after(0.0, 20.0) - fallen).abs() < 1e-12);
        assert!((after(0.5, 30.0) - fallen).abs() < 1e-12);
        assert!((after(0.0, 2_000.0) - fallen * (1.0 - 0.018)).abs() < 1e-12);
    }

    #[test]
    fn the_threshold_has_a_range() {
        let mut detector = detector();
        (1..2_000).for_each(|index| _ = detector.update(0.0, 100.0 * f64::from(index)));
        assert_eq!(detector.threshold, 6.0);
        for index in 2_000..6_000 {
            detector.update((detector.threshold + 14.0) / 60.0, 100.0 * f64::from(index));
        }
        assert_eq!(detector.threshold, 600.0);
    }
}
