//! WCP and WCPCap in the engine: a stack of three flows, of which the middle one starves with TCP.

use crate::common::{add_flow, network};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, MediumModel, SchemeConfig};
use multihop_sim::run;
use serde_json::json;

/// Three rows of three nodes, with a flow over two hops in each. A node reaches the nodes next to it in its
/// row and in its column, and senses no others: the outer flows hear the middle one, but not each other.
fn stack(name: &str) -> Config {
    let positions: Vec<[f64; 2]> =
        (0..9).map(|node| [200.0 * f64::from(node % 3), 200.0 * f64::from(node / 3)]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    let scheme = find(name).unwrap().build(&json!({ "segment_size": "512 B" })).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
    config.duration = Span::from_ms(60_000);
    config.recording.warmup = Span::from_ms(10_000);
    if let MediumModel::Ranges { carrier_sense_range, .. } = &mut config.medium.model {
        *carrier_sense_range = 250.0;
    }
    for row in [0, 3, 6] {
        add_flow(&mut config, row, row + 2, AppConfig::Saturated);
    }
    config
}

/// Goodput of the three flows in kb/s.
fn goodputs(name: &str) -> [f64; 3] {
    let outcome = run(&stack(name));
    [0, 1, 2].map(|flow| outcome.flows[flow].delivered_bytes as f64 * 8.0 / 50e3)
}

/// TCP gives the middle flow nothing. WCP gives it a fifth of an outer flow's goodput at least, and WCPCap two
/// fifths.
#[test]
fn the_middle_flow_of_a_stack_starves_with_tcp_and_not_with_wcp() {
    let share = |name| {
        let [upper, middle, lower] = goodputs(name);
        middle / upper.max(lower)
    };
    let shares = ["tcp-newreno", "wcp", "wcp-cap"].map(share);
    assert!(shares[0] < 0.01, "{shares:?}");
    assert!(shares[1] > 0.2 && shares[2] > 0.4, "{shares:?}");
}
