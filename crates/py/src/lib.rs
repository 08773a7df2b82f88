//! Python module `multihop._core`: scenarios in, columns out.
//!
//! The module holds no logic but that of schemes written in Python ([`controllers`]). [`multihop_scenario`]
//! reads scenarios, [`multihop_sim::run`] runs them without the GIL, and results are returned as `NumPy`
//! arrays ([`tables`]). [`multihop_measure`] measures captures ([`measure`]). [`models`] has closed forms
//! that the engine uses too. A panic of the engine, which is a bug, becomes an `InternalError` ([`panics`]).

mod controllers;
#[cfg(target_os = "linux")]
mod emulation;
mod frames;
mod measure;
mod models;
mod outputs;
mod panics;
mod stepping;
mod tables;

use multihop_dot11::DcfRules;
use multihop_scenario::{External, Overrides, Place, Resolved, Setting, Step};
use multihop_sim::capacity::{Airtimes, Capacity, LinkTime};
use multihop_sim::config::{Config, TopologyConfig};
use multihop_sim::logs::{AirLog, LogError, Logs};
use multihop_sim::preflight::path;
use multihop_sim::routing::{LinkQuality, Routes};
use multihop_sim::{Ties, World};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

create_exception!(multihop._core, ScenarioError, PyValueError, "A scenario that cannot be run.");
create_exception!(multihop._core, CaptureError, PyValueError, "A file that is no capture of 802.11.");
create_exception!(multihop._core, InternalError, PyRuntimeError, "A broken invariant of the engine: a bug.");

/// Compiled part of multihop.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::remember_where();
    let scenario_error = module.py().get_type::<ScenarioError>();
    for name in ["key", "found", "remedy", "line", "setting", "is_parameter_error"] {
        scenario_error.setattr(name, module.py().None())?; // default of the attributes that an error lacks
    }
    module.add("ScenarioError", scenario_error)?;
    module.add("CaptureError", module.py().get_type::<CaptureError>())?;
    module.add("InternalError", module.py().get_type::<InternalError>())?;
    module.add("MAC_HEADER", DcfRules::IEEE.data_header)?;
    controllers::add(module)?;
    module.add_class::<Meter>()?;
    module.add_class::<stepping::Stepper>()?;
    #[cfg(target_os = "linux")]
    {
        module.add_class::<emulation::Emulator>()?;
        module.add_function(wrap_pyfunction!(emulation::replay, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::node_address, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::isolate, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::die_with_parent, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::private_mounts, module)?)?;
    }
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(airtimes, module)?)?;
    module.add_function(wrap_pyfunction!(models::link_capacity, module)?)?;
    module.add_function(wrap_pyfunction!(models::contention_delay, module)?)?;
    module.add_function(wrap_pyfunction!(models::throughput_equation, module)?)?;
    module.add_function(wrap_pyfunction!(models::snr_of_delivery, module)?)?;
    module.add_function(wrap_pyfunction!(measure::measure, module)?)?;
    module.add_function(wrap_pyfunction!(measure::capture_frames, module)?)?;
    module.add_function(wrap_pyfunction!(frames::read_frames, module)?)?;
    module.add_function(wrap_pyfunction!(frames::pack_frames, module)?)?;
    module.add_function(wrap_pyfunction!(frames::frame_layout, module)?)?;
    module.add_function(wrap_pyfunction!(capacity, module)?)?;
    module.add_function(wrap_pyfunction!(locate, module)?)?;
    module.add_function(wrap_pyfunction!(seconds, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(tables::columns, module)?)?;
    module.add_function(wrap_pyfunction!(congestion_header, module)?)?;
    module.add_function(wrap_pyfunction!(instead_of, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(identity, module)?)?;
    module.add_function(wrap_pyfunction!(commit, module)?)
}

/// Reads and resolves a scenario without running it.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides = None))]
fn check<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    overrides: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let overrides = read_overrides(overrides)?;
    let (resolved, classes, links, paths) = py.detach(|| {
        panics::caught(|| {
            let resolved = controllers::resolve(text, origin, &overrides).map_err(scenario_error)?;
            let classes = controllers::classes();
            let config = &resolved.config;
            let quality = LinkQuality::new(config);
            let links = quality.usable();
            let routes = Routes::new(config, &quality);
            let paths: Vec<_> =
                config.traffic.flows.iter().map(|flow| path(config, flow, &routes, &quality)).collect();
            Ok((resolved, classes, links, paths))
        })
    })?;
    let made = view(py, &resolved, &links, &paths)?;
    made.set_item("classes", classes)?;
    Ok(made)
}

