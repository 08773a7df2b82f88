//! Bounds by losses: the short-term model, the long-term model, and their restoration after a spurious loss
//! (sections 5.5.10 and 5.5.11).

use super::state::State;
use super::{Bbr3, FullPipe};
use crate::{DeliverySample, LostSegment, Marked};

/// `LossThresh`: maximum tolerated loss rate per round trip while probing.
pub(super) const LOSS_THRESHOLD: f64 = 0.02;

/// `Beta`: least part of a bound that a round trip with losses leaves.
pub(super) const BETA: f64 = 0.7;

/// `Headroom`: part of the long-term bound that is left to other flows.
const HEADROOM: f64 = 0.15;

/// Bounds of bandwidth and data in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// `BBR.bw_shortterm`.
    pub bandwidth: f64,
    /// `BBR.inflight_shortterm`.
    pub inflight_shortterm: f64,
    /// `BBR.inflight_longterm`.
    pub inflight_longterm: f64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let unbounded = f64::INFINITY;
        Bounds { bandwidth: unbounded, inflight_shortterm: unbounded, inflight_longterm: unbounded }
    }
}

/// Maximum delivery in the current round trip (section 2.10).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestDelivery {
    /// `BBR.bw_latest`.
    pub bandwidth: f64,
    /// `BBR.inflight_latest`.
    pub inflight: f64,
}

/// Losses in the current round trip, which begins with the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundLosses {
    /// `BBR.is_loss_in_round`.
    pub any: bool,
    /// `BBR.loss_round_delivered`: number of delivered bytes at which the round trip ends.
    end: u64,
    /// `BBR.loss_round_start`: whether the last acknowledgement ended a round trip.
    pub round_started: bool,
    /// Number of separate ranges of lost bytes, and end of the last one.
    ranges: u32,
    last_end: Option<u64>,
}

impl RoundLosses {
    /// Returns the number of separate ranges of lost bytes, and counts from zero.
    pub fn take_ranges(&mut self) -> u32 {
        self.last_end = None;
        std::mem::take(&mut self.ranges)
    }
}

/// State that a loss made the controller leave (`BBR.undo_state`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum UndoState {
    Startup,
    Up,
}

/// Saved state (section 2.15).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub state: Option<UndoState>,
    bounds: Bounds,
}

