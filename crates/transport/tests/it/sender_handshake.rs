//! Connection setup of a TCP sender (RFC 9293, section 3.5; RFC 3168, section 6.1.1), with every field of its
//! segments.

use crate::grants::Grant;
use crate::recorder::{Event, Recorder};
use multihop_core::{Ecn, Flags, HeaderBytes, Rate, Segment, Span, Time};
use multihop_transport::{CongestionHeader, Endpoint, LossKind, Lost, SentSegment, TcpOptions, TcpSender};

const MSS: u64 = 1_000;
const SYN: Flags = Flags { syn: true, ack: false, ece: false, cwr: false, psh: false, ae: false };
const SYN_ACK: Flags = Flags { ack: true, ..SYN };
const ACK: Flags = Flags { syn: false, ..SYN_ACK };

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn stamped(size: u64) -> HeaderBytes {
    HeaderBytes::of(&Grant { change: size as i32, granted: 0 })
}

/// Headers of 40 bytes, and a congestion header of 20, 7 with data.
fn options() -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        congestion_header: CongestionHeader { bytes_with_data: 7, ..CongestionHeader::of(20) },
        ecn: true,
        ..TcpOptions::default()
    }
}

/// A sender that was given 2500 bytes at 3 ms.
fn begun(options: TcpOptions, window: u64) -> (TcpSender, Recorder) {
    let recorder = Recorder::with_window(window);
    let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
    assert_eq!((sender.poll_segment(ms(0)), sender.poll_timeout()), (None, None), "closed");
    sender.push(ms(3), 2_500);
    (sender, recorder)
}

fn syn_ack(flags: Flags) -> Segment {
    Segment { flags, window: 100_000, feedback: stamped(1), ..Segment::default() }
}

#[test]
fn rfc_3168_6_1_1_the_syn_asks_for_ecn() {
    for (timestamps, ecn) in [(true, true), (true, false), (false, true)] {
        let (mut sender, recorder) = begun(TcpOptions { timestamps, ecn, ..options() }, 4 * MSS);
        let expected = Segment {
            header: 60,
            flags: Flags { ece: ecn, cwr: ecn, ..SYN },
            echo: timestamps.then_some(ms(3)),
            feedback: stamped(0),
            ..Segment::default()
        };
        assert_eq!(sender.poll_segment(ms(3)), Some(expected));
        assert_eq!((sender.poll_segment(ms(3)), sender.backlog()), (None, 2_500));
        assert_eq!(sender.poll_timeout(), Some(ms(1_003)));
        assert_eq!(recorder.take(), [Event::Stamped(0)]);
    }
}

/// ECN is negotiated if the SYN-ACK has ECE and not CWR.
#[test]
fn rfc_3168_6_1_1_only_an_ecn_setup_syn_ack_turns_ecn_on() {
    for (ece, cwr, expected) in
        [(true, false, Ecn::Ect0), (true, true, Ecn::NotCapable), (false, false, Ecn::NotCapable)]
    {
        let (mut sender, _) = begun(options(), 4 * MSS);
        sender.poll_segment(ms(3));
        sender.on_segment(ms(103), &syn_ack(Flags { ece, cwr, ..SYN_ACK }));
        assert_eq!(sender.poll_segment(ms(103)).unwrap().ecn, expected, "{ece} {cwr}");
    }
    // Not if it was not requested.
    let (mut sender, _) = begun(TcpOptions { ecn: false, ..options() }, 4 * MSS);
    sender.poll_segment(ms(3));
    sender.on_segment(ms(103), &syn_ack(Flags { ece: true, ..SYN_ACK }));
    assert_eq!(sender.poll_segment(ms(103)).unwrap().ecn, Ecn::NotCapable);
}

