//! Upper bounds on capacity: the airtime that each flow needs on each link of its path, retransmissions of
//! lost frames included, and the links that exclude each other. Nothing is simulated; links, airtimes and
//! static routes are those of a run. Routes that a routing protocol may find instead are not considered.
//!
//! The caller computes a bound on goodput by linear programming over sets of links that exclude each other.

mod airtimes;
mod conflict;
mod demand;
mod opportunity;
mod packet_cost;
mod tries;

pub use airtimes::{Airtimes, phy_times};
pub use conflict::{Conflict, Conflicts};
pub use demand::{Demand, LinkTime};

use crate::config::Config;
use crate::routing::{LinkQuality, Routes};
use multihop_core::NodeId;

/// Airtime demands of flows, and conflicts between links.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Directed links, sender and receiver, that packets or acknowledgements of a flow use.
    pub links: Vec<(NodeId, NodeId)>,
    /// Demands of the flows, in the order of the configuration.
    pub demands: Vec<Demand>,
    /// Conflicts between the links. Wires exclude nothing.
    pub conflicts: Conflicts,
    /// Whether nodes move or are switched off, so that the result holds for the start only.
    pub changes: bool,
}

impl Capacity {
    /// Computes the capacity of a configuration.
    pub fn new(config: &Config) -> Capacity {
        let mobility = &config.mobility;
        let quality = LinkQuality::new(config);
        let routes = Routes::new(config, &quality);
        let (table, timing) = quality.parts();
        let mut links = Vec::new();
        let demands: Vec<Demand> = config
            .traffic
            .flows
            .iter()
            .map(|flow| Demand::new(config, flow, &routes, &quality, &mut links))
            .collect();
        let by_air = |link: &(NodeId, NodeId)| config.topology.wire(link.0, link.1).is_none();
        let conflicts = Conflicts::new(&links, by_air, table, timing);
        let changes = mobility.moves() || !mobility.outages.is_empty();
        Capacity { links, demands, conflicts, changes }
    }
}
