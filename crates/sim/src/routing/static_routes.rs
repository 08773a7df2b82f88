//! Static routes: shortest paths over usable links.

use crate::config::{Config, MediumModel, Radios, RouteMetric};
use crate::mac::Timing;
use crate::medium::{Collisions, Link, Links, RateClass, RateSet};
use multihop_core::{FrameKind, NodeId};
use multihop_dot11::{ACK_BYTES, CTS_BYTES, RTS_BYTES};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// Delivery ratio of data frames below which a link is used only where there is no other route.
const GOOD_DELIVERY: f64 = 0.5;
/// Delivery ratio below which a link is not used at all.
pub const LEAST_DELIVERY: f64 = 0.01;
/// Additional cost of links usable only below the nominal rate, so that they are used only where there is no
/// other route.
const BELOW_NOMINAL: f64 = 1e6;
/// Size in bytes of the data frames for which delivery ratios are computed.
pub const NOMINAL_BYTES: u32 = 1000;

/// Next hops on the routes towards destinations.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// For each destination, nodes in order with their next hops.
    next: BTreeMap<NodeId, Box<[(u32, u32)]>>,
}

const NONE: u32 = u32::MAX;

/// Probabilities that the frames of an exchange arrive over a link without interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrivals {
    /// Probability that an RTS arrives.
    pub rts: f64,
    /// Probability that a CTS arrives at the sender.
    pub cts: f64,
    /// Probability that a DATA frame arrives.
    pub data: f64,
    /// Probability that an ACK arrives at the sender.
    pub ack: f64,
}

/// Qualities of links without interference.
#[derive(Clone, Debug)]
pub struct LinkQuality {
    links: Links,
    timing: Timing,
    /// Sender and receiver of each wire, sorted.
    wires: Vec<(NodeId, NodeId)>,
    /// Base station of each node; none for a node that is not associated.
    bases: Vec<Option<NodeId>>,
}

impl LinkQuality {
    /// Computes the links of a configuration.
    pub fn new(config: &Config) -> LinkQuality {
        let mut wires: Vec<(NodeId, NodeId)> =
            config.topology.wires.iter().map(|wire| (wire.from, wire.to)).collect();
        wires.sort_unstable();
        let bases = config.topology.nodes.iter().map(|node| node.base).collect();
        LinkQuality { links: Links::new(config), timing: Timing::new(config), wires, bases }
    }

    /// Returns the links and the timing from which qualities are computed.
    pub(crate) fn into_parts(self) -> (Links, Timing) {
        (self.links, self.timing)
    }

    /// Links and timing from which qualities are computed.
    pub(crate) fn parts(&self) -> (&Links, &Timing) {
        (&self.links, &self.timing)
    }

    /// Arrival probabilities of an exchange over `from -> to` with a DATA frame of `bytes` bytes; none
    /// without links in both directions.
    pub fn arrivals(&self, from: NodeId, to: NodeId, rates: RateSet, bytes: u32) -> Option<Arrivals> {
        let (there, back) = (self.links.between(from, to)?, self.links.between(to, from)?);
        Some(Arrivals {
            rts: self.delivery(there, rates, RateClass::Control, RTS_BYTES),
            cts: self.delivery(back, rates, RateClass::Cts, CTS_BYTES),
            data: self.data(from, there, rates, bytes),
            ack: self.ack(to, back, rates),
        })
    }

    /// Probability that a DATA frame of `bytes` bytes arrives over a link, without interference.
    fn data(&self, from: NodeId, link: &Link, rates: RateSet, bytes: u32) -> f64 {
        let lost = self.timing.frame_loss.from(from, FrameKind::Data).to(link.to);
        self.delivery(link, rates, RateClass::Data, bytes) * (1.0 - lost)
    }

    /// Probability that an ACK of `from` arrives over a link, without interference.
    fn ack(&self, from: NodeId, link: &Link, rates: RateSet) -> f64 {
        let lost = self.timing.frame_loss.from(from, FrameKind::Ack).to(link.to);
        self.delivery(link, rates, RateClass::Ack, ACK_BYTES) * (1.0 - lost)
    }

