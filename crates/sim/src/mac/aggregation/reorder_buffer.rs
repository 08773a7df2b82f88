//! The recipient's side of an agreement: MPDUs that arrived, and MPDUs that wait for a missing one.

use super::sequence::{HALF, after, ahead};
use crate::medium::Bitmap;
use crate::slab::Handle;
use multihop_core::{NodeId, Span, Time};
use std::collections::VecDeque;

/// Kind of an arriving MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MpduArrival {
    /// The MPDU is new.
    Fresh,
    /// The MPDU waits in the buffer already.
    Repeated,
    /// The window has moved past the MPDU.
    Late,
}

/// Scoreboard (10.24.7.3) and receive reordering buffer (10.24.7.6) for MPDUs of one originator and traffic
/// identifier.
#[derive(Clone, Debug)]
pub(super) struct ReorderBuffer {
    pub(super) from: NodeId,
    /// Traffic identifier.
    pub(super) tid: u8,
    /// Number of earlier agreements.
    agreement: u32,
    size: usize,
    /// `WinStartB`: all MPDUs before it were passed on or given up.
    start: u16,
    /// Waiting MPDUs, from `start` on.
    held: VecDeque<Option<Handle>>,
    /// Number of waiting MPDUs.
    holding: usize,
    /// Time from which on the MPDU at `start` is missing.
    since: Time,
    /// `WinStartR`: first sequence number of the scoreboard.
    board: u16,
    /// MPDUs that arrived, from `board` on.
    arrived: Bitmap,
}

impl ReorderBuffer {
    /// Buffer of an agreement with a window of `size` MPDUs.
    pub(super) fn new(from: NodeId, tid: u8, size: u32) -> ReorderBuffer {
        let size = size as usize;
        ReorderBuffer {
            from,
            tid,
            agreement: 0,
            size,
            start: 0,
            held: std::iter::repeat_n(None, size).collect(),
            holding: 0,
            since: Time::ZERO,
            board: 0,
            arrived: Bitmap::default(),
        }
    }

    /// Follows the originator to an agreement, whose window starts at `start`. A new agreement passes on all
    /// waiting MPDUs and clears the scoreboard.
    pub(super) fn follow(&mut self, agreement: u32, start: u16, now: Time, ready: &mut VecDeque<Handle>) {
        if agreement == self.agreement {
            return;
        }
        self.skip(self.size, now, ready);
        (self.agreement, self.start, self.board, self.arrived) = (agreement, start, start, Bitmap::default());
    }

    /// Content of a block acknowledgement.
    pub(super) fn scoreboard(&self) -> (u16, Bitmap) {
        (self.board, self.arrived)
    }

    /// Records an arriving MPDU in the scoreboard. Returns its kind.
    pub(super) fn record_arrival(&mut self, sequence: u16) -> MpduArrival {
        let place = ahead(self.board, sequence);
        if usize::from(place) < self.size {
            self.arrived.set(usize::from(place));
        } else if place < HALF {
            let steps = usize::from(place) + 1 - self.size;
            self.move_board(steps);
            self.arrived.set(self.size - 1);
        }
        let place = ahead(self.start, sequence);
        match self.held.get(usize::from(place)) {
            Some(Some(_)) => MpduArrival::Repeated,
            Some(None) => MpduArrival::Fresh,
            None if place < HALF => MpduArrival::Fresh,
            None => MpduArrival::Late,
        }
    }

    /// Keeps a new MPDU, and moves MPDUs that are in order to `ready`.
    pub(super) fn keep(&mut self, sequence: u16, packet: Handle, now: Time, ready: &mut VecDeque<Handle>) {
        let place = usize::from(ahead(self.start, sequence));
        if place == 0 && self.holding == 0 {
            // The MPDU is in order and no other waits.
            ready.push_back(packet);
            (self.start, self.since) = (after(self.start, 1), now);
            return;
        }
        if place >= self.size {
            self.skip(place + 1 - self.size, now, ready);
        }
        if self.holding == 0 {
            self.since = now;
        }
        let place = usize::from(ahead(self.start, sequence));
        self.held[place] = Some(packet);
        self.holding += 1;
        self.release(now, ready);
    }

    /// Moves the window: the originator will not send MPDUs before `start` any more (10.24.7.5).
    pub(super) fn move_to(&mut self, start: u16, now: Time, ready: &mut VecDeque<Handle>) {
        let steps = ahead(self.board, start);
        if steps < HALF {
            self.move_board(usize::from(steps));
        }
        let steps = ahead(self.start, start);
        if steps < HALF {
            self.skip(usize::from(steps), now, ready);
            self.release(now, ready);
        }
    }

    /// End of the timeout for the missing MPDU, if any MPDU waits for it.
    pub(super) fn due(&self, timeout: Span) -> Option<Time> {
        (self.holding > 0).then(|| self.since + timeout)
    }

    /// Gives up the missing MPDUs before the first waiting one.
    pub(super) fn give_up_first_mpdu(&mut self, now: Time, ready: &mut VecDeque<Handle>) {
        let missing = self.held.iter().take_while(|held| held.is_none()).count();
        self.skip(missing, now, ready);
        self.release(now, ready);
    }

    /// Moves the scoreboard by some steps.
    fn move_board(&mut self, steps: usize) {
        self.board = after(self.board, steps);
        self.arrived = self.arrived.without_first(steps);
    }

    /// Moves the window by some steps, and the waiting MPDUs among them to `ready`.
    fn skip(&mut self, steps: usize, now: Time, ready: &mut VecDeque<Handle>) {
        for _ in 0..steps.min(self.size) {
            let first = self.held.pop_front().flatten();
            self.holding -= usize::from(first.is_some());
            ready.extend(first);
            self.held.push_back(None);
        }
        if steps > 0 {
            self.start = after(self.start, steps);
            self.since = now;
        }
    }

    /// Moves MPDUs that are in order to `ready`.
    fn release(&mut self, now: Time, ready: &mut VecDeque<Handle>) {
        while self.held.front().is_some_and(Option::is_some) {
            self.skip(1, now, ready);
        }
    }
}
