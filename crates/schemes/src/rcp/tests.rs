//! Tests of the connections and routers that parameters give.

use super::*;
use crate::testing::{self, hop};
use crate::xcp::router::testing::EGRESS;
use multihop_core::{Ecn, HeaderBytes, Rate, Span, Time};
use multihop_link::QueueEvent;
use multihop_transport::SackedAtTimeout;
use serde_json::{Value, from_value, json};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn rcp(parameters: Value) -> Rcp {
    from_value(parameters).unwrap()
}

/// 1460 bytes, 40 of TCP and IP, 12 of timestamps and 12 of the congestion header.
#[test]
fn every_packet_has_the_congestion_header_and_timestamps() {
    for flavour in ["rfc", "ns2"] {
        let connection = rcp(json!({ "flavour": flavour })).tcp;
        let options = connection.options();
        assert_eq!(options.congestion_header, CongestionHeader::of(12));
        assert_eq!((options.timestamps, options.recovery), (true, Recovery::Sack));
        assert_eq!(options.keep_sacked, SackedAtTimeout::Kept);
        assert_eq!(options.receive_window(), 1024 * 1460, "routers limit the sender, and not the receiver");
        assert_eq!(connection.packet_size(), options.packet_size());
    }
    assert_eq!(rcp(json!({})).tcp.packet_size(), 1_524);
    assert_eq!(TcpScheme::options(&RcpWinf::default()).packet_size(), 1_524);
    let given = rcp(json!({ "timestamps": false, "window": 5, "keep_sacked": false })).tcp.options();
    assert_eq!((given.timestamps, given.receive_window()), (false, 7_300));
    assert_eq!(given.keep_sacked, SackedAtTimeout::Forgotten);
}

/// 152 400 B/s in 100 ms is ten packets of 1524 bytes, with 1460 bytes of payload each.
#[test]
fn senders_count_headers() {
    let rate = RcpHeader { reverse: 152_400, ..RcpHeader::default() };
    let feedback = testing::returned(&rate, Some(Span::from_ms(100)));
    let mut open = TcpScheme::control(&Rcp::default());
    assert_eq!((open.allowance().window, open.allowance().pace), (4_380, None));
    open.on_feedback(&feedback);
    assert_eq!(open.allowance().window, u64::MAX);
    assert_eq!(open.allowance().pace, Some(Rate::from_bps(8 * 152_400)));
    let payload = RcpWinf { pacing: Pacing::Payload, ..RcpWinf::default() };
    let mut paced = TcpScheme::control(&payload);
    paced.on_feedback(&feedback);
    assert_eq!(paced.allowance().window, 14_600);
    let faster = 8.0 * 152_400.0 * 1_524.0 / 1_460.0;
    assert_eq!(paced.allowance().pace, Some(Rate::from_bps(faster as u64)));
}

/// An application that requests 8 kb/s asks for 1000 B/s. The sender asks again after half a second, or with
/// "round-trip" after the minimum round-trip time.
#[test]
fn a_sender_requests_the_desired_rate_at_the_refresh_time() {
    let mut sender = TcpScheme::control(&rcp(json!({ "desired": "8 kb/s", "refresh": "round-trip" })));
    let asked = sender.stamp(1_460).parse::<RcpHeader>().map(|header| header.rate);
    assert_eq!((asked, sender.refresh()), (Some(1_000), None));
    for (rtt, least) in [(300, 300), (100, 100), (200, 100)] {
        sender.on_feedback(&testing::returned(&RcpHeader::default(), Some(Span::from_ms(rtt))));
        assert_eq!(sender.refresh(), Some(Span::from_ms(least)));
    }
    assert_eq!(TcpScheme::control(&Rcp::default()).refresh(), Some(Span::from_ms(500)));
}

/// Returns the rate that a packet with an unlimited request leaves with at `at` ms, after an input of `input`
/// bytes at the start.
fn offered(scheme: &Rcp, at: u64, input: u32, waiting: u64) -> u32 {
    let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
    let view = LinkView { queue_bytes: waiting, ..LinkView::default() };
    router.on_other(ms(0), QueueEvent::Enqueue, input, &view);
    let mut packet = testing::packet(960, Ecn::NotCapable);
    let rate = RcpHeader::UNLIMITED;
    packet.segment.feedback = HeaderBytes::of(&RcpHeader { rate, ..RcpHeader::default() });
    router.on_head_of_line(hop(ms(at)), &mut packet, &view);
    let Some(header) = packet.segment.feedback.parse::<RcpHeader>() else { panic!() };
    header.rate
}

/// Of 1 MB/s, the initial rate is a twentieth. On an idle link the rate becomes the target share. With a
/// persistent queue it falls to a hundredth of a packet of 1524 bytes per 200 ms.
#[test]
fn routers_keep_the_bounds_of_their_parameters() {
    let given = |key: &str, value: f64| rcp(json!({ "capacity": "8 Mb/s", key: value }));
    let plain = rcp(json!({ "capacity": "8 Mb/s" }));
    assert_eq!(offered(&plain, 1, 0, 0), 50_000);
    assert_eq!(offered(&plain, 60_000, 0, 0), 1_000_000);
    assert_eq!(offered(&given("utilization", 0.9), 60_000, 0, 0), 900_000);
    assert_eq!(offered(&plain, 60_000, 0, 10_000_000), 76);
    assert_eq!(offered(&given("min_rate", 0.5), 60_000, 0, 10_000_000), 3_810);
}

#[test]
fn rates_out_of_range_are_refused() {
    let is_built =
        |name, key: &str, value: f64| crate::find(name).unwrap().build(&json!({ key: value })).is_ok();
    for name in ["rcp", "rcp-winf"] {
        for (key, least, most) in [("utilization", 0.01, 2.0), ("min_rate", 1e-6, 1e6)] {
            assert!(is_built(name, key, least) && is_built(name, key, most), "{name} {key}");
            assert!(!is_built(name, key, 0.9 * least) && !is_built(name, key, 1.1 * most), "{name} {key}");
        }
    }
}
