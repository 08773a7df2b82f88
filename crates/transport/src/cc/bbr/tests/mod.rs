//! BBR on scripted deliveries, against numbers computed by hand from the draft.

mod linux;

use super::state::{CYCLE, HIGH_GAIN};
use super::*;
use crate::cc::testing::delivery;
use multihop_core::Time;

const MSS: u64 = 1000;

fn bbr() -> Bbr {
    Bbr::new(BbrOptions::draft(MSS as u32, 10 * MSS))
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A path with one delivery of a segment per round trip, sent when the previous one was delivered.
struct Script {
    bbr: Bbr,
    now: u64,
    delivered: u64,
}

impl Script {
    fn new() -> Script {
        Script { bbr: bbr(), now: 0, delivered: 0 }
    }

    /// Delivery sample of an acknowledgement of one segment at `now` ms, with the rate in segments per
    /// second.
    fn sampled(&mut self, now: u64, rate: f64, rtt: u64) -> DeliverySample {
        self.now = now;
        self.delivered += MSS;
        DeliverySample {
            rate: Some(rate * MSS as f64),
            rtt: Some(Span::from_ms(rtt)),
            in_flight_before: 11 * MSS,
            ..delivery(ms(now), MSS, self.delivered, 10 * MSS)
        }
    }

    /// Delivers after a round trip of 100 ms.
    fn round(&mut self, rate: f64) {
        let delivery = self.sampled(self.now + 100, rate, 100);
        self.bbr.on_delivered(&delivery);
    }

    /// Script in ProbeBW, at 1000 segments per second and 100 ms: 100 segments. The phase is random.
    fn probing() -> Script {
        let mut script = Script::new();
        (0..4).for_each(|_| script.round(1000.0));
        assert!(matches!(script.bbr.state, BbrState::ProbeBw { .. }), "{:?}", script.bbr.state);
        script
    }

    fn phase(&self) -> usize {
        let BbrState::ProbeBw { phase, .. } = self.bbr.state else { panic!("{:?}", self.bbr.state) };
        phase
    }

    fn window(&self) -> u64 {
        self.bbr.allowance().window
    }
}

/// Before a round trip is known: 10 segments per millisecond, times 2.885. With 50 ms: 10 segments per 50 ms,
/// times 2.885.
#[test]
fn the_first_pace_is_a_window_per_round_trip_times_the_high_gain() {
    assert!((HIGH_GAIN - 2.885).abs() < 1e-3);
    let mut bbr = bbr();
    let pace = |bbr: &Bbr| bbr.allowance().pace.unwrap().bps() as f64;
    assert!((pace(&bbr) / (HIGH_GAIN * 80_000.0 / 1e-3) - 1.0).abs() < 1e-6);
    bbr.on_opened(Span::from_ms(50));
    assert!((pace(&bbr) / (HIGH_GAIN * 80_000.0 / 50e-3) - 1.0).abs() < 1e-6);
    // The pace counts packets: 40 bytes of header add 4 %.
    bbr.on_sent(&SentSegment {
        now: ms(0),
        size: 1000,
        packet: 1040,
        in_flight: 1000,
        retransmission: false,
        app_limited: false,
    });
    assert!((pace(&bbr) / (1.04 * HIGH_GAIN * 80_000.0 / 50e-3) - 1.0).abs() < 1e-6);
}

/// The rate doubles until 800, then grows by less than a quarter: 900, 950, 990 against 800. Three such round
/// trips end Startup. As 10 segments in flight are less than the 99 that the path holds, nothing is drained.
#[test]
fn start_up_ends_after_three_round_trips_without_a_quarter_more() {
    let mut script = Script::new();
    for rate in [100.0, 200.0, 400.0, 800.0, 900.0, 950.0] {
        script.round(rate);
        assert_eq!(script.bbr.state, BbrState::Startup, "{rate}");
        assert!(!script.bbr.full_pipe.filled);
        let pace = script.bbr.pacing_rate;
        assert!((pace - HIGH_GAIN * rate * 1e3).abs() < 1.0 || pace > HIGH_GAIN * rate * 1e3, "{pace}");
    }
    script.round(990.0);
    assert!(matches!(script.bbr.state, BbrState::ProbeBw { .. }));

    let mut script = Script::new();
    // 1000 is a quarter more than 800 after two slow round trips, so that the count restarts.
    for rate in [800.0, 900.0, 900.0, 1000.0, 1100.0, 1100.0] {
        script.round(rate);
    }
    assert_eq!(script.bbr.state, BbrState::Startup);
}

/// Application-limited samples do not show a full pipe, and lower no estimate.
#[test]
fn round_trips_that_the_application_limits_do_not_count() {
    let mut script = Script::new();
    for _ in 0..8 {
        let delivery = script.sampled(script.now + 100, 500.0, 100);
        script.bbr.on_delivered(&DeliverySample { app_limited: true, ..delivery });
    }
    assert_eq!((script.bbr.state, script.bbr.max_bandwidth()), (BbrState::Startup, 500e3));
    for _ in 0..20 {
        let delivery = script.sampled(script.now + 100, 50.0, 100);
        script.bbr.on_delivered(&DeliverySample { app_limited: true, ..delivery });
    }
    assert_eq!(script.bbr.max_bandwidth(), 500e3);
    let delivery = script.sampled(script.now + 100, 600.0, 100);
    script.bbr.on_delivered(&DeliverySample { app_limited: true, ..delivery });
    assert_eq!(script.bbr.max_bandwidth(), 600e3, "the path is at least that fast");
}

/// 1000 segments per second and 100 ms: 100 segments and, at 8 Mb/s, three quanta of two segments. With 289
/// in flight it drains, at 1/2.885, until 106 are in flight.
#[test]
fn what_start_up_queued_is_drained() {
    let mut script = Script::new();
    for (round, in_flight) in [(0, 100), (1, 200), (2, 289), (3, 289), (4, 289), (5, 107)] {
        let delivery = script.sampled(script.now + 100, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample { in_flight: in_flight * MSS, ..delivery });
        assert_eq!(script.bbr.state, if round < 3 { BbrState::Startup } else { BbrState::Drain }, "{round}");
    }
    assert!((script.bbr.pacing_rate - 1e6 / HIGH_GAIN).abs() < 1e-3);
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    // The pace in Drain is 2.8 Mb/s: still two segments per quantum.
    script.bbr.on_delivered(&DeliverySample { in_flight: 106 * MSS, ..delivery });
    assert!(matches!(script.bbr.state, BbrState::ProbeBw { .. }));
}

/// The phases are 1.25, 0.75 and six times 1; each lasts more than a round trip. The first lasts until 1.25
/// bandwidth-delay products are in flight or a loss occurs, the second at most until one is.
#[test]
fn the_gain_cycles_through_eight_phases() {
    let mut script = Script::probing();
    let first = script.phase();
    assert_ne!(first, 1, "not the one that drains");
    // (in flight before, lost) for each round trip and the phase after it, from the start of phase 2.
    while script.phase() != 2 {
        let delivery = script.sampled(script.now + 101, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample { in_flight_before: 131 * MSS, ..delivery });
    }
    let mut step = |after: u64, in_flight: u64, lost: u64| {
        let delivery = script.sampled(script.now + after, 1000.0, 100);
        let in_flight_before = in_flight * MSS;
        script.bbr.on_delivered(&DeliverySample { in_flight_before, lost, ..delivery });
        assert!((script.bbr.pacing_rate / (CYCLE[script.phase()] * 1e6) - 1.0).abs() < 1e-9);
        script.phase()
    };
    assert_eq!(step(100, 100, 0), 2, "not longer than a round trip");
    assert_eq!([(); 5].map(|()| step(101, 100, 0)), [3, 4, 5, 6, 7]);
    assert_eq!(step(101, 100, 0), 0);
    // Phase 0 needs 1.25 * 100 + 6 segments in flight.
    assert_eq!(
        [(101, 120), (101, 130), (101, 131)].map(|(after, in_flight)| step(after, in_flight, 0)),
        [0, 0, 1]
    );
    assert_eq!(step(50, 107, 0), 1);
    assert_eq!(step(1, 106, 0), 2, "drained before its time");
    assert_eq!([(); 6].map(|()| step(101, 100, 0)), [3, 4, 5, 6, 7, 0]);
    assert_eq!(step(101, 50, 1), 1, "a loss ends probing");
    assert_eq!(step(101, 500, 0), 2, "a round trip without being drained");
}

/// Each instant draws one of seven phases.
#[test]
fn the_first_phase_is_any_but_the_one_that_drains() {
    let mut counts = [0; 8];
    for start in 0..700 {
        let mut script = Script::new();
        script.now = start;
        (0..4).for_each(|_| script.round(1000.0));
        counts[script.phase()] += 1;
    }
    assert_eq!(counts[1], 0);
    let drawn = [0, 2, 3, 4, 5, 6, 7].map(|phase| counts[phase]);
    assert!(drawn.iter().all(|count| (60..140).contains(count)), "{counts:?}");
}

/// The window grows by the delivered bytes to two bandwidth-delay products and three quanta.
#[test]
fn the_window_is_two_bandwidth_delay_products() {
    let mut script = Script::probing();
    let mut before = script.window();
    while before < 206 * MSS {
        script.round(1000.0);
        assert_eq!(script.window(), before + MSS);
        before = script.window();
    }
    script.round(1000.0);
    assert_eq!(script.window(), 206 * MSS);
    // Half the bandwidth for more than ten round trips: the window follows at once.
    (0..9).for_each(|_| script.round(500.0));
    assert_eq!(script.window(), 206 * MSS);
    script.round(500.0);
    assert_eq!(script.window(), 106 * MSS);
}

/// Ten seconds after the last round trip of 100 ms: four segments, until 200 ms and a round trip have passed
/// with no more in flight. Then the previous window and the measured round trip are used.
#[test]
fn the_round_trip_is_measured_anew_every_ten_seconds() {
    let mut script = Script::probing();
    while script.window() < 206 * MSS {
        script.round(1000.0);
    }
    let last = script.now;
    let mut slow = |after: u64, in_flight: u64| {
        let delivery = script.sampled(last + after, 1000.0, 120);
        script.bbr.on_delivered(&DeliverySample { in_flight: in_flight * MSS, ..delivery });
        (script.bbr.state.is_probe_rtt(), script.window())
    };
    assert_eq!(slow(5_000, 100), (false, 206_000));
    assert_eq!(slow(10_000, 100), (false, 206_000));
    // The round trip is 120 ms from here on.
    assert_eq!(slow(10_001, 100), (true, 4_000));
    assert_eq!(slow(10_100, 5), (true, 4_000));
    assert_eq!(slow(10_110, 4), (true, 4_000), "from here on it counts");
    assert_eq!(slow(10_230, 4), (true, 4_000), "a round trip");
    assert_eq!(slow(10_310, 4), (true, 4_000), "200 ms, not more");
    assert_eq!(slow(10_311, 4), (false, 207_000), "the delivery opens it further");
    assert!(!script.bbr.marks_app_limited());
    assert_eq!(script.bbr.round_trip.value(), Some(Span::from_ms(120)));
    // The next expiry is ten seconds later.
    assert!(!script.bbr.round_trip.expired());
}

/// A round trip equal to the minimum within the window avoids ProbeRTT.
#[test]
fn a_path_whose_queue_empties_is_not_probed_for_its_round_trip() {
    let mut script = Script::probing();
    for _ in 0..300 {
        script.round(1000.0);
        assert!(!script.bbr.state.is_probe_rtt());
    }
}

/// Ten segments are lost. For a round trip, as many bytes are sent as are delivered; then the window grows by
/// the delivered bytes, and the previous window is restored at the end.
#[test]
fn recovery_conserves_packets_for_a_round_trip() {
    let mut script = Script::probing();
    while script.window() < 206 * MSS {
        script.round(1000.0);
    }
    script.bbr.on_lost(&Lost { now: ms(script.now), kind: LossKind::DuplicateAcks, in_flight: 100 * MSS });
    let mut deliver = |prior: Option<u64>, in_flight: u64, lost: u64, recovering: bool| {
        let delivery = script.sampled(script.now + 1, 1000.0, 100);
        let (in_flight, lost) = (in_flight * MSS, lost * MSS);
        let prior_delivered = prior.unwrap_or(delivery.prior_delivered);
        script.bbr.on_delivered(&DeliverySample { prior_delivered, in_flight, lost, recovering, ..delivery });
        (script.window(), delivery.delivered)
    };
    let (window, entered) = deliver(Some(0), 90, 10, true);
    assert_eq!(window, 91_000);
    assert_eq!(deliver(Some(entered - 1), 90, 0, true).0, 91_000);
    assert_eq!(deliver(Some(entered - 1), 90, 0, true).0, 91_000);
    assert_eq!(
        deliver(Some(entered - 1), 80, 5, true).0,
        86_000,
        "what is lost is taken off, but no more than that"
    );
    assert_eq!(deliver(Some(entered), 80, 0, true).0, 87_000, "a round trip later it grows");
    assert_eq!(deliver(Some(entered), 80, 0, true).0, 88_000);
    assert_eq!(deliver(Some(entered), 80, 0, false).0, 206_000, "restored");
}

#[test]
fn a_timeout_leaves_one_segment_and_what_was_lost_of_the_window_is_restored() {
    let mut script = Script::probing();
    while script.window() < 206 * MSS {
        script.round(1000.0);
    }
    let timeout =
        Lost { now: ms(script.now), kind: LossKind::Timeout { again: false }, in_flight: 100 * MSS };
    script.bbr.on_lost(&timeout);
    assert_eq!(script.window(), 1_000);
    // At a second timeout, the window before the first one is kept.
    script.bbr.on_lost(&Lost { kind: LossKind::Timeout { again: true }, ..timeout });
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 0, recovering: true, ..delivery });
    assert_eq!(script.window(), 4_000, "enough for a pipeline");
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 3 * MSS, recovering: true, ..delivery });
    assert_eq!(script.window(), 5_000);
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 3 * MSS, ..delivery });
    assert_eq!(script.window(), 206_000);
}

