//! Losses, timers and echoes of whole connections, as timelines. Test names carry the clause.

use crate::pipe::{Path, Pipe};
use multihop_core::{Ecn, Rate, Segment, Span, Time};
use multihop_transport::{
    Acked, Allowance, Controller, ExitWindow, Lost, Progress, Recovery, Reno, RenoOptions, RtoOptions,
    SackedAtTimeout, TcpOptions, TcpReceiver, TcpSender,
};
use std::collections::BTreeSet;

const MSS: u64 = 1000;
/// One-way delay.
const DELAY: Span = Span::from_ms(50);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Loses the first transmission of the segments in `lost`, counted from 1, and every transmission of those in
/// `always`; marks those in `marked`.
#[derive(Default)]
struct Script {
    lost: BTreeSet<u64>,
    always: BTreeSet<u64>,
    marked: BTreeSet<u64>,
    syns_lost: u32,
    /// Acknowledgement numbers received with an echo, and the first segment with CWR.
    echoes: Vec<u64>,
    cwr: Option<u64>,
}

fn number(segment: &Segment) -> u64 {
    segment.seq / MSS + 1
}

impl Path for Script {
    fn carry(&mut self, _now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        if to_receiver && segment.flags.syn && self.syns_lost > 0 {
            self.syns_lost -= 1;
            return;
        }
        if segment.flags.ece && !segment.flags.syn {
            self.echoes.push(segment.ack);
        }
        if segment.flags.cwr && !segment.flags.syn {
            self.cwr = self.cwr.or(Some(segment.seq));
        }
        if segment.payload > 0 {
            if self.lost.remove(&number(segment)) || self.always.contains(&number(segment)) {
                return;
            }
            if segment.ecn == Ecn::Ect0 && self.marked.remove(&number(segment)) {
                segment.ecn = Ecn::CongestionExperienced;
            }
        }
        copies.push(DELAY);
    }
}

fn options(recovery: Recovery) -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        recovery,
        handshake: false,
        limited_transmit: false,
        delayed_ack: None,
        window: 100,
        ..TcpOptions::default()
    }
}

/// A connection with a window of `window` segments, in congestion avoidance.
fn connection(options: &TcpOptions, window: u32, script: Script) -> Pipe<Script> {
    let reno = RenoOptions {
        initial_window: Some(window),
        initial_threshold: Some(window),
        ..RenoOptions::rfc(MSS as u32, options.receive_window())
    };
    let sender = TcpSender::new(options.clone(), Box::new(Reno::new(reno)));
    let receiver = TcpReceiver::new(options.clone());
    Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, script)
}

fn losing(lost: &[u64]) -> Script {
    Script { lost: lost.iter().copied().collect(), ..Script::default() }
}

fn retransmitted(pipe: &Pipe<Script>) -> Vec<(Time, u64)> {
    pipe.log.iter().filter(|(_, s)| s.retransmission).map(|(at, s)| (*at, number(s))).collect()
}

fn progress(pipe: &Pipe<Script>) -> Progress {
    pipe.sender.progress()
}

#[test]
fn rfc_6582_3_2_three_losses_of_a_window_take_three_round_trips() {
    let mut pipe = connection(&options(Recovery::NewReno), 10, losing(&[3, 5, 7]));
    pipe.push(1000 * MSS);
    pipe.run_until(ms(399));
    assert_eq!(retransmitted(&pipe), [(ms(100), 3), (ms(200), 5), (ms(300), 7)]);
    pipe.run_until(ms(400));
    let progress = progress(&pipe);
    assert_eq!((progress.retransmissions, progress.recoveries, progress.timeouts), (3, 1, 0));
    // The window is 5, and grows by a fraction with each acknowledgement that arrives at the same instant.
    assert_eq!((progress.window.unwrap() / MSS, progress.slow_start_threshold), (5, Some(5 * MSS)));
}

