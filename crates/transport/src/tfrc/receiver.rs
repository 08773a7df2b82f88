//! The receiving end of TFRC (RFC 5348, sections 5 and 6).

use super::header::{TfrcDataHeader, TfrcReportHeader};
use super::loss_detection::LossDetection;
use super::loss_intervals::LossIntervals;
use super::options::{FirstInterval, ReportTimer, TfrcOptions};
use super::{Equation, EquationPath};
use crate::{Delivered, Endpoint, Progress, UdpReceiver};
use multihop_core::{Ecn, HeaderBytes, Segment, Span, Time};
use std::collections::VecDeque;

/// TFRC receiver. Delivers each datagram once, in order of arrival. A packet that arrives after it was
/// declared lost stays lost.
pub struct TfrcReceiver {
    options: TfrcOptions,
    delivered: UdpReceiver,
    detection: LossDetection,
    losses: LossEvents,
    rates: ReceiveRate,
    /// Header of the newest data packet, its arrival time, and its payload.
    newest: Option<(TfrcDataHeader, Time, u32)>,
    clock: SenderClock,
    /// Number of the first packet that arrived.
    first: u64,
    /// Highest number at the last report.
    highest_reported: u64,
    loss_event_rate: f64,
    /// Whether a report must be sent now.
    report_due: bool,
    /// Expiry of the feedback timer.
    timer: Option<Time>,
    /// Whether the timer expired without data since the last report, so that the next data packet is reported
    /// at once.
    overdue: bool,
}

/// Start of loss events, and the intervals between them.
struct LossEvents {
    intervals: LossIntervals,
    /// Start of the latest loss event, in seconds, and its round.
    latest: Option<(f64, u16)>,
}

/// Recent arrivals.
struct ReceiveRate {
    /// Payload by arrival time, over the last round-trip time and since the last report.
    arrivals: VecDeque<(Time, u32)>,
    last_report: Option<Time>,
    since_report: u64,
    /// Highest receive rate in bytes per second.
    highest: f64,
}

/// Clock of the sender, unwrapped.
#[derive(Default)]
struct SenderClock {
    latest: Option<i64>,
}

impl TfrcReceiver {
    /// A receiver that has received nothing yet.
    pub fn new(options: TfrcOptions) -> TfrcReceiver {
        TfrcReceiver {
            options,
            delivered: UdpReceiver::new(),
            detection: LossDetection::new(options.duplicate_threshold),
            losses: LossEvents { intervals: LossIntervals::new(options.averaging), latest: None },
            rates: ReceiveRate {
                arrivals: VecDeque::new(),
                last_report: None,
                since_report: 0,
                highest: 0.0,
            },
            newest: None,
            clock: SenderClock::default(),
            first: 0,
            highest_reported: 0,
            loss_event_rate: 0.0,
            report_due: false,
            timer: None,
            overdue: false,
        }
    }

    /// Round-trip time of the sender in seconds.
    fn rtt(&self) -> Option<f64> {
        self.newest.and_then(|(header, ..)| TfrcDataHeader::seconds(header.rtt))
    }

    /// Processes the first arrival of a data packet.
    fn on_data(&mut self, now: Time, segment: &Segment, header: TfrcDataHeader) {
        let is_highest = self.detection.highest().is_none_or(|highest| segment.seq > highest);
        let is_first = self.newest.is_none();
        if is_first {
            self.first = segment.seq;
        }
        let stamp = self.clock.read(header.timestamp);
        if is_highest {
            self.newest = Some((header, now, segment.payload));
        }
        self.rates.add(now, segment.payload, self.rtt());
        let at = if self.options.by_timestamps { stamp } else { now.seconds() };
        let events = self.detect(now, segment, at, header);
        if events {
            let before = self.loss_event_rate;
            self.loss_event_rate = self.losses.intervals.loss_event_rate(self.highest());
            // ns-2 reports each loss event.
            self.report_due |= self.loss_event_rate > before || self.options.reports == ReportTimer::Ns2;
        }
        self.report_due |= match self.options.reports {
            ReportTimer::RoundTrip => is_first || self.rtt().is_none() || self.overdue,
            ReportTimer::Ns2 => header.urgent || (is_highest && self.rates.is_report_due(now, self.rtt())),
        };
        if self.timer.is_none() && !self.report_due {
            self.start_timer(now);
        }
    }

    fn highest(&self) -> u64 {
        self.detection.highest().unwrap_or(0)
    }

