//! Estimators written in Python.

use super::callbacks::overridden;
use super::events::{Arrival, Attempt, Exchange, Frame, Loss, Period};
use super::failures;
use multihop_core::{LinkEvent, Time};
use multihop_link as link;
use multihop_link::{DefineEstimator, LinkView, PhyTimes};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Value of a time that is not set.
const NEVER: u64 = u64::MAX;

thread_local! {
    /// PHY of the node of the estimator that this thread creates.
    static CREATED_WITH: Cell<Option<PhyTimes>> = const { Cell::new(None) };
}

/// State of an estimator that Python and the engine share.
struct State {
    phy: Option<PhyTimes>,
    now: AtomicU64,
    busy_since: AtomicU64,
    values: Mutex<LinkView>,
}

impl State {
    fn values(&self) -> MutexGuard<'_, LinkView> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Estimator of a node's links, for subclasses in Python.
#[pyclass(subclass, frozen, module = "multihop")]
pub struct Estimator {
    state: Arc<State>,
}

/// Checks a bit rate or a delay that an estimator sets.
fn checked(name: &str, value: Option<f64>) -> PyResult<Option<f64>> {
    in_range(name, value, 1e15, "a number from 0 to 1e15, or None")
}

/// Checks a share that an estimator sets.
fn checked_share(name: &str, value: Option<f64>) -> PyResult<Option<f64>> {
    in_range(name, value, 1.0, "a share from 0 to 1, or None")
}

fn in_range(name: &str, value: Option<f64>, most: f64, needs: &str) -> PyResult<Option<f64>> {
    match value {
        Some(value) if !(0.0..=most).contains(&value) => {
            Err(PyValueError::new_err(format!("{name}: found {value:?}; needs {needs}")))
        }
        value => Ok(value),
    }
}

#[pymethods]
#[expect(clippy::unused_self, reason = "methods that subclasses replace")]
impl Estimator {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Estimator {
        Estimator {
            state: Arc::new(State {
                phy: CREATED_WITH.get(),
                now: AtomicU64::new(0),
                busy_since: AtomicU64::new(NEVER),
                values: Mutex::new(LinkView::default()),
            }),
        }
    }

    #[getter]
    fn now_s(&self) -> f64 {
        Time::from_ns(self.state.now.load(Relaxed)).seconds()
    }

    #[getter]
    fn busy_since_s(&self) -> Option<f64> {
        let since = self.state.busy_since.load(Relaxed);
        (since != NEVER).then(|| Time::from_ns(since).seconds())
    }

    #[getter]
    fn data_rate_bps(&self) -> Option<u64> {
        self.state.phy.map(|phy| phy.data_rate.bps())
    }

    #[getter]
    fn difs_s(&self) -> Option<f64> {
        self.state.phy.map(|phy| phy.difs.seconds())
    }

    #[getter]
    fn sifs_s(&self) -> Option<f64> {
        self.state.phy.map(|phy| phy.sifs.seconds())
    }

    #[getter]
    fn slot_s(&self) -> Option<f64> {
        self.state.phy.map(|phy| phy.slot.seconds())
    }

    #[getter]
    fn busy_ratio(&self) -> Option<f64> {
        self.state.values().busy_ratio
    }

    #[setter]
    fn set_busy_ratio(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().busy_ratio = checked_share("busy_ratio", value)?;
        Ok(())
    }

    #[getter]
    fn transmission_efficiency(&self) -> Option<f64> {
        self.state.values().transmission_efficiency
    }

    #[setter]
    fn set_transmission_efficiency(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().transmission_efficiency = checked_share("transmission_efficiency", value)?;
        Ok(())
    }

    #[getter]
    fn capacity_bps(&self) -> Option<f64> {
        self.state.values().capacity_bps
    }

    #[setter]
    fn set_capacity_bps(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().capacity_bps = checked("capacity_bps", value)?;
        Ok(())
    }

    #[getter]
    fn available_bps(&self) -> Option<f64> {
        self.state.values().available_bps
    }

    #[setter]
    fn set_available_bps(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().available_bps = checked("available_bps", value)?;
        Ok(())
    }

    #[getter]
    fn packet_throughput_bps(&self) -> Option<f64> {
        self.state.values().packet_throughput_bps
    }

    #[setter]
    fn set_packet_throughput_bps(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().packet_throughput_bps = checked("packet_throughput_bps", value)?;
        Ok(())
    }

    #[getter]
    fn rate_bps(&self) -> Option<f64> {
        self.state.values().rate_bps
    }

    #[setter]
    fn set_rate_bps(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().rate_bps = checked("rate_bps", value)?;
        Ok(())
    }

    #[getter]
    fn service_delay_s(&self) -> Option<f64> {
        self.state.values().service_delay_s
    }

    #[setter]
    fn set_service_delay_s(&self, value: Option<f64>) -> PyResult<()> {
        self.state.values().service_delay_s = checked("service_delay_s", value)?;
        Ok(())
    }

