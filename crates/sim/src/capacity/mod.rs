//! What the stated channel can carry at all: the airtime that each flow needs on each link of its path, with
//! what the channel loses sent again, and which links cannot be used at once. Nothing runs; links, airtimes
//! and static routes are those that a run would use. A routing protocol may find other routes, of which this
//! knows nothing.
//!
//! From this a bound on goodput follows by linear programming over sets of links that exclude each other,
//! which is left to the caller.

mod airtimes;
mod conflict;
mod crossing;
mod demand;
mod opportunity;
mod tries;

pub use airtimes::{Airtimes, phy_times};
pub use conflict::{Conflict, Conflicts};
pub use demand::{Demand, LinkTime};

use crate::config::Config;
use crate::routing::{LinkQuality, Routes};
use multihop_core::NodeId;

/// What flows need of the channel, and which links share it.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// The directed links that some flow's packets or acknowledgements cross: sender and receiver.
    pub links: Vec<(NodeId, NodeId)>,
    /// What the flows need, in the order of the configuration.
    pub demands: Vec<Demand>,
    /// Which of the links exclude each other. Wires exclude nothing.
    pub conflicts: Conflicts,
    /// Whether nodes move or are switched off, so that all this is of the start only.
    pub changes: bool,
}

impl Capacity {
    /// Of a configuration.
    pub fn new(config: &Config) -> Capacity {
        let quality = LinkQuality::new(config);
        let routes = Routes::new(config, &quality);
        let (table, timing) = quality.parts();
        let mut links = Vec::new();
        let demands: Vec<Demand> = config
            .flows
            .iter()
            .map(|flow| Demand::new(config, flow, &routes, &quality, &mut links))
            .collect();
        let by_air = |link: &(NodeId, NodeId)| config.wire(link.0, link.1).is_none();
        let conflicts = Conflicts::new(&links, by_air, table, timing);
        let changes = config.mobility.moves() || !config.mobility.outages.is_empty();
        Capacity { links, demands, conflicts, changes }
    }
}
