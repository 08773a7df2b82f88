//! Inter-frame space and back-off: when a station may transmit (9.3.4).
//!
//! Functions on the path of every busy and every idle medium take single parts of the [`Context`], so that
//! the compiler need not build it: most contenders that sense a frame do nothing else.

use super::phase::Phase;
use super::{Context, Edcaf, Mac, Timing};
use crate::agenda::{Agenda, Lane};
use crate::stack::Stack;
use multihop_core::{Rng, Span, Time};
use multihop_dot11::BackoffDraw;

impl Edcaf {
    /// End of the back-off while it runs.
    pub(super) fn backoff_end(&self, slot: Span) -> Option<Time> {
        Some(self.counting? + slot * u64::from(self.backoff?))
    }

    /// Whether the back-off ends before the station can sense a signal that begins now.
    #[cold]
    pub(super) fn begins_unaware(&self, now: Time, cca: Span, slot: Span) -> bool {
        self.backoff_end(slot).is_some_and(|end| end < now + cca)
    }

    /// Draws a back-off from the contention window (9.3.3).
    #[inline]
    pub(super) fn draw(&mut self, timing: &Timing, rng: &mut Rng) {
        let bound = match timing.rules.backoff_draw {
            BackoffDraw::Inclusive => self.cw + 1,
            BackoffDraw::Exclusive => self.cw.max(1),
        };
        self.backoff = Some(rng.below(bound));
        self.drawn = true;
    }

    /// Freezes the back-off, whose slots count from `start` on, at the time at which a busy medium is sensed.
    #[inline(never)]
    pub(super) fn freeze(&mut self, start: Time, sensed: Time, timing: &Timing, rng: &mut Rng) {
        let counted = sensed.since(start).whole(timing.slot) as u32;
        let mut left = self.backoff.expect("a running back-off is pending") - counted;
        if timing.busy_period_counts_as_slot && sensed >= start {
            left = left.saturating_sub(1);
        }
        self.attempt.slots += counted;
        self.backoff = Some(left);
        if !self.drawn {
            self.draw(timing, rng);
        }
    }

    /// Ends a back-off that has run out.
    pub(super) fn finish_backoff(&mut self) {
        self.counting = None;
        self.attempt.slots += self.backoff.take().expect("a running back-off is pending");
    }
}

impl Mac {
    /// A packet entered the empty interface queue, or the station became free to dequeue one.
    pub fn on_queued(&mut self, ctx: &mut Context) {
        if self.station.hardware.is_some() {
            self.fill_hardware(ctx);
        }
        if self.station.edca.is_some() {
            self.on_queued_in_any(ctx);
        } else if self.station.function.current.is_none() {
            self.dequeue_and_contend(ctx);
        }
    }

    /// Dequeues a packet, if there is one, and contends for the medium.
    pub(super) fn dequeue_and_contend(&mut self, ctx: &mut Context) {
        if !self.dequeue_next(ctx) {
            return;
        }
        if self.station.function.backoff.is_some() {
            self.extend_backoff(ctx);
            return;
        }
        self.expire_nav(ctx.now, ctx.stack);
        let idle = !self.is_busy() && self.nav <= ctx.now && self.station.phase == Phase::Contending;
        if idle && ctx.timing.rules.immediate_access && self.extra_slots() == 0 {
            // 9.3.4.2: no back-off if the medium has been idle for an IFS; if it turns busy before, one is
            // drawn.
            self.station.function.backoff = Some(0);
            self.station.function.drawn = false;
        } else {
            self.draw_backoff(ctx.timing);
            self.extend_backoff(ctx);
        }
        self.contend(ctx);
    }

    /// Slots that a router policy adds to the back-off before the first attempt.
    fn extra_slots(&self) -> u32 {
        self.station.function.current.map_or(0, |out| out.extra_slots)
    }

    /// Adds the slots of the router policy to the back-off, which may be running.
    pub(super) fn extend_backoff(&mut self, ctx: &mut Context) {
        let extra = self.extra_slots();
        if extra == 0 {
            return;
        }
        let slots = self.station.function.backoff.unwrap_or(0).saturating_add(extra);
        self.station.function.backoff = Some(slots);
        if self.station.function.counting.is_some() {
            self.arm_access(ctx.timing, ctx.agenda);
        }
    }

    /// Draws a back-off from the contention window.
    #[inline]
    pub(super) fn draw_backoff(&mut self, timing: &Timing) {
        self.station.function.draw(timing, &mut self.station.rng);
    }

