//! A sender with bursts, as with segmentation offload, and a receiver's reaction to the ends of bursts.

use crate::recorder::Recorder;
use crate::small_queues::{MSS, PACKET, acknowledge, drain, ms, sender, sender_of};
use multihop_core::{Flags, Rate, Segment, Time};
use multihop_transport::{Endpoint, Recovery, TcpOptions, TcpReceiver, TcpSender};

fn offloaded() -> TcpOptions {
    TcpOptions { segmentation_offload: true, ..TcpOptions::default() }
}

/// Sequence numbers of segments, in segments, and whether they have PSH.
fn numbers(segments: &[Segment]) -> Vec<(u64, bool)> {
    segments.iter().map(|segment| (segment.seq / MSS, segment.flags.psh)).collect()
}

/// A window of 20 and round trips of 100 ms: 400 kB/s are less than a segment per millisecond, so that bursts
/// have two segments. Acknowledgements cover two segments, and in slow start the third segment is deferred.
#[test]
fn less_than_a_burst_waits_for_the_next_acknowledgement() {
    let mut sender = sender(offloaded());
    assert_eq!(drain(&mut sender, ms(0)).len(), 20, "no round trip is known yet");
    acknowledge(&mut sender, ms(100), 1, ms(0));
    assert_eq!(numbers(&drain(&mut sender, ms(100))), [(20, false), (21, true)], "one and one that it opens");
    acknowledge(&mut sender, ms(101), 2, ms(1));
    assert_eq!(numbers(&drain(&mut sender, ms(101))), [(22, false), (23, true)]);
    // Three segments are allowed.
    acknowledge(&mut sender, ms(101), 4, ms(1));
    assert_eq!(numbers(&drain(&mut sender, ms(101))), [(24, false), (25, true)]);
    assert!(sender.poll_timeout() > Some(ms(200)), "the timer of retransmissions alone");
    acknowledge(&mut sender, ms(101), 5, ms(1));
    assert_eq!(numbers(&drain(&mut sender, ms(101))), [(26, false), (27, true)], "one of before, and one");
    // Three are allowed again, a while after the last burst: the first two are sent, and one is deferred.
    acknowledge(&mut sender, ms(110), 6, ms(10));
    assert_eq!(numbers(&drain(&mut sender, ms(110))), [(28, false), (29, true)]);
    acknowledge(&mut sender, ms(110), 7, ms(10));
    assert_eq!(numbers(&drain(&mut sender, ms(110))), [(30, false), (31, true)]);
}

/// As above, where one segment is allowed and deferred. The last segment of a flow is not deferred, as
/// nothing would join it (`tcp_write_xmit` only asks for bursts).
#[test]
fn the_last_segment_does_not_wait() {
    for (segments, expected) in [(28, 2), (27, 3)] {
        let mut sender = sender_of(segments, offloaded());
        drain(&mut sender, ms(0));
        acknowledge(&mut sender, ms(100), 1, ms(0));
        drain(&mut sender, ms(100));
        acknowledge(&mut sender, ms(101), 2, ms(1));
        drain(&mut sender, ms(101));
        acknowledge(&mut sender, ms(101), 4, ms(1));
        assert_eq!(drain(&mut sender, ms(101)).len(), expected, "of {segments} segments");
    }
}

/// Without offload all segments are sent as the window allows, and none has PSH.
#[test]
fn without_offload_what_may_go_goes() {
    let mut sender = sender(TcpOptions::default());
    assert_eq!(drain(&mut sender, ms(0)).len(), 20);
    acknowledge(&mut sender, ms(100), 2, ms(0));
    acknowledge(&mut sender, ms(100), 4, ms(0));
    let sent = drain(&mut sender, ms(100));
    assert!(sent.len() == 6 && sent.iter().all(|segment| !segment.flags.psh), "{sent:?}");
}

