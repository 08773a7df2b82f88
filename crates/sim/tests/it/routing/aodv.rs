//! AODV in the engine: routes are found, expire without traffic, and avoid nodes that are off.

use super::{RULES, crowd, diamond, four_and_five_hops, one_way, unreachable};
use crate::common::{
    add_flow, chain, check_conservation, dropped, network, saturate, total_goodput, trickle,
};
use multihop_core::{DropCause, NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

const REPAIRS: [LocalRepair; 3] = [LocalRepair::Off, LocalRepair::Ns2, LocalRepair::Rfc];

/// Requests have jitter as in scenario files by default, unless `parameters` set it.
fn aodv(mut config: Config, mut parameters: AodvConfig) -> Config {
    if config.mac.rules.immediate_access && parameters.broadcast_jitter > Span::ZERO {
        parameters.rreq_jitter = Span::from_ms(10);
    }
    config.routing.protocol = RoutingProtocol::Aodv(parameters);
    config
}

fn messages(outcome: &Outcome) -> u64 {
    outcome.nodes.iter().map(|node| node.routing.sent).sum()
}

/// After the discovery the run equals that with static routes: packets have the same length.
#[test]
fn a_chain_carries_data_as_over_static_routes() {
    for hops in [1, 2, 5] {
        let mut config = chain(DcfRules::IEEE, hops);
        (config.recording.warmup, config.duration) = (Span::from_ms(2_000), Span::from_ms(22_000));
        add_flow(&mut config, 0, hops, trickle());
        let found = run(&aodv(config.clone(), AodvConfig::default()));
        let fixed = run(&config);
        assert_eq!(found.links, fixed.links);
        assert_eq!(messages(&found), 0, "nothing is sent once the route is known");
        assert_eq!(found.flows[0].packets_delivered, fixed.flows[0].packets_delivered);
        assert_eq!(found.flows[0].packets_delivered, 400);
    }
}

/// A request that each node but the target sends once, and a reply over each hop.
#[test]
fn a_discovery_costs_a_flood_and_a_reply() {
    let mut config = chain(DcfRules::IEEE, 4);
    config.recording.warmup = Span::ZERO;
    add_flow(&mut config, 0, 4, trickle());
    let outcome = run(&aodv(config, AodvConfig::default()));
    let sent: Vec<(u64, u64)> =
        outcome.nodes.iter().map(|node| (node.routing.sent, node.routing.bytes)).collect();
    assert_eq!(sent, [(1, 48), (2, 48 + 44), (2, 48 + 44), (2, 48 + 44), (1, 44)]);
    let flow = &outcome.flows[0];
    assert_eq!(flow.packets_sent, flow.packets_delivered + outcome.conservation.queued);
    let back = outcome.links.iter().find(|link| (link.from, link.to) == (1, 0)).unwrap();
    assert_eq!((back.data, back.acknowledged), (1, 1), "the reply is a unicast");
}

#[test]
fn packets_go_around_a_node_that_is_off() {
    for rules in RULES {
        for (failures, local_repair) in [(1, REPAIRS[0]), (1, REPAIRS[1]), (1, REPAIRS[2]), (3, REPAIRS[1])] {
            let parameters = AodvConfig { failures, local_repair, ..AodvConfig::default() };
            let outcome = run(&aodv(diamond(rules), parameters));
            let breaks = outcome.links.iter().map(|link| link.given_up).sum::<u64>() / u64::from(failures);
            assert!((1..=2).contains(&breaks), "{:?}", outcome.links);
            let lost = u64::from(failures) * breaks;
            assert_eq!(dropped(&outcome, DropCause::RetryLimit), lost, "no packet but those given up");
            assert_eq!(outcome.conservation.dropped.iter().sum::<u64>(), lost);
            assert!(outcome.flows[0].delay.max < 0.3, "{:?}", outcome.flows[0].delay);
            for link in [(0, 1), (1, 3), (0, 2), (2, 3)] {
                let used = outcome.links.iter().find(|used| (used.from, used.to) == link).unwrap();
                assert!(used.acknowledged > 100, "{used:?}");
            }
        }
    }
}

/// One of two ways from the last relay but one to the end is lost while packets follow each other closely:
/// with repair the relay finds the other; without, the source does.
#[test]
fn a_route_is_repaired_behind_the_middle() {
    let places =
        [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0], [750.0, 100.0], [750.0, -100.0], [900.0, 0.0]];
    let mut config = network(DcfRules::IEEE, &places);
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(20_000));
    add_flow(&mut config, 0, 6, trickle());
    let first = run(&aodv(config.clone(), AodvConfig::default()));
    let used =
        |relay: u32| first.links.iter().any(|link| link.to == relay && link.from == 3 && link.data > 50);
    let relay = if used(4) { 4 } else { 5 };
    let (from, to) = (Span::from_ms(10_000), Span::from_ms(20_000));
    config.mobility.outages = vec![Outage { node: NodeId(relay), from, to }];
    let asks = |local_repair| {
        let outcome = run(&aodv(config.clone(), AodvConfig { local_repair, ..AodvConfig::default() }));
        check_conservation(&outcome);
        assert!(outcome.flows[0].packets_delivered + 4 >= outcome.flows[0].packets_sent);
        (outcome.nodes[0].routing.sent, dropped(&outcome, DropCause::RetryLimit))
    };
    assert_eq!(asks(LocalRepair::Off), (2, 1), "the source asks again, and a packet is lost");
    assert_eq!(asks(LocalRepair::Rfc).1, 0);
    assert_eq!(asks(LocalRepair::Ns2).1, 0);
}

