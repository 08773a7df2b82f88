//! Rules of Linux on scripted deliveries.

use super::super::state::CYCLE;
use super::*;

/// With the rules of Linux: 2 * 100 segments, three quanta of two, and the excess of one segment per
/// acknowledgement are 207, rounded up to an even number; two more in the probing phase. The pace is 1 %
/// lower.
#[test]
fn linux_rounds_the_window_up_and_paces_below_the_bandwidth() {
    let options = BbrOptions { rules: BbrRules::Linux, ..BbrOptions::draft(MSS as u32, 10 * MSS) };
    let mut script = Script { bbr: Bbr::new(options), ..Script::new() };
    for _ in 0..400 {
        script.round(1000.0);
    }
    for _ in 0..16 {
        // The window of an acknowledgement is that of the phase in which it ends.
        let delivery = script.sampled(script.now + 101, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample { in_flight_before: 140 * MSS, ..delivery });
        let phase = script.phase();
        let segments = script.window() / MSS;
        assert!(segments == 208 || (phase == 0 && (208..=210).contains(&segments)), "{phase}: {segments}");
        assert!((script.bbr.pacing_rate / (0.99 * CYCLE[phase] * 1e6) - 1.0).abs() < 1e-9);
    }
    assert_eq!(script.bbr.inflight(1.0), 106_000.0 + if script.phase() == 0 { 2_000.0 } else { 0.0 });
    // Twelve segments at once are an excess of eleven, plus one as before.
    for _ in 0..12 {
        let delivery = script.sampled(script.now, 1000.0, 100);
        script.bbr.on_delivered(&DeliverySample {
            prior_delivered: 0,
            in_flight_before: 140 * MSS,
            ..delivery
        });
    }
    assert_eq!(script.bbr.aggregation.excess(1e6), 13_000.0);
}

/// The handshake is a round-trip sample for Linux, but not for the draft as implemented here.
#[test]
fn linux_takes_the_handshake_for_a_round_trip() {
    for (rules, least) in [(BbrRules::Draft, 100), (BbrRules::Linux, 40)] {
        let mut bbr = Bbr::new(BbrOptions { rules, ..BbrOptions::draft(MSS as u32, 10 * MSS) });
        bbr.on_opened(Span::from_ms(40));
        let mut script = Script { bbr, ..Script::new() };
        script.round(1000.0);
        assert_eq!(script.bbr.round_trip.value(), Some(Span::from_ms(least)), "{rules:?}");
    }
}

/// A script with the rules of Linux, in phase 2 of ProbeBW at 1000 segments per second and 100 ms, with a
/// full window.
fn probing() -> Script {
    let options = BbrOptions { rules: BbrRules::Linux, ..BbrOptions::draft(MSS as u32, 10 * MSS) };
    let mut script = Script { bbr: Bbr::new(options), ..Script::new() };
    for _ in 0..400 {
        script.round(1000.0);
    }
    script.bbr.state = BbrState::ProbeBw { phase: 2, since: ms(script.now) };
    script.round(1000.0);
    script
}

/// `bbr_set_cwnd_to_recover_or_restore` follows the state of recovery. A recovery that begins during the
/// response to an ECN-Echo is not reported as a loss. The window before the echo is restored at its end, and
/// one segment fewer is in flight per lost segment.
#[test]
fn linux_conserves_packets_in_a_recovery_after_an_echo() {
    let mut script = probing();
    let before = script.window();
    script.bbr.on_marked(&Marked { now: ms(script.now), in_flight: 100 * MSS });
    assert_eq!(script.window(), before);
    let mut deliver = |prior: u64, in_flight: u64, lost: u64, fast_recovery: bool| {
        let delivery = script.sampled(script.now + 1, 1000.0, 100);
        let (in_flight, lost, recovering) = (in_flight * MSS, lost * MSS, fast_recovery);
        let prior_delivered = delivery.prior_delivered - prior * MSS;
        let delivery =
            DeliverySample { prior_delivered, in_flight, lost, recovering, fast_recovery, ..delivery };
        script.bbr.on_delivered(&delivery);
        script.window() / MSS
    };
    assert_eq!(deliver(50, 90, 10, true), 91, "as much as was delivered");
    assert_eq!(deliver(50, 90, 0, true), 91);
    assert_eq!(deliver(50, 80, 5, true), 86);
    assert_eq!(deliver(0, 80, 0, true), 87, "a round trip later the window grows");
    assert_eq!(deliver(0, 80, 0, false) * MSS, before, "restored");
}

