//! Loss recovery by time, as timelines: a round trip of 100 ms, segments of 1000 bytes. Test names carry the
//! clause.

use crate::pipe::{Path, Pipe};
use multihop_core::{Segment, Span, Time};
use multihop_transport::{
    Bbr, BbrOptions, Controller, Flavour, Progress, Recovery, Reno, RenoOptions, TcpOptions, TcpReceiver,
    TcpSender,
};
use std::collections::BTreeMap;

const MSS: u64 = 1_000;
const DELAY: Span = Span::from_ms(50);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn number(segment: &Segment) -> u64 {
    segment.seq / MSS + 1
}

/// Loses or delays transmissions of segments, which are counted from 1.
#[derive(Default)]
struct Script {
    /// Number of transmissions of a segment that are still to be lost.
    lost: BTreeMap<u64, u32>,
    /// Further delay of the first transmission of a segment.
    late: BTreeMap<u64, Span>,
    /// Interval in which acknowledgements are held until its end.
    held: Option<(Time, Time)>,
}

impl Path for Script {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let mut delay = DELAY;
        if to_receiver && segment.payload > 0 {
            if let Some(left) = self.lost.get_mut(&number(segment)).filter(|left| **left > 0) {
                *left -= 1;
                return;
            }
            delay += self.late.remove(&number(segment)).unwrap_or(Span::ZERO);
        }
        if let Some((from, until)) = self.held
            && !to_receiver
            && now >= from
            && now < until
        {
            delay += until.since(now);
        }
        copies.push(delay);
    }
}

fn options() -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        handshake: false,
        window: 1_000,
        delayed_ack: None,
        host_delay: None,
        compressed_acks: false,
        segmentation_offload: false,
        receive_offload: false,
        ..TcpOptions::of(Flavour::Linux, Recovery::Rack)
    }
}

/// A connection with a window of `window` segments, in congestion avoidance.
fn connection(window: u32, script: Script) -> Pipe<Script> {
    let reno = RenoOptions {
        initial_window: Some(window),
        initial_threshold: Some(window),
        ..RenoOptions::of(Flavour::Linux, MSS as u32, 1_000 * MSS)
    };
    with(Box::new(Reno::new(reno)), script)
}

fn with(control: Box<dyn Controller>, script: Script) -> Pipe<Script> {
    let sender = TcpSender::new(options(), control);
    let receiver = TcpReceiver::new(options());
    Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, script)
}

fn losing(lost: &[(u64, u32)]) -> Script {
    Script { lost: lost.iter().copied().collect(), ..Script::default() }
}

fn retransmitted(pipe: &Pipe<Script>) -> Vec<(Time, u64)> {
    pipe.log.iter().filter(|(_, s)| s.retransmission).map(|(at, s)| (*at, number(s))).collect()
}

fn progress(pipe: &Pipe<Script>) -> Progress {
    pipe.sender.progress()
}

/// Segment 3 is lost, and so is its retransmission. Data sent after the retransmission is acknowledged a
/// round trip later, which shows the second loss; recovery from counts of acknowledgements waits for the
/// timer.
#[test]
fn rfc_8985_6_2_a_lost_retransmission_is_sent_again() {
    let mut pipe = connection(10, losing(&[(3, 2)]));
    pipe.push(1_000 * MSS);
    pipe.run_until(ms(350));
    assert_eq!(retransmitted(&pipe), [(ms(100), 3), (ms(200), 3)]);
    assert_eq!((progress(&pipe).timeouts, progress(&pipe).recoveries), (0, 1));
}

/// The last of ten segments is lost: nothing after it is acknowledged. It is sent as a probe when the timer
/// would expire, 300 ms after the last acknowledgement, as a single segment may wait for a delayed
/// acknowledgement.
#[test]
fn rfc_8985_7_the_tail_is_probed() {
    let mut pipe = connection(10, losing(&[(10, 1)]));
    pipe.push(10 * MSS);
    assert!(!pipe.run_until(ms(5_000)));
    assert_eq!(retransmitted(&pipe), [(ms(400), 10)]);
    assert_eq!((pipe.delivered, progress(&pipe).timeouts), (10 * MSS, 0));
}

/// The last three are lost: the probe of the last one is acknowledged selectively, which shows the other
/// losses.
#[test]
fn rfc_8985_7_a_probe_begins_recovery() {
    let mut pipe = connection(10, losing(&[(8, 1), (9, 1), (10, 1)]));
    pipe.push(10 * MSS);
    assert!(!pipe.run_until(ms(5_000)));
    assert_eq!(retransmitted(&pipe)[0], (ms(302), 10));
    assert_eq!((pipe.delivered, progress(&pipe).timeouts, progress(&pipe).recoveries), (10 * MSS, 0, 1));
    assert_eq!(progress(&pipe).retransmissions, 3);
}

