//! `[traffic]`: flows by pattern. Those of gateways are in [`super::gateway`].

use crate::document::{Document, Result, key};
use crate::error::{FlowProblem, KeyProblem, Reached};
use crate::flows::gateway::{self, FlowDirection, Kind};
use crate::flows::served;
use crate::flows::{App, Flows, Offer};
use crate::schemes::Schemes;
use crate::settings::matches;
use crate::topology::Nodes;
use multihop_config::bounds;
use multihop_config::keys::usually;
use multihop_config::quantity::Duration;
use multihop_core::{NodeId, Rng};
use multihop_sim::config::{Config, Radios};
use multihop_sim::routing::{LinkQuality, Routes};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Flows by pattern, besides those that are listed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Sources and destinations.
    pub pattern: Pattern,
    /// `random-pairs`, `to-gateway`: how many flows. Default of `to-gateway`: one from every node that may
    /// send and can reach the gateway.
    #[schemars(transform = bounds!(1, 100_000))]
    pub flows: Option<u32>,
    /// `to-gateway`, `all-to-one`: name of the node that receives.
    pub gateway: Option<String>,
    /// `random-pairs`, `to-gateway`, `gateway`: only pairs whose shortest path has at least this many hops.
    #[schemars(transform = usually(MIN_HOPS), transform = bounds!(1, 100_000))]
    pub min_hops: Option<u32>,
    /// `random-pairs`, `to-gateway`, `gateway`: seed of the choice. It is not that of the run, so that all
    /// runs of a study share one choice.
    #[schemars(transform = usually(PAIRS_SEED))]
    pub pairs_seed: Option<u64>,
    /// `random-pairs`: ends of the flows; `to-gateway`: senders; `gateway`: clients. Names of nodes, in which
    /// `*` stands for any text, as in "m*". Default of `random-pairs`: all. Default of the others: the nodes
    /// with a radio, so that a host on a wire is no client.
    pub among: Option<Vec<String>>,
    /// `gateway`: names of the gateways. Default: `gateway_count` of the best connected.
    pub gateways: Option<Vec<String>>,
    /// `gateway`: so many gateways, of all nodes those with most two-way links, instead of names.
    #[schemars(transform = usually(GATEWAYS), transform = bounds!(1, 100_000))]
    pub gateway_count: Option<u32>,
    /// `gateway`: how many clients, different random nodes that are no gateways. Default: all that can reach
    /// one.
    #[schemars(transform = bounds!(1, 100_000))]
    pub clients: Option<u32>,
    /// `gateway`: which way the flows of a client go.
    #[schemars(transform = usually(FlowDirection::default()))]
    pub direction: Option<FlowDirection>,
    /// `gateway`: what clients do, instead of `app`: the first the first of these, and so on, over and over.
    pub mix: Option<Vec<Kind>>,
    /// Name of the scheme of all flows: one of `multihop list`, or of `[schemes]`. It may be absent if the
    /// command line sets one.
    #[schemars(required)]
    pub scheme: Option<String>,
    /// What each flow sends.
    #[serde(default)]
    pub app: App,
    /// When the flows start.
    #[serde(default)]
    pub start: Duration,
    /// Each flow starts this much later than the one before it, in the order of the pattern.
    #[serde(default)]
    pub start_interval: Duration,
    /// Each start is later by up to this, uniformly, by the seed of the run.
    #[serde(default)]
    pub start_jitter: Duration,
    /// When the flows stop offering data. Default: never.
    pub stop: Option<Duration>,
}

/// Hops of a pair at least, where nothing is said.
const MIN_HOPS: u32 = 1;
/// Seed of the choice of pairs, where none is given.
const PAIRS_SEED: u64 = 1;
/// How many gateways there are, where neither they nor their number are given.
pub(super) const GATEWAYS: u32 = 1;

/// Sources and destinations.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The flows that the generator of the topology is known for.
    Canonical,
    /// Different random pairs of nodes that can reach each other.
    RandomPairs,
    /// From different random nodes to one gateway.
    ToGateway,
    /// From every other node to one.
    AllToOne,
    /// Between all nodes that can reach each other, both ways.
    AllPairs,
    /// Between random clients, which have a radio, and the nearest of some gateways each, by the metric of
    /// `[routing]`.
    Gateway,
}