/// A recovery that the same acknowledgement begins and ends is not seen by `bbr_main`.
#[test]
fn linux_keeps_its_window_in_a_recovery_that_ends_at_once() {
    let mut script = probing();
    let before = script.window();
    script.bbr.on_lost(&Lost { now: ms(script.now), kind: LossKind::DuplicateAcks, in_flight: before });
    let delivery = script.sampled(script.now + 1, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 10 * MSS, ..delivery });
    assert!(script.window() >= before, "{}", script.window());
}

/// `bbr_tso_segs_goal`: the pace shifted right by 10 or by the shift of the device, in segments of 1000
/// bytes. `bbr_min_tso_segs`: one segment below 1.2 Mb/s, and two above.
#[test]
fn linux_takes_the_burst_from_the_pacing_shift() {
    for (shift, pace, segments) in [
        (10, 149_999.0, 1.0),
        (10, 150_000.0, 2.0),
        (10, 3_071_999.0, 2.0),
        (10, 3_072_000.0, 3.0),
        (8, 3_072_000.0, 12.0),
        (10, 1e9, 65.0),
        (5, 1e9, 65.0),
    ] {
        let draft = BbrOptions::draft(MSS as u32, 10 * MSS);
        let mut bbr = Bbr::new(BbrOptions { rules: BbrRules::Linux, pacing_shift: shift, ..draft });
        bbr.pacing_rate = pace;
        assert_eq!(bbr.burst_segments(), segments, "{shift} {pace}");
    }
    let draft = BbrOptions::draft(100, 10 * MSS);
    let mut bbr = Bbr::new(BbrOptions { rules: BbrRules::Linux, ..draft });
    bbr.pacing_rate = 1e9;
    assert_eq!(bbr.burst_segments(), 127.0);
}

/// `bbr_packets_in_net_at_edt`: at 1000 segments per second, 3 ms until the next departure deliver three
/// segments. A probe counts the burst that departs then, of two segments at 8 Mb/s.
#[test]
fn linux_counts_the_data_in_flight_at_the_next_departure() {
    let mut script = probing();
    for (phase, departs_in, in_flight) in [(2, 0, 100.0), (2, 3, 97.0), (0, 3, 99.0), (2, 200, 0.0)] {
        script.bbr.state = BbrState::ProbeBw { phase, since: ms(0) };
        let delivery = script.sampled(script.now, 1000.0, 100);
        let departure = delivery.now + Span::from_ms(departs_in);
        let delivery = DeliverySample { departure, ..delivery };
        let found = script.bbr.in_flight_at_departure(&delivery, 100 * MSS) / MSS as f64;
        assert!((found - in_flight).abs() < 1e-9, "{phase} {departs_in}: {found}");
    }
    // The phase of draining ends at 106 segments, which 109 in flight are three milliseconds later.
    script.bbr.state = BbrState::ProbeBw { phase: 1, since: ms(script.now) };
    let delivery = script.sampled(script.now + 1, 1000.0, 100);
    let departure = delivery.now + Span::from_ms(3);
    script.bbr.on_delivered(&DeliverySample { in_flight_before: 109 * MSS, departure, ..delivery });
    assert_eq!(script.phase(), 2);
}

/// `bbr_init_pacing_rate_from_rtt`: if no handshake was timed, the first round trip of data sets the first
/// pace, below that of a round trip of 1 ms.
#[test]
fn linux_takes_the_first_pace_from_the_first_round_trip() {
    let options = BbrOptions { rules: BbrRules::Linux, ..BbrOptions::draft(MSS as u32, 10 * MSS) };
    let mut script = Script { bbr: Bbr::new(options), ..Script::new() };
    let delivery = script.sampled(100, 10.0, 100);
    script.bbr.on_delivered(&DeliverySample { rtt: None, ..delivery });
    assert!(script.bbr.pacing_rate > 28e6);
    let window = script.window() as f64;
    script.round(10.0);
    assert!((script.bbr.pacing_rate / (0.99 * HIGH_GAIN * window / 0.1) - 1.0).abs() < 1e-9);
    script.round(10.0);
    assert!(script.bbr.pacing_rate < 0.99 * HIGH_GAIN * 10.0 * window, "once only");
}

