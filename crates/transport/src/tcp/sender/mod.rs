//! The sending end of a TCP connection.
//!
//! Three parts share the work. The [`Controller`] determines the amount of outstanding data. [`LossRecovery`]
//! selects the next bytes. [`TcpSender`] owns the sequence numbers, the timer and the counters, and reports
//! events to the other two.

mod acks;
mod by_time;
mod local_repairs;
mod offload;
mod pacing;
mod persist;
mod timeouts;

use crate::tcp::accurate_ecn::{ArrivalCounters, EcnMode, ReportedMarks, syn_flags};
use crate::tcp::bursts::{Burst, PacedBurst};
use crate::tcp::delivery_rate::DeliveryRate;
use crate::tcp::recovery::{LossRecovery, PlannedRange, SenderView, SequenceState};
use crate::tcp::send_times::SendTimes;
use crate::tcp::small_queues::WindowUse;
use crate::{Controller, Delivered, Endpoint, LossKind, Lost, Progress, Rto, SentSegment, TcpOptions};
use by_time::SentKind;
use local_repairs::LocalRepairs;
use multihop_core::{Ecn, Flags, HeaderBytes, Segment, Span, Time};
use persist::Persist;

/// State of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Connection {
    /// No data was submitted yet.
    Closed,
    /// A SYN must be sent, for the first time or again.
    SynDue,
    /// The SYN was sent.
    SynSent,
    /// Data may be sent.
    Open,
}

/// Reason for the last window reduction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ReductionReason {
    DuplicateAcks,
    Echo,
    Timeout,
}

/// Segment whose round trip is measured.
#[derive(Clone, Copy, Debug)]
struct TimedSegment {
    end: u64,
    sent: Time,
}

/// Data sender of a TCP connection. The first push opens the connection, which is never closed.
pub struct TcpSender {
    options: TcpOptions,
    controller: Box<dyn Controller>,
    recovery: LossRecovery,
    /// Data that the MAC gave up and that was not retransmitted yet.
    repairs: LocalRepairs,
    /// Persist mode, if used.
    persist: Option<Persist>,
    rto: Rto,
    connection: Connection,
    /// Negotiated ECN feedback.
    ecn: EcnMode,
    /// With accurate feedback: marks that acknowledgements reported, marks on acknowledgements, payload bytes
    /// reported as marked since the last [`Controller::on_delivered`], and the ACE field of the first segment
    /// after the handshake.
    marks: ReportedMarks,
    ack_arrivals: ArrivalCounters,
    marked: u64,
    handshake_ace: Option<u8>,
    /// One past the highest byte sent when the controller last reduced the window by the share of marks.
    marks_until: Option<u64>,
    sequence: SequenceState,
    /// Bytes sent by Limited Transmit since `una` last advanced, which are not part of `FlightSize` (RFC
    /// 3042, section 2).
    limited: u64,
    /// One past the highest byte sent at the last window reduction, and its reason: data below it causes no
    /// further reduction.
    last_reduction: Option<(u64, ReductionReason)>,
    timed: Option<TimedSegment>,
    /// Send time of each outstanding segment, if used.
    send_times: Option<SendTimes>,
    /// Delivery rate estimator, if used.
    rates: Option<DeliveryRate>,
    /// Expiry of the retransmission timer.
    deadline: Option<Time>,
    /// Pacing state of the last segment or burst, and number of data segments sent so far.
    paced: Option<PacedBurst>,
    segments: u64,
    /// Burst being sent, with segmentation offload, and whether the next one is deferred.
    burst: Burst,
    deferred: bool,
    /// Bytes, with headers, of data that was passed to the node and has not left it, if used.
    bytes_in_node: u64,
    window_use: WindowUse,
    /// Time of the last congestion header.
    last_header_at: Time,
    /// Whether sending stops until the timer expires, after an echo at a window of one segment (RFC 3168,
    /// section 6.1.2).
    held: bool,
    /// Whether the previous echo also came at a window of one segment.
    held_before: bool,
    cwr: bool,
    acknowledge_syn: bool,
    /// Value of `una` at the last timeout.
    timed_out: Option<u64>,
    least_round_trip: Option<Span>,
    /// Number of SYNs that were lost.
    lost_syns: u32,
    last_sent: Time,
    /// Time since which the receive window holds data back.
    receive_limited_since: Option<Time>,
    /// Stamp of the last acknowledgement, which data returns.
    ack_stamp: u32,
    counters: Progress,
}

