//! Topologies in one line: chain, parking lot, exposed terminal.

use super::{Network, Plan, count, distance, hop, limit};
use crate::document::{Document, Result};
use multihop_config::bounds;
use multihop_config::quantity::Length;
use schemars::JsonSchema;
use serde::Deserialize;

/// Nodes in a line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Number of hops from one end to the other: one less than the number of nodes.
    #[schemars(transform = bounds!(1, 99999))]
    pub hops: u32,
    /// Distance between neighbours.
    #[serde(default = "hop")]
    pub spacing: Length,
    /// Channel numbers that consecutive hops use in turn. A node between two hops on different channels has a
    /// radio for each. Default: one channel for all hops.
    #[serde(default)]
    pub channels: Vec<u16>,
}

/// Chain with one flow over all hops, and one over each hop.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of hops from one end to the other: one less than the number of nodes.
    #[schemars(transform = bounds!(1, 99999))]
    pub hops: u32,
    /// Distance between neighbours.
    #[serde(default = "hop")]
    pub spacing: Length,
}

/// Two adjacent senders, with their receivers on the outside.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExposedTerminal {
    /// Distance between neighbours.
    #[serde(default = "hop")]
    pub spacing: Length,
}

impl Chain {
    pub(super) fn network(&self, document: &Document<'_>) -> Result<Network> {
        let positions = line(document, self.hops, self.spacing)?;
        let hops = positions.len() - 1;
        let channels = if self.channels.is_empty() {
            Vec::new()
        } else {
            let of = |hop: usize| self.channels[hop % self.channels.len()];
            let at = |node: usize| {
                let mut channels: Vec<u16> = (node.saturating_sub(1)..=node.min(hops - 1)).map(of).collect();
                channels.dedup();
                channels
            };
            (0..=hops).map(at).collect()
        };
        let flows = vec![(0, hops)];
        Ok(Network { channels, ..Network::from(Plan { positions, flows }) })
    }
}

impl ParkingLot {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let positions = line(document, self.hops, self.spacing)?;
        let hops = positions.len() - 1;
        let flows = std::iter::once((0, hops)).chain((0..hops).map(|i| (i, i + 1))).collect();
        Ok(Plan { positions, flows })
    }
}

impl ExposedTerminal {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        Ok(Plan { positions: line(document, 3, self.spacing)?, flows: vec![(1, 0), (2, 3)] })
    }
}

fn line(document: &Document<'_>, hops: u32, spacing: Length) -> Result<Vec<[f64; 2]>> {
    let hops = count(document, "hops", hops, 1)?;
    limit(document, "hops", hops as u64 + 1)?;
    let spacing = distance(document, "spacing", spacing)?;
    Ok((0..=hops).map(|i| [i as f64 * spacing, 0.0]).collect())
}