/// The first new acknowledgement ends recovery; the second loss is within the window that was already
/// reduced.
#[test]
fn rfc_5681_3_2_renos_second_loss_of_a_window_waits_for_the_timer() {
    let mut pipe = connection(&options(Recovery::Reno), 10, losing(&[3, 5]));
    pipe.push(1000 * MSS);
    pipe.run_until(ms(1_200));
    assert_eq!(retransmitted(&pipe), [(ms(100), 3), (ms(1_200), 5)]);
    let progress = progress(&pipe);
    assert_eq!((progress.recoveries, progress.timeouts), (1, 1));
}

/// A single loss is repaired as by `NewReno`; then the window is the threshold.
#[test]
fn rfc_5681_3_2_renos_one_loss_takes_one_round_trip() {
    let mut pipe = connection(&options(Recovery::Reno), 10, losing(&[3]));
    pipe.push(1000 * MSS);
    pipe.run_until(ms(200));
    assert_eq!(retransmitted(&pipe), [(ms(100), 3)]);
    let progress = progress(&pipe);
    // The window is 5, and grows by a fraction with each acknowledgement that arrives at the same instant.
    assert_eq!((progress.window.unwrap() / MSS, progress.slow_start_threshold), (5, Some(5 * MSS)));
    assert_eq!((progress.recoveries, progress.timeouts), (1, 0));
}

#[test]
fn rfc_6675_5_three_losses_of_a_window_take_one_round_trip() {
    let mut pipe = connection(&options(Recovery::Sack), 10, losing(&[3, 5, 7]));
    pipe.push(1000 * MSS);
    pipe.run_until(ms(200));
    assert_eq!(retransmitted(&pipe), [(ms(100), 3), (ms(100), 5), (ms(100), 7)]);
    let progress = progress(&pipe);
    assert_eq!((progress.recoveries, progress.timeouts), (1, 0));
    assert_eq!((progress.window, progress.slow_start_threshold), (Some(5 * MSS), Some(5 * MSS)));
    assert!(progress.acked >= 10 * MSS);
}

/// All losses are known at once, but the pipe is limited to half the window: 10 of 20 segments were lost, so
/// that 10 remain.
#[test]
fn rfc_6675_5_step_c_the_pipe_paces_retransmissions() {
    let lost: Vec<u64> = (1..=10).collect();
    let mut pipe = connection(&options(Recovery::Sack), 20, losing(&lost));
    pipe.push(20 * MSS);
    pipe.run_until(ms(100));
    assert_eq!(retransmitted(&pipe).len(), 10);
    pipe.run_until(ms(1_000));
    assert_eq!((pipe.delivered, progress(&pipe).timeouts), (20 * MSS, 0));
}

#[test]
fn rfc_3042_2_the_first_two_duplicates_release_new_data() {
    for (recovery, limited_transmit, expected) in [
        (Recovery::NewReno, true, vec![5, 6]),
        (Recovery::NewReno, false, vec![]),
        (Recovery::Sack, true, vec![5, 6]),
        (Recovery::Sack, false, vec![]),
    ] {
        let options = TcpOptions { limited_transmit, ..options(recovery) };
        let mut pipe =
            connection(&options, 4, Script { always: BTreeSet::from([1, 4]), ..Script::default() });
        pipe.push(100 * MSS);
        pipe.run_until(ms(100));
        let fresh: Vec<u64> = pipe.log.iter().map(|(_, s)| number(s)).filter(|n| *n > 4).collect();
        assert_eq!(fresh, expected, "{recovery:?}");
    }
}

