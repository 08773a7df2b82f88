//! Reports of a TCP sender to its congestion control: complete reports against numbers computed by hand.

use crate::grants::Grant;
use crate::recorder::{Event, MSS, Recorder, ack, drain, echo, losses, ms, numbers, options, sending};
use multihop_core::{Ecn, HeaderBytes, Segment, Span};
use multihop_transport::{
    AckInfo, Acked, Endpoint, ExitWindow, LossKind, Lost, Progress, Recovered, SentSegment, TcpOptions,
    TcpSender,
};

/// Two of four segments after 100 ms, the first sample; then the others.
#[test]
fn an_acknowledgement_is_reported_with_all_that_it_says() {
    let (mut sender, recorder) = sending(options(), 4, 4);
    sender.on_segment(ms(100), &Segment { hops: 3, ..ack(2) });
    let rtt = Some(Span::from_ms(100));
    let acked = Acked {
        now: ms(100),
        size: 2_000,
        fresh: 2_000,
        rtt,
        srtt: rtt,
        in_flight: 2_000,
        app_limited: false,
        ecn_echo: false,
        hops: 3,
    };
    let info = AckInfo { now: ms(100), advance: Some(2_000) };
    assert_eq!(recorder.take(), [Event::Ack(info), Event::Acked(acked)]);
    assert_eq!(sender.poll_timeout(), Some(ms(1_100)), "the timer starts afresh");
    sender.on_segment(ms(150), &ack(4));
    let last = Acked { now: ms(150), rtt: None, in_flight: 0, app_limited: true, hops: 0, ..acked };
    let info = AckInfo { now: ms(150), advance: Some(2_000) };
    assert_eq!(recorder.take(), [Event::Ack(info), Event::Acked(last)]);
    assert_eq!(sender.poll_timeout(), None, "nothing is outstanding");
    let expected = Progress {
        sent: 4_000,
        acked: 4_000,
        window: Some(4_000),
        slow_start_threshold: Some(77_000),
        rtt,
        srtt: rtt,
        rtt_samples: 1,
        rtt_sum: Span::from_ms(100),
        ..Progress::default()
    };
    assert_eq!(sender.progress(), expected);
    assert_eq!(sender.backlog(), 0);
}

/// A sender is application-limited if it has sent everything and its window has room for one more segment, to
/// the byte.
#[test]
fn the_application_limits_who_has_sent_all_and_has_room() {
    for (window, pushed, expected) in
        [(4_000, 3, true), (3_999, 3, false), (3_000, 3, false), (3_000, 4, false)]
    {
        let (mut sender, recorder) = sending(options(), 3, pushed);
        recorder.set(|book| book.window = window);
        let feedback = HeaderBytes::of(&Grant { change: 0, granted: 1 });
        sender.on_segment(ms(90), &Segment { feedback, ..ack(0) });
        assert_eq!(recorder.take().last(), Some(&Event::Returned(None, expected)), "{window} {pushed}");
        sender.on_segment(ms(100), &ack(1));
        let found = recorder.only(|event| if let Event::Acked(acked) = event { Some(acked) } else { None });
        assert_eq!(found[0].app_limited, expected, "{window} {pushed}");
    }
}

/// Feedback is reported with the round trip of its own acknowledgement or with none. That of old data counts,
/// unless feedback of duplicates is ignored; that of data never sent is discarded.
#[test]
fn feedback_has_the_round_trip_of_its_acknowledgement() {
    for of_duplicates in [true, false] {
        let (mut sender, recorder) =
            sending(TcpOptions { feedback_of_duplicates: of_duplicates, ..options() }, 4, 9);
        let feedback = HeaderBytes::of(&Grant { change: 0, granted: 1 });
        let mut returned = |at, number| {
            sender.on_segment(ms(at), &Segment { feedback, ..ack(number) });
            recorder.only(|event| if let Event::Returned(rtt, _) = event { Some(rtt) } else { None })
        };
        assert_eq!(returned(100, 1), [Some(Span::from_ms(100))]);
        assert_eq!(returned(120, 2), [None]);
        let old = if of_duplicates { vec![None] } else { vec![] };
        assert_eq!(returned(130, 2), old);
        assert_eq!(returned(130, 1), old);
        assert_eq!(returned(140, 5), [], "four were sent");
    }
}