    /// Detects losses. Returns whether a loss event began.
    fn detect(&mut self, now: Time, segment: &Segment, at: f64, header: TfrcDataHeader) -> bool {
        let TfrcReceiver { detection, losses, options, rates, first, highest_reported, .. } = self;
        let rtt = TfrcDataHeader::seconds(header.rtt).unwrap_or(0.0);
        let round = options.new_round.then_some(header.round);
        let mut begun = false;
        let mut lose = |number: u64, when: f64| {
            if !losses.is_new(when, rtt, round) {
                return;
            }
            begun = true;
            losses.latest = Some((when, header.round));
            if losses.intervals.has_losses() {
                losses.intervals.next(number);
            } else {
                // ns-2 counts packets since the last report as part of the new interval.
                let start = if options.averaging.ns2 { *highest_reported } else { number };
                let length = if number < *first {
                    no_arrival_length(options)
                } else {
                    first_length(options, rates, now, header)
                };
                losses.intervals.first(length, start);
            }
        };
        detection.on_arrival(segment.seq, at, &mut lose);
        if segment.ecn == Ecn::CongestionExperienced {
            lose(segment.seq, at);
        }
        begun
    }

    fn start_timer(&mut self, now: Time) {
        let factor = match self.options.reports {
            ReportTimer::RoundTrip => 1.0,
            ReportTimer::Ns2 => 1.5,
        };
        self.timer = self.rtt().map(|rtt| now + Span::from_seconds(factor * rtt));
    }
}

/// Length in packets of the interval assumed before the first loss (RFC 5348, section 6.3.1).
fn first_length(options: &TfrcOptions, rates: &ReceiveRate, now: Time, header: TfrcDataHeader) -> f64 {
    let packet_size = f64::from(options.segment_size);
    let rtt = TfrcDataHeader::seconds(header.rtt);
    let current = rates.rate(now, rtt);
    let target = match options.first_rate {
        FirstInterval::Highest => rates.highest.max(current),
        FirstInterval::Latest => current,
    };
    match rtt {
        Some(rtt) if target > 0.0 => {
            let timeout = TfrcDataHeader::seconds(header.timeout).unwrap_or(4.0 * rtt);
            interval_of(options, &EquationPath { packet_size, rtt, timeout }, target)
        }
        _ => no_arrival_length(options),
    }
}

/// Length of that interval if the lost packet was sent before the first arrival: half a packet per round-trip
/// time, whatever the round-trip time.
fn no_arrival_length(options: &TfrcOptions) -> f64 {
    let packet_size = f64::from(options.segment_size);
    interval_of(options, &EquationPath::new(packet_size, 1.0), 0.5 * packet_size)
}

/// Loss interval at which the equation gives `rate`.
fn interval_of(options: &TfrcOptions, path: &EquationPath, rate: f64) -> f64 {
    let equation = Equation { equation_limit: f64::INFINITY, ..options.equation };
    1.0 / equation.loss_event_rate(path, rate)
}

impl LossEvents {
    /// Whether a loss at this time begins a new event.
    fn is_new(&self, when: f64, rtt: f64, round: Option<u16>) -> bool {
        self.latest.is_none_or(|(began, round_then)| {
            // Round numbers wrap.
            let later = round.is_none_or(|round| (round.wrapping_sub(round_then) as i16) > 0);
            when > began + rtt && later
        })
    }
}

impl ReceiveRate {
    fn add(&mut self, now: Time, payload: u32, rtt: Option<f64>) {
        self.arrivals.push_back((now, payload));
        self.since_report += u64::from(payload);
        let rtt = rtt.map_or(Span::ZERO, Span::from_seconds);
        let old = |at: Time| now.since(at) > rtt && self.last_report.is_some_and(|last| at <= last);
        while self.arrivals.front().is_some_and(|(at, _)| old(*at)) {
            self.arrivals.pop_front();
        }
    }

    fn is_report_due(&self, now: Time, rtt: Option<f64>) -> bool {
        let Some(rtt) = rtt else { return false };
        self.last_report.is_none_or(|last| now.since(last) >= Span::from_seconds(rtt))
    }

    /// Receive rate in bytes per second since the last report, or over the last round-trip time if that is
    /// longer.
    fn rate(&self, now: Time, rtt: Option<f64>) -> f64 {
        let Some(last) = self.last_report else { return 0.0 };
        let elapsed = now.since(last).seconds();
        match rtt {
            Some(rtt) if elapsed < rtt => {
                let span = Span::from_seconds(rtt);
                let within = self.arrivals.iter().rev().take_while(|(at, _)| now.since(*at) < span);
                within.map(|(_, payload)| f64::from(*payload)).sum::<f64>() / rtt
            }
            _ if elapsed > 0.0 => self.since_report as f64 / elapsed,
            _ => 0.0,
        }
    }
}

impl SenderClock {
    /// Time of a timestamp in seconds, unwrapped from the first one.
    fn read(&mut self, timestamp: u32) -> f64 {
        let latest = self.latest.unwrap_or(i64::from(timestamp));
        let time = latest + i64::from(timestamp.wrapping_sub(latest as u32) as i32);
        self.latest = Some(latest.max(time));
        time as f64 * 1e-6
    }
}

