//! TFRC sender, report by report: allowed rates, and send times of packets.

use multihop_core::{HeaderBytes, Segment, Span, Time};
use multihop_transport::{
    Endpoint, Equation, EquationPath, Progress, RateCeiling, TfrcDataHeader, TfrcOptions, TfrcReport,
    TfrcReportHeader, TfrcSender, Unlimited,
};

const SIZE: u32 = 1_000;
/// A round trip of 100 ms with four packets.
const INITIAL: f64 = 40_000.0;

fn ms(at: u64) -> Time {
    Time::from_ns(at * 1_000_000)
}

struct Script {
    sender: TfrcSender,
    /// Send times of packets in milliseconds, with their headers.
    left: Vec<(f64, TfrcDataHeader)>,
}

impl Script {
    /// A sender with unlimited data from the beginning.
    fn new(options: TfrcOptions) -> Script {
        Script::under(options, Box::new(Unlimited))
    }

    fn under(options: TfrcOptions, ceiling: Box<dyn RateCeiling>) -> Script {
        let mut script = Script { sender: TfrcSender::new(options, ceiling), left: Vec::new() };
        script.push(0, 1 << 40);
        script
    }

    fn push(&mut self, at: u64, bytes: u64) {
        self.sender.push(ms(at), bytes);
        self.drain(ms(at));
    }

    fn drain(&mut self, now: Time) {
        while let Some(segment) = self.sender.poll_segment(now) {
            let Some(header) = segment.feedback.parse::<TfrcDataHeader>() else { panic!("{segment:?}") };
            self.left.push((now.ns() as f64 / 1e6, header));
        }
    }

    fn wait(&mut self, until: u64) {
        while let Some(due) = self.sender.poll_timeout().filter(|due| *due <= ms(until)) {
            self.sender.on_timeout(due);
            self.drain(due);
        }
    }

    /// Receives a report of a packet that was sent a round-trip time ago.
    fn report(&mut self, at: u64, rtt: u64, receive_rate: u32, loss_event_rate: f64) {
        self.wait(at);
        let header = TfrcReportHeader {
            echo: TfrcDataHeader::clock(ms(at)).wrapping_sub(1_000 * rtt as u32 + 2_000),
            delay: 2_000,
            receive_rate,
            loss_event_rate: TfrcReportHeader::units(loss_event_rate),
        };
        let segment = Segment { feedback: HeaderBytes::of(&header), ..Segment::default() };
        self.sender.on_segment(ms(at), &segment);
        self.drain(ms(at));
    }

    fn rate(&self) -> f64 {
        self.sender.progress().allowed_rate.unwrap()
    }

