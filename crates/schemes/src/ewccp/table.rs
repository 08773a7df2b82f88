//! The neighbour queue table (Tan, Jiang, Zhang and Shen, section III.D): what a router knows of the queues
//! of the links around it.

use super::summary::{Hashing, Link};
use multihop_core::{NodeId, Span, Time};

/// Where what is known of a queue comes from. The paper's types "O" and "P" follow from the link: one that
/// leaves the node is its own, of one that enters it the queue is signalled by piggyback or broadcast.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Origin {
    /// The node's own queue: "O".
    Own,
    /// The queue of a link that leads here: "P".
    Incoming,
    /// That of a link elsewhere, signalled by broadcasts over so many hops: "B".
    Signalled(u8),
}

/// What is known of a link's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkQueue {
    pub link: Link,
    /// The link's bits in a summary.
    pub mask: u128,
    pub origin: Origin,
    /// Mean queue of the last round, in units of [`QUEUE_UNIT`] bytes.
    pub queue: u16,
    /// Of the round; only the link's sender counts it up.
    pub sequence: u8,
    /// When this was measured, or heard.
    pub at: Time,
}

/// Bytes that one unit of a queue stands for on the air.
pub(super) const QUEUE_UNIT: f64 = 16.0;

/// Bytes of a queue as they are on the air.
pub(super) fn units(bytes: f64) -> u16 {
    (bytes / QUEUE_UNIT).round().min(f64::from(u16::MAX)) as u16
}

/// The table of one node.
#[derive(Debug)]
pub(super) struct Table {
    id: NodeId,
    hashing: Hashing,
    /// What is older than this is not believed any more.
    lifetime: Span,
    /// In the order of their links.
    entries: Vec<LinkQueue>,
    /// Of the links in it.
    summary: u128,
    /// Sum of the queues, in units.
    sum: u32,
    /// No entry is older than the lifetime before this.
    fresh_until: Time,
}

impl Table {
    pub fn new(id: NodeId, hashing: Hashing, lifetime: Span) -> Table {
        Table { id, hashing, lifetime, entries: Vec::new(), summary: 0, sum: 0, fresh_until: Time::NEVER }
    }

    /// Takes in what is known of a queue now: the node's own, or another's of which was heard.
    ///
    /// Of another's, "the one with larger sequence number wins"; numbers wrap, so that those up to 127 ahead
    /// are larger. A known number says nothing new, so that what is measured no more ages wherever it is. No
    /// other node signals a node's own queues to it.
    pub fn learn(&mut self, now: Time, link: Link, hops: u8, queue: u16, sequence: u8) {
        let origin = if link.from == self.id {
            Origin::Own
        } else if link.to == self.id {
            Origin::Incoming
        } else {
            Origin::Signalled(hops)
        };
        match self.entries.binary_search_by_key(&link, |entry| entry.link) {
            Ok(known) => {
                let entry = &mut self.entries[known];
                let is_newer = (1..=127).contains(&sequence.wrapping_sub(entry.sequence));
                let outlived = now.since(entry.at) > self.lifetime;
                if origin != Origin::Own && !is_newer && !outlived {
                    return;
                }
                *entry = LinkQueue { origin, queue, sequence, at: now, ..*entry };
            }
            Err(place) => {
                let mask = self.hashing.mask(link);
                self.entries.insert(place, LinkQueue { link, mask, origin, queue, sequence, at: now });
            }
        }
        self.add_up();
    }

    /// A link of the node's own is not in use any more.
    pub fn forget(&mut self, link: Link) {
        self.entries.retain(|entry| entry.link != link);
        self.add_up();
    }

    /// Drops what is too old.
    pub fn expire(&mut self, now: Time) {
        if now > self.fresh_until {
            let lifetime = self.lifetime;
            self.entries.retain(|entry| now.since(entry.at) <= lifetime);
            self.add_up();
        }
    }

    fn add_up(&mut self) {
        self.summary = self.entries.iter().fold(0, |summary, entry| summary | entry.mask);
        self.sum = self.entries.iter().map(|entry| u32::from(entry.queue)).sum();
        let oldest = self.entries.iter().map(|entry| entry.at).min();
        self.fresh_until = oldest.map_or(Time::NEVER, |oldest| oldest + self.lifetime);
    }

    /// Everything is forgotten.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.add_up();
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[LinkQueue] {
        &self.entries
    }

    /// What is known of a link.
    pub fn get(&self, link: Link) -> Option<&LinkQueue> {
        let place = self.entries.binary_search_by_key(&link, |entry| entry.link).ok()?;
        Some(&self.entries[place])
    }

    /// The known links, as a summary.
    pub fn summary(&self) -> u128 {
        self.summary
    }

    /// Bytes in the queues of all known links.
    pub fn queued(&self) -> f64 {
        f64::from(self.sum) * QUEUE_UNIT
    }

