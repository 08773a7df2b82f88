//! `[routing]` and `[network]`.

mod aodv;
mod dsr;

pub use aodv::{Aodv, LocalRepair};
pub use dsr::Dsr;

use crate::document::{Document, Result, key};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_schemes::quantity::{Duration, Size};
use multihop_sim::config::{DsdvConfig, LinkFailureRule, RouteMetric, RoutingConfig, RoutingProtocol};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who finds the routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "protocol", transform = protocol_is_optional)]
pub enum Routing {
    /// Nobody: shortest paths are computed before the run, and no routing packets are sent. This is the default.
    Static(StaticRoutes),
    /// Destination-sequenced distance vectors (Perkins and Bhagwat 1994), as ns-2 has them.
    Dsdv(Dsdv),
    /// Dynamic source routing (Johnson, Hu and Maltz 2007, RFC 4728), close to ns-2's.
    Dsr(Dsr),
    /// Ad hoc on-demand distance vectors (Perkins, Belding-Royer and Das 2003, RFC 3561), as ns-2 has them.
    Aodv(Aodv),
}

/// Shortest paths, computed before the run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticRoutes {
    /// What a path costs.
    pub metric: Metric,
    /// What happens when the MAC gives a packet up.
    pub on_link_failure: OnLinkFailure,
    /// `break` only: consecutive failures towards a next hop that break the link. Default: 1.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: Option<u32>,
    /// `break` only: how long the broken route stays unusable. Default: 10 s.
    pub hold: Option<Duration>,
}

/// Destination-sequenced distance vectors.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dsdv {
    /// Full updates follow each other after a random time between three quarters of this and this.
    pub update_period: Duration,
    /// A neighbour is lost after this many update periods of silence.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub missed_updates: u32,
    /// Least time between triggered updates.
    pub triggered_interval: Duration,
    /// First value of the settling time: a route to a new destination is advertised after twice this.
    pub settling_time: Duration,
    /// Weight of the past in the settling time of a destination.
    #[schemars(range(min = 0, max = 1))]
    pub settling_weight: f64,
    /// The first update comes after a random time up to this.
    pub start_jitter: Duration,
    /// Each update is held back for a random time up to this, lest neighbours send at once.
    pub broadcast_jitter: Duration,
    /// Packets that wait for a route at a node, per destination; the oldest makes room.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub buffer: u32,
    /// Packets that took this many hops are not forwarded any more.
    #[schemars(range(min = 1, max = 255))]
    pub hop_limit: u32,
    /// The MAC's failure to deliver a packet breaks the link at once, and the packet is routed again. Otherwise only that packet
    /// is lost, and a break is found by the neighbour's silence.
    pub use_mac: bool,
    /// Size of an entry of an update.
    pub entry_size: Size,
    /// Size of an update besides its entries, IP header included.
    pub header_size: Size,
    /// Updates longer than this are sent in parts.
    pub update_size_limit: Size,
}

impl Default for Routing {
    fn default() -> Routing {
        Routing::Static(StaticRoutes::default())
    }
}

impl Default for Dsdv {
    /// The engine's, which are ns-2's.
    fn default() -> Dsdv {
        let engine = DsdvConfig::default();
        let time = |span: Span| Duration(span.seconds());
        let size = |bytes: u32| Size(f64::from(bytes));
        Dsdv {
            update_period: time(engine.update_period),
            missed_updates: engine.missed_updates,
            triggered_interval: time(engine.triggered_interval),
            settling_time: time(engine.settling_time),
            settling_weight: engine.settling_weight,
            start_jitter: time(engine.start_jitter),
            broadcast_jitter: time(engine.broadcast_jitter),
            buffer: engine.buffer as u32,
            hop_limit: u32::from(engine.hop_limit),
            use_mac: engine.use_mac,
            entry_size: size(engine.entry_size),
            header_size: size(engine.header_size),
            update_size_limit: size(engine.update_size_limit),
        }
    }
}

/// What a path costs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The number of hops; links that deliver less than half of the frames only where there is no other way.
    #[default]
    Hops,
    /// Expected transmissions, DATA and ACK (De Couto et al. 2003).
    Etx,
}

/// What happens when the MAC gives a packet up.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLinkFailure {
    /// Only that packet is lost.
    #[default]
    Ignore,
    /// What waits in the queue for that next hop is lost as well, and the route is unusable for a while.
    Break,
}

/// The network layer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Header bytes of every packet below the transport, besides IP's: ns-2 adds 20 to TCP's with DSDV and with DSR, and none with
    /// AODV.
    pub extra_header: Size,
    /// Before a node first sends a unicast packet to a neighbour by radio, it asks for its address (RFC 826), by broadcast; the
    /// neighbour replies by unicast. Each takes 28 B and the headers of the MAC. As in ns-2, one packet for each neighbour waits
    /// meanwhile, a newer one takes its place and asks again, and after three requests in vain the next packet finds the neighbour
    /// unreachable. Default: false, all addresses are known.
    pub arp: bool,
}

