//! The frame that a station wants to get across, and the try of it that is under way.

use super::link_timing::LinkTiming;
use crate::medium::{RateClass, RateSet};
use crate::slab::Handle;
use multihop_core::{FlowId, Interval, NodeId, Span, Time};

/// What a station wants to get across.
#[derive(Clone, Copy, Debug)]
pub(super) enum FramePayload {
    /// This packet.
    Packet(Handle),
    /// MPDUs of the window of this index: `several`, or one.
    Block { window: u32, several: bool },
    /// A request for a block acknowledgement, for the window of this index.
    Request { window: u32 },
}

impl FramePayload {
    pub fn window(self) -> Option<u32> {
        match self {
            FramePayload::Packet(_) => None,
            FramePayload::Block { window, .. } | FramePayload::Request { window } => Some(window),
        }
    }
}

/// The frame that the station wants to get across.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub cargo: FramePayload,
    pub peer: Option<NodeId>,
    pub flow: FlowId,
    /// Network-layer bytes, and MAC bytes with header and FCS.
    pub size: u32,
    pub bytes: u32,
    /// The rates of its link.
    pub rates: RateSet,
    /// Airtime of its DATA frame.
    pub data: Span,
    pub with_rts: bool,
    pub enqueued: Time,
    pub head_of_line: Time,
    pub rts_tries: u32,
    pub rts_failures: u32,
    pub data_tries: u32,
    /// Failures since the last CTS, and of DATA after a CTS (`SSRC` and `SLRC`).
    pub short_retries: u32,
    pub long_retries: u32,
    pub slots: u32,
    /// By how much its first back-off is longer than the rules have it.
    pub extra_slots: u32,
}

impl Outgoing {
    /// Is it answered by a block acknowledgement?
    pub fn wants_block_ack(&self) -> bool {
        matches!(self.cargo, FramePayload::Block { several: true, .. } | FramePayload::Request { .. })
    }

    pub fn is_request(&self) -> bool {
        matches!(self.cargo, FramePayload::Request { .. })
    }

    /// The CTS to the station itself that precedes it unless an RTS does, and SIFS; zero for none.
    pub fn protection(&self, link: &LinkTiming) -> Span {
        let is_data = self.peer.is_some() && !self.is_request();
        link.protection(if is_data { RateClass::Data } else { RateClass::Control })
    }

    /// Airtime of the answer to it, and when that is overdue.
    pub fn response(&self, link: &LinkTiming) -> (Span, Span) {
        if self.wants_block_ack() {
            (link.block_ack, link.block_ack_timeout)
        } else {
            (link.ack, link.ack_timeout)
        }
    }
}

/// The try that is under way, for [`multihop_core::Attempt`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Try {
    pub slots: u32,
    pub rts: Option<Interval>,
    pub cts: Option<Interval>,
    pub data: Option<Interval>,
}
