//! EDCA: four channel access functions of one station, one for each access category (802.11-2016, 10.22.2.4).
//!
//! The functions share the medium, the NAV and the timer of the station. All back-offs freeze together, and
//! resume together after the AIFS of each category. A slot boundary at which the medium turns busy counts,
//! and so does the boundary at the end of the AIFS: at each boundary a function either transmits or counts
//! down.
//!
//! If several back-offs end at one boundary, the highest category transmits. For the others this is an
//! internal collision (10.22.2.4, 10.22.2.2 d): their window and the retry count of their frame grow, but no
//! frame is sent.

use super::phase::Phase;
use super::{Context, Edcaf, FramePayload, Mac, StationState, Timing};
use crate::agenda::Agenda;
use crate::stack::Stack;
use multihop_core::{Fate, Span, Time};
use multihop_dot11::AccessCategory;

/// The functions that do not exchange frames at present, and state that all functions share.
#[derive(Clone, Debug)]
pub(super) struct Edca {
    /// In any order: each names its category.
    others: [Edcaf; AccessCategory::COUNT - 1],
    /// End of the last transmission opportunity (TXOP); none if it is limited to one exchange.
    pub(super) txop_end: Option<Time>,
    /// The last sequence number of each traffic identifier (10.3.2.11.2).
    sequences: [u32; TRAFFIC_IDENTIFIERS],
}

impl Edca {
    /// Whether one of the functions has a back-off.
    pub(super) fn has_backoff(&self) -> bool {
        self.others.iter().any(|function| function.backoff.is_some())
    }
}

/// Number of traffic identifiers.
const TRAFFIC_IDENTIFIERS: usize = 8;
/// Distance between the first sequence numbers of two traffic identifiers, so that a response to a frame of
/// one is never taken for a response to a frame of the other.
const SEQUENCE_DISTANCE: u32 = 1 << 29;

impl Mac {
    /// Gives the station a function for each access category.
    pub fn differentiate(&mut self, timing: &Timing) {
        let other = |category: AccessCategory| Edcaf::new(category, timing.access(category).cw_min);
        let others = [AccessCategory::Background, AccessCategory::Video, AccessCategory::Voice].map(other);
        let sequences = std::array::from_fn(|tid| tid as u32 * SEQUENCE_DISTANCE);
        self.station.edca = Some(Box::new(Edca { others, txop_end: None, sequences }));
    }

    /// Assigns the next sequence number of a traffic identifier to the outgoing frame.
    pub(super) fn assign_sequence(&mut self, tid: u8) {
        let function = &mut self.station.function;
        let last = self
            .station
            .edca
            .as_mut()
            .map_or(&mut function.sequence, |edca| &mut edca.sequences[usize::from(tid)]);
        *last = last.wrapping_add(1);
        function.sequence = *last;
    }

    /// Whether the station can dequeue a packet that waits.
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

    /// All functions of the station.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Edcaf> {
        std::iter::once(&self.station.function).chain(self.station.edca.iter().flat_map(|edca| &edca.others))
    }

    #[cfg(test)]
    pub(super) fn function_of(&mut self, category: AccessCategory) -> &mut Edcaf {
        self.functions_mut().find(|function| function.category == category).expect("each category has one")
    }

    /// Selects the function of a category as the one that exchanges frames.
    fn select_function(&mut self, category: AccessCategory) {
        let edca = self.station.edca.as_mut().expect("the station has access categories");
        if let Some(other) = edca.others.iter_mut().find(|other| other.category == category) {
            std::mem::swap(&mut self.station.function, other);
        }
    }

    /// Dequeues packets for all categories without a frame.
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

    /// Starts all pending back-offs that do not run. The medium is idle.
    #[inline(never)]
    pub(super) fn contend_by_category(
        &mut self,
        now: Time,
        timing: &Timing,
        agenda: &mut Agenda,
        stack: &mut Stack,
    ) {
        let is_frozen = |function: &Edcaf| function.backoff.is_some() && function.counting.is_none();
        if !self.functions().any(is_frozen) || self.awaits_nav_reset(now, agenda, stack) {
            return;
        }
        let starts =
            AccessCategory::ALL.map(|category| self.first_slot(now, timing, timing.access(category).aifs));
        for function in self.functions_mut().filter(|function| is_frozen(function)) {
            function.counting = Some(starts[function.category as usize]);
        }
        self.arm_access(timing, agenda);
    }

    fn functions_mut(&mut self) -> impl Iterator<Item = &mut Edcaf> {
        std::iter::once(&mut self.station.function)
            .chain(self.station.edca.iter_mut().flat_map(|edca| &mut edca.others))
    }

    /// Freezes all back-offs except those that end within `cca`, before the station can sense a signal that
    /// begins now.
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
                function.freeze(start, now + cca, timing, rng);
            }
        }
        if unaware {
            self.arm_access(timing, agenda);
        }
    }

    /// The timer fired in contention: a back-off has run out, or the NAV is reset.
    #[inline(never)]
    pub(super) fn on_access_by_category(&mut self, ctx: &mut Context) {
        if !self.functions().any(|function| function.counting.is_some()) {
            return self.contend(ctx); // resets the NAV
        }
        let mut due = [false; AccessCategory::COUNT];
        for function in self.functions_mut() {
            if function.backoff_end(ctx.timing.slot).is_some_and(|end| end <= ctx.now) {
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

    /// The function won the medium together with a higher category.
    fn collide_internally(&mut self, ctx: &mut Context) {
        ctx.record.collided_internally(self.id, self.station.function.category, ctx.now);
        let slots = std::mem::take(&mut self.station.function.attempt.slots);
        let out = self.station.function.current.as_mut().expect("a function that collides has a frame");
        out.slots += slots;
        // A broadcast is never given up.
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
