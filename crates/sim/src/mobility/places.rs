//! Positions of nodes over time, for tables and figures.

use super::Outage;
use crate::config::{Config, TopologyConfig};
use multihop_core::{NodeId, Span};

/// Position of a node at an instant, and whether the node is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Time of the row, in seconds.
    pub time_s: f64,
    /// Node of the row.
    pub node: NodeId,
    /// Position in metres, to the millimetre; none for a node without a radio.
    pub position: Option<[f64; 2]>,
    /// Whether the node is off.
    pub off: bool,
}

/// Largest number of rows of the table.
const ROWS_MAX: u64 = 1_000_000;

/// Positions of all nodes that move or are off at times, at the start and after every `record_interval`. If
/// that makes too many rows, only every second, third, … interval is included. Rows are sorted by time, then
/// by node.
pub fn places(config: &Config) -> Vec<Place> {
    let Config { topology: TopologyConfig { nodes, .. }, mobility, .. } = config;
    let mut outages: Vec<Vec<&Outage>> = vec![Vec::new(); nodes.len()];
    mobility.outages.iter().for_each(|outage| outages[outage.node.index()].push(outage));
    let changes = |node: &NodeId| mobility.node_moves(*node) || !outages[node.index()].is_empty();
    let nodes: Vec<NodeId> = (0..nodes.len() as u32).map(NodeId).filter(changes).collect();
    let steps = config.duration.ns() / config.recording.interval.ns();
    let stride = ((steps + 1) * nodes.len() as u64).div_ceil(ROWS_MAX).max(1);
    let mut places = Vec::new();
    for at in (0..=steps / stride).map(|step| config.recording.interval * (step * stride)) {
        places.extend(nodes.iter().map(|node| place(config, *node, &outages[node.index()], at)));
    }
    places
}

fn place(config: &Config, node: NodeId, outages: &[&Outage], at: Span) -> Place {
    let motion = config.mobility.motions.get(node.index());
    let moved = |position| motion.map_or(position, |motion| motion.at(at.seconds()));
    let rounded = |position: [f64; 2]| position.map(|metres| (metres * 1e3).round() / 1e3);
    Place {
        time_s: at.seconds(),
        node,
        position: config.topology.nodes[node.index()].position.map(moved).map(rounded),
        off: outages.iter().any(|outage| outage.from <= at && at < outage.to),
    }
}
