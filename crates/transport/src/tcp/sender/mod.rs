//! The sending end of a TCP connection.
//!
//! Three parts share the work. The [`Controller`] says how much may be outstanding; [`LossRecovery`] says
//! which bytes go next; [`TcpSender`] owns the sequence numbers, the timer and the counters, and reports to
//! the other two what happened.

mod acks;
mod given_up;
mod offload;
mod pacing;

use crate::tcp::bursts::{Burst, Paced};
use crate::tcp::delivery_rate::DeliveryRate;
use crate::tcp::recovery::{LossRecovery, Planned, Sequence, View};
use crate::tcp::send_times::SendTimes;
use crate::tcp::small_queues::WindowUse;
use crate::{Controller, Delivered, Endpoint, LossKind, Lost, Progress, Rto, Sent, TcpOptions};
use given_up::GivenUp;
use multihop_core::{Ecn, Flags, HeaderBytes, Segment, Span, Time};

/// How far the connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Connection {
    /// Nothing was pushed yet.
    Closed,
    /// A SYN is to be sent, for the first time or again.
    SynDue,
    /// The SYN is on its way.
    SynSent,
    /// Data may flow.
    Open,
}

/// Why the window was last cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cut {
    DuplicateAcks,
    Echo,
    Timeout,
}

/// The segment whose round trip is measured.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent: Time,
}

/// The data sender of a TCP connection. It opens the connection with the first push, and never closes it.
pub struct TcpSender {
    options: TcpOptions,
    controller: Box<dyn Controller>,
    recovery: LossRecovery,
    /// What the MAC gave up and was not sent again.
    given_up: GivenUp,
    rto: Rto,
    connection: Connection,
    /// ECN was agreed on.
    ecn: bool,
    at: Sequence,
    /// Bytes that Limited Transmit sent since `una` last moved; they are not part of `FlightSize` (RFC 3042,
    /// section 2).
    limited: u64,
    /// One past the highest byte sent when the window was last cut, and why: nothing below it may cut the
    /// window again.
    cut: Option<(u64, Cut)>,
    timed: Option<Timed>,
    /// When each outstanding segment was sent, if anybody wants to know.
    send_times: Option<SendTimes>,
    /// How fast data arrives, if anybody wants to know.
    rates: Option<DeliveryRate>,
    /// When the retransmission timer expires.
    deadline: Option<Time>,
    /// Pacing: the last segment, or the burst that it was of, and how many segments of data have left so far.
    paced: Option<Paced>,
    segments: u64,
    /// The burst that is leaving, with segmentation offload, and whether the next one waits for more window.
    burst: Burst,
    deferred: bool,
    /// Bytes, with headers, of data that was handed to the node and has not left it, if anybody wants to
    /// know.
    held_below: u64,
    window_use: WindowUse,
    /// When routers were last asked for feedback.
    asked: Time,
    /// Congestion was echoed at a window of one segment: nothing leaves until the timer expires (RFC 3168,
    /// section 6.1.2).
    held: bool,
    /// The echo before that one also came at a window of one segment.
    held_before: bool,
    cwr: bool,
    acknowledge_syn: bool,
    /// The `una` at which the timer last expired.
    timed_out: Option<u64>,
    least_round_trip: Option<Span>,
    syn_retried: bool,
    last_sent: Time,
    counters: Progress,
}

impl TcpSender {
    /// A sender whose connection is not open yet.
    pub fn new(options: TcpOptions, controller: Box<dyn Controller>) -> TcpSender {
        TcpSender {
            recovery: LossRecovery::new(&options),
            given_up: GivenUp::new(options.local_repairs),
            send_times: (options.time_every_segment || options.segmentation_offload).then(SendTimes::default),
            rates: options.delivery_rate.then(DeliveryRate::default),
            rto: Rto::new(options.rto.clone()),
            connection: if options.handshake { Connection::Closed } else { Connection::Open },
            ecn: options.ecn && !options.handshake,
            at: Sequence {
                peer_window: options.receive_window(),
                burst: options.recovery_burst.unwrap_or(u32::MAX),
                ..Sequence::default()
            },
            options,
            controller,
            limited: 0,
            cut: None,
            timed: None,
            deadline: None,
            paced: None,
            segments: 0,
            burst: Burst::default(),
            deferred: false,
            least_round_trip: None,
            held_below: 0,
            window_use: WindowUse::default(),
            asked: Time::ZERO,
            held: false,
            held_before: false,
            cwr: false,
            acknowledge_syn: false,
            timed_out: None,
            syn_retried: false,
            last_sent: Time::ZERO,
            counters: Progress::default(),
        }
    }