/// The ordered pairs of different nodes of one component, numbered from 0.
struct Pairs {
    /// The nodes of each component.
    members: Vec<Vec<usize>>,
    /// Component of each node, and its place there; none of a node that takes no part.
    place: Vec<Option<(usize, usize)>>,
    /// Pairs whose source comes before each node; at the end, all.
    before: Vec<u64>,
}

/// Numbers below a total in random order, each once: the shuffle of Fisher and Yates, which only remembers
/// what has moved.
pub(super) struct Shuffle {
    rng: Rng,
    drawn: u64,
    total: u64,
    moved: BTreeMap<u64, u64>,
}

/// Pairs that are tried before the search for distant ones is given up.
const TRIES_MAX: u64 = 1_000_000;

impl Traffic {
    /// Adds the flows to those that are listed. The configuration lacks only schemes and flows; `component`
    /// is that of each node.
    pub(crate) fn add(
        &self,
        flows: &mut Flows<'_>,
        config: &Config,
        component: &[u32],
        schemes: &mut Schemes<'_>,
    ) -> Result<()> {
        if self.pattern == Pattern::Gateway {
            self.check(flows.document, config)?;
            return gateway::add(self, flows, config, component, schemes);
        }
        let pairs = self.pairs(flows.document, flows.nodes, config, component)?;
        flows.add(&self.offer(), None, &pairs, schemes)
    }

