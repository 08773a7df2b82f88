//! Sender of Quick and Plenty: datagrams at the controller's spacing.

use super::control::{LevelControl, LevelOptions, ReportedInterval};
use super::header::{PlentyData, PlentyReport};
use multihop_core::{HeaderBytes, Segment, Span, Time};
use multihop_transport::{Delivered, Endpoint, Messages, Progress};

/// Intervals without a report after which the rate is halved.
const REPORT_TIMEOUT_INTERVALS: u64 = 4;

/// Sender of datagrams. Each push is a message; a message larger than a packet is split.
pub(super) struct LevelSender {
    segment_size: u32,
    header: u32,
    interval: Span,
    control: LevelControl,
    messages: Messages,
    next: u64,
    /// Earliest time of the next packet.
    release: Time,
    /// Time at which the next report is overdue; none if no report is expected.
    overdue: Option<Time>,
    /// Whether the application had no data when a packet was due, since the last report.
    app_limited: bool,
}

impl LevelSender {
    /// Creates a sender of packets with this payload size and these headers, in bytes.
    pub(super) fn new(segment_size: u32, header: u32, interval: Span, options: LevelOptions) -> LevelSender {
        LevelSender {
            segment_size,
            header,
            interval,
            control: LevelControl::new(options),
            messages: Messages::new(segment_size),
            next: 0,
            release: Time::ZERO,
            overdue: None,
            app_limited: false,
        }
    }
}

impl Endpoint for LevelSender {
    fn push(&mut self, now: Time, bytes: u64) {
        self.app_limited |= self.messages.backlog() == 0 && now > self.release;
        self.messages.push(bytes);
    }

    fn withdraw(&mut self) {
        self.messages.withdraw();
    }

    fn backlog(&self) -> u64 {
        self.messages.backlog()
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        if let Some(report) = segment.feedback.parse::<PlentyReport>() {
            let app_limited = self.app_limited || (self.messages.backlog() == 0 && now > self.release);
            self.app_limited = false;
            self.overdue = None;
            if let Some(interval) = observed(&report) {
                self.control.on_report(&interval, app_limited);
            }
        }
        Delivered::default()
    }

    fn on_timeout(&mut self, now: Time) {
        if self.overdue.is_some_and(|overdue| now >= overdue) {
            self.control.on_silence();
            self.overdue = None;
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if now < self.release {
            return None;
        }
        let (offset, payload) = self.messages.take()?;
        let seq = self.next;
        self.next += 1;
        let share = f64::from(payload) / f64::from(self.segment_size);
        self.release = now + Span::from_seconds(self.control.spacing() * share).max(Span::from_ns(1));
        self.overdue.get_or_insert(now + self.interval * REPORT_TIMEOUT_INTERVALS);
        let header = PlentyData { number: PlentyData::number(seq), timestamp: PlentyData::clock(now) };
        let feedback = HeaderBytes::of(&header);
        Some(Segment { seq, offset, payload, header: self.header, feedback, ..Segment::default() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let release = (self.messages.backlog() > 0).then_some(self.release);
        [release, self.overdue].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        let allowed_rate = Some(f64::from(self.segment_size) / self.control.spacing());
        Progress { sent: self.messages.taken(), allowed_rate, ..Progress::default() }
    }
}

/// Converts a report to measurements; none for an empty report.
fn observed(report: &PlentyReport) -> Option<ReportedInterval> {
    let PlentyReport { packets, aggregates, expected, delay, period } = *report;
    if packets == 0 || aggregates == 0 || period == 0 {
        return None;
    }
    let (packets, period) = (f64::from(packets), f64::from(period) * 1e-6);
    let lost = (1.0 - packets / f64::from(expected.max(1))).max(0.0);
    let (level, arrivals) = (packets / f64::from(aggregates), packets / period);
    Some(ReportedInterval { level, arrivals, delay: f64::from(delay) * 1e-6, lost, period })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn sender() -> LevelSender {
        let options = LevelOptions {
            target: 32.0,
            gain: 0.5,
            overhead: 200e-6,
            loss_limit: 0.1,
            spacing: [1e-6, 1e-3, 0.1],
        };
        LevelSender::new(1000, 36, Span::from_ms(100), options)
    }

    fn report(packets: u32, aggregates: u32) -> Segment {
        let report = PlentyReport { packets, aggregates, expected: packets, delay: 0, period: 100_000 };
        Segment { feedback: HeaderBytes::of(&report), ..Segment::default() }
    }

    /// A full packet is sent every millisecond, and half a packet takes half of that time. A report then
    /// halves the spacing.
    #[test]
    fn packets_leave_at_the_spacing() {
        let mut sender = sender();
        sender.push(us(0), 1_500);
        sender.push(us(0), 9_000);
        let mut sent = Vec::new();
        let mut now = us(0);
        for _ in 0..4 {
            while let Some(segment) = sender.poll_segment(now) {
                let header: PlentyData = segment.feedback.parse().unwrap();
                assert_eq!(
                    (u64::from(header.number), header.timestamp),
                    (segment.seq, PlentyData::clock(now))
                );
                sent.push((now.ns() / 1_000, segment.payload, segment.header, segment.offset));
            }
            now = sender.poll_timeout().unwrap();
        }
        assert_eq!(
            sent,
            [(0, 1000, 36, 0), (1_000, 500, 36, 1_000), (1_500, 1000, 36, 1_500), (2_500, 1000, 36, 2_500)]
        );
        sender.on_segment(us(2_600), &report(100, 100));
        assert_eq!(sender.progress().allowed_rate, Some(2e6));
        assert!(sender.poll_segment(us(3_500)).is_some());
        assert_eq!(sender.poll_timeout(), Some(us(4_000)));
    }

    /// The rate halves four intervals after the first packet without a report, and four intervals after the
    /// next one.
    #[test]
    fn without_reports_the_rate_falls() {
        let mut sender = sender();
        sender.push(us(0), 1_000);
        assert!(sender.poll_segment(us(0)).is_some());
        assert_eq!(sender.poll_timeout(), Some(us(400_000)));
        sender.on_timeout(us(400_000));
        assert_eq!((sender.progress().allowed_rate, sender.poll_timeout()), (Some(5e5), None));
        sender.push(us(500_000), 1_000);
        assert!(sender.poll_segment(us(500_000)).is_some());
        sender.on_segment(us(600_000), &report(100, 100));
        assert_eq!(sender.poll_timeout(), None, "a report arrived");
    }

    /// The rate of a sender that had no data for a due packet does not rise.
    #[test]
    fn an_application_with_little_to_send_does_not_raise_the_rate() {
        let mut sender = sender();
        for at in [0, 5_000] {
            sender.push(us(at), 1_000);
            assert!(sender.poll_segment(us(at)).is_some());
        }
        sender.on_segment(us(5_500), &report(100, 100));
        assert_eq!(sender.progress().allowed_rate, Some(1e6));
        sender.push(us(5_600), 10_000);
        sender.poll_segment(us(6_000));
        sender.on_segment(us(6_500), &report(100, 100));
        assert_eq!(sender.progress().allowed_rate, Some(2e6), "now it had data");
    }
}
