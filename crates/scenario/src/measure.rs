//! `[[measure]]`: estimators with recorded values.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{ItemKind, KeyProblem, MeasureProblem, Problem, ScenarioError};
use crate::flows::PlannedFlow;
use crate::parameters::table;
use crate::ranges;
use crate::resolve::Known;
use crate::topology::Nodes;
use multihop_config::parameter_error::ParameterError;
use multihop_core::{FlowId, NodeId};
use multihop_link::{
    AdHocProbeOptions, BusyRatioOptions, CustomEstimator, EstimatorConfig, IdleGapOptions,
    ModelledCapacityOptions, PacketThroughputOptions, RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions,
    WinfReading,
};
use multihop_sim::config::MeasurementConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Estimator at some nodes. Results record its values as a time series with the step `record_interval`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "estimator")]
pub enum Measure {
    /// rt-Winf: capacity and available bandwidth from the times and NAVs of RTS, CTS, DATA and ACK (Barreto
    /// 2015).
    RtWinf(RtWinf),
    /// rt-Winf without RTS/CTS: capacity and available bandwidth from pairs of DATA and ACK (Barreto 2015).
    RtWinfProbe(RtWinfProbe),
    /// `IdleGap`: available bandwidth as the bit rate times the share of time without NAV (Lee et al. 2007).
    #[serde(rename = "idlegap")]
    IdleGap(IdleGap),
    /// `AdHoc` Probe: capacity of a path, measured at its end from pairs of packets sent back to back (Chen
    /// et al. 2009).
    #[serde(rename = "adhoc-probe")]
    AdHocProbe(AdHocProbe),
    /// Channel busyness ratio over the latest window (Zhai, Chen and Fang 2007).
    BusyRatio(BusyRatio),
    /// Frame service delay from the head of the queue to the ACK, smoothed (He et al. 2017).
    Fsd(ServiceDelay),
    /// Frame transmission efficiency from the service delay of each frame, smoothed with a weight of 1/8 (He
    /// et al. 2017).
    Fte(TransmissionEfficiency),
    /// Packet throughput: rate at which the network layer receives from the link while the MAC holds its
    /// packets (Qazi, section V).
    PacketThroughput(PacketThroughput),
    /// Packet throughput by the model of a link, from measured losses, backoffs and airtime of other nodes
    /// (Qazi, Eq. 2).
    ModelledCapacity(ModelledCapacity),
    /// Estimator written in Python: a subclass of `multihop.Estimator`.
    Python(PythonEstimator),
}