impl TcpSender {
    /// A sender whose connection is not open yet.
    pub fn new(options: TcpOptions, controller: Box<dyn Controller>) -> TcpSender {
        TcpSender {
            recovery: LossRecovery::new(&options),
            repairs: LocalRepairs::new(options.local_repairs),
            persist: options.standby.map(Persist::new),
            send_times: (options.time_every_segment || options.segmentation_offload).then(SendTimes::default),
            rates: options.delivery_rate.then(DeliveryRate::default),
            rto: Rto::new(options.rto.clone()),
            connection: if options.handshake { Connection::Closed } else { Connection::Open },
            ecn: if options.handshake {
                EcnMode::Off
            } else {
                EcnMode::without_handshake(options.ecn, options.accurate_ecn)
            },
            marks: ReportedMarks::default(),
            ack_arrivals: ArrivalCounters::default(),
            marked: 0,
            handshake_ace: None,
            marks_until: None,
            sequence: SequenceState {
                peer_window: options.receive_window(),
                burst: options.recovery_burst.unwrap_or(u32::MAX),
                ..SequenceState::default()
            },
            options,
            controller,
            limited: 0,
            last_reduction: None,
            timed: None,
            deadline: None,
            paced: None,
            segments: 0,
            burst: Burst::default(),
            deferred: false,
            least_round_trip: None,
            bytes_in_node: 0,
            window_use: WindowUse::default(),
            last_header_at: Time::ZERO,
            held: false,
            held_before: false,
            cwr: false,
            acknowledge_syn: false,
            timed_out: None,
            lost_syns: 0,
            last_sent: Time::ZERO,
            receive_limited_since: None,
            ack_stamp: 0,
            counters: Progress::default(),
        }
    }

