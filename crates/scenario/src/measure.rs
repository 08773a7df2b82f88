//! `[[measure]]`: estimators whose values are recorded.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::instead_of;
use crate::flows::Made;
use crate::ranges;
use crate::topology::Nodes;
use crate::values::Switch;
use multihop_core::{FlowId, NodeId, Span};
use multihop_link::{
    AdHocProbeOptions, Elapsed, EstimatorConfig, ModelledCapacityOptions, PacketThroughputOptions,
    RtWinfOptions, RtWinfProbeOptions, WinfReading,
};
use multihop_schemes::Reading;
use multihop_schemes::bounds;
use multihop_schemes::quantity::{Duration, Size};
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

/// The options of an estimator, after the keys that all of them have.
macro_rules! estimator {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// What results call it. Default: the name of the estimator.
            pub name: Option<String>,
            /// Names of the nodes that have it. Default: all.
            pub at: Option<Vec<String>>,
            $($(#[$field_doc])* pub $field: Option<$type>,)*
        }
    };
}

estimator!(
    /// rt-Winf with RTS/CTS.
    RtWinf {
        /// How the equations are read: as printed; strict, with the airtime of DATA alone; or whole, with all
        /// that an exchange needs and all that is sensed busy or reserved. Default: printed.
        reading: Reading,
        /// What busy time is divided by: the latest time of this length, or with "off" the time since the
        /// first exchange. Default: 1 s.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        window: Switch<Duration>,
        /// Overhearing nodes divide by the length of the exchange that they saw last (Eqs. 7 and 8 as
        /// printed). Default: false.
        total_per_exchange: bool,
        /// Whole exchanges count as busy, and not only what NAVs reserve. Default: false, as printed.
        full_busy: bool,
        /// ACKs report capacity and available bandwidth of the node that sends them, and the sender takes the
        /// smaller (Eq. 11). Default: false.
        ack_report: bool,
        /// Capacities are those of packets of this size. Default: of the size that was sent.
        #[schemars(transform = bounds!("1 B", "65535 B"))]
        reference_size: Size,
        /// Weight of a new sample of capacity: above 0, up to 1, which keeps the last one alone. Default:
        /// 0.125.
        #[schemars(transform = bounds!(above 0, 1))]
        smoothing: f64,
    }
);

estimator!(
    /// rt-Winf without RTS/CTS.
    RtWinfProbe {
        /// How the equations are read: as printed, or whole, with DIFS and back-off and all that is sensed
        /// busy or reserved. Default: printed.
        reading: Reading,
        /// What busy time is divided by: the latest time of this length, or with "off" the time since the
        /// first exchange. Default: 1 s.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        window: Switch<Duration>,
        /// ACKs report capacity and available bandwidth of the node that sends them, and the sender takes the
        /// smaller (Eq. 11). Default: false.
        ack_report: bool,
        /// Capacities are those of packets of this size. Default: of the size that was sent.
        #[schemars(transform = bounds!("1 B", "65535 B"))]
        reference_size: Size,
        /// Weight of a new sample of capacity: above 0, up to 1, which keeps the last one alone. Default:
        /// 0.125.
        #[schemars(transform = bounds!(above 0, 1))]
        smoothing: f64,
    }
);

estimator!(
    /// `IdleGap`.
    IdleGap {
        /// What the time of NAVs is divided by: the latest time of this length, or with "off" the time since
        /// the first frame. Default: 1 s.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        window: Switch<Duration>,
    }
);

estimator!(
    /// `AdHoc` Probe.
    AdHocProbe {
        /// Name of the flow whose packets are probes: datagrams in messages of two. Default: all flows.
        flow: String,
        /// Pairs that an estimate is made of. Default: 200.
        #[schemars(transform = bounds!(1, 10_000))]
        pairs: u32,
    }
);

estimator!(
    /// Channel busyness ratio.
    BusyRatio {
        /// How far it looks back. Default: 1 s.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        window: Duration,
    }
);

