//! Parameters of routing protocols. Each is written once, here: name, default, range, and what it is for.

use multihop_config::parameters;
use multihop_core::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

parameters! {
    ($)
    /// Parameters of AODV, by default ns-2.35's, whose names are in brackets.
    #[derive(Clone, Debug, PartialEq)]
    AodvConfig, listed by aodv_parameters:
    /// Consecutive packets to a next hop that the MAC gives up before the link counts as broken. Those before
    /// the last are lost.
    failures: u32 [1, 1000] = 1;
    /// Schemes whose packets break no link when the MAC gives them up (`DATA_PACKET`). ns-2 is blind to all
    /// but TCP and CBR: to `tfrc`, for example.
    blind_to: (Vec<usize> as Vec<String> = Vec::new()) = Vec::new();
    /// Links break because the MAC gives packets up (`AODV_LINK_LAYER_DETECTION`). Otherwise by a neighbour's
    /// silence: all nodes say hello.
    link_layer_detection: bool = true;
    /// Mean time between hellos, which vary by a quarter of it (`HELLO_INTERVAL`). Only without
    /// `link_layer_detection`.
    hello_interval: Span from "1 ms" = Span::from_ms(1_000);
    /// How long a route lives after a packet took it (`ACTIVE_ROUTE_TIMEOUT`).
    active_route_timeout: Span from "1 ms" = Span::from_ms(10_000);
    /// Network-wide RREQs after the first that bring no RREP, before the node drops the packets that wait,
    /// and pauses (`RREQ_RETRIES`).
    rreq_retries: u32 [0, 1000] = 3;
    /// Nodes that know a route answer RREQs for other nodes.
    intermediate_replies: bool = true;
    /// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the
    /// source.
    local_repair: [LocalRepair] = LocalRepair::Ns2;
    /// Packets that a node holds while it looks for routes; the oldest makes room (`AODV_RTQ_MAX_LEN`).
    buffer: usize [0, 1_000_000] = 64;
    /// Size of an RREQ, IP header included.
    rreq_size: Bytes from "1 B" to "2304 B" = 48;
    /// Size of an RREP or a hello, IP header included.
    rrep_size: Bytes from "1 B" to "2304 B" = 44;
    /// Size of an RERR without destinations, IP header included.
    rerr_size: Bytes from "1 B" to "2304 B" = 24;
    {
        /// Hops that a network-wide RREQ goes, and that RREPs go (`NETWORK_DIAMETER`).
        network_diameter: u16 = 30;
        /// A node's own RREQs are held back for a random time up to this, lest nodes send at once. It takes none
        /// by default where the MAC always draws a back-off, as with the rules of ns-2.
        rreq_jitter: Span = Span::ZERO;
        /// RREQs and RERRs that are relayed are held back for a random time up to this.
        broadcast_jitter: Span = Span::from_ms(10);
        /// Packets that took this many hops are not forwarded any more (`NETWORK_DIAMETER`).
        hop_limit: u16 = 30;
    }
}

