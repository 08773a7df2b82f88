//! Averages of marks and of the queueing delay (section 4.2.1).

use super::VIRTUAL_RTT;

/// Weights of a new share of marks when it is above the average, and when below (`L4S_AVG_G_UP`,
/// `L4S_AVG_G_DOWN`).
const RISE: f64 = 1.0 / 8.0;
const FALL: f64 = 1.0 / 128.0;
/// Maximum time between updates of the share of marks in seconds.
const MARK_INTERVAL: f64 = 0.01;
/// Weight of a new queueing delay above the average (`QDELAY_AVG_G`).
const DELAY_WEIGHT: f64 = 1.0 / 4.0;

/// Average share of marked packets (`l4s_alpha`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkShare {
    value: f64,
    delivered: usize,
    marked: usize,
    last_update: f64,
}

impl MarkShare {
    /// Counts packets that arrived, and those of them that were marked.
    pub(super) fn add(&mut self, now: f64, rtt: f64, delivered: usize, marked: usize) {
        self.delivered += delivered;
        self.marked += marked;
        if self.delivered == 0 || now - self.last_update < rtt.min(MARK_INTERVAL) {
            return;
        }
        let share = self.marked as f64 / self.delivered as f64;
        self.value = if share >= self.value {
            RISE * share + (1.0 - RISE) * self.value
        } else {
            (1.0 - FALL) * self.value
        };
        (self.delivered, self.marked, self.last_update) = (0, 0, now);
    }

    /// Average share.
    pub(super) fn value(&self) -> f64 {
        self.value
    }
}

/// Average queueing delay in seconds, with a slow rise and a fast fall (`qdelay_avg`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelayAverage {
    value: f64,
    latest: f64,
    last_update: f64,
}

impl DelayAverage {
    /// Adds a queueing delay in seconds.
    pub(super) fn add(&mut self, now: f64, rtt: f64, queueing: f64) {
        self.latest = queueing;
        if now - self.last_update < rtt.min(VIRTUAL_RTT) {
            return;
        }
        self.value = if queueing < self.value {
            queueing
        } else {
            DELAY_WEIGHT * queueing + (1.0 - DELAY_WEIGHT) * self.value
        };
        self.last_update = now;
    }

    /// Average delay.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Latest delay.
    pub(super) fn latest(&self) -> f64 {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A half of marks: 1/16. In the next 5 ms nothing is updated. Then a quarter of 8, which is above: an
    /// eighth of that, plus 7/8 of the average. Then none: 127/128.
    #[test]
    fn the_share_of_marks_by_hand() {
        let mut share = MarkShare::default();
        share.add(1.0, 0.1, 4, 2);
        assert_eq!(share.value(), 0.0625);
        share.add(1.005, 0.1, 4, 0);
        assert_eq!(share.value(), 0.0625);
        share.add(1.01, 0.1, 4, 2);
        let second = 0.25 / 8.0 + 0.875 * 0.0625;
        assert_eq!(share.value(), second);
        share.add(1.02, 0.1, 0, 0);
        assert_eq!(share.value(), second, "no packet arrived");
        share.add(1.02, 0.1, 4, 0);
        assert_eq!(share.value(), second * 127.0 / 128.0);
        share.add(1.022, 0.001, 4, 4);
        assert!(share.value() > second, "a round trip of 1 ms is shorter than 10 ms");
    }

    /// 40 ms: 10 ms. 40 ms again: 17.5 ms. 12 ms: 12 ms at once. Updates are at least 25 ms apart.
    #[test]
    fn the_average_delay_by_hand() {
        let mut average = DelayAverage::default();
        for (now, queueing, expected) in
            [(1.0, 0.04, 0.01), (1.02, 0.04, 0.01), (1.026, 0.04, 0.017_5), (1.06, 0.012, 0.012)]
        {
            average.add(now, 0.1, queueing);
            assert!((average.value() - expected).abs() < 1e-12, "{now}: {}", average.value());
            assert_eq!(average.latest(), queueing);
        }
    }
}
