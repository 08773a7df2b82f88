//! `[[measure]]`: estimators whose values are recorded.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, MeasureProblem, Named, Problem, ScenarioError};
use crate::flows::PlannedFlow;
use crate::parameters::table;
use crate::ranges;
use crate::topology::Nodes;
use multihop_core::{FlowId, NodeId};
use multihop_link::{
    AdHocProbeOptions, BusyRatioOptions, EstimatorConfig, IdleGapOptions, ModelledCapacityOptions,
    PacketThroughputOptions, RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions, WinfReading,
};
use multihop_sim::config::MeasurementConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An estimator at some nodes. Its values are a time series of the results with the step `record_interval`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "estimator")]
pub enum Measure {
    /// Capacity and available bandwidth from the times and NAVs of RTS, CTS, DATA and ACK (Barreto 2015).
    RtWinf(RtWinf),
    /// Capacity and available bandwidth from pairs of DATA and ACK, without RTS/CTS (Barreto 2015).
    RtWinfProbe(RtWinfProbe),
    /// Available bandwidth as the bit rate times the share of time without NAV (Lee et al. 2007).
    #[serde(rename = "idlegap")]
    IdleGap(IdleGap),
    /// Capacity of a path, at its end, from pairs of packets sent back to back (Chen et al. 2009).
    #[serde(rename = "adhoc-probe")]
    AdHocProbe(AdHocProbe),
    /// Channel busyness ratio over the latest window (Zhai, Chen and Fang 2007).
    BusyRatio(BusyRatio),
    /// Frame service delay from the head of the line to the ACK, smoothed (He et al. 2017).
    Fsd(ServiceDelay),
    /// Frame transmission efficiency from the service delay of each frame, smoothed with 1/8 (He et al.
    /// 2017).
    Fte(TransmissionEfficiency),
    /// What the network layer receives of the link while the MAC has its packets (Qazi, section V).
    PacketThroughput(PacketThroughput),
    /// The same by the model of a link, from measured losses, back-offs and airtime of others (Qazi, Eq. 2).
    ModelledCapacity(ModelledCapacity),
}

/// A table of an estimator: its options, whose rows are those of `multihop_link`, after the keys that all of
/// them have.
macro_rules! estimator {
    ($(#[$doc:meta])* $name:ident of $options:ident; $($rows:tt)*) => {
        table! {
            $(#[$doc])*
            $name of $options, after {
                /// What results call it. Default: the name of the estimator.
                pub name: Option<String>,
                /// Names of the nodes that have it. Default: all.
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
    /// Throughput of packets.
    PacketThroughput of PacketThroughputOptions;
}
multihop_link::modelled_capacity_options! { estimator!
    /// Capacity by the model of a link.
    ModelledCapacity of ModelledCapacityOptions;
}

estimator! {
    /// Frame transmission efficiency.
    TransmissionEfficiency of NoOptions;
}

/// Those of an estimator that has none.
struct NoOptions {}

impl NoOptions {
    const DEFAULT: NoOptions = NoOptions {};
}

/// The file, and where in it an estimator is.
struct Table<'a, 'd> {
    document: &'a Document<'d>,
    at: KeyPath,
}

/// The measurements of a scenario whose nodes and flows are known.
pub(super) fn resolve(
    measures: &[Measure],
    document: &Document<'_>,
    nodes: &Nodes,
    flows: &[PlannedFlow],
) -> Result<Vec<MeasurementConfig>> {
    let names = names(measures, document)?;
    let made = measures.iter().zip(names).enumerate().map(|(index, (measure, name))| {
        let table = Table { document, at: key!["measure", index] };
        let nodes = table.nodes(nodes, measure.shared().2.as_deref())?;
        Ok(MeasurementConfig { name, nodes, estimator: measure.resolve(&table, flows)? })
    });
    made.collect()
}

/// The estimators of a file's `[[measure]]` tables by name, whatever else is in the file, for use at a node
/// that is none of a scenario: that of a capture. `at` counts for nothing there.
///
/// # Errors
/// Whatever is wrong with these tables; if there are none; and if one needs what a capture does not hold.
pub fn gauges(text: &str, origin: &str) -> Result<Vec<(String, EstimatorConfig)>> {
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
        let table = Table { document: &document, at: key!["measure", index] };
        if let Measure::AdHocProbe(_) = measure {
            return Err(document.error(&table.at.join("estimator"), MeasureProblem::NotOfCapture));
        }
        Ok((name, measure.resolve(&table, &[])?))
    });
    made.collect()
}

/// What results call them: each by another name.
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
            return Err(document.error(&at, KeyProblem::Taken { name, by }));
        }
        made.push(name);
    }
    Ok(made)
}