/// Constants of the protocol.
impl AodvConfig {
    /// Hellos that a neighbour may miss (`ALLOWED_HELLO_LOSS`).
    pub const ALLOWED_HELLO_LOSS: u32 = 3;
    /// A neighbour is lost after this many times `ALLOWED_HELLO_LOSS` hello intervals of silence.
    pub const HELLO_SLACK: f64 = 1.5;
    /// How long a route lives that the destination itself advertises (`MY_ROUTE_TIMEOUT`).
    pub const MY_ROUTE_TIMEOUT: Span = Span::from_ms(10_000);
    /// How long a reverse route lives (`REV_ROUTE_LIFE`).
    pub const REVERSE_ROUTE_LIFE: Span = Span::from_ms(6_000);
    /// How long a node knows which RREQs it has received (`PATH_DISCOVERY_TIME` of RFC 3561,
    /// `BCAST_ID_SAVE`).
    pub const PATH_DISCOVERY_TIME: Span = Span::from_ms(6_000);
    /// Hops that the first RREQ of an expanding ring search goes (`TTL_START`).
    pub const TTL_START: u16 = 5;
    /// How many more each further one goes (`TTL_INCREMENT`).
    pub const TTL_INCREMENT: u16 = 2;
    /// After an RREQ that went this many hops, or for a destination that was as far away, the RREQ floods the
    /// network (`TTL_THRESHOLD`).
    pub const TTL_THRESHOLD: u16 = 7;
    /// How long it pauses (`MAX_RREQ_TIMEOUT`).
    pub const HOLD_DOWN: Span = Span::from_ms(10_000);
    /// Longest time that it waits for an RREP (`MAX_RREQ_TIMEOUT`).
    pub const RREQ_TIMEOUT_MAX: Span = Span::from_ms(10_000);
    /// Time that a message takes per hop, until latencies are known (`NODE_TRAVERSAL_TIME`).
    pub const NODE_TRAVERSAL_TIME: Span = Span::from_ms(30);
    /// The last so many latencies of discoveries, whose mean is taken instead (`MAX_HISTORY`).
    pub const LATENCY_SAMPLES: usize = 3;
    /// `rfc3561` only: hops that the RREQ of a local repair goes beyond the destination's distance
    /// (`LOCAL_ADD_TTL` of RFC 3561).
    pub const LOCAL_ADD_TTL: u16 = 2;
    /// How long each is held at most (`AODV_RTQ_TIMEOUT`).
    pub const BUFFER_TIMEOUT: Span = Span::from_ms(30_000);
    /// Of packets that an RREP lets go, each leaves this much after the one before (`ARP_DELAY`).
    pub const RELEASE_INTERVAL: Span = Span::from_ms(10);
    /// How often a node looks for routes that have expired, and for packets that still wait (`FREQUENCY`).
    pub const CHECK_INTERVAL: Span = Span::from_ms(500);
    /// Size of each unreachable destination in an RERR.
    pub const RERR_DESTINATION_SIZE: u32 = 8;
}

/// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the
/// source.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalRepair {
    /// Loses it, as nodes farther away do.
    Off,
    /// Holds it and asks for the destination as ns-2.35 does: with the sequence number of the route that
    /// broke, with which nodes beyond the break reply with routes that are no newer, and until an instant
    /// that ns-2 takes for a delay, so late that it hardly ever comes.
    Ns2,
    /// Looks for the destination as RFC 3561 has it (6.12): once, with a greater number, and sends an RERR if
    /// nothing comes of it.
    #[serde(rename = "rfc3561")]
    Rfc,
}

parameters! {
    ($)
    /// Parameters of DSR, by default ns-2.35's, but RFC 4728's for how often routes are looked for. ns-2's
    /// names are in brackets.
    #[derive(Clone, Debug, PartialEq)]
    DsrConfig, listed by dsr_parameters:
    /// Consecutive packets to a next hop that the MAC gives up before the link counts as broken. Those before
    /// the last are lost.
    failures: u32 [1, 1000] = 1;
    /// Time between the first discovery of a route and the second, if the first finds none (`RequestPeriod`).
    request_period: Span from "1 ms" = Span::from_ms(500);
    /// Factor by which each further time is longer.
    request_backoff: u32 [1, 100] = 2;
    /// Packets that a node holds while it looks for routes; the oldest makes room (`SEND_BUF_SIZE`).
    buffer: usize [0, 1_000_000] = 64;
    /// Nodes that know a route answer Route Requests for other nodes
    /// (`dsragent_reply_from_cache_on_propagating`).
    reply_from_cache: bool = true;
    /// Nodes learn from packets that they overhear, and report shorter routes to sources
    /// (`dsragent_use_tap`).
    listen: bool = true;
    /// How often other nodes than its source may send a packet on by another route where a link broke
    /// (`dsr_salvage_max_attempts`). 0: never.
    salvage_limit: u8 [0, 255] = 15;
    {
        /// Route Requests and Route Replies are held back for a random time up to this, lest neighbours send at
        /// once (`RREQ_JITTER`).
        broadcast_jitter: Span = Span::from_ms(10);
        /// How long each is held at most (`SEND_TIMEOUT`).
        buffer_timeout: Span = Span::from_ms(30_000);
        /// Hops of the longest route; a route request has room for 62 addresses (`MAX_SR_LEN`, which counts
        /// nodes).
        route_limit: u16 = 15;
        /// Packets that took this many hops are not forwarded any more (`IP_DEF_TTL`).
        hop_limit: u16 = 32;
    }
}

