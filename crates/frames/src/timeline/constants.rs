//! What the coding of transmissions takes from the description.

use super::rows::Sort;
use super::state::MOST_NODES;

/// What does not change in a log, of what its description says.
#[derive(Clone, Debug)]
pub struct Constants {
    pub(super) slot: i64,
    pub(super) propagation: i64,
    /// An answer begins no later than this after the end of what it answers.
    pub(super) answered_within: i64,
    /// Source and destination of each flow.
    pub(super) flows: Vec<[i64; 2]>,
    /// Indices of nodes are below this.
    pub(super) nodes: i64,
}

impl Constants {
    /// Times are in nanoseconds.
    pub fn new(slot: u64, propagation: u64, flows: Vec<[i64; 2]>) -> Constants {
        const MOST: u64 = 1 << 40;
        let (slot, propagation) = (slot.clamp(1, MOST) as i64, propagation.min(MOST) as i64);
        let answered_within = 3 * slot + 2 * propagation;
        Constants { slot, propagation, answered_within, flows, nodes: MOST_NODES }
    }

    /// The same for a log of so many nodes: a damaged one could ask for the memory of any number.
    #[must_use]
    pub fn of_nodes(self, nodes: usize) -> Constants {
        Constants { nodes: i64::try_from(nodes).unwrap_or(MOST_NODES).min(MOST_NODES), ..self }
    }

    /// The node that packets in frames of a sort are for; the receiver of what is of no flow.
    pub(super) fn destination(&self, sort: &Sort) -> i64 {
        match usize::try_from(sort.flow).ok().and_then(|flow| self.flows.get(flow)) {
            Some([source, destination]) => *if sort.carries == 1 { destination } else { source },
            None => sort.to,
        }
    }
}
