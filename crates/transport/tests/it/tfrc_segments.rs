//! Every field of the segments of both TFRC ends, and the calls of a rate ceiling.

use multihop_core::{Ecn, HeaderBytes, LinkEvent, Segment, Span, Time};
use multihop_transport::{
    Delivered, Endpoint, Equation, EquationPath, EquationTimeout, Progress, RateCeiling, ReportTimer,
    TfrcDataHeader, TfrcOptions, TfrcReceiver, TfrcReport, TfrcReportHeader, TfrcSender, Unlimited,
};
use std::sync::{Arc, Mutex};

const SIZE: u32 = 1_000;

fn ms(at: u64) -> Time {
    Time::from_ns(at * 1_000_000)
}

/// A report of the packet that was sent `rtt_us` ago, by the sender's clock.
fn report(at: Time, rtt_us: u32, receive_rate: u32, p: f64) -> Segment {
    let header = TfrcReportHeader {
        echo: TfrcDataHeader::clock(at).wrapping_sub(rtt_us),
        receive_rate,
        loss_event_rate: TfrcReportHeader::units(p),
        ..TfrcReportHeader::default()
    };
    Segment { feedback: HeaderBytes::of(&header), hops: 3, ..Segment::default() }
}

fn data_header(segment: Option<Segment>) -> TfrcDataHeader {
    segment.unwrap().feedback.parse().unwrap()
}

/// RFC 5348, section 3.2.1: number, timestamp and round-trip time; `t_RTO` of 4 R, once R is known; and for
/// ns-2 the round.
#[test]
fn rfc_5348_3_2_1_data() {
    for ecn in [false, true] {
        let options = TfrcOptions { ecn, ..TfrcOptions::rfc(SIZE) };
        let mut sender = TfrcSender::new(options, Box::new(Unlimited));
        sender.push(ms(5), 1_700);
        assert_eq!(sender.poll_timeout(), Some(ms(0)), "now");
        let header = TfrcDataHeader { timestamp: 5_000, urgent: true, ..TfrcDataHeader::default() };
        let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotCapable };
        let first = Segment {
            payload: SIZE,
            header: 40,
            ecn,
            feedback: HeaderBytes::of(&header),
            ..Segment::default()
        };
        assert_eq!(sender.poll_segment(ms(5)), Some(first));
        assert_eq!(sender.on_segment(ms(105), &report(ms(105), 100_000, 0, 0.0)), Delivered::default());
        let header = TfrcDataHeader {
            number: 1,
            timestamp: 105_000,
            rtt: 100_000,
            timeout: 400_000,
            round: 1,
            urgent: false,
        };
        let feedback = HeaderBytes::of(&header);
        let second = Segment { seq: 1, offset: 1_000, payload: 700, feedback, ..first };
        assert_eq!(sender.poll_segment(ms(105)), Some(second));
        assert_eq!((sender.poll_segment(ms(9_000)), sender.backlog()), (None, 0));
        let progress = sender.progress();
        let rtt = Some(Span::from_ms(100));
        let (rtt_samples, rtt_sum) = (1, Span::from_ms(100));
        // A window of 4 segments in 100 ms.
        let (allowed_rate, loss_event_rate) = (Some(40_000.0), Some(0.0));
        let srtt = progress.srtt;
        let expected = Progress {
            sent: 1_700,
            rtt,
            srtt,
            rtt_samples,
            rtt_sum,
            allowed_rate,
            loss_event_rate,
            ..Progress::default()
        };
        assert_eq!((progress, srtt), (expected, rtt));
    }
}

/// `t_RTO` in microseconds after one round trip: 4 R with a minimum; or that of a TCP, R + 4 R / 2, with R in
/// whole ticks if its clock is coarse.
#[test]
fn what_the_equation_takes_as_timeout() {
    let rfc = TfrcOptions::rfc(SIZE);
    let least = |ms| TfrcOptions { min_timeout: Span::from_ms(ms), ..rfc };
    let tick = |ms| TfrcOptions { timeout: EquationTimeout::Tcp, tcp_tick: Span::from_ms(ms), ..rfc };
    for (options, rtt_us, expected) in [
        (least(0), 123_456, 493_824),
        (least(500), 123_456, 500_000),
        (least(500), 200_000, 800_000),
        (tick(0), 123_456, 370_368),
        (tick(100), 123_456, 300_000),
        (tick(100), 160_000, 600_000),
        (tick(100), 20_000, 300_000),
    ] {
        let mut sender = TfrcSender::new(options, Box::new(Unlimited));
        sender.push(ms(0), 2_000);
        sender.poll_segment(ms(0));
        sender.on_segment(ms(300), &report(ms(300), rtt_us, 0, 0.0));
        let header = data_header(sender.poll_segment(ms(3_000)));
        assert_eq!((header.rtt, header.timeout), (rtt_us, expected), "{options:?}");
    }
}