/// 8.32 Mb/s are a packet of 1040 bytes per millisecond: two are sent at once, and the next two after 2 ms.
/// Below 1.2 Mb/s each is sent alone. The first ten segments are not paced, and a later pace does not change
/// the delay of data sent before (`tcp_update_skb_after_send`).
#[test]
fn a_pace_is_kept_from_burst_to_burst() {
    for (kbps, together, gap_ms) in [(8_320, 2, 2), (832, 1, 10)] {
        let recorder = Recorder::with_window(100 * MSS);
        recorder.set(|book| book.pace = Some(Rate::from_kbps(kbps)));
        let options = TcpOptions {
            segment_size: MSS as u32,
            recovery: Recovery::Sack,
            handshake: false,
            ..offloaded()
        };
        let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
        sender.push(Time::ZERO, 1000 * MSS);
        let first = drain(&mut sender, ms(0));
        assert_eq!(
            first.iter().map(|segment| u64::from(segment.payload + segment.header)).max(),
            Some(PACKET)
        );
        assert_eq!(first.len(), 10);
        assert_eq!(sender.poll_timeout(), Some(ms(gap_ms)));
        assert_eq!(drain(&mut sender, ms(gap_ms) - multihop_core::Span::from_us(1)).len(), 0);
        assert_eq!(drain(&mut sender, ms(gap_ms)).len(), together);
        recorder.set(|book| book.pace = Some(Rate::from_kbps(10 * kbps)));
        assert_eq!(sender.poll_timeout(), Some(ms(2 * gap_ms)));
    }
}

/// At the same pace, the second burst is sent at 3 ms, 1 ms late, and the third one 1 ms earlier than 2 ms
/// after it. A sender without offload does not catch up.
#[test]
fn a_burst_that_leaves_late_has_the_next_one_sooner() {
    for (segmentation_offload, first, together) in [(true, 10, 2), (false, 1, 1)] {
        let recorder = Recorder::with_window(100 * MSS);
        recorder.set(|book| book.pace = Some(Rate::from_kbps(8_320)));
        let options = TcpOptions { segment_size: MSS as u32, handshake: false, ..TcpOptions::default() };
        let options = TcpOptions { segmentation_offload, ..options };
        let mut sender = TcpSender::new(options, Box::new(recorder));
        sender.push(Time::ZERO, 1000 * MSS);
        assert_eq!(drain(&mut sender, ms(0)).len(), first);
        assert_eq!(drain(&mut sender, ms(3)).len(), together);
        assert_eq!(sender.poll_timeout(), Some(ms(4)));
    }
}

/// Without a known rate a burst has 64 KiB, but two bursts fit in a window: of 20 segments, ten are sent.
#[test]
fn a_burst_is_of_half_the_window_at_most() {
    let mut sender = sender(offloaded());
    let sent = numbers(&drain(&mut sender, ms(0)));
    let last: Vec<u64> = sent.iter().filter(|(_, psh)| *psh).map(|(number, _)| *number).collect();
    assert_eq!((sent.len(), last), (20, vec![9, 19]));
}

/// Five segments of an A-MPDU arrive together: one acknowledgement covers them, at the end of the instant.
#[test]
fn what_arrives_together_is_acknowledged_once() {
    for (receive_offload, expected) in [(false, vec![2, 4]), (true, vec![5])] {
        let mut receiver =
            TcpReceiver::new(TcpOptions { receive_offload, handshake: false, ..TcpOptions::default() });
        let mut acknowledged = Vec::new();
        let mut drain = |receiver: &mut TcpReceiver| {
            acknowledged.extend(receiver.poll_segment(ms(1)).map(|segment| segment.ack / MSS));
        };
        for number in 0..5 {
            let segment = Segment { seq: number * MSS, payload: MSS as u32, ..Segment::default() };
            receiver.on_segment(ms(1), &segment);
            drain(&mut receiver);
        }
        receiver.on_timeout(ms(1));
        drain(&mut receiver);
        assert_eq!(acknowledged, expected);
    }
}

/// Linux acknowledges segments with PSH at once, as the application has read everything, and those with CWR.
#[test]
fn a_segment_with_psh_or_cwr_is_acknowledged_at_once() {
    let options = |prompt_acks| TcpOptions { prompt_acks, handshake: false, ..TcpOptions::default() };
    for (psh, cwr) in [(false, false), (true, false), (false, true)] {
        for prompt in [false, true] {
            let mut receiver = TcpReceiver::new(options(prompt));
            let flags = Flags { ack: true, psh, cwr, ..Flags::default() };
            receiver.on_segment(ms(1), &Segment { payload: MSS as u32, flags, ..Segment::default() });
            let answers = receiver.poll_segment(ms(1)).is_some();
            assert_eq!(answers, prompt && (psh || cwr), "{psh} {cwr} {prompt}");
        }
    }
}
