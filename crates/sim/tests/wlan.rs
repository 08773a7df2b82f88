//! Infrastructure networks: stations that are associated with a base station, and what that costs.

mod common;

use common::{add_flow, network};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::outcome::{LinkOutcome, Outcome};
use multihop_sim::run;

/// Nodes at these places in metres along a line, some of them associated: client and base station.
fn stations(places: &[f64], associated: &[(usize, u32)]) -> Config {
    let positions: Vec<[f64; 2]> = places.iter().map(|x| [*x, 0.0]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    for (client, base) in associated {
        config.nodes[*client].base = Some(NodeId(*base));
    }
    config
}

/// A flow of 200 kb/s, far below what the channel carries.
fn trickle(config: &mut Config, from: usize, to: usize) {
    add_flow(config, from, to, AppConfig::Cbr { rate: Rate::from_kbps(200), packet: 1_472, jitter: 0.0 });
}

/// The links that were used, as pairs of indices.
fn used(outcome: &Outcome) -> Vec<(u32, u32)> {
    outcome.links.iter().map(|link| (link.from, link.to)).collect()
}

fn link(outcome: &Outcome, from: u32, to: u32) -> LinkOutcome {
    *outcome.links.iter().find(|link| (link.from, link.to) == (from, to)).expect("the link was used")
}

fn air(outcome: &Outcome) -> f64 {
    outcome.nodes.iter().map(|node| node.transmitting).sum()
}

/// Every packet from client to client is sent twice, and so needs twice the air.
#[test]
fn clients_reach_each_other_by_their_base_station_alone() {
    let mut direct = stations(&[0.0, 10.0, 20.0], &[]);
    trickle(&mut direct, 1, 2);
    let mut relayed = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    trickle(&mut relayed, 1, 2);
    let (direct, relayed) = (run(&direct), run(&relayed));
    assert_eq!((used(&direct), direct.flows[0].hops), (vec![(1, 2)], 1));
    assert_eq!((used(&relayed), relayed.flows[0].hops), (vec![(0, 2), (1, 0)], 2));
    assert_eq!(direct.flows[0].delivered_bytes, relayed.flows[0].delivered_bytes);
    assert!((air(&relayed) / air(&direct) - 2.0).abs() < 1e-3, "{} {}", air(&relayed), air(&direct));
    // What is behind that: as many DATA frames on each of the two links.
    assert!(link(&relayed, 1, 0).data.abs_diff(link(&relayed, 0, 2).data) <= 1);
}

/// Base stations talk to each other, in the same channel; a client hears the other one and does not use it.
#[test]
fn packets_between_cells_go_by_both_base_stations() {
    let mut config = stations(&[0.0, 20.0, 10.0, 30.0, 40.0], &[(2, 0), (3, 1)]);
    trickle(&mut config, 2, 3);
    trickle(&mut config, 4, 1);
    trickle(&mut config, 4, 2);
    let outcome = run(&config);
    assert_eq!(
        used(&outcome),
        [(0, 1), (0, 2), (1, 3), (2, 0), (4, 0), (4, 1)].into_iter().collect::<Vec<_>>()
    );
    let hops: Vec<u32> = outcome.flows.iter().map(|flow| flow.hops).collect();
    assert_eq!(hops, [3, 1, 2], "node 4 is in neither cell, and hears all");
}

/// A wire is no frame of a radio: who is associated may have one to any node.
#[test]
fn wires_know_no_associations() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    common::wires::lay(&mut config, (1, 2), common::wires::mbps(10), Span::from_ms(1), 50);
    trickle(&mut config, 1, 2);
    trickle(&mut config, 0, 2);
    let outcome = run(&config);
    assert_eq!(used(&outcome), [(0, 2)]);
    assert_eq!(outcome.flows[0].hops, 1);
}

/// What is said of the channel without a run says the same of its links.
#[test]
fn bounds_are_of_the_links_by_the_base_station() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    trickle(&mut config, 1, 2);
    let capacity = Capacity::new(&config);
    let links: Vec<(u32, u32)> = capacity.links.iter().map(|(from, to)| (from.0, to.0)).collect();
    assert_eq!(links, [(1, 0), (0, 2)]);
}
