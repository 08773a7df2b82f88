//! Rate by delay: increase, hold and decrease (draft-ietf-rmcat-gcc-02, section 5.5).

use super::detector::Usage;

/// State of the rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Increase,
    Hold,
    Decrease,
}

/// Measurements for an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Rate at which payload arrives in bytes per second (`R_hat`); none before it is known.
    pub(super) receiving: Option<f64>,
    /// Round-trip time in seconds.
    pub(super) rtt: f64,
    /// Time since the last update in seconds.
    pub(super) elapsed: f64,
}

/// Rate by which the estimate grows per second far from convergence.
const GROWTH: f64 = 1.08;
/// Ratio of the estimate to the receiving rate that growth does not exceed.
const MAX_LEAD: f64 = 1.5;
/// Ratio of the estimate to the receiving rate after over-use (`beta`).
const BETA: f64 = 0.85;
/// Time in seconds of detector and estimator in the response time.
const DETECTION: f64 = 0.1;
/// Minimum additive increase in bytes: 1000 bits.
const MIN_STEP: f64 = 125.0;
/// Frame rate and packet size in bytes from which the expected size of a packet follows.
const FRAME_RATE: f64 = 30.0;
const PACKET: f64 = 1_200.0;
/// Smoothing factor of the receiving rate at decreases.
const SMOOTHING: f64 = 0.95;
/// Number of standard deviations around that rate that are close to convergence.
const DEVIATIONS: f64 = 3.0;
/// Initial and minimum variance over the mean in kbit/s, and its maximum, as in libwebrtc. The draft leaves
/// the variance after the first decrease open.
const MIN_VARIANCE: f64 = 0.4;
const MAX_VARIANCE: f64 = 2.5;

/// Mean and variance of the receiving rates at decreases, in kbit/s.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    mean: f64,
    /// Variance divided by the mean.
    variance: f64,
}

/// Rate by delay (`A_hat`).
#[derive(Clone, Debug)]
pub(super) struct DelayRate {
    rate: f64,
    state: State,
    capacity: Option<Capacity>,
}

impl Capacity {
    fn deviation(&self) -> f64 {
        (self.variance * self.mean).sqrt()
    }
}

fn kbps(rate: f64) -> f64 {
    rate * 8e-3
}

impl DelayRate {
    /// Creates a rate that increases from this value in bytes per second.
    pub(super) fn new(rate: f64) -> DelayRate {
        DelayRate { rate, state: State::Increase, capacity: None }
    }

    /// Rate in bytes per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Keeps the rate in a range.
    pub(super) fn limit(&mut self, least: f64, most: f64) {
        self.rate = self.rate.clamp(least, most);
    }

    /// Changes the state by the usage of the path, and updates the rate.
    pub(super) fn update(&mut self, usage: Usage, measured: &Measured) {
        let before = self.state;
        self.state = match (usage, before) {
            (Usage::Over, _) => State::Decrease,
            (Usage::Normal, State::Hold) => State::Increase,
            (Usage::Normal | Usage::Under, State::Decrease) | (Usage::Under, State::Increase) => State::Hold,
            (_, state) => state,
        };
        match self.state {
            State::Increase => self.increase(measured),
            State::Hold => {}
            State::Decrease => self.decrease(measured.receiving, before != State::Decrease),
        }
    }

    fn increase(&mut self, measured: &Measured) {
        let grown = if self.is_near_capacity(measured.receiving) {
            self.rate + self.step(measured)
        } else {
            self.rate * GROWTH.powf(measured.elapsed.min(1.0))
        };
        let most = measured.receiving.map_or(f64::INFINITY, |receiving| MAX_LEAD * receiving);
        self.rate = grown.min(most.max(self.rate));
    }

    /// Whether the receiving rate is close to that at earlier decreases. A rate above forgets these.
    fn is_near_capacity(&mut self, receiving: Option<f64>) -> bool {
        let (Some(capacity), Some(receiving)) = (self.capacity, receiving) else { return false };
        let above = kbps(receiving) - capacity.mean;
        let near = DEVIATIONS * capacity.deviation();
        if above > near {
            self.capacity = None;
        }
        above.abs() <= near
    }

    /// Additive increase: half a packet per response time.
    fn step(&self, measured: &Measured) -> f64 {
        let share = 0.5 * (measured.elapsed / (DETECTION + measured.rtt)).min(1.0);
        let frame = self.rate / FRAME_RATE;
        let packet = frame / (frame / PACKET).ceil().max(1.0);
        (share * packet).max(MIN_STEP)
    }

