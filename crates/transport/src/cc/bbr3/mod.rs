//! BBR, version 3 (draft-ietf-ccwg-bbr-06): a model of the path, from delivery rate, round-trip time and
//! losses, determines pacing rate and window.
//!
//! Sections in this module are those of the draft. Bandwidths are in payload bytes per second, volumes in
//! payload bytes. An unknown bound is infinite.

mod aggregation;
mod bounds;
mod probe_bw;
mod probe_rtt;
mod state;
#[cfg(test)]
mod tests;
mod window;

use super::filters::MaxFilter;
use super::path_model::{FullPipe, RoundTrips};
use crate::{Acked, Allowance, Controller, DeliverySample, LossKind, Lost, LostSegment, Marked, SentSegment};
use aggregation::ExtraAcked;
use bounds::{Bounds, LatestDelivery, RoundLosses, Undo};
use multihop_core::{Rate, Span};
use probe_bw::Probe;
use probe_rtt::RoundTripFilter;
use state::{STARTUP_PACING_GAIN, State};

/// `MaxBwFilterLen`: number of ProbeBW cycles over which the bandwidth is the maximum delivery rate.
const BANDWIDTH_CYCLES: usize = 2;

/// Pace relative to the bandwidth (`PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.99;

/// Options of [`Bbr3`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bbr3Options {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// Initial window in bytes.
    pub initial_window: u64,
}

/// The BBR controller, version 3. Needs [`crate::TcpOptions::delivery_rate`] and [`crate::Recovery::Rack`].
#[derive(Clone, Debug)]
pub struct Bbr3 {
    options: Bbr3Options,
    segment: f64,
    /// `BBR.max_bw_filter`, by the number of ProbeBW cycles.
    max_bandwidth: MaxFilter<BANDWIDTH_CYCLES>,
    cycle: u64,
    /// `BBR.bw`: bandwidth within the short-term bound.
    bandwidth: f64,
    round_trip: RoundTripFilter,
    rounds: RoundTrips,
    extra_acked: ExtraAcked,
    state: State,
    /// `BBR.full_bw_now` and its search, and `BBR.full_bw_reached`.
    full_pipe: FullPipe,
    full_bandwidth_reached: bool,
    bounds: Bounds,
    latest: LatestDelivery,
    losses: RoundLosses,
    undo: Undo,
    probe: Probe,
    /// Bytes delivered so far, and whether losses are being repaired, at the last delivery.
    delivered: u64,
    recovering: bool,
    /// Whether the application restarted with nothing in flight.
    idle_restart: bool,
    /// Whether the window was full in the current round trip, and in the one before.
    window_limited: [bool; 2],
    pacing_rate: f64,
    window: f64,
    /// Window before loss recovery or before ProbeRTT.
    prior_window: f64,
    /// Ratio of packet bytes to payload bytes of a full segment.
    overhead: f64,
}

impl Bbr3 {
    /// A controller with its initial window, paced at 2.77 windows per millisecond until a round-trip time is
    /// known (section 5.6.2).
    pub fn new(options: Bbr3Options) -> Bbr3 {
        let segment = f64::from(options.segment_size);
        let window = (options.initial_window as f64).max(segment);
        Bbr3 {
            segment,
            max_bandwidth: MaxFilter::default(),
            cycle: 0,
            bandwidth: 0.0,
            round_trip: RoundTripFilter::default(),
            rounds: RoundTrips::default(),
            extra_acked: ExtraAcked::default(),
            state: State::Startup,
            full_pipe: FullPipe::default(),
            full_bandwidth_reached: false,
            bounds: Bounds::default(),
            latest: LatestDelivery::default(),
            losses: RoundLosses::default(),
            undo: Undo::default(),
            probe: Probe::default(),
            delivered: 0,
            recovering: false,
            idle_restart: false,
            window_limited: [false; 2],
            pacing_rate: STARTUP_PACING_GAIN * window / 1e-3,
            window,
            prior_window: 0.0,
            overhead: 1.0,
            options,
        }
    }

