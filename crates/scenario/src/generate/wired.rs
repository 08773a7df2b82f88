//! Topologies of wires: the dumbbell.

use super::{Network, count, limit};
use crate::discipline::{Discipline, DisciplineTables};
use crate::document::{Document, Result, key};
use crate::error::TopologyProblem;
use crate::wires::{WireDirection, discipline, fifty, rate};
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

/// Senders and receivers around one bottleneck, all joined by wires.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Number of pairs of a sender and a receiver.
    #[schemars(transform = bounds!(1, 49_999))]
    pub pairs: u32,
    /// Rate of the bottleneck, the wire between the two routers.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Propagation delay of the bottleneck.
    pub delay: Duration,
    /// Queue limit at each end of the bottleneck in packets, without the packet in transmission.
    #[serde(default = "fifty")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// Queue discipline of the bottleneck, with its defaults; not `stations`. The other wires have
    /// `drop-tail`.
    #[serde(default)]
    pub discipline: Discipline,
    /// Probability that the bottleneck loses a packet in transit, from 0 to below 1. The other wires lose no
    /// packets.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
    /// Probability that the bottleneck loses a packet on the reverse path, which the acknowledgements of the
    /// canonical flows take. Default: `loss`.
    #[schemars(transform = bounds!(0, below 1))]
    pub loss_back: Option<f64>,
    /// Rate of the wires of a pair: one value for all pairs, or one for each pair.
    #[serde(default = "gigabit")]
    pub access_rates: Vec<BitRate>,
    /// Propagation delay of each of the two wires of a pair: one value for all pairs, or one for each pair.
    /// The round-trip propagation delay is twice the bottleneck's delay plus four times this delay.
    #[serde(default = "millisecond")]
    pub access_delays: Vec<Duration>,
    /// Queue limit at each end of the pairs' wires, in packets.
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
        let bottleneck = WireDirection {
            rate: self.rate.rate(),
            delay: document.time(&at("delay"), self.delay, 0.0)?,
            queue_limit: self.queue as usize,
            discipline: discipline(
                document,
                &key!["topology"],
                self.discipline,
                DisciplineTables::default(),
            )?,
            loss: self.loss,
        };
        let lost_back = self.loss_back.unwrap_or(self.loss);
        let access = self.access(document, pairs)?;
        let (left, right) = (pairs, pairs + 1);
        let back = WireDirection { loss: lost_back, ..bottleneck };
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

    /// Wires of each pair.
    fn access(&self, document: &Document<'_>, pairs: usize) -> Result<Vec<WireDirection>> {
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
        let line = |pair: usize| WireDirection {
            rate: rates[pair % rates.len()],
            delay: delays[pair % delays.len()],
            queue_limit,
            discipline: multihop_link::Discipline::DropTail,
            loss: 0.0,
        };
        Ok((0..pairs).map(line).collect())
    }
}