/// After an idle period the pace is the bandwidth whatever the phase, without ProbeRTT, as the idle period
/// has shown the round trip.
#[test]
fn after_a_silence_the_pace_is_the_bandwidth() {
    let mut script = Script::probing();
    while script.phase() != 1 {
        let delivery = script.sampled(script.now + 101, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample { in_flight_before: 131 * MSS, ..delivery });
    }
    assert!((script.bbr.pacing_rate / 0.75e6 - 1.0).abs() < 1e-9);
    let now = ms(script.now + 20_000);
    let first = SentSegment {
        now,
        size: 1000,
        packet: 1040,
        in_flight: 1000,
        retransmission: false,
        app_limited: true,
    };
    script.bbr.on_sent(&SentSegment { in_flight: 2000, ..first });
    script.bbr.on_sent(&SentSegment { app_limited: false, ..first });
    assert!((script.bbr.pacing_rate / 0.75e6 - 1.0).abs() < 1e-9, "not a silence of the application");
    script.bbr.on_sent(&first);
    assert!((script.bbr.pacing_rate / 1e6 - 1.0).abs() < 1e-9);
    let delivery = script.sampled(script.now + 20_100, 10.0, 110);
    script.bbr.on_delivered(&DeliverySample { app_limited: true, ..delivery });
    assert!(!script.bbr.state.is_probe_rtt());
    assert_eq!(script.bbr.round_trip.value(), Some(Span::from_ms(110)));
}

