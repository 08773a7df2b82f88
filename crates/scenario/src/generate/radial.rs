//! Topologies around a centre: star, cross, circle.

use super::{Plan, count, distance, hop, limit};
use crate::document::{Document, Result};
use multihop_config::bounds;
use multihop_config::quantity::Length;
use schemars::JsonSchema;
use serde::Deserialize;
use std::f64::consts::TAU;

/// Chains that meet in a centre.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of arms, at equal angles. The first arm points along x.
    #[schemars(transform = bounds!(1, 99999))]
    pub arms: u32,
    /// Number of hops of each arm, from the centre outwards.
    #[serde(default = "single")]
    #[schemars(transform = bounds!(1, 99999))]
    pub arm_hops: u32,
    /// Distance between neighbours on an arm.
    #[serde(default = "hop")]
    pub spacing: Length,
}

/// Two chains that cross.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cross {
    /// Number of hops from the centre to each of the four ends. The nodes along x are numbered first, from
    /// left to right; then those along y, from bottom to top, without the centre.
    #[schemars(transform = bounds!(1, 24999))]
    pub arm_hops: u32,
    /// Distance between neighbours.
    #[serde(default = "hop")]
    pub spacing: Length,
}

/// Stations around a sink.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// Number of stations, without the sink.
    #[schemars(transform = bounds!(1, 99999))]
    pub stations: u32,
    /// Distance of each station from the sink, small compared to the ranges, so that all nodes sense each
    /// other.
    #[serde(default = "near")]
    pub radius: Length,
}

fn single() -> u32 {
    1
}
pub(super) fn near() -> Length {
    Length(10.0)
}

impl Star {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let (arms, hops) =
            (count(document, "arms", self.arms, 1)?, count(document, "arm_hops", self.arm_hops, 1)?);
        limit(document, "arms", 1 + arms as u64 * hops as u64)?;
        let spacing = distance(document, "spacing", self.spacing)?;
        let mut positions = vec![[0.0, 0.0]];
        let mut flows = Vec::new();
        for arm in 0..arms {
            positions.extend((1..=hops).map(|step| polar(step as f64 * spacing, arm, arms)));
            flows.push((positions.len() - 1, 0));
        }
        Ok(Plan { positions, flows })
    }
}

impl Cross {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let hops = count(document, "arm_hops", self.arm_hops, 1)?;
        limit(document, "arm_hops", 1 + 4 * hops as u64)?;
        let spacing = distance(document, "spacing", self.spacing)?;
        let steps = || (0..=2 * hops).map(|i| (i as f64 - hops as f64) * spacing);
        let mut positions: Vec<[f64; 2]> = steps().map(|x| [x, 0.0]).collect();
        positions.extend(steps().filter(|y| *y != 0.0).map(|y| [0.0, y]));
        Ok(Plan { positions, flows: vec![(0, 2 * hops), (2 * hops + 1, 4 * hops)] })
    }
}

impl Circle {
    pub(super) fn plan(&self, document: &Document<'_>) -> Result<Plan> {
        let stations = count(document, "stations", self.stations, 1)?;
        limit(document, "stations", 1 + stations as u64)?;
        let radius = distance(document, "radius", self.radius)?;
        let around = (0..stations).map(|station| polar(radius, station, stations));
        let positions = std::iter::once([0.0, 0.0]).chain(around).collect();
        Ok(Plan { positions, flows: (1..=stations).map(|station| (station, 0)).collect() })
    }
}

/// Position at `radius` in the `i`-th of `n` directions. Rounded to a micrometre, so that right angles are
/// exact.
pub(super) fn polar(radius: f64, i: usize, n: usize) -> [f64; 2] {
    let angle = TAU * i as f64 / n as f64;
    [angle.cos(), angle.sin()].map(|direction| (radius * direction * 1e6).round() / 1e6 + 0.0)
}
