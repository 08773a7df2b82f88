use super::*;
use crate::Recovery;
use multihop_core::Span;

const NOW: Time = Time::ZERO;

fn receiver(delayed_ack: Option<Span>) -> TcpReceiver {
    let recovery = Recovery::Sack;
    TcpReceiver::new(TcpOptions {
        delayed_ack,
        recovery,
        ecn: true,
        handshake: false,
        ..TcpOptions::default()
    })
}

/// A segment of 100 bytes.
fn data(number: u64) -> Segment {
    Segment { seq: 100 * number, payload: 100, ..Segment::default() }
}

fn reply(receiver: &mut TcpReceiver, segment: &Segment) -> Option<Segment> {
    receiver.on_segment(NOW, segment);
    receiver.poll_segment(NOW)
}

#[test]
fn rfc_2018_4_the_latest_block_comes_first() {
    let mut receiver = receiver(None);
    reply(&mut receiver, &data(0));
    for number in [2, 4, 6, 8] {
        reply(&mut receiver, &data(number));
    }
    let ack = reply(&mut receiver, &data(3)).unwrap();
    let blocks: Vec<(u64, u64)> = ack.sack.as_slice().iter().map(|b| (b.start, b.end)).collect();
    assert_eq!(blocks, [(200, 500), (800, 900), (600, 700)]);
    assert_eq!((ack.ack, ack.header), (100, 40 + 28));
    assert_eq!(receiver.on_segment(NOW, &data(1)).bytes, 400);
}

#[test]
fn rfc_5681_4_2_every_second_segment_or_the_timer() {
    let mut receiver = receiver(Some(Span::from_ms(100)));
    assert_eq!(reply(&mut receiver, &data(0)), None);
    assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 200);
    assert_eq!(reply(&mut receiver, &data(2)), None);
    let deadline = receiver.poll_timeout().unwrap();
    assert_eq!(deadline, NOW + Span::from_ms(100));
    receiver.on_timeout(deadline);
    assert_eq!(receiver.poll_segment(deadline).unwrap().ack, 300);
    assert_eq!(receiver.poll_timeout(), None);
}

/// Every fourth segment, or the delay since the first unacknowledged one; segments out of order are
/// acknowledged at once.
#[test]
fn rfc_5690_an_acknowledgement_may_stand_for_more() {
    let mut receiver = receiver(Some(Span::from_ms(100)));
    receiver.options.ack_every = 4;
    for number in [0, 1, 2] {
        assert_eq!(reply(&mut receiver, &data(number)), None);
    }
    assert_eq!(reply(&mut receiver, &data(3)).unwrap().ack, 400);
    assert_eq!(
        (reply(&mut receiver, &data(4)), receiver.poll_timeout()),
        (None, Some(NOW + Span::from_ms(100)))
    );
    let later = NOW + Span::from_ms(60);
    receiver.on_segment(later, &data(5));
    assert_eq!(receiver.poll_timeout(), Some(NOW + Span::from_ms(100)), "since the first");
    receiver.on_timeout(NOW + Span::from_ms(100));
    assert_eq!(receiver.poll_segment(later).unwrap().ack, 600);
    assert_eq!(reply(&mut receiver, &data(7)).unwrap().ack, 600);
    receiver.options.ack_every = 1;
    assert_eq!(reply(&mut receiver, &data(6)).unwrap().ack, 800);
    assert_eq!(reply(&mut receiver, &data(8)).unwrap().ack, 900, "each");
}

#[test]
fn rfc_5681_4_2_at_once_out_of_order_duplicate_or_filling_a_gap() {
    let mut receiver = receiver(Some(Span::from_ms(100)));
    assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 0);
    assert_eq!(reply(&mut receiver, &data(0)).unwrap().ack, 200);
    assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 200);
}

