//! Emulation: real programs over the simulated network.

use crate::{air_log_error, outputs, panics, read_overrides, scenario_error, tables};
use multihop_core::{DropCause, NodeId, Span};
use multihop_live::counters::Counters;
use multihop_live::datagram::Refusal;
use multihop_live::emulation::mtu;
use multihop_live::host::{self, DeviceOptions, Devices, Monotonic, Namespace};
use multihop_live::journal::{self, JournalWriter};
use multihop_live::lateness::Lateness;
use multihop_live::shim::Shim;
use multihop_live::{Emulation, Mode, address};
use multihop_sim::config::Config;
use multihop_sim::logs::{AirLog, LogError};
use multihop_sim::{Ties, World};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, iter};

/// Delay of packets that is accepted to save processor time.
const SLACK: Span = Span::from_us(50);
/// Interval at which the status is updated for other threads.
const STATUS_EVERY: Span = Span::from_ms(100);

/// Scenario with a network namespace for each node, owned by this process, which has isolated itself.
#[pyclass(frozen)]
pub struct Emulator {
    config: Config,
    /// Parts of the emulation, until it runs.
    parts: Mutex<Option<Parts>>,
    home: Namespace,
    nodes: Vec<Namespace>,
    stop: AtomicBool,
    status: Mutex<Status>,
    /// Number of packets that each device dropped because they were not read in time, as of the last
    /// observation: the kernel discards the number with the device.
    overflowed: Mutex<Vec<u64>>,
}

type Journal = JournalWriter<Box<dyn io::Write + Send>>;

struct Parts {
    world: World,
    devices: Devices,
    journal: Option<Journal>,
    slow: f64,
    mode: Mode,
    shim: Option<Shim>,
    gateway: Option<NodeId>,
}

/// Progress of an emulation.
#[derive(Clone, Default)]
struct Status {
    virtual_s: f64,
    real_s: f64,
    counters: Counters,
    lateness: Lateness,
    delivered: Vec<u64>,
    queues: Vec<usize>,
    removed: Vec<u32>,
}

#[pymethods]
impl Emulator {
    #[new]
    #[pyo3(signature = (text, origin, overrides, slow, ethernet, shim = false, pcap = None, journal = None, gateway = None))]
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // what PyO3 extracts is owned; what a user may set
    fn new(
        py: Python<'_>,
        text: &str,
        origin: &str,
        overrides: Option<&Bound<'_, PyDict>>,
        slow: f64,
        ethernet: bool,
        shim: bool,
        pcap: Option<PathBuf>,
        journal: Option<(PathBuf, String)>,
        gateway: Option<u32>,
    ) -> PyResult<Emulator> {
        let overrides = read_overrides(overrides)?;
        py.detach(|| {
            panics::caught(|| {
                let mut config =
                    crate::controllers::load(text, origin, &overrides).map_err(scenario_error)?;
                config.recording.causes = true;
                let shim = shim.then(|| Shim::below_tcp(&config.traffic)).transpose();
                let shim = shim.map_err(|error| PyValueError::new_err(format!("scheme: {error}")))?;
                let world = world(&config, origin, pcap.as_deref())?;
                let journal = journal.map(|(path, first)| recorder(&path, &first)).transpose()?;
                let mode = if ethernet { Mode::Ethernet } else { Mode::Ip };
                let gateway = gateway.map(NodeId);
                let links = DeviceOptions { mode, mtu: mtu(&config), gateway };
                let (nodes, devices) = (0..)
                    .zip(&config.topology.nodes)
                    .map(|(index, node)| Namespace::for_node(NodeId(index), &node.name, links))
                    .collect::<io::Result<(Vec<_>, Vec<_>)>>()?;
                let parts =
                    Parts { world, devices: Devices::new(devices)?, journal, slow, mode, shim, gateway };
                Ok(Emulator {
                    config,
                    parts: Mutex::new(Some(parts)),
                    home: Namespace::current()?,
                    overflowed: Mutex::new(vec![0; nodes.len()]),
                    nodes,
                    stop: AtomicBool::new(false),
                    status: Mutex::default(),
                })
            })
        })
    }

