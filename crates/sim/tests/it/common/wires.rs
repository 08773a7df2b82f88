//! Networks of wires.

use super::{network, saturate};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::Discipline;
use multihop_schemes::find;
use multihop_sim::config::{Config, SchemeConfig, WireConfig};
use multihop_sim::outcome::{Outcome, WireOutcome};
use multihop_sim::run;
use serde_json::Value;

/// Nodes without a radio, and no wires yet.
pub fn wired(rules: DcfRules, nodes: usize) -> Config {
    let mut config = network(rules, &vec![[0.0, 0.0]; nodes]);
    config.topology.nodes.iter_mut().for_each(|node| node.position = None);
    config.recording.warmup = Span::ZERO;
    config
}

/// Adds both directions of a wire.
pub fn lay(config: &mut Config, (a, b): (u32, u32), rate: Rate, delay: Span, queue_limit: usize) {
    let direction = |from, to| {
        let (from, to, discipline) = (NodeId(from), NodeId(to), Discipline::DropTail);
        WireConfig { from, to, rate, delay, queue_limit, discipline, loss: 0.0 }
    };
    config.topology.wires.extend([direction(a, b), direction(b, a)]);
}

/// Megabits per second.
pub fn mbps(rate: u64) -> Rate {
    Rate::from_kbps(rate * 1000)
}

/// The one scheme of a configuration.
pub fn tcp(config: &mut Config, name: &str, parameters: &Value) {
    let scheme = find(name).unwrap().build(parameters).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
}

/// Dumbbell: flow k goes from node 2 + 2k to node 3 + 2k over the wire of 10 Mb/s between nodes 0 and 1, with
/// this queue limit; each flow has this round trip in ms and this start in ms.
pub fn dumbbell(name: &str, parameters: &Value, queue: usize, flows: &[(u64, u64)]) -> Config {
    let mut config = wired(DcfRules::IEEE, 2 + 2 * flows.len());
    lay(&mut config, (0, 1), mbps(10), Span::from_ms(5), queue);
    tcp(&mut config, name, parameters);
    for (index, &(round_trip, start)) in flows.iter().enumerate() {
        let access = Span::from_ns((round_trip - 10) * 250_000);
        let (source, sink) = (2 + 2 * index, 3 + 2 * index);
        lay(&mut config, (source as u32, 0), mbps(100), access, 1000);
        lay(&mut config, (1, sink as u32), mbps(100), access, 1000);
        saturate(&mut config, source, sink);
        config.traffic.flows[index].start = Span::from_ms(start);
    }
    config
}

/// Runs for this many seconds, the first of which are not counted.
pub fn seconds(config: &mut Config, warmup: u64, duration: u64) -> Outcome {
    config.recording.warmup = Span::from_ms(1_000 * warmup);
    config.duration = Span::from_ms(1_000 * duration);
    run(config)
}

/// Share of each flow in the payload that the wire of a [`dumbbell`] carries in packets of 1500 bytes.
pub fn shares(outcome: &Outcome) -> Vec<f64> {
    (0..outcome.flows.len()).map(|flow| goodput(outcome, flow) / (10e6 * 1460.0 / 1500.0)).collect()
}

/// Payload bits per second of a flow.
pub fn goodput(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].delivered_bytes as f64 * 8.0 / outcome.measured_s
}

/// The wire from one node to another.
pub fn wire(outcome: &Outcome, from: u32, to: u32) -> WireOutcome {
    *outcome.wires.iter().find(|wire| (wire.from, wire.to) == (from, to)).unwrap()
}
