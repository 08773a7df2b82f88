//! Pacing rate and window (section 5.6).

use super::state::State;
use super::{Bbr3, PACING_MARGIN};
use crate::DeliverySample;

/// Maximum burst in bytes, and time of the pace that it lasts (section 5.6.3).
const MAX_QUANTUM: f64 = 65_536.0;
const QUANTUM_SECONDS: f64 = 1e-3;

impl Bbr3 {
    /// `SetPacingRateWithGain` (section 5.6.2): until the full bandwidth was reached the rate does not
    /// decrease.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth * PACING_MARGIN;
        if rate > 0.0 && (self.full_bandwidth_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `C.send_quantum` (section 5.6.3).
    fn quantum(&self) -> f64 {
        (QUANTUM_SECONDS * self.pacing_rate).min(MAX_QUANTUM).max(2.0 * self.segment)
    }

    /// `MinPipeCwnd` (section 5.6.4.3).
    pub(super) fn min_window(&self) -> f64 {
        4.0 * self.segment
    }

    /// `BBR.bdp`; the initial window before the first round-trip sample.
    pub(super) fn bandwidth_delay_product(&self) -> f64 {
        self.product(self.bandwidth, 1.0)
    }

    /// `BDPMultiple` (section 5.6.4.2).
    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        let initial = self.options.initial_window as f64;
        self.round_trip.minimum().map_or(initial, |rtt| gain * bandwidth * rtt.seconds())
    }

    /// `Inflight` (section 5.6.4.2), at a bandwidth.
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_quanta(self.product(bandwidth, gain))
    }

    /// `QuantizationBudget`: at least three bursts and four segments, and two segments more in `ProbeBW_UP`.
    fn with_quanta(&self, inflight: f64) -> f64 {
        let least = (3.0 * self.quantum()).max(self.min_window());
        inflight.max(least) + if self.state == State::Up { 2.0 * self.segment } else { 0.0 }
    }

    /// `UpdateMaxInflight`.
    fn max_inflight(&self) -> f64 {
        let extra_acked = self.extra_acked.value(self.full_bandwidth_reached);
        self.with_quanta(self.product(self.bandwidth, self.state.window_gain()) + extra_acked)
    }

    /// `TargetInflight` (section 5.3.3.8): the bandwidth-delay product, unless congestion reduced the window.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bandwidth_delay_product().min(self.window)
    }

    /// `SaveCwnd` (section 5.6.4.4).
    pub(super) fn save_window(&mut self) {
        let is_reduced = self.recovering || matches!(self.state, State::ProbeRtt { .. });
        self.prior_window = if is_reduced { self.prior_window.max(self.window) } else { self.window };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// `SetCwnd` (section 5.6.4.6).
    pub(super) fn set_window(&mut self, delivery: &DeliverySample) {
        let (size, most) = (delivery.size as f64, self.max_inflight());
        if self.full_bandwidth_reached {
            self.window = (self.window + size).min(most);
        } else if self.window < most || delivery.delivered < self.options.initial_window {
            self.window += size;
        }
        self.window = self.window.max(self.min_window());
        if let State::ProbeRtt { .. } = self.state {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.window_bound());
    }

    /// `ProbeRTTCwnd` (section 5.6.4.5).
    pub(super) fn probe_rtt_window(&self) -> f64 {
        let gain = State::ProbeRtt { until: None, round_done: false }.window_gain();
        self.product(self.bandwidth, gain).max(self.min_window())
    }

    /// `BoundCwndForModel` (section 5.6.4.7).
    pub(super) fn window_bound(&self) -> f64 {
        let longterm = match self.state {
            State::Startup | State::Drain { .. } => f64::INFINITY,
            State::Cruise | State::ProbeRtt { .. } => self.inflight_with_headroom(),
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
        };
        longterm.min(self.bounds.inflight_shortterm).max(self.min_window())
    }
}
