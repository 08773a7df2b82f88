//! Static routes: shortest paths over the links that can carry data.

use crate::config::{Config, MediumModel, Radios, RouteMetric};
use crate::mac::Timing;
use crate::medium::{Collisions, Link, Links, RateClass, RateSet};
use multihop_core::NodeId;
use multihop_dot11::{ACK_BYTES, CTS_BYTES, RTS_BYTES};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// Links that deliver a smaller share of data frames than this are used only where there is no other way.
const GOOD_DELIVERY: f64 = 0.5;
/// Links that deliver a smaller share than this are not used at all.
pub const LEAST_DELIVERY: f64 = 0.01;
/// Delivery is judged for data frames of this size.
pub const NOMINAL_BYTES: u32 = 1000;

/// Next hops towards every destination in use.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// By destination: the next hop of every node, or `NONE`.
    next: BTreeMap<NodeId, Vec<u32>>,
}

const NONE: u32 = u32::MAX;

/// Shares of the frames of an exchange that arrive over a link without interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrivals {
    /// Of RTS.
    pub rts: f64,
    /// Of CTS, on the way back.
    pub cts: f64,
    /// Of DATA frames.
    pub data: f64,
    /// Of ACK, on the way back.
    pub ack: f64,
}

/// What links are worth without interference.
#[derive(Clone, Debug)]
pub struct LinkQuality {
    links: Links,
    timing: Timing,
    /// Sender and receiver of each wire, in order.
    wires: Vec<(NodeId, NodeId)>,
    /// The base station of each node that is associated with one.
    bases: Vec<Option<NodeId>>,
}

impl LinkQuality {
    /// The links of a configuration.
    pub fn new(config: &Config) -> LinkQuality {
        let mut wires: Vec<(NodeId, NodeId)> = config.wires.iter().map(|wire| (wire.from, wire.to)).collect();
        wires.sort_unstable();
        let bases = config.nodes.iter().map(|node| node.base).collect();
        LinkQuality { links: Links::new(config), timing: Timing::new(config), wires, bases }
    }

    /// The links and the shared numbers that it was judged by.
    pub(crate) fn into_parts(self) -> (Links, Timing) {
        (self.links, self.timing)
    }

    /// The links and the shared numbers that it is judged by.
    pub(crate) fn parts(&self) -> (&Links, &Timing) {
        (&self.links, &self.timing)
    }

    /// Of the frames of an exchange over `from -> to` with a DATA frame of so many bytes; none if they have no link both ways.
    pub fn arrivals(&self, from: NodeId, to: NodeId, bytes: u32) -> Option<Arrivals> {
        let (there, back) = (self.links.between(from, to)?, self.links.between(to, from)?);
        let rates = self.timing.between(from, to);
        Some(Arrivals {
            rts: self.delivery(there, rates, RateClass::Control, RTS_BYTES),
            cts: self.delivery(back, rates, RateClass::Cts, CTS_BYTES),
            data: self.data(from, there, bytes),
            ack: self.delivery(back, rates, RateClass::Ack, ACK_BYTES),
        })
    }

    /// Share of the DATA frames of so many bytes that arrive over a link, without interference.
    fn data(&self, from: NodeId, link: &Link, bytes: u32) -> f64 {
        let lost = self.timing.data_loss.from(from).to(link.to);
        let rates = self.timing.between(from, NodeId(link.to));
        self.delivery(link, rates, RateClass::Data, bytes) * (1.0 - lost)
    }

    fn delivery(&self, link: &Link, rates: RateSet, class: RateClass, bytes: u32) -> f64 {
        if !link.decodable {
            return 0.0;
        }
        let bits = f64::from(bytes) * 8.0;
        let noise = match &self.timing.collisions {
            Collisions::Pairwise { .. } | Collisions::Sinr { measured: true, .. } => 0.0,
            Collisions::Sinr { noise, errors, .. } => {
                errors[rates.index(class)].table.bit_success_ln(link.power / *noise as f64)
            }
        };
        (bits * (link.ln_bit_success + noise)).exp()
    }

    /// Share of the tries over `from -> to` that succeed: DATA there, and ACK back. A wire needs one try. An associated station
    /// tries no node but its base station, and is tried by no other.
    pub fn success(&self, from: NodeId, to: NodeId) -> f64 {
        if self.is_wired(from, to) {
            return 1.0;
        }
        if !self.may_exchange(from, to) {
            return 0.0;
        }
        let (Some(there), Some(back)) = (self.links.between(from, to), self.links.between(to, from)) else {
            return 0.0;
        };
        let rates = self.timing.between(from, to);
        self.data(from, there, NOMINAL_BYTES) * self.delivery(back, rates, RateClass::Ack, ACK_BYTES)
    }

    /// May they exchange unicast frames by radio, as far as associations go?
    fn may_exchange(&self, one: NodeId, other: NodeId) -> bool {
        let is_open = |of: NodeId, to: NodeId| self.bases[of.index()].is_none_or(|base| base == to);
        is_open(one, other) && is_open(other, one)
    }

    fn is_wired(&self, from: NodeId, to: NodeId) -> bool {
        self.wires.binary_search(&(from, to)).is_ok()
    }

