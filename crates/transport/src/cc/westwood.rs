//! Westwood+ (Grieco and Mascolo 2004): after a loss the window is set to the bandwidth-delay product, with
//! the bandwidth estimated from acknowledgements.

use crate::{AckInfo, Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, RenoOptions};
use multihop_core::{Span, Time};

/// Smoothing of bandwidth samples; the weight of the past is 0.9 in both filters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BandwidthFilter {
    /// `0.9 past + 0.1 sample` (Grieco and Mascolo 2004).
    #[default]
    Exponential,
    /// `0.9 past + 0.1 (sample + previous sample) / 2`: ns-3, with the fixed coefficients of Westwood's first
    /// filter.
    Tustin,
}

/// Options of [`Westwood`].
#[derive(Clone, Debug, PartialEq)]
pub struct WestwoodOptions {
    /// Growth of the window, initial window, and limits.
    pub reno: RenoOptions,
    /// Filter of the bandwidth.
    pub filter: BandwidthFilter,
}

/// The Westwood+ controller.
#[derive(Clone, Debug)]
pub struct Westwood {
    options: WestwoodOptions,
    reno: Reno,
    /// Latest and minimum round-trip samples.
    rtt: Option<Span>,
    rtt_min: Option<Span>,
    /// Start of the present bandwidth sample, and bytes acknowledged since.
    sample_start: Option<Time>,
    acknowledged: u64,
    /// Bytes that duplicate acknowledgements stand for and that no cumulative acknowledgement has covered
    /// yet.
    anticipated: u64,
    /// Smoothed bandwidth and last sample, in bytes per second.
    bandwidth: Option<(f64, f64)>,
}

impl Westwood {
    /// A controller with its initial window.
    pub fn new(options: WestwoodOptions) -> Westwood {
        Westwood {
            reno: Reno::new(options.reno.clone()),
            options,
            rtt: None,
            rtt_min: None,
            sample_start: None,
            acknowledged: 0,
            anticipated: 0,
            bandwidth: None,
        }
    }

    /// Takes one sample per round-trip time: acknowledged bytes over the elapsed time.
    fn sample(&mut self, now: Time) {
        let sample_start = *self.sample_start.get_or_insert(now);
        let Some(rtt) = self.rtt else { return };
        let taken = now.since(sample_start);
        if taken < rtt || taken == Span::ZERO {
            return;
        }
        let sample = self.acknowledged as f64 / taken.seconds();
        let smoothed = match (self.bandwidth, self.options.filter) {
            (None, _) => sample,
            (Some((past, _)), BandwidthFilter::Exponential) => 0.9 * past + 0.1 * sample,
            (Some((past, before)), BandwidthFilter::Tustin) => 0.9 * past + 0.1 * (sample + before) / 2.0,
        };
        self.bandwidth = Some((smoothed, sample));
        self.sample_start = Some(now);
        self.acknowledged = 0;
    }

    /// Bandwidth-delay product with the minimum round-trip time, in bytes.
    fn bandwidth_delay_product(&self) -> Option<f64> {
        let (bandwidth, _) = self.bandwidth?;
        Some((bandwidth * self.rtt_min?.seconds()).max(2.0 * self.reno.segment))
    }
}