    /// Doubles the contention window after a failure.
    pub(super) fn double_cw(&mut self, ctx: &Context) {
        self.station.function.cw =
            ctx.timing.access(self.station.function.category).next_cw(self.station.function.cw);
    }

    /// Resets the contention window after a success.
    pub(super) fn reset_cw(&mut self, ctx: &Context) {
        self.station.function.cw = ctx.timing.access(self.station.function.category).cw_min;
    }

    /// Starts the back-off if the medium is idle and the station owes nothing.
    #[expect(
        clippy::inline_always,
        reason = "a call would make each contender build a context for little work"
    )]
    #[inline(always)]
    pub fn contend(&mut self, ctx: &mut Context) {
        if self.is_busy() || self.station.phase != Phase::Contending {
            return;
        }
        if self.station.edca.is_some() {
            return self.contend_by_category(ctx.now, ctx.timing, ctx.agenda, ctx.stack);
        }
        let Some(slots) = self.station.function.backoff.filter(|_| self.station.function.counting.is_none())
        else {
            return;
        };
        if self.nav_reset < Time::NEVER && self.awaits_nav_reset(ctx.now, ctx.agenda, ctx.stack) {
            return;
        }
        let start = self.first_slot(ctx.now, ctx.timing, ctx.timing.best_effort().aifs);
        self.station.function.counting = Some(start);
        self.arm(ctx, start + ctx.timing.slot * u64::from(slots));
    }

    /// Whether the NAV is set and has a pending reset. If so, arms the timer for that reset.
    #[inline(never)]
    pub(super) fn awaits_nav_reset(&mut self, now: Time, agenda: &mut Agenda, stack: &mut Stack) -> bool {
        self.expire_nav(now, stack);
        let awaits = self.nav > now && self.nav_reset < self.nav;
        if awaits {
            agenda.arm(self.station.timer, self.nav_reset, Lane::Mac);
        }
        awaits
    }

    /// Start of the first counted slot in an idle medium, after an inter-frame space.
    #[inline]
    pub(super) fn first_slot(&self, now: Time, timing: &Timing, space: Span) -> Time {
        // EIFS begins at the end of the frame with the error, independently of the NAV (9.3.2.3.7). EIFS
        // extends AIFS by as much as DIFS (802.11-2016, 10.3.2.3.7 and 10.22.2.4).
        let idle_from = self.since.max(self.nav).max(self.station.eifs_until);
        if timing.rules.fresh_difs { idle_from.max(now) + space } else { (idle_from + space).max(now) }
    }

    /// Arms the timer for the end of the first running back-off.
    #[inline(never)]
    pub(super) fn arm_access(&self, timing: &Timing, agenda: &mut Agenda) {
        if let Some(first) = self.functions().filter_map(|function| function.backoff_end(timing.slot)).min() {
            agenda.arm(self.station.timer, first, Lane::Mac);
        }
    }

    /// Freezes the back-off when the medium turns busy. A back-off that ends within the CCA time continues.
    /// If no back-off counts down and a NAV reset was pending (`might_reset`), the reset is cancelled.
    #[inline]
    pub fn freeze_backoff(&mut self, ctx: &mut Context, might_reset: bool) {
        let cca = ctx.timing.rules.cca_time;
        if self.station.edca.is_some() {
            self.freeze_all(ctx.now, cca, ctx.timing, ctx.agenda);
        } else if let Some(start) = self.station.function.counting {
            if cca > Span::ZERO && self.station.function.begins_unaware(ctx.now, cca, ctx.timing.slot) {
                return; // the station transmits before it senses the signal
            }
            self.station.function.counting = None;
            ctx.agenda.disarm(self.station.timer);
            self.station.function.freeze(start, ctx.now + cca, ctx.timing, &mut self.station.rng);
        } else if might_reset && self.station.phase == Phase::Contending {
            ctx.agenda.disarm(self.station.timer);
        }
        debug_assert!(
            self.station.phase != Phase::Contending
                || cca > Span::ZERO
                || !ctx.agenda.is_armed(self.station.timer)
        );
    }

    /// The timer fired in contention: the back-off has run out, or the NAV is reset.
    pub(super) fn on_access(&mut self, ctx: &mut Context) {
        if self.station.edca.is_some() {
            return self.on_access_by_category(ctx);
        }
        if self.station.function.counting.is_none() {
            self.contend(ctx); // resets the NAV
            return;
        }
        self.station.function.finish_backoff();
        if self.station.function.current.is_some() {
            self.begin_exchange(ctx);
        }
    }
}
