//! Nodes with several radios, and channels: each radio contends on its own channel, and packets pass between
//! those of a node.

use crate::common::{add_flow, chain, network, saturate};
use multihop_core::{NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::{AppConfig, Channel, Config, Radios};
use multihop_sim::mobility::Outage;
use multihop_sim::preflight::place_ends;
use multihop_sim::{Ties, World, run};

fn channel(number: u16) -> Channel {
    Channel { number, width_mhz: 20, overlaps: true }
}

/// Adds a radio on this channel to a node.
fn add_radio(config: &mut Config, node: u32, number: u16) {
    let radio = NodeId(config.topology.nodes.len() as u32);
    let mut entry = config.topology.nodes[node as usize].clone();
    entry.name += "/1";
    config.topology.nodes.push(entry);
    config.topology.radios.further.push((radio, NodeId(node)));
    config.topology.radios.channels.push(channel(number));
}

/// Chain whose hops use these channels in turn.
fn on_channels(hops: u32, numbers: &[u16]) -> Config {
    let mut config = chain(DcfRules::IEEE, hops as usize);
    let of = |hop: u32| numbers[hop as usize % numbers.len()];
    let channels = (0..=hops).map(|node| channel(of(node.saturating_sub(1)))).collect();
    config.topology.radios = Radios { channels, ..Radios::default() };
    for node in (1..hops).filter(|node| of(node - 1) != of(*node)) {
        add_radio(&mut config, node, of(node));
    }
    config
}

fn goodput(config: &Config) -> f64 {
    let outcome = run(config);
    outcome.flows[0].delivered_bytes as f64 * 8.0 / outcome.measured_s
}

/// The channels of neighbouring hops differ, and those of one channel are further apart than signals are
/// sensed.
#[test]
fn hops_on_channels_of_their_own_carry_what_one_hop_does() {
    let mut alone = chain(DcfRules::IEEE, 1);
    saturate(&mut alone, 0, 1);
    let one_hop = goodput(&alone);
    let mut config = on_channels(4, &[1, 6, 11, 14]);
    saturate(&mut config, 0, 4);
    place_ends(&mut config);
    let ratio = goodput(&config) / one_hop;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    let mut shared = chain(DcfRules::IEEE, 4);
    saturate(&mut shared, 0, 4);
    assert!(goodput(&shared) < 0.4 * one_hop);
    assert_eq!(run(&config).flows[0].hops, 4, "what passes between radios is no hop");
}

/// A packet over two hops takes two transmissions: nothing is lost, and no time, between radios.
#[test]
fn packets_pass_between_radios_at_once() {
    let mut config = on_channels(2, &[1, 11]);
    add_flow(&mut config, 0, 2, AppConfig::Bulk { bytes: Some(1_000) });
    place_ends(&mut config);
    let mut single = chain(DcfRules::IEEE, 2);
    add_flow(&mut single, 0, 2, AppConfig::Bulk { bytes: Some(1_000) });
    (config.recording.warmup, single.recording.warmup) = (Span::ZERO, Span::ZERO);
    let (two, one) = (run(&config), run(&single));
    assert_eq!(two.flows[0].packets_delivered, 1);
    assert_eq!(config.traffic.flows[0].destination, NodeId(2));
    // DATA at once, SIFS and ACK; the second radio finds its own channel idle, and does not wait for the ACK
    // of the first.
    assert!(two.flows[0].delay.max < one.flows[0].delay.max, "{two:?}");
    assert_eq!(two.conservation.delivered, 1);
}

/// 20 MHz channels 5 MHz apart overlap by three quarters: a node on another channel is sensed, but never
/// decoded.
#[test]
fn overlapping_channels_are_sensed_and_others_are_not() {
    let pair = |number: u16, overlaps: bool| {
        let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0], [0.0, 50.0], [100.0, 50.0]]);
        let with = |number| Channel { overlaps, ..channel(number) };
        config.topology.radios.channels = vec![with(1), with(1), with(number), with(number)];
        saturate(&mut config, 0, 1);
        saturate(&mut config, 2, 3);
        goodput(&config)
    };
    let (same, near, filtered, far) = (pair(1, true), pair(2, true), pair(2, false), pair(6, true));
    assert!((far / filtered - 1.0).abs() < 1e-12 && far > 1.8 * same, "{far} {filtered} {same}");
    assert!(near < 0.7 * far, "{near} of {far}");
}

#[test]
fn no_route_leads_between_channels() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0]]);
    config.topology.radios.channels = vec![channel(1), channel(2)];
    add_flow(&mut config, 0, 1, AppConfig::Bulk { bytes: Some(1_000) });
    let outcome = run(&config);
    assert_eq!((outcome.flows[0].packets_delivered, outcome.flows[0].hops), (0, 0));
}

/// Ties change nothing, in both directions and with radios that are off for a while.
#[test]
fn the_order_of_ties_changes_nothing() {
    let mut config = on_channels(4, &[1, 11]);
    saturate(&mut config, 0, 4);
    saturate(&mut config, 4, 0);
    saturate(&mut config, 2, 0);
    place_ends(&mut config);
    for node in [NodeId(2)].into_iter().flat_map(|node| config.topology.radios.of(node)).collect::<Vec<_>>() {
        let (from, to) = (Span::from_ms(5_000), Span::from_ms(6_000));
        config.mobility.outages.push(Outage { node, from, to });
    }
    let [there, back] = [Ties::InOrder, Ties::Reversed].map(|ties| World::new(&config, ties).finish());
    assert_eq!(there.fingerprint, back.fingerprint);
    assert_eq!(there.flows[1].delivered_bytes, back.flows[1].delivered_bytes);
    assert!(there.flows.iter().all(|flow| flow.packets_delivered > 100));
}
