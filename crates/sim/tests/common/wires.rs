//! Networks of wires.

use super::network;
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::Discipline;
use multihop_schemes::find;
use multihop_sim::config::{Config, SchemeConfig, WireConfig};
use multihop_sim::outcome::{Outcome, WireOutcome};
use serde_json::Value;

/// Nodes without a radio, and no wires yet.
pub fn wired(rules: DcfRules, nodes: usize) -> Config {
    let mut config = network(rules, &vec![[0.0, 0.0]; nodes]);
    config.nodes.iter_mut().for_each(|node| node.position = None);
    config.warmup = Span::ZERO;
    config
}

/// Adds both directions of a wire.
pub fn lay(config: &mut Config, (a, b): (u32, u32), rate: Rate, delay: Span, queue_limit: usize) {
    let direction = |from, to| {
        let discipline = Discipline::DropTail;
        WireConfig { from: NodeId(from), to: NodeId(to), rate, delay, queue_limit, discipline }
    };
    config.wires.extend([direction(a, b), direction(b, a)]);
}

/// Megabits per second.
pub fn mbps(rate: u64) -> Rate {
    Rate::from_kbps(rate * 1000)
}

/// The one scheme of a configuration.
pub fn tcp(config: &mut Config, name: &str, parameters: &Value) {
    let scheme = find(name).unwrap().build(parameters).unwrap();
    config.schemes = vec![SchemeConfig { name: name.into(), scheme }];
}

/// Payload bits per second of a flow.
pub fn goodput(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].delivered_bytes as f64 * 8.0 / outcome.measured_s
}

/// The wire from one node to another.
pub fn wire(outcome: &Outcome, from: u32, to: u32) -> WireOutcome {
    *outcome.wires.iter().find(|wire| (wire.from, wire.to) == (from, to)).unwrap()
}
