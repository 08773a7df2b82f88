//! Receiver of Quick and Plenty: counts packets and the aggregates that carried them.

use super::header::{PlentyData, PlentyReport};
use multihop_core::{HeaderBytes, Segment, Span, Time};
use multihop_transport::{Delivered, Endpoint, Progress, UdpReceiver};

/// Receiver of Quick and Plenty. Packets that arrive at the same instant form an aggregate, as a client sees
/// from the MAC's timestamp of each PPDU. The receiver sends one report per interval with packets.
pub(super) struct LevelReceiver {
    interval: Span,
    header: u32,
    delivered: UdpReceiver,
    counts: Counts,
    /// Minimum of clock difference plus delay so far, in microseconds.
    min_delay: Option<i32>,
    /// Highest packet number so far, plus one.
    next_number: u64,
    /// Time of the latest packet.
    last_arrival: Option<Time>,
    /// Start of the interval; none if no packet arrived since the last report.
    interval_start: Option<Time>,
    reply: Option<Segment>,
}

/// Counts of packets in the interval.
#[derive(Default)]
struct Counts {
    packets: u32,
    aggregates: u32,
    expected: u64,
    /// Sum of clock differences and delays, in microseconds.
    delays: i64,
}

impl LevelReceiver {
    /// Creates a receiver whose reports have `header` bytes of headers.
    pub(super) fn new(interval: Span, header: u32) -> LevelReceiver {
        LevelReceiver {
            interval,
            header,
            delivered: UdpReceiver::new(),
            counts: Counts::default(),
            min_delay: None,
            next_number: 0,
            last_arrival: None,
            interval_start: None,
            reply: None,
        }
    }

    fn note(&mut self, now: Time, segment: &Segment, header: PlentyData) {
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.aggregates += u32::from(self.last_arrival != Some(now));
        self.last_arrival = Some(now);
        counts.expected += (segment.seq + 1).saturating_sub(self.next_number);
        self.next_number = self.next_number.max(segment.seq + 1);
        // Clocks may differ and wrap, so only differences of this value are used.
        let difference = PlentyData::clock(now).wrapping_sub(header.timestamp) as i32;
        self.min_delay = Some(self.min_delay.map_or(difference, |least| least.min(difference)));
        counts.delays += i64::from(difference);
        self.interval_start.get_or_insert(now);
    }

    fn report(&mut self, now: Time) {
        let Some(since) = self.interval_start.take() else { return };
        let Counts { packets, aggregates, expected, delays } = std::mem::take(&mut self.counts);
        let mean = delays / i64::from(packets.max(1)) - i64::from(self.min_delay.unwrap_or(0));
        let report = PlentyReport {
            packets,
            aggregates,
            expected: u32::try_from(expected).unwrap_or(u32::MAX),
            delay: u32::try_from(mean).unwrap_or(0),
            period: (now.since(since).ns() / 1_000) as u32,
        };
        self.reply =
            Some(Segment { header: self.header, feedback: HeaderBytes::of(&report), ..Segment::default() });
    }
}

impl Endpoint for LevelReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        let delivered = self.delivered.on_segment(now, segment);
        if let Some(header) = segment.feedback.parse::<PlentyData>().filter(|_| delivered.bytes > 0) {
            self.note(now, segment, header);
        }
        delivered
    }

    fn on_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|due| now >= due) {
            self.report(now);
        }
    }

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        self.reply.take()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.interval_start.map(|since| since + self.interval)
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn data(seq: u64, sent: Time) -> Segment {
        let header = PlentyData { number: PlentyData::number(seq), timestamp: PlentyData::clock(sent) };
        Segment { seq, payload: 1000, feedback: HeaderBytes::of(&header), ..Segment::default() }
    }

    /// Three aggregates of 2, 3 and 1 packets. Packet 4 is lost, and a duplicate does not count. Delays of
    /// 400, 300 (least), 1500, 1400, 1300 and 2000 us have the mean 1150, which is 850 above the least.
    #[test]
    fn a_report_by_hand() {
        let mut receiver = LevelReceiver::new(Span::from_ms(10), 48);
        assert_eq!(receiver.poll_timeout(), None);
        for (seq, sent, arrived) in [
            (0, 100, 500),
            (1, 200, 500),
            (2, 500, 2_000),
            (3, 600, 2_000),
            (5, 700, 2_000),
            (6, 1_000, 3_000),
        ] {
            assert_eq!(receiver.on_segment(us(arrived), &data(seq, us(sent))).bytes, 1000);
        }
        assert_eq!(receiver.on_segment(us(3_500), &data(6, us(1_000))).bytes, 0);
        assert_eq!((receiver.poll_segment(us(4_000)), receiver.poll_timeout()), (None, Some(us(10_500))));
        receiver.on_timeout(us(10_500));
        let segment = receiver.poll_segment(us(10_500)).expect("a report");
        let expected = PlentyReport { packets: 6, aggregates: 3, expected: 7, delay: 850, period: 10_000 };
        assert_eq!((segment.feedback.parse(), segment.header, segment.payload), (Some(expected), 48, 0));
        // Without packets there is no report. The next packet starts an interval, with the same minimum of
        // the delay.
        assert_eq!((receiver.poll_timeout(), receiver.poll_segment(us(30_000))), (None, None));
        receiver.on_segment(us(40_000), &data(7, us(39_000)));
        receiver.on_timeout(us(50_000));
        let again = receiver.poll_segment(us(50_000)).unwrap().feedback.parse();
        let expected = PlentyReport { packets: 1, aggregates: 1, expected: 1, delay: 700, period: 10_000 };
        assert_eq!(again, Some(expected));
    }

    /// The 32-bit clock wraps after 71 minutes.
    #[test]
    fn the_senders_clock_may_wrap() {
        let mut receiver = LevelReceiver::new(Span::from_ms(10), 48);
        let wraps = 1 << 32;
        receiver.on_segment(us(wraps - 50), &data(0, us(wraps - 150)));
        receiver.on_segment(us(wraps + 200), &data(1, us(wraps - 100)));
        receiver.on_timeout(us(wraps + 9_950));
        let report: PlentyReport =
            receiver.poll_segment(us(wraps + 9_950)).unwrap().feedback.parse().unwrap();
        assert_eq!(report.delay, 100, "100 and 300 us");
    }
}
