//! Google congestion control (draft-ietf-rmcat-gcc-02), with both controllers at the sender.
//!
//! * Delay: groups of packets (`groups`), their delay variation through a Kalman filter (`filter`), a
//!   detector with an adaptive threshold (`detector`), and increase, hold and decrease of the rate
//!   (`delay_rate`).
//! * Loss: `loss_rate`. The target is the lower rate of the two.

mod delay_rate;
mod detector;
mod filter;
mod groups;
mod loss_rate;

use crate::media::{ArrivalRate, MediaControl, MediaFeedback};
use delay_rate::{DelayRate, Measured};
use detector::{Detector, Usage};
use filter::VariationFilter;
use groups::PacketGroups;
use loss_rate::LossRate;
use multihop_core::{Span, Time};

/// Options of a controller. Rates are in payload bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GccOptions {
    /// Rate at the start.
    pub start_rate: f64,
    /// Minimum rate.
    pub min_rate: f64,
    /// Maximum rate.
    pub max_rate: f64,
    /// Time within which packets leave as a group (`burst_time`).
    pub burst: Span,
    /// Minimum time between updates of the rate, except after over-use.
    pub interval: Span,
    /// Ratio of the pace to the target while an encoder follows the target.
    pub pacing_factor: f64,
}

/// Window in seconds in which the receiving rate is measured (`T`).
const RATE_WINDOW: f64 = 0.5;

/// Controller of Google congestion control.
#[derive(Clone, Debug)]
pub struct Gcc {
    options: GccOptions,
    arrivals: ArrivalRate,
    groups: PacketGroups,
    filter: VariationFilter,
    detector: Detector,
    delay_rate: DelayRate,
    loss_rate: LossRate,
    last_update: Option<Time>,
}

impl Gcc {
    /// Creates a controller at its start rate.
    pub fn new(options: GccOptions) -> Gcc {
        Gcc {
            arrivals: ArrivalRate::new(RATE_WINDOW),
            groups: PacketGroups::new(options.burst.seconds()),
            filter: VariationFilter::default(),
            detector: Detector::default(),
            delay_rate: DelayRate::new(options.start_rate),
            loss_rate: LossRate::new(options.start_rate),
            last_update: None,
            options,
        }
    }

    /// Passes the packets of a report to the filter and the detector. Returns the usage of the path: over-use
    /// if any group showed it, else the usage by the last group; none without a new group.
    fn detect(&mut self, feedback: &MediaFeedback<'_>) -> Option<Usage> {
        let mut usage = None;
        for packet in feedback.packets {
            self.arrivals.add(packet);
            let Some(variation) = self.groups.add(packet) else { continue };
            let offset = self.filter.update(&variation);
            let found = self.detector.update(offset, variation.arrival);
            if usage != Some(Usage::Over) {
                usage = Some(found);
            }
        }
        usage
    }
}

impl MediaControl for Gcc {
    fn target_rate(&self) -> f64 {
        let GccOptions { min_rate, max_rate, .. } = self.options;
        self.delay_rate.rate().min(self.loss_rate.rate()).clamp(min_rate, max_rate)
    }

