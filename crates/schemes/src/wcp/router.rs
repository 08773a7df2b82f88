//! Router of WCP: congestion and round-trip times of the links that share the medium.
//!
//! A link is congested while the mean length of its queue exceeds a threshold. Nodes broadcast this of their
//! outgoing and incoming links. The sender of a link marks a packet if it knows of a congested link, and so
//! does the receiver: together they know the neighbourhood of the link.

use super::header::WcpHeader;
use crate::neighbourhood::{
    BroadcastTimer, DirectedLink, KnownLink, LinkTable, Origin, last_octets, read, write,
};
use multihop_core::{Carrier, Header, HeaderBytes, NodeId, Packet, Span, Time, header};
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
        /// Mean round-trip time of the flows of the link; 0 if unknown
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
    /// Weight of a new value in the means of queues and round-trip times.
    pub weight: f64,
    /// Broadcasts.
    pub signalling: Signalling,
}

/// State of a link that a router knows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LinkState {
    /// Mean queue in packets.
    queue: f64,
    /// Mean round-trip time of the link's flows in seconds, once known.
    rtt: Option<f64>,
}

/// Link of the node itself.
#[derive(Clone, Copy, Debug)]
struct OwnLink {
    next_hop: NodeId,
    /// Packets in the queue, with the one in transmission.
    packets: u64,
    state: LinkState,
    sequence: u8,
    last_used: Time,
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
            let state = LinkState { queue: 0.0, rtt: None };
            self.own.push(OwnLink { next_hop, packets: 0, state, sequence: 0, last_used: now });
            self.own.len() - 1
        });
        &mut self.own[index]
    }

    /// States of all links that the node knows: its own as they are now, and others as signalled.
    fn states(&self) -> impl Iterator<Item = &LinkState> {
        let others = self.table.entries().iter().filter(|known| known.origin != Origin::Own);
        self.own.iter().map(|own| &own.state).chain(others.map(|known| &known.value))
    }

    /// Whether a known link is congested.
    fn is_congested(&self) -> bool {
        self.states().any(|state| state.queue > self.constants.threshold)
    }

    /// Mean round-trip time of the known links in microseconds; 0 if unknown.
    fn mean_rtt_us(&self) -> u32 {
        let (sum, count) = self
            .states()
            .filter_map(|state| state.rtt)
            .fold((0.0, 0.0), |(sum, count): (f64, f64), rtt| (sum + rtt, count + 1.0));
        if count > 0.0 { (sum / count * 1e6).clamp(1.0, 4e9) as u32 } else { 0 }
    }

    /// Adds what this end of a link knows to the header of a data packet.
    fn mark(&self, header: WcpHeader, packet: &mut Packet) {
        packet.segment.feedback = HeaderBytes::of(&WcpHeader {
            congested: header.congested || self.is_congested(),
            neighbourhood_rtt: header.neighbourhood_rtt.max(self.mean_rtt_us()),
            ..header
        });
    }
}

fn data_header(packet: &Packet) -> Option<WcpHeader> {
    if packet.segment.payload == 0 { None } else { packet.segment.feedback.parse() }
}

fn moved(mean: f64, weight: f64, value: f64) -> f64 {
    mean + weight * (value - mean)
}

fn entry(known: &KnownLink<LinkState>) -> WcpEntry {
    let [from, to] = last_octets(known.link);
    let queue = (known.value.queue * PACKET).round().min(f64::from(u16::MAX)) as u16;
    let rtt = known.value.rtt.map_or(0, WcpHeader::rtt_units);
    WcpEntry { from, to, queue, rtt, sequence: known.sequence }
}

impl RouterPolicy for WcpRouter {
    fn on_backlog(&mut self, now: Time, next_hop: NodeId, bytes: i64) {
        let weight = self.constants.weight;
        let lifetime = self.constants.signalling.lifetime;
        let own = self.own_link(now, next_hop);
        if own.packets == 0 && now.since(own.last_used) > lifetime {
            own.state.queue = 0.0;
        }
        own.packets = own.packets.saturating_add_signed(bytes.signum());
        own.state.queue = moved(own.state.queue, weight, own.packets as f64);
        own.last_used = now;
        self.broadcasts.plan(now, true);
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        self.table.expire(hop.now);
        if header.rtt > 0 {
            let (weight, sample) = (self.constants.weight, f64::from(header.rtt) / 1e4);
            let state = &mut self.own_link(hop.now, hop.peer).state;
            state.rtt = Some(state.rtt.map_or(sample, |mean| moved(mean, weight, sample)));
        }
        self.mark(header, packet);
        Verdict::Pass
    }

    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        self.table.expire(hop.now);
        self.mark(header, packet);
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

    /// Broadcasts the links in use. A link without packets for longer than the lifetime is forgotten, and its
    /// mean queue with it.
    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        let (id, lifetime) = (self.id, self.constants.signalling.lifetime);
        let table = &mut self.table;
        self.own.retain_mut(|own| {
            let link = DirectedLink { from: id, to: own.next_hop };
            let is_used = own.packets > 0 || now.since(own.last_used) <= lifetime;
            if is_used {
                own.sequence = own.sequence.wrapping_add(1);
                table.learn(now, link, 0, own.state, own.sequence);
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
            let state = LinkState { queue: 0.0, rtt: None };
            *own = OwnLink { state, sequence: 0, last_used: now, ..*own };
        }
        self.broadcasts.plan(now, !self.own.is_empty());
    }
}

#[cfg(test)]
mod tests;
