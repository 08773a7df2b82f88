//! Checks that every flow has a path, and finds the cause if one has not.

use super::Nodes;
use super::reach::components;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{FlowEnd, TopologyProblem};
use crate::flows::PlannedFlow;
use multihop_core::{NodeId, Rate};
use multihop_dot11::DataRate;
use multihop_sim::config::{Config, LinkError, Radios, TopologyConfig};

/// Refuses flows without a path over two-way links. Multicast flows are exempt: they take one hop, and their
/// packets are lost at receivers out of reach.
pub(crate) fn check(
    document: &Document<'_>,
    nodes: &Nodes,
    config: &Config,
    component: &[u32],
    flows: &[PlannedFlow],
) -> Result<()> {
    let apart = |made: &&PlannedFlow| {
        let PlannedFlow { flow, .. } = made;
        flow.group.is_none() && component[flow.source.index()] != component[flow.destination.index()]
    };
    let Some(PlannedFlow { flow, at, .. }) = flows.iter().find(apart) else { return Ok(()) };
    let whereabouts = |end: NodeId| {
        let in_reach = |index: &usize| component[*index] == component[end.index()];
        let reached = (0..nodes.list.len()).filter(in_reach);
        FlowEnd {
            node: nodes.list[end.index()].name.clone(),
            component: reached.map(|index| nodes.list[index].name.clone()).collect(),
        }
    };
    let ids = [flow.source, flow.destination];
    let ends = ids.map(whereabouts);
    Err(if are_joined(config, ids, &|other| other.topology.radios.channels.clear()) {
        let channels = ids.map(|id| channels(&config.topology, id));
        document.error(at, TopologyProblem::NoPathForChannels { ends, channels })
    } else if let Some(key) = culprit(document, config, ids) {
        document.error(at, TopologyProblem::NoPathBecause { ends, key: key.to_string() })
    } else if let Some(lower) = lower_rate(config, ids) {
        document.error(at, TopologyProblem::NoPathAtRate { ends, rate: config.rates.data, lower })
    } else {
        document.error(at, TopologyProblem::NoPath { ends })
    })
}

/// Whether two nodes would have a path after a change of the configuration.
fn are_joined(config: &Config, ends: [NodeId; 2], change: &dyn Fn(&mut Config)) -> bool {
    let mut other = config.clone();
    change(&mut other);
    let component = components(&other);
    component[ends[0].index()] == component[ends[1].index()]
}

/// Highest DATA rate at which two nodes would have a path, if the rate is fixed and too high.
fn lower_rate(config: &Config, ends: [NodeId; 2]) -> Option<DataRate> {
    /// Maximum number of nodes: each rate takes a search.
    const NODES_MOST: usize = 1000;
    if config.mac.rate_control.is_some() || config.topology.nodes.len() > NODES_MOST {
        return None;
    }
    let (phy, nominal) = (&config.phy, config.rates.data);
    let speed = |rate: &DataRate| phy.bit_rate(*rate).map(Rate::bps);
    let streams = if let DataRate::Mcs(mcs) = nominal { mcs.streams } else { 1 };
    let schemes = phy.schemes().filter(|mcs| mcs.streams <= streams).map(DataRate::Mcs);
    let mut rates: Vec<DataRate> = schemes.collect();
    if rates.is_empty() {
        rates = phy.rates().map(|(rate, _)| DataRate::Bits(rate)).collect();
    }
    rates.retain(|rate| speed(rate) < speed(&nominal));
    rates.sort_by_key(|rate| std::cmp::Reverse(speed(rate)));
    rates.into_iter().find(|rate| are_joined(config, ends, &|other| other.rates.data = *rate))
}

/// Channels of a node's radios, for a message.
fn channels(topology: &TopologyConfig, node: NodeId) -> String {
    let Radios { channels, .. } = &topology.radios;
    let numbers = topology.radios.of(node).map(|radio| channels[radio.index()].number.to_string());
    format!("channel {}", numbers.collect::<Vec<_>>().join(" and "))
}

/// Key of an error rate without which two nodes would have a path.
fn culprit(document: &Document<'_>, config: &Config, ends: [NodeId; 2]) -> Option<KeyPath> {
    let joins = |change: &dyn Fn(&mut Config)| are_joined(config, ends, change);
    // Each entry of the list makes two links, one for each direction.
    let entries = config.medium.link_errors.chunks_exact(2).enumerate();
    let alone = |(index, _): &(usize, &[LinkError])| {
        joins(&|other| {
            other.medium.link_errors.drain(2 * index..2 * index + 2);
        })
    };
    let all: &dyn Fn(&mut Config) = &|other| other.medium.link_errors.clear();
    if !config.medium.link_errors.is_empty() && joins(all) {
        let Some((index, pair)) = entries.clone().find(alone) else { return Some(key!["medium", "errors"]) };
        let [there, back] = pair else { return None };
        let rates = [
            ("packet_error_rate", there.packet_error_rate),
            ("packet_error_rate_back", back.packet_error_rate),
            ("ack_error_rate", there.ack_error_rate),
            ("ack_error_rate_back", back.ack_error_rate),
        ];
        let entry = key!["medium", "errors", index];
        let given = rates.into_iter().filter(|(key, _)| document.has(&entry.join(*key)));
        // The first of the highest error rates.
        let (key, _) = given.rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        return Some(entry.join(key));
    }
    if joins(&|other| other.medium.packet_error_rate = 0.0) {
        return Some(key!["medium", "packet_error_rate"]);
    }
    joins(&|other| other.medium.bit_error_rate = 0.0).then(|| key!["medium", "bit_error_rate"])
}
