//! Router of WCPCap: the rate that the neighbourhood has for each flow.
//!
//! Each epoch a node divides the airtime of its neighbourhood max-min among the flows of the known links:
//!
//! `rate = (1 - reserve - sum of the airtime of flows limited elsewhere) / sum of airtime per byte of others`
//!
//! For flows that all send at the present rate this equals the present rate plus the residual airtime over
//! the sum of the airtimes per byte. A flow is limited elsewhere if its rate is below the rate that this node
//! assigned.
//!
//! The rate of a flow is the least of all neighbourhoods that its links are in. Nodes therefore signal the
//! rates that they assign, and a node limits its packets to the least rate of the links that it knows.

use super::header::WcpCapHeader;
use super::router::Signalling;
use crate::neighbourhood::{
    BroadcastTimer, DirectedLink, KnownLink, LinkTable, Origin, last_octets, read, write,
};
use multihop_core::{
    Carrier, Exchange, Fate, FlowId, Header, HeaderBytes, LinkEvent, NodeId, Packet, Span, Time, header,
};
use multihop_link::{Hop, LinkView, Notice, RouterPolicy, Verdict};

header! {
    /// Entry of a broadcast of WCPCap; a broadcast is a sequence of entries
    pub(crate) struct WcpCapEntry: "wcp_cap_entry" = 15 of 15 {
        /// Last octet of the address of the link's sending node
        from: u8 [0..1] "",
        /// Last octet of the address of the link's receiving node
        to: u8 [1..2] "",
        /// Airtime of the link that does not follow the assigned rate
        taken: u16 [2..4] "1/10000",
        /// Airtime per payload byte, summed over the flows that follow the assigned rate
        cost: u16 [4..6] "10 ns",
        /// Rate of each flow that follows the assigned rate, in payload bytes; all ones if unlimited
        rate: u32 [6..10] "B/s",
        /// Rate that the link's sending node assigns to each flow of its neighbourhood, in payload bytes; all
        /// ones if it assigns none
        assigned: u32 [10..14] "B/s",
        /// Number of the entry
        sequence: u8 [14..15] "",
    }
}

/// UDP port that IANA reserves. Routers of EWCCP and WCP have the two ports "use for experiments" (RFC 4727).
pub(super) const CARRIER: Carrier = Carrier::Udp(1_023);

/// Units of [`WcpCapEntry::taken`] in the whole airtime, and of [`WcpCapEntry::cost`] in a second.
const SHARES: f64 = 1e4;
const COSTS: f64 = 1e8;
/// Number of hops over which links are signalled.
const HOPS: u8 = 1;
/// Share of the assigned rate below which a flow is limited elsewhere.
const LIMITED: f64 = 0.9;

/// Constants of a WCPCap router.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapacityConstants {
    /// Length of an epoch.
    pub epoch: Span,
    /// Share of the airtime that is not assigned.
    pub reserve: f64,
    /// Broadcasts.
    pub signalling: Signalling,
}

/// Use of the airtime by a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LinkUse {
    /// Share of the airtime that does not follow the assigned rate: flows limited elsewhere,
    /// acknowledgements, and other packets.
    taken: f64,
    /// Seconds per payload byte, summed over the flows that follow the assigned rate.
    cost: f64,
    /// Rate of each of these flows in payload bytes per second; none if unlimited.
    rate: Option<f64>,
    /// Rate that the link's sending node assigns to each flow of its neighbourhood; none if unlimited.
    assigned: Option<f64>,
}

/// Flow of an own link in this epoch.
#[derive(Clone, Copy, Debug)]
struct LinkFlow {
    flow: FlowId,
    /// Rate of the sender in bytes per second, as in the latest packet.
    rate: f64,
    /// Payload bytes that the next hop acknowledged.
    bytes: u64,
    /// Whether a packet passed.
    is_active: bool,
}

/// Link of the node itself.
#[derive(Debug)]
struct OwnLink {
    next_hop: NodeId,
    /// Airtime of data of WCPCap, and of other packets, in this epoch.
    data: Span,
    other: Span,
    flows: Vec<LinkFlow>,
    /// Seconds per payload byte in the last epoch with data.
    per_byte: Option<f64>,
    last: LinkUse,
    sequence: u8,
    last_used: Time,
}

