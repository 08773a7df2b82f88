//! States of BBR version 3, their gains, and the transitions out of Startup and Drain (sections 5.3.1 and
//! 5.3.2).

use super::Bbr3;
use super::bounds::UndoState;
use crate::DeliverySample;
use multihop_core::Time;

/// `StartupPacingGain`, 4 ln 2: doubles the rate in each round trip.
pub(super) const STARTUP_PACING_GAIN: f64 = 4.0 * std::f64::consts::LN_2;

/// `StartupFullLossCnt`: number of separate losses in a round trip that may end Startup.
const STARTUP_LOSSES: u32 = 6;

/// Number of round trips after which Drain ends (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// State of BBR (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// Startup: the rate doubles each round trip until the pipe is full.
    Startup,
    /// Drain: the queue built in Startup is drained.
    Drain {
        /// Number of the round trip in which the state began.
        since_round: u64,
    },
    /// `ProbeBW_DOWN`: the queue built by a probe is drained, and headroom is left.
    Down,
    /// `ProbeBW_CRUISE`: the pace is the bandwidth.
    Cruise,
    /// `ProbeBW_REFILL`: the pipe is filled without a queue, for a round trip.
    Refill,
    /// `ProbeBW_UP`: more bandwidth is probed for.
    Up,
    /// ProbeRTT: the data in flight is halved, to measure the round-trip time of the empty path.
    ProbeRtt {
        /// Earliest end of the state; none until the data in flight is down to the limit.
        until: Option<Time>,
        /// Whether a round trip has passed since then.
        round_done: bool,
    },
}

impl State {
    /// Pacing gain (section 5.6.1).
    pub fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain { .. } => 0.5,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt { .. } => 1.0,
            State::Up => 1.25,
        }
    }

    /// Window in bandwidth-delay products (section 5.6.1).
    pub fn window_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt { .. } => 0.5,
            _ => 2.0,
        }
    }

    /// `IsInAProbeBWState`.
    pub fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `IsProbingBW`: whether more bandwidth is looked for.
    pub fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

impl Bbr3 {
    /// `CheckFullBWReached` (section 5.3.1.2).
    pub(super) fn check_full_pipe(&mut self, delivery: &DeliverySample) {
        if self.rounds.started && !delivery.app_limited {
            self.full_pipe.on_round(delivery.rate.unwrap_or(0.0));
            self.full_bandwidth_reached |= self.full_pipe.filled;
        }
    }

    /// `CheckStartupDone` (section 5.3.1.1).
    pub(super) fn check_startup(&mut self, delivery: &DeliverySample) {
        self.check_startup_losses(delivery);
        if self.state == State::Startup && self.full_bandwidth_reached {
            self.state = State::Drain { since_round: self.rounds.count };
        }
    }

    /// `CheckStartupHighLoss` (section 5.3.1.3): six separate losses in a round trip of fast recovery, and a
    /// loss rate above the threshold.
    fn check_startup_losses(&mut self, delivery: &DeliverySample) {
        if !self.losses.round_started {
            return;
        }
        let ranges = self.losses.take_ranges();
        let is_lossy = ranges >= STARTUP_LOSSES
            && Bbr3::is_inflight_too_high(delivery.lost_since_send, delivery.in_flight_at_send);
        if self.state != State::Startup || !delivery.fast_recovery || !is_lossy {
            return;
        }
        self.undo.state = Some(UndoState::Startup);
        self.full_bandwidth_reached = true;
        self.full_pipe.filled = true;
        self.bounds.inflight_longterm = self.bandwidth_delay_product().max(self.latest.inflight);
    }

    /// `CheckDrainDone` (section 5.3.2).
    pub(super) fn check_drain(&mut self, delivery: &DeliverySample) {
        if let State::Drain { since_round } = self.state
            && (delivery.in_flight as f64 <= self.inflight(self.bandwidth, 1.0)
                || self.rounds.count > since_round + DRAIN_ROUNDS)
        {
            self.start_down(delivery.now);
        }
    }
}
