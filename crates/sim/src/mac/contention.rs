//! When the station may transmit (9.3.4).

use super::{Context, Mac, Phase};
use multihop_core::{Interval, LinkEvent, Time};
use multihop_dot11::{BackoffDraw, EifsRule};

impl Mac {
    /// A packet entered the empty interface queue, or the station has just become free to take one.
    pub fn on_queued(&mut self, ctx: &mut Context) {
        if self.current.is_some() || !self.take_next(ctx) {
            return;
        }
        if self.backoff.is_some() {
            self.add_extra_backoff(ctx);
            return;
        }
        self.expire_nav(ctx);
        let idle = !self.busy && self.nav <= ctx.now && self.phase == Phase::Contending;
        if idle && ctx.timing.rules.immediate_access && self.extra_slots() == 0 {
            // 9.3.4.2: no back-off if the medium has been idle for an IFS; if it turns busy before, one is drawn.
            self.backoff = Some(0);
            self.drawn = false;
        } else {
            self.draw(ctx);
            self.add_extra_backoff(ctx);
        }
        self.contend(ctx);
    }

    /// What a router policy wants the frame to wait besides the back-off before its first try.
    fn extra_slots(&self) -> u32 {
        self.current.map_or(0, |out| out.extra_slots)
    }

    /// Adds that to the back-off, which may be running.
    pub(super) fn add_extra_backoff(&mut self, ctx: &mut Context) {
        let extra = self.extra_slots();
        if extra == 0 {
            return;
        }
        let slots = self.backoff.unwrap_or(0).saturating_add(extra);
        self.backoff = Some(slots);
        if let Some(start) = self.counting {
            self.arm(ctx, start + ctx.timing.slot * u64::from(slots));
        }
    }

    /// Draws a back-off from the present window (9.3.3).
    pub(super) fn draw(&mut self, ctx: &Context) {
        let bound = match ctx.timing.rules.backoff_draw {
            BackoffDraw::Inclusive => self.cw + 1,
            BackoffDraw::Exclusive => self.cw,
        };
        self.backoff = Some(self.rng.below(bound));
        self.drawn = true;
    }

    /// The window after a failure.
    pub(super) fn double_cw(&mut self, ctx: &Context) {
        self.cw = ctx.timing.next_cw(self.cw);
    }

    /// Lets the back-off run if nothing forbids it.
    pub(super) fn contend(&mut self, ctx: &mut Context) {
        if self.phase != Phase::Contending || self.busy || self.counting.is_some() {
            return;
        }
        let Some(slots) = self.backoff else { return };
        self.expire_nav(ctx);
        if self.nav > ctx.now
            && let Some(reset) = self.nav_reset
            && reset < self.nav
        {
            self.arm(ctx, reset);
            return;
        }
        let idle_from = self.idle_since.max(self.nav);
        let difs = ctx.timing.difs;
        let fresh = ctx.timing.rules.fresh_difs;
        let after_difs = if fresh { idle_from.max(ctx.now) + difs } else { (idle_from + difs).max(ctx.now) };
        // EIFS begins with the idle medium after the bad frame, whatever the NAV says (9.3.2.3.7).
        let start = after_difs.max(self.eifs_until);
        self.counting = Some(start);
        self.arm(ctx, start + ctx.timing.slot * u64::from(slots));
    }

    /// Stops the back-off where it is: the medium turns busy.
    pub(super) fn freeze(&mut self, ctx: &mut Context) {
        let Some(start) = self.counting.take() else {
            if self.phase == Phase::Contending {
                ctx.agenda.disarm(self.timer); // a NAV that might have been reset
            }
            return;
        };
        ctx.agenda.disarm(self.timer);
        let counted = ctx.now.since(start).whole(ctx.timing.slot) as u32;
        let mut left = self.backoff.expect("a running back-off is pending") - counted;
        if ctx.timing.rules.busy_period_counts_as_slot && ctx.now >= start {
            left = left.saturating_sub(1);
        }
        self.attempt.slots += counted;
        self.backoff = Some(left);
        if !self.drawn {
            self.draw(ctx);
        }
    }

    /// The back-off ran out, or the NAV may be reset.
    pub(super) fn on_access(&mut self, ctx: &mut Context) {
        if self.counting.take().is_none() {
            self.contend(ctx); // which drops the NAV that may be reset by now
            return;
        }
        self.attempt.slots += self.backoff.take().expect("a running back-off is pending");
        if self.current.is_some() {
            self.begin_exchange(ctx);
        }
    }

    /// Drops a NAV that may be reset because nothing has followed its RTS (9.3.2.4).
    #[inline]
    pub(super) fn expire_nav(&mut self, ctx: &mut Context) {
        if let Some(reset) = self.nav_reset.take_if(|reset| *reset <= ctx.now) {
            self.cut_nav(ctx, reset);
        }
    }

    #[inline(never)]
    fn cut_nav(&mut self, ctx: &mut Context, reset: Time) {
        if reset < self.nav {
            self.nav = reset;
            ctx.stack.on_link(&LinkEvent::NavReset(reset));
        }
    }

    /// Sets the NAV, if that makes it longer.
    pub(super) fn set_nav(&mut self, ctx: &mut Context, until: Time) -> bool {
        if until <= self.nav {
            return false;
        }
        debug_assert!(self.busy, "the NAV is set by frames, so the medium is busy");
        self.nav = until;
        let set = Interval { start: ctx.now, end: until };
        ctx.stack.on_link(&LinkEvent::NavSet(set));
        true
    }

    /// A signal that was not recognized as a frame ended: ns-2 treats it as a frame that could not be decoded.
    pub(super) fn after_noise(&mut self, ctx: &mut Context) {
        if ctx.timing.rules.eifs == EifsRule::AsNav {
            self.after_garbled(ctx);
        }
    }

    /// A frame that could not be decoded ended (9.3.2.3.7).
    pub(super) fn after_garbled(&mut self, ctx: &mut Context) {
        match ctx.timing.rules.eifs {
            EifsRule::UntilCorrectFrame => self.eifs_until = ctx.now + ctx.timing.eifs,
            EifsRule::AsNav => {
                self.set_nav(ctx, ctx.now + ctx.timing.eifs);
            }
            EifsRule::Never => {}
        }
    }
}
