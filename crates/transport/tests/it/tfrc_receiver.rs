//! TFRC receiver, packet by packet: times and contents of its reports.

use multihop_core::{Ecn, HeaderBytes, Segment, Time};
use multihop_transport::{
    Endpoint, Equation, EquationPath, FirstInterval, TfrcDataHeader, TfrcOptions, TfrcReceiver,
    TfrcReportHeader,
};

const SIZE: u32 = 1_000;
/// Time in milliseconds.
const RTT: u64 = 100;

fn ms(at: u64) -> Time {
    Time::from_ns(at * 1_000_000)
}

/// A receiver with its reports.
struct Script {
    receiver: TfrcReceiver,
    reports: Vec<(u64, TfrcReportHeader)>,
    /// Fields of data packets that describe the sender.
    header: TfrcDataHeader,
    ecn: Ecn,
}

impl Script {
    fn new(options: TfrcOptions) -> Script {
        let header = TfrcDataHeader { rtt: RTT as u32 * 1_000, ..TfrcDataHeader::default() };
        Script { receiver: TfrcReceiver::new(options), reports: Vec::new(), header, ecn: Ecn::Ect0 }
    }

    /// Receives data at this millisecond, 30 ms after it was sent. Earlier timers expire first.
    fn data(&mut self, at: u64, number: u64) {
        self.wait(at);
        let timestamp = TfrcDataHeader::clock(ms(at)).wrapping_sub(30_000);
        let header = TfrcDataHeader { timestamp, ..self.header };
        let segment = Segment {
            seq: number,
            payload: SIZE,
            ecn: self.ecn,
            feedback: HeaderBytes::of(&header),
            ..Segment::default()
        };
        self.receiver.on_segment(ms(at), &segment);
        self.drain(ms(at));
    }

    fn all(&mut self, data: &[(u64, u64)]) {
        for (at, number) in data {
            self.data(*at, *number);
        }
    }

    fn wait(&mut self, until: u64) {
        while let Some(due) = self.receiver.poll_timeout().filter(|due| *due <= ms(until)) {
            self.receiver.on_timeout(due);
            self.drain(due);
        }
    }

    fn drain(&mut self, now: Time) {
        while let Some(segment) = self.receiver.poll_segment(now) {
            let Some(header) = segment.feedback.parse::<TfrcReportHeader>() else { panic!("{segment:?}") };
            self.reports.push((now.ns() / 1_000_000, header));
        }
    }

    fn times(&self) -> Vec<u64> {
        self.reports.iter().map(|(at, _)| *at).collect()
    }

    fn last(&self) -> TfrcReportHeader {
        self.reports.last().unwrap().1
    }

    /// Receives a packet every 10 ms, without these numbers, whose time passes.
    fn stream(&mut self, numbers: std::ops::Range<u64>, lost: &[u64]) {
        numbers.filter(|number| !lost.contains(number)).for_each(|number| self.data(10 * number, number));
    }
}

#[test]
fn without_a_round_trip_time_each_packet_is_reported_and_then_one_in_each() {
    let mut script = Script::new(TfrcOptions::rfc(SIZE));
    script.header.rtt = 0;
    script.all(&[(0, 0), (10, 1), (20, 2)]);
    assert_eq!(script.times(), [0, 10, 20]);
    assert_eq!((script.reports[0].1.receive_rate, script.reports[0].1.loss_event_rate), (0, 0));
    script.header.rtt = RTT as u32 * 1_000;
    script.stream(3..40, &[]);
    assert_eq!(script.times()[3..], [130, 230, 330]);
}

#[test]
fn a_report_tells_of_the_newest_packet_how_long_it_waited_and_the_rate_since_the_last() {
    let mut script = Script::new(TfrcOptions::rfc(SIZE));
    script.all(&[(0, 0), (40, 1), (60, 2), (93, 3)]);
    script.wait(100);
    let expected =
        TfrcReportHeader { echo: 63_000, delay: 7_000, receive_rate: 30_000, ..TfrcReportHeader::default() };
    assert_eq!(script.reports[1], (100, expected));
}

#[test]
fn nothing_is_reported_of_nothing_but_the_next_packet_at_once() {
    let mut script = Script::new(TfrcOptions::rfc(SIZE));
    script.data(0, 0);
    script.data(730, 1);
    assert_eq!(script.times(), [0, 730]);
    assert_eq!(script.last().receive_rate, 1_370, "over all that time");
    script.wait(5_000);
    assert_eq!(script.times().len(), 2);
}

