//! Resolves a scenario file to a configuration.

use super::{SEED, Scenario};
use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, Problem, RunProblem};
use crate::flows::{Flows, PlannedFlow};
use crate::hash::Identity;
use crate::mac::{check_aggregation, check_cts_to_self, check_rate_control};
use crate::measure;
use crate::mobility;
use crate::ranges;
use crate::routing::Routing;
use crate::schemes::Schemes;
use crate::settings::Setting;
use crate::topology::Nodes;
use crate::topology::paths;
use crate::topology::powers;
use crate::topology::radios;
use crate::topology::reach;
use multihop_config::parameter_error::{Found, Kind, ParameterError, Wanted};
use multihop_config::quantity::{Duration, Length, ParseError};
use multihop_core::Span;
use multihop_link::CustomEstimator;
use multihop_schemes::{REGISTRY, SchemeEntry};
use multihop_sim::config::{Config, RecordingConfig, TopologyConfig, TrafficConfig};
use multihop_sim::mobility::Mobility;
use multihop_sim::preflight::{exceed, farthest, least_pause, light};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Values of the command line, which take precedence over those of the file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--duration`, with its unit.
    pub duration: Option<String>,
    /// `--warmup`, with its unit.
    pub warmup: Option<String>,
    /// `--scheme`: scheme of every flow, or of the flows in `varying`.
    pub scheme: Option<String>,
    /// Indices of the flows whose scheme `scheme` replaces. Default: all flows.
    pub varying: Option<BTreeSet<usize>>,
    /// `--record-interval`, with its unit.
    pub record_interval: Option<String>,
    /// `--set`: settings of any keys of the scenario, in this order.
    pub set: Vec<Setting>,
    /// Adds flows with injected packets between all nodes that can reach each other, in both directions.
    /// Their scheme is `scheme`, or else `udp`; only its router policies apply.
    pub external: Option<External>,
}

/// Treatment of the file's flows in a run with injected packets.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum External {
    /// The file's flows are left out.
    Alone,
    /// The file's flows are simulated too.
    Beside,
}

/// Scenario that can run, with the data by which results identify it.
#[derive(Clone)]
pub struct Resolved {
    /// Configuration of the engine.
    pub config: Config,
    /// Description by the scenario's author.
    pub description: Option<String>,
    /// Scenario hash: SHA-256 of everything except the seed, 64 hexadecimal digits. Runs with the same hash
    /// and the same seed are the same run.
    pub hash: String,
    /// File of the motion of nodes, if the scenario names one.
    pub motion_file: Option<PathBuf>,
}

/// Schemes and estimators that a scenario can name.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Schemes.
    pub schemes: &'a [SchemeEntry],
    /// Loader of classes of `estimator = "python"`; none where Python is absent.
    pub load_estimator: Option<LoadEstimator>,
}

/// Loads the estimator of a class with these arguments. Errors name the key `class` or `arguments`.
pub type LoadEstimator =
    fn(&str, &Map<String, Value>) -> std::result::Result<CustomEstimator, ParameterError>;

impl Known<'static> {
    /// Schemes of the registry, and no classes.
    pub const REGISTERED: Known<'static> = Known { schemes: REGISTRY, load_estimator: None };
}

/// Maximum number of links of carrier sense: 2000 nodes that all sense each other. (A run of 3000 such nodes,
/// nine million links, peaked at 1.8 GB.)
const LINKS_MAX: usize = 4_000_000;

/// Maximum number of rows of the time series: flows times steps.
const SERIES_ROWS_MAX: u64 = 1_000_000;

/// Reads and checks a scenario. Messages call the file `origin`.
///
/// # Errors
/// The first problem of the scenario, in one line.
pub fn load(text: &str, origin: &str, overrides: &Overrides) -> Result<Config> {
    resolve(text, origin, overrides).map(|resolved| resolved.config)
}

/// Reads and checks a scenario, and computes its hash. Messages call the file `origin`.
///
/// # Errors
/// The first problem of the scenario, in one line.
pub fn resolve(text: &str, origin: &str, overrides: &Overrides) -> Result<Resolved> {
    resolve_among(Known::REGISTERED, text, origin, overrides)
}

/// Same as [`resolve`], but with these schemes and estimators.
///
/// # Errors
/// The first problem of the scenario, in one line.
pub fn resolve_among(known: Known<'_>, text: &str, origin: &str, overrides: &Overrides) -> Result<Resolved> {
    let mut document = Document::parse(text, origin)?;
    document.set(&overrides.set, &overrides.options())?;
    let mut scenario: Scenario = document.read()?;
    ranges::check(&document)?;
    overrides.apply(&mut scenario, &mut document)?;
    let mut config = before_nodes(&document, &scenario)?;
    check_cts_to_self(&document, &config)?;
    let nodes = scenario.topology.resolve(&document, &mut config, scenario.mobility.as_ref())?;
    config.topology.nodes.clone_from(&nodes.list);
    radios::resolve(&document, &scenario.phy, &nodes, &mut config)?;
    powers::resolve(&document, &nodes, &mut config)?;
    config.medium.link_errors = scenario.medium.link_errors(&document, &nodes, &config.topology)?;
    let moved =
        mobility::resolve(scenario.mobility.as_ref(), &scenario.outages, &document, &nodes, &mut config)?;
    check_links(&document, &config)?;
    check_rate_control(&document, &config)?;
    check_delays(&document, &config)?;

    let mut schemes = Schemes::new(&document, known.schemes, &scenario.schemes)?;
    let made = flows(&document, &scenario, overrides, &nodes, &config, &mut schemes)?;
    schemes.check_sizes(&config)?;
    config.recording.interval = record_interval(&document, &scenario, config.duration, made.len() as u64)?;
    config.recording.measurements = measure::resolve(&scenario.measure, &document, known, &nodes, &made)?;
    check_measurements(&document, &config)?;
    if let Routing::Aodv(aodv) = &scenario.routing {
        aodv.resolve_blind_to(&schemes, &mut config.routing)?;
    }
    config.traffic.schemes = schemes.used;
    config.traffic.flows = made.iter().map(|made| made.flow.clone()).collect();
    check_aggregation(&document, &config)?;
    let jitters: Vec<Span> = made.iter().map(|made| made.jitter).collect();
    let identity = Identity {
        config: &config,
        name: scenario.name.as_deref(),
        jitters: &jitters,
        schemes: &schemes.identities,
        moved: &moved,
    };
    let hash = identity.hash();
    config.traffic.flows =
        made.into_iter().enumerate().map(|(i, made)| made.with_drawn_start(i, config.seed)).collect();
    radios::place_flows(&mut config);
    Ok(Resolved { config, description: scenario.description, hash, motion_file: moved.file })
}

/// Configuration without nodes and flows: the times, and the layers below the network.
fn before_nodes(document: &Document<'_>, scenario: &Scenario) -> Result<Config> {
    let (duration, warmup) = times(document, scenario)?;

    let (phy, rates) = scenario.phy.resolve(document)?;
    let (phy, mac) = scenario.mac.resolve(document, (phy, scenario.phy.mixed), rates.data)?;
    let medium = scenario.medium.resolve(document, &phy)?;
    let routing = scenario.routing.resolve(document, &mac.rules)?;
    Ok(Config {
        name: scenario.name.clone().unwrap_or_else(|| stem(document.origin())),
        seed: scenario.seed.unwrap_or(SEED),
        duration,
        topology: TopologyConfig::default(),
        mobility: Mobility::default(),
        medium,
        phy,
        rates,
        mac,
        routing,
        network: scenario.network.resolve(),
        traffic: TrafficConfig::default(),
        recording: RecordingConfig {
            warmup,
            interval: duration, // until the flows are known
            measurements: Vec::new(),
            causes: false,
        },
    })
}

impl Overrides {
    /// Keys of the file that options of the command line replace, with those options.
    fn options(&self) -> Vec<(&'static str, &'static str)> {
        let times = [
            (&self.duration, "duration", "--duration"),
            (&self.warmup, "warmup", "--warmup"),
            (&self.record_interval, "record_interval", "--record-interval"),
        ];
        times
            .into_iter()
            .filter(|(given, ..)| given.is_some())
            .map(|(_, key, option)| (key, option))
            .collect()
    }

    fn apply(&self, scenario: &mut Scenario, document: &mut Document<'_>) -> Result<()> {
        scenario.seed = self.seed.or(scenario.seed);
        let times = [
            ("duration", "--duration", &self.duration, &mut scenario.duration),
            ("warmup", "--warmup", &self.warmup, &mut scenario.warmup),
            ("record_interval", "--record-interval", &self.record_interval, &mut scenario.record_interval),
        ];
        for (key, option, text, time) in times {
            let Some(text) = text else { continue };
            document.note_override(key, option, text);
            let misread = |ParseError { found, wanted }| {
                let (found, wanted) = (Found::Said(found), Wanted::Value(Kind::Said(wanted)));
                document.error(&key![key], Problem::ParameterError { found, wanted })
            };
            *time = Some(text.parse().map_err(misread)?);
        }
        if let Some(scheme) = &self.scheme {
            document.note_override("scheme", "--scheme", scheme);
        }
        Ok(())
    }
}

/// Duration and warm-up.
fn times(document: &Document<'_>, scenario: &Scenario) -> Result<(Span, Span)> {
    let Some(duration) = scenario.duration else {
        let missing = KeyProblem::Missing { key: "duration", example: "\"100 s\"" };
        return Err(document.error(&key!["duration"], missing));
    };
    let length = document.time(&key!["duration"], duration, 1e-9)?;
    let at = key!["warmup"];
    let warmup = document.time(&at, scenario.warmup.unwrap_or_default(), 0.0)?;
    if warmup >= length {
        return Err(document.error(
            &at,
            RunProblem::AllWarmup { duration: length, by: document.option_of(&key!["duration"]) },
        ));
    }
    Ok((length, warmup))
}

/// Step of the time series.
fn record_interval(document: &Document<'_>, scenario: &Scenario, duration: Span, flows: u64) -> Result<Span> {
    let at = key!["record_interval"];
    let Some(interval) = scenario.record_interval else {
        let steps = (SERIES_ROWS_MAX / flows.max(1)).clamp(1, 100);
        let step = Span::from_ns(duration.ns().div_ceil(steps)).max(Span::from_ms(100));
        return Ok(step.min(duration));
    };
    let step = document.time(&at, interval, 1e-9)?;
    if step > duration {
        let by = document.option_of(&key!["duration"]);
        return Err(document.error(&at, RunProblem::StepTooLong { duration, by }));
    }
    let rows = duration.ns().div_ceil(step.ns()).saturating_mul(flows);
    if rows > SERIES_ROWS_MAX {
        let least = Duration(duration.seconds() * flows as f64 / SERIES_ROWS_MAX as f64 * 1.001);
        let problem = RunProblem::TooManyRows { rows, flows, most: SERIES_ROWS_MAX, least };
        return Err(document.error(&at, problem));
    }
    Ok(step)
}

/// Refuses more links than the maximum.
fn check_links(document: &Document<'_>, config: &Config) -> Result<()> {
    if !exceed(config, LINKS_MAX) {
        return Ok(());
    }
    let problem = RunProblem::TooManyLinks { nodes: config.topology.nodes.len(), most: LINKS_MAX };
    Err(document.error(&key!["topology"], problem))
}

/// Refuses delays by distance if a node has no position, or if a frame would still be in flight when its
/// sender acts next.
fn check_delays(document: &Document<'_>, config: &Config) -> Result<()> {
    if !config.medium.delays_by_distance {
        return Ok(());
    }
    let at = key!["medium", "propagation_delay"];
    let farthest = farthest(config).map_err(|node| {
        let node = config.topology.nodes[node.index()].name.clone();
        document.error(&at, RunProblem::NoDistance { node })
    })?;
    let (delay, most) = (light(farthest), least_pause(config));
    if delay <= most {
        return Ok(());
    }
    let [delay, most] = [delay, most].map(Duration::from);
    Err(document.error(&at, RunProblem::DelayTooLong { distance: Length(farthest), delay, most }))
}

/// Refuses more rows of measurements than the maximum.
fn check_measurements(document: &Document<'_>, config: &Config) -> Result<()> {
    let steps = config.duration.ns() / config.recording.interval.ns();
    let gauges: u64 =
        config.recording.measurements.iter().map(|measurement| measurement.nodes.len() as u64).sum();
    let rows = steps.saturating_mul(gauges);
    if rows <= SERIES_ROWS_MAX {
        return Ok(());
    }
    let problem = RunProblem::TooManyMeasured { steps, gauges, rows, most: SERIES_ROWS_MAX };
    Err(document.error(&key!["measure"], problem))
}

/// All flows of the scenario. Refuses flows without a path.
fn flows(
    document: &Document<'_>,
    scenario: &Scenario,
    overrides: &Overrides,
    nodes: &Nodes,
    config: &Config,
    schemes: &mut Schemes<'_>,
) -> Result<Vec<PlannedFlow>> {
    let duration = config.duration;
    let moves = scenario.mobility.is_some();
    // Moving nodes that cannot reach each other at the start may do so later.
    let mut component = if moves { vec![0; config.topology.nodes.len()] } else { reach::components(config) };
    component.truncate(nodes.list.len()); // additional radios are not ends of flows
    let mut flows = Flows { document, nodes, overrides, duration, planned: Vec::new() };
    if overrides.external != Some(External::Alone) {
        flows.list(&scenario.flows, schemes)?;
        if let Some(traffic) = &scenario.traffic {
            traffic.add(&mut flows, config, &component, schemes)?;
        }
    }
    if overrides.external.is_some() {
        flows.add_external(&component, schemes)?;
    }
    flows.number_duplicates();
    if flows.planned.is_empty() {
        return Err(document.error(&key!["flows"], RunProblem::NoFlows));
    }
    paths::check(document, nodes, config, &component, &flows.planned)?;
    Ok(flows.planned)
}

/// Name of the file without folder and extension.
fn stem(origin: &str) -> String {
    let name = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}
