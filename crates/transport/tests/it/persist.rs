//! Persist mode: TCP-ELFN, which freezes while its route is down, and ATCP, which also hides losses.

use multihop_core::{Flags, Segment, Span, Time};
use multihop_transport::{
    Endpoint, Recovery, Reno, RenoOptions, Standby, TcpOptions, TcpSender, WindowAfterFailure,
};

const MSS: u64 = 1000;
const NONE: [u64; 0] = [];

const ELFN: Standby = Standby {
    probe_interval: Span::from_ms(2_000),
    window: WindowAfterFailure::Unchanged,
    hides_losses: false,
};

const ATCP: Standby = Standby { window: WindowAfterFailure::OneSegment, hides_losses: true, ..ELFN };

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// An open connection with a window of eight segments, all of which were sent at time 0, and a smoothed
/// round trip of 100 ms.
fn eight_outstanding(standby: Option<Standby>, recovery: Recovery) -> TcpSender {
    let options = TcpOptions {
        segment_size: MSS as u32,
        recovery,
        handshake: false,
        limited_transmit: false,
        window: 100,
        ecn: true,
        standby,
        ..TcpOptions::default()
    };
    let reno = RenoOptions {
        initial_window: Some(8),
        initial_threshold: Some(8),
        ..RenoOptions::rfc(MSS as u32, 100 * MSS)
    };
    let mut sender = TcpSender::new(options, Box::new(Reno::new(reno)));
    sender.push(Time::ZERO, 500 * MSS);
    assert_eq!(drain(&mut sender, Time::ZERO), [0, 1, 2, 3, 4, 5, 6, 7]);
    sender
}

fn drain(sender: &mut TcpSender, now: Time) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_segment(now)).map(|segment| segment.seq / MSS).collect()
}

/// An acknowledgement of this many segments, with or without ECN-Echo. Returns the segments that it releases.
fn acknowledged(sender: &mut TcpSender, now: Time, segments: u64, ece: bool) -> Vec<u64> {
    let flags = Flags { ack: true, ece, ..Flags::default() };
    sender.on_segment(now, &Segment { ack: segments * MSS, flags, window: 100 * MSS, ..Segment::default() });
    drain(sender, now)
}

/// Runs the sender's timer up to `until`. Returns when it sent which segments.
fn sent_until(sender: &mut TcpSender, until: Time) -> Vec<(u64, u64)> {
    let mut sent = Vec::new();
    while let Some(at) = sender.poll_timeout().filter(|at| *at <= until) {
        sender.on_timeout(at);
        let segments = drain(sender, at);
        sent.extend(segments.into_iter().map(|segment| (at.ns() / 1_000_000, segment)));
    }
    sent
}

fn window(sender: &TcpSender) -> u64 {
    sender.progress().window.unwrap() / MSS
}

/// An outage of 5 s from 0.1 s on. Without a notice the timeout of 1 s doubles at 1, 3 and 7 s; with one the
/// head is sent every two seconds, nothing is counted as a timeout, and the window stays.
#[test]
fn an_outage_of_five_seconds_neither_backs_off_nor_closes_the_window() {
    let mut plain = eight_outstanding(None, Recovery::NewReno);
    assert!(!plain.follows_routes() && !plain.on_route_failed(ms(100)));
    assert_eq!(sent_until(&mut plain, ms(8_000)), [(1_000, 0), (3_000, 0), (7_000, 0)]);
    assert_eq!((plain.progress().timeouts, window(&plain)), (3, 1));
    assert_eq!(plain.poll_timeout(), Some(ms(15_000)), "8 s: doubled three times");

    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let mut elfn = eight_outstanding(Some(ELFN), recovery);
        assert!(elfn.follows_routes() && elfn.on_route_failed(ms(100)));
        assert_eq!(drain(&mut elfn, ms(100)), NONE, "{recovery:?}");
        assert_eq!(sent_until(&mut elfn, ms(5_100)), [(2_100, 0), (4_100, 0)], "{recovery:?}");
        assert_eq!((elfn.progress().timeouts, window(&elfn)), (0, 8), "{recovery:?}");
        // The route is back, and the third probe arrives.
        assert_eq!(sent_until(&mut elfn, ms(6_100)), [(6_100, 0)]);
        acknowledged(&mut elfn, ms(6_200), 1, false);
        assert_eq!(elfn.progress().timeouts, 0);
        assert!(elfn.poll_timeout().unwrap() <= ms(7_200), "{recovery:?}: the timeout is 1 s as before");
    }
}