    /// What the flows send.
    pub(super) fn offer(&self) -> Offer<'_> {
        Offer {
            at: key!["traffic"],
            scheme: self.scheme.as_deref(),
            app: &self.app,
            of_mix: false,
            multicast: false,
            start: self.start,
            start_interval: self.start_interval,
            start_jitter: self.start_jitter,
            stop: self.stop,
        }
    }

    /// Refuses keys that the pattern does not use.
    fn check(&self, document: &Document<'_>, config: &Config) -> Result<()> {
        self.check_keys(document)?;
        if self.min_hops() > 1 && !config.mobility.motions.is_empty() {
            return Err(document.error(&key!["traffic", "min_hops"], FlowProblem::UnknownHops));
        }
        Ok(())
    }

    /// Source and destination of each flow.
    fn pairs(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
        component: &[u32],
    ) -> Result<Vec<(usize, usize)>> {
        self.check(document, config)?;
        match self.pattern {
            Pattern::Gateway => unreachable!("its flows do not all send the same"),
            Pattern::Canonical => canonical(document, nodes),
            Pattern::RandomPairs => self.random_pairs(document, nodes, config, component),
            Pattern::ToGateway => self.to_gateway(document, nodes, config, component),
            Pattern::AllPairs => Ok(all_pairs(component)),
            Pattern::AllToOne => {
                let gateway = self.gateway(document, nodes)?;
                Ok((0..nodes.list.len())
                    .filter(|node| *node != gateway)
                    .map(|node| (node, gateway))
                    .collect())
            }
        }
    }

    fn random_pairs(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
        component: &[u32],
    ) -> Result<Vec<(usize, usize)>> {
        let Some(wanted) = self.flows else {
            let missing = KeyProblem::Missing { key: "flows", example: "10" };
            return Err(document.error(&key!["traffic", "flows"], missing));
        };
        let (wanted, pairs) = (wanted as usize, Pairs::new(&self.among(document, nodes, component)?));
        let mut shuffle = self.shuffle(pairs.total());
        let mut chosen = Vec::new();
        let mut quality = None;
        // Routes to many destinations at once are cheaper than one by one, so pairs are tried in growing batches.
        let mut batch = 2 * wanted as u64;
        while chosen.len() < wanted && shuffle.drawn < shuffle.total.min(TRIES_MAX) {
            let drawn: Vec<(usize, usize)> =
                shuffle.by_ref().take(batch as usize).map(|rank| pairs.get(rank)).collect();
            if self.min_hops() > 1 {
                let quality = quality.get_or_insert_with(|| LinkQuality::new(config));
                let ends = drawn.iter().map(|pair| (NodeId(pair.0 as u32), NodeId(pair.1 as u32)));
                let routes = Routes::between(ends, config, quality);
                chosen.extend(
                    drawn.into_iter().filter(|pair| hops(&routes, &config.radios, *pair) >= self.min_hops()),
                );
            } else {
                chosen.extend(drawn);
            }
            batch *= 2;
        }
        if chosen.len() < wanted {
            let problem = FlowProblem::TooFewPairs { found: chosen.len(), min_hops: self.min_hops() };
            return Err(document.error(&key!["traffic", "flows"], problem));
        }
        chosen.truncate(wanted);
        Ok(chosen)
    }

    /// The component of each node that may take part.
    fn among(&self, document: &Document<'_>, nodes: &Nodes, component: &[u32]) -> Result<Vec<Option<u32>>> {
        let Some(patterns) = &self.among else { return Ok(component.iter().copied().map(Some).collect()) };
        for (i, pattern) in patterns.iter().enumerate() {
            if !nodes.list.iter().any(|node| matches(pattern, &node.name)) {
                let problem = FlowProblem::NoSuchName { pattern: pattern.clone(), known: nodes.names() };
                return Err(document.error(&key!["traffic", "among", i], problem));
            }
        }
        let allowed = |name: &str| patterns.iter().any(|pattern| matches(pattern, name));
        let nodes = nodes.list.iter().zip(component);
        Ok(nodes.map(|(node, component)| allowed(&node.name).then_some(*component)).collect())
    }

    fn to_gateway(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
        component: &[u32],
    ) -> Result<Vec<(usize, usize)>> {
        let gateway = self.gateway(document, nodes)?;
        let users = self.users(document, nodes, config, &[gateway])?;
        let mut sources = users.clone();
        sources.retain(|node| component[*node] == component[gateway]);
        if self.min_hops() > 1 {
            let destination = std::iter::once(NodeId(gateway as u32));
            let routes = Routes::towards(destination, config, &LinkQuality::new(config));
            sources.retain(|source| hops(&routes, &config.radios, (*source, gateway)) >= self.min_hops());
        }
        let keys = ("flows", "gateway");
        let chosen = self.chosen(document, self.flows, keys, sources, |found| {
            served::describe(nodes, config, component, &[gateway], &users, found, self.min_hops())
        })?;
        Ok(chosen.into_iter().map(|source| (source, gateway)).collect())
    }

    /// The nodes that may be at the far end of a gateway's flows.
    pub(super) fn users(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
        gateways: &[usize],
    ) -> Result<Vec<usize>> {
        let others = (0..nodes.list.len()).filter(|node| !gateways.contains(node));
        if self.among.is_some() {
            let all = vec![0; nodes.list.len()];
            let named = self.among(document, nodes, &all)?;
            return Ok(others.filter(|node| named[*node].is_some()).collect());
        }
        let has_radio = served::has_radio(config);
        let by_radio: Vec<usize> = others.clone().filter(|node| has_radio(*node)).collect();
        // A network without a radio has users all the same.
        Ok(if by_radio.is_empty() { others.collect() } else { by_radio })
    }

    /// As many as are wanted of what was found, at random, or all. `keys` are those of the number and of the
    /// gateways, `reach` describes what was found.
    pub(super) fn chosen<T: Copy>(
        &self,
        document: &Document<'_>,
        wanted: Option<u32>,
        (number, gateways): (&'static str, &'static str),
        found: Vec<T>,
        reach: impl Fn(usize) -> Reached,
    ) -> Result<Vec<T>> {
        match wanted {
            Some(wanted) if wanted as usize > found.len() => {
                let problem = FlowProblem::TooFewReach { reached: reach(found.len()), number };
                Err(document.error(&key!["traffic", number], problem))
            }
            Some(wanted) => {
                let ranks = self.shuffle(found.len() as u64).take(wanted as usize);
                Ok(ranks.map(|rank| found[rank as usize]).collect())
            }
            None if found.is_empty() => {
                let key = if document.has(&key!["traffic", gateways]) { gateways } else { "pattern" };
                Err(document.error(&key!["traffic", key], FlowProblem::NobodyReaches { reached: reach(0) }))
            }
            None => Ok(found),
        }
    }

    pub(super) fn min_hops(&self) -> usize {
        self.min_hops.unwrap_or(MIN_HOPS) as usize
    }

    pub(super) fn shuffle(&self, total: u64) -> Shuffle {
        let rng = Rng::at(self.pairs_seed.unwrap_or(PAIRS_SEED), &["traffic", "pairs"]);
        Shuffle { rng, drawn: 0, total, moved: BTreeMap::new() }
    }

    /// Refuses keys that the pattern does not use.
    fn check_keys(&self, document: &Document<'_>) -> Result<()> {
        let (name, used): (&str, &[&str]) = match self.pattern {
            Pattern::Canonical => ("canonical", &[]),
            Pattern::RandomPairs => ("random-pairs", &["flows", "min_hops", "pairs_seed", "among"]),
            Pattern::ToGateway => ("to-gateway", &["flows", "gateway", "min_hops", "pairs_seed", "among"]),
            Pattern::AllToOne => ("all-to-one", &["gateway"]),
            Pattern::AllPairs => ("all-pairs", &[]),
            Pattern::Gateway => (
                "gateway",
                &[
                    "min_hops",
                    "pairs_seed",
                    "among",
                    "gateways",
                    "gateway_count",
                    "clients",
                    "direction",
                    "mix",
                ],
            ),
        };
        let given = [
            ("flows", self.flows.is_some()),
            ("gateway", self.gateway.is_some()),
            ("min_hops", self.min_hops.is_some()),
            ("pairs_seed", self.pairs_seed.is_some()),
            ("among", self.among.is_some()),
            ("gateways", self.gateways.is_some()),
            ("gateway_count", self.gateway_count.is_some()),
            ("clients", self.clients.is_some()),
            ("direction", self.direction.is_some()),
            ("mix", self.mix.is_some()),
        ];
        match given.into_iter().find(|(key, given)| *given && !used.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                Err(document.error(&key!["traffic", key], FlowProblem::IdleInPattern { pattern: name }))
            }
        }
    }

    fn gateway(&self, document: &Document<'_>, nodes: &Nodes) -> Result<usize> {
        let at = key!["traffic", "gateway"];
        if let Some(name) = &self.gateway {
            return nodes.find(document, &at, name);
        }
        Err(document.error(&at, FlowProblem::NoGateway { example: nodes.list[0].name.clone() }))
    }
}

