//! Generators of topologies, one file per family.

mod lattice;
mod line;
mod radial;
mod random;
mod wired;
mod wlan;

use super::document::{Document, Result, key};
use super::error::{KeyProblem, LimitedKind};
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

/// Maximum number of nodes of a network.
pub(super) const NODES_MAX: u64 = 100_000;

/// Generated topology. Nodes are named n0, n1, ... in the order that the generator describes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "generator")]
pub enum Generator {
    /// Nodes in a line at equal distances. Canonical flow: from n0 to the last node.
    Chain(Chain),
    /// Rows of nodes at equal distances, row by row, optionally jittered. No canonical flows.
    Grid(Grid),
    /// Chains that meet in a centre, n0. Canonical flows: from the end of each arm to the centre.
    Star(Star),
    /// Two chains that cross in their middle. Canonical flows: one along each chain.
    Cross(Cross),
    /// Receiver R1, senders S1 and S2, receiver R2 in a line, as n0 to n3. The senders sense each other, and
    /// neither receiver senses the other's sender. Canonical flows: S1 to R1, S2 to R2.
    ExposedTerminal(ExposedTerminal),
    /// Parallel one-hop links, one per row: a link in the middle contends with both its neighbours. Canonical
    /// flows: one per row.
    Bar(Bar),
    /// Nodes in a line at equal distances. Canonical flows: one along the whole chain, and one over each hop.
    ParkingLot(ParkingLot),
    /// Nodes at random positions in a square, drawn again until the network is connected. No canonical flows.
    RandomGeometric(RandomGeometric),
    /// Stations on a circle around a sink, n0, for saturation studies. Canonical flows: from each station to
    /// the sink.
    Circle(Circle),
    /// Wires only: each sender is wired to a router, the bottleneck joins that router to another, and each
    /// receiver is wired to the second router. With n pairs, n0 to n(n-1) are the senders, n(n) and n(n+1)
    /// the routers, and the receivers follow in the order of their senders. Canonical flows: from each sender
    /// to its receiver.
    Dumbbell(Dumbbell),
    /// Base station, n0, with associated clients around it. An optional server, the last node, is wired to
    /// the base station. Canonical flows: between each client and the server, or the base station if there is
    /// no server, as `direction` says.
    Wlan(Wlan),
}

/// Topology of nodes with one radio each.
pub(super) struct Plan {
    /// Positions in metres.
    pub(super) positions: Vec<[f64; 2]>,
    /// Source and destination of the topology's canonical flows.
    pub(super) flows: Vec<(usize, usize)>,
}

/// Topology made by a generator.
pub(super) struct Network {
    /// Positions in metres; none for nodes without a radio.
    pub(super) positions: Vec<Option<[f64; 2]>>,
    /// Wires.
    pub(super) wires: Vec<WireConfig>,
    /// Source and destination of the topology's canonical flows.
    pub(super) flows: Vec<(usize, usize)>,
    /// Nodes associated with the first node, their base station, each with the rate of its link; none for the
    /// rate of all links.
    pub(super) clients: Vec<(usize, Option<DataRate>)>,
    /// Channels of each node's radios; empty if all radios use the default channel.
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
    /// The topology. `reach` is the maximum distance at which nodes exchange frames on the scenario's medium.
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

/// Default distance of neighbours: within ns-2's range of 250 m over one hop, and beyond it over two.
fn hop() -> Length {
    Length(200.0)
}

/// Number from `low` to the maximum number of nodes.
fn count(document: &Document<'_>, key: &str, value: u32, low: u32) -> Result<usize> {
    document.count(&key!["topology", key], value, low, NODES_MAX as u32).map(|count| count as usize)
}

/// Distance between nodes, within its range.
fn distance(document: &Document<'_>, key: &str, value: Length) -> Result<f64> {
    document.between(&key!["topology", key], value, "0.01 m", "1000 km").map(|length| length.0)
}

/// Refuses networks that are too large; `key` is the key to blame.
fn limit(document: &Document<'_>, key: &str, nodes: u64) -> Result<()> {
    if nodes <= NODES_MAX {
        return Ok(());
    }
    let problem = KeyProblem::TooMany { count: nodes, what: LimitedKind::Nodes, most: NODES_MAX };
    Err(document.error(&key!["topology", key], problem))
}
