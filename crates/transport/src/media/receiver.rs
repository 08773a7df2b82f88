//! The receiving end of media: reports on each packet (RFC 8888).

use super::header::{MediaHeader, MediaReport};
use crate::{Delivered, Endpoint, Progress, UdpReceiver};
use multihop_core::{Ecn, HeaderBytes, Segment, Span, Time};
use std::collections::VecDeque;

/// Options of a receiver's reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedbackOptions {
    /// Maximum time from the arrival of a packet to the report on it.
    pub interval: Span,
    /// Whether the last packet of a frame is reported at once.
    pub at_frame_end: bool,
    /// Network and UDP header bytes of a report.
    pub header: u32,
}

/// Receiver of media. Delivers each datagram once, in order of arrival. Every packet number is in one report.
/// A packet that arrives after it was reported as missing stays missing.
pub struct MediaReceiver {
    options: FeedbackOptions,
    delivered: UdpReceiver,
    /// Number of the first packet that no report covers.
    first: u64,
    /// Arrival times and ECN codepoints of the packets from `first` on; none for a packet that is missing.
    packets: VecDeque<Option<(Time, Ecn)>>,
    due: Option<Time>,
    reports: VecDeque<Segment>,
}

/// Maximum number of missing packets in a row that are reported. A longer gap is an outage, to which senders
/// react without a report.
const LONGEST_GAP: u64 = 64;

impl MediaReceiver {
    /// A receiver that has received nothing.
    pub fn new(options: FeedbackOptions) -> MediaReceiver {
        MediaReceiver {
            options,
            delivered: UdpReceiver::new(),
            first: 0,
            packets: VecDeque::new(),
            due: None,
            reports: VecDeque::new(),
        }
    }

    fn arrived(&mut self, now: Time, number: u64, ecn: Ecn) {
        if number < self.first {
            return;
        }
        let end = self.first + self.packets.len() as u64;
        if number > end + LONGEST_GAP {
            self.report_all(now);
            self.first = number - LONGEST_GAP;
        }
        let index = (number - self.first) as usize;
        if index >= self.packets.len() {
            self.packets.resize(index + 1, None);
        }
        self.packets[index] = Some((now, ecn));
        self.due.get_or_insert(now + self.options.interval);
        while self.packets.len() >= MediaReport::MOST {
            self.report(now);
            self.due = (!self.packets.is_empty()).then(|| now + self.options.interval);
        }
    }

    fn report_all(&mut self, now: Time) {
        while !self.packets.is_empty() {
            self.report(now);
        }
        self.due = None;
    }

    /// Makes a report on as many packets as it can hold.
    fn report(&mut self, now: Time) {
        let count = self.packets.len().min(MediaReport::MOST);
        let report = MediaReport::on(now, self.first, self.packets.drain(..count));
        self.first += count as u64;
        let header = self.options.header + report.bytes();
        self.reports.push_back(Segment { header, feedback: HeaderBytes::of(&report), ..Segment::default() });
    }
}

impl Endpoint for MediaReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        let delivered = self.delivered.on_segment(now, segment);
        if let Some(header) = segment.feedback.parse::<MediaHeader>().filter(|_| delivered.bytes > 0) {
            self.arrived(now, segment.seq, segment.ecn);
            if header.marker && self.options.at_frame_end {
                self.report_all(now);
            }
        }
        delivered
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| now >= due) {
            self.report_all(now);
        }
    }

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        self.reports.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn receiver(at_frame_end: bool) -> MediaReceiver {
        MediaReceiver::new(FeedbackOptions { interval: Span::from_ms(100), at_frame_end, header: 28 })
    }

    fn data(number: u64, marker: bool) -> Segment {
        let header = MediaHeader { number: MediaHeader::number(number), marker, ..MediaHeader::default() };
        Segment { seq: number, payload: 1_000, feedback: HeaderBytes::of(&header), ..Segment::default() }
    }

    /// First number, number of packets, and bytes of the reports that are ready.
    fn reports(receiver: &mut MediaReceiver, now: Time) -> Vec<(u32, u8, u32)> {
        let mut found = Vec::new();
        while let Some(segment) = receiver.poll_segment(now) {
            let report: MediaReport = segment.feedback.parse().expect("a report");
            found.push((report.first, report.count, segment.header));
        }
        found
    }

    /// A report is due 100 ms after the first packet that it covers, and has 48 bytes and 2 for each packet.
    #[test]
    fn a_report_follows_an_interval_after_its_first_packet() {
        let mut receiver = receiver(false);
        assert_eq!(receiver.poll_timeout(), None);
        for (number, at) in [(0, 50), (1, 60), (3, 90)] {
            assert_eq!(receiver.on_segment(ms(at), &data(number, true)).bytes, 1_000);
        }
        assert_eq!(receiver.poll_timeout(), Some(ms(150)));
        receiver.on_timeout(ms(149));
        assert_eq!(reports(&mut receiver, ms(149)), []);
        receiver.on_timeout(ms(150));
        assert_eq!(reports(&mut receiver, ms(150)), [(0, 4, 56)]);
        assert_eq!(receiver.poll_timeout(), None);
        // Packet 2 was reported as missing, and packet 3 is a duplicate.
        receiver.on_segment(ms(160), &data(2, false));
        assert_eq!(receiver.on_segment(ms(160), &data(3, false)).bytes, 0);
        assert_eq!(receiver.poll_timeout(), None);
    }

    #[test]
    fn eight_packets_are_reported_at_once() {
        let mut receiver = receiver(false);
        (0..9).for_each(|number| _ = receiver.on_segment(ms(number), &data(number, false)));
        assert_eq!(reports(&mut receiver, ms(9)), [(0, 8, 64)]);
        assert_eq!(receiver.poll_timeout(), Some(ms(108)), "the ninth");
    }

    /// draft-ietf-ccwg-rfc8298bis-screamv2-01, section 5: at the marker.
    #[test]
    fn the_end_of_a_frame_is_reported_at_once() {
        let mut receiver = receiver(true);
        receiver.on_segment(ms(0), &data(0, false));
        receiver.on_segment(ms(1), &data(1, true));
        assert_eq!(reports(&mut receiver, ms(1)), [(0, 2, 52)]);
        assert_eq!(receiver.poll_timeout(), None);
    }

    /// After an outage of 1000 packets, 64 are reported as missing.
    #[test]
    fn a_long_gap_is_cut() {
        let mut receiver = receiver(false);
        receiver.on_segment(ms(0), &data(0, false));
        receiver.on_segment(ms(9), &data(1_001, false));
        let expected: Vec<_> =
            std::iter::once((0, 1, 52)).chain((0..8).map(|index| (937 + 8 * index, 8, 64))).collect();
        assert_eq!(reports(&mut receiver, ms(9)), expected);
        assert_eq!(receiver.poll_timeout(), Some(ms(109)), "packet 1001");
        receiver.on_timeout(ms(109));
        assert_eq!(reports(&mut receiver, ms(109)), [(1_001, 1, 52)]);
    }
}