/// PROTOCOLS: one packet that the MAC gives up breaks the route, and all packets that wait for it are lost.
#[test]
fn a_break_empties_the_queue() {
    for rules in RULES {
        let mut config = network(rules, &[[0.0, 0.0], [200.0, 0.0]]);
        (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(20_000));
        let (from, to) = (Span::from_ms(10_000), Span::from_ms(20_000));
        config.mobility.outages = vec![Outage { node: NodeId(1), from, to }];
        let burst = AppConfig::Cbr { rate: Rate::from_kbps(3_200), packet: 500, jitter: 0.0 };
        add_flow(&mut config, 0, 1, burst);
        let outcome = run(&aodv(config, AodvConfig::default()));
        // A packet each 1.25 ms, and seven or more tries of some ms with ever longer back-off.
        let waited = dropped(&outcome, DropCause::LinkBroken);
        assert!((10..=50).contains(&waited), "{waited}");
        assert_eq!(outcome.links[0].given_up, 1);
        assert!(dropped(&outcome, DropCause::RetryLimit) <= 1, "it may have arrived, without an ACK");
        check_conservation(&outcome);
    }
}

/// False breaks of a busy chain; and schemes that routing is blind to have none.
#[test]
fn failures_in_a_row_are_rarer_than_failures() {
    let routing = |parameters: AodvConfig| {
        let mut config = chain(DcfRules::NS2, 6);
        config.mac.rts_threshold = Some(0);
        saturate(&mut config, 0, 6);
        let outcome = run(&aodv(config, parameters));
        check_conservation(&outcome);
        let given_up = outcome.links.iter().map(|link| link.given_up).sum::<u64>();
        (messages(&outcome), given_up, dropped(&outcome, DropCause::LinkBroken))
    };
    let (one, given_up, stranded) = routing(AodvConfig::default());
    let (three, ..) = routing(AodvConfig { failures: 3, ..AodvConfig::default() });
    assert!(given_up > 10 && one > 40 && stranded > 0, "{given_up} {one} {stranded}");
    assert!(three * 4 < one, "{three} against {one}");
    let (none, given_up, stranded) = routing(AodvConfig { blind_to: vec![0], ..AodvConfig::default() });
    assert!(none == 0 && given_up > 10 && stranded == 0, "{none} {given_up} {stranded}");
}

