//! States of BBR and their transitions (section 4.3 of the draft).

use super::Bbr;
use crate::DeliverySample;
use multihop_core::{Rng, Span, Time};

/// `BBRHighGain`, 2/ln 2: doubles the rate in each round trip.
pub(super) const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;

/// Pacing gains of the ProbeBW phases, each of about a round trip (section 4.3.4.2).
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// `ProbeRTTDuration`.
const PROBE_RTT: Span = Span::from_ms(200);

/// State of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BbrState {
    /// Startup: the rate doubles each round trip until the pipe is full.
    Startup,
    /// Drain: the queue built in Startup is drained.
    Drain,
    /// ProbeBW: the bandwidth is used, and periodically probed.
    ProbeBw {
        /// Phase of the gain cycle.
        phase: usize,
        /// Start of the phase.
        since: Time,
    },
    /// ProbeRTT: the window is reduced to its minimum, to measure the round-trip time of the empty path.
    ProbeRtt {
        /// Earliest end of the state; none until the data in flight is down to the minimum.
        until: Option<Time>,
        /// Whether a round trip has passed since then.
        round_done: bool,
    },
}

impl BbrState {
    pub fn pacing_gain(self) -> f64 {
        match self {
            BbrState::Startup => HIGH_GAIN,
            BbrState::Drain => 1.0 / HIGH_GAIN,
            BbrState::ProbeBw { phase, .. } => CYCLE[phase],
            BbrState::ProbeRtt { .. } => 1.0,
        }
    }

    pub fn is_probe_rtt(self) -> bool {
        matches!(self, BbrState::ProbeRtt { .. })
    }
}

impl Bbr {
    /// Gain of the pace: that of the state, unless the path is policed.
    pub(super) fn pacing_gain(&self) -> f64 {
        let is_policed = self.policer.rate().is_some() && matches!(self.state, BbrState::ProbeBw { .. });
        if is_policed { 1.0 } else { self.state.pacing_gain() }
    }

    /// Window in bandwidth-delay products.
    pub(super) fn window_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => HIGH_GAIN,
            BbrState::ProbeBw { .. } => self.options.window_gain,
            BbrState::ProbeRtt { .. } => 1.0,
        }
    }

    /// Enters ProbeBW (section 4.3.4.3). The phase is random, so that flows do not probe together, but never
    /// the draining phase. It is drawn from the time, which differs between flows: runs are repeatable, and
    /// flows stay independent.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        let drawn = Rng::at(now.ns(), &["bbr"]).below(CYCLE.len() as u32 - 1) as usize;
        self.state = BbrState::ProbeBw { phase: (CYCLE.len() - drawn) % CYCLE.len(), since: now };
    }

    /// `BBRCheckCyclePhase` (section 4.3.4.3).
    pub(super) fn check_cycle_phase(&mut self, delivery: &DeliverySample) {
        let BbrState::ProbeBw { phase, since } = self.state else { return };
        let full_length = self.round_trip.value().is_some_and(|rtt| delivery.now.since(since) > rtt);
        let gain = self.pacing_gain();
        let in_flight = self.in_flight_at_departure(delivery, delivery.in_flight_before);
        let over = if gain > 1.0 {
            full_length && (delivery.lost > 0 || in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || in_flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if over {
            self.state = BbrState::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: delivery.now };
        }
    }

    /// `BBRCheckDrain` (section 4.3.3).
    pub(super) fn check_drain(&mut self, delivery: &DeliverySample) {
        if self.state == BbrState::Startup && self.full_pipe.filled {
            self.state = BbrState::Drain;
        }
        if self.state == BbrState::Drain
            && self.in_flight_at_departure(delivery, delivery.in_flight) <= self.inflight(1.0)
        {
            self.enter_probe_bw(delivery.now);
        }
    }

    /// `BBRCheckProbeRTT` (section 4.3.5).
    pub(super) fn check_probe_rtt(&mut self, delivery: &DeliverySample) {
        if !self.state.is_probe_rtt() && self.round_trip.expired() && !self.idle_restart {
            self.save_window();
            self.state = BbrState::ProbeRtt { until: None, round_done: false };
        }
        if let BbrState::ProbeRtt { until, round_done } = self.state {
            self.probe_rtt(delivery, until, round_done);
        }
        self.idle_restart = false;
    }

    /// `BBRHandleProbeRTT`: the round trip and the 200 ms start when the data in flight is down to the
    /// minimum.
    fn probe_rtt(&mut self, delivery: &DeliverySample, until: Option<Time>, round_done: bool) {
        let Some(end) = until else {
            if delivery.in_flight as f64 <= self.min_window() {
                self.rounds.restart(delivery.delivered);
                self.state = BbrState::ProbeRtt { until: Some(delivery.now + PROBE_RTT), round_done: false };
            }
            return;
        };
        let round_done = round_done || self.rounds.started;
        self.state = BbrState::ProbeRtt { until, round_done };
        if round_done && delivery.now > end {
            self.end_probe_rtt(delivery.now);
        }
    }

    fn end_probe_rtt(&mut self, now: Time) {
        self.round_trip.confirm(now);
        self.restore_window();
        if self.full_pipe.filled {
            self.enter_probe_bw(now);
        } else {
            self.state = BbrState::Startup;
        }
    }

    /// Ends ProbeRTT after an idle period that lasted until its end (`bbr_cwnd_event` of Linux).
    pub(super) fn end_probe_rtt_if_over(&mut self, now: Time) {
        if let BbrState::ProbeRtt { until: Some(until), .. } = self.state
            && now > until
        {
            self.end_probe_rtt(now);
        }
    }
}
