//! When the station may transmit (9.3.4).
//!
//! What each busy and each idle medium calls takes what it needs of the [`Context`], which is then never put
//! together: most contenders that sense a frame do nothing else.

use super::phase::Phase;
use super::{Context, Edcaf, Mac, Timing};
use crate::agenda::{Agenda, Lane};
use crate::stack::Stack;
use multihop_core::{Rng, Span, Time};
use multihop_dot11::BackoffDraw;

impl Edcaf {
    /// When its back-off runs out, while it counts.
    pub(super) fn ends(&self, slot: Span) -> Option<Time> {
        Some(self.counting? + slot * u64::from(self.backoff?))
    }

    /// Will its back-off have run out before it can have sensed what begins now?
    #[cold]
    pub(super) fn begins_unaware(&self, now: Time, cca: Span, slot: Span) -> bool {
        self.ends(slot).is_some_and(|end| end < now + cca)
    }

    /// Draws a back-off from the present window (9.3.3).
    #[inline]
    pub(super) fn draw(&mut self, timing: &Timing, rng: &mut Rng) {
        let bound = match timing.rules.backoff_draw {
            BackoffDraw::Inclusive => self.cw + 1,
            BackoffDraw::Exclusive => self.cw.max(1),
        };
        self.backoff = Some(rng.below(bound));
        self.drawn = true;
    }

    /// Stops the back-off, whose slots count since `start`, where it is when the busy medium is sensed.
    #[inline(never)]
    pub(super) fn stop(&mut self, start: Time, sensed: Time, timing: &Timing, rng: &mut Rng) {
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

    /// The back-off ran out.
    pub(super) fn finish_backoff(&mut self) {
        self.counting = None;
        self.attempt.slots += self.backoff.take().expect("a running back-off is pending");
    }
}

impl Mac {
    /// A packet entered the empty interface queue, or the station has just become free to take one.
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

    /// Takes a packet, if there is one, and has it wait as long as it must.
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
            // 9.3.4.2: no back-off if the medium has been idle for an IFS; if it turns busy before, one is drawn.
            self.station.function.backoff = Some(0);
            self.station.function.drawn = false;
        } else {
            self.draw_backoff(ctx.timing);
            self.extend_backoff(ctx);
        }
        self.contend(ctx);
    }

    /// What a router policy wants the frame to wait besides the back-off before its first try.
    fn extra_slots(&self) -> u32 {
        self.station.function.current.map_or(0, |out| out.extra_slots)
    }

    /// Adds that to the back-off, which may be running.
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

    /// Draws a back-off from the present window.
    #[inline]
    pub(super) fn draw_backoff(&mut self, timing: &Timing) {
        self.station.function.draw(timing, &mut self.station.rng);
    }

    /// The window after a failure.
    pub(super) fn double_cw(&mut self, ctx: &Context) {
        self.station.function.cw =
            ctx.timing.access(self.station.function.category).next_cw(self.station.function.cw);
    }

    /// The window after a success.
    pub(super) fn reset_cw(&mut self, ctx: &Context) {
        self.station.function.cw = ctx.timing.access(self.station.function.category).cw_min;
    }

    /// Lets the back-off run if nothing forbids it.
    #[expect(
        clippy::inline_always,
        reason = "else each contender puts a context together for a call that does little"
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

    /// Is the NAV set, and may it be reset before it ends? Then the station looks again when it may.
    #[inline(never)]
    pub(super) fn awaits_nav_reset(&mut self, now: Time, agenda: &mut Agenda, stack: &mut Stack) -> bool {
        self.expire_nav(now, stack);
        let awaits = self.nav > now && self.nav_reset < self.nav;
        if awaits {
            agenda.arm(self.station.timer, self.nav_reset, Lane::Mac);
        }
        awaits
    }

    /// When the first slot begins that counts, in an idle medium, after this inter-frame space.
    #[inline]
    pub(super) fn first_slot(&self, now: Time, timing: &Timing, space: Span) -> Time {
        // EIFS begins with the idle medium after the bad frame, whatever the NAV says (9.3.2.3.7). It is as much longer than this space
        // as than DIFS (802.11-2016, 10.3.2.3.7 and 10.22.2.4).
        let idle_from = self.since.max(self.nav).max(self.station.eifs_until);
        if timing.rules.fresh_difs { idle_from.max(now) + space } else { (idle_from + space).max(now) }
    }

    /// Looks again when the first back-off that counts runs out.
    #[inline(never)]
    pub(super) fn arm_access(&self, timing: &Timing, agenda: &mut Agenda) {
        if let Some(first) = self.functions().filter_map(|function| function.ends(timing.slot)).min() {
            agenda.arm(self.station.timer, first, Lane::Mac);
        }
    }

    /// The medium turns busy: stops the back-off where it is. A NAV that `might_reset` is not.
    #[inline]
    pub fn freeze_backoff(&mut self, ctx: &mut Context, might_reset: bool) {
        let cca = ctx.timing.rules.cca_time;
        if self.station.edca.is_some() {
            self.freeze_all(ctx.now, cca, ctx.timing, ctx.agenda);
        } else if let Some(start) = self.station.function.counting {
            if cca > Span::ZERO && self.station.function.begins_unaware(ctx.now, cca, ctx.timing.slot) {
                return; // it transmits before it has sensed what begins now
            }
            self.station.function.counting = None;
            ctx.agenda.disarm(self.station.timer);
            self.station.function.stop(start, ctx.now + cca, ctx.timing, &mut self.station.rng);
        } else if might_reset && self.station.phase == Phase::Contending {
            ctx.agenda.disarm(self.station.timer);
        }
        debug_assert!(
            self.station.phase != Phase::Contending
                || cca > Span::ZERO
                || !ctx.agenda.is_armed(self.station.timer)
        );
    }

    /// The back-off ran out, or the NAV may be reset.
    pub(super) fn on_access(&mut self, ctx: &mut Context) {
        if self.station.edca.is_some() {
            return self.on_access_by_category(ctx);
        }
        if self.station.function.counting.is_none() {
            self.contend(ctx); // which drops the NAV that may be reset by now
            return;
        }
        self.station.function.finish_backoff();
        if self.station.function.current.is_some() {
            self.begin_exchange(ctx);
        }
    }
}
