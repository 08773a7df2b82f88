//! A TCP sender without a path: its reports to the congestion control, acknowledgement by acknowledgement.

use multihop_core::{Flags, HeaderBytes, Rate, Segment, Span, Time};
use multihop_transport::{
    Acked, Allowance, CongestionHeader, Controller, DeliverySample, Endpoint, Lost, Recovery, Returned,
    TcpOptions, TcpReceiver, TcpSender,
};
use std::sync::{Arc, Mutex};

use crate::grants::Grant;

const MSS: u64 = 1000;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A window of four segments, where a segment is overdue after 200 ms. Records the reports.
struct Noting(Notes, u64, Arc<Mutex<Option<DeliverySample>>>);

impl Noting {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }
}

impl Controller for Noting {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.1, pace: None }
    }
    fn fine_grained_rto(&self) -> Option<Span> {
        Some(Span::from_ms(200))
    }
    fn on_acked(&mut self, _: &Acked) {}
    fn on_lost(&mut self, _: &Lost) {
        self.note("lost");
    }
    fn on_idle(&mut self, _: Time) {
        self.note("idle");
    }
    fn on_delivered(&mut self, delivery: &DeliverySample) {
        *self.2.lock().unwrap() = Some(*delivery);
    }
    fn on_feedback(&mut self, _: &Returned) {
        self.note("feedback");
    }
}

type Notes = Arc<Mutex<Vec<&'static str>>>;

fn options() -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::NewReno,
        handshake: false,
        limited_transmit: false,
        time_every_segment: true,
        window: 100,
        ..TcpOptions::default()
    }
}

fn sender() -> (TcpSender, Notes) {
    let notes = Notes::default();
    let noting = Noting(notes.clone(), 4 * MSS, Arc::default());
    (TcpSender::new(options(), Box::new(noting)), notes)
}

fn ack(ack: u64) -> Segment {
    Segment { ack, flags: Flags { ack: true, ..Flags::default() }, window: 100 * MSS, ..Segment::default() }
}

fn drain(sender: &mut TcpSender, now: Time) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_segment(now)).map(|segment| segment.seq / MSS).collect()
}

/// Brakmo and Peterson 1995: on a duplicate, the segment is retransmitted if more time than the fine-grained
/// timeout has passed. The duplicate itself shows that a segment left the network, and releases a new one.
#[test]
fn a_duplicate_repeats_what_is_overdue() {
    for (at, expected) in [(150, vec![]), (200, vec![]), (201, vec![0, 4]), (300, vec![0, 4])] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), 10 * MSS);
        assert_eq!(drain(&mut sender, ms(0)), [0, 1, 2, 3]);
        sender.on_segment(ms(at), &ack(0));
        assert_eq!(drain(&mut sender, ms(at)), expected, "{at} ms");
        assert_eq!(notes.lock().unwrap().len(), usize::from(!expected.is_empty()), "a loss");
    }
}

/// "If the TCP has not sent data in an interval exceeding the retransmission timeout" (RFC 5681, section
/// 4.1), which is a second here.
#[test]
fn rfc_5681_4_1_a_silence_is_longer_than_the_timeout() {
    for (at, idle) in [(500, false), (1_000, false), (1_001, true)] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), MSS);
        assert_eq!(drain(&mut sender, ms(0)), [0]);
        sender.on_segment(ms(100), &ack(MSS));
        sender.push(ms(at), MSS);
        assert_eq!(*notes.lock().unwrap(), if idle { vec!["idle"] } else { vec![] }, "{at} ms");
    }
}

/// Acknowledgements without a header, and those of data never sent, are not reported as feedback.
#[test]
fn feedback_is_what_a_valid_acknowledgement_brings() {
    let feedback = HeaderBytes::of(&Grant { change: 0, granted: 100 });
    for (segment, expected) in [
        (Segment { feedback, ..ack(MSS) }, vec!["feedback"]),
        (ack(MSS), vec![]),
        (Segment { feedback, ..ack(9 * MSS) }, vec![]),
    ] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), 4 * MSS);
        drain(&mut sender, ms(0));
        sender.on_segment(ms(100), &segment);
        assert_eq!(*notes.lock().unwrap(), expected);
    }
}

#[test]
fn what_was_never_sent_is_not_acknowledged() {
    for (number, acked) in [(0, 0), (1, 1), (4, 4), (5, 0)] {
        let (mut sender, _) = sender();
        sender.push(ms(0), 10 * MSS);
        drain(&mut sender, ms(0));
        sender.on_segment(ms(100), &ack(number * MSS));
        assert_eq!(sender.progress().acked, acked * MSS);
    }
}