/// The acknowledgement of the probe releases one segment, as the window is full again.
#[test]
fn an_acknowledgement_resumes_with_the_old_window_and_timeout() {
    let mut elfn = eight_outstanding(Some(ELFN), Recovery::NewReno);
    elfn.on_route_failed(ms(100));
    sent_until(&mut elfn, ms(2_100));
    assert_eq!(acknowledged(&mut elfn, ms(2_200), 1, false), [8]);
    assert_eq!((window(&elfn), elfn.poll_timeout()), (8, Some(ms(3_200))));
    assert_eq!(elfn.progress().srtt, None, "the outage is no round trip");
    // From here on the sender is plain TCP: its timer expires and backs off.
    assert_eq!(sent_until(&mut elfn, ms(3_200)), [(3_200, 1)]);
    assert_eq!((elfn.progress().timeouts, elfn.poll_timeout()), (1, Some(ms(5_200))));
}

/// A repeated notice does not postpone the next probe. Without outstanding data a notice changes nothing.
#[test]
fn a_repeated_notice_and_one_without_outstanding_data_change_nothing() {
    let mut elfn = eight_outstanding(Some(ELFN), Recovery::NewReno);
    assert!(elfn.on_route_failed(ms(100)));
    assert!(!elfn.on_route_failed(ms(1_900)));
    assert_eq!(elfn.poll_timeout(), Some(ms(2_100)));

    let options = TcpOptions { handshake: false, standby: Some(ELFN), ..TcpOptions::default() };
    let mut idle = TcpSender::new(options, Box::new(Reno::new(RenoOptions::rfc(1460, 65_535))));
    assert!(!idle.on_route_failed(ms(100)));
    assert_eq!(idle.poll_timeout(), None);
}

/// Before the connection is open there is nothing to freeze: the SYN backs off as usual.
#[test]
fn a_connection_that_is_not_open_backs_off() {
    let options = TcpOptions { standby: Some(ELFN), ..TcpOptions::default() };
    let mut opening = TcpSender::new(options, Box::new(Reno::new(RenoOptions::rfc(1460, 65_535))));
    opening.push(ms(0), 1_000);
    assert!(opening.poll_segment(ms(0)).unwrap().flags.syn);
    assert!(!opening.on_route_failed(ms(100)));
    opening.on_timeout(ms(1_000));
    assert!(opening.poll_segment(ms(1_000)).unwrap().flags.syn);
    assert_eq!(opening.poll_timeout(), Some(ms(3_000)));
}

/// Normal to loss by duplicates: the head alone is repeated, the window stays, and new data returns to
/// normal.
#[test]
fn atcp_hides_duplicates_without_a_mark() {
    let mut atcp = eight_outstanding(Some(ATCP), Recovery::NewReno);
    assert_eq!(acknowledged(&mut atcp, ms(100), 1, false), [8]);
    for at in [110, 120] {
        assert_eq!(acknowledged(&mut atcp, ms(at), 1, false), NONE);
    }
    assert_eq!(acknowledged(&mut atcp, ms(130), 1, false), [1], "the third duplicate");
    assert_eq!(acknowledged(&mut atcp, ms(140), 1, false), NONE, "TCP does not see further duplicates");
    assert_eq!(atcp.poll_timeout(), Some(ms(1_130)), "the layer's own timer");
    assert_eq!(sent_until(&mut atcp, ms(2_130)), [(1_130, 1), (2_130, 1)], "without back-off");
    let progress = atcp.progress();
    assert_eq!((progress.timeouts, progress.recoveries, window(&atcp)), (0, 0, 8));
    // A whole window is acknowledged, which opens it by a segment.
    assert_eq!(acknowledged(&mut atcp, ms(2_200), 9, false), [9, 10, 11, 12, 13, 14, 15, 16, 17]);
}

