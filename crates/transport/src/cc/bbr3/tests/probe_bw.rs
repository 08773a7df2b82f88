//! Cycles of ProbeBW.

use super::*;

/// Appendix A.8: DOWN ends at one bandwidth-delay product of 100 segments, and 15 % below the long-term
/// bound.
#[test]
fn section_5_3_3_1_down_leaves_headroom() {
    for (bound, in_flight, cruises) in [
        (f64::INFINITY, 100, true),
        (f64::INFINITY, 101, false),
        (100_000.0, 85, true),
        (100_000.0, 86, false),
        (4_000.0, 4, true), // at least four segments
        (4_000.0, 5, false),
    ] {
        let mut script = Script::in_state(State::Cruise);
        script.bbr.state = State::Down;
        script.bbr.bounds.inflight_longterm = bound;
        let found = script.round_with(1000.0, |delivery| {
            (delivery.in_flight, delivery.in_flight_at_send) = (in_flight * MSS, MSS);
        });
        assert_eq!(found == State::Cruise, cruises, "{bound} {in_flight}: {found:?}");
    }
}

/// Appendix A.9: at 1000 segments per second a probe begins two to three seconds after the last one, in
/// CRUISE or, if the queue stays, in DOWN.
#[test]
fn section_5_3_3_8_a_probe_begins_after_two_to_three_seconds() {
    for in_flight in [100, 200] {
        let mut script = Script::in_state(State::Up);
        script.bbr.start_down(ms(script.now));
        script.bbr.round_trip.restart(ms(script.now));
        let start = script.now;
        let held = if in_flight == 100 { State::Cruise } else { State::Down };
        let mut wait = || script.round_with(1000.0, |delivery| delivery.in_flight = in_flight * MSS);
        let states: Vec<State> = std::iter::from_fn(|| Some(wait()).filter(|state| *state == held)).collect();
        assert_eq!(script.bbr.state, State::Refill, "{in_flight} {}", states.len());
        assert!((2_001..=3_101).contains(&(script.now - start)), "{}", script.now - start);
    }
}

/// With 20 segments in flight a probe begins after 19 or 20 round trips, as Reno would have grown by them.
/// More than 63 round trips never pass.
#[test]
fn section_5_3_3_8_small_windows_probe_as_often_as_reno() {
    for (rate, rounds) in [(1_000.0, 19..=20), (100_000.0, 62..=63)] {
        let mut script = Script::new();
        let deliver = |script: &mut Script| {
            let mut delivery = script.sampled(script.now + 20, rate, 20);
            delivery.in_flight = MSS;
            script.bbr.on_delivered(&delivery);
            script.bbr.window = 2_000_000.0;
            script.bbr.state
        };
        assert!((0..100).any(|_| deliver(&mut script) == State::Up));
        script.bbr.start_down(ms(script.now));
        let waited = (1..100).find(|_| deliver(&mut script) == State::Refill).unwrap();
        assert!(rounds.contains(&waited), "{rate}: {waited}");
    }
}

/// REFILL forgets the short-term bounds and lasts a round trip.
#[test]
fn section_5_3_3_3_refill_lasts_a_round_trip() {
    let mut script = Script::in_state(State::Cruise);
    (script.bbr.bounds.bandwidth, script.bbr.bounds.inflight_shortterm) = (500e3, 50_000.0);
    assert!((0..100).any(|_| script.round(1000.0) == State::Refill));
    assert_eq!(script.bbr.bounds, Bounds::default());
    // A delivery of a segment that was sent before.
    let delivery = script.sampled(script.now + 10, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { prior_delivered: delivery.prior_delivered - MSS, ..delivery });
    assert_eq!((script.bbr.state, script.bbr.probe.is_sample), (State::Refill, false));
    assert_eq!(script.round(1000.0), State::Up);
    assert!(script.bbr.probe.is_sample);
    assert!((script.bbr.pacing_rate / (0.99 * 1.25e6) - 1.0).abs() < 1e-9);
}

/// Appendices A.5 and A.7: UP ends after three round trips with less than a quarter more, unless the
/// application limits them.
#[test]
fn section_5_3_3_7_up_ends_at_a_plateau_of_the_bandwidth() {
    let mut script = Script::in_state(State::Up);
    for _ in 0..9 {
        assert_eq!(script.round_with(1000.0, |delivery| delivery.app_limited = true), State::Up);
    }
    assert_eq!([1000.0, 1250.0, 1300.0, 1300.0].map(|rate| script.round(rate)), [State::Up; 4]);
    assert_eq!(script.round_with(1300.0, |delivery| delivery.in_flight = 250 * MSS), State::Down);
}

/// Appendix A.15: a full window at the long-term bound raises the bound by 1, 2, 4 and 8 segments in
/// successive round trips, and the plateau is not counted.
#[test]
fn section_5_3_3_5_up_raises_the_long_term_bound_ever_faster() {
    let mut script = Script::in_state(State::Refill);
    script.bbr.bounds.inflight_longterm = 100_000.0;
    script.bbr.window = 100_000.0;
    assert_eq!(script.round(1000.0), State::Up);
    let mut bounds = Vec::new();
    for _ in 0..4 {
        // A window is delivered; its last segment ends the round trip.
        let window = script.bbr.window as u64;
        for (size, ends) in [(window - MSS, false), (MSS, true)] {
            let delivery = script.sampled(script.now + 50, 1000.0, 100);
            script.delivered += size - MSS;
            script.bbr.window_limited = [true; 2];
            let prior_delivered = if ends { delivery.prior_delivered } else { 0 };
            let delivered = script.delivered;
            script.bbr.on_delivered(&DeliverySample { size, delivered, prior_delivered, ..delivery });
            assert_eq!(script.bbr.state, State::Up);
        }
        bounds.push((script.bbr.bounds.inflight_longterm / 1e3) as u64);
    }
    assert_eq!(bounds, [101, 103, 107, 115]);
    // Data that was in flight without a loss is safe.
    script.round_with(1000.0, |delivery| delivery.in_flight_at_send = 150 * MSS);
    assert!(script.bbr.bounds.inflight_longterm >= 150_000.0);
    // An unused window raises nothing.
    let before = script.bbr.bounds.inflight_longterm;
    script.bbr.window_limited = [false; 2];
    (0..3).for_each(|_| _ = script.round(1000.0));
    assert_eq!(script.bbr.bounds.inflight_longterm, before);
}

/// After a probe with too many losses, the next one ends as soon as the bound is reached. If that was safe,
/// another follows at once.
#[test]
fn section_5_3_3_6_a_probe_after_a_failed_one_is_precautionary() {
    let mut script = Script::in_state(State::Up);
    script.lose(0, 120, 3);
    assert_eq!(script.bbr.state, State::Down);
    assert!(script.bbr.probe.was_too_high);
    let bound = script.bbr.bounds.inflight_longterm;
    script.bbr.round_trip.restart(ms(script.now));
    let quiet = |delivery: &mut DeliverySample| delivery.in_flight = 80 * MSS;
    assert!((0..100).any(|_| script.round_with(1000.0, quiet) == State::Up));
    let reached = |delivery: &mut DeliverySample| delivery.in_flight = bound as u64 + 1;
    assert_eq!(script.round_with(1000.0, reached), State::Down);
    assert_eq!(script.round_with(1000.0, quiet), State::Refill, "no cruising");
    assert_eq!(script.round_with(1000.0, quiet), State::Up);
    assert_eq!(script.round_with(1000.0, reached), State::Up, "which lasts");
}
