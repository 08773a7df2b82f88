//! Router policies written in Python.

use super::callbacks::overridden;
use super::failures;
use super::samples::{Link, Packet};
use multihop_core as core;
use multihop_core::{NodeId, Time};
use multihop_link as link;
use multihop_link::{Departure, EgressQueue, Estimator, EstimatorConfig, Hop, LinkView, PhyTimes, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::Cell;

/// Node and egress queue of a policy.
#[derive(Clone, Copy)]
pub(super) struct Place {
    node: u32,
    rate_bps: u64,
    is_wired: bool,
    queue_limit: usize,
    seed: u64,
}

thread_local! {
    /// Place of the policy that this thread creates.
    static CREATED_AT: Cell<Place> =
        const { Cell::new(Place { node: 0, rate_bps: 0, is_wired: false, queue_limit: 0, seed: 0 }) };
}

/// Policy of a forwarding node for the packets of one scheme at one queue, for subclasses in Python.
#[pyclass(subclass, frozen, module = "multihop")]
pub struct RouterPolicy {
    place: Place,
}

#[pymethods]
#[expect(clippy::unused_self, reason = "methods that subclasses replace")]
impl RouterPolicy {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> RouterPolicy {
        RouterPolicy { place: CREATED_AT.get() }
    }

    #[getter]
    fn node(&self) -> u32 {
        self.place.node
    }

    #[getter]
    fn rate_bps(&self) -> u64 {
        self.place.rate_bps
    }

    #[getter]
    fn is_wired(&self) -> bool {
        self.place.is_wired
    }

    #[getter]
    fn queue_limit(&self) -> usize {
        self.place.queue_limit
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.place.seed
    }

    fn on_arrival(&self, _packet: &Bound<'_, Packet>, _link: &Bound<'_, Link>) {}

    fn on_head_of_line(&self, _packet: &Bound<'_, Packet>, _link: &Bound<'_, Link>) {}

    fn on_data(&self, _packet: &Bound<'_, Packet>, _link: &Bound<'_, Link>) {}

    fn on_received(&self, _packet: &Bound<'_, Packet>, _link: &Bound<'_, Link>) {}
}

/// Method of a policy that the engine calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Passage {
    Arrival,
    HeadOfLine,
    Data,
    Received,
}

impl Passage {
    const ALL: [Passage; 4] = [Passage::Arrival, Passage::HeadOfLine, Passage::Data, Passage::Received];

    fn name(self) -> &'static str {
        match self {
            Passage::Arrival => "on_arrival",
            Passage::HeadOfLine => "on_head_of_line",
            Passage::Data => "on_data",
            Passage::Received => "on_received",
        }
    }
}

/// Policy whose methods are those of a Python object.
pub(super) struct PythonRouter {
    class: String,
    node: u32,
    estimators: Vec<EstimatorConfig>,
    methods: [Option<Py<PyAny>>; Passage::ALL.len()],
}

impl PythonRouter {
    /// Creates the policy of a class at a queue.
    pub(super) fn new(
        py: Python<'_>,
        class: &Py<PyAny>,
        estimators: &[EstimatorConfig],
        NodeId(node): NodeId,
        egress: &EgressQueue,
    ) -> PyResult<PythonRouter> {
        let place = Place {
            node,
            rate_bps: egress.rate.bps(),
            is_wired: egress.is_wired,
            queue_limit: egress.queue_limit,
            seed: egress.seed,
        };
        let before = CREATED_AT.replace(place);
        let made = class.call0(py);
        CREATED_AT.set(before);
        let object = made?;
        let object = object.bind(py).cast::<RouterPolicy>()?;
        let methods = overridden(object, &py.get_type::<RouterPolicy>(), Passage::ALL.map(Passage::name))?;
        let class = object.get_type().qualname()?.to_string();
        Ok(PythonRouter { class, node, estimators: estimators.to_vec(), methods })
    }

    fn call(&self, passage: Passage, now: Time, packet: &mut core::Packet, view: &LinkView) -> Verdict {
        let Some(bound) = &self.methods[passage as usize] else { return Verdict::Pass };
        if failures::failed() {
            return Verdict::Pass;
        }
        Python::attach(|py| {
            let mut decide = || -> PyResult<Verdict> {
                let given = Bound::new(py, Packet::new(now, packet))?;
                let link = Bound::new(py, Link::new(view))?;
                let verdict = verdict(&bound.bind(py).call1((&given, link))?)?;
                given.get().write_to(packet);
                Ok(verdict)
            };
            decide().unwrap_or_else(|error| {
                let place = format!("at node {}", self.node);
                failures::record(py, error, &self.class, passage.name(), &place, now);
                Verdict::Pass
            })
        })
    }
}

/// Verdict that a method returned.
fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if answer.is_none() {
        return Ok(Verdict::Pass);
    }
    match answer.extract::<String>().as_deref() {
        Ok("mark") => Ok(Verdict::Mark),
        Ok("drop") => Ok(Verdict::Drop),
        _ => Err(PyValueError::new_err(format!("returned {answer}; needs \"mark\", \"drop\" or None"))),
    }
}

impl link::RouterPolicy for PythonRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.estimators.iter().map(|estimator| estimator.build(*phy)).collect()
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut core::Packet, view: &LinkView) -> Verdict {
        self.call(Passage::Arrival, hop.now, packet, view)
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut core::Packet, view: &LinkView) -> Verdict {
        self.call(Passage::HeadOfLine, hop.now, packet, view)
    }

    fn on_data(&mut self, departure: &Departure, packet: &mut core::Packet, view: &LinkView) -> Verdict {
        self.call(Passage::Data, departure.now, packet, view)
    }

    fn on_received(&mut self, hop: Hop, packet: &mut core::Packet, view: &LinkView) -> Verdict {
        self.call(Passage::Received, hop.now, packet, view)
    }
}