/// Section 4.2.2: one segment below 1.2 Mb/s, two below 24 Mb/s, then a millisecond's worth, at most 64 KB.
#[test]
fn the_quantum_grows_with_the_pace() {
    for (pace, quantum) in [
        (1_000.0, 1_000.0),
        (149_999.0, 1_000.0),
        (150_000.0, 2_000.0),
        (2_999_999.0, 2_000.0),
        (3e6, 3_000.0),
        (10e6, 10_000.0),
        (65.536e6, 65_536.0),
        (1e9, 65_536.0),
    ] {
        let mut bbr = bbr();
        bbr.pacing_rate = pace;
        assert!((bbr.quantum() - quantum).abs() < 1e-6, "{pace}: {}", bbr.quantum());
    }
}

/// Section 4.2.3.6: until the pipe is full the window grows by the delivered bytes while it is below the
/// target, and in any case until an initial window is delivered. At 10 segments per second and 100 ms the
/// target is 2.885 and three quanta of two segments, below the initial window of 10; at 100 it is 34.85.
#[test]
fn the_window_of_start_up_grows_to_the_target_or_by_an_initial_window() {
    for (rate, windows) in [(10.0, [11, 15, 19, 19, 19]), (100.0, [11, 15, 19, 22, 26])] {
        let mut script = Script::new();
        script.bbr.on_opened(Span::from_ms(100));
        let mut seen = Vec::new();
        for _ in 0..16 {
            let delivery = script.sampled(script.now + 100, rate, 100);
            script.bbr.on_delivered(&DeliverySample { app_limited: true, ..delivery });
            seen.push(script.window() / MSS);
        }
        assert_eq!([0, 4, 8, 11, 15].map(|at: usize| seen[at]), windows, "{rate}");
    }
}

