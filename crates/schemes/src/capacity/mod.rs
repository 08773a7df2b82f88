//! Where routers take the capacity of their links from: what Qazi asks of every protocol that needs one.

pub(crate) mod winf;

pub use winf::{SampledFrames, WinfParameters};

use crate::capacity::winf::Estimates;
use multihop_config::keys;
use multihop_config::keys::usually;
use multihop_config::parameter_error::{Clash, Found, ParameterError, Wanted};
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::Rate;
use multihop_link::{
    EgressQueue, Estimator, LinkView, ModelledCapacity, ModelledCapacityOptions, PacketThroughput,
    PacketThroughputOptions, PhyTimes, RateInUse, WinfReading,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// Where a router has the capacity of a link from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CapacitySource {
    /// It is configured, and not checked.
    Constant(BitRate),
    /// The bit rate of what the queue leads to: of a radio that of the DATA that it sends.
    PhyRate,
    /// The throughput of packets while the MAC has them ([`PacketThroughput`]).
    #[default]
    PacketThroughput,
    /// rt-Winf.
    RtWinf,
    /// The model of a link, with what is measured of its terms ([`ModelledCapacity`]).
    Model,
}

const NAMED: [(&str, CapacitySource); 4] = [
    ("phy-rate", CapacitySource::PhyRate),
    ("packet-throughput", CapacitySource::PacketThroughput),
    ("rt-winf", CapacitySource::RtWinf),
    ("model", CapacitySource::Model),
];

keys! {
    /// The capacity that routers reckon with.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct CapacityParameters {
        /// Capacity that routers take their radio links to have: a bit rate, or where they have it from.
        /// "phy-rate" is the bit rate of the DATA that the node sends, which is far above what the MAC can
        /// carry; "packet-throughput" what the network layer receives while the MAC has its packets;
        /// "rt-winf" what rt-Winf, read whole, says that a link sustains; and "model" that of a formula with
        /// measured losses, back-offs and airtime of others. Before there is a measurement it is the data
        /// rate, and of "rt-winf" what Eq. 14 of Barreto 2015 makes of that. The capacity of a wire is its
        /// bit rate, whatever is said here.
        #[schemars(transform = usually(CapacitySource::default()))]
        pub capacity: Option<CapacitySource> ["8 b/s", "16 Gb/s"],
        /// Time that a sample of a measured capacity is taken over ("packet-throughput" and "model").
        #[schemars(transform = usually(Duration::from(USUAL.interval)))]
        pub capacity_interval: Option<Duration> ["1 ms", "1 min"],
        /// Weight of a new sample of a measured capacity: above 0, up to 1, which keeps the last one alone.
        #[schemars(transform = usually(USUAL.smoothing))]
        pub capacity_smoothing: Option<f64> [above 0, 1],
        /// "packet-throughput" only: packets count as if they had the mean size of the last so many, so that
        /// acknowledgements do not lower the capacity. Default: as they are.
        pub normalise_over: Option<u32> [1, 10_000],
    }
}

/// Of a measured capacity, where it is not said.
const USUAL: PacketThroughputOptions = PacketThroughputOptions::DEFAULT;

