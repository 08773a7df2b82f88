//! The sending end of media.

use super::control::{FrameQueued, MediaControl, MediaFeedback};
use super::encoder_queue::EncoderQueue;
use super::header::{MediaHeader, MediaReport};
use super::history::History;
use super::pacer::Pacer;
use crate::{Delivered, Endpoint, Progress};
use multihop_core::{Ecn, HeaderBytes, Segment, Span, Time};

/// Options of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediaOptions {
    /// Maximum payload of a packet in bytes.
    pub segment_size: u32,
    /// Network and UDP header bytes; the RTP header adds [`MediaHeader::BYTES`].
    pub header: u32,
    /// ECN codepoint of packets.
    pub ecn: Ecn,
    /// Interval between bursts; zero for single packets.
    pub burst: Span,
    /// Maximum time from the arrival of a packet to the report on it.
    pub feedback_interval: Span,
}

/// Sender of datagrams with feedback on each packet. Each push is a separate message, which is split if it
/// does not fit in a packet. Nothing is retransmitted.
///
/// An encoder that follows [`MediaControl::encoder_rate`] has little data waiting, which leaves at
/// [`MediaControl::pacing_rate`]. An application with more than a second of data waiting does not follow; its
/// packets leave at [`MediaControl::target_rate`].
pub struct MediaSender {
    options: MediaOptions,
    control: Box<dyn MediaControl>,
    queue: EncoderQueue,
    history: History,
    pacer: Pacer,
    /// Smoothed round-trip time.
    rtt: Option<Span>,
    /// Time at which missing reports count as silence; none with nothing in flight.
    silence: Option<Time>,
    counters: Progress,
}

/// Waiting data, as a time at the target rate, above which an application does not follow the target.
const LONGEST_ENCODER_QUEUE: f64 = 1.0;
/// Minimum time without a report that counts as silence, and the number of round trips and report intervals.
const MIN_SILENCE: Span = Span::from_ms(500);
const SILENT_ROUNDS: u64 = 4;

impl MediaSender {
    /// A sender without data.
    pub fn new(options: MediaOptions, control: Box<dyn MediaControl>) -> MediaSender {
        MediaSender {
            control,
            queue: EncoderQueue::new(options.segment_size),
            history: History::default(),
            pacer: Pacer::new(options.burst),
            rtt: None,
            silence: None,
            counters: Progress::default(),
            options,
        }
    }

    /// Present rate of packets in payload bytes per second.
    fn pace(&self) -> f64 {
        let (backlog, target) = (self.queue.backlog(), self.control.target_rate());
        if backlog as f64 > target * LONGEST_ENCODER_QUEUE {
            target
        } else {
            self.control.pacing_rate(backlog)
        }
    }

    fn is_window_open(&self) -> bool {
        let in_flight = self.history.in_flight();
        in_flight == 0 || self.control.send_window().is_none_or(|window| in_flight < window)
    }

    fn silent_after(&self, now: Time) -> Time {
        let round = self.rtt.unwrap_or_default() + self.options.feedback_interval;
        now + (round * SILENT_ROUNDS).max(MIN_SILENCE)
    }

    fn on_report(&mut self, now: Time, report: &MediaReport) {
        if let Some(sample) = self.history.report(now, report) {
            // RFC 6298, section 2.3.
            self.rtt = Some(self.rtt.map_or(sample, |smoothed| (smoothed * 7 + sample) / 8));
            self.counters.rtt = Some(sample);
            self.counters.rtt_samples += 1;
            self.counters.rtt_sum += sample;
        }
        let in_flight = self.history.in_flight();
        self.silence = (in_flight > 0).then(|| self.silent_after(now));
        let packets = self.history.fates();
        if let (Some(rtt), false) = (self.rtt, packets.is_empty()) {
            self.control.on_feedback(&MediaFeedback { now, rtt, packets, in_flight });
        }
    }
}

impl Endpoint for MediaSender {
    fn push(&mut self, now: Time, bytes: u64) {
        self.control.on_frame(&FrameQueued { now, bytes, waiting: self.queue.waiting(now) });
        self.queue.push(now, bytes);
    }

