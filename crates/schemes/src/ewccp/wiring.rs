//! Tests of the router constants and senders that parameters give.

use super::header::EwccpHeader;
use super::router::SharedCapacity;
use super::*;
use crate::testing::{EGRESS, returned};
use multihop_core::{Bits, HeaderBytes, Rate, Segment, Span};
use serde_json::{Value, from_value, json};

fn scheme(parameters: Value) -> Ewccp {
    from_value(parameters).unwrap()
}

/// 1 Mb/s is 125 kB/s.
#[test]
fn the_capacity_of_a_neighbourhood_follows_from_parameters() {
    let wire = EgressQueue { is_wired: true, ..EGRESS };
    let constant = |parameters, egress: &EgressQueue| match scheme(parameters).constants(egress).capacity {
        SharedCapacity::Constant(rate) => rate,
        SharedCapacity::Share(psi) => psi * egress.rate.bps() as f64 / 8.0,
        SharedCapacity::Measured { least } => -least,
    };
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    near(constant(json!({}), &EGRESS), 0.22 * 125e3);
    near(constant(json!({ "psi": 0.5 }), &EGRESS), 62_500.0);
    near(constant(json!({ "capacity": "400 kb/s" }), &EGRESS), 50_000.0);
    near(constant(json!({}), &wire), 125e3);
    near(constant(json!({ "load": "measured" }), &EGRESS), -0.1);
    near(constant(json!({ "load": "measured" }), &wire), 125e3);
}

#[test]
fn routers_have_the_constants_of_their_parameters() {
    let constants = scheme(json!({})).constants(&EGRESS);
    assert_eq!((constants.threshold, constants.round), (1_460.0, Span::from_ms(100)));
    assert_eq!((constants.signalling, constants.lifetime), (Some(Span::from_ms(100)), Span::from_ms(300)));
    assert_eq!((constants.header, constants.entry, constants.hops), (28, 6, 1));
    assert_eq!((constants.hashing.bits, constants.hashing.hashes), (128, 4));
    let wire = EgressQueue { is_wired: true, ..EGRESS };
    assert_eq!(scheme(json!({})).constants(&wire).signalling, None, "a wire has no neighbours");
    let given = scheme(json!({
        "gamma": "3000 B", "lifetime": "1 s", "signalling_hops": 2, "signalling_interval": "50 ms",
        "signalling_header": "40 B", "entry_size": "12 B", "summary_bits": 64, "summary_hashes": 3,
    }));
    let constants = given.constants(&EGRESS);
    assert_eq!((constants.threshold, constants.lifetime), (3_000.0, Span::from_ms(1_000)));
    assert_eq!((constants.hops, constants.signalling), (2, Some(Span::from_ms(50))));
    assert_eq!((constants.header, constants.entry), (40, 12));
    assert_eq!((constants.hashing.bits, constants.hashing.hashes), (64, 3));
}

/// 1460 bytes, 40 of TCP and IP, 8 of the header, 4 of the link's part, 16 or 4 of its summary, and 12 of
/// timestamps. With a window of one segment, a packet leaves every 100 ms.
#[test]
fn a_sender_is_paced_by_whole_packets() {
    for (parameters, size, words) in [
        (json!({ "probe": false }), 1_528, 5),
        (json!({ "probe": false, "timestamps": true }), 1_540, 5),
        (json!({ "probe": false, "summary_bits": 32 }), 1_516, 2),
    ] {
        let mut sender = TcpScheme::control(&scheme(parameters));
        sender.on_opened(Span::from_ms(100));
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(size * 80)));
        let header = sender.stamp(1_460).parse::<EwccpHeader>().unwrap();
        assert_eq!(header.words, Bits(words));
    }
}

/// Unlimited debit leaves half of a segment, the minimum window. Unlimited credit leaves the receive window.
#[test]
fn the_window_stays_between_the_bounds_of_its_parameters() {
    let given = json!({ "segment_size": "1000 B", "least_window": 0.5, "window": 5, "timestamps": false });
    let mut sender = TcpScheme::control(&scheme(given));
    sender.on_opened(Span::from_ms(100));
    let reported =
        |probe| EwccpHeader { packets: Bits(1), feedback: u32::MAX, probe, ..EwccpHeader::default() };
    sender.stamp(1_000);
    sender.on_feedback(&returned(&reported(true), None));
    assert_eq!(sender.allowance().window, 5_000);
    sender.on_feedback(&returned(&reported(false), None));
    assert_eq!(sender.allowance().window, 1_000);
    // Half of a packet of 1068 bytes in 100 ms.
    assert_eq!(sender.allowance().pace, Some(Rate::from_bps(534 * 80)));
}

/// Header units are 100 us; at least one unit, and at most 16 bits.
#[test]
fn round_trips_are_in_units_of_a_tenth_of_a_millisecond() {
    assert_eq!([0.0, 1e-4, 0.05, 1.0, 60.0].map(EwccpHeader::rtt_units), [1, 1, 500, 10_000, u16::MAX]);
    assert_eq!(EwccpHeader::rtt_seconds(500), 0.05);
}

/// Feedback after the answer to a probe is not added to it.
#[test]
fn feedback_is_not_added_to_the_answer_to_a_probe() {
    let mut echo = TcpScheme::echo(&scheme(json!({}))).unwrap();
    for (feedback, probe) in [(7, true), (12, false)] {
        let header = EwccpHeader { packets: Bits(1), feedback, probe, ..EwccpHeader::default() };
        echo.note(&Segment { feedback: HeaderBytes::of(&header), ..Segment::default() });
    }
    let sum = echo.take().parse::<EwccpHeader>().unwrap();
    assert_eq!((sum.packets, sum.feedback, sum.probe), (Bits(1), 12, false));
    // The counts are returned once, so the next acknowledgement covers no packet.
    assert_eq!(echo.take().parse::<EwccpHeader>(), Some(EwccpHeader::default()));
}

#[test]
fn a_summary_must_be_a_multiple_of_32_bits() {
    for (bits, good) in [(31, false), (32, true), (48, false), (96, true), (128, true), (160, false)] {
        let built = crate::find("ewccp").unwrap().build(&json!({ "summary_bits": bits }));
        assert_eq!(built.is_ok(), good, "{bits}");
    }
}
