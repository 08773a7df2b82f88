//! BBR version 3 on scripted deliveries, against numbers computed by hand from the draft. Test names carry
//! the section.

mod bounds;
mod probe_bw;

use super::state::{STARTUP_PACING_GAIN, State};
use super::*;
use crate::cc::testing::delivery;
use multihop_core::Time;

const MSS: u64 = 1000;

fn bbr() -> Bbr3 {
    Bbr3::new(Bbr3Options { segment_size: MSS as u32, initial_window: 10 * MSS })
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A path with one delivery of a segment per round trip, sent when the previous one was delivered.
struct Script {
    bbr: Bbr3,
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
            ..delivery(ms(now), MSS, self.delivered, 100 * MSS)
        }
    }

    /// Delivers after a round trip of 100 ms, with a change of the sample.
    fn round_with(&mut self, rate: f64, change: impl FnOnce(&mut DeliverySample)) -> State {
        let mut delivery = self.sampled(self.now + 100, rate, 100);
        change(&mut delivery);
        self.bbr.on_delivered(&delivery);
        self.bbr.state
    }

    fn round(&mut self, rate: f64) -> State {
        self.round_with(rate, |_| ())
    }

    /// Script in `ProbeBW_DOWN` or `ProbeBW_CRUISE`, at 1000 segments per second and 100 ms: 100 segments.
    fn probing() -> Script {
        let mut script = Script::new();
        (0..4).for_each(|_| _ = script.round(1000.0));
        assert!(script.bbr.state.is_probe_bw(), "{:?}", script.bbr.state);
        script
    }

    /// Script at the start of this state, with a window of 200 segments.
    fn in_state(state: State) -> Script {
        let mut script = Script::probing();
        script.bbr.window = 200_000.0;
        for _ in 0..100 {
            if script.bbr.state == state {
                return script;
            }
            script.round(1000.0);
        }
        panic!("{state:?} was not reached");
    }

    fn window(&self) -> u64 {
        self.bbr.allowance().window
    }

    /// Counts a segment as lost, of `in_flight` segments in flight when it was sent, with `lost` lost since.
    fn lose(&mut self, start: u64, in_flight: u64, lost: u64) {
        self.bbr.on_segment_lost(&LostSegment {
            start: start * MSS,
            size: MSS,
            in_flight_at_send: in_flight * MSS,
            lost_since_send: lost * MSS,
            app_limited: false,
        });
    }

    fn begin_recovery(&mut self) {
        let lost = Lost { now: ms(self.now), kind: LossKind::DuplicateAcks, in_flight: 100 * MSS };
        self.bbr.on_lost(&lost);
    }
}

fn repairing(delivery: &mut DeliverySample) {
    (delivery.recovering, delivery.fast_recovery) = (true, true);
}

/// 2.77 windows of 10 segments per millisecond, and with a handshake of 50 ms per 50 ms. The pace counts
/// packets: 40 bytes of header add 4 %.
#[test]
fn section_5_6_2_the_first_pace_is_a_window_per_round_trip() {
    let mut bbr = bbr();
    let pace = |bbr: &Bbr3| bbr.allowance().pace.unwrap().bps() as f64;
    assert!((STARTUP_PACING_GAIN - 2.77).abs() < 0.01);
    assert!((pace(&bbr) / (STARTUP_PACING_GAIN * 80_000.0 / 1e-3) - 1.0).abs() < 1e-6);
    bbr.on_opened(Span::from_ms(50));
    assert!((pace(&bbr) / (STARTUP_PACING_GAIN * 80_000.0 / 50e-3) - 1.0).abs() < 1e-6);
    let (retransmission, app_limited) = (false, false);
    bbr.on_sent(&SentSegment {
        now: ms(0),
        size: 1000,
        packet: 1040,
        in_flight: 1000,
        retransmission,
        app_limited,
    });
    assert!((pace(&bbr) / (1.04 * STARTUP_PACING_GAIN * 80_000.0 / 50e-3) - 1.0).abs() < 1e-6);
}