#[test]
fn rfc_3168_6_1_3_every_ack_echoes_until_cwr() {
    let mut receiver = receiver(None);
    let echoes = |receiver: &mut TcpReceiver, segment: &Segment| reply(receiver, segment).unwrap().flags.ece;
    assert!(!echoes(&mut receiver, &data(0)));
    let marked = Segment { ecn: Ecn::CongestionExperienced, ..data(1) };
    assert!(echoes(&mut receiver, &marked));
    assert!(echoes(&mut receiver, &data(2)));
    let cwr = Flags { cwr: true, ..Flags::default() };
    assert!(!echoes(&mut receiver, &Segment { flags: cwr, ..data(3) }));
    assert!(!echoes(&mut receiver, &data(4)));
    let both = Segment { flags: cwr, ecn: Ecn::CongestionExperienced, ..data(5) };
    assert!(echoes(&mut receiver, &both));
}

/// The marked segment and the next one are acknowledged at once, once until the sender has reacted.
#[test]
fn linux_acknowledges_at_once_when_a_mark_arrives() {
    let mut receiver = receiver(Some(Span::from_ms(100)));
    (receiver.ecn, receiver.options.quick_acks) = (EcnMode::Classic, 2);
    let marked = |number| Segment { ecn: Ecn::CongestionExperienced, ..data(number) };
    let mut at_once = |segment: &Segment| reply(&mut receiver, segment).is_some();
    assert_eq!([data(0), data(1)].map(|segment| at_once(&segment)), [false, true]);
    let segments = [marked(2), data(3), marked(4), data(5), data(6)];
    assert_eq!(segments.map(|segment| at_once(&segment)), [true, true, false, true, false]);
    let cwr = Flags { cwr: true, ..Flags::default() };
    let segments = [Segment { flags: cwr, ..data(7) }, marked(8), data(9), data(10), data(11)];
    assert_eq!(segments.map(|segment| at_once(&segment)), [true, true, true, false, true]);
}

/// `tcp_incr_quickack`: three segments are acknowledged at once from the first, from the first after more
/// than a second, which is the timeout without a round trip, and from a duplicate.
#[test]
fn linux_acknowledges_at_once_when_the_sender_may_be_in_slow_start() {
    let mut receiver = receiver(Some(Span::from_ms(100)));
    receiver.options.start_quick_acks = 3;
    let mut at_once = |ms, number| {
        let now = NOW + Span::from_ms(ms);
        receiver.on_segment(now, &data(number));
        receiver.poll_segment(now).is_some()
    };
    assert_eq!([0, 1, 2, 3, 4].map(|number| at_once(0, number)), [true, true, true, false, true]);
    assert_eq!([5, 6].map(|number| at_once(1_000, number)), [false, true]);
    assert_eq!([7, 8, 9, 10, 11].map(|number| at_once(2_001, number)), [true, true, true, false, true]);
    assert_eq!([11, 12, 13, 14, 15].map(|number| at_once(2_002, number)), [true, true, true, false, true]);
}

#[test]
fn rfc_7323_4_3_a_delayed_ack_echoes_its_first_segment() {
    let options = TcpOptions { timestamps: true, handshake: false, ..TcpOptions::default() };
    let mut receiver = TcpReceiver::new(options);
    let at = |number, ms| Segment { echo: Some(NOW + Span::from_ms(ms)), ..data(number) };
    assert_eq!(reply(&mut receiver, &at(0, 10)), None);
    let ack = reply(&mut receiver, &at(1, 20)).unwrap();
    assert_eq!((ack.echo, ack.header), (Some(NOW + Span::from_ms(10)), 52));
}

#[test]
fn a_receiver_has_nothing_to_send() {
    let mut receiver = receiver(None);
    receiver.push(NOW, 1_000);
    assert_eq!((receiver.backlog(), receiver.progress()), (0, Progress::default()));
    assert_eq!((receiver.poll_segment(NOW), receiver.poll_timeout()), (None, None));
}