impl Endpoint for TfrcReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        let Some(header) = segment.feedback.parse::<TfrcDataHeader>() else { return Delivered::default() };
        let delivered = self.delivered.on_segment(now, segment);
        if delivered.bytes > 0 {
            self.on_data(now, segment, header);
        }
        delivered
    }

    fn on_timeout(&mut self, now: Time) {
        if self.timer.is_none_or(|timer| now < timer) {
            return;
        }
        self.timer = None;
        if self.rates.since_report > 0 {
            self.report_due = true;
        } else {
            self.overdue = true;
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let (newest, at, _) = self.newest.filter(|_| std::mem::take(&mut self.report_due))?;
        let rtt = self.rtt();
        let rate = self.rates.rate(now, rtt);
        self.rates.highest = self.rates.highest.max(rate);
        self.rates.last_report = Some(now);
        self.rates.since_report = 0;
        self.loss_event_rate = self.losses.intervals.loss_event_rate(self.highest());
        self.highest_reported = self.highest();
        self.overdue = false;
        self.start_timer(now);
        Some(Segment {
            header: self.options.report_size,
            feedback: HeaderBytes::of(&TfrcReportHeader {
                echo: newest.timestamp,
                delay: (now.since(at).ns() / 1_000) as u32,
                receive_rate: rate.round() as u32,
                loss_event_rate: TfrcReportHeader::units(self.loss_event_rate),
            }),
            ..Segment::default()
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gives(length: f64, path: &EquationPath, rate: f64) {
        let found = Equation { equation_limit: f64::INFINITY, ..Equation::ns2() }.rate(path, 1.0 / length);
        assert!((found / rate - 1.0).abs() < 1e-6, "{length}: {found} instead of {rate}");
    }

    /// The interval is the inverse of the equation, also above 25 MB/s, where ns-2 limits the equation.
    #[test]
    fn the_first_interval_inverts_the_equation() {
        let path = EquationPath::new(1_000.0, 1e-3);
        for rate in [1e6, 20e6, 30e6] {
            gives(interval_of(&TfrcOptions::ns2(1_000), &path, rate), &path, rate);
        }
    }

    /// RFC 5348, section 6.3.1: interval of the highest receive rate, or in ns-2 of the latest; if nothing
    /// was received, of half a packet per round trip.
    #[test]
    fn rfc_5348_6_3_1_what_the_first_interval_is_made_of() {
        let header = TfrcDataHeader { rtt: TfrcDataHeader::units(0.1), ..TfrcDataHeader::default() };
        let path = EquationPath::new(1_000.0, 0.1);
        let mut receiver = TfrcReceiver::new(TfrcOptions::ns2(1_000));
        let now = Time::ZERO + Span::from_ms(500);
        for (first_rate, highest, expected) in [
            (FirstInterval::Highest, 80_000.0, 80_000.0),
            (FirstInterval::Latest, 80_000.0, 5_000.0),
            (FirstInterval::Highest, 0.0, 5_000.0),
        ] {
            receiver.rates.highest = highest;
            let options = TfrcOptions { first_rate, ..TfrcOptions::ns2(1_000) };
            gives(first_length(&options, &receiver.rates, now, header), &path, expected);
        }
    }

    #[test]
    fn a_receiver_has_nothing_to_send() {
        let mut receiver = TfrcReceiver::new(TfrcOptions::rfc(1_000));
        receiver.push(Time::ZERO, 1_000);
        assert_eq!((receiver.backlog(), receiver.poll_segment(Time::ZERO)), (0, None));
    }

    /// Microseconds in 32 bits, in order or not, across the wrap after 4294.967296 s.
    #[test]
    fn the_senders_clock_is_in_seconds() {
        let mut clock = SenderClock::default();
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        close(clock.read(4_294_000_000), 4_294.0);
        close(clock.read(4_293_500_000), 4_293.5);
        close(clock.read(1_032_704), 4_296.0);
        close(clock.read(4_294_500_000), 4_294.5);
    }

    /// Data since the last report, or over the last round-trip time of 100 ms if that is longer; zero over no
    /// time.
    #[test]
    fn rfc_5348_6_2_the_receive_rate() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut rates = TfrcReceiver::new(TfrcOptions::rfc(1_000)).rates;
        assert_eq!(rates.rate(ms(0), None), 0.0, "no report yet");
        (0..=9).for_each(|i| rates.add(ms(20 * i), 1_000, Some(0.1)));
        assert_eq!(rates.arrivals.len(), 10, "all are kept for the first report");
        (rates.last_report, rates.since_report) = (Some(ms(180)), 0);
        assert_eq!(rates.rate(ms(180), None), 0.0);
        rates.add(ms(200), 1_000, Some(0.1));
        assert_eq!(rates.arrivals.front().unwrap().0, ms(100), "a round-trip time is kept");
        assert_eq!(rates.rate(ms(200), Some(0.1)), 50_000.0, "120 to 200 ms");
        assert_eq!(rates.rate(ms(200), None), 50_000.0, "since 180 ms");
        assert_eq!(rates.rate(ms(380), Some(0.1)), 5_000.0);
    }
}