/// `bbr_cwnd_event`: ProbeRTT ends with the first segment after an idle period that outlasted it.
#[test]
fn linux_ends_a_measurement_of_the_round_trip_after_a_silence() {
    let mut script = probing();
    let before = script.window();
    let now = script.now;
    let mut slow = |after: u64| {
        let delivery = script.sampled(now + after, 1000.0, 120);
        script.bbr.on_delivered(&DeliverySample { in_flight: 4 * MSS, ..delivery });
    };
    slow(10_001);
    let first = |after| SentSegment {
        now: ms(now + after),
        size: 1000,
        packet: 1040,
        in_flight: 1000,
        retransmission: false,
        app_limited: true,
    };
    script.bbr.on_sent(&first(10_201));
    assert_eq!((script.window(), script.bbr.state.is_probe_rtt()), (4_000, true), "200 ms, not more");
    script.bbr.on_sent(&first(10_202));
    assert_eq!((script.window(), script.bbr.state.is_probe_rtt()), (before, false));
}

/// `bbr_update_bw`: an acknowledgement without a valid rate neither begins a round trip nor ends packet
/// conservation.
#[test]
fn linux_counts_round_trips_by_acknowledgements_with_a_rate() {
    let mut script = probing();
    let rounds = script.bbr.rounds.count;
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { rate: None, ..delivery });
    assert_eq!((script.bbr.rounds.count, script.bbr.rounds.started), (rounds, false));
    script.round(1000.0);
    assert_eq!((script.bbr.rounds.count, script.bbr.rounds.started), (rounds + 1, true));
}

/// `bbr_lt_bw_sampling`: two intervals of four round trips lose a third of the data at 500 segments per
/// second, while single samples are of 1000. The path is policed: the pace is the rate of both intervals, and
/// the phases have no gain. 48 round trips of ProbeBW later the maximum counts again.
#[test]
fn linux_paces_by_the_rate_of_a_policer() {
    let mut script = probing();
    let mut policed = |rounds: u64, lost: u64| {
        for _ in 0..rounds {
            // Fifty segments per round trip of 100 ms.
            let delivery = script.sampled(script.now + 100, 1000.0, 100);
            script.delivered += 49 * MSS;
            let (start, size) = (delivery.delivered, lost * MSS);
            let lost = LostSegment {
                start,
                size,
                in_flight_at_send: 100 * MSS,
                lost_since_send: size,
                app_limited: false,
            };
            script.bbr.on_segment_lost(&lost);
            let (size, delivered) = (50 * MSS, script.delivered);
            script.bbr.on_delivered(&DeliverySample { size, delivered, lost: lost.size, ..delivery });
        }
        script.bbr.policer.rate()
    };
    assert_eq!(policed(7, 25), None);
    let rate = policed(1, 25).unwrap();
    assert!((rate / 500e3 - 1.0).abs() < 0.01, "{rate}");
    assert!((script.bbr.pacing_rate / (0.99 * rate) - 1.0).abs() < 1e-9);
    assert_eq!(script.bbr.pacing_gain(), 1.0);
    assert_eq!(script.bbr.max_bandwidth(), 1e6);
    for _ in 0..48 {
        assert!(script.bbr.policer.rate().is_some());
        script.round(1000.0);
    }
    assert_eq!(script.bbr.policer.rate(), None);
    // A needless recovery restarts the search.
    script.bbr.on_undone();
    assert_eq!(script.bbr.bandwidth(), 1e6);
}

/// A timeout leaves a segment, and conservation of packets as it was (`bbr_set_state`).
#[test]
fn linux_restores_its_window_after_a_timeout() {
    let mut script = probing();
    let before = script.window();
    let timeout =
        Lost { now: ms(script.now), kind: LossKind::Timeout { again: false }, in_flight: 100 * MSS };
    script.bbr.on_lost(&timeout);
    assert_eq!(script.window(), MSS);
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 0, recovering: true, ..delivery });
    assert_eq!(script.window(), 4 * MSS);
    let delivery = script.sampled(script.now + 100, 1000.0, 100);
    script.bbr.on_delivered(&DeliverySample { in_flight: 3 * MSS, ..delivery });
    assert_eq!(script.window(), before);
}