    /// Bytes in the queues of those that are not in the summary of another node.
    pub fn queued_beyond(&self, summary: u128) -> f64 {
        let beyond = self.entries.iter().filter(|entry| !Hashing::contains(summary, entry.mask));
        f64::from(beyond.map(|entry| u32::from(entry.queue)).sum::<u32>()) * QUEUE_UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: NodeId = NodeId(5);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn link(from: u32, to: u32) -> Link {
        Link { from: NodeId(from), to: NodeId(to) }
    }

    fn table() -> Table {
        Table::new(ME, Hashing { bits: 128, hashes: 4 }, Span::from_ms(300))
    }

    /// The example of the paper, Figure 3, at node 5.
    #[test]
    fn figure_3_types_follow_from_the_link() {
        let mut table = table();
        table.learn(ms(0), link(5, 6), 0, units(100.0), 17);
        table.learn(ms(0), link(2, 5), 0, units(400.0), 201);
        table.learn(ms(0), link(2, 1), 1, units(1_000.0), 232);
        let origins: Vec<Origin> = table.entries().iter().map(|entry| entry.origin).collect();
        assert_eq!(origins, [Origin::Signalled(1), Origin::Incoming, Origin::Own]);
        assert!((table.queued() - 1_500.0).abs() < 1.5 * QUEUE_UNIT, "{}", table.queued());
    }

    #[test]
    fn the_larger_number_wins_and_numbers_wrap() {
        let mut table = table();
        let mut queue_after = |sequence, queue| {
            table.learn(ms(1), link(1, 2), 1, queue, sequence);
            table.get(link(1, 2)).unwrap().queue
        };
        assert_eq!(queue_after(254, 10), 10);
        assert_eq!(queue_after(254, 11), 10, "the same number is the same round");
        assert_eq!(queue_after(253, 12), 10, "an older one");
        assert_eq!(queue_after(255, 13), 13);
        assert_eq!(queue_after(0, 14), 14, "0 follows 255");
        assert_eq!(queue_after(127, 15), 15);
        assert_eq!(queue_after(0, 16), 15, "129 ahead is 127 behind");
    }

    /// What came over two hops first, and newer over one, is signalled on as of one.
    #[test]
    fn news_come_over_as_many_hops_as_the_latest() {
        let mut table = table();
        for (hops, sequence) in [(2, 1), (1, 2)] {
            table.learn(ms(0), link(1, 2), hops, 10, sequence);
            assert_eq!(table.get(link(1, 2)).unwrap().origin, Origin::Signalled(hops));
        }
    }

    #[test]
    fn what_is_stale_does_not_count_and_gives_way_to_any_number() {
        let mut table = table();
        table.learn(ms(0), link(1, 2), 1, 10, 100);
        table.learn(ms(250), link(3, 2), 1, 1, 0);
        table.expire(ms(300));
        assert_eq!(table.queued(), 11.0 * QUEUE_UNIT);
        // The router of link 1-2 was restarted and counts from 0 again, which is older than 100: believed once the old is stale.
        table.learn(ms(300), link(1, 2), 1, 99, 0);
        assert_eq!(table.queued(), 11.0 * QUEUE_UNIT);
        table.expire(ms(301));
        assert_eq!(table.queued(), QUEUE_UNIT);
        table.learn(ms(310), link(1, 2), 1, 99, 1);
        assert_eq!(table.queued(), 100.0 * QUEUE_UNIT);
        // Hearing the same number again and again keeps nothing alive.
        for at in (320..=700).step_by(10) {
            table.learn(ms(at), link(3, 2), 1, 1, 0);
            table.expire(ms(at));
        }
        assert!(table.get(link(1, 2)).is_none());
        assert_eq!(table.get(link(3, 2)).unwrap().at, ms(560), "taken in anew once it was forgotten");
    }

    #[test]
    fn a_link_that_both_ends_know_is_counted_once() {
        let (mut sender, mut receiver) = (table(), Table { id: NodeId(6), ..table() });
        for table in [&mut sender, &mut receiver] {
            table.learn(ms(0), link(5, 6), 0, 10, 1);
            table.learn(ms(0), link(4, 5), 1, 20, 1);
        }
        receiver.learn(ms(0), link(7, 8), 1, 40, 1);
        assert_eq!(receiver.queued_beyond(sender.summary()), 40.0 * QUEUE_UNIT);
        assert_eq!(receiver.queued_beyond(0), 70.0 * QUEUE_UNIT);
        assert_eq!(receiver.queued_beyond(u128::MAX), 0.0, "a full summary hides everything");
    }

    #[test]
    fn a_queue_takes_two_bytes_in_units_of_sixteen() {
        assert_eq!([0.0, 7.9, 8.0, 1_000.0, 1e9].map(units), [0, 0, 1, 63, u16::MAX]);
    }
}