/// "When the congestion window is one": half of a window below two segments is less than one (RFC 3168,
/// section 6.1.2).
#[test]
fn rfc_3168_6_1_2_an_echo_at_one_segment_waits_for_the_timer() {
    for (window, expected) in [(2 * MSS, vec![2]), (2 * MSS - 1, vec![])] {
        let options = TcpOptions { ecn: true, ..options() };
        let noting = Noting(Notes::default(), window, Arc::default());
        let mut sender = TcpSender::new(options, Box::new(noting));
        sender.push(ms(0), 2 * MSS);
        let sent = drain(&mut sender, ms(0)).len() as u64;
        sender.push(ms(50), 8 * MSS);
        let mut echo = ack(sent * MSS);
        echo.flags.ece = true;
        sender.on_segment(ms(100), &echo);
        let next: Vec<u64> = drain(&mut sender, ms(100)).into_iter().take(1).collect();
        assert_eq!(next, expected, "{window}");
    }
}

/// Four segments, the first one acknowledged after 100 ms: 10 kB/s. The application started without data,
/// which limits that flight (draft-cheng-iccrg-delivery-rate-estimation-00, section 3.3) but not the next
/// one.
#[test]
fn deliveries_are_reported_with_their_rate() {
    let reported: Arc<Mutex<Option<DeliverySample>>> = Arc::default();
    let noting = Noting(Notes::default(), 4 * MSS, reported.clone());
    let mut sender = TcpSender::new(TcpOptions { delivery_rate: true, ..options() }, Box::new(noting));
    sender.push(ms(0), 100 * MSS);
    drain(&mut sender, ms(0));
    sender.on_segment(ms(100), &ack(MSS));
    let first = reported.lock().unwrap().take().unwrap();
    assert_eq!((first.size, first.delivered, first.prior_delivered), (1_000, 1_000, 0));
    assert_eq!((first.rate, first.rtt), (Some(10_000.0), Some(Span::from_ms(100))));
    assert_eq!((first.in_flight_before, first.in_flight, first.lost), (4_000, 3_000, 0));
    assert!(first.app_limited && !first.recovering);
    drain(&mut sender, ms(100));
    sender.on_segment(ms(200), &ack(5 * MSS));
    let second = reported.lock().unwrap().take().unwrap();
    assert_eq!((second.size, second.delivered, second.prior_delivered), (4_000, 5_000, 1_000));
    assert_eq!((second.rate, second.app_limited), (Some(40_000.0), false));
    sender.on_segment(ms(210), &ack(5 * MSS));
    assert!(reported.lock().unwrap().is_none(), "nothing new");
}

/// A sender whose window of `window` segments is filled, and the segments of the window that have PSH.
fn requests(window: u64, options: TcpOptions) -> Vec<bool> {
    let noting = Noting(Notes::default(), window * MSS, Arc::default());
    let mut sender = TcpSender::new(options, Box::new(noting));
    sender.push(ms(0), 100 * MSS);
    std::iter::from_fn(|| sender.poll_segment(ms(0))).map(|segment| segment.flags.psh).collect()
}

/// A receiver that waits for `ack_every` segments would wait for its timer where routers open a smaller
/// window. The last segment of such a window asks for an acknowledgement at once, and is given one.
#[test]
fn a_window_below_the_acknowledgement_ratio_asks_for_an_acknowledgement() {
    let routers = CongestionHeader::of(8);
    let asking = |ack_every| TcpOptions { congestion_header: routers, ack_every, ..options() };
    assert_eq!(requests(1, asking(2)), [true]);
    assert_eq!(requests(2, asking(2)), [false, false]);
    assert_eq!(requests(3, asking(8)), [false, false, true]);
    assert_eq!(requests(1, options()), [false], "no routers open the window");
    assert_eq!(requests(1, TcpOptions { delayed_ack: None, ..asking(2) }), [false], "nothing is delayed");
    let flags = Flags { ack: true, psh: true, ..Flags::default() };
    let answers = |options, flags| {
        let mut receiver = TcpReceiver::new(options);
        receiver.on_segment(ms(1), &Segment { payload: MSS as u32, flags, ..Segment::default() });
        receiver.poll_segment(ms(1)).is_some()
    };
    assert!(answers(asking(2), flags));
    assert!(!answers(asking(2), Flags::default()));
    assert!(!answers(options(), flags));
}

/// A window of one segment, paced to one segment per 10 ms.
struct Paced;

impl Controller for Paced {
    fn allowance(&self) -> Allowance {
        Allowance { window: MSS, pace: Some(Rate::from_bps(100 * 8 * (MSS + 40))) }
    }
    fn on_acked(&mut self, _: &Acked) {}
    fn on_lost(&mut self, _: &Lost) {}
}

/// The pace limits the rate, so that the sender need not wait for an acknowledgement that the receiver delays
/// until the second segment. Without routers the window holds.
#[test]
fn a_paced_sender_sends_as_much_as_the_receiver_waits_for() {
    for (bytes, expected) in [(0, vec![true, false, false]), (8, vec![true, true, false])] {
        let congestion_header = CongestionHeader { bytes, ..CongestionHeader::default() };
        let mut sender = TcpSender::new(TcpOptions { congestion_header, ..options() }, Box::new(Paced));
        sender.push(ms(0), 10 * MSS);
        let sent = [0, 10, 20].map(|at| sender.poll_segment(ms(at)));
        assert_eq!(sent.map(|segment| segment.is_some()).to_vec(), expected);
        assert!(sent.iter().flatten().all(|segment| !segment.flags.psh));
    }
}
