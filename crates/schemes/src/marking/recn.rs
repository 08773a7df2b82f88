//! RECN (He et al. 2017): each node marks what it could hardly get onto the air, and unmodified ECN TCP backs off.

use crate::keys;
use crate::marking::{EcnTcp, Metric};
use multihop_link::{Departure, LinkView, TransmissionEfficiency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RECN: marks a data frame when its transmission efficiency, as predicted when its DATA leaves, is low.
pub type Recn = EcnTcp<FrameEfficiency>;

keys! {
    /// `R_FTE = T_SL / T_FSD`, the share of the frame's service delay that its successful exchange needs (He et al. 2017, Eq. 2).
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct FrameEfficiency {
        /// Frame transmission efficiency below which a frame is marked, from 0 (never) to 1 (always).
        pub threshold: f64 [0, 1] = 0.6,
    }
}

impl Metric for FrameEfficiency {
    const NAME: &str = "recn";
    const SUMMARY: &str =
        "TCP NewReno with ECN, marked by nodes from the transmission efficiency of each frame";
    const REFERENCE: &str = "He et al. 2017; RFC 3168";

    fn value(&self, departure: &Departure, _view: &LinkView) -> Option<f64> {
        Some(TransmissionEfficiency::predicted(departure))
    }

    fn congested(&self, value: f64) -> bool {
        value < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REST_US, departure, marks_of};
    use multihop_core::Span;

    /// DIFS and the mean back-off of a first try, 15.5 slots of 20 us.
    const ACCESS_US: u64 = 50 + 310;

    /// 9406 us of exchange over 0.6 are 15.68 ms.
    #[test]
    fn a_frame_is_marked_when_its_service_takes_more_than_15_68_ms() {
        let services = [15_676, 15_678].map(|service| departure(service, 0));
        assert_eq!(marks_of(&Recn::default(), &services), [false, true]);
    }

    /// Without RTS/CTS the exchange takes 8730 us, so the limit is 14.55 ms; with 40 bytes more, 9726 us and 16.21 ms.
    #[test]
    fn the_limit_follows_the_length_of_the_exchange() {
        let basic = |service| Departure { exchange: Span::from_us(REST_US), ..departure(service, 0) };
        assert_eq!(basic(20_000).exchange, Span::from_us(8_730));
        assert_eq!(marks_of(&Recn::default(), &[basic(14_549), basic(14_551)]), [false, true]);
        let longer = |service: u64| {
            let shorter = departure(service - 320, 0);
            let (data, exchange) = (shorter.data + Span::from_us(320), shorter.exchange + Span::from_us(320));
            Departure { data, exchange, ..shorter }
        };
        assert_eq!(longer(20_000).exchange, Span::from_us(9_726));
        assert_eq!(marks_of(&Recn::default(), &[longer(16_209), longer(16_211)]), [false, true]);
    }

    #[test]
    fn a_frame_without_contention_is_not_marked() {
        let idle = departure(ACCESS_US + 9_406, 0);
        assert!((TransmissionEfficiency::predicted(&idle) - 0.963).abs() < 5e-4);
        assert_eq!(marks_of(&Recn::default(), &[idle]), [false]);
    }

    /// An RTS of 352 us, SIFS and CTS of 314 us waited for, DIFS, and 31.5 slots on average of the doubled window.
    #[test]
    fn one_unanswered_rts_is_no_congestion() {
        let retried = departure(ACCESS_US + 352 + 314 + 50 + 630 + 9_406, 1);
        assert!((TransmissionEfficiency::predicted(&retried) - 0.846).abs() < 5e-4);
        assert_eq!(marks_of(&Recn::default(), &[retried]), [false]);
    }
}