/// RFC 5681, section 2: a duplicate acknowledges outstanding data, carries no data and does not change the
/// window.
#[test]
fn rfc_5681_2_what_a_duplicate_acknowledgement_is() {
    let duplicates = |first: Segment, number: u64| {
        let (mut sender, recorder) = sending(options(), 4, 4);
        if number > 0 {
            sender.on_segment(ms(90), &ack(number));
        }
        recorder.take();
        sender.on_segment(ms(100), &first);
        recorder.only(|event| if let Event::Ack(info) = event { Some(info) } else { None })
    };
    let one = vec![AckInfo { now: ms(100), advance: None }];
    assert_eq!(duplicates(ack(0), 0), one);
    assert_eq!(duplicates(ack(3), 3), one);
    assert_eq!(duplicates(Segment { window: 99 * MSS, ..ack(0) }, 0), []);
    assert_eq!(duplicates(Segment { payload: 1, ..ack(0) }, 0), []);
    assert_eq!(duplicates(ack(4), 4), [], "nothing is outstanding");
    assert_eq!(duplicates(ack(1), 2), [], "it is old");
}

/// The third duplicate in a row counts; an advance in between resets the count.
#[test]
fn rfc_5681_3_2_duplicates_count_from_the_last_advance() {
    let (mut sender, recorder) = sending(options(), 6, 20);
    for (at, number, expected) in
        [(100, 0, 0), (101, 0, 0), (102, 1, 0), (103, 1, 0), (104, 1, 0), (105, 1, 1), (106, 1, 0)]
    {
        sender.on_segment(ms(at), &ack(number));
        let found = losses(&recorder);
        assert_eq!(found.len(), expected, "{at}");
        for lost in found {
            assert_eq!(lost, Lost { now: ms(105), kind: LossKind::DuplicateAcks, in_flight: 5_000 });
        }
    }
    assert_eq!((sender.progress().recoveries, sender.progress().timeouts), (1, 0));
    assert_eq!(numbers(&mut sender, 106)[0], 1);
}

/// RFC 3042, section 2: data that Limited Transmit sends beyond the window is not part of `FlightSize`; data
/// within the window is. An advance makes all of it part of the data in flight.
#[test]
fn rfc_3042_2_the_flight_is_without_limited_transmit() {
    for (window, advance, flight) in [(10, 0, 10_000), (12, 0, 12_000), (10, 1, 10_000)] {
        let options = TcpOptions { limited_transmit: true, ..options() };
        let (mut sender, recorder) = sending(options, 10, 50);
        recorder.set(|book| book.window = window * MSS);
        (0..2).for_each(|i| {
            sender.on_segment(ms(100 + i), &ack(0));
            drain(&mut sender, 100 + i);
        });
        if advance > 0 {
            // Twelve are outstanding, two beyond the window: there is room again when two are acknowledged.
            sender.on_segment(ms(103), &ack(2));
            drain(&mut sender, 103);
        }
        recorder.take();
        for i in 0..3 {
            sender.on_segment(ms(104 + i), &ack(2 * advance));
            if i < 2 {
                drain(&mut sender, 104 + i);
            }
            if advance == 0 {
                break;
            }
        }
        assert_eq!(losses(&recorder)[0].in_flight, flight, "{window} {advance}");
    }
}

/// A flight of zero bytes is never reported: for one segment that timed out, or when nearly all data has left
/// the network, at least a segment is reported.
#[test]
fn rfc_5681_4_3_a_timeout_reports_what_is_in_the_network() {
    for (bytes, duplicates, in_flight) in [
        (500, 0, 500),
        (1_000, 0, 1_000),
        (4_000, 0, 4_000),
        (4_000, 3, 1_000),
        (4_000, 4, 1_000),
        (9_000, 3, 6_000),
    ] {
        let recorder = Recorder::with_window(9 * MSS);
        let mut sender = TcpSender::new(options(), Box::new(recorder.clone()));
        sender.push(ms(0), bytes);
        drain(&mut sender, 0);
        for _ in 0..duplicates {
            sender.on_segment(ms(100), &ack(0));
        }
        losses(&recorder);
        let due = sender.poll_timeout().unwrap();
        sender.on_timeout(due);
        let kind = LossKind::Timeout { again: false };
        assert_eq!(losses(&recorder), [Lost { now: due, kind, in_flight }], "{bytes} {duplicates}");
    }
}

