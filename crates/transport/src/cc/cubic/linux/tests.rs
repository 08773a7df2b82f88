//! CUBIC of Linux, by windows worked out from the functions of `net/ipv4/tcp_cubic.c` that the tests name.

use super::*;
use crate::{Flavour, RenoOptions};

const MSS: u64 = 1_000;
const RTT: Span = Span::from_ms(100);

fn seconds(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

fn lost(in_flight: u64) -> Lost {
    Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: in_flight * MSS }
}

fn cubic(window: u32, threshold: u32) -> LinuxCubic {
    let reno = RenoOptions {
        initial_window: Some(window),
        initial_threshold: Some(threshold),
        ..RenoOptions::of(Flavour::Linux, MSS as u32, 10_000 * MSS)
    };
    LinuxCubic::new(&CubicOptions::rfc(reno), false)
}

fn acked(now: Time, segments: u64) -> Acked {
    Acked { rtt: Some(RTT), srtt: Some(RTT), ..Acked::in_order(now, segments * MSS) }
}

/// Acknowledges one segment after the other at `now` until the window opens. Returns their number and the
/// window in segments.
fn opens_after(cubic: &mut LinuxCubic, now: Time) -> (u64, u64) {
    let before = window(cubic);
    for count in 1..100_000 {
        cubic.on_acked(&acked(now, 1));
        if window(cubic) > before {
            return (count, window(cubic));
        }
    }
    panic!("the window stays at {before}");
}

fn window(cubic: &LinuxCubic) -> u64 {
    cubic.allowance().window / MSS
}

fn threshold(cubic: &LinuxCubic) -> Option<u64> {
    cubic.slow_start_threshold().map(|bytes| bytes / MSS)
}

/// `bictcp_update`: before the first loss at least a segment per 20 acknowledged, 5 % per round trip.
#[test]
fn the_window_grows_by_a_twentieth_while_the_plateau_is_unknown() {
    let mut cubic = cubic(28, 28);
    assert_eq!(
        [0.1, 0.2, 0.3].map(|at| opens_after(&mut cubic, seconds(at))),
        [(20, 29), (20, 30), (20, 31)]
    );
}

/// `cubictcp_recalc_ssthresh`: 717/1024 of 100 is 70. `bictcp_update`: K is the cube root of
/// 2^40 / 410 * 30, 4317/1024 s. At 0 s the target is 100 - 410 * (4317 - 102)^3 / 2^40 = 73, with 102/1024 s
/// for the minimum round trip of 25 ticks: a segment per 70 / 3. At 2 s it is
/// 100 - 410 * (4317 - 2150)^3 / 2^40 = 97: per 71 / 26, at 5 s 100 + 410 * (5222 - 4317)^3 / 2^40 = 100.
#[test]
fn the_count_follows_the_cubic_function_in_whole_segments() {
    let mut cubic = cubic(100, 100);
    cubic.on_acked(&acked(seconds(0.0), 1));
    cubic.on_lost(&lost(100));
    assert_eq!((window(&cubic), threshold(&cubic)), (70, Some(70)));
    assert_eq!(opens_after(&mut cubic, seconds(0.0)), (23, 71));
    assert_eq!(opens_after(&mut cubic, seconds(2.0)), (2, 72), "71 / 26");
    cubic.on_acked(&acked(seconds(5.0), 1));
    assert_eq!(opens_after(&mut cubic, seconds(5.0)), (1, 73), "72 / 28, at 4 s it was 2");
}

/// `bictcp_update`: while the window is the same, the count is that of up to 7 ticks (`HZ / 32`) before. At
/// 28 ms 23 acknowledgements open the window, as at 0 s. At 1 s the target is
/// 100 - 410 * (4317 - 1126)^3 / 2^40 = 88, which is 70 / 18: the one acknowledged before counts.
#[test]
fn the_count_stays_for_28_ms_while_the_window_does() {
    for (at, counted, acks) in [(0.028, 23, 22), (1.0, 3, 2)] {
        let mut cubic = cubic(100, 100);
        cubic.on_acked(&acked(seconds(0.0), 1));
        cubic.on_lost(&lost(100));
        cubic.on_acked(&acked(seconds(0.0), 1));
        assert_eq!(opens_after(&mut cubic, seconds(at)), (acks, 71));
        assert_eq!(cubic.count, counted);
    }
}

