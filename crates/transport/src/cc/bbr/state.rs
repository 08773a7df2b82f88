//! The states of BBR, and when it goes from one to the next (section 4.3 of the draft).

use super::Bbr;
use crate::Delivery;
use multihop_core::{Rng, Span, Time};

/// `BBRHighGain`, 2/ln 2: with it the rate doubles in each round trip.
pub(super) const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;

/// The pacing gains of the phases in which bandwidth is probed for, about a round trip each (section
/// 4.3.4.2).
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// `ProbeRTTDuration`.
const PROBE_RTT: Span = Span::from_ms(200);

/// What BBR is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// The rate doubles each round trip until the pipe is full.
    Startup,
    /// The queue that this left is emptied.
    Drain,
    /// The bandwidth is used, and in turns probed for.
    ProbeBw {
        /// The phase of the cycle.
        phase: usize,
        /// When it began.
        since: Time,
    },
    /// As little is sent as can be, to see the round trip of the empty path.
    ProbeRtt {
        /// When it may end; none before so little is in flight.
        until: Option<Time>,
        /// So little has been in flight for a round trip.
        round_done: bool,
    },
}

/// Whether start-up has filled the pipe (section 4.3.2.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub filled: bool,
    /// The bandwidth when it last grew by a quarter.
    bandwidth: f64,
    /// Round trips since.
    rounds: u32,
}

impl FullPipe {
    /// A round trip that the application did not hold back is over, and the bandwidth is this.
    pub fn on_round(&mut self, bandwidth: f64) {
        if self.filled {
            return;
        }
        if bandwidth >= 1.25 * self.bandwidth {
            (self.bandwidth, self.rounds) = (bandwidth, 0);
            return;
        }
        self.rounds += 1;
        self.filled = self.rounds >= 3;
    }
}

impl State {
    pub fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw { phase, .. } => CYCLE[phase],
            State::ProbeRtt { .. } => 1.0,
        }
    }

    pub fn is_probe_rtt(self) -> bool {
        matches!(self, State::ProbeRtt { .. })
    }
}

impl Bbr {
    /// How the window follows from bandwidth and round trip.
    pub(super) fn window_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw { .. } => self.options.window_gain,
            State::ProbeRtt { .. } => 1.0,
        }
    }

    /// Section 4.3.4.3. The phase is drawn, so that flows do not probe together, but it is never the one that
    /// drains. What it is drawn from is the instant, of which each flow has its own: a run can be repeated,
    /// and no flow knows of another.
    fn enter_probe_bw(&mut self, now: Time) {
        let drawn = Rng::at(now.ns(), &["bbr"]).below(CYCLE.len() as u32 - 1) as usize;
        self.state = State::ProbeBw { phase: (CYCLE.len() - drawn) % CYCLE.len(), since: now };
    }

    /// `BBRCheckCyclePhase` (section 4.3.4.3).
    pub(super) fn check_cycle_phase(&mut self, delivery: &Delivery) {
        let State::ProbeBw { phase, since } = self.state else { return };
        let full_length = self.round_trip.value().is_some_and(|rtt| delivery.now.since(since) > rtt);
        let gain = CYCLE[phase];
        let in_flight = delivery.in_flight_before as f64;
        let over = if gain > 1.0 {
            full_length && (delivery.lost > 0 || in_flight >= self.volume(gain))
        } else if gain < 1.0 {
            full_length || in_flight <= self.volume(1.0)
        } else {
            full_length
        };
        if over {
            self.state = State::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: delivery.now };
        }
    }

    /// `BBRCheckDrain` (section 4.3.3).
    pub(super) fn check_drain(&mut self, delivery: &Delivery) {
        if self.state == State::Startup && self.full_pipe.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && delivery.in_flight as f64 <= self.volume(1.0) {
            self.enter_probe_bw(delivery.now);
        }
    }

    /// `BBRCheckProbeRTT` (section 4.3.5).
    pub(super) fn check_probe_rtt(&mut self, delivery: &Delivery) {
        if !self.state.is_probe_rtt() && self.round_trip.expired() && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt { until: None, round_done: false };
        }
        if let State::ProbeRtt { until, round_done } = self.state {
            self.probe_rtt(delivery, until, round_done);
        }
        self.idle_restart = false;
    }

    /// `BBRHandleProbeRTT`: the round trip and the 200 ms count from when so little is in flight.
    fn probe_rtt(&mut self, delivery: &Delivery, until: Option<Time>, round_done: bool) {
        let Some(end) = until else {
            if delivery.in_flight as f64 <= self.least_window() {
                self.round_end = delivery.delivered;
                self.state = State::ProbeRtt { until: Some(delivery.now + PROBE_RTT), round_done: false };
            }
            return;
        };
        let round_done = round_done || self.round_start;
        self.state = State::ProbeRtt { until, round_done };
        if round_done && delivery.now > end {
            self.round_trip.confirm(delivery.now);
            self.restore_window();
            if self.full_pipe.filled {
                self.enter_probe_bw(delivery.now);
            } else {
                self.state = State::Startup;
            }
        }
    }
}