/// RFC 3168, section 6.1.1: ECN is negotiated if the SYN has ECE and CWR, and the receiver supports it.
/// Checks the whole answer.
#[test]
fn rfc_3168_6_1_1_the_answer_to_a_syn() {
    for (wanted, ece, cwr, agreed) in [
        (true, true, true, true),
        (true, true, false, false),
        (true, false, true, false),
        (false, true, true, false),
    ] {
        for timestamps in [true, false] {
            let options = TcpOptions {
                ecn: wanted,
                timestamps,
                segment_size: 1_000,
                window: 9,
                ..TcpOptions::default()
            };
            let mut receiver = TcpReceiver::new(options);
            let flags = Flags { syn: true, ece, cwr, ..Flags::default() };
            let sent = Some(NOW + Span::from_ms(5));
            let answer = reply(&mut receiver, &Segment { flags, echo: sent, ..Segment::default() });
            let expected = Segment {
                header: if timestamps { 52 } else { 40 },
                flags: Flags { syn: true, ack: true, ece: agreed, ..Flags::default() },
                echo: sent.filter(|_| timestamps),
                window: 9_000,
                ..Segment::default()
            };
            assert_eq!(answer, Some(expected));
            let marked = Segment { ecn: Ecn::CongestionExperienced, ..data(1) };
            assert_eq!(reply(&mut receiver, &marked).unwrap().flags.ece, agreed, "{ece} {cwr}");
        }
    }
}

/// Every field of an acknowledgement, with and without missing data.
#[test]
fn rfc_9293_3_10_7_4_an_acknowledgement() {
    let options = TcpOptions {
        recovery: Recovery::Sack,
        handshake: false,
        timestamps: true,
        segment_size: 1_000,
        window: 5,
        delayed_ack: None,
        ..TcpOptions::default()
    };
    let mut receiver = TcpReceiver::new(options.clone());
    let at = |number, ms| Segment { echo: Some(NOW + Span::from_ms(ms)), ..data(number) };
    let flags = Flags { ack: true, ..Flags::default() };
    let echo = Some(NOW + Span::from_ms(10));
    let first = Segment { ack: 100, header: 52, flags, echo, window: 5_000, ..Segment::default() };
    assert_eq!(reply(&mut receiver, &at(0, 10)), Some(first));
    let mut sack = SackBlocks::default();
    sack.push(SackBlock { start: 200, end: 300 });
    // Segments out of order do not update `TS.Recent`.
    assert_eq!(reply(&mut receiver, &at(2, 20)), Some(Segment { header: 64, sack, ..first }));
    let echo = Some(NOW + Span::from_ms(30));
    assert_eq!(reply(&mut receiver, &at(1, 30)), Some(Segment { ack: 300, echo, ..first }));
    // A duplicate changes nothing, and a segment without data has no answer.
    assert_eq!(reply(&mut receiver, &at(0, 10)), Some(Segment { ack: 300, echo, ..first }));
    assert_eq!(reply(&mut receiver, &Segment { seq: 300, ..Segment::default() }), None);
    // Without SACK there are no blocks, however much is missing.
    let mut reno = TcpReceiver::new(TcpOptions { recovery: Recovery::NewReno, ..options });
    let Segment { ack, header, sack, .. } = reply(&mut reno, &at(2, 20)).unwrap();
    assert_eq!((ack, header, sack), (0, 52, SackBlocks::default()));
}

/// A segment may repeat delivered data, with new data after it, or extend into data received early.
#[test]
fn segments_that_overlap_deliver_what_is_new() {
    let mut receiver = receiver(None);
    let segment = |seq, payload| Segment { seq, payload, ..Segment::default() };
    let mut delivered = |seq, payload| {
        let Delivered { bytes, offset } = receiver.on_segment(NOW, &segment(seq, payload));
        (bytes, offset, receiver.poll_segment(NOW).unwrap().ack)
    };
    assert_eq!(delivered(0, 100), (100, 0, 100));
    assert_eq!(delivered(50, 100), (50, 100, 150));
    assert_eq!(delivered(50, 100), (0, 150, 150));
    assert_eq!(delivered(300, 100), (0, 150, 150));
    assert_eq!(delivered(150, 150), (250, 150, 400), "up to where the early one begins");
    assert_eq!(delivered(500, 100), (0, 400, 400));
    assert_eq!(delivered(400, 150), (200, 400, 600), "into the middle of it");
    assert_eq!(delivered(700, 10), (0, 600, 600));
    assert_eq!(delivered(600, 200), (200, 600, 800), "beyond it");
    assert_eq!(delivered(800, 10), (10, 800, 810));
}

