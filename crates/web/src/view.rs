//! Resolved scenario, for drawings.

use multihop_core::NodeId;
use multihop_scenario::Resolved;
use multihop_sim::config::Config;
use multihop_sim::preflight::path;
use multihop_sim::routing::{LinkQuality, Routes};
use serde_json::{Value, json};

/// Name, description, times and seed; nodes with positions in metres, links with their quality, wires, and
/// flows with their paths.
pub fn view(resolved: &Resolved) -> Value {
    let config = &resolved.config;
    let Config { topology, traffic, .. } = config;
    let quality = LinkQuality::new(config);
    let routes = Routes::new(config, &quality);
    let nodes = (0..).zip(&topology.nodes).map(|(index, node)| {
        json!({
            "name": node.name,
            "x": node.position.map(|position| position[0]),
            "y": node.position.map(|position| position[1]),
            "node": topology.radios.node_of(NodeId(index)).0,
            "moves": config.mobility.node_moves(NodeId(index)),
        })
    });
    let flows = traffic.flows.iter().map(|flow| {
        let path = path(config, flow, &routes, &quality);
        json!({
            "name": flow.name,
            "source": topology.radios.node_of(flow.source).0,
            "destination": topology.radios.node_of(flow.destination).0,
            "scheme": traffic.schemes[flow.scheme].name,
            "app": flow.app.name(),
            "path": path.iter().map(|node| node.0).collect::<Vec<_>>(),
        })
    });
    let links = quality.usable();
    json!({
        "name": config.name,
        "description": resolved.description,
        "duration_s": config.duration.seconds(),
        "warmup_s": config.recording.warmup.seconds(),
        "seed": config.seed,
        "nodes": nodes.collect::<Vec<_>>(),
        "links": links.iter().map(|(from, to, quality)| json!([from.0, to.0, quality])).collect::<Vec<_>>(),
        "wires": topology.wires.iter().map(|wire| json!([wire.from.0, wire.to.0])).collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
    })
}
