//! Table of a router with the state of the links around it (Tan, Jiang, Zhang and Shen, section III.D).

use multihop_core::{NodeId, Span, Time};

/// Directed link, from its sending to its receiving node.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct DirectedLink {
    /// Sending node.
    pub from: NodeId,
    /// Receiving node.
    pub to: NodeId,
}

/// Source of the knowledge of a link. The types "O" and "P" of EWCCP follow from the link: "O" for a link
/// that leaves the node, "P" for a link that enters it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// Link of the node itself: "O".
    Own,
    /// Link that enters the node: "P", signalled by piggyback or broadcast.
    Incoming,
    /// Another link, signalled by broadcasts over this number of hops: "B".
    Signalled(u8),
}

/// Known state of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KnownLink<V> {
    /// Link of the state.
    pub link: DirectedLink,
    /// Source of the knowledge.
    pub origin: Origin,
    /// State of the link in its last round.
    pub value: V,
    /// Number of the round, which only the link's sending node increments.
    pub sequence: u8,
    /// Time at which the state was measured or heard.
    pub at: Time,
}

impl<V> KnownLink<V> {
    /// Number of hops over which the state was signalled. Both ends of a link signal it as their own.
    pub fn hops(&self) -> u8 {
        match self.origin {
            Origin::Own | Origin::Incoming => 0,
            Origin::Signalled(hops) => hops,
        }
    }
}

/// Table of the links that one node knows.
#[derive(Debug)]
pub(crate) struct LinkTable<V> {
    id: NodeId,
    /// Age at which an entry is dropped.
    lifetime: Span,
    /// Entries in the order of their links.
    entries: Vec<KnownLink<V>>,
    /// Time until which no entry exceeds the lifetime.
    fresh_until: Time,
}

impl<V: Copy> LinkTable<V> {
    /// Creates an empty table of node `id`.
    pub fn new(id: NodeId, lifetime: Span) -> LinkTable<V> {
        LinkTable { id, lifetime, entries: Vec::new(), fresh_until: Time::NEVER }
    }

    /// Adds or updates the state of a link at time `now`. Returns whether the table changed.
    ///
    /// The node's own links are always updated. For other links "the one with larger sequence number wins".
    /// Numbers wrap, so that a number up to 127 ahead is larger. A known number is ignored, so that a state
    /// ages everywhere once it is no longer measured. No other node signals a node's own links to it.
    pub fn learn(&mut self, now: Time, link: DirectedLink, hops: u8, value: V, sequence: u8) -> bool {
        let origin = if link.from == self.id {
            Origin::Own
        } else if link.to == self.id {
            Origin::Incoming
        } else {
            Origin::Signalled(hops)
        };
        let learnt = KnownLink { link, origin, value, sequence, at: now };
        match self.entries.binary_search_by_key(&link, |entry| entry.link) {
            Ok(known) => {
                let entry = &mut self.entries[known];
                let is_newer = (1..=127).contains(&sequence.wrapping_sub(entry.sequence));
                let outlived = now.since(entry.at) > self.lifetime;
                if origin != Origin::Own && !is_newer && !outlived {
                    return false;
                }
                *entry = learnt;
            }
            Err(place) => self.entries.insert(place, learnt),
        }
        self.note_oldest();
        true
    }

    /// Removes an own link that is no longer in use.
    pub fn forget(&mut self, link: DirectedLink) {
        self.entries.retain(|entry| entry.link != link);
        self.note_oldest();
    }

    /// Drops the entries older than the lifetime. Returns whether the table may have changed.
    pub fn expire(&mut self, now: Time) -> bool {
        let is_due = now > self.fresh_until;
        if is_due {
            let lifetime = self.lifetime;
            self.entries.retain(|entry| now.since(entry.at) <= lifetime);
            self.note_oldest();
        }
        is_due
    }

    fn note_oldest(&mut self) {
        let oldest = self.entries.iter().map(|entry| entry.at).min();
        self.fresh_until = oldest.map_or(Time::NEVER, |oldest| oldest + self.lifetime);
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.note_oldest();
    }

    /// Whether no link is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries in the order of their links.
    pub fn entries(&self) -> &[KnownLink<V>] {
        &self.entries
    }

    /// Returns the states of the links, in the order of the links.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Returns the entry of a link; none if it is unknown.
    pub fn get(&self, link: DirectedLink) -> Option<&KnownLink<V>> {
        let place = self.entries.binary_search_by_key(&link, |entry| entry.link).ok()?;
        Some(&self.entries[place])
    }
}
