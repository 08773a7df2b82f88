//! `topology.links`: measured links, for the medium "matrix".

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{ConnectionKind, KeyProblem, TopologyProblem};
use crate::phy::rate::{DataRate, rate_of};
use crate::topology::Nodes;
use multihop_config::bounds;
use multihop_config::quantity::Power;
use multihop_core::NodeId;
use multihop_dot11::Phy;
use multihop_sim::config::{LinkRate, MatrixLink, MatrixQuantity, MediumModel, SensedLink};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Measured link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name of the transmitter.
    pub from: String,
    /// Name of the receiver.
    pub to: String,
    /// Share of frames that arrive, for `quantity = "delivery"` and `"delivery-and-rssi"`. 0: the signal is
    /// sensed but never decoded.
    #[schemars(transform = bounds!(0, 1))]
    pub delivery: Option<f64>,
    /// Share of frames that arrive in the other direction. If absent, `from` does not sense `to`, unless
    /// another entry lists that direction.
    #[schemars(transform = bounds!(0, 1))]
    pub reverse: Option<f64>,
    /// Received power, for `quantity = "rssi"` and `"delivery-and-rssi"`.
    pub rssi: Option<Power>,
    /// Received power in the other direction.
    pub reverse_rssi: Option<Power>,
    /// Rate of DATA frames over this link, in both directions. ACKs, RTS and CTS follow the rules of `[phy]`.
    /// Default: `phy.data_rate`.
    pub data_rate: Option<DataRate>,
}