/// Table of an estimator: the keys that all estimators have, followed by the rows of its options in
/// `multihop_link`.
macro_rules! estimator {
    ($(#[$doc:meta])* $name:ident of $options:ident; $($rows:tt)*) => {
        table! {
            $(#[$doc])*
            $name of $options, after {
                /// Label of the estimator in results. Default: the name of the estimator.
                pub name: Option<String>,
                /// Names of the nodes that have the estimator. Default: all nodes.
                pub at: Option<Vec<String>>,
            };
            $($rows)*
        }
    };
}

multihop_link::rt_winf_options! { estimator!
    /// rt-Winf with RTS/CTS.
    RtWinf of RtWinfOptions;
}
multihop_link::rt_winf_probe_options! { estimator!
    /// rt-Winf without RTS/CTS.
    RtWinfProbe of RtWinfProbeOptions;
}
multihop_link::idle_gap_options! { estimator!
    /// `IdleGap`.
    IdleGap of IdleGapOptions;
}
multihop_link::adhoc_probe_options! { estimator!
    /// `AdHoc` Probe.
    AdHocProbe of AdHocProbeOptions;
}
multihop_link::busy_ratio_options! { estimator!
    /// Channel busyness ratio.
    BusyRatio of BusyRatioOptions;
}
multihop_link::service_delay_options! { estimator!
    /// Frame service delay.
    ServiceDelay of ServiceDelayOptions;
}
multihop_link::packet_throughput_options! { estimator!
    /// Packet throughput.
    PacketThroughput of PacketThroughputOptions;
}
multihop_link::modelled_capacity_options! { estimator!
    /// Packet throughput by the model of a link.
    ModelledCapacity of ModelledCapacityOptions;
}

estimator! {
    /// Frame transmission efficiency.
    TransmissionEfficiency of NoOptions;
}

/// Estimator written in Python.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonEstimator {
    /// Label of the estimator in results. Default: the name of the class.
    pub name: Option<String>,
    /// Names of the nodes that have the estimator. Default: all nodes.
    pub at: Option<Vec<String>>,
    /// Class of the estimator: "file.py:Class", relative to the scenario's folder, or "package.module:Class".
    pub class: String,
    /// Keyword arguments of the class.
    pub arguments: Option<Map<String, Value>>,
}

/// Options of an estimator without options.
struct NoOptions {}

impl NoOptions {
    const DEFAULT: NoOptions = NoOptions {};
}

/// Scenario file, and the path of an estimator's table in it.
struct Table<'a, 'd> {
    document: &'a Document<'d>,
    known: Known<'a>,
    at: KeyPath,
}

/// Measurements of a scenario with known nodes and flows.
pub(super) fn resolve(
    measures: &[Measure],
    document: &Document<'_>,
    known: Known<'_>,
    nodes: &Nodes,
    flows: &[PlannedFlow],
) -> Result<Vec<MeasurementConfig>> {
    let names = names(measures, document)?;
    let made = measures.iter().zip(names).enumerate().map(|(index, (measure, name))| {
        let table = Table { document, known, at: key!["measure", index] };
        let nodes = table.nodes(nodes, measure.shared().2.as_deref())?;
        Ok(MeasurementConfig { name, nodes, estimator: measure.resolve(&table, flows)? })
    });
    made.collect()
}

/// Estimators of a file's `[[measure]]` tables by name, for the monitor of a capture. Other tables of the
/// file and the key `at` are ignored.
///
/// # Errors
/// If one of these tables is invalid, if there are none, or if an estimator needs data that a capture does
/// not hold.
pub fn gauges(known: Known<'_>, text: &str, origin: &str) -> Result<Vec<(String, EstimatorConfig)>> {
    #[derive(Deserialize, JsonSchema)]
    struct Measures {
        #[serde(default)]
        measure: Vec<Measure>,
    }
    let document = Document::parse(text, origin)?;
    let Measures { measure: measures } = document.read()?;
    ranges::check_below(&document, "measure")?;
    if measures.is_empty() {
        return Err(document.error(&key!["measure"], MeasureProblem::NoEstimators));
    }
    let names = names(&measures, &document)?;
    let made = measures.iter().zip(names).enumerate().map(|(index, (measure, name))| {
        let table = Table { document: &document, known, at: key!["measure", index] };
        if let Measure::AdHocProbe(_) = measure {
            return Err(document.error(&table.at.join("estimator"), MeasureProblem::NotOfCapture));
        }
        Ok((name, measure.resolve(&table, &[])?))
    });
    made.collect()
}

/// Labels of the estimators in results, each different.
fn names(measures: &[Measure], document: &Document<'_>) -> Result<Vec<String>> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut made = Vec::with_capacity(measures.len());
    for (index, measure) in measures.iter().enumerate() {
        let at = key!["measure", index, "name"];
        let (kind, name, _) = measure.shared();
        let name = name.clone().unwrap_or_else(|| kind.to_owned());
        if name.trim().is_empty() {
            return Err(document.error(&at, KeyProblem::EmptyName));
        }
        if let Some(first) = names.insert(name.clone(), index) {
            let by = key!["measure", first].to_string();
            return Err(document.error(&at, KeyProblem::NameTaken { name, by }));
        }
        made.push(name);
    }
    Ok(made)
}

impl Measure {
    /// Name of the estimator in scenarios, and the keys that all estimators have.
    fn shared(&self) -> (&str, &Option<String>, &Option<Vec<String>>) {
        match self {
            Measure::RtWinf(options) => ("rt-winf", &options.name, &options.at),
            Measure::RtWinfProbe(options) => ("rt-winf-probe", &options.name, &options.at),
            Measure::IdleGap(options) => ("idlegap", &options.name, &options.at),
            Measure::AdHocProbe(options) => ("adhoc-probe", &options.name, &options.at),
            Measure::BusyRatio(options) => ("busy-ratio", &options.name, &options.at),
            Measure::Fsd(options) => ("fsd", &options.name, &options.at),
            Measure::Fte(options) => ("fte", &options.name, &options.at),
            Measure::PacketThroughput(options) => ("packet-throughput", &options.name, &options.at),
            Measure::ModelledCapacity(options) => ("modelled-capacity", &options.name, &options.at),
            Measure::Python(options) => (options.class_name(), &options.name, &options.at),
        }
    }

    fn resolve(&self, table: &Table<'_, '_>, flows: &[PlannedFlow]) -> Result<EstimatorConfig> {
        let (document, at) = (table.document, &table.at);
        Ok(match self {
            Measure::RtWinf(options) => {
                table.check_reading(options)?;
                EstimatorConfig::RtWinf(options.resolve_listed(document, at)?)
            }
            Measure::RtWinfProbe(options) => {
                table.check_probe_reading(options)?;
                EstimatorConfig::RtWinfProbe(options.resolve_listed(document, at)?)
            }
            Measure::IdleGap(options) => EstimatorConfig::IdleGap(options.resolve_listed(document, at)?),
            Measure::AdHocProbe(options) => EstimatorConfig::AdHocProbe(AdHocProbeOptions {
                flow: options.flow.as_deref().map(|flow| table.flow(flows, flow)).transpose()?,
                ..options.resolve_listed(document, at)?
            }),
            Measure::BusyRatio(options) => EstimatorConfig::BusyRatio(options.resolve_listed(document, at)?),
            Measure::Fsd(options) => EstimatorConfig::ServiceDelay(options.resolve_listed(document, at)?),
            Measure::Fte(options) => {
                let NoOptions {} = options.resolve_listed(document, at)?;
                EstimatorConfig::TransmissionEfficiency
            }
            Measure::PacketThroughput(options) => {
                EstimatorConfig::PacketThroughput(options.resolve_listed(document, at)?)
            }
            Measure::ModelledCapacity(options) => {
                EstimatorConfig::ModelledCapacity(options.resolve_listed(document, at)?)
            }
            Measure::Python(options) => EstimatorConfig::Custom(table.load(options)?),
        })
    }
}

impl PythonEstimator {
    fn class_name(&self) -> &str {
        let name = self.class.rsplit(':').next().unwrap_or_default();
        name.split(' ').next().filter(|name| !name.is_empty()).unwrap_or("python")
    }
}

impl Table<'_, '_> {
    /// Loads the class of an estimator written in Python.
    fn load(&self, options: &PythonEstimator) -> Result<CustomEstimator> {
        let load =
            self.known.load_estimator.ok_or_else(|| self.error("estimator", MeasureProblem::NoPython))?;
        let arguments = options.arguments.clone().unwrap_or_default();
        load(&options.class, &arguments).map_err(|ParameterError { parameter, found, wanted }| {
            self.error(parameter.as_deref().unwrap_or("class"), Problem::ParameterError { found, wanted })
        })
    }

    fn error(&self, key: &str, problem: impl Into<Problem>) -> ScenarioError {
        self.document.error(&self.at.join(key), problem)
    }

    fn nodes(&self, nodes: &Nodes, names: Option<&[String]>) -> Result<Vec<NodeId>> {
        let Some(names) = names else {
            return Ok((0..nodes.radios() as u32).map(NodeId).collect());
        };
        if names.is_empty() {
            return Err(self.error("at", KeyProblem::EmptyList));
        }
        let mut found = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let path = self.at.join("at").join(index);
            let node = NodeId(nodes.find_radio(self.document, &path, name)? as u32);
            if found.contains(&node) {
                return Err(self.document.error(&path, KeyProblem::ListedTwice));
            }
            found.push(node);
        }
        Ok(found)
    }

    fn flow(&self, flows: &[PlannedFlow], name: &str) -> Result<FlowId> {
        let index = flows.iter().position(|made| made.flow.name == name).ok_or_else(|| {
            let known = flows.iter().map(|made| made.flow.name.clone()).collect();
            self.error("flow", KeyProblem::Unknown { what: ItemKind::Flow, name: name.into(), known })
        })?;
        Ok(FlowId(index as u32))
    }

    /// Refuses options that have no effect with the reading of rt-Winf.
    fn check_reading(&self, options: &RtWinf) -> Result<()> {
        for (key, given) in
            [("full_busy", options.full_busy), ("total_per_exchange", options.total_per_exchange)]
        {
            if options.reading == WinfReading::Whole && given {
                let (with, value) = ("reading", "whole".into());
                let problem = KeyProblem::NoEffect { key: with, value, instead: "\"printed\" or \"strict\"" };
                return Err(self.error(key, problem));
            }
        }
        Ok(())
    }

    /// Refuses the strict reading of rt-Winf with probes. Without a CTS it equals the printed reading.
    fn check_probe_reading(&self, options: &RtWinfProbe) -> Result<()> {
        if options.reading == WinfReading::Strict {
            return Err(self.error("reading", MeasureProblem::NoStrictReading));
        }
        Ok(())
    }
}