/// RFC 5681, section 3.1, equation 4: a segment that times out again, or whose window an echo has already
/// reduced, causes no further reduction; a later segment does.
#[test]
fn rfc_5681_3_1_timeouts_of_the_same_segment_are_reported_as_such() {
    let timeout = |sender: &mut TcpSender, recorder: &Recorder| {
        recorder.take();
        let due = sender.poll_timeout().unwrap();
        sender.on_timeout(due);
        let now = due.ns() / 1_000_000;
        assert_eq!(numbers(sender, now).len(), 4);
        let found = losses(recorder);
        let [Lost { kind: LossKind::Timeout { again }, in_flight: 4_000, .. }] = found[..] else {
            panic!("{found:?}")
        };
        (now, again)
    };
    let (mut sender, recorder) = sending(options(), 4, 20);
    assert_eq!(timeout(&mut sender, &recorder), (1_000, false));
    assert_eq!(timeout(&mut sender, &recorder), (3_000, true));
    sender.on_segment(ms(3_100), &ack(1));
    assert_eq!(numbers(&mut sender, 3_100), [4]);
    // 4 s: retransmitted data gives no sample that would end back-off.
    assert_eq!(timeout(&mut sender, &recorder), (7_100, false));
    assert_eq!(sender.progress().timeouts, 3);

    for (acked, again) in [(1, true), (3, true), (4, false)] {
        let (mut sender, recorder) = sending(TcpOptions { ecn: true, ..options() }, 4, 20);
        sender.on_segment(ms(100), &echo(1));
        drain(&mut sender, 100);
        sender.on_segment(ms(110), &ack(acked));
        drain(&mut sender, 110);
        assert_eq!(timeout(&mut sender, &recorder).1, again, "{acked}");
    }
}

/// RFC 6298, section 3, Karn: the timed segment gives a sample unless it was retransmitted, whatever happened
/// to others. Segment 0 was timed and acknowledged, then segment 4; the MAC gives up one of the outstanding
/// segments.
#[test]
fn rfc_6298_3_a_repetition_spoils_the_sample_of_its_own_segment_alone() {
    for (given_up, sampled) in [(1, true), (3, true), (4, false)] {
        let options = TcpOptions { local_repairs: 3, ..options() };
        let recorder = Recorder::with_window(4 * MSS);
        let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
        sender.push(ms(0), 50 * MSS);
        let mut sent = drain(&mut sender, 0);
        sender.on_segment(ms(100), &ack(1));
        sent.extend(drain(&mut sender, 100));
        assert!(sender.on_given_up(ms(110), &sent[given_up]));
        assert_eq!(numbers(&mut sender, 110), [given_up as u64]);
        sender.on_segment(ms(230), &ack(5));
        assert_eq!(sender.progress().rtt_samples, 1 + u64::from(sampled), "{given_up}");
        assert_eq!(sender.progress().rtt, Some(Span::from_ms(if sampled { 130 } else { 100 })));
    }
    // The first segment is timed, and the next one was given up.
    for (given_up, samples) in [(0, 0), (1, 1), (2, 1)] {
        let options = TcpOptions { local_repairs: 3, ..options() };
        let recorder = Recorder::with_window(4 * MSS);
        let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
        sender.push(ms(0), 4 * MSS);
        let sent = drain(&mut sender, 0);
        assert!(sender.on_given_up(ms(10), &sent[given_up]));
        drain(&mut sender, 10);
        sender.on_segment(ms(100), &ack(1));
        assert_eq!(sender.progress().rtt_samples, samples, "{given_up}");
    }
}

/// The last acknowledged segment, if each is timed; else the one timed segment.
#[test]
fn the_round_trip_is_that_of_the_newest_segment_if_each_is_timed() {
    for (time_every_segment, rtts) in [(true, [90, 110]), (false, [100, 0])] {
        let options = TcpOptions { time_every_segment, ..options() };
        let recorder = Recorder::with_window(4 * MSS);
        let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
        sender.push(ms(0), 3 * MSS);
        for at in [0, 10, 20] {
            assert!(sender.poll_segment(ms(at)).is_some());
        }
        sender.on_segment(ms(100), &ack(2));
        sender.on_segment(ms(130), &ack(3));
        let found =
            recorder.only(|event| if let Event::Acked(acked) = event { Some(acked.rtt) } else { None });
        assert_eq!(found, rtts.map(|rtt| (rtt > 0).then(|| Span::from_ms(rtt))), "{time_every_segment}");
        let progress = sender.progress();
        assert_eq!((progress.rtt_samples, progress.rtt), (1, Some(Span::from_ms(100))), "the timer's");
    }
}

