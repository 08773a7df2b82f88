//! Purposes of the agenda's slots.

use crate::agenda::Slot;
use crate::medium::NodeOrder;
use multihop_core::{FlowId, NodeId, Port};

/// Purpose of a slot of the agenda, at a node or on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    MacTimer(u32),
    AirStart(u32),
    AirEnd(u32),
    /// End of an MPDU of a node's A-MPDU at its addressee.
    MpduEnds(u32),
    Reordering(u32),
    LinkLayer(u32),
    Routing(u32),
    Notice(u32),
    /// Deadline of an endpoint.
    Deadline(FlowId, Port),
    /// Timer of an application.
    App(FlowId),
    WireSent(u32),
    WireArrives(u32),
    /// Transfer of packets to a radio from other radios of its node.
    TakeOver(u32),
    Sample,
    WarmUpEnds,
    Step(u32),
    Switch(u32),
}

const _: () =
    assert!(size_of::<Purpose>() == 8, "a network that is larger than caches looks one up for many events");

/// Purposes of all slots.
pub(super) struct Purposes {
    /// Number of slots that belong to each node alike; they come first.
    of_nodes: u32,
    /// Purposes of the other slots.
    further: Vec<Purpose>,
}

impl Purposes {
    /// Creates the purposes, with the further slots behind those of nodes in this order in memory.
    pub(super) fn new(nodes: usize, further: Vec<Purpose>, order: &NodeOrder) -> Purposes {
        Purposes {
            of_nodes: nodes as u32 * Purpose::OF_NODE,
            further: further.into_iter().map(|purpose| purpose.in_rows(order)).collect(),
        }
    }

    /// Purpose of a slot, with this order of nodes in memory.
    #[inline]
    pub(super) fn of(&self, slot: Slot, order: &NodeOrder) -> Purpose {
        let further = self.further.get(slot.0.wrapping_sub(self.of_nodes) as usize);
        further.copied().unwrap_or_else(|| Purpose::of_node(slot, order))
    }
}

impl Purpose {
    /// Number of slots of each node. They precede all others, so that their purpose needs only the node's
    /// row.
    pub(super) const OF_NODE: u32 = 4;

    /// Slots of a node.
    pub(super) fn slots_of(node: NodeId) -> [Slot; Purpose::OF_NODE as usize] {
        std::array::from_fn(|which| Slot(node.0 * Purpose::OF_NODE + which as u32))
    }

    /// Purpose of a slot that belongs to a node.
    #[inline]
    fn of_node(slot: Slot, order: &NodeOrder) -> Purpose {
        let row = order.of(NodeId(slot.0 / Purpose::OF_NODE)) as u32;
        match slot.0 % Purpose::OF_NODE {
            0 => Purpose::MacTimer(row),
            1 => Purpose::AirStart(row),
            2 => Purpose::AirEnd(row), // the slot after that of the start
            _ => Purpose::LinkLayer(row),
        }
    }

    /// Replaces node numbers by rows in purposes that need only the node's state.
    fn in_rows(self, order: &NodeOrder) -> Purpose {
        let row = |node| order.of(NodeId(node)) as u32;
        match self {
            Purpose::MpduEnds(node) => Purpose::MpduEnds(row(node)),
            Purpose::Reordering(node) => Purpose::Reordering(row(node)),
            Purpose::Routing(node) => Purpose::Routing(row(node)),
            Purpose::Notice(node) => Purpose::Notice(row(node)),
            Purpose::MacTimer(_)
            | Purpose::AirStart(_)
            | Purpose::AirEnd(_)
            | Purpose::LinkLayer(_)
            | Purpose::Deadline(..)
            | Purpose::App(_)
            | Purpose::WireSent(_)
            | Purpose::WireArrives(_)
            | Purpose::TakeOver(_)
            | Purpose::Sample
            | Purpose::WarmUpEnds
            | Purpose::Step(_)
            | Purpose::Switch(_) => self,
        }
    }
}
