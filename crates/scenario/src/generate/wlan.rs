//! Infrastructure networks: a base station and its clients.

use super::radial::{near, polar};
use super::wired::thousand;
use super::{Network, count, distance, limit};
use crate::document::{Document, Result, key};
use crate::error::KeyProblem;
use crate::phy::rate::{DataRate, rate_of};
use crate::wires::Line;
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration, Length};
use multihop_dot11::{self as dot11, Phy};
use schemars::JsonSchema;
use serde::Deserialize;

/// A base station and its clients.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wlan {
    /// Clients, all associated with the base station.
    #[serde(default = "five")]
    #[schemars(transform = bounds!(1, 99_998))]
    pub clients: u32,
    /// Distance of each client from the base station. Small against the ranges, so that all sense each other.
    #[serde(default = "near")]
    pub radius: Length,
    /// A server behind the base station, by wire, as the last node. Default: none, and the base station
    /// itself is the other end of flows.
    pub server: Option<Server>,
    /// Which way the canonical flows go.
    #[serde(default)]
    pub direction: Direction,
    /// Rates of DATA frames between clients and base station, both ways: the first is that of the first
    /// client and so on, and after the last one they start again. Default: `phy.data_rate` for all.
    pub rates: Option<Vec<DataRate>>,
}

/// A server behind the base station, and the wire to it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Rate of the wire.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Its propagation delay.
    pub delay: Duration,
    /// Packets that wait at each end of it at most, besides the one that is being sent.
    #[serde(default = "thousand")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// Probability with which it loses each packet at random, in either direction: from 0 to below 1.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
}

/// Which way flows go, as clients see it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A download of each client.
    #[default]
    Down,
    /// An upload of each client.
    Up,
    /// Both of each client, the download first.
    Both,
}

fn five() -> u32 {
    5
}

impl Wlan {
    pub(super) fn network(&self, document: &Document<'_>, phy: &Phy) -> Result<Network> {
        let clients = count(document, "clients", self.clients, 1)?;
        limit(document, "clients", 1 + clients as u64 + u64::from(self.server.is_some()))?;
        let radius = distance(document, "radius", self.radius)?;
        let around = (0..clients).map(|client| Some(polar(radius, client, clients)));
        let mut positions: Vec<Option<[f64; 2]>> = std::iter::once(Some([0.0, 0.0])).chain(around).collect();
        let mut wires = Vec::new();
        let mut far = 0;
        if let Some(server) = self.server {
            far = positions.len();
            positions.push(None);
            wires.extend(server.line(document)?.both(0, far));
        }
        let flows = (1..=clients).flat_map(|client| self.direction.flows(far, client)).collect();
        let rates = self.rates(document, phy)?;
        let clients = (1..=clients).map(|client| (client, rates[(client - 1) % rates.len()])).collect();
        Ok(Network { positions, wires, flows, clients, channels: Vec::new() })
    }

    /// The rates that clients have in turn; none is that of all links.
    fn rates(&self, document: &Document<'_>, phy: &Phy) -> Result<Vec<Option<dot11::DataRate>>> {
        let at = key!["topology", "rates"];
        match &self.rates {
            None => Ok(vec![None]),
            Some(rates) if rates.is_empty() => Err(document.error(&at, KeyProblem::EmptyList)),
            Some(rates) => {
                let rates = rates.iter().enumerate();
                rates.map(|(i, rate)| rate_of(document, &at.join(i), phy, *rate).map(Some)).collect()
            }
        }
    }
}

impl Server {
    fn line(&self, document: &Document<'_>) -> Result<Line> {
        let at = |key: &str| key!["topology", "server", key];
        Ok(Line {
            rate: self.rate.rate(),
            delay: document.time(&at("delay"), self.delay, 0.0)?,
            queue_limit: self.queue as usize,
            discipline: multihop_link::Discipline::DropTail,
            loss: self.loss,
        })
    }
}

impl Direction {
    /// Source and destination of the flows between a client and the other end.
    fn flows(self, far: usize, client: usize) -> Vec<(usize, usize)> {
        match self {
            Direction::Down => vec![(far, client)],
            Direction::Up => vec![(client, far)],
            Direction::Both => vec![(far, client), (client, far)],
        }
    }
}
