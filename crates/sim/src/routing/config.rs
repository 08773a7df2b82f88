//! Configuration of routing. A parameter of a protocol has one row: name, type, range, default and meaning.

use multihop_config::parameters;
use multihop_core::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Routing protocol, path metric, and reaction to a packet that the MAC drops at its retry limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoutingConfig {
    /// Routing protocol.
    pub protocol: RoutingProtocol,
    /// Cost of a path. Under a routing protocol, the metric only determines the expected paths, by which the
    /// hops of a flow are counted.
    pub metric: RouteMetric,
    /// Reaction to a packet that the MAC drops at its retry limit. Only with static routes.
    pub on_link_failure: LinkFailureRule,
}

impl RoutingConfig {
    /// Rule by which packets that the MAC gives up break the link to their next hop.
    pub(crate) fn failure_rule(&self) -> LinkFailureRule {
        match &self.protocol {
            RoutingProtocol::Static => self.on_link_failure,
            RoutingProtocol::Dsdv(_) => LinkFailureRule::Ignore,
            RoutingProtocol::Aodv(AodvConfig { failures, .. })
            | RoutingProtocol::Dsr(DsrConfig { failures, .. }) => {
                // The link is usable again as soon as a message arrives over it.
                LinkFailureRule::Break { failures: *failures, hold: Span::ZERO }
            }
        }
    }

    /// Largest number of hops of a packet in a network of this many nodes.
    pub(crate) fn hop_limit(&self, nodes: usize) -> u16 {
        match &self.protocol {
            RoutingProtocol::Static => u16::try_from(nodes).unwrap_or(u16::MAX),
            RoutingProtocol::Dsdv(parameters) => parameters.hop_limit,
            RoutingProtocol::Aodv(parameters) => parameters.hop_limit,
            RoutingProtocol::Dsr(parameters) => parameters.hop_limit,
        }
    }
}

/// Routing protocol.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub enum RoutingProtocol {
    /// Static routes, computed before the run.
    #[default]
    Static,
    /// DSDV (Perkins and Bhagwat 1994), as in ns-2.
    Dsdv(DsdvConfig),
    /// DSR (RFC 4728), close to ns-2's implementation.
    Dsr(DsrConfig),
    /// AODV (RFC 3561), as in ns-2.
    Aodv(AodvConfig),
}

/// Cost of a path.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Metric")]
#[serde(rename_all = "kebab-case")]
pub enum RouteMetric {
    /// Number of hops. Links that deliver less than half of the DATA frames are used only if no other path
    /// exists.
    #[default]
    Hops,
    /// Expected number of transmissions, DATA and ACK (De Couto et al. 2003).
    Etx,
}

/// Reaction to a packet that the MAC drops at its retry limit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub enum LinkFailureRule {
    /// Drop only that packet.
    #[default]
    Ignore,
    /// After a number of consecutive failures towards a next hop, drop the queued packets for it too. The
    /// route is unusable for the hold time, and then tried again.
    Break {
        /// Number of consecutive failures that break the link.
        failures: u32,
        /// Time for which the route is unusable.
        hold: Span,
    },
}

