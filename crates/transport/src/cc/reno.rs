//! Additive increase, multiplicative decrease (RFC 5681), the base of `tcp-newreno`, `tcp-sack` and every
//! scheme that only adds marking.

use crate::{Acked, Allowance, Controller, Flavour, LossKind, Lost, Marked, Recovered};
use multihop_config::{Written, parameters};
use multihop_core::Time;

/// Growth of the window by acknowledgements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Growth {
    /// One segment per acknowledgement in slow start, and one segment per window of acknowledgements
    /// afterwards, whatever they acknowledge: ns-2.
    PerAck,
    /// By the acknowledged bytes (RFC 3465), in slow start at most this many segments per acknowledgement. 1
    /// is RFC 5681.
    PerByte {
        /// `L` of RFC 3465.
        limit: u32,
    },
}

/// Quantity that a loss halves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Halving {
    /// Data in flight (RFC 5681, equation 4).
    FlightSize,
    /// Congestion window; the threshold is rounded down to whole segments, and halved again by every timeout:
    /// ns-2.
    Window,
    /// Congestion window, in whole segments, of which at least two remain: Linux (`tcp_reno_ssthresh`).
    Segments,
}

impl Written<u32> for Growth {
    fn read(limit: u32) -> Growth {
        Growth::PerByte { limit }
    }

    fn written(&self) -> Option<u32> {
        match self {
            Growth::PerAck => None,
            Growth::PerByte { limit } => Some(*limit),
        }
    }
}

parameters! {
    ($)
    /// Options of [`Reno`].
    #[derive(Clone, Debug, PartialEq)]
    RenoOptions(
        /// Payload bytes of a full segment.
        segment_size: u32,
        /// Maximum window in bytes.
        max_window: u64
    ) by Flavour, listed by reno_parameters:
    /// Initial congestion window in segments; for Linux that of RFC 6928. None: 4380 bytes, at least two and
    /// at most four segments (RFC 5681, equation 3), which is 3 segments of 1460 bytes.
    initial_window: (Option<u32> as u32) [1, 1_048_576] = None, Ns2: Some(2), Linux: Some(10);
    /// Initial slow-start threshold in segments. None: `window`.
    initial_threshold: (Option<u32> as u32) [1, 1_048_576] = None;
    /// Maximum number of segments by which one acknowledgement opens the window in slow start (`L` of RFC
    /// 3465). None: growth per acknowledgement, whatever it acknowledges. The value of linux does not bind:
    /// there, bytes that were selectively acknowledged before do not count.
    byte_counting: (Growth as u32) [1, 1_048_576]
        = Growth::PerByte { limit: 1 }, Ns2: Growth::PerAck, Linux: Growth::PerByte { limit: 1_048_576 };
    {
        /// Count newly delivered bytes, acknowledged selectively or not. The rest of slow start counts in
        /// congestion avoidance, which opens the window by whole segments: Linux (`tcp_slow_start`,
        /// `tcp_cong_avoid_ai`).
        counts_delivered: bool = false, Linux: true;
        /// Quantity that a loss halves.
        halving: Halving = Halving::FlightSize, Ns2: Halving::Window, Linux: Halving::Segments;
        /// Open the window even if the sender does not use it: ns-2.
        grow_when_app_limited: bool = false, Ns2: true;
    }
}

impl RenoOptions {
    /// Options of RFC 5681.
    pub fn rfc(segment_size: u32, max_window: u64) -> RenoOptions {
        RenoOptions::of(Flavour::Rfc, segment_size, max_window)
    }

    /// Options of ns-2.35.
    pub fn ns2(segment_size: u32, max_window: u64) -> RenoOptions {
        RenoOptions::of(Flavour::Ns2, segment_size, max_window)
    }
}

/// The Reno controller.
#[derive(Clone, Debug)]
pub struct Reno {
    pub(crate) options: RenoOptions,
    pub(crate) segment: f64,
    initial: f64,
    pub(crate) window: f64,
    pub(crate) threshold: f64,
    /// Bytes counted towards the next segment of the window, with `counts_delivered` (`snd_cwnd_cnt`).
    credit: f64,
    /// Window and threshold before the last reduction by a loss.
    before_loss: (f64, f64),
}