#[test]
fn section_5_6_1_each_state_has_its_gains() {
    let probe_rtt = State::ProbeRtt { until: None, round_done: false };
    for (state, pacing, window, is_probe_bw, accelerates) in [
        (State::Startup, STARTUP_PACING_GAIN, 2.0, false, true),
        (State::Drain { since_round: 0 }, 0.5, 2.0, false, false),
        (State::Down, 0.9, 2.0, true, false),
        (State::Cruise, 1.0, 2.0, true, false),
        (State::Refill, 1.0, 2.0, true, true),
        (State::Up, 1.25, 2.25, true, true),
        (probe_rtt, 1.0, 0.5, false, false),
    ] {
        assert_eq!((state.pacing_gain(), state.window_gain()), (pacing, window), "{state:?}");
        assert_eq!((state.is_probe_bw(), state.accelerates()), (is_probe_bw, accelerates), "{state:?}");
    }
}

/// Appendix A.1: the rate doubles until 800, then grows by less than a quarter in three round trips. Round
/// trips that the application limits do not count (A.7).
#[test]
fn section_5_3_1_2_startup_ends_at_a_plateau_of_the_bandwidth() {
    let mut script = Script::new();
    let in_flight = 250 * MSS;
    for rate in [100.0, 200.0, 400.0, 800.0, 900.0, 950.0] {
        assert_eq!(script.round(rate), State::Startup, "{rate}");
    }
    for _ in 0..8 {
        assert_eq!(script.round_with(900.0, |delivery| delivery.app_limited = true), State::Startup);
    }
    let found = script.round_with(990.0, |delivery| delivery.in_flight = in_flight);
    assert!(matches!(found, State::Drain { .. }) && script.bbr.full_bandwidth_reached);
    // The pace of Drain is half of the bandwidth, less 1 %.
    assert!((script.bbr.pacing_rate / (0.99 * 0.5 * 990e3) - 1.0).abs() < 1e-9);
}

/// Appendix A.2: six separate losses, and more than 2 % in a round trip of recovery, end Startup even if the
/// application limits the rate. The long-term bound is the bandwidth-delay product of 20 segments.
#[test]
fn section_5_3_1_3_many_losses_end_startup() {
    for (ranges, lost, fast_recovery, ends) in
        [(6, 3, true, true), (5, 3, true, false), (6, 2, true, false), (6, 3, false, false)]
    {
        let mut script = Script::new();
        (0..3).for_each(|_| _ = script.round_with(200.0, |delivery| delivery.app_limited = true));
        script.begin_recovery();
        (0..ranges).for_each(|range| script.lose(2 * range, 100, 1));
        script.round_with(200.0, |delivery| {
            (delivery.app_limited, delivery.recovering) = (true, true);
            (delivery.fast_recovery, delivery.lost_since_send) = (fast_recovery, lost * MSS);
        });
        let found = (script.bbr.state != State::Startup, script.bbr.full_bandwidth_reached);
        assert_eq!(found, (ends, ends), "{ranges} {lost} {fast_recovery}");
        let bound = if ends { 20_000.0 } else { f64::INFINITY };
        assert!((script.bbr.bounds.inflight_longterm - bound).abs() < 1.0 || !ends);
    }
    // Losses next to each other are one range.
    let mut script = Script::new();
    script.begin_recovery();
    (0..20).for_each(|segment| script.lose(segment, 100, segment + 1));
    script.round_with(200.0, |delivery| {
        repairing(delivery);
        delivery.lost_since_send = 20 * MSS;
    });
    assert_eq!(script.bbr.state, State::Startup);
}

