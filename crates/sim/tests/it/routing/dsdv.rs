//! DSDV in the engine: its packets are sent, take airtime, and find the routes that static routing computes.

use super::{RULES, crowd};
use crate::common::{add_flow, chain, check_conservation, dropped, network, saturate, total_goodput};
use multihop_core::{DropCause, NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

fn dsdv(mut config: Config, parameters: DsdvConfig) -> Config {
    config.routing.protocol = RoutingProtocol::Dsdv(parameters);
    config
}

fn trickle() -> AppConfig {
    AppConfig::Cbr { rate: Rate::from_kbps(8), packet: 500, jitter: 0.0 }
}

#[test]
fn a_chain_carries_data_over_the_same_links_as_static_routes() {
    let mut config = chain(DcfRules::NS2, 5);
    (config.recording.warmup, config.duration) = (Span::from_ms(90_000), Span::from_ms(150_000));
    add_flow(&mut config, 0, 5, trickle());
    add_flow(&mut config, 4, 1, trickle());
    let used = |outcome: &Outcome| -> Vec<(u32, u32)> {
        outcome.links.iter().filter(|link| link.data > 0).map(|link| (link.from, link.to)).collect()
    };
    let fixed = run(&config);
    let found = run(&dsdv(config, DsdvConfig::default()));
    assert_eq!(used(&found), used(&fixed));
    assert_eq!(found.flows[0].packets_sent, found.flows[0].packets_delivered);
    assert_eq!(found.flows[0].hops, 5);
    for (with, without) in found.nodes.iter().zip(&fixed.nodes) {
        // About 60 s / 13.1 s full updates of 6 entries each, and few triggered ones after convergence.
        assert!((4..=8).contains(&with.routing.sent), "{with:?}");
        assert!((with.routing.bytes / with.routing.sent) <= 6 * 12 + 20, "{with:?}");
        assert_eq!((without.routing.sent, without.routing.bytes, without.routing.dropped), (0, 0, 0));
        assert!(with.transmitting > without.transmitting);
    }
}

/// A broadcast of one entry is 32 bytes above the MAC at the control rate, and nothing answers it.
#[test]
fn updates_take_the_airtime_of_a_broadcast_at_the_control_rate() {
    let far_apart = [[0.0, 0.0], [5_000.0, 0.0]];
    let mut config = network(DcfRules::NS2, &far_apart);
    config.recording.warmup = Span::ZERO;
    config.duration = Span::from_ms(1_000_000);
    let outcome = run(&dsdv(config.clone(), DsdvConfig::default()));
    let rules = DcfRules::NS2;
    let bytes = 32 + rules.llc_header + rules.data_header;
    let frame = config.phy.airtime(config.rates.control.unwrap(), bytes, rules.airtime);
    for node in &outcome.nodes {
        assert!((66..=90).contains(&node.routing.sent), "a full update about every 13.1 s: {node:?}");
        assert_eq!(node.routing.bytes, 32 * node.routing.sent);
        let expected = frame.seconds() * node.routing.sent as f64 / 1_000.0;
        assert!((node.transmitting - expected).abs() < 1e-9, "{} against {expected}", node.transmitting);
    }
}

#[test]
fn packets_wait_for_a_route_and_are_conserved() {
    let mut config = chain(DcfRules::IEEE, 3);
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(100_000));
    saturate(&mut config, 0, 3);
    add_flow(&mut config, 3, 0, AppConfig::Cbr { rate: Rate::from_kbps(100), packet: 500, jitter: 0.0 });
    let outcome = run(&dsdv(config, DsdvConfig::default()));
    assert!(dropped(&outcome, DropCause::NoRoute) > 0, "more than five came before the first route");
    assert!(total_goodput(&outcome) > 500e3);
    check_conservation(&outcome);
    let of_flows: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    assert_eq!(of_flows, outcome.conservation.sent, "updates are in no flow's counters");
}

