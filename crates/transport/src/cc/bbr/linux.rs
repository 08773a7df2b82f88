//! Rules of Linux 6 (`net/ipv4/tcp_bbr.c`) that differ from those of the draft.

use super::policer::{PolicerSample, Totals};
use super::state::{BbrState, HIGH_GAIN};
use super::{Bbr, BbrRules};
use crate::{DeliverySample, SentSegment};
use multihop_core::Time;

/// Maximum payload bytes of a burst (`GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`), and maximum number of
/// segments.
const MAX_BURST: (f64, f64) = (65_215.0, 127.0);

/// Pace in bits per second below which a burst is one segment (`bbr_min_tso_rate`).
const SLOW_PACE: f64 = 1.2e6;

/// State of loss recovery (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum LossState {
    /// No losses are repaired.
    #[default]
    None,
    /// Losses are repaired (`TCP_CA_Recovery`).
    Recovery,
    /// Losses are repaired after a timeout (`TCP_CA_Loss`).
    Timeout,
}

impl LossState {
    fn of(delivery: &DeliverySample) -> LossState {
        match (delivery.recovering, delivery.fast_recovery) {
            (false, _) => LossState::None,
            (true, true) => LossState::Recovery,
            (true, false) => LossState::Timeout,
        }
    }
}

impl Bbr {
    pub(super) fn is_linux(&self) -> bool {
        self.options.rules == BbrRules::Linux
    }

    /// Bandwidth in use: that of a policer, if the path seems to have one (`bbr_bw`).
    pub(super) fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.max_bandwidth())
    }

    /// Looks for a policer.
    pub(super) fn check_policer(&mut self, delivery: &DeliverySample) {
        self.totals = Totals { at: delivery.now, delivered: delivery.delivered, ..self.totals };
        let sample = PolicerSample {
            totals: self.totals,
            has_losses: delivery.lost > 0,
            app_limited: delivery.app_limited,
            round_start: self.rounds.started,
            probes_bandwidth: matches!(self.state, BbrState::ProbeBw { .. }),
        };
        self.update_policer(&sample, delivery.now);
    }

    fn update_policer(&mut self, sample: &PolicerSample, now: Time) {
        let ends = self.policer.update(sample);
        if ends && sample.probes_bandwidth {
            self.enter_probe_bw(now);
        }
    }

    /// Processes a timeout, which counts as the end of a round trip with losses (`bbr_set_state`).
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.loss_state = LossState::Timeout;
        self.window = self.segment;
        self.full_pipe.restart();
        let sample = PolicerSample {
            totals: self.totals,
            has_losses: true,
            app_limited: false,
            round_start: true,
            probes_bandwidth: matches!(self.state, BbrState::ProbeBw { .. }),
        };
        self.update_policer(&sample, now);
    }

    /// Sets the first pace from a round trip, if that of the handshake is not known
    /// (`bbr_init_pacing_rate_from_rtt`).
    pub(super) fn take_first_round_trip(&mut self, delivery: &DeliverySample) {
        if let Some(rtt) = delivery.rtt.filter(|_| !self.has_first_pace) {
            self.has_first_pace = true;
            self.pacing_rate = self.margin() * HIGH_GAIN * self.window / rtt.seconds().max(1e-6);
        }
    }

    /// Processes the sending of the first segment after an idle period (`bbr_cwnd_event`).
    pub(super) fn on_restart(&mut self, sent: &SentSegment) {
        self.aggregation.restart(sent.now);
        self.end_probe_rtt_if_over(sent.now);
    }

    /// Number of segments in a burst (`bbr_tso_segs_goal`, `bbr_min_tso_segs`).
    pub(super) fn burst_segments(&self) -> f64 {
        let (bytes, segments) = MAX_BURST;
        let bytes = (self.pacing_rate / f64::from(self.options.pacing_shift).exp2()).min(bytes);
        let least = if 8.0 * self.pacing_rate < SLOW_PACE { 1.0 } else { 2.0 };
        (bytes / self.segment).floor().max(least).min(segments)
    }

    /// Bytes in the network when the pace allows the next segment, of `in_flight` now
    /// (`bbr_packets_in_net_at_edt`). While the rate is raised, the next burst counts.
    pub(super) fn in_flight_at_departure(&self, delivery: &DeliverySample, in_flight: u64) -> f64 {
        if !self.is_linux() {
            return in_flight as f64;
        }
        let delivered = self.bandwidth() * delivery.departure.since(delivery.now).seconds();
        let burst = if self.pacing_gain() > 1.0 { self.burst_segments() * self.segment } else { 0.0 };
        (in_flight as f64 + burst - delivered).max(0.0)
    }

    /// Adapts the window to loss recovery (`bbr_set_cwnd_to_recover_or_restore`). Returns whether as much is
    /// sent as is delivered, which determines the window.
    pub(super) fn recover_or_restore(&mut self, delivery: &DeliverySample) -> bool {
        let conserved = delivery.in_flight as f64 + (delivery.size as f64).max(self.segment);
        self.window = (self.window - delivery.lost as f64).max(self.segment);
        let state = LossState::of(delivery);
        let before = std::mem::replace(&mut self.loss_state, state);
        if state == LossState::Recovery && before != state {
            self.conserves = true;
            self.rounds.restart(delivery.delivered);
            self.window = conserved;
        } else if before != LossState::None && state == LossState::None {
            self.conserves = false;
            self.restore_window();
        }
        if self.conserves {
            self.window = self.window.max(conserved);
        }
        self.conserves
    }
}
