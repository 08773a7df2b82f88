//! Reports of a TCP sender on deliveries and marks: complete reports against numbers computed by hand.

use crate::recorder::{
    Event, MSS, Recorder, ack, deliveries, drain, echo, limited, losses, ms, numbers, options, sacked,
    sending,
};
use multihop_core::Span;
use multihop_transport::{DeliverySample, Endpoint, LostSegment, Marked, Recovery, TcpOptions, TcpSender};

/// RFC 3168, section 6.1.2: one reduction per window of data, which the next new segment confirms with CWR.
#[test]
fn rfc_3168_6_1_2_an_echo_is_reported_once_per_window() {
    let (mut sender, recorder) = sending(TcpOptions { ecn: true, ..options() }, 4, 40);
    let mut at = 100;
    for (number, marked) in [(1, true), (2, false), (4, false), (5, true), (8, false), (9, true), (10, false)]
    {
        sender.on_segment(ms(at), &echo(number));
        let found =
            recorder.only(|event| if let Event::Marked(marked) = event { Some(marked) } else { None });
        let in_flight = 4_000;
        let expected = if marked { vec![Marked { now: ms(at), in_flight }] } else { vec![] };
        assert_eq!(found, expected, "{number}");
        let cwr: Vec<bool> = drain(&mut sender, at).iter().map(|segment| segment.flags.cwr).collect();
        assert!(!cwr.is_empty());
        assert_eq!((cwr[0], cwr[1..].contains(&true)), (marked, false), "{number}");
        at += 10;
    }
    assert_eq!(sender.progress().ecn_reductions, 3);
    // Without ECN an echo has no effect.
    let (mut sender, recorder) = sending(options(), 4, 40);
    sender.on_segment(ms(100), &echo(1));
    assert!(recorder.take().iter().all(|event| !matches!(event, Event::Marked(_))));
}

/// Four segments, up to the fifth, are outstanding when the echo arrives: the acknowledgement of the last of
/// them opens the window again.
#[test]
fn linux_does_not_open_the_window_in_the_round_trip_after_an_echo() {
    for (holds, opened) in [(false, [true; 4]), (true, [false, false, true, true])] {
        let options = TcpOptions { ecn: true, holds_after_echo: holds, ..options() };
        let (mut sender, recorder) = sending(options, 4, 40);
        let mut acked = |segment| {
            sender.on_segment(ms(100), &segment);
            drain(&mut sender, 100);
            !recorder
                .only(|event| if let Event::Acked(acked) = event { Some(acked) } else { None })
                .is_empty()
        };
        assert!(acked(ack(1)));
        assert_eq!([echo(2), ack(4), ack(5), ack(6)].map(&mut acked), opened, "{holds}");
    }
}