    /// The usable links: transmitter, receiver, and share of tries that succeed; last the wires.
    pub fn usable(&self) -> Vec<(NodeId, NodeId, f64)> {
        let by_air = (0..self.links.nodes() as u32)
            .map(NodeId)
            .flat_map(|from| self.links.of(from).iter().map(move |link| (from, NodeId(link.to))))
            .filter(|(from, to)| !self.is_wired(*from, *to))
            .map(|(from, to)| (from, to, self.success(from, to)))
            .filter(|(_, _, success)| *success >= LEAST_DELIVERY);
        by_air.chain(self.wires.iter().map(|(from, to)| (*from, *to, 1.0))).collect()
    }
}

impl Routes {
    /// Routes towards both ends of every flow.
    pub fn new(config: &Config, quality: &LinkQuality) -> Routes {
        let destinations = config.flows.iter().flat_map(|flow| [flow.source, flow.destination]);
        Routes::towards(destinations, config, quality)
    }

    /// Routes towards these destinations.
    pub fn towards(
        destinations: impl Iterator<Item = NodeId>,
        config: &Config,
        quality: &LinkQuality,
    ) -> Routes {
        // Incoming links by receiver, because the search runs from the destination.
        let mut incoming: Vec<Vec<(u32, f64)>> = vec![Vec::new(); config.nodes.len()];
        for (from, to, success) in quality.usable() {
            incoming[to.index()].push((from.0, cost(config.routing.metric, success)));
        }
        // Between the radios of a node packets go for nothing.
        for (radio, node) in &config.radios.further {
            let others = config.radios.of(*node).filter(|other| other < radio);
            for other in others {
                incoming[radio.index()].push((other.0, 0.0));
                incoming[other.index()].push((radio.0, 0.0));
            }
        }
        let mut next = BTreeMap::new();
        for destination in destinations {
            next.entry(destination).or_insert_with(|| shortest_paths(destination, &incoming));
        }
        Routes { next }
    }

    /// Where `node` sends packets for `destination`; none if it has no route.
    pub fn next_hop(&self, node: NodeId, destination: NodeId) -> Option<NodeId> {
        let hop = *self.next.get(&destination)?.get(node.index())?;
        (hop != NONE).then_some(NodeId(hop))
    }

    /// The links from `source` to `destination`, those between radios of one node left out; none if there is no route.
    pub fn hops(
        &self,
        source: NodeId,
        destination: NodeId,
        radios: &Radios,
    ) -> Option<Vec<(NodeId, NodeId)>> {
        let path = self.path(source, destination)?;
        let links = path.windows(2).map(|pair| (pair[0], pair[1]));
        Some(links.filter(|(from, to)| !radios.share_node(*from, *to)).collect())
    }

    /// The nodes from `source` to `destination`, both included; none if there is no route.
    pub fn path(&self, source: NodeId, destination: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![source];
        while path[path.len() - 1] != destination {
            path.push(self.next_hop(path[path.len() - 1], destination)?);
        }
        Some(path)
    }
}

impl Routes {
    /// What the route costs by the metric of the configuration; none if there is none.
    pub fn cost(&self, ends: (NodeId, NodeId), config: &Config, quality: &LinkQuality) -> Option<f64> {
        let hops = self.hops(ends.0, ends.1, &config.radios)?;
        let hop = |(from, to)| cost(config.routing.metric, quality.success(from, to));
        Some(hops.into_iter().map(hop).sum())
    }
}

/// Among paths of equal hops, the one with the fewest expected transmissions is taken.
fn cost(metric: RouteMetric, success: f64) -> f64 {
    let etx = 1.0 / success;
    match metric {
        RouteMetric::Etx => etx,
        RouteMetric::Hops if success >= GOOD_DELIVERY => 1.0 + 1e-6 * etx,
        RouteMetric::Hops => 1_000.0 + etx,
    }
}

#[derive(PartialEq)]
struct Reached {
    cost: f64,
    node: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    /// Cheapest first out of a max-heap; equal costs by node, so that routes are the same on every machine.
    fn cmp(&self, other: &Reached) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Dijkstra's algorithm from the destination outwards.
fn shortest_paths(destination: NodeId, incoming: &[Vec<(u32, f64)>]) -> Vec<u32> {
    let mut costs = vec![f64::INFINITY; incoming.len()];
    let mut next = vec![NONE; incoming.len()];
    let mut frontier = BinaryHeap::from([Reached { cost: 0.0, node: destination.0 }]);
    costs[destination.index()] = 0.0;
    while let Some(Reached { cost, node }) = frontier.pop() {
        if cost > costs[node as usize] {
            continue;
        }
        for &(from, link) in &incoming[node as usize] {
            let through = cost + link;
            if through < costs[from as usize] {
                costs[from as usize] = through;
                next[from as usize] = node;
                frontier.push(Reached { cost: through, node: from });
            }
        }
    }
    next
}

impl MediumModel {
    /// Does this model need positions?
    pub fn needs_positions(&self) -> bool {
        !matches!(self, MediumModel::Matrix { .. } | MediumModel::Sensed { .. })
    }
}
