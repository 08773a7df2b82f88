//! Frame service delay, `T_FSD` (He et al. 2017, Eq. 6).

use crate::estimators::smoothed::Smoothed;
use crate::{Estimator, LinkView};
use multihop_config::parameters;
use multihop_core::{Fate, LinkEvent, Time};

parameters! {
    ($)
    /// Options of [`ServiceDelay`].
    #[derive(Clone, Copy, Debug, PartialEq)]
    ServiceDelayOptions, listed by service_delay_options:
    /// Weight of a new frame: above 0, up to 1, which uses the last one alone.
    smoothing: f64 [above 0, 1] = 1.0 / 8.0;
}

/// Estimates the service time of frames in the MAC, from the head of the line to the acknowledgement, in
/// seconds, as an exponentially weighted mean. Frames given up, and broadcasts, do not count.
#[derive(Clone, Debug)]
pub struct ServiceDelay {
    smoothed: Smoothed,
}

impl ServiceDelay {
    /// Creates an estimator for a node that has sent nothing yet; `gain` is the weight of a new frame, in (0,
    /// 1].
    pub fn new(gain: f64) -> ServiceDelay {
        ServiceDelay { smoothed: Smoothed::new(gain) }
    }

    /// Mean service delay in seconds; none before the first acknowledged frame.
    pub fn seconds(&self) -> Option<f64> {
        self.smoothed.get()
    }
}

impl Estimator for ServiceDelay {
    fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Exchange(exchange) = event
            && exchange.fate == Fate::Acknowledged
        {
            self.smoothed.add(exchange.service_delay().seconds());
        }
    }

    fn senses_medium(&self) -> bool {
        false
    }

    fn write(&self, _now: Time, view: &mut LinkView) {
        view.service_delay_s = self.seconds();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::exchange;

    #[test]
    fn frames_that_arrived_make_a_mean() {
        let mut estimator = ServiceDelay::new(1.0 / 8.0);
        let mut report = |start, end, fate| {
            estimator.on_link(&LinkEvent::Exchange(exchange(1000, start, end, fate)));
            estimator.seconds()
        };
        assert_eq!(report(0, 90_000, Fate::GivenUp), None);
        assert_eq!(report(0, 90_000, Fate::Broadcast), None);
        assert_eq!(report(1_000, 17_000, Fate::Acknowledged), Some(0.016));
        assert_eq!(report(20_000, 44_000, Fate::Acknowledged), Some(0.016 + (0.024 - 0.016) / 8.0));
    }
}
