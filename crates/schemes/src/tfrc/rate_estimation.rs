//! Estimate of the rate that just saturates the MAC of a chain, by RE TFRC (Li, Agu, Claypool and Kinicki,
//! WPI-CS-TR-03-33, Fig. 17).

use multihop_core::{LinkEvent, Rate, Span, Time};
use multihop_link::{ContentionDelay, FirstHopRate, ServiceTimes};
use multihop_transport::{Equation, EquationPath, RateCeiling, TfrcReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Minimum of the samples within a sliding window of time.
#[derive(Clone, Debug)]
struct SlidingMinimum {
    length: Span,
    /// Samples that may become the minimum, with their times. Both values and times increase.
    candidates: VecDeque<(Time, f64)>,
}

/// Model of a chain of saturated stations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaturatedChain {
    /// Contention of the stations.
    pub model: ContentionDelay,
    /// Service times of data packets.
    pub data: ServiceTimes,
    /// Service times of feedback packets.
    pub feedback: ServiceTimes,
}

/// Current round-trip time, `r_cur`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurrentRtt {
    /// Sample of the latest report.
    #[default]
    Latest,
    /// Smoothed round-trip time, on which TFRC's own rate depends.
    Smoothed,
}

/// Function from the bit rate of stations to the model of their chain.
pub(crate) type ChainAt = Box<dyn Fn(Rate) -> SaturatedChain + Send>;

/// Path of radio hops, as a sender knows it.
pub(crate) struct RadioPath {
    /// Model of the path's chain, by bit rate.
    pub chain: ChainAt,
    /// Bit rate at which the flow's packets leave.
    pub in_use: FirstHopRate,
}

/// Ceiling of a TFRC sender at the receive rate, scaled to the round-trip time at which the path is just
/// saturated.
pub(crate) struct RateEstimation {
    /// Path of radio hops; none if the sender has no radio.
    path: Option<RadioPath>,
    /// Hops of the path, if configured.
    hops: Option<u16>,
    current: CurrentRtt,
    equation: Equation,
    least: SlidingMinimum,
}

impl SlidingMinimum {
    /// Adds a sample; returns the minimum of the samples within `length`.
    fn add(&mut self, now: Time, sample: f64) -> f64 {
        while self.candidates.back().is_some_and(|(_, other)| *other >= sample) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((now, sample));
        while self.candidates.front().is_some_and(|(came, _)| now.since(*came) > self.length) {
            self.candidates.pop_front();
        }
        self.candidates.front().map_or(sample, |(_, least)| *least)
    }
}

impl SaturatedChain {
    /// Returns the modelled round-trip time r(N) in seconds.
    fn round_trip(&self, hops: u32) -> f64 {
        self.model.round_trip(hops, &self.data, &self.feedback)
    }
}

impl RateEstimation {
    /// Creates the estimate for a path. `hops` are the configured hops; otherwise those that reports take.
    /// `window` is the time over which the minimum round-trip time is kept.
    pub(crate) fn new(
        path: Option<RadioPath>,
        hops: Option<u16>,
        current: CurrentRtt,
        equation: Equation,
        window: Span,
    ) -> RateEstimation {
        let least = SlidingMinimum { length: window, candidates: VecDeque::new() };
        RateEstimation { path, hops, current, equation, least }
    }

    /// Returns the round-trip time of saturation, `r_opt`: the larger of the modelled time and the minimum
    /// that was measured. (The path may carry more traffic than the model includes.)
    fn saturation_rtt(&mut self, report: &TfrcReport) -> f64 {
        let least = self.least.add(report.now, report.sample);
        let hops = u32::from(self.hops.unwrap_or(report.hops));
        let modelled = |path: &RadioPath| (path.chain)(path.in_use.rate()).round_trip(hops);
        self.path.as_ref().map_or(least, |path| modelled(path).max(least))
    }
}

impl RateCeiling for RateEstimation {
    fn on_report(&mut self, report: &TfrcReport) -> f64 {
        let saturation = self.saturation_rtt(report);
        if report.loss_event_rate <= 0.0 {
            return f64::INFINITY; // slow start is not limited
        }
        let at = |rtt| EquationPath::new(f64::from(report.packet_size), rtt);
        let loss_event_rate = self.equation.loss_event_rate(&at(saturation), report.receive_rate);
        let current = match self.current {
            CurrentRtt::Latest => report.sample,
            CurrentRtt::Smoothed => report.rtt,
        };
        self.equation.rate(&at(current), loss_event_rate)
    }

    fn observes_link(&self) -> bool {
        self.path.is_some()
    }