    /// `UpdateModelAndState` (section 5.2.3).
    fn update_model(&mut self, delivery: &DeliverySample) {
        self.delivered = delivery.delivered;
        self.update_latest_delivery(delivery);
        self.update_congestion_signals(delivery);
        self.extra_acked.update(delivery, self.bandwidth, self.window, &self.rounds);
        self.check_full_pipe(delivery);
        self.check_startup(delivery);
        self.check_drain(delivery);
        self.update_probe_bw(delivery);
        self.round_trip.update(delivery.now, delivery.rtt);
        self.check_probe_rtt(delivery);
        self.advance_latest_delivery(delivery);
        self.bandwidth = self.max_bandwidth.value().min(self.bounds.bandwidth);
    }

    /// `UpdateMaxBw` (section 5.5.5), with `UpdateRound` (5.5.1).
    fn update_max_bandwidth(&mut self, delivery: &DeliverySample) {
        self.rounds.on_delivered(delivery.prior_delivered, delivery.delivered);
        if self.rounds.started {
            self.probe.rounds_since_up += 1;
            self.window_limited = [false, self.window_limited[0]];
        }
        if let Some(rate) = delivery.rate
            && (rate >= self.max_bandwidth.value() || !delivery.app_limited)
        {
            self.max_bandwidth.update(self.cycle, rate);
        }
    }

    /// Starts a round trip with the next segment (`StartRound`).
    fn start_round(&mut self) {
        self.rounds.restart(self.delivered);
    }

    /// `C.is_cwnd_limited`: whether the window was full at any time in the last round trip.
    fn is_window_limited(&self) -> bool {
        self.window_limited[0] || self.window_limited[1]
    }

    /// Processes the end of loss recovery (section 5.6.4.4).
    fn note_recovery(&mut self, recovering: bool) {
        if std::mem::replace(&mut self.recovering, recovering) && !recovering {
            self.restore_window();
        }
    }
}

impl Controller for Bbr3 {
    fn allowance(&self) -> Allowance {
        let bps = (8.0 * self.pacing_rate * self.overhead).max(1.0);
        Allowance { window: self.window as u64, pace: Some(Rate::from_bps(bps as u64)) }
    }

    fn on_opened(&mut self, rtt: Span) {
        if rtt > Span::ZERO {
            self.round_trip = RoundTripFilter::of_handshake(rtt);
            self.pacing_rate = STARTUP_PACING_GAIN * self.window / rtt.seconds();
        }
    }

    /// Section 5.4.1: after an idle period the path is empty, so that there is no queue to drain or to probe.
    fn on_sent(&mut self, sent: &SentSegment) {
        self.overhead = 1.0 + (sent.packet - sent.size) as f64 / self.segment;
        self.window_limited[0] |= sent.in_flight as f64 + self.segment > self.window;
        if sent.in_flight == sent.size && sent.app_limited {
            self.idle_restart = true;
            self.extra_acked.restart(sent.now);
            if self.state.is_probe_bw() {
                self.set_pacing_rate(1.0);
            } else if let State::ProbeRtt { until, .. } = self.state {
                self.end_probe_rtt_after(until, sent.now);
            }
        }
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.note_recovery(delivery.recovering);
        self.update_model(delivery);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(delivery);
    }

    fn marks_app_limited(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    fn sets_recovery_window(&self) -> bool {
        true
    }

    /// Saves the state at the start of a loss recovery (section 5.6.4.4).
    fn on_lost(&mut self, lost: &Lost) {
        self.save_window();
        self.save_bounds();
        self.recovering = true;
        if let LossKind::Timeout { .. } = lost.kind {
            // "A value that will allow 1 SMSS to be transmitted": recovery adds what is still in flight.
            self.window = self.segment;
        }
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.note_lost_segment(lost);
    }

    /// Section 3.7 leaves the response to ECN open, but a mark is congestion. Here a mark has the effect of a
    /// loss rate above the threshold.
    fn on_marked(&mut self, marked: &Marked) {
        self.note_mark(marked);
    }

    fn on_undone(&mut self) {
        self.restore_after_spurious_loss();
    }
}
