//! A node's routing table.

use super::route::DsdvRoute;
use multihop_core::NodeId;
use std::ops::Index;

/// Entries by destination, whose ids are dense: large networks look up and go through whole tables for each update that they hear.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Vec<Option<DsdvRoute>>,
    len: usize,
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
        self.entries.get_mut(destination.index())?.as_mut()
    }

    /// Sets an entry.
    pub(super) fn insert(&mut self, destination: NodeId, entry: DsdvRoute) {
        let slot = self.slot(destination);
        let added = slot.replace(entry).is_none();
        self.len += usize::from(added);
    }

    /// The entry, which is made if there is none.
    pub(super) fn get_or_insert_with(
        &mut self,
        destination: NodeId,
        make: impl FnOnce() -> DsdvRoute,
    ) -> &mut DsdvRoute {
        if self.get(destination).is_none() {
            self.insert(destination, make());
        }
        self.get_mut(destination).expect("it is there now")
    }

    /// Destinations and entries, in the order of destinations.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &DsdvRoute)> {
        (0..).map(NodeId).zip(&self.entries).filter_map(|(id, entry)| Some((id, entry.as_ref()?)))
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut DsdvRoute)> {
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
