//! `[routing]` and `[network]`.

mod aodv;
mod dsdv;
mod dsr;

pub use aodv::Aodv;
pub use dsdv::Dsdv;
pub use dsr::Dsr;

use crate::document::{Document, Result, key};
use crate::error::KeyProblem;
use multihop_config::keys;
use multihop_config::keys::usually;
use multihop_config::quantity::{Duration, Size};
use multihop_dot11::DcfRules;
use multihop_sim::config::{LinkFailureRule, NetworkConfig, RouteMetric, RoutingConfig, RoutingProtocol};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Routing protocol, or static routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "protocol", transform = protocol_is_optional)]
pub enum Routing {
    /// Static routes: shortest paths computed before the run, without routing packets. This is the default.
    Static(StaticRoutes),
    /// Destination-sequenced distance vectors (DSDV; Perkins and Bhagwat 1994), as in ns-2.
    Dsdv(Dsdv),
    /// Dynamic source routing (DSR; Johnson, Hu and Maltz 2007, RFC 4728), close to ns-2's implementation.
    Dsr(Dsr),
    /// Ad hoc on-demand distance vectors (AODV; Perkins, Belding-Royer and Das 2003, RFC 3561), as in ns-2.
    Aodv(Aodv),
}

keys! {
    /// Shortest paths, computed before the run.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct StaticRoutes {
        /// Cost of a path.
        pub metric: RouteMetric,
        /// Reaction to a packet that the MAC drops at its retry limit.
        pub on_link_failure: OnLinkFailure,
        /// `break` only: number of consecutive failures towards a next hop that break the link.
        #[schemars(transform = usually(FAILURES))]
        pub failures: Option<u32> [1, 1000],
        /// `break` only: time for which the broken route is unusable.
        #[schemars(transform = usually(HOLD))]
        pub hold: Option<Duration>,
    }
}

/// Default of `failures`.
const FAILURES: u32 = 1;
/// Default of `hold`.
const HOLD: Duration = Duration(10.0);

impl Default for Routing {
    fn default() -> Routing {
        Routing::Static(StaticRoutes::default())
    }
}

/// Reaction to a packet that the MAC drops at its retry limit.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLinkFailure {
    /// Drops only that packet.
    #[default]
    Ignore,
    /// Also drops the queued packets for that next hop. The route is unusable for the time `hold`.
    Break,
}

keys! {
    /// Network layer.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Network {
        /// Header bytes of every packet below the transport, in addition to those of IP. ns-2 adds 20 to
        /// those of TCP with DSDV and DSR, and none with AODV.
        pub extra_header: Size ["0 B", "1500 B"],
        /// Whether nodes resolve addresses (ARP, RFC 826). Before a node first sends a unicast packet to a
        /// neighbour by radio, it broadcasts a request, and the neighbour replies by unicast. Each message
        /// has 28 B and the headers of the MAC. As in ns-2, one packet for each neighbour is buffered
        /// meanwhile. A newer packet replaces it and repeats the request. After three requests without a
        /// reply, the next packet finds the neighbour unreachable. With false, all addresses are known.
        pub arp: bool,
    }
}

impl Routing {
    /// The routing, on a MAC with these rules.
    pub(super) fn resolve(&self, document: &Document<'_>, rules: &DcfRules) -> Result<RoutingConfig> {
        let protocol = match self {
            Routing::Static(routes) => return routes.resolve(document),
            Routing::Dsdv(dsdv) => RoutingProtocol::Dsdv(dsdv.resolve(document)?),
            Routing::Dsr(dsr) => RoutingProtocol::Dsr(dsr.resolve(document)?),
            Routing::Aodv(aodv) => RoutingProtocol::Aodv(aodv.resolve(document, rules.immediate_access)?),
        };
        let (metric, on_link_failure) = (RouteMetric::Hops, LinkFailureRule::Ignore);
        Ok(RoutingConfig { protocol, metric, on_link_failure })
    }
}

impl StaticRoutes {
    fn resolve(&self, document: &Document<'_>) -> Result<RoutingConfig> {
        let on_link_failure = match self.on_link_failure {
            OnLinkFailure::Ignore => {
                let given = [("failures", self.failures.is_some()), ("hold", self.hold.is_some())];
                if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                    let (with, value, instead) = ("on_link_failure", "ignore".into(), "\"break\"");
                    let problem = KeyProblem::NoEffect { key: with, value, instead };
                    return Err(document.error(&key!["routing", key], problem));
                }
                LinkFailureRule::Ignore
            }
            OnLinkFailure::Break => {
                let failures = self.failures.unwrap_or(FAILURES);
                let hold = document.time(&key!["routing", "hold"], self.hold.unwrap_or(HOLD), 0.0)?;
                LinkFailureRule::Break { failures, hold }
            }
        };
        Ok(RoutingConfig { protocol: RoutingProtocol::Static, metric: self.metric, on_link_failure })
    }
}

/// Makes the key `protocol` optional: a table without it is one of static routes.
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
    /// The network layer in the types of the engine.
    pub(super) fn resolve(&self) -> NetworkConfig {
        NetworkConfig { extra_header: self.extra_header.bytes() as u32, arp: self.arp }
    }
}
