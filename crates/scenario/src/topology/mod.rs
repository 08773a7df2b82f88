//! `[topology]`: the nodes, and the measured links and the wires between them.

pub(crate) mod measured;
pub(crate) mod paths;
pub(crate) mod powers;
pub(crate) mod radios;
pub(crate) mod reach;

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, Limited, MobilityProblem, Named, TopologyProblem};
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

/// The nodes: generated, or listed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(untagged)]
pub enum Topology {
    /// A generated topology.
    #[serde(rename = "generator")]
    Generated(Generator),
    /// Listed nodes, and links where the medium is a matrix.
    #[serde(rename = "nodes")]
    Listed(Listed),
}

/// Listed nodes and links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The nodes.
    #[serde(default)]
    #[schemars(required)]
    pub nodes: Vec<Node>,
    /// Measured links, for `medium.model = "matrix"`.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Wires, beside the radio or instead of it.
    #[serde(default)]
    pub wires: Vec<Wire>,
}

/// A node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, which flows and links use.
    pub name: String,
    /// Where it stands, as `[x, y]`. A node that moves starts where its motion does. With a link matrix it
    /// only serves pictures, and may be absent. Otherwise a node without it has no radio, but wires.
    pub position: Option<[Length; 2]>,
    /// Name of the base station that it is associated with: by radio it exchanges packets with that node
    /// alone, so that those for other stations go by the base station. Default: none, as in a mesh, and of
    /// base stations themselves.
    pub base: Option<String>,
    /// Rate of DATA frames between it and its base station, both ways. ACKs, RTS and CTS follow by the rules
    /// of `[phy]`. Default: `phy.data_rate`.
    pub data_rate: Option<DataRate>,
    /// The number of the channel of its radio. Default: `phy.channel`.
    #[schemars(transform = bounds!(1, 196))]
    pub channel: Option<u16>,
    /// Transmit power of its radio. Only with `medium.model = "sinr"`. Default: `medium.transmit_power`.
    #[schemars(transform = level())]
    pub transmit_power: Option<Power>,
    /// Gain of its antenna, which raises what the radio sends and what it receives. Only with `medium.model =
    /// "sinr"`.
    #[schemars(transform = gain())]
    pub antenna_gain: Option<Gain>,
    /// Its radios, if it has several, each with a MAC, an interface queue and a channel of its own. The first
    /// has the name of the node in tables, the second of a node "a" is "a/1". Packets go from one to another
    /// at once; radios of one node do not disturb each other. Routes are static then.
    #[serde(default)]
    pub radios: Vec<Radio>,
}

/// The range of the gain of an antenna, and what it is where it is left out.
pub(crate) fn gain() -> impl FnMut(&mut Schema) {
    |schema| {
        bounds!("-40 dBi", "60 dBi").transform(schema);
        usually(Gain(0.0))(schema);
    }
}

/// Nodes with their names.
pub(crate) struct Nodes {
    /// The nodes.
    pub(crate) list: Vec<NodeConfig>,
    /// Index by name.
    index: BTreeMap<String, usize>,
    /// Source and destination of the flows that the topology is known for; none if it was not generated.
    pub(crate) canonical: Option<Vec<(usize, usize)>>,
    /// The channels of the radios of each; none of nodes that are on the usual one, with one radio.
    pub(crate) channels: Vec<Vec<u16>>,
    /// Transmit powers and antennas of the radios of each, if they were listed.
    pub(crate) levels: Vec<Vec<Level>>,
    /// Were they listed?
    listed: bool,
}

impl Nodes {
    /// The node that the text at `path` names; `first` and `last` are the ends of the list, unless nodes have
    /// these names.
    pub(crate) fn find(&self, document: &Document<'_>, path: &KeyPath, name: &str) -> Result<usize> {
        let end = match name {
            "first" => (!self.list.is_empty()).then_some(0),
            "last" => self.list.len().checked_sub(1),
            _ => None,
        };
        self.index.get(name).copied().or(end).ok_or_else(|| {
            let problem = KeyProblem::Unknown { what: Named::Node, name: name.into(), known: self.names() };
            document.error(path, problem)
        })
    }

    /// The names of all.
    pub(crate) fn names(&self) -> Vec<String> {
        self.list.iter().map(|node| node.name.clone()).collect()
    }

    /// The radio that the text at `path` names: by its node for the first, or "a/1" for the second of node
    /// "a". Its place is that among all nodes and, after them, all further radios.
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

