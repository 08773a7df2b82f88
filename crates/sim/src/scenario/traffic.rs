//! `[traffic]`: flows by pattern.

use super::document::{Document, Result, key};
use super::flows::{App, Offer};
use super::reach::{Reach, UNREACHABLE};
use super::topology::Nodes;
use multihop_core::Rng;
use multihop_schemes::quantity::Duration;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Flows by pattern, besides those that are listed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// `random-pairs`, `to-gateway`: how many flows. Default of `to-gateway`: one from every node that can reach the gateway.
    #[schemars(range(min = 1, max = 100_000))]
    pub flows: Option<u32>,
    /// `to-gateway`, `all-to-one`: name of the node that receives.
    pub gateway: Option<String>,
    /// `random-pairs`, `to-gateway`: only pairs at least this many hops apart. Default: 1.
    #[schemars(range(min = 1, max = 100_000))]
    pub min_hops: Option<u32>,
    /// `random-pairs`, `to-gateway`: seed of the choice. It is not that of the run, so that all runs of a study share one
    /// choice. Default: 1.
    pub pairs_seed: Option<u64>,
    /// Name of the scheme of all flows: one of `multihop list`, or of `[schemes]`. It may be absent if the command line sets one.
    #[schemars(required)]
    pub scheme: Option<String>,
    /// What each flow sends.
    #[serde(default)]
    pub app: App,
    /// When the flows start.
    #[serde(default)]
    pub start: Duration,
    /// Each start is later by up to this, uniformly, by the seed of the run.
    #[serde(default)]
    pub start_jitter: Duration,
    /// When the flows stop offering data. Default: never.
    pub stop: Option<Duration>,
}

/// Who sends to whom.
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
}

/// The pairs that a pattern chooses from: for each source the number of its destinations, and how they are found.
struct Choice<'a> {
    reach: &'a Reach,
    min_hops: u32,
    /// Destinations of all sources before this one, and of all in the end.
    before: Vec<u64>,
}

impl Traffic {
    /// What the flows send.
    pub(super) fn offer(&self) -> Offer<'_> {
        Offer {
            at: key!["traffic"],
            scheme: self.scheme.as_deref(),
            app: &self.app,
            start: self.start,
            start_jitter: self.start_jitter,
            stop: self.stop,
        }
    }

    /// Source and destination of each flow.
    pub(super) fn pairs(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        reach: &Reach,
    ) -> Result<Vec<(usize, usize)>> {
        self.check_keys(document)?;
        let min_hops = self.min_hops.unwrap_or(1);
        document.within(&key!["traffic", "min_hops"], f64::from(min_hops), 1.0..=1e5, ("1", "100000"))?;
        if let Some(flows) = self.flows {
            document.within(&key!["traffic", "flows"], f64::from(flows), 1.0..=1e5, ("1", "100000"))?;
        }
        match self.pattern {
            Pattern::Canonical => canonical(document, nodes),
            Pattern::RandomPairs => {
                let Some(flows) = self.flows else {
                    return Err(document.fail(
                        &key!["traffic", "flows"],
                        "missing",
                        "say how many, for example flows = 10",
                    ));
                };
                let choice = Choice::new(reach, nodes.list.len(), min_hops);
                let ranks = self.draw(document, u64::from(flows), choice.total(), "pairs of nodes")?;
                Ok(ranks.into_iter().map(|rank| choice.pair(rank)).collect())
            }
            Pattern::ToGateway => {
                let gateway = self.gateway(document, nodes)?;
                let hops = reach.hops_from(gateway);
                let far_enough = |node: &usize| hops[*node] >= min_hops && hops[*node] != UNREACHABLE;
                let sources: Vec<usize> = (0..nodes.list.len()).filter(far_enough).collect();
                let name = &nodes.list[gateway].name;
                if sources.is_empty() {
                    let found = format!("no node at least {min_hops} hops away can reach {name:?}");
                    return Err(document.fail(
                        &key!["traffic", "gateway"],
                        found,
                        "choose another gateway, or lower min_hops",
                    ));
                }
                let chosen = match self.flows {
                    None => sources,
                    Some(flows) => {
                        let what = format!("nodes that reach {name:?}");
                        let ranks = self.draw(document, u64::from(flows), sources.len() as u64, &what)?;
                        ranks.into_iter().map(|rank| sources[rank as usize]).collect()
                    }
                };
                Ok(chosen.into_iter().map(|source| (source, gateway)).collect())
            }
            Pattern::AllToOne => {
                let gateway = self.gateway(document, nodes)?;
                Ok((0..nodes.list.len())
                    .filter(|node| *node != gateway)
                    .map(|node| (node, gateway))
                    .collect())
            }
        }
    }

    /// Refuses keys that the pattern does not use.
    fn check_keys(&self, document: &Document<'_>) -> Result<()> {
        let (name, used): (&str, &[&str]) = match self.pattern {
            Pattern::Canonical => ("canonical", &[]),
            Pattern::RandomPairs => ("random-pairs", &["flows", "min_hops", "pairs_seed"]),
            Pattern::ToGateway => ("to-gateway", &["flows", "gateway", "min_hops", "pairs_seed"]),
            Pattern::AllToOne => ("all-to-one", &["gateway"]),
        };
        let given = [
            ("flows", self.flows.is_some()),
            ("gateway", self.gateway.is_some()),
            ("min_hops", self.min_hops.is_some()),
            ("pairs_seed", self.pairs_seed.is_some()),
        ];
        match given.into_iter().find(|(key, given)| *given && !used.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let why = format!("has no effect with pattern {name:?}");
                Err(document.bad(&key!["traffic", key], why, "remove it, or choose another pattern"))
            }
        }
    }

    fn gateway(&self, document: &Document<'_>, nodes: &Nodes) -> Result<usize> {
        let at = key!["traffic", "gateway"];
        match &self.gateway {
            Some(name) => nodes.find(document, &at, name),
            None => {
                let remedy =
                    format!("name the node that receives, for example gateway = {:?}", nodes.list[0].name);
                Err(document.fail(&at, "missing", remedy))
            }
        }
    }

    /// `count` different numbers below `total`, all equally likely.
    fn draw(&self, document: &Document<'_>, count: u64, total: u64, what: &str) -> Result<Vec<u64>> {
        if count > total {
            let min_hops = self.min_hops.unwrap_or(1);
            let why = format!("flows are too many: there are {total} {what} at least {min_hops} hops apart");
            return Err(document.bad(
                &key!["traffic", "flows"],
                why,
                "ask for fewer flows, or lower min_hops",
            ));
        }
        let mut rng = Rng::at(self.pairs_seed.unwrap_or(1), &["traffic", "pairs"]);
        // A shuffle of 0..total that only remembers what has moved (Fisher and Yates).
        let mut moved: BTreeMap<u64, u64> = BTreeMap::new();
        let drawn = (0..count).map(|i| {
            let j = i + (rng.unit() * (total - i) as f64) as u64;
            let at_i = moved.get(&i).copied().unwrap_or(i);
            moved.insert(j, at_i).unwrap_or(j)
        });
        Ok(drawn.collect())
    }
}

