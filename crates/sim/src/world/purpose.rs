//! What slots of the agenda are for.

use crate::agenda::Slot;
use crate::medium::NodeOrder;
use multihop_core::{FlowId, NodeId, Port};

/// What a slot of the agenda is for: at a node, or on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    MacTimer(u32),
    AirStart(u32),
    AirEnd(u32),
    /// An MPDU of a node's A-MPDU ends at its addressee.
    MpduEnds(u32),
    Reordering(u32),
    LinkLayer(u32),
    Routing(u32),
    Notice(u32),
    /// An end of a flow has something to do.
    Deadline(FlowId, Port),
    /// An application has something to send.
    App(FlowId),
    WireSent(u32),
    WireArrives(u32),
    /// A radio takes what others of its node have for it.
    TakeOver(u32),
    Sample,
    WarmUpEnds,
    Step(u32),
    Switch(u32),
}

const _: () =
    assert!(size_of::<Purpose>() == 8, "a network that is larger than caches looks one up for many events");

/// What all slots are for.
pub(super) struct Purposes {
    /// So many slots are those that each node has.
    of_nodes: u32,
    /// Of those that follow.
    further: Vec<Purpose>,
}

impl Purposes {
    /// With slots that follow those of nodes, which lie in this order.
    pub(super) fn new(nodes: usize, further: Vec<Purpose>, order: &NodeOrder) -> Purposes {
        Purposes {
            of_nodes: nodes as u32 * Purpose::OF_NODE,
            further: further.into_iter().map(|purpose| purpose.in_rows(order)).collect(),
        }
    }

    /// What a slot is for, where nodes lie in this order.
    #[inline]
    pub(super) fn of(&self, slot: Slot, order: &NodeOrder) -> Purpose {
        let further = self.further.get(slot.0.wrapping_sub(self.of_nodes) as usize);
        further.copied().unwrap_or_else(|| Purpose::of_node(slot, order))
    }
}

impl Purpose {
    /// Slots that each node has. They come before all others, so that of what they are for no more is looked
    /// up than the node's row.
    pub(super) const OF_NODE: u32 = 4;

    /// The slots of a node.
    pub(super) fn slots_of(node: NodeId) -> [Slot; Purpose::OF_NODE as usize] {
        std::array::from_fn(|which| Slot(node.0 * Purpose::OF_NODE + which as u32))
    }

    /// What such a slot is for.
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

    /// The same with the row of a node in place of its number, where what is kept of the node is all that is
    /// needed.
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
