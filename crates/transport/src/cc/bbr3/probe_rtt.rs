//! Minimum round-trip time, and the state ProbeRTT that measures it (section 5.3.4).

use super::Bbr3;
use super::probe_bw::AckPhase;
use super::state::State;
use crate::DeliverySample;
use multihop_core::{Span, Time};

/// `MinRTTFilterLen`.
const MIN_RTT_WINDOW: Span = Span::from_ms(10_000);

/// `ProbeRTTInterval`.
const PROBE_INTERVAL: Span = Span::from_ms(5_000);

/// `ProbeRTTDuration`.
const PROBE_DURATION: Span = Span::from_ms(200);

/// Minimum with the time at which it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Minimum {
    value: Option<Span>,
    since: Time,
}

/// Minimum round-trip times over ten and over five seconds (section 5.3.4.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTripFilter {
    /// `BBR.min_rtt`.
    minimum: Minimum,
    /// `BBR.probe_rtt_min_delay`.
    recent: Minimum,
    /// `BBR.probe_rtt_expired`.
    expired: bool,
}

impl RoundTripFilter {
    /// The minimum is the round trip of the handshake.
    pub fn of_handshake(rtt: Span) -> RoundTripFilter {
        let minimum = Minimum { value: Some(rtt), since: Time::ZERO };
        RoundTripFilter { minimum, ..RoundTripFilter::default() }
    }

    /// `BBR.min_rtt`.
    pub fn minimum(&self) -> Option<Span> {
        self.minimum.value
    }

    /// Whether the recent minimum was older than its window at the last update.
    pub fn expired(&self) -> bool {
        self.expired
    }

    /// Schedules the next ProbeRTT.
    pub fn restart(&mut self, now: Time) {
        self.recent.since = now;
    }

    /// `UpdateMinRTT`, with a round-trip sample if there is one.
    pub fn update(&mut self, now: Time, rtt: Option<Span>) {
        if self.recent.value.is_none() {
            self.minimum.since = now; // that of the handshake
        }
        self.expired = self.recent.value.is_some() && now > self.recent.since + PROBE_INTERVAL;
        if let Some(rtt) = rtt
            && (self.expired || self.recent.value.is_none_or(|least| rtt < least))
        {
            self.recent = Minimum { value: Some(rtt), since: now };
        }
        let Some(recent) = self.recent.value else { return };
        let expired = now > self.minimum.since + MIN_RTT_WINDOW;
        if expired || self.minimum.value.is_none_or(|least| recent < least) {
            self.minimum = self.recent;
        }
    }
}

impl Bbr3 {
    /// `CheckProbeRTT` (section 5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, delivery: &DeliverySample) {
        let is_probing = matches!(self.state, State::ProbeRtt { .. });
        if !is_probing && self.round_trip.expired() && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt { until: None, round_done: false };
            self.probe.ack_phase = AckPhase::Stopping;
            self.start_round();
        }
        if let State::ProbeRtt { until, round_done } = self.state {
            self.probe_rtt(delivery, until, round_done);
        }
        self.idle_restart = false;
    }

    /// `HandleProbeRTT`: the round trip and the 200 ms start when the data in flight is down to the limit.
    fn probe_rtt(&mut self, delivery: &DeliverySample, until: Option<Time>, round_done: bool) {
        if until.is_none() {
            if delivery.in_flight as f64 <= self.probe_rtt_window() {
                self.start_round();
                let until = Some(delivery.now + PROBE_DURATION);
                self.state = State::ProbeRtt { until, round_done: false };
            }
            return;
        }
        let round_done = round_done || self.rounds.started;
        self.state = State::ProbeRtt { until, round_done };
        if round_done {
            self.end_probe_rtt_after(until, delivery.now);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (section 5.3.4.4).
    pub(super) fn end_probe_rtt_after(&mut self, until: Option<Time>, now: Time) {
        if until.is_none_or(|until| now <= until) {
            return;
        }
        self.round_trip.restart(now);
        self.restore_window();
        self.reset_short_term_model();
        if self.full_bandwidth_reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
