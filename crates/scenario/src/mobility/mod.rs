//! `[mobility]` and `[[outages]]`.

mod recorded;
pub mod trace;

pub use recorded::{BonnMotion, Recorded, Script};

use crate::catalogue::proposed;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, MobilityProblem};
use crate::generate::NODES_MAX;
use crate::routing::Routing;
use crate::topology::Nodes;
use multihop_config::bounds;
use multihop_config::quantity::{Duration, Length, Speed};
use multihop_core::{NodeId, Rng, Span};
use multihop_sim::config::{Config, NodeConfig, RoutingProtocol};
use multihop_sim::mobility::{self, Motion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::Format;

/// Motion of nodes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model")]
pub enum Mobility {
    /// Random waypoint: a node moves to a random place at a random speed, pauses, and repeats (Johnson and
    /// Maltz 1996). Nodes start at random places, whatever positions the topology has.
    RandomWaypoint(RandomWaypoint),
    /// Script of ns-2, as written by setdest. Its node i is the i-th of the moving nodes, counted from 0 or
    /// from `first_node`. A node that the script switches OFF is down until it is switched ON.
    Setdest(Script),
    /// File `.movements` of `BonnMotion`. Its i-th line is the motion of the i-th of the moving nodes.
    Bonnmotion(BonnMotion),
    /// Floating car data of SUMO (XML). The first vehicle of the file is the first of the moving nodes. A
    /// node is down while its vehicle is absent.
    Fcd(Recorded),
}

/// Random waypoint model.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomWaypoint {
    /// Names of the moving nodes; the others stand still. Default: all nodes.
    pub nodes: Option<Vec<String>>,
    /// Number of moving nodes that are added to the topology, named m0, m1, ... Instead of `nodes`.
    #[schemars(transform = bounds!(1, 100_000))]
    pub count: Option<u32>,
    /// Size of the area, as `[x, y]`.
    pub area: [Length; 2],
    /// Corner of the area with the smallest x and y.
    #[serde(default)]
    pub corner: [Length; 2],
    /// Minimum of the uniformly distributed speeds. A speed of 0 is never drawn.
    #[serde(default)]
    pub min_speed: Speed,
    /// Maximum of the uniformly distributed speeds.
    pub max_speed: Speed,
    /// Pause at each place.
    #[serde(default)]
    pub pause: Duration,
    /// Distribution of pauses.
    #[serde(default)]
    pub pause_distribution: PauseDistribution,
    /// State of nodes at the start. Default: `stationary` if `min_speed` is above 0, and `pause` otherwise.
    pub start: Option<Start>,
    /// Seed of the motion. Default: the seed of the run.
    pub seed: Option<u64>,
    /// Maximum error of the distance of two nodes on the medium. Links are updated at the start of a frame if
    /// nodes may have moved this far since the last update. 0 m: at every frame.
    #[serde(default = "decimetre")]
    pub resolution: Length,
}

/// Distribution of pauses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseDistribution {
    /// Constant pauses (setdest `-P 1`).
    #[default]
    Constant,
    /// Uniform between 0 and twice the pause (setdest `-P 2`).
    Uniform,
}

/// State of nodes at the start.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// All nodes pause (setdest version 1).
    Pause,
    /// Pauses and speeds are drawn from the stationary distribution of the motion (setdest version 2).
    Stationary,
}

/// Interval during which the node's radios and wires are down. Its protocols keep running and its queues keep
/// their packets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Name of the node that is down.
    pub node: Option<String>,
    /// Names of nodes of which one is down, drawn from the run's seed. Instead of `node`.
    pub one_of: Option<Vec<String>>,
    /// Start of the outage.
    pub from: Duration,
    /// End of the outage. Default: the end of the run.
    pub to: Option<Duration>,
}

/// Motion and outages as they enter the scenario hash: independent of the seed.
#[derive(Default)]
pub(super) struct MotionIdentity {
    /// Nodes whose positions come from a model or a file.
    pub(super) nodes: Vec<usize>,
    /// Parameters or content that determine the motion, apart from the seed.
    pub(super) motion: Value,
    /// Outages that the scenario lists: the nodes of which one is down, start, and end.
    pub(super) outages: Vec<(Vec<usize>, Span, Span)>,
    /// File of the motion, if there is one.
    pub(super) file: Option<PathBuf>,
}

impl MotionIdentity {
    /// Whether any node moves or has an outage.
    pub(super) fn is_any(&self) -> bool {
        !self.nodes.is_empty() || !self.outages.is_empty()
    }
}

/// Maximum number of legs of all nodes together.
const LEGS_MAX: f64 = 1e7;

pub(super) fn decimetre() -> Length {
    Length(0.1)
}

impl Mobility {
    fn nodes(&self) -> Option<&[String]> {
        match self {
            Mobility::RandomWaypoint(RandomWaypoint { nodes, .. })
            | Mobility::Setdest(Script { nodes, .. })
            | Mobility::Fcd(Recorded { nodes, .. })
            | Mobility::Bonnmotion(BonnMotion { nodes, .. }) => nodes.as_deref(),
        }
    }

