//! `[topology]`: the nodes, and the measured links and the wires between them.

pub(crate) mod measured;
pub(crate) mod paths;
pub(crate) mod powers;
pub(crate) mod radios;
pub(crate) mod reach;

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{ItemKind, KeyProblem, LimitedKind, MobilityProblem, TopologyProblem};
use crate::generate::{Generator, NODES_MAX};
use crate::medium::level;
use crate::mobility::Mobility;
use crate::phy::rate::{DataRate, rate_of};
use crate::topology::powers::Level;
use crate::topology::radios::Radio;
use crate::topology::reach::nominal_radius;
use crate::wires::{self, Wire};
use measured::Link;
use multihop_config::bounds;
use multihop_config::keys::usually;
use multihop_config::quantity::{Gain, Length, Power};
use multihop_core::NodeId;
use multihop_dot11::Phy;
use multihop_sim::config::{Config, MediumModel, NodeConfig, RoutingProtocol, WireConfig};
use schemars::transform::Transform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes: generated or listed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(untagged)]
pub enum Topology {
    /// Generated topology.
    #[serde(rename = "generator")]
    Generated(Generator),
    /// Listed nodes, links and wires.
    #[serde(rename = "nodes")]
    Listed(Listed),
}

/// Listed nodes, links and wires.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Nodes.
    #[serde(default)]
    #[schemars(required)]
    pub nodes: Vec<Node>,
    /// Measured links, for `medium.model = "matrix"`.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Wires, in addition to the radio or instead of it.
    #[serde(default)]
    pub wires: Vec<Wire>,
}

/// Node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name of the node, by which flows and links refer to it.
    pub name: String,
    /// Position of the node as `[x, y]`. A moving node starts where its motion starts. With a link matrix,
    /// the position is only for pictures. On other media, a node without a position has wires and no radio.
    pub position: Option<[Length; 2]>,
    /// Name of the base station with which the node is associated. By radio, it exchanges packets only with
    /// that node; those for other stations are relayed. Default: no association, as in a mesh and for base
    /// stations.
    pub base: Option<String>,
    /// Rate of DATA frames between the node and its base station, in both directions. ACKs, RTS and CTS
    /// follow the rules of `[phy]`. Default: `phy.data_rate`.
    pub data_rate: Option<DataRate>,
    /// Channel number of the node's radio. Default: `phy.channel`.
    #[schemars(transform = bounds!(1, 196))]
    pub channel: Option<u16>,
    /// Transmit power of the node's radio. Only with `medium.model = "sinr"`. Default:
    /// `medium.transmit_power`.
    #[schemars(transform = level())]
    pub transmit_power: Option<Power>,
    /// Gain of the node's antenna, for transmission and reception. Only with `medium.model = "sinr"`.
    #[schemars(transform = gain())]
    pub antenna_gain: Option<Gain>,
    /// Radios of a node with several, each with a MAC, an interface queue and a channel of its own. In
    /// tables, the first radio has the name of the node; the second radio of node "a" is "a/1". Packets pass
    /// between radios of a node without delay, and the radios do not interfere with each other. Routes are
    /// static.
    #[serde(default)]
    pub radios: Vec<Radio>,
}

/// Range and default of the gain of an antenna.
pub(crate) fn gain() -> impl FnMut(&mut Schema) {
    |schema| {
        bounds!("-40 dBi", "60 dBi").transform(schema);
        usually(Gain(0.0))(schema);
    }
}

/// Nodes of a scenario.
pub(crate) struct Nodes {
    /// Nodes.
    pub(crate) list: Vec<NodeConfig>,
    /// Index of each node, by name.
    index: BTreeMap<String, usize>,
    /// Source and destination of the topology's canonical flows; none if the nodes were listed.
    pub(crate) canonical: Option<Vec<(usize, usize)>>,
    /// Channels of each node's radios; none for nodes with one radio on the default channel.
    pub(crate) channels: Vec<Vec<u16>>,
    /// Transmit powers and antenna gains of each node's radios, if nodes were listed.
    pub(crate) levels: Vec<Vec<Level>>,
    /// Whether the nodes were listed.
    listed: bool,
}

