//! Four functions at a station that contend instead of one, each for the queue of an access category
//! (802.11-2016, 10.22.2.4).
//!
//! They share the station's medium, NAV and timer: all freeze together, and resume together, each after its
//! own inter-frame space. A slot boundary at which the medium turns busy still counts, that at the end of the
//! inter-frame space included, as the clause has it: a function does one thing at each boundary, and those
//! that do not transmit there count it down.
//!
//! Where several run out at one boundary, the highest transmits. To the others this is a collision
//! (10.22.2.4, 10.22.2.2 d): their window and the retry count of their frame rise, but nothing of it is on
//! the air.

use super::phase::Phase;
use super::{Context, Edcaf, FramePayload, Mac, StationState, Timing};
use crate::agenda::Agenda;
use crate::stack::Stack;
use multihop_core::{Fate, Span, Time};
use multihop_dot11::AccessCategory;

/// The functions besides the one that exchanges frames, and what all share.
#[derive(Clone, Debug)]
pub(super) struct Edca {
    /// In any order: each knows its category.
    others: [Edcaf; AccessCategory::COUNT - 1],
    /// When the transmission opportunity is over that was won last; none if it is of one exchange.
    pub(super) txop_end: Option<Time>,
    /// The last sequence number of each traffic identifier (10.3.2.11.2).
    numbers: [u32; PRIORITIES],
}

impl Edca {
    /// Has one of them a back-off?
    pub(super) fn contends(&self) -> bool {
        self.others.iter().any(|function| function.backoff.is_some())
    }
}

/// How many traffic identifiers there are.
const PRIORITIES: usize = 8;
/// Their sequence numbers begin so far apart: what answers a frame of one is no answer to one of another.
const APART: u32 = 1 << 29;

impl Mac {
    /// The station has a function for each access category from now on.
    pub fn differentiate(&mut self, timing: &Timing) {
        let other = |category: AccessCategory| Edcaf::new(category, timing.access(category).cw_min);
        let others = [AccessCategory::Background, AccessCategory::Video, AccessCategory::Voice].map(other);
        let numbers = std::array::from_fn(|tid| tid as u32 * APART);
        self.station.edca = Some(Box::new(Edca { others, txop_end: None, numbers }));
    }

    /// The frame that is taken has the next sequence number of its traffic identifier.
    pub(super) fn assign_sequence(&mut self, tid: u8) {
        let function = &mut self.station.function;
        let last = self
            .station
            .edca
            .as_mut()
            .map_or(&mut function.sequence, |edca| &mut edca.numbers[usize::from(tid)]);
        *last = last.wrapping_add(1);
        function.sequence = *last;
    }

    /// Could it take a packet that waits?
    #[inline]
    pub fn wants_packet(&self, stack: &Stack) -> bool {
        if self.station.edca.is_none() && self.station.hardware.is_none() {
            return self.station.function.current.is_none() && stack.has_waiting(AccessCategory::BestEffort);
        }
        self.any_wants_packet(stack)
    }