    fn on_link(&mut self, event: &LinkEvent) {
        if let Some(path) = &mut self.path {
            path.in_use.on_link(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sent;
    use multihop_core::FlowId;
    use multihop_link::SuccessProbability;

    const TIMES: ServiceTimes = ServiceTimes { success: 7.212e-3, collision: 0.403e-3 };
    const FEEDBACK: ServiceTimes = ServiceTimes { success: 1.532e-3, collision: 0.403e-3 };

    /// DSSS: r(7) is 234 ms.
    fn estimation(hops: Option<u16>) -> RateEstimation {
        let window = Span::from_ms(10_000);
        RateEstimation::new(Some(path(|_| chain())), hops, CurrentRtt::Smoothed, Equation::default(), window)
    }

    fn path(chain: impl Fn(Rate) -> SaturatedChain + Send + 'static) -> RadioPath {
        let in_use = FirstHopRate::new(FlowId(7), Rate::from_kbps(2_000));
        RadioPath { chain: Box::new(chain), in_use }
    }

    fn chain() -> SaturatedChain {
        let model = ContentionDelay {
            slot: Span::from_us(20),
            window: 32,
            stages: 5,
            success: SuccessProbability::FixedPoint,
            growing_windows: true,
        };
        SaturatedChain { model, data: TIMES, feedback: FEEDBACK }
    }

    fn report(at_s: f64, sample: f64, rtt: f64, receive_rate: f64) -> TfrcReport {
        TfrcReport {
            now: Time::ZERO + Span::from_seconds(at_s),
            rtt,
            sample,
            loss_event_rate: 0.01,
            receive_rate,
            hops: 7,
            packet_size: 1460,
            rate: 40_000.0,
            equation: 1e6,
        }
    }

    /// With a timeout of four round trips, the equation and its inverse cancel: R' = R `r_opt` / `r_cur`.
    #[test]
    fn the_rate_is_scaled_to_the_round_trip_time_of_saturation() {
        let mut estimation = estimation(None);
        let saturation = chain().round_trip(7);
        assert!((saturation - 0.2341).abs() < 1e-4, "{saturation}");
        let ceiling = estimation.on_report(&report(1.0, 0.1, 0.4, 37_500.0));
        assert!((ceiling / (37_500.0 * saturation / 0.4) - 1.0).abs() < 1e-9, "{ceiling}");
        // The rate may rise below the round-trip time of saturation.
        let above = estimation.on_report(&report(2.0, 0.1, 0.15, 37_500.0));
        assert!(above > 37_500.0 * 1.5, "{above}");
        // The latest sample is used in place of the smoothed round-trip time.
        estimation.current = CurrentRtt::Latest;
        let at_once = estimation.on_report(&report(3.0, 0.2, 0.4, 37_500.0));
        assert!((at_once / (37_500.0 * saturation / 0.2) - 1.0).abs() < 1e-9, "{at_once}");
    }

    #[test]
    fn the_measured_minimum_counts_above_the_modelled_time() {
        let mut estimation = estimation(Some(7));
        let share = |ceiling: f64| ceiling / 37_500.0;
        assert!((share(estimation.on_report(&report(1.0, 0.5, 0.5, 37_500.0))) - 1.0).abs() < 1e-9);
        assert!((share(estimation.on_report(&report(2.0, 0.3, 0.5, 37_500.0))) - 0.6).abs() < 1e-9);
        // The sample of 0.3 s is dropped after 10 s; the sample of 0.4 s is kept.
        assert!((share(estimation.on_report(&report(11.0, 0.4, 0.5, 37_500.0))) - 0.6).abs() < 1e-9);
        assert!((share(estimation.on_report(&report(12.5, 0.8, 0.5, 37_500.0))) - 0.8).abs() < 1e-9);
    }

    /// The model is evaluated again at the bit rate to the next hop, here one that takes half the time.
    #[test]
    fn the_model_uses_the_rate_in_use() {
        let window = Span::from_ms(10_000);
        let at = |rate: Rate| {
            let times = |times: ServiceTimes| ServiceTimes {
                success: times.success * 2e6 / rate.bps() as f64,
                ..times
            };
            SaturatedChain { data: times(TIMES), feedback: times(FEEDBACK), ..chain() }
        };
        let mut estimation =
            RateEstimation::new(Some(path(at)), None, CurrentRtt::Smoothed, Equation::default(), window);
        assert!(estimation.observes_link());
        let slow = estimation.saturation_rtt(&report(1.0, 0.01, 0.4, 1e4));
        assert!((slow - chain().round_trip(7)).abs() < 1e-12, "{slow}");
        estimation.on_link(&sent(FlowId(7), 4_000));
        let fast = estimation.saturation_rtt(&report(1.0, 0.01, 0.4, 1e4));
        assert!((fast - at(Rate::from_kbps(4_000)).round_trip(7)).abs() < 1e-12, "{fast}");
        assert!(fast < slow * 0.7, "{fast} {slow}");
    }

    #[test]
    fn without_a_radio_only_the_minimum_round_trip_counts() {
        let mut estimation = RateEstimation { path: None, ..estimation(None) };
        let ceiling = estimation.on_report(&report(1.0, 0.1, 0.4, 40_000.0));
        assert!((ceiling - 10_000.0).abs() < 1e-3, "{ceiling}");
    }

    #[test]
    fn before_the_first_loss_the_rate_is_not_limited() {
        let mut estimation = estimation(None);
        let quiet = TfrcReport { loss_event_rate: 0.0, ..report(1.0, 0.9, 0.9, 1.0) };
        assert_eq!(estimation.on_report(&quiet), f64::INFINITY);
        // Rates outside the range of the inverse have a ceiling too.
        assert!(estimation.on_report(&report(2.0, 0.9, 0.9, 0.0)) > 0.0);
        assert!(estimation.on_report(&report(2.0, 0.9, 0.9, 1e15)).is_finite());
    }
}