/// One hole is repaired per round trip: 15 losses take 1.5 s. The timer of 1 s, restarted only at 200 ms,
/// expires before.
#[test]
fn rfc_6582_4_only_the_first_partial_ack_restarts_the_timer() {
    let lost: Vec<u64> = (1..=15).collect();
    let mut pipe = connection(&options(Recovery::NewReno), 20, losing(&lost));
    pipe.push(20 * MSS);
    pipe.run_until(ms(1_199));
    assert_eq!((progress(&pipe).retransmissions, progress(&pipe).timeouts), (11, 0));
    pipe.run_until(ms(1_200));
    assert_eq!((progress(&pipe).timeouts, progress(&pipe).window), (1, Some(MSS)));
    pipe.run_until(ms(5_000));
    assert_eq!((pipe.delivered, progress(&pipe).timeouts, progress(&pipe).recoveries), (20 * MSS, 1, 1));
}

/// A retransmission is lost: "cwnd (and ssthresh) MUST be lowered twice" (RFC 5681, section 4.3). New data
/// was sent for every segment that was reported to have arrived, so that at the timeout far more than the
/// window is unacknowledged.
#[test]
fn rfc_5681_4_3_a_timeout_in_fast_recovery_lowers_the_threshold_again() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let script = Script { always: BTreeSet::from([1]), ..Script::default() };
        let mut pipe = connection(&options(recovery), 16, script);
        pipe.push(1000 * MSS);
        pipe.run_until(ms(1_099));
        let before = progress(&pipe);
        assert_eq!((before.timeouts, before.slow_start_threshold), (0, Some(8 * MSS)), "{recovery:?}");
        assert!(before.sent > 40 * MSS, "{recovery:?}: {before:?}");
        pipe.run_until(ms(1_100));
        let after = progress(&pipe);
        assert_eq!((after.timeouts, after.slow_start_threshold), (1, Some(4 * MSS)), "{recovery:?}");
    }
}

/// After a timeout all data below `recover` is retransmitted, and its duplicate acknowledgements start no
/// recovery.
#[test]
fn rfc_6582_3_2_duplicates_of_data_sent_before_a_timeout_start_no_recovery() {
    let mut pipe = connection(&options(Recovery::NewReno), 8, losing(&[1, 2, 3, 4, 5, 6]));
    pipe.push(30 * MSS);
    pipe.run_until(ms(999));
    assert_eq!(progress(&pipe).retransmissions, 0, "two duplicates are not enough");
    pipe.run_until(ms(20_000));
    let progress = progress(&pipe);
    assert_eq!((pipe.delivered, progress.timeouts, progress.recoveries), (30 * MSS, 1, 0));
    assert_eq!(progress.slow_start_threshold, Some(4 * MSS));
    // RTO 1 s (no sample yet); 1 again, then 2 and 3, then 4, 5, 6 and further data within the window.
    let first: Vec<(Time, u64)> = retransmitted(&pipe).into_iter().take(3).collect();
    assert_eq!(first, [(ms(1_000), 1), (ms(1_100), 2), (ms(1_100), 3)]);
}

#[test]
fn rfc_6675_5_1_after_a_timeout_what_is_sacked_is_not_sent_again() {
    for (rule, expected) in [(SackedAtTimeout::Forgotten, 6), (SackedAtTimeout::SentAgain, 8)] {
        let options = TcpOptions { keep_sacked: rule, ..options(Recovery::Sack) };
        // 3 and 5 arrived; two duplicates do not suffice, so that the timer expires, and the next ACK reports
        // them again.
        let mut pipe = connection(&options, 8, losing(&[1, 2, 4, 6, 7, 8]));
        pipe.push(8 * MSS);
        pipe.run_until(ms(20_000));
        assert_eq!((pipe.delivered, progress(&pipe).timeouts), (8 * MSS, 1));
        assert_eq!(retransmitted(&pipe).len(), expected, "{:?}", retransmitted(&pipe));
    }
}