impl OwnLink {
    /// Computes the use of the airtime in an epoch, in which flows had at most this rate, and begins the next
    /// one.
    fn end_epoch(&mut self, length: f64, rate: Option<f64>) {
        let bytes: u64 = self.flows.iter().map(|flow| flow.bytes).sum();
        if bytes > 0 {
            self.per_byte = Some(self.data.seconds() / bytes as f64);
        }
        let per_byte = self.per_byte.unwrap_or(0.0);
        self.last = LinkUse { taken: self.other.seconds() / length, rate, ..LinkUse::default() };
        for flow in self.flows.iter().filter(|flow| flow.is_active) {
            if is_below(Some(flow.rate), rate) {
                self.last.taken += flow.bytes as f64 * per_byte / length;
            } else {
                self.last.cost += per_byte;
            }
        }
        (self.data, self.other) = (Span::ZERO, Span::ZERO);
        self.flows.retain(|flow| flow.is_active);
        for flow in &mut self.flows {
            (flow.bytes, flow.is_active) = (0, false);
        }
    }
}

/// Whether a rate is too far below an assigned rate to follow it. No rate is unlimited.
fn is_below(rate: Option<f64>, assigned: Option<f64>) -> bool {
    rate.zip(assigned).is_some_and(|(rate, assigned)| rate < LIMITED * assigned)
}

/// Router policy of WCPCap at one queue.
pub(super) struct CapacityRouter {
    id: NodeId,
    constants: CapacityConstants,
    own: Vec<OwnLink>,
    table: LinkTable<LinkUse>,
    broadcasts: BroadcastTimer,
    /// End of the epoch; none before the first packet.
    epoch_ends: Option<Time>,
    /// Rate for each flow of the neighbourhood in payload bytes per second; none if unlimited.
    assigned: Option<f64>,
}

impl CapacityRouter {
    /// Creates the policy of node `id` at a queue.
    pub fn new(id: NodeId, constants: CapacityConstants, seed: u64) -> CapacityRouter {
        CapacityRouter {
            id,
            own: Vec::new(),
            table: LinkTable::new(id, constants.signalling.lifetime),
            broadcasts: constants.signalling.timer(WcpCapEntry::LAYOUT.len, seed),
            epoch_ends: None,
            assigned: None,
            constants,
        }
    }

    fn own_link(&mut self, now: Time, next_hop: NodeId) -> &mut OwnLink {
        let known = self.own.iter().position(|own| own.next_hop == next_hop);
        let index = known.unwrap_or_else(|| {
            let (data, other, flows, last) = (Span::ZERO, Span::ZERO, Vec::new(), LinkUse::default());
            self.own.push(OwnLink {
                next_hop,
                data,
                other,
                flows,
                per_byte: None,
                last,
                sequence: 0,
                last_used: now,
            });
            self.own.len() - 1
        });
        &mut self.own[index]
    }

    /// Ends the epoch that is over at `now`. An epoch without events is as long as the time without events.
    fn catch_up(&mut self, now: Time) {
        let epoch = self.constants.epoch;
        let Some(ends) = self.epoch_ends else {
            self.epoch_ends = Some(now + epoch);
            return;
        };
        if now < ends {
            return;
        }
        let length = epoch + now.since(ends);
        self.epoch_ends = Some(now + epoch);
        let lifetime = self.constants.signalling.lifetime.max(epoch * 2);
        self.table.expire(now);
        let rate = self.least_rate();
        for own in &mut self.own {
            own.end_epoch(length.seconds(), rate);
        }
        self.own.retain(|own| now.since(own.last_used) <= lifetime);
        self.assign();
    }

    /// Links that the node knows, except its own.
    fn signalled(&self) -> impl Iterator<Item = &LinkUse> {
        self.table.entries().iter().filter(|known| known.origin != Origin::Own).map(|known| &known.value)
    }

    /// Least rate for a flow of an own link: its links are in the neighbourhoods of all known links.
    fn least_rate(&self) -> Option<f64> {
        self.signalled().filter_map(|link| link.assigned).chain(self.assigned).reduce(f64::min)
    }

    /// Computes the rate for each flow from the known links.
    fn assign(&mut self) {
        let (mut taken, mut cost) = (0.0, 0.0);
        for link in self.own.iter().map(|own| &own.last).chain(self.signalled()) {
            taken += link.taken;
            match link.rate.filter(|_| is_below(link.rate, self.assigned)) {
                Some(rate) => taken += rate * link.cost,
                None => cost += link.cost,
            }
        }
        let free = 1.0 - self.constants.reserve - taken;
        self.assigned = match self.assigned {
            _ if cost > 0.0 => Some(free.max(0.0) / cost),
            // No flow follows the assigned rate, and flows limited elsewhere exceed the airtime.
            Some(assigned) if free < 0.0 => Some(assigned / 2.0),
            _ => None,
        };
    }