impl Default for Undo {
    fn default() -> Undo {
        let none = Bounds { bandwidth: 0.0, inflight_shortterm: 0.0, inflight_longterm: 0.0 };
        Undo { state: None, bounds: none }
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals` (section 5.5.10.3).
    pub(super) fn update_latest_delivery(&mut self, delivery: &DeliverySample) {
        let (rate, volume) = (delivery.rate.unwrap_or(0.0), volume(delivery));
        self.latest.bandwidth = self.latest.bandwidth.max(rate);
        self.latest.inflight = self.latest.inflight.max(volume);
        self.losses.round_started = delivery.prior_delivered >= self.losses.end;
        if self.losses.round_started {
            self.losses.end = delivery.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_delivery(&mut self, delivery: &DeliverySample) {
        if self.losses.round_started {
            self.latest =
                LatestDelivery { bandwidth: delivery.rate.unwrap_or(0.0), inflight: volume(delivery) };
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.losses.any = false;
        self.latest = LatestDelivery::default();
    }

    /// `UpdateCongestionSignals`: once per round trip with losses the short-term bounds decrease, unless the
    /// state accelerates.
    pub(super) fn update_congestion_signals(&mut self, delivery: &DeliverySample) {
        self.update_max_bandwidth(delivery);
        if self.losses.round_started {
            if self.losses.any && !self.state.accelerates() {
                self.lower_bounds();
            }
            self.losses.any = false;
        }
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_bounds(&mut self) {
        let lowered = |bound: f64, initial: f64, latest: f64| {
            let bound = if bound.is_finite() { bound } else { initial };
            latest.max(BETA * bound)
        };
        let Bounds { bandwidth, inflight_shortterm, .. } = self.bounds;
        self.bounds.bandwidth = lowered(bandwidth, self.max_bandwidth.value(), self.latest.bandwidth);
        self.bounds.inflight_shortterm = lowered(inflight_shortterm, self.window, self.latest.inflight);
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bounds = Bounds { inflight_longterm: self.bounds.inflight_longterm, ..Bounds::default() };
    }

    /// `InflightWithHeadroom` (section 5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let bound = self.bounds.inflight_longterm;
        if bound.is_infinite() {
            return bound;
        }
        (bound - (HEADROOM * bound).max(self.segment)).max(self.min_window())
    }

    /// `IsInflightTooHigh` (section 5.5.10.2).
    pub(super) fn is_inflight_too_high(lost: u64, in_flight_at_send: u64) -> bool {
        lost as f64 > in_flight_at_send as f64 * LOSS_THRESHOLD
    }

    /// `NoteLoss`: the first loss begins a round trip and saves the state.
    fn note_loss(&mut self) {
        if !self.losses.any {
            self.losses.end = self.delivered;
            self.save_bounds();
        }
        self.losses.any = true;
    }

    /// `HandleLostPacket` (section 5.5.10.2).
    pub(super) fn note_lost_segment(&mut self, lost: &LostSegment) {
        self.note_loss();
        self.losses.ranges += u32::from(self.losses.last_end != Some(lost.start));
        self.losses.last_end = Some(lost.start + lost.size);
        if self.probe.is_sample && Bbr3::is_inflight_too_high(lost.lost_since_send, lost.in_flight_at_send) {
            self.on_inflight_too_high(inflight_at_loss(lost), lost.app_limited);
        }
    }

    /// Processes an echoed mark, of the data sent within `marked.in_flight` bytes in flight.
    pub(super) fn note_mark(&mut self, marked: &Marked) {
        self.note_loss();
        if self.probe.is_sample {
            self.on_inflight_too_high(marked.in_flight as f64, false);
        }
    }

    /// `HandleInflightTooHigh`: a probe ends, and the long-term bound is the volume at which losses began.
    fn on_inflight_too_high(&mut self, inflight: f64, app_limited: bool) {
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !app_limited {
            self.bounds.inflight_longterm = inflight.max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            self.undo.state = Some(UndoState::Up);
            self.start_down(self.probe.now);
        }
    }

    /// `SaveStateUponLoss` (section 5.5.11.1), without the window.
    pub(super) fn save_bounds(&mut self) {
        self.undo = Undo { state: None, bounds: self.bounds };
    }

    /// `HandleSpuriousLossDetection` (section 5.5.11.2).
    pub(super) fn restore_after_spurious_loss(&mut self) {
        self.restore_window();
        self.losses.any = false;
        self.full_pipe = FullPipe::default();
        let saved = self.undo.bounds;
        self.bounds.bandwidth = self.bounds.bandwidth.max(saved.bandwidth);
        self.bounds.inflight_shortterm = self.bounds.inflight_shortterm.max(saved.inflight_shortterm);
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(saved.inflight_longterm);
        let probes_round_trip = matches!(self.state, State::ProbeRtt { .. });
        match self.undo.state.take() {
            Some(UndoState::Startup) if self.state != State::Startup => {
                self.full_bandwidth_reached = false;
                if !probes_round_trip {
                    self.state = State::Startup;
                }
            }
            Some(UndoState::Up) if self.state != State::Up && !probes_round_trip => self.start_refill(),
            _ => {}
        }
    }
}

/// `RS.delivered`: bytes delivered since the newest delivered segment was sent.
fn volume(delivery: &DeliverySample) -> f64 {
    (delivery.delivered - delivery.prior_delivered) as f64
}

/// `InflightAtLoss`: bytes in flight at which losses exceeded the threshold, which may be within the lost
/// segment.
fn inflight_at_loss(lost: &LostSegment) -> f64 {
    let before = (lost.in_flight_at_send - lost.size) as f64;
    let lost_before = (lost.lost_since_send - lost.size) as f64;
    before + (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)
}