/// Every second one of 16 segments is lost, and the timer expires. An acknowledgement has room for three
/// blocks: data that it does not report again is retransmitted, unless the scoreboard was kept.
#[test]
fn rfc_6675_5_1_what_is_sacked_may_be_kept_across_a_timeout() {
    let sent_again = |rule| {
        let options = TcpOptions { keep_sacked: rule, duplicate_threshold: 100, ..options(Recovery::Sack) };
        let mut pipe = connection(&options, 16, losing(&[1, 3, 5, 7, 9, 11, 13, 15]));
        pipe.push(16 * MSS);
        pipe.run_until(ms(20_000));
        assert_eq!((pipe.delivered, progress(&pipe).timeouts), (16 * MSS, 1), "{rule:?}");
        retransmitted(&pipe).len()
    };
    assert_eq!(sent_again(SackedAtTimeout::Kept), 8);
    assert!(sent_again(SackedAtTimeout::Forgotten) > 8);
}

#[test]
fn rfc_6298_5_5_each_expiry_doubles_and_rfc_5681_3_1_halves_once() {
    let script = Script { always: BTreeSet::from([1]), ..Script::default() };
    let mut pipe = connection(&options(Recovery::NewReno), 10, script);
    pipe.push(MSS);
    pipe.run_until(ms(8_000));
    let times: Vec<Time> = retransmitted(&pipe).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [ms(1_000), ms(3_000), ms(7_000)]);
    assert_eq!(progress(&pipe).slow_start_threshold, Some(2 * MSS));
    pipe.path.always.clear();
    pipe.run_until(ms(60_000));
    assert_eq!(
        (pipe.delivered, progress(&pipe).rtt_samples),
        (MSS, 0),
        "Karn: no sample of what was sent twice"
    );
    pipe.push(MSS);
    pipe.run_until(ms(100_000));
    assert_eq!((progress(&pipe).rtt, progress(&pipe).rtt_samples), (Some(Span::from_ms(100)), 1));
}

#[test]
fn rfc_7323_timestamps_sample_even_retransmissions() {
    let options = TcpOptions { timestamps: true, ..options(Recovery::NewReno) };
    let mut pipe = connection(&options, 10, losing(&[1]));
    pipe.push(MSS);
    pipe.run_until(ms(10_000));
    assert_eq!((progress(&pipe).timeouts, progress(&pipe).rtt), (1, Some(Span::from_ms(100))));
    assert_eq!(pipe.log[0].1.header, 52);
}

#[test]
fn rfc_9293_3_5_the_connection_opens_with_a_syn_that_is_repeated() {
    let options = TcpOptions { handshake: true, ..options(Recovery::NewReno) };
    let mut pipe = connection(&options, 4, Script { syns_lost: 2, ..Script::default() });
    assert_eq!(pipe.sender.poll_segment(ms(0)), None, "nothing before the first push");
    pipe.push(10 * MSS);
    pipe.run_until(ms(3_000));
    let syns: Vec<Time> =
        pipe.log.iter().filter(|(_, s)| s.flags.syn && s.payload == 0).map(|(at, _)| *at).collect();
    assert_eq!(syns, [ms(0), ms(1_000), ms(3_000)]);
    // RFC 5681, section 3.1: after a lost SYN the initial window is one segment.
    pipe.run_until(ms(3_100));
    assert_eq!(progress(&pipe).sent, MSS);
    pipe.run_until(ms(10_000));
    assert_eq!(pipe.delivered, 10 * MSS);
}

#[test]
fn rfc_9293_3_5_a_syn_gives_the_first_round_trip_sample() {
    let options = TcpOptions { handshake: true, ..options(Recovery::NewReno) };
    let mut pipe = connection(&options, 4, Script::default());
    pipe.push(MSS / 2);
    pipe.run_until(ms(100));
    assert_eq!((progress(&pipe).rtt, progress(&pipe).rtt_samples), (Some(Span::from_ms(100)), 1));
    assert_eq!(pipe.log.len(), 2, "the data acknowledges the SYN-ACK");
    assert_eq!(
        (pipe.log[1].1.payload, pipe.log[1].1.header),
        (500, 40),
        "no Nagle: a short segment goes at once"
    );
}

