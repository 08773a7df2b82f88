//! Neighbour queue table (Tan, Jiang, Zhang and Shen, section III.D): a router's knowledge of the queues of
//! the links around it.

use super::summary::Hashing;
use crate::neighbourhood::{DirectedLink, KnownLink, LinkTable};
use multihop_core::{NodeId, Span, Time};

/// Known queue of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Queue {
    /// Bits that the link sets in a summary.
    pub mask: u128,
    /// Mean queue of the last round, in units of [`QUEUE_UNIT`] bytes.
    pub queue: u16,
}

/// Bytes in one unit of a queue on the air.
pub(super) const QUEUE_UNIT: f64 = 16.0;

/// Converts bytes of a queue to units on the air.
pub(super) fn queue_units(bytes: f64) -> u16 {
    (bytes / QUEUE_UNIT).round().min(f64::from(u16::MAX)) as u16
}

/// Neighbour queue table of one node.
#[derive(Debug)]
pub(super) struct QueueTable {
    hashing: Hashing,
    links: LinkTable<Queue>,
    /// Summary of the links in the table.
    summary: u128,
    /// Sum of the queues, in units of [`QUEUE_UNIT`].
    sum: u32,
}

impl QueueTable {
    /// Creates an empty table of node `id`. Entries are dropped at the age of `lifetime`.
    pub fn new(id: NodeId, hashing: Hashing, lifetime: Span) -> QueueTable {
        QueueTable { hashing, links: LinkTable::new(id, lifetime), summary: 0, sum: 0 }
    }

    /// Adds or updates the queue of a link at time `now`, as [`LinkTable::learn`] does.
    pub fn learn(&mut self, now: Time, link: DirectedLink, hops: u8, queue: u16, sequence: u8) {
        let mask = self.get(link).map_or_else(|| self.hashing.mask(link), |known| known.value.mask);
        if self.links.learn(now, link, hops, Queue { mask, queue }, sequence) {
            self.update_sums();
        }
    }

    /// Removes an own link that is no longer in use.
    pub fn forget(&mut self, link: DirectedLink) {
        self.links.forget(link);
        self.update_sums();
    }

    /// Drops the entries older than the lifetime.
    pub fn expire(&mut self, now: Time) {
        if self.links.expire(now) {
            self.update_sums();
        }
    }

    fn update_sums(&mut self) {
        self.summary = self.links.values().fold(0, |summary, value| summary | value.mask);
        self.sum = self.links.values().map(|value| u32::from(value.queue)).sum();
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.links.clear();
        self.update_sums();
    }

    /// Whether no link is known.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Returns the entries in the order of their links.
    pub fn entries(&self) -> &[KnownLink<Queue>] {
        self.links.entries()
    }

    /// Returns the entry of a link; none if it is unknown.
    pub fn get(&self, link: DirectedLink) -> Option<&KnownLink<Queue>> {
        self.links.get(link)
    }

    /// Returns the summary of the known links.
    pub fn summary(&self) -> u128 {
        self.summary
    }

    /// Returns the bytes in the queues of all known links.
    pub fn queued(&self) -> f64 {
        f64::from(self.sum) * QUEUE_UNIT
    }

