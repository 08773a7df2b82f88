//! What the coding of transmissions takes from the description.

use super::rows::Sort;

/// What does not change in a log, of what its description says.
#[derive(Clone, Debug)]
pub struct Constants {
    pub(super) slot: i64,
    pub(super) propagation: i64,
    /// An answer begins no later than this after the end of what it answers.
    pub(super) answered_within: i64,
    /// Source and destination of each flow.
    pub(super) flows: Vec<[i64; 2]>,
}

impl Constants {
    /// Times are in nanoseconds.
    pub fn new(slot: u64, propagation: u64, flows: Vec<[i64; 2]>) -> Constants {
        const MOST: u64 = 1 << 40;
        let (slot, propagation) = (slot.clamp(1, MOST) as i64, propagation.min(MOST) as i64);
        Constants { slot, propagation, answered_within: 3 * slot + 2 * propagation, flows }
    }

    /// The node that packets in frames of a sort are for; the receiver of what is of no flow.
    pub(super) fn destination(&self, sort: &Sort) -> i64 {
        match usize::try_from(sort.flow).ok().and_then(|flow| self.flows.get(flow)) {
            Some([source, destination]) => *if sort.carries == 1 { destination } else { source },
            None => sort.to,
        }
    }
}
