//! Tests of the connections and routers that parameters give.

use super::router::testing::{EGRESS, delta, packet, pass};
use super::*;
use crate::Scheme;
use crate::testing::{hop, returned};
use multihop_core::{DropCause, Dropped, FlowId, LinkEvent, Span, Time};
use multihop_transport::SackedAtTimeout;
use serde_json::{Value, from_value, json};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn connection(parameters: Value) -> XcpConnection {
    from_value(parameters).unwrap()
}

/// 1460 bytes, 40 of TCP and IP, 12 of timestamps and 20 of the congestion header (draft-falk-xcp-spec-03).
#[test]
fn every_packet_has_the_congestion_header_and_timestamps() {
    for scheme in [
        TcpScheme::options(&Xcp::default()),
        TcpScheme::options(&XcpB::default()),
        TcpScheme::options(&XcpWinf::default()),
    ] {
        assert_eq!(scheme.congestion_header, CongestionHeader::of(20));
        assert!(scheme.timestamps);
        assert_eq!(scheme.packet_size(), 1_532);
    }
    let options = connection(json!({ "timestamps": false })).options();
    assert_eq!((options.timestamps, options.packet_size()), (false, 1_520));
    let ns2 = connection(json!({ "flavour": "ns2" })).options();
    assert_eq!((ns2.congestion_header, ns2.timestamps), (CongestionHeader::of(20), true));
}

/// `Agent/TCP/Reno/XCP` repairs losses like Reno and uses feedback of new acknowledgements only.
#[test]
fn loss_recovery_follows_the_flavour() {
    let rfc = connection(json!({})).options();
    assert_eq!((rfc.recovery, rfc.feedback_of_duplicates), (Recovery::Sack, true));
    assert_eq!(rfc.keep_sacked, SackedAtTimeout::Kept);
    let forgets = connection(json!({ "keep_sacked": false })).options();
    assert_eq!(forgets.keep_sacked, SackedAtTimeout::Forgotten);
    let ns2 = connection(json!({ "flavour": "ns2" })).options();
    assert_eq!((ns2.recovery, ns2.feedback_of_duplicates), (Recovery::Reno, false));
}

/// Three segments at first, at most five. Of a desired 1 MB/s, 3000 bytes in 100 ms give 30 kB/s. Each of
/// three packets requests a third of the rest.
#[test]
fn senders_have_the_windows_and_requests_of_their_parameters() {
    let given = json!({ "segment_size": "1000 B", "window": 5, "initial_window": 3, "desired": "8 Mb/s" });
    let senders: [Box<dyn Controller>; 3] = [
        TcpScheme::control(&from_value::<Xcp>(given.clone()).unwrap()),
        TcpScheme::control(&from_value::<XcpB>(given.clone()).unwrap()),
        TcpScheme::control(&from_value::<XcpWinf>(given).unwrap()),
    ];
    for mut sender in senders {
        assert_eq!(sender.allowance().window, 3_000);
        let rtt = Some(Span::from_ms(100));
        sender.on_feedback(&returned(&XcpHeader::default(), rtt));
        let Some(header) = sender.stamp(1_000).parse::<XcpHeader>() else { panic!() };
        assert_eq!(header.delta, 970_000 / 3);
        sender.on_feedback(&returned(&XcpHeader { reverse: i32::MAX, ..XcpHeader::default() }, rtt));
        assert_eq!(sender.allowance().window, 5_000);
    }
}

#[test]
fn the_round_trip_limit_is_that_of_the_scheme_unless_given() {
    let defaults = ControlDefaults { max_rtt: Duration(0.5), ..ControlDefaults::PUBLISHED };
    assert_eq!(XcpControl::default().constants(&defaults), XcpConstants { gamma: 0.1, max_rtt: 0.5 });
    let given = XcpControl { gamma: 0.2, max_rtt: Some(Duration(2.0)), ..XcpControl::default() };
    assert_eq!(given.constants(&defaults), XcpConstants { gamma: 0.2, max_rtt: 2.0 });
}

