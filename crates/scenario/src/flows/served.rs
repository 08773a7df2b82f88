//! Which nodes gateways serve, and what parts others from them.

use crate::error::{Gap, Reached};
use crate::topology::Nodes;
use crate::topology::reach::radius;
use multihop_core::NodeId;
use multihop_sim::config::Config;
use multihop_sim::routing::LinkQuality;
use std::collections::BTreeSet;

/// The nearest of more pairs of nodes are not looked for.
const PAIRS_MOST: usize = 10_000_000;

/// Whether a node has a link by radio, or none at all: a node on wires alone is not on the air.
pub(super) fn on_air(config: &Config) -> impl Fn(usize) -> bool {
    let wired: BTreeSet<NodeId> = config.wires.iter().flat_map(|wire| [wire.from, wire.to]).collect();
    let joined: BTreeSet<(NodeId, NodeId)> = config.wires.iter().map(|wire| (wire.from, wire.to)).collect();
    let links = if wired.is_empty() { Vec::new() } else { LinkQuality::new(config).usable() };
    let by_air: BTreeSet<NodeId> = links
        .into_iter()
        .filter(|(from, to, _)| !joined.contains(&(*from, *to)))
        .map(|(from, _, _)| config.radios.node_of(from))
        .collect();
    move |node| {
        let node = NodeId(node as u32);
        !wired.contains(&node) || by_air.contains(&node)
    }
}

/// Which of the users reach a gateway: `found` of them, over at least `min_hops` hops.
pub(super) fn describe(
    nodes: &Nodes,
    config: &Config,
    component: &[u32],
    gateways: &[usize],
    users: &[usize],
    found: usize,
    min_hops: usize,
) -> Reached {
    let name = |node: &usize| nodes.list[*node].name.clone();
    let joined = |node: &usize| gateways.iter().any(|gateway| component[*gateway] == component[*node]);
    let apart: Vec<usize> = users.iter().copied().filter(|node| !joined(node)).collect();
    let served: Vec<usize> = (0..nodes.list.len()).filter(joined).collect();
    let gap = radius(config).filter(|_| apart.len() * served.len() <= PAIRS_MOST).and_then(|range_m| {
        let place = |node: &usize| config.nodes[*node].position;
        let distance = |one: &usize, other: &usize| {
            let ([x, y], [u, v]) = (place(one)?, place(other)?);
            Some((x - u).hypot(y - v))
        };
        let pairs = apart.iter().flat_map(|one| served.iter().map(move |other| (one, other)));
        let apart_by = pairs.filter_map(|(one, other)| Some((distance(one, other)?, one, other)));
        let (distance_m, one, other) = apart_by.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance_m > range_m).then(|| Gap { ends: [name(one), name(other)], distance_m, range_m })
    });
    Reached {
        found,
        users: users.len(),
        gateways: gateways.iter().map(name).collect(),
        min_hops,
        apart: apart.iter().map(name).collect(),
        gap,
    }
}