    fn withdraw(&mut self) {
        self.queue.withdraw();
    }

    fn backlog(&self) -> u64 {
        self.queue.backlog()
    }

    fn encoder_rate(&self) -> Option<f64> {
        Some(self.control.encoder_rate(self.queue.backlog()))
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        if let Some(report) = segment.feedback.parse::<MediaReport>() {
            self.on_report(now, &report);
        }
        Delivered::default()
    }

    fn on_timeout(&mut self, now: Time) {
        if self.silence.is_some_and(|silence| now >= silence) {
            self.counters.timeouts += 1;
            self.history.forget();
            self.control.on_silence(now);
            self.silence = None;
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let pace = self.pace();
        if now < self.pacer.release_at(pace) || !self.is_window_open() {
            return None;
        }
        let (offset, payload) = self.queue.take()?;
        self.pacer.sent(now, payload, pace);
        let seq = self.history.sent(now, payload);
        self.control.on_sent(now, self.history.in_flight());
        let silence = self.silent_after(now);
        self.silence.get_or_insert(silence);
        Some(Segment {
            seq,
            offset,
            payload,
            header: self.options.header + MediaHeader::BYTES,
            ecn: self.options.ecn,
            feedback: HeaderBytes::of(&MediaHeader {
                number: MediaHeader::number(seq),
                timestamp: MediaHeader::clock(now),
                marker: self.queue.backlog() == 0,
            }),
            ..Segment::default()
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let may_send = self.queue.backlog() > 0 && self.is_window_open();
        let release = may_send.then(|| self.pacer.release_at(self.pace()));
        [release, self.silence].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        Progress {
            sent: self.queue.taken(),
            srtt: self.rtt,
            window: self.control.window(),
            allowed_rate: Some(self.control.target_rate()),
            ..self.counters
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::PacketFate;
    use std::sync::{Arc, Mutex};

    /// Fates of a report, and the smoothed round-trip time.
    type Told = (Vec<PacketFate>, Span);

    /// Controller with fixed rates and a fixed window that keeps the feedback.
    #[derive(Default)]
    struct Fixed {
        window: Option<u64>,
        told: Arc<Mutex<Vec<Told>>>,
        silences: Arc<Mutex<u32>>,
    }

    impl MediaControl for Fixed {
        fn target_rate(&self) -> f64 {
            1e5
        }

        fn encoder_rate(&self, backlog: u64) -> f64 {
            1e5 - backlog as f64
        }

        fn pacing_rate(&self, _backlog: u64) -> f64 {
            2e5
        }

        fn send_window(&self) -> Option<u64> {
            self.window
        }

        fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
            self.told.lock().unwrap().push((feedback.packets.to_vec(), feedback.rtt));
        }

        fn on_silence(&mut self, _now: Time) {
            *self.silences.lock().unwrap() += 1;
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn sender(control: Fixed) -> MediaSender {
        let options = MediaOptions {
            segment_size: 1_000,
            header: 28,
            ecn: Ecn::Ect0,
            burst: Span::ZERO,
            feedback_interval: Span::from_ms(100),
        };
        MediaSender::new(options, Box::new(control))
    }

    /// Drains the sender up to a time. Returns the send times in milliseconds and the markers.
    fn drain(sender: &mut MediaSender, until: Time) -> Vec<(u64, bool)> {
        let mut sent = Vec::new();
        let mut now = Time::ZERO;
        loop {
            while let Some(segment) = sender.poll_segment(now) {
                assert_eq!((segment.header, segment.ecn), (40, Ecn::Ect0), "IP, UDP and RTP");
                let header: MediaHeader = segment.feedback.parse().unwrap();
                sent.push((now.ns() / 1_000_000, header.marker));
            }
            match sender.poll_timeout() {
                Some(next) if next <= until => now = next,
                _ => return sent,
            }
            sender.on_timeout(now);
        }
    }

    fn report(at: u64, first: u64, arrivals: &[Option<u64>]) -> Segment {
        let packets = arrivals.iter().map(|arrival| arrival.map(|at| (ms(at), Ecn::Ect0)));
        let report = MediaReport::on(ms(at), first, packets);
        Segment { feedback: HeaderBytes::of(&report), ..Segment::default() }
    }

    /// A frame of 2500 bytes at 200 kB/s: a packet each 5 ms, and a marker at the end.
    #[test]
    fn a_frame_leaves_at_the_pacing_rate() {
        let mut sender = sender(Fixed::default());
        sender.push(ms(0), 2_500);
        assert_eq!(sender.encoder_rate(), Some(97_500.0));
        assert_eq!(drain(&mut sender, ms(100)), [(0, false), (5, false), (10, true)]);
        assert_eq!((sender.progress().sent, sender.encoder_rate()), (2_500, Some(1e5)));
    }

    /// With more than 100 kB waiting, packets leave at the target of 100 kB/s.
    #[test]
    fn an_application_that_does_not_follow_has_the_target_rate() {
        let mut sender = sender(Fixed::default());
        sender.push(ms(0), 1 << 40);
        assert_eq!(drain(&mut sender, ms(20)), [(0, false), (10, false), (20, false)]);
    }

    /// A window of 1500 bytes lets two packets of 1000 leave. A report on the first opens it for one more.
    #[test]
    fn the_window_holds_packets_back() {
        let mut sender = sender(Fixed { window: Some(1_500), ..Fixed::default() });
        sender.push(ms(0), 5_000);
        assert_eq!(drain(&mut sender, ms(50)), [(0, false), (5, false)]);
        assert_eq!(sender.poll_timeout(), Some(ms(500)), "silence alone");
        sender.on_segment(ms(60), &report(40, 0, &[Some(30)]));
        assert!(sender.poll_segment(ms(60)).is_some());
        assert!(sender.poll_segment(ms(90)).is_none());
    }

    /// Sent at 0 and 10 ms. A report held for 15.625 ms is there at 100 ms; one on the second at 200 ms.
    /// Samples of 100 - 15.625 and 200 - 10 ms.
    #[test]
    fn reports_give_fates_and_round_trip_times() {
        let fixed = Fixed::default();
        let told = fixed.told.clone();
        let mut sender = sender(fixed);
        sender.push(ms(0), 2_000);
        drain(&mut sender, ms(5));
        let hold = Span::from_us(15_625);
        let packets = std::iter::once(Some((ms(80) - hold, Ecn::Ect0)));
        let first = MediaReport::on(ms(80), 0, packets);
        sender.on_segment(ms(100), &Segment { feedback: HeaderBytes::of(&first), ..Segment::default() });
        sender.on_segment(ms(205), &report(180, 1, &[Some(180)]));
        let told = told.lock().unwrap();
        let (fates, rtt) = &told[0];
        assert_eq!((fates.len(), *rtt), (1, Span::from_us(84_375)));
        assert_eq!(told[1].1, (Span::from_us(84_375) * 7 + Span::from_ms(200)) / 8);
        let progress = sender.progress();
        assert_eq!((progress.rtt, progress.rtt_samples), (Some(Span::from_ms(200)), 2));
        assert_eq!(sender.poll_timeout(), None, "nothing is in flight");
    }

    /// Silence begins 500 ms after the first packet without a report, and 4 (80 + 100) ms after a report.
    #[test]
    fn missing_reports_are_silence() {
        let fixed = Fixed::default();
        let silences = fixed.silences.clone();
        let mut sender = sender(fixed);
        sender.push(ms(0), 1_000);
        drain(&mut sender, ms(499));
        assert_eq!(*silences.lock().unwrap(), 0);
        drain(&mut sender, ms(500));
        assert_eq!((*silences.lock().unwrap(), sender.poll_timeout()), (1, None));
        sender.push(ms(1_000), 2_000);
        assert!(sender.poll_segment(ms(1_000)).is_some() && sender.poll_segment(ms(1_005)).is_some());
        sender.on_segment(ms(1_080), &report(1_040, 1, &[Some(1_040)]));
        assert_eq!(sender.poll_timeout(), Some(ms(1_800)));
        assert_eq!(sender.progress().timeouts, 1);
    }
}