    /// Intervals between packets since that time, in milliseconds.
    fn gaps(&self, since: f64) -> Vec<f64> {
        let times: Vec<f64> = self.left.iter().map(|(at, _)| *at).filter(|at| *at >= since).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
}

/// Options under which the pace equals the rate.
fn plain() -> TfrcOptions {
    TfrcOptions { oscillation_reduction: false, ..TfrcOptions::rfc(SIZE) }
}

#[test]
fn it_begins_with_a_packet_a_second_and_then_an_initial_window_per_round_trip() {
    let mut script = Script::new(plain());
    script.wait(1_500);
    assert_eq!(script.gaps(0.0), [1_000.0]);
    assert_eq!(script.left[0].1.rtt, 0);
    script.report(1_600, 100, 0, 0.0);
    close(script.rate(), INITIAL);
    script.wait(1_690);
    assert_eq!(script.left[2].1.rtt, 100_000);
    assert!(script.gaps(1_600.0).iter().all(|gap| (gap - 25.0).abs() < 1e-3), "{:?}", script.left);
    let Progress { rtt, srtt, .. } = script.sender.progress();
    assert_eq!((rtt, srtt), (Some(Span::from_ms(100)), Some(Span::from_ms(100))));
}

#[test]
fn slow_start_doubles_once_in_a_round_trip_within_twice_what_arrives() {
    let mut script = Script::new(plain());
    script.report(100, 100, 0, 0.0);
    script.report(150, 100, 40_000, 0.0);
    close(script.rate(), INITIAL);
    script.report(200, 100, 40_000, 0.0);
    close(script.rate(), 2.0 * INITIAL);
    script.report(301, 100, 60_000, 0.0);
    close(script.rate(), 120_000.0);
    // The report of 301 ms has the highest receive rate of the last two round trips.
    script.report(420, 100, 50_000, 0.0);
    close(script.rate(), 120_000.0);
    script.report(530, 100, 10_000, 0.0);
    close(script.rate(), 100_000.0);
    script.report(750, 100, 1_000, 0.0);
    close(script.rate(), INITIAL);
}

#[test]
fn after_a_loss_the_rate_is_that_of_the_equation_within_twice_what_arrives() {
    let mut script = Script::new(plain());
    script.report(100, 100, 0, 0.0);
    script.report(400, 100, 90_000, 0.02);
    let equation = |rtt| Equation::default().rate(&EquationPath::new(f64::from(SIZE), rtt), 0.02);
    close(script.rate(), equation(0.1));
    script.report(500, 200, 90_000, 0.02);
    close(script.rate(), equation(0.11));
    script.report(800, 110, 20_000, 0.02);
    close(script.rate(), 40_000.0);
    let progress = script.sender.progress();
    assert!((progress.loss_event_rate.unwrap() - 0.02).abs() < 1e-9);
    // A report that was overtaken, without losses.
    script.report(810, 110, 20_000, 0.0);
    close(script.rate(), 40_000.0);
}

#[test]
fn a_packet_leaves_when_it_is_due_at_the_present_rate() {
    let mut script = Script::new(plain());
    script.report(100, 100, 0, 0.0);
    script.wait(112);
    // The last packet was sent at 0 ms, so that one was due at 25 ms; the next is due 25 ms after 100 ms, and
    // at the doubled rate 12.5 ms.
    script.report(220, 100, 40_000, 0.0);
    let times: Vec<f64> = script.left.iter().map(|(at, _)| *at).collect();
    assert_eq!(times[..6], [0.0, 100.0, 125.0, 150.0, 175.0, 200.0]);
    script.wait(230);
    assert!((script.left[6].0 - 220.0).abs() < 1e-6, "it would be due at 212.5 ms: {:?}", script.left[6]);
}

#[test]
fn a_coarse_timer_lets_packets_leave_early_but_no_faster() {
    let mut script = Script::new(TfrcOptions { granularity: Span::from_ms(10), ..plain() });
    script.report(100, 100, 0, 0.0);
    script.wait(480);
    // Each is sent five milliseconds before it is due.
    let gaps = script.gaps(99.0);
    assert!((gaps[0] - 20.0).abs() < 1e-6 && gaps.len() > 5, "{gaps:?}");
    assert!(gaps[1..].iter().all(|gap| (gap - 25.0).abs() < 1e-6), "{gaps:?}");
}

#[test]
fn packets_wait_while_the_round_trip_is_above_its_mean() {
    let mut script = Script::new(TfrcOptions { oscillation_reduction: true, ..plain() });
    script.report(100, 100, 0, 0.0);
    script.report(300, 400, 90_000, 0.02);
    let rate = script.rate();
    script.wait(460);
    // The mean root is 0.9 + 0.1 * 2 of that of 100 ms; the present root is 2.
    let expected = 1e3 * f64::from(SIZE) / (rate * 1.1 / 2.0);
    let gaps = script.gaps(301.0);
    assert!(gaps.len() > 2 && gaps.iter().all(|gap| (gap - expected).abs() < 0.01), "{expected} {gaps:?}");
}

#[test]
fn without_reports_the_rate_falls_and_falls() {
    let mut script = Script::new(plain());
    script.wait(1_999);
    close(script.rate(), 1_000.0);
    script.wait(2_001);
    close(script.rate(), 500.0);
    // From now on the timer is twice the interval between packets.
    script.wait(6_001);
    close(script.rate(), 250.0);
    script.report(6_100, 100, 0, 0.0);
    script.report(6_200, 100, 200_000, 0.01);
    let equation = script.rate();
    script.wait(6_599);
    close(script.rate(), equation);
    script.wait(6_601);
    close(script.rate(), 0.5 * equation);
    script.wait(7_002);
    close(script.rate(), 0.25 * equation);
    assert_eq!(script.sender.progress().timeouts, 4);
    script.wait(4_000_000);
    close(script.rate(), f64::from(SIZE) / 64.0);
}

#[test]
fn an_idle_sender_keeps_an_initial_window() {
    let mut sender = Script { sender: TfrcSender::new(plain(), Box::new(Unlimited)), left: Vec::new() };
    sender.push(0, 500);
    sender.report(100, 100, 0, 0.0);
    let before = sender.rate();
    sender.wait(60_000);
    close(sender.rate(), before);
    assert_eq!(sender.left.len(), 1);
    // The sender does not catch up for that time.
    sender.push(60_000, 10 * u64::from(SIZE));
    assert_eq!(sender.left.len(), 2);
}

/// Forty packets a second, a tenth of the allowed rate.
#[test]
fn reports_of_a_sender_with_little_to_send_do_not_lower_its_limit() {
    let rate_after = |kept: bool| {
        let mut script = Script { sender: TfrcSender::new(plain(), Box::new(Unlimited)), left: Vec::new() };
        script.push(0, 70_000);
        script.report(100, 100, 0, 0.0);
        (2..8).for_each(|round| script.report(100 * round, 100, 90_000, 0.0));
        let fast = script.rate();
        if !kept {
            script.push(800, 1 << 30);
        }
        for round in 8..40 {
            if kept {
                script.push(100 * round - 50, 1_000);
            }
            script.report(100 * round, 100, 10_000, 0.0);
        }
        (fast, script.rate())
    };
    let (fast, kept) = rate_after(true);
    assert!(kept >= 0.9 * fast, "{fast} {kept}");
    let (_, lowered) = rate_after(false);
    close(lowered, INITIAL);
}

#[test]
fn a_message_is_sent_as_its_own_packets() {
    let mut script = Script { sender: TfrcSender::new(plain(), Box::new(Unlimited)), left: Vec::new() };
    script.push(0, 2_300);
    script.wait(10_000);
    assert_eq!(script.left.len(), 3);
    assert_eq!(script.sender.progress().sent, 2_300);
    script.push(10_000, 1 << 40);
    script.sender.withdraw();
    assert_eq!(script.sender.backlog(), 0);
}

/// A constant cap that records its reports.
struct Ceiling(f64, std::sync::Arc<std::sync::Mutex<Vec<TfrcReport>>>);

impl RateCeiling for Ceiling {
    fn at_start(&self) -> f64 {
        self.0
    }
    fn on_report(&mut self, report: &TfrcReport) -> f64 {
        self.1.lock().unwrap().push(*report);
        self.0
    }
}

#[test]
fn a_ceiling_holds_the_rate_at_all_times() {
    for options in [plain(), TfrcOptions::ns2(SIZE)] {
        let reported = std::sync::Arc::default();
        let mut script = Script::under(options, Box::new(Ceiling(250.0, std::sync::Arc::clone(&reported))));
        assert!(script.rate() <= 250.0);
        for (round, p) in [0.0, 0.0, 0.0, 0.0, 0.001, 0.001, 0.001, 0.0005].into_iter().enumerate() {
            script.report(5_000 + 110 * round as u64, 100, 90_000, p);
            assert!(script.rate() <= 250.0, "{} {round}", script.rate());
        }
        close(script.rate(), 250.0);
        let reported = reported.lock().unwrap();
        assert_eq!(reported[3].equation, f64::INFINITY);
        let TfrcReport { rtt, sample, receive_rate, packet_size, rate, .. } = reported[7];
        close(rtt, 0.1);
        close(sample, 0.1);
        assert_eq!((receive_rate, packet_size, rate), (90_000.0, SIZE, 250.0));
    }
}

#[test]
fn ns2_falls_at_once_and_rises_by_a_packet_per_round_trip() {
    let mut script = Script::new(TfrcOptions::ns2(SIZE));
    script.report(100, 100, 0, 0.0);
    script.report(200, 100, 90_000, 0.02);
    let path = EquationPath { packet_size: f64::from(SIZE), rtt: 0.1, timeout: 0.3 };
    let left_slow_start = script.rate();
    assert!(left_slow_start <= Equation::ns2().rate(&path, 0.02), "{left_slow_start}");
    script.report(300, 100, 90_000, 0.05);
    let low = script.rate();
    assert!(low < 0.7 * left_slow_start);
    script.report(400, 100, 90_000, 0.002);
    close(script.rate(), low + 10_000.0);
    script.report(450, 100, 90_000, 0.002);
    close(script.rate(), low + 15_000.0);
    script.report(620, 100, 90_000, 0.002);
    close(script.rate(), low + 32_000.0);
    script.report(720, 100, 20_000, 0.002);
    close(script.rate(), 40_000.0);
}

#[test]
fn ns2_starts_at_300_bytes_a_second_and_climbs_within_twice_the_last_receive_rate() {
    let mut script = Script::new(TfrcOptions::ns2(SIZE));
    close(script.rate(), 300.0);
    assert!(script.left[0].1.urgent);
    script.report(100, 100, 0, 0.0);
    close(script.rate(), INITIAL);
    assert_eq!(script.left.len(), 2, "a packet leaves with the report");
    script.report(200, 100, 40_000, 0.0);
    close(script.rate(), INITIAL);
    script.report(320, 100, 35_000, 0.0);
    close(script.rate(), 70_000.0);
    // Packet by packet: from 40000 by a seventh of 30000 each.
    script.wait(400);
    let gaps = script.gaps(320.0);
    let expected = [1e6 / (40_000.0 + 30_000.0 / 7.0), 1e6 / (40_000.0 + 60_000.0 / 7.0)];
    assert!((gaps[0] - expected[0]).abs() < 1e-3 && (gaps[1] - expected[1]).abs() < 1e-3, "{gaps:?}");
    script.report(450, 100, 20_000, 0.0);
    close(script.rate(), 20_000.0);
}

#[test]
fn ns2_halves_without_a_report_and_asks_for_one() {
    let mut script = Script::new(TfrcOptions::ns2(SIZE));
    script.report(100, 100, 0, 0.0);
    script.wait(299);
    close(script.rate(), INITIAL);
    let before = script.left.len();
    script.wait(300);
    close(script.rate(), 0.5 * INITIAL);
    assert!(script.left.len() > before, "a packet leaves at once");
    let last = script.left.last().unwrap();
    assert!(last.0 == 300.0 && last.1.urgent && last.1.round == 2, "{last:?}");
}

/// Packets are numbered from 0, whatever their payload, and carry their offset in the data.
#[test]
fn packets_are_numbered_one_by_one() {
    let mut sender = TfrcSender::new(plain(), Box::new(Unlimited));
    sender.push(ms(0), 2_500);
    assert_eq!(sender.backlog(), 2_500);
    for (at, expected) in [(0, (0, 0, 1_000)), (1_000, (1, 1_000, 1_000)), (2_000, (2, 2_000, 500))] {
        let segment = sender.poll_segment(ms(at)).unwrap();
        assert_eq!((segment.seq, segment.offset, segment.payload), expected);
        assert_eq!(sender.poll_segment(ms(at)), None, "one at a time");
    }
    assert_eq!((sender.backlog(), sender.progress().sent), (0, 2_500));
}

#[test]
fn round_trips_are_counted_and_added_up() {
    let mut script = Script::new(plain());
    script.report(1_000, 100, 0, 0.0);
    script.report(2_000, 300, 40_000, 0.0);
    let progress = script.sender.progress();
    assert_eq!((progress.rtt_samples, progress.rtt_sum), (2, Span::from_ms(400)));
    assert_eq!(progress.rtt, Some(Span::from_ms(300)));
}

/// A cap of 20 kB/s at any time.
struct AtAnyTime;

impl RateCeiling for AtAnyTime {
    fn at_start(&self) -> f64 {
        f64::INFINITY
    }
    fn on_report(&mut self, _: &TfrcReport) -> f64 {
        f64::INFINITY
    }
    fn at_any_time(&self) -> f64 {
        20_000.0
    }
}

/// ns-2 sends a packet at once after a report during slow start, but 50 ms after the last one if that is the
/// cap at any time.
#[test]
fn a_report_lets_a_packet_go_no_sooner_than_is_allowed_at_any_time() {
    for (ceiling, expected) in
        [(Box::new(Unlimited) as Box<dyn RateCeiling>, 10.0), (Box::new(AtAnyTime), 50.0)]
    {
        let mut script = Script::under(TfrcOptions::ns2(SIZE), ceiling);
        script.report(10, 5, 0, 0.0);
        script.wait(60);
        assert_eq!((script.left[0].0, script.left[1].0), (0.0, expected));
    }
}