/// Normal to loss by the timer: all outstanding data is repeated. Duplicates that these repetitions cause are
/// no loss; later ones are.
#[test]
fn atcp_hides_the_timer_and_repeats_all_outstanding_data() {
    let mut atcp = eight_outstanding(Some(ATCP), Recovery::NewReno);
    let all: Vec<(u64, u64)> = (0..8).map(|segment| (1_000, segment)).collect();
    assert_eq!(sent_until(&mut atcp, ms(1_000)), all);
    assert_eq!((atcp.progress().timeouts, window(&atcp), atcp.poll_timeout()), (0, 8, Some(ms(2_000))));
    assert_eq!(acknowledged(&mut atcp, ms(1_100), 8, false).len(), 9, "a window, and one more");
    for at in 1_101..1_108 {
        assert_eq!(acknowledged(&mut atcp, ms(at), 8, false), NONE, "a duplicate of a repetition");
    }
    assert_eq!(acknowledged(&mut atcp, ms(1_200), 9, false).len(), 1);
    for at in [1_210, 1_220] {
        assert_eq!(acknowledged(&mut atcp, ms(at), 9, false), NONE);
    }
    assert_eq!(acknowledged(&mut atcp, ms(1_230), 9, false), [9]);
    assert_eq!((atcp.progress().recoveries, window(&atcp)), (0, 9));
}

/// Congested: TCP halves, and also acts on duplicates, until it sends new data.
#[test]
fn atcp_leaves_a_marked_connection_to_tcp() {
    let mut atcp = eight_outstanding(Some(ATCP), Recovery::NewReno);
    assert_eq!(acknowledged(&mut atcp, ms(100), 1, true), NONE, "seven outstanding, a window of four");
    assert_eq!((window(&atcp), atcp.progress().ecn_reductions), (4, 1));
    for at in [110, 120, 130] {
        acknowledged(&mut atcp, ms(at), 1, true);
    }
    assert_eq!(atcp.progress().recoveries, 1, "fast recovery of TCP itself");

    let mut timed = eight_outstanding(Some(ATCP), Recovery::NewReno);
    acknowledged(&mut timed, ms(100), 1, true);
    let at = timed.poll_timeout().unwrap();
    sent_until(&mut timed, at);
    assert_eq!((timed.progress().timeouts, window(&timed)), (1, 1), "the timer is TCP's own");

    let mut normal = eight_outstanding(Some(ATCP), Recovery::NewReno);
    acknowledged(&mut normal, ms(100), 1, true);
    assert_eq!(acknowledged(&mut normal, ms(200), 5, false), [8, 9], "new data: normal again");
    for at in [210, 220, 230] {
        acknowledged(&mut normal, ms(at), 5, false);
    }
    assert_eq!((normal.progress().recoveries, window(&normal)), (0, 5), "the loss is hidden");
}

/// A mark while a loss is repaired: TCP acts on it.
#[test]
fn atcp_leaves_loss_for_congested_on_a_mark() {
    let mut atcp = eight_outstanding(Some(ATCP), Recovery::NewReno);
    for at in [100, 110, 120] {
        acknowledged(&mut atcp, ms(at), 0, false);
    }
    assert_eq!((window(&atcp), atcp.progress().ecn_reductions), (8, 0));
    acknowledged(&mut atcp, ms(130), 1, true);
    assert_eq!((window(&atcp), atcp.progress().ecn_reductions), (4, 1));
}

/// Disconnected, from normal or loss: one segment is the window, and the head is the probe. With the
/// acknowledgement of the probe slow start begins, up to the old threshold.
#[test]
fn atcp_reconnects_with_one_segment() {
    for from_loss in [false, true] {
        let mut atcp = eight_outstanding(Some(ATCP), Recovery::NewReno);
        if from_loss {
            sent_until(&mut atcp, ms(1_000));
        }
        let start = if from_loss { 1_000 } else { 0 };
        assert!(atcp.on_route_failed(ms(start + 100)));
        assert_eq!(window(&atcp), 1);
        let probes = sent_until(&mut atcp, ms(start + 5_100));
        assert_eq!(probes, [(start + 2_100, 0), (start + 4_100, 0)]);
        assert_eq!(acknowledged(&mut atcp, ms(start + 5_200), 1, false), [1, 2]);
        let progress = atcp.progress();
        assert_eq!((window(&atcp), progress.timeouts), (2, 0));
        assert_eq!(progress.slow_start_threshold, Some(8 * MSS));
        assert_eq!(atcp.poll_timeout(), Some(ms(start + 6_200)), "1 s, as before");
        assert_eq!(acknowledged(&mut atcp, ms(start + 5_300), 2, false), [3, 4]);
    }
}