    /// Returns the bytes in the queues of links that another node's summary does not contain.
    pub fn queued_beyond(&self, summary: u128) -> f64 {
        let beyond = self.links.values().filter(|value| !Hashing::contains(summary, value.mask));
        f64::from(beyond.map(|value| u32::from(value.queue)).sum::<u32>()) * QUEUE_UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbourhood::Origin;

    const ME: NodeId = NodeId(5);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn link(from: u32, to: u32) -> DirectedLink {
        DirectedLink { from: NodeId(from), to: NodeId(to) }
    }

    fn table() -> QueueTable {
        QueueTable::new(ME, Hashing { bits: 128, hashes: 4 }, Span::from_ms(300))
    }

    /// Example of the paper, Figure 3, at node 5.
    #[test]
    fn figure_3_types_follow_from_the_link() {
        let mut table = table();
        table.learn(ms(0), link(5, 6), 0, queue_units(100.0), 17);
        table.learn(ms(0), link(2, 5), 0, queue_units(400.0), 201);
        table.learn(ms(0), link(2, 1), 1, queue_units(1_000.0), 232);
        let origins: Vec<Origin> = table.entries().iter().map(|entry| entry.origin).collect();
        assert_eq!(origins, [Origin::Signalled(1), Origin::Incoming, Origin::Own]);
        assert!((table.queued() - 1_500.0).abs() < 1.5 * QUEUE_UNIT, "{}", table.queued());
    }

    #[test]
    fn the_larger_number_wins_and_numbers_wrap() {
        let mut table = table();
        let mut queue_after = |sequence, queue| {
            table.learn(ms(1), link(1, 2), 1, queue, sequence);
            table.get(link(1, 2)).unwrap().value.queue
        };
        assert_eq!(queue_after(254, 10), 10);
        assert_eq!(queue_after(254, 11), 10, "the same number is the same round");
        assert_eq!(queue_after(253, 12), 10, "an older round");
        assert_eq!(queue_after(255, 13), 13);
        assert_eq!(queue_after(0, 14), 14, "0 follows 255");
        assert_eq!(queue_after(127, 15), 15);
        assert_eq!(queue_after(0, 16), 15, "129 ahead is 127 behind");
    }

    /// A queue heard over two hops, and then a newer one over one hop, is signalled as of one hop.
    #[test]
    fn the_number_of_hops_is_that_of_the_latest_news() {
        let mut table = table();
        for (hops, sequence) in [(2, 1), (1, 2)] {
            table.learn(ms(0), link(1, 2), hops, 10, sequence);
            assert_eq!(table.get(link(1, 2)).unwrap().origin, Origin::Signalled(hops));
        }
    }

    #[test]
    fn stale_entries_do_not_count_and_yield_to_any_number() {
        let mut table = table();
        table.learn(ms(0), link(1, 2), 1, 10, 100);
        table.learn(ms(250), link(3, 2), 1, 1, 0);
        table.expire(ms(300));
        assert_eq!(table.queued(), 11.0 * QUEUE_UNIT);
        // The restarted router of link 1-2 counts from 0 again. Number 0 is older than 100, so it is accepted
        // only once the old entry is stale.
        table.learn(ms(300), link(1, 2), 1, 99, 0);
        assert_eq!(table.queued(), 11.0 * QUEUE_UNIT);
        table.expire(ms(301));
        assert_eq!(table.queued(), QUEUE_UNIT);
        table.learn(ms(310), link(1, 2), 1, 99, 1);
        assert_eq!(table.queued(), 100.0 * QUEUE_UNIT);
        // Hearing the same number repeatedly does not refresh the entry.
        for at in (320..=700).step_by(10) {
            table.learn(ms(at), link(3, 2), 1, 1, 0);
            table.expire(ms(at));
        }
        assert!(table.get(link(1, 2)).is_none());
        assert_eq!(table.get(link(3, 2)).unwrap().at, ms(560), "added again after it was dropped");
    }

    #[test]
    fn a_link_that_both_ends_know_is_counted_once() {
        let (mut sender, mut receiver) =
            (table(), QueueTable::new(NodeId(6), Hashing { bits: 128, hashes: 4 }, Span::from_ms(300)));
        for table in [&mut sender, &mut receiver] {
            table.learn(ms(0), link(5, 6), 0, 10, 1);
            table.learn(ms(0), link(4, 5), 1, 20, 1);
        }
        receiver.learn(ms(0), link(7, 8), 1, 40, 1);
        assert_eq!(receiver.queued_beyond(sender.summary()), 40.0 * QUEUE_UNIT);
        assert_eq!(receiver.queued_beyond(0), 70.0 * QUEUE_UNIT);
        assert_eq!(receiver.queued_beyond(u128::MAX), 0.0, "a full summary contains every link");
    }

    #[test]
    fn a_queue_takes_two_bytes_in_units_of_sixteen() {
        assert_eq!([0.0, 7.9, 8.0, 1_000.0, 1e9].map(queue_units), [0, 0, 1, 63, u16::MAX]);
    }
}
