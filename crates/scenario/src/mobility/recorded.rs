//! Motion files of `[mobility]`, and the mapping of their nodes to the scenario's.

use crate::document::{Document, Result, key};
use crate::error::{MobilityProblem, Place, Problem, ScenarioError};
use crate::hash::canonical;
use crate::hash::hexadecimal;
use crate::mobility::trace::{Coordinates, Format, Times, Trace, TraceNode, Units, read_file};
use crate::mobility::{after, decimetre, located};
use multihop_config::bounds;
use multihop_config::quantity::{Duration, Length};
use multihop_core::{NodeId, Span};
use multihop_sim::config::Config;
use multihop_sim::mobility;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Motion file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Motion file, plain or compressed by gzip. Relative to the scenario's folder, if the path is not
    /// absolute.
    pub file: String,
    /// Names of the moving nodes. Nodes that are missing in the file, and all other nodes, stand still.
    /// Default: all nodes.
    pub nodes: Option<Vec<String>>,
    /// Number of moving nodes that are added to the topology, named m0, m1, ... Instead of `nodes`.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// Time in the file at which the run starts.
    #[serde(default)]
    pub file_start: Duration,
    /// Kind and unit of coordinates. Default: metres; degrees if the speeds that the file states agree with
    /// them.
    pub coordinates: Option<Coordinates>,
    /// Unit of times. Default: seconds.
    pub times: Option<Times>,
    /// Maximum error of the distance of two nodes on the medium. Links are updated at the start of a frame if
    /// nodes may have moved this far since the last update. 0 m: at every frame.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

/// Script of ns-2.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Motion file, plain or compressed by gzip. Relative to the scenario's folder, if the path is not
    /// absolute.
    pub file: String,
    /// Names of the moving nodes. Nodes that are missing in the file, and all other nodes, stand still.
    /// Default: all nodes.
    pub nodes: Option<Vec<String>>,
    /// Number of moving nodes that are added to the topology, named m0, m1, ... Instead of `nodes`.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// Number in the file of the first moving node. By default 0 if all numbers of the file are below the
    /// number of moving nodes, and the lowest number of the file otherwise. If the file has as many nodes as
    /// move, and does not begin with 0, its numbers may have gaps: nodes are then taken in ascending order.
    pub first_node: Option<u32>,
    /// Time in the file at which the run starts.
    #[serde(default)]
    pub file_start: Duration,
    /// Kind and unit of coordinates. Default: metres; degrees if the speeds that the file states agree with
    /// them.
    pub coordinates: Option<Coordinates>,
    /// Unit of times. Default: seconds.
    pub times: Option<Times>,
    /// Maximum error of the distance of two nodes on the medium. Links are updated at the start of a frame if
    /// nodes may have moved this far since the last update. 0 m: at every frame.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

/// Motion of nodes from a file of `BonnMotion`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BonnMotion {
    /// Motion file, plain or compressed by gzip. Relative to the scenario's folder, if the path is not
    /// absolute.
    pub file: String,
    /// Names of the moving nodes. Nodes that are missing in the file, and all other nodes, stand still.
    /// Default: all nodes.
    pub nodes: Option<Vec<String>>,
    /// Number of moving nodes that are added to the topology, named m0, m1, ... Instead of `nodes`.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// Number of coordinates of each place; a third coordinate is ignored. Default: the number stated in the
    /// file, or the number that fits all lines.
    #[schemars(transform = bounds!(2, 3))]
    pub dimensions: Option<u32>,
    /// Time in the file at which the run starts.
    #[serde(default)]
    pub file_start: Duration,
    /// Kind and unit of coordinates. Default: metres; such files state no speeds that show degrees.
    pub coordinates: Option<Coordinates>,
    /// Unit of times. Default: seconds.
    pub times: Option<Times>,
    /// Maximum error of the distance of two nodes on the medium. Links are updated at the start of a frame if
    /// nodes may have moved this far since the last update. 0 m: at every frame.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

impl BonnMotion {
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, Value)> {
        if let Some(dimensions) = self.dimensions {
            document.between(&key!["mobility", "dimensions"], dimensions, "2", "3")?;
        }
        let format = Format::BonnMotion { dimensions: self.dimensions };
        let BonnMotion { file, nodes, count, file_start, coordinates, times, resolution, .. } = self.clone();
        Recorded { file, nodes, count, file_start, coordinates, times, resolution }
            .resolve(document, format, None, moving, config)
    }
}

