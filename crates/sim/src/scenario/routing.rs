//! `[routing]` and `[network]`.

use super::document::{Document, Result, key};
use crate::config::{LinkFailureRule, RouteMetric, RoutingConfig};
use multihop_core::Span;
use multihop_schemes::quantity::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Routing: static shortest paths.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
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
    /// Header bytes of every packet below the transport, besides IP's: ns-2 adds 20 with DSDV.
    pub extra_header: Size,
}

impl Routing {
    /// The routing.
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<RoutingConfig> {
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
                document.within(
                    &key!["routing", "failures"],
                    f64::from(failures),
                    1.0..=1000.0,
                    ("1", "1000"),
                )?;
                let hold = match self.hold {
                    None => Span::from_ms(10_000),
                    Some(hold) => document.time(&key!["routing", "hold"], hold, 0.0)?,
                };
                LinkFailureRule::Break { failures, hold }
            }
        };
        Ok(RoutingConfig { metric, on_link_failure })
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