#[test]
fn a_packet_without_a_route_waits_and_is_lost_in_the_end() {
    for rules in RULES {
        let mut config = unreachable(rules, Span::from_ms(100_000));
        add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: Rate::from_kbps(4), packet: 500, jitter: 0.0 });
        let outcome = run(&aodv(config, AodvConfig::default()));
        // One packet a second; waiting packets are lost after each fourth request, and a pause of 10 s
        // follows.
        assert!((70..=99).contains(&dropped(&outcome, DropCause::NoRoute)), "{:?}", outcome.conservation);
        assert!((12..=16).contains(&outcome.nodes[0].routing.sent), "{:?}", outcome.nodes[0].routing);
        check_conservation(&outcome);
    }
}

#[test]
fn a_saturated_source_without_a_route_does_not_flood_its_own_node() {
    let mut config = unreachable(DcfRules::IEEE, Span::from_ms(10_000));
    saturate(&mut config, 0, 1);
    let outcome = run(&aodv(config, AodvConfig::default()));
    assert!((50..=210).contains(&outcome.flows[0].packets_sent), "{:?}", outcome.flows[0]);
    check_conservation(&outcome);
}

#[test]
fn nothing_goes_farther_than_it_may() {
    let config = four_and_five_hops();
    let outcome = run(&aodv(config.clone(), AodvConfig { network_diameter: 4, ..AodvConfig::default() }));
    assert!(outcome.flows[0].packets_delivered > 100);
    assert_eq!(outcome.flows[1].packets_delivered, 0);
    let outcome = run(&aodv(config, AodvConfig { hop_limit: 4, ..AodvConfig::default() }));
    assert_eq!(outcome.flows[1].packets_delivered, 0);
    assert!(outcome.flows[1].dropped[DropCause::HopLimit as usize] > 100);
}

/// Node b hears a, but a does not hear b: requests arrive, replies do not, so that no route is used.
#[test]
fn a_link_that_works_one_way_is_no_route() {
    let outcome = run(&aodv(one_way(), AodvConfig::default()));
    assert_eq!(outcome.flows[0].packets_delivered, 0);
    assert!(
        outcome.flows[1].packets_delivered + 1 >= outcome.flows[1].packets_sent,
        "{:?}",
        outcome.flows[1]
    );
    assert!(outcome.nodes[1].routing.dropped > 3, "replies are given up: {:?}", outcome.nodes[1]);
    check_conservation(&outcome);
}

/// Without the MAC's word a neighbour is lost by 4.5 s of silence, which is looked for each second.
#[test]
fn hellos_find_a_node_that_is_off() {
    for rules in RULES {
        let parameters = AodvConfig { link_layer_detection: false, ..AodvConfig::default() };
        let outcome = run(&aodv(diamond(rules), parameters));
        let hellos = messages(&outcome);
        assert!((200..=290).contains(&hellos), "four nodes say hello each second: {hellos}");
        // 20 packets a second.
        let lost = dropped(&outcome, DropCause::RetryLimit);
        assert!((60..=240).contains(&lost), "{lost}");
        assert!(outcome.flows[0].packets_delivered + 260 >= outcome.flows[0].packets_sent);
        check_conservation(&outcome);
    }
}

#[test]
fn the_order_of_ties_changes_nothing() {
    for rules in RULES {
        let mut config = crowd(rules);
        config.duration = Span::from_ms(8_000);
        for local_repair in REPAIRS {
            for (failures, link_layer_detection) in [(1, true), (3, true), (1, false)] {
                // Without jitter, all nodes ask and relay at the same instants, and hardly a request comes
                // through.
                for jitter in [0, 10] {
                    let parameters = AodvConfig {
                        failures,
                        link_layer_detection,
                        local_repair,
                        broadcast_jitter: Span::from_ms(jitter),
                        ..AodvConfig::default()
                    };
                    let config = aodv(config.clone(), parameters);
                    let outcome = run(&config);
                    let goodput = total_goodput(&outcome);
                    assert!(jitter == 0 || goodput > 100e3, "{goodput}");
                    check_conservation(&outcome);
                    assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
                }
            }
        }
    }
}