    fn view(&self) -> View<'_> {
        View::new(&self.options, self.at, &*self.controller)
    }

    /// Bytes that are believed to be outstanding: all that were sent, or sent again since the last timeout.
    fn in_flight(&self) -> u64 {
        self.at.nxt - self.at.una
    }

    /// Does it bring bytes that were never sent?
    fn is_new(&self, planned: Planned) -> bool {
        planned.start >= self.at.max
    }

    fn plan(&self) -> Option<Planned> {
        let may = self.connection == Connection::Open && !self.held && self.at.una < self.at.pushed;
        if may {
            self.given_up.plan(self.options.mss()).or_else(|| self.recovery.plan(&self.view()))
        } else {
            None
        }
    }

    /// What goes next, if the node has not too much of the connection already. Linux lets twice as much wait
    /// before it holds a repair back, and holds nothing back while no more than a segment is outstanding.
    fn due(&self) -> Option<Planned> {
        let planned = self.plan()?;
        let Some(queues) = self.options.small_queues() else { return Some(planned) };
        let packet = u64::from(self.options.packet_size());
        let allowed = queues.allowed(self.rate(), packet, self.pace().is_some());
        let allowed = allowed.saturating_mul(if self.is_new(planned) { 1 } else { 2 });
        let alone = self.at.max - self.at.una <= self.options.mss();
        (alone || self.held_below <= allowed).then_some(planned)
    }

    /// Is it asked whether the window or something else holds the sender back?
    fn notes_window_use(&self) -> bool {
        self.options.validates_window || self.options.small_queues().is_some()
    }

    /// Nothing more goes at present. Less than a burst waits for more window.
    fn note_window_use(&mut self) {
        if self.notes_window_use() {
            let full = self.in_flight() + self.options.mss() > self.controller.allowance().window;
            let full = full || (self.deferred && self.options.validates_window);
            self.window_use.note(self.at.una, self.at.max, full);
        }
    }

    /// Starts the retransmission timer afresh if anything waits for it, and else stops it.
    fn restart_timer(&mut self, now: Time) {
        let waits = self.at.max > self.at.una || self.held;
        self.deadline = waits.then(|| now + self.rto.timeout());
    }

    fn syn(&mut self, now: Time) -> Segment {
        self.connection = Connection::SynSent;
        self.deadline = Some(now + self.rto.timeout());
        self.timed = (!self.syn_retried).then_some(Timed { end: 0, sent: now });
        Segment {
            header: self.options.header + self.options.congestion_header.bytes,
            feedback: self.stamp(now, 0),
            // "An ECN-setup SYN packet" (RFC 3168, section 6.1.1).
            flags: Flags { syn: true, ece: self.options.ecn, cwr: self.options.ecn, ..Flags::default() },
            echo: self.options.timestamps.then_some(now),
            ..Segment::default()
        }
    }

    fn send(&mut self, now: Time, planned: Planned) -> Segment {
        let Planned { start, end } = planned;
        let packet = end - start + u64::from(self.options.header_with_data());
        let psh = self.pace_out(now, planned, packet);
        let view = View::new(&self.options, self.at, &*self.controller);
        if let Some(rates) = &mut self.rates {
            rates.on_sent(now, start, end, self.recovery.pipe(&view));
        }
        // A repair takes the place of what was given up: no more is outstanding than before.
        let repairs = self.given_up.on_sent(planned);
        if !repairs {
            self.recovery.on_sent(&view, planned);
        }
        let retransmission = !self.is_new(planned);
        if retransmission {
            self.counters.retransmissions += 1;
            self.timed = self.timed.filter(|timed| timed.end <= start || timed.end > end);
        } else {
            self.note_new_data(now, planned);
        }
        if self.deadline.is_none() || self.at.max == self.at.una || repairs {
            self.deadline = Some(now + self.rto.timeout());
        }
        self.at.nxt = if start >= self.at.nxt { end } else { self.at.nxt };
        self.at.max = self.at.max.max(end);
        self.last_sent = now;
        if let Some(times) = &mut self.send_times {
            times.on_sent(now, start, end);
        }
        self.acknowledge_syn = false;

        let ecn_allowed = self.ecn && (!retransmission || self.options.ecn_on_retransmissions);
        let segment = Segment {
            seq: start,
            payload: (end - start) as u32,
            header: self.options.header_with_data(),
            flags: Flags {
                ack: true,
                cwr: ecn_allowed && std::mem::take(&mut self.cwr),
                psh,
                ..Flags::default()
            },
            ecn: self.options.congestion_header.codepoint.unwrap_or(if ecn_allowed {
                Ecn::Ect0
            } else {
                Ecn::NotCapable
            }),
            echo: self.options.timestamps.then_some(now),
            retransmission,
            feedback: self.stamp(now, end - start),
            ..Segment::default()
        };
        let app_limited = self.rates.as_ref().is_some_and(DeliveryRate::limited);
        let in_flight = self.in_flight();
        let sent = Sent { now, size: end - start, packet, in_flight, retransmission, app_limited };
        self.controller.on_sent(&sent);
        if self.options.small_queues().is_some() {
            self.held_below += packet;
        }
        segment
    }

    /// The congestion header of a segment that leaves now.
    fn stamp(&mut self, now: Time, size: u64) -> HeaderBytes {
        self.asked = now;
        self.controller.stamp(size)
    }

    /// When to ask routers without data, because pacing holds the next segment back for longer than that.
    fn refresh_at(&self) -> Option<Time> {
        let at = self.asked + self.controller.refresh()?;
        (self.paced_until()? > at && self.plan().is_some()).then_some(at)
    }

    /// A segment without data, which asks routers all the same.
    fn refresh(&mut self, now: Time) -> Segment {
        Segment {
            seq: self.at.nxt,
            header: self.options.header_with(0),
            flags: Flags { ack: true, ..Flags::default() },
            feedback: self.stamp(now, 0),
            ..Segment::default()
        }
    }

    fn note_new_data(&mut self, now: Time, Planned { start, end }: Planned) {
        self.counters.sent += end - start;
        if self.timed.is_none() {
            self.timed = Some(Timed { end, sent: now });
        }
        if self.recovery.active() {
            self.at.burst = self.at.burst.saturating_sub(1);
        } else if self.at.duplicates > 0 && end - self.at.una > self.controller.allowance().window {
            self.limited += end - start;
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.at.una == self.at.max {
            // Nothing is outstanding: the wait after an echo at a window of one segment is over.
            self.held = false;
            self.deadline = None;
            return;
        }
        self.counters.timeouts += 1;
        let echoed = matches!(self.cut, Some((recover, Cut::Echo)) if self.at.una < recover);
        let again = echoed || self.timed_out == Some(self.at.una);
        self.report_lost(now, LossKind::Timeout { again });
        self.cut = Some((self.at.max, Cut::Timeout));
        self.timed_out = Some(self.at.una);
        let view = View::new(&self.options, self.at, &*self.controller);
        self.recovery.on_timeout(&view);
        self.given_up.clear();
        self.at.nxt = self.at.una;
        self.at.duplicates = 0;
        self.limited = 0;
        self.timed = None;
        self.held = false;
        self.rto.back_off();
        self.restart_timer(now);
    }

    fn on_syn_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        // A lost SYN leaves an initial window of one segment (RFC 5681, section 3.1).
        self.report_lost(now, LossKind::Timeout { again: self.syn_retried });
        self.syn_retried = true;
        self.connection = Connection::SynDue;
        self.rto.back_off();
        self.deadline = Some(now + self.rto.timeout());
    }

    fn report_lost(&mut self, now: Time, kind: LossKind) {
        self.cwr = self.ecn;
        let sent = self.in_flight();
        // A timeout in recovery is to lower the threshold a second time (RFC 5681, section 4.3), and not to set it by what was sent
        // while recovery lasted.
        let gone = self.limited + self.recovery.gone(&self.view());
        let in_flight = sent.saturating_sub(gone).max(sent.min(self.options.mss()));
        self.controller.on_lost(&Lost { now, kind, in_flight });
    }
}

