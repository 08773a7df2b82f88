//! The rate that just saturates the MAC of a chain, as RE TFRC estimates it (Li, Agu, Claypool and Kinicki,
//! WPI-CS-TR-03-33, Fig. 17).

use multihop_core::{LinkEvent, Rate, Span, Time};
use multihop_link::{ContentionDelay, FirstHopRate, ServiceTimes};
use multihop_transport::{Equation, EquationPath, RateCeiling, TfrcReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The least of the samples of a time that passes.
#[derive(Clone, Debug)]
struct SlidingMinimum {
    length: Span,
    /// Those that are the least of what came with or after them, with when they came: both rise.
    candidates: VecDeque<(Time, f64)>,
}

/// A chain of saturated stations, as the model knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaturatedChain {
    /// How stations contend.
    pub model: ContentionDelay,
    /// How long packets of data take, and packets of feedback.
    pub data: ServiceTimes,
    pub feedback: ServiceTimes,
}

/// The present round-trip time, `r_cur`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurrentRtt {
    /// The sample of the report.
    #[default]
    Latest,
    /// The smoothed one, which TFRC's own rate is made of.
    Smoothed,
}

/// The chain whose stations send at a bit rate.
pub(crate) type ChainAt = Box<dyn Fn(Rate) -> SaturatedChain + Send>;

/// A path of radio hops, as a sender knows it.
pub(crate) struct RadioPath {
    pub chain: ChainAt,
    /// At which the flow's packets leave.
    pub in_use: FirstHopRate,
}

/// Holds a TFRC sender at the rate that data arrives at, scaled to the round-trip time that the path has when
/// it just saturates.
pub(crate) struct RateEstimation {
    /// None of a sender that knows no radio.
    path: Option<RadioPath>,
    /// Hops of the path, if configured.
    hops: Option<u16>,
    current: CurrentRtt,
    equation: Equation,
    least: SlidingMinimum,
}

impl SlidingMinimum {
    /// Takes a sample; returns the least of those that came since `length` ago.
    fn note(&mut self, now: Time, sample: f64) -> f64 {
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
    /// r(N) in seconds.
    fn round_trip(&self, hops: u32) -> f64 {
        self.model.round_trip(hops, &self.data, &self.feedback)
    }
}

impl RateEstimation {
    /// Of a path that is such a chain. Its hops are configured, or those that feedback takes; the least
    /// round-trip time is that of the last `window`.
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

    /// `r_opt`, the round-trip time of saturation: the modelled one, or the least that was measured,
    /// whichever is more. (There may be more traffic on the path than the model knows of.)
    fn saturation_rtt(&mut self, report: &TfrcReport) -> f64 {
        let least = self.least.note(report.now, report.sample);
        let hops = u32::from(self.hops.unwrap_or(report.hops));
        let modelled = |path: &RadioPath| (path.chain)(path.in_use.rate()).round_trip(hops);
        self.path.as_ref().map_or(least, |path| modelled(path).max(least))
    }
}

impl RateCeiling for RateEstimation {
    fn on_report(&mut self, report: &TfrcReport) -> f64 {
        let saturation = self.saturation_rtt(report);
        if report.loss_event_rate <= 0.0 {
            return f64::INFINITY; // slow start is as it was
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

    /// With a timeout of four round trips the equation and its inverse cancel: R' = R `r_opt` / `r_cur`.
    #[test]
    fn the_rate_is_scaled_to_the_round_trip_time_of_saturation() {
        let mut estimation = estimation(None);
        let saturation = chain().round_trip(7);
        assert!((saturation - 0.2341).abs() < 1e-4, "{saturation}");
        let ceiling = estimation.on_report(&report(1.0, 0.1, 0.4, 37_500.0));
        assert!((ceiling / (37_500.0 * saturation / 0.4) - 1.0).abs() < 1e-9, "{ceiling}");
        // What is below the round trip of saturation may rise.
        let above = estimation.on_report(&report(2.0, 0.1, 0.15, 37_500.0));
        assert!(above > 37_500.0 * 1.5, "{above}");
        // The latest sample in place of the smoothed round-trip time.
        estimation.current = CurrentRtt::Latest;
        let at_once = estimation.on_report(&report(3.0, 0.2, 0.4, 37_500.0));
        assert!((at_once / (37_500.0 * saturation / 0.2) - 1.0).abs() < 1e-9, "{at_once}");
    }

    #[test]
    fn a_path_that_was_never_faster_than_the_model_is_taken_as_it_is() {
        let mut estimation = estimation(Some(7));
        let share = |ceiling: f64| ceiling / 37_500.0;
        assert!((share(estimation.on_report(&report(1.0, 0.5, 0.5, 37_500.0))) - 1.0).abs() < 1e-9);
        assert!((share(estimation.on_report(&report(2.0, 0.3, 0.5, 37_500.0))) - 0.6).abs() < 1e-9);
        // The sample of 0.3 s is forgotten after 10 s, the one of 0.4 s is not.
        assert!((share(estimation.on_report(&report(11.0, 0.4, 0.5, 37_500.0))) - 0.6).abs() < 1e-9);
        assert!((share(estimation.on_report(&report(12.5, 0.8, 0.5, 37_500.0))) - 0.8).abs() < 1e-9);
    }

    /// The model is asked anew at the bit rate to the next hop: here one that takes half the time.
    #[test]
    fn the_chain_is_that_of_the_rate_in_use() {
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
    fn without_a_radio_the_least_round_trip_is_all_that_is_known() {
        let mut estimation = RateEstimation { path: None, ..estimation(None) };
        let ceiling = estimation.on_report(&report(1.0, 0.1, 0.4, 40_000.0));
        assert!((ceiling - 10_000.0).abs() < 1e-3, "{ceiling}");
    }

    #[test]
    fn before_the_first_loss_nobody_is_held() {
        let mut estimation = estimation(None);
        let quiet = TfrcReport { loss_event_rate: 0.0, ..report(1.0, 0.9, 0.9, 1.0) };
        assert_eq!(estimation.on_report(&quiet), f64::INFINITY);
        // Rates out of the range of the inverse have a ceiling all the same.
        assert!(estimation.on_report(&report(2.0, 0.9, 0.9, 0.0)) > 0.0);
        assert!(estimation.on_report(&report(2.0, 0.9, 0.9, 1e15)).is_finite());
    }
}
