//! Vegas (Brakmo and Peterson 1995): the window keeps a few segments queued on the path, estimated from the
//! excess of the round-trip time over its minimum.

use crate::{
    AckInfo, Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, RenoOptions, SentSegment,
};
use multihop_core::{Span, Time};

/// Estimate of the number of queued segments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BacklogEstimate {
    /// `window (1 - base / rtt)`: the expected rate is the window over the minimum round-trip time, the
    /// actual rate the window over the present one.
    #[default]
    Window,
    /// ns-2: expected is the data in flight after the acknowledgement, one segment less; actual is the data
    /// sent during the round trip; their difference is rounded to whole segments. A round trip with one
    /// segment resets the base. The round trip of the SYN, shorter than that of a full segment, counts as a
    /// sample.
    Transit,
}

/// Options of [`Vegas`].
#[derive(Clone, Debug, PartialEq)]
pub struct VegasOptions {
    /// Initial window and limits.
    pub reno: RenoOptions,
    /// Number of queued segments below which the window grows by one per round trip.
    pub alpha: f64,
    /// Number of queued segments above which the window shrinks by one.
    pub beta: f64,
    /// Number of queued segments above which slow start ends.
    pub gamma: f64,
    /// Estimate of the number of queued segments.
    pub backlog: BacklogEstimate,
    /// Fine-grained timeout, after which one duplicate acknowledgement suffices: smoothed round-trip time
    /// plus this many mean deviations. None: wait for the threshold of duplicates.
    pub fine_grained_rto: Option<f64>,
    /// Window after a timeout, in segments. RFC 5681: 1; ns-2: 2.
    pub restart: u32,
}

impl VegasOptions {
    /// Thresholds of 1, 3 and 1 segments, and the timeout of RFC 6298 without its minimum as fine-grained
    /// timeout.
    pub fn rfc(reno: RenoOptions) -> VegasOptions {
        let (alpha, beta, gamma) = (1.0, 3.0, 1.0);
        VegasOptions {
            reno,
            alpha,
            beta,
            gamma,
            backlog: BacklogEstimate::Window,
            fine_grained_rto: Some(4.0),
            restart: 1,
        }
    }

    /// Options of ns-2.35.
    pub fn ns2(reno: RenoOptions) -> VegasOptions {
        VegasOptions {
            backlog: BacklogEstimate::Transit,
            fine_grained_rto: Some(2.0),
            restart: 2,
            ..VegasOptions::rfc(reno)
        }
    }
}

/// Effect of acknowledgements on the window until the end of the round trip.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum WindowGrowth {
    Hold,
    SlowStart,
    Avoidance,
}

/// Present round trip, which ends with the acknowledgement of the first segment sent in it.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Number of bytes in flight at its start.
    outstanding: u64,
    /// Number of bytes acknowledged since.
    acknowledged: u64,
    /// Number of bytes sent since.
    sent: u64,
    /// Number of round-trip samples, and their sum in seconds.
    samples: u32,
    sum: f64,
}

/// The Vegas controller.
#[derive(Clone, Debug)]
pub struct Vegas {
    options: VegasOptions,
    reno: Reno,
    /// Round-trip times in seconds: the minimum, and the smoothed one with its mean deviation, over every
    /// segment.
    base: Option<f64>,
    smoothed: Option<(f64, f64)>,
    round: Round,
    growth: WindowGrowth,
}

impl Vegas {
    /// A controller with its initial window.
    pub fn new(options: VegasOptions) -> Vegas {
        let reno = Reno::new(options.reno.clone());
        Vegas {
            options,
            reno,
            base: None,
            smoothed: None,
            round: Round::default(),
            growth: WindowGrowth::Hold,
        }
    }

    fn min_window(&self) -> f64 {
        2.0 * self.reno.segment
    }

