//! What slots of the agenda are for.

use crate::medium::NodeOrder;
use multihop_core::{FlowId, NodeId, Port};

/// What a slot of the agenda is for: at a node, or on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    MacTimer(u32),
    AirStart(u32),
    AirEnd(u32),
    /// An MPDU of an A-MPDU ends at a node.
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
    assert!(size_of::<Purpose>() == 8, "a network that is larger than caches looks one up for each event");

impl Purpose {
    /// The same with the row of a node in place of its number, where what is kept of the node is all that is
    /// needed.
    pub(super) fn in_rows(self, order: &NodeOrder) -> Purpose {
        let row = |node| order.of(NodeId(node)) as u32;
        match self {
            Purpose::MacTimer(node) => Purpose::MacTimer(row(node)),
            Purpose::AirStart(node) => Purpose::AirStart(row(node)),
            Purpose::AirEnd(node) => Purpose::AirEnd(row(node)),
            Purpose::MpduEnds(node) => Purpose::MpduEnds(row(node)),
            Purpose::Reordering(node) => Purpose::Reordering(row(node)),
            Purpose::LinkLayer(node) => Purpose::LinkLayer(row(node)),
            Purpose::Routing(node) => Purpose::Routing(row(node)),
            Purpose::Notice(node) => Purpose::Notice(row(node)),
            Purpose::Deadline(..)
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