estimator!(
    /// Frame service delay.
    ServiceDelay {
        /// Weight of a new frame: above 0, up to 1, which keeps the last one alone. Default: 0.125.
        #[schemars(transform = bounds!(above 0, 1))]
        smoothing: f64,
    }
);

estimator!(
    /// Frame transmission efficiency.
    TransmissionEfficiency {}
);

estimator!(
    /// Throughput of packets.
    PacketThroughput {
        /// Time that a sample is taken over. Default: 200 ms.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        interval: Duration,
        /// Weight of a new sample: above 0, up to 1, which keeps the last one alone. Default: 0.125.
        #[schemars(transform = bounds!(above 0, 1))]
        smoothing: f64,
        /// Packets count as if they had the mean size of the last so many. Default: as they are.
        #[schemars(transform = bounds!(1, 10_000))]
        normalise_over: u32,
    }
);

estimator!(
    /// Capacity by the model of a link.
    ModelledCapacity {
        /// Time that a sample is taken over. Default: 200 ms.
        #[schemars(transform = bounds!("1 ms", "1 min"))]
        interval: Duration,
        /// Weight of a new sample: above 0, up to 1, which keeps the last one alone. Default: 0.125.
        #[schemars(transform = bounds!(above 0, 1))]
        smoothing: f64,
    }
);

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
    flows: &[Made],
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
        let found = "no [[measure]] table".to_owned();
        let remedy = "list estimators, such as [[measure]] with estimator = \"rt-winf\"";
        return Err(document.fail(&key!["measure"], found, remedy));
    }
    let names = names(&measures, &document)?;
    let made = measures.iter().zip(names).enumerate().map(|(index, (measure, name))| {
        let table = Table { document: &document, at: key!["measure", index] };
        if let Measure::AdHocProbe(_) = measure {
            let remedy = "remove it: it needs to know when probes were sent, which a capture does not say";
            return Err(table.bad("estimator", "cannot be used on a capture", remedy));
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
        let table = Table { document, at: key!["measure", index] };
        let (kind, name, _) = measure.shared();
        let name = name.clone().unwrap_or_else(|| kind.to_owned());
        if name.trim().is_empty() {
            return Err(table.bad("name", "is an empty name", "give a name or remove the key"));
        }
        if let Some(first) = names.insert(name.clone(), index) {
            let found = format!("{name:?} is already the name of measure[{first}]");
            let remedy =
                "results distinguish measurements by name; give this one another, such as name = \"second\"";
            return Err(document.fail(&table.at.join("name"), found, remedy));
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

    fn resolve(&self, table: &Table<'_, '_>, flows: &[Made]) -> Result<EstimatorConfig> {
        Ok(match self {
            Measure::RtWinf(it) => {
                let preset = RtWinfOptions::default();
                EstimatorConfig::RtWinf(RtWinfOptions {
                    reading: table.reading(it)?,
                    elapsed: elapsed(it.window, preset.elapsed),
                    total_per_exchange: it.total_per_exchange.unwrap_or(preset.total_per_exchange),
                    full_busy: it.full_busy.unwrap_or(preset.full_busy),
                    peers: it.ack_report.unwrap_or(preset.peers),
                    reference_size: it.reference_size.map(|size| size.bytes() as u32),
                    gain: it.smoothing.unwrap_or(preset.gain),
                })
            }
            Measure::RtWinfProbe(it) => {
                let preset = RtWinfProbeOptions::default();
                EstimatorConfig::RtWinfProbe(RtWinfProbeOptions {
                    reading: table.probe_reading(it)?,
                    elapsed: elapsed(it.window, preset.elapsed),
                    peers: it.ack_report.unwrap_or(preset.peers),
                    reference_size: it.reference_size.map(|size| size.bytes() as u32),
                    gain: it.smoothing.unwrap_or(preset.gain),
                })
            }
            Measure::IdleGap(it) => {
                EstimatorConfig::IdleGap { elapsed: elapsed(it.window, Elapsed::Window(LATEST)) }
            }
            Measure::AdHocProbe(it) => EstimatorConfig::AdHocProbe(AdHocProbeOptions {
                flow: it.flow.as_deref().map(|flow| table.flow(flows, flow)).transpose()?,
                pairs: it.pairs.unwrap_or(AdHocProbeOptions::default().pairs),
            }),
            Measure::BusyRatio(it) => {
                EstimatorConfig::BusyRatio { window: it.window.map_or(LATEST, Duration::span) }
            }
            Measure::Fsd(it) => EstimatorConfig::ServiceDelay { gain: it.smoothing.unwrap_or(GAIN) },
            Measure::Fte(_) => EstimatorConfig::TransmissionEfficiency,
            Measure::PacketThroughput(it) => {
                let preset = PacketThroughputOptions::default();
                EstimatorConfig::PacketThroughput(PacketThroughputOptions {
                    interval: it.interval.map_or(preset.interval, Duration::span),
                    gain: it.smoothing.unwrap_or(preset.gain),
                    normalise_over: it.normalise_over,
                })
            }
            Measure::ModelledCapacity(it) => {
                let preset = ModelledCapacityOptions::default();
                EstimatorConfig::ModelledCapacity(ModelledCapacityOptions {
                    interval: it.interval.map_or(preset.interval, Duration::span),
                    gain: it.smoothing.unwrap_or(preset.gain),
                })
            }
        })
    }
}

/// How far back an estimator looks that has no options in the engine.
const LATEST: Span = Span::from_ms(1_000);

/// Weight of a new sample where the engine has none.
const GAIN: f64 = 1.0 / 8.0;

impl Table<'_, '_> {
    fn bad(&self, key: &str, why: &str, remedy: &str) -> super::ScenarioError {
        self.document.bad(&self.at.join(key), why, remedy)
    }

    fn nodes(&self, nodes: &Nodes, names: Option<&[String]>) -> Result<Vec<NodeId>> {
        let Some(names) = names else {
            return Ok((0..nodes.radios() as u32).map(NodeId).collect());
        };
        if names.is_empty() {
            return Err(self.bad(
                "at",
                "names no node",
                "name at least one, or remove the key for all nodes",
            ));
        }
        let mut found = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let path = self.at.join("at").join(index);
            let node = NodeId(nodes.find_radio(self.document, &path, name)? as u32);
            if found.contains(&node) {
                return Err(self.document.bad(&path, "is there twice", "name each node once"));
            }
            found.push(node);
        }
        Ok(found)
    }

    fn flow(&self, flows: &[Made], name: &str) -> Result<FlowId> {
        let index = flows.iter().position(|made| made.flow.name == name).ok_or_else(|| {
            let known = flows.iter().map(|made| made.flow.name.as_str());
            self.document.bad(&self.at.join("flow"), "is not a flow", instead_of(name, known))
        })?;
        Ok(FlowId(index as u32))
    }

    /// How rt-Winf is read; not with options that then have no effect.
    fn reading(&self, it: &RtWinf) -> Result<WinfReading> {
        let reading = it.reading.unwrap_or(Reading::Printed);
        for (key, option) in [("full_busy", it.full_busy), ("total_per_exchange", it.total_per_exchange)] {
            if reading == Reading::Whole && option == Some(true) {
                let remedy = "leave it out: what is sensed counts, whatever was reserved";
                return Err(self.bad(key, "has no effect with reading = \"whole\"", remedy));
            }
        }
        Ok(reading.into())
    }

    /// How rt-Winf with probes is read: without a CTS nothing sets the strict reading apart.
    fn probe_reading(&self, it: &RtWinfProbe) -> Result<WinfReading> {
        let reading = it.reading.unwrap_or(Reading::Printed);
        if reading == Reading::Strict {
            let remedy = "use \"printed\", which is the same here, or \"whole\"";
            return Err(self.bad("reading", "is no reading of rt-winf-probe", remedy));
        }
        Ok(reading.into())
    }
}

/// What busy time is divided by.
fn elapsed(window: Option<Switch<Duration>>, preset: Elapsed) -> Elapsed {
    match window {
        None => preset,
        Some(Switch::Off) => Elapsed::SinceStart,
        Some(Switch::At(window)) => Elapsed::Window(window.span()),
    }
}
