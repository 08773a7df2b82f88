//! `[[topology.wires]]`: wires between nodes.

use crate::catalogue::proposed;
use crate::discipline::Discipline;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{Joined, KeyProblem, MacProblem, TopologyProblem};
use crate::topology::Nodes;
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{NodeId, Rate, Span};
use multihop_sim::config::WireConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A wire: full duplex, each direction with a queue of its own at its sending end. A packet is received as a
/// whole before it is passed on. What finds the queue full is lost, and what `loss` takes. What goes from the
/// one node to the other takes the wire, even where they also receive each other's frames.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// Names of the two nodes.
    pub between: [String; 2],
    /// Rate at which packets are sent, headers included.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets that wait at each end at most, besides the one that is being sent.
    #[serde(default = "fifty")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// How they wait; not by `stations`, which needs airtime.
    #[serde(default)]
    pub discipline: Discipline,
    /// Rate from the second node to the first. Default: `rate`.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate_back: Option<BitRate>,
    /// Propagation delay from the second node to the first. Default: `delay`.
    pub delay_back: Option<Duration>,
    /// Probability with which each packet is lost on its way, whatever became of others: from 0 to below 1.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
    /// The same from the second node to the first. Default: `loss`.
    #[schemars(transform = bounds!(0, below 1))]
    pub loss_back: Option<f64>,
}

pub(super) fn fifty() -> u32 {
    50
}

/// What both directions of a wire have in common.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) rate: Rate,
    pub(super) delay: Span,
    pub(super) queue_limit: usize,
    pub(super) discipline: multihop_link::Discipline,
    pub(super) loss: f64,
}

impl Line {
    /// The direction from one node to another.
    pub(super) fn direction(self, from: usize, to: usize) -> WireConfig {
        let Line { rate, delay, queue_limit, discipline, loss } = self;
        let (from, to) = (NodeId(from as u32), NodeId(to as u32));
        WireConfig { from, to, rate, delay, queue_limit, discipline, loss }
    }

    /// Both directions, the same.
    pub(super) fn both(self, a: usize, b: usize) -> [WireConfig; 2] {
        [self.direction(a, b), self.direction(b, a)]
    }
}

/// The wires of a list, both directions of each.
pub(super) fn resolve(document: &Document<'_>, wires: &[Wire], nodes: &Nodes) -> Result<Vec<WireConfig>> {
    let mut laid = Vec::with_capacity(2 * wires.len());
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (i, wire) in wires.iter().enumerate() {
        let at = key!["topology", "wires", i];
        let [first, second] = &wire.between;
        let a = nodes.find(document, &at.join("between").join(0), first)?;
        let b = nodes.find(document, &at.join("between").join(1), second)?;
        if a == b {
            let problem = KeyProblem::Loop { what: Joined::Wire, node: first.clone() };
            return Err(document.error(&at.join("between"), problem));
        }
        if let Some(other) = known.insert((a.min(b), a.max(b)), i) {
            let problem = TopologyProblem::SecondWire { between: wire.between.clone(), first: other };
            return Err(document.error(&at.join("between"), problem));
        }
        let there = Line {
            rate: wire.rate.rate(),
            delay: document.time(&at.join("delay"), wire.delay, 0.0)?,
            queue_limit: wire.queue as usize,
            discipline: discipline(document, &at, wire.discipline)?,
            loss: wire.loss,
        };
        let mut back = there;
        if let Some(other) = wire.rate_back {
            back.rate = other.rate();
        }
        if let Some(other) = wire.delay_back {
            back.delay = document.time(&at.join("delay_back"), other, 0.0)?;
        }
        if let Some(other) = wire.loss_back {
            back.loss = other;
        }
        laid.extend([there.direction(a, b), back.direction(b, a)]);
    }
    Ok(laid)
}

/// A rate at which the clock, which counts nanoseconds, resolves single packets.
pub(super) fn rate(document: &Document<'_>, at: &KeyPath, rate: BitRate) -> Result<Rate> {
    document.between(at, rate, "1 b/s", "100 Gb/s").map(BitRate::rate)
}

/// How packets wait for a wire.
pub(super) fn discipline(
    document: &Document<'_>,
    at: &KeyPath,
    discipline: Discipline,
) -> Result<multihop_link::Discipline> {
    if discipline == Discipline::Stations {
        let instead = proposed::<Discipline>(|name| name != "stations");
        return Err(document.error(&at.join("discipline"), MacProblem::StationsOnWire { instead }));
    }
    discipline.resolve(document, at, None)
}