/// Constants of the protocol.
impl DsrConfig {
    /// Longest time between two discoveries (`MaxRequestPeriod`, `rt_rq_max_period`).
    pub const REQUEST_PERIOD_MAX: Span = Span::from_ms(10_000);
    /// A discovery begins with a non-propagating Route Request, and floods the network if no reply came for
    /// this time (`NonpropRequestTimeout` of RFC 4728, `arp_timeout`).
    pub const NONPROP_REQUEST_TIMEOUT: Span = Span::from_ms(30);
    /// Held packets are looked through after random times between this and twice this (`BUFFER_CHECK`).
    pub const BUFFER_CHECK: Span = Span::from_ms(30);
    /// Of packets that a reply lets go, each leaves this much after the one before (`arp_timeout`, as a
    /// delay).
    pub const RELEASE_INTERVAL: Span = Span::from_ms(30);
    /// Routes that a node keeps for its own packets.
    pub const ROUTES: usize = 30;
    /// Routes that it keeps because it forwarded or overheard packets on them.
    pub const OVERHEARD_ROUTES: usize = 64;
}

parameters! {
    ($)
    /// Parameters of DSDV, by default ns-2.35's, whose names are in brackets.
    #[derive(Clone, Debug, PartialEq)]
    DsdvConfig, listed by dsdv_parameters:
    /// Full updates follow each other after a random time between three quarters of this and this (`perup_`).
    update_period: Span from "1 ms" = Span::from_ms(15_000);
    /// First value of the settling time: a route to a new destination is advertised after twice this
    /// (`wst0_`).
    settling_time: Span from "0 s" = Span::from_ms(6_000);
    /// Packets that wait for a route at a node, per destination; the oldest makes room (`MAX_QUEUE_LENGTH`).
    buffer: usize [0, 1_000_000] = 5;
    /// The MAC's failure to deliver a packet breaks the link at once, and the packet is routed again
    /// (`use_mac_`). Otherwise only that packet is lost, and a break is found by the neighbour's silence.
    use_mac: bool = false;
    {
        /// A neighbour is lost after this many update periods of silence (`min_update_periods_`).
        missed_updates: u32 = 3;
        /// Least time between triggered updates (`DSDV_MIN_TUP_PERIOD`).
        triggered_interval: Span = Span::from_ms(1_000);
        /// The first update comes after a random time up to this (`DSDV_STARTUP_JITTER`).
        start_jitter: Span = Span::from_ms(2_000);
        /// Each update is held back for a random time up to this, lest neighbours send at once
        /// (`DSDV_BROADCAST_JITTER`).
        broadcast_jitter: Span = Span::from_ms(10);
        /// Packets that took this many hops are not forwarded any more (`IP_DEF_TTL`).
        hop_limit: u16 = 32;
    }
}

/// Constants of the protocol.
impl DsdvConfig {
    /// Weight of the past in the settling time of a destination (`alpha_`).
    pub const SETTLING_WEIGHT: f64 = 0.875;
    /// Size of an entry of an update.
    pub const ENTRY_SIZE: u32 = 12;
    /// Size of an update besides its entries, IP header included.
    pub const HEADER_SIZE: u32 = 20;
    /// Entries of an update at most, so that it has no more than 1500 bytes; longer ones are sent in parts.
    pub const ENTRIES: usize = ((1500 - DsdvConfig::HEADER_SIZE) / DsdvConfig::ENTRY_SIZE) as usize;
}
