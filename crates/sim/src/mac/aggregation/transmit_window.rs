//! The originator's side of an agreement: MPDUs to be sent, and MPDUs that were sent and not acknowledged.

use super::sequence::{HALF, after};
use crate::mac::Timing;
use crate::slab::Handle;
use multihop_core::{FlowId, NodeId, Span, Time};
use std::collections::VecDeque;

/// State of an MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MpduState {
    /// To be sent, or sent and not acknowledged.
    Waiting,
    /// Acknowledged.
    Acknowledged,
    /// Sent up to the retry limit.
    GivenUp,
    /// Older than the lifetime of packets.
    Expired,
    /// Acknowledged or given up, and its packets released.
    Gone,
}

/// An MPDU of a transmit window.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingMpdu {
    /// Packet of the MPDU, or first packet of an A-MSDU.
    pub(super) packet: Handle,
    /// Flow of the first packet with payload. If none has payload, as in a routing message: flow of the
    /// first.
    pub(super) flow: FlowId,
    /// Network-layer bytes of all packets.
    pub(super) size: u32,
    /// Payload bytes of all packets.
    pub(super) payload: u32,
    /// MAC bytes from header to FCS.
    pub(super) bytes: u32,
    pub(super) enqueued: Time,
    pub(super) head_of_line: Time,
    /// Transmissions.
    pub(super) tries: u32,
    /// Transmissions in a frame without other MPDUs.
    pub(super) tries_alone: u32,
    /// Whether the MPDU is in the frame that is being sent.
    pub(super) in_frame: bool,
    pub(super) state: MpduState,
}

/// Attempts since the last reported exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnreportedTries {
    pub(super) rts_tries: u32,
    pub(super) rts_failures: u32,
    pub(super) data_tries: u32,
    pub(super) slots: u32,
}

/// The transmit window of an agreement (10.24.7.7: `WinStartO` and `WinSizeO`).
#[derive(Clone, Debug)]
pub(super) struct TransmitWindow {
    pub(super) peer: NodeId,
    /// Traffic identifier.
    pub(super) tid: u8,
    /// Whether a block acknowledgement must be requested before anything else is sent, because one was lost
    /// or an MPDU was given up.
    pub(super) request: bool,
    /// Consecutive requests without a response.
    pub(super) request_tries: u32,
    /// Whether a request is postponed until the neighbour is heard again.
    pub(super) postponed_request: bool,
    pub(super) unreported: UnreportedTries,
    /// Airtime of a successful exchange of the last DATA frame.
    pub(super) airtime: Span,
    /// MPDUs in the last DATA frame.
    pub(super) mpdus: u32,
    /// Number of earlier agreements.
    pub(super) agreement: u32,
    /// Sequence numbers that the window passed since the last response.
    unanswered: u16,
    start: u16,
    size: usize,
    /// MPDUs from the first unfinished one on.
    pending: VecDeque<PendingMpdu>,
}

/// Sequence numbers without a response that end an agreement. After [`HALF`] the recipient would take new
/// MPDUs for old ones. Stations end agreements by inactivity, or with an association (802.11-2016, 10.24.5).
const MOST_UNANSWERED: u16 = HALF / 2;

impl TransmitWindow {
    /// Window of an agreement with `size` MPDUs.
    pub(super) fn new(peer: NodeId, tid: u8, size: u32) -> TransmitWindow {
        TransmitWindow {
            peer,
            tid,
            request: false,
            request_tries: 0,
            postponed_request: false,
            unreported: UnreportedTries::default(),
            airtime: Span::ZERO,
            mpdus: 1,
            agreement: 0,
            unanswered: 0,
            start: 0,
            size: size as usize,
            pending: VecDeque::with_capacity(size as usize),
        }
    }

    /// The first sequence number that was not acknowledged.
    pub(super) fn start(&self) -> u16 {
        self.start
    }

    /// Whether another MPDU fits into the window. False while an agreement is about to end.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < self.size && self.unanswered < MOST_UNANSWERED
    }

    /// Number of MPDUs in the window.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether the window has MPDUs or a request to send.
    pub(super) fn is_pending(&self) -> bool {
        self.request || !self.pending.is_empty()
    }

    /// Time at which the first MPDU entered the queue. A request precedes all MPDUs, as if it had entered at
    /// the start of the run.
    pub(super) fn entered(&self) -> Time {
        let first = self.pending.front().filter(|_| !self.request);
        first.map_or(Time::ZERO, |pending| pending.enqueued)
    }

    /// Sequence number of the MPDU at a place.
    pub(super) fn sequence(&self, place: usize) -> u16 {
        after(self.start, place)
    }

    /// The MPDU at a place.
    pub(super) fn get(&self, place: usize) -> &PendingMpdu {
        &self.pending[place]
    }

    /// The MPDU at a place, mutable.
    pub(super) fn get_mut(&mut self, place: usize) -> &mut PendingMpdu {
        &mut self.pending[place]
    }

    /// MPDUs in the window.
    pub(super) fn iter(&self) -> impl Iterator<Item = &PendingMpdu> {
        self.pending.iter()
    }

    /// MPDUs in the window, mutable.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PendingMpdu> {
        self.pending.iter_mut()
    }

    /// Whether an MPDU will be retransmitted.
    pub(super) fn has_retransmission(&self) -> bool {
        self.pending.iter().any(|pending| pending.state == MpduState::Waiting && pending.tries > 0)
    }

    /// Counts a request without a response. Returns whether the station stops requesting; the next request is
    /// then postponed until the neighbour is heard again.
    ///
    /// The request limit is that of a frame if the neighbour was not heard since, or if no MPDU is waiting
    /// for the response and the request only moves the recipient's window.
    pub(super) fn count_failed_request(&mut self, timing: &Timing) -> bool {
        self.request_tries += 1;
        let is_away = self.postponed_request && !timing.tries_without_end();
        let limit = if self.has_retransmission() && !is_away {
            timing.request_limit
        } else {
            timing.request_limit.min(timing.short_retry_limit)
        };
        let stops = self.request_tries >= limit;
        if stops {
            (self.request_tries, self.postponed_request) = (0, true);
        }
        stops
    }

    /// Number of MPDUs in the last frame, and number of acknowledged ones among them.
    pub(super) fn sent_and_acknowledged(&self) -> [u32; 2] {
        let sent = self.pending.iter().filter(|pending| pending.in_frame);
        let acknowledged = sent.clone().filter(|pending| pending.state == MpduState::Acknowledged);
        [sent.count() as u32, acknowledged.count() as u32]
    }

    /// Adds an MPDU with the next sequence number. The window must have room.
    pub(super) fn push(&mut self, mpdu: PendingMpdu) {
        debug_assert!(self.has_room(), "the window has room");
        self.pending.push_back(mpdu);
    }

    /// Moves the window past finished MPDUs. After many sequence numbers without a response, begins a new
    /// agreement once the window holds no MPDU that the recipient might have received.
    pub(super) fn advance(&mut self, answered: bool) {
        while self.pending.front().is_some_and(|first| first.state == MpduState::Gone) {
            self.pending.pop_front();
            self.start = after(self.start, 1);
            self.unanswered += 1;
        }
        if answered {
            self.unanswered = 0;
        }
        if self.unanswered >= MOST_UNANSWERED && self.pending.iter().all(|pending| pending.tries == 0) {
            self.agreement += 1;
            self.unanswered = 0;
            (self.request, self.request_tries, self.postponed_request) = (false, 0, false);
        }
    }
}
