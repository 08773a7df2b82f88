//! Generators of topologies, one file per family.

mod lattice;
mod line;
mod radial;
mod random;
mod wired;
mod wlan;

use super::document::{Document, Result, key};
use super::error::{KeyProblem, Limited};
use multihop_config::quantity::Length;
use multihop_dot11::{DataRate, Phy};
use multihop_sim::config::WireConfig;
use schemars::JsonSchema;
use serde::Deserialize;

pub use lattice::{Bar, Grid};
pub use line::{Chain, ExposedTerminal, ParkingLot};
pub use radial::{Circle, Cross, Star};
pub use random::RandomGeometric;
pub use wired::Dumbbell;
pub use wlan::{Direction, Server, Wlan};

/// The largest network.
pub(super) const NODES_MAX: u64 = 100_000;

/// A generated topology. Nodes are named n0, n1, ... in the order that each generator describes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "generator")]
pub enum Generator {
    /// Nodes in a line at equal distances. Canonical flow: n0 to the last node.
    Chain(Chain),
    /// Rows of nodes at equal distances, row by row, optionally jittered. No canonical flows.
    Grid(Grid),
    /// Chains that meet in a centre, n0. Canonical flows: from the end of each arm to the centre.
    Star(Star),
    /// Two chains that cross in their middle. Canonical flows: one along each chain.
    Cross(Cross),
    /// R1, S1, S2, R2 in a line, as n0 to n3: the senders sense each other, and neither receiver
    /// senses the other sender. Canonical flows: S1 to R1, S2 to R2.
    ExposedTerminal(ExposedTerminal),
    /// Parallel one-hop links, one per row: the middle ones contend with both neighbours. Canonical flows:
    /// one per row.
    Bar(Bar),
    /// A chain. Canonical flows: one along all of it, and one over each of its hops.
    ParkingLot(ParkingLot),
    /// Nodes at random in a square, drawn again until the network is connected. No canonical flows.
    RandomGeometric(RandomGeometric),
    /// Stations on a circle around a sink, n0. Canonical flows: from each station to the sink. For saturation
    /// studies.
    Circle(Circle),
    /// Wires only: each sender by a wire to a router, that by the bottleneck to another router, and that by a
    /// wire to each receiver. Of n pairs, n0 to n(n-1) send, n(n) and n(n+1) are the routers, and the
    /// receivers follow in the order of their senders. Canonical flows: from each sender to its receiver.
    Dumbbell(Dumbbell),
    /// A base station, n0, and clients around it that are associated with it; optionally a server behind it,
    /// by wire, as the last node. Canonical flows: between each client and the server, or the base station if
    /// there is none, as `direction` says.
    Wlan(Wlan),
}

/// What a generator makes of nodes with radios.
pub(super) struct Plan {
    /// Positions in metres.
    pub(super) positions: Vec<[f64; 2]>,
    /// Source and destination of the flows that the topology is known for.
    pub(super) flows: Vec<(usize, usize)>,
}

/// What any generator makes.
pub(super) struct Network {
    /// Positions in metres; none of nodes without a radio.
    pub(super) positions: Vec<Option<[f64; 2]>>,
    /// Wires.
    pub(super) wires: Vec<WireConfig>,
    /// Source and destination of the flows that the topology is known for.
    pub(super) flows: Vec<(usize, usize)>,
    /// The nodes that are associated with the first one, their base station, and the rates of their links,
    /// where they have one of their own.
    pub(super) clients: Vec<(usize, Option<DataRate>)>,
    /// The channels of each node's radios; empty if all are on the usual one.
    pub(super) channels: Vec<Vec<u16>>,
}

impl From<Plan> for Network {
    fn from(Plan { positions, flows }: Plan) -> Network {
        Network {
            positions: positions.into_iter().map(Some).collect(),
            wires: Vec::new(),
            flows,
            clients: Vec::new(),
            channels: Vec::new(),
        }
    }
}

impl Generator {
    /// The topology. `reach` is the distance up to which nodes can exchange frames on the scenario's
    /// medium.
    pub(super) fn network(&self, document: &Document<'_>, phy: &Phy, reach: f64) -> Result<Network> {
        let plan = match self {
            Generator::Dumbbell(dumbbell) => return dumbbell.network(document),
            Generator::Wlan(wlan) => return wlan.network(document, phy),
            Generator::Chain(chain) => return chain.network(document),
            Generator::Grid(grid) => grid.plan(document),
            Generator::Star(star) => star.plan(document),
            Generator::Cross(cross) => cross.plan(document),
            Generator::ExposedTerminal(exposed) => exposed.plan(document),
            Generator::Bar(bar) => bar.plan(document),
            Generator::ParkingLot(lot) => lot.plan(document),
            Generator::RandomGeometric(random) => random.plan(document, reach),
            Generator::Circle(circle) => circle.plan(document),
        };
        plan.map(Network::from)
    }
}

/// 200 m: one hop, but not two, of ns-2's 250 m.
fn hop() -> Length {
    Length(200.0)
}

/// A count of something, at least `low`.
fn count(document: &Document<'_>, key: &str, value: u32, low: u32) -> Result<usize> {
    document.count(&key!["topology", key], value, low, NODES_MAX as u32).map(|count| count as usize)
}

/// A distance between nodes.
fn distance(document: &Document<'_>, key: &str, value: Length) -> Result<f64> {
    document.between(&key!["topology", key], value, "0.01 m", "1000 km").map(|length| length.0)
}

/// Refuses networks that are too large; `key` is what makes them large.
fn limit(document: &Document<'_>, key: &str, nodes: u64) -> Result<()> {
    if nodes <= NODES_MAX {
        return Ok(());
    }
    let problem = KeyProblem::TooMany { count: nodes, what: Limited::Nodes, most: NODES_MAX };
    Err(document.error(&key!["topology", key], problem))
}
