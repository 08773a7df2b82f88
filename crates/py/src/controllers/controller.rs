//! The Python base class of controllers.

use super::header;
use super::samples::{Acked, Counts, Delivered, Feedback, Lost, Mac, Recovered, Sent};
use multihop_core::{HeaderBytes, Rate, Span, Time};
use multihop_link::{Estimator, LinkView};
use multihop_transport::Allowance;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Flow and segment size of a controller.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    pub index: u32,
    pub segment: u32,
    /// Bytes of the scheme's own header.
    pub header: usize,
    /// Seed for the controller's random numbers, different for each flow and seed of the run.
    pub seed: u64,
}

thread_local! {
    /// Flow of the controller that this thread creates.
    static CREATED_FOR: Cell<Flow> = const { Cell::new(Flow { index: 0, segment: 1_448, header: 0, seed: 0 }) };
    /// Seed of the run of this thread.
    pub(super) static SEED: Cell<u64> = const { Cell::new(0) };
    /// Controllers that this thread has created since the last run began, with their flows.
    pub(super) static CREATED: RefCell<Vec<(u32, Py<Controller>)>> = const { RefCell::new(Vec::new()) };
}

/// State of a controller that Python and the engine share.
pub(super) struct State {
    pub flow: Flow,
    window: AtomicU64,
    pace: AtomicU64,
    threshold: AtomicU64,
    timer: AtomicU64,
    now: AtomicU64,
    pub queued: AtomicU64,
    pub estimators: Mutex<Vec<Box<dyn Estimator>>>,
    pub counts: Mutex<Counts>,
    header: Mutex<HeaderBytes>,
}

/// Value of a timer that is not set.
const NEVER: u64 = u64::MAX;

/// Initial window in segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

/// Smallest pace in bits per second.
const PACE_LEAST: f64 = 8.0;

/// Largest window in bytes and pace in bits per second.
const MOST: f64 = 1e15;

impl State {
    fn new(flow: Flow) -> State {
        State {
            flow,
            window: AtomicU64::new((INITIAL_WINDOW * f64::from(flow.segment)).to_bits()),
            pace: AtomicU64::new(f64::NAN.to_bits()),
            threshold: AtomicU64::new(f64::NAN.to_bits()),
            timer: AtomicU64::new(NEVER),
            now: AtomicU64::new(0),
            queued: AtomicU64::new(0),
            estimators: Mutex::new(Vec::new()),
            counts: Mutex::new(Counts::default()),
            header: Mutex::new(header::pack(&vec![0; flow.header])),
        }
    }

    /// State of the flow of a sender without a controller, with a window of one segment.
    pub(super) fn without_controller(segment: u32) -> State {
        let state = State::new(Flow { index: 0, segment, header: 0, seed: 0 });
        state.window.store(f64::from(segment).to_bits(), Relaxed);
        state
    }

    pub(super) fn allowance(&self) -> Allowance {
        let window = f64::from_bits(self.window.load(Relaxed)) as u64;
        let pace = f64::from_bits(self.pace.load(Relaxed));
        Allowance {
            window: window.max(self.flow.segment.into()),
            pace: (!pace.is_nan()).then(|| Rate::from_bps(pace as u64)),
        }
    }

    pub(super) fn threshold(&self) -> Option<u64> {
        let threshold = f64::from_bits(self.threshold.load(Relaxed));
        (!threshold.is_nan()).then_some(threshold as u64)
    }

    pub(super) fn timer(&self) -> Option<Time> {
        let timer = self.timer.load(Relaxed);
        (timer != NEVER).then(|| Time::from_ns(timer))
    }

    pub(super) fn stop_timer(&self) {
        self.timer.store(NEVER, Relaxed);
    }

