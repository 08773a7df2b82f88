//! Parameters of AODV.

use multihop_core::Span;

/// Parameters of AODV. What ns-2 calls them is in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct AodvConfig {
    /// Consecutive packets to a next hop that the MAC gives up before the link counts as broken; ns-2: 1.
    pub failures: u32,
    /// Schemes whose packets break no link, as indices into [`Config::schemes`](super::Config::schemes). In ns-2, all but TCP: what is
    /// not among its data packets (`DATA_PACKET`), such as TFRC's, is just lost.
    pub blind_to: Vec<usize>,
    /// Links break because the MAC says so (`AODV_LINK_LAYER_DETECTION`); otherwise by a neighbour's silence, and all nodes say hello.
    pub link_layer_detection: bool,
    /// Mean time between hellos, and between looks for neighbours that are silent (`HELLO_INTERVAL`).
    pub hello_interval: Span,
    /// Hellos that a neighbour may miss (`ALLOWED_HELLO_LOSS`).
    pub allowed_hello_loss: u32,
    /// A neighbour is lost after so many times `allowed_hello_loss` hello intervals of silence.
    pub hello_slack: f64,
    /// How long a route lives after a packet took it (`ACTIVE_ROUTE_TIMEOUT`).
    pub active_route_timeout: Span,
    /// How long a route lives that the destination itself tells of (`MY_ROUTE_TIMEOUT`).
    pub my_route_timeout: Span,
    /// How long a route back to who asks lives (`REV_ROUTE_LIFE`).
    pub reverse_route_life: Span,
    /// How long a node knows which requests it has seen (`BCAST_ID_SAVE`).
    pub request_memory: Span,
    /// Hops that the first request of a ring search goes (`TTL_START`).
    pub ttl_start: u16,
    /// How many more each further one goes (`TTL_INCREMENT`).
    pub ttl_increment: u16,
    /// After a request that went so many hops, or more, everyone is asked (`TTL_THRESHOLD`).
    pub ttl_threshold: u16,
    /// Hops that a request to everyone goes, and that replies go (`NETWORK_DIAMETER`).
    pub network_diameter: u16,
    /// A destination whose distance was never known is looked for by rings as well (RFC 3561, 6.4); in ns-2, everyone is asked at
    /// once.
    pub ring_search_first: bool,
    /// Requests to everyone after the first that bring no answer, before a node gives up for `hold_down` (`RREQ_RETRIES`).
    pub request_retries: u32,
    /// How long a node that gave up sends no more requests for this destination (`MAX_RREQ_TIMEOUT`).
    pub hold_down: Span,
    /// Longest time to wait for a reply (`MAX_RREQ_TIMEOUT`).
    pub request_timeout_max: Span,
    /// Time per hop, there or back, until latencies are known (`NODE_TRAVERSAL_TIME`).
    pub node_traversal_time: Span,
    /// Latencies of discoveries whose mean is taken instead once there are some; 0 for none (`MAX_HISTORY`).
    pub latency_samples: usize,
    /// A node's own requests are held back for a random time up to this. ns-2 sends them at once, as its MAC always draws a back-off.
    /// That of the standard does not: nodes that ask at the same instant collide each time.
    pub request_jitter: Span,
    /// Requests that are relayed, and errors that are passed on, are held back for a random time up to this.
    pub broadcast_jitter: Span,
    /// Nodes that know a route answer requests for other nodes.
    pub intermediate_replies: bool,
    /// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the source.
    pub local_repair: LocalRepair,
    /// What `LocalRepair::Rfc` adds to the hops that its request goes (`LOCAL_ADD_TTL` of RFC 3561).
    pub local_add_ttl: u16,
    /// Packets that a node holds while it looks for routes; the oldest makes room (`AODV_RTQ_MAX_LEN`).
    pub buffer: usize,
    /// How long each is held at most (`AODV_RTQ_TIMEOUT`).
    pub buffer_timeout: Span,
    /// Of packets that a reply lets go, each leaves this much after the one before (`ARP_DELAY`).
    pub release_interval: Span,
    /// How often a node looks for routes that have expired, and for packets that still wait (`FREQUENCY`).
    pub check_interval: Span,
    /// Packets that took this many hops are not forwarded any more (`NETWORK_DIAMETER`).
    pub hop_limit: u16,
    /// Bytes of a request, IP header included.
    pub request_size: u32,
    /// Bytes of a reply or a hello, IP header included.
    pub reply_size: u32,
    /// Bytes of an error without destinations, IP header included.
    pub error_size: u32,
    /// Bytes of each destination in it.
    pub error_entry_size: u32,
}

/// What a node does with a packet that it cannot pass on, if it is nearer to the destination than to the source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LocalRepair {
    /// Loses it, as nodes farther away do.
    Off,
    /// Looks for the destination, as ns-2.35 does: with the number of the route that broke, with which nodes behind the break answer
    /// what brings nothing new, and until an instant that ns-2 takes for a delay, so late that it hardly ever comes.
    Ns2,
    /// Looks for the destination as RFC 3561 has it (6.12): once, with a greater number, and tells of the break if nothing comes of it.
    Rfc,
}

impl Default for AodvConfig {
    /// ns-2.35's.
    fn default() -> AodvConfig {
        AodvConfig {
            failures: 1,
            blind_to: Vec::new(),
            link_layer_detection: true,
            hello_interval: Span::from_ms(1_000),
            allowed_hello_loss: 3,
            hello_slack: 1.5,
            active_route_timeout: Span::from_ms(10_000),
            my_route_timeout: Span::from_ms(10_000),
            reverse_route_life: Span::from_ms(6_000),
            request_memory: Span::from_ms(6_000),
            ttl_start: 5,
            ttl_increment: 2,
            ttl_threshold: 7,
            network_diameter: 30,
            ring_search_first: false,
            request_retries: 3,
            hold_down: Span::from_ms(10_000),
            request_timeout_max: Span::from_ms(10_000),
            node_traversal_time: Span::from_ms(30),
            latency_samples: 3,
            request_jitter: Span::ZERO,
            broadcast_jitter: Span::from_ms(10),
            intermediate_replies: true,
            local_repair: LocalRepair::Ns2,
            local_add_ttl: 2,
            buffer: 64,
            buffer_timeout: Span::from_ms(30_000),
            release_interval: Span::from_ms(10),
            check_interval: Span::from_ms(500),
            hop_limit: 30,
            request_size: 48,
            reply_size: 44,
            error_size: 24,
            error_entry_size: 8,
        }
    }
}