    fn delivery(&self, link: &Link, rates: RateSet, class: RateClass, bytes: u32) -> f64 {
        if !link.is_decodable() {
            return 0.0;
        }
        let bits = f64::from(bytes) * 8.0;
        let noise = match &self.timing.collisions {
            Collisions::Pairwise { .. } | Collisions::Sinr { measured: true, .. } => 0.0,
            Collisions::Sinr { noise, errors, .. } => {
                errors[rates.index(class)].bit_success_ln(link.power, *noise as f64)
            }
        };
        (bits * (link.ln_bit_success + noise)).exp()
    }

    /// Probability that a group-addressed frame of the nominal size arrives over `from -> to`, without
    /// interference.
    pub fn group_delivery(&self, from: NodeId, to: NodeId) -> f64 {
        let Some(link) = self.links.between(from, to) else { return 0.0 };
        let lost = self.timing.frame_loss.from(from, FrameKind::Data).to(link.to);
        self.delivery(link, RateSet::NOMINAL, RateClass::Control, NOMINAL_BYTES) * (1.0 - lost)
    }

    /// Probability that an attempt over `from -> to` succeeds: DATA, and the ACK back. A wire needs one
    /// attempt. An associated station exchanges frames with its base station only. Where stations choose
    /// their rates and the nominal rate does not reach, the probability is that of the best rate in use.
    pub fn success(&self, from: NodeId, to: NodeId) -> f64 {
        self.judged(from, to).0
    }

    /// Success probability of an attempt, and whether only a rate below the nominal one reaches.
    fn judged(&self, from: NodeId, to: NodeId) -> (f64, bool) {
        if self.is_wired(from, to) {
            return (1.0, false);
        }
        if !self.may_exchange(from, to) {
            return (0.0, false);
        }
        let (Some(there), Some(back)) = (self.links.between(from, to), self.links.between(to, from)) else {
            return (0.0, false);
        };
        let at = |rates: RateSet| self.data(from, there, rates, NOMINAL_BYTES) * self.ack(to, back, rates);
        let nominal = at(self.timing.between(from, to));
        if nominal >= LEAST_DELIVERY || self.timing.rate_control.is_none() {
            return (nominal, false);
        }
        let best = self.timing.rates_between(from, to).into_iter().map(at).fold(nominal, f64::max);
        (best, best > nominal)
    }

    /// Whether associations allow the nodes to exchange unicast frames by radio.
    fn may_exchange(&self, one: NodeId, other: NodeId) -> bool {
        let is_open = |of: NodeId, to: NodeId| self.bases[of.index()].is_none_or(|base| base == to);
        is_open(one, other) && is_open(other, one)
    }

    fn is_wired(&self, from: NodeId, to: NodeId) -> bool {
        self.wires.binary_search(&(from, to)).is_ok()
    }

    /// Usable links: transmitter, receiver, and success probability of an attempt; wires are last.
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
    /// Computes the routes between the ends of every flow, in both directions.
    pub fn new(config: &Config, quality: &LinkQuality) -> Routes {
        let there = config.traffic.flows.iter().map(|flow| (flow.source, flow.destination));
        Routes::between(there.flat_map(|(one, other)| [(one, other), (other, one)]), config, quality)
    }

    /// Computes the routes from the first to the second node of each pair.
    pub fn between(
        pairs: impl Iterator<Item = (NodeId, NodeId)>,
        config: &Config,
        quality: &LinkQuality,
    ) -> Routes {
        let mut sources: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        for (source, destination) in pairs {
            sources.entry(destination).or_default().push(source.0);
        }
        let mut search = Search::new(config, quality);
        let found =
            sources.into_iter().map(|(to, sources)| (to, search.next_hops(to.0, sources.into_iter())));
        Routes { next: found.collect() }
    }

    /// Computes the routes from all nodes towards these destinations.
    pub fn towards(
        destinations: impl Iterator<Item = NodeId>,
        config: &Config,
        quality: &LinkQuality,
    ) -> Routes {
        let mut search = Search::new(config, quality);
        let all = 0..config.topology.nodes.len() as u32;
        let mut next = BTreeMap::new();
        for to in destinations {
            next.entry(to).or_insert_with(|| search.next_hops(to.0, all.clone()));
        }
        Routes { next }
    }