    fn view(&self) -> SenderView<'_> {
        SenderView::new(&self.options, self.sequence, &*self.controller)
    }

    /// Estimate of the bytes in flight: all that were sent, or retransmitted since the last timeout. Recovery
    /// by time knows more.
    fn in_flight(&self) -> u64 {
        match &self.recovery {
            LossRecovery::ByAcks(_) => self.sequence.nxt - self.sequence.una,
            LossRecovery::ByTime(rack) => rack.pipe(),
        }
    }

    /// Whether the data in flight fills a window that is smaller than what the receiver waits for, so that
    /// only the receiver's timer would acknowledge it.
    fn requests_ack(&self) -> bool {
        let awaited = self.options.awaited_data();
        if awaited == 0 {
            return false;
        }
        let window = self.recovery.window(&self.view()).min(self.sequence.peer_window);
        window < awaited && self.in_flight() + self.options.mss() > window
    }

    /// Whether planned data was never sent before.
    fn is_new(&self, planned: PlannedRange) -> bool {
        planned.start >= self.sequence.max
    }

    fn plan(&self) -> Option<PlannedRange> {
        if let Some(frozen) = self.frozen() {
            return frozen.plan(self.options.mss());
        }
        let may =
            self.connection == Connection::Open && !self.held && self.sequence.una < self.sequence.pushed;
        if may {
            self.repairs.plan(self.options.mss()).or_else(|| self.recovery.plan(&self.view()))
        } else {
            None
        }
    }

    /// Data to send next, if the connection's data in the node is within the limit of small queues. Linux
    /// allows twice as much for retransmissions, and always allows a segment if at most one is outstanding.
    fn next_due(&self) -> Option<PlannedRange> {
        let planned = self.plan()?;
        let Some(queues) = self.options.small_queues() else { return Some(planned) };
        let packet = u64::from(self.options.packet_size());
        let allowed = queues.allowed(self.rate(), packet, self.pace().is_some());
        let allowed = allowed.saturating_mul(if self.is_new(planned) { 1 } else { 2 });
        let alone = self.sequence.max - self.sequence.una <= self.options.mss();
        (alone || self.bytes_in_node <= allowed).then_some(planned)
    }

    /// Whether the sender records if the window or something else limits it.
    fn notes_window_use(&self) -> bool {
        self.options.validates_window || self.options.small_queues().is_some()
    }

    /// Records the use of the window when nothing more is sent. Less than a burst waits for more window.
    fn note_window_use(&mut self) {
        if self.notes_window_use() {
            let full = self.in_flight() + self.options.mss() > self.controller.allowance().window;
            let full = full || (self.deferred && self.options.validates_window);
            self.window_use.note(self.sequence.una, self.sequence.max, full);
        }
    }

    /// Records whether the receive window holds data back, when nothing more is sent. Controllers do not let
    /// the congestion window exceed it.
    fn note_receive_limit(&mut self, now: Time) {
        let SequenceState { una, max, pushed, peer_window, .. } = self.sequence;
        let is_full = una + peer_window < max + self.options.mss() && max < pushed;
        let is_limited = is_full && self.recovery.window(&self.view()) >= peer_window;
        let since = std::mem::replace(&mut self.receive_limited_since, is_limited.then_some(now));
        if let Some(since) = since {
            self.counters.receive_limited += now.since(since);
        }
    }

    fn syn(&mut self, now: Time) -> Segment {
        self.connection = Connection::SynSent;
        self.deadline = Some(now + self.rto.timeout());
        self.timed = (self.lost_syns == 0).then_some(TimedSegment { end: 0, sent: now });
        Segment {
            header: self.options.header + self.options.congestion_header.bytes,
            feedback: self.stamp(now, 0),
            // "An ECN-setup SYN packet" (RFC 3168, section 6.1.1).
            flags: syn_flags(self.options.ecn, self.options.accurate_ecn),
            echo: self.options.timestamps.then_some(now),
            ..Segment::default()
        }
    }

    fn send(&mut self, now: Time, planned: PlannedRange) -> Segment {
        let PlannedRange { start, end } = planned;
        let frozen = self.note_persist_sent(planned, self.is_new(planned));
        let packet = end - start + u64::from(self.options.header_with_data());
        let psh = self.pace_out(now, planned, packet);
        let view = SenderView::new(&self.options, self.sequence, &*self.controller);
        if let Some(rates) = &mut self.rates {
            rates.on_sent(now, start, end, self.recovery.pipe(&view));
        }
        // A repair replaces given-up data, so that the data in flight does not grow.
        let repairs = frozen || self.repairs.on_sent(planned);
        let was_idle = self.sequence.max == self.sequence.una;
        let sends_probe = match &mut self.recovery {
            LossRecovery::ByAcks(recovery) => {
                if !repairs {
                    recovery.on_sent(&view, planned);
                }
                false
            }
            LossRecovery::ByTime(rack) => rack.on_sent(now, &view, planned, repairs),
        };
        let retransmission = !self.is_new(planned);
        if retransmission {
            self.counters.retransmissions += 1;
            self.timed = self.timed.filter(|timed| timed.end <= start || timed.end > end);
        } else {
            self.note_new_data(now, planned);
        }
        let times_out = self.deadline.is_none() || was_idle || repairs;
        if times_out && matches!(self.recovery, LossRecovery::ByAcks(_)) {
            self.deadline = Some(now + self.rto.timeout());
        }
        self.sequence.nxt = if start >= self.sequence.nxt { end } else { self.sequence.nxt };
        self.sequence.max = self.sequence.max.max(end);
        self.last_sent = now;
        self.set_timer_after_sending(now, planned, SentKind { was_idle, retransmission, sends_probe });
        self.restore_persist_timer(now);
        if let Some(times) = &mut self.send_times {
            times.on_sent(now, start, end);
        }
        self.acknowledge_syn = false;

        let ecn = self.codepoint(retransmission);
        let flags = Flags { ack: true, psh: psh || self.requests_ack(), ..Flags::default() };
        let segment = Segment {
            seq: start,
            payload: (end - start) as u32,
            header: self.options.header_with_data(),
            flags: self.with_ecn_flags(flags, ecn != Ecn::NotCapable),
            ecn: self.options.congestion_header.codepoint.unwrap_or(ecn),
            echo: self.options.timestamps.then_some(now),
            ack_stamp: self.ack_stamp,
            retransmission,
            feedback: self.stamp(now, end - start),
            ..Segment::default()
        };
        let app_limited = self.rates.as_ref().is_some_and(DeliveryRate::is_app_limited);
        let in_flight = self.in_flight();
        let sent = SentSegment { now, size: end - start, packet, in_flight, retransmission, app_limited };
        self.controller.on_sent(&sent);
        if self.options.small_queues().is_some() {
            self.bytes_in_node += packet;
        }
        segment
    }

    /// ECN codepoint of data. Retransmissions are ECN-capable with accurate feedback, as in Linux
    /// (`tcp_ecn_send`; RFC 8311, section 4.3).
    fn codepoint(&self, retransmission: bool) -> Ecn {
        match self.ecn {
            EcnMode::Accurate if self.options.scalable => Ecn::Ect1,
            EcnMode::Accurate => Ecn::Ect0,
            EcnMode::Classic if !retransmission || self.options.ecn_on_retransmissions => Ecn::Ect0,
            EcnMode::Classic | EcnMode::Off => Ecn::NotCapable,
        }
    }

    /// Flags of data with those of ECN: CWR once after a reduction if the data is ECN-capable, or the counter
    /// of marks on acknowledgements.
    fn with_ecn_flags(&mut self, flags: Flags, is_capable: bool) -> Flags {
        match self.ecn {
            EcnMode::Accurate => {
                flags.with_ace(self.handshake_ace.take().unwrap_or_else(|| self.ack_arrivals.ace()))
            }
            EcnMode::Classic if is_capable => Flags { cwr: std::mem::take(&mut self.cwr), ..flags },
            EcnMode::Classic | EcnMode::Off => flags,
        }
    }

    /// Congestion header of a segment that is sent now.
    fn stamp(&mut self, now: Time, size: u64) -> HeaderBytes {
        self.last_header_at = now;
        self.controller.stamp(size)
    }

    /// Time at which to refresh router feedback without data, if pacing delays the next segment for longer.
    fn refresh_at(&self) -> Option<Time> {
        let at = self.last_header_at + self.controller.refresh()?;
        (self.paced_until()? > at && self.plan().is_some()).then_some(at)
    }

    /// A segment without data, which refreshes router feedback.
    fn refresh(&mut self, now: Time) -> Segment {
        Segment {
            seq: self.sequence.nxt,
            header: self.options.header_with(0),
            flags: self.with_ecn_flags(Flags { ack: true, ..Flags::default() }, false),
            feedback: self.stamp(now, 0),
            ..Segment::default()
        }
    }

    fn note_new_data(&mut self, now: Time, PlannedRange { start, end }: PlannedRange) {
        self.counters.sent += end - start;
        if self.timed.is_none() {
            self.timed = Some(TimedSegment { end, sent: now });
        }
        if self.recovery.active() {
            self.sequence.burst = self.sequence.burst.saturating_sub(1);
        } else if self.sequence.duplicates > 0 && end - self.sequence.una > self.controller.allowance().window
        {
            self.limited += end - start;
        }
    }

    fn report_lost(&mut self, now: Time, kind: LossKind) {
        self.cwr = self.ecn == EcnMode::Classic;
        let sent = self.in_flight();
        // A timeout in recovery lowers the threshold a second time (RFC 5681, section 4.3), but not by the
        // data sent during recovery.
        let gone = match &self.recovery {
            LossRecovery::ByAcks(recovery) => self.limited + recovery.left_network(&self.view()),
            LossRecovery::ByTime(_) => 0,
        };
        let in_flight = sent.saturating_sub(gone).max(sent.min(self.options.mss()));
        self.controller.on_lost(&Lost { now, kind, in_flight });
    }
}

