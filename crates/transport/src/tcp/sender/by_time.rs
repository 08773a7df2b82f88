//! Acknowledgements and timers with recovery by time ([`Rack`]).

use super::TcpSender;
use crate::tcp::accurate_ecn::EcnMode;
use crate::tcp::recovery::{
    AckEvent, LossRecovery, PlannedRange, Rack, RecoveryEffect, Reduction, TimerPurpose,
};
use crate::{AckInfo, Acked, LossKind, Lost, Marked, Recovered};
use multihop_core::{Segment, Span, Time};

/// Changes that an acknowledgement brings beside its number and blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    /// Whether congestion is echoed.
    pub echo: bool,
    /// Whether the receive window differs.
    pub updates_window: bool,
}

/// Kind of a segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentKind {
    /// Whether nothing was outstanding before.
    pub was_idle: bool,
    pub retransmission: bool,
    /// Whether the segment is a tail loss probe.
    pub sends_probe: bool,
}

impl TcpSender {
    fn rack(&mut self) -> Option<&mut Rack> {
        match &mut self.recovery {
            LossRecovery::ByAcks(_) => None,
            LossRecovery::ByTime(rack) => Some(rack),
        }
    }

    /// Processes an acknowledgement of data up to `max`.
    pub(super) fn process_ack_by_time(&mut self, now: Time, segment: &Segment, changes: Changes) {
        let una_before = self.sequence.una;
        let acked = segment.ack - una_before;
        let app_limited = self.app_limited();
        self.sequence.una = segment.ack;
        if acked > 0 {
            self.repairs.on_advance(segment.ack);
        }
        let sent = self.send_times.as_mut().and_then(|times| times.on_acked(segment.ack));
        let event = AckEvent {
            una_before,
            blocks: segment.sack.as_slice(),
            echoed_time: segment.echo,
            ecn_echo: changes.echo,
            is_bare: segment.payload == 0 && !changes.updates_window,
            ..self.event(now)
        };
        let Some(rack) = self.rack() else { return };
        rack.take_lost();
        let effect = rack.on_ack(&event);
        if acked > 0 || effect.delivered > 0 {
            self.controller.on_ack(&AckInfo { now, advance: (acked > 0).then_some(acked) });
        }
        let measured = if acked > 0 { self.measure(now, segment) } else { None };
        let measured = measured.or_else(|| effect.sent_once.map(|sent| self.note_round_trip(sent, now)));
        self.apply(now, &effect, acked > 0);
        self.set_timer_after_ack(now, acked > 0, &effect);
        let opens = self.rack().is_some_and(|rack| rack.opens_window());
        if acked > 0 && opens {
            let sent = sent.filter(|_| self.options.time_every_segment);
            let rtt = sent.map(|sent| now.since(sent)).or(measured);
            let (srtt, in_flight) = (self.rto.smoothed(), self.in_flight());
            let (size, fresh, ecn_echo, hops) = (acked, effect.delivered, changes.echo, segment.hops);
            let acked = Acked { now, size, fresh, rtt, srtt, in_flight, app_limited, ecn_echo, hops };
            self.controller.on_acked(&acked);
        }
    }

