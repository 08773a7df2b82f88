//! Files of motion, as `[mobility]` names them: which of their nodes is which of ours.

use crate::document::{Document, Result, key};
use crate::error::{MobilityProblem, Place, Problem, ScenarioError};
use crate::mobility::trace::{Format, Trace, TraceNode, read_file};
use crate::mobility::{after, decimetre, located};
use multihop_core::{NodeId, Span};
use multihop_schemes::bounds;
use multihop_schemes::quantity::{Duration, Length};
use multihop_sim::config::Config;
use multihop_sim::mobility;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// A file of motion.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The file, plain or by gzip; from the scenario's folder, if it is not absolute.
    pub file: String,
    /// Names of the nodes that move; those that the file does not have stand still, as the others do.
    /// Default: all.
    pub nodes: Option<Vec<String>>,
    /// Instead of `nodes`: so many are added to those of the topology, called m0, m1, ..., and move.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// The instant of the file at which the run begins.
    #[serde(default)]
    pub file_start: Duration,
    /// As with the other models: how wrong a distance may be.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

/// A script of ns-2.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The file, plain or by gzip; from the scenario's folder, if it is not absolute.
    pub file: String,
    /// Names of the nodes that move; those that the file does not have stand still, as the others do.
    /// Default: all.
    pub nodes: Option<Vec<String>>,
    /// Instead of `nodes`: so many are added to those of the topology, called m0, m1, ..., and move.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// The file's number of the first of the nodes that move. Where it is left out, it is 1 if the file has
    /// no node 0 and its highest number is that of the nodes that move, and 0 otherwise.
    pub first_node: Option<u32>,
    /// The instant of the file at which the run begins.
    #[serde(default)]
    pub file_start: Duration,
    /// As with the other models: how wrong a distance may be.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

/// A file of `BonnMotion`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BonnMotion {
    /// The file, plain or by gzip; from the scenario's folder, if it is not absolute.
    pub file: String,
    /// Names of the nodes that move; those that the file does not have stand still, as the others do.
    /// Default: all.
    pub nodes: Option<Vec<String>>,
    /// Instead of `nodes`: so many are added to those of the topology, called m0, m1, ..., and move.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// Coordinates of each place; the third is ignored. Default: what the file says, or what fits.
    #[schemars(transform = bounds!(2, 3))]
    pub dimensions: Option<u32>,
    /// The instant of the file at which the run begins.
    #[serde(default)]
    pub file_start: Duration,
    /// As with the other models: how wrong a distance may be.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

impl BonnMotion {
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, String)> {
        if let Some(dimensions) = self.dimensions {
            document.between(&key!["mobility", "dimensions"], dimensions, "2", "3")?;
        }
        let format = Format::BonnMotion { dimensions: self.dimensions };
        let BonnMotion { file, nodes, count, file_start, resolution, .. } = self.clone();
        Recorded { file, nodes, count, file_start, resolution }
            .resolve(document, format, None, moving, config)
    }
}

impl Script {
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, String)> {
        let Script { file, nodes, count, first_node, file_start, resolution } = self.clone();
        let recorded = Recorded { file, nodes, count, file_start, resolution };
        recorded.resolve(document, Format::Setdest, first_node, moving, config)
    }
}

impl Recorded {
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        format: Format,
        first_node: Option<u32>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, String)> {
        let start = document.time(&key!["mobility", "file_start"], self.file_start, 0.0)?;
        let trace = self.read(document, format)?;
        let (mut moved, mut identity) = (Vec::new(), format!("{start:?}"));
        let first = first_node.map_or_else(|| first_number(&trace, moving.len()), |first| first as usize);
        for node in trace.nodes {
            let Some(&index) = node.index.checked_sub(first).and_then(|place| moving.get(place)) else {
                return Err(self.nobody_moves(&node, first, moving.len()));
            };
            write!(identity, " {index} {:?} {:?}", node.motion, node.off).expect("strings take all text");
            config.mobility.motions[index] = node.motion.advanced(start.seconds());
            moved.push(index);
            let end = after(config);
            for [from, to] in node.off.iter().map(|span| span.map(|time| time - start.seconds())) {
                let (from, to) =
                    (Span::from_seconds(from.min(1e9)), Span::from_seconds(to.min(1e9)).min(end));
                if from < to {
                    config.mobility.outages.push(mobility::Outage { node: NodeId(index as u32), from, to });
                }
            }
        }
        Ok((moved, identity))
    }

    fn read(&self, document: &Document<'_>, format: Format) -> Result<Trace> {
        let at = key!["mobility", "file"];
        let trace = read_file(&located(document, &self.file), format)
            .map_err(|error| document.error(&at, MobilityProblem::Unreadable { why: error.to_string() }))?;
        trace.map_err(|error| self.at_line(error.line, error.problem))
    }

    /// A node of the file that is none of those that move.
    fn nobody_moves(&self, node: &TraceNode, first: usize, count: usize) -> ScenarioError {
        let (index, name) = (node.index, node.name.clone());
        self.at_line(node.line, MobilityProblem::StandsStill { index, name, first, moving: count })
    }

    /// What is wrong in a line of the file.
    fn at_line(&self, line: usize, problem: impl Into<Problem>) -> ScenarioError {
        let place = Place::Line { origin: self.file.clone(), line };
        ScenarioError::new(place, "mobility.file", problem)
    }
}

/// The number that a file gives to the first of so many nodes: some count from 1.
fn first_number(trace: &Trace, count: usize) -> usize {
    let numbers = (trace.nodes.first(), trace.nodes.last());
    let (Some(lowest), Some(highest)) = numbers else { return 0 };
    usize::from(lowest.index > 0 && highest.index == count)
}