impl Nodes {
    /// Index of the node that the text at `path` names. `first` and `last` are the ends of the list, unless
    /// nodes have these names.
    pub(crate) fn find(&self, document: &Document<'_>, path: &KeyPath, name: &str) -> Result<usize> {
        let end = match name {
            "first" => (!self.list.is_empty()).then_some(0),
            "last" => self.list.len().checked_sub(1),
            _ => None,
        };
        self.index.get(name).copied().or(end).ok_or_else(|| {
            let problem =
                KeyProblem::Unknown { what: ItemKind::Node, name: name.into(), known: self.names() };
            document.error(path, problem)
        })
    }

    /// Names of all nodes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.list.iter().map(|node| node.name.clone()).collect()
    }

    /// Index of the radio that the text at `path` names: the node's name for its first radio, "a/1" for the
    /// second radio of node "a". The index counts all nodes, and after them all additional radios.
    pub(crate) fn find_radio(&self, document: &Document<'_>, path: &KeyPath, name: &str) -> Result<usize> {
        let radio = || {
            let (node, number) = name.rsplit_once('/')?;
            let (node, number) = (*self.index.get(node)?, number.parse::<usize>().ok()?);
            let exists = number > 0 && number < self.channels.get(node)?.len();
            exists.then(|| self.place_of_radio(node, number))
        };
        if self.index.contains_key(name) {
            self.find(document, path, name)
        } else {
            radio().map_or_else(|| self.find(document, path, name), Ok)
        }
    }

    /// Number of radios.
    pub(crate) fn radios(&self) -> usize {
        self.list.len() + self.channels.iter().map(|all| all.len().saturating_sub(1)).sum::<usize>()
    }

    /// Index of the second radio of a node, if it has one.
    fn first_further(&self, node: usize) -> usize {
        self.list.len() + self.channels[..node].iter().map(|all| all.len().saturating_sub(1)).sum::<usize>()
    }

    /// Index of a radio among all nodes and, after them, all additional radios.
    pub(crate) fn place_of_radio(&self, node: usize, radio: usize) -> usize {
        if radio == 0 { node } else { self.first_further(node) + radio - 1 }
    }

    /// Name of an additional radio of a node, by its index.
    pub(crate) fn radio_name(&self, node: usize, place: usize) -> String {
        format!("{}/{}", self.list[node].name, place - self.first_further(node) + 1)
    }

    /// Path of the channel of a node's radio.
    pub(crate) fn channel_key(&self, document: &Document<'_>, node: usize, radio: usize) -> KeyPath {
        if self.listed {
            radio_key(document, node, radio).join("channel")
        } else {
            key!["topology", "channels"]
        }
    }
}

/// Path of a radio of a listed node.
pub(crate) fn radio_key(document: &Document<'_>, node: usize, radio: usize) -> KeyPath {
    let at = key!["topology", "nodes", node];
    let radios = at.join("radios");
    if document.has(&radios) { radios.join(radio) } else { at }
}

impl Nodes {
    /// Adds the nodes of `mobility.count`, whose positions follow from their motion.
    fn add_mobile(&mut self, document: &Document<'_>, mobility: Option<&Mobility>) -> Result<()> {
        let Some(mobility) = mobility else { return Ok(()) };
        for name in mobility.added(document, self.list.len())? {
            if self.index.insert(name.clone(), self.list.len()).is_some() {
                return Err(document.error(&key!["mobility", "count"], MobilityProblem::NameTaken { name }));
            }
            self.list.push(NodeConfig { name, position: None, base: None, data_rate: None });
        }
        Ok(())
    }
}