    fn on_attempt(&self, _attempt: &Bound<'_, Attempt>) {}

    fn on_exchange(&self, _exchange: &Bound<'_, Exchange>) {}

    fn on_mpdu(&self, _mpdu: &Bound<'_, Exchange>) {}

    fn on_decoded(&self, _frame: &Bound<'_, Frame>) {}

    fn on_busy(&self, _busy: &Bound<'_, Period>) {}

    fn on_nav(&self, _reserved: &Bound<'_, Period>) {}

    fn on_nav_reset(&self) {}

    fn on_dropped(&self, _dropped: &Bound<'_, Loss>) {}

    fn on_arrived(&self, _arrived: &Bound<'_, Arrival>) {}

    fn on_read(&self) {}
}

/// Method of an estimator that the engine calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Method {
    Attempt,
    Exchange,
    Mpdu,
    Decoded,
    Busy,
    Nav,
    NavReset,
    Dropped,
    Arrived,
    Read,
}

/// Names of the methods, in the order of [`Method`].
pub(super) const METHODS: [&str; 10] = [
    "on_attempt",
    "on_exchange",
    "on_mpdu",
    "on_decoded",
    "on_busy",
    "on_nav",
    "on_nav_reset",
    "on_dropped",
    "on_arrived",
    "on_read",
];

/// Class of an estimator with its arguments.
pub(super) struct EstimatorClass {
    pub class: Py<PyAny>,
    pub arguments: Py<PyDict>,
    /// Name of the class.
    pub name: String,
    /// Name, digest of the source, and arguments.
    pub identity: String,
}

impl DefineEstimator for EstimatorClass {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn build(&self, phy: PhyTimes) -> Box<dyn link::Estimator> {
        Python::attach(|py| match PythonEstimator::new(py, self, phy) {
            Ok(estimator) => Box::new(estimator) as Box<dyn link::Estimator>,
            Err(error) => {
                failures::record(py, error, &self.name, "__init__", PLACE, Time::ZERO);
                Box::new(Silent)
            }
        })
    }
}

/// Place of an exception in messages.
const PLACE: &str = "in an estimator";

/// Estimator without values, in a run that is about to end.
struct Silent;

impl link::Estimator for Silent {
    fn on_link(&mut self, _event: &LinkEvent) {}

    fn write(&self, _now: Time, _view: &mut LinkView) {}
}

/// Estimator whose methods are those of a Python object.
struct PythonEstimator {
    class: String,
    state: Arc<State>,
    /// Bound methods that the class defines, by [`Method`].
    methods: [Option<Py<PyAny>>; METHODS.len()],
}

impl PythonEstimator {
    fn new(py: Python<'_>, class: &EstimatorClass, phy: PhyTimes) -> PyResult<PythonEstimator> {
        let before = CREATED_WITH.replace(Some(phy));
        let made = class.class.call(py, (), Some(class.arguments.bind(py)));
        CREATED_WITH.set(before);
        let object = made?;
        let object = object.bind(py).cast::<Estimator>()?;
        let methods = overridden(object, &py.get_type::<Estimator>(), METHODS)?;
        Ok(PythonEstimator { class: class.name.clone(), state: Arc::clone(&object.get().state), methods })
    }

    /// Calls a method with these arguments, if the class defines it.
    fn call<A, F>(&self, method: Method, now: Time, arguments: F)
    where
        F: FnOnce() -> A,
        A: for<'py> PyCallArgs<'py>,
    {
        self.state.now.store(now.ns(), Relaxed);
        let Some(bound) = &self.methods[method as usize] else { return };
        if failures::failed() {
            return;
        }
        Python::attach(|py| {
            if let Err(error) = bound.call1(py, arguments()) {
                failures::record(py, error, &self.class, METHODS[method as usize], PLACE, now);
            }
        });
    }
}

impl link::Estimator for PythonEstimator {
    fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Attempt(attempt) => {
                let ended =
                    [attempt.ack, attempt.data, attempt.cts, attempt.rts].into_iter().flatten().next();
                let now = ended.map_or(Time::from_ns(self.state.now.load(Relaxed)), |air| air.end);
                self.call(Method::Attempt, now, || (Attempt::from(attempt),));
            }
            LinkEvent::Exchange(exchange) => {
                self.call(Method::Exchange, exchange.done, || (Exchange::from(exchange),));
            }
            LinkEvent::Mpdu(mpdu) => self.call(Method::Mpdu, mpdu.done, || (Exchange::from(mpdu),)),
            LinkEvent::Decoded(frame) => self.call(Method::Decoded, frame.air.end, || (Frame::from(frame),)),
            LinkEvent::BusyFrom(since) => self.state.busy_since.store(since.ns(), Relaxed),
            LinkEvent::Busy(busy) => {
                self.state.busy_since.store(NEVER, Relaxed);
                self.call(Method::Busy, busy.end, || (Period::from(busy),));
            }
            LinkEvent::NavSet(nav) => self.call(Method::Nav, nav.start, || (Period::from(nav),)),
            LinkEvent::Dropped(dropped) => self.call(Method::Dropped, dropped.at, || (Loss::from(dropped),)),
            LinkEvent::Arrived(arrived) => {
                self.call(Method::Arrived, arrived.at, || (Arrival::from(arrived),));
            }
            LinkEvent::NavReset(at) => self.call(Method::NavReset, *at, || ()),
            LinkEvent::Reported(_) => {}
        }
    }

    fn senses_medium(&self) -> bool {
        let of_medium = [Method::Decoded, Method::Busy, Method::Nav, Method::NavReset, Method::Read];
        of_medium.iter().any(|method| self.methods[*method as usize].is_some())
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        self.call(Method::Read, now, || ());
        let values = *self.state.values();
        let LinkView {
            transmission_efficiency,
            busy_ratio,
            capacity_bps,
            available_bps,
            packet_throughput_bps,
            rate_bps,
            service_delay_s,
            queue_bytes: _,
        } = view;
        for (written, value) in [
            (transmission_efficiency, values.transmission_efficiency),
            (busy_ratio, values.busy_ratio),
            (capacity_bps, values.capacity_bps),
            (available_bps, values.available_bps),
            (packet_throughput_bps, values.packet_throughput_bps),
            (rate_bps, values.rate_bps),
            (service_delay_s, values.service_delay_s),
        ] {
            *written = value.or(*written);
        }
    }
}
