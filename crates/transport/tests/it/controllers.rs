//! Common behaviour of congestion controls and the one whose window they use, through the interface only.

use multihop_core::{Rate, Span, Time};
use multihop_transport::{
    Acked, AdaptivePacing, AdaptivePacingOptions, BandwidthFilter, Controller, Cubic, CubicOptions, LossKind,
    Lost, Marked, Recovered, Reno, RenoOptions, SentSegment, Vegas, VegasOptions, Westwood, WestwoodOptions,
};

const MSS: u64 = 1_000;

/// An initial window of eight segments, and slow start up to twenty.
fn reno() -> RenoOptions {
    RenoOptions {
        initial_window: Some(8),
        initial_threshold: Some(20),
        ..RenoOptions::rfc(MSS as u32, 64 * MSS)
    }
}

/// Controllers that open and reduce the window as Reno does, except for their own rules.
fn all() -> Vec<(&'static str, Box<dyn Controller>)> {
    let filter = BandwidthFilter::Exponential;
    vec![
        ("reno", Box::new(Reno::new(reno()))),
        ("cubic", Box::new(Cubic::new(CubicOptions::rfc(reno())))),
        ("vegas", Box::new(Vegas::new(VegasOptions::rfc(reno())))),
        ("westwood", Box::new(Westwood::new(WestwoodOptions { reno: reno(), filter }))),
        ("ap", Box::new(AdaptivePacing::new(AdaptivePacingOptions::published(reno())))),
    ]
}

fn acked(size: u64) -> Acked {
    Acked {
        now: Time::ZERO,
        size,
        fresh: size,
        rtt: None,
        srtt: None,
        in_flight: 8 * MSS,
        app_limited: false,
        ecn_echo: false,
        hops: 1,
    }
}

fn state(controller: &dyn Controller) -> (u64, Option<u64>) {
    (controller.allowance().window, controller.slow_start_threshold())
}

/// RFC 5681, section 3.1: slow start adds at most a segment per acknowledged segment, and the threshold
/// stays. Vegas first waits for a round trip.
#[test]
fn rfc_5681_3_1_slow_start() {
    for (name, mut controller) in all() {
        assert_eq!(state(&*controller), (8_000, Some(20_000)), "{name}");
        for size in [1_000, 2_000, 400] {
            controller.on_acked(&acked(size));
        }
        let window = if name == "vegas" { 8_000 } else { 10_400 };
        assert_eq!(state(&*controller), (window, Some(20_000)), "{name}");
        // No growth on an echo, nor if the application does not use the window (RFC 3168, 6.1.2; RFC 9438,
        // 5.8).
        controller.on_acked(&Acked { ecn_echo: true, ..acked(1_000) });
        controller.on_acked(&Acked { app_limited: true, ..acked(1_000) });
        assert_eq!(controller.allowance().window, window, "{name}");
    }
}

/// RFC 6582, section 3.2, step 3: at the end of recovery the window is at most the given one, and at least a
/// segment.
#[test]
fn rfc_6582_3_2_the_end_of_recovery() {
    for (name, mut controller) in all() {
        for (window, expected) in [(9_000, 8_000), (3_000, 3_000), (500, 1_000)] {
            controller.on_recovered(&Recovered { now: Time::ZERO, in_flight: 0, window });
            assert_eq!(controller.allowance().window, expected, "{name} {window}");
        }
    }
}

/// RFC 5681, section 4.1: after an idle period the window is at most the initial one.
#[test]
fn rfc_5681_4_1_a_silence() {
    for (name, mut controller) in all() {
        (0..4).for_each(|_| controller.on_acked(&acked(1_000)));
        controller.on_idle(Time::ZERO);
        assert_eq!(state(&*controller), (8_000, Some(20_000)), "{name}");
        controller.on_recovered(&Recovered { now: Time::ZERO, in_flight: 0, window: 3_000 });
        controller.on_idle(Time::ZERO);
        assert_eq!(controller.allowance().window, 3_000, "{name}");
    }
}

/// A timeout sets the window to one segment, and the threshold to half of the data in flight; CUBIC to 0.7 of
/// it (RFC 9438, section 4.8). A second timeout keeps the threshold (RFC 5681, equation 4), and so does a
/// timeout with nothing outstanding.
#[test]
fn rfc_5681_3_1_timeouts() {
    for (name, mut controller) in all() {
        let lost = |again, in_flight| {
            let kind = LossKind::Timeout { again };
            Lost { now: Time::ZERO, kind, in_flight }
        };
        controller.on_lost(&lost(false, 0));
        assert_eq!(state(&*controller), (1_000, Some(20_000)), "{name}");
        controller.on_lost(&lost(false, 8_000));
        let threshold = Some(if name == "cubic" { 5_600 } else { 4_000 });
        assert_eq!(state(&*controller), (1_000, threshold), "{name}");
        controller.on_lost(&lost(true, 3_000));
        assert_eq!(state(&*controller), (1_000, threshold), "{name}");
    }
}