/// The SYN-ACK gives the first round-trip sample, by the timestamp or by the clock; then data is sent, which
/// acknowledges it. The retransmission timer after 100 ms is the minimum timeout, 1 s.
#[test]
fn the_answer_opens_the_connection() {
    for timestamps in [true, false] {
        let (mut sender, recorder) = begun(TcpOptions { timestamps, ..options() }, 4 * MSS);
        sender.poll_segment(ms(3));
        recorder.take();
        let echo = timestamps.then_some(ms(3));
        sender.on_segment(ms(103), &Segment { echo, ..syn_ack(Flags { ece: true, ..SYN_ACK }) });
        let rtt = Span::from_ms(100);
        assert_eq!(recorder.take(), [Event::Opened(rtt), Event::Returned(Some(rtt), false)]);
        assert_eq!(sender.poll_timeout(), None);
        let header = 40 + 7 + if timestamps { 12 } else { 0 };
        let first = Segment {
            payload: 1_000,
            header,
            flags: ACK,
            ecn: Ecn::Ect0,
            echo: timestamps.then_some(ms(104)),
            feedback: stamped(1_000),
            ..Segment::default()
        };
        assert_eq!(sender.poll_segment(ms(104)), Some(first));
        let (size, packet) = (1_000, u64::from(1_000 + header));
        let sent = SentSegment {
            now: ms(104),
            size,
            packet,
            in_flight: 1_000,
            retransmission: false,
            app_limited: false,
        };
        assert_eq!(recorder.take(), [Event::Stamped(1_000), Event::Sent(sent)]);
        assert_eq!(sender.poll_timeout(), Some(ms(1_104)));
        let echo = timestamps.then_some(ms(105));
        assert_eq!(sender.poll_segment(ms(105)), Some(Segment { seq: 1_000, echo, ..first }));
        let (seq, payload, feedback) = (2_000, 500, stamped(500));
        assert_eq!(sender.poll_segment(ms(105)), Some(Segment { seq, payload, echo, feedback, ..first }));
        assert_eq!((sender.poll_segment(ms(105)), sender.backlog()), (None, 0));
        let progress = sender.progress();
        assert_eq!((progress.rtt, progress.srtt, progress.rtt_samples), (Some(rtt), Some(rtt), 1));
        assert_eq!((progress.window, progress.slow_start_threshold), (Some(4_000), Some(77_000)));
    }
}

/// If the window allows no data, the SYN-ACK is still acknowledged, once.
#[test]
fn the_answer_is_acknowledged_without_data_if_there_is_room_for_none() {
    let (mut sender, _) = begun(TcpOptions { timestamps: true, ..options() }, 0);
    sender.poll_segment(ms(3));
    sender.on_segment(ms(103), &syn_ack(SYN_ACK));
    let expected = Segment { header: 40 + 20 + 12, flags: ACK, ..Segment::default() };
    assert_eq!(sender.poll_segment(ms(103)), Some(expected));
    assert_eq!(sender.poll_segment(ms(103)), None);
    // Another SYN-ACK needs no answer, and a SYN alone is not an answer.
    sender.on_segment(ms(110), &syn_ack(SYN_ACK));
    assert_eq!(sender.poll_segment(ms(110)), None);
    let (mut sender, recorder) = begun(options(), 4 * MSS);
    sender.poll_segment(ms(3));
    recorder.take();
    sender.on_segment(ms(103), &syn_ack(SYN));
    assert_eq!((sender.poll_segment(ms(103)), recorder.take()), (None, vec![]));
}

/// Before the connection is open only a SYN-ACK counts, and afterwards nothing without the ACK bit.
#[test]
fn what_is_no_acknowledgement_is_ignored() {
    let (mut sender, recorder) = begun(options(), 4 * MSS);
    sender.poll_segment(ms(3));
    recorder.take();
    sender.on_segment(ms(50), &syn_ack(ACK));
    assert_eq!(recorder.take(), []);
    sender.on_segment(ms(103), &syn_ack(SYN_ACK));
    while sender.poll_segment(ms(103)).is_some() {}
    recorder.take();
    sender.on_segment(ms(203), &Segment { ack: 1_000, ..syn_ack(Flags::default()) });
    assert_eq!((recorder.take(), sender.progress().acked), (vec![], 0));
    sender.on_segment(ms(203), &Segment { ack: 1_000, ..syn_ack(ACK) });
    assert_eq!(sender.progress().acked, 1_000);
}

