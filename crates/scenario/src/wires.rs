//! `[[topology.wires]]`: wires between nodes.

use crate::catalogue::proposed;
use crate::discipline::{Discipline, DisciplineTables, DualPi2, Pie};
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{ConnectionKind, KeyProblem, MacProblem, TopologyProblem};
use crate::topology::Nodes;
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{NodeId, Rate, Span};
use multihop_sim::config::WireConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Full-duplex wire. Each direction has a queue at its sending end, and drops packets that find the queue
/// full. A packet is received as a whole before it is forwarded. Packets between the two nodes always take
/// the wire, even if the nodes receive each other's frames.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// Names of the two nodes.
    pub between: [String; 2],
    /// Bit rate, at which packets with their headers are sent.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Propagation delay from the first node to the second.
    pub delay: Duration,
    /// Queue limit at each end in packets, without the packet in transmission.
    #[serde(default = "fifty")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// Queue discipline at each end; not `stations`, which needs airtime.
    #[serde(default)]
    pub discipline: Discipline,
    /// Parameters of the discipline "pie".
    pub pie: Option<Pie>,
    /// Parameters of the discipline "dualpi2".
    pub dualpi2: Option<DualPi2>,
    /// Bit rate from the second node to the first. Default: `rate`.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate_back: Option<BitRate>,
    /// Propagation delay from the second node to the first. Default: `delay`.
    pub delay_back: Option<Duration>,
    /// Probability that a packet is lost in transit, independently of others: from 0 to below 1.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
    /// Probability that a packet from the second node to the first is lost. Default: `loss`.
    #[schemars(transform = bounds!(0, below 1))]
    pub loss_back: Option<f64>,
}

impl Wire {
    fn tables(&self) -> DisciplineTables<'_> {
        DisciplineTables { codel: None, pie: self.pie.as_ref(), dualpi2: self.dualpi2.as_ref() }
    }
}

pub(super) fn fifty() -> u32 {
    50
}

/// Parameters of one direction of a wire.
#[derive(Clone, Copy)]
pub(super) struct WireDirection {
    pub(super) rate: Rate,
    pub(super) delay: Span,
    pub(super) queue_limit: usize,
    pub(super) discipline: multihop_link::Discipline,
    pub(super) loss: f64,
}

impl WireDirection {
    /// The wire's direction from one node to another.
    pub(super) fn direction(self, from: usize, to: usize) -> WireConfig {
        let WireDirection { rate, delay, queue_limit, discipline, loss } = self;
        let (from, to) = (NodeId(from as u32), NodeId(to as u32));
        WireConfig { from, to, rate, delay, queue_limit, discipline, loss }
    }

    /// Both directions, with equal parameters.
    pub(super) fn both(self, a: usize, b: usize) -> [WireConfig; 2] {
        [self.direction(a, b), self.direction(b, a)]
    }
}

/// Both directions of each wire of a list.
pub(super) fn resolve(document: &Document<'_>, wires: &[Wire], nodes: &Nodes) -> Result<Vec<WireConfig>> {
    let mut laid = Vec::with_capacity(2 * wires.len());
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (i, wire) in wires.iter().enumerate() {
        let at = key!["topology", "wires", i];
        let [first, second] = &wire.between;
        let a = nodes.find(document, &at.join("between").join(0), first)?;
        let b = nodes.find(document, &at.join("between").join(1), second)?;
        if a == b {
            let problem = KeyProblem::Loop { what: ConnectionKind::Wire, node: first.clone() };
            return Err(document.error(&at.join("between"), problem));
        }
        if let Some(other) = known.insert((a.min(b), a.max(b)), i) {
            let problem = TopologyProblem::SecondWire { between: wire.between.clone(), first: other };
            return Err(document.error(&at.join("between"), problem));
        }
        let there = WireDirection {
            rate: wire.rate.rate(),
            delay: document.time(&at.join("delay"), wire.delay, 0.0)?,
            queue_limit: wire.queue as usize,
            discipline: discipline(document, &at, wire.discipline, wire.tables())?,
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

/// A rate within its range, at which the clock of nanoseconds resolves single packets.
pub(super) fn rate(document: &Document<'_>, at: &KeyPath, rate: BitRate) -> Result<Rate> {
    document.between(at, rate, "1 b/s", "100 Gb/s").map(BitRate::rate)
}

/// Queue discipline of a wire.
pub(super) fn discipline(
    document: &Document<'_>,
    at: &KeyPath,
    discipline: Discipline,
    tables: DisciplineTables<'_>,
) -> Result<multihop_link::Discipline> {
    if discipline == Discipline::Stations {
        let instead = proposed::<Discipline>(|name| name != "stations");
        return Err(document.error(&at.join("discipline"), MacProblem::StationsOnWire { instead }));
    }
    discipline.resolve(document, at, tables)
}
