//! Transmission opportunities (TXOP) of several exchanges (802.11-2016, 10.22.2.7 and 10.22.2.8).
//!
//! After a successful exchange the next one follows SIFS later, if it ends within the TXOP limit. A failure
//! ends the TXOP. Duration fields depend on the protection (9.2.5.2):
//!
//! - Single protection covers the exchange itself. If another packet waits and fits, it also covers the next
//!   exchange, which is assumed to be as long.
//! - Multiple protection covers the rest of the TXOP. A CF-End returns the time that is not used.

use super::phase::MacEvent;
use super::{Context, Mac, OutgoingFrame};
use crate::config::Protection;
use crate::medium::RateSet;
use multihop_core::{FrameKind, LinkEvent, Span, Time};

impl Mac {
    /// Begins the TXOP of the selected function.
    pub(super) fn begin_txop(&mut self, ctx: &Context) {
        let limit = ctx.timing.access(self.station.function.category).txop_limit;
        if let Some(edca) = &mut self.station.edca {
            edca.txop_end = (limit > Span::ZERO).then(|| ctx.now + limit);
        }
    }

    /// End of the TXOP, if it has a limit.
    #[inline]
    pub(super) fn txop_end(&self) -> Option<Time> {
        self.station.edca.as_ref()?.txop_end
    }

    /// After a successful exchange: dequeues the next frame, which follows after SIFS if it fits into the
    /// TXOP. Returns whether it does.
    pub(super) fn continue_txop(&mut self, ctx: &mut Context) -> bool {
        let Some(end) = self.txop_end() else { return false };
        if !self.dequeue_next(ctx) {
            return false;
        }
        let out = self.outgoing();
        let fits =
            out.extra_slots == 0 && ctx.now + ctx.timing.sifs + self.shortest_exchange(ctx, out) <= end;
        if fits {
            self.station.function.backoff = None;
            self.station.phase.change(MacEvent::TxopContinued);
            self.arm(ctx, ctx.now + ctx.timing.sifs);
        }
        fits
    }

    /// Whether a CF-End returns the rest of the TXOP, and ends before it.
    pub(super) fn returns_txop(&self, ctx: &Context) -> bool {
        ctx.timing.protection == Protection::Multiple
            && self.txop_end().is_some_and(|end| ctx.now + ctx.timing.sifs + ctx.timing.cf_end() < end)
    }

    /// Sends a CF-End SIFS after the last exchange of the TXOP (802.11-2020, 10.23.2.10).
    pub(super) fn send_cf_end(&mut self, ctx: &mut Context) {
        let sequence = self.station.function.sequence;
        let between = [self.id, self.id];
        let kind = FrameKind::CfEnd;
        let frame = ctx.timing.control_frame(kind, between, RateSet::NOMINAL, sequence, Span::ZERO, ctx.now);
        self.station.phase.change(MacEvent::CfEndSent);
        self.transmit(ctx, frame);
    }

    /// A CF-End was decoded: ends every reservation of the medium.
    pub(super) fn on_cf_end(&mut self, ctx: &mut Context) {
        self.nav_reset = Time::NEVER;
        self.nav = self.nav.min(ctx.now);
        self.report(ctx.stack, || LinkEvent::NavReset(ctx.now));
    }

    /// Airtime of the exchange of a frame. For MPDUs, which are assembled later: airtime with the first
    /// alone.
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

    /// Time that the duration fields of an exchange cover beyond it. `rest` is the remaining airtime of the
    /// exchange.
    #[inline]
    pub(super) fn txop_reservation(&self, ctx: &Context, out: &OutgoingFrame, rest: Span) -> Span {
        self.txop_end().map_or(Span::ZERO, |end| match ctx.timing.protection {
            Protection::Single => self.reservation_until(end, ctx, out, rest),
            Protection::Multiple => ctx.timing.rules.duration_field.apply(end.since(ctx.now + rest)),
        })
    }

    /// Reservation under single protection: airtime of the next exchange, if a packet waits and fits before
    /// `end`.
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