parameters! {
    ($)
    /// Parameters of AODV, with the defaults of ns-2.35 and its names in brackets.
    #[derive(Clone, Debug, PartialEq)]
    AodvConfig, listed by aodv_parameters:
    /// Number of consecutive packets to a next hop that the MAC drops at its retry limit before the link
    /// counts as broken. The packets before the last one are lost.
    failures: u32 [1, 1000] = 1;
    /// Schemes whose packets do not break a link when the MAC drops them at its retry limit (`DATA_PACKET`).
    /// ns-2 ignores all packets except those of TCP and CBR: those of `tfrc`, for example.
    blind_to: (Vec<usize> as Vec<String> = Vec::new()) = Vec::new();
    /// Whether link breaks are detected from packets that the MAC drops at its retry limit
    /// (`AODV_LINK_LAYER_DETECTION`). Otherwise they are detected from missing hellos, which all nodes send.
    link_layer_detection: bool = true;
    /// Mean interval of hellos, which varies by a quarter (`HELLO_INTERVAL`). Only without
    /// `link_layer_detection`.
    hello_interval: Span from "1 ms" = Span::from_ms(1_000);
    /// Lifetime of a route after its last packet (`ACTIVE_ROUTE_TIMEOUT`).
    active_route_timeout: Span from "1 ms" = Span::from_ms(10_000);
    /// Maximum number of retries of a network-wide RREQ without an RREP. Then the node drops the packets
    /// buffered for the destination, and pauses (`RREQ_RETRIES`).
    rreq_retries: u32 [0, 1000] = 3;
    /// Whether nodes with a route to the destination answer RREQs for it.
    intermediate_replies: bool = true;
    /// Reaction of a node to a packet that it cannot forward, if the node is nearer to the destination than
    /// to the source.
    local_repair: [LocalRepair] = LocalRepair::Ns2;
    /// Maximum number of packets that a node buffers while it discovers routes. A full buffer drops its
    /// oldest packet (`AODV_RTQ_MAX_LEN`).
    buffer: usize [0, 1_000_000] = 64;
    /// Size of an RREQ, IP header included.
    rreq_size: Bytes from "1 B" to "2304 B" = 48;
    /// Size of an RREP or a hello, IP header included.
    rrep_size: Bytes from "1 B" to "2304 B" = 44;
    /// Size of an RERR without destinations, IP header included.
    rerr_size: Bytes from "1 B" to "2304 B" = 24;
    {
        /// Hop limit of a network-wide RREQ and of RREPs (`NETWORK_DIAMETER`).
        network_diameter: u16 = 30;
        /// Maximum random delay of a node's own RREQs, so that nodes do not send at the same time. Zero if
        /// the MAC always draws a backoff, as with the rules of ns-2.
        rreq_jitter: Span = Span::ZERO;
        /// Maximum random delay of relayed RREQs and RERRs.
        broadcast_jitter: Span = Span::from_ms(10);
        /// Maximum number of hops of a packet, after which it is dropped (`NETWORK_DIAMETER`).
        hop_limit: u16 = 30;
    }
}

/// Constants of the protocol.
impl AodvConfig {
    /// Number of hellos that may be missed before a neighbour is lost (`ALLOWED_HELLO_LOSS`).
    pub const ALLOWED_HELLO_LOSS: u32 = 3;
    /// Factor of the silence after which a neighbour is lost: this times `ALLOWED_HELLO_LOSS` hello
    /// intervals.
    pub const HELLO_SLACK: f64 = 1.5;
    /// Lifetime of a route that the destination itself advertises (`MY_ROUTE_TIMEOUT`).
    pub const MY_ROUTE_TIMEOUT: Span = Span::from_ms(10_000);
    /// Lifetime of a reverse route (`REV_ROUTE_LIFE`).
    pub const REVERSE_ROUTE_LIFE: Span = Span::from_ms(6_000);
    /// Time for which a node remembers received RREQs (`PATH_DISCOVERY_TIME` of RFC 3561, `BCAST_ID_SAVE`).
    pub const PATH_DISCOVERY_TIME: Span = Span::from_ms(6_000);
    /// Hop limit of the first RREQ of an expanding ring search (`TTL_START`).
    pub const TTL_START: u16 = 5;
    /// Increment of the hop limit for each further RREQ of the search (`TTL_INCREMENT`).
    pub const TTL_INCREMENT: u16 = 2;
    /// Maximum hop limit of an expanding ring search. After an RREQ with this hop limit, or for a destination
    /// last known at this distance, an RREQ floods the network (`TTL_THRESHOLD`).
    pub const TTL_THRESHOLD: u16 = 7;
    /// Pause of a node after a failed discovery (`MAX_RREQ_TIMEOUT`).
    pub const HOLD_DOWN: Span = Span::from_ms(10_000);
    /// Maximum time that a node waits for an RREP (`MAX_RREQ_TIMEOUT`).
    pub const RREQ_TIMEOUT_MAX: Span = Span::from_ms(10_000);
    /// Time per hop of a message, until discovery latencies are measured (`NODE_TRAVERSAL_TIME`).
    pub const NODE_TRAVERSAL_TIME: Span = Span::from_ms(30);
    /// Number of latest discovery latencies whose mean replaces `NODE_TRAVERSAL_TIME` (`MAX_HISTORY`).
    pub const LATENCY_SAMPLES: usize = 3;
    /// `rfc3561` only: hops added to the destination's distance for the RREQ of a local repair
    /// (`LOCAL_ADD_TTL` of RFC 3561).
    pub const LOCAL_ADD_TTL: u16 = 2;
    /// Maximum time of a packet in the buffer (`AODV_RTQ_TIMEOUT`).
    pub const BUFFER_TIMEOUT: Span = Span::from_ms(30_000);
    /// Interval of buffered packets that are sent after an RREP (`ARP_DELAY`).
    pub const RELEASE_INTERVAL: Span = Span::from_ms(10);
    /// Interval at which a node checks for expired routes and buffered packets (`FREQUENCY`).
    pub const CHECK_INTERVAL: Span = Span::from_ms(500);
    /// Size of an unreachable destination in an RERR, in bytes.
    pub const RERR_DESTINATION_SIZE: u32 = 8;
}

