//! RECN (He et al. 2017). Each node marks the packets that needed much time to transmit, and unmodified ECN
//! TCP backs off.

use crate::marking::{EcnTcp, Metric};
use multihop_config::keys;
use multihop_config::keys::usually_by;
use multihop_link::{Departure, EgressQueue, LinkView, TransmissionEfficiency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// RECN: TCP with ECN whose nodes mark a data frame with a low transmission efficiency, as predicted when its
/// DATA leaves.
pub type Recn = EcnTcp<FrameEfficiency>;

keys! {
    /// Frame transmission efficiency `R_FTE = T_SL / T_FSD` (He et al. 2017, Eq. 2): the share of the frame's
    /// service delay that its successful exchange needs.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct FrameEfficiency {
        /// Frame transmission efficiency below which a frame is marked, from 0 (never) to 1 (always).
        pub threshold: f64 [0, 1] = 0.6,
        /// Role of DIFS and the mean backoff of a first attempt, which every frame needs. With "contention"
        /// they lower the efficiency, as printed. With "exchange" they are part of the exchange, so that a
        /// frame without contention has efficiency 1. They take a twenty-fifth of an exchange at 1 Mb/s, and
        /// nearly half of a short one at hundreds of Mb/s.
        #[schemars(transform = usually_by(vec![
            ("over radios that send A-MPDUs", json!(Access::Exchange)),
            ("others", json!(Access::default())),
        ]))]
        pub access: Option<Access>,
    }
}

/// Role of the time that every frame needs to access the medium.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Part of the contention: lowers the efficiency, `T_SL / T_FSD`.
    #[default]
    Contention,
    /// Part of the successful exchange.
    Exchange,
}

impl Metric for FrameEfficiency {
    const NAME: &str = "recn";
    const SUMMARY: &str =
        "TCP NewReno with ECN, marked by nodes from the transmission efficiency of each frame";
    const REFERENCE: &str = "He et al. 2017; RFC 3168";

    fn at(&self, egress: &EgressQueue) -> FrameEfficiency {
        let fitting = if egress.aggregates { Access::Exchange } else { Access::default() };
        FrameEfficiency { access: self.access.or(Some(fitting)), ..self.clone() }
    }

    fn value(&self, departure: &Departure, _view: &LinkView) -> Option<f64> {
        let efficiency = TransmissionEfficiency::predicted(departure);
        Some(match self.access {
            Some(Access::Exchange) => {
                efficiency + departure.access.seconds() / departure.predicted_service_delay().seconds()
            }
            _ => efficiency,
        })
    }

    fn is_congested(&self, value: f64) -> bool {
        value < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;
    use crate::testing::{EGRESS, REST_US, departure, marks_of, packet};
    use multihop_core::{Ecn, NodeId, Span};
    use multihop_link::Verdict;

    /// DIFS and the mean backoff of a first attempt, 15.5 slots of 20 us, in microseconds.
    const ACCESS_US: u64 = 50 + 310;

    /// 9406 us of exchange over 0.6 is 15.68 ms.
    #[test]
    fn a_frame_is_marked_when_its_service_takes_more_than_15_68_ms() {
        let services = [15_676, 15_678].map(|service| departure(service, 0));
        assert_eq!(marks_of(&Recn::default(), &services), [false, true]);
    }

    /// Without RTS/CTS the exchange takes 8730 us and the limit is 14.55 ms. With 40 bytes more it takes 9726
    /// us and the limit is 16.21 ms.
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

    /// A frame of 100 us in 802.11ac. 101.5 us of DIFS and backoff give it an efficiency of one half without
    /// contention.
    #[test]
    fn access_to_an_idle_medium_is_no_contention_with_aggregation() {
        let us = Span::from_us;
        let short = |waited: u64| Departure {
            service_so_far: us(waited),
            data: us(52),
            ack: us(32),
            sifs: us(16),
            exchange: us(100),
            access: us(101),
            ..departure(20_000, 0)
        };
        let aggregating = EgressQueue { aggregates: true, ..EGRESS };
        let marks = |scheme: &Recn, egress: &EgressQueue| {
            let mut router = scheme.router(NodeId(0), egress).unwrap();
            // The limit is (100 + 101) / 0.6 = 335 us of service.
            [101, 234, 236].map(|waited| {
                let mut data = packet(1_000, Ecn::Ect0);
                router.on_data(&short(waited), &mut data, &LinkView::default()) == Verdict::Mark
            })
        };
        let given = |access| Recn {
            metric: FrameEfficiency { access: Some(access), ..FrameEfficiency::default() },
            ..Recn::default()
        };
        assert_eq!(marks(&Recn::default(), &EGRESS), [true; 3]);
        assert_eq!(marks(&Recn::default(), &aggregating), [false, false, true]);
        assert_eq!(marks(&given(Access::Contention), &aggregating), [true; 3]);
        assert_eq!(marks(&given(Access::Exchange), &EGRESS), [false, false, true]);
    }

    /// The additional time is an RTS of 352 us, a timeout of SIFS and CTS (314 us), DIFS, and 31.5 slots of
    /// backoff on average.
    #[test]
    fn one_unanswered_rts_is_no_congestion() {
        let retried = departure(ACCESS_US + 352 + 314 + 50 + 630 + 9_406, 1);
        assert!((TransmissionEfficiency::predicted(&retried) - 0.846).abs() < 5e-4);
        assert_eq!(marks_of(&Recn::default(), &[retried]), [false]);
    }
}