impl Controller for Westwood {
    fn allowance(&self) -> Allowance {
        self.reno.allowance()
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    fn on_ack(&mut self, ack: &AckInfo) {
        let segment = u64::from(self.options.reno.segment_size);
        let size = if let Some(advance) = ack.advance {
            let counted = self.anticipated.min(advance);
            self.anticipated -= counted;
            advance - counted
        } else {
            self.anticipated += segment;
            segment
        };
        self.acknowledged += size;
        self.sample(ack.now);
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        self.reno.on_acked(acked);
    }

    fn on_lost(&mut self, lost: &Lost) {
        let Some(bandwidth_delay_product) = self.bandwidth_delay_product() else {
            return self.reno.on_lost(lost);
        };
        self.reno.remember(lost.kind);
        self.reno.threshold = bandwidth_delay_product.min(self.options.reno.max_window as f64);
        self.reno.window = match lost.kind {
            LossKind::DuplicateAcks => self.reno.window.min(self.reno.threshold),
            LossKind::Timeout { .. } => self.reno.segment,
        };
        if lost.kind != LossKind::DuplicateAcks {
            // Outstanding data counts as lost, and earlier duplicates are no longer relevant.
            self.anticipated = 0;
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.anticipated = 0;
        self.reno.on_recovered(recovered);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
    }

    fn on_idle(&mut self, now: Time) {
        self.sample_start = None;
        self.acknowledged = 0;
        self.reno.on_idle(now);
    }

    fn on_marked(&mut self, marked: &Marked) {
        match self.bandwidth_delay_product() {
            None => self.reno.on_marked(marked),
            Some(bandwidth_delay_product) => {
                self.reno.threshold = bandwidth_delay_product.min(self.options.reno.max_window as f64);
                self.reno.window = self.reno.window.min(self.reno.threshold);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn westwood(filter: BandwidthFilter) -> Westwood {
        let reno = RenoOptions {
            initial_window: Some(40),
            initial_threshold: Some(20),
            ..RenoOptions::rfc(MSS as u32, 64 * MSS)
        };
        Westwood::new(WestwoodOptions { reno, filter })
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn ack(westwood: &mut Westwood, at: u64, segments: u64, rtt: Option<u64>) {
        let size = segments * MSS;
        westwood.on_ack(&AckInfo { now: ms(at), advance: Some(size) });
        let (now, rtt) = (ms(at), rtt.map(Span::from_ms));
        westwood.on_acked(&Acked { rtt, srtt: rtt, app_limited: true, ..Acked::in_order(now, size) });
    }

    fn duplicate(westwood: &mut Westwood, at: u64) {
        westwood.on_ack(&AckInfo { now: ms(at), advance: None });
    }

    fn bandwidth(westwood: &Westwood) -> f64 {
        westwood.bandwidth.map_or(0.0, |(smoothed, _)| smoothed)
    }

    /// Round-trip time 100 ms. The first sample is the data acknowledged in 0 to 100 ms: 10 segments, 100
    /// kB/s; then 5, 50 kB/s; then 20, 200 kB/s.
    #[test]
    fn the_bandwidth_is_sampled_each_round_trip_and_smoothed() {
        for (filter, second, third) in [
            (BandwidthFilter::Exponential, 95_000.0, 105_500.0),
            (BandwidthFilter::Tustin, 97_500.0, 100_250.0),
        ] {
            let mut westwood = westwood(filter);
            ack(&mut westwood, 0, 0, Some(100));
            (1..=10).for_each(|i| ack(&mut westwood, 10 * i, 1, Some(100)));
            assert_eq!(bandwidth(&westwood), 100_000.0);
            ack(&mut westwood, 150, 2, None);
            assert_eq!(bandwidth(&westwood), 100_000.0, "half a round trip");
            ack(&mut westwood, 200, 3, None);
            assert!((bandwidth(&westwood) - second).abs() < 1e-6, "{}", bandwidth(&westwood));
            ack(&mut westwood, 300, 20, None);
            assert!((bandwidth(&westwood) - third).abs() < 1e-6, "{}", bandwidth(&westwood));
        }
    }

    /// 100 kB/s and a minimum round trip of 100 ms hold 10 segments, whatever the window was.
    #[test]
    fn a_loss_leaves_what_the_path_holds() {
        let mut westwood = westwood(BandwidthFilter::Exponential);
        ack(&mut westwood, 0, 0, Some(100));
        (1..=12).for_each(|i| ack(&mut westwood, 10 * i, 1, Some(120)));
        let lost = |kind| Lost { now: ms(120), kind, in_flight: 40 * MSS };
        westwood.on_lost(&lost(LossKind::DuplicateAcks));
        assert_eq!(
            (westwood.allowance().window, westwood.slow_start_threshold()),
            (10 * MSS, Some(10 * MSS))
        );
        westwood.on_lost(&lost(LossKind::Timeout { again: false }));
        assert_eq!((westwood.allowance().window, westwood.slow_start_threshold()), (MSS, Some(10 * MSS)));
        // A loss never opens the window.
        westwood.on_lost(&lost(LossKind::DuplicateAcks));
        assert_eq!(westwood.allowance().window, MSS);
    }

    #[test]
    fn without_a_sample_a_loss_halves() {
        let mut westwood = westwood(BandwidthFilter::Exponential);
        westwood.on_lost(&Lost { now: ms(0), kind: LossKind::DuplicateAcks, in_flight: 40 * MSS });
        assert_eq!(westwood.allowance().window, 20 * MSS);
    }

    /// Duplicates count a segment each when they arrive; the bytes that they stand for are not counted again.
    #[test]
    fn duplicate_acknowledgements_count_once() {
        let mut westwood = westwood(BandwidthFilter::Exponential);
        ack(&mut westwood, 0, 0, Some(100));
        (1..=9).for_each(|i| duplicate(&mut westwood, 10 * i));
        ack(&mut westwood, 100, 10, None);
        assert_eq!(bandwidth(&westwood), 100_000.0);
    }

    /// Nine duplicates stand for segments that two acknowledgements of five segments cover: ten segments in
    /// 100 ms.
    #[test]
    fn what_duplicates_stood_for_is_taken_off_bit_by_bit() {
        let mut westwood = westwood(BandwidthFilter::Exponential);
        ack(&mut westwood, 0, 0, Some(100));
        (1..=9).for_each(|i| duplicate(&mut westwood, 10 * i));
        ack(&mut westwood, 95, 5, None);
        ack(&mut westwood, 100, 5, None);
        assert_eq!(bandwidth(&westwood), 100_000.0);
    }
}
