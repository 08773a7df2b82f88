//! Where nodes are over time, for tables and pictures.

use crate::config::Config;
use multihop_core::{NodeId, Span};

/// Where a node is at an instant, and whether it is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The instant, in seconds.
    pub time_s: f64,
    /// The node.
    pub node: NodeId,
    /// Its place in metres, to the millimetre; none of a node without a radio.
    pub position: Option<[f64; 2]>,
    /// It is off.
    pub off: bool,
}

/// No table has more rows.
const ROWS_MAX: u64 = 1_000_000;

/// The places of all nodes that move, or are off for a while, at the beginning and after every `record_interval`: of every second,
/// third, ... one where that makes too many rows. Instants ascend, and within each the nodes.
pub fn places(config: &Config) -> Vec<Place> {
    let mobility = &config.mobility;
    let changes = |node: &NodeId| {
        mobility.node_moves(*node) || mobility.outages.iter().any(|outage| outage.node == *node)
    };
    let nodes: Vec<NodeId> = (0..config.nodes.len() as u32).map(NodeId).filter(changes).collect();
    let steps = config.duration.ns() / config.record_interval.ns();
    let stride = ((steps + 1) * nodes.len() as u64).div_ceil(ROWS_MAX).max(1);
    let instants = (0..=steps / stride).map(|step| config.record_interval * (step * stride));
    instants.flat_map(|at| nodes.iter().map(move |node| place(config, *node, at))).collect()
}

fn place(config: &Config, node: NodeId, at: Span) -> Place {
    let mobility = &config.mobility;
    let moved = |position| mobility.motions.get(node.index()).map_or(position, |m| m.at(at.seconds()));
    let rounded = |position: [f64; 2]| position.map(|metres| (metres * 1e3).round() / 1e3);
    let off = |outage: &super::Outage| outage.node == node && outage.from <= at && at < outage.to;
    Place {
        time_s: at.seconds(),
        node,
        position: config.nodes[node.index()].position.map(moved).map(rounded),
        off: mobility.outages.iter().any(off),
    }
}