    /// Number of added nodes, which are then the moving ones.
    fn count(&self) -> Option<u32> {
        match self {
            Mobility::RandomWaypoint(RandomWaypoint { count, .. })
            | Mobility::Setdest(Script { count, .. })
            | Mobility::Fcd(Recorded { count, .. })
            | Mobility::Bonnmotion(BonnMotion { count, .. }) => *count,
        }
    }

    /// Path of the motion file, if there is one, relative to the scenario's folder.
    fn file(&self, document: &Document<'_>) -> Option<PathBuf> {
        match self {
            Mobility::RandomWaypoint(_) => None,
            Mobility::Setdest(Script { file, .. })
            | Mobility::Fcd(Recorded { file, .. })
            | Mobility::Bonnmotion(BonnMotion { file, .. }) => Some(located(document, file)),
        }
    }

    fn resolution(&self) -> Length {
        match self {
            Mobility::RandomWaypoint(RandomWaypoint { resolution, .. })
            | Mobility::Setdest(Script { resolution, .. })
            | Mobility::Fcd(Recorded { resolution, .. })
            | Mobility::Bonnmotion(BonnMotion { resolution, .. }) => *resolution,
        }
    }

    /// Whether the position of the node of this name comes from its motion.
    pub(super) fn names(&self, name: &str) -> bool {
        self.count().is_none() && self.nodes().is_none_or(|nodes| nodes.iter().any(|node| node == name))
    }

    /// Whether the table adds nodes.
    pub(super) fn adds(&self) -> bool {
        self.count().is_some()
    }

    /// Names of the nodes that are added to a topology of `there` nodes.
    pub(super) fn added(&self, document: &Document<'_>, there: usize) -> Result<Vec<String>> {
        let Some(count) = self.count() else { return Ok(Vec::new()) };
        let at = key!["mobility", "count"];
        if self.nodes().is_some() {
            return Err(document.error(&at, KeyProblem::GivenTogether { other: "mobility.nodes" }));
        }
        let most = NODES_MAX - there as u64;
        document.count(&at, count, 1, most as u32)?;
        Ok((0..count).map(|index| format!("m{index}")).collect())
    }
}

/// Sets motion and outages in a configuration with known nodes.
pub(super) fn resolve(
    mobility: Option<&Mobility>,
    outages: &[Outage],
    document: &Document<'_>,
    nodes: &Nodes,
    config: &mut Config,
) -> Result<MotionIdentity> {
    let mut moved = MotionIdentity::default();
    for (i, outage) in outages.iter().enumerate() {
        let resolved = outage.resolve(i, document, nodes, config, &mut moved)?;
        // All radios of a node are down together.
        let of = |node| mobility::Outage { node, ..resolved };
        let all: Vec<mobility::Outage> = config.topology.radios.of(resolved.node).map(of).collect();
        config.mobility.outages.extend(all);
    }
    let Some(mobility) = mobility else { return Ok(moved) };
    if !config.medium.model.needs_positions() {
        return Err(document.error(&key!["mobility", "model"], MobilityProblem::Measured));
    }
    if config.routing.protocol == RoutingProtocol::Static {
        let instead = proposed::<Routing>(|name| name != "static");
        return Err(document.error(&key!["routing", "protocol"], MobilityProblem::StaticRoutes { instead }));
    }
    let at = key!["mobility", "resolution"];
    config.mobility.resolution = document.between(&at, mobility.resolution(), "0 m", "1000 km")?.0;
    let moving = match mobility.count() {
        Some(count) => (nodes.list.len() - count as usize..nodes.list.len()).collect(),
        None => moving(mobility.nodes(), document, nodes)?,
    };
    let standing = |node: &NodeConfig| Motion::standing(node.position.unwrap_or_default());
    config.mobility.motions = config.topology.nodes.iter().map(standing).collect();
    (moved.nodes, moved.motion) = match mobility {
        Mobility::RandomWaypoint(model) => model.resolve(document, &moving, config)?,
        Mobility::Setdest(file) => file.resolve(document, &moving, config)?,
        Mobility::Fcd(file) => file.resolve(document, Format::Fcd, None, &moving, config)?,
        Mobility::Bonnmotion(file) => file.resolve(document, &moving, config)?,
    };
    moved.file = mobility.file(document);
    let nodes = &mut config.topology.nodes;
    for index in &moved.nodes {
        nodes[*index].position = Some(config.mobility.motions[*index].origin());
    }
    match nodes.iter().find(|node| node.position.is_none()) {
        None => Ok(moved),
        Some(node) => {
            let problem = MobilityProblem::NoPosition { node: node.name.clone() };
            Err(document.error(&key!["mobility"], problem))
        }
    }
}

/// Path of a file that the scenario names, relative to the scenario's folder.
pub(super) fn located(document: &Document<'_>, file: &str) -> PathBuf {
    Path::new(document.origin()).parent().unwrap_or(Path::new("")).join(file)
}

