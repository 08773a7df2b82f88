//! TCP sender with a controller of Python, its timer, and the estimators of its own MAC.

use super::callbacks::{Callbacks, Method};
use super::controller::State;
use multihop_core::{LinkEvent, Segment, Time};
use multihop_link::Estimator;
use multihop_transport::{Delivered, Endpoint, Progress, TcpOptions, TcpSender};
use pyo3::prelude::*;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

/// TCP sender under a Python controller.
pub(super) struct PythonSender {
    tcp: TcpSender,
    callbacks: Callbacks,
    state: Arc<State>,
    /// Whether the controller reads its own MAC.
    reads_mac: bool,
}

impl PythonSender {
    pub(super) fn new(
        options: TcpOptions,
        callbacks: Callbacks,
        estimators: Vec<Box<dyn Estimator>>,
    ) -> PythonSender {
        let of_tcp = Python::attach(|py| callbacks.again(py));
        let state = Arc::clone(&callbacks.state);
        let reads_mac = !estimators.is_empty();
        *state.estimators.lock().unwrap_or_else(PoisonError::into_inner) = estimators;
        PythonSender { tcp: TcpSender::new(options, Box::new(of_tcp)), callbacks, state, reads_mac }
    }
}

impl Endpoint for PythonSender {
    fn push(&mut self, now: Time, bytes: u64) {
        self.callbacks.start(now);
        self.tcp.push(now, bytes);
    }

    fn withdraw(&mut self) {
        self.tcp.withdraw();
    }

    fn backlog(&self) -> u64 {
        self.tcp.backlog()
    }

    fn encoder_rate(&self) -> Option<f64> {
        self.tcp.encoder_rate()
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        self.state.set_now(now);
        self.tcp.on_segment(now, segment)
    }

    fn on_given_up(&mut self, now: Time, segment: &Segment) -> bool {
        self.tcp.on_given_up(now, segment)
    }

    fn follows_routes(&self) -> bool {
        self.tcp.follows_routes()
    }

    fn on_route_failed(&mut self, now: Time) -> bool {
        self.tcp.on_route_failed(now)
    }

    fn follows_departures(&self) -> bool {
        self.reads_mac || self.tcp.follows_departures()
    }

    fn on_departed(&mut self, now: Time, segment: &Segment) -> bool {
        let queued = self.state.queued.load(Relaxed);
        self.state.queued.store(queued.saturating_sub(1), Relaxed);
        self.tcp.follows_departures() && self.tcp.on_departed(now, segment)
    }

    fn on_timeout(&mut self, now: Time) {
        if self.state.timer().is_some_and(|timer| timer <= now) {
            self.state.stop_timer();
            self.callbacks.call(Method::Timer, now, || ());
        }
        if self.tcp.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.tcp.on_timeout(now);
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let segment = self.tcp.poll_segment(now);
        if self.reads_mac && segment.is_some() {
            self.state.queued.fetch_add(1, Relaxed);
        }
        segment
    }

    fn poll_timeout(&self) -> Option<Time> {
        [self.tcp.poll_timeout(), self.state.timer()].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        self.tcp.progress()
    }

    fn observes_link(&self) -> bool {
        self.reads_mac || self.tcp.observes_link()
    }

    fn on_link(&mut self, event: &LinkEvent) {
        let mut estimators = self.state.estimators.lock().unwrap_or_else(PoisonError::into_inner);
        estimators.iter_mut().for_each(|estimator| estimator.on_link(event));
        if self.tcp.observes_link() {
            self.tcp.on_link(event);
        }
    }
}
