//! Classes of controllers: loading, identity, and creation of controllers.

use super::callbacks::{Callbacks, Method, defines};
use super::controller::{CREATED, Controller, Flow, SEED};
use super::estimator::EstimatorClass;
use super::failures;
use super::router::PythonRouter;
use multihop_config::parameter_error::{Found, ParameterError, Wanted};
use multihop_core::{FlowId, NodeId, Time};
use multihop_link::{CustomEstimator, EgressQueue, Estimator, EstimatorConfig};
use multihop_scenario::Known;
use multihop_schemes::SenderStation;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

thread_local! {
    /// Folder of the scenario that this thread reads.
    static FOLDER: RefCell<String> = const { RefCell::new(String::new()) };
    /// Names of the classes of that scenario.
    static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Calls `read`, in which names of files are relative to the folder of the scenario `origin`.
pub(super) fn relative_to<T>(origin: &str, read: impl FnOnce() -> T) -> T {
    let folder = Path::new(origin).parent().map(|folder| folder.to_string_lossy().into_owned());
    let before = FOLDER.replace(folder.unwrap_or_default());
    NAMES.with_borrow_mut(Vec::clear);
    let made = read();
    FOLDER.set(before);
    made
}

/// Names of the classes of the scenario that this thread has read last, each once.
pub(super) fn names() -> Vec<String> {
    let mut names = NAMES.take();
    names.sort();
    names.dedup();
    names
}

/// Name of a class. As part of a scenario's identity, the digest of the class's source follows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "String")]
pub struct ClassName {
    name: String,
    loaded: OnceLock<Loaded>,
}

impl From<String> for ClassName {
    fn from(name: String) -> ClassName {
        ClassName { name, loaded: OnceLock::new() }
    }
}

impl PartialEq for ClassName {
    fn eq(&self, other: &ClassName) -> bool {
        self.name == other.name
    }
}

/// Keyword arguments of a class.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Arguments(Map<String, Value>);

/// A class with its digest and estimators.
#[derive(Clone)]
pub(super) struct Loaded(Arc<Class>);

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

struct Class {
    object: Py<PyAny>,
    name: String,
    digest: String,
    estimators: Vec<EstimatorConfig>,
    defined: Vec<Method>,
    /// Bytes of its own header.
    header: usize,
    /// Class of its router policy, with the policy's estimators.
    router: Option<(Py<PyAny>, Vec<EstimatorConfig>)>,
}

impl JsonSchema for ClassName {
    fn schema_name() -> Cow<'static, str> {
        "ClassName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl JsonSchema for Arguments {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

impl Serialize for ClassName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.loaded() {
            Some(loaded) => {
                let class = self.name.rsplit(':').next().unwrap_or_default();
                serializer.serialize_str(&format!("{class} {}", loaded.0.digest))
            }
            None => serializer.serialize_str(&self.name),
        }
    }
}

impl ClassName {
    /// The class, if it is loaded.
    pub(super) fn loaded(&self) -> Option<&Loaded> {
        self.loaded.get()
    }

    /// Loads the class and checks that it takes these arguments.
    ///
    /// # Errors
    /// If there is no such class, or it is no controller.
    pub(super) fn load(&self, arguments: &Arguments) -> Result<(), ParameterError> {
        check_named(&self.name)?;
        let folder = FOLDER.with_borrow(String::clone);
        let loaded = Python::attach(|py| {
            load(py, &self.name, &folder, arguments).map_err(|error| parameter_error(py, &error))
        })?;
        NAMES.with_borrow_mut(|names| names.push(self.name.clone()));
        self.loaded.get_or_init(|| loaded);
        Ok(())
    }
}

/// Refuses an empty name of a class.
fn check_named(name: &str) -> Result<(), ParameterError> {
    if !name.is_empty() {
        return Ok(());
    }
    let remedy = "name one, as in class = \"my.py:MyScheme\"".to_owned();
    Err(ParameterError::new("class", Found::Said("found no class".to_owned()), Wanted::Said(remedy)))
}

