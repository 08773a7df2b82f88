//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): a model of the path, from the maximum
//! delivery rate and the minimum round-trip time, determines pacing rate and window.
//!
//! Sections in this module are those of the draft. Bandwidths are in payload bytes per second, windows in
//! payload bytes.

mod aggregation;
mod linux;
mod policer;
mod state;
#[cfg(test)]
mod tests;

use super::filters::{MaxFilter, MinFilter, RunningMax};
use super::path_model::{FullPipe, RoundTrips};
use crate::{Acked, Allowance, Controller, DeliverySample, LossKind, Lost, LostSegment, Marked, SentSegment};
use aggregation::AckAggregation;
use linux::LossState;
use multihop_core::{Rate, Span};
use policer::{PolicerDetector, Totals};
use state::BbrState;

/// `BtlBwFilterLen`: number of round trips over which the bottleneck bandwidth is the maximum delivery rate.
const BANDWIDTH_ROUNDS: usize = 10;

/// Source of the rules for pacing rate and window: the draft, or Linux, which runs most connections with BBR.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BbrRules {
    /// draft-cardwell-iccrg-bbr-congestion-control-00.
    #[default]
    Draft,
    /// Linux 6 (`net/ipv4/tcp_bbr.c`). The pacing rate is 1 % below the bandwidth. A window is an even number
    /// of segments, plus the bytes of aggregated acknowledgements, plus two segments while bandwidth is
    /// probed. The handshake is the first round-trip sample. Data in flight is that at the next departure.
    /// The rate of a policer limits the bandwidth.
    Linux,
}

/// Options of [`Bbr`].
#[derive(Clone, Debug, PartialEq)]
pub struct BbrOptions {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Window in bandwidth-delay products in ProbeBW. Section 4.3.4.1: 2.
    pub window_gain: f64,
    /// Time after which the minimum round-trip time expires and is measured again (`RTpropFilterLen`).
    /// Section 4.1.2: 10 s.
    pub round_trip_window: Span,
    /// Rules for pacing rate and window.
    pub rules: BbrRules,
    /// Shift of the pacing rate in bytes per second that gives a burst, with the rules of Linux
    /// (`sk_pacing_shift`): 10.
    pub pacing_shift: u32,
}

impl BbrOptions {
    /// Constants of the draft.
    pub fn draft(segment_size: u32, initial_window: u64) -> BbrOptions {
        BbrOptions {
            segment_size,
            initial_window,
            window_gain: 2.0,
            round_trip_window: Span::from_ms(10_000),
            rules: BbrRules::Draft,
            pacing_shift: 10,
        }
    }
}

/// The BBR controller. Needs [`crate::TcpOptions::delivery_rate`].
#[derive(Clone, Debug)]
pub struct Bbr {
    options: BbrOptions,
    segment: f64,
    /// `BBR.BtlBw`.
    max_bandwidth: BandwidthFilter,
    /// `BBR.RTprop`.
    round_trip: MinFilter,
    /// Round trip of the handshake, until data is acknowledged.
    handshake: Option<Span>,
    /// Updated with the rules of Linux only.
    aggregation: AckAggregation,
    state: BbrState,
    full_pipe: FullPipe,
    rounds: RoundTrips,
    /// Whether the application restarted with nothing in flight.
    idle_restart: bool,
    pacing_rate: f64,
    window: f64,
    /// Window before loss recovery or before ProbeRTT.
    prior_window: f64,
    recovery: RecoveryPhase,
    /// Ratio of packet bytes to payload bytes of a full segment.
    overhead: f64,
    /// Updated with the rules of Linux only, as all fields below: search for a policer, and totals of the
    /// connection for it.
    policer: PolicerDetector,
    totals: Totals,
    /// State of loss recovery at the last delivery or timeout, and whether packets are conserved.
    loss_state: LossState,
    conserves: bool,
    /// Whether a round trip determined the first pace.
    has_first_pace: bool,
}

/// Maximum of the delivery rate.
#[derive(Clone, Debug)]
enum BandwidthFilter {
    /// Exact maximum (section 4.1.1.5).
    Exact(MaxFilter<BANDWIDTH_ROUNDS>),
    /// Estimate of Linux.
    Running(RunningMax<BANDWIDTH_ROUNDS>),
}

/// Phase of loss recovery, as far as it affects the window (section 4.2.3.4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum RecoveryPhase {
    /// No loss recovery.
    #[default]
    None,
    /// Duplicate acknowledgements have just indicated a loss.
    Entering,
    /// Packet conservation: for a round trip, as many bytes are sent as are delivered.
    Conserving,
    /// The window grows again, while losses are still being repaired.
    Growing,
}