/// RFC 6298, section 5: the timer starts with the first segment, restarts with each advance, and does not
/// restart with segments in between.
#[test]
fn rfc_6298_5_the_timer_is_of_the_oldest_segment() {
    let recorder = Recorder::with_window(2 * MSS);
    let mut sender = TcpSender::new(options(), Box::new(recorder.clone()));
    sender.push(ms(0), 3 * MSS);
    assert_eq!(sender.poll_timeout(), None);
    sender.poll_segment(ms(10));
    assert_eq!(sender.poll_timeout(), Some(ms(1_010)));
    sender.poll_segment(ms(50));
    assert_eq!(sender.poll_timeout(), Some(ms(1_010)));
    sender.on_segment(ms(110), &ack(1));
    assert_eq!(sender.poll_timeout(), Some(ms(1_110)));
    sender.on_segment(ms(150), &ack(2));
    assert_eq!(sender.poll_timeout(), None);
    sender.poll_segment(ms(200));
    assert_eq!(sender.poll_timeout(), Some(ms(1_200)));
    sender.on_timeout(ms(1_199));
    assert_eq!(sender.progress().timeouts, 0);
    sender.on_timeout(ms(1_200));
    assert_eq!((sender.progress().timeouts, sender.poll_timeout()), (1, Some(ms(3_200))));
}

/// Step 3: `max(FlightSize, SMSS) + SMSS`, and no other growth; ns-2 keeps the window, and the
/// acknowledgement opens it.
#[test]
fn rfc_6582_3_2_the_end_of_recovery_is_reported_with_its_window() {
    for (exit_window, window, opens) in [(ExitWindow::Flight, 2_000, 0), (ExitWindow::Deflated, 4_000, 1)] {
        let (mut sender, recorder) = sending(TcpOptions { exit_window, ..options() }, 4, 4);
        (0..3).for_each(|i| {
            sender.on_segment(ms(100 + i), &ack(0));
        });
        assert_eq!(numbers(&mut sender, 102), [0]);
        assert_eq!(sender.poll_timeout(), Some(ms(1_102)), "recovery starts the timer afresh");
        recorder.take();
        sender.on_segment(ms(200), &ack(4));
        let events = recorder.take();
        let recovered = Recovered { now: ms(200), in_flight: 0, window };
        assert!(events.contains(&Event::Recovered(recovered)), "{events:?}");
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Acked(_))).count(), opens);
        assert_eq!((sender.progress().rtt_samples, sender.progress().recoveries), (0, 1), "Karn");
    }
}

/// RFC 5681, section 4.1, applies to a connection that was used, has nothing to send, and restarts.
#[test]
fn rfc_5681_4_1_a_silence_is_of_a_connection_that_was_used() {
    let idle = |recorder: &Recorder| {
        recorder.only(|event| if let Event::Idle(now) = event { Some(now) } else { None })
    };
    for idle_restart in [true, false] {
        let recorder = Recorder::with_window(4 * MSS);
        let mut sender = TcpSender::new(TcpOptions { idle_restart, ..options() }, Box::new(recorder.clone()));
        sender.push(ms(9_000), 2 * MSS);
        assert_eq!(idle(&recorder), [], "the first data");
        drain(&mut sender, 9_000);
        sender.on_segment(ms(9_100), &ack(1));
        sender.push(ms(11_000), MSS);
        assert_eq!(idle(&recorder), [], "one is outstanding");
        drain(&mut sender, 11_000);
        sender.on_segment(ms(11_100), &ack(3));
        sender.push(ms(12_500), MSS);
        assert_eq!(idle(&recorder), if idle_restart { vec![ms(12_500)] } else { vec![] });
    }
}