impl Endpoint for TcpSender {
    fn push(&mut self, now: Time, bytes: u64) {
        if self.connection == Connection::Closed {
            self.connection = Connection::SynDue;
        }
        let idle = self.at.una == self.at.pushed && self.at.max > 0;
        if idle && self.options.idle_restart && now.since(self.last_sent) > self.rto.timeout() {
            self.controller.on_idle(now);
        }
        self.note_application_limit();
        self.at.pushed += bytes;
    }

    fn withdraw(&mut self) {
        self.at.pushed = self.at.max;
    }

    fn backlog(&self) -> u64 {
        self.at.pushed - self.at.max
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        if segment.flags.syn {
            self.on_syn_ack(now, segment);
        } else if self.connection == Connection::Open && segment.flags.ack {
            self.on_ack(now, segment);
        }
        Delivered::default()
    }

    fn on_given_up(&mut self, _now: Time, segment: &Segment) -> bool {
        let (start, end) = (segment.seq.max(self.at.una), segment.seq + u64::from(segment.payload));
        // What lies beyond `nxt` is due to be sent again after a timeout anyway.
        self.connection == Connection::Open && end <= self.at.nxt && self.given_up.add(start, end)
    }

    fn follows_departures(&self) -> bool {
        self.options.small_queues().is_some()
    }