    #[inline(never)]
    fn any_wants_packet(&self, stack: &Stack) -> bool {
        if self.station.hardware.is_some() {
            return self.hardware_wants_packet(stack);
        }
        self.functions().any(|function| function.current.is_none() && stack.has_waiting(function.category))
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = &Edcaf> {
        std::iter::once(&self.station.function).chain(self.station.edca.iter().flat_map(|edca| &edca.others))
    }

    #[cfg(test)]
    pub(super) fn function_of(&mut self, category: AccessCategory) -> &mut Edcaf {
        self.functions_mut().find(|function| function.category == category).expect("each category has one")
    }

    /// Makes the function of a category the one that exchanges frames.
    fn select_function(&mut self, category: AccessCategory) {
        let edca = self.station.edca.as_mut().expect("there are several functions");
        if let Some(other) = edca.others.iter_mut().find(|other| other.category == category) {
            std::mem::swap(&mut self.station.function, other);
        }
    }

    /// Packets entered the queues of some categories.
    #[inline(never)]
    pub(super) fn on_queued_in_any(&mut self, ctx: &mut Context) {
        let serving = self.station.function.category;
        for category in AccessCategory::ALL {
            if self.has_supply(ctx.stack, category) {
                self.select_function(category);
                if self.station.function.current.is_none() {
                    self.dequeue_and_contend(ctx);
                }
            }
        }
        self.select_function(serving);
    }

    /// Lets all back-offs run that do not; the medium is idle.
    #[inline(never)]
    pub(super) fn contend_by_category(
        &mut self,
        now: Time,
        timing: &Timing,
        agenda: &mut Agenda,
        stack: &mut Stack,
    ) {
        let stands = |function: &Edcaf| function.backoff.is_some() && function.counting.is_none();
        if !self.functions().any(stands) || self.awaits_nav_reset(now, agenda, stack) {
            return;
        }
        let starts =
            AccessCategory::ALL.map(|category| self.first_slot(now, timing, timing.access(category).aifs));
        for function in self.functions_mut().filter(|function| stands(function)) {
            function.counting = Some(starts[function.category as usize]);
        }
        self.arm_access(timing, agenda);
    }

    fn functions_mut(&mut self) -> impl Iterator<Item = &mut Edcaf> {
        std::iter::once(&mut self.station.function)
            .chain(self.station.edca.iter_mut().flat_map(|edca| &mut edca.others))
    }

    /// Stops all back-offs where they are, but for those that run out before the station can have sensed what
    /// begins now, for which it takes this time.
    #[inline(never)]
    pub(super) fn freeze_all(&mut self, now: Time, cca: Span, timing: &Timing, agenda: &mut Agenda) {
        if self.station.phase == Phase::Contending {
            agenda.disarm(self.station.timer);
        }
        let StationState { function, edca, rng, .. } = &mut *self.station;
        let mut unaware = false;
        for function in std::iter::once(function).chain(edca.iter_mut().flat_map(|edca| &mut edca.others)) {
            if cca > Span::ZERO && function.begins_unaware(now, cca, timing.slot) {
                unaware = true;
            } else if let Some(start) = function.counting.take() {
                function.stop(start, now + cca, timing, rng);
            }
        }
        if unaware {
            self.arm_access(timing, agenda);
        }
    }

    /// Some back-off ran out, or the NAV may be reset.
    #[inline(never)]
    pub(super) fn on_access_by_category(&mut self, ctx: &mut Context) {
        if !self.functions().any(|function| function.counting.is_some()) {
            return self.contend(ctx); // which drops the NAV that may be reset by now
        }
        let mut due = [false; AccessCategory::COUNT];
        for function in self.functions_mut() {
            if function.ends(ctx.timing.slot).is_some_and(|end| end <= ctx.now) {
                function.finish_backoff();
                due[function.category as usize] = function.current.is_some();
            }
        }
        let mut due = AccessCategory::ALL.into_iter().rev().filter(|category| due[*category as usize]);
        let Some(winner) = due.next() else { return self.arm_access(ctx.timing, ctx.agenda) };
        for loser in due {
            self.select_function(loser);
            self.collide_internally(ctx);
        }
        self.freeze_all(ctx.now, Span::ZERO, ctx.timing, ctx.agenda);
        self.select_function(winner);
        self.begin_txop(ctx);
        self.begin_exchange(ctx);
    }

    /// The access was won, but a higher category won it as well.
    fn collide_internally(&mut self, ctx: &mut Context) {
        ctx.record.collided_internally(self.id, self.station.function.category, ctx.now);
        let slots = std::mem::take(&mut self.station.function.attempt.slots);
        let out = self.station.function.current.as_mut().expect("only functions with a frame collide");
        out.slots += slots;
        // A broadcast is not acknowledged, and therefore never given up.
        out.short_retries += u32::from(out.peer.is_some());
        let exhausted = out.peer.is_some() && out.short_retries >= ctx.timing.short_retry_limit;
        match out.payload {
            FramePayload::Packet(_) if exhausted => return self.finish(ctx, Fate::GivenUp),
            FramePayload::Mpdus { window, .. } if exhausted => return self.give_up_first_mpdu(ctx, window),
            FramePayload::Packet(_) | FramePayload::Mpdus { .. } | FramePayload::Request { .. } => {}
        }
        self.double_cw(ctx);
        self.draw_backoff(ctx.timing);
    }
}