#[test]
fn rfc_3168_6_1_2_one_reduction_per_window() {
    let options = TcpOptions { ecn: true, handshake: true, ..options(Recovery::NewReno) };
    let mut pipe =
        connection(&options, 10, Script { marked: BTreeSet::from([2, 4, 6]), ..Script::default() });
    pipe.push(1000 * MSS);
    pipe.run_until(ms(2_000));
    let progress = progress(&pipe);
    assert_eq!((progress.ecn_reductions, progress.retransmissions, progress.recoveries), (1, 0, 0));
    assert_eq!(progress.slow_start_threshold, Some(5 * MSS));
    let cwr = pipe.path.cwr.unwrap();
    assert!(
        pipe.path.echoes.iter().all(|ack| *ack <= cwr),
        "an echo after the first segment with CWR arrived"
    );
    assert!(pipe.path.echoes.len() >= 9);
    let with_cwr = pipe.log.iter().filter(|(_, s)| s.flags.cwr && s.payload > 0).count();
    assert_eq!(with_cwr, 1);
}

#[test]
fn rfc_3168_6_1_5_retransmissions_are_not_ecn_capable() {
    for (everywhere, expected) in [(false, Ecn::NotCapable), (true, Ecn::Ect0)] {
        let options =
            TcpOptions { ecn: true, ecn_on_retransmissions: everywhere, ..options(Recovery::NewReno) };
        let mut pipe = connection(&options, 10, losing(&[3]));
        pipe.push(20 * MSS);
        pipe.run_until(ms(1_000));
        assert!(pipe.log.iter().all(|(_, s)| s.ecn == if s.retransmission { expected } else { Ecn::Ect0 }));
        assert_eq!(progress(&pipe).retransmissions, 1);
    }
}

/// A mark and a loss in one window: the loss is repaired, and the window is reduced once.
#[test]
fn rfc_3168_6_1_2_a_loss_after_an_echo_cuts_no_second_time() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let options = TcpOptions { ecn: true, ..options(recovery) };
        let script = Script { marked: BTreeSet::from([1]), ..losing(&[3]) };
        let mut pipe = connection(&options, 10, script);
        pipe.push(1000 * MSS);
        pipe.run_until(ms(250));
        let progress = progress(&pipe);
        assert_eq!((progress.ecn_reductions, progress.recoveries, progress.retransmissions), (1, 1, 1));
        assert_eq!(progress.slow_start_threshold, Some(5 * MSS), "{recovery:?}");
    }
}

/// With a window of one segment and an echo, the next segment waits for the timer: 1 s after the
/// acknowledgement at 100 ms. A second echo in a row doubles the timer in ns-2.
#[test]
fn rfc_3168_6_1_2_an_echo_at_one_segment_waits_for_the_timer() {
    for (echo_backs_off, third) in [(false, ms(2_200)), (true, ms(3_200))] {
        let options = TcpOptions { ecn: true, echo_backs_off, ..options(Recovery::NewReno) };
        let mut pipe =
            connection(&options, 1, Script { marked: BTreeSet::from([1, 2]), ..Script::default() });
        pipe.push(10 * MSS);
        pipe.run_until(ms(6_000));
        let sent: Vec<(Time, u64)> = pipe.log.iter().take(3).map(|(at, s)| (*at, number(s))).collect();
        assert_eq!(sent, [(ms(0), 1), (ms(1_100), 2), (third, 3)]);
        let progress = progress(&pipe);
        assert_eq!((progress.timeouts, progress.retransmissions, pipe.delivered), (0, 0, 10 * MSS));
    }
}

#[test]
fn rfc_5681_4_1_a_long_silence_returns_to_the_first_window() {
    for (idle_restart, expected) in [(true, 4), (false, 7)] {
        let options = TcpOptions { idle_restart, ..options(Recovery::NewReno) };
        let reno = RenoOptions { initial_window: Some(4), ..RenoOptions::rfc(MSS as u32, 100 * MSS) };
        let sender = TcpSender::new(options.clone(), Box::new(Reno::new(reno)));
        let receiver = TcpReceiver::new(options);
        let mut pipe = Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, Script::default());
        pipe.push(8 * MSS);
        pipe.run_until(ms(5_000));
        let before = pipe.log.len();
        pipe.push(100 * MSS);
        assert_eq!(pipe.log.len() - before, expected);
    }
}