impl Measure {
    /// Its name in scenarios, and the keys that all have.
    fn shared(&self) -> (&'static str, &Option<String>, &Option<Vec<String>>) {
        match self {
            Measure::RtWinf(it) => ("rt-winf", &it.name, &it.at),
            Measure::RtWinfProbe(it) => ("rt-winf-probe", &it.name, &it.at),
            Measure::IdleGap(it) => ("idlegap", &it.name, &it.at),
            Measure::AdHocProbe(it) => ("adhoc-probe", &it.name, &it.at),
            Measure::BusyRatio(it) => ("busy-ratio", &it.name, &it.at),
            Measure::Fsd(it) => ("fsd", &it.name, &it.at),
            Measure::Fte(it) => ("fte", &it.name, &it.at),
            Measure::PacketThroughput(it) => ("packet-throughput", &it.name, &it.at),
            Measure::ModelledCapacity(it) => ("modelled-capacity", &it.name, &it.at),
        }
    }

    fn resolve(&self, table: &Table<'_, '_>, flows: &[PlannedFlow]) -> Result<EstimatorConfig> {
        let (document, at) = (table.document, &table.at);
        Ok(match self {
            Measure::RtWinf(it) => {
                table.check_reading(it)?;
                EstimatorConfig::RtWinf(it.resolve_listed(document, at)?)
            }
            Measure::RtWinfProbe(it) => {
                table.check_probe_reading(it)?;
                EstimatorConfig::RtWinfProbe(it.resolve_listed(document, at)?)
            }
            Measure::IdleGap(it) => EstimatorConfig::IdleGap(it.resolve_listed(document, at)?),
            Measure::AdHocProbe(it) => EstimatorConfig::AdHocProbe(AdHocProbeOptions {
                flow: it.flow.as_deref().map(|flow| table.flow(flows, flow)).transpose()?,
                ..it.resolve_listed(document, at)?
            }),
            Measure::BusyRatio(it) => EstimatorConfig::BusyRatio(it.resolve_listed(document, at)?),
            Measure::Fsd(it) => EstimatorConfig::ServiceDelay(it.resolve_listed(document, at)?),
            Measure::Fte(it) => {
                let NoOptions {} = it.resolve_listed(document, at)?;
                EstimatorConfig::TransmissionEfficiency
            }
            Measure::PacketThroughput(it) => {
                EstimatorConfig::PacketThroughput(it.resolve_listed(document, at)?)
            }
            Measure::ModelledCapacity(it) => {
                EstimatorConfig::ModelledCapacity(it.resolve_listed(document, at)?)
            }
        })
    }
}

impl Table<'_, '_> {
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
                return Err(self.document.error(&path, KeyProblem::Twice));
            }
            found.push(node);
        }
        Ok(found)
    }

    fn flow(&self, flows: &[PlannedFlow], name: &str) -> Result<FlowId> {
        let index = flows.iter().position(|made| made.flow.name == name).ok_or_else(|| {
            let known = flows.iter().map(|made| made.flow.name.clone()).collect();
            self.error("flow", KeyProblem::Unknown { what: Named::Flow, name: name.into(), known })
        })?;
        Ok(FlowId(index as u32))
    }

    /// Is rt-Winf not read in a way in which options that are given have no effect?
    fn check_reading(&self, it: &RtWinf) -> Result<()> {
        for (key, given) in [("full_busy", it.full_busy), ("total_per_exchange", it.total_per_exchange)] {
            if it.reading == WinfReading::Whole && given {
                let (with, value) = ("reading", "whole".into());
                let problem = KeyProblem::NoEffect { key: with, value, instead: "\"printed\" or \"strict\"" };
                return Err(self.error(key, problem));
            }
        }
        Ok(())
    }

    /// Is rt-Winf with probes read in a way of its own? Without a CTS nothing sets the strict reading apart.
    fn check_probe_reading(&self, it: &RtWinfProbe) -> Result<()> {
        if it.reading == WinfReading::Strict {
            return Err(self.error("reading", MeasureProblem::NoStrictReading));
        }
        Ok(())
    }
}