    /// Header of the next segment.
    pub(super) fn header(&self) -> HeaderBytes {
        *self.header.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counters of the sender.
    pub(super) fn counted(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_now(&self, now: Time) {
        self.now.store(now.ns(), Relaxed);
    }

    pub(super) fn now(&self) -> Time {
        Time::from_ns(self.now.load(Relaxed))
    }
}

/// Congestion controller of a TCP sender, for subclasses in Python.
#[pyclass(subclass, frozen, module = "multihop")]
pub struct Controller {
    pub(super) state: Arc<State>,
}

impl Controller {
    /// Calls `create`, in which a new controller belongs to this flow.
    pub(super) fn created_for<T>(flow: Flow, create: impl FnOnce() -> T) -> T {
        let before = CREATED_FOR.replace(flow);
        let made = create();
        CREATED_FOR.set(before);
        made
    }
}

/// Checks a value that a controller sets.
fn checked(name: &str, value: f64, least: f64, needs: &str) -> PyResult<u64> {
    if value.is_finite() && (least..=MOST).contains(&value) {
        return Ok(value.to_bits());
    }
    Err(PyValueError::new_err(format!("{name}: found {value:?}; needs {needs}")))
}

#[pymethods]
#[expect(clippy::unused_self, reason = "methods that subclasses replace")]
impl Controller {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Controller {
        Controller { state: Arc::new(State::new(CREATED_FOR.get())) }
    }

    #[getter]
    fn window_bytes(&self) -> f64 {
        f64::from_bits(self.state.window.load(Relaxed))
    }

    #[setter]
    fn set_window_bytes(&self, value: f64) -> PyResult<()> {
        let bits = checked("window_bytes", value, 0.0, "a number of bytes from 0 to 1e15")?;
        self.state.window.store(bits, Relaxed);
        Ok(())
    }

    #[getter]
    fn pace_bps(&self) -> Option<f64> {
        Some(f64::from_bits(self.state.pace.load(Relaxed))).filter(|pace| !pace.is_nan())
    }

    #[setter]
    fn set_pace_bps(&self, value: Option<f64>) -> PyResult<()> {
        let needs = "bits per second from 8 to 1e15, or None for no pacing";
        let bits =
            value.map_or(Ok(f64::NAN.to_bits()), |pace| checked("pace_bps", pace, PACE_LEAST, needs))?;
        self.state.pace.store(bits, Relaxed);
        Ok(())
    }

    #[getter]
    fn threshold_bytes(&self) -> Option<f64> {
        Some(f64::from_bits(self.state.threshold.load(Relaxed))).filter(|threshold| !threshold.is_nan())
    }

    #[setter]
    fn set_threshold_bytes(&self, value: Option<f64>) -> PyResult<()> {
        let needs = "a number of bytes from 0 to 1e15, or None";
        let bits =
            value.map_or(Ok(f64::NAN.to_bits()), |bytes| checked("threshold_bytes", bytes, 0.0, needs))?;
        self.state.threshold.store(bits, Relaxed);
        Ok(())
    }

    #[getter]
    fn timer_s(&self) -> Option<f64> {
        self.state.timer().map(Time::seconds)
    }

    #[setter]
    fn set_timer_s(&self, value: Option<f64>) -> PyResult<()> {
        let Some(at) = value else {
            self.state.stop_timer();
            return Ok(());
        };
        let now = self.state.now();
        if !at.is_finite() || at < now.seconds() || at > 1e9 {
            let now = now.seconds();
            let message =
                format!("timer_s: found {at:?}; needs a time in seconds from now_s, {now:.9}, or None");
            return Err(PyValueError::new_err(message));
        }
        self.state.timer.store((Time::ZERO + Span::from_seconds(at)).max(now).ns(), Relaxed);
        Ok(())
    }

    #[getter]
    fn header(&self) -> Cow<'static, [u8]> {
        Cow::Owned(header::unpack(&self.state.header()).to_vec())
    }

    #[setter]
    fn set_header(&self, value: &[u8]) -> PyResult<()> {
        let (found, wanted) = (value.len(), self.state.flow.header);
        if found != wanted {
            let message = format!("header: found {found} bytes; needs {wanted}, the class's header_bytes");
            return Err(PyValueError::new_err(message));
        }
        *self.state.header.lock().unwrap_or_else(PoisonError::into_inner) = header::pack(value);
        Ok(())
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.state.now().seconds()
    }

    #[getter]
    fn segment_bytes(&self) -> u32 {
        self.state.flow.segment
    }

    #[getter]
    fn flow(&self) -> u32 {
        self.state.flow.index
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.state.flow.seed
    }

    #[getter]
    fn mac(&self, py: Python<'_>) -> PyResult<Py<Mac>> {
        let mut view = LinkView::default();
        let estimators = self.state.estimators.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.state.now();
        estimators.iter().for_each(|estimator| estimator.write(now, &mut view));
        Py::new(py, Mac::new(&view, self.state.queued.load(Relaxed)))
    }

    #[getter]
    fn counts(&self) -> Counts {
        self.state.counted().clone()
    }

    fn start(&self) {}

    fn on_acked(&self, _acked: &Bound<'_, Acked>) {}

    fn on_delivered(&self, _delivered: &Bound<'_, Delivered>) {}

    fn on_lost(&self, _lost: &Bound<'_, Lost>) {}

    fn on_marked(&self, _marked: &Bound<'_, Lost>) {}

    fn on_sent(&self, _sent: &Bound<'_, Sent>) {}

    fn on_recovered(&self, _recovered: &Bound<'_, Recovered>) {}

    fn on_undone(&self) {}

    fn on_idle(&self) {}

    fn on_timer(&self) {}

    fn on_feedback(&self, _feedback: &Bound<'_, Feedback>) {}
}
