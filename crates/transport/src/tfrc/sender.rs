//! The sending end of TFRC (RFC 5348, section 4).

use super::data_limited::DataLimited;
use super::header::{TfrcDataHeader, TfrcReportHeader};
use super::options::{EquationTimeout, NoFeedback, Release, TfrcOptions};
use super::rate::{AllowedRate, Feedback, NoFeedbackExpiry};
use super::{EquationPath, RateCeiling, TfrcReport};
use crate::messages::Messages;
use crate::{Delivered, Endpoint, Progress, Rto, RtoOptions};
use multihop_core::{Ecn, HeaderBytes, LinkEvent, Segment, Span, Time};

/// Weight of a packet in the mean packet size.
const SIZE_WEIGHT: f64 = 0.1;

/// Duration of the nofeedback timer before the first round-trip sample (RFC 5348, section 4.2).
const FIRST_NO_FEEDBACK: Span = Span::from_ms(2_000);

/// Sender of datagrams at the rate that TCP would have. Each push is a separate message, which is split if it
/// does not fit in a packet.
pub struct TfrcSender {
    options: TfrcOptions,
    ceiling: Box<dyn RateCeiling>,
    control: AllowedRate,
    round_trip: RoundTrip,
    messages: Messages,
    next: u64,
    /// Mean payload of packets, `s` of the equation.
    packet_size: f64,
    loss_event_rate: f64,
    /// Due time of the last packet, and its payload.
    last: Option<(Time, u32)>,
    /// Send time of the next packet, if the interval is fixed at sending.
    release: Time,
    data_limited: DataLimited,
    /// Time at which data arrived after a data-limited phase.
    limited_until: Option<Time>,
    deadline: Option<Time>,
    sent_since_deadline_set: bool,
    round: u16,
    urgent: bool,
    counters: Progress,
}

/// Round-trip times in seconds.
struct RoundTrip {
    weight: f64,
    smoothed: Option<f64>,
    sample: f64,
    /// Mean of the square root of the round-trip time.
    root: f64,
    timeout: EquationTimeout,
    min_timeout: Span,
    /// Tick of the timeout's clock, if it is coarse.
    tick: Option<Span>,
    rto: Rto,
}

impl TfrcSender {
    /// A sender without data, whose rate `ceiling` may limit.
    pub fn new(options: TfrcOptions, ceiling: Box<dyn RateCeiling>) -> TfrcSender {
        TfrcSender {
            control: AllowedRate::new(&options, ceiling.at_start()),
            ceiling,
            round_trip: RoundTrip::new(&options),
            messages: Messages::new(options.segment_size),
            next: 0,
            packet_size: f64::from(options.segment_size),
            loss_event_rate: 0.0,
            last: None,
            release: Time::ZERO,
            data_limited: DataLimited::default(),
            limited_until: None,
            deadline: None,
            sent_since_deadline_set: false,
            round: 0,
            urgent: true,
            counters: Progress::default(),
            options,
        }
    }

    /// Earliest send time of the next packet.
    fn release_at(&self) -> Time {
        match (self.options.pacing, self.last) {
            (_, None) => Time::ZERO,
            (Release::Timer, _) => self.release,
            (Release::Due, Some((due, payload))) => {
                let interval = self.interval(payload);
                due + interval - interval.min(self.options.granularity) / 2
            }
        }
    }

    /// Interval to the next packet at the present rate, after one of `payload` bytes.
    fn interval(&self, payload: u32) -> Span {
        let damping = if self.options.oscillation_reduction { self.round_trip.damping() } else { 1.0 };
        let pace = self.control.pace(damping).min(self.ceiling.at_any_time());
        let interval = f64::from(payload) / pace;
        Span::from_seconds(interval).max(Span::from_ns(1))
    }

    /// Releases the next packet before its interval ends, but not before the interval that the ceiling
    /// requires.
    fn release_at_once(&mut self, now: Time) {
        let soonest = self.last.map_or(now, |(sent, payload)| {
            sent + Span::from_seconds(f64::from(payload) / self.ceiling.at_any_time())
        });
        self.release = soonest.max(now);
    }

    /// Whether the sender may send but has no data.
    fn is_data_limited(&self, now: Time) -> bool {
        self.messages.backlog() == 0 && now >= self.release_at()
    }

