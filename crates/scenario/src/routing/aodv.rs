//! `[routing]` with `protocol = "aodv"`.

use crate::document::{Document, Result, key};
use crate::schemes::Schemes;
use multihop_core::Span;
use multihop_schemes::quantity::{Duration, Size};
use multihop_sim::config::{self, AodvConfig, Config, RoutingProtocol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ad hoc on-demand distance vectors.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aodv {
    /// Consecutive packets to a next hop that the MAC gives up before the link counts as broken. Those before the last are lost.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// Schemes whose packets break no link when the MAC gives them up. ns-2 is blind to all but TCP and CBR: to `tfrc`, for example.
    pub blind_to: Vec<String>,
    /// Links break because the MAC gives packets up. Otherwise by a neighbour's silence: all nodes say hello.
    pub link_layer_detection: bool,
    /// Mean time between hellos, which vary by a quarter of it. Only without `link_layer_detection`.
    pub hello_interval: Duration,
    /// Hellos that a neighbour may miss.
    #[schemars(range(min = 1, max = 1000))]
    pub allowed_hello_loss: u32,
    /// A neighbour is lost after this many times `allowed_hello_loss` hello intervals of silence.
    #[schemars(range(min = 1, max = 1000))]
    pub hello_slack: f64,
    /// How long a route lives after a packet took it.
    pub active_route_timeout: Duration,
    /// How long a route lives that the destination itself tells of.
    pub my_route_timeout: Duration,
    /// How long a route back to who asks lives.
    pub reverse_route_life: Duration,
    /// How long a node knows which requests it has seen.
    pub request_memory: Duration,
    /// Hops that the first request of a ring search goes.
    #[schemars(range(min = 1, max = 255))]
    pub ttl_start: u32,
    /// How many more each further one goes.
    #[schemars(range(min = 1, max = 255))]
    pub ttl_increment: u32,
    /// After a request that went this many hops, or for a destination that was as far away, everyone is asked.
    #[schemars(range(min = 1, max = 255))]
    pub ttl_threshold: u32,
    /// Hops that a request to everyone goes, and that replies go.
    #[schemars(range(min = 1, max = 255))]
    pub network_diameter: u32,
    /// A destination whose distance was never known is looked for by rings as well. Otherwise everyone is asked at once, as in ns-2.
    pub ring_search_first: bool,
    /// Requests to everyone after the first that bring no answer, before the node drops what waits and pauses.
    #[schemars(range(min = 0, max = 1000))]
    pub request_retries: u32,
    /// How long it pauses.
    pub hold_down: Duration,
    /// Longest time that it waits for a reply.
    pub request_timeout_max: Duration,
    /// Time that a message takes per hop, until latencies are known.
    pub node_traversal_time: Duration,
    /// The last so many latencies of discoveries, whose mean is taken instead. 0: none.
    #[schemars(range(min = 0, max = 1000))]
    pub latency_samples: u32,
    /// A node's own requests are held back for a random time up to this, lest nodes ask at once. Default: 10 ms where the MAC
    /// accesses an idle medium at once; 0 s with the rules of ns-2, which always draw a back-off.
    pub request_jitter: Option<Duration>,
    /// Requests that are relayed, and errors that are passed on, are held back for a random time up to this.
    pub broadcast_jitter: Duration,
    /// Nodes that know a route answer requests for other nodes.
    pub intermediate_replies: bool,
    /// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the source.
    pub local_repair: LocalRepair,
    /// `rfc3561` only: hops that the request of a repair goes beyond the destination's distance.
    #[schemars(range(min = 0, max = 255))]
    pub local_add_ttl: u32,
    /// Packets that a node holds while it looks for routes; the oldest makes room.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub buffer: u32,
    /// How long each is held at most.
    pub buffer_timeout: Duration,
    /// Of packets that a reply lets go, each leaves this much after the one before.
    pub release_interval: Duration,
    /// How often a node looks for routes that have expired, and for packets that still wait.
    pub check_interval: Duration,
    /// Packets that took this many hops are not forwarded any more.
    #[schemars(range(min = 1, max = 255))]
    pub hop_limit: u32,
    /// Size of a request, IP header included.
    pub request_size: Size,
    /// Size of a reply or a hello, IP header included.
    pub reply_size: Size,
    /// Size of an error without destinations, IP header included.
    pub error_size: Size,
    /// Size of each destination in it.
    pub error_entry_size: Size,
}

/// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the source.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalRepair {
    /// Loses it, as nodes farther away do.
    Off,
    /// Holds it and asks with the sequence number of the route that broke, until an instant that ns-2 takes for a delay.
    Ns2,
    /// Holds it and asks once with a greater sequence number, as in RFC 3561, section 6.12.
    Rfc3561,
}

