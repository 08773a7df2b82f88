//! The originator's side of an agreement: the MPDUs that it has sent, or is about to, and that were not
//! acknowledged.

use super::sequence::{HALF, after};
use crate::mac::Timing;
use crate::slab::Handle;
use multihop_core::{FlowId, NodeId, Span, Time};
use std::collections::VecDeque;

/// What is known of an MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MpduState {
    /// To be sent, or sent and not acknowledged.
    Waiting,
    /// Acknowledged.
    Acknowledged,
    /// Sent as often as it may be.
    GivenUp,
    /// Older than packets may get.
    Expired,
    /// Its packets are not here any more.
    Gone,
}

/// An MPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingMpdu {
    /// Its packet, or the first of an A-MSDU.
    pub(super) packet: Handle,
    /// The flow of the first packet with payload, or of the first: that may be a message of a routing
    /// protocol.
    pub(super) flow: FlowId,
    /// Network-layer bytes of all of its packets, and payload bytes of the transport.
    pub(super) size: u32,
    pub(super) payload: u32,
    /// From its header to its FCS.
    pub(super) bytes: u32,
    pub(super) enqueued: Time,
    pub(super) head_of_line: Time,
    /// Transmissions, and those of them in which it was alone in its frame.
    pub(super) tries: u32,
    pub(super) tries_alone: u32,
    /// It is in the frame that is being sent.
    pub(super) flying: bool,
    pub(super) state: MpduState,
}

/// Frames that were sent in vain since the last exchange that was reported.
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
    /// The traffic identifier of its packets.
    pub(super) tid: u8,
    /// A block acknowledgement is to be asked for before anything else is sent: one was lost, or the window
    /// moved on over an MPDU that was given up.
    pub(super) request: bool,
    /// Requests in a row without a response.
    pub(super) request_tries: u32,
    /// The neighbour did not answer while the window moved on: it is asked once it is heard again.
    pub(super) owes_request: bool,
    pub(super) spent: UnreportedTries,
    /// Of the last DATA frame: airtime of a successful exchange of it, and its MPDUs.
    pub(super) airtime: Span,
    pub(super) mpdus: u32,
    /// Agreements before this one.
    pub(super) agreement: u32,
    /// Sequence numbers that were used up since the last answer.
    unanswered: u16,
    start: u16,
    size: usize,
    held: VecDeque<PendingMpdu>,
}

/// So many numbers without an answer end an agreement: after [`HALF`] the recipient takes what is new for
/// old. Stations end agreements by inactivity, or with an association (802.11-2016, 10.24.5).
const MOST_UNANSWERED: u16 = HALF / 2;

impl TransmitWindow {
    /// That of an agreement about `size` MPDUs.
    pub(super) fn new(peer: NodeId, tid: u8, size: u32) -> TransmitWindow {
        TransmitWindow {
            peer,
            tid,
            request: false,
            request_tries: 0,
            owes_request: false,
            spent: UnreportedTries::default(),
            airtime: Span::ZERO,
            mpdus: 1,
            agreement: 0,
            unanswered: 0,
            start: 0,
            size: size as usize,
            held: VecDeque::with_capacity(size as usize),
        }
    }

    /// The first sequence number that was not acknowledged.
    pub(super) fn start(&self) -> u16 {
        self.start
    }

    /// May an MPDU more be sent? Not while an agreement is about to end.
    pub(super) fn has_room(&self) -> bool {
        self.held.len() < self.size && self.unanswered < MOST_UNANSWERED
    }

    /// MPDUs from the first that waits.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Is there something to send?
    pub(super) fn is_pending(&self) -> bool {
        self.request || !self.held.is_empty()
    }

    /// When its first MPDU entered the queue. A request for a block acknowledgement goes before all MPDUs, as
    /// if it had been there from the beginning.
    pub(super) fn entered(&self) -> Time {
        let first = self.held.front().filter(|_| !self.request);
        first.map_or(Time::ZERO, |held| held.enqueued)
    }

    /// The sequence number of a place.
    pub(super) fn sequence(&self, place: usize) -> u16 {
        after(self.start, place)
    }

    /// The MPDU at a place.
    pub(super) fn get(&self, place: usize) -> &PendingMpdu {
        &self.held[place]
    }

    /// The same, to change it.
    pub(super) fn get_mut(&mut self, place: usize) -> &mut PendingMpdu {
        &mut self.held[place]
    }

    /// The MPDUs from the first that waits.
    pub(super) fn iter(&self) -> impl Iterator<Item = &PendingMpdu> {
        self.held.iter()
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PendingMpdu> {
        self.held.iter_mut()
    }

    /// Is an MPDU to be sent again?
    pub(super) fn is_behind(&self) -> bool {
        self.held.iter().any(|held| held.state == MpduState::Waiting && held.tries > 0)
    }

    /// One more request was not answered. Returns whether the station stops to ask; then the next request
    /// waits until the neighbour is heard again. Until then no further request has more than the tries of a
    /// frame, and neither has one that asks about no MPDU, but moves the recipient's window.
    pub(super) fn request_failed(&mut self, timing: &Timing) -> bool {
        self.request_tries += 1;
        let is_away = self.owes_request && !timing.tries_without_end();
        let limit = if self.is_behind() && !is_away {
            timing.request_limit
        } else {
            timing.request_limit.min(timing.short_retry_limit)
        };
        let request_failed = self.request_tries >= limit;
        if request_failed {
            (self.request_tries, self.owes_request) = (0, true);
        }
        request_failed
    }

    /// MPDUs of the last frame, and those of them that were acknowledged.
    pub(super) fn in_flight(&self) -> [u32; 2] {
        let flying = self.held.iter().filter(|held| held.flying);
        let acknowledged = flying.clone().filter(|held| held.state == MpduState::Acknowledged);
        [flying.count() as u32, acknowledged.count() as u32]
    }

    /// An MPDU takes the next sequence number. There must be room.
    pub(super) fn push(&mut self, held: PendingMpdu) {
        debug_assert!(self.has_room(), "at most as many as the agreement covers");
        self.held.push_back(held);
    }

    /// Moves on over what is done with. Where nobody has answered for long, another agreement is set up, once
    /// nothing is left that the recipient might have.
    pub(super) fn advance(&mut self, answered: bool) {
        while self.held.front().is_some_and(|first| first.state == MpduState::Gone) {
            self.held.pop_front();
            self.start = after(self.start, 1);
            self.unanswered += 1;
        }
        if answered {
            self.unanswered = 0;
        }
        if self.unanswered >= MOST_UNANSWERED && self.held.iter().all(|held| held.tries == 0) {
            self.agreement += 1;
            self.unanswered = 0;
            (self.request, self.request_tries, self.owes_request) = (false, 0, false);
        }
    }
}
