//! Target of the queueing delay beside flows that fill queues (section 4.5.4).

use std::collections::VecDeque;

/// Maximum target in seconds (`QDELAY_TARGET_HI`).
const MAX_TARGET: f64 = 0.4;
/// Number of delays in the variance and in the mean.
const VARIANCE_OF: usize = 200;
const MEAN_OF: usize = 50;
/// Share of round trips with losses above which losses count.
const MANY_LOSSES: f64 = 0.002;
/// Variance of the delay, in units of the least target, below which the target may rise.
const STEADY: f64 = 0.2;
/// Weight of a round trip in the share of those with losses. The draft leaves the estimator open.
const LOSS_WEIGHT: f64 = 1.0 / 64.0;

/// Target of the queueing delay (`qdelay_target`). A sample is taken per round trip; the draft leaves the
/// interval open.
#[derive(Clone, Debug)]
pub(super) struct DelayTarget {
    least: f64,
    seconds: f64,
    /// Latest delays in units of the least target (`qdelay_norm`).
    delays: VecDeque<f64>,
    loss_share: f64,
    lost: bool,
    last_update: f64,
}

impl DelayTarget {
    /// Creates the least target, in seconds.
    pub(super) fn new(least: f64) -> DelayTarget {
        DelayTarget {
            least,
            seconds: least,
            delays: VecDeque::new(),
            loss_share: 0.0,
            lost: false,
            last_update: 0.0,
        }
    }

    /// Present target in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Adds a queueing delay in seconds, and whether packets were lost.
    pub(super) fn add(&mut self, now: f64, rtt: f64, queueing: f64, lost: bool) {
        self.lost |= lost;
        if now - self.last_update < rtt {
            return;
        }
        self.last_update = now;
        let lost = std::mem::take(&mut self.lost);
        self.loss_share += LOSS_WEIGHT * (f64::from(u8::from(lost)) - self.loss_share);
        if self.delays.len() == VARIANCE_OF {
            self.delays.pop_front();
        }
        self.delays.push_back(queueing / self.least);
        self.adjust();
    }

    fn adjust(&mut self) {
        let (_, variance) = mean_and_variance(self.delays.iter());
        let (mean, _) = mean_and_variance(self.delays.iter().rev().take(MEAN_OF));
        let target = (mean + variance.sqrt()) * self.least;
        if self.loss_share > MANY_LOSSES {
            self.seconds = 1.5 * target;
        } else if variance < STEADY {
            self.seconds = target;
        } else if target < self.least {
            self.seconds = (0.5 * self.seconds).max(target);
        } else {
            self.seconds *= 0.9;
        }
        self.seconds = self.seconds.clamp(self.least, MAX_TARGET.max(self.least));
    }
}

fn mean_and_variance<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Target after delays in seconds, one per round trip.
    fn target(delays: &[f64], lost: bool) -> f64 {
        let mut target = DelayTarget::new(0.06);
        for (index, delay) in delays.iter().enumerate() {
            target.add(0.1 * (index + 1) as f64, 0.1, *delay, lost);
        }
        target.seconds()
    }

    #[test]
    fn a_steady_long_delay_raises_the_target() {
        assert!((target(&[0.12; 60], false) - 0.12).abs() < 1e-9, "mean 2, variance 0");
        assert_eq!(target(&[0.03; 60], false), 0.06, "not below the least");
        assert_eq!(target(&[2.0; 60], false), 0.4, "not above the most");
    }

    /// With losses 1.5 times the delay.
    #[test]
    fn losses_raise_the_target() {
        assert!((target(&[0.12; 60], true) - 0.18).abs() < 1e-9);
    }

    /// Delays of 0 and 120 ms by turns: mean 1, variance 1. The target of 2 is not safe.
    #[test]
    fn a_delay_that_varies_does_not() {
        let delays: Vec<f64> = (0..60).map(|index| if index % 2 == 0 { 0.0 } else { 0.12 }).collect();
        assert_eq!(target(&delays, false), 0.06);
    }

    /// After 200 round trips with a delay of 240 ms, it is 0 for 60: variance of 60 zeros and 140 fours.
    #[test]
    fn the_target_falls_when_the_queue_is_gone() {
        let mut delays = vec![0.24; 200];
        delays.extend([0.0; 300]);
        assert_eq!(target(&delays, false), 0.06);
    }
}