/// Loads the estimator of a class with these arguments.
///
/// # Errors
/// If there is no such class, it is no estimator, or it does not take the arguments.
pub(super) fn load_estimator(
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<CustomEstimator, ParameterError> {
    check_named(name)?;
    let folder = FOLDER.with_borrow(String::clone);
    let arguments = Arguments(arguments.clone());
    let loaded = Python::attach(|py| {
        let load = || -> PyResult<CustomEstimator> {
            let keywords = keywords(py, &arguments)?;
            let found = py
                .import("multihop.simulation.classes")?
                .call_method1("find_estimator", (name, &folder, &keywords))?;
            let (class, digest): (Py<PyAny>, String) = found.extract()?;
            let qualified: String = class.getattr(py, "__qualname__")?.extract(py)?;
            let identity = format!("{qualified} {digest} {}", Value::Object(arguments.0.clone()));
            let arguments = keywords.unbind();
            Ok(CustomEstimator::new(EstimatorClass { class, arguments, name: qualified, identity }))
        };
        load().map_err(|error| parameter_error(py, &error))
    })?;
    NAMES.with_borrow_mut(|names| names.push(name.to_owned()));
    Ok(loaded)
}

/// Loads a class by `multihop.simulation.classes`.
fn load(py: Python<'_>, name: &str, folder: &str, arguments: &Arguments) -> PyResult<Loaded> {
    let found = py
        .import("multihop.simulation.classes")?
        .call_method1("find", (name, folder, keywords(py, arguments)?))?;
    let (object, digest): (Py<PyAny>, String) =
        (found.getattr("object")?.unbind(), found.getattr("digest")?.extract()?);
    let estimators = estimators(&found.getattr("estimators")?, name)?;
    let header: usize = found.getattr("header_bytes")?.extract()?;
    let router = match found.getattr("router")? {
        none if none.is_none() => None,
        class => Some((class.unbind(), self::estimators(&found.getattr("router_estimators")?, name)?)),
    };
    let base = py.get_type::<Controller>();
    let mut defined = Vec::new();
    for method in Method::ALL {
        if defines(object.bind(py), &base, method.name())? {
            defined.push(method);
        }
    }
    Ok(Loaded(Arc::new(Class { object, name: name.to_owned(), digest, estimators, defined, header, router })))
}

/// Estimators of a text in TOML, or none.
fn estimators(text: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<EstimatorConfig>> {
    let Some(text) = text.extract::<Option<String>>()? else { return Ok(Vec::new()) };
    let known = Known { load_estimator: Some(load_estimator), ..Known::REGISTERED };
    let listed = multihop_scenario::gauges(known, &text, name).map_err(crate::scenario_error)?;
    Ok(listed.into_iter().map(|(_, estimator)| estimator).collect())
}

/// Arguments as Python's keywords.
fn keywords<'py>(py: Python<'py>, arguments: &Arguments) -> PyResult<Bound<'py, PyDict>> {
    let text = Value::Object(arguments.0.clone()).to_string();
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into()?)
}

/// Error of a parameter from an exception of `multihop.simulation.classes`.
fn parameter_error(py: Python<'_>, error: &PyErr) -> ParameterError {
    let said = |name: &str| error.value(py).getattr(name).and_then(|value| value.extract::<String>()).ok();
    let key = if said("key").as_deref() == Some("arguments") { "arguments" } else { "class" };
    let found = said("found").unwrap_or_else(|| error.to_string());
    let remedy = said("remedy").unwrap_or_else(|| "a class that can be loaded".to_owned());
    ParameterError::new(key, Found::Said(found), Wanted::Said(remedy))
}

impl Loaded {
    pub(super) fn defines(&self, method: Method) -> bool {
        self.0.defined.contains(&method)
    }

    /// Bytes of the scheme's own header.
    pub(super) fn header(&self) -> usize {
        self.0.header
    }

    /// Name of the class alone.
    fn class(&self) -> &str {
        self.0.name.rsplit(':').next().and_then(|name| name.split(' ').next()).unwrap_or_default()
    }

    /// Creates the router policy of a queue; none without one, or if that raises an exception, which ends the
    /// run.
    pub(super) fn router(&self, node: NodeId, egress: &EgressQueue) -> Option<PythonRouter> {
        let (class, estimators) = self.0.router.as_ref()?;
        Python::attach(|py| {
            let made = PythonRouter::new(py, class, estimators, node, egress);
            let place = format!("at node {}", node.0);
            made.map_err(|error| failures::record(py, error, self.class(), "router", &place, Time::ZERO)).ok()
        })
    }

    /// Estimators that the class names, for a station with this PHY.
    pub(super) fn estimators(&self, station: &SenderStation) -> Vec<Box<dyn Estimator>> {
        self.0.estimators.iter().map(|estimator| estimator.build(station.phy)).collect()
    }

    /// Creates the controller of a flow. None if that raises an exception, which ends the run.
    pub(super) fn controller(
        &self,
        station: &SenderStation,
        segment: u32,
        arguments: &Arguments,
    ) -> Option<Callbacks> {
        let FlowId(index) = station.flow;
        let seed = SEED.get() ^ (u64::from(index) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let flow = Flow { index, segment, header: self.0.header, seed };
        Python::attach(|py| {
            let create = || -> PyResult<Callbacks> {
                let made = self.0.object.call(py, (), Some(&keywords(py, arguments)?))?;
                let controller = made.extract::<Py<Controller>>(py)?;
                let callbacks = Callbacks::new(py, &controller)?;
                CREATED.with_borrow_mut(|created| created.push((index, controller)));
                Ok(callbacks)
            };
            let made = Controller::created_for(flow, create);
            let place = format!("in flow {index}");
            made.map_err(|error| failures::record(py, error, self.class(), "__init__", &place, Time::ZERO))
                .ok()
        })
    }
}