impl Reno {
    /// A controller with its initial window.
    pub fn new(options: RenoOptions) -> Reno {
        let segment = f64::from(options.segment_size);
        let standard = (4.0 * segment).min(f64::max(2.0 * segment, 4380.0));
        let initial = options.initial_window.map_or(standard, |segments| f64::from(segments) * segment);
        let initial = initial.min(options.max_window as f64).max(segment);
        let threshold = options.initial_threshold;
        let threshold = threshold.map_or(options.max_window as f64, |segments| f64::from(segments) * segment);
        Reno { segment, initial, window: initial, threshold, options, credit: 0.0, before_loss: (0.0, 0.0) }
    }

    /// Number of bytes by which an acknowledgement opens the window in slow start.
    pub(crate) fn slow_start_increase(&self, acked: &Acked) -> f64 {
        match self.options.byte_counting {
            Growth::PerAck => self.segment,
            Growth::PerByte { limit } => self.counted_bytes(acked).min(f64::from(limit) * self.segment),
        }
    }

    /// Number of bytes of an acknowledgement that open the window.
    pub(crate) fn counted_bytes(&self, acked: &Acked) -> f64 {
        if self.options.counts_delivered { acked.fresh as f64 } else { acked.size as f64 }
    }

    /// Opens the window by `bytes` in slow start, if the acknowledgement may open it. Returns the bytes that
    /// count in congestion avoidance: with `counts_delivered` those beyond the threshold, otherwise none.
    pub(crate) fn slow_start(&mut self, acked: &Acked, bytes: f64) -> f64 {
        let rest =
            if self.options.counts_delivered { (self.window + bytes - self.threshold).max(0.0) } else { 0.0 };
        self.open(acked, bytes - rest);
        rest
    }

    /// Opens the window by `bytes`, if the acknowledgement may open it.
    fn open(&mut self, acked: &Acked, bytes: f64) {
        if self.may_open(acked) {
            self.window = (self.window + bytes).min(self.options.max_window as f64);
        }
    }

    /// Whether the window may grow: not on an ECN-Echo (RFC 3168, section 6.1.2), nor if it is not used.
    fn may_open(&self, acked: &Acked) -> bool {
        !acked.ecn_echo && (!acked.app_limited || self.options.grow_when_app_limited)
    }

    /// Opens the window by a segment each time that a window of bytes has been counted.
    fn open_by_segments(&mut self, acked: &Acked, bytes: f64) {
        if !self.may_open(acked) {
            return;
        }
        // The window was larger when the bytes were counted.
        if self.credit >= self.window {
            self.credit = 0.0;
            self.window += self.segment;
        }
        self.credit += bytes;
        let segments = (self.credit / self.window).floor();
        self.credit -= segments * self.window;
        self.window = (self.window + segments * self.segment).min(self.options.max_window as f64);
    }

    /// Stores window and threshold before a reduction by a loss, unless a timeout is repeated.
    pub(crate) fn remember(&mut self, kind: LossKind) {
        if kind != (LossKind::Timeout { again: true }) {
            self.before_loss = (self.window, self.threshold);
        }
    }

    /// Base of a reduction.
    pub(crate) fn before_reduction(&self, in_flight: u64) -> f64 {
        match self.options.halving {
            Halving::FlightSize => in_flight as f64,
            Halving::Window | Halving::Segments => self.window,
        }
    }

    /// Window after a reduction: `left` bytes, in whole segments with the rules of Linux.
    pub(crate) fn reduced(&self, left: f64) -> f64 {
        match self.options.halving {
            Halving::FlightSize | Halving::Window => left,
            Halving::Segments => (left / self.segment).floor() * self.segment,
        }
    }

    /// Halves `in_flight` or the window. Sets the threshold to the result, at least two segments.
    fn halve(&mut self, in_flight: u64) -> f64 {
        let least = 2.0 * self.segment;
        self.credit = 0.0;
        match self.options.halving {
            Halving::FlightSize => {
                let half = in_flight as f64 / 2.0;
                self.threshold = half.max(least);
                half
            }
            Halving::Window => {
                let half = self.window / 2.0;
                self.threshold = ((half / self.segment).floor() * self.segment).max(least);
                half
            }
            Halving::Segments => {
                self.threshold = self.reduced(self.window / 2.0).max(least);
                self.threshold
            }
        }
    }
}