    /// Moves this thread, and the processes that it starts, into the namespaces of a node; without a node,
    /// back to the original ones.
    #[pyo3(signature = (node = None))]
    fn enter(&self, node: Option<usize>) -> PyResult<()> {
        let namespace = node.map_or(Some(&self.home), |node| self.nodes.get(node));
        Ok(namespace.ok_or_else(|| PyValueError::new_err("there is no such node"))?.enter()?)
    }

    /// Runs until the end of the scenario, until `stop`, or until devices cannot be read. Returns the tables,
    /// the status, and the failures.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<String>)> {
        let parts = locked(&self.parts).take();
        let Parts { world, devices, journal, slow, mode, shim, gateway } =
            parts.ok_or_else(|| PyValueError::new_err("this emulation has run"))?;
        let (outcome, failures) = py.detach(|| {
            panics::caught(|| {
                host::wake_promptly()?;
                let live = Emulation::new(world, Monotonic::default(), devices, slow);
                let mut live = live.with_mode(mode).with_slack(SLACK);
                if let Some(journal) = journal {
                    live = live.with_journal(journal);
                }
                if let Some(shim) = shim {
                    live = live.with_shim(shim);
                }
                if let Some(gateway) = gateway {
                    live = live.with_gateway(gateway);
                }
                let mut next_look = Span::ZERO;
                let ended = loop {
                    match live.run_once() {
                        Ok(true) if !self.stop.load(Ordering::Relaxed) => {}
                        ended => break ended,
                    }
                    if live.elapsed() >= next_look {
                        next_look = live.elapsed() + STATUS_EVERY;
                        *locked(&self.status) = self.look(&mut live);
                    }
                };
                // The devices still exist here.
                self.overflowed()?;
                let journal = live.end_journal();
                *locked(&self.status) = self.look(&mut live);
                let (mut world, ..) = live.end()?;
                let capture = world.end_logs();
                let failures = [
                    ended
                        .err()
                        .map(|error| format!("devices of nodes cannot be read: {}", outputs::reason(&error))),
                    journal.err().map(|error| outputs::cut_short(&error)),
                    capture.err().map(|error| outputs::cut_short(&capture_error(error))),
                ];
                let outcome = world.close().map_err(|error| air_log_error(error, "the capture"))?;
                Ok((outcome, failures.into_iter().flatten().collect()))
            })
        })?;
        Ok((tables::output(py, &self.config, &outcome)?, self.status(py)?, failures))
    }

    /// Requests the end of the run.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Progress of the run, at most a tenth of a second old.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Status { virtual_s, real_s, counters, lateness, delivered, queues, removed } =
            locked(&self.status).clone();
        let made = PyDict::new(py);
        made.set_item("virtual_s", virtual_s)?;
        made.set_item("real_s", real_s)?;
        for (name, share) in [("lateness_p50_s", 0.5), ("lateness_p99_s", 0.99)] {
            made.set_item(name, lateness.quantile(share).seconds())?;
        }
        made.set_item("lateness_max_s", lateness.max().seconds())?;
        made.set_item("read", counters.read)?;
        made.set_item("delivered", counters.delivered)?;
        made.set_item("marked", counters.marked)?;
        made.set_item("device_full", counters.device_full)?;
        made.set_item("queued", counters.queued)?;
        made.set_item("overflowed", self.overflowed()?)?;
        let causes = DropCause::ALL.iter().map(|cause| cause.name());
        made.set_item("lost", iter::zip(causes, counters.lost).collect::<Vec<_>>().into_py_dict(py)?)?;
        let refusals = Refusal::ALL.iter().map(|refusal| refusal.name());
        made.set_item(
            "refused",
            iter::zip(refusals, counters.refused).collect::<Vec<_>>().into_py_dict(py)?,
        )?;
        made.set_item("delivered_bytes", delivered)?;
        made.set_item("queues", queues)?;
        made.set_item("removed", removed)?;
        Ok(made)
    }
}