impl Routing {
    /// The routing, over a MAC of these rules.
    pub(super) fn resolve(&self, document: &Document<'_>, rules: &DcfRules) -> Result<RoutingConfig> {
        match self {
            Routing::Static(routes) => routes.resolve(document),
            Routing::Dsdv(dsdv) => Ok(RoutingConfig {
                protocol: RoutingProtocol::Dsdv(dsdv.resolve(document)?),
                metric: RouteMetric::Hops,
                on_link_failure: LinkFailureRule::Ignore,
            }),
            Routing::Dsr(dsr) => Ok(RoutingConfig {
                protocol: RoutingProtocol::Dsr(dsr.resolve(document)?),
                metric: RouteMetric::Hops,
                on_link_failure: LinkFailureRule::Ignore,
            }),
            Routing::Aodv(aodv) => Ok(RoutingConfig {
                protocol: RoutingProtocol::Aodv(aodv.resolve(document, rules.immediate_access)?),
                metric: RouteMetric::Hops,
                on_link_failure: LinkFailureRule::Ignore,
            }),
        }
    }
}

impl StaticRoutes {
    fn resolve(&self, document: &Document<'_>) -> Result<RoutingConfig> {
        let metric = match self.metric {
            Metric::Hops => RouteMetric::Hops,
            Metric::Etx => RouteMetric::Etx,
        };
        let on_link_failure = match self.on_link_failure {
            OnLinkFailure::Ignore => {
                let given = [("failures", self.failures.is_some()), ("hold", self.hold.is_some())];
                if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                    let why = "has no effect with on_link_failure \"ignore\"";
                    return Err(document.bad(
                        &key!["routing", key],
                        why,
                        "remove it, or set on_link_failure = \"break\"",
                    ));
                }
                LinkFailureRule::Ignore
            }
            OnLinkFailure::Break => {
                let failures = self.failures.unwrap_or(1);
                document.count(&key!["routing", "failures"], failures, 1, 1000)?;
                let hold = match self.hold {
                    None => Span::from_ms(10_000),
                    Some(hold) => document.time(&key!["routing", "hold"], hold, 0.0)?,
                };
                LinkFailureRule::Break { failures, hold }
            }
        };
        Ok(RoutingConfig { protocol: RoutingProtocol::Static, metric, on_link_failure })
    }
}

impl Dsdv {
    fn resolve(&self, document: &Document<'_>) -> Result<DsdvConfig> {
        let at = |key: &str| key!["routing", key];
        let time = |key: &str, value: Duration, low: f64| document.time(&at(key), value, low);
        let count = |key: &str, value: u32, low: u32, high: u32| document.count(&at(key), value, low, high);
        let size = |key: &str, value: Size, low: f64, names: (&str, &str)| {
            document.within(&at(key), value.0, low..=2304.0, names).map(|bytes| bytes.round() as u32)
        };
        let weight = document.within(&at("settling_weight"), self.settling_weight, 0.0..=1.0, ("0", "1"))?;
        let entry_size = size("entry_size", self.entry_size, 1.0, ("1 B", "2304 B"))?;
        let header_size = size("header_size", self.header_size, 0.0, ("0 B", "2304 B"))?;
        let update_size_limit = size("update_size_limit", self.update_size_limit, 1.0, ("1 B", "2304 B"))?;
        if update_size_limit < header_size + entry_size {
            let why = format!(
                "leaves no room for an entry of {} after the header of {}",
                self.entry_size, self.header_size
            );
            return Err(document.bad(&at("update_size_limit"), why, "give at least their sum"));
        }
        Ok(DsdvConfig {
            update_period: time("update_period", self.update_period, 0.001)?,
            missed_updates: count("missed_updates", self.missed_updates, 1, 1_000_000)?,
            triggered_interval: time("triggered_interval", self.triggered_interval, 0.0)?,
            settling_time: time("settling_time", self.settling_time, 0.0)?,
            settling_weight: weight,
            start_jitter: time("start_jitter", self.start_jitter, 0.0)?,
            broadcast_jitter: time("broadcast_jitter", self.broadcast_jitter, 0.0)?,
            buffer: count("buffer", self.buffer, 0, 1_000_000)? as usize,
            hop_limit: count("hop_limit", self.hop_limit, 1, 255)? as u16,
            use_mac: self.use_mac,
            entry_size,
            header_size,
            update_size_limit,
        })
    }
}

/// A table without `protocol` is one of static routes.
fn protocol_is_optional(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        if variant["properties"]["protocol"]["const"] == "static"
            && let Some(variant) = variant.as_object_mut()
        {
            variant.remove("required");
        }
    }
}

impl Network {
    /// The extra header in bytes.
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<u32> {
        let at = key!["network", "extra_header"];
        document
            .within(&at, self.extra_header.0, 0.0..=1500.0, ("0 B", "1500 B"))
            .map(|bytes| bytes.round() as u32)
    }
}
