//! Congestion controllers, router policies and estimators written in Python.
//!
//! * [`scheme`]: the scheme `python` and its parameters.
//! * [`classes`]: loading of classes.
//! * [`controller`]: the Python base class.
//! * [`callbacks`]: calls of the methods of a controller.
//! * [`endpoint`]: the sender, with the controller's timer and the estimators of its own MAC.
//! * [`samples`]: arguments of the methods.
//! * [`router`]: router policies; [`header`]: the congestion header.
//! * [`estimator`]: estimators; [`events`]: arguments of their methods.
//! * [`failures`]: the first exception of a run.

mod callbacks;
mod classes;
mod controller;
mod endpoint;
mod estimator;
mod events;
mod failures;
mod header;
mod router;
mod samples;
mod scheme;

pub use failures::{failed, forget};

pub use controller::Controller;

use multihop_link::EstimatorConfig;
use multihop_scenario::{Known, Overrides, Resolved, ScenarioError};
use multihop_schemes::{REGISTRY, SchemeEntry};
use multihop_sim::config::Config;
use pyo3::prelude::*;
use scheme::PythonScheme;

/// Adds the classes to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Controller>()?;
    module.add_class::<samples::Acked>()?;
    module.add_class::<samples::Counts>()?;
    module.add_class::<samples::Delivered>()?;
    module.add_class::<samples::Feedback>()?;
    module.add_class::<samples::Estimates>()?;
    module.add_class::<samples::Link>()?;
    module.add_class::<samples::Packet>()?;
    module.add_class::<router::RouterPolicy>()?;
    module.add_class::<estimator::Estimator>()?;
    module.add_class::<events::Arrival>()?;
    module.add_class::<events::Attempt>()?;
    module.add_class::<events::Exchange>()?;
    module.add_class::<events::Frame>()?;
    module.add_class::<events::Loss>()?;
    module.add_class::<events::Period>()?;
    module.add("HEADER_MOST", header::MOST)?;
    module.add("CONTROLLER_METHODS", callbacks::Method::ALL.map(callbacks::Method::name))?;
    module.add("ESTIMATOR_METHODS", estimator::METHODS)?;
    module.add_class::<samples::Lost>()?;
    module.add_class::<samples::Recovered>()?;
    module.add_class::<samples::Sent>()?;
    module.add_class::<samples::Mac>()?;
    module.add("CallbackError", module.py().get_type::<failures::CallbackError>())
}

/// Names of the classes of the scenario that this thread has read last.
pub fn classes() -> Vec<String> {
    classes::names()
}

/// Prepares this thread for a run, or a step of one.
pub fn begin(config: &Config) {
    forget();
    controller::SEED.set(config.seed);
    controller::CREATED.take();
}

/// Controllers that this thread has created for the run that it began last, by flow.
pub fn created() -> Vec<(u32, Py<Controller>)> {
    controller::CREATED.take()
}

/// Ends a run, or a step of one.
///
/// # Errors
/// The first exception of a controller.
pub fn end() -> PyResult<()> {
    controller::CREATED.take();
    failures::take()
}

/// Schemes that a scenario can name: those of the registry, and `python`.
pub fn known() -> Vec<SchemeEntry> {
    [REGISTRY, &[SchemeEntry::of::<PythonScheme>()]].concat()
}

/// Reads and checks a scenario whose flows may name the scheme `python`. Files of classes are relative to the
/// folder of `origin`.
///
/// # Errors
/// The first problem of the scenario.
pub fn resolve(text: &str, origin: &str, overrides: &Overrides) -> Result<Resolved, ScenarioError> {
    let schemes = known();
    let known = Known { schemes: &schemes, load_estimator: Some(classes::load_estimator) };
    classes::relative_to(origin, || multihop_scenario::resolve_among(known, text, origin, overrides))
}

/// Estimators of a text with `[[measure]]` tables, by name, for a capture. Files of classes are relative to
/// the folder of `origin`.
///
/// # Errors
/// The first problem of the text.
pub fn gauges(text: &str, origin: &str) -> Result<Vec<(String, EstimatorConfig)>, ScenarioError> {
    let known = Known { load_estimator: Some(classes::load_estimator), ..Known::REGISTERED };
    classes::relative_to(origin, || multihop_scenario::gauges(known, text, origin))
}

/// As [`resolve`], but without the hash.
///
/// # Errors
/// The first problem of the scenario.
pub fn load(text: &str, origin: &str, overrides: &Overrides) -> Result<Config, ScenarioError> {
    resolve(text, origin, overrides).map(|resolved| resolved.config)
}
