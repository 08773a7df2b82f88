//! A sender that limits its data in its own node.

use multihop_core::{Flags, Segment, Span, Time};
use multihop_transport::{Endpoint, Recovery, Reno, RenoOptions, TcpOptions, TcpSender};

pub const MSS: u64 = 1000;
/// Packet size with 40 bytes of headers.
pub const PACKET: u64 = 1040;

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A window of 20 segments, and a limit on data in the node.
pub fn sender(queues: TcpOptions) -> TcpSender {
    sender_of(1000, queues)
}

/// The same sender with `segments` segments to send.
pub fn sender_of(segments: u64, queues: TcpOptions) -> TcpSender {
    let options = TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::Sack,
        handshake: false,
        timestamps: true,
        header: 28,
        window: 100,
        ..queues
    };
    let reno = RenoOptions { initial_window: Some(20), ..RenoOptions::rfc(MSS as u32, 100 * MSS) };
    let mut sender = TcpSender::new(options, Box::new(Reno::new(reno)));
    sender.push(Time::ZERO, segments * MSS);
    sender
}

pub fn drain(sender: &mut TcpSender, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| sender.poll_segment(now)).collect()
}

pub fn acknowledge(sender: &mut TcpSender, now: Time, segments: u64, sent: Time) {
    let flags = Flags { ack: true, ..Flags::default() };
    let (ack, echo) = (segments * MSS, Some(sent));
    sender.on_segment(now, &Segment { ack, flags, echo, window: 100 * MSS, ..Segment::default() });
}

/// Before the first round trip only the byte limit counts: a packet is sent while at most the limit is in the
/// node. Each departure releases one; meanwhile only the retransmission timer runs.
#[test]
fn no_more_waits_below_than_is_allowed() {
    let mut sender = sender(TcpOptions {
        pacing_shift: Some(10),
        output_limit: 5 * PACKET as u32,
        ..TcpOptions::default()
    });
    assert!(sender.follows_departures());
    let sent = drain(&mut sender, ms(0));
    assert_eq!(sent.len(), 6, "the sixth goes while five wait");
    assert_eq!(sender.poll_timeout(), Some(ms(1_000)));
    assert!(sender.on_departed(ms(1), &sent[0]));
    assert_eq!(drain(&mut sender, ms(1)).iter().map(|segment| segment.seq).collect::<Vec<_>>(), [6 * MSS]);
    for segment in &sent[1..4] {
        assert!(sender.on_departed(ms(2), segment));
    }
    assert_eq!(drain(&mut sender, ms(2)).len(), 3);
    let plain = Segment { payload: 0, header: 40, ..sent[4] };
    assert!(!sender.on_departed(ms(3), &plain), "an acknowledgement was not counted");
    assert_eq!(drain(&mut sender, ms(3)), []);
}

/// A round trip of 10 ms: 21 segments of 1000 bytes, at twice the window per round trip in slow start, are
/// 4.2 MB/s, and 16,406 bytes in 1/256 s: slightly more than 15 packets of 1040, so that the 16th is sent.
#[test]
fn what_is_allowed_is_a_time_at_the_rate() {
    let mut sender = sender(TcpOptions { pacing_shift: Some(8), ..TcpOptions::default() });
    let sent = drain(&mut sender, ms(0));
    assert_eq!(sent.len(), 20, "no round trip is known, and the limit is far");
    for segment in &sent {
        assert!(sender.on_departed(ms(5), segment));
    }
    acknowledge(&mut sender, ms(10), 1, ms(0));
    assert_eq!(drain(&mut sender, ms(10)).len(), 2, "the window binds, all else is acknowledged later");
    acknowledge(&mut sender, ms(10), 20, ms(0));
    let burst = drain(&mut sender, ms(10)).len() as u64;
    let window = sender.progress().window.unwrap();
    let allowed = 2 * window * 1000 / 10 / 256;
    assert_eq!(burst + 2, allowed / PACKET + 1, "{window}");
}

/// Linux always allows data while at most one segment is outstanding, whatever is in the node: departures may
/// be reported late.
#[test]
fn a_segment_may_always_go() {
    let mut sender = sender(TcpOptions { pacing_shift: Some(20), output_limit: 1, ..TcpOptions::default() });
    assert_eq!(
        drain(&mut sender, ms(0)).len(),
        2,
        "limit below a packet: the first, and the second while only that is out"
    );
    acknowledge(&mut sender, ms(10), 2, ms(0));
    assert_eq!(drain(&mut sender, ms(10)).len(), 2, "all that waits below has been acknowledged");
}

/// 20 segments in 10 ms, doubled in slow start: one per 238.1 us. Headers do not count, as in Linux the rate
/// is that of payload. Without pacing, all are sent at once.
#[test]
fn a_window_can_be_paced() {
    let mut sender = sender(TcpOptions { window_pacing: true, ..TcpOptions::default() });
    assert!(!sender.follows_departures());
    assert_eq!(drain(&mut sender, ms(0)).len(), 20, "there is no round trip yet");
    acknowledge(&mut sender, ms(10), 20, ms(0));
    let mut now = ms(10);
    let mut gaps = Vec::new();
    for _ in 0..5 {
        assert_eq!(drain(&mut sender, now).len(), 1);
        let next = sender.poll_timeout().expect("the next one is due");
        gaps.push(next.since(now).ns());
        now = next;
    }
    let window = sender.progress().window.unwrap();
    let expected = MSS * 10_000_000 / (2 * window);
    assert!(gaps.iter().all(|gap| gap.abs_diff(expected) <= expected / 100), "{gaps:?}, not {expected}");
}
