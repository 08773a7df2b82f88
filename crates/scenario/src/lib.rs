//! Scenario files: from TOML to a [`Config`](multihop_sim::config::Config).
//!
//! [`resolve`] reads a file, checks everything in it, and fills in every default. A scenario is data: its
//! types, here and in the files of this folder, one per table of the file, are its definition, and
//! [`json_schema`] is derived from them.
//!
//! On the way, in this order:
//!
//! 1. `document` parses the text and remembers the line of everything;
//! 2. `settings` puts the values of `--set` into it;
//! 3. `reader` makes the types of the model out of it; unknown keys, wrong types and wrong units end here;
//! 4. `ranges` holds values against the ranges that their keys have in the schema;
//! 5. each table's `resolve` turns quantities into base units and names into indices;
//! 6. `generate` makes topologies, `traffic` makes flows, and `reach` knows which nodes can reach each other.
//!
//! Whatever is wrong ends as one [`ScenarioError`], which names file, line, key, what was found, and what
//! would do.

mod canonical;
mod catalogue;
mod discipline;
mod document;
pub mod edit;
mod error;
mod flows;
mod generate;
mod hash;
mod mac;
mod measure;
mod medium;
mod mobility;
mod parameters;
mod phy;
mod ranges;
mod reader;
mod removed;
mod resolve;
mod routing;
mod schemes;
mod settings;
mod topology;
mod values;
mod wires;

use multihop_config::keys::{schema_with_references, usually};
use multihop_config::quantity::Duration;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub use catalogue::catalogue;
pub use discipline::{Codel, Discipline};
pub use document::{Step, locate};
pub use error::{
    EditProblem, FlowProblem, Interval, Joined, KeyProblem, Limited, MacProblem, MeasureProblem,
    MediumProblem, MobilityProblem, Named, PhyProblem, Place, Problem, RateProblem, RunProblem,
    ScenarioError, SchemeProblem, SettingProblem, TopologyProblem, TraceProblem, Whereabouts,
};
pub use flows::{App, Distribution, Flow, FlowDirection, Kind, Pattern, Traffic};
pub use generate::{
    Bar, Chain, Circle, Cross, Direction, Dumbbell, ExposedTerminal, Generator, Grid, ParkingLot,
    RandomGeometric, Server, Star, Wlan,
};
pub use mac::{Mac, ResponseTimeout, RuleOverrides, RuleSet};
pub use measure::{
    AdHocProbe, BusyRatio, IdleGap, Measure, PacketThroughput, RtWinf, RtWinfProbe, ServiceDelay,
    TransmissionEfficiency, gauges,
};
pub use medium::{LinkErrors, Matrix, Medium, PathLossModel, Quantity, Ranges, Sinr};
pub use mobility::{
    BonnMotion, Mobility, Outage, PauseDistribution, RandomWaypoint, Recorded, Script, Start, trace,
};
pub use phy::Phy;
pub use phy::rate::DataRate;
pub use resolve::{External, Overrides, Resolved, load, resolve, resolve_among};
pub use routing::{Aodv, Dsdv, Dsr, Network, OnLinkFailure, Routing, StaticRoutes};
pub use schemes::Parameters;
pub use settings::Setting;
pub use topology::measured::Link;
pub use topology::{Listed, Node, Topology};
pub use values::{Limit, Switch, seconds};
pub use wires::Wire;

/// The seed of a run that is given none.
const SEED: u64 = 1;

/// A scenario of `multihop`: a network, its MAC, and the flows that cross it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario, for people. Default: that of the file.
    pub name: Option<String>,
    /// What it shows, for people.
    pub description: Option<String>,
    /// Seed of every random stream of a run.
    #[schemars(transform = usually(SEED))]
    pub seed: Option<u64>,
    /// How long a run lasts.
    #[schemars(required)]
    pub duration: Option<Duration>,
    /// What happens before this is not counted.
    #[schemars(transform = usually(Duration::default()))]
    pub warmup: Option<Duration>,
    /// Step of the recorded time series. Default: a hundredth of the duration, but at least 100 ms.
    pub record_interval: Option<Duration>,
    /// The physical layer.
    #[serde(default)]
    pub phy: Phy,
    /// The medium access control.
    #[serde(default)]
    pub mac: Mac,
    /// The medium. Default: ns-2's ranges.
    #[serde(default)]
    pub medium: Medium,
    /// The nodes.
    pub topology: Topology,
    /// Routing. Default: static routes.
    #[serde(default)]
    pub routing: Routing,
    /// The network layer.
    #[serde(default)]
    pub network: Network,
    /// Parameters of schemes, and named variants, by name.
    #[serde(default)]
    pub schemes: BTreeMap<String, Parameters>,
    /// The flows.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// Flows by pattern, besides those that are listed.
    pub traffic: Option<Traffic>,
    /// Estimators whose values are recorded.
    #[serde(default)]
    pub measure: Vec<Measure>,
    /// How nodes move. Default: they do not.
    pub mobility: Option<Mobility>,
    /// When nodes are off.
    #[serde(default)]
    pub outages: Vec<Outage>,
}

/// JSON Schema of scenario files, as data of the types that TOML has.
pub fn json_schema() -> Value {
    let mut schema = schema_with_references::<Scenario>();
    schema["title"] = "multihop scenario".into();
    schema
}
