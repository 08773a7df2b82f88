//! Bounds by losses.

use super::*;

/// Appendices A.6 and A.21: the third lost segment of 120 in flight exceeds 2 %. Before it 119 were in flight
/// and two were lost: (0.02 * 119 - 2) / 0.98 = 0.388 segments more could be lost.
#[test]
fn section_5_5_10_2_too_many_losses_end_a_probe_and_set_the_long_term_bound() {
    let mut script = Script::in_state(State::Up);
    script.lose(0, 120, 1);
    script.lose(5, 120, 2);
    assert_eq!((script.bbr.state, script.bbr.bounds.inflight_longterm), (State::Up, f64::INFINITY));
    script.lose(9, 120, 3);
    assert_eq!(script.bbr.state, State::Down);
    let expected = 119_000.0 + (0.02 * 119_000.0 - 2_000.0) / 0.98;
    assert!((script.bbr.bounds.inflight_longterm - expected).abs() < 1e-6);
    // Once per probe.
    script.lose(11, 50, 4);
    assert!((script.bbr.bounds.inflight_longterm - expected).abs() < 1e-6);
}

/// The bound is at least 0.7 bandwidth-delay products of 100 segments. Data that the application limited sets
/// no bound, but ends the probe.
#[test]
fn section_5_5_10_2_the_long_term_bound_is_limited() {
    let mut script = Script::in_state(State::Up);
    script.lose(0, 30, 3);
    assert!((script.bbr.bounds.inflight_longterm - 70_000.0).abs() < 1e-6);
    let mut script = Script::in_state(State::Up);
    script.bbr.on_segment_lost(&LostSegment {
        start: 0,
        size: MSS,
        in_flight_at_send: 30 * MSS,
        lost_since_send: 3 * MSS,
        app_limited: true,
    });
    assert_eq!((script.bbr.state, script.bbr.bounds.inflight_longterm), (State::Down, f64::INFINITY));
}

/// Between probes, a round trip with losses lowers the bounds to its deliveries, and by 30 % at most: a rate
/// of 900 is 0.9, one segment delivered is 0.7 of a window of 200.
#[test]
fn section_5_5_10_3_losses_lower_the_short_term_bounds_once_per_round_trip() {
    let mut script = Script::in_state(State::Cruise);
    script.round(900.0);
    script.bbr.window = 200_000.0;
    script.begin_recovery();
    (0..10).for_each(|segment| script.lose(segment, 100, segment + 1));
    assert_eq!(script.bbr.bounds, Bounds::default(), "at the end of the round trip");
    script.round_with(900.0, repairing);
    assert_eq!((script.bbr.bounds.bandwidth, script.bbr.bounds.inflight_shortterm), (900e3, 140_000.0));
    assert_eq!((script.bbr.bandwidth, script.window()), (900e3, 140_000));
    assert!((script.bbr.pacing_rate / (0.99 * 900e3) - 1.0).abs() < 1e-9);
    // No loss in the next round trip.
    script.round_with(300.0, repairing);
    assert_eq!((script.bbr.bounds.bandwidth, script.bbr.bounds.inflight_shortterm), (900e3, 140_000.0));
    script.lose(20, 100, 1);
    script.round_with(300.0, repairing);
    assert_eq!((script.bbr.bounds.bandwidth, script.bbr.bounds.inflight_shortterm), (630e3, 98_000.0));
}

/// Losses while bandwidth is probed lower no short-term bound.
#[test]
fn section_5_5_10_3_probing_states_keep_the_short_term_bounds() {
    for state in [State::Refill, State::Up] {
        let mut script = Script::in_state(state);
        script.lose(0, 100, 1);
        script.round(1000.0);
        assert_eq!(script.bbr.bounds, Bounds::default(), "{state:?}");
    }
}

/// The window in each state with a long-term bound of 100 segments and a short-term bound of 90.
#[test]
fn section_5_6_4_7_the_bounds_limit_the_window() {
    let probe_rtt = State::ProbeRtt { until: None, round_done: false };
    for (state, shortterm, window) in [
        (State::Startup, f64::INFINITY, f64::INFINITY),
        (State::Drain { since_round: 0 }, 90_000.0, 90_000.0),
        (State::Down, f64::INFINITY, 100_000.0),
        (State::Down, 90_000.0, 90_000.0),
        (State::Cruise, 90_000.0, 85_000.0),
        (probe_rtt, f64::INFINITY, 85_000.0),
        (State::Refill, f64::INFINITY, 100_000.0),
        (State::Up, 1.0, 4_000.0),
    ] {
        let mut script = Script::in_state(State::Cruise);
        script.bbr.state = state;
        (script.bbr.bounds.inflight_longterm, script.bbr.bounds.inflight_shortterm) = (100_000.0, shortterm);
        assert_eq!(script.bbr.window_bound(), window, "{state:?}");
    }
}

/// Appendices A.18 and A.19: a needless recovery restores bounds, window and the probe that it ended.
#[test]
fn section_5_5_11_2_a_needless_recovery_restores_the_probe() {
    let mut script = Script::in_state(State::Up);
    let before = script.window();
    script.begin_recovery();
    script.lose(0, 120, 3);
    script.bbr.window = 50_000.0;
    assert_eq!(script.bbr.state, State::Down);
    script.bbr.on_undone();
    assert_eq!((script.bbr.state, script.bbr.bounds), (State::Refill, Bounds::default()));
    assert_eq!(script.window(), before);
    // Once only.
    script.bbr.start_down(ms(script.now));
    script.bbr.on_undone();
    assert_eq!(script.bbr.state, State::Down);
}

/// Needless losses that ended Startup return to it, at once or after a measurement of the round trip.
#[test]
fn section_5_5_11_2_a_needless_recovery_restores_startup() {
    for measures in [false, true] {
        let mut script = Script::new();
        (0..3).for_each(|_| _ = script.round_with(200.0, |delivery| delivery.app_limited = true));
        script.begin_recovery();
        (0..6).for_each(|range| script.lose(2 * range, 100, 1));
        script.round_with(200.0, |delivery| {
            repairing(delivery);
            (delivery.app_limited, delivery.lost_since_send) = (true, 6 * MSS);
        });
        assert!(script.bbr.full_bandwidth_reached);
        let probe_rtt = State::ProbeRtt { until: None, round_done: false };
        if measures {
            script.bbr.state = probe_rtt;
        }
        script.bbr.on_undone();
        assert_eq!(script.bbr.state, if measures { probe_rtt } else { State::Startup });
        assert!(!script.bbr.full_bandwidth_reached);
        assert_eq!(script.bbr.bounds, Bounds::default());
    }
}

/// A mark is congestion: it ends a probe, and elsewhere lowers the short-term bounds as a loss does.
#[test]
fn section_3_7_a_mark_acts_as_a_loss() {
    let mut script = Script::in_state(State::Up);
    script.bbr.on_marked(&Marked { now: ms(script.now), in_flight: 110 * MSS });
    assert_eq!((script.bbr.state, script.bbr.bounds.inflight_longterm), (State::Down, 110_000.0));
    let mut script = Script::in_state(State::Cruise);
    script.round(600.0);
    script.bbr.on_marked(&Marked { now: ms(script.now), in_flight: 110 * MSS });
    script.round(600.0);
    assert!(script.bbr.bounds.bandwidth < 1e6 && script.bbr.bounds.inflight_shortterm < 200_000.0);
    assert_eq!(script.bbr.bounds.inflight_longterm, f64::INFINITY);
}