/// Reaction of a node to a packet that it cannot forward, if the node is nearer to the destination than to
/// the source.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalRepair {
    /// Drops the packet, as nodes farther from the destination do.
    Off,
    /// Buffers the packet and sends an RREQ as ns-2.35 does. The RREQ has the sequence number of the broken
    /// route, so that nodes beyond the break reply with routes that are no newer. ns-2 uses the time of the
    /// repair's end as a delay, so that the repair hardly ever times out.
    Ns2,
    /// Buffers the packet and sends one RREQ with a greater sequence number (RFC 3561, section 6.12). If no
    /// RREP arrives, sends an RERR.
    #[serde(rename = "rfc3561")]
    Rfc,
}

parameters! {
    ($)
    /// Parameters of DSR, with the defaults of ns-2.35 and its names in brackets. The rate of route
    /// discoveries follows RFC 4728.
    #[derive(Clone, Debug, PartialEq)]
    DsrConfig, listed by dsr_parameters:
    /// Number of consecutive packets to a next hop that the MAC drops at its retry limit before the link
    /// counts as broken. The packets before the last one are lost.
    failures: u32 [1, 1000] = 1;
    /// Time between the first and the second discovery of a route (`RequestPeriod`).
    request_period: Span from "1 ms" = Span::from_ms(500);
    /// Factor by which the time to the next discovery grows.
    request_backoff: u32 [1, 100] = 2;
    /// Maximum number of packets that a node buffers while it discovers routes. A full buffer drops its
    /// oldest packet (`SEND_BUF_SIZE`).
    buffer: usize [0, 1_000_000] = 64;
    /// Whether nodes with a route in their cache answer Route Requests of other nodes
    /// (`dsragent_reply_from_cache_on_propagating`).
    reply_from_cache: bool = true;
    /// Whether nodes learn routes from overheard packets, and report shorter routes to sources
    /// (`dsragent_use_tap`).
    listen: bool = true;
    /// Maximum number of times that a packet is salvaged: a node other than its source sends it by another
    /// route after a link broke (`dsr_salvage_max_attempts`). 0: never.
    salvage_limit: u8 [0, 255] = 15;
    {
        /// Maximum random delay of Route Requests and Route Replies, so that neighbours do not send at the
        /// same time (`RREQ_JITTER`).
        broadcast_jitter: Span = Span::from_ms(10);
        /// Maximum time of a packet in the buffer (`SEND_TIMEOUT`).
        buffer_timeout: Span = Span::from_ms(30_000);
        /// Maximum number of hops of a route. A Route Request has room for 62 addresses (`MAX_SR_LEN`, which
        /// counts nodes).
        route_limit: u16 = 15;
        /// Maximum number of hops of a packet, after which it is dropped (`IP_DEF_TTL`).
        hop_limit: u16 = 32;
    }
}

