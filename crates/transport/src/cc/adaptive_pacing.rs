//! TCP-AP (`ElRakabawy`, Klemm and Lindemann 2005): segments are paced by the time that each needs to leave
//! the interference range of the next one, about four hops.

use crate::{Acked, Allowance, Controller, Lost, Marked, Recovered, Reno, RenoOptions, SentSegment};
use multihop_core::{Rate, Span, Time};
use std::collections::VecDeque;

/// Measure of the variation of the delay, relative to its mean.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Dispersion {
    /// Mean absolute deviation, as in the authors' program.
    #[default]
    MeanAbsolute,
    /// Standard deviation, which gives the coefficient of variation, as in the paper.
    Standard,
}

/// Delay on which the pace is based when the path is shorter than the interference range.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ShortPath {
    /// Delay of the whole path, which is one contention area: the paper.
    #[default]
    AllHops,
    /// Delay of one hop: the authors' program.
    OneHop,
}

/// Options of [`AdaptivePacing`].
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptivePacingOptions {
    /// Options of the window.
    pub reno: RenoOptions,
    /// Data rate of the links.
    pub rate: Rate,
    /// Number of bytes that TCP, IP, MAC and PHY add to a segment, and of an acknowledgement. The authors'
    /// program: 112.
    pub overhead: u32,
    /// Number of hops within which transmissions interfere. The paper: 4.
    pub interfering_hops: u16,
    /// Measure of the variation.
    pub dispersion: Dispersion,
    /// Delay of paths shorter than the interference range.
    pub short: ShortPath,
    /// Number of delays over which the variation is computed. The authors' program: 50.
    pub history: usize,
    /// Interval before the first delay sample. The authors' program: 50 ms.
    pub initial_interval: Span,
}

impl AdaptivePacingOptions {
    /// The constants of the authors' program, with links of 2 Mb/s.
    pub fn published(reno: RenoOptions) -> AdaptivePacingOptions {
        AdaptivePacingOptions {
            reno,
            rate: Rate::from_kbps(2_000),
            overhead: 112,
            interfering_hops: 4,
            dispersion: Dispersion::default(),
            short: ShortPath::default(),
            history: 50,
            initial_interval: Span::from_ms(50),
        }
    }
}

/// Delay in seconds above which a sample is an outlier.
const DELAY_BOUND: f64 = 0.5;
/// Weights of past values in the means of the delay and of the queueing delay.
const DELAY_MEMORY: f64 = 0.7;
const QUEUEING_MEMORY: f64 = 0.5;

/// Reno's window with a pace that is computed from round-trip times and hops.
///
/// Pacing is off from a loss until new data is acknowledged and recovery has ended.
#[derive(Clone, Debug)]
pub struct AdaptivePacing {
    options: AdaptivePacingOptions,
    reno: Reno,
    is_paced: bool,
    /// Mean queueing delay per hop, in seconds.
    queueing: f64,
    /// Mean of the delays over the interfering hops, in seconds, and the latest delays.
    delay: Option<f64>,
    delays: VecDeque<f64>,
    /// Size in bytes of the last packet; the pace makes it last one interval.
    packet: u64,
}

impl AdaptivePacing {
    /// A controller with its initial window.
    pub fn new(options: AdaptivePacingOptions) -> AdaptivePacing {
        AdaptivePacing {
            reno: Reno::new(options.reno.clone()),
            delays: VecDeque::with_capacity(options.history),
            packet: u64::from(options.reno.segment_size),
            options,
            is_paced: true,
            queueing: 0.0,
            delay: None,
        }
    }

    /// Interval between segments in seconds: `(1 + 2 cov) mean delay`.
    pub fn interval(&self) -> f64 {
        let initial = self.options.initial_interval.seconds();
        self.delay.map_or(initial, |delay| (1.0 + 2.0 * self.variation()) * delay)
    }

