//! Runs in steps.

use crate::controllers::Controller;
use crate::{Meter, controllers, panics, raised_by_signal, read_overrides, scenario_error, tables};
use multihop_core::{Ecn, FlowId, HeaderBytes, Span, Time};
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::external::{Injection, PacketOutcome};
use multihop_sim::{Ties, World};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, TryLockError};
use std::thread;
use std::time::Duration;

/// Outcome of an injected packet: number, time in seconds, node and cause of the loss if lost, and whether it
/// is marked.
type PacketResult = (u64, f64, Option<(String, &'static str)>, bool);

/// Run that advances in steps. One thread at a time can use it.
#[pyclass(frozen)]
pub struct Stepper {
    config: Config,
    /// Run; none when it is over, or broken by a panic.
    world: Mutex<Option<World>>,
    /// Virtual time reached, readable from any thread during a step.
    now: Meter,
    /// Controllers in Python, by flow.
    controllers: Vec<(u32, Py<Controller>)>,
}

/// Interval at which a thread checks whether another thread still uses the run.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

impl Stepper {
    /// Calls a function with the run, without the GIL, once no other thread uses it. A panic discards the
    /// run.
    ///
    /// # Errors
    /// If the run is over, or a signal arrived while another thread used it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut World) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let mut work = Some(work);
        loop {
            let done = py.detach(|| {
                let mut place = match self.world.try_lock() {
                    Ok(place) => place,
                    Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
                    Err(TryLockError::WouldBlock) => {
                        thread::sleep(RETRY_INTERVAL);
                        return None;
                    }
                };
                Some(self.with_world(&mut place, work.take()?))
            });
            match done {
                Some(made) => return made,
                None => py.check_signals()?,
            }
        }
    }

    fn with_world<T>(
        &self,
        place: &mut Option<World>,
        work: impl FnOnce(&mut World) -> PyResult<T>,
    ) -> PyResult<T> {
        let mut world = place.take().ok_or_else(|| PyValueError::new_err("this run is over"))?;
        let made = panics::caught(|| {
            let made = work(&mut world);
            Ok((made, world))
        });
        made.and_then(|(made, world)| {
            self.now.set(world.now());
            *place = Some(world);
            made
        })
    }
}

#[pymethods]
impl Stepper {
    #[new]
    #[pyo3(signature = (text, origin, overrides = None))]
    fn new(
        py: Python<'_>,
        text: &str,
        origin: &str,
        overrides: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Stepper> {
        let overrides = read_overrides(overrides)?;
        py.detach(|| {
            panics::caught(|| {
                let mut config = controllers::load(text, origin, &overrides).map_err(scenario_error)?;
                config.recording.causes = true;
                controllers::begin(&config);
                let world = Mutex::new(Some(World::new(&config, Ties::InOrder)));
                let created = controllers::created();
                controllers::end()?;
                Ok(Stepper { config, world, now: Meter::default(), controllers: created })
            })
        })
    }

    /// Controllers in Python, by flow.
    fn controllers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for (flow, controller) in &self.controllers {
            made.set_item(flow, controller)?;
        }
        Ok(made)
    }

    /// Virtual time reached, in seconds; during a step of another thread, slightly earlier.
    fn now(&self) -> f64 {
        self.now.simulated_s()
    }

    /// Processes all events up to this time, inclusive. Returns the time of the next event; none when the run
    /// is over. An exception of a signal handler ends the step; the next one continues from there.
    fn step(&self, py: Python<'_>, until_s: f64) -> PyResult<Option<f64>> {
        self.with(py, |world| {
            let until = Time::ZERO + Span::from_seconds(until_s.min(world.end().seconds() + 1.0));
            let mut raised = None;
            controllers::begin(&self.config);
            let next = world.advance_while(until, |now| {
                self.now.set(now);
                raised = Python::attach(raised_by_signal);
                raised.is_none() && !controllers::failed()
            });
            controllers::end()?;
            raised.map_or(Ok(next.map(Time::seconds)), Err)
        })
    }

    /// Injects a packet into the flow with this number now. Returns the packet's number.
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn inject(
        &self,
        py: Python<'_>,
        flow: usize,
        payload: u32,
        header: u32,
        ecn: bool,
        stream: u16,
    ) -> PyResult<u64> {
        if self.config.traffic.flows.get(flow).is_none_or(|flow| flow.app != AppConfig::External) {
            return Err(PyValueError::new_err(format!("flow {flow} takes no packets from outside")));
        }
        let (size, largest) = (payload.saturating_add(header), self.config.largest_packet());
        if size > largest {
            return Err(PyValueError::new_err(format!(
                "payload and header: found {size} B; needs at most {largest} B, the largest packet of this scenario"
            )));
        }
        let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotCapable };
        let flow = FlowId(flow as u32);
        self.with(py, |world| {
            if world.now() >= world.end() {
                return Err(PyValueError::new_err("this run is over; inject packets before its end"));
            }
            Ok(world.inject(&Injection { flow, payload, header, ecn, stream, congestion: HeaderBytes::NONE }))
        })
    }

    /// Outcomes of injected packets since the last call.
    fn outcomes(&self, py: Python<'_>) -> PyResult<Vec<PacketResult>> {
        self.with(py, |world| {
            let ended = std::iter::from_fn(|| world.poll_outcome()).filter_map(|outcome| match outcome {
                PacketOutcome::Delivered { number, at, ecn, .. } => {
                    Some((number, at.seconds(), None, ecn == Ecn::CongestionExperienced))
                }
                PacketOutcome::Lost { number, at, node, cause } => {
                    let node = self.config.topology.nodes[node.index()].name.clone();
                    Some((number, at.seconds(), Some((node, cause.name())), false))
                }
                // Outcomes of frames, which cannot be injected here.
                PacketOutcome::Heard { .. } | PacketOutcome::Sent { .. } => None,
            });
            Ok(ended.collect())
        })
    }

    /// Result tables as if the run ended now.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let outcome = self.with(py, |world| Ok(world.tables()))?;
        tables::output(py, &self.config, &outcome)
    }
}
