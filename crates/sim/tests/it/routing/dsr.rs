//! DSR in the engine: routes are found, written into packets, and avoid nodes that are off.

use super::{RULES, crowd, diamond, four_and_five_hops, one_way, unreachable};
use crate::common::{add_flow, chain, check_conservation, dropped, saturate, total_goodput, trickle};
use multihop_core::{DropCause, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::{Ties, World, run};

fn dsr(mut config: Config, parameters: DsrConfig) -> Config {
    config.routing.protocol = RoutingProtocol::Dsr(parameters);
    config
}

/// After the discovery the run is the one with static routes, but for the bytes of the source route: 8, and 4
/// for each node between the ends (RFC 4728, sections 6.1 and 6.7).
#[test]
fn a_chain_carries_data_as_over_static_routes_with_a_longer_header() {
    for hops in [1, 2, 5] {
        let mut config = chain(DcfRules::IEEE, hops);
        (config.recording.warmup, config.duration) = (Span::from_ms(2_000), Span::from_ms(22_000));
        add_flow(&mut config, 0, hops, trickle());
        let found = run(&dsr(config.clone(), DsrConfig::default()));
        config.network.extra_header = 8 + 4 * (hops as u32 - 1);
        let fixed = run(&config);
        assert_eq!(found.links, fixed.links);
        for (with, without) in found.nodes.iter().zip(&fixed.nodes) {
            assert!(
                (with.transmitting - without.transmitting).abs() < 1e-9,
                "{hops} hops: {with:?} {without:?}"
            );
            assert_eq!(with.routing.sent, 0, "nothing is sent once the route is known");
        }
        assert_eq!(found.flows[0].packets_delivered, fixed.flows[0].packets_delivered);
        assert_eq!(found.flows[0].packets_delivered, 400);
    }
}

/// One non-propagating Route Request, one that floods the network and that each node but the target relays,
/// and a reply over each hop.
#[test]
fn a_discovery_costs_a_flood_and_a_reply() {
    let mut config = chain(DcfRules::IEEE, 4);
    config.recording.warmup = Span::ZERO;
    add_flow(&mut config, 0, 4, trickle());
    let outcome = run(&dsr(config, DsrConfig::default()));
    let sent: Vec<u64> = outcome.nodes.iter().map(|node| node.routing.sent).collect();
    assert_eq!(sent, [2, 2, 2, 2, 1]);
    let request = |relays: u64| 32 + 4 * relays;
    // The reply's four addresses and three bytes are 20; its own source route takes 8 and three addresses.
    let reply = 20 + 8 + 3 * 4 + 20;
    let bytes: Vec<u64> = outcome.nodes.iter().map(|node| node.routing.bytes).collect();
    assert_eq!(bytes, [2 * request(0), request(1) + reply, request(2) + reply, request(3) + reply, reply]);
    assert_eq!(
        outcome.flows[0].packets_sent,
        outcome.flows[0].packets_delivered + outcome.conservation.queued
    );
    let back = outcome.links.iter().find(|link| (link.from, link.to) == (1, 0)).unwrap();
    assert_eq!((back.data, back.acknowledged), (1, 1), "the reply is a unicast");
}

#[test]
fn packets_go_around_a_node_that_is_off() {
    for rules in RULES {
        let outcome = run(&dsr(diamond(rules), DsrConfig::default()));
        let flow = &outcome.flows[0];
        assert!(flow.packets_delivered + 1 >= flow.packets_sent, "none is lost: {flow:?}");
        assert!(flow.delay.max < 0.3, "{:?}", flow.delay);
        for link in [(0, 1), (1, 3), (0, 2), (2, 3)] {
            let used = outcome.links.iter().find(|used| (used.from, used.to) == link).unwrap();
            assert!(used.acknowledged > 100, "{used:?}");
        }
    }
}

#[test]
fn with_three_failures_two_packets_are_lost_per_break() {
    let config = dsr(diamond(DcfRules::IEEE), DsrConfig { failures: 3, ..DsrConfig::default() });
    let outcome = run(&config);
    let breaks = outcome.links.iter().map(|link| link.given_up).sum::<u64>() / 3;
    assert!((1..=2).contains(&breaks), "{:?}", outcome.links);
    assert_eq!(dropped(&outcome, DropCause::RetryLimit), 2 * breaks);
    assert_eq!(outcome.conservation.dropped.iter().sum::<u64>(), 2 * breaks);
}

/// False breaks of a busy chain: the paper on EWCCP counts three failures because of them.
#[test]
fn failures_in_a_row_are_rarer_than_failures() {
    let routing = |failures: u32| {
        let mut config = chain(DcfRules::NS2, 6);
        config.mac.rts_threshold = Some(0);
        config.medium.model = MediumModel::Ranges {
            receive_range: 250.0,
            carrier_sense_range: 250.0,
            capture_ratio: Some(10.0),
            path_loss: crate::common::two_ray(),
        };
        saturate(&mut config, 0, 6);
        let outcome = run(&dsr(config, DsrConfig { failures, ..DsrConfig::default() }));
        check_conservation(&outcome);
        let messages: u64 = outcome.nodes.iter().map(|node| node.routing.sent).sum();
        (messages, outcome.links.iter().map(|link| link.given_up).sum::<u64>())
    };
    let ((one, given_up), (three, _)) = (routing(1), routing(3));
    assert!(given_up > 10 && one > 40, "{given_up} {one}");
    assert!(three * 4 < one, "{three} against {one}");
}

#[test]
fn a_packet_without_a_route_waits_and_is_lost_in_the_end() {
    for rules in RULES {
        let mut config = unreachable(rules, Span::from_ms(100_000));
        add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: Rate::from_kbps(4), packet: 500, jitter: 0.0 });
        let outcome = run(&dsr(config, DsrConfig::default()));
        // One a second, each for 30 s.
        assert!((69..=70).contains(&dropped(&outcome, DropCause::NoRoute)), "{:?}", outcome.conservation);
        assert!((30..=31).contains(&outcome.conservation.queued));
        assert!(
            (20..=34).contains(&outcome.nodes[0].routing.sent),
            "a request and its flood, ever more rarely"
        );
    }
}

