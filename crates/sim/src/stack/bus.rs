//! Transfer of packets between the radios of a node, without delay or queue.

use super::{Stack, StackContext};
use crate::agenda::{Lane, Slot};
use crate::slab::Handle;
use multihop_core::NodeId;
use std::collections::VecDeque;

/// Packets that one radio has for other radios of its node.
#[derive(Debug)]
pub(super) struct Bus {
    /// Other radios, each with the slot in which it takes its packets.
    others: Vec<(NodeId, Slot)>,
    handed: VecDeque<(NodeId, Handle)>,
}

impl Stack {
    /// Sets the other radios of the node, each with the slot in which it takes its packets.
    pub fn join_radios(&mut self, others: Vec<(NodeId, Slot)>) {
        self.bus = Some(Bus { others, handed: VecDeque::new() });
    }

    /// Other radio of the node with this index, if there is one.
    pub fn other_radio(&self, index: usize) -> Option<NodeId> {
        self.bus.as_ref()?.others.get(index).map(|(radio, _)| *radio)
    }

    /// Passes a packet to another radio of the node; returns whether `next_hop` is one.
    pub(super) fn hand_over(&mut self, around: &mut StackContext, handle: Handle, next_hop: NodeId) -> bool {
        let Some(bus) = &mut self.bus else { return false };
        let Some((_, slot)) = bus.others.iter().find(|(radio, _)| *radio == next_hop) else { return false };
        bus.handed.push_back((next_hop, handle));
        around.agenda.arm(*slot, around.now, Lane::Upper);
        self.on_departed(around.now, &around.packets.get(handle).packet);
        true
    }

    /// Next packet for this other radio of the node.
    pub fn poll_handed(&mut self, to: NodeId) -> Option<Handle> {
        let handed = &mut self.bus.as_mut()?.handed;
        let at = handed.iter().position(|(radio, _)| *radio == to)?;
        handed.remove(at).map(|(_, handle)| handle)
    }

    /// Takes a packet that another radio of the node received: for an endpoint here, or to be sent by this
    /// radio.
    pub fn take_over(&mut self, around: &mut StackContext, handle: Handle) {
        if around.packets.get(handle).packet.destination == self.id {
            self.pass_up(around, handle);
        } else {
            self.enqueue(around, handle);
        }
    }
}
