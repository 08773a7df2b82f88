//! Topologies in rows: grid and bar.

use super::{Plan, count, distance, hop, limit};
use crate::document::{Document, Result, key};
use crate::error::TopologyProblem;
use multihop_config::bounds;
use multihop_config::quantity::Length;
use multihop_core::Rng;
use schemars::JsonSchema;
use serde::Deserialize;

/// Rows of nodes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Number of nodes in a row.
    #[schemars(transform = bounds!(1, 100_000))]
    pub columns: u32,
    /// Number of rows.
    #[schemars(transform = bounds!(1, 100_000))]
    pub rows: u32,
    /// Distance between neighbours in a row, and between rows.
    #[serde(default = "hop")]
    pub spacing: Length,
    /// Maximum random displacement of a node along each axis, uniformly distributed: below half of the
    /// spacing.
    #[serde(default)]
    pub jitter: Length,
    /// Seed of the jitter. Independent of the run's seed, so that all runs of a study have the same network.
    #[serde(default = "one")]
    pub seed: u64,
}

/// Parallel one-hop links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Number of links, one per row. In row i, n(2i) sends to n(2i+1).
    #[serde(default = "three")]
    #[schemars(transform = bounds!(1, 50_000))]
    pub rows: u32,
    /// Distance between rows.
    #[serde(default = "hop")]
    pub spacing: Length,
    /// Length of each link. Default: `spacing`.
    pub length: Option<Length>,
}

fn one() -> u64 {
    1
}
fn three() -> u32 {
    3
}

impl Grid {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let (columns, rows) =
            (count(document, "columns", self.columns, 1)?, count(document, "rows", self.rows, 1)?);
        limit(document, "rows", columns as u64 * rows as u64)?;
        let spacing = distance(document, "spacing", self.spacing)?;
        let (jitter, half) = (self.jitter.0, spacing / 2.0);
        if !(0.0..half).contains(&jitter) {
            let problem = TopologyProblem::JitterTooLarge { half: Length(half) };
            return Err(document.error(&key!["topology", "jitter"], problem));
        }
        let place = |i: usize| {
            let mut rng = Rng::at(self.seed, &["topology", "grid", &i.to_string()]);
            let mut moved = |steps: usize| steps as f64 * spacing + jitter * (2.0 * rng.unit() - 1.0);
            let x = moved(i % columns);
            [x, moved(i / columns)]
        };
        Ok(Plan { positions: (0..columns * rows).map(place).collect(), flows: Vec::new() })
    }
}

impl Bar {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let rows = count(document, "rows", self.rows, 1)?;
        limit(document, "rows", 2 * rows as u64)?;
        let spacing = distance(document, "spacing", self.spacing)?;
        let length = self.length.map_or(Ok(spacing), |length| distance(document, "length", length))?;
        let positions = (0..2 * rows).map(|i| [(i % 2) as f64 * length, (i / 2) as f64 * spacing]).collect();
        Ok(Plan { positions, flows: (0..rows).map(|row| (2 * row, 2 * row + 1)).collect() })
    }
}
