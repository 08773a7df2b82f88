//! Packet store: packets in the network, by handle.

mod content;
mod datagram;
mod source_route;

pub(crate) use content::PacketContent;
pub(crate) use datagram::{Datagram, IpFields};
pub(crate) use source_route::SourceRoute;

use multihop_core::{Packet, Span};
use std::collections::BTreeMap;

/// Handle of a packet in the [`Slab`].
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Handle(u32);

/// Packet, with the simulator's data about its copy at this node.
#[derive(Clone, Copy, Debug)]
pub struct StoredPacket {
    /// Packet itself.
    pub packet: Packet,
    /// Whether the next hop has the packet although this node does not know, so that losing this copy loses
    /// nothing.
    pub passed_on: bool,
    /// Time for which the payload was on the air, once on each hop so far.
    pub payload_air: Span,
    /// Expected airtime of the packet while the hardware holds it, where that airtime is limited.
    pub pending: Span,
}

/// Packets in the network. Freed places are reused, so that a run allocates only while its population grows.
#[derive(Clone, Debug, Default)]
pub struct Slab {
    entries: Vec<StoredPacket>,
    free: Vec<u32>,
    used: Vec<bool>,
    /// Contents of packets that belong to no flow, by place. Data packets have no entry.
    contents: BTreeMap<u32, PacketContent>,
    /// Source routes of packets, by place; as long as the highest place that needed one.
    routes: Vec<Option<SourceRoute>>,
    /// Next packet in the same A-MSDU, by place; as long as the highest place that needed one.
    next_msdus: Vec<Option<Handle>>,
}

impl Slab {
    /// Stores a packet.
    pub fn insert(&mut self, packet: Packet) -> Handle {
        let entry = StoredPacket { packet, passed_on: false, payload_air: Span::ZERO, pending: Span::ZERO };
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            self.used[index as usize] = true;
            return Handle(index);
        }
        self.entries.push(entry);
        self.used.push(true);
        Handle((self.entries.len() - 1) as u32)
    }

    /// Stores a packet that belongs to no flow.
    pub fn insert_control(&mut self, packet: Packet, content: PacketContent) -> Handle {
        debug_assert!(packet.is_control());
        let handle = self.insert(packet);
        self.contents.insert(handle.0, content);
        handle
    }

    /// Stores a copy of a packet, for a receiver of its frame.
    pub fn copy(&mut self, handle: Handle) -> Handle {
        let StoredPacket { packet, payload_air, .. } = *self.get(handle);
        if packet.is_control() {
            let content = self.contents[&handle.0].clone();
            return self.insert_control(packet, content);
        }
        let copy = self.insert(packet);
        self.get_mut(copy).payload_air = payload_air;
        if let Some(route) = self.route(handle).cloned() {
            self.set_route(copy, route);
        }
        copy
    }

    /// Source route of a packet.
    pub fn route(&self, handle: Handle) -> Option<&SourceRoute> {
        self.routes.get(handle.0 as usize)?.as_ref()
    }

    /// Writes a source route into a packet, replacing any present one.
    pub fn set_route(&mut self, handle: Handle, route: SourceRoute) {
        let index = handle.0 as usize;
        if index >= self.routes.len() {
            self.routes.resize(self.entries.len(), None);
        }
        self.routes[index] = Some(route);
    }

    /// Next packet in the same A-MSDU.
    pub fn next_msdu(&self, handle: Handle) -> Option<Handle> {
        *self.next_msdus.get(handle.0 as usize)?
    }

    /// Appends a packet to an A-MSDU, behind its last one.
    pub fn append_msdu(&mut self, last: Handle, appended: Handle) {
        let index = last.0 as usize;
        if index >= self.next_msdus.len() {
            self.next_msdus.resize(self.entries.len(), None);
        }
        self.next_msdus[index] = Some(appended);
    }

    /// Detaches the first packet of an A-MSDU, or of its rest, before the packet is enqueued elsewhere.
    /// Returns the packet that followed it, now the first one.
    pub fn detach_msdu(&mut self, handle: Handle) -> Option<Handle> {
        self.next_msdus.get_mut(handle.0 as usize)?.take()
    }

    /// Content of a packet that belongs to no flow; none for other packets.
    pub fn content(&self, handle: Handle) -> Option<&PacketContent> {
        self.contents.get(&handle.0)
    }

    /// Removes a packet that belongs to no flow, and returns it with its content.
    ///
    /// # Panics
    /// If it was removed before, or belongs to a flow.
    pub fn remove_control(&mut self, handle: Handle) -> (Packet, PacketContent) {
        let content = self.contents.get(&handle.0).cloned().expect("control packets have a content");
        (self.remove(handle).packet, content)
    }

    /// Removes a packet without reading it.
    ///
    /// # Panics
    /// If it was removed before.
    pub fn discard(&mut self, handle: Handle) {
        let index = handle.0 as usize;
        assert!(std::mem::take(&mut self.used[index]), "a packet was freed twice");
        self.free.push(handle.0);
        if self.entries[index].packet.is_control() {
            self.contents.remove(&handle.0);
        }
        if let Some(route) = self.routes.get_mut(index) {
            *route = None;
        }
        if let Some(next_msdu) = self.next_msdus.get_mut(index) {
            *next_msdu = None;
        }
    }

    /// Removes a packet and returns it.
    ///
    /// # Panics
    /// If it was removed before: a handle belongs to one holder.
    pub fn remove(&mut self, handle: Handle) -> StoredPacket {
        self.discard(handle);
        self.entries[handle.0 as usize]
    }

    /// Packet with this handle.
    pub fn get(&self, handle: Handle) -> &StoredPacket {
        debug_assert!(self.used[handle.0 as usize], "the packet was freed");
        &self.entries[handle.0 as usize]
    }

    /// Packet with this handle, to be changed.
    pub fn get_mut(&mut self, handle: Handle) -> &mut StoredPacket {
        debug_assert!(self.used[handle.0 as usize], "the packet was freed");
        &mut self.entries[handle.0 as usize]
    }

    /// Packets of flows still under way, whose next hop does not have them yet.
    pub fn under_way(&self) -> impl Iterator<Item = &Packet> {
        let counts = |entry: &StoredPacket| !entry.passed_on && !entry.packet.is_control();
        let stored = self.entries.iter().zip(&self.used);
        stored.filter(move |(entry, used)| **used && counts(entry)).map(|(entry, _)| &entry.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{FlowId, NodeId, Port, Segment, Time};

    fn packet(number: u64) -> Packet {
        Packet {
            segment: Segment::default(),
            flow: FlowId(0),
            port: Port::Receiver,
            source: NodeId(0),
            destination: NodeId(1),
            size: 100,
            number,
            created: Time::ZERO,
            hops: 0,
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let first = slab.insert(packet(1));
        let second = slab.insert(packet(2));
        slab.remove(first);
        let third = slab.insert(packet(3));
        assert_eq!(third, first);
        assert_eq!(slab.get(second).packet.number, 2);
        slab.get_mut(third).passed_on = true;
        assert_eq!(slab.under_way().count(), 1);
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn a_handle_is_freed_once() {
        let mut slab = Slab::default();
        let handle = slab.insert(packet(1));
        slab.remove(handle);
        slab.remove(handle);
    }
}