    fn on_departed(&mut self, _now: Time, segment: &Segment) -> bool {
        let is_data = segment.payload > 0;
        if is_data {
            self.held_below = self.held_below.saturating_sub(u64::from(segment.payload + segment.header));
        }
        is_data
    }

    fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.connection {
            Connection::SynSent => self.on_syn_timeout(now),
            Connection::Open => self.on_retransmission_timeout(now),
            Connection::Closed | Connection::SynDue => {}
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if self.connection == Connection::SynDue {
            return Some(self.syn(now));
        }
        self.deferred = false;
        if let Some(planned) = self.in_burst(now) {
            return Some(self.send(now, planned));
        }
        if self.paced_until().is_some_and(|until| now < until) {
            self.note_window_use();
            return self.refresh_at().is_some_and(|at| now >= at).then(|| self.refresh(now));
        }
        let due = self.due();
        self.deferred = due.is_some_and(|planned| self.defers(now, planned));
        if let Some(planned) = due.filter(|_| !self.deferred) {
            return Some(self.send(now, planned));
        }
        self.note_window_use();
        std::mem::take(&mut self.acknowledge_syn).then(|| Segment {
            seq: self.at.nxt,
            header: self.options.header_with(0),
            flags: Flags { ack: true, ..Flags::default() },
            ..Segment::default()
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let paced = self.paced_until().filter(|_| !self.deferred && self.due().is_some());
        [self.deadline, paced, self.refresh_at()].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        Progress {
            acked: self.at.una,
            window: Some(self.recovery.window(&self.view()).min(self.at.peer_window)),
            slow_start_threshold: self.controller.slow_start_threshold(),
            srtt: self.rto.smoothed(),
            ..self.counters
        }
    }
}

impl TcpSender {
    fn note_round_trip(&mut self, sent: Time, now: Time) -> Span {
        let sample = now.since(sent);
        self.least_round_trip = Some(self.least_round_trip.map_or(sample, |least| least.min(sample)));
        self.counters.rtt = Some(sample);
        self.counters.rtt_samples += 1;
        self.counters.rtt_sum += sample;
        self.rto.sample(sent, now);
        // ns-2 keeps the back-off that an echo at a window of one segment caused.
        if !(self.held && self.options.echo_backs_off) {
            self.rto.end_backoff();
        }
        sample
    }
}
