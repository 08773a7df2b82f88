//! Aggregation under block acknowledgement agreements (802.11-2016, 10.12, 10.13, 10.24).
//!
//! * `assembly`: choice of the next neighbour, and assembly of its frame.
//! * `exchange`: sending of A-MPDUs and requests, and the fate of each MPDU.
//! * `reception`: reception of MPDUs, delivery in order, and the acknowledgement.
//! * `transmit_window`, `reorder_buffer`: state of an agreement at the originator and at the recipient.
//! * `psdu`, `sequence`: lengths and sequence numbers.
//!
//! Agreements exist from the start of a run. Setting one up takes two action frames with each neighbour,
//! once, which changes no result of a run longer than milliseconds. Every unicast packet belongs to the
//! agreement with its next hop for its traffic identifier, which is 0 without EDCA. An A-MPDU belongs to one
//! agreement.
//!
//! - An ACK answers a single MPDU, a compressed block acknowledgement answers several.
//! - After a lost block acknowledgement, the originator requests another one, and resends no MPDU that
//!   arrived.
//! - After an MPDU is given up, the originator requests one too, so that the recipient passes on the MPDUs
//!   behind the gap.
//! - An MPDU has as many attempts as a frame without RTS (`dot11ShortRetryLimit`), like in drivers, or as
//!   `Persistence` sets. In the standard only its lifetime ends it (802.11-2020, 10.23.2.12.1). A request is
//!   no attempt of an MPDU.

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

/// Block acknowledgement agreements of a station.
#[derive(Clone, Debug)]
pub(super) struct Agreements {
    /// Agreements as originator, by access category.
    originators: [Originator; AccessCategory::COUNT],
    /// Agreements as recipient, in the order of their first frames.
    reorder_buffers: Vec<ReorderBuffer>,
    /// MPDUs in order that are about to be passed on.
    ready: VecDeque<Handle>,
    /// Start of the frame that is being received, and number of its MPDUs that were taken.
    taken: (Time, usize),
    /// Traffic identifier of the pending block acknowledgement.
    pending_tid: u8,
    /// MPDUs or acknowledgement in the station's own frame.
    load: LoadId,
    /// Slot of the agenda for the timeout of reorder buffers.
    timer: Slot,
}

/// Agreements as originator for the packets of one access category.
#[derive(Clone, Debug)]
struct Originator {
    category: AccessCategory,
    /// Transmit windows, in the order of their first packets.
    windows: Vec<TransmitWindow>,
    /// Dequeued packets whose transmit window was full.
    set_aside: VecDeque<Queued<Waiting>>,
    /// Whether the queue chooses the next hop that is served next, and not a window with retransmissions.
    queue_next: bool,
    /// Whether packets from the queue may fill up the frame.
    fills: bool,
    /// The window with retransmissions that was served last.
    served: usize,
    /// The window that was served last because another one was full.
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
    /// Gives the station aggregation. `timer` is a slot of the agenda.
    pub fn aggregate(&mut self, load: LoadId, timer: Slot) {
        self.station.agreements = Some(Box::new(Agreements {
            originators: AccessCategory::ALL.map(Originator::new),
            reorder_buffers: Vec::new(),
            ready: VecDeque::new(),
            taken: (Time::ZERO, 0),
            pending_tid: 0,
            load,
            timer,
        }));
    }

    /// Whether a transmit window of a category has MPDUs or a request to send.
    pub(super) fn has_pending_window(&self, category: AccessCategory) -> bool {
        let agreements = self.station.agreements.as_ref();
        agreements.is_some_and(|agreements| agreements.originators[category as usize].pending().is_some())
    }

    /// Takes the agreements out of the station. The caller puts them back.
    fn take_agreements(&mut self) -> Box<Agreements> {
        self.station.agreements.take().expect("the station aggregates")
    }
}