/// Four segments, of which the first is lost: three are selectively acknowledged, 10 ms apart.
#[test]
fn deliveries_are_reported_with_what_is_in_the_network() {
    let options = TcpOptions { delivery_rate: true, recovery: Recovery::Sack, ..options() };
    let (mut sender, recorder) = sending(options, 4, 4);
    let first = DeliverySample {
        marked: None,
        now: ms(100),
        size: 1_000,
        delivered: 1_000,
        prior_delivered: 0,
        rate: Some(10_000.0),
        app_limited: true,
        rtt: Some(Span::from_ms(100)),
        in_flight_before: 4_000,
        in_flight: 3_000,
        lost: 0,
        in_flight_at_send: 2_000,
        lost_since_send: 0,
        recovering: false,
        fast_recovery: false,
        departure: ms(100),
    };
    sender.on_segment(ms(100), &sacked(0, 1, 2));
    assert_eq!(deliveries(&recorder), [first]);
    sender.on_segment(ms(125), &sacked(0, 1, 3));
    let (rtt, rate) = (Some(Span::from_ms(125)), Some(16_000.0));
    let (in_flight_before, in_flight) = (3_000, 2_000);
    let second = DeliverySample {
        now: ms(125),
        delivered: 2_000,
        rtt,
        rate,
        in_flight_before,
        in_flight,
        in_flight_at_send: 3_000,
        departure: ms(125),
        ..first
    };
    assert_eq!(deliveries(&recorder), [second]);
    sender.on_segment(ms(150), &sacked(0, 1, 4));
    let (rtt, rate) = (Some(Span::from_ms(150)), Some(20_000.0));
    let (in_flight_before, in_flight, lost, recovering) = (2_000, 0, 1_000, true);
    let third = DeliverySample {
        now: ms(150),
        delivered: 3_000,
        rtt,
        rate,
        in_flight_before,
        in_flight,
        lost,
        in_flight_at_send: 4_000,
        recovering,
        fast_recovery: true,
        departure: ms(150),
        ..first
    };
    assert_eq!(deliveries(&recorder), [third]);
    // No acknowledgement of new data gave a sample: the timer uses those of the deliveries.
    assert_eq!((sender.progress().rtt_samples, sender.progress().rtt_sum), (3, Span::from_ms(375)));
    assert_eq!(numbers(&mut sender, 150), [0]);
    sender.on_segment(ms(160), &sacked(0, 1, 4));
    assert_eq!(deliveries(&recorder), [], "nothing new");
    sender.on_segment(ms(250), &ack(4));
    let found = deliveries(&recorder);
    let DeliverySample { size, delivered, rtt, in_flight, lost, recovering, .. } = found[0];
    assert_eq!((size, delivered, rtt, in_flight, lost, recovering), (1_000, 4_000, None, 0, 0, false));
}

/// draft-ietf-ccwg-bbr-06, sections 4.1.2.1.2 and 5.5.10.2: six segments are sent at once, of which the
/// second and the third are lost. Each is reported after the recovery that it begins, with the bytes in
/// flight when it was sent and the bytes lost since. The next delivery counts both losses.
#[test]
fn each_lost_segment_is_reported_with_what_was_in_flight() {
    let options = TcpOptions { delivery_rate: true, recovery: Recovery::Rack, ..options() };
    let (mut sender, recorder) = sending(options, 6, 8);
    recorder.take();
    sender.on_segment(ms(100), &ack(1));
    recorder.take();
    sender.on_segment(ms(110), &sacked(1, 3, 6));
    let events: Vec<Event> = recorder
        .take()
        .into_iter()
        .filter(|event| matches!(event, Event::Lost(_) | Event::SegmentLost(_) | Event::Delivered(_)))
        .collect();
    let lost = |start, in_flight_at_send, lost_since_send| {
        let (size, app_limited) = (1_000, true);
        Event::SegmentLost(LostSegment { start, size, in_flight_at_send, lost_since_send, app_limited })
    };
    assert!(matches!(events[0], Event::Lost(_)), "{events:?}");
    assert_eq!(events[1..3], [lost(1_000, 2_000, 1_000), lost(2_000, 3_000, 2_000)]);
    let [Event::Delivered(delivery)] = events[3..] else { panic!("{events:?}") };
    let DeliverySample { in_flight_at_send, lost_since_send, lost, .. } = delivery;
    assert_eq!((in_flight_at_send, lost_since_send, lost), (6_000, 2_000, 2_000));
    assert!(delivery.recovering && delivery.fast_recovery);
}

/// After a timeout all outstanding data is being repaired.
#[test]
fn deliveries_after_a_timeout_are_of_a_repair_up_to_what_was_outstanding() {
    for (number, recovering) in [(1, true), (3, true), (4, false)] {
        let (mut sender, recorder) = sending(TcpOptions { delivery_rate: true, ..options() }, 4, 20);
        sender.on_timeout(ms(1_000));
        drain(&mut sender, 1_000);
        sender.on_segment(ms(1_100), &ack(number));
        let found = deliveries(&recorder);
        assert_eq!((found.len(), found[0].recovering), (1, recovering), "{number}");
    }
}

