//! Channels, and nodes with several radios.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{PhyProblem, TopologyProblem};
use crate::medium::level;
use crate::topology::powers::Level;
use crate::topology::{Nodes, gain};
use multihop_config::bounds;
use multihop_config::quantity::{Gain, Power};
use multihop_core::NodeId;
use multihop_dot11::Phy;
use multihop_sim::config::{Channel, Config, MediumModel, NodeConfig, Radios};
use multihop_sim::preflight::place_ends;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Radio of a node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Channel number of the radio. Only radios on the same channel are neighbours.
    #[schemars(transform = bounds!(1, 196))]
    pub channel: u16,
    /// Transmit power of the radio. Only with `medium.model = "sinr"`. Default: `medium.transmit_power`.
    #[schemars(transform = level())]
    pub transmit_power: Option<Power>,
    /// Gain of the radio's antenna, for transmission and reception. Only with `medium.model = "sinr"`.
    #[schemars(transform = gain())]
    pub antenna_gain: Option<Gain>,
}

impl Radio {
    pub(super) fn level(&self) -> Level {
        Level { transmit_power: self.transmit_power, antenna_gain: self.antenna_gain }
    }
}

/// Effect of transmissions on partly overlapping channels on each other.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdjacentChannels {
    /// Noise, proportional to the shared width: the spectrum is flat within the channel and zero outside.
    #[default]
    Overlap,
    /// No effect, as with perfect filters.
    Apart,
}

/// Sets the channels of a configuration's nodes, and adds their additional radios.
pub(crate) fn resolve(
    document: &Document<'_>,
    choice: &crate::phy::Phy,
    nodes: &Nodes,
    config: &mut Config,
) -> Result<()> {
    let (phy, list) = (&config.phy, &mut config.topology.nodes);
    let usual = match choice.channel {
        Some(number) => check(document, &key!["phy", "channel"], phy, number)?,
        None => numbers(phy)[0],
    };
    if nodes.channels.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let channel = |number| Channel {
        number,
        width_mhz: phy.options().bandwidth.mhz(),
        overlaps: choice.adjacent_channels.unwrap_or_default() == AdjacentChannels::Overlap,
    };
    let mut radios = Radios::default();
    for (node, numbers) in nodes.channels.iter().enumerate() {
        for (i, number) in numbers.iter().enumerate() {
            let at = nodes.channel_key(document, node, i);
            check(document, &at, phy, *number)?;
            if numbers[..i].contains(number) {
                let problem = PhyProblem::SecondOnChannel { node: nodes.list[node].name.clone() };
                return Err(document.error(&at, problem));
            }
        }
        radios.channels.push(channel(numbers.first().copied().unwrap_or(usual)));
    }
    radios.channels.resize(list.len(), channel(usual));
    for (node, numbers) in nodes.channels.iter().enumerate() {
        for number in numbers.iter().skip(1) {
            let radio = NodeId(list.len() as u32);
            let NodeConfig { position, .. } = list[node];
            let name = nodes.radio_name(node, list.len());
            list.push(NodeConfig { name, position, base: None, data_rate: None });
            radios.further.push((radio, NodeId(node as u32)));
            radios.channels.push(channel(*number));
        }
    }
    associate(document, nodes, &radios, list)?;
    check_links(document, &radios, config)?;
    config.topology.radios = radios;
    Ok(())
}

/// Moves the ends of flows to the radios at which their packets leave and arrive.
pub(crate) fn place_flows(config: &mut Config) {
    if !config.topology.radios.further.is_empty() {
        place_ends(config);
    }
}

/// Channel numbers of a PHY, in ascending order.
pub(crate) fn numbers(phy: &Phy) -> Vec<u16> {
    let options = phy.options();
    options.band.channels(options.bandwidth).collect()
}

fn check(document: &Document<'_>, at: &KeyPath, phy: &Phy, number: u16) -> Result<u16> {
    let known = numbers(phy);
    if known.contains(&number) {
        return Ok(number);
    }
    let options = phy.options();
    let problem = PhyProblem::NoChannel { number, mhz: options.bandwidth.mhz(), band: options.band, known };
    Err(document.error(at, problem))
}

/// Associates each station with the radio of its base station on the station's channel.
fn associate(document: &Document<'_>, nodes: &Nodes, radios: &Radios, list: &mut [NodeConfig]) -> Result<()> {
    let channel = |radio: NodeId| radios.channels[radio.index()].number;
    for station in 0..nodes.list.len() {
        let Some(base) = list[station].base else { continue };
        let at = key!["topology", "nodes", station, "base"];
        if radios.of(NodeId(station as u32)).count() > 1 {
            return Err(document.error(&at, TopologyProblem::SeveralRadios));
        }
        let own = channel(NodeId(station as u32));
        let Some(radio) = radios.of(base).find(|radio| channel(*radio) == own) else {
            return Err(document.error(&at, TopologyProblem::NoRadioOnChannel { channel: own }));
        };
        list[station].base = Some(radio);
    }
    Ok(())
}

/// Refuses measured links between radios on different channels.
fn check_links(document: &Document<'_>, radios: &Radios, config: &Config) -> Result<()> {
    let ends: Vec<[NodeId; 2]> = match &config.medium.model {
        MediumModel::Matrix { links, .. } => links.iter().map(|link| [link.from, link.to]).collect(),
        MediumModel::Sensed { links, .. } => links.iter().map(|link| [link.from, link.to]).collect(),
        MediumModel::Ranges { .. } | MediumModel::Sinr { .. } => return Ok(()),
    };
    let apart = |ends: &&[NodeId; 2]| {
        let [from, to] = **ends;
        radios.share_node(from, to)
            || radios.channels[from.index()].number != radios.channels[to.index()].number
    };
    let Some(&[from, to]) = ends.iter().find(apart) else { return Ok(()) };
    let between = [from, to].map(|radio| config.topology.nodes[radio.index()].name.clone());
    Err(document.error(&key!["topology", "links"], TopologyProblem::NoCommonChannel { between }))
}