impl Choice<'_> {
    fn new(reach: &Reach, nodes: usize, min_hops: u32) -> Choice<'_> {
        let counts: Vec<u64> = if min_hops <= 1 {
            let component = reach.components();
            let mut sizes = vec![0; nodes];
            component.iter().for_each(|component| sizes[*component as usize] += 1);
            component.iter().map(|component| sizes[*component as usize] - 1).collect()
        } else {
            (0..nodes).map(|node| destinations(reach, node, min_hops).count() as u64).collect()
        };
        let mut before = vec![0];
        for count in counts {
            before.push(before[before.len() - 1] + count);
        }
        Choice { reach, min_hops, before }
    }

    fn total(&self) -> u64 {
        self.before[self.before.len() - 1]
    }

    /// The pair of this rank.
    fn pair(&self, rank: u64) -> (usize, usize) {
        let source = self.before.partition_point(|before| *before <= rank) - 1;
        let rank = (rank - self.before[source]) as usize;
        let destination = destinations(self.reach, source, self.min_hops).nth(rank);
        (source, destination.expect("ranks count the destinations of each source"))
    }
}

/// Who can be reached from `source`, far enough away.
fn destinations(reach: &Reach, source: usize, min_hops: u32) -> impl Iterator<Item = usize> {
    let hops = reach.hops_from(source).into_iter().enumerate();
    hops.filter(move |(_, hops)| *hops >= min_hops.max(1) && *hops != UNREACHABLE).map(|(node, _)| node)
}

fn canonical(document: &Document<'_>, nodes: &Nodes) -> Result<Vec<(usize, usize)>> {
    match &nodes.canonical {
        Some(flows) if !flows.is_empty() => Ok(flows.clone()),
        _ => Err(document.bad(
            &key!["traffic", "pattern"],
            "is unknown for this topology, which has no canonical flows",
            "list [[flows]], or use \"random-pairs\", \"to-gateway\" or \"all-to-one\"",
        )),
    }
}