impl CapacityParameters {
    /// Does each that is given have an effect?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        let source = self.capacity.unwrap_or_default();
        let is_packets = source == CapacitySource::PacketThroughput;
        let has_interval = is_packets || source == CapacitySource::Model;
        let has_smoothing = has_interval || source == CapacitySource::RtWinf;
        let idle = [
            ("capacity_interval", self.capacity_interval.map(|time| time.to_string()), has_interval),
            ("capacity_smoothing", self.capacity_smoothing.map(|gain| gain.to_string()), has_smoothing),
            ("normalise_over", self.normalise_over.map(|packets| packets.to_string()), is_packets),
        ];
        for (name, given, has_effect) in idle {
            if let Some(value) = given.filter(|_| !has_effect) {
                let found = Found::NoEffect(Clash::new(value, "capacity", format_args!("\"{source}\"")));
                let wanted = Wanted::LeaveOutOr("capacity", "\"packet-throughput\"");
                return Err(ParameterError::new(name, found, wanted));
            }
        }
        Ok(())
    }

    /// The capacity of what is behind a queue, by which full packets of this size leave.
    pub(crate) fn at(&self, egress: &EgressQueue, packet_size: u32) -> Capacity {
        let smoothing = self.capacity_smoothing.unwrap_or(USUAL.smoothing);
        let interval = self.capacity_interval.map_or(USUAL.interval, Duration::span);
        let rate = egress.rate.bps() as f64 / 8.0;
        let source = match self.capacity.unwrap_or_default() {
            _ if egress.is_wired => return Capacity::known(rate),
            CapacitySource::Constant(rate) => return Capacity::known(rate.bytes_per_second()),
            CapacitySource::PhyRate => Source::PhyRate(egress.rate),
            CapacitySource::PacketThroughput => Source::PacketThroughput(PacketThroughputOptions {
                interval,
                smoothing,
                normalise_over: self.normalise_over,
            }),
            CapacitySource::RtWinf => {
                let parameters =
                    WinfParameters { capacity_smoothing: smoothing, ..WinfParameters::default() };
                Source::RtWinf(parameters.at(egress, packet_size, WinfReading::Whole))
            }
            CapacitySource::Model => Source::Model(ModelledCapacityOptions { interval, smoothing }),
        };
        Capacity { source, otherwise: rate }
    }
}

/// The capacity at one queue.
pub(crate) struct Capacity {
    source: Source,
    /// In bytes per second, as long as nothing was measured.
    otherwise: f64,
}

enum Source {
    Known,
    /// With the nominal one.
    PhyRate(Rate),
    PacketThroughput(PacketThroughputOptions),
    RtWinf(Estimates),
    Model(ModelledCapacityOptions),
}

impl Capacity {
    /// One that is known, in bytes per second.
    pub(crate) fn known(bytes_per_second: f64) -> Capacity {
        Capacity { source: Source::Known, otherwise: bytes_per_second }
    }

    /// The estimators that write it in views.
    pub(crate) fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        match &self.source {
            Source::Known => Vec::new(),
            Source::PhyRate(nominal) => vec![Box::new(RateInUse::new(*nominal))],
            Source::PacketThroughput(options) => vec![Box::new(PacketThroughput::new(*options))],
            Source::RtWinf(estimates) => estimates.estimators(phy),
            Source::Model(options) => vec![Box::new(ModelledCapacity::new(*options, *phy))],
        }
    }

    /// In bytes per second.
    pub(crate) fn of(&self, view: &LinkView) -> f64 {
        let measured = match &self.source {
            Source::Known => None,
            Source::PhyRate(_) => view.rate_bps,
            Source::PacketThroughput(_) => view.packet_throughput_bps,
            Source::RtWinf(_) | Source::Model(_) => view.capacity_bps,
        };
        measured.map_or(self.otherwise, |bps| (bps / 8.0).max(LEAST))
    }
}

/// A byte per second: what is divided by a capacity stays finite.
const LEAST: f64 = 1.0;

impl std::fmt::Display for CapacitySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, NAMED.iter().find(|(_, source)| source == self)) {
            (_, Some((name, _))) => f.write_str(name),
            (CapacitySource::Constant(rate), None) => write!(f, "{rate}"),
            (_, None) => unreachable!("all others have names"),
        }
    }
}

impl Serialize for CapacitySource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CapacitySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CapacitySource, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some((_, source)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*source);
        }
        let names = NAMED.map(|(name, _)| format!("{name:?}")).join(", ");
        text.parse()
            .map(CapacitySource::Constant)
            .map_err(|why| D::Error::custom(format!("{why}; or one of {names}")))
    }
}

