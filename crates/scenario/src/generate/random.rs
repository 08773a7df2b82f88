//! Random geometric networks.

use super::{Plan, count, distance};
use crate::document::{Document, Result, key};
use crate::error::TopologyProblem;
use crate::topology::reach::Reach;
use multihop_config::bounds;
use multihop_config::quantity::Length;
use multihop_core::Rng;
use schemars::JsonSchema;
use serde::Deserialize;

/// Nodes at random positions in a square.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomGeometric {
    /// Number of nodes.
    #[schemars(transform = bounds!(1, 100_000))]
    pub nodes: u32,
    /// Side of the square.
    pub side: Length,
    /// Maximum length of a hop by which the network counts as connected. Default: the maximum distance at
    /// which frames are decodable on the scenario's medium at `phy.data_rate`.
    pub radius: Option<Length>,
    /// Seed of the positions. Independent of the run's seed, so that all runs of a study have the same
    /// network.
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
    1
}

impl RandomGeometric {
    pub(super) fn plan(&self, document: &Document<'_>, reach: f64) -> Result<Plan> {
        let nodes = count(document, "nodes", self.nodes, 1)?;
        let side = distance(document, "side", self.side)?;
        let radius = self.radius.map_or(Ok(reach), |radius| distance(document, "radius", radius))?;
        let tries = (2_000_000 / nodes).clamp(20, 1000); // bounds the search to about a second
        for attempt in 0..tries {
            let mut rng = Rng::at(self.seed, &["topology", "random-geometric", &attempt.to_string()]);
            let positions: Vec<[f64; 2]> =
                (0..nodes).map(|_| [side * rng.unit(), side * rng.unit()]).collect();
            if Reach::within(positions.clone(), radius).components().iter().all(|component| *component == 0) {
                return Ok(Plan { positions, flows: Vec::new() });
            }
        }
        let (side, radius) = (Length(side), Length((radius * 10.0).round() / 10.0));
        let problem = TopologyProblem::Unconnected { tries, nodes, side, radius };
        Err(document.error(&key!["topology", "nodes"], problem))
    }
}
