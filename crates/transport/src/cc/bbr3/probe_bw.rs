//! ProbeBW (section 5.3.3): cycles of DOWN, CRUISE, REFILL and UP.

use super::state::State;
use super::{Bbr3, FullPipe};
use crate::DeliverySample;
use multihop_core::{Rng, Span, Time};

/// Least time between probes, to which up to a second is added at random (`T_bbr`).
const MIN_WAIT: Span = Span::from_ms(2_000);

/// Greatest number of round trips between probes (`T_reno_bound`).
const MAX_WAIT_ROUNDS: f64 = 63.0;

/// Feedback to a bandwidth probe that acknowledgements give (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum AckPhase {
    /// No probe.
    #[default]
    Init,
    /// The pipe is filled.
    Refilling,
    /// A probe began.
    Starting,
    /// Data of a probe is acknowledged.
    Feedback,
    /// A probe ended, and some of its data is outstanding.
    Stopping,
}

/// Bandwidth probe (section 2.14).
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub ack_phase: AckPhase,
    /// `BBR.is_bw_probe_sample`: whether data of an accelerating phase is acknowledged.
    pub is_sample: bool,
    /// `BBR.bw_probe_up_acked`: bytes delivered since the long-term bound last grew.
    acked: f64,
    /// `BBR.probe_up_acked_per_inc`: bytes to be delivered before the bound grows by a segment.
    acked_per_increase: f64,
    /// `BBR.bw_probe_up_rounds`: number of round trips in which the bound grew.
    up_rounds: u32,
    /// `BBR.rounds_since_probe_up`.
    pub rounds_since_up: u64,
    /// `BBR.bw_probe_wait`, and `BBR.cycle_stamp`, the start of the cycle.
    wait: Span,
    since: Time,
    /// `BBR.prev_probe_too_high`: whether the last probe had too many losses.
    pub was_too_high: bool,
    /// `BBR.prev_probe_precautionary`: whether the last probe ended at the bound of a probe with too many
    /// losses.
    was_precautionary: bool,
    /// Time of the last delivery.
    pub now: Time,
}

impl Default for Probe {
    fn default() -> Probe {
        Probe {
            ack_phase: AckPhase::Init,
            is_sample: false,
            acked: 0.0,
            acked_per_increase: f64::INFINITY,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Span::ZERO,
            since: Time::ZERO,
            was_too_high: false,
            was_precautionary: false,
            now: Time::ZERO,
        }
    }
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`. The wait until the next probe is drawn from the time, which differs between
    /// flows: runs are repeatable, and flows stay independent.
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        let mut rng = Rng::at(now.ns(), &["bbr3"]);
        self.probe.acked_per_increase = f64::INFINITY;
        self.probe.rounds_since_up = u64::from(rng.below(2));
        self.probe.wait = MIN_WAIT + Span::from_ns((rng.unit() * 1e9) as u64);
        self.probe.since = now;
        self.probe.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.probe.up_rounds = 0;
        self.probe.acked = 0.0;
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, delivery: &DeliverySample) {
        self.probe.ack_phase = AckPhase::Starting;
        self.start_round();
        self.full_pipe = FullPipe::above(delivery.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase` (section 5.3.3.9).
    pub(super) fn update_probe_bw(&mut self, delivery: &DeliverySample) {
        self.probe.now = delivery.now;
        if !self.full_bandwidth_reached || self.adapt_long_term_model(delivery) {
            return;
        }
        let goes_down = self.state == State::Up && self.is_time_to_go_down(delivery);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(delivery.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(delivery) => self.state = State::Cruise,
            State::Refill if self.rounds.started => {
                self.probe.is_sample = true;
                self.start_up(delivery);
            }
            State::Up if goes_down => {
                self.probe.was_too_high = false;
                self.start_down(delivery.now);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW` (section 5.3.3.8): after two to three seconds, or after as many round trips as Reno
    /// would take to grow by the data in flight.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.segment).min(MAX_WAIT_ROUNDS);
        now > self.probe.since + self.probe.wait || self.probe.rounds_since_up as f64 >= reno_rounds
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, delivery: &DeliverySample) -> bool {
        let in_flight = delivery.in_flight as f64;
        let product = self.inflight(self.max_bandwidth.value(), 1.0);
        in_flight <= self.inflight_with_headroom() && in_flight <= product
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, delivery: &DeliverySample) -> bool {
        let bound = self.bounds.inflight_longterm;
        // "Precautionary Bandwidth Probing: Deceleration" (section 5.3.3.6).
        if self.probe.was_too_high && delivery.in_flight as f64 >= bound {
            self.probe.was_precautionary = true;
            return true;
        }
        if self.is_window_limited() && self.window >= bound {
            self.full_pipe = FullPipe::above(delivery.rate.unwrap_or(0.0));
            return false;
        }
        self.full_pipe.filled
    }

    /// `AdaptLongTermModel`. Returns whether the state changed.
    fn adapt_long_term_model(&mut self, delivery: &DeliverySample) -> bool {
        if self.rounds.started && self.probe.ack_phase == AckPhase::Starting {
            self.probe.ack_phase = AckPhase::Feedback;
        }
        if self.rounds.started && self.probe.ack_phase == AckPhase::Stopping {
            self.probe.is_sample = false;
            self.probe.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !delivery.app_limited {
                self.cycle += 1;
            }
            // "Precautionary Bandwidth Probing: Acceleration" (section 5.3.3.6).
            if self.state.is_probe_bw() && self.probe.was_precautionary && !self.probe.was_too_high {
                self.start_refill();
                return true;
            }
        }
        let is_bounded = self.bounds.inflight_longterm.is_finite();
        let too_high = Bbr3::is_inflight_too_high(delivery.lost_since_send, delivery.in_flight_at_send);
        if is_bounded && !too_high {
            let safe = delivery.in_flight_at_send as f64;
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(safe);
            if self.state == State::Up {
                self.probe_upward(delivery);
            }
        }
        false
    }

    /// `RaiseInflightLongtermSlope`: the growth per round trip doubles.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.probe.up_rounds);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_increase = (self.window / growth).max(self.segment);
    }

    /// `ProbeInflightLongtermUpward`: the bound grows if it limits the data in flight.
    fn probe_upward(&mut self, delivery: &DeliverySample) {
        if !self.is_window_limited() || self.window < self.bounds.inflight_longterm {
            return;
        }
        self.probe.acked += delivery.size as f64;
        let increases = (self.probe.acked / self.probe.acked_per_increase).floor();
        self.probe.acked -= increases * self.probe.acked_per_increase;
        self.bounds.inflight_longterm += increases * self.segment;
        if self.rounds.started {
            self.raise_slope();
        }
    }
}