    fn on_report(&mut self, now: Time, header: TfrcReportHeader, hops: u16) {
        let elapsed = TfrcDataHeader::clock(now).wrapping_sub(header.echo);
        let sample = f64::from(elapsed.saturating_sub(header.delay).max(1)) * 1e-6;
        self.round_trip.add(sample);
        let span = Span::from_seconds(sample);
        self.counters.rtt = Some(span);
        self.counters.rtt_samples += 1;
        self.counters.rtt_sum += span;
        self.round = self.round.wrapping_add(1);
        self.urgent = false;

        // Timestamps have a resolution of a microsecond.
        let ago = Span::from_us(u64::from(elapsed)).saturating_sub(Span::from_us(1));
        let newest = now - ago.min(now.since(Time::ZERO));
        let rtt = self.round_trip.smoothed.unwrap_or(sample);
        let feedback = self.feedback(now, header, hops, newest, rtt);
        self.control.on_report(&feedback);
        self.loss_event_rate = feedback.loss_event_rate;
        self.restart_nofeedback(now);
        if self.options.pacing == Release::Timer && self.control.in_slow_start() {
            self.release_at_once(now);
        }
    }

    fn feedback(
        &mut self,
        now: Time,
        header: TfrcReportHeader,
        hops: u16,
        newest: Time,
        rtt: f64,
    ) -> Feedback {
        // After a loss the rate is never 0 again: such a report was overtaken.
        let known = Some(header.rate()).filter(|rate| *rate > 0.0);
        let loss_event_rate = known.unwrap_or(self.loss_event_rate);
        let receive_rate = f64::from(header.receive_rate);
        let path = EquationPath {
            packet_size: self.packet_size,
            rtt,
            timeout: self.round_trip.equation_timeout(rtt),
        };
        let equation = if loss_event_rate > 0.0 {
            self.options.equation.rate(&path, loss_event_rate)
        } else {
            f64::INFINITY
        };
        let ceiling = self.ceiling.on_report(&TfrcReport {
            now,
            rtt,
            sample: self.round_trip.sample,
            loss_event_rate,
            receive_rate,
            hops,
            packet_size: self.packet_size.round() as u32,
            rate: self.control.rate(),
            equation,
        });
        let lately = Span::from_seconds(1.5 * rtt);
        let recently_data_limited = self.limited_until.is_some_and(|until| now.since(until) < lately);
        Feedback {
            now,
            rtt,
            packet_size: self.packet_size,
            loss_event_rate,
            loss_rate_rose: loss_event_rate > self.loss_event_rate,
            receive_rate,
            data_limited: self.data_limited.on_report(newest),
            recently_data_limited: recently_data_limited || self.is_data_limited(now),
            target: equation.min(ceiling),
            ceiling,
        }
    }

    fn restart_nofeedback(&mut self, now: Time) {
        self.deadline =
            Some(now + self.control.no_feedback_interval(self.round_trip.smoothed, self.packet_size));
        self.sent_since_deadline_set = false;
    }

    fn on_no_feedback(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let expiry = NoFeedbackExpiry {
            now,
            rtt: self.round_trip.smoothed,
            packet_size: self.packet_size,
            loss_event_rate: self.loss_event_rate,
            idle: !self.sent_since_deadline_set,
            data_limited: self.is_data_limited(now),
        };
        self.control.on_no_feedback(&expiry);
        self.restart_nofeedback(now);
        if self.options.no_feedback == NoFeedback::Halving {
            self.round = self.round.wrapping_add(1);
            self.urgent = true;
        }
        if self.options.pacing == Release::Timer {
            self.release_at_once(now);
        }
    }

    /// Starts the timers before the first packet.
    fn start(&mut self, now: Time) {
        self.deadline = Some(match self.options.no_feedback {
            NoFeedback::ReceiveRates => now + FIRST_NO_FEEDBACK,
            NoFeedback::Halving => now + self.control.no_feedback_interval(None, self.packet_size),
        });
    }