    /// State of the connection for recovery, without an acknowledgement.
    fn event(&self, now: Time) -> AckEvent<'static> {
        let sequence = &self.sequence;
        AckEvent {
            now,
            una_before: sequence.una,
            una: sequence.una,
            max: sequence.max,
            blocks: &[],
            echoed_time: None,
            ecn_echo: false,
            is_bare: true,
            has_new_data: sequence.pushed > sequence.max
                && sequence.una + sequence.peer_window > sequence.max,
            min_rtt: self.least_round_trip,
            srtt: self.rto.smoothed(),
            duplicate_threshold: self.options.duplicate_threshold,
        }
    }

    /// Reports the effect of an acknowledgement or of a timer to the controller, and sets the window of a
    /// reduction.
    fn apply(&mut self, now: Time, effect: &RecoveryEffect, advanced: bool) {
        if effect.undone {
            self.controller.on_undone();
        }
        if effect.ended {
            let window = self.controller.allowance().window;
            self.controller.on_recovered(&Recovered { now, in_flight: self.in_flight(), window });
        }
        if let Some(reduction) = effect.reduction {
            self.begin_reduction(now, reduction);
        }
        let (threshold, mss) = (self.controller.allowance().window, self.options.mss());
        if let Some(rack) = self.rack() {
            rack.reduce(effect, advanced, threshold, mss);
        }
        self.report_lost_segments();
    }

    /// Reports each segment newly lost to the controller.
    fn report_lost_segments(&mut self) {
        while let Some(lost) = self.rack().and_then(Rack::next_lost) {
            let lost = self.rates.as_mut().and_then(|rates| rates.on_lost(lost.start, lost.end));
            if let Some(lost) = lost {
                self.controller.on_segment_lost(&lost);
            }
        }
    }

    fn begin_reduction(&mut self, now: Time, reduction: Reduction) {
        let window = self.recovery.window(&self.view());
        let governs = self.controller.sets_recovery_window();
        self.cwr = self.ecn == EcnMode::Classic;
        let lost = Lost { now, kind: LossKind::DuplicateAcks, in_flight: window };
        match reduction {
            Reduction::Loss => {
                self.counters.recoveries += 1;
                self.controller.on_lost(&lost);
            }
            Reduction::Probe => {
                if !governs {
                    self.controller.on_lost(&lost);
                }
                return;
            }
            Reduction::Echo => {
                self.counters.ecn_reductions += 1;
                self.controller.on_marked(&Marked { now, in_flight: window });
            }
        }
        if let Some(rack) = self.rack().filter(|_| !governs) {
            rack.start_reduction(window);
        }
    }

    /// Retransmission timeout from the last transmission of the first outstanding segment, not in the past
    /// (`tcp_rto_delta_us` of Linux).
    fn timeout_of_first(&self, now: Time) -> Time {
        let LossRecovery::ByTime(rack) = &self.recovery else { return now };
        rack.oldest_sent().map_or(now, |sent| sent + self.rto.timeout()).max(now)
    }

    fn set_timer(&mut self, purpose: TimerPurpose, at: Option<Time>) {
        self.deadline = at;
        if let Some(rack) = self.rack() {
            rack.timer = purpose;
        }
    }

    /// Sets the timer to the retransmission timeout (`tcp_rearm_rto` of Linux): from now, or from the last
    /// transmission if the timer had another purpose.
    fn restart_rto(&mut self, now: Time) {
        let outstanding = self.sequence.max > self.sequence.una;
        let purpose = self.rack().map_or(TimerPurpose::Retransmission, |rack| rack.timer);
        let at = match purpose {
            TimerPurpose::Retransmission => now + self.rto.timeout(),
            TimerPurpose::Probe | TimerPurpose::Reordering => self.timeout_of_first(now),
        };
        self.set_timer(TimerPurpose::Retransmission, outstanding.then_some(at));
    }

    /// Restarts the retransmission timeout, whatever the purpose of the timer was.
    pub(super) fn restart_timer_by_time(&mut self, now: Time) {
        self.set_timer(TimerPurpose::Retransmission, Some(now + self.rto.timeout()));
    }

    /// Schedules a tail loss probe, if one may be sent. `until_timeout` is the time left to the
    /// retransmission timeout.
    fn schedule_probe(&mut self, now: Time, until_timeout: Span) -> bool {
        let srtt = self.rto.smoothed();
        let after = self.rack().and_then(|rack| rack.probe_after(srtt, until_timeout));
        if let Some(after) = after {
            self.set_timer(TimerPurpose::Probe, Some(now + after));
        }
        after.is_some()
    }

    fn set_timer_after_ack(&mut self, now: Time, advanced: bool, effect: &RecoveryEffect) {
        if self.sequence.max == self.sequence.una {
            self.set_timer(TimerPurpose::Retransmission, None);
        } else if let Some(wait) = effect.reordering_timer {
            self.set_timer(TimerPurpose::Reordering, Some(now + wait));
        } else if advanced && !self.schedule_probe(now, self.rto.timeout()) {
            self.restart_rto(now);
        }
    }

    /// Sets the timer after a segment was sent; nothing with recovery by acknowledgements.
    pub(super) fn set_timer_after_sending(&mut self, now: Time, planned: PlannedRange, kind: SentKind) {
        let Some(rack) = self.rack() else { return };
        let (purpose, is_first) = (rack.timer, rack.is_first(planned.start));
        if kind.retransmission && !kind.sends_probe {
            if is_first && purpose != TimerPurpose::Reordering {
                self.set_timer(TimerPurpose::Retransmission, Some(now + self.rto.timeout()));
            }
            return;
        }
        if kind.was_idle || kind.sends_probe {
            self.set_timer(TimerPurpose::Retransmission, Some(now + self.rto.timeout()));
        } else if purpose == TimerPurpose::Probe || self.deadline.is_none() {
            self.restart_rto(now);
        }
        if !kind.sends_probe {
            let until_timeout = self.timeout_of_first(now).since(now);
            self.schedule_probe(now, until_timeout);
        }
    }

    /// Processes the expiry of the timer.
    pub(super) fn on_timer_by_time(&mut self, now: Time) {
        if self.sequence.una == self.sequence.max {
            self.deadline = None;
            return;
        }
        let event = self.event(now);
        let Some(rack) = self.rack() else { return };
        match rack.timer {
            TimerPurpose::Retransmission => self.on_rto_by_time(now),
            TimerPurpose::Probe => {
                if rack.on_probe_timer() {
                    // The retransmission timeout counts from the probe, which pacing may delay.
                    self.set_timer(TimerPurpose::Probe, Some(now + self.rto.timeout()));
                } else {
                    self.restart_rto(now);
                }
            }
            TimerPurpose::Reordering => {
                let effect = rack.on_reordering_timer(&event);
                // Linux counts one segment as delivered, so that one is released.
                let delivered = self.options.mss();
                self.apply(now, &RecoveryEffect { delivered, ..effect }, false);
                self.restart_rto(now);
            }
        }
    }

    fn on_rto_by_time(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let window = self.recovery.window(&self.view());
        let (una, max) = (self.sequence.una, self.sequence.max);
        let Some(rack) = self.rack() else { return };
        let again = !rack.on_timeout(now, una, max);
        self.cwr = self.ecn == EcnMode::Classic;
        self.controller.on_lost(&Lost { now, kind: LossKind::Timeout { again }, in_flight: window });
        self.report_lost_segments();
        self.repairs.clear();
        self.timed = None;
        self.rto.back_off();
        self.set_timer(TimerPurpose::Retransmission, Some(now + self.rto.timeout()));
    }
}