#[test]
fn a_saturated_source_without_a_route_does_not_flood_its_own_node() {
    let mut config = unreachable(DcfRules::IEEE, Span::from_ms(10_000));
    saturate(&mut config, 0, 1);
    let outcome = run(&dsr(config, DsrConfig::default()));
    assert!((50..=210).contains(&outcome.flows[0].packets_sent), "{:?}", outcome.flows[0]);
    check_conservation(&outcome);
}

#[test]
fn no_route_is_longer_than_the_limit() {
    let config = four_and_five_hops();
    let outcome = run(&dsr(config.clone(), DsrConfig { route_limit: 4, ..DsrConfig::default() }));
    assert!(outcome.flows[0].packets_delivered > 100);
    assert_eq!(outcome.flows[1].packets_delivered, 0);
    let outcome = run(&dsr(config, DsrConfig { hop_limit: 4, ..DsrConfig::default() }));
    assert_eq!(outcome.flows[1].packets_delivered, 0);
    assert!(outcome.flows[1].dropped[DropCause::HopLimit as usize] > 100);
}

/// Node b hears a, but a does not hear b: requests arrive, replies do not, so that no route is used.
#[test]
fn a_link_that_works_one_way_is_no_route() {
    let outcome = run(&dsr(one_way(), DsrConfig::default()));
    assert_eq!(outcome.flows[0].packets_delivered, 0);
    assert!(outcome.flows[1].packets_delivered + 1 >= outcome.flows[1].packets_sent);
    assert!(outcome.nodes[1].routing.dropped > 5, "replies are given up: {:?}", outcome.nodes[1]);
    check_conservation(&outcome);
}

#[test]
fn the_order_of_ties_changes_nothing() {
    for rules in RULES {
        let mut config = crowd(rules);
        config.duration = Span::from_ms(8_000);
        for (failures, listen) in [(1, true), (1, false), (3, true)] {
            // Without jitter, all nodes answer at the same instants.
            let together =
                DsrConfig { failures, listen, broadcast_jitter: Span::ZERO, ..DsrConfig::default() };
            let config = dsr(config.clone(), together);
            let outcome = run(&config);
            assert!(total_goodput(&outcome) > 100e3, "{}", total_goodput(&outcome));
            check_conservation(&outcome);
            assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
        }
    }
}