/// A segment that arrives 20 ms late is within the reordering window of a quarter round trip if fewer than
/// three segments pass it, and is not retransmitted.
#[test]
fn rfc_8985_6_2_slight_reordering_is_no_loss() {
    for (late, expected) in [(20, 0), (40, 1)] {
        let script = Script { late: BTreeMap::from([(9, Span::from_ms(late))]), ..Script::default() };
        let mut pipe = connection(10, script);
        pipe.push(10 * MSS);
        pipe.run_until(ms(5_000));
        assert_eq!(progress(&pipe).retransmissions, expected, "{late} ms");
    }
}

/// Segment 3 is late by more than the reordering window. Its original answers with an earlier timestamp than
/// the retransmission's, so that the reduction is undone.
#[test]
fn rfc_3522_a_reduction_by_reordering_is_undone() {
    let script = Script { late: BTreeMap::from([(3, Span::from_ms(30))]), ..Script::default() };
    let mut pipe = connection(10, script);
    pipe.push(1_000 * MSS);
    pipe.run_until(ms(120));
    assert_eq!(progress(&pipe).slow_start_threshold, Some(5 * MSS), "halved");
    pipe.run_until(ms(220));
    let progress = progress(&pipe);
    assert_eq!((progress.recoveries, progress.retransmissions), (1, 1));
    assert!(progress.slow_start_threshold >= Some(10 * MSS), "{progress:?}");
    assert!(progress.window >= Some(10 * MSS), "{progress:?}");
}

/// Acknowledgements are held for 700 ms: the timer expires, though nothing is lost. The acknowledgement of
/// the original data shows it, and nothing but the first segment is retransmitted.
#[test]
fn rfc_5682_a_spurious_timeout_is_undone() {
    let script = Script { held: Some((ms(150), ms(850))), ..Script::default() };
    let mut pipe = connection(10, script);
    pipe.push(40 * MSS);
    pipe.run_until(ms(880));
    assert!(progress(&pipe).timeouts >= 1, "{:?}", progress(&pipe));
    pipe.run_until(ms(5_000));
    let progress = progress(&pipe);
    assert!(progress.retransmissions <= 3, "{progress:?}");
    assert!(progress.window >= Some(10 * MSS), "{progress:?}");
    assert_eq!(pipe.delivered, 40 * MSS);
}

/// All of a window but its first segment is lost: a probe, then slow start from what is lost.
#[test]
fn a_lost_window_is_repaired() {
    let lost: Vec<(u64, u32)> = (2..=20).map(|segment| (segment, 1)).collect();
    let mut pipe = connection(20, losing(&lost));
    pipe.push(100 * MSS);
    assert!(!pipe.run_until(ms(20_000)));
    assert_eq!(pipe.delivered, 100 * MSS);
    assert_eq!(progress(&pipe).retransmissions, 19);
}

/// One of 20 segments is lost: during recovery every second acknowledgement releases a segment, and the
/// window is half of what it was.
#[test]
fn rfc_9937_the_window_is_reduced_evenly() {
    let mut pipe = connection(20, losing(&[(1, 1)]));
    pipe.push(1_000 * MSS);
    pipe.run_until(ms(100));
    let sent = pipe.log.iter().filter(|(at, segment)| *at == ms(100) && !segment.retransmission).count();
    assert!((7..=10).contains(&sent), "{sent} of 19 acknowledgements release a segment");
    pipe.run_until(ms(250));
    assert_eq!(progress(&pipe).slow_start_threshold, Some(10 * MSS));
    // One segment more in the round trip after recovery.
    assert_eq!(progress(&pipe).window.map(|window| window / MSS), Some(11));
}

/// Random losses of data: every byte arrives, with few timeouts; the controller may be one that sets its own
/// window in recovery.
#[test]
fn random_losses_are_repaired() {
    let mut rng = multihop_core::Rng::at(5, &["rack"]);
    for round in 0..40 {
        let one_in = 3 + rng.below(30);
        let times = (1..=400).map(|segment| {
            let times = if rng.below(one_in) == 0 { 1 + rng.below(3) } else { 0 };
            (segment, times)
        });
        let script = Script { lost: times.collect(), ..Script::default() };
        let control: Box<dyn Controller> = if round % 2 == 0 {
            Box::new(Reno::new(RenoOptions::of(Flavour::Linux, MSS as u32, 1_000 * MSS)))
        } else {
            Box::new(Bbr::new(BbrOptions::draft(MSS as u32, 10 * MSS)))
        };
        let sender = TcpSender::new(TcpOptions { delivery_rate: true, ..options() }, control);
        let receiver = TcpReceiver::new(options());
        let mut pipe = Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, script);
        pipe.push(400 * MSS);
        assert!(!pipe.run_until(ms(600_000)), "{:?}", pipe.sender.progress());
        assert_eq!(pipe.delivered, 400 * MSS, "1 of {one_in}");
    }
}