/// Progress of a run, readable from any thread.
#[pyclass(frozen)]
#[derive(Default)]
struct Meter {
    simulated_ns: AtomicU64,
}

impl Meter {
    fn set(&self, now: multihop_core::Time) {
        self.simulated_ns.store(now.ns(), Ordering::Relaxed);
    }
}

#[pymethods]
impl Meter {
    #[new]
    fn new() -> Meter {
        Meter::default()
    }

    /// Virtual time of the run in seconds.
    #[getter]
    fn simulated_s(&self) -> f64 {
        self.simulated_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

/// Runs a scenario without the GIL. If requested, writes a capture of each radio to `pcap` and a frame log to
/// `frames`. With `causes` the tables of causes are included.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides = None, meter = None, pcap = None, causes = false, frames = None, part = Default::default()))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // what PyO3 extracts is owned; arguments have names in Python
fn run<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    overrides: Option<&Bound<'py, PyDict>>,
    meter: Option<&Bound<'py, Meter>>,
    pcap: Option<PathBuf>,
    causes: bool,
    frames: Option<PathBuf>,
    part: frames::Part,
) -> PyResult<Bound<'py, PyDict>> {
    let overrides = read_overrides(overrides)?;
    let meter = meter.map(Bound::get);
    let (config, outcome) = py.detach(|| {
        panics::caught(|| {
            let mut config = controllers::load(text, origin, &overrides).map_err(scenario_error)?;
            config.recording.causes = causes;
            controllers::begin(&config);
            let mut world = World::new(&config, Ties::InOrder);
            let written = logs(&config, pcap.as_ref(), frames.as_ref(), &part);
            world.log_to(written.map_err(|error| air_log_error(error, origin))?);
            world.advance_while(world.end(), |now| {
                if let Some(meter) = meter {
                    meter.set(now);
                }
                !controllers::failed()
            });
            controllers::end()?;
            let outcome = world.close().map_err(|error| air_log_error(error, origin))?;
            Ok((config, outcome))
        })
    })?;
    tables::output(py, &config, &outcome)
}

/// Creates the requested logs.
fn logs(
    config: &Config,
    pcap: Option<&PathBuf>,
    frames: Option<&PathBuf>,
    part: &frames::Part,
) -> Result<Logs, LogError> {
    let air = |path: &PathBuf| {
        let log = AirLog::new(config, Box::new(outputs::created(path)?))?;
        Ok::<_, LogError>(log.only(config, frames::selection(part)))
    };
    Ok(Logs {
        air: pcap.map(air).transpose()?,
        frames: frames.map(|path| frames::create(config, path, part)).transpose()?,
    })
}

/// Interframe spaces, slot and airtimes of a scenario, in seconds.
#[pyfunction]
fn airtimes<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    frame_bytes: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let times = panics::caught(|| {
        let config = controllers::load(text, origin, &Overrides::default()).map_err(scenario_error)?;
        Ok(Airtimes::new(&config, frame_bytes))
    })?;
    let made = PyDict::new(py);
    let spans = [
        ("slot", times.slot),
        ("sifs", times.sifs),
        ("difs", times.difs),
        ("eifs", times.eifs),
        ("rts", times.rts),
        ("cts", times.cts),
        ("data", times.data),
        ("ack", times.ack),
        ("block_ack", times.block_ack),
    ];
    for (name, span) in spans {
        made.set_item(name, span.seconds())?;
    }
    made.set_item("cw_min", times.cw_min)?;
    made.set_item("cw_max", times.cw_max)?;
    Ok(made)
}