/// draft-cheng-iccrg-delivery-rate-estimation-00, section 3.3: the sender is application-limited if it has
/// nothing to send, and room in the window for a segment, when the application continues. The mark ends when
/// the data then in flight is delivered.
#[test]
fn what_the_application_held_back_is_marked() {
    for (window, first, later) in [(4, vec![], vec![false; 4]), (5, vec![true], vec![true; 4])] {
        let options = TcpOptions { delivery_rate: true, ..options() };
        let recorder = Recorder::with_window(window * MSS);
        let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
        sender.push(ms(0), 4 * MSS);
        drain(&mut sender, 0);
        assert_eq!(limited(&recorder), [true; 4], "the connection was idle");
        sender.push(ms(50), 90 * MSS);
        drain(&mut sender, 50);
        assert_eq!(limited(&recorder), first, "{window}");
        sender.on_segment(ms(100), &ack(4));
        drain(&mut sender, 100);
        assert_eq!(limited(&recorder), later, "{window}");
        sender.on_segment(ms(200), &ack(8));
        drain(&mut sender, 200);
        assert_eq!(limited(&recorder), [false; 4], "{window}");
        // A congestion control that limits itself marks samples until the data now in flight is delivered.
        recorder.set(|book| book.marks_app_limited = true);
        sender.on_segment(ms(300), &ack(9));
        drain(&mut sender, 300);
        assert_eq!(limited(&recorder), [true], "{window}");
    }
}

/// RFC 3168, section 6.1.2: an echo at a window of one segment stops data until the timer expires, which is
/// not a timeout. ns-2 doubles the timer at the second such echo in a row, and keeps it doubled meanwhile.
#[test]
fn rfc_3168_6_1_2_an_echo_at_one_segment_holds_data_until_the_timer() {
    for (echo_backs_off, second) in [(false, 1_000), (true, 2_000)] {
        let options = TcpOptions { ecn: true, echo_backs_off, ..options() };
        let (mut sender, recorder) = sending(options, 1, 20);
        sender.on_segment(ms(100), &echo(1));
        assert_eq!((numbers(&mut sender, 100), sender.poll_timeout()), (vec![], Some(ms(1_100))));
        sender.on_timeout(ms(1_100));
        assert_eq!((sender.progress().timeouts, sender.poll_timeout()), (0, None));
        assert_eq!(losses(&recorder), []);
        assert_eq!(numbers(&mut sender, 1_100), [1]);
        sender.on_segment(ms(1_200), &echo(2));
        assert_eq!((numbers(&mut sender, 1_200), sender.poll_timeout()), (vec![], Some(ms(1_200 + second))));
        sender.on_timeout(ms(1_200 + second));
        assert_eq!(numbers(&mut sender, 1_200 + second), [2]);
        assert_eq!(sender.progress().ecn_reductions, 2);
        // An acknowledgement without an echo releases data at once.
        let last = 1_300 + second;
        sender.on_segment(ms(last), &ack(3));
        assert_eq!(numbers(&mut sender, last), [3]);
        assert_eq!(sender.poll_timeout(), Some(ms(last + 1_000)), "and ends back-off");
    }
}

/// Data that waits for the connection to open is limited by the handshake, not by the application.
#[test]
fn the_first_flight_after_a_handshake_is_not_marked() {
    let recorder = Recorder::with_window(4 * MSS);
    let options = TcpOptions { delivery_rate: true, handshake: true, ..options() };
    let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
    sender.push(ms(0), 9 * MSS);
    sender.poll_segment(ms(0));
    let mut answer = ack(0);
    answer.flags.syn = true;
    sender.on_segment(ms(100), &answer);
    assert_eq!(drain(&mut sender, 100).len(), 4);
    assert_eq!(limited(&recorder), [false; 4]);
}