    /// Delay over the interfering hops in seconds, from a round trip over `hops` hops each way. The queueing
    /// delay is negative if links are faster than configured; the delay never is.
    fn interfering_delay(&mut self, rtt: Span, hops: u16) -> f64 {
        let airtime = |bytes: u32| f64::from(bytes) * 8.0 / self.options.rate.bps() as f64;
        let data = airtime(self.options.reno.segment_size + self.options.overhead);
        let acknowledgement = airtime(self.options.overhead);
        let mut queueing = 0.5 * (rtt.seconds() / f64::from(hops) - (data + acknowledgement));
        if queueing > DELAY_BOUND {
            queueing = self.queueing;
        }
        self.queueing = QUEUEING_MEMORY * self.queueing + (1.0 - QUEUEING_MEMORY) * queueing;
        let near = self.options.interfering_hops;
        let counted = match self.options.short {
            ShortPath::OneHop if hops < near => 1,
            _ => hops.min(near),
        };
        f64::from(counted) * (queueing + data)
    }

    fn add_sample(&mut self, rtt: Span, hops: u16) {
        let delay = self.interfering_delay(rtt, hops);
        if delay >= DELAY_BOUND {
            return;
        }
        let mean = self.delay.map_or(delay, |past| DELAY_MEMORY * past + (1.0 - DELAY_MEMORY) * delay);
        self.delay = Some(mean);
        if self.delays.len() >= self.options.history {
            self.delays.pop_front();
        }
        self.delays.push_back(delay);
    }

    /// Variation of the latest delays, relative to their mean.
    fn variation(&self) -> f64 {
        let count = self.delays.len() as f64;
        let mean = self.delays.iter().sum::<f64>() / count;
        let mean_of =
            |of: fn(f64) -> f64| self.delays.iter().map(|delay| of(delay - mean)).sum::<f64>() / count;
        let deviation = match self.options.dispersion {
            Dispersion::MeanAbsolute => mean_of(f64::abs),
            Dispersion::Standard => mean_of(|apart| apart * apart).sqrt(),
        };
        deviation / mean
    }
}

impl Controller for AdaptivePacing {
    fn allowance(&self) -> Allowance {
        let pace = self.is_paced.then(|| {
            let bps = self.packet as f64 * 8.0 / self.interval();
            // Rounded down, so that the gap is at least the interval.
            Rate::from_bps((bps as u64).max(1))
        });
        Allowance { pace, ..self.reno.allowance() }
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.packet = sent.packet;
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.is_paced = true;
        if let Some(rtt) = acked.rtt.filter(|_| acked.hops > 0) {
            self.add_sample(rtt, acked.hops);
        }
        self.reno.on_acked(acked);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.is_paced = false;
        self.reno.on_lost(lost);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.is_paced = true;
        self.reno.on_recovered(recovered);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
    }

    fn on_idle(&mut self, now: Time) {
        self.reno.on_idle(now);
    }