/// Airtime that the flows of a scenario need, and conflicts between their links.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides = None))]
fn capacity<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    overrides: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let overrides = read_overrides(overrides)?;
    let capacity = py.detach(|| {
        panics::caught(|| {
            let config = controllers::load(text, origin, &overrides).map_err(scenario_error)?;
            Ok(Capacity::new(&config))
        })
    })?;
    let times = |times: &[LinkTime]| -> PyResult<Bound<'py, PyList>> {
        let entries = times.iter().map(|time| {
            let entry = PyDict::new(py);
            entry.set_item("link", time.link)?;
            entry.set_item("data_s", time.data)?;
            entry.set_item("exchange_s", time.exchange)?;
            entry.set_item("airtime_s", time.airtime)?;
            entry.set_item("access_s", time.access)?;
            entry.set_item("delivery", time.delivery)?;
            entry.set_item("transmissions", time.transmissions)?;
            entry.set_item("lost", time.lost)?;
            Ok(entry)
        });
        PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
    };
    let demands = PyList::empty(py);
    for demand in &capacity.demands {
        let entry = PyDict::new(py);
        entry.set_item("payload_bytes", demand.payload)?;
        entry.set_item("header_bytes", demand.header)?;
        entry.set_item("offered_bps", demand.offered_bps)?;
        entry.set_item("steady", demand.steady)?;
        entry.set_item("forward", times(&demand.forward)?)?;
        entry.set_item("feedback", times(&demand.feedback)?)?;
        demands.append(entry)?;
    }
    let made = PyDict::new(py);
    made.set_item("links", capacity.links.iter().map(|(from, to)| (from.0, to.0)).collect::<Vec<_>>())?;
    made.set_item("demands", demands)?;
    made.set_item("data_conflicts", capacity.conflicts.data)?;
    made.set_item("exchange_conflicts", capacity.conflicts.exchange)?;
    made.set_item("sensing_conflicts", capacity.conflicts.sensing)?;
    made.set_item("interference_conflicts", capacity.conflicts.interference)?;
    made.set_item("hidden", capacity.conflicts.hidden)?;
    made.set_item("changes", capacity.changes)?;
    Ok(made)
}

/// Step of a path in TOML: a key, or the index of an entry.
#[derive(FromPyObject)]
enum PathStep {
    Key(String),
    Index(usize),
}

/// Line number of a key in a TOML text, from 1.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
fn locate(text: &str, path: Vec<PathStep>) -> Option<usize> {
    let steps: Vec<Step> = path
        .into_iter()
        .map(|step| match step {
            PathStep::Key(key) => Step::Key(key),
            PathStep::Index(index) => Step::Index(index),
        })
        .collect();
    multihop_scenario::locate(text, &steps)
}

/// Duration in seconds of a text with a unit, as in scenarios.
#[pyfunction]
fn seconds(text: &str) -> PyResult<f64> {
    multihop_scenario::seconds(text).map_err(PyValueError::new_err)
}

/// JSON Schema of scenarios.
#[pyfunction]
fn schema() -> String {
    multihop_scenario::json_schema().to_string()
}

/// Names that a scenario can use: schemes, estimators, and others.
#[pyfunction]
fn registry() -> String {
    multihop_scenario::catalogue_among(&controllers::known()).to_string()
}

/// Identification of congestion headers: the mask of the type bits in the first byte, and pairs of the
/// header's IP protocol and the protocol that follows it.
#[pyfunction]
fn congestion_header() -> (u8, Vec<(u8, u8)>) {
    (multihop_core::Layout::KIND_BITS, multihop_core::Layout::PROTOCOLS.to_vec())
}