/// Keys of one direction.
type Keys = [&'static str; 2];

const THERE: Keys = ["delivery", "rssi"];
const BACK: Keys = ["reverse", "reverse_rssi"];

/// Measured values of a direction.
#[derive(Clone, Copy)]
struct Values {
    delivery: Option<f64>,
    rssi: Option<f64>,
}

/// Adds the listed links to a medium. Returns whether the medium has measured links.
pub(crate) fn resolve(
    document: &Document<'_>,
    listed: &[Link],
    nodes: &Nodes,
    model: &mut MediumModel,
) -> Result<bool> {
    match model {
        MediumModel::Matrix { links, quantity } => {
            let delivery = matches!(quantity, MatrixQuantity::Delivery { .. });
            let known = |link: &Link, at: &KeyPath, keys| link.value(document, at, delivery, keys);
            let (key, example) = if delivery { ("delivery", "0.9") } else { ("rssi", "\"-70 dBm\"") };
            *links = directions(document, listed, nodes, (key, example), known)?
                .into_iter()
                .map(|(from, to, value)| MatrixLink { from, to, value })
                .collect();
        }
        MediumModel::Sensed { links, .. } => {
            let known = |link: &Link, at: &KeyPath, keys| link.both(document, at, keys);
            *links = directions(document, listed, nodes, ("rssi", "\"-70 dBm\""), known)?
                .into_iter()
                .map(|(from, to, (delivery, rssi))| SensedLink { from, to, delivery, rssi })
                .collect();
        }
        MediumModel::Ranges { .. } | MediumModel::Sinr { .. } => return Ok(false),
    }
    Ok(true)
}

/// Rates of links with a rate of their own.
pub(crate) fn rates(
    document: &Document<'_>,
    links: &[Link],
    nodes: &Nodes,
    phy: &Phy,
) -> Result<Vec<LinkRate>> {
    let mut made = Vec::new();
    let mut known: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for (i, link) in links.iter().enumerate() {
        let Some(rate) = link.data_rate else { continue };
        let at = key!["topology", "links", i, "data_rate"];
        let rate = rate_of(document, &at, phy, rate)?;
        let [from, to] = [&link.from, &link.to].map(|name| nodes.find_radio(document, &at, name));
        let (from, to) = (from?, to?);
        if let Some(first) = known.insert([from.min(to), from.max(to)], i) {
            return Err(document.error(&at, TopologyProblem::SecondRate { first }));
        }
        made.push(LinkRate { between: [NodeId(from as u32), NodeId(to as u32)], rate });
    }
    Ok(made)
}

/// Directions of all links with their values. Each entry has a value for its direction, and may lack one for
/// the reverse direction.
fn directions<T>(
    document: &Document<'_>,
    links: &[Link],
    nodes: &Nodes,
    (needed, example): (&'static str, &'static str),
    known: impl Fn(&Link, &KeyPath, Keys) -> Result<Option<T>>,
) -> Result<Vec<(NodeId, NodeId, T)>> {
    let mut made = Vec::new();
    let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (i, link) in links.iter().enumerate() {
        let at = key!["topology", "links", i];
        let from = nodes.find_radio(document, &at.join("from"), &link.from)?;
        let to = nodes.find_radio(document, &at.join("to"), &link.to)?;
        if from == to {
            let problem = KeyProblem::Loop { what: ConnectionKind::Link, node: link.from.clone() };
            return Err(document.error(&at, problem));
        }
        let there = known(link, &at, THERE)?;
        let back = known(link, &at, BACK)?;
        let Some(there) = there else {
            return Err(document.error(&at.join(needed), KeyProblem::Missing { key: needed, example }));
        };
        let both = [
            Some((from, to, there, [&link.from, &link.to])),
            back.map(|back| (to, from, back, [&link.to, &link.from])),
        ];
        for (from, to, value, [sender, receiver]) in both.into_iter().flatten() {
            if let Some(first) = places.insert((from, to), i) {
                let [from, to] = [sender, receiver].map(String::clone);
                return Err(document.error(&at, TopologyProblem::SecondDirection { from, to, first }));
            }
            made.push((NodeId(from as u32), NodeId(to as u32), value));
        }
    }
    Ok(made)
}

impl Link {
    /// Measured values of a direction, within their ranges.
    fn values(&self, document: &Document<'_>, at: &KeyPath, [delivery, rssi]: Keys) -> Result<Values> {
        let (share, power) =
            if delivery == THERE[0] { (self.delivery, self.rssi) } else { (self.reverse, self.reverse_rssi) };
        let share = share.map(|share| document.between(&at.join(delivery), share, "0", "1"));
        let power = power.map(|power| document.between(&at.join(rssi), power, "-150 dBm", "40 dBm"));
        Ok(Values { delivery: share.transpose()?, rssi: power.transpose()?.map(|power| power.0) })
    }

    /// Value of one direction on a medium with one measured quantity.
    fn value(
        &self,
        document: &Document<'_>,
        at: &KeyPath,
        delivery: bool,
        keys: Keys,
    ) -> Result<Option<f64>> {
        let (wrong, wrong_key, key, quantity) = if delivery {
            (self.has(keys[1]), keys[1], keys[0], "delivery")
        } else {
            (self.has(keys[0]), keys[0], keys[1], "rssi")
        };
        if wrong {
            let problem = TopologyProblem::OtherQuantity { quantity, key };
            return Err(document.error(&at.join(wrong_key), problem));
        }
        let Values { delivery: share, rssi } = self.values(document, at, keys)?;
        Ok(if delivery { share } else { rssi })
    }

    /// Delivery probability, if given, and power of one direction.
    fn both(&self, document: &Document<'_>, at: &KeyPath, keys: Keys) -> Result<Option<(Option<f64>, f64)>> {
        match self.values(document, at, keys)? {
            Values { delivery, rssi: Some(rssi) } => Ok(Some((delivery, rssi))),
            Values { delivery: None, rssi: None } => Ok(None),
            Values { delivery: Some(_), rssi: None } => {
                Err(document.error(&at.join(keys[1]), TopologyProblem::NoPower { key: keys[1] }))
            }
        }
    }

    fn has(&self, key: &str) -> bool {
        match key {
            "delivery" => self.delivery.is_some(),
            "reverse" => self.reverse.is_some(),
            "rssi" => self.rssi.is_some(),
            _ => self.reverse_rssi.is_some(),
        }
    }
}
