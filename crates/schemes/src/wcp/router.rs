//! Router of WCP: congestion and round-trip times of the links that share the medium.
//!
//! A link is congested while the mean length of its queue exceeds a threshold. Nodes broadcast this of their
//! outgoing and incoming links. The sender of a link marks a packet if it knows of a congested link, and so
//! does the receiver: together they know the neighbourhood of the link.

use super::header::WcpHeader;
use super::queue_mean::{MeanConstants, QueueMean};
use crate::neighbourhood::{
    BroadcastTimer, DirectedLink, KnownLink, LinkTable, Origin, last_octets, read, write,
};
use multihop_core::{Carrier, FlowId, Header, HeaderBytes, NodeId, Packet, Span, Time, header};
use multihop_link::{Hop, LinkView, Notice, RouterPolicy, Verdict};

header! {
    /// Entry of a broadcast of WCP; a broadcast is a sequence of entries
    pub(crate) struct WcpEntry: "wcp_entry" = 7 of 7 {
        /// Last octet of the address of the link's sending node
        from: u8 [0..1] "",
        /// Last octet of the address of the link's receiving node
        to: u8 [1..2] "",
        /// Mean queue of the link
        queue: u16 [2..4] "packets/256",
        /// Largest round-trip time of a flow of the link; 0 if unknown
        rtt: u16 [4..6] "100 us",
        /// Number of the entry
        sequence: u8 [6..7] "",
    }
}

/// The other UDP port "use for experiments" (RFC 4727); routers of EWCCP have the first.
pub(super) const CARRIER: Carrier = Carrier::Udp(1_022);

/// Packets of a queue in one unit on the air.
const PACKET: f64 = 256.0;
/// Number of hops over which links are signalled.
const HOPS: u8 = 1;
/// Time without a packet after which a flow no longer uses a link: two packets at the minimum rate of a
/// sender.
const FLOW_LIFETIME: Span = Span::from_ms(2_000);

/// Constants of a router of WCP or WCPCap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signalling {
    /// Time between broadcasts; none if there are no neighbours.
    pub interval: Option<Span>,
    /// Maximum random variation of that time, as a share of it.
    pub jitter: f64,
    /// Lifetime of a signalled link.
    pub lifetime: Span,
    /// Bytes of a broadcast besides its entries.
    pub header: u32,
}

impl Signalling {
    /// Creates the timer of the broadcasts of entries of this length.
    pub fn timer(&self, entry: usize, seed: u64) -> BroadcastTimer {
        BroadcastTimer::new(self.interval, self.jitter, self.header, entry as u32, seed)
    }
}

/// Constants of a WCP router.
#[derive(Clone, Copy, Debug)]
pub(super) struct WcpConstants {
    /// Mean queue above which a link is congested, in packets, `K`.
    pub threshold: f64,
    /// Means of queues.
    pub mean: MeanConstants,
    /// Broadcasts.
    pub signalling: Signalling,
}

/// State of a link that a router knows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LinkState {
    /// Mean queue in packets.
    queue: f64,
    /// Largest round-trip time of the link's flows in seconds, once known.
    rtt: Option<f64>,
}

/// Round-trip time of a flow of a link.
#[derive(Clone, Copy, Debug)]
struct FlowRtt {
    flow: FlowId,
    /// Round-trip time of the sender in seconds.
    seconds: f64,
    /// Time of the last packet.
    at: Time,
}

/// Link of the node itself.
#[derive(Debug)]
struct OwnLink {
    next_hop: NodeId,
    queue: QueueMean,
    flows: Vec<FlowRtt>,
    sequence: u8,
    last_used: Time,
}

impl OwnLink {
    fn new(now: Time, next_hop: NodeId) -> OwnLink {
        OwnLink { next_hop, queue: QueueMean::new(now), flows: Vec::new(), sequence: 0, last_used: now }
    }

    fn state(&self, now: Time, constants: MeanConstants) -> LinkState {
        let current = self.flows.iter().filter(|known| now.since(known.at) <= FLOW_LIFETIME);
        let rtt = current.map(|known| known.seconds).reduce(f64::max);
        LinkState { queue: self.queue.at(now, constants), rtt }
    }

    /// Records the round-trip time in a packet of a flow.
    fn note_rtt(&mut self, now: Time, flow: FlowId, seconds: f64) {
        self.flows.retain(|known| known.flow != flow && now.since(known.at) <= FLOW_LIFETIME);
        self.flows.push(FlowRtt { flow, seconds, at: now });
    }
}

/// Router policy of WCP at one queue.
pub(super) struct WcpRouter {
    id: NodeId,
    constants: WcpConstants,
    own: Vec<OwnLink>,
    table: LinkTable<LinkState>,
    broadcasts: BroadcastTimer,
}

impl WcpRouter {
    /// Creates the policy of node `id` at a queue.
    pub fn new(id: NodeId, constants: WcpConstants, seed: u64) -> WcpRouter {
        let Signalling { lifetime, .. } = constants.signalling;
        WcpRouter {
            id,
            own: Vec::new(),
            table: LinkTable::new(id, lifetime),
            broadcasts: constants.signalling.timer(WcpEntry::LAYOUT.len, seed),
            constants,
        }
    }