/// A segment that the MAC gave up is repaired if it is outstanding on an open connection; not if it was
/// acknowledged, or will be retransmitted after a timeout.
#[test]
fn what_the_mac_gave_up_counts_while_it_is_outstanding() {
    let options = TcpOptions { local_repairs: 9, ..options() };
    let (mut sender, _) = sending(options.clone(), 4, 20);
    let segment = |number: u64| Segment { seq: number * MSS, payload: 1_000, ..Segment::default() };
    assert!(!sender.on_given_up(ms(10), &segment(4)), "never sent");
    assert!(sender.on_given_up(ms(10), &segment(3)));
    sender.on_segment(ms(100), &ack(2));
    assert!(!sender.on_given_up(ms(110), &segment(1)), "acknowledged");
    assert_eq!(numbers(&mut sender, 110), [3, 4, 5]);
    let due = sender.poll_timeout().unwrap();
    sender.on_timeout(due);
    assert!(!sender.on_given_up(due, &segment(2)));
    let handshake = TcpOptions { handshake: true, ..options };
    let mut closed = TcpSender::new(handshake, Box::new(Recorder::with_window(MSS)));
    closed.push(ms(0), MSS);
    assert!(!closed.on_given_up(ms(0), &segment(0)));
}

/// Data that was not sent yet is withdrawn; outstanding data is not.
#[test]
fn withdrawn_data_is_not_sent() {
    let (mut sender, _) = sending(options(), 2, 9);
    assert_eq!(sender.backlog(), 7 * MSS);
    sender.withdraw();
    assert_eq!(sender.backlog(), 0);
    sender.on_segment(ms(100), &ack(2));
    assert_eq!((numbers(&mut sender, 100), sender.progress().sent), (vec![], 2 * MSS));
    sender.push(ms(200), MSS);
    let segments = drain(&mut sender, 200);
    assert_eq!((segments.len(), segments[0].seq, segments[0].ecn), (1, 2 * MSS, Ecn::NotCapable));
}

/// New data sent in recovery is timed; a partial acknowledgement that does not cover it does not end the
/// timing. Segments 0 and 2 of four are lost, and three new ones are sent at 102 ms.
#[test]
fn what_is_sent_in_recovery_gives_a_sample_at_its_end() {
    let (mut sender, _) = sending(options(), 4, 20);
    for at in [100, 101, 102] {
        sender.on_segment(ms(at), &ack(0));
    }
    assert_eq!(numbers(&mut sender, 102), [0, 4, 5, 6]);
    sender.on_segment(ms(200), &ack(2));
    assert_eq!(numbers(&mut sender, 200)[0], 2);
    assert_eq!(sender.progress().rtt_samples, 0, "a repetition was waited for");
    sender.on_segment(ms(300), &ack(7));
    let Progress { rtt, rtt_samples, .. } = sender.progress();
    assert_eq!((rtt, rtt_samples), (Some(Span::from_ms(198)), 1));
}

/// Each segment is reported when it is sent, with the data then in flight, headers of 40 bytes, and whether
/// it is a retransmission.
#[test]
fn each_segment_that_leaves_is_reported() {
    let (mut sender, recorder) = sending(options(), 2, 2);
    sender.push(ms(10), 300);
    recorder.set(|book| book.window = 9 * MSS);
    drain(&mut sender, 10);
    sender.on_timeout(ms(1_000));
    drain(&mut sender, 1_000);
    let sent = recorder.only(|event| if let Event::Sent(sent) = event { Some(sent) } else { None });
    let of = |now, size, in_flight, retransmission| {
        let now = ms(now);
        SentSegment { now, size, packet: size + 40, in_flight, retransmission, app_limited: false }
    };
    let expected = [
        of(10, 300, 2_300, false),
        of(1_000, 1_000, 1_000, true),
        of(1_000, 1_000, 2_000, true),
        of(1_000, 300, 2_300, true),
    ];
    assert_eq!(sent, expected);
    let Progress { sent, retransmissions, timeouts, .. } = sender.progress();
    assert_eq!((sent, retransmissions, timeouts), (2_300, 3, 1));
}

/// A receive window of three segments below a congestion window of ten holds data back from 0 to 100 ms, when
/// an acknowledgement releases the rest.
#[test]
fn time_below_the_receive_window_is_counted() {
    let (mut sender, _recorder) = sending(TcpOptions { window: 3, ..options() }, 10, 3);
    sender.push(ms(0), 2 * MSS);
    assert_eq!(drain(&mut sender, 0).len(), 0);
    sender.on_segment(ms(100), &ack(3));
    assert_eq!(drain(&mut sender, 100).len(), 2);
    assert_eq!(sender.progress().receive_limited, Span::from_ms(100));
}
