//! Carrier sense of a station, physical and virtual (9.3.2.1).
//!
//! For most stations around a sender a frame only makes the medium busy and sets the NAV.
//! [`Mac::sense_begin`] and [`Mac::sense_end`] do this with few comparisons, unless the medium is observed.
//! [`Mac::on_busy`] and `recipient` handle every other station.

use super::{Context, Mac, Timing};
use crate::medium::{Frame, Radio, Reception};
use crate::record::MediumUse;
use crate::stack::Stack;
use multihop_core::{FrameKind, Interval, LinkEvent, Span, Time};
use multihop_dot11::EifsRule;

/// Flag: the medium is physically busy, own transmissions included.
const BUSY: u8 = 1;
/// Flag: frames of other stations may change more than carrier sense, because a back-off is pending, a
/// response is overdue, or the stack watches overheard frames. [`Mac::update_slow_path`] sets it.
const NEEDS_SLOW_PATH: u8 = 2;
/// Flag: the stack observes the medium ([`Stack::senses`]).
const SENSED: u8 = 4;
/// Flag: [`super::StationState::eifs_until`] may delay the inter-frame space.
const DELAYS_IFS: u8 = 8;
/// Flag: every frame of other stations changes more than carrier sense and back-off, because a response is
/// overdue, or the stack watches overheard frames. Set together with `NEEDS_SLOW_PATH`.
const NEEDS_EVERY_FRAME: u8 = 16;
/// Flag: the stack observes the station's own exchanges ([`Stack::observes`]).
const OBSERVED: u8 = 32;

/// Times until which the end of a frame sets the NAV of stations that are not its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    /// NAV of a station that decodes the frame; [`Time::ZERO`] if the duration field is zero.
    decoded: Time,
    /// NAV of a station that cannot decode the frame.
    bad: Time,
    /// Time of the NAV reset at a station that decodes the frame.
    reset: Time,
}

impl Reservation {
    /// Reservation of a frame that ends now.
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
    /// Reads from the complete stack whether policies, estimators or logs observe the link.
    pub fn join(&mut self, stack: &Stack) {
        self.station.watched = stack.watches();
        self.state = self.state & !(OBSERVED | SENSED)
            | (u8::from(stack.observes()) * OBSERVED)
            | (u8::from(stack.senses()) * SENSED);
        self.update_slow_path();
    }

    /// Updates the flags of the slow path. Must be called after every action of the station itself.
    #[inline]
    pub fn update_slow_path(&mut self) {
        self.state = self.state & !(NEEDS_SLOW_PATH | NEEDS_EVERY_FRAME) | self.slow_path_bits();
    }

    /// `NEEDS_SLOW_PATH` and `NEEDS_EVERY_FRAME`, as they should be.
    #[inline]
    fn slow_path_bits(&self) -> u8 {
        let own = &*self.station;
        let contends =
            own.function.backoff.is_some() || own.edca.as_ref().is_some_and(|edca| edca.has_backoff());
        let concerned = own.receiving_at_timeout | own.watched;
        (u8::from(contends | concerned) * NEEDS_SLOW_PATH) | (u8::from(concerned) * NEEDS_EVERY_FRAME)
    }

