//! Reaction of a sender when the MAC of its own node gives up one of its segments.

use crate::grants::{Grant, Sum};
use multihop_core::{Flags, Header, HeaderBytes, Segment, Span, Time};
use multihop_transport::{
    CongestionHeader, Endpoint, Recovery, Reno, RenoOptions, TcpOptions, TcpReceiver, TcpSender,
};

const MSS: u64 = 1000;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// An open connection with a window of four segments, all of which were sent.
fn four_outstanding(recovery: Recovery, local_repairs: u32) -> (TcpSender, Vec<Segment>) {
    let options = TcpOptions {
        segment_size: MSS as u32,
        recovery,
        local_repairs,
        handshake: false,
        limited_transmit: false,
        window: 100,
        ..TcpOptions::default()
    };
    let reno = RenoOptions {
        initial_window: Some(4),
        initial_threshold: Some(4),
        ..RenoOptions::rfc(MSS as u32, 100 * MSS)
    };
    let mut sender = TcpSender::new(options, Box::new(Reno::new(reno)));
    sender.push(Time::ZERO, 100 * MSS);
    let sent: Vec<Segment> = std::iter::from_fn(|| sender.poll_segment(Time::ZERO)).collect();
    assert_eq!(sent.iter().map(|segment| segment.seq).collect::<Vec<_>>(), [0, 1000, 2000, 3000]);
    (sender, sent)
}

fn acknowledge(sender: &mut TcpSender, now: Time, ack: u64) {
    let flags = Flags { ack: true, ..Flags::default() };
    sender.on_segment(now, &Segment { ack, flags, window: 100 * MSS, ..Segment::default() });
}

/// The segment is retransmitted at once, although the window is full; the window stays; and the timer, which
/// would have expired at 1 s, restarts.
#[test]
fn it_is_sent_again_at_once_in_its_own_place() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let (mut sender, sent) = four_outstanding(recovery, 3);
        let window = sender.progress().window;
        assert_eq!(sender.poll_timeout(), Some(ms(1_000)));
        assert!(sender.on_given_up(ms(30), &sent[1]));
        let again = sender.poll_segment(ms(30)).expect("a repair");
        assert_eq!((again.seq, again.payload, again.retransmission), (1000, 1000, true));
        assert_eq!(sender.poll_segment(ms(30)), None);
        assert_eq!(sender.poll_timeout(), Some(ms(1_030)));
        let progress = sender.progress();
        assert_eq!((progress.window, progress.retransmissions, progress.recoveries), (window, 1, 0));
        // All further events are as usual.
        acknowledge(&mut sender, ms(40), 4000);
        assert_eq!(sender.poll_segment(ms(40)).map(|segment| segment.seq), Some(4000));
    }
}

/// Two give-ups in a row are repaired, the third is left to the timer. An acknowledgement of new data resets
/// the count.
#[test]
fn repairs_in_a_row_are_counted() {
    let (mut sender, sent) = four_outstanding(Recovery::Sack, 2);
    for at in [10, 20] {
        assert!(sender.on_given_up(ms(at), &sent[0]));
        assert_eq!(sender.poll_segment(ms(at)).map(|segment| segment.seq), Some(0));
    }
    assert!(!sender.on_given_up(ms(30), &sent[0]));
    assert_eq!(sender.poll_segment(ms(30)), None);
    assert_eq!(sender.poll_timeout(), Some(ms(1_020)));
    acknowledge(&mut sender, ms(40), 1000);
    while sender.poll_segment(ms(40)).is_some() {}
    assert!(sender.on_given_up(ms(50), &sent[1]));
}

#[test]
fn what_was_acknowledged_meanwhile_or_without_the_option_is_not_repaired() {
    let (mut sender, sent) = four_outstanding(Recovery::Sack, 0);
    assert!(!sender.on_given_up(ms(10), &sent[0]), "off");
    assert_eq!(sender.poll_segment(ms(10)), None);
    // Only the MAC's acknowledgement was lost, and the receiver's arrives first.
    let (mut sender, sent) = four_outstanding(Recovery::Sack, 3);
    assert!(sender.on_given_up(ms(10), &sent[0]));
    acknowledge(&mut sender, ms(10), 2000);
    assert_ne!(sender.poll_segment(ms(10)).map(|segment| segment.seq), Some(0));
    assert!(!sender.on_given_up(ms(11), &sent[1]));
}

/// After a timeout all data from `una` on is retransmitted, and nothing twice.
#[test]
fn a_timeout_makes_repairs_void() {
    let (mut sender, sent) = four_outstanding(Recovery::Sack, 3);
    assert!(sender.on_given_up(ms(999), &sent[2]));
    sender.on_timeout(ms(1_000));
    let again: Vec<u64> = std::iter::from_fn(|| sender.poll_segment(ms(1_000))).map(|s| s.seq).collect();
    assert_eq!(again, [0], "the window is one segment");
    assert!(!sender.on_given_up(ms(1_001), &sent[3]), "it is due to be sent again anyway");
}

/// The newest acknowledgement is retransmitted, twice in a row; an older one is not.
#[test]
fn an_acknowledgement_is_sent_again_unless_a_later_one_says_more() {
    let options = TcpOptions {
        local_repairs: 2,
        handshake: false,
        delayed_ack: None,
        congestion_header: CongestionHeader::of(Grant::LEN as u32),
        ..TcpOptions::default()
    };
    let mut receiver = TcpReceiver::with_echo(options, Box::new(Sum::default()));
    let feedback = HeaderBytes::of(&Grant { change: 100, granted: 0 });
    let acknowledged = |receiver: &mut TcpReceiver, seq: u64| {
        receiver.on_segment(ms(seq), &Segment { seq, payload: 1000, feedback, ..Segment::default() });
        receiver.poll_segment(ms(seq)).expect("each segment is acknowledged")
    };
    let first = acknowledged(&mut receiver, 0);
    assert_ne!(first.feedback, HeaderBytes::NONE);
    for _ in 0..2 {
        assert!(receiver.on_given_up(ms(1), &first));
        // The first one may have arrived: feedback is returned once.
        assert_eq!(receiver.poll_segment(ms(1)), Some(Segment { feedback: HeaderBytes::NONE, ..first }));
    }
    assert!(!receiver.on_given_up(ms(2), &first), "so often in a row");
    let second = acknowledged(&mut receiver, 1000);
    assert!(!receiver.on_given_up(ms(1_001), &first), "a later one went");
    assert!(receiver.on_given_up(ms(1_002), &second));
}
