//! Topologies of wires: the dumbbell.

use super::{Network, count, limit};
use crate::discipline::Discipline;
use crate::document::{Document, Result, key};
use crate::error::TopologyProblem;
use crate::wires::{Line, discipline, fifty, rate};
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

/// Senders and receivers around one bottleneck, all by wire.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Pairs of a sender and a receiver.
    #[schemars(transform = bounds!(1, 49_999))]
    pub pairs: u32,
    /// Rate of the bottleneck, the wire between the two routers.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Its propagation delay.
    pub delay: Duration,
    /// Packets that wait at each end of it at most, besides the one that is being sent.
    #[serde(default = "fifty")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// How they wait: `drop-tail` or `fq-codel`. In front of the other wires they wait in one line.
    #[serde(default)]
    pub discipline: Discipline,
    /// Probability with which it loses each packet at random, from 0 to below 1. The other wires lose none.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
    /// The same on the reverse path, where the acknowledgements of the canonical flows go. Default: `loss`.
    #[schemars(transform = bounds!(0, below 1))]
    pub loss_back: Option<f64>,
    /// Rate of the wires of each pair: one for all, or one per pair.
    #[serde(default = "gigabit")]
    pub access_rates: Vec<BitRate>,
    /// Propagation delay of each of the two wires of a pair: one for all, or one per pair. Propagation there
    /// and back takes twice the delay of the bottleneck and four times this.
    #[serde(default = "millisecond")]
    pub access_delays: Vec<Duration>,
    /// Packets that wait at each end of these wires at most.
    #[serde(default = "thousand")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub access_queue: u32,
}

fn gigabit() -> Vec<BitRate> {
    vec![BitRate(1e9)]
}
fn millisecond() -> Vec<Duration> {
    vec![Duration(1e-3)]
}
pub(super) fn thousand() -> u32 {
    1000
}

impl Dumbbell {
    pub(super) fn network(&self, document: &Document<'_>) -> Result<Network> {
        let pairs = count(document, "pairs", self.pairs, 1)?;
        limit(document, "pairs", 2 * pairs as u64 + 2)?;
        let at = |key: &str| key!["topology", key];
        let bottleneck = Line {
            rate: self.rate.rate(),
            delay: document.time(&at("delay"), self.delay, 0.0)?,
            queue_limit: self.queue as usize,
            discipline: discipline(document, &key!["topology"], self.discipline)?,
            loss: self.loss,
        };
        let lost_back = self.loss_back.unwrap_or(self.loss);
        let access = self.access(document, pairs)?;
        let (left, right) = (pairs, pairs + 1);
        let back = Line { loss: lost_back, ..bottleneck };
        let mut wires = vec![bottleneck.direction(left, right), back.direction(right, left)];
        let mut flows = Vec::with_capacity(pairs);
        for (sender, line) in access.into_iter().enumerate() {
            let receiver = pairs + 2 + sender;
            wires.extend(line.both(sender, left));
            wires.extend(line.both(right, receiver));
            flows.push((sender, receiver));
        }
        Ok(Network {
            positions: vec![None; 2 * pairs + 2],
            wires,
            flows,
            clients: Vec::new(),
            channels: Vec::new(),
        })
    }

    /// The wires of each pair.
    fn access(&self, document: &Document<'_>, pairs: usize) -> Result<Vec<Line>> {
        let at = |key: &str| key!["topology", key];
        let queue_limit = self.access_queue as usize;
        let check_length = |key: &str, length: usize| {
            if length == 1 || length == pairs {
                return Ok(());
            }
            Err(document.error(&at(key), TopologyProblem::NotOneForEach { length, pairs }))
        };
        check_length("access_rates", self.access_rates.len())?;
        check_length("access_delays", self.access_delays.len())?;
        let rates = self.access_rates.iter().enumerate();
        let rates: Vec<Rate> = rates
            .map(|(i, given)| rate(document, &at("access_rates").join(i), *given))
            .collect::<Result<_>>()?;
        let delays = self.access_delays.iter().enumerate();
        let delays: Vec<Span> = delays
            .map(|(i, given)| document.time(&at("access_delays").join(i), *given, 0.0))
            .collect::<Result<_>>()?;
        let line = |pair: usize| Line {
            rate: rates[pair % rates.len()],
            delay: delays[pair % delays.len()],
            queue_limit,
            discipline: multihop_link::Discipline::DropTail,
            loss: 0.0,
        };
        Ok((0..pairs).map(line).collect())
    }
}