    fn add_sample(&mut self, rtt: f64) {
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2.0),
            Some((mean, deviation)) => {
                (mean + (rtt - mean) / 8.0, deviation + ((rtt - mean).abs() - deviation) / 4.0)
            }
        });
        self.round.samples += 1;
        self.round.sum += rtt;
    }

    /// Number of segments queued on the path, estimated over the round trip that has ended.
    fn queued(&mut self, acked: &Acked, rtt: f64) -> Option<f64> {
        let sent = self.round.sent as f64 / self.reno.segment;
        if self.options.backlog == BacklogEstimate::Transit && sent <= 1.0 {
            self.base = Some(rtt);
        }
        let base = self.base?;
        Some(match self.options.backlog {
            BacklogEstimate::Window => self.reno.window / self.reno.segment * (1.0 - base / rtt),
            BacklogEstimate::Transit => {
                (acked.in_flight as f64 / self.reno.segment - sent * base / rtt + 0.5).trunc()
            }
        })
    }

    /// Chooses the growth of the window, once per round trip.
    fn choose_growth(&mut self, acked: &Acked) {
        if self.round.samples == 0 || acked.app_limited {
            self.growth = WindowGrowth::Hold;
            return;
        }
        let rtt = self.round.sum / f64::from(self.round.samples);
        let Some(queued) = self.queued(acked, rtt) else { return };
        if self.reno.window < self.reno.threshold {
            // The window stays every other round trip, so that the comparison is valid.
            self.growth = if self.growth == WindowGrowth::SlowStart {
                WindowGrowth::Hold
            } else if queued > self.options.gamma {
                self.reno.threshold = self.min_window();
                self.reno.window = (self.reno.window * 7.0 / 8.0).max(self.min_window());
                WindowGrowth::Hold
            } else {
                WindowGrowth::SlowStart
            };
        } else if queued > self.options.beta {
            self.reno.window = (self.reno.window - self.reno.segment).max(self.min_window());
            self.growth = WindowGrowth::Hold;
        } else if queued < self.options.alpha {
            self.growth = WindowGrowth::Avoidance;
        } else {
            self.growth = WindowGrowth::Hold;
        }
        self.reno.window = self.reno.window.min(self.options.reno.max_window as f64);
    }
}

impl Controller for Vegas {
    fn allowance(&self) -> Allowance {
        self.reno.allowance()
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    fn fine_grained_rto(&self) -> Option<Span> {
        let (mean, deviation) = self.smoothed?;
        self.options.fine_grained_rto.map(|times| Span::from_seconds(mean + times * deviation))
    }

    fn on_opened(&mut self, rtt: Span) {
        // A SYN is short, so that its round trip is shorter than that of a full segment.
        if self.options.backlog == BacklogEstimate::Transit {
            self.add_sample(rtt.seconds());
        }
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.round.sent += sent.size;
    }

    fn on_ack(&mut self, ack: &AckInfo) {
        self.round.acknowledged += ack.advance.unwrap_or(0);
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.add_sample(rtt.seconds());
        }
        if self.round.acknowledged > self.round.outstanding {
            self.choose_growth(acked);
            self.round = Round { outstanding: acked.in_flight, ..Round::default() };
        }
        let starting = self.reno.window < self.reno.threshold;
        match self.growth {
            WindowGrowth::SlowStart if starting => self.reno.on_acked(acked),
            WindowGrowth::Avoidance if !starting => self.reno.on_acked(acked),
            WindowGrowth::Hold | WindowGrowth::SlowStart | WindowGrowth::Avoidance => {}
        }
    }

