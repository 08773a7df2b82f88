//! Motion of nodes: where each is at any instant, and when it is off.
//!
//! * `motion`: a node's trajectory as straight legs, and when two nodes come into and go out of a range.
//! * `waypoint`: the random waypoint model, as setdest's two versions have it.
//! * `places`: where nodes are over time, for tables.
//!
//! Models and files both end as a [`Motion`] per node, before the run begins; the medium asks it for places,
//! and knows neither.

mod motion;
mod places;
mod waypoint;

pub use motion::{Crossing, FASTEST, Leg, Motion, crossings, distance};
pub use places::{Place, places};
pub use waypoint::{Pause, RandomWaypoint, Start};

use multihop_core::{NodeId, Span};

/// How the nodes of a run move, and when they are off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mobility {
    /// One per node; empty if none moves.
    pub motions: Vec<Motion>,
    /// The distance of two nodes, as links see it, is wrong by at most so many metres.
    pub resolution: f64,
    /// When nodes are off.
    pub outages: Vec<Outage>,
}

/// A node is off: it neither sends nor receives, by radio or by wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// The node that is off.
    pub node: NodeId,
    /// Since when.
    pub from: Span,
    /// Until when.
    pub to: Span,
}

impl Mobility {
    /// Does this node ever change its place?
    pub fn node_moves(&self, node: NodeId) -> bool {
        self.motions.get(node.index()).is_some_and(|motion| !motion.legs().is_empty())
    }

    /// Does any node ever change its place?
    pub fn moves(&self) -> bool {
        self.motions.iter().any(|motion| !motion.legs().is_empty())
    }
}
