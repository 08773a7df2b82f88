//! Interface queues of a radio: one, or one for each access category.

use super::interface_queue::Waiting;
use multihop_core::{NodeId, Span};
use multihop_dot11::AccessCategory;
use multihop_link::{AirtimeLimits, Discipline, InterfaceQueue};

/// Queues of a radio, with the same discipline and limit.
#[derive(Debug)]
pub struct Queues {
    /// Queue of best effort, or of all packets.
    first: InterfaceQueue<Waiting>,
    /// Queues of the other categories; empty with a single queue.
    others: Vec<(AccessCategory, InterfaceQueue<Waiting>)>,
}

impl Queues {
    /// Creates a single queue. `salt` selects the hash of flows to sub-queues, where the discipline has them.
    pub fn single(discipline: &Discipline, limit: usize, salt: u64) -> Queues {
        Queues { first: InterfaceQueue::new(discipline, limit, salt), others: Vec::new() }
    }

    /// Creates a queue for each access category.
    pub fn by_category(discipline: &Discipline, limit: usize, salt: u64) -> Queues {
        let others =
            AccessCategory::ALL.into_iter().filter(|category| *category != AccessCategory::BestEffort);
        let made = others.map(|category| (category, InterfaceQueue::new(discipline, limit, salt)));
        Queues { others: made.collect(), ..Queues::single(discipline, limit, salt) }
    }

    /// Whether each category has its own queue.
    pub(super) fn has_categories(&self) -> bool {
        !self.others.is_empty()
    }

    /// Queue of a category.
    #[inline]
    pub(super) fn of(&self, category: AccessCategory) -> &InterfaceQueue<Waiting> {
        if category == AccessCategory::BestEffort {
            return &self.first;
        }
        let mut others = self.others.iter();
        others.find(|(other, _)| *other == category).map_or(&self.first, |(_, queue)| queue)
    }

    /// Queue of a category, to be changed.
    #[inline]
    pub(super) fn of_mut(&mut self, category: AccessCategory) -> &mut InterfaceQueue<Waiting> {
        if category == AccessCategory::BestEffort {
            return &mut self.first;
        }
        let mut others = self.others.iter_mut();
        others.find(|(other, _)| *other == category).map_or(&mut self.first, |(_, queue)| queue)
    }

    /// Limits the airtime that the hardware holds of their packets.
    pub fn limit_airtime(&mut self, limits: AirtimeLimits) {
        self.first.limit_airtime(limits);
        self.others.iter_mut().for_each(|(_, queue)| queue.limit_airtime(limits));
    }

    /// Lets each queue know the airtime that the hardware holds of the others.
    pub(super) fn share_pending(&mut self) {
        if self.others.is_empty() {
            return;
        }
        let all = self.first.pending() + self.others.iter().map(|(_, queue)| queue.pending()).sum::<Span>();
        for queue in std::iter::once(&mut self.first).chain(self.others.iter_mut().map(|(_, queue)| queue)) {
            queue.note_pending_elsewhere(all.saturating_sub(queue.pending()));
        }
    }

    /// Number of packets in all queues.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.first.len() + self.others.iter().map(|(_, queue)| queue.len()).sum::<usize>()
    }

    /// Removes the packets for a next hop, and passes each to `removed`.
    pub(super) fn purge(&mut self, peer: NodeId, mut removed: impl FnMut(Waiting)) {
        for queue in std::iter::once(&mut self.first).chain(self.others.iter_mut().map(|(_, queue)| queue)) {
            queue.purge(|waiting| waiting.peer == Some(peer), &mut removed);
        }
    }
}