/// Appendices A.3 and A.4: one bandwidth-delay product of 100 segments in flight ends Drain, or the fourth
/// round trip.
#[test]
fn section_5_3_2_drain_ends_without_a_queue_or_after_three_round_trips() {
    let draining = || {
        let mut script = Script::new();
        (0..4).for_each(|_| _ = script.round_with(1000.0, |delivery| delivery.in_flight = 250 * MSS));
        assert!(matches!(script.bbr.state, State::Drain { .. }));
        script
    };
    let drained = |in_flight: u64| {
        let mut script = draining();
        script.round_with(1000.0, |delivery| delivery.in_flight = in_flight * MSS).is_probe_bw()
    };
    assert_eq!([101, 100].map(drained), [false, true]);
    let mut script = draining();
    let states = [(); 4].map(|()| script.round_with(1000.0, |delivery| delivery.in_flight = 250 * MSS));
    assert_eq!(states.map(State::is_probe_bw), [false, false, false, true]);
    assert_eq!(states[3], State::Down);
}

/// Appendix A.10: five seconds after the last minimum the window is half a bandwidth-delay product, 50
/// segments, until 200 ms and a round trip have passed with no more in flight. Then the state is
/// `ProbeBW_CRUISE`.
#[test]
fn section_5_3_4_3_the_round_trip_is_measured_every_five_seconds() {
    let mut script = Script::in_state(State::Cruise);
    let last = 100; // the first sample: an equal one does not count
    let mut slow = |after: u64, in_flight: u64| {
        let delivery = script.sampled(last + after, 1000.0, 120);
        script.bbr.on_delivered(&DeliverySample { in_flight: in_flight * MSS, ..delivery });
        (matches!(script.bbr.state, State::ProbeRtt { .. }), script.window())
    };
    assert!(!slow(5_000, 100).0);
    assert_eq!(slow(5_001, 100), (true, 50_000));
    assert_eq!(slow(5_100, 51), (true, 50_000));
    assert_eq!(slow(5_110, 50), (true, 50_000), "from here on it counts");
    assert_eq!(slow(5_230, 50), (true, 50_000), "a round trip");
    assert_eq!(slow(5_310, 50), (true, 50_000), "200 ms, not more");
    let (probing, window) = slow(5_311, 50);
    assert!(!probing && window >= 199_000, "{window}");
    assert_eq!(script.bbr.state, State::Cruise);
    // The minimum over ten seconds is still that of the first sample.
    assert_eq!(script.bbr.round_trip.minimum(), Some(Span::from_ms(100)));
    let delivery = script.sampled(last + 10_001, 1000.0, 120);
    script.bbr.on_delivered(&delivery);
    assert_eq!(script.bbr.round_trip.minimum(), Some(Span::from_ms(120)));
}

/// Appendix A.20: a measurement before the pipe is full ends in Startup.
#[test]
fn section_5_3_4_4_startup_goes_on_after_a_measurement() {
    let mut script = Script::new();
    for after in [100, 5_101, 5_201, 5_501] {
        let delivery = script.sampled(after, 10.0, 100 + after / 100);
        script.bbr.on_delivered(&DeliverySample { app_limited: true, in_flight: MSS, ..delivery });
        let probing = matches!(script.bbr.state, State::ProbeRtt { .. });
        assert_eq!(probing, (5_000..5_500).contains(&after), "{after}");
    }
    assert_eq!(script.bbr.state, State::Startup);
}

/// Appendix A.11: after an idle period the pace is the bandwidth, less 1 %, and nothing is measured.
#[test]
fn section_5_4_1_an_idle_period_replaces_a_measurement() {
    let mut script = Script::in_state(State::Up);
    let (retransmission, app_limited) = (false, true);
    let now = ms(script.now + 20_000);
    script.bbr.on_sent(&SentSegment {
        now,
        size: 1000,
        packet: 1000,
        in_flight: 1000,
        retransmission,
        app_limited,
    });
    assert!((script.bbr.pacing_rate / 0.99e6 - 1.0).abs() < 1e-9);
    let delivery = script.sampled(script.now + 20_100, 10.0, 110);
    script.bbr.on_delivered(&DeliverySample { app_limited, ..delivery });
    assert!(script.bbr.state.is_probe_bw());
}