impl Emulator {
    /// Number of packets that the devices of all nodes dropped because they were not read in time.
    fn overflowed(&self) -> io::Result<u64> {
        let mut counts = locked(&self.overflowed);
        for (count, node) in iter::zip(&mut *counts, &self.nodes) {
            *count = node.overflowed()?.max(*count);
        }
        Ok(counts.iter().sum())
    }

    fn look(&self, live: &mut Emulation<Monotonic, Devices>) -> Status {
        let real_s = live.elapsed().seconds();
        let world = live.world();
        Status {
            virtual_s: world.now().seconds(),
            real_s,
            counters: live.counters(),
            lateness: live.lateness().clone(),
            delivered: live.delivered().to_vec(),
            queues: (0..self.nodes.len()).map(|node| world.queue_length(node)).collect(),
            removed: live.wire().removed().iter().map(|node| node.0).collect(),
        }
    }
}

/// Replays a journal. Returns the tables, and the fingerprint that the journal states, if it does.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides, journal, pcap = None))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn replay<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    overrides: Option<&Bound<'py, PyDict>>,
    journal: PathBuf,
    pcap: Option<PathBuf>,
) -> PyResult<(Bound<'py, PyDict>, Option<String>)> {
    let overrides = read_overrides(overrides)?;
    let (config, outcome, ending) = py.detach(|| {
        panics::caught(|| {
            let mut config = crate::controllers::load(text, origin, &overrides).map_err(scenario_error)?;
            config.recording.causes = true;
            let mut world = world(&config, origin, pcap.as_deref())?;
            let mut journal = BufReader::new(File::open(journal)?);
            journal.skip_until(b'\n')?;
            let ending = journal::replay(journal, &mut world)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            let outcome = world.close().map_err(|error| air_log_error(error, origin))?;
            Ok((config, outcome, ending))
        })
    })?;
    let fingerprint = ending.map(|ending| format!("{:016x}", ending.fingerprint));
    Ok((tables::output(py, &config, &outcome)?, fingerprint))
}

fn world(config: &Config, origin: &str, pcap: Option<&Path>) -> PyResult<World> {
    let mut world = World::new(config, Ties::InOrder);
    if let Some(path) = pcap {
        let out = outputs::created(path).map_err(|error| outputs::os_error(&error))?;
        let log = AirLog::new(config, Box::new(BufWriter::new(out)));
        world.log_to(log.map_err(|error| air_log_error(error, origin))?);
    }
    Ok(world)
}

fn recorder(path: &Path, first: &str) -> PyResult<Journal> {
    let recorder =
        outputs::created(path).and_then(|out| JournalWriter::new(Box::new(BufWriter::new(out)) as _, first));
    recorder.map_err(|error| outputs::os_error(&error))
}

fn capture_error(error: LogError) -> io::Error {
    match error {
        LogError::Io(error) => error,
        other @ LogError::NoRoomForHeader { .. } => io::Error::other(other),
    }
}

/// IP address of the node with this number in an emulation.
#[pyfunction]
pub fn node_address(node: u32) -> String {
    Ipv4Addr::from(address(NodeId(node))).to_string()
}

/// Gives this process its own namespaces; see [`host::isolate`].
#[pyfunction]
pub fn isolate() -> io::Result<()> {
    host::isolate()
}

/// Lets the kernel kill this process when its parent ends.
#[pyfunction]
pub fn die_with_parent() -> io::Result<()> {
    host::die_with_parent()
}

/// Mounts files that only this process sees; see [`host::private_mounts`].
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn private_mounts(files: Vec<(PathBuf, PathBuf)>) -> io::Result<()> {
    host::private_mounts(&files)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