/// An echo counts as a loss without a lost segment (RFC 3168, section 6.1.2): half, and 0.7 for CUBIC.
#[test]
fn rfc_3168_6_1_2_echoes() {
    for (name, mut controller) in all() {
        controller.on_marked(&Marked { now: Time::ZERO, in_flight: 8_000 });
        let left = if name == "cubic" { 5_600 } else { 4_000 };
        assert_eq!(state(&*controller), (left, Some(left)), "{name}");
        controller.on_marked(&Marked { now: Time::ZERO, in_flight: 30_000 });
        assert!(controller.allowance().window <= left, "{name}: an echo does not open the window");
    }
}

/// Three duplicates: half of the data in flight (RFC 5681, equation 4), 0.7 of it but at most of the window
/// (CUBIC), or a quarter less than the window (Vegas, as in ns-2).
#[test]
fn rfc_5681_3_2_duplicates() {
    for (name, mut controller) in all() {
        let (now, kind) = (Time::ZERO, LossKind::DuplicateAcks);
        controller.on_lost(&Lost { now, kind, in_flight: 10_000 });
        let expected = match name {
            "cubic" => (5_600, Some(5_600)),
            "vegas" => (6_000, Some(2_000)),
            _ => (5_000, Some(5_000)),
        };
        assert_eq!(state(&*controller), expected, "{name}");
    }
}

/// After an idle period CUBIC starts a new epoch: the plateau is the present window (RFC 9438, section 4.8),
/// so that a second later the target is 0.4 segments above. Before, the plateau was that of the loss.
#[test]
fn rfc_9438_4_8_a_silence_begins_a_stage() {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let grown = |silent: bool| {
        let options = RenoOptions { initial_window: Some(100), ..RenoOptions::rfc(MSS as u32, 900 * MSS) };
        let mut cubic = Cubic::new(CubicOptions::rfc(options));
        let (kind, in_flight) = (LossKind::DuplicateAcks, 100 * MSS);
        cubic.on_lost(&Lost { now: at(0), kind, in_flight });
        if silent {
            cubic.on_idle(at(0));
        }
        cubic.on_acked(&Acked { now: at(0), ..acked(0) });
        cubic.on_acked(&Acked { now: at(1_000), ..acked(70_000) });
        cubic.allowance().window
    };
    // K = 0: 70 + 0.4 against Reno's estimate of 70.529. K = 4.217: 100 - 0.4 * 3.217^3 = 86.68.
    assert_eq!(grown(true), 70_529);
    assert_eq!(grown(false) / 10, 8_668);
}

/// Vegas of ns-2 uses the round trip of the SYN as a sample, and continues with two segments after a timeout.
#[test]
fn vegas_of_ns2_has_its_own_options() {
    for (options, window, timeout) in [
        (VegasOptions::rfc(reno()), 1_000, None),
        // 100 ms, plus twice the deviation of 50 ms.
        (VegasOptions::ns2(reno()), 2_000, Some(Span::from_ms(200))),
    ] {
        let mut vegas = Vegas::new(options);
        vegas.on_opened(Span::from_ms(100));
        assert_eq!(vegas.fine_grained_rto(), timeout);
        let kind = LossKind::Timeout { again: false };
        vegas.on_lost(&Lost { now: Time::ZERO, kind, in_flight: 8_000 });
        assert_eq!(vegas.allowance().window, window);
    }
}

/// Adaptive pacing stops at a loss and restarts at the end of recovery.
#[test]
fn adaptive_pacing_begins_again_after_recovery() {
    let mut pacing = AdaptivePacing::new(AdaptivePacingOptions::published(reno()));
    let (now, kind, in_flight) = (Time::ZERO, LossKind::DuplicateAcks, 8_000);
    pacing.on_lost(&Lost { now, kind, in_flight });
    assert_eq!(pacing.allowance().pace, None);
    let (size, packet) = (1_000, 1_040);
    pacing.on_sent(&SentSegment { now, size, packet, in_flight, retransmission: false, app_limited: false });
    pacing.on_recovered(&Recovered { now, in_flight, window: 4_000 });
    // 1040 bytes in the first interval of 50 ms.
    assert_eq!(pacing.allowance().pace.map(Rate::bps), Some(166_400));
    // With an unknown number of hops there is no delay.
    let rtt = Some(Span::from_ms(100));
    pacing.on_acked(&Acked { rtt, hops: 0, ..acked(1_000) });
    assert_eq!(pacing.interval(), 0.05);
    pacing.on_acked(&Acked { rtt, hops: 4, ..acked(1_000) });
    assert!(pacing.interval() > 0.05);
}
