//! Carrier sense of a station, physical and virtual (9.3.2.1): what frames of others change of it.
//!
//! Most stations around a sender do no more about a frame than to find the medium busy and to set their NAV.
//! Unless something observes their link, [`Mac::sense_begin`] and [`Mac::sense_end`] do that with few
//! comparisons; [`Mac::on_busy`], and what `recipient` does at the end of a frame, do it for any station.

use super::{Context, Mac, Timing};
use crate::medium::{Frame, Radio, Reception};
use crate::record::MediumUse;
use crate::stack::Stack;
use multihop_core::{FrameKind, Interval, LinkEvent, Span, Time};
use multihop_dot11::EifsRule;

/// The medium is physically busy, own transmissions included.
const BUSY: u8 = 1;
/// A back-off is pending, an answer is overdue, or something above watches what others send: frames of others
/// may concern more than carrier sense. [`Mac::update_slow_path`] keeps it right.
const NEEDS_SLOW_PATH: u8 = 2;
/// Something above observes the link ([`Stack::observes`]).
const OBSERVED: u8 = 4;
/// EIFS is pending, or what else [`super::StationState::eifs_until`] is for.
const WAITS_LONGER: u8 = 8;
/// Each frame of others concerns more than carrier sense and a back-off: an answer is overdue, or something
/// above watches. It is kept right with `NEEDS_SLOW_PATH`.
const NEEDS_EVERY_FRAME: u8 = 16;

/// Until when the end of a frame sets the NAV of stations that it is not for.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    /// Where it is decoded; at no time if its duration field says so.
    decoded: Time,
    /// Where it is not.
    bad: Time,
    /// When the NAV may be reset where it is decoded, if ever.
    reset: Time,
}

impl Reservation {
    /// That of a frame which ends now.
    #[inline]
    pub fn of(frame: &Frame, timing: &Timing, now: Time) -> Reservation {
        let after = |length: Span, sets: bool| if sets { now + length } else { Time::ZERO };
        Reservation {
            decoded: after(frame.duration, frame.duration > Span::ZERO),
            bad: after(timing.eifs, timing.rules.eifs == EifsRule::AsNav),
            reset: nav_reset(frame, timing, now),
        }
    }
}

impl Mac {
    /// What lies above is complete, and says which policies and logs listen.
    pub fn join(&mut self, stack: &Stack) {
        self.station.watched = stack.watches();
        self.state = if stack.observes() { self.state | OBSERVED } else { self.state & !OBSERVED };
        self.update_slow_path();
    }

    /// Sees whether frames that are for others concern more than its carrier sense: to be called after all
    /// that the station does itself.
    #[inline]
    pub fn update_slow_path(&mut self) {
        self.state = self.state & !(NEEDS_SLOW_PATH | NEEDS_EVERY_FRAME) | self.slow_path_bits();
    }

    /// `NEEDS_SLOW_PATH`, `NEEDS_EVERY_FRAME`, both or neither.
    #[inline]
    fn slow_path_bits(&self) -> u8 {
        let own = &*self.station;
        let contends =
            own.function.backoff.is_some() || own.edca.as_ref().is_some_and(|edca| edca.contends());
        let concerned = own.receiving_at_timeout | own.watched;
        (u8::from(contends | concerned) * NEEDS_SLOW_PATH) | (u8::from(concerned) * NEEDS_EVERY_FRAME)
    }