/// RFC 6298, section 5.5: 1 s, then 2 s and 4 s. The answer to a SYN that was sent twice gives no sample
/// (Karn), and the congestion control is notified of the loss, with nothing outstanding.
#[test]
fn rfc_6298_5_a_lost_syn_is_sent_again() {
    let (mut sender, recorder) = begun(options(), 4 * MSS);
    let first = sender.poll_segment(ms(3));
    recorder.take();
    sender.on_timeout(ms(1_002));
    assert_eq!((sender.poll_segment(ms(1_002)), recorder.take()), (None, vec![]), "too early");
    let lost =
        |now, again| Event::Lost(Lost { now: ms(now), kind: LossKind::Timeout { again }, in_flight: 0 });
    sender.on_timeout(ms(1_003));
    assert_eq!(recorder.take(), [lost(1_003, false)]);
    assert_eq!((sender.poll_timeout(), sender.progress().timeouts), (Some(ms(3_003)), 1));
    assert_eq!(sender.poll_segment(ms(1_010)), first);
    assert_eq!(sender.poll_timeout(), Some(ms(3_010)));
    recorder.take();
    sender.on_timeout(ms(3_010));
    assert_eq!(recorder.take(), [lost(3_010, true)]);
    assert_eq!(sender.progress().timeouts, 2);
    assert_eq!(sender.poll_segment(ms(3_010)), first);
    assert_eq!(sender.poll_timeout(), Some(ms(7_010)));
    recorder.take();
    sender.on_segment(ms(3_110), &syn_ack(SYN_ACK));
    assert_eq!(recorder.take(), [Event::Returned(None, false)]);
    assert_eq!(sender.poll_segment(ms(3_110)).unwrap().payload, 1_000);
}

/// The SYN-ACK may arrive when the timer has expired and the SYN was not retransmitted yet: the connection is
/// open, and no SYN follows.
#[test]
fn an_answer_that_comes_late_opens_the_connection() {
    let (mut sender, _) = begun(options(), 4 * MSS);
    sender.poll_segment(ms(3));
    sender.on_timeout(ms(1_003));
    sender.on_segment(ms(1_003), &syn_ack(SYN_ACK));
    assert_eq!(sender.poll_segment(ms(1_003)).unwrap().flags, ACK);
}

/// At 8 kb/s a packet of 1067 bytes delays the next one by 1067 ms. A segment without data requests feedback
/// 300 ms after the last request, if that is before the next packet and there is one.
#[test]
fn routers_are_asked_without_data_while_pacing_holds_it_back() {
    let recorder = Recorder::with_window(100 * MSS);
    recorder.set(|book| {
        (book.pace, book.refresh) = (Some(Rate::from_bps(8_000)), Some(Span::from_ms(300)));
    });
    let options = TcpOptions { handshake: false, ecn: false, ..options() };
    let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
    sender.push(ms(0), 2 * MSS);
    assert_eq!(sender.poll_segment(ms(0)).map(|segment| segment.header), Some(47));
    for (asked, due) in [(300, 600), (600, 900), (900, 1_047)] {
        assert_eq!(sender.poll_timeout(), Some(ms(asked)));
        assert_eq!(sender.poll_segment(ms(asked - 1)), None);
        recorder.take();
        let expected =
            Segment { seq: 1_000, header: 60, flags: ACK, feedback: stamped(0), ..Segment::default() };
        assert_eq!(sender.poll_segment(ms(asked)), Some(expected));
        assert_eq!(recorder.take(), [Event::Stamped(0)], "nothing of it counts as sent");
        // The retransmission timer is that of the first packet, 1 s.
        assert_eq!(sender.poll_timeout(), Some(ms(due.min(1_000))));
    }
    assert_eq!(sender.poll_segment(ms(1_046)), None);
    assert_eq!(sender.poll_segment(ms(1_047)).map(|segment| segment.seq), Some(1_000));
    assert_eq!(sender.poll_segment(ms(1_500)), None, "no data");
}
