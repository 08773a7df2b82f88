//! Nodes that reach a gateway, and the gap to nodes that do not.

use crate::error::{Gap, GatewayReach};
use crate::topology::Nodes;
use crate::topology::reach::radius;
use multihop_core::NodeId;
use multihop_sim::config::{Config, MediumModel, TopologyConfig};
use std::collections::BTreeSet;

/// Maximum number of pairs of nodes of which the nearest is searched.
const PAIRS_MOST: usize = 10_000_000;

/// Whether a node has a radio. A node without a wire has one.
pub(super) fn has_radio(config: &Config) -> impl Fn(usize) -> bool {
    let TopologyConfig { nodes, wires, radios, .. } = &config.topology;
    let wired: BTreeSet<NodeId> = wires.iter().flat_map(|wire| [wire.from, wire.to]).collect();
    let heard: Vec<[NodeId; 2]> = match &config.medium.model {
        MediumModel::Matrix { links, .. } => links.iter().map(|link| [link.from, link.to]).collect(),
        MediumModel::Sensed { links, .. } => links.iter().map(|link| [link.from, link.to]).collect(),
        MediumModel::Ranges { .. } | MediumModel::Sinr { .. } => Vec::new(),
    };
    let by_distance = config.medium.model.needs_positions();
    let placed = nodes.iter().map(|node| by_distance && node.position.is_some()).collect::<Vec<_>>();
    let heard: BTreeSet<NodeId> = heard.into_iter().flatten().map(|radio| radios.node_of(radio)).collect();
    move |node| {
        let id = NodeId(node as u32);
        !wired.contains(&id) || placed[node] || heard.contains(&id)
    }
}

/// Describes for a message how many of the users reach a gateway: `found` of them, over at least `min_hops`
/// hops.
pub(super) fn describe(
    nodes: &Nodes,
    config: &Config,
    component: &[u32],
    gateways: &[usize],
    users: &[usize],
    found: usize,
    min_hops: usize,
) -> GatewayReach {
    let name = |node: &usize| nodes.list[*node].name.clone();
    let joined = |node: &usize| gateways.iter().any(|gateway| component[*gateway] == component[*node]);
    let apart: Vec<usize> = users.iter().copied().filter(|node| !joined(node)).collect();
    let served: Vec<usize> = (0..nodes.list.len()).filter(joined).collect();
    let gap = radius(config).filter(|_| apart.len() * served.len() <= PAIRS_MOST).and_then(|range_m| {
        let place = |node: &usize| config.topology.nodes[*node].position;
        let distance = |one: &usize, other: &usize| {
            let ([x, y], [u, v]) = (place(one)?, place(other)?);
            Some((x - u).hypot(y - v))
        };
        let pairs = apart.iter().flat_map(|one| served.iter().map(move |other| (one, other)));
        let apart_by = pairs.filter_map(|(one, other)| Some((distance(one, other)?, one, other)));
        let (distance_m, one, other) = apart_by.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance_m > range_m).then(|| Gap { ends: [name(one), name(other)], distance_m, range_m })
    });
    GatewayReach {
        found,
        users: users.len(),
        gateways: gateways.iter().map(name).collect(),
        min_hops,
        apart: apart.iter().map(name).collect(),
        gap,
    }
}
