//! Nodes that move or are off, in the engine: links begin and end when they should, and counters stay
//! complete.

use crate::common::{add_flow, network, saturate, trickle};
use multihop_core::{NodeId, Rng, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::mobility::{Motion, Outage, Pause, RandomWaypoint, Start};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

const RULES: [DcfRules; 2] = [DcfRules::IEEE, DcfRules::NS2];

/// Nodes with these motions for 100 s, sampled every half second.
fn moving(rules: DcfRules, motions: Vec<Motion>) -> Config {
    let positions: Vec<[f64; 2]> = motions.iter().map(Motion::origin).collect();
    let mut config = network(rules, &positions);
    config.recording.warmup = Span::ZERO;
    config.duration = Span::from_ms(100_000);
    config.recording.interval = Span::from_ms(500);
    config.mobility.motions = motions;
    config
}

/// DSDV with short periods: breaks are found after 3 s.
fn quick_dsdv() -> RoutingProtocol {
    let (update_period, settling_time) = (Span::from_ms(1_000), Span::from_ms(100));
    RoutingProtocol::Dsdv(DsdvConfig { update_period, settling_time, ..DsdvConfig::default() })
}

fn dsr() -> RoutingProtocol {
    RoutingProtocol::Dsr(DsrConfig::default())
}

fn aodv() -> RoutingProtocol {
    RoutingProtocol::Aodv(AodvConfig::default())
}

/// Random walk of this number of nodes in a square kilometre, with flows between neighbours by number.
fn walk(rules: DcfRules, nodes: usize, seed: u64) -> Config {
    let (corner, area, pauses, start) = ([0.0; 2], [1000.0; 2], Pause::Constant, Start::Stationary);
    let model = RandomWaypoint { corner, area, min_speed: 10.0, max_speed: 30.0, pause: 1.0, pauses, start };
    let motion = |i: usize| model.motion(&mut Rng::at(seed, &["node", &i.to_string(), "mobility"]), 30.0);
    let mut config = moving(rules, (0..nodes).map(motion).collect());
    config.duration = Span::from_ms(30_000);
    config.routing.protocol = quick_dsdv();
    for i in 0..nodes / 2 {
        add_flow(&mut config, i, i + nodes / 2, trickle());
    }
    config
}

/// Ends of the steps during which flow 0 delivered something.
fn delivering(outcome: &Outcome) -> Vec<f64> {
    let rows = outcome.series.iter().filter(|row| row.flow == 0 && row.delivered_bytes > 0);
    rows.map(|row| row.time_s).collect()
}

/// Node 1 comes from afar at 10 m/s and passes node 0 in a distance of 150 m: within 250 m from 20 s to 60 s.
fn passing() -> Vec<Motion> {
    let mut passing = Motion::standing([0.0, 150.0]);
    passing.head_for(10.0, [700.0, 150.0], 10.0);
    vec![Motion::standing([300.0, 0.0]), passing]
}

#[test]
fn a_link_is_there_while_nodes_are_within_range() {
    for (rules, resolution) in RULES.into_iter().flat_map(|rules| [(rules, 0.0), (rules, 0.1)]) {
        let mut config = moving(rules, passing());
        config.mobility.resolution = resolution;
        // Static routes would be those of the start: there is none, so that nothing would be sent.
        config.topology.nodes[1].position = Some([300.0, 150.0]);
        add_flow(&mut config, 1, 0, trickle());
        let times = delivering(&run(&config));
        let (first, last) = (times[0], times[times.len() - 1]);
        assert!((20.0..=21.0).contains(&first), "{first}");
        assert!((59.5..=60.5).contains(&last), "{last}");
        assert!(times.len() >= 79, "all of the time between: {}", times.len());
    }
}

/// A node that hears no frame senses the sender up to 550 m: from 300 m on at 100 m/s that is 2.5 s, and 1 s
/// more for the receiver, which is 100 m nearer.
#[test]
fn carrier_sense_follows_motion_too() {
    let busy = |motion: Motion| {
        let stand = |x: f64| Motion::standing([x, 0.0]);
        let mut config = moving(DcfRules::NS2, vec![stand(0.0), stand(100.0), motion]);
        saturate(&mut config, 0, 1);
        run(&config).nodes[2].busy_ratio
    };
    let mut leaving = Motion::standing([300.0, 0.0]);
    leaving.head_for(50.0, [6_300.0, 0.0], 100.0);
    let share = busy(leaving) / busy(Motion::standing([300.0, 0.0]));
    assert!((0.525..0.535).contains(&share), "{share}");
}

#[test]
fn a_moving_node_is_found_again_over_another() {
    // Node 3 goes along a chain of three: from the first to beyond the last.
    let mut walker = Motion::standing([0.0, 50.0]);
    walker.head_for(20.0, [400.0, 50.0], 10.0);
    let stand = |x: f64| Motion::standing([x, 0.0]);
    for protocol in [quick_dsdv(), dsr(), aodv()] {
        let motions = vec![stand(0.0), stand(200.0), stand(400.0), walker.clone()];
        let mut config = moving(DcfRules::IEEE, motions);
        config.routing.protocol = protocol;
        add_flow(&mut config, 3, 0, trickle());
        let outcome = run(&config);
        let times = delivering(&outcome);
        assert!(times.iter().filter(|time| **time < 40.0).count() > 60, "{times:?}");
        assert!(times.iter().filter(|time| **time > 70.0).count() > 50, "{times:?}");
        let used: Vec<(u32, u32)> = outcome
            .links
            .iter()
            .filter(|link| link.acknowledged > 100)
            .map(|link| (link.from, link.to))
            .collect();
        assert!(used.contains(&(3, 0)) && used.contains(&(1, 0)), "{used:?}");
    }
}

#[test]
fn runs_with_motion_are_conserved_and_the_same_whatever_the_order_of_ties() {
    let sinr = MediumModel::Sinr {
        transmit_power_mw: 281.8,
        noise_mw: 4.4e-10,
        sensitivity_mw: 3.2e-8,
        carrier_sense_mw: 1.6e-8,
        path_loss: crate::common::two_ray(),
    };
    for rules in RULES {
        for model in [None, Some(sinr.clone())] {
            let mut config = walk(rules, 24, 3);
            if let Some(model) = model {
                config.medium.model = model;
            }
            config.mobility.outages = (0..6)
                .map(|i| Outage {
                    node: NodeId(4 * i),
                    from: Span::from_ms(5_000 + 300 * u64::from(i)),
                    to: Span::from_ms(9_000 + 1_000 * u64::from(i)),
                })
                .collect();
            for protocol in [quick_dsdv(), dsr(), aodv()] {
                config.routing.protocol = protocol;
                let first = World::new(&config, Ties::InOrder).finish();
                assert!(first.conservation.delivered > 300, "{:?}", first.conservation);
                assert_eq!(first, World::new(&config, Ties::Reversed).finish());
            }
        }
    }
}

#[test]
fn standing_nodes_with_motions_are_a_static_network() {
    for rules in RULES {
        let positions: Vec<[f64; 2]> =
            (0..12).map(|i| [170.0 * f64::from(i % 4), 170.0 * f64::from(i / 4)]).collect();
        let mut config = network(rules, &positions);
        config.duration = Span::from_ms(5_000);
        saturate(&mut config, 0, 11);
        saturate(&mut config, 3, 8);
        let fixed = run(&config);
        // One more node, too far away to matter, moves: links are computed at run time, and are equal.
        let mut far = Motion::standing([50_000.0, 0.0]);
        far.head_for(0.0, [80_000.0, 9_000.0], 1_000.0);
        config.mobility.motions =
            positions.iter().map(|place| Motion::standing(*place)).chain([far]).collect();
        config.topology.nodes.push(NodeConfig {
            name: "far".into(),
            position: Some([50_000.0, 0.0]),
            base: None,
            data_rate: None,
        });
        let moving = run(&config);
        assert_eq!(moving.flows, fixed.flows);
        assert_eq!(moving.nodes[..12], fixed.nodes);
    }
}

/// A node without a position has no radio, however others or itself move.
#[test]
fn a_node_without_a_radio_stays_out_of_everybodys_reach() {
    let mut config = moving(DcfRules::IEEE, [passing(), passing()].concat());
    config.topology.nodes[3].position = None;
    config.topology.nodes[1].position = Some([300.0, 150.0]);
    add_flow(&mut config, 1, 0, trickle());
    let outcome = run(&config);
    assert!(outcome.nodes[2].busy_ratio > 0.0, "{:?}", outcome.nodes[2]);
    assert_eq!(outcome.nodes[3].busy_ratio, 0.0);
}

/// Errors of links are bounded: with a coarse or a fine resolution a link ends at the right time, within the
/// bound.
#[test]
fn a_coarse_resolution_ends_a_link_late_by_no_more_than_it_says() {
    let mut config = moving(DcfRules::IEEE, passing());
    config.topology.nodes[1].position = Some([300.0, 150.0]);
    add_flow(&mut config, 1, 0, trickle());
    let last = |resolution: f64| {
        let mut config = config.clone();
        config.mobility.resolution = resolution;
        *delivering(&run(&config)).last().unwrap()
    };
    // 60 m at 10 m/s, of which only one of the two nodes goes: up to 3 s late.
    let (fine, coarse) = (last(0.0), last(60.0));
    assert!((59.5..=60.5).contains(&fine) && coarse >= fine && coarse <= fine + 3.5, "{fine} {coarse}");
}

/// A chain of three, whose middle node is off from 30 s to 50 s.
fn interrupted(rules: DcfRules) -> Config {
    let stand = |x: f64| Motion::standing([x, 0.0]);
    let mut config = moving(rules, vec![stand(0.0), stand(200.0), stand(400.0)]);
    let (from, to) = (Span::from_ms(30_000), Span::from_ms(50_000));
    config.mobility.outages = vec![Outage { node: NodeId(1), from, to }];
    config
}

#[test]
fn nothing_comes_through_a_node_that_is_off_and_the_flow_recovers() {
    for rules in RULES {
        for protocol in [RoutingProtocol::Static, quick_dsdv(), dsr(), aodv()] {
            let mut config = interrupted(rules);
            config.routing.protocol = protocol.clone();
            add_flow(&mut config, 0, 2, trickle());
            let outcome = run(&config);
            let times = delivering(&outcome);
            let between = |from: f64, to: f64| times.iter().filter(|time| (from..to).contains(time)).count();
            assert!(between(10.0, 30.1) > 38, "{protocol:?} {times:?}");
            assert_eq!(between(30.6, 50.1), 0, "{protocol:?} {times:?}");
            assert!(between(58.0, 100.0) > 78, "{protocol:?} {times:?}");
        }
    }
}

#[test]
fn a_node_that_is_off_is_silent_receives_nothing_and_keeps_its_queue() {
    for rules in RULES {
        let mut config = interrupted(rules);
        config.recording.warmup = Span::from_ms(30_100);
        config.duration = Span::from_ms(49_900);
        saturate(&mut config, 1, 0);
        saturate(&mut config, 2, 1);
        let outcome = run(&config);
        let off = &outcome.nodes[1];
        assert_eq!((off.transmitting, off.receiving, outcome.nodes[0].receiving), (0.0, 0.0, 0.0));
        assert!(off.busy_ratio > 0.999 && off.queue_mean > 1.0, "{off:?}");
        assert_eq!(outcome.flows[0].dropped.iter().sum::<u64>(), 0, "{:?}", outcome.flows[0]);
        let tried = outcome.links.iter().find(|link| (link.from, link.to) == (2, 1)).unwrap();
        assert!(tried.given_up > 100 && tried.acknowledged == 0, "{tried:?}");
        // The neighbours would hear each other's carrier at 400 m, but not the one that is off.
        assert!(outcome.nodes[2].receiving == 0.0);
    }
}

/// Switched at every instant of an exchange, with frames of both sides on the air: no node gets stuck.
#[test]
fn short_outages_at_any_instant_of_an_exchange_do_no_lasting_harm() {
    for rules in RULES {
        for rts_threshold in [None, Some(0)] {
            let mut config = interrupted(rules);
            config.mac.rts_threshold = rts_threshold;
            config.duration = Span::from_ms(6_000);
            config.mobility.outages.clear();
            for i in 0..800u64 {
                let from = Span::from_us(1_000 + 5_037 * i);
                let node = NodeId((i % 3) as u32);
                config.mobility.outages.push(Outage {
                    node,
                    from,
                    to: from + Span::from_us(10 + 17 * (i % 90)),
                });
            }
            saturate(&mut config, 0, 1);
            saturate(&mut config, 1, 2);
            saturate(&mut config, 2, 1);
            let outcome = run(&config);
            let late: Vec<u64> =
                outcome.series.iter().filter(|row| row.time_s > 5.0).map(|row| row.delivered_bytes).collect();
            assert_eq!(late.len(), 6);
            assert!(late.iter().all(|bytes| *bytes > 10_000), "{late:?}");
            assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
        }
    }
}
