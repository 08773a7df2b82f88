//! Motion of nodes: positions over time, and intervals in which nodes are off.
//!
//! * `motion`: a node's trajectory as straight legs, and the times at which two nodes enter and leave a
//!   range.
//! * `waypoint`: the random waypoint model of setdest's two versions.
//! * `places`: positions over time, for tables.
//!
//! Models and files both yield one [`Motion`] per node before the run begins; the medium reads positions from
//! it.

mod motion;
mod places;
mod waypoint;

pub use motion::{Crossing, FASTEST, Leg, Motion, crossings, distance};
pub use places::{Place, places};
pub use waypoint::{Pause, RandomWaypoint, Start};

use multihop_core::{NodeId, Span};

/// Motion of the nodes of a run, and intervals in which they are off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mobility {
    /// Motion of each node; empty if no node moves.
    pub motions: Vec<Motion>,
    /// Largest error in metres of the distance between two nodes as links see it.
    pub resolution: f64,
    /// Intervals in which nodes are off.
    pub outages: Vec<Outage>,
}

/// Interval in which a node is off: its radios and wires neither send nor receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Node that is off.
    pub node: NodeId,
    /// Start of the interval, from the start of the run.
    pub from: Span,
    /// End of the interval, from the start of the run.
    pub to: Span,
}

impl Mobility {
    /// Whether this node ever moves.
    pub fn node_moves(&self, node: NodeId) -> bool {
        self.motions.get(node.index()).is_some_and(|motion| !motion.legs().is_empty())
    }

    /// Whether any node ever moves.
    pub fn moves(&self) -> bool {
        self.motions.iter().any(|motion| !motion.legs().is_empty())
    }
}
