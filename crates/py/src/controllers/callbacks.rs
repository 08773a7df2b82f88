//! Calls of the methods of a controller.

use super::controller::{Controller, State};
use super::failures;
use super::samples;
use multihop_core::{HeaderBytes, Time};
use multihop_transport as transport;
use multihop_transport::{
    AckInfo, Acked, Allowance, DeliverySample, Lost, Marked, Recovered, Returned, SentSegment,
};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// Method of a controller that the engine calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Method {
    Start,
    Acked,
    Delivered,
    Lost,
    Marked,
    Sent,
    Recovered,
    Undone,
    Idle,
    Timer,
    Feedback,
}

impl Method {
    pub(super) const ALL: [Method; 11] = [
        Method::Start,
        Method::Acked,
        Method::Delivered,
        Method::Lost,
        Method::Marked,
        Method::Sent,
        Method::Recovered,
        Method::Undone,
        Method::Idle,
        Method::Timer,
        Method::Feedback,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Start => "start",
            Method::Acked => "on_acked",
            Method::Delivered => "on_delivered",
            Method::Lost => "on_lost",
            Method::Marked => "on_marked",
            Method::Sent => "on_sent",
            Method::Recovered => "on_recovered",
            Method::Undone => "on_undone",
            Method::Idle => "on_idle",
            Method::Timer => "on_timer",
            Method::Feedback => "on_feedback",
        }
    }
}

/// Bound methods of an object, for those of these names that its class defines in place of the base class's.
pub(super) fn overridden<const N: usize>(
    object: &Bound<'_, PyAny>,
    base: &Bound<'_, PyType>,
    names: [&str; N],
) -> PyResult<[Option<Py<PyAny>>; N]> {
    let class = object.get_type();
    let mut methods = [const { None }; N];
    for (method, name) in methods.iter_mut().zip(names) {
        if defines(&class, base, name)? {
            *method = Some(object.getattr(name)?.unbind());
        }
    }
    Ok(methods)
}

/// Whether a class defines a method of this name in place of the base class's.
pub(super) fn defines(class: &Bound<'_, PyAny>, base: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    Ok(!class.getattr(name)?.is(&base.getattr(name)?))
}

/// Controller whose methods are those of a Python object. After an exception no further method is called: the
/// run is about to end.
pub(super) struct Callbacks {
    pub state: Arc<State>,
    class: Arc<str>,
    /// Bound methods that the class defines, by [`Method`].
    methods: [Option<Py<PyAny>>; Method::ALL.len()],
    started: bool,
}

impl Callbacks {
    /// Callbacks of a controller; methods of the base class are not called.
    pub(super) fn new(py: Python<'_>, controller: &Py<Controller>) -> PyResult<Callbacks> {
        let object = controller.bind(py);
        let methods = overridden(object, &py.get_type::<Controller>(), Method::ALL.map(Method::name))?;
        let class = object.get_type().qualname()?.to_string().into();
        Ok(Callbacks { state: Arc::clone(&controller.get().state), class, methods, started: false })
    }

    /// Controller without methods, with a window of one segment.
    pub(super) fn none(segment: u32) -> Callbacks {
        let methods = [const { None }; Method::ALL.len()];
        Callbacks {
            state: Arc::new(State::without_controller(segment)),
            class: "".into(),
            methods,
            started: true,
        }
    }

    /// Copy that calls the same methods of the same object.
    pub(super) fn again(&self, py: Python<'_>) -> Callbacks {
        let methods =
            std::array::from_fn(|index| self.methods[index].as_ref().map(|method| method.clone_ref(py)));
        Callbacks {
            state: Arc::clone(&self.state),
            class: Arc::clone(&self.class),
            methods,
            started: self.started,
        }
    }

    /// Calls `start`, unless it was called before.
    pub(super) fn start(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.call(Method::Start, now, || ());
        }
    }

    /// Calls a method with these arguments, if the class defines it.
    pub(super) fn call<A, F>(&self, method: Method, now: Time, arguments: F)
    where
        F: FnOnce() -> A,
        A: for<'py> PyCallArgs<'py>,
    {
        let Some(bound) = &self.methods[method as usize] else { return };
        if failures::failed() {
            return;
        }
        self.state.set_now(now);
        Python::attach(|py| {
            if let Err(error) = bound.call1(py, arguments()) {
                let place = format!("in flow {}", self.state.flow.index);
                failures::record(py, error, &self.class, method.name(), &place, now);
            }
        });
    }
}

impl transport::Controller for Callbacks {
    fn allowance(&self) -> Allowance {
        self.state.allowance()
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.state.threshold()
    }

    fn on_ack(&mut self, ack: &AckInfo) {
        self.state.counted().on_ack(ack);
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.state.counted().on_sent(sent);
        self.call(Method::Sent, sent.now, || (samples::Sent::from(sent),));
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.state.counted().on_acked(acked);
        self.call(Method::Acked, acked.now, || (samples::Acked::from(acked),));
    }

    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.call(Method::Delivered, delivery.now, || (samples::Delivered::from(delivery),));
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.state.counted().on_lost(lost);
        self.call(Method::Lost, lost.now, || (samples::Lost::from(lost),));
    }

    fn on_undone(&mut self) {
        self.call(Method::Undone, self.state.now(), || ());
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.call(Method::Recovered, recovered.now, || (samples::Recovered::from(recovered),));
    }

    fn on_idle(&mut self, now: Time) {
        self.call(Method::Idle, now, || ());
    }

    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        self.state.header()
    }

    fn on_feedback(&mut self, returned: &Returned) {
        self.call(Method::Feedback, returned.now, || (samples::Feedback::from(returned),));
    }

    fn on_marked(&mut self, marked: &Marked) {
        self.state.counted().on_marked();
        self.call(Method::Marked, marked.now, || (samples::Lost::from(marked),));
    }
}
