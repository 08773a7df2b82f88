//! Transmit powers and antenna gains of single radios.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::KeyProblem;
use crate::topology::radios::Radio;
use crate::topology::{Listed, Node, Nodes, radio_key};
use multihop_config::quantity::{Gain, Power};
use multihop_sim::config::{Config, MediumConfig, MediumModel, RadioPower};

/// Transmit power and antenna gain of a radio, as given in the scenario.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    pub(crate) transmit_power: Option<Power>,
    pub(crate) antenna_gain: Option<Gain>,
}

impl Level {
    /// First key that is given.
    fn key(self) -> Option<&'static str> {
        let transmit_power = self.transmit_power.map(|_| "transmit_power");
        transmit_power.or(self.antenna_gain.map(|_| "antenna_gain"))
    }
}

impl Node {
    fn level(&self) -> Level {
        Level { transmit_power: self.transmit_power, antenna_gain: self.antenna_gain }
    }
}

impl Listed {
    /// Transmit power and antenna gain of each node's radios.
    pub(super) fn levels(&self, document: &Document<'_>) -> Result<Vec<Vec<Level>>> {
        let of = |(i, node): (usize, &Node)| {
            if node.radios.is_empty() {
                return Ok(vec![node.level()]);
            }
            if let Some(key) = node.level().key() {
                let at = key!["topology", "nodes", i, key];
                return Err(document.error(&at, KeyProblem::GivenTogether { other: "radios" }));
            }
            Ok(node.radios.iter().map(Radio::level).collect())
        };
        self.nodes.iter().enumerate().map(of).collect()
    }
}

/// Sets the transmit powers and antenna gains of all radios of a configuration.
pub(crate) fn resolve(document: &Document<'_>, nodes: &Nodes, config: &mut Config) -> Result<()> {
    let all = nodes.levels.iter().enumerate();
    let radios = all.flat_map(|(node, levels)| (0..).zip(levels).map(move |radio| (node, radio)));
    let Some((at, _)) = radios.clone().find_map(|(node, (radio, level))| {
        let key = level.key()?;
        Some((radio_key(document, node, radio).join(key), level))
    }) else {
        return Ok(());
    };
    let MediumModel::Sinr { transmit_power_mw, .. } = config.medium.model else {
        return Err(without_powers(document, &at, &config.medium));
    };
    let usual = RadioPower { transmit_mw: transmit_power_mw, antenna_gain: 1.0 };
    let power = |level: &Level| RadioPower {
        transmit_mw: level.transmit_power.map_or(usual.transmit_mw, Power::milliwatts),
        antenna_gain: level.antenna_gain.map_or(usual.antenna_gain, Gain::ratio),
    };
    let mut powers = vec![usual; config.topology.nodes.len()];
    for (node, (radio, level)) in radios {
        powers[nodes.place_of_radio(node, radio)] = power(level);
    }
    if powers.iter().any(|power| *power != usual) {
        config.topology.powers = powers;
    }
    Ok(())
}

/// The error that the medium has no transmit powers.
fn without_powers(document: &Document<'_>, at: &KeyPath, medium: &MediumConfig) -> crate::ScenarioError {
    let value = if matches!(medium.model, MediumModel::Ranges { .. }) { "ranges" } else { "matrix" };
    let problem = KeyProblem::NoEffect { key: "medium.model", value: value.into(), instead: "\"sinr\"" };
    document.error(at, problem)
}