impl Default for Aodv {
    /// The engine's, which are ns-2's.
    fn default() -> Aodv {
        let engine = AodvConfig::default();
        let time = |span: Span| Duration(span.seconds());
        let size = |bytes: u32| Size(f64::from(bytes));
        Aodv {
            failures: engine.failures,
            blind_to: Vec::new(),
            link_layer_detection: engine.link_layer_detection,
            hello_interval: time(engine.hello_interval),
            allowed_hello_loss: engine.allowed_hello_loss,
            hello_slack: engine.hello_slack,
            active_route_timeout: time(engine.active_route_timeout),
            my_route_timeout: time(engine.my_route_timeout),
            reverse_route_life: time(engine.reverse_route_life),
            request_memory: time(engine.request_memory),
            ttl_start: u32::from(engine.ttl_start),
            ttl_increment: u32::from(engine.ttl_increment),
            ttl_threshold: u32::from(engine.ttl_threshold),
            network_diameter: u32::from(engine.network_diameter),
            ring_search_first: engine.ring_search_first,
            request_retries: engine.request_retries,
            hold_down: time(engine.hold_down),
            request_timeout_max: time(engine.request_timeout_max),
            node_traversal_time: time(engine.node_traversal_time),
            latency_samples: engine.latency_samples as u32,
            request_jitter: None,
            broadcast_jitter: time(engine.broadcast_jitter),
            intermediate_replies: engine.intermediate_replies,
            local_repair: match engine.local_repair {
                config::LocalRepair::Off => LocalRepair::Off,
                config::LocalRepair::Ns2 => LocalRepair::Ns2,
                config::LocalRepair::Rfc => LocalRepair::Rfc3561,
            },
            local_add_ttl: u32::from(engine.local_add_ttl),
            buffer: engine.buffer as u32,
            buffer_timeout: time(engine.buffer_timeout),
            release_interval: time(engine.release_interval),
            check_interval: time(engine.check_interval),
            hop_limit: u32::from(engine.hop_limit),
            request_size: size(engine.request_size),
            reply_size: size(engine.reply_size),
            error_size: size(engine.error_size),
            error_entry_size: size(engine.error_entry_size),
        }
    }
}

impl Aodv {
    /// Numbers the schemes whose packets break no link, once those in use are known.
    pub(crate) fn resolve_blind_to(&self, schemes: &Schemes<'_>, config: &mut Config) -> Result<()> {
        let RoutingProtocol::Aodv(aodv) = &mut config.routing.protocol else { return Ok(()) };
        for (i, name) in self.blind_to.iter().enumerate() {
            aodv.blind_to.extend(schemes.in_use(&key!["routing", "blind_to", i], name)?);
        }
        Ok(())
    }

    /// The parameters, under a MAC that may access an idle medium at once.
    pub(super) fn resolve(&self, document: &Document<'_>, immediate_access: bool) -> Result<AodvConfig> {
        let at = |key: &str| key!["routing", key];
        let time = |key: &str, value: Duration, low: f64| document.time(&at(key), value, low);
        let count = |key: &str, value: u32, low: u32, high: u32| document.count(&at(key), value, low, high);
        let hops = |key: &str, value: u32, low: u32| count(key, value, low, 255).map(|hops| hops as u16);
        let size = |key: &str, value: Size| {
            document
                .within(&at(key), value.0, 1.0..=2304.0, ("1 B", "2304 B"))
                .map(|bytes| bytes.round() as u32)
        };
        let slack = document.within(&at("hello_slack"), self.hello_slack, 1.0..=1000.0, ("1", "1000"))?;
        Ok(AodvConfig {
            failures: count("failures", self.failures, 1, 1000)?,
            blind_to: Vec::new(), // schemes are numbered later
            link_layer_detection: self.link_layer_detection,
            hello_interval: time("hello_interval", self.hello_interval, 0.001)?,
            allowed_hello_loss: count("allowed_hello_loss", self.allowed_hello_loss, 1, 1000)?,
            hello_slack: slack,
            active_route_timeout: time("active_route_timeout", self.active_route_timeout, 0.001)?,
            my_route_timeout: time("my_route_timeout", self.my_route_timeout, 0.001)?,
            reverse_route_life: time("reverse_route_life", self.reverse_route_life, 0.001)?,
            request_memory: time("request_memory", self.request_memory, 0.001)?,
            ttl_start: hops("ttl_start", self.ttl_start, 1)?,
            ttl_increment: hops("ttl_increment", self.ttl_increment, 1)?,
            ttl_threshold: hops("ttl_threshold", self.ttl_threshold, 1)?,
            network_diameter: hops("network_diameter", self.network_diameter, 1)?,
            ring_search_first: self.ring_search_first,
            request_retries: count("request_retries", self.request_retries, 0, 1000)?,
            hold_down: time("hold_down", self.hold_down, 0.0)?,
            request_timeout_max: time("request_timeout_max", self.request_timeout_max, 0.001)?,
            node_traversal_time: time("node_traversal_time", self.node_traversal_time, 0.000_001)?,
            latency_samples: count("latency_samples", self.latency_samples, 0, 1000)? as usize,
            request_jitter: match self.request_jitter {
                Some(jitter) => time("request_jitter", jitter, 0.0)?,
                None if immediate_access => Span::from_ms(10),
                None => Span::ZERO,
            },
            broadcast_jitter: time("broadcast_jitter", self.broadcast_jitter, 0.0)?,
            intermediate_replies: self.intermediate_replies,
            local_repair: match self.local_repair {
                LocalRepair::Off => config::LocalRepair::Off,
                LocalRepair::Ns2 => config::LocalRepair::Ns2,
                LocalRepair::Rfc3561 => config::LocalRepair::Rfc,
            },
            local_add_ttl: hops("local_add_ttl", self.local_add_ttl, 0)?,
            buffer: count("buffer", self.buffer, 0, 1_000_000)? as usize,
            buffer_timeout: time("buffer_timeout", self.buffer_timeout, 0.0)?,
            release_interval: time("release_interval", self.release_interval, 0.0)?,
            check_interval: time("check_interval", self.check_interval, 0.001)?,
            hop_limit: hops("hop_limit", self.hop_limit, 1)?,
            request_size: size("request_size", self.request_size)?,
            reply_size: size("reply_size", self.reply_size)?,
            error_size: size("error_size", self.error_size)?,
            error_entry_size: size("error_entry_size", self.error_entry_size)?,
        })
    }
}
