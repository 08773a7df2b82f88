//! Infrastructure networks: stations that are associated with a base station, and what that costs.

mod common;

use common::{add_flow, network};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{AppConfig, Config, DsdvConfig, LinkError, RoutingProtocol};
use multihop_sim::mobility::Motion;
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

/// Adds the errors of one direction.
fn lose(config: &mut Config, from: u32, to: u32, packet_error_rate: f64) {
    config.medium.link_errors.push(LinkError { from: NodeId(from), to: NodeId(to), packet_error_rate });
}

/// Of DATA frames in each direction of each link the share that is lost is what was asked for, which retries tell; what all links
/// lose and what one loses are independent.
#[test]
fn each_direction_of_a_link_loses_what_it_is_said_to_lose() {
    let mut config = stations(&[0.0, 10.0, 20.0, 30.0], &[(1, 0), (2, 0), (3, 0)]);
    config.duration = Span::from_ms(120_000);
    config.warmup = Span::ZERO;
    config.mac.short_retry_limit = None;
    config.medium.packet_error_rate = 0.05;
    lose(&mut config, 0, 2, 0.1);
    lose(&mut config, 2, 0, 0.4);
    lose(&mut config, 3, 0, 0.2);
    for client in 1..=3 {
        trickle(&mut config, 0, client);
        trickle(&mut config, client, 0);
    }
    // Six packets every 58.88 ms, so far apart that nothing collides.
    for (flow, place) in config.flows.iter_mut().zip(0..) {
        flow.start = Span::from_us(9_700) * place;
    }
    let outcome = run(&config);
    for (from, to, own) in [(0, 1, 0.0), (1, 0, 0.0), (0, 2, 0.1), (2, 0, 0.4), (0, 3, 0.0), (3, 0, 0.2)] {
        let LinkOutcome { data, acknowledged, .. } = link(&outcome, from, to);
        let expected = 1.0 - 0.95 * (1.0 - own);
        let lost = 1.0 - acknowledged as f64 / data as f64;
        let deviation = (expected * (1.0 - expected) / data as f64).sqrt();
        assert!(data > 2_000, "{from} to {to}: {data} frames");
        assert!((lost - expected).abs() < 4.0 * deviation, "{from} to {to}: {lost} against {expected}");
    }
}

/// Nobody but the two ends: what the base station sends to one client is lost to the other as well only by its own link.
#[test]
fn errors_of_one_link_do_nothing_to_others() {
    let run_with = |errors: &[(u32, u32, f64)]| {
        let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
        for (from, to, rate) in errors {
            lose(&mut config, *from, *to, *rate);
        }
        trickle(&mut config, 0, 1);
        let outcome = run(&config);
        (link(&outcome, 0, 1), outcome.fingerprint)
    };
    let clean = run_with(&[]);
    assert_eq!(run_with(&[(0, 1, 0.0), (1, 0, 0.5)]), clean, "its client sends it no DATA");
    let LinkOutcome { data, acknowledged, .. } = run_with(&[(0, 1, 0.98)]).0;
    assert!(data > 1_000 && acknowledged * 25 < data, "{acknowledged} of {data}");
}

/// The errors are of two nodes, wherever they are.
#[test]
fn errors_of_a_link_go_with_nodes_that_move() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[]);
    config.duration = Span::from_ms(60_000);
    config.routing.protocol = RoutingProtocol::Dsdv(DsdvConfig::default());
    config.mobility.motions = [0.0, 10.0, 20.0].map(|x| Motion::standing([x, 0.0])).to_vec();
    config.mobility.motions[1].head_for(0.0, [10.0, 50.0], 1.0);
    lose(&mut config, 0, 1, 0.3);
    config.mac.short_retry_limit = None;
    trickle(&mut config, 0, 1);
    trickle(&mut config, 0, 2);
    let outcome = run(&config);
    let share = |link: LinkOutcome| 1.0 - link.acknowledged as f64 / link.data as f64;
    assert!((share(link(&outcome, 0, 1)) - 0.3).abs() < 0.05, "{:?}", link(&outcome, 0, 1));
    assert!(share(link(&outcome, 0, 2)) < 0.01, "{:?}", link(&outcome, 0, 2));
}

/// Routes know of them: by expected transmissions, two good links are better than one that loses two frames of three.
#[test]
fn routes_go_around_links_that_lose_much() {
    let hops = |rate: f64| {
        let mut config = stations(&[0.0, 10.0, 20.0], &[]);
        lose(&mut config, 0, 2, rate);
        trickle(&mut config, 0, 2);
        run(&config).flows[0].hops
    };
    assert_eq!([0.0, 0.4, 0.66].map(hops), [1, 1, 2]);
}

/// The base station alone sends datagrams, so that nothing collides: downloads share what one sender gets, the mean back-off
/// before each exchange included, and a client's radio sends nothing but acknowledgements of the MAC.
#[test]
fn downloads_share_what_the_base_station_gets() {
    let mut config = stations(&[0.0, 10.0, 20.0, 30.0], &[(1, 0), (2, 0), (3, 0)]);
    config.duration = Span::from_ms(121_000);
    for client in 1..=3 {
        add_flow(&mut config, 0, client, AppConfig::Saturated);
    }
    let rules = config.mac.rules;
    let bytes = 1_500 + rules.llc_header + rules.data_header;
    let data = config.phy.airtime(config.data_rate, bytes, rules.airtime).seconds();
    let (ack, delay) = (304e-6, 1e-6);
    let cycle = 50e-6 + 15.5 * 20e-6 + data + 10e-6 + ack + 2.0 * delay;
    let outcome = run(&config);
    for (client, flow) in outcome.flows.iter().enumerate() {
        let goodput = flow.delivered_bytes as f64 * 8.0 / outcome.measured_s;
        let expected = 1_472.0 * 8.0 / cycle / 3.0;
        assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} against {expected}");
        let transmitting = outcome.nodes[client + 1].transmitting;
        assert!((transmitting / (ack / cycle / 3.0) - 1.0).abs() < 0.01, "client {client}: {transmitting}");
    }
    assert!((outcome.nodes[0].transmitting / (data / cycle) - 1.0).abs() < 0.001);
}