    /// Limits the rate in the header of a data packet.
    fn limit(&self, header: WcpCapHeader, packet: &mut Packet) {
        let assigned = header.assigned.min(to_units(self.least_rate()));
        packet.segment.feedback = HeaderBytes::of(&WcpCapHeader { assigned, ..header });
    }

    fn count(&mut self, exchange: &Exchange) {
        self.catch_up(exchange.done);
        let own = self.own_link(exchange.done, exchange.peer);
        let tries = u64::from(exchange.data_tries.max(1));
        let airtime = Span::from_ns(exchange.airtime.ns() * tries / u64::from(exchange.mpdus.max(1)));
        let flow = own.flows.iter_mut().find(|flow| flow.flow == exchange.flow && exchange.payload > 0);
        match flow {
            Some(flow) => {
                if exchange.fate == Fate::Acknowledged {
                    flow.bytes += u64::from(exchange.payload);
                }
                own.data += airtime;
            }
            None => own.other += airtime,
        }
        own.last_used = exchange.done;
    }
}

fn data_header(packet: &Packet) -> Option<WcpCapHeader> {
    if packet.segment.payload == 0 { None } else { packet.segment.feedback.parse() }
}

/// Converts a rate to header units, of which all ones mean unlimited.
fn to_units(rate: Option<f64>) -> u32 {
    let most = WcpCapHeader::UNASSIGNED - 1;
    rate.map_or(WcpCapHeader::UNASSIGNED, |rate| (rate.round().max(1.0) as u32).min(most))
}

fn from_units(units: u32) -> Option<f64> {
    (units != WcpCapHeader::UNASSIGNED).then_some(f64::from(units))
}

fn entry(known: &KnownLink<LinkUse>) -> WcpCapEntry {
    let [from, to] = last_octets(known.link);
    let units = |value: f64, scale: f64| (value * scale).round().min(f64::from(u16::MAX)) as u16;
    let LinkUse { taken, cost, rate, assigned } = known.value;
    WcpCapEntry {
        from,
        to,
        taken: units(taken, SHARES),
        cost: units(cost, COSTS),
        rate: to_units(rate),
        assigned: to_units(assigned),
        sequence: known.sequence,
    }
}

impl RouterPolicy for CapacityRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.catch_up(hop.now);
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        let (flow, rate) = (packet.flow, f64::from(header.rate));
        let own = self.own_link(hop.now, hop.peer);
        own.last_used = hop.now;
        let passing = LinkFlow { flow, rate, bytes: 0, is_active: true };
        match own.flows.iter_mut().find(|known| known.flow == flow) {
            Some(known) => *known = LinkFlow { bytes: known.bytes, ..passing },
            None => own.flows.push(passing),
        }
        self.limit(header, packet);
        self.broadcasts.plan(hop.now, true);
        Verdict::Pass
    }

    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.catch_up(hop.now);
        let Some(header) = data_header(packet) else { return Verdict::Pass };
        self.limit(header, packet);
        Verdict::Pass
    }

    fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Exchange(exchange) if exchange.fate != Fate::Broadcast => self.count(exchange),
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Time, _from: NodeId, content: &[u8]) {
        self.catch_up(now);
        for (link, WcpCapEntry { taken, cost, rate, assigned, sequence, .. }) in read(content) {
            // The node knows its own links better than any neighbour.
            if link.from != self.id {
                let value = LinkUse {
                    taken: f64::from(taken) / SHARES,
                    cost: f64::from(cost) / COSTS,
                    rate: from_units(rate),
                    assigned: from_units(assigned),
                };
                self.table.learn(now, link, HOPS, value, sequence);
            }
        }
        self.broadcasts.plan(now, !self.table.is_empty());
    }

    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        self.catch_up(now);
        for own in &mut self.own {
            own.sequence = own.sequence.wrapping_add(1);
            let link = DirectedLink { from: self.id, to: own.next_hop };
            let value = LinkUse { assigned: self.assigned, ..own.last };
            self.table.learn(now, link, 0, value, own.sequence);
        }
        self.table.expire(now);
        if !self.broadcasts.begin(now, !self.table.is_empty()) {
            return None;
        }
        self.broadcasts.notice::<WcpCapEntry>(CARRIER, write(self.table.entries(), HOPS, entry))
    }

    fn next_notice(&self) -> Option<Time> {
        self.broadcasts.next()
    }

    /// Forgets all links and the assigned rate.
    fn on_restart(&mut self, _now: Time) {
        self.table.clear();
        self.broadcasts.cancel();
        self.own.clear();
        (self.epoch_ends, self.assigned) = (None, None);
    }
}

#[cfg(test)]
mod tests;
