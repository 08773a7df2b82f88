//! WCP and WCPCap in the engine: a stack of three flows, of which the middle one starves with TCP.

use crate::common::{add_flow, chain, network};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, MediumModel, SchemeConfig};
use multihop_sim::run;
use serde_json::json;

/// Three rows of three nodes, with a flow over two hops in each, as in `scenarios/problems/stack.toml`. All
/// nodes of the middle row sense all nodes of the outer rows, which do not sense each other.
fn stack(name: &str) -> Config {
    let positions: Vec<[f64; 2]> =
        (0..9).map(|node| [150.0 * f64::from(node % 3), 240.0 * f64::from(node / 3)]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    use_scheme(&mut config, name);
    for row in [0, 3, 6] {
        add_flow(&mut config, row, row + 2, AppConfig::Saturated);
    }
    config
}

/// Sets the scheme, a run of a minute, and nodes that sense 1.8 times as far as they receive.
fn use_scheme(config: &mut Config, name: &str) {
    let scheme = find(name).unwrap().build(&json!({ "segment_size": "512 B" })).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
    config.duration = Span::from_ms(60_000);
    config.recording.warmup = Span::from_ms(10_000);
    if let MediumModel::Ranges { carrier_sense_range, .. } = &mut config.medium.model {
        *carrier_sense_range = 450.0;
    }
}

/// Goodput of the three flows in kb/s.
fn goodputs_of(config: &Config) -> [f64; 3] {
    let outcome = run(config);
    [0, 1, 2].map(|flow| outcome.flows[flow].delivered_bytes as f64 * 8.0 / 50e3)
}

fn goodputs(name: &str) -> [f64; 3] {
    goodputs_of(&stack(name))
}

/// TCP gives the middle flow nothing. WCP and WCPCap give it nearly as much as an outer flow, because all
/// flows use the neighbourhood of the middle row.
#[test]
fn the_middle_flow_of_a_stack_starves_with_tcp_and_not_with_wcp() {
    let share = |name| {
        let [upper, middle, lower] = goodputs(name);
        2.0 * middle / (upper + lower)
    };
    let shares = ["tcp-newreno", "wcp", "wcp-cap"].map(share);
    assert!(shares[0] < 0.05, "{shares:?}");
    assert!(shares[1] > 0.7 && shares[2] > 0.85, "{shares:?}");
}

/// A flow over nine hops through two congested neighbourhoods, each of which has a short flow. WCP gives a
/// flow a rate in inverse proportion to the number of its bottlenecks: a half here.
#[test]
fn a_flow_through_two_bottlenecks_has_half_the_rate_of_flows_through_one() {
    let mut config = chain(DcfRules::IEEE, 9);
    use_scheme(&mut config, "wcp");
    for (from, to) in [(0, 9), (1, 2), (7, 8)] {
        add_flow(&mut config, from, to, AppConfig::Saturated);
    }
    let [long, left, right] = goodputs_of(&config);
    let share = 2.0 * long / (left + right);
    assert!((0.35..=0.65).contains(&share), "{long} {left} {right}");
}