/// The host takes 200 us for each acknowledgement, and keeps their order.
#[test]
fn the_host_delays_acknowledgements() {
    let mut receiver = receiver(None);
    receiver.options.host_delay = Some(Span::from_us(200));
    let at = |us| NOW + Span::from_us(us);
    for (number, us) in [(0, 0), (1, 50)] {
        receiver.on_segment(at(us), &data(number));
        assert_eq!(receiver.poll_segment(at(us)), None);
    }
    assert_eq!(receiver.poll_timeout(), Some(at(200)));
    assert_eq!(receiver.poll_segment(at(200)).map(|ack| ack.ack), Some(100));
    assert_eq!((receiver.poll_segment(at(200)), receiver.poll_timeout()), (None, Some(at(250))));
    assert_eq!(receiver.poll_segment(at(250)).map(|ack| ack.ack), Some(200));
    assert_eq!(receiver.poll_timeout(), None);
}

/// A segment below the acknowledgement number, and one inside a block beyond it, arrive twice.
#[test]
fn rfc_2883_4_what_arrived_twice_is_reported_first() {
    let mut receiver = receiver(None);
    receiver.options.duplicate_sack = true;
    let blocks = |ack: Segment| -> Vec<(u64, u64)> {
        ack.sack.as_slice().iter().map(|block| (block.start, block.end)).collect()
    };
    for number in [0, 2, 3] {
        reply(&mut receiver, &data(number));
    }
    assert_eq!(blocks(reply(&mut receiver, &data(0)).unwrap()), [(0, 100), (200, 400)]);
    assert_eq!(blocks(reply(&mut receiver, &data(3)).unwrap()), [(300, 400), (200, 400)]);
    assert_eq!(blocks(reply(&mut receiver, &data(5)).unwrap()), [(500, 600), (200, 400)], "once");
}

/// Beyond a gap three segments are acknowledged at once; then a millisecond passes without a known round
/// trip, or 44 segments.
#[test]
fn linux_compresses_acknowledgements_beyond_a_gap() {
    let mut receiver = receiver(Some(Span::from_ms(40)));
    receiver.options.compressed_acks = true;
    let at = |us| NOW + Span::from_us(us);
    for number in 1..=3 {
        assert!(reply(&mut receiver, &data(number)).is_some(), "{number}");
    }
    receiver.on_segment(at(10), &data(4));
    receiver.on_segment(at(20), &data(5));
    assert_eq!((receiver.poll_segment(at(20)), receiver.poll_timeout()), (None, Some(at(1_010))));
    receiver.on_timeout(at(1_010));
    let ack = receiver.poll_segment(at(1_010)).unwrap();
    assert_eq!((ack.ack, ack.sack.as_slice()[0].end, receiver.poll_timeout()), (0, 600, None));
    for number in 6..50 {
        assert_eq!(reply(&mut receiver, &data(number)), None, "{number}");
    }
    assert!(reply(&mut receiver, &data(50)).is_some(), "44 segments wait");
    assert_eq!(reply(&mut receiver, &data(0)).unwrap().ack, 5_100, "a filled gap");
}

/// From 100 to 300 us, in order, and on average near 200 us.
#[test]
fn the_delay_of_a_host_varies_by_half() {
    let mut receiver = receiver(None);
    receiver.options.host_delay = Some(Span::from_us(200));
    receiver.options.host_delay_varies = true;
    let mut delays = Vec::new();
    for number in 0..1_000 {
        let now = NOW + Span::from_ms(number);
        receiver.on_segment(now, &data(number));
        let leaves = receiver.poll_timeout().unwrap();
        delays.push(leaves.since(now).ns() / 1_000);
        assert_eq!(receiver.poll_segment(leaves).unwrap().ack, 100 * (number + 1));
    }
    let mean = delays.iter().sum::<u64>() / 1_000;
    assert!((190..210).contains(&mean), "{mean}");
    let ends = (*delays.iter().min().unwrap(), *delays.iter().max().unwrap());
    assert!((100..105).contains(&ends.0) && (295..300).contains(&ends.1), "{ends:?}");
    // Two at one instant leave in order.
    let now = NOW + Span::from_ms(2_000);
    (1_000..1_100).for_each(|number| _ = receiver.on_segment(now, &data(number)));
    let later = now + Span::from_ms(1);
    let acks: Vec<u64> = std::iter::from_fn(|| receiver.poll_segment(later)).map(|reply| reply.ack).collect();
    assert!(acks.len() == 100 && acks.is_sorted(), "{acks:?}");
}