/// `bictcp_update`: 15/8 of 10 segments are 18, so that Reno's window is 11 with the 19th: per 10 / 1.
/// Without Reno it would be per 20.
#[test]
fn small_windows_follow_reno() {
    let mut cubic = cubic(10, 10);
    let mut ack = |number: u32| {
        cubic.on_acked(&acked(seconds(0.032 * f64::from(number)), 1));
        (cubic.count, window(&cubic))
    };
    assert_eq!((1..=18).map(&mut ack).last(), Some((20, 10)));
    assert_eq!(ack(19), (10, 11));
}

/// Fast convergence: 80 is below the plateau of 100, which becomes 80 * 1741 / 2048 = 68.
#[test]
fn a_window_below_the_plateau_lowers_it() {
    let mut cubic = cubic(100, 100);
    cubic.on_lost(&lost(100));
    cubic.reno.window = 80.0 * MSS as f64;
    cubic.on_lost(&lost(80));
    assert_eq!((cubic.plateau, window(&cubic)), (68, 56));
    cubic.on_marked(&Marked { now: Time::ZERO, in_flight: 56 * MSS });
    assert_eq!((cubic.plateau, window(&cubic)), (47, 39));
}

/// `bictcp_state`: a timeout forgets the plateau, the epoch and the minimum delay.
#[test]
fn after_a_timeout_the_plateau_is_unknown() {
    let mut cubic = cubic(40, 40);
    cubic.on_acked(&acked(seconds(0.0), 1));
    cubic.on_lost(&lost(40));
    cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(28) });
    assert_eq!((window(&cubic), threshold(&cubic)), (1, Some(19)));
    cubic.on_lost(&Lost { kind: LossKind::Timeout { again: true }, ..lost(1) });
    assert_eq!((window(&cubic), threshold(&cubic)), (1, Some(19)));
    cubic.on_acked(&acked(seconds(1.0), 18));
    assert_eq!((window(&cubic), cubic.plateau, cubic.least_delay), (19, 0, Some(RTT)));
    assert_eq!(opens_after(&mut cubic, seconds(1.0)), (20, 20));
}

/// `cubictcp_cwnd_event`: the time in which nothing was in flight does not count.
#[test]
fn a_silence_moves_the_epoch() {
    let mut cubic = cubic(100, 100);
    cubic.on_acked(&acked(seconds(0.0), 1));
    cubic.on_lost(&lost(100));
    cubic.on_acked(&acked(seconds(0.0), 1));
    let sent = |at: f64, in_flight| SentSegment {
        now: seconds(at),
        size: MSS,
        packet: MSS + 40,
        in_flight,
        retransmission: false,
        app_limited: false,
    };
    cubic.on_sent(&sent(1.0, 2 * MSS));
    cubic.on_sent(&sent(61.0, MSS));
    assert_eq!(cubic.epoch.unwrap().start, 60 * 250);
    cubic.on_sent(&sent(121.0, 2 * MSS));
    assert_eq!(cubic.epoch.unwrap().start, 60 * 250);
}

/// `cubictcp_acked`: the first second of an epoch gives no sample of the delay.
#[test]
fn delays_right_after_a_reduction_do_not_count() {
    let mut cubic = cubic(100, 100);
    let sample = |cubic: &mut LinuxCubic, at: f64, ms| {
        cubic.on_acked(&Acked { rtt: Some(Span::from_ms(ms)), ..acked(seconds(at), 1) });
        cubic.least_delay
    };
    assert_eq!(sample(&mut cubic, 0.0, 100), Some(Span::from_ms(100)));
    assert_eq!(sample(&mut cubic, 0.9, 50), Some(Span::from_ms(100)));
    assert_eq!(sample(&mut cubic, 1.0, 60), Some(Span::from_ms(60)));
}
