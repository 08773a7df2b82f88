//! Routing table of DSDV.

use super::route::DsdvRoute;
use multihop_core::{NodeId, Time};
use std::ops::Index;

/// Entries by destination, in a vector, because ids are dense and every received update looks up the whole
/// table.
#[derive(Debug)]
pub(super) struct DsdvTable {
    entries: Vec<Option<DsdvRoute>>,
    len: usize,
    /// Lower bound of the times of all entries' next events.
    earliest: Time,
    /// Whether the entry with that time may have become later.
    is_stale: bool,
}

impl Default for DsdvTable {
    fn default() -> DsdvTable {
        DsdvTable { entries: Vec::new(), len: 0, earliest: Time::NEVER, is_stale: false }
    }
}

impl DsdvTable {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<&DsdvRoute> {
        self.entries.get(destination.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, destination: NodeId) -> Option<&mut DsdvRoute> {
        self.is_stale = true;
        self.entries.get_mut(destination.index())?.as_mut()
    }

    /// Changes an entry, if there is one; returns whether there was one.
    pub(super) fn change(&mut self, destination: NodeId, how: impl FnOnce(&mut DsdvRoute)) -> bool {
        let entry = self.entries.get_mut(destination.index()).and_then(Option::as_mut);
        let Some(entry) = entry else { return false };
        let before = entry.earliest();
        how(entry);
        let after = entry.earliest();
        self.note(before, after);
        true
    }

    /// Sets an entry.
    pub(super) fn insert(&mut self, destination: NodeId, entry: DsdvRoute) {
        let after = entry.earliest();
        let before = self.slot(destination).replace(entry);
        self.len += usize::from(before.is_none());
        self.note(before.map_or(Time::NEVER, |entry| entry.earliest()), after);
    }

    /// Records that the next event of an entry moved.
    fn note(&mut self, before: Time, after: Time) {
        self.is_stale |= before == self.earliest && after > before;
        self.earliest = self.earliest.min(after);
    }

    /// Time of the first event of all entries, or an earlier time. Searching all entries would cost more than
    /// most updates.
    pub(super) fn earliest(&self) -> Time {
        if self.is_stale { self.first() } else { self.earliest }
    }

    /// Searches the first event, if it is stale.
    pub(super) fn find_earliest(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.earliest = self.first();
        }
    }

    fn first(&self) -> Time {
        self.iter().map(|(_, entry)| entry.earliest()).fold(Time::NEVER, Time::min)
    }

    /// Makes an entry if there is none.
    pub(super) fn ensure(&mut self, destination: NodeId, make: impl FnOnce() -> DsdvRoute) {
        if self.get(destination).is_none() {
            self.insert(destination, make());
        }
    }

    /// Destinations and entries, in the order of destinations.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &DsdvRoute)> {
        (0..).map(NodeId).zip(&self.entries).filter_map(|(id, entry)| Some((id, entry.as_ref()?)))
    }

    /// Destinations and entries, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut DsdvRoute)> {
        self.is_stale = true;
        (0..).map(NodeId).zip(&mut self.entries).filter_map(|(id, entry)| Some((id, entry.as_mut()?)))
    }

    fn slot(&mut self, destination: NodeId) -> &mut Option<DsdvRoute> {
        let index = destination.index();
        if index >= self.entries.len() {
            self.entries.resize_with(index + 1, || None);
        }
        &mut self.entries[index]
    }
}

impl Index<NodeId> for DsdvTable {
    type Output = DsdvRoute;

    fn index(&self, destination: NodeId) -> &DsdvRoute {
        self.get(destination).expect("there is an entry")
    }
}
