//! Regressions.

use crate::common::{add_flow, chain, network, saturate};
use multihop_core::{DropCause, NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::{
    AppConfig, LinkFailureRule, MatrixLink, MatrixQuantity, MediumModel, SchemeConfig,
};
use multihop_sim::{Ties, World, run};
use serde_json::json;

/// A frame that began during the station's own frame, and outlasts its ACK timeout, does not block the
/// station.
#[test]
fn a_station_resumes_after_a_frame_that_overlapped_its_own_transmission() {
    let mut config = network(DcfRules::IEEE, &[[0.0; 2]; 4]);
    let links = [(0, 1), (1, 0), (0, 2), (2, 0), (2, 1), (2, 3), (3, 2)];
    let links = links.map(|(from, to)| MatrixLink { from: NodeId(from), to: NodeId(to), value: 1.0 });
    config.medium.model =
        MediumModel::Matrix { links: links.into(), quantity: MatrixQuantity::Delivery { probe_size: 1500 } };
    config.recording.warmup = Span::ZERO;
    let small = AppConfig::Cbr { rate: Rate::from_kbps(1), packet: 100, jitter: 0.0 };
    add_flow(&mut config, 0, 1, small);
    add_flow(&mut config, 2, 3, AppConfig::Bulk { bytes: Some(1400) });
    config.rates.control = None;
    let outcome = run(&config);
    let flow = &outcome.flows[0];
    assert!(flow.packets_sent > 20 && flow.packets_delivered + 1 >= flow.packets_sent, "{flow:?}");
}

/// A saturated source whose datagrams are lost at once, or as soon as the link layer has passed them on,
/// waits until its route is usable again.
#[test]
fn a_saturated_source_survives_a_broken_route() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = chain(rules, 1);
        config.medium.packet_error_rate = 0.6;
        config.routing.on_link_failure = LinkFailureRule::Break { failures: 1, hold: Span::from_ms(500) };
        saturate(&mut config, 0, 1);
        let outcome = run(&config);
        let dropped = |cause: DropCause| outcome.conservation.dropped[cause as usize];
        assert!(outcome.flows[0].delivered_bytes > 0 && dropped(DropCause::RetryLimit) > 5, "{outcome:?}");
        let breaks = dropped(DropCause::RetryLimit);
        assert!(dropped(DropCause::LinkBroken) <= 4 * breaks, "{:?}", outcome.conservation);
    }
}

#[test]
fn a_saturated_source_without_a_route_is_lost_and_not_endless() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [9_000.0, 0.0]]);
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    assert_eq!(outcome.flows[0].delivered_bytes, 0);
}

#[test]
fn saturated_flows_stop_at_their_stop() {
    for scheme in ["tcp-newreno", "tcp-sack", "udp"] {
        let mut config = chain(DcfRules::IEEE, 1);
        config.recording.warmup = Span::ZERO;
        config.traffic.schemes = vec![SchemeConfig {
            name: scheme.into(),
            scheme: find(scheme).unwrap().build(&json!({})).unwrap(),
        }];
        saturate(&mut config, 0, 1);
        config.traffic.flows[0].stop = Some(Span::from_ms(2_000));
        let outcome = run(&config);
        let late: u64 =
            outcome.series.iter().filter(|row| row.time_s > 3.5).map(|row| row.delivered_bytes).sum();
        assert!(outcome.flows[0].delivered_bytes > 500_000, "{scheme}");
        assert_eq!(late, 0, "{scheme} goes on after its stop");
    }
}

#[test]
fn without_a_warm_up_the_first_instant_counts() {
    let mut config = chain(DcfRules::IEEE, 1);
    config.recording.warmup = Span::ZERO;
    add_flow(&mut config, 0, 1, AppConfig::Bulk { bytes: Some(1_472_000) });
    let outcome = run(&config);
    assert_eq!(outcome.flows[0].packets_sent, 1_000);
    assert_eq!(outcome.flows[0].packets_delivered + outcome.flows[0].dropped[0], 1_000);
}

/// With a capture ratio of one, equals must not capture each other by their order.
#[test]
fn equal_signals_do_not_depend_on_order_at_a_capture_ratio_of_one() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = crate::common::saturated_cell(rules, 6);
        config.duration = Span::from_ms(5_000);
        if let MediumModel::Ranges { capture_ratio, .. } = &mut config.medium.model {
            *capture_ratio = Some(1.0);
        }
        assert_eq!(run(&config), World::new(&config, Ties::Reversed).finish());
    }
}