#[test]
fn losses_within_a_round_trip_time_are_one_event() {
    let rates = [[50, 55], [50, 61]].map(|lost| {
        let mut script = Script::new(TfrcOptions::rfc(SIZE));
        script.stream(0..70, &lost);
        script.last().rate()
    });
    // Half a round trip apart they are one event, 1.1 apart two, and the second ends an interval of 11
    // packets.
    let mut one = Script::new(TfrcOptions::rfc(SIZE));
    one.stream(0..70, &[50]);
    assert_eq!(rates[0], one.last().rate());
    let first = 1.0 / rates[0];
    assert!((1.0 / rates[1] / (0.5 * (first + 11.0)) - 1.0).abs() < 1e-6, "{rates:?}");
}

#[test]
fn a_new_loss_event_is_reported_at_once() {
    let mut script = Script::new(TfrcOptions::rfc(SIZE));
    script.stream(0..35, &[24]);
    // Packet 27 is the third after the missing one; the timer restarts.
    assert_eq!(script.times(), [0, 100, 200, 270]);
    assert!(script.last().rate() > 0.0);
    script.wait(370);
    assert_eq!(script.times()[4..], [370]);
}

#[test]
fn a_mark_is_a_loss() {
    let mut script = Script::new(TfrcOptions::rfc(SIZE));
    script.stream(0..24, &[]);
    script.ecn = Ecn::CongestionExperienced;
    script.data(240, 24);
    assert_eq!(script.times(), [0, 100, 200, 240]);
    assert!(script.last().rate() > 0.0);
}

#[test]
fn the_interval_before_the_first_loss_is_that_of_the_receive_rate() {
    let path = EquationPath::new(f64::from(SIZE), 0.1);
    // Packets arrive every 10 ms up to 1 s, and then every 20 ms.
    let rate_after = |first_rate| {
        let mut script = Script::new(TfrcOptions { first_rate, ..TfrcOptions::rfc(SIZE) });
        script.stream(0..100, &[]);
        (100..120).filter(|number| *number != 110).for_each(|n| script.data(1_000 + 20 * (n - 100), n));
        Equation::default().rate(&path, script.last().rate())
    };
    let expected = [
        (FirstInterval::Highest, 100_000.0),
        // One of five packets in the round-trip time is missing.
        (FirstInterval::Latest, 40_000.0),
    ];
    for (rule, rate) in expected {
        let found = rate_after(rule);
        assert!((found / rate - 1.0).abs() < 0.01, "{rule:?}: {found}");
    }
}

#[test]
fn a_loss_before_anything_came_means_half_a_packet_per_round_trip() {
    for rtt in [0, 50_000, 200_000] {
        let mut script = Script::new(TfrcOptions::rfc(SIZE));
        script.header.rtt = rtt;
        (1..4).for_each(|number| script.data(10 * number, number));
        // f(p) = 2 at p = 20.64 %, whatever the round-trip time.
        let rate = script.last().rate();
        assert!((rate - 0.2064).abs() < 5e-5, "{rate}");
    }
}

#[test]
fn ns2_reports_with_the_first_packet_after_a_round_trip_or_after_one_and_a_half() {
    let mut script = Script::new(TfrcOptions::ns2(SIZE));
    script.header.urgent = true;
    script.all(&[(0, 0), (13, 1)]);
    script.header.urgent = false;
    script.all(&[(40, 2), (112, 3), (114, 4), (150, 5)]);
    assert_eq!(script.times(), [0, 13, 114]);
    script.wait(400);
    assert_eq!(script.times()[3..], [264]);
}

#[test]
fn ns2_needs_a_new_round_for_a_new_event() {
    let run = |round_after| {
        let mut script = Script::new(TfrcOptions::ns2(SIZE));
        script.header.round = 7;
        script.stream(0..60, &[50]);
        script.header.round = round_after;
        script.stream(60..80, &[70]);
        1.0 / script.last().rate()
    };
    // The first interval after the first loss counts from packet 40, the newest at the previous report.
    let first = run(7);
    assert!((run(8) - 0.5 * (first + 30.0)).abs() < 0.01, "{first} {}", run(8));
}

#[test]
fn the_senders_clock_may_wrap() {
    let run = |offset: u32| {
        let mut script = Script::new(TfrcOptions::ns2(SIZE));
        for number in (0..80).filter(|number| ![50, 70].contains(number)) {
            let timestamp = (10_000 * number as u32).wrapping_add(offset);
            let round = (number / 10) as u16;
            script.header = TfrcDataHeader { timestamp, rtt: 100_000, round, ..TfrcDataHeader::default() };
            let feedback = HeaderBytes::of(&script.header);
            let segment = Segment { seq: number, payload: SIZE, feedback, ..Segment::default() };
            script.receiver.on_segment(ms(10 * number), &segment);
            script.drain(ms(10 * number));
        }
        script.last().loss_event_rate
    };
    assert!(run(0) > 0);
    assert_eq!(run(u32::MAX - 600_000), run(0));
}