    fn decrease(&mut self, receiving: Option<f64>, is_first: bool) {
        let base = receiving.unwrap_or(self.rate);
        self.rate = self.rate.min(BETA * base);
        let (Some(receiving), true) = (receiving.map(kbps), is_first) else { return };
        let capacity = self.capacity.get_or_insert(Capacity { mean: receiving, variance: MIN_VARIANCE });
        if receiving < capacity.mean - DEVIATIONS * capacity.deviation() {
            *capacity = Capacity { mean: receiving, variance: MIN_VARIANCE };
        }
        capacity.mean = SMOOTHING * capacity.mean + (1.0 - SMOOTHING) * receiving;
        let error = capacity.mean - receiving;
        let variance =
            SMOOTHING * capacity.variance + (1.0 - SMOOTHING) * error * error / capacity.mean.max(1.0);
        capacity.variance = variance.clamp(MIN_VARIANCE, MAX_VARIANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(receiving: f64, elapsed: f64) -> Measured {
        Measured { receiving: Some(receiving), rtt: 0.1, elapsed }
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    /// Each signal in each state, by the draft's table.
    #[test]
    fn states_by_the_table() {
        use State::{Decrease, Hold, Increase};
        for (usage, expected) in [
            (Usage::Over, [Decrease, Decrease, Decrease]),
            (Usage::Normal, [Increase, Increase, Hold]),
            (Usage::Under, [Hold, Hold, Hold]),
        ] {
            for (before, after) in [Hold, Increase, Decrease].into_iter().zip(expected) {
                let mut rate = DelayRate { state: before, ..DelayRate::new(1e5) };
                rate.update(usage, &measured(1e5, 0.1));
                assert_eq!(rate.state, after, "{usage:?} in {before:?}");
            }
        }
    }

    /// 1.08^0.5 in half a second, 1.08 in two; at most 1.5 times what arrives, but never less than before.
    #[test]
    fn multiplicative_increase_by_hand() {
        let mut rate = DelayRate::new(1e5);
        rate.update(Usage::Normal, &measured(1e5, 0.5));
        assert_close(rate.rate(), 1e5 * 1.08f64.sqrt());
        rate.update(Usage::Normal, &measured(1e5, 2.0));
        assert_close(rate.rate(), 1e5 * 1.08f64.powf(1.5));
        rate.update(Usage::Normal, &measured(7.5e4, 1.0));
        assert_close(rate.rate(), 1.125e5);
        rate.update(Usage::Normal, &measured(1e4, 1.0));
        assert_close(rate.rate(), 1.125e5);
    }

    /// 100 kB/s arrive at over-use: 85 kB/s. After it, 99 kB/s is within three deviations of 800 kb/s, of
    /// which one is the root of 0.4 times 800, 17.9 kb/s. A frame has 85000 / 30 = 2833 bytes, which are 3
    /// packets of 944. Half of one per response time of 200 ms: in 200 ms 472 bytes, and in 20 ms the minimum
    /// of 125.
    #[test]
    fn additive_increase_by_hand() {
        let mut rate = DelayRate::new(1.2e5);
        rate.update(Usage::Over, &measured(1e5, 0.1));
        assert_close(rate.rate(), 8.5e4);
        rate.update(Usage::Normal, &measured(9.9e4, 0.1));
        assert_close(rate.rate(), 8.5e4); // hold
        rate.update(Usage::Normal, &measured(9.9e4, 0.2));
        let after = 8.5e4 + 0.5 * 8.5e4 / 30.0 / 3.0;
        assert_close(rate.rate(), after);
        rate.update(Usage::Normal, &measured(9.9e4, 0.02));
        assert_close(rate.rate(), after + 125.0);
        // 108 kB/s are 864 kb/s, more than 53.7 above 800: the level is forgotten.
        rate.update(Usage::Normal, &measured(1.08e5, 1.0));
        assert_close(rate.rate(), (after + 125.0) * 1.08);
        rate.update(Usage::Normal, &measured(1e5, 1.0));
        assert_close(rate.rate(), (after + 125.0) * 1.08 * 1.08);
    }

    /// Lasting over-use follows what arrives, and never raises the rate.
    #[test]
    fn lasting_over_use_follows_the_receiving_rate() {
        let mut rate = DelayRate::new(1.2e5);
        for (receiving, expected) in [(1e5, 8.5e4), (8e4, 6.8e4), (1e5, 6.8e4)] {
            rate.update(Usage::Over, &measured(receiving, 0.1));
            assert_close(rate.rate(), expected);
        }
        let unknown = Measured { receiving: None, rtt: 0.1, elapsed: 0.1 };
        rate.update(Usage::Over, &unknown);
        assert_close(rate.rate(), 0.85 * 6.8e4);
    }
}