/// A ceiling that records its reports.
struct Keeping(Arc<Mutex<(Vec<TfrcReport>, Vec<LinkEvent>)>>);

impl RateCeiling for Keeping {
    fn on_report(&mut self, report: &TfrcReport) -> f64 {
        self.0.lock().unwrap().0.push(*report);
        f64::INFINITY
    }
    fn observes_link(&self) -> bool {
        true
    }
    fn on_link(&mut self, event: &LinkEvent) {
        self.0.lock().unwrap().1.push(*event);
    }
}

#[test]
fn a_ceiling_observes_reports_and_the_link() {
    let kept: Arc<Mutex<(Vec<TfrcReport>, Vec<LinkEvent>)>> = Arc::default();
    let mut sender = TfrcSender::new(TfrcOptions::rfc(SIZE), Box::new(Keeping(kept.clone())));
    assert!(sender.observes_link());
    sender.on_link(&LinkEvent::BusyFrom(ms(7)));
    assert_eq!(kept.lock().unwrap().1, [LinkEvent::BusyFrom(ms(7))]);
    sender.push(ms(0), 2_000);
    sender.poll_segment(ms(0));
    sender.on_segment(ms(100), &report(ms(100), 100_000, 0, 0.0));
    sender.on_segment(ms(300), &report(ms(300), 200_000, 90_000, 0.25));
    let found_sample = kept.lock().unwrap().0[1].sample;
    assert!((found_sample - 0.2).abs() < 1e-12);
    let reported = TfrcReport {
        now: ms(300),
        rtt: 0.1 + 0.1 * (0.2 - 0.1),
        sample: found_sample,
        loss_event_rate: 0.25,
        receive_rate: 90_000.0,
        hops: 3,
        packet_size: SIZE,
        rate: 40_000.0,
        equation: Equation::default().rate(&EquationPath::new(1_000.0, 0.1 + 0.1 * (0.2 - 0.1)), 0.25),
    };
    let found = kept.lock().unwrap().0[1];
    assert!(
        (found.rtt - reported.rtt).abs() < 1e-12 && (found.equation / reported.equation - 1.0).abs() < 1e-9
    );
    assert_eq!(TfrcReport { rtt: reported.rtt, equation: reported.equation, ..found }, reported);

    let mut unlimited = Unlimited;
    assert_eq!((unlimited.at_start(), unlimited.at_any_time()), (f64::INFINITY, f64::INFINITY));
    assert_eq!(unlimited.on_report(&reported), f64::INFINITY);
    assert!(!unlimited.observes_link());
    assert!(!TfrcSender::new(TfrcOptions::rfc(SIZE), Box::new(Unlimited)).observes_link());
}

/// ns-2's slow start stays at the initial rate if the application had nothing to send in the last one and a
/// half round trips, 150 ms; else the rate falls to the receive rate. There was nothing to send up to 210 ms.
#[test]
fn a_silence_of_the_application_counts_for_one_and_a_half_round_trips() {
    for (at, rate) in [(359, 40_000.0), (360, 10_000.0), (361, 10_000.0)] {
        let mut sender = TfrcSender::new(TfrcOptions::ns2(SIZE), Box::new(Unlimited));
        sender.push(ms(0), 1_000);
        sender.poll_segment(ms(0));
        for (at, receive_rate) in [(100, 0), (200, 50_000)] {
            sender.on_segment(ms(at), &report(ms(at), 100_000, receive_rate, 0.0));
        }
        sender.push(ms(210), 1 << 40);
        while sender.poll_segment(ms(210)).is_some() {}
        sender.on_segment(ms(at), &report(ms(at), 100_000, 10_000, 0.0));
        assert_eq!(sender.progress().allowed_rate, Some(rate), "{at}");
    }
}

