//! Frame transmission efficiency, `R_FTE = T_SL / T_FSD` (He et al. 2017, Eqs. 2-6).

use crate::{Departure, Estimator, LinkView};
use multihop_core::{Exchange, LinkEvent, Time};

/// Estimates the share of a frame's service delay that its successful exchange needs.
///
/// 1 means an idle channel; contention lowers it. The smoothed value is an exponentially weighted mean with
/// gain 1/8.
#[derive(Clone, Debug, Default)]
pub struct TransmissionEfficiency {
    smoothed: Option<f64>,
}

impl TransmissionEfficiency {
    const GAIN: f64 = 1.0 / 8.0;

    /// Efficiency of the DATA frame that is about to be sent, if it is acknowledged at once: `T_SL` over
    /// [`Departure::predicted_service_delay`].
    pub fn predicted(departure: &Departure) -> f64 {
        departure.exchange.seconds() / departure.predicted_service_delay().seconds()
    }
}

impl Estimator for TransmissionEfficiency {
    fn on_link(&mut self, event: &LinkEvent) {
        let LinkEvent::Exchange(exchange) = event else { return };
        if let Some(sample) = Exchange::transmission_efficiency(exchange) {
            let old = self.smoothed.unwrap_or(sample);
            self.smoothed = Some(old + Self::GAIN * (sample - old));
        }
    }

    fn senses_medium(&self) -> bool {
        false
    }

    fn write(&self, _now: Time, view: &mut LinkView) {
        view.transmission_efficiency = self.smoothed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{Fate, FlowId, NodeId, Rate, Span};

    fn exchange(service_us: u64, fate: Fate) -> LinkEvent {
        LinkEvent::Exchange(Exchange {
            node: NodeId(0),
            peer: NodeId(1),
            flow: FlowId(0),
            size: 1000,
            rate: Rate::from_kbps(1_000),
            payload: 960,
            enqueued: Time::ZERO,
            head_of_line: Time::ZERO,
            done: Time::ZERO + Span::from_us(service_us),
            fate,
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 1,
            slots: 0,
            airtime: Span::from_us(9_406),
            mpdus: 1,
        })
    }

    #[test]
    fn the_estimate_starts_at_the_first_sample_and_ignores_frames_given_up() {
        let mut estimator = TransmissionEfficiency::default();
        let mut view = LinkView::default();
        estimator.on_link(&exchange(50_000, Fate::GivenUp));
        estimator.write(Time::ZERO, &mut view);
        assert_eq!(view.transmission_efficiency, None);
        estimator.on_link(&exchange(18_812, Fate::Acknowledged));
        estimator.write(Time::ZERO, &mut view);
        assert_eq!(view.transmission_efficiency, Some(0.5));
        estimator.on_link(&exchange(9_406, Fate::Acknowledged));
        estimator.write(Time::ZERO, &mut view);
        assert_eq!(view.transmission_efficiency, Some(0.5 + 0.5 / 8.0));
    }

    /// With 1 Mb/s, RTS 352 + CTS 304 + DATA 8416 + ACK 304 + 3 SIFS = 9406 us: the threshold 0.6 is crossed
    /// at 15.68 ms.
    #[test]
    fn the_prediction_crosses_0_6_at_15_68_ms() {
        let departure = |service_us: u64| Departure {
            now: Time::ZERO,
            service_so_far: Span::from_us(service_us),
            data: Span::from_us(8_416),
            ack: Span::from_us(304),
            sifs: Span::from_us(10),
            propagation: Span::ZERO,
            exchange: Span::from_us(9_406),
            access: Span::from_us(360),
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 0,
        };
        let rest = 8_416 + 304 + 10;
        assert!(TransmissionEfficiency::predicted(&departure(15_676 - rest)) > 0.6);
        assert!(TransmissionEfficiency::predicted(&departure(15_678 - rest)) < 0.6);
    }
}
