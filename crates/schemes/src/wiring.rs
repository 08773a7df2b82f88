//! Tests of the options and headers that schemes pass to the transport.

use crate::ewccp::Ewccp;
use crate::maxnet::MaxNet;
use crate::rcp::Rcp;
use crate::tcp::TcpParameters;
use crate::tfrc::TfrcParameters;
use crate::xcp::{XcpB, XcpWinf};
use crate::{REGISTRY, Scheme, TcpScheme, find};
use multihop_core::{HeaderBytes, HeaderFormat, Layout, Span};
use multihop_transport::{
    CongestionHeader, EquationTimeout, FirstInterval, ReportTimer, SackedAtTimeout, TcpOptions,
};
use proptest::prelude::*;
use serde_json::{from_value, json};

/// 8 bytes end to end; in data also 4 bytes of the link's part and a summary of 128 or 32 bits.
#[test]
fn the_size_of_an_ewccp_header_depends_on_its_link_summary() {
    for (bits, with_data) in [(128, 8 + 4 + 16), (32, 8 + 4 + 4)] {
        let scheme = Ewccp { summary_bits: bits, ..Ewccp::default() };
        let header = TcpScheme::options(&scheme).congestion_header;
        assert_eq!((header.bytes, header.bytes_with_data), (8, with_data));
    }
}

/// Timestamps already time every segment.
#[test]
fn ewccp_times_every_segment_unless_timestamps_do() {
    for timestamps in [false, true] {
        let scheme: Ewccp =
            from_value(json!({ "timestamps": timestamps, "segment_size": "1000 B" })).unwrap();
        let options = TcpScheme::options(&scheme);
        assert_eq!((options.time_every_segment, options.segment_size), (!timestamps, 1_000));
        assert_eq!((options.delayed_ack, options.local_repairs), (Some(Span::from_ms(100)), 10));
        assert_eq!(scheme.segment_size(), 1_000);
    }
}

#[test]
fn router_assisted_tcp_keeps_sacked_data_and_times_every_segment() {
    for (given, kept) in [(json!({}), true), (json!({ "keep_sacked": false }), false)] {
        let tcp: TcpParameters = from_value(given).unwrap();
        let options = tcp.router_assisted(CongestionHeader::of(4));
        assert!(options.time_every_segment);
        let expected = if kept { SackedAtTimeout::Kept } else { SackedAtTimeout::Forgotten };
        assert_eq!(options.keep_sacked, expected);
        assert_eq!(options.receive_window(), u64::from(TcpOptions::OPEN_WINDOW) * 1_460);
    }
    assert!(TcpScheme::options(&MaxNet::default()).time_every_segment);
}

#[test]
fn receivers_echo_congestion_headers() {
    assert!(Rcp::default().echo().is_some());
    assert!(XcpB::default().echo().is_some() && XcpWinf::default().echo().is_some());
}

#[test]
fn datagrams_are_unreliable_and_have_the_given_size() {
    for name in ["tfrc", "tfrc-capped", "re-tfrc"] {
        let scheme = find(name).unwrap().build(&json!({ "segment_size": "700 B" })).unwrap();
        assert_eq!((scheme.segment_size(), scheme.is_reliable()), (700, false), "{name}");
    }
}

#[test]
fn tfrc_receivers_use_the_given_options() {
    let options = |given| from_value::<TfrcParameters>(given).unwrap().options();
    for (reports, timer) in [("round-trip", ReportTimer::RoundTrip), ("ns2", ReportTimer::Ns2)] {
        assert_eq!(options(json!({ "reports": reports })).reports, timer);
    }
    assert_eq!(options(json!({ "duplicate_threshold": 5 })).duplicate_threshold, 5);
    let first = |flavour| options(json!({ "flavour": flavour })).first_rate;
    assert_eq!(["rfc", "ns2"].map(first), [FirstInterval::Highest, FirstInterval::Latest]);
}

/// The equation's timeout is four round trips (RFC 5348, section 3.1), or TCP's timeout with a tick of 100
/// ms.
#[test]
fn the_timeout_of_the_equation_depends_on_the_flavour_unless_given() {
    let timeout = |given| {
        let options = from_value::<TfrcParameters>(given).unwrap().options();
        (options.timeout, options.min_timeout, options.tcp_tick)
    };
    let round_trips = |ms| (EquationTimeout::RoundTrips, Span::from_ms(ms), Span::from_ms(100));
    let tcp = (EquationTimeout::Tcp, Span::ZERO, Span::from_ms(100));
    assert_eq!(timeout(json!({})), round_trips(0));
    assert_eq!(timeout(json!({ "timeout": "tcp" })), tcp);
    assert_eq!(timeout(json!({ "flavour": "ns2" })), tcp);
    assert_eq!(timeout(json!({ "flavour": "ns2", "timeout": "round-trips" })), round_trips(0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes parse as a header if and only if their type and length match; emitting the header gives the same
    /// header.
    #[test]
    fn bytes_parse_as_a_header_if_type_and_length_match(given in any::<[u8; HeaderBytes::CAPACITY]>(), len in 0..=HeaderBytes::CAPACITY) {
        for HeaderFormat { layout, reemit } in REGISTRY.iter().flat_map(|entry| entry.headers) {
            let kind = layout.kind.expect("congestion headers have a type");
            let typed = given[0] & !Layout::KIND_BITS | kind;
            for (first, len) in [(given[0], len), (given[0], layout.len), (typed, layout.len)] {
                let mut bytes = given;
                bytes[0] = first;
                let made = reemit(&bytes[..len]);
                let is_one = first & Layout::KIND_BITS == kind && len == layout.len;
                prop_assert_eq!(made.is_some(), is_one, "{}: {:?}, {}", layout.name, bytes, len);
                if let Some(made) = made {
                    prop_assert_eq!(reemit(&made), Some(made), "{}", layout.name);
                }
            }
        }
    }

    /// Bytes parse as a notice if and only if their length matches, and emitting the notice keeps every bit.
    #[test]
    fn bytes_parse_as_a_notice_if_the_length_matches(given in any::<[u8; 64]>()) {
        for (_, HeaderFormat { layout, reemit }) in REGISTRY.iter().filter_map(|entry| entry.notices.as_ref()) {
            prop_assert!(layout.kind.is_none() && layout.len < given.len(), "{}", layout.name);
            let bytes = given[..layout.len].to_vec();
            prop_assert_eq!(reemit(&bytes), Some(bytes), "{}", layout.name);
            prop_assert!(reemit(&given[..=layout.len]).is_none() && reemit(&given[1..layout.len]).is_none());
        }
    }
}