/// Suggestion for an unknown name; see [`multihop_core::instead_of`].
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
fn instead_of(name: &str, known: Vec<String>) -> String {
    multihop_core::instead_of(name, known)
}

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Identity of the engine build; see `multihop_identity`.
#[pyfunction]
fn identity() -> &'static str {
    env!("MULTIHOP_IDENTITY")
}

/// Commit that the engine was built from; none outside of a Git checkout.
#[pyfunction]
fn commit() -> Option<&'static str> {
    option_env!("MULTIHOP_COMMIT")
}

/// Converts an error of a scenario to Python, with its attributes.
fn scenario_error(error: multihop_scenario::ScenarioError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let (line, setting) = match error.place.clone() {
        Place::Line { line, .. } => (Some(line), None),
        Place::Setting(path) => (None, Some(path)),
        Place::Override(option) => (None, Some(option.trim_start_matches('-').to_owned())),
    };
    let is_parameter_error = matches!(*error.problem, multihop_scenario::Problem::ParameterError { .. });
    let described = Python::attach(|py| {
        let value = raised.value(py);
        value.setattr("found", error.found())?;
        value.setattr("remedy", error.remedy())?;
        value.setattr("key", error.key)?;
        value.setattr("line", line)?;
        value.setattr("setting", setting)?;
        value.setattr("is_parameter_error", is_parameter_error)
    });
    described.map_or_else(|error| error, |()| raised)
}

/// Exception that a signal handler raises, if a signal arrived.
fn raised_by_signal(py: Python<'_>) -> Option<PyErr> {
    py.check_signals().err()
}

fn air_log_error(error: LogError, origin: &str) -> PyErr {
    match error {
        LogError::Io(error) => outputs::os_error(&error),
        other @ LogError::NoRoomForHeader { .. } => ScenarioError::new_err(format!("{origin}: {other}")),
    }
}

fn read_overrides(given: Option<&Bound<'_, PyDict>>) -> PyResult<Overrides> {
    let mut overrides = Overrides::default();
    for (name, value) in given.into_iter().flat_map(PyDictMethods::iter) {
        let text = || value.extract::<String>().map(Some);
        match name.extract::<String>()?.as_str() {
            "seed" => overrides.seed = Some(value.extract()?),
            "duration" => overrides.duration = text()?,
            "warmup" => overrides.warmup = text()?,
            "scheme" => overrides.scheme = text()?,
            "varying" => overrides.varying = Some(value.extract::<Vec<usize>>()?.into_iter().collect()),
            "record_interval" => overrides.record_interval = text()?,
            "external" => overrides.external = Some(external(&value.extract::<String>()?)?),
            "set" => {
                let pairs: Vec<(String, String)> = value.extract()?;
                overrides.set = pairs.into_iter().map(|(path, value)| Setting { path, value }).collect();
            }
            other => return Err(PyValueError::new_err(format!("{other} cannot be overridden"))),
        }
    }
    Ok(overrides)
}

fn external(name: &str) -> PyResult<External> {
    match name {
        "alone" => Ok(External::Alone),
        "beside" => Ok(External::Beside),
        other => Err(PyValueError::new_err(format!("external cannot be {other}"))),
    }
}