/// Returns the grants of one packet of each of two flows, in the control interval from 125 ms, which follows
/// that of 25 to 125 ms. Packets of 1000 bytes alternate between the flows every millisecond. `x` are the
/// times between packets of the flows in ms; round trips are 100 ms. `waiting` bytes are in the queue, and
/// 3000 bytes are lost at 60 ms if `lost`.
fn granted(scheme: &dyn Scheme, egress: &EgressQueue, x: [u32; 2], waiting: u64, lost: bool) -> [i32; 2] {
    let mut router = scheme.router(NodeId(0), egress).unwrap();
    let view = LinkView { queue_bytes: waiting, ..LinkView::default() };
    let mut granted = [0; 2];
    for at in 0..130 {
        if lost && at == 60 {
            let cause = DropCause::QueueFull;
            let dropped = Dropped { node: NodeId(0), flow: FlowId(0), size: 3_000, at: ms(at), cause };
            router.on_link(&LinkEvent::Dropped(dropped));
        }
        let which = usize::from(at % 2 == 1);
        granted[which] = pass(router.as_mut(), ms(at), packet(100, x[which], i32::MAX), &view);
    }
    granted
}

/// 1 MB/s of 2 MB/s arrive. 0.4 of the spare capacity is 400 kB/s, or 4000 B/s for each of 100 packets. A
/// flow with half the packet rate gets twice as much per packet (100 / 75 and 50 / 75 of 400 kB/s over 50).
#[test]
fn spare_capacity_is_divided_by_the_time_between_packets() {
    let xcp: Xcp = from_value(json!({ "capacity": "16 Mb/s" })).unwrap();
    let near = |found: [i32; 2], expected: [i32; 2]| {
        found.iter().zip(expected).all(|(found, expected)| (expected - 1..=expected).contains(found))
    };
    let equal = granted(&xcp, &EGRESS, [5, 5], 0, false);
    assert!(near(equal, [4_000, 4_000]), "{equal:?}");
    let unequal = granted(&xcp, &EGRESS, [10, 5], 0, false);
    assert!(near(unequal, [5_333, 2_666]), "{unequal:?}");
}

/// XCP-b with 50 packets of 1532 bytes in the buffer. An empty queue gives `chi B / d`, 0.2 of 76 600 bytes
/// in 100 ms, for 100 packets. A queue below its target, a tenth of the buffer, adds `beta` of the
/// difference. Losses count as a rise of the queue, at `alpha` of it in 100 ms.
#[test]
fn xcp_b_depends_on_its_buffer() {
    let of = |parameters: Value, egress: &EgressQueue, waiting: u64, lost: bool| {
        let scheme: XcpB = from_value(parameters).unwrap();
        let [one, other] = granted(&scheme, egress, [5, 5], waiting, lost);
        assert!((one - other).abs() <= 1, "{one} {other}");
        one.max(other)
    };
    let near =
        |found: i32, expected: f64| assert!((f64::from(found) - expected).abs() <= 2.0, "{found} {expected}");
    let short = EgressQueue { queue_limit: 10, ..EGRESS };
    near(of(json!({}), &EGRESS, 0, false), 1_532.0);
    near(of(json!({ "chi": 0.3 }), &EGRESS, 0, false), 2_298.0);
    near(of(json!({ "buffer": "100000 B" }), &EGRESS, 0, false), 2_000.0);
    near(of(json!({}), &short, 0, false), 306.4);
    near(of(json!({}), &EGRESS, 1_500, false), 2.26 * (7_660.0 - 1_500.0) / 100.0);
    // The target is at least two packets.
    near(of(json!({}), &short, 1_500, false), 2.26 * (3_064.0 - 1_500.0) / 100.0);
    near(of(json!({ "target_queue": "9000 B" }), &EGRESS, 1_500, false), 2.26 * 75.0);
    near(of(json!({}), &EGRESS, 0, true), 2.26 * 76.6 - 4.0 * 30.0);
}

/// A packet without a round-trip time counts as input, but has no weight.
#[test]
fn a_packet_without_a_round_trip_has_no_weight() {
    let xcp: Xcp = from_value(json!({ "capacity": "16 Mb/s" })).unwrap();
    let mut router = xcp.router(NodeId(0), &EGRESS).unwrap();
    let view = LinkView::default();
    for at in 0..130 {
        let known = if at % 2 == 1 { 100 } else { 0 };
        let mut packet = packet(known, 5, i32::MAX);
        router.on_arrival(hop(ms(at)), &mut packet, &view);
        router.on_head_of_line(hop(ms(at)), &mut packet, &view);
        if at == 129 {
            assert!((7_998..=8_000).contains(&delta(&packet)), "400 kB/s among 50: {}", delta(&packet));
        }
    }
}