impl Bbr {
    /// A controller with its initial window, paced at 2/ln 2 windows per millisecond until a round-trip time
    /// is known (section 4.2.1).
    pub fn new(options: BbrOptions) -> Bbr {
        let segment = f64::from(options.segment_size);
        let window = (options.initial_window as f64).max(segment);
        Bbr {
            segment,
            max_bandwidth: match options.rules {
                BbrRules::Draft => BandwidthFilter::Exact(MaxFilter::default()),
                BbrRules::Linux => BandwidthFilter::Running(RunningMax::default()),
            },
            round_trip: MinFilter::new(options.round_trip_window),
            handshake: None,
            aggregation: AckAggregation::new(segment),
            state: BbrState::Startup,
            full_pipe: FullPipe::default(),
            rounds: RoundTrips::default(),
            idle_restart: false,
            pacing_rate: state::HIGH_GAIN * window / 1e-3,
            window,
            prior_window: window,
            recovery: RecoveryPhase::None,
            overhead: 1.0,
            policer: PolicerDetector::default(),
            totals: Totals::default(),
            loss_state: LossState::None,
            conserves: false,
            has_first_pace: false,
            options,
        }
    }

    /// `BBRUpdateModelAndState`.
    fn update_model(&mut self, delivery: &DeliverySample) {
        self.update_round(delivery);
        if self.is_linux() && delivery.rate.is_some() {
            self.check_policer(delivery);
        }
        if let Some(rate) = delivery.rate
            && (rate >= self.max_bandwidth() || !delivery.app_limited)
        {
            self.add_rate(rate);
        }
        if self.is_linux() && delivery.rate.is_some() {
            let (size, bandwidth) = (delivery.size as f64, self.bandwidth());
            self.aggregation.update(delivery.now, size, self.rounds.started, bandwidth, self.window);
        }
        self.check_cycle_phase(delivery);
        if self.rounds.started && !delivery.app_limited {
            self.full_pipe.on_round(self.max_bandwidth());
        }
        self.check_drain(delivery);
        if let Some(handshake) = self.handshake.take() {
            self.round_trip.update(delivery.now, Some(handshake));
        }
        self.round_trip.update(delivery.now, delivery.rtt);
        self.check_probe_rtt(delivery);
    }

    /// `BBR.BtlBw`.
    fn max_bandwidth(&self) -> f64 {
        match &self.max_bandwidth {
            BandwidthFilter::Exact(filter) => filter.value(),
            BandwidthFilter::Running(filter) => filter.value(),
        }
    }

    /// Adds a sample of the delivery rate.
    fn add_rate(&mut self, rate: f64) {
        match &mut self.max_bandwidth {
            BandwidthFilter::Exact(filter) => filter.update(self.rounds.count, rate),
            BandwidthFilter::Running(filter) => filter.update(self.rounds.count, rate),
        }
    }

    /// Counts round trips (section 4.1.1.3); Linux only by acknowledgements that gave a rate.
    fn update_round(&mut self, delivery: &DeliverySample) {
        if self.is_linux() && delivery.rate.is_none() {
            self.rounds.started = false;
            return;
        }
        self.rounds.on_delivered(delivery.prior_delivered, delivery.delivered);
        if self.rounds.started {
            self.conserves = false;
            if self.recovery == RecoveryPhase::Conserving {
                self.recovery = RecoveryPhase::Growing;
            }
        }
    }