impl Topology {
    /// Nodes for a configuration without nodes. Adds measured links to its medium, and wires to the
    /// configuration. Moving nodes need no position.
    pub(crate) fn resolve(
        &self,
        document: &Document<'_>,
        config: &mut Config,
        mobility: Option<&Mobility>,
    ) -> Result<Nodes> {
        let radius = nominal_radius(config);
        let mut nodes = match (self, &mut config.medium.model) {
            (Topology::Generated(_), MediumModel::Matrix { .. } | MediumModel::Sensed { .. }) => {
                Err(document.error(&key!["topology", "generator"], TopologyProblem::NoMeasuredLinks))
            }
            (Topology::Generated(generator), _) => {
                let network = generator.network(document, &config.phy, radius.unwrap_or_default())?;
                let node = |(i, position)| NodeConfig {
                    name: format!("n{i}"),
                    position,
                    base: None,
                    data_rate: None,
                };
                let mut list: Vec<NodeConfig> = network.positions.into_iter().enumerate().map(node).collect();
                for (client, data_rate) in network.clients {
                    list[client].base = Some(NodeId(0));
                    list[client].data_rate = data_rate;
                }
                let index = list.iter().enumerate().map(|(i, node)| (node.name.clone(), i)).collect();
                config.topology.wires = network.wires;
                let channels = network.channels;
                Ok(Nodes {
                    list,
                    index,
                    canonical: Some(network.flows),
                    channels,
                    levels: Vec::new(),
                    listed: false,
                })
            }
            (Topology::Listed(listed), model) => {
                let mut nodes = listed.nodes(document, mobility)?;
                listed.associate(document, &config.phy, &mut nodes)?;
                config.topology.wires = wires::resolve(document, &listed.wires, &nodes)?;
                if measured::resolve(document, &listed.links, &nodes, model)? {
                    config.rates.links = measured::rates(document, &listed.links, &nodes, &config.phy)?;
                } else {
                    listed.check_places(document, &config.topology.wires, mobility)?;
                }
                Ok(nodes)
            }
        }?;
        if !config.topology.wires.is_empty() && mobility.is_some() {
            return Err(document.error(&key!["mobility"], TopologyProblem::WiresMove));
        }
        if !config.topology.wires.is_empty() && config.routing.protocol != RoutingProtocol::Static {
            return Err(document.error(&key!["routing", "protocol"], TopologyProblem::WiresRouted));
        }
        check_associations(document, &nodes, config, mobility)?;
        check_radios(document, &nodes, config, mobility)?;
        nodes.add_mobile(document, mobility)?;
        Ok(nodes)
    }
}

/// Refuses nodes with several radios under a routing protocol: only static routes use several radios.
fn check_radios(
    document: &Document<'_>,
    nodes: &Nodes,
    config: &Config,
    mobility: Option<&Mobility>,
) -> Result<()> {
    let Some(node) = nodes.channels.iter().position(|radios| radios.len() > 1) else { return Ok(()) };
    let node = nodes.list[node].name.clone();
    if mobility.is_some() {
        return Err(document.error(&key!["mobility"], TopologyProblem::RadiosMove { node }));
    }
    if config.routing.protocol != RoutingProtocol::Static {
        return Err(document.error(&key!["routing", "protocol"], TopologyProblem::RadiosRouted { node }));
    }
    Ok(())
}

/// Refuses associated stations under a routing protocol: in an infrastructure network there are no routes to
/// discover.
fn check_associations(
    document: &Document<'_>,
    nodes: &Nodes,
    config: &Config,
    mobility: Option<&Mobility>,
) -> Result<()> {
    let Some(client) = nodes.list.iter().position(|node| node.base.is_some()) else { return Ok(()) };
    let node = nodes.list[client].name.clone();
    if mobility.is_some() {
        return Err(document.error(&key!["mobility"], TopologyProblem::StationsMove { node }));
    }
    if config.routing.protocol != RoutingProtocol::Static {
        return Err(document.error(&key!["routing", "protocol"], TopologyProblem::StationsRouted { node }));
    }
    Ok(())
}

