//! A node's routing table.

use super::route::DsdvRoute;
use multihop_core::{NodeId, Time};
use std::ops::Index;

/// Entries by destination, whose ids are dense: large networks look up and go through whole tables for each
/// update that they hear.
#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Option<DsdvRoute>>,
    len: usize,
    /// When the first of the entries has something to do, as far as it is known; no entry is earlier.
    earliest: Time,
    /// An entry that was the first has become later, or may have.
    is_stale: bool,
}

impl Default for Table {
    fn default() -> Table {
        Table { entries: Vec::new(), len: 0, earliest: Time::NEVER, is_stale: false }
    }
}

impl Table {
    /// How many entries there are.
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

    /// Changes an entry, if there is one; whether there was one.
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

    /// What an entry has to do has moved.
    fn note(&mut self, before: Time, after: Time) {
        self.is_stale |= before == self.earliest && after > before;
        self.earliest = self.earliest.min(after);
    }

    /// When the first of the entries has something to do, if ever. Going through all of them costs more than
    /// most updates.
    pub(super) fn earliest(&self) -> Time {
        if self.is_stale { self.first() } else { self.earliest }
    }

    /// Looks for that, if it is not known, so that it is known as long as that entry stays as it is.
    pub(super) fn look(&mut self) {
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

    /// The same, to change them.
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

impl Index<NodeId> for Table {
    type Output = DsdvRoute;

    fn index(&self, destination: NodeId) -> &DsdvRoute {
        self.get(destination).expect("there is an entry")
    }
}
