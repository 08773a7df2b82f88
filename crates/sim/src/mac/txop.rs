//! Transmission opportunities of several exchanges (802.11-2016, 10.22.2.7 and 10.22.2.8).
//!
//! After an exchange that succeeded, the function that won the opportunity goes on SIFS later, as long as the
//! next frame and its answer end within the limit. A failure ends it. Under single protection (9.2.5.2)
//! duration fields cover their own exchange and, where another packet waits and would fit, the next one,
//! which is taken to be as long. Under multiple protection they cover all that is left of the limit, and a
//! CF-End returns what is not used.

use super::phase::Event;
use super::{Context, Mac, OutgoingFrame};
use crate::config::Protection;
use crate::medium::RateSet;
use multihop_core::{FrameKind, LinkEvent, Span, Time};

impl Mac {
    /// The function in service has won an opportunity.
    pub(super) fn begin_txop(&mut self, ctx: &Context) {
        let limit = ctx.timing.access(self.station.function.category).txop_limit;
        if let Some(edca) = &mut self.station.edca {
            edca.txop_end = (limit > Span::ZERO).then(|| ctx.now + limit);
        }
    }

    /// When the opportunity is over, if it has a limit.
    #[inline]
    pub(super) fn txop_end(&self) -> Option<Time> {
        self.station.edca.as_ref()?.txop_end
    }

    /// An exchange succeeded: takes the next frame, and has it follow at once if it fits into the
    /// opportunity.
    pub(super) fn continue_txop(&mut self, ctx: &mut Context) -> bool {
        let Some(end) = self.txop_end() else { return false };
        if !self.dequeue_next(ctx) {
            return false;
        }
        let out = self.station.function.current.as_ref().expect("it was just taken");
        let fits =
            out.extra_slots == 0 && ctx.now + ctx.timing.sifs + self.shortest_exchange(ctx, out) <= end;
        if fits {
            self.station.function.backoff = None;
            self.station.phase.change(Event::TxopContinued);
            self.arm(ctx, ctx.now + ctx.timing.sifs);
        }
        fits
    }

    /// Is more reserved than was used, and is there time to say so?
    pub(super) fn returns_txop(&self, ctx: &Context) -> bool {
        ctx.timing.protection == Protection::Multiple
            && self.txop_end().is_some_and(|end| ctx.now + ctx.timing.sifs + ctx.timing.cf_end() < end)
    }

    /// SIFS after the last exchange of an opportunity (802.11-2020, 10.23.2.10).
    pub(super) fn send_cf_end(&mut self, ctx: &mut Context) {
        let sequence = self.station.function.sequence;
        let own = [self.id, self.id];
        let kind = FrameKind::CfEnd;
        let frame = ctx.timing.control_frame(kind, own, RateSet::NOMINAL, sequence, Span::ZERO, ctx.now);
        self.station.phase.change(Event::CfEndSent);
        self.transmit(ctx, frame);
    }

    /// A CF-End: nothing is reserved any more, by frames to this station neither, which set no NAV here.
    pub(super) fn on_cf_end(&mut self, ctx: &mut Context) {
        self.nav_reset = Time::NEVER;
        self.nav = self.nav.min(ctx.now);
        self.report(ctx.stack, || LinkEvent::NavReset(ctx.now));
    }

    /// How long the exchange of a frame takes; of MPDUs, which are put together later, that of the first.
    fn shortest_exchange(&self, ctx: &Context, out: &OutgoingFrame) -> Span {
        if out.peer.is_none() {
            return out.protection(ctx.timing.on(out.rates)) + out.airtime;
        }
        let (data, answer, with_rts) = match out.payload.window() {
            Some(window) => self.shortest_of_window(ctx, out, window),
            None => (out.airtime, ctx.timing.on(out.rates).ack, out.with_rts),
        };
        ctx.timing.exchange_with(out.rates, data, answer, with_rts)
    }

    /// What the duration fields of an exchange cover besides it, which takes so long from now on.
    #[inline]
    pub(super) fn txop_reservation(&self, ctx: &Context, out: &OutgoingFrame, rest: Span) -> Span {
        self.txop_end().map_or(Span::ZERO, |end| match ctx.timing.protection {
            Protection::Single => self.reservation_until(end, ctx, out, rest),
            Protection::Multiple => ctx.timing.rules.duration_field.apply(end.since(ctx.now + rest)),
        })
    }

    #[inline(never)]
    fn reservation_until(&self, end: Time, ctx: &Context, out: &OutgoingFrame, rest: Span) -> Span {
        if out.peer.is_none()
            || out.is_request()
            || !self.has_supply(ctx.stack, self.station.function.category)
        {
            return Span::ZERO;
        }
        let (answer, _) = out.response(ctx.timing.on(out.rates));
        let next = ctx.timing.sifs + ctx.timing.exchange_with(out.rates, out.airtime, answer, out.with_rts);
        if ctx.now + rest + next <= end { ctx.timing.rules.duration_field.apply(next) } else { Span::ZERO }
    }
}