    /// Is the medium physically busy, as far as the station knows?
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.state & BUSY != 0
    }

    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.state & OBSERVED != 0
    }

    /// Something of what a frame of others changes.
    pub fn peek(&self) -> u64 {
        self.nav.ns()
    }

    /// Until when its NAV is set.
    pub fn nav(&self) -> Time {
        self.nav
    }

    /// For how long it could not use the medium until now: while it was busy, and then while the NAV was set.
    /// The own frame may still be on its way, which keeps the station waiting, but not the medium busy.
    pub fn medium_use(&self, radio: &Radio, now: Time) -> MediumUse {
        let mut used = self.used;
        let idle_since = if self.is_busy() {
            let end = if radio.is_quiet(now) { radio.quiet_since() } else { now };
            used.busy += end.since(self.since);
            end
        } else {
            self.since
        };
        used.nav_only += self.reserved(idle_since, now);
        used
    }

    /// How long the NAV was set from here to now.
    fn reserved(&self, from: Time, now: Time) -> Span {
        self.nav.min(self.nav_reset).min(now).since(from)
    }

    /// A frame of others begins while the medium is idle. Returns whether the NAV might have been reset, and
    /// no more than [`Mac::freeze_backoff`] is left to do, if the station [is
    /// involved](Mac::needs_slow_path). Where its own frame is still on its way, or something observes the
    /// link, nothing is done, and none returned.
    #[expect(clippy::inline_always, reason = "a call for each listener is 5 % of a grid")]
    #[inline(always)]
    pub fn sense_begin(&mut self, now: Time) -> Option<bool> {
        if self.state & (BUSY | OBSERVED) != 0 {
            return None;
        }
        let reset = std::mem::replace(&mut self.nav_reset, Time::NEVER);
        if reset <= now {
            self.nav = self.nav.min(reset);
        }
        self.note_busy(now);
        Some(reset < Time::NEVER && reset > now)
    }

    /// Is the end of a frame, which the station decodes or does not, a matter of carrier sense alone here?
    #[inline]
    pub fn only_senses(&self, frame: &Frame, decodes: bool) -> bool {
        (self.state & !NEEDS_SLOW_PATH == BUSY) & !(decodes & frame.to.is_none_or(|to| to == self.id))
    }

    /// Then this is what it does: no more than [`Mac::contend`] is left, if the station is involved.
    #[inline]
    pub fn sense_end(&mut self, reserves: &Reservation, decoded: bool, now: Time) {
        let until = if decoded { reserves.decoded } else { reserves.bad };
        let resets = self.lengthen_nav(until) & decoded;
        self.nav_reset = if resets { reserves.reset } else { self.nav_reset };
        self.note_idle(now);
    }

    /// May frames that are for others concern more than carrier sense?
    #[inline]
    pub fn needs_slow_path(&self) -> bool {
        debug_assert!(
            self.state & NEEDS_SLOW_PATH >= self.slow_path_bits() & NEEDS_SLOW_PATH,
            "it was noted"
        );
        self.state & NEEDS_SLOW_PATH != 0
    }

    /// Does each frame of others concern more than carrier sense and a back-off?
    #[inline]
    pub(super) fn needs_every_frame(&self) -> bool {
        debug_assert!(
            self.state & NEEDS_EVERY_FRAME == self.slow_path_bits() & NEEDS_EVERY_FRAME,
            "it was noted"
        );
        self.state & NEEDS_EVERY_FRAME != 0
    }

    /// The medium turns busy: a signal began while there was none, though the station's own may still have
    /// been on its way.
    pub fn on_busy(&mut self, ctx: &mut Context) {
        if self.is_busy() {
            self.turn_idle(ctx);
        }
        self.expire_nav(ctx.now, ctx.stack);
        let might_reset = std::mem::replace(&mut self.nav_reset, Time::NEVER) < Time::NEVER;
        if self.needs_slow_path() {
            self.freeze_backoff(ctx, might_reset);
        }
        self.turn_busy(ctx);
    }

    /// The medium is idle again.
    #[inline]
    pub fn on_idle(&mut self, ctx: &mut Context) {
        self.turn_idle(ctx);
        self.contend(ctx);
    }

    #[inline]
    pub(super) fn turn_idle(&mut self, ctx: &mut Context) {
        let busy = self.note_idle(ctx.radio.quiet_since());
        self.report(ctx.stack, || LinkEvent::Busy(busy));
    }

    #[inline]
    pub(super) fn turn_busy(&mut self, ctx: &mut Context) {
        self.note_busy(ctx.now);
        self.report(ctx.stack, || LinkEvent::BusyFrom(ctx.now));
    }

    /// The medium is idle since then; returns while it was busy.
    #[inline]
    fn note_idle(&mut self, since: Time) -> Interval {
        debug_assert!(self.is_busy());
        let busy = Interval { start: self.since, end: since };
        self.used.busy += busy.length();
        (self.state, self.since) = (self.state & !BUSY, since);
        busy
    }

    /// The medium is busy from now on.
    #[inline]
    fn note_busy(&mut self, now: Time) {
        self.used.nav_only += self.reserved(self.since, now);
        (self.state, self.since) = (self.state | BUSY, now);
    }

    /// Drops a NAV that may be reset because nothing has followed its RTS (9.3.2.4).
    #[inline]
    pub(super) fn expire_nav(&mut self, now: Time, stack: &mut Stack) {
        if self.nav_reset <= now {
            self.cut_nav(stack);
        }
    }

    #[inline(never)]
    fn cut_nav(&mut self, stack: &mut Stack) {
        let reset = std::mem::replace(&mut self.nav_reset, Time::NEVER);
        if reset < self.nav {
            self.nav = reset;
            self.report(stack, || LinkEvent::NavReset(reset));
        }
    }

    /// A frame for another station was decoded: the NAV (9.3.2.4).
    #[inline]
    pub(super) fn set_nav_by(&mut self, ctx: &mut Context, frame: &Frame) {
        if frame.duration > Span::ZERO && self.set_nav(ctx, ctx.now + frame.duration) {
            self.nav_reset = nav_reset(frame, ctx.timing, ctx.now);
        }
    }

    /// Sets the NAV, if that makes it longer.
    #[inline]
    pub(super) fn set_nav(&mut self, ctx: &mut Context, until: Time) -> bool {
        let lengthens = self.lengthen_nav(until);
        if lengthens {
            let set = Interval { start: ctx.now, end: until };
            self.report(ctx.stack, || LinkEvent::NavSet(set));
        }
        lengthens
    }

    #[inline]
    fn lengthen_nav(&mut self, until: Time) -> bool {
        debug_assert!(self.is_busy(), "the NAV is set by frames, so the medium is busy");
        let before = self.nav;
        self.nav = before.max(until);
        until > before
    }

    /// A correct frame ended: EIFS is over.
    #[inline]
    pub(super) fn after_correct(&mut self) {
        if self.state & WAITS_LONGER != 0 {
            self.station.eifs_until = Time::ZERO;
            self.state &= !WAITS_LONGER;
        }
    }

    /// A signal ended that was not decoded, or not received at all. One that was not recognized as a frame
    /// ns-2 treats as a frame that could not be decoded.
    #[inline]
    pub(super) fn on_fcs_error(&mut self, ctx: &mut Context, reception: Reception) {
        match reception {
            Reception::FcsError => self.after_fcs_error(ctx),
            Reception::Noise if ctx.timing.rules.eifs == EifsRule::AsNav => self.after_fcs_error(ctx),
            _ => {}
        }
    }

    /// A frame that could not be decoded ended (9.3.2.3.7).
    #[inline]
    fn after_fcs_error(&mut self, ctx: &mut Context) {
        match ctx.timing.rules.eifs {
            EifsRule::UntilCorrectFrame => self.wait_longer(ctx.now + (ctx.timing.eifs - ctx.timing.difs)),
            EifsRule::AsNav => {
                self.set_nav(ctx, ctx.now + ctx.timing.eifs);
            }
            EifsRule::Never => {}
        }
    }

    /// The inter-frame space begins then at the earliest, unless a correct frame ends before.
    pub(super) fn wait_longer(&mut self, until: Time) {
        self.station.eifs_until = until;
        self.state |= WAITS_LONGER;
    }
}

/// When the NAV that a frame sets may be reset, if ever.
#[inline]
fn nav_reset(frame: &Frame, timing: &Timing, now: Time) -> Time {
    let may_reset = timing.rules.nav_reset_after_rts && frame.kind == FrameKind::Rts;
    if may_reset { now + timing.on(frame.rates).nav_reset } else { Time::NEVER }
}
