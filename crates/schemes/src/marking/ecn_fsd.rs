//! ECN from the frame service delay: the second metric compared with RECN (He et al. 2017, section 2, after
//! Yue et al. 2008).

use crate::marking::{EcnTcp, Metric};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_link::{Departure, LinkView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP with ECN whose nodes mark a data frame with a long service delay.
pub type EcnFsd = EcnTcp<ServiceDelay>;

keys! {
    /// Service delay of a frame, `T_FSD` (He et al. 2017, Eq. 6), as predicted when its DATA leaves. It lasts
    /// from the head of the line to the end of the expected ACK.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct ServiceDelay {
        /// Service delay above which a frame is marked. Unlike RECN's, this threshold depends on the bit rate
        /// and on the length of frames. The default is for 1000 bytes at 1 Mb/s.
        pub threshold: Duration ["0 s", "1 h"] = Duration(0.03),
    }
}

impl Metric for ServiceDelay {
    const NAME: &str = "ecn-fsd";
    const SUMMARY: &str = "TCP NewReno with ECN, marked by nodes from the service delay of each frame";
    const REFERENCE: &str = "He et al. 2017, section 5.1; Yue et al. 2008; RFC 3168";

    fn value(&self, departure: &Departure, _view: &LinkView) -> Option<f64> {
        Some(departure.predicted_service_delay().seconds())
    }

    fn is_congested(&self, value: f64) -> bool {
        value > self.threshold.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{departure, marks_of};

    #[test]
    fn a_frame_is_marked_when_its_service_takes_more_than_30_ms() {
        let departures = [9_766, 29_999, 30_001].map(|service| departure(service, 0));
        assert_eq!(marks_of(&EcnFsd::default(), &departures), [false, false, true]);
        let strict =
            EcnFsd { metric: ServiceDelay { threshold: "15 ms".parse().unwrap() }, ..EcnFsd::default() };
        assert_eq!(marks_of(&strict, &departures), [false, true, true]);
    }
}
