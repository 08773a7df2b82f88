//! ECN from the channel busyness ratio: the third metric compared with RECN (He et al. 2017, section 2, after
//! Zhai, Chen and Fang 2007).

use crate::marking::{EcnTcp, Metric};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_link::{BusyRatio, Departure, Estimator, LinkView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP with ECN whose nodes mark all data while the channel busyness ratio is high.
pub type EcnBusy = EcnTcp<Busyness>;

keys! {
    /// Channel busyness ratio `R_b` (He et al. 2017, Eq. 1), measured as by Zhai, Chen and Fang. It is the
    /// share of recent time in which the station transmitted, received, sensed a signal or had its NAV set.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Busyness {
        /// Channel busyness ratio above which all frames are marked, from 0 to 1 (never).
        pub threshold: f64 [0, 1] = 0.75,
        /// Length of the window before a frame's departure over which the ratio is measured. The paper does
        /// not give it. The default is about ten exchanges of 1000 bytes at 1 Mb/s. (`window` is TCP's
        /// receive window.)
        pub busy_window: Duration ["1 ms", "1 min"] = Duration(0.1),
    }
}

impl Metric for Busyness {
    const NAME: &str = "ecn-busy";
    const SUMMARY: &str = "TCP NewReno with ECN, marked by nodes while the channel busyness ratio is high";
    const REFERENCE: &str = "He et al. 2017, section 5.1; Zhai, Chen and Fang 2007; RFC 3168";

    fn estimators(&self) -> Vec<Box<dyn Estimator>> {
        vec![Box::new(BusyRatio::new(self.busy_window.span()))]
    }

    fn value(&self, _departure: &Departure, view: &LinkView) -> Option<f64> {
        view.busy_ratio
    }

    fn is_congested(&self, value: f64) -> bool {
        value > self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;
    use crate::testing::{EGRESS, departure, marks, phy};
    use multihop_core::{Interval, LinkEvent, NodeId, Time};

    #[test]
    fn every_frame_is_marked_while_the_medium_is_busy_for_more_than_three_quarters() {
        let ratios = [None, Some(0.2), Some(0.75), Some(0.76), Some(1.0)];
        let departures =
            ratios.map(|busy_ratio| (departure(9_766, 0), LinkView { busy_ratio, ..LinkView::default() }));
        assert_eq!(marks(&EcnBusy::default(), &departures), [false, false, false, true, true]);
    }

    /// 80 of 100 ms are busy; of 160 ms, half.
    #[test]
    fn the_estimator_measures_over_the_window() {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        for (window, expected) in [("100 ms", 0.8), ("160 ms", 0.5)] {
            let metric = Busyness { busy_window: window.parse().unwrap(), ..Busyness::default() };
            let router = EcnBusy { metric, ..EcnBusy::default() }.router(NodeId(0), &EGRESS).unwrap();
            let mut view = LinkView::default();
            for mut estimator in router.estimators(&phy()) {
                estimator.on_link(&LinkEvent::BusyFrom(at(920)));
                estimator.on_link(&LinkEvent::Busy(Interval { start: at(920), end: at(1_000) }));
                estimator.write(at(1_000), &mut view);
            }
            assert!((view.busy_ratio.unwrap() - expected).abs() < 1e-12, "{view:?}");
        }
    }
}