    fn on_marked(&mut self, marked: &Marked) {
        self.reno.on_marked(marked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LossKind;

    fn pacing(dispersion: Dispersion, short: ShortPath) -> AdaptivePacing {
        let reno = RenoOptions::rfc(1460, 64 * 1460);
        AdaptivePacing::new(AdaptivePacingOptions {
            dispersion,
            short,
            ..AdaptivePacingOptions::published(reno)
        })
    }

    fn near(value: f64, expected_ms: f64) {
        assert!((value * 1e3 - expected_ms).abs() < 0.006, "{} ms, not {expected_ms}", value * 1e3);
    }

    fn acked(rtt: Span, hops: u16) -> Acked {
        Acked {
            now: Time::ZERO,
            size: 1460,
            fresh: 1460,
            rtt: Some(rtt),
            srtt: Some(rtt),
            in_flight: 0,
            app_limited: false,
            ecn_echo: false,
            hops,
        }
    }

    /// 2 Mb/s: 1572 bytes take 6.288 ms, 112 bytes 0.448 ms. Over 4 hops in 100 ms, the queueing delay is
    /// (25 - 6.736) / 2 = 9.132 ms, and the delay 4 (9.132 + 6.288) = 61.68 ms; over 7 hops in 200 ms it is
    /// 68.82 ms.
    #[test]
    fn the_delay_over_four_hops() {
        let mut pacing = pacing(Dispersion::MeanAbsolute, ShortPath::AllHops);
        near(pacing.interfering_delay(Span::from_ms(100), 4), 61.68);
        near(2.0 * pacing.queueing, 9.132);
        near(pacing.interfering_delay(Span::from_ms(200), 7), 68.82);
    }

    /// 25 ms per hop: delay of two hops, or of one.
    #[test]
    fn short_paths_are_read_in_two_ways() {
        for (short, expected) in [(ShortPath::AllHops, 30.84), (ShortPath::OneHop, 15.42)] {
            let mut pacing = pacing(Dispersion::MeanAbsolute, short);
            near(pacing.interfering_delay(Span::from_ms(50), 2), expected);
            near(pacing.interfering_delay(Span::from_ms(100), 4), 61.68);
        }
    }

    #[test]
    fn without_variation_the_interval_is_the_delay() {
        let mut pacing = pacing(Dispersion::Standard, ShortPath::AllHops);
        near(pacing.interval(), 50.0);
        (0..60).for_each(|_| pacing.on_acked(&acked(Span::from_ms(100), 4)));
        near(pacing.interval(), 61.68);
        assert_eq!(pacing.delays.len(), 50);
    }

    /// Half of the delays are 10 % above the mean and half below: both dispersions are 0.1, and 61.68 ms
    /// become 74.0 ms; 30 % turn 68.82 ms into 110.1 ms. For delays of 1, 1, 1, 5 the mean deviation is 1.5
    /// and the standard deviation 1.732, relative to 2.
    #[test]
    fn variation_makes_the_interval_longer() {
        for dispersion in [Dispersion::MeanAbsolute, Dispersion::Standard] {
            for (delay, variation, expected) in [(61.68, 0.1, 74.016), (68.82, 0.3, 110.112)] {
                let mut pacing = pacing(dispersion, ShortPath::AllHops);
                pacing.delay = Some(delay / 1e3);
                let (low, high) = (delay * (1.0 - variation), delay * (1.0 + variation));
                pacing.delays = [low, high, low, high].into();
                near(pacing.interval(), expected);
            }
        }
        for (dispersion, expected) in [(Dispersion::MeanAbsolute, 0.75), (Dispersion::Standard, 0.866_025)] {
            let mut pacing = pacing(dispersion, ShortPath::AllHops);
            pacing.delays = [1.0, 1.0, 1.0, 5.0].into();
            assert!((pacing.variation() - expected).abs() < 1e-6);
        }
    }

    /// Past values have weight 0.7. A delay above half a second is discarded; a queueing delay above it is
    /// replaced by the mean.
    #[test]
    fn outliers_are_left_out() {
        let mut pacing = pacing(Dispersion::MeanAbsolute, ShortPath::AllHops);
        pacing.add_sample(Span::from_ms(100), 4);
        pacing.add_sample(Span::from_ms(200), 4);
        near(pacing.delay.unwrap(), 0.7 * 61.68 + 0.3 * 111.68);
        pacing.add_sample(Span::from_ms(2_000), 4);
        near(pacing.delay.unwrap(), 76.68);
        assert_eq!(pacing.delays.len(), 2);
        let mean = pacing.queueing;
        let replaced = pacing.interfering_delay(Span::from_ms(9_000), 4);
        near(replaced, 4.0 * (mean * 1e3 + 6.288));
    }

    #[test]
    fn pacing_is_off_from_a_loss_to_the_next_new_acknowledgement() {
        let kinds = [LossKind::DuplicateAcks, LossKind::Timeout { again: false }];
        for kind in kinds {
            let mut pacing = pacing(Dispersion::MeanAbsolute, ShortPath::AllHops);
            assert!(pacing.allowance().pace.is_some());
            pacing.on_lost(&Lost { now: Time::ZERO, kind, in_flight: 14_600 });
            assert_eq!(pacing.allowance().pace, None);
            pacing.on_acked(&acked(Span::from_ms(100), 4));
            assert!(pacing.allowance().pace.is_some());
        }
    }

    /// Whatever the size of a segment, the pace makes it last one interval.
    #[test]
    fn short_segments_wait_as_long_as_full_ones() {
        let mut pacing = pacing(Dispersion::MeanAbsolute, ShortPath::AllHops);
        for packet in [52, 700, 1512] {
            let (now, size, in_flight) = (Time::ZERO, packet - 52, 1460);
            pacing.on_sent(&SentSegment {
                now,
                size,
                packet,
                in_flight,
                retransmission: false,
                app_limited: false,
            });
            let gap = pacing.allowance().pace.unwrap().span_of_bytes(packet);
            assert!(gap >= Span::from_ms(50) && gap < Span::from_us(50_010), "{gap:?}");
        }
    }
}