/// Moving nodes, in the order in which they are named.
fn moving(named: Option<&[String]>, document: &Document<'_>, nodes: &Nodes) -> Result<Vec<usize>> {
    let Some(named) = named else { return Ok((0..nodes.list.len()).collect()) };
    let mut seen = BTreeSet::new();
    let mut moving = Vec::new();
    for (i, name) in named.iter().enumerate() {
        let at = key!["mobility", "nodes", i];
        let node = nodes.find(document, &at, name)?;
        if !seen.insert(node) {
            return Err(document.error(&at, KeyProblem::ListedTwice));
        }
        moving.push(node);
    }
    Ok(moving)
}

impl Outage {
    /// The outage of this index in the file.
    fn resolve(
        &self,
        index: usize,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
        moved: &mut MotionIdentity,
    ) -> Result<mobility::Outage> {
        let at = key!["outages", index];
        let (chosen, names) = match (&self.node, &self.one_of) {
            (Some(node), None) => (at.join("node"), std::slice::from_ref(node)),
            (None, Some(nodes)) if !nodes.is_empty() => (at.join("one_of"), nodes.as_slice()),
            (None, Some(_)) => {
                return Err(document.error(&at.join("one_of"), KeyProblem::EmptyList));
            }
            (None, None) => {
                return Err(document.error(&at.join("node"), MobilityProblem::NoOutageNode));
            }
            (Some(_), Some(_)) => {
                let problem = KeyProblem::GivenTogether { other: "outages.node" };
                return Err(document.error(&at.join("one_of"), problem));
            }
        };
        let find = |(i, name): (usize, &String)| match self.one_of {
            None => nodes.find(document, &chosen, name),
            Some(_) => nodes.find(document, &chosen.join(i), name),
        };
        let found: Vec<usize> = names.iter().enumerate().map(find).collect::<Result<_>>()?;
        let mut rng = Rng::at(config.seed, &["outage", &index.to_string()]);
        let drawn = if found.len() == 1 { 0 } else { rng.below(found.len() as u32) as usize };
        let from = document.time(&at.join("from"), self.from, 0.0)?;
        let to = match self.to {
            None => from.max(after(config)),
            Some(to) => document.time(&at.join("to"), to, 0.0)?,
        };
        if to <= from {
            return Err(document.error(&at.join("to"), MobilityProblem::EndsBeforeStart { from }));
        }
        let node = NodeId(found[drawn] as u32);
        moved.outages.push((found, from, to));
        Ok(mobility::Outage { node, from, to })
    }
}

/// An instant after the end of the run.
pub(super) fn after(config: &Config) -> Span {
    config.duration + Span::from_ms(1_000)
}

impl RandomWaypoint {
    fn resolve(
        &self,
        document: &Document<'_>,
        moving: &[usize],
        config: &mut Config,
    ) -> Result<(Vec<usize>, Value)> {
        let model = self.model(document)?;
        let duration = config.duration.seconds();
        let legs = model.most_legs(duration) * moving.len() as f64;
        if legs > LEGS_MAX {
            let problem = MobilityProblem::TooManyLegs { legs, run_s: duration, most: LEGS_MAX };
            return Err(document.error(&key!["mobility", "max_speed"], problem));
        }
        let seed = self.seed.unwrap_or(config.seed);
        for index in moving {
            let mut rng = Rng::at(seed, &["node", &index.to_string(), "mobility"]);
            config.mobility.motions[*index] = model.motion(&mut rng, duration);
        }
        Ok((moving.to_vec(), json!({ "model": model, "seed": self.seed })))
    }

    fn model(&self, document: &Document<'_>) -> Result<mobility::RandomWaypoint> {
        let at = |key: &str| key!["mobility", key];
        let length = |path: KeyPath, value: Length, least| {
            document.between(&path, value, least, "10000 km").map(|length| length.0)
        };
        let side = |axis: usize| length(at("area").join(axis), self.area[axis], "0.01 m");
        let corner = |axis: usize| length(at("corner").join(axis), self.corner[axis], "-10000 km");
        let speed = |key, value: Speed, least| {
            document.between(&at(key), value, least, "100000 m/s").map(|speed| speed.0)
        };
        let min_speed = speed("min_speed", self.min_speed, "0 m/s")?;
        let max_speed = speed("max_speed", self.max_speed, "1e-6 m/s")?;
        if min_speed > max_speed {
            let [value, limit] = [self.min_speed, self.max_speed].map(|speed| speed.to_string());
            let problem = KeyProblem::Above { key: "min_speed", value, other: "max_speed", limit };
            return Err(document.error(&at("min_speed"), problem));
        }
        let stationary = self.start.map_or(min_speed > 0.0, |start| start == Start::Stationary);
        if stationary && min_speed < 1e-6 {
            return Err(document.error(&at("start"), MobilityProblem::NoStationarySpeed));
        }
        Ok(mobility::RandomWaypoint {
            corner: [corner(0)?, corner(1)?],
            area: [side(0)?, side(1)?],
            min_speed,
            max_speed,
            pause: document.time(&at("pause"), self.pause, 0.0)?.seconds(),
            pauses: match self.pause_distribution {
                PauseDistribution::Constant => mobility::Pause::Constant,
                PauseDistribution::Uniform => mobility::Pause::Uniform,
            },
            start: if stationary { mobility::Start::Stationary } else { mobility::Start::Pause },
        })
    }
}