impl Controller for Reno {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window as u64, pace: None }
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        Some(self.threshold as u64)
    }

    fn on_acked(&mut self, acked: &Acked) {
        if self.window < self.threshold {
            let rest = self.slow_start(acked, self.slow_start_increase(acked));
            if rest > 0.0 {
                self.open_by_segments(acked, rest);
            }
        } else if self.options.counts_delivered {
            self.open_by_segments(acked, self.counted_bytes(acked));
        } else {
            let size = match self.options.byte_counting {
                Growth::PerAck => self.segment,
                Growth::PerByte { .. } => self.counted_bytes(acked).min(self.window),
            };
            self.open(acked, self.segment * size / self.window);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.remember(lost.kind);
        match lost.kind {
            LossKind::DuplicateAcks => {
                let half = self.halve(lost.in_flight);
                self.window = match self.options.halving {
                    Halving::FlightSize | Halving::Segments => self.threshold,
                    Halving::Window => half.max(self.segment),
                };
            }
            LossKind::Timeout { again } => {
                let hold = again || lost.in_flight == 0;
                if !hold || self.options.halving == Halving::Window {
                    self.halve(lost.in_flight);
                }
                self.window = self.segment;
            }
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window = self.window.min(recovered.window as f64).max(self.segment);
    }

    fn on_undone(&mut self) {
        let (window, threshold) = self.before_loss;
        self.window = self.window.max(window);
        self.threshold = self.threshold.max(threshold);
    }

    fn on_idle(&mut self, _now: Time) {
        self.window = self.window.min(self.initial);
    }

    fn on_marked(&mut self, marked: &Marked) {
        let half = self.halve(marked.in_flight);
        self.window = match self.options.halving {
            // The threshold is at least two segments (RFC 8511; as in deployed TCPs).
            Halving::FlightSize | Halving::Segments => self.window.min(self.threshold),
            Halving::Window => self.window.min(half).max(self.segment),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::ZERO;

    fn acked(size: u64) -> Acked {
        Acked {
            now: NOW,
            size,
            fresh: size,
            rtt: None,
            srtt: None,
            in_flight: 0,
            app_limited: false,
            ecn_echo: false,
            hops: 1,
        }
    }

    fn lost(kind: LossKind, in_flight: u64) -> Lost {
        Lost { now: NOW, kind, in_flight }
    }

    fn window(reno: &Reno) -> u64 {
        reno.allowance().window
    }

    #[test]
    fn rfc_5681_3_1_initial_window() {
        for (segment, initial) in [(1460, 3 * 1460), (1000, 4000), (512, 2048), (2300, 4600)] {
            assert_eq!(window(&Reno::new(RenoOptions::rfc(segment, 1 << 20))), initial);
        }
    }

    #[test]
    fn rfc_5681_3_1_slow_start_then_one_segment_per_window() {
        let mut options = RenoOptions::rfc(1000, 64_000);
        options.initial_threshold = Some(8);
        let mut reno = Reno::new(options);
        for expected in [5_000, 6_000, 7_000, 8_000] {
            reno.on_acked(&acked(2_000));
            assert_eq!(window(&reno), expected);
        }
        (0..8).for_each(|_| reno.on_acked(&acked(1_000)));
        assert!((8_900..=9_000).contains(&window(&reno)), "{}", window(&reno));
    }

    #[test]
    fn rfc_5681_3_1_a_second_timeout_of_a_segment_holds_the_threshold() {
        let mut reno = Reno::new(RenoOptions::rfc(1000, 64_000));
        reno.on_lost(&lost(LossKind::Timeout { again: false }, 20_000));
        assert_eq!((window(&reno), reno.slow_start_threshold()), (1_000, Some(10_000)));
        reno.on_lost(&lost(LossKind::Timeout { again: true }, 1_000));
        assert_eq!(reno.slow_start_threshold(), Some(10_000));
    }

    /// ns-2: `cwnd_` keeps its fraction, `ssthresh_` does not.
    #[test]
    fn ns2_halves_the_window() {
        let mut options = RenoOptions::ns2(1000, 32_000);
        options.initial_window = Some(7);
        let mut reno = Reno::new(options);
        reno.on_lost(&lost(LossKind::DuplicateAcks, 32_000));
        assert_eq!((window(&reno), reno.slow_start_threshold()), (3_500, Some(3_000)));
    }

    #[test]
    fn rfc_3168_6_1_2_an_echo_halves_and_stops_growth() {
        // At least two segments by RFC 8511, one in ns-2.
        let standard = RenoOptions { initial_window: Some(8), ..RenoOptions::rfc(1000, 64_000) };
        let ns2 = RenoOptions { initial_window: Some(8), ..RenoOptions::ns2(1000, 64_000) };
        for (options, expected) in [(standard, [4_000, 2_000, 2_000]), (ns2, [4_000, 2_000, 1_000])] {
            let mut reno = Reno::new(options);
            for window_after in expected {
                reno.on_marked(&Marked { now: NOW, in_flight: window(&reno) });
                assert_eq!(window(&reno), window_after);
            }
            let before = window(&reno);
            reno.on_acked(&Acked { ecn_echo: true, ..acked(1_000) });
            assert_eq!(window(&reno), before);
        }
    }

    #[test]
    fn an_application_that_does_not_use_the_window_does_not_open_it() {
        let limited = Acked { app_limited: true, ..acked(1_000) };
        let mut reno = Reno::new(RenoOptions::rfc(1000, 64_000));
        reno.on_acked(&limited);
        assert_eq!(window(&reno), 4_000);
        let mut reno = Reno::new(RenoOptions::ns2(1000, 64_000));
        reno.on_acked(&limited);
        assert_eq!(window(&reno), 3_000);
    }

    /// ns-2.35: two segments initially, growth per acknowledgement, and the window is halved.
    #[test]
    fn ns2_has_its_own_defaults() {
        let ns2 = RenoOptions::ns2(1000, 20_000);
        assert_eq!((ns2.segment_size, ns2.max_window, ns2.initial_window), (1000, 20_000, Some(2)));
        assert_eq!((ns2.byte_counting, ns2.halving), (Growth::PerAck, Halving::Window));
        assert!(ns2.grow_when_app_limited);
        let rfc = RenoOptions::rfc(1000, 20_000);
        assert_eq!((rfc.byte_counting, rfc.halving), (Growth::PerByte { limit: 1 }, Halving::FlightSize));
    }

    /// Step 3: "set cwnd to either min (ssthresh, max(FlightSize, SMSS) + SMSS) or ssthresh"; never more than
    /// the present window, nor less than a segment.
    #[test]
    fn rfc_6582_3_2_the_end_of_recovery_bounds_the_window() {
        for (asked, expected) in [(3_000, 3_000), (9_000, 8_000), (500, 1_000)] {
            let options = RenoOptions { initial_window: Some(8), ..RenoOptions::rfc(1000, 64_000) };
            let mut reno = Reno::new(options);
            reno.on_recovered(&Recovered { now: NOW, in_flight: 2_000, window: asked });
            assert_eq!(window(&reno), expected, "{asked}");
        }
    }

    /// RFC 5681, section 4.1: RW = min(IW, cwnd).
    #[test]
    fn rfc_5681_4_1_after_a_silence_the_window_is_the_first_one_at_most() {
        let mut reno = Reno::new(RenoOptions::rfc(1000, 64_000));
        (0..6).for_each(|_| reno.on_acked(&acked(1_000)));
        assert_eq!(window(&reno), 10_000);
        reno.on_idle(NOW);
        assert_eq!(window(&reno), 4_000);
        reno.on_lost(&lost(LossKind::Timeout { again: false }, 4_000));
        reno.on_idle(NOW);
        assert_eq!(window(&reno), 1_000);
    }

    /// Growth per acknowledgement is one segment squared over the window (ns-2), or in proportion to the
    /// bytes (RFC 3465).
    #[test]
    fn avoidance_adds_by_acknowledgement_or_by_byte() {
        for (byte_counting, size, expected) in [
            (Growth::PerAck, 2_000, 10_100),
            (Growth::PerByte { limit: 1 }, 2_000, 10_200),
            (Growth::PerByte { limit: 1 }, 50_000, 11_000),
        ] {
            let first = Some(10);
            let rfc = RenoOptions::rfc(1000, 64_000);
            let mut reno = Reno::new(RenoOptions {
                initial_window: first,
                initial_threshold: first,
                byte_counting,
                ..rfc
            });
            reno.on_acked(&acked(size));
            assert_eq!(window(&reno), expected, "{byte_counting:?} {size}");
        }
    }
}
