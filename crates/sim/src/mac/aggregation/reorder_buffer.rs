//! The recipient's side of an agreement: which MPDUs arrived, and those that wait for one before them.

use super::sequence::{HALF, after, ahead};
use crate::medium::Bitmap;
use crate::slab::Handle;
use multihop_core::{NodeId, Span, Time};
use std::collections::VecDeque;

/// What an MPDU is that arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MpduArrival {
    /// It did not come before.
    Fresh,
    /// It waits here already.
    Repeated,
    /// Everything up to behind it was passed on.
    Late,
}

/// Scoreboard (10.24.7.3) and receive reordering buffer (10.24.7.6) for MPDUs of one originator and traffic
/// identifier.
#[derive(Clone, Debug)]
pub(super) struct ReorderBuffer {
    pub(super) from: NodeId,
    /// The traffic identifier.
    pub(super) tid: u8,
    /// Agreements before this one.
    agreement: u32,
    size: usize,
    /// `WinStartB`: what lies before it was passed on, or never will be.
    start: u16,
    /// What waits, from `start` on.
    held: VecDeque<Option<Handle>>,
    holding: usize,
    /// Since when `start` has been missed.
    since: Time,
    /// `WinStartR`, and what arrived from there on.
    board: u16,
    arrived: Bitmap,
}

impl ReorderBuffer {
    /// That of an agreement about `size` MPDUs.
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

    /// An MPDU or a request of an agreement, whose window begins here by now: if it is a new one, what waits
    /// is passed on, and nothing has arrived yet.
    pub(super) fn follow(&mut self, agreement: u32, start: u16, now: Time, ready: &mut VecDeque<Handle>) {
        if agreement == self.agreement {
            return;
        }
        self.skip(self.size, now, ready);
        (self.agreement, self.start, self.board, self.arrived) = (agreement, start, start, Bitmap::default());
    }

    /// What a block acknowledgement says now.
    pub(super) fn scoreboard(&self) -> (u16, Bitmap) {
        (self.board, self.arrived)
    }

    /// An MPDU arrived: what it is, and that it did.
    pub(super) fn arrives(&mut self, sequence: u16) -> MpduArrival {
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

    /// Keeps a fresh MPDU; what can be passed on then goes to `ready`.
    pub(super) fn keep(&mut self, sequence: u16, packet: Handle, now: Time, ready: &mut VecDeque<Handle>) {
        let place = usize::from(ahead(self.start, sequence));
        if place == 0 && self.holding == 0 {
            // It is the one that comes next, and nothing waits: as if it were kept and passed on.
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

    /// The originator says that it sends nothing before this one any more (10.24.7.5).
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

    /// When it will have missed the first MPDU for so long.
    pub(super) fn due(&self, timeout: Span) -> Option<Time> {
        (self.holding > 0).then(|| self.since + timeout)
    }

    /// It has missed the first MPDU for too long.
    pub(super) fn give_up_first_mpdu(&mut self, now: Time, ready: &mut VecDeque<Handle>) {
        let missing = self.held.iter().take_while(|held| held.is_none()).count();
        self.skip(missing, now, ready);
        self.release(now, ready);
    }

    fn move_board(&mut self, steps: usize) {
        self.board = after(self.board, steps);
        self.arrived = self.arrived.without_first(steps);
    }

    /// Passes on what is there of so many.
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

    fn release(&mut self, now: Time, ready: &mut VecDeque<Handle>) {
        while self.held.front().is_some_and(Option::is_some) {
            self.skip(1, now, ready);
        }
    }
}