/// Appendix A.16: the maximum is that of two cycles. The first cycle measured 1000, the others 100.
#[test]
fn section_5_5_6_the_bandwidth_is_the_maximum_of_two_cycles() {
    let mut script = Script::in_state(State::Up);
    let mut seen = Vec::new();
    let mut cycle = script.bbr.cycle;
    for _ in 0..400 {
        script.round_with(100.0, |delivery| delivery.in_flight = 5 * MSS);
        if script.bbr.cycle != cycle {
            cycle = script.bbr.cycle;
            seen.push(script.bbr.max_bandwidth.value());
        }
    }
    assert_eq!(seen[0], 1e6, "the previous cycle");
    assert_eq!(seen[2], 100e3, "{seen:?}");
    // Appendix A.22: a lower rate that the application limits does not count.
    script.round_with(50.0, |delivery| delivery.app_limited = true);
    assert_eq!(script.bbr.max_bandwidth.value(), 100e3);
    script.round_with(150.0, |delivery| delivery.app_limited = true);
    assert_eq!(script.bbr.max_bandwidth.value(), 150e3);
}

/// Appendices A.12 and A.13: thirty segments at once are an excess, less the one that a round trip of 100 ms
/// explains at 10 segments per second. Startup remembers a round trip of it, and later states ten.
#[test]
fn section_5_5_9_aggregated_acknowledgements_enlarge_the_window() {
    let mut script = Script::in_state(State::Cruise);
    let before = script.bbr.extra_acked.value(true);
    script.bbr.window = 500_000.0;
    for _ in 0..30 {
        let delivery = script.sampled(script.now, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample { prior_delivered: 0, ..delivery });
    }
    let excess = script.bbr.extra_acked.value(true);
    assert_eq!((before, excess), (1_000.0, 31_000.0));
    assert!((script.window() as f64 - 231_000.0).abs() < 1.0, "{}", script.window());
    script.round(1000.0);
    assert_eq!(script.bbr.extra_acked.value(true), excess);
    assert_eq!(script.bbr.extra_acked.value(false), 1_000.0);
    (0..8).for_each(|_| _ = script.round(1000.0));
    assert_eq!(script.bbr.extra_acked.value(true), excess);
    script.round(1000.0);
    assert_eq!(script.bbr.extra_acked.value(true), 1_000.0);
}

/// Two bandwidth-delay products, at least three bursts of two segments, at least four segments (appendix
/// A.14), and in `ProbeBW_UP` two segments more.
#[test]
fn section_5_6_4_2_the_window_is_two_bandwidth_delay_products() {
    let mut script = Script::in_state(State::Cruise);
    for _ in 0..3 {
        script.round(1000.0);
    }
    assert_eq!(script.window(), 201_000, "with the excess of one segment per acknowledgement");
    assert_eq!(script.bbr.inflight(1e6, 1.0), 100_000.0);
    assert_eq!(script.bbr.inflight(1e3, 1.0), 6_000.0, "three bursts");
    script.bbr.state = State::Up;
    assert_eq!(script.bbr.inflight(1e6, 1.0), 102_000.0);
    let small = bbr();
    let bursts = 3.0 * STARTUP_PACING_GAIN * 10_000.0;
    assert!(
        (small.inflight(1e9, 2.0) - bursts).abs() < 1e-6,
        "before a round trip: bursts of the first pace"
    );
    assert_eq!(small.bandwidth_delay_product(), 10_000.0);
}

/// A timeout leaves a segment, and the end of recovery restores the window.
#[test]
fn section_5_6_4_4_a_timeout_leaves_one_segment() {
    let mut script = Script::in_state(State::Cruise);
    script.round(1000.0);
    let before = script.window();
    let kind = LossKind::Timeout { again: false };
    script.bbr.on_lost(&Lost { now: ms(script.now), kind, in_flight: 100 * MSS });
    assert_eq!(script.window(), MSS);
    script.round_with(1000.0, |delivery| delivery.recovering = true);
    assert_eq!(script.window(), 4 * MSS);
    script.bbr.on_lost(&Lost { now: ms(script.now), kind, in_flight: 100 * MSS });
    script.round(1000.0);
    assert!((before..=before + MSS).contains(&script.window()), "{}", script.window());
}
