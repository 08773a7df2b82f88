//! Sources from which routers take the capacity of their links (Qazi).

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

/// Source of a link's capacity at a router.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CapacitySource {
    /// Configured bit rate, used without a check.
    Constant(BitRate),
    /// Bit rate of the link; on a radio, the bit rate of the DATA frames that it sends.
    PhyRate,
    /// Throughput of packets while the MAC serves them ([`PacketThroughput`]).
    #[default]
    PacketThroughput,
    /// Estimate of rt-Winf ([`WinfParameters`]).
    RtWinf,
    /// Model of a link whose terms are measured ([`ModelledCapacity`]).
    Model,
}

const NAMED: [(&str, CapacitySource); 4] = [
    ("phy-rate", CapacitySource::PhyRate),
    ("packet-throughput", CapacitySource::PacketThroughput),
    ("rt-winf", CapacitySource::RtWinf),
    ("model", CapacitySource::Model),
];

keys! {
    /// Parameters of the capacity that routers assume for their links.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct CapacityParameters {
        /// Capacity that routers assume for their radio links: a bit rate, or the source of an estimate.
        /// "phy-rate" is the bit rate of the node's DATA frames, far above what the MAC can carry.
        /// "packet-throughput" is the throughput at the network layer while the MAC serves packets. "rt-winf"
        /// is the throughput that a link sustains, estimated by rt-Winf with the reading "whole". "model" is
        /// a formula with measured losses, backoffs and airtime of other stations. Before the first
        /// measurement the capacity is the data rate, and with "rt-winf" what Eq. 14 of Barreto 2015 gives
        /// for that rate. The capacity of a wire is always its bit rate.
        #[schemars(transform = usually(CapacitySource::default()))]
        pub capacity: Option<CapacitySource> ["8 b/s", "16 Gb/s"],
        /// Time over which one sample of a measured capacity is taken ("packet-throughput" and "model").
        #[schemars(transform = usually(Duration::from(USUAL.interval)))]
        pub capacity_interval: Option<Duration> ["1 ms", "1 min"],
        /// Weight of a new sample in the mean of a measured capacity. 1 uses the last sample alone.
        #[schemars(transform = usually(USUAL.smoothing))]
        pub capacity_smoothing: Option<f64> [above 0, 1],
        /// Number of packets over which the mean packet size is taken ("packet-throughput" only). Every
        /// packet counts as if it had that size, so that acknowledgements do not lower the capacity. Default:
        /// actual sizes.
        pub normalise_over: Option<u32> [1, 10_000],
        /// Whether packets that the MAC gives up are ignored ("packet-throughput" only). By default they add
        /// their transmission time and no bits.
        #[schemars(transform = usually(USUAL.successful_only))]
        pub successful_only: Option<bool>,
    }
}

/// Defaults of the sampling of a measured capacity.
const USUAL: PacketThroughputOptions = PacketThroughputOptions::DEFAULT;

impl CapacityParameters {
    /// Checks that each parameter that is given has an effect.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        let source = self.capacity.unwrap_or_default();
        let is_packets = source == CapacitySource::PacketThroughput;
        let has_interval = is_packets || source == CapacitySource::Model;
        let has_smoothing = has_interval || source == CapacitySource::RtWinf;
        let idle = [
            ("capacity_interval", self.capacity_interval.map(|time| time.to_string()), has_interval),
            ("capacity_smoothing", self.capacity_smoothing.map(|gain| gain.to_string()), has_smoothing),
            ("normalise_over", self.normalise_over.map(|packets| packets.to_string()), is_packets),
            ("successful_only", self.successful_only.map(|only| only.to_string()), is_packets),
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

    /// Returns the capacity of the link behind a queue whose full packets have this size in bytes.
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
                successful_only: self.successful_only.unwrap_or(USUAL.successful_only),
            }),
            CapacitySource::RtWinf => {
                let parameters =
                    WinfParameters { capacity_smoothing: smoothing, ..WinfParameters::default() };
                Source::RtWinf(parameters.at(egress, packet_size, WinfReading::Whole))
            }
            CapacitySource::Model => Source::Model(ModelledCapacityOptions { interval, smoothing }),
        };
        Capacity { source, initial: rate }
    }
}

/// Capacity of the link behind one queue.
pub(crate) struct Capacity {
    source: Source,
    /// Capacity in bytes per second before the first measurement.
    initial: f64,
}