/// Without a bandwidth sample the pace stays, even if the pipe is full. Until it is full, the pace only
/// rises.
#[test]
fn the_pace_follows_a_bandwidth_that_is_known() {
    let mut bbr = bbr();
    let first = bbr.pacing_rate;
    bbr.full_pipe.filled = true;
    bbr.set_pacing_rate(1.0);
    assert_eq!(bbr.pacing_rate, first);
    bbr.add_rate(1_000.0);
    bbr.set_pacing_rate(1.5);
    assert_eq!(bbr.pacing_rate, 1_500.0);
    bbr.full_pipe.filled = false;
    bbr.set_pacing_rate(1.25);
    assert_eq!(bbr.pacing_rate, 1_500.0);
    bbr.set_pacing_rate(1.75);
    assert_eq!(bbr.pacing_rate, 1_750.0);
}

/// Window gains: that of the pace until the pipe is full (section 4.3.2), 2 in ProbeBW (4.3.4), 1 in ProbeRTT
/// (4.3.5), whose samples are marked as application-limited.
#[test]
fn each_state_has_its_gains() {
    let until = None;
    for (state, pacing, window, marks) in [
        (BbrState::Startup, HIGH_GAIN, HIGH_GAIN, false),
        (BbrState::Drain, 1.0 / HIGH_GAIN, HIGH_GAIN, false),
        (BbrState::ProbeBw { phase: 0, since: ms(0) }, 1.25, 2.0, false),
        (BbrState::ProbeBw { phase: 1, since: ms(0) }, 0.75, 2.0, false),
        (BbrState::ProbeBw { phase: 7, since: ms(0) }, 1.0, 2.0, false),
        (BbrState::ProbeRtt { until, round_done: false }, 1.0, 1.0, true),
    ] {
        let mut bbr = bbr();
        bbr.state = state;
        assert_eq!((state.pacing_gain(), bbr.window_gain()), (pacing, window), "{state:?}");
        assert_eq!(bbr.marks_app_limited(), marks, "{state:?}");
    }
}