    /// How many radios there are.
    pub(crate) fn radios(&self) -> usize {
        self.list.len() + self.channels.iter().map(|all| all.len().saturating_sub(1)).sum::<usize>()
    }

    /// The place of the second radio of a node, if it has one.
    fn first_further(&self, node: usize) -> usize {
        self.list.len() + self.channels[..node].iter().map(|all| all.len().saturating_sub(1)).sum::<usize>()
    }

    /// The place of a radio of a node among all nodes and, after them, all further radios.
    pub(crate) fn place_of_radio(&self, node: usize, radio: usize) -> usize {
        if radio == 0 { node } else { self.first_further(node) + radio - 1 }
    }

    /// The name of a further radio of a node, by its place.
    pub(crate) fn radio_name(&self, node: usize, place: usize) -> String {
        format!("{}/{}", self.list[node].name, place - self.first_further(node) + 1)
    }

    /// Where the channel of a radio of a node stands.
    pub(crate) fn channel_key(&self, document: &Document<'_>, node: usize, radio: usize) -> KeyPath {
        if self.listed {
            radio_key(document, node, radio).join("channel")
        } else {
            key!["topology", "channels"]
        }
    }
}

/// Where a radio of a listed node stands.
pub(crate) fn radio_key(document: &Document<'_>, node: usize, radio: usize) -> KeyPath {
    let at = key!["topology", "nodes", node];
    let radios = at.join("radios");
    if document.has(&radios) { radios.join(radio) } else { at }
}

impl Nodes {
    /// Adds those that mobility adds; motion says where they are.
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
    /// The nodes, for a configuration that has none yet; measured links go into its medium, and wires into
    /// the configuration. Those that move need no position.
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
                config.wires = network.wires;
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
                config.wires = wires::resolve(document, &listed.wires, &nodes)?;
                if measured::resolve(document, &listed.links, &nodes, model)? {
                    config.link_rates = measured::rates(document, &listed.links, &nodes, &config.phy)?;
                } else {
                    listed.check_places(document, &config.wires, mobility)?;
                }
                Ok(nodes)
            }
        }?;
        if !config.wires.is_empty() && mobility.is_some() {
            return Err(document.error(&key!["mobility"], TopologyProblem::WiresMove));
        }
        if !config.wires.is_empty() && config.routing.protocol != RoutingProtocol::Static {
            return Err(document.error(&key!["routing", "protocol"], TopologyProblem::WiresRouted));
        }
        check_associations(document, &nodes, config, mobility)?;
        check_radios(document, &nodes, config, mobility)?;
        nodes.add_mobile(document, mobility)?;
        Ok(nodes)
    }
}

/// Between the radios of a node only static routes lead.
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

/// Associations are by static routes: in an infrastructure network nothing is left for a routing protocol to
/// find.
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
            let problem = KeyProblem::TooMany { count, what: Limited::Nodes, most };
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
                return Err(document.error(&at.join("name"), KeyProblem::Taken { name, by }));
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

    /// The channels of each node's radios.
    fn channels(&self, document: &Document<'_>) -> Result<Vec<Vec<u16>>> {
        let of = |(i, node): (usize, &Node)| match (node.channel, node.radios.as_slice()) {
            (channel, []) => Ok(channel.into_iter().collect()),
            (None, radios) => Ok(radios.iter().map(|radio| radio.channel).collect()),
            (Some(_), _) => {
                let at = key!["topology", "nodes", i, "channel"];
                Err(document.error(&at, KeyProblem::Beside { other: "radios" }))
            }
        };
        self.nodes.iter().enumerate().map(of).collect()
    }

    /// Finds the base stations of those that have one, and the rates of their links.
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

    /// Where distance decides, every node with a radio has a place of its own and nothing was measured.
    fn check_places(
        &self,
        document: &Document<'_>,
        wires: &[WireConfig],
        mobility: Option<&Mobility>,
    ) -> Result<()> {
        if !self.links.is_empty() {
            return Err(document.error(&key!["topology", "links"], TopologyProblem::IdleLinks));
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
                    continue; // it has no radio
                }
                let problem = TopologyProblem::NoPosition { node: node.name.clone() };
                return Err(document.error(&at.join("position"), problem));
            };
            let place = position.map(|length| (length.0 + 0.0).to_bits()); // + 0.0 makes one zero of two
            if let Some(first) = places.insert(place, i) {
                let problem = TopologyProblem::SamePlace { node: self.nodes[first].name.clone() };
                return Err(document.error(&at.join("position"), problem));
            }
        }
        Ok(())
    }
}
