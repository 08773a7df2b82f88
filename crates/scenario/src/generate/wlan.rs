//! Infrastructure networks: a base station and its clients.

use super::radial::{near, polar};
use super::wired::thousand;
use super::{Network, count, distance, limit};
use crate::document::{Document, Result, key};
use crate::error::KeyProblem;
use crate::phy::rate::{DataRate, rate_of};
use crate::wires::WireDirection;
use multihop_config::bounds;
use multihop_config::quantity::{BitRate, Duration, Length};
use multihop_dot11::{self as dot11, Phy};
use schemars::JsonSchema;
use serde::Deserialize;

/// Base station and its clients.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wlan {
    /// Number of clients, all associated with the base station.
    #[serde(default = "five")]
    #[schemars(transform = bounds!(1, 99_998))]
    pub clients: u32,
    /// Distance of each client from the base station, small compared to the ranges, so that all nodes sense
    /// each other.
    #[serde(default = "near")]
    pub radius: Length,
    /// Server wired to the base station, as the last node. Default: no server; the base station is the other
    /// end of the flows.
    pub server: Option<Server>,
    /// Direction of the canonical flows.
    #[serde(default)]
    pub direction: Direction,
    /// Rates of DATA frames between clients and base station, in both directions. Client number i has the
    /// i-th rate; after the last one, the list starts again. Default: `phy.data_rate` for all.
    pub rates: Option<Vec<DataRate>>,
}

/// Server behind the base station, and the wire to it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Rate of the wire.
    #[schemars(transform = bounds!("1 b/s", "100 Gb/s"))]
    pub rate: BitRate,
    /// Propagation delay of the wire.
    pub delay: Duration,
    /// Queue limit at each end of the wire in packets, without the packet in transmission.
    #[serde(default = "thousand")]
    #[schemars(transform = bounds!(1, 1_000_000))]
    pub queue: u32,
    /// Probability that the wire loses a packet in transit, in either direction: from 0 to below 1.
    #[serde(default)]
    #[schemars(transform = bounds!(0, below 1))]
    pub loss: f64,
}

/// Direction of flows, as seen from the clients.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// One download for each client.
    #[default]
    Down,
    /// One upload for each client.
    Up,
    /// One download and one upload for each client, the download first.
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

    /// Rates of the clients in turn; none for the rate of all links.
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
    fn line(&self, document: &Document<'_>) -> Result<WireDirection> {
        let at = |key: &str| key!["topology", "server", key];
        Ok(WireDirection {
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
