//! Aggregation under block acknowledgement agreements (802.11-2016, 10.12, 10.13, 10.24).
//!
//! * `assembly`: which neighbour is served, and what goes into its next frame.
//! * `exchange`: A-MPDU and block acknowledgement, requests for one, what becomes of each MPDU.
//! * `reception`: what arrives, MPDU by MPDU, passing it on in order, and the answer.
//! * `window` and `reordering`: the state of an agreement at its two ends; `psdu`, `sequence`: lengths and
//!   numbers.
//!
//! Agreements are taken to exist: two action frames with each neighbour, once, would set one up, and change
//! no result of a run that is longer than milliseconds. Every unicast packet belongs to the agreement with
//! its next hop for its traffic identifier, which is 0 without EDCA; an A-MPDU is of one agreement.
//!
//! A single MPDU is answered by an ACK, several by a compressed block acknowledgement. If that is lost, one
//! is asked for, and nothing is sent again that had arrived. One is asked for too when an MPDU is given up,
//! so that the recipient passes on what waits behind it. An MPDU has as many tries as a frame without RTS
//! (`dot11ShortRetryLimit`), as drivers have it, or as `Persistence` says: by the standard only lifetimes end
//! them (802.11-2020, 10.23.2.12.1). Requests are no tries of MPDUs.

mod assembly;
mod exchange;
mod psdu;
mod reception;
mod reorder_buffer;
mod sequence;
mod transmit_window;

pub use psdu::Fullest;
pub(super) use psdu::{BLOCK_ACK_REQUEST_BYTES, block_ack_bytes, limits_on};

use super::Mac;
use crate::agenda::Slot;
use crate::medium::LoadId;
use crate::slab::Handle;
use crate::stack::Waiting;
use multihop_core::Time;
use multihop_dot11::AccessCategory;
use multihop_link::Queued;
use reorder_buffer::ReorderBuffer;
use std::collections::VecDeque;
use transmit_window::TransmitWindow;

/// What a station keeps about its agreements.
#[derive(Clone, Debug)]
pub(super) struct Agreements {
    /// As originator, by access category.
    originators: [Originator; AccessCategory::COUNT],
    /// As recipient, in the order of their first frames.
    reorderings: Vec<ReorderBuffer>,
    /// What can be passed on, while it is.
    ready: VecDeque<Handle>,
    /// So many MPDUs were taken of the frame that began then.
    taken: (Time, usize),
    /// What its frames carry.
    load: LoadId,
    /// When a reordering buffer is given up.
    timer: Slot,
}

/// What it keeps of those of the packets of one queue.
#[derive(Clone, Debug)]
struct Originator {
    category: AccessCategory,
    /// In the order of their first packets.
    windows: Vec<TransmitWindow>,
    /// Packets from the queue for which there was no room in their window.
    set_aside: VecDeque<Queued<Waiting>>,
    /// The queue decides which next hop is served next, not which has waited here.
    queue_next: bool,
    /// The frame that is filled may take packets from the queue.
    fills: bool,
    /// The window that was served last of those with something to send again, and of those that were served
    /// because another one is full.
    served: usize,
    last_other: usize,
}

impl Originator {
    fn new(category: AccessCategory) -> Originator {
        Originator {
            category,
            windows: Vec::new(),
            set_aside: VecDeque::new(),
            queue_next: true,
            fills: true,
            served: 0,
            last_other: 0,
        }
    }
}

impl Mac {
    /// The station aggregates from now on. `timer` is a slot of the agenda.
    pub fn aggregate(&mut self, load: LoadId, timer: Slot) {
        self.station.agreements = Some(Box::new(Agreements {
            originators: AccessCategory::ALL.map(Originator::new),
            reorderings: Vec::new(),
            ready: VecDeque::new(),
            taken: (Time::ZERO, 0),
            load,
            timer,
        }));
    }

    /// Has the station something to send, or to send again, under an agreement of a category?
    pub(super) fn has_pending_window(&self, category: AccessCategory) -> bool {
        let agreements = self.station.agreements.as_ref();
        agreements.is_some_and(|agreements| agreements.originators[category as usize].waiting().is_some())
    }

    fn agreements(&mut self) -> Box<Agreements> {
        self.station.agreements.take().expect("the station aggregates")
    }
}