    fn note_sent(&mut self, now: Time, payload: u32) {
        self.packet_size += SIZE_WEIGHT * (f64::from(payload) - self.packet_size);
        // A packet that waited for its time was due then, even if it was sent slightly early; a late one is
        // due now.
        let due = match (self.options.pacing, self.last) {
            (Release::Due, Some((due, payload))) => due + self.interval(payload),
            _ => now,
        };
        self.last = Some((due.max(now), payload));
        self.control.on_sent();
        self.release = now + self.interval(payload);
        self.sent_since_deadline_set = true;
        if self.messages.backlog() > 0 {
            self.data_limited.on_unlimited(now);
        }
    }
}

impl Endpoint for TfrcSender {
    fn push(&mut self, now: Time, bytes: u64) {
        if bytes > 0 && self.last.is_some() && self.is_data_limited(now) {
            self.limited_until = Some(now);
        }
        self.messages.push(bytes);
    }

    fn withdraw(&mut self) {
        self.messages.withdraw();
    }

    fn backlog(&self) -> u64 {
        self.messages.backlog()
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        if let Some(header) = segment.feedback.parse::<TfrcReportHeader>() {
            self.on_report(now, header, segment.hops);
        }
        Delivered::default()
    }

    fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.on_no_feedback(now);
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if now < self.release_at() {
            return None;
        }
        let (offset, payload) = self.messages.take()?;
        if self.last.is_none() {
            self.start(now);
        }
        let seq = self.next;
        self.next += 1;
        self.note_sent(now, payload);
        let rtt = self.round_trip.smoothed;
        let timeout = rtt.map(|rtt| self.round_trip.equation_timeout(rtt));
        Some(Segment {
            seq,
            offset,
            payload,
            header: self.options.header,
            ecn: if self.options.ecn { Ecn::Ect0 } else { Ecn::NotCapable },
            feedback: HeaderBytes::of(&TfrcDataHeader {
                number: TfrcDataHeader::number(seq),
                timestamp: TfrcDataHeader::clock(now),
                rtt: rtt.map_or(0, TfrcDataHeader::units),
                timeout: timeout.map_or(0, TfrcDataHeader::units),
                round: self.round,
                urgent: self.urgent,
            }),
            ..Segment::default()
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let release = (self.messages.backlog() > 0).then(|| self.release_at());
        [release, self.deadline].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        Progress {
            sent: self.messages.taken(),
            srtt: self.round_trip.smoothed.map(Span::from_seconds),
            allowed_rate: Some(self.control.rate()),
            loss_event_rate: Some(self.loss_event_rate),
            ..self.counters
        }
    }

    fn observes_link(&self) -> bool {
        self.ceiling.observes_link()
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.ceiling.on_link(event);
    }
}

impl RoundTrip {
    fn new(options: &TfrcOptions) -> RoundTrip {
        let coarse = options.timeout == EquationTimeout::Tcp && options.tcp_tick > Span::ZERO;
        let tick = coarse.then_some(options.tcp_tick);
        let rto = RtoOptions { min_rto: Span::ZERO, tick, ..RtoOptions::default() };
        RoundTrip {
            weight: options.rtt_weight,
            smoothed: None,
            sample: 0.0,
            root: 1.0,
            timeout: options.timeout,
            min_timeout: options.min_timeout,
            tick,
            rto: Rto::new(rto),
        }
    }

    fn add(&mut self, sample: f64) {
        let root = sample.sqrt();
        if let Some(smoothed) = &mut self.smoothed {
            *smoothed += self.weight * (sample - *smoothed);
            self.root += self.weight * (root - self.root);
        } else {
            self.smoothed = Some(sample);
            self.root = root;
        }
        self.sample = sample;
        let span = Span::from_seconds(sample);
        let rounded = self.tick.map_or(span, |tick| span.rounded(tick));
        self.rto.sample(Time::ZERO, Time::ZERO + rounded);
    }

    /// Retransmission timeout in the throughput equation, in seconds.
    fn equation_timeout(&self, rtt: f64) -> f64 {
        match self.timeout {
            EquationTimeout::RoundTrips => (4.0 * rtt).max(self.min_timeout.seconds()),
            EquationTimeout::Tcp => self.rto.timeout().seconds(),
        }
    }

    /// Mean square root of the round-trip time over that of the last sample (RFC 5348, section 4.5).
    fn damping(&self) -> f64 {
        if self.smoothed.is_some() { self.root / self.sample.sqrt() } else { 1.0 }
    }
}
