//! Processing of acknowledgements at the sender.

use super::by_time::Changes;
use super::{Connection, ReductionReason, SendTimes, TcpSender};
use crate::tcp::accurate_ecn::{EcnMode, handshake_ace};
use crate::tcp::recovery::{Advance, LossRecovery, SenderView};
use crate::{AckInfo, Acked, DeliverySample, LossKind, Marked, Recovered, Returned};
use multihop_core::{Segment, Span, Time};

impl TcpSender {
    /// Opens the connection. A repeated SYN-ACK needs no answer, as the receiver does not wait for one.
    pub(super) fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if !matches!(self.connection, Connection::SynSent | Connection::SynDue) || !segment.flags.ack {
            return;
        }
        self.connection = Connection::Open;
        self.ecn = EcnMode::from_syn_ack(segment.flags, self.options.ecn, self.options.accurate_ecn);
        if self.ecn == EcnMode::Accurate {
            self.handshake_ace = Some(handshake_ace(segment.ecn));
        }
        self.sequence.peer_window = segment.window;
        self.ack_stamp = segment.ack_stamp;
        self.acknowledge_syn = true;
        self.deadline = None;
        self.last_sent = now;
        let samples = self.counters.rtt_samples;
        if let Some(sent) = segment.echo.or(self.timed.take().map(|timed| timed.sent)) {
            let rtt = self.note_round_trip(sent, now);
            self.controller.on_opened(rtt);
        }
        self.timed = None;
        self.report_feedback(now, segment, samples);
    }

    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment) {
        if self.shields_ack(now, segment) {
            return;
        }
        let samples = self.counters.rtt_samples;
        let counts = self.options.feedback_of_duplicates || segment.ack > self.sequence.una;
        self.note_application_limit();
        let in_flight_before = self.rates.is_some().then(|| self.pipe());
        self.process_ack(now, segment);
        self.report_marks(now);
        self.report_delivery(now, segment, in_flight_before, samples);
        if counts {
            self.report_feedback(now, segment, samples);
        }
    }

    /// Payload bytes in the network, as far as recovery knows.
    fn pipe(&self) -> u64 {
        self.recovery.pipe(&self.view())
    }

    /// Records whether the application has less to send than the window allows. Called before
    /// acknowledgements and the application change this.
    pub(super) fn note_application_limit(&mut self) {
        if self.rates.is_none()
            || self.connection != Connection::Open
            || self.sequence.max < self.sequence.pushed
        {
            return;
        }
        let view = self.view();
        let in_flight = self.recovery.pipe(&view);
        if in_flight + view.mss() <= view.window && self.plan().is_none() {
            self.rates.iter_mut().for_each(|rates| rates.mark_app_limited(in_flight));
        }
    }

    /// Reports the deliveries by the acknowledgement just processed. `in_flight_before` and `samples`, the
    /// number of round-trip samples, are values from before it. A round-trip sample of this path alone is
    /// also given to the retransmission timer: in a long recovery, while the acknowledgement number stays, no
    /// other sample ends the back-off.
    fn report_delivery(&mut self, now: Time, segment: &Segment, in_flight_before: Option<u64>, samples: u64) {
        let Some(in_flight_before) = in_flight_before else { return };
        if segment.ack != self.sequence.una {
            return; // outdated, or of data never sent
        }
        let in_flight = self.pipe();
        let Some(rates) = &mut self.rates else { return };
        let Some(sample) = rates.on_ack(now, segment.ack, segment.sack.as_slice()) else { return };
        if let Some(rtt) = sample.rtt.filter(|_| self.counters.rtt_samples == samples) {
            self.note_round_trip(now - rtt, now);
        }
        let timed_out = matches!(self.last_reduction, Some((recover, ReductionReason::Timeout)) if self.sequence.una < recover);
        let lost = match &mut self.recovery {
            LossRecovery::ByAcks(_) => in_flight_before.saturating_sub(sample.size + in_flight),
            LossRecovery::ByTime(rack) => rack.take_lost(),
        };
        let marked = std::mem::take(&mut self.marked);
        self.controller.on_delivered(&DeliverySample {
            now,
            size: sample.size,
            marked: (self.ecn == EcnMode::Accurate).then_some(marked),
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            rate: sample.rate,
            app_limited: sample.app_limited,
            rtt: sample.rtt,
            in_flight_before,
            in_flight,
            lost,
            in_flight_at_send: sample.in_flight_at_send,
            lost_since_send: sample.lost_since_send,
            recovering: self.recovery.active() || timed_out,
            fast_recovery: self.recovery.is_fast(),
            departure: self.paced_until().map_or(now, |departure| departure.max(now)),
        });
        if self.controller.marks_app_limited() {
            self.rates.iter_mut().for_each(|rates| rates.mark_app_limited(in_flight));
        }
    }

    /// Reports router feedback. `samples` is the number of round-trip samples before the acknowledgement.
    fn report_feedback(&mut self, now: Time, segment: &Segment, samples: u64) {
        if segment.feedback.is_none() || segment.ack > self.sequence.max {
            return;
        }
        let rtt = self.counters.rtt.filter(|_| self.counters.rtt_samples > samples);
        let room = self.controller.allowance().window.saturating_sub(self.in_flight());
        let app_limited = self.sequence.max == self.sequence.pushed && self.options.mss() <= room;
        self.controller.on_feedback(&Returned { now, segment, rtt, app_limited });
    }

    fn process_ack(&mut self, now: Time, segment: &Segment) {
        if segment.ack < self.sequence.una || segment.ack > self.sequence.max {
            return;
        }
        self.sequence.burst = self.options.recovery_burst.unwrap_or(u32::MAX);
        let echo = self.echoes_congestion(segment);
        let updates_window = self.sequence.peer_window != segment.window;
        self.sequence.peer_window = segment.window;
        self.ack_stamp = segment.ack_stamp;
        let had = self.sequence.una + self.recovery.arrived(&self.view());
        let LossRecovery::ByAcks(recovery) = &mut self.recovery else {
            self.process_ack_by_time(now, segment, Changes { echo, updates_window });
            return;
        };
        let news = recovery.on_blocks(segment.ack, self.sequence.max, segment.sack.as_slice());
        if echo {
            self.on_echo(now, segment.ack);
        }
        if segment.ack > self.sequence.una {
            self.on_advance(now, segment, echo, had);
        } else if news
            && (!updates_window || self.options.recovery.is_selective())
            && segment.payload == 0
            && self.sequence.max > self.sequence.una
        {
            // A duplicate acknowledgement: data is outstanding, and nothing else changes (RFC 5681, section
            // 2). With selective acknowledgements only their news count (RFC 6675, section 2).
            self.on_duplicate(now);
        }
    }

    /// Whether an acknowledgement reports congestion to which the window is reduced as a whole. Counts marks
    /// with accurate feedback.
    fn echoes_congestion(&mut self, segment: &Segment) -> bool {
        match self.ecn {
            EcnMode::Off => false,
            EcnMode::Classic => segment.flags.ece,
            EcnMode::Accurate => {
                self.ack_arrivals.count(segment);
                let acked = segment.ack - self.sequence.una;
                let marked = self.marks.on_ack(segment, acked, self.options.mss());
                self.marked += marked;
                marked > 0 && !self.controller.reduces_by_share()
            }
        }
    }

    /// Reports marks to a controller that reduces by their share, until it reduces: once per window of data.
    /// As in Linux, not while losses are repaired.
    fn report_marks(&mut self, now: Time) {
        let is_new = self.marks_until.is_none_or(|until| self.sequence.una > until);
        if self.marked == 0 || !self.controller.reduces_by_share() || self.recovery.active() || !is_new {
            return;
        }
        let before = self.controller.allowance().window;
        self.controller.on_marked(&Marked { now, in_flight: self.in_flight() });
        if self.controller.allowance().window < before {
            self.marks_until = Some(self.sequence.max);
            self.counters.ecn_reductions += 1;
        }
    }

    /// Processes an ECN-Echo: at most one reduction per window of data (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, now: Time, ack: u64) {
        if self.last_reduction.is_some_and(|(recover, _)| ack <= recover) {
            return;
        }
        self.last_reduction = Some((self.sequence.max, ReductionReason::Echo));
        self.cwr = self.ecn == EcnMode::Classic;
        self.counters.ecn_reductions += 1;
        // "The sending TCP should reset the retransmit timer on receiving the ECN-Echo packet when the
        // congestion window is one": half of a window below two segments is less than one.
        if self.controller.allowance().window < 2 * self.options.mss() {
            self.held = true;
            if self.held_before && self.options.echo_backs_off {
                self.rto.back_off();
            }
            self.held_before = true;
            self.restart_timer(now);
        } else {
            self.held_before = false;
        }
        self.controller.on_marked(&Marked { now, in_flight: self.in_flight() });
    }

    /// Whether the window stays because the sender does not use it.
    pub(super) fn app_limited(&self) -> bool {
        let window = self.controller.allowance().window;
        if self.notes_window_use()
            && self.window_use.is_unused(window, self.controller.slow_start_threshold())
        {
            return true;
        }
        let has_no_more =
            self.sequence.max == self.sequence.pushed && self.in_flight() + self.options.mss() <= window;
        has_no_more && !self.options.validates_window
    }

    /// Processes an acknowledgement of new data. `had` is the number of bytes that had arrived before, as far
    /// as known.
    fn on_advance(&mut self, now: Time, segment: &Segment, echo: bool, had: u64) {
        let app_limited = self.app_limited();
        let acked = segment.ack - self.sequence.una;
        self.sequence.una = segment.ack;
        self.repairs.on_advance(segment.ack);
        self.controller.on_ack(&AckInfo { now, advance: Some(acked) });
        let sent = self.send_times.as_mut().and_then(|times| times.on_acked(segment.ack));
        self.sequence.nxt = self.sequence.nxt.max(self.sequence.una);
        self.limited = 0;
        if !echo {
            self.held = false;
            self.held_before = false;
        }
        let view = SenderView::new(&self.options, self.sequence, &*self.controller);
        let LossRecovery::ByAcks(recovery) = &mut self.recovery else { return };
        let advance = recovery.on_advance(&view, acked);
        if let Advance::Partial { restart_timer } = advance {
            self.measure_during_recovery(now, segment);
            if restart_timer {
                self.restart_timer(now);
            }
            return;
        }
        self.sequence.duplicates = 0;
        let has = self.sequence.una + self.recovery.arrived(&self.view());
        // Without SACK, duplicates may come from segments that arrived twice.
        let fresh = has.saturating_sub(had).max(acked.min(self.options.mss()));
        let measured = self.measure(now, segment);
        let sent = sent.filter(|_| self.options.time_every_segment);
        let rtt = sent.map(|sent| now.since(sent)).or(measured);
        self.restart_timer(now);
        let in_flight = self.in_flight();
        if let Advance::Recovered { window, .. } = advance {
            self.controller.on_recovered(&Recovered { now, in_flight, window });
        }
        if !matches!(advance, Advance::Recovered { opens: false, .. }) && !self.holds_after_echo() {
            let srtt = self.rto.smoothed();
            let hops = segment.hops;
            let (size, ecn_echo) = (acked, echo);
            let acked = Acked { now, size, fresh, rtt, srtt, in_flight, app_limited, ecn_echo, hops };
            self.controller.on_acked(&acked);
        }
    }

    /// Whether the window stays after an ECN-Echo, until the data that was outstanding then is acknowledged.
    fn holds_after_echo(&self) -> bool {
        let echoed = matches!(self.last_reduction, Some((recover, ReductionReason::Echo)) if self.sequence.una < recover);
        self.options.holds_after_echo && echoed
    }

    fn on_duplicate(&mut self, now: Time) {
        self.sequence.duplicates += 1;
        self.controller.on_ack(&AckInfo { now, advance: None });
        let view = SenderView::new(&self.options, self.sequence, &*self.controller);
        let LossRecovery::ByAcks(recovery) = &mut self.recovery else { return };
        if recovery.active() {
            recovery.on_duplicate(&view);
            return;
        }
        // A loss in a window of data that an echo already reduced is repaired without a second reduction.
        let echoed = matches!(self.last_reduction, Some((recover, ReductionReason::Echo)) if self.sequence.una <= recover);
        let recover = self.last_reduction.filter(|_| !echoed).map(|(recover, _)| recover);
        let overdue = self.overdue(now) && recover.is_none_or(|recover| self.sequence.una > recover);
        let LossRecovery::ByAcks(recovery) = &self.recovery else { return };
        if overdue || recovery.detects_loss(&self.view(), recover) {
            if self.hide_duplicates(now) {
                return;
            }
            if !echoed {
                self.report_lost(now, LossKind::DuplicateAcks);
            }
            self.last_reduction = Some((self.sequence.max, ReductionReason::DuplicateAcks));
            self.counters.recoveries += 1;
            self.timed = None;
            self.restart_timer(now);
            let view = SenderView::new(&self.options, self.sequence, &*self.controller);
            if let LossRecovery::ByAcks(recovery) = &mut self.recovery {
                recovery.enter(&view);
            }
        }
    }

    /// Whether the segment at `una` was sent longer ago than the controller's fine-grained timeout.
    fn overdue(&self, now: Time) -> bool {
        let oldest = self.send_times.as_ref().and_then(SendTimes::oldest);
        let timeout = self.controller.fine_grained_rto();
        oldest.zip(timeout).is_some_and(|(sent, timeout)| now.since(sent) > timeout)
    }

    /// Takes a round-trip sample from an acknowledgement of new data, if it is valid (Karn).
    pub(super) fn measure(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        let timed = self.timed.filter(|timed| timed.end <= self.sequence.una);
        if timed.is_some() {
            self.timed = None;
        }
        let sent = if self.options.timestamps { segment.echo } else { timed.map(|timed| timed.sent) };
        sent.map(|sent| self.note_round_trip(sent, now))
    }

    /// A partial acknowledgement waited for a retransmission: without timestamps its delay says nothing about
    /// the path, but ends back-off.
    fn measure_during_recovery(&mut self, now: Time, segment: &Segment) {
        if self.options.timestamps {
            self.measure(now, segment);
        } else if self.timed.is_some_and(|timed| timed.end <= self.sequence.una) {
            self.timed = None;
            self.rto.end_backoff();
        }
    }
    pub(super) fn note_round_trip(&mut self, sent: Time, now: Time) -> Span {
        let sample = now.since(sent);
        self.least_round_trip = Some(self.least_round_trip.map_or(sample, |least| least.min(sample)));
        self.counters.rtt = Some(sample);
        self.counters.rtt_samples += 1;
        self.counters.rtt_sum += sample;
        if !self.was_frozen_since(sent) {
            self.rto.sample(sent, now);
        }
        // ns-2 keeps the back-off of an echo at a window of one segment.
        if !(self.held && self.options.echo_backs_off) {
            self.rto.end_backoff();
        }
        sample
    }
}
