//! Nodes, wires and radios.

use super::{RadioPower, Radios};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DataRate;
use multihop_link::Discipline;
use serde::Serialize;

/// Nodes, and what joins them apart from the medium.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TopologyConfig {
    /// Nodes, followed by their additional radios. [`NodeId`]s index this list.
    pub nodes: Vec<NodeConfig>,
    /// Wires between the nodes: one entry for each direction, at most one for each ordered pair of nodes.
    pub wires: Vec<WireConfig>,
    /// Channels of the radios, and the entries of `nodes` that are additional radios of a node.
    pub radios: Radios,
    /// Transmit power and antenna gain of each entry of `nodes`. Empty if all have the transmit power of the
    /// medium and antennas without gain. Only with [`MediumModel::Sinr`](super::MediumModel::Sinr).
    pub powers: Vec<RadioPower>,
}

impl TopologyConfig {
    /// The wire from one node to another, if there is one. Packets between the two always take it.
    pub fn wire(&self, from: NodeId, to: NodeId) -> Option<&WireConfig> {
        self.wires.iter().find(|wire| (wire.from, wire.to) == (from, to))
    }
}

/// Node, or an additional radio of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeConfig {
    /// Name of the node in the scenario.
    pub name: String,
    /// Position in metres, at the start of the run if the node moves. On a medium that depends on distance, a
    /// node without a position has no radio.
    pub position: Option<[f64; 2]>,
    /// Base station with which the station is associated: by radio, it exchanges unicast frames only with
    /// that node (802.11-2012, clause 4: infrastructure BSS). None for base stations and for nodes outside a
    /// BSS.
    pub base: Option<NodeId>,
    /// Rate of unicast DATA frames between the station and its base station, in both directions, if it
    /// differs from [`RateConfig::data`](super::RateConfig::data).
    pub data_rate: Option<DataRate>,
}

/// One direction of a wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WireConfig {
    /// The sending end.
    pub from: NodeId,
    /// The receiving end.
    pub to: NodeId,
    /// Bit rate of the sending end.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Queue limit of the sending end in packets, without the packet in transmission.
    pub queue_limit: usize,
    /// Queue discipline of the sending end.
    pub discipline: Discipline,
    /// Probability that a packet is lost in transit, from 0 to below 1.
    pub loss: f64,
}