/// Constants of the protocol.
impl DsrConfig {
    /// Maximum time between two discoveries (`MaxRequestPeriod`, `rt_rq_max_period`).
    pub const REQUEST_PERIOD_MAX: Span = Span::from_ms(10_000);
    /// Time that a non-propagating Route Request waits for a reply before a second one floods the network
    /// (`NonpropRequestTimeout` of RFC 4728, `arp_timeout`).
    pub const NONPROP_REQUEST_TIMEOUT: Span = Span::from_ms(30);
    /// Minimum time between two checks of the buffer; the maximum is twice this time (`BUFFER_CHECK`).
    pub const BUFFER_CHECK: Span = Span::from_ms(30);
    /// Interval of buffered packets that are sent after a Route Reply (`arp_timeout`, as a delay).
    pub const RELEASE_INTERVAL: Span = Span::from_ms(30);
    /// Maximum number of routes in a node's cache for its own packets.
    pub const ROUTES: usize = 30;
    /// Maximum number of routes in a node's cache from forwarded or overheard packets.
    pub const OVERHEARD_ROUTES: usize = 64;
}

parameters! {
    ($)
    /// Parameters of DSDV, with the defaults of ns-2.35 and its names in brackets.
    #[derive(Clone, Debug, PartialEq)]
    DsdvConfig, listed by dsdv_parameters:
    /// Maximum interval of full updates, which is random between three quarters of this time and this time
    /// (`perup_`).
    update_period: Span from "1 ms" = Span::from_ms(15_000);
    /// Initial settling time. A route to a new destination is advertised after twice this time (`wst0_`).
    settling_time: Span from "0 s" = Span::from_ms(6_000);
    /// Maximum number of packets that a node buffers for each destination without a route. A full buffer
    /// drops its oldest packet (`MAX_QUEUE_LENGTH`).
    buffer: usize [0, 1_000_000] = 5;
    /// Whether a packet that the MAC drops at its retry limit breaks the link at once, and is routed again
    /// (`use_mac_`). Otherwise the packet is lost, and a link break is detected from the neighbour's silence.
    use_mac: bool = false;
    {
        /// Number of update periods of silence after which a neighbour is lost (`min_update_periods_`).
        missed_updates: u32 = 3;
        /// Minimum time between triggered updates (`DSDV_MIN_TUP_PERIOD`).
        triggered_interval: Span = Span::from_ms(1_000);
        /// Maximum random delay of the first update (`DSDV_STARTUP_JITTER`).
        start_jitter: Span = Span::from_ms(2_000);
        /// Maximum random delay of an update, so that neighbours do not send at the same time
        /// (`DSDV_BROADCAST_JITTER`).
        broadcast_jitter: Span = Span::from_ms(10);
        /// Maximum number of hops of a packet, after which it is dropped (`IP_DEF_TTL`).
        hop_limit: u16 = 32;
    }
}

/// Constants of the protocol.
impl DsdvConfig {
    /// Weight of the previous value in the moving average of a destination's settling time (`alpha_`).
    pub const SETTLING_WEIGHT: f64 = 0.875;
    /// Size of an entry of an update, in bytes.
    pub const ENTRY_SIZE: u32 = 12;
    /// Size of an update without its entries, IP header included, in bytes.
    pub const HEADER_SIZE: u32 = 20;
    /// Maximum number of entries of an update, which limits it to 1500 bytes. Longer updates are sent in
    /// parts.
    pub const ENTRIES: usize = ((1500 - DsdvConfig::HEADER_SIZE) / DsdvConfig::ENTRY_SIZE) as usize;
}