impl Script {
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, Value)> {
        let Script { file, nodes, count, first_node, file_start, coordinates, times, resolution } =
            self.clone();
        let recorded = Recorded { file, nodes, count, file_start, coordinates, times, resolution };
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
    ) -> Result<(Vec<usize>, Value)> {
        let start = document.time(&key!["mobility", "file_start"], self.file_start, 0.0)?;
        let trace = self.read(document, format)?;
        let (mut moved, mut content) = (Vec::new(), Sha256::new());
        let numbers: Vec<usize> = trace.nodes.iter().map(|node| node.index).collect();
        let places = places(&numbers, first_node, moving.len());
        for (node, place) in trace.nodes.into_iter().zip(places) {
            let Some(&index) = place.and_then(|place| moving.get(place)) else {
                return Err(self.not_moving(&node, &numbers, first_node, moving.len()));
            };
            let motion = node.motion.advanced(start.seconds());
            content.update(canonical(&json!([index, motion, node.off])));
            config.mobility.motions[index] = motion;
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
        Ok((moved, json!({ "start": start, "content": hexadecimal(content.finalize()) })))
    }

    fn read(&self, document: &Document<'_>, format: Format) -> Result<Trace> {
        let at = key!["mobility", "file"];
        let units = Units { coordinates: self.coordinates, times: self.times };
        let trace = read_file(&located(document, &self.file), format, units)
            .map_err(|error| document.error(&at, MobilityProblem::Unreadable { why: error.to_string() }))?;
        trace.map_err(|error| self.at_line(error.line, error.problem))
    }

    /// The error that a node of the file is not a moving node of the scenario.
    fn not_moving(
        &self,
        node: &TraceNode,
        numbers: &[usize],
        first: Option<u32>,
        moving: usize,
    ) -> ScenarioError {
        let (index, name) = (node.index, node.name.clone());
        let [lowest, highest] = [numbers.first(), numbers.last()].map(|number| number.copied().unwrap_or(0));
        let first_instead = (first.is_some() && highest - lowest < moving).then_some(lowest);
        let enough = if lowest > 0 { numbers.len() } else { highest + 1 };
        let option = if self.count.is_some() { "count" } else { "nodes" };
        let problem =
            MobilityProblem::NodeNotMoving { index, name, moving, first, first_instead, enough, option };
        self.at_line(node.line, problem)
    }

    /// The error about a line of the file.
    fn at_line(&self, line: usize, problem: impl Into<Problem>) -> ScenarioError {
        let place = Place::Line { origin: self.file.clone(), line };
        ScenarioError::new(place, "mobility.file", problem)
    }
}

/// Index among the `moving` nodes of each node of a file, by its number in the file. `numbers` are in
/// ascending order.
fn places(numbers: &[usize], first: Option<u32>, moving: usize) -> Vec<Option<usize>> {
    let (lowest, highest) = match numbers {
        [] => return Vec::new(),
        [lowest, .., highest] | [lowest @ highest] => (*lowest, *highest),
    };
    let first = match first {
        Some(first) => first as usize,
        None if lowest > 0 && highest == moving => 1, // some files count from 1
        None if highest < moving => 0,
        None if highest - lowest < moving => lowest,
        None if lowest > 0 && numbers.len() == moving => return (0..moving).map(Some).collect(),
        None => 0,
    };
    numbers.iter().map(|number| number.checked_sub(first).filter(|place| *place < moving)).collect()
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn numbers_of_a_file_map_to_moving_nodes() {
        let whole = |numbers: &[usize], first, moving| {
            let places: Option<Vec<usize>> = places(numbers, first, moving).into_iter().collect();
            places
        };
        assert_eq!(whole(&[0, 2], None, 3), Some(vec![0, 2]));
        assert_eq!(whole(&[1, 3], None, 3), Some(vec![0, 2]));
        assert_eq!(whole(&[2, 3], None, 4), Some(vec![2, 3]));
        assert_eq!(whole(&[6, 7], None, 2), Some(vec![0, 1]));
        assert_eq!(whole(&[6, 8], None, 5), Some(vec![0, 2]));
        assert_eq!(whole(&[3, 7, 20], None, 3), Some(vec![0, 1, 2]));
        assert_eq!(whole(&[3, 7, 20], None, 4), None);
        assert_eq!(whole(&[0, 7, 20], None, 3), None);
        assert_eq!(whole(&[6, 7], Some(5), 3), Some(vec![1, 2]));
        assert_eq!(whole(&[6, 7], Some(7), 3), None);
        assert_eq!(whole(&[0, 1, 2], None, 2), None);
        assert_eq!(whole(&[], None, 2), Some(vec![]));
    }
}