/// Source of a capacity, with the options of its estimator.
enum Source {
    /// Known capacity, without an estimator.
    Known,
    /// Bit rate in use, with the nominal bit rate.
    PhyRate(Rate),
    /// Throughput of packets while the MAC serves them.
    PacketThroughput(PacketThroughputOptions),
    /// Estimates of rt-Winf.
    RtWinf(Estimates),
    /// Model of the link.
    Model(ModelledCapacityOptions),
}

impl Capacity {
    /// Creates a known capacity, in bytes per second.
    pub(crate) fn known(bytes_per_second: f64) -> Capacity {
        Capacity { source: Source::Known, initial: bytes_per_second }
    }

    /// Returns the estimators that write the capacity into link views.
    pub(crate) fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        match &self.source {
            Source::Known => Vec::new(),
            Source::PhyRate(nominal) => vec![Box::new(RateInUse::new(*nominal))],
            Source::PacketThroughput(options) => vec![Box::new(PacketThroughput::new(*options))],
            Source::RtWinf(estimates) => estimates.estimators(phy),
            Source::Model(options) => vec![Box::new(ModelledCapacity::new(*options, *phy))],
        }
    }

    /// Returns the capacity in bytes per second.
    pub(crate) fn of(&self, view: &LinkView) -> f64 {
        let measured = match &self.source {
            Source::Known => None,
            Source::PhyRate(_) => view.rate_bps,
            Source::PacketThroughput(_) => view.packet_throughput_bps,
            Source::RtWinf(_) | Source::Model(_) => view.capacity_bps,
        };
        measured.map_or(self.initial, |bps| (bps / 8.0).max(MIN_CAPACITY))
    }
}

/// Least capacity in bytes per second, so that quotients by a capacity stay finite.
const MIN_CAPACITY: f64 = 1.0;

impl std::fmt::Display for CapacitySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, NAMED.iter().find(|(_, source)| source == self)) {
            (_, Some((name, _))) => f.write_str(name),
            (CapacitySource::Constant(rate), None) => write!(f, "{rate}"),
            (_, None) => unreachable!("every other source has a name"),
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
        parsed.check().map(|()| parsed).map_err(|error| error.to_string())
    }

    /// Returns the capacity in Mb/s without an estimate, with one of packet throughput and with one of the
    /// medium.
    fn megabits(value: serde_json::Value, egress: &EgressQueue) -> [f64; 3] {
        let capacity = parameters(value).unwrap().at(egress, 1_500);
        let packets = LinkView { packet_throughput_bps: Some(4e6), ..LinkView::default() };
        let medium = LinkView { capacity_bps: Some(5e6), ..LinkView::default() };
        [LinkView::default(), packets, medium].map(|view| capacity.of(&view) * 8e-6)
    }

    #[test]
    fn each_source_reads_its_own_estimate() {
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

    /// The schema lists the names and the bit rate at the parameter itself.
    #[test]
    fn the_schema_lists_the_names() {
        let schema = json!(schemars::schema_for!(CapacityParameters));
        let capacity = schema["properties"]["capacity"].to_string();
        for name in NAMED.map(|(name, _)| name) {
            assert!(capacity.contains(name), "{capacity}");
        }
    }

    /// Tests each parameter alone, with sources for which it has an effect and sources for which it has none.
    #[test]
    fn a_parameter_without_effect_is_refused() {
        for (key, value, sources) in [
            ("capacity_interval", json!("1 s"), &["packet-throughput", "model"][..]),
            ("capacity_smoothing", json!(0.5), &["packet-throughput", "model", "rt-winf"]),
            ("normalise_over", json!(10), &["packet-throughput"]),
            ("successful_only", json!(true), &["packet-throughput"]),
        ] {
            for source in ["phy-rate", "packet-throughput", "rt-winf", "model", "1 Mb/s"] {
                let found = parameters(json!({ "capacity": source, key: value }));
                assert_eq!(found.is_ok(), sources.contains(&source), "{key} of {source}: {found:?}");
            }
        }
    }

    /// A measured capacity of zero becomes one byte per second, so that quotients by it stay finite.
    #[test]
    fn a_capacity_is_never_zero() {
        let capacity = parameters(json!({})).unwrap().at(&EGRESS, 1_500);
        let none = LinkView { packet_throughput_bps: Some(0.0), ..LinkView::default() };
        assert_eq!(capacity.of(&none), 1.0);
    }

    #[test]
    fn a_serialized_source_can_be_parsed() {
        for text in ["phy-rate", "packet-throughput", "rt-winf", "model", "5.5 Mb/s"] {
            let source: CapacitySource = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(json!(source), json!(text));
        }
    }
}