/// Section 4.2.3.2 before a round trip is known: an initial window, whatever the gain. No window is below a
/// segment.
#[test]
fn without_a_round_trip_the_pipe_is_a_first_window() {
    let bbr = bbr();
    assert_eq!((bbr.inflight(1.0), bbr.inflight(2.0)), (10_000.0, 10_000.0));
    let small = Bbr::new(BbrOptions::draft(MSS as u32, 10));
    assert_eq!(small.allowance().window, MSS);
}

/// Section 4.2.3.6 at its bounds: the window of Startup grows below the target, or until an initial window,
/// 10 segments, is delivered.
#[test]
fn the_window_of_start_up_stops_at_the_target() {
    for (below_target, delivered, grown) in
        [(1.0, 10_000, 1_000.0), (0.0, 10_000, 0.0), (0.0, 9_999, 1_000.0), (-1.0, 9_999, 1_000.0)]
    {
        let mut script = Script::new();
        script.bbr.add_rate(1e6);
        script.bbr.round_trip.update(ms(0), Some(Span::from_ms(100)));
        let window = script.bbr.inflight(HIGH_GAIN) - below_target;
        script.bbr.window = window;
        let delivery = script.sampled(100, 1000.0, 100);
        script.bbr.set_window(&DeliverySample { delivered, ..delivery });
        assert_eq!(script.bbr.window, window + grown, "{below_target} {delivered}");
    }
}