impl JsonSchema for CapacitySource {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CapacitySource".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = NAMED.map(|(name, _)| name);
        let rate = BitRate::json_schema(generator);
        json_schema!({ "anyOf": [{ "enum": names }, rate] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EGRESS, phy};
    use serde_json::json;

    fn parameters(value: serde_json::Value) -> Result<CapacityParameters, String> {
        let parsed = serde_json::from_value::<CapacityParameters>(value).unwrap();
        parsed.check().map(|()| parsed).map_err(|misfit| misfit.to_string())
    }

    /// In Mb/s: before there is an estimate, with one of packet throughput, and with one of the medium.
    fn megabits(value: serde_json::Value, egress: &EgressQueue) -> [f64; 3] {
        let capacity = parameters(value).unwrap().at(egress, 1_500);
        let packets = LinkView { packet_throughput_bps: Some(4e6), ..LinkView::default() };
        let medium = LinkView { capacity_bps: Some(5e6), ..LinkView::default() };
        [LinkView::default(), packets, medium].map(|view| capacity.of(&view) * 8e-6)
    }

    #[test]
    fn each_source_is_what_it_is_called() {
        assert_eq!(megabits(json!({}), &EGRESS), [1.0, 4.0, 1.0]);
        assert_eq!(megabits(json!({ "capacity": "packet-throughput" }), &EGRESS), [1.0, 4.0, 1.0]);
        assert_eq!(megabits(json!({ "capacity": "rt-winf" }), &EGRESS), [1.0, 1.0, 5.0]);
        assert_eq!(megabits(json!({ "capacity": "model" }), &EGRESS), [1.0, 1.0, 5.0]);
        assert_eq!(megabits(json!({ "capacity": "phy-rate" }), &EGRESS), [1.0; 3]);
        let at_six = LinkView { rate_bps: Some(6e6), ..LinkView::default() };
        assert_eq!(
            parameters(json!({ "capacity": "phy-rate" })).unwrap().at(&EGRESS, 1_500).of(&at_six),
            0.75e6
        );
        assert_eq!(megabits(json!({ "capacity": "11 Mb/s" }), &EGRESS), [11.0; 3]);
    }

    #[test]
    fn a_wire_has_its_rate_and_needs_no_estimator() {
        let wire = EgressQueue { is_wired: true, ..EGRESS };
        assert_eq!(megabits(json!({ "capacity": "11 Mb/s" }), &wire), [1.0; 3]);
        for source in ["phy-rate", "packet-throughput", "rt-winf", "model"] {
            assert_eq!(megabits(json!({ "capacity": source }), &wire), [1.0; 3]);
            let at = |egress| parameters(json!({ "capacity": source })).unwrap().at(egress, 1_500);
            assert!(at(&wire).estimators(&phy()).is_empty());
            assert_eq!(at(&EGRESS).estimators(&phy()).len(), 1);
        }
    }

    /// The schema says at the parameter itself what it may be: one of the names, or a bit rate.
    #[test]
    fn the_schema_lists_the_names() {
        let schema = json!(schemars::schema_for!(CapacityParameters));
        let capacity = schema["properties"]["capacity"].to_string();
        for name in NAMED.map(|(name, _)| name) {
            assert!(capacity.contains(name), "{capacity}");
        }
    }

    /// Each alone, where it has an effect and where it has none.
    #[test]
    fn what_has_no_effect_is_refused() {
        for (key, value, sources) in [
            ("capacity_interval", json!("1 s"), &["packet-throughput", "model"][..]),
            ("capacity_smoothing", json!(0.5), &["packet-throughput", "model", "rt-winf"]),
            ("normalise_over", json!(10), &["packet-throughput"]),
        ] {
            for source in ["phy-rate", "packet-throughput", "rt-winf", "model", "1 Mb/s"] {
                let found = parameters(json!({ "capacity": source, key: value }));
                assert_eq!(found.is_ok(), sources.contains(&source), "{key} of {source}: {found:?}");
            }
        }
    }

    /// A capacity of nothing is a byte per second, so that what is divided by it stays finite.
    #[test]
    fn no_capacity_is_nothing() {
        let capacity = parameters(json!({})).unwrap().at(&EGRESS, 1_500);
        let none = LinkView { packet_throughput_bps: Some(0.0), ..LinkView::default() };
        assert_eq!(capacity.of(&none), 1.0);
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        for text in ["phy-rate", "packet-throughput", "rt-winf", "model", "5.5 Mb/s"] {
            let source: CapacitySource = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(json!(source), json!(text));
        }
    }
}