/// A datagram that only waits for a route is offered ten times a second at most, whatever the link layer's
/// delay.
#[test]
fn without_a_route_a_saturated_source_does_not_flood_its_own_node() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = network(rules, &[[0.0, 0.0], [5_000.0, 0.0]]);
        (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(10_000));
        saturate(&mut config, 0, 1);
        let outcome = run(&dsdv(config, DsdvConfig::default()));
        let sent = outcome.flows[0].packets_sent;
        assert!((50..=210).contains(&sent), "{sent} datagrams in 10 s");
    }
}

/// Node b hears a, but a does not hear b: in b's table a is a neighbour, and only the MAC knows better.
fn one_way(use_mac: bool) -> Outcome {
    let mut config = network(DcfRules::IEEE, &[[0.0; 2]; 3]);
    let link = |from, to, value| MatrixLink { from: NodeId(from), to: NodeId(to), value };
    config.medium.model = MediumModel::Matrix {
        links: vec![link(0, 1, 1.0), link(1, 2, 1.0), link(2, 1, 1.0)],
        quantity: MatrixQuantity::Delivery { probe_size: 1500 },
    };
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(300_000));
    add_flow(&mut config, 1, 0, trickle());
    add_flow(&mut config, 1, 2, trickle());
    run(&dsdv(config, DsdvConfig { use_mac, ..DsdvConfig::default() }))
}

#[test]
fn without_use_mac_a_dead_link_is_tried_for_ever() {
    let outcome = one_way(false);
    assert!(dropped(&outcome, DropCause::RetryLimit) > 550, "{:?}", outcome.conservation);
    assert_eq!(outcome.flows[0].packets_delivered, 0);
    assert!(outcome.flows[1].packets_delivered > 570);
}

#[test]
fn with_use_mac_a_failure_breaks_the_link_until_the_next_update() {
    let outcome = one_way(true);
    assert_eq!(dropped(&outcome, DropCause::RetryLimit), 0, "what the MAC gives up waits for a route again");
    assert!(dropped(&outcome, DropCause::NoRoute) > 500, "{:?}", outcome.conservation);
    let tries = outcome.links.iter().find(|link| (link.from, link.to) == (1, 0)).unwrap();
    assert!(tries.given_up >= 20 && tries.given_up < 200, "a few tries after each update: {tries:?}");
    assert!(outcome.flows[1].packets_delivered > 570);
}

#[test]
fn the_hop_limit_holds() {
    let mut config = chain(DcfRules::NS2, 5);
    config.duration = Span::from_ms(150_000);
    add_flow(&mut config, 0, 4, trickle());
    add_flow(&mut config, 0, 5, trickle());
    let outcome = run(&dsdv(config, DsdvConfig { hop_limit: 4, ..DsdvConfig::default() }));
    assert!(outcome.flows[0].packets_delivered > 0);
    assert_eq!(outcome.flows[1].packets_delivered, 0);
    assert!(outcome.flows[1].dropped[DropCause::HopLimit as usize] > 0);
}

#[test]
fn an_update_makes_room_in_a_full_queue() {
    let mut config = chain(DcfRules::IEEE, 1);
    config.mac.queue.limit = 1;
    config.duration = Span::from_ms(100_000);
    add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: Rate::from_kbps(20_000), packet: 1472, jitter: 0.0 });
    let outcome = run(&dsdv(config, DsdvConfig::default()));
    assert!(outcome.nodes[0].queue_mean > 0.5);
    assert!(outcome.nodes[0].routing.sent >= 6);
    assert_eq!(outcome.nodes[0].routing.dropped, 0);
    assert!(outcome.flows[0].packets_delivered > 1_000);
}

#[test]
fn the_order_of_ties_changes_nothing() {
    for rules in RULES {
        let config = crowd(rules);
        for use_mac in [false, true] {
            // Without jitter, all nodes send at the same instants.
            let together = DsdvConfig {
                start_jitter: Span::ZERO,
                broadcast_jitter: Span::ZERO,
                settling_time: Span::from_ms(500),
                update_period: Span::from_ms(2_000),
                use_mac,
                ..DsdvConfig::default()
            };
            let config = dsdv(config.clone(), together);
            let outcome = run(&config);
            assert!(total_goodput(&outcome) > 100e3, "{}", total_goodput(&outcome));
            assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
        }
    }
}