    /// Reduces the window by a quarter, to at least two segments, followed by linear growth, as ns-2 does;
    /// the paper does not specify it.
    fn on_lost(&mut self, lost: &Lost) {
        self.growth = WindowGrowth::Hold;
        match lost.kind {
            LossKind::DuplicateAcks => {
                self.reno.remember(lost.kind);
                let segments = (self.reno.window / self.reno.segment).floor();
                let left = if segments <= 3.0 { 2.0 } else { segments - (segments / 4.0).floor() };
                self.reno.threshold = self.min_window();
                self.reno.window = left * self.reno.segment;
            }
            LossKind::Timeout { .. } => {
                self.reno.on_lost(lost);
                self.reno.window = f64::from(self.options.restart) * self.reno.segment;
            }
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
    }

    fn on_idle(&mut self, now: Time) {
        self.growth = WindowGrowth::Hold;
        self.reno.on_idle(now);
    }

    fn on_marked(&mut self, marked: &Marked) {
        self.growth = WindowGrowth::Hold;
        self.reno.on_marked(marked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn vegas(window: u32, threshold: u32) -> Vegas {
        let reno = RenoOptions {
            initial_window: Some(window),
            initial_threshold: Some(threshold),
            ..RenoOptions::rfc(MSS as u32, 64 * MSS)
        };
        Vegas::new(VegasOptions::rfc(reno))
    }

    fn segments(vegas: &Vegas) -> f64 {
        vegas.reno.window / vegas.reno.segment
    }

    /// A round trip: a window of segments is sent and acknowledged, each with the sample `rtt_ms`.
    fn round_trip(vegas: &mut Vegas, rtt_ms: f64) {
        let window = vegas.allowance().window / MSS;
        for _ in 0..window {
            let (now, rtt) = (Time::ZERO, Some(Span::from_seconds(rtt_ms / 1e3)));
            let in_flight = (window - 1) * MSS;
            vegas.on_ack(&AckInfo { now, advance: Some(MSS) });
            vegas.on_acked(&Acked { rtt, srtt: rtt, in_flight, ..Acked::in_order(now, MSS) });
            let (size, packet, in_flight) = (MSS, MSS + 40, window * MSS);
            vegas.on_sent(&SentSegment {
                now,
                size,
                packet,
                in_flight,
                retransmission: false,
                app_limited: false,
            });
        }
    }

    /// A window of 20, base 100 ms, and 125 ms: 4 segments are queued.
    #[test]
    fn four_queued_segments_are_too_many_for_a_beta_of_three_and_not_of_four() {
        for (beta, expected) in [(3.0, 19.0), (4.0, 20.0)] {
            let mut vegas = vegas(20, 2);
            vegas.options.beta = beta;
            vegas.base = Some(0.1);
            vegas.options.alpha = 0.0;
            round_trip(&mut vegas, 125.0);
            assert_eq!(segments(&vegas), expected);
        }
    }

    /// A path of 100 ms that serves a segment per 10 ms holds 10 segments; the rest is queued. The window
    /// settles with 1 to 3 segments queued, from below and from above, and follows changes of the path.
    #[test]
    fn the_window_keeps_one_to_three_segments_queued() {
        let settle = |vegas: &mut Vegas, service_ms: f64| {
            for _ in 0..120 {
                let rtt = f64::max(100.0, segments(vegas).floor() * service_ms);
                round_trip(vegas, rtt);
            }
            segments(vegas) - 100.0 / service_ms
        };
        for start in [3, 30] {
            let mut vegas = vegas(start, 2);
            vegas.base = Some(0.1);
            for service_ms in [10.0, 5.0, 20.0, 10.0] {
                let queued = settle(&mut vegas, service_ms);
                // The window grows by fractions, and only whole segments are queued.
                assert!((1.0..4.0).contains(&queued.floor()), "{start}: {queued} at {service_ms} ms");
            }
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_until_a_queue_forms() {
        let mut vegas = vegas(2, 64);
        let mut windows = Vec::new();
        for rtt in [100.0, 100.0, 100.0, 100.0, 100.0, 140.0, 140.0] {
            round_trip(&mut vegas, rtt);
            windows.push(segments(&vegas).round());
        }
        // The decision is made at the first acknowledgement of a round trip, so that a queue is noticed in
        // the next one.
        assert_eq!(windows, [4.0, 4.0, 8.0, 8.0, 16.0, 16.0, 14.0]);
        assert_eq!(vegas.slow_start_threshold(), Some(2 * MSS));
    }

    #[test]
    fn a_loss_costs_a_quarter_and_a_timeout_everything() {
        let mut vegas = vegas(16, 2);
        let lost = |kind| Lost { now: Time::ZERO, kind, in_flight: 16 * MSS };
        vegas.on_lost(&lost(LossKind::DuplicateAcks));
        assert_eq!(segments(&vegas), 12.0);
        vegas.reno.window = 3.0 * MSS as f64;
        vegas.on_lost(&lost(LossKind::DuplicateAcks));
        assert_eq!(segments(&vegas), 2.0);
        vegas.on_lost(&lost(LossKind::Timeout { again: false }));
        assert_eq!((segments(&vegas), vegas.slow_start_threshold()), (1.0, Some(8 * MSS)));
    }

    /// Two samples of 100 and 200 ms: mean 112.5, deviation 50 + (100 - 50) / 4 = 62.5 ms.
    #[test]
    fn fine_grained_rto_is_the_mean_and_four_deviations() {
        let mut vegas = vegas(4, 2);
        assert_eq!(vegas.fine_grained_rto(), None);
        vegas.add_sample(0.1);
        vegas.add_sample(0.2);
        assert_eq!(vegas.fine_grained_rto(), Some(Span::from_us(362_500)));
    }

    /// ns-2 counts one less: 20 sent, 19 in flight, 100 ms of 125: 19 - 16 = 3.
    #[test]
    fn ns2_counts_what_is_outstanding_after_the_acknowledgement() {
        let mut vegas = vegas(20, 2);
        vegas.options.backlog = BacklogEstimate::Transit;
        vegas.base = Some(0.1);
        vegas.round.sent = 20 * MSS;
        let acked = Acked {
            now: Time::ZERO,
            size: MSS,
            fresh: MSS,
            rtt: None,
            srtt: None,
            in_flight: 19 * MSS,
            app_limited: false,
            ecn_echo: false,
            hops: 1,
        };
        assert_eq!(vegas.queued(&acked, 0.125), Some(3.0));
    }

    /// RFC 5681, section 4.1, as in Reno: at most the initial window, and no growth before the first round
    /// trip.
    #[test]
    fn after_a_silence_the_window_is_the_first_one() {
        let mut vegas = vegas(10, 2);
        vegas.reno.window = 30.0 * MSS as f64;
        vegas.growth = WindowGrowth::Avoidance;
        vegas.on_idle(Time::ZERO);
        assert_eq!((segments(&vegas), vegas.growth), (10.0, WindowGrowth::Hold));
    }

    /// A round trip that is application-limited or has no sample does not change the window.
    #[test]
    fn without_a_sample_or_without_data_the_window_stays() {
        for (samples, app_limited, expected) in [
            (0, false, WindowGrowth::Hold),
            (1, true, WindowGrowth::Hold),
            (0, true, WindowGrowth::Hold),
            (1, false, WindowGrowth::Avoidance),
        ] {
            let mut vegas = vegas(20, 2);
            vegas.base = Some(0.1);
            vegas.growth = WindowGrowth::Avoidance;
            vegas.round = Round { samples, sum: 0.1 * f64::from(samples), ..Round::default() };
            let in_flight = 19 * MSS;
            vegas.choose_growth(&Acked { in_flight, app_limited, ..Acked::in_order(Time::ZERO, MSS) });
            assert_eq!((segments(&vegas), vegas.growth), (20.0, expected), "{samples} {app_limited}");
        }
    }

    /// At the threshold slow start is over: a round trip with too few queued segments adds a segment per
    /// window.
    #[test]
    fn at_the_threshold_the_window_grows_by_a_segment_per_window() {
        for (growth, threshold, expected) in [
            (WindowGrowth::Avoidance, 10, 10_100.0),
            (WindowGrowth::SlowStart, 10, 10_000.0),
            (WindowGrowth::SlowStart, 11, 11_000.0),
            (WindowGrowth::Avoidance, 11, 10_000.0),
            (WindowGrowth::Hold, 10, 10_000.0),
            (WindowGrowth::Hold, 11, 10_000.0),
        ] {
            let mut vegas = vegas(10, threshold);
            vegas.growth = growth;
            let (now, size, hops) = (Time::ZERO, MSS, 1);
            let (rtt, srtt, in_flight) = (None, None, 9 * MSS);
            vegas.on_acked(&Acked {
                now,
                size,
                fresh: size,
                rtt,
                srtt,
                in_flight,
                app_limited: false,
                ecn_echo: false,
                hops,
            });
            assert_eq!(vegas.reno.window, expected, "{growth:?} {threshold}");
        }
    }

    /// 20 segments with several queued: values equal to the thresholds change nothing. The base is 100 ms.
    #[test]
    fn what_is_queued_is_compared_with_alpha_beta_and_gamma() {
        for (threshold, rtt_ms, window, growth) in [
            (20, 100.0 / 0.95, 20.0, WindowGrowth::Hold), // alpha = 1
            (20, 105.0, 20.0, WindowGrowth::Avoidance),   // 0.95
            (20, 117.0, 20.0, WindowGrowth::Hold),        // 2.9
            (20, 118.0, 19.0, WindowGrowth::Hold),        // 3.05, above beta = 3
            (21, 105.0, 20.0, WindowGrowth::SlowStart),   // 0.95, below gamma = 1
            (21, 106.0, 17.5, WindowGrowth::Hold),        // 1.13: an eighth less
        ] {
            let mut vegas = vegas(20, threshold);
            vegas.options.alpha = 1.0 - 1e-9;
            vegas.base = Some(0.1);
            vegas.round = Round { samples: 2, sum: 2.0 * rtt_ms / 1e3, ..Round::default() };
            let acked = Acked { in_flight: 19 * MSS, ..Acked::in_order(Time::ZERO, MSS) };
            vegas.choose_growth(&acked);
            assert_eq!((segments(&vegas), vegas.growth), (window, growth), "{threshold} {rtt_ms}");
        }
    }

    /// ns-2: a round trip with one segment resets the base, one with two does not.
    #[test]
    fn ns2_takes_the_round_trip_of_one_segment_for_the_base() {
        for (sent, base) in [(1, 0.2), (2, 0.1)] {
            let mut vegas = vegas(4, 2);
            vegas.options.backlog = BacklogEstimate::Transit;
            (vegas.base, vegas.round.sent) = (Some(0.1), sent * MSS);
            let acked = Acked::in_order(Time::ZERO, MSS);
            vegas.queued(&acked, 0.2);
            assert_eq!(vegas.base, Some(base));
        }
    }
}