impl Endpoint for TcpSender {
    fn push(&mut self, now: Time, bytes: u64) {
        if self.connection == Connection::Closed {
            self.connection = Connection::SynDue;
        }
        let idle = self.sequence.una == self.sequence.pushed && self.sequence.max > 0;
        if idle && self.options.idle_restart && now.since(self.last_sent) > self.rto.timeout() {
            self.controller.on_idle(now);
        }
        self.note_application_limit();
        self.sequence.pushed += bytes;
    }

    fn withdraw(&mut self) {
        self.sequence.pushed = self.sequence.max;
    }

    fn backlog(&self) -> u64 {
        self.sequence.pushed - self.sequence.max
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
        let (start, end) = (segment.seq.max(self.sequence.una), segment.seq + u64::from(segment.payload));
        // Data beyond `nxt` is retransmitted after the timeout anyway.
        self.connection == Connection::Open && end <= self.sequence.nxt && self.repairs.add(start, end)
    }

    fn follows_routes(&self) -> bool {
        self.persist.is_some()
    }

    fn on_route_failed(&mut self, now: Time) -> bool {
        self.connection == Connection::Open && self.freeze_for_route(now)
    }

    fn follows_departures(&self) -> bool {
        self.options.small_queues().is_some()
    }

    fn on_departed(&mut self, _now: Time, segment: &Segment) -> bool {
        let is_data = segment.payload > 0;
        if is_data {
            self.bytes_in_node =
                self.bytes_in_node.saturating_sub(u64::from(segment.payload + segment.header));
        }
        is_data
    }

    fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.on_expiry(now);
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
            self.note_receive_limit(now);
            return self.refresh_at().is_some_and(|at| now >= at).then(|| self.refresh(now));
        }
        let next_due = self.next_due();
        self.deferred = next_due.is_some_and(|planned| self.defers(now, planned));
        if let Some(planned) = next_due.filter(|_| !self.deferred) {
            return Some(self.send(now, planned));
        }
        self.note_window_use();
        self.note_receive_limit(now);
        std::mem::take(&mut self.acknowledge_syn).then(|| Segment {
            seq: self.sequence.nxt,
            header: self.options.header_with(0),
            flags: self.with_ecn_flags(Flags { ack: true, ..Flags::default() }, false),
            ..Segment::default()
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let paced = self.paced_until().filter(|_| !self.deferred && self.next_due().is_some());
        [self.deadline, paced, self.refresh_at()].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        Progress {
            acked: self.sequence.una,
            window: Some(self.recovery.window(&self.view()).min(self.sequence.peer_window)),
            slow_start_threshold: self.controller.slow_start_threshold(),
            srtt: self.rto.smoothed(),
            ..self.counters
        }
    }
}