fn view<'py>(
    py: Python<'py>,
    resolved: &Resolved,
    links: &[(multihop_core::NodeId, multihop_core::NodeId, f64)],
    paths: &[Vec<multihop_core::NodeId>],
) -> PyResult<Bound<'py, PyDict>> {
    let config = &resolved.config;
    let wires = PyList::empty(py);
    for wire in &config.topology.wires {
        let entry = PyDict::new(py);
        entry.set_item("sender", wire.from.0)?;
        entry.set_item("receiver", wire.to.0)?;
        entry.set_item("rate_bps", wire.rate.bps())?;
        entry.set_item("delay", wire.delay.seconds())?;
        entry.set_item("queue", wire.queue_limit)?;
        entry.set_item("loss", wire.loss)?;
        wires.append(entry)?;
    }
    let measurements = PyList::empty(py);
    for measurement in &config.recording.measurements {
        let entry = PyDict::new(py);
        let at = measurement.nodes.iter().map(|node| config.topology.nodes[node.index()].name.as_str());
        entry.set_item("name", &measurement.name)?;
        entry.set_item("nodes", at.collect::<Vec<_>>())?;
        measurements.append(entry)?;
    }
    let made = PyDict::new(py);
    made.set_item("name", &config.name)?;
    made.set_item("description", resolved.description.as_deref().map(|text| PyString::new(py, text)))?;
    made.set_item("duration", config.duration.seconds())?;
    made.set_item("warmup", config.recording.warmup.seconds())?;
    made.set_item("seed", config.seed)?;
    made.set_item("hash", &resolved.hash)?;
    made.set_item("nodes", nodes_view(py, config)?)?;
    made.set_item(
        "links",
        links.iter().map(|(from, to, quality)| (from.0, to.0, *quality)).collect::<Vec<_>>(),
    )?;
    made.set_item("queue", config.mac.queue.limit)?;
    made.set_item("wires", wires)?;
    made.set_item("flows", flows_view(py, config, paths)?)?;
    made.set_item("measurements", measurements)?;
    made.set_item("motion_file", resolved.motion_file.as_ref().map(|path| path.to_string_lossy()))?;
    Ok(made)
}

fn nodes_view<'py>(py: Python<'py>, config: &Config) -> PyResult<Bound<'py, PyList>> {
    let TopologyConfig { nodes: list, radios, .. } = &config.topology;
    let nodes = PyList::empty(py);
    for (index, node) in (0..).zip(list) {
        let entry = PyDict::new(py);
        entry.set_item("name", &node.name)?;
        entry.set_item("x", node.position.map(|position| position[0]))?;
        entry.set_item("y", node.position.map(|position| position[1]))?;
        entry.set_item("channel", radios.channels.get(index as usize).map(|channel| channel.number))?;
        entry.set_item("node", radios.node_of(multihop_core::NodeId(index)).0)?;
        entry.set_item("moves", config.mobility.node_moves(multihop_core::NodeId(index)))?;
        nodes.append(entry)?;
    }
    Ok(nodes)
}

fn flows_view<'py>(
    py: Python<'py>,
    config: &Config,
    paths: &[Vec<multihop_core::NodeId>],
) -> PyResult<Bound<'py, PyList>> {
    let Config { topology: TopologyConfig { nodes, radios, .. }, traffic, .. } = config;
    let flows = PyList::empty(py);
    for (flow, path) in traffic.flows.iter().zip(paths) {
        let entry = PyDict::new(py);
        entry.set_item("name", &flow.name)?;
        let name = |end: multihop_core::NodeId| &nodes[radios.node_of(end).index()].name;
        entry.set_item("source", name(flow.source))?;
        entry.set_item("destination", name(flow.destination))?;
        if let Some(group) = flow.group {
            entry.set_item("group", group.0)?;
        }
        entry.set_item("scheme", &traffic.schemes[flow.scheme].name)?;
        entry.set_item("app", flow.app.name())?;
        entry.set_item("offered_bps", flow.app.offered_bps())?;
        let datagrams = traffic.schemes[flow.scheme].scheme.is_uncontrolled();
        entry.set_item("interval", flow.app.equal_interval().filter(|_| datagrams))?;
        let is_hop = |pair: &&[multihop_core::NodeId]| !radios.share_node(pair[0], pair[1]);
        entry.set_item("hops", path.windows(2).filter(is_hop).count())?;
        entry.set_item("path", path.iter().map(|node| node.0).collect::<Vec<_>>())?;
        flows.append(entry)?;
    }
    Ok(flows)
}