    fn pacing_rate(&self, _backlog: u64) -> f64 {
        self.options.pacing_factor * self.target_rate()
    }

    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let now = feedback.now;
        let usage = self.detect(feedback);
        let since = *self.last_update.get_or_insert(now);
        if now.since(since) >= self.options.interval || usage == Some(Usage::Over) {
            self.last_update = Some(now);
            let measured = Measured {
                receiving: self.arrivals.rate(),
                rtt: feedback.rtt.seconds(),
                elapsed: now.since(since).seconds(),
            };
            self.delay_rate.update(usage.unwrap_or(self.detector.usage()), &measured);
            self.delay_rate.limit(self.options.min_rate, self.options.max_rate);
        }
        self.loss_rate.on_report(now, feedback.packets);
        self.loss_rate.limit(self.options.min_rate, self.delay_rate.rate());
    }

    fn on_silence(&mut self, _now: Time) {
        let rate = (self.target_rate() / 2.0).max(self.options.min_rate);
        self.delay_rate = DelayRate::new(rate);
        self.loss_rate = LossRate::new(rate);
        self.last_update = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::testing::Path;

    fn options() -> GccOptions {
        GccOptions {
            start_rate: 1e5,
            min_rate: 1e4,
            max_rate: 1e6,
            burst: Span::from_ms(5),
            interval: Span::from_ms(100),
            pacing_factor: 2.5,
        }
    }

    /// Packets of 1000 bytes each 10 ms: 100 kB/s arrive.
    fn path() -> Path {
        Path::new(1_000, 0.01)
    }

    /// 8 % per second from 100 kB/s, as nothing limits the rate yet: ten updates of 100 ms.
    #[test]
    fn without_congestion_the_rate_grows_by_8_percent_per_second() {
        let (mut gcc, mut path) = (Gcc::new(options()), path());
        (0..11).for_each(|_| path.steady(&mut gcc, 0.02, 10));
        assert!((gcc.target_rate() / 108_000.0 - 1.0).abs() < 1e-9, "{}", gcc.target_rate());
        assert!((gcc.pacing_rate(0) / 270_000.0 - 1.0).abs() < 1e-9);
    }

    /// The path carries 80 of 100 kB/s: the delay grows by 2.5 ms with each packet of 10 ms. The rate falls
    /// to 0.85 of what arrives, which is 80 kB/s: 1000 bytes each 12.5 ms. The window has 40 of them.
    #[test]
    fn a_growing_delay_is_over_use() {
        let (mut gcc, mut path) = (Gcc::new(options()), path());
        (0..10).for_each(|_| path.steady(&mut gcc, 0.02, 10));
        let mut delay = 0.02;
        for _ in 0..60 {
            delay += 0.002_5;
            path.steady(&mut gcc, delay, 1);
        }
        let ratio = gcc.target_rate() / (0.85 * 80_000.0);
        assert!((0.97..1.06).contains(&ratio), "{ratio}");
    }

    /// After the queue has drained the rate grows again.
    #[test]
    fn the_rate_recovers_after_over_use() {
        let (mut gcc, mut path) = (Gcc::new(options()), path());
        (0..10).for_each(|_| path.steady(&mut gcc, 0.02, 10));
        for index in 0..60 {
            path.steady(&mut gcc, 0.02 + 0.002_5 * f64::from(index), 1);
        }
        let low = gcc.target_rate();
        assert!(low < 90_000.0, "{low}");
        for index in 0..70 {
            path.steady(&mut gcc, 0.16 - 0.002 * f64::from(index), 1);
        }
        (0..40).for_each(|_| path.steady(&mut gcc, 0.02, 10));
        assert!(gcc.target_rate() > 1.15 * low, "{}", gcc.target_rate());
    }

    #[test]
    fn heavy_losses_reduce_the_rate() {
        let (mut gcc, mut path) = (Gcc::new(options()), path());
        (0..5).for_each(|_| path.steady(&mut gcc, 0.02, 10));
        let before = gcc.target_rate();
        let half: Vec<_> = (0..40).map(|index| (index % 2 == 0).then_some((0.02, false))).collect();
        path.report(&mut gcc, &half);
        assert!((gcc.target_rate() / before - 0.75).abs() < 0.08, "{} of {before}", gcc.target_rate());
    }

    #[test]
    fn silence_halves_the_rate() {
        let mut gcc = Gcc::new(options());
        gcc.on_silence(Time::ZERO);
        assert_eq!(gcc.target_rate(), 5e4);
        (0..5).for_each(|_| gcc.on_silence(Time::ZERO));
        assert_eq!(gcc.target_rate(), 1e4);
    }
}
