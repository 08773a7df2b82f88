//! Kalman filter of the delay variation (draft-ietf-rmcat-gcc-02, section 5.3).

use super::groups::Variation;
use std::collections::VecDeque;

/// Variance of the state noise (`q`), and initial error covariance (`e(0)`).
const STATE_NOISE: f64 = 1e-3;
const INITIAL_ERROR: f64 = 0.1;
/// Initial and minimum variance of the measurement noise in square milliseconds. The draft leaves the initial
/// value open; this is that of libwebrtc.
const INITIAL_NOISE: f64 = 50.0;
const MIN_NOISE: f64 = 1.0;
/// Coefficient of the noise's variance (`chi`), of the draft's 0.1 to 0.001 that of libwebrtc.
const CHI: f64 = 0.002;
/// Number of groups whose highest rate counts (`K`, which the draft leaves open).
const RECENT_GROUPS: usize = 60;

/// Estimator of the mean variation of the delay from group to group, in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct VariationFilter {
    estimate: f64,
    error: f64,
    /// Variance of the measurement noise.
    noise: f64,
    /// Times between the departures of the latest groups in milliseconds.
    departures_ms: VecDeque<f64>,
}

impl Default for VariationFilter {
    fn default() -> VariationFilter {
        VariationFilter {
            estimate: 0.0,
            error: INITIAL_ERROR,
            noise: INITIAL_NOISE,
            departures_ms: VecDeque::new(),
        }
    }
}

impl VariationFilter {
    /// Processes the change to a new group. Returns the estimate: `m(i)`.
    pub(super) fn update(&mut self, variation: &Variation) -> f64 {
        let residual = variation.delay - self.estimate;
        self.update_noise(residual, variation.departure);
        let predicted = self.error + STATE_NOISE;
        let gain = predicted / (self.noise + predicted);
        self.estimate += gain * residual;
        self.error = (1.0 - gain) * predicted;
        self.estimate
    }

    fn update_noise(&mut self, residual: f64, departure_ms: f64) {
        if self.departures_ms.len() == RECENT_GROUPS {
            self.departures_ms.pop_front();
        }
        self.departures_ms.push_back(departure_ms);
        let shortest = self.departures_ms.iter().copied().fold(f64::INFINITY, f64::min);
        // 30 / (1000 f_max), with f_max in groups per millisecond.
        let alpha = (1.0 - CHI).powf(30.0 * shortest / 1000.0);
        let outlier = 3.0 * self.noise.sqrt();
        let residual = residual.abs().min(outlier);
        self.noise = (alpha * self.noise + (1.0 - alpha) * residual * residual).max(MIN_NOISE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variation(delay: f64, departure: f64) -> Variation {
        Variation { delay, departure, arrival: 0.0 }
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    /// d = 2 ms, groups 10 ms apart: alpha = 0.998^0.3. var = alpha 50 + (1 - alpha) 4, k = 0.101 / (var +
    /// 0.101), m = 2 k, e = (1 - k) 0.101. Then d = 100 ms, of which 3 sqrt(var) count for the variance.
    #[test]
    fn two_steps_by_hand() {
        let mut filter = VariationFilter::default();
        let alpha = 0.998f64.powf(0.3);
        let noise = alpha * 50.0 + (1.0 - alpha) * 4.0;
        let gain = 0.101 / (noise + 0.101);
        let first = 2.0 * gain;
        assert_close(filter.update(&variation(2.0, 10.0)), first);
        let predicted = (1.0 - gain) * 0.101 + 0.001;
        let noise = alpha * noise + (1.0 - alpha) * 9.0 * noise;
        let gain = predicted / (noise + predicted);
        assert_close(filter.update(&variation(100.0, 20.0)), first + gain * (100.0 - first));
        assert_close(filter.error, (1.0 - gain) * predicted);
    }

    #[test]
    fn a_lasting_variation_is_found() {
        let mut filter = VariationFilter::default();
        let found = (0..3_000).map(|_| filter.update(&variation(0.5, 5.0))).last().unwrap();
        assert!((found - 0.5).abs() < 0.01, "{found}");
        let found = (0..3_000).map(|_| filter.update(&variation(0.0, 5.0))).last().unwrap();
        assert!(found.abs() < 0.01, "{found}");
    }
}