impl Pairs {
    /// Of nodes with these components; those without one take no part.
    fn new(component: &[Option<u32>]) -> Pairs {
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut place = Vec::with_capacity(component.len());
        for (node, component) in component.iter().enumerate() {
            place.push(component.map(|component| {
                let component = component as usize;
                members.resize(members.len().max(component + 1), Vec::new());
                members[component].push(node);
                (component, members[component].len() - 1)
            }));
        }
        let mut before = vec![0];
        for place in &place {
            let others = place.map_or(0, |(component, _)| members[component].len() as u64 - 1);
            before.push(before[before.len() - 1] + others);
        }
        Pairs { members, place, before }
    }

    fn total(&self) -> u64 {
        self.before[self.before.len() - 1]
    }

    /// Source and destination of the pair of this number.
    fn get(&self, rank: u64) -> (usize, usize) {
        let source = self.before.partition_point(|before| *before <= rank) - 1;
        let (component, own) = self.place[source].expect("a source takes part");
        let other = (rank - self.before[source]) as usize;
        let other = other + usize::from(other >= own); // a node is no destination of its own
        (source, self.members[component][other])
    }
}

impl Iterator for Shuffle {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let first = self.drawn;
        if first == self.total {
            return None;
        }
        let other = first + (self.rng.unit() * (self.total - first) as f64) as u64;
        let at_first = self.moved.remove(&first).unwrap_or(first);
        self.drawn += 1;
        Some(if other == first { at_first } else { self.moved.insert(other, at_first).unwrap_or(other) })
    }
}

/// Hops of the route of a pair; none for no route.
pub(super) fn hops(routes: &Routes, radios: &Radios, (source, destination): (usize, usize)) -> usize {
    let hops = routes.hops(NodeId(source as u32), NodeId(destination as u32), radios);
    hops.map_or(0, |hops| hops.len())
}

/// All ordered pairs of different nodes of a component.
pub(super) fn all_pairs(component: &[u32]) -> Vec<(usize, usize)> {
    let nodes = 0..component.len();
    let towards = |from: usize| nodes.clone().map(move |to| (from, to));
    nodes
        .clone()
        .flat_map(towards)
        .filter(|(from, to)| from != to && component[*from] == component[*to])
        .collect()
}

fn canonical(document: &Document<'_>, nodes: &Nodes) -> Result<Vec<(usize, usize)>> {
    match &nodes.canonical {
        Some(flows) if !flows.is_empty() => Ok(flows.clone()),
        _ => Err(document.error(&key!["traffic", "pattern"], FlowProblem::NotCanonical)),
    }
}