#[test]
fn the_receivers_window_bounds_what_is_outstanding() {
    let options = TcpOptions { window: 3, ..options(Recovery::NewReno) };
    let reno = RenoOptions { initial_window: Some(10), ..RenoOptions::rfc(MSS as u32, 100 * MSS) };
    let sender = TcpSender::new(options.clone(), Box::new(Reno::new(reno)));
    let receiver = TcpReceiver::new(options);
    let mut pipe = Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, Script::default());
    pipe.push(30 * MSS);
    assert_eq!(pipe.log.len(), 3);
    pipe.run_until(ms(999));
    assert_eq!(pipe.log.len(), 30);
}

/// ns-2: 3 s, minimum 0.2 s, ticks of 10 ms, window 2 after the SYN; the deflated window is kept.
#[test]
fn ns2_options_follow_its_timeline() {
    let options = TcpOptions::ns2(Recovery::NewReno, MSS as u32, 32);
    assert_eq!((options.exit_window, options.rto.clone()), (ExitWindow::Deflated, RtoOptions::ns2()));
    let sender = TcpSender::new(
        options.clone(),
        Box::new(Reno::new(RenoOptions::ns2(MSS as u32, options.receive_window()))),
    );
    let receiver = TcpReceiver::new(options);
    let mut pipe = Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, losing(&[1]));
    pipe.push(2 * MSS);
    pipe.run_until(ms(399));
    // SYN-ACK at 100 ms; RTO after a sample of 100 ms: 100 + 4 * 50 = 300 ms.
    assert_eq!(pipe.log.len(), 3);
    pipe.run_until(ms(400));
    assert_eq!(retransmitted(&pipe), [(ms(400), 1)]);
    assert_eq!((progress(&pipe).window, progress(&pipe).slow_start_threshold), (Some(MSS), Some(2 * MSS)));
}

/// 1040 bytes at 832 kb/s: one segment every 10 ms, with a deadline for each.
#[test]
fn a_paced_sender_spaces_its_segments() {
    struct Paced;
    impl Controller for Paced {
        fn allowance(&self) -> Allowance {
            Allowance { window: 50 * MSS, pace: Some(Rate::from_kbps(832)) }
        }
        fn on_acked(&mut self, _acked: &Acked) {}
        fn on_lost(&mut self, _lost: &Lost) {}
    }
    let options = options(Recovery::NewReno);
    let sender = TcpSender::new(options.clone(), Box::new(Paced));
    let mut pipe =
        Pipe::new(Box::new(sender), Box::new(TcpReceiver::new(options)), MSS as u32, Script::default());
    pipe.push(5 * MSS);
    pipe.run_until(ms(1_000));
    let times: Vec<Time> = pipe.log.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [ms(0), ms(10), ms(20), ms(30), ms(40)]);
}

/// Data sent by Limited Transmit "MUST NOT" count as outstanding when the threshold is set (RFC 5681, section
/// 3.2, step 2): half of ten, not of twelve.
#[test]
fn rfc_5681_3_2_limited_transmit_does_not_raise_the_threshold() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let options = TcpOptions { limited_transmit: true, ..options(recovery) };
        let mut pipe = connection(&options, 10, losing(&[1]));
        pipe.push(1000 * MSS);
        pipe.run_until(ms(100));
        assert!(pipe.log.iter().any(|(_, segment)| number(segment) == 12), "{recovery:?}");
        let progress = progress(&pipe);
        assert_eq!((progress.recoveries, progress.slow_start_threshold), (1, Some(5 * MSS)), "{recovery:?}");
    }
}