/// RFC 5348, section 4.3: for a data-limited sender, a rising loss event rate limits the rate to 0.85 of the
/// receive rate, without the factor of two; a constant or falling one does not.
#[test]
fn rfc_5348_4_3_a_loss_event_rate_that_rises() {
    let options = TfrcOptions { oscillation_reduction: false, ..TfrcOptions::rfc(SIZE) };
    let mut sender = TfrcSender::new(options, Box::new(Unlimited));
    let equation = |p| Equation::default().rate(&EquationPath::new(1_000.0, 0.1), p);
    let mut after = |at: u64, receive_rate, p| {
        sender.push(ms(at - 100), 1_000);
        assert!(sender.poll_segment(ms(at - 100)).is_some() && sender.backlog() == 0);
        sender.on_segment(ms(at), &report(ms(at), 100_000, receive_rate, p));
        sender.progress().allowed_rate.unwrap()
    };
    after(100, 0, 0.0);
    for (at, p, expected) in [
        (250, 0.01, 51_000.0),
        (400, 0.02, 51_000.0),
        (550, 0.02, equation(0.02)),
        (700, 0.015, equation(0.015)),
        (850, 0.016, 51_000.0),
    ] {
        let found = after(at, 60_000, p);
        assert!((found / expected - 1.0).abs() < 1e-6, "{at}: {found} instead of {expected}");
    }
}

fn data(number: u64, at: u64) -> Segment {
    let header = TfrcDataHeader {
        number: number as u32,
        timestamp: TfrcDataHeader::clock(ms(at)),
        rtt: 100_000,
        timeout: 400_000,
        ..TfrcDataHeader::default()
    };
    let feedback = HeaderBytes::of(&header);
    Segment { seq: number, offset: 1_000 * number, payload: SIZE, feedback, ..Segment::default() }
}

/// RFC 5348, section 3.2.2: timestamp of the newest packet, time since its arrival, receive rate, and loss
/// event rate. A packet is delivered once; other data is ignored.
#[test]
fn rfc_5348_3_2_2_a_report() {
    let mut receiver = TfrcReceiver::new(TfrcOptions::rfc(SIZE));
    assert_eq!((receiver.poll_segment(ms(0)), receiver.poll_timeout()), (None, None));
    assert_eq!(receiver.on_segment(ms(10), &data(0, 3)), Delivered { bytes: 1_000, offset: 0 });
    let header = TfrcReportHeader { echo: 3_000, ..TfrcReportHeader::default() };
    let expected = Segment { header: 44, feedback: HeaderBytes::of(&header), ..Segment::default() };
    assert_eq!(receiver.poll_segment(ms(10)), Some(expected));
    assert_eq!((receiver.poll_segment(ms(10)), receiver.poll_timeout()), (None, Some(ms(110))));
    assert_eq!(receiver.on_segment(ms(20), &data(0, 3)).bytes, 0);
    assert_eq!(
        receiver.on_segment(ms(20), &Segment { payload: 9, ..Segment::default() }),
        Delivered::default()
    );
    assert_eq!(receiver.on_segment(ms(30), &data(1, 23)), Delivered { bytes: 1_000, offset: 1_000 });
    receiver.on_timeout(ms(109));
    assert_eq!(receiver.poll_segment(ms(109)), None);
    receiver.on_timeout(ms(110));
    // 1000 bytes in 100 ms.
    let header =
        TfrcReportHeader { echo: 23_000, delay: 80_000, receive_rate: 10_000, ..TfrcReportHeader::default() };
    let expected = Segment { feedback: HeaderBytes::of(&header), ..expected };
    assert_eq!(receiver.poll_segment(ms(110)), Some(expected));
    assert_eq!((receiver.progress(), receiver.backlog()), (Progress::default(), 0));
}

/// Events 20 packets apart, and then one 297 packets later: the loss event rate falls with it, so that the
/// RFC waits for the timer (section 6.1, step 3). ns-2 reports each loss event at once.
#[test]
fn rfc_5348_6_1_an_event_with_which_the_rate_falls_can_wait() {
    for (reports, at_once) in [(ReportTimer::RoundTrip, false), (ReportTimer::Ns2, true)] {
        let mut receiver = TfrcReceiver::new(TfrcOptions { reports, ..TfrcOptions::rfc(SIZE) });
        let mut times = Vec::new();
        for number in (0..=510).filter(|number| number % 20 > 0 || *number > 200 || *number == 0) {
            if number == 497 {
                continue;
            }
            let at = 10 * number;
            while let Some(due) = receiver.poll_timeout().filter(|due| *due <= ms(at)) {
                receiver.on_timeout(due);
                times.extend(receiver.poll_segment(due).map(|_| due.ns() / 1_000_000));
            }
            receiver.on_segment(ms(at), &data(number, at));
            times.extend(receiver.poll_segment(ms(at)).map(|_| at));
        }
        // Number 500 is the third after the missing one.
        assert_eq!(times.contains(&5_000), at_once, "{times:?}");
        assert!(times.contains(&2_030), "the event before: {times:?}");
    }
}
