//! `[routing]` with `protocol = "dsr"`.

use super::document::{Document, Result, key};
use crate::config::DsrConfig;
use multihop_core::Span;
use multihop_schemes::quantity::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

/// Dynamic source routing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dsr {
    /// Consecutive packets to a next hop that the MAC gives up before the link counts as broken. Those before the last are lost.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// Time between the first discovery of a route and the second, if the first finds none.
    pub request_period: Duration,
    /// Each further time is this many times longer.
    #[schemars(range(min = 1, max = 100))]
    pub request_backoff: u32,
    /// Longest time between two discoveries.
    pub request_period_max: Duration,
    /// A discovery asks neighbours alone, and everyone if that brought nothing for this time. `0 s`: everyone at once.
    pub ask_neighbours_first: Duration,
    /// Requests and replies are held back for a random time up to this, lest neighbours send at once.
    pub broadcast_jitter: Duration,
    /// Packets that a node holds while it looks for routes; the oldest makes room.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub buffer: u32,
    /// How long each is held at most.
    pub buffer_timeout: Duration,
    /// Held packets are looked through after random times between this and twice this.
    pub buffer_check: Duration,
    /// Of packets that a reply lets go, each leaves this much after the one before.
    pub release_interval: Duration,
    /// Nodes that know a route answer requests for other nodes.
    pub reply_from_cache: bool,
    /// Nodes learn from packets that are for others, and tell sources of shorter routes.
    pub listen: bool,
    /// How often other nodes than its source may send a packet on by another route where a link broke. 0: never.
    #[schemars(range(min = 0, max = 255))]
    pub salvage_limit: u32,
    /// Hops of the longest route; a route request has room for 62 addresses.
    #[schemars(range(min = 1, max = 62))]
    pub route_limit: u32,
    /// Packets that took this many hops are not forwarded any more.
    #[schemars(range(min = 1, max = 255))]
    pub hop_limit: u32,
    /// Routes that a node keeps for its own packets.
    #[schemars(range(min = 1, max = 100_000))]
    pub routes: u32,
    /// Routes that it keeps because it forwarded or heard packets on them.
    #[schemars(range(min = 1, max = 100_000))]
    pub heard_routes: u32,
}

impl Default for Dsr {
    /// The engine's.
    fn default() -> Dsr {
        let engine = DsrConfig::default();
        let time = |span: Span| Duration(span.seconds());
        Dsr {
            failures: engine.failures,
            request_period: time(engine.request_period),
            request_backoff: engine.request_backoff,
            request_period_max: time(engine.request_period_max),
            ask_neighbours_first: time(engine.ask_neighbours_first.unwrap_or(Span::ZERO)),
            broadcast_jitter: time(engine.broadcast_jitter),
            buffer: engine.buffer as u32,
            buffer_timeout: time(engine.buffer_timeout),
            buffer_check: time(engine.buffer_check),
            release_interval: time(engine.release_interval),
            reply_from_cache: engine.reply_from_cache,
            listen: engine.listen,
            salvage_limit: u32::from(engine.salvage_limit),
            route_limit: u32::from(engine.route_limit),
            hop_limit: u32::from(engine.hop_limit),
            routes: engine.routes as u32,
            heard_routes: engine.heard_routes as u32,
        }
    }
}

impl Dsr {
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<DsrConfig> {
        let at = |key: &str| key!["routing", key];
        let time = |key: &str, value: Duration, low: f64| document.time(&at(key), value, low);
        let count = |key: &str, value: u32, low: u32, high: u32| document.count(&at(key), value, low, high);
        let first = time("ask_neighbours_first", self.ask_neighbours_first, 0.0)?;
        Ok(DsrConfig {
            failures: count("failures", self.failures, 1, 1000)?,
            request_period: time("request_period", self.request_period, 0.001)?,
            request_backoff: count("request_backoff", self.request_backoff, 1, 100)?,
            request_period_max: time("request_period_max", self.request_period_max, 0.001)?,
            ask_neighbours_first: (first > Span::ZERO).then_some(first),
            broadcast_jitter: time("broadcast_jitter", self.broadcast_jitter, 0.0)?,
            buffer: count("buffer", self.buffer, 0, 1_000_000)? as usize,
            buffer_timeout: time("buffer_timeout", self.buffer_timeout, 0.0)?,
            buffer_check: time("buffer_check", self.buffer_check, 0.001)?,
            release_interval: time("release_interval", self.release_interval, 0.0)?,
            reply_from_cache: self.reply_from_cache,
            listen: self.listen,
            salvage_limit: count("salvage_limit", self.salvage_limit, 0, 255)? as u8,
            route_limit: count("route_limit", self.route_limit, 1, 62)? as u16,
            hop_limit: count("hop_limit", self.hop_limit, 1, 255)? as u16,
            routes: count("routes", self.routes, 1, 100_000)? as usize,
            heard_routes: count("heard_routes", self.heard_routes, 1, 100_000)? as usize,
        })
    }
}