    /// Next hop of `node` for packets to `destination`; none without a route, or if `node` is on no computed
    /// route.
    pub fn next_hop(&self, node: NodeId, destination: NodeId) -> Option<NodeId> {
        let hops = self.next.get(&destination)?;
        let at = hops.binary_search_by_key(&node.0, |(from, _)| *from).ok()?;
        Some(NodeId(hops[at].1))
    }

    /// Links from `source` to `destination`, without those between radios of one node; none without a route.
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

    /// Nodes from `source` to `destination`, both included; none without a route.
    pub fn path(&self, source: NodeId, destination: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![source];
        while path[path.len() - 1] != destination {
            path.push(self.next_hop(path[path.len() - 1], destination)?);
        }
        Some(path)
    }
}

impl Routes {
    /// Cost of the route by the metric of the configuration; none without a route.
    pub fn cost(&self, ends: (NodeId, NodeId), config: &Config, quality: &LinkQuality) -> Option<f64> {
        let hops = self.hops(ends.0, ends.1, &config.topology.radios)?;
        let hop = |(from, to)| cost(config.routing.metric, quality.judged(from, to));
        Some(hops.into_iter().map(hop).sum())
    }
}

/// Cost of a link. Among paths of equal hops, the one with the fewest expected transmissions is cheapest.
fn cost(metric: RouteMetric, (success, below_nominal): (f64, bool)) -> f64 {
    let etx = 1.0 / success;
    let more = if below_nominal { BELOW_NOMINAL } else { 0.0 };
    more + match metric {
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
    /// Orders by cost, for the cheapest first out of a max-heap; equal costs by node, so that routes are the
    /// same on every machine.
    fn cmp(&self, other: &Reached) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Dijkstra's algorithm outwards from one destination after the other.
struct Search {
    /// Incoming links by receiver, in compressed rows: transmitter, and cost of the link.
    starts: Vec<u32>,
    incoming: Vec<(u32, f64)>,
    /// Costs and next hops of the nodes reached; infinite and `NONE` for all others.
    costs: Vec<f64>,
    next: Vec<u32>,
    reached: Vec<u32>,
    frontier: BinaryHeap<Reached>,
    /// Nodes whose paths are requested.
    wanted: Vec<bool>,
}

impl Search {
    fn new(config: &Config, quality: &LinkQuality) -> Search {
        let metric = config.routing.metric;
        let links = quality.usable().into_iter();
        let mut links: Vec<(u32, u32, f64)> =
            links.map(|(from, to, _)| (from.0, to.0, cost(metric, quality.judged(from, to)))).collect();
        // Forwarding between the radios of a node is free.
        for (radio, node) in &config.topology.radios.further {
            let others = config.topology.radios.of(*node).filter(|other| other < radio);
            links.extend(others.flat_map(|other| [(radio.0, other.0, 0.0), (other.0, radio.0, 0.0)]));
        }
        Search::over(config.topology.nodes.len(), &links)
    }

    /// Creates a search over links: transmitter, receiver, and cost.
    fn over(nodes: usize, links: &[(u32, u32, f64)]) -> Search {
        let mut starts = vec![0; nodes + 1];
        for (_, to, _) in links {
            starts[*to as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let (mut filled, mut incoming) = (starts.clone(), vec![(0, 0.0); links.len()]);
        for &(from, to, cost) in links {
            let at = &mut filled[to as usize];
            incoming[*at as usize] = (from, cost);
            *at += 1;
        }
        Search {
            starts,
            incoming,
            costs: vec![f64::INFINITY; nodes],
            next: vec![NONE; nodes],
            reached: Vec::new(),
            frontier: BinaryHeap::new(),
            wanted: vec![false; nodes],
        }
    }

    /// Nodes on the paths from the sources to the destination, in order, each with its next hop.
    fn next_hops(
        &mut self,
        destination: u32,
        sources: impl Iterator<Item = u32> + Clone,
    ) -> Box<[(u32, u32)]> {
        let mut missing = 0;
        for source in sources.clone() {
            missing += usize::from(!std::mem::replace(&mut self.wanted[source as usize], true));
        }
        self.spread(destination, missing);
        let mut hops = Vec::new();
        for source in sources {
            self.wanted[source as usize] = false;
            let mut node = source;
            // A node on an earlier path has no next hop any more: the rest of the route is already listed.
            while self.next[node as usize] != NONE {
                let next = std::mem::replace(&mut self.next[node as usize], NONE);
                hops.push((node, next));
                node = next;
            }
        }
        for node in self.reached.drain(..) {
            self.costs[node as usize] = f64::INFINITY;
            self.next[node as usize] = NONE;
        }
        hops.sort_unstable();
        hops.into_boxed_slice()
    }

    /// Finds paths until this number of sources has one. The path of a node that leaves the frontier is
    /// final.
    fn spread(&mut self, destination: u32, mut missing: usize) {
        self.costs[destination as usize] = 0.0;
        self.reached.push(destination);
        self.frontier.push(Reached { cost: 0.0, node: destination });
        while let Some(Reached { cost, node }) = self.frontier.pop() {
            if cost > self.costs[node as usize] {
                continue;
            }
            missing -= usize::from(self.wanted[node as usize]);
            if missing == 0 {
                break;
            }
            let row = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
            for &(from, link) in &self.incoming[row] {
                let through = cost + link;
                let known = &mut self.costs[from as usize];
                if through < *known {
                    if known.is_infinite() {
                        self.reached.push(from);
                    }
                    *known = through;
                    self.next[from as usize] = node;
                    self.frontier.push(Reached { cost: through, node: from });
                }
            }
        }
        self.frontier.clear();
    }
}

impl MediumModel {
    /// Whether the model needs positions.
    pub fn needs_positions(&self) -> bool {
        !matches!(self, MediumModel::Matrix { .. } | MediumModel::Sensed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;

    /// Next hop of every node by the simplest form of Dijkstra's algorithm. The cheapest remaining node is
    /// final, with ties broken by the smallest number; among equal paths, the first one found stays.
    fn plain(destination: u32, nodes: u32, links: &[(u32, u32, f64)]) -> Vec<Option<u32>> {
        let mut left: Vec<u32> = (0..nodes).collect();
        let mut costs = vec![f64::INFINITY; nodes as usize];
        let mut next = vec![None; nodes as usize];
        costs[destination as usize] = 0.0;
        while let Some(at) = (0..left.len()).min_by(|a, b| {
            let key = |at: &usize| (costs[left[*at] as usize], left[*at]);
            key(a).partial_cmp(&key(b)).unwrap()
        }) {
            let node = left.swap_remove(at);
            for (from, _, cost) in links.iter().filter(|(_, to, _)| *to == node) {
                if costs[node as usize] + cost < costs[*from as usize] {
                    costs[*from as usize] = costs[node as usize] + cost;
                    next[*from as usize] = Some(node);
                }
            }
        }
        next
    }

    /// Costs are small integers, so that many paths have equal cost.
    #[test]
    fn a_search_that_stops_early_finds_the_paths_of_a_whole_one() {
        const NODES: u32 = 40;
        let mut rng = Rng::at(1, &["routes"]);
        for links in [30, 60, 120, 240] {
            let links: Vec<(u32, u32, f64)> = (0..links)
                .map(|_| (rng.below(NODES), rng.below(NODES), f64::from(1 + rng.below(3))))
                .collect();
            let mut search = Search::over(NODES as usize, &links);
            for destination in 0..NODES {
                let expected = plain(destination, NODES, &links);
                let all: Vec<(u32, u32)> =
                    (0..NODES).filter_map(|node| Some((node, expected[node as usize]?))).collect();
                assert_eq!(*search.next_hops(destination, 0..NODES), all);
                let sources = [rng.below(NODES), rng.below(NODES)];
                let mut on_paths: Vec<(u32, u32)> = Vec::new();
                for source in sources {
                    let after = |node: &(u32, u32)| Some((node.1, expected[node.1 as usize]?));
                    let first = expected[source as usize].map(|next| (source, next));
                    on_paths.extend(std::iter::successors(first, after));
                }
                on_paths.sort_unstable();
                on_paths.dedup();
                assert_eq!(*search.next_hops(destination, sources.into_iter()), on_paths);
            }
        }
    }
}