    fn own_link(&mut self, now: Time, next_hop: NodeId) -> &mut OwnLink {
        let known = self.own.iter().position(|own| own.next_hop == next_hop);
        let index = known.unwrap_or_else(|| {
            self.own.push(OwnLink::new(now, next_hop));
            self.own.len() - 1
        });
        &mut self.own[index]
    }

    /// States of all links that the node knows: its own as they are now, and others as signalled.
    fn states(&self, now: Time) -> impl Iterator<Item = LinkState> {
        let others = self.table.entries().iter().filter(|known| known.origin != Origin::Own);
        let own = self.own.iter().map(move |own| own.state(now, self.constants.mean));
        own.chain(others.map(|known| known.value))
    }

    /// Whether a known link is congested.
    fn is_congested(&self, now: Time) -> bool {
        self.states(now).any(|state| state.queue > self.constants.threshold)
    }

    /// Largest round-trip time of a flow of the known links in microseconds; 0 if unknown.
    fn largest_rtt_us(&self, now: Time) -> u32 {
        let largest = self.states(now).filter_map(|state| state.rtt).reduce(f64::max);
        largest.map_or(0, |seconds| (seconds * 1e6).clamp(1.0, 4e9) as u32)
    }

    /// Adds what this end of a link knows to the header of a data packet.
    fn mark(&self, now: Time, header: WcpHeader, packet: &mut Packet) {
        packet.segment.feedback = HeaderBytes::of(&WcpHeader {
            congested: header.congested || self.is_congested(now),
            neighbourhood_rtt: header.neighbourhood_rtt.max(self.largest_rtt_us(now)),
            ..header
        });
    }
}

fn data_header(packet: &Packet) -> Option<WcpHeader> {
    if packet.segment.payload == 0 { None } else { packet.segment.feedback.parse() }
}

fn entry(known: &KnownLink<LinkState>) -> WcpEntry {
    let [from, to] = last_octets(known.link);
    let queue = (known.value.queue * PACKET).round().min(f64::from(u16::MAX)) as u16;
    let rtt = known.value.rtt.map_or(0, WcpHeader::rtt_units);
    WcpEntry { from, to, queue, rtt, sequence: known.sequence }
}

impl RouterPolicy for WcpRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn on_backlog(&mut self, now: Time, next_hop: NodeId, bytes: i64) {
        let constants = self.constants.mean;
        let own = self.own_link(now, next_hop);
        own.queue.change(now, bytes.signum(), constants);
        own.last_used = now;
        self.broadcasts.plan(now, true);
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        self.table.expire(hop.now);
        if header.rtt > 0 {
            self.own_link(hop.now, hop.peer).note_rtt(hop.now, packet.flow, f64::from(header.rtt) / 1e4);
        }
        self.mark(hop.now, header, packet);
        Verdict::Pass
    }

    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        self.table.expire(hop.now);
        self.mark(hop.now, header, packet);
        Verdict::Pass
    }

    fn on_notice(&mut self, now: Time, _from: NodeId, content: &[u8]) {
        for (link, WcpEntry { queue, rtt, sequence, .. }) in read(content) {
            // The node knows its own queues better than any neighbour.
            if link.from != self.id {
                let rtt = (rtt > 0).then(|| f64::from(rtt) / 1e4);
                let state = LinkState { queue: f64::from(queue) / PACKET, rtt };
                self.table.learn(now, link, HOPS, state, sequence);
            }
        }
        self.broadcasts.plan(now, !self.table.is_empty());
    }

    /// Broadcasts the links in use. A link without packets for longer than the lifetime is forgotten.
    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        let (id, mean) = (self.id, self.constants.mean);
        let lifetime = self.constants.signalling.lifetime.max(FLOW_LIFETIME);
        let table = &mut self.table;
        self.own.retain_mut(|own| {
            let link = DirectedLink { from: id, to: own.next_hop };
            let is_used = own.queue.packets() > 0 || now.since(own.last_used) <= lifetime;
            if is_used {
                own.sequence = own.sequence.wrapping_add(1);
                table.learn(now, link, 0, own.state(now, mean), own.sequence);
            } else {
                table.forget(link);
            }
            is_used
        });
        self.table.expire(now);
        if !self.broadcasts.begin(now, !self.table.is_empty()) {
            return None;
        }
        self.broadcasts.notice::<WcpEntry>(CARRIER, write(self.table.entries(), HOPS, entry))
    }

    fn next_notice(&self) -> Option<Time> {
        self.broadcasts.next()
    }

    /// Forgets the table and the means. Packets in the queues remain.
    fn on_restart(&mut self, now: Time) {
        self.table.clear();
        self.broadcasts.cancel();
        for own in &mut self.own {
            own.queue.forget(now);
            own.flows.clear();
            (own.sequence, own.last_used) = (0, now);
        }
        self.broadcasts.plan(now, !self.own.is_empty());
    }
}

#[cfg(test)]
mod tests;