impl Listed {
    fn nodes(&self, document: &Document<'_>, mobility: Option<&Mobility>) -> Result<Nodes> {
        let count = self.nodes.len();
        if count == 0 && !mobility.is_some_and(Mobility::adds) {
            return Err(document.error(&key!["topology", "nodes"], TopologyProblem::NoNodes));
        }
        if count as u64 > NODES_MAX {
            let (count, most) = (count as u64, NODES_MAX);
            let problem = KeyProblem::TooMany { count, what: LimitedKind::Nodes, most };
            return Err(document.error(&key!["topology", "nodes"], problem));
        }
        let mut index = BTreeMap::new();
        let mut list = Vec::with_capacity(count);
        for (i, node) in self.nodes.iter().enumerate() {
            let at = key!["topology", "nodes", i];
            if node.name.trim().is_empty() {
                return Err(document.error(&at.join("name"), KeyProblem::EmptyName));
            }
            if let Some(first) = index.insert(node.name.clone(), i) {
                let (name, by) = (node.name.clone(), key!["topology", "nodes", first].to_string());
                return Err(document.error(&at.join("name"), KeyProblem::NameTaken { name, by }));
            }
            let coordinate = |axis: usize, length: Length| {
                let at = at.join("position").join(axis);
                document.between(&at, length, "-10000 km", "10000 km").map(|length| length.0)
            };
            let position = match node.position {
                None => None,
                Some([x, y]) => Some([coordinate(0, x)?, coordinate(1, y)?]),
            };
            list.push(NodeConfig { name: node.name.clone(), position, base: None, data_rate: None });
        }
        let (channels, levels) = (self.channels(document)?, self.levels(document)?);
        Ok(Nodes { list, index, canonical: None, channels, levels, listed: true })
    }

    /// Channels of each node's radios.
    fn channels(&self, document: &Document<'_>) -> Result<Vec<Vec<u16>>> {
        let of = |(i, node): (usize, &Node)| match (node.channel, node.radios.as_slice()) {
            (channel, []) => Ok(channel.into_iter().collect()),
            (None, radios) => Ok(radios.iter().map(|radio| radio.channel).collect()),
            (Some(_), _) => {
                let at = key!["topology", "nodes", i, "channel"];
                Err(document.error(&at, KeyProblem::GivenTogether { other: "radios" }))
            }
        };
        self.nodes.iter().enumerate().map(of).collect()
    }

    /// Sets the base stations of stations, and the rates of their links.
    fn associate(&self, document: &Document<'_>, phy: &Phy, nodes: &mut Nodes) -> Result<()> {
        for (i, node) in self.nodes.iter().enumerate() {
            let at = key!["topology", "nodes", i, "data_rate"];
            nodes.list[i].data_rate =
                node.data_rate.map(|rate| rate_of(document, &at, phy, rate)).transpose()?;
            let Some(name) = &node.base else {
                if node.data_rate.is_none() {
                    continue;
                }
                return Err(document.error(&at, TopologyProblem::RateOfNoBase));
            };
            let at = key!["topology", "nodes", i, "base"];
            let base = nodes.find(document, &at, name)?;
            if base == i {
                return Err(document.error(&at, TopologyProblem::BaseItself));
            }
            if let Some(above) = &self.nodes[base].base {
                let problem = TopologyProblem::NoBase { node: name.clone(), base: above.clone() };
                return Err(document.error(&at, problem));
            }
            nodes.list[i].base = Some(NodeId(base as u32));
        }
        Ok(())
    }

    /// On a medium that depends on distance, refuses measured links, and radios without a position or at the
    /// same position.
    fn check_places(
        &self,
        document: &Document<'_>,
        wires: &[WireConfig],
        mobility: Option<&Mobility>,
    ) -> Result<()> {
        if !self.links.is_empty() {
            return Err(document.error(&key!["topology", "links"], TopologyProblem::UnusedLinks));
        }
        let wired: BTreeSet<usize> = wires.iter().map(|wire| wire.from.index()).collect();
        let mut places: BTreeMap<[u64; 2], usize> = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate() {
            if mobility.is_some_and(|mobility| mobility.names(&node.name)) {
                continue;
            }
            let at = key!["topology", "nodes", i];
            let Some(position) = node.position else {
                if wired.contains(&i) {
                    continue; // no radio
                }
                let problem = TopologyProblem::NoPosition { node: node.name.clone() };
                return Err(document.error(&at.join("position"), problem));
            };
            let place = position.map(|length| (length.0 + 0.0).to_bits()); // + 0.0 turns -0.0 into 0.0
            if let Some(first) = places.insert(place, i) {
                let problem = TopologyProblem::SamePlace { node: self.nodes[first].name.clone() };
                return Err(document.error(&at.join("position"), problem));
            }
        }
        Ok(())
    }
}