    /// Whether the station senses a busy medium.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.state & BUSY != 0
    }

    /// Whether a policy, estimator or log observes the station's own exchanges.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.state & OBSERVED != 0
    }

    /// Whether a policy, estimator or log observes the medium.
    #[inline]
    pub(super) fn is_sensed(&self) -> bool {
        self.state & SENSED != 0
    }

    /// A value of the cache line that frames of other stations change, to be fetched in advance.
    pub fn peek(&self) -> u64 {
        self.nav.ns()
    }

    /// Time until which the NAV is set.
    pub fn nav(&self) -> Time {
        self.nav
    }

    /// Returns two times up to now: of the busy medium, and of the idle medium while the NAV is set. An own
    /// frame counts as busy until its last bit is sent.
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

    /// Time between `from` and `now` for which the NAV was set.
    fn reserved(&self, from: Time, now: Time) -> Span {
        self.nav.min(self.nav_reset).min(now).since(from)
    }

    /// A frame of another station begins while the medium is idle.
    ///
    /// Returns whether a NAV reset was pending. If the station [needs it](Mac::needs_slow_path), the caller
    /// then calls [`Mac::freeze_backoff`]. Returns none and does nothing if an own frame is still on its way
    /// or the medium is observed.
    #[expect(clippy::inline_always, reason = "a call for each listener is 5 % of a grid")]
    #[inline(always)]
    pub fn sense_begin(&mut self, now: Time) -> Option<bool> {
        if self.state & (BUSY | SENSED) != 0 {
            return None;
        }
        let reset = std::mem::replace(&mut self.nav_reset, Time::NEVER);
        if reset <= now {
            self.nav = self.nav.min(reset);
        }
        self.note_busy(now);
        Some(reset < Time::NEVER && reset > now)
    }

    /// Whether the end of a frame changes carrier sense alone. `decodes`: whether the station decodes it.
    #[inline]
    pub fn only_senses(&self, frame: &Frame, decodes: bool) -> bool {
        (self.state & !(NEEDS_SLOW_PATH | OBSERVED) == BUSY)
            & !(decodes & frame.to.is_none_or(|to| to == self.id))
    }

    /// Applies the end of a frame to carrier sense. If the station [needs it](Mac::needs_slow_path), the
    /// caller then calls [`Mac::contend`].
    #[inline]
    pub fn sense_end(&mut self, reserves: &Reservation, decoded: bool, now: Time) {
        let until = if decoded { reserves.decoded } else { reserves.bad };
        let resets = self.lengthen_nav(until) & decoded;
        self.nav_reset = if resets { reserves.reset } else { self.nav_reset };
        self.note_idle(now);
    }

    /// Whether frames for other stations may change more than carrier sense.
    #[inline]
    pub fn needs_slow_path(&self) -> bool {
        debug_assert!(
            self.state & NEEDS_SLOW_PATH >= self.slow_path_bits() & NEEDS_SLOW_PATH,
            "the flag is up to date"
        );
        self.state & NEEDS_SLOW_PATH != 0
    }

    /// Whether every frame of other stations changes more than carrier sense and back-off.
    #[inline]
    pub(super) fn needs_every_frame(&self) -> bool {
        debug_assert!(
            self.state & NEEDS_EVERY_FRAME == self.slow_path_bits() & NEEDS_EVERY_FRAME,
            "the flag is up to date"
        );
        self.state & NEEDS_EVERY_FRAME != 0
    }

    /// A signal began while no other was on the air. An own frame may still be on its way.
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

    /// The medium turned idle.
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

    /// Records an idle medium from `since` on. Returns the busy interval before.
    #[inline]
    fn note_idle(&mut self, since: Time) -> Interval {
        debug_assert!(self.is_busy());
        let busy = Interval { start: self.since, end: since };
        self.used.busy += busy.length();
        (self.state, self.since) = (self.state & !BUSY, since);
        busy
    }

    /// Records a busy medium from now on.
    #[inline]
    fn note_busy(&mut self, now: Time) {
        self.used.nav_only += self.reserved(self.since, now);
        (self.state, self.since) = (self.state | BUSY, now);
    }

    /// Resets the NAV if no frame followed the RTS that set it (9.3.2.4).
    #[inline]
    pub(super) fn expire_nav(&mut self, now: Time, stack: &mut Stack) {
        if self.nav_reset <= now {
            self.reset_nav(stack);
        }
    }

    #[inline(never)]
    fn reset_nav(&mut self, stack: &mut Stack) {
        let reset = std::mem::replace(&mut self.nav_reset, Time::NEVER);
        if reset < self.nav {
            self.nav = reset;
            self.report(stack, || LinkEvent::NavReset(reset));
        }
    }

    /// Sets the NAV by a decoded frame for another station (9.3.2.4).
    #[inline]
    pub(super) fn set_nav_by(&mut self, ctx: &mut Context, frame: &Frame) {
        if frame.duration > Span::ZERO && self.set_nav(ctx, ctx.now + frame.duration) {
            self.nav_reset = nav_reset(frame, ctx.timing, ctx.now);
        }
    }

    /// Sets the NAV until a time if that is later. Returns whether it was.
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

    /// A correct frame ended, which ends EIFS.
    #[inline]
    pub(super) fn end_eifs(&mut self) {
        if self.state & DELAYS_IFS != 0 {
            self.station.eifs_until = Time::ZERO;
            self.state &= !DELAYS_IFS;
        }
    }

    /// Starts EIFS after a frame with an FCS error. By the rules of ns-2, EIFS also follows a signal in which
    /// the radio detected no frame.
    #[inline]
    pub(super) fn on_fcs_error(&mut self, ctx: &mut Context, reception: Reception) {
        match reception {
            Reception::FcsError => self.after_fcs_error(ctx),
            Reception::Noise if ctx.timing.rules.eifs == EifsRule::AsNav => self.after_fcs_error(ctx),
            _ => {}
        }
    }

    /// A frame with an FCS error ended: the station waits EIFS (9.3.2.3.7).
    #[inline]
    fn after_fcs_error(&mut self, ctx: &mut Context) {
        match ctx.timing.rules.eifs {
            EifsRule::UntilCorrectFrame => self.delay_ifs(ctx.now + (ctx.timing.eifs - ctx.timing.difs)),
            EifsRule::AsNav => {
                self.set_nav(ctx, ctx.now + ctx.timing.eifs);
            }
            EifsRule::Never => {}
        }
    }

    /// Delays the inter-frame space until a time, unless a correct frame ends before.
    pub(super) fn delay_ifs(&mut self, until: Time) {
        self.station.eifs_until = until;
        self.state |= DELAYS_IFS;
    }
}

/// Time at which the NAV that a frame sets is reset; [`Time::NEVER`] for no reset.
#[inline]
fn nav_reset(frame: &Frame, timing: &Timing, now: Time) -> Time {
    let may_reset = timing.rules.nav_reset_after_rts && frame.kind == FrameKind::Rts;
    if may_reset { now + timing.on(frame.rates).nav_reset } else { Time::NEVER }
}
