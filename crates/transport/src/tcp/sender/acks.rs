//! What acknowledgements do to a sender.

use super::{Connection, Cut, SendTimes, TcpSender};
use crate::tcp::recovery::{Advance, View};
use crate::{AckInfo, Acked, Delivery, LossKind, Marked, Recovered, Returned};
use multihop_core::{Segment, Span, Time};

impl TcpSender {
    /// The connection is open. A repeated SYN-ACK needs no answer: the receiver waits for none.
    pub(super) fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if !matches!(self.connection, Connection::SynSent | Connection::SynDue) || !segment.flags.ack {
            return;
        }
        self.connection = Connection::Open;
        self.ecn = self.options.ecn && segment.flags.ece && !segment.flags.cwr;
        self.at.peer_window = segment.window;
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
        let samples = self.counters.rtt_samples;
        let counts = self.options.feedback_of_duplicates || segment.ack > self.at.una;
        self.note_application_limit();
        let in_flight_before = self.rates.is_some().then(|| self.pipe());
        self.take_in(now, segment);
        self.report_delivery(now, segment, in_flight_before, samples);
        if counts {
            self.report_feedback(now, segment, samples);
        }
    }

    /// Payload bytes in the network, as far as recovery knows.
    fn pipe(&self) -> u64 {
        self.recovery.pipe(&self.view())
    }

    /// Has the application less to send than the window allows? Asked before acknowledgements and the
    /// application change that.
    pub(super) fn note_application_limit(&mut self) {
        if self.rates.is_none() || self.connection != Connection::Open || self.at.max < self.at.pushed {
            return;
        }
        let view = self.view();
        let in_flight = self.recovery.pipe(&view);
        if in_flight + view.mss() <= view.window && self.plan().is_none() {
            self.rates.iter_mut().for_each(|rates| rates.limit(in_flight));
        }
    }

    /// What the acknowledgement that was just taken in said of deliveries; `in_flight_before` and `samples`,
    /// the number of round-trip samples, are from before it. A round trip that only it knows is one for the
    /// retransmission timer too: in a long repair, when the acknowledgement number stands still, none other
    /// ends the back-off.
    fn report_delivery(&mut self, now: Time, segment: &Segment, in_flight_before: Option<u64>, samples: u64) {
        let Some(in_flight_before) = in_flight_before else { return };
        if segment.ack != self.at.una {
            return; // it is old, or of what was never sent
        }
        let in_flight = self.pipe();
        let Some(rates) = &mut self.rates else { return };
        let Some(sample) = rates.on_ack(now, segment.ack, segment.sack.as_slice()) else { return };
        if let Some(rtt) = sample.rtt.filter(|_| self.counters.rtt_samples == samples) {
            self.note_round_trip(now - rtt, now);
        }
        let timed_out = matches!(self.cut, Some((recover, Cut::Timeout)) if self.at.una < recover);
        self.controller.on_delivered(&Delivery {
            now,
            size: sample.size,
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            rate: sample.rate,
            app_limited: sample.app_limited,
            rtt: sample.rtt,
            in_flight_before,
            in_flight,
            lost: in_flight_before.saturating_sub(sample.size + in_flight),
            recovering: self.recovery.active() || timed_out,
        });
        if self.controller.marks_app_limited() {
            self.rates.iter_mut().for_each(|rates| rates.limit(in_flight));
        }
    }

    /// What routers signalled. `samples` is how many round-trip samples there were before it.
    fn report_feedback(&mut self, now: Time, segment: &Segment, samples: u64) {
        if segment.feedback.is_none() || segment.ack > self.at.max {
            return;
        }
        let rtt = self.counters.rtt.filter(|_| self.counters.rtt_samples > samples);
        let room = self.controller.allowance().window.saturating_sub(self.in_flight());
        let app_limited = self.at.max == self.at.pushed && self.options.mss() <= room;
        self.controller.on_feedback(&Returned { now, segment, rtt, app_limited });
    }

    fn take_in(&mut self, now: Time, segment: &Segment) {
        if segment.ack < self.at.una || segment.ack > self.at.max {
            return;
        }
        self.at.burst = self.options.recovery_burst.unwrap_or(u32::MAX);
        let echo = self.ecn && segment.flags.ece;
        let updates_window = self.at.peer_window != segment.window;
        self.at.peer_window = segment.window;
        let had = self.at.una + self.recovery.arrived(&self.view());
        let news = self.recovery.on_blocks(segment.ack, self.at.max, segment.sack.as_slice());
        if echo {
            self.on_echo(now, segment.ack);
        }
        if segment.ack > self.at.una {
            self.on_advance(now, segment, echo, had);
        } else if news && !updates_window && segment.payload == 0 && self.at.max > self.at.una {
            // A duplicate acknowledgement: data is outstanding, nothing else changes (RFC 5681, section 2).
            self.on_duplicate(now);
        }
    }

    /// ECN-Echo: at most one reduction per window of data (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, now: Time, ack: u64) {
        if self.cut.is_some_and(|(recover, _)| ack <= recover) {
            return;
        }
        self.cut = Some((self.at.max, Cut::Echo));
        self.cwr = true;
        self.counters.ecn_reductions += 1;
        // "The sending TCP should reset the retransmit timer on receiving the ECN-Echo packet when the congestion window is
        // one": half of anything less than two segments is less than one.
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

    /// Does the window stay because the sender does not use it?
    fn app_limited(&self) -> bool {
        let window = self.controller.allowance().window;
        if self.notes_window_use()
            && self.window_use.is_unused(window, self.controller.slow_start_threshold())
        {
            return true;
        }
        let has_no_more = self.at.max == self.at.pushed && self.in_flight() + self.options.mss() <= window;
        has_no_more && !self.options.validates_window
    }

    /// New data was acknowledged. `had` bytes had arrived before, as far as acknowledgements said.
    fn on_advance(&mut self, now: Time, segment: &Segment, echo: bool, had: u64) {
        let app_limited = self.app_limited();
        let acked = segment.ack - self.at.una;
        self.at.una = segment.ack;
        self.given_up.on_advance(segment.ack);
        self.controller.on_ack(&AckInfo { now, advance: Some(acked) });
        let sent = self.send_times.as_mut().and_then(|times| times.on_acked(segment.ack));
        self.at.nxt = self.at.nxt.max(self.at.una);
        self.limited = 0;
        if !echo {
            self.held = false;
            self.held_before = false;
        }
        let view = View::new(&self.options, self.at, &*self.controller);
        let advance = self.recovery.on_advance(&view, acked);
        if let Advance::Partial { restart_timer } = advance {
            self.measure_during_recovery(now, segment);
            if restart_timer {
                self.restart_timer(now);
            }
            return;
        }
        self.at.duplicates = 0;
        let has = self.at.una + self.recovery.arrived(&self.view());
        // Duplicates without SACK may be of segments that arrived twice.
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

    /// Does the window stay as an ECN-Echo left it, until what was outstanding then is acknowledged?
    fn holds_after_echo(&self) -> bool {
        let echoed = matches!(self.cut, Some((recover, Cut::Echo)) if self.at.una < recover);
        self.options.holds_after_echo && echoed
    }

    fn on_duplicate(&mut self, now: Time) {
        self.at.duplicates += 1;
        self.controller.on_ack(&AckInfo { now, advance: None });
        if self.recovery.active() {
            self.recovery.on_duplicate(&View::new(&self.options, self.at, &*self.controller));
            return;
        }
        // A loss in a window of data that an echo already cut is repaired, but does not cut it a second time.
        let echoed = matches!(self.cut, Some((recover, Cut::Echo)) if self.at.una <= recover);
        let recover = self.cut.filter(|_| !echoed).map(|(recover, _)| recover);
        let overdue = self.overdue(now) && recover.is_none_or(|recover| self.at.una > recover);
        if overdue || self.recovery.detects_loss(&self.view(), recover) {
            if !echoed {
                self.report_lost(now, LossKind::DuplicateAcks);
            }
            self.cut = Some((self.at.max, Cut::DuplicateAcks));
            self.counters.recoveries += 1;
            self.timed = None;
            self.restart_timer(now);
            self.recovery.enter(&View::new(&self.options, self.at, &*self.controller));
        }
    }

    /// Was the segment at `una` sent longer ago than the fine-grained timeout of the controller?
    fn overdue(&self, now: Time) -> bool {
        let oldest = self.send_times.as_ref().and_then(SendTimes::oldest);
        let timeout = self.controller.fine_grained_rto();
        oldest.zip(timeout).is_some_and(|(sent, timeout)| now.since(sent) > timeout)
    }

    /// Takes a round-trip sample from an acknowledgement of new data, if it is valid (Karn).
    fn measure(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        let timed = self.timed.filter(|timed| timed.end <= self.at.una);
        if timed.is_some() {
            self.timed = None;
        }
        let sent = if self.options.timestamps { segment.echo } else { timed.map(|timed| timed.sent) };
        sent.map(|sent| self.note_round_trip(sent, now))
    }

    /// A partial acknowledgement waited for a retransmission: without timestamps its delay says nothing of
    /// the path, but it does end back-off.
    fn measure_during_recovery(&mut self, now: Time, segment: &Segment) {
        if self.options.timestamps {
            self.measure(now, segment);
        } else if self.timed.is_some_and(|timed| timed.end <= self.at.una) {
            self.timed = None;
            self.rto.end_backoff();
        }
    }
}