    /// `BBRSetPacingRateWithGain` (section 4.2.1): until the pipe is full the rate does not decrease.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.margin() * gain * self.bandwidth();
        if rate > 0.0 && (self.full_pipe.filled || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `bbr_pacing_margin_percent`: a pace just below the bandwidth drains queues.
    fn margin(&self) -> f64 {
        if self.is_linux() { 0.99 } else { 1.0 }
    }

    /// `BBR.send_quantum` (section 4.2.2): maximum burst in bytes.
    fn quantum(&self) -> f64 {
        match 8.0 * self.pacing_rate {
            ..1.2e6 => self.segment,
            ..24e6 => 2.0 * self.segment,
            _ => (1e-3 * self.pacing_rate).min(65_536.0),
        }
    }

    /// `BBRInflight` (section 4.2.3.2): `gain` bandwidth-delay products, plus an allowance for aggregation.
    fn inflight(&self, gain: f64) -> f64 {
        self.inflight_with(self.max_bandwidth(), gain, 0.0)
    }

    /// `BBRInflight` at a bandwidth, with an excess of acknowledged bytes; in Linux `bbr_bdp` and
    /// `bbr_quantization_budget`.
    fn inflight_with(&self, bandwidth: f64, gain: f64, excess: f64) -> f64 {
        let Some(rtt) = self.round_trip.value() else { return self.options.initial_window as f64 };
        let product = gain * bandwidth * rtt.seconds();
        if !self.is_linux() {
            return product + 3.0 * self.quantum();
        }
        let segments = |bytes: f64| bytes / self.segment;
        let budget = segments(product).ceil() + segments(excess).floor() + 3.0 * self.burst_segments();
        let probing = matches!(self.state, BbrState::ProbeBw { phase: 0, .. });
        (2.0 * (budget / 2.0).ceil() + if probing { 2.0 } else { 0.0 }) * self.segment
    }

    /// `BBRMinPipeCwnd` (section 4.2.3.3).
    fn min_window(&self) -> f64 {
        4.0 * self.segment
    }

    /// `BBRSaveCwnd`.
    fn save_window(&mut self) {
        let repairs = if self.is_linux() {
            self.loss_state != LossState::None
        } else {
            self.recovery != RecoveryPhase::None
        };
        let apart = repairs || self.state.is_probe_rtt();
        self.prior_window = if apart { self.prior_window.max(self.window) } else { self.window };
    }

    /// `BBRRestoreCwnd`.
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// `BBRSetCwnd` (section 4.2.3.6), with the changes by recovery (4.2.3.4) and by ProbeRTT (4.2.3.5).
    fn set_window(&mut self, delivery: &DeliverySample) {
        let conserves =
            if self.is_linux() { self.recover_or_restore(delivery) } else { self.modulate(delivery) };
        if !conserves {
            self.grow_window(delivery);
        }
        if self.state.is_probe_rtt() {
            self.window = self.window.min(self.min_window());
        }
    }

    /// Changes of the window by recovery (section 4.2.3.4). Returns whether packets are conserved, which
    /// determines the window.
    fn modulate(&mut self, delivery: &DeliverySample) -> bool {
        let size = delivery.size as f64;
        let conserved = delivery.in_flight as f64 + size.max(self.segment);
        self.window = (self.window - delivery.lost as f64).max(self.segment);
        match self.recovery {
            RecoveryPhase::Entering => {
                self.window = conserved;
                self.rounds.restart(delivery.delivered);
                self.recovery = RecoveryPhase::Conserving;
            }
            RecoveryPhase::Conserving | RecoveryPhase::Growing if !delivery.recovering => {
                self.recovery = RecoveryPhase::None;
                self.restore_window();
            }
            RecoveryPhase::Conserving => self.window = self.window.max(conserved),
            RecoveryPhase::None | RecoveryPhase::Growing => {}
        }
        self.recovery == RecoveryPhase::Conserving
    }

    /// Moves the window towards its target (section 4.2.3.6).
    fn grow_window(&mut self, delivery: &DeliverySample) {
        let (size, bandwidth) = (delivery.size as f64, self.bandwidth());
        let excess = if self.full_pipe.filled { self.aggregation.excess(bandwidth) } else { 0.0 };
        let target = self.inflight_with(bandwidth, self.window_gain(), excess);
        if self.full_pipe.filled {
            self.window = (self.window + size).min(target);
        } else if self.window < target || delivery.delivered < self.options.initial_window {
            self.window += size;
        }
        self.window = self.window.max(self.min_window());
    }
}

impl Controller for Bbr {
    fn allowance(&self) -> Allowance {
        let bps = (8.0 * self.pacing_rate * self.overhead).max(1.0);
        Allowance { window: self.window as u64, pace: Some(Rate::from_bps(bps as u64)) }
    }

    fn on_opened(&mut self, rtt: Span) {
        if rtt > Span::ZERO {
            self.pacing_rate = self.margin() * self.state.pacing_gain() * self.window / rtt.seconds();
            self.handshake = Some(rtt).filter(|_| self.is_linux());
            self.has_first_pace = true;
        }
    }

    /// Section 4.3.4.4: after an idle period the path is empty, so that there is no queue to drain or to
    /// probe.
    fn on_sent(&mut self, sent: &SentSegment) {
        self.overhead = 1.0 + (sent.packet - sent.size) as f64 / self.segment;
        if sent.in_flight == sent.size && sent.app_limited {
            self.idle_restart = true;
            if self.is_linux() {
                self.on_restart(sent);
            }
            if matches!(self.state, BbrState::ProbeBw { .. }) {
                self.set_pacing_rate(1.0);
            }
        }
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.update_model(delivery);
        if self.is_linux() {
            self.take_first_round_trip(delivery);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(delivery);
    }

    fn marks_app_limited(&self) -> bool {
        self.state.is_probe_rtt()
    }

    fn sets_recovery_window(&self) -> bool {
        true
    }

    /// The slow-down was no sign of a full pipe (`bbr_undo_cwnd` of Linux).
    fn on_undone(&mut self) {
        self.full_pipe.restart();
        self.policer.restart();
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.totals.lost += lost.size;
    }

    /// An echo changes nothing; Linux remembers the window for a recovery that may follow (`bbr_ssthresh`).
    fn on_marked(&mut self, _marked: &Marked) {
        if self.is_linux() {
            self.save_window();
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.save_window();
        match lost.kind {
            LossKind::Timeout { .. } if self.is_linux() => self.on_timeout(lost.now),
            LossKind::DuplicateAcks if self.is_linux() => {}
            LossKind::DuplicateAcks => self.recovery = RecoveryPhase::Entering,
            LossKind::Timeout { .. } => {
                self.recovery = RecoveryPhase::Growing;
                self.window = self.segment;
            }
        }
    }
}
