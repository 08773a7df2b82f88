//! The distributed coordination function of one station (IEEE 802.11-2012, clause 9.3), under a
//! [`DcfRules`](multihop_dot11::DcfRules) value.
//!
//! * `contention`: when the station may transmit: IFS, NAV, back-off.
//! * `outgoing`: the frame that it wants to get across.
//! * `originator`: getting its own frame across: RTS, CTS, DATA, ACK, retries.
//! * `recipient`: what it does with frames of others: NAV, CTS, ACK, duplicates.
//! * `rate_control`: at which rate it sends DATA, where it may choose.
//! * `aggregation`: A-MPDUs and block acknowledgements in place of single frames and ACKs, where the station
//!   has them.
//! * `edca`: four functions that contend instead of one, each for an access category, where the station has
//!   them.
//! * `hardware`: what was taken from the interface queue and waits below it, where hardware has a queue.
//! * `timing` and `link_timing`: the numbers that all stations share, and those of a link.
//! * `txop`: several exchanges in a row of one of these.
//!
//! One timer serves all of them, because a station waits for one thing at a time: while it owes or awaits a
//! response, no back-off runs. [`Phase`] says what the timer is for.

mod access;
mod aggregation;
mod contention;
mod edca;
mod hardware;
mod link_timing;
mod originator;
mod outgoing;
mod rate_control;
mod recipient;
mod timing;
mod txop;

#[cfg(test)]
mod tests;

pub use aggregation::Fullest;
pub use timing::Timing;

use crate::agenda::{Agenda, Lane, Slot};
use crate::medium::{Frame, Loads, Radio, RateSet};
use crate::record::Recorder;
use crate::slab::{Handle, Slab};
use crate::stack::Stack;
use multihop_core::{FrameKind, Interval, LinkEvent, NodeId, Rng, Span, Time};
use multihop_dot11::AccessCategory;
use outgoing::{Cargo, Outgoing, Try};

/// What the station is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Nothing is owed or awaited: the back-off may run. Timer: access, or a NAV that may be reset.
    Contending,
    /// Its RTS is on the air, or it waits for the CTS. Timer: the CTS is overdue.
    AwaitingCts,
    /// The CTS came; DATA follows after SIFS. Timer: SIFS.
    DataDue,
    /// Its DATA is on the air, or it waits for the ACK. Timer: the ACK is overdue.
    AwaitingAck,
    /// Its broadcast is on the air. No timer.
    Broadcasting,
    /// The next frame of its transmission opportunity follows after SIFS. Timer: SIFS.
    NextDue,
    /// It owes a CTS after SIFS. Timer: SIFS.
    CtsDue(Answered),
    /// Its CTS is on the air; under ns-2's rules it then waits for the DATA. Timer: the DATA is overdue.
    CtsSent,
    /// It owes an ACK after SIFS. Timer: SIFS.
    AckDue(Answered),
    /// It owes a block acknowledgement after SIFS, about MPDUs of this traffic identifier. Timer: SIFS.
    BlockAckDue { answered: Answered, tid: u8 },
    /// It returns the rest of its transmission opportunity after SIFS. Timer: SIFS.
    CfEndDue,
    /// Its ACK, block acknowledgement or CF-End is on the air. No timer.
    ControlSent,
}

/// The frame that a response is owed for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Answered {
    /// Its sender.
    to: NodeId,
    rates: RateSet,
    sequence: u32,
    /// What the response is to say in its duration field.
    duration: Span,
}

impl Answered {
    fn of(frame: &Frame, duration: Span) -> Answered {
        Answered { to: frame.from, rates: frame.rates, sequence: frame.sequence, duration }
    }
}

/// How a station came to send a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Which try of an RTS, or of unicast DATA, it is, from 1.
    pub tries: u32,
    /// Slots that were counted down before it, if it begins an exchange.
    pub slots: u32,
    /// Since when what it is about was at the head of the line, if it begins an exchange.
    pub since: Option<Time>,
    /// The packet that an RTS is sent for.
    pub packet: Option<Handle>,
}

/// What contends for the medium: the DCF, or one of the EDCAFs of a station (802.11-2016, 10.22.2.1).
#[derive(Clone, Debug)]
#[repr(C)]
struct Function {
    /// Slots to go, if a back-off is pending.
    backoff: Option<u32>,
    /// Since when slots count, while they do.
    counting: Option<Time>,
    /// `drawn` is false for the zero of an immediate access.
    drawn: bool,
    category: AccessCategory,
    cw: u32,
    sequence: u32,
    current: Option<Outgoing>,
    attempt: Try,
}

impl Function {
    /// One with nothing to send.
    fn new(category: AccessCategory, cw: u32) -> Function {
        Function {
            drawn: false,
            category,
            cw,
            backoff: None,
            counting: None,
            sequence: 0,
            current: None,
            attempt: Try::default(),
        }
    }
}

/// A station's MAC. In the order in which it is used: what a frame of others changes comes first, in two
/// cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Mac {
    id: NodeId,
    timer: Slot,
    /// Physically busy, own transmissions included; since when it is so, or is not.
    busy: bool,
    /// The response is overdue, but a frame is being received: its end decides.
    receiving_at_timeout: bool,
    /// What the stack says of itself ([`Stack::observes`], [`Stack::watches`]), so that most frames of others
    /// leave it alone.
    observed: bool,
    watched: bool,
    /// Where it lies, and its counters of the medium.
    row: u32,
    busy_since: Time,
    idle_since: Time,
    nav: Time,
    /// When the NAV may be reset, if no frame begins before.
    nav_reset: Option<Time>,
    /// EIFS less DIFS after the last frame that could not be decoded, unless a correct one followed; under
    /// EDCA also the end of the last wait for a response that did not come.
    eifs_until: Time,
    /// The other functions, besides `function`; none under the DCF.
    edca: Option<Box<edca::Edca>>,
    phase: Phase,
    /// What contends, and exchanges its frames; of several the one whose exchange is the last that began.
    function: Function,
    /// None where the MAC takes packets from the interface queue.
    hardware: Option<Box<hardware::Hardware>>,
    air: Slot,
    frame: Option<Frame>,
    rng: Rng,
    /// Sequence number of the last DATA frame from each neighbour, by traffic identifier (9.3.2.10;
    /// 802.11-2016, 10.3.2.11.2).
    heard_last: Vec<(NodeId, u8, u32)>,
    /// None without aggregation.
    agreements: Option<Box<aggregation::Agreements>>,
    /// None where rates are fixed.
    rates: Option<Box<rate_control::Rates>>,
}

const _: () = assert!(
    std::mem::offset_of!(Mac, function) + std::mem::offset_of!(Function, drawn) <= 128,
    "what frames of others change is in two cache lines"
);

/// What a MAC may touch while it handles an event: its own node's things and the run's shared counters.
pub struct Context<'a> {
    pub now: Time,
    pub agenda: &'a mut Agenda,
    pub timing: &'a Timing,
    pub packets: &'a mut Slab,
    pub loads: &'a mut Loads,
    pub radio: &'a mut Radio,
    pub stack: &'a mut Stack,
    pub record: &'a mut Recorder,
}

/// What a station sends when its timer goes off.
#[derive(Clone, Copy, Debug)]
pub enum NextSent {
    /// Nothing.
    Nothing,
    /// This packet, in DATA of this airtime, perhaps after RTS and CTS.
    Packet {
        /// The packet.
        packet: Handle,
        /// The next hop; none of a broadcast.
        to: Option<NodeId>,
        /// Airtime of the frame.
        data: Span,
    },
    /// Something that takes at least this until a packet can be at its destination.
    Unknown(Span),
}

impl Mac {
    /// An idle station. `timer` and `air` are its slots of the agenda.
    pub fn new(id: NodeId, timer: Slot, air: Slot, timing: &Timing, rng: Rng) -> Mac {
        Mac {
            id,
            timer,
            air,
            rng,
            phase: Phase::Contending,
            busy: false,
            busy_since: Time::ZERO,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            nav_reset: None,
            eifs_until: Time::ZERO,
            function: Function::new(AccessCategory::BestEffort, timing.best_effort().cw_min),
            edca: None,
            receiving_at_timeout: false,
            observed: false,
            watched: false,
            row: id.0,
            frame: None,
            heard_last: Vec::new(),
            agreements: None,
            rates: None,
            hardware: None,
        }
    }

    /// What lies above is complete, and says which policies and logs listen; the station lies in this row.
    pub fn join(&mut self, stack: &Stack, row: u32) {
        (self.observed, self.watched, self.row) = (stack.observes(), stack.watches(), row);
    }

    /// Whose it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The frame that it has on the air.
    ///
    /// # Panics
    /// If it has none.
    pub fn on_air(&self) -> Frame {
        self.frame.expect("the air slot fires only for a frame on the air")
    }

    /// Something of each cache line that a frame of others changes.
    pub fn peek(&self) -> u64 {
        self.nav.ns() ^ u64::from(self.function.backoff.unwrap_or(0))
    }

    /// Until when its NAV is set.
    pub fn nav(&self) -> Time {
        self.nav
    }

    /// How it came to send this frame of its own, which begins now.
    pub fn access(&self, frame: &Frame) -> Access {
        let Some(out) =
            self.function.current.as_ref().filter(|_| {
                matches!(frame.kind, FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckRequest)
            })
        else {
            return Access::default();
        };
        let first = frame.kind == FrameKind::Rts || self.function.attempt.rts.is_none();
        let tries = if frame.kind == FrameKind::Rts { out.rts_tries } else { out.data_tries };
        Access {
            tries: if frame.to.is_some() { tries } else { 0 },
            slots: if first { self.function.attempt.slots } else { 0 },
            since: first.then_some(out.head_of_line),
            packet: match out.cargo {
                Cargo::Packet(handle) => Some(handle),
                Cargo::Block { .. } | Cargo::Request { .. } => None,
            },
        }
    }

    /// Counts the period, busy or idle, that the end of the run cuts off.
    pub fn close(&self, radio: &Radio, record: &mut Recorder, now: Time) {
        let [busy, reserved] = self.unusable(radio, now);
        record.busy(self.row, busy);
        record.reserved(self.row, reserved);
    }

    /// When the station could not use the medium since the last change that was booked: while it was busy,
    /// and then while the NAV was set. The own frame may still be on its way, which keeps the station
    /// waiting, but not the medium busy.
    pub fn unusable(&self, radio: &Radio, now: Time) -> [Interval; 2] {
        if !self.busy {
            return [Interval { start: now, end: now }, self.reserved(self.idle_since, now)];
        }
        let end = if radio.is_quiet(now) { radio.quiet_since() } else { now };
        [Interval { start: self.busy_since, end }, self.reserved(end, now)]
    }

    /// While the NAV was set from here to now; it may be over before it begins.
    fn reserved(&self, from: Time, now: Time) -> Interval {
        let nav = self.nav_reset.map_or(self.nav, |reset| self.nav.min(reset));
        Interval { start: from, end: nav.min(now) }
    }

    /// Has it something to do, but no timer and no signal that it waits for? Then it would be silent for
    /// ever.
    pub fn is_stuck(&self, agenda: &Agenda) -> bool {
        self.functions().any(|function| function.current.is_some())
            && !self.busy
            && !agenda.is_armed(self.timer)
    }

    /// Does it hold a packet?
    #[cfg(test)]
    pub fn holds_packet(&self) -> bool {
        self.function.current.is_some()
    }

    /// What the timer sends; the shortest DATA frame takes `shortest`.
    pub fn next_sent(&self, timing: &Timing, shortest: Span) -> NextSent {
        // With several functions, or a choice of rates, what is sent is decided then.
        let is_decided = self.edca.is_none() && self.rates.is_none();
        match self.phase {
            Phase::Contending | Phase::DataDue if is_decided => match self.function.current {
                Some(Outgoing { cargo: Cargo::Packet(packet), peer: to, data, .. }) => {
                    NextSent::Packet { packet, to, data }
                }
                Some(_) => NextSent::Unknown(shortest),
                // A back-off after a frame, with nothing to send.
                None => NextSent::Nothing,
            },
            Phase::CtsDue { .. } | Phase::AckDue { .. } | Phase::BlockAckDue { .. } => {
                NextSent::Unknown(timing.shortest_answer() + timing.sifs + shortest)
            }
            _ => NextSent::Unknown(shortest),
        }
    }

    /// Will its timer leave all above as it is? A frame follows after SIFS, or the DATA did not come, and no
    /// policy or estimator observes the link.
    #[inline]
    pub fn answers_by_itself(&self) -> bool {
        let by_itself =
            matches!(self.phase, Phase::DataDue | Phase::CtsDue(_) | Phase::CtsSent | Phase::AckDue(_));
        by_itself && !self.observed && self.agreements.is_none()
    }

    /// Will the end of its own frame leave all above as it is? Only a broadcast's life ends by it.
    #[inline]
    pub fn sends_by_itself(&self) -> bool {
        !matches!(self.phase, Phase::Broadcasting) && !self.observed
    }

    /// The timer went off.
    pub fn on_timer(&mut self, ctx: &mut Context) {
        match self.phase {
            Phase::Contending => self.on_access(ctx),
            Phase::AwaitingCts | Phase::AwaitingAck => self.on_response_overdue(ctx),
            Phase::DataDue => self.send_data_after_cts(ctx),
            Phase::NextDue => self.begin_exchange(ctx),
            Phase::CfEndDue => self.send_cf_end(ctx),
            Phase::CtsDue(answered) => self.send_cts(ctx, answered),
            Phase::AckDue(answered) => self.send_ack(ctx, answered),
            Phase::BlockAckDue { answered, tid } => self.send_block_ack(ctx, answered, tid),
            Phase::CtsSent => self.rest(ctx),
            Phase::Broadcasting | Phase::ControlSent => unreachable!("no timer runs in {:?}", self.phase),
        }
    }

    /// The medium turns busy: a signal began while there was none, though the station's own may still have
    /// been on its way.
    #[expect(clippy::inline_always, reason = "a call for each listener is 5 % of a grid")]
    #[inline(always)]
    pub fn on_busy(&mut self, ctx: &mut Context) {
        if self.busy {
            self.turn_idle(ctx);
        }
        self.hold_back(ctx);
        let may_transmit = ctx.timing.rules.cca_time > Span::ZERO;
        debug_assert!(self.phase != Phase::Contending || may_transmit || !ctx.agenda.is_armed(self.timer));
        self.turn_busy(ctx);
    }

    /// The medium is idle again.
    #[inline]
    pub fn on_idle(&mut self, ctx: &mut Context) {
        self.turn_idle(ctx);
        self.contend(ctx);
    }

    /// Its radio was switched off, which it finds busy from now on.
    pub fn on_switched_off(&mut self, ctx: &mut Context) {
        self.fail_if_late(ctx); // what it listened to beyond the deadline will not be the awaited response
    }

    /// Takes the frame that it has on the air off it.
    ///
    /// # Panics
    /// If it has none.
    #[inline]
    pub fn take_off_air(&mut self) -> Frame {
        self.frame.take().expect("the air slot fires only for a frame on the air")
    }

    /// Its own transmission is over at the listeners; it is off the air.
    pub fn on_sent(&mut self, ctx: &mut Context, frame: &Frame) {
        ctx.radio.stop();
        let packet = frame.packet.map(|handle| &ctx.packets.get(handle).packet);
        let air = frame.air_at_sender(ctx.timing.propagation);
        ctx.record.transmitted(self.id, frame, air, packet, ctx.now);
        if self.edca.is_some()
            && matches!(self.phase, Phase::AwaitingCts | Phase::AwaitingAck | Phase::Broadcasting)
        {
            ctx.record.transmitted_by(self.id, self.function.category, air, ctx.now);
        }
        if frame.kind == FrameKind::CfEnd {
            self.report(ctx.stack, || LinkEvent::NavReset(ctx.now)); // of what answers to it had reserved
        }
        match self.phase {
            Phase::ControlSent => self.phase = Phase::Contending,
            Phase::CtsSent if !ctx.timing.rules.data_needs_own_cts => self.phase = Phase::Contending,
            Phase::Broadcasting => self.finish(ctx, multihop_core::Fate::Broadcast),
            _ => {}
        }
    }

    /// Puts a frame on the air.
    fn transmit(&mut self, ctx: &mut Context, frame: Frame) {
        debug_assert!(self.function.counting.is_none() && self.frame.is_none());
        if !self.busy {
            self.turn_busy(ctx);
        }
        ctx.radio.transmit(ctx.now + frame.airtime());
        ctx.agenda.arm(self.air, frame.air.start, Lane::AirStart);
        self.frame = Some(frame);
    }

    #[inline]
    fn turn_idle(&mut self, ctx: &mut Context) {
        debug_assert!(self.busy);
        let since = ctx.radio.quiet_since();
        self.busy = false;
        self.idle_since = since;
        let busy = Interval { start: self.busy_since, end: since };
        ctx.record.busy(self.row, busy);
        self.report(ctx.stack, || LinkEvent::Busy(busy));
    }

    #[inline]
    fn turn_busy(&mut self, ctx: &mut Context) {
        if self.nav > self.idle_since {
            let reserved = self.reserved(self.idle_since, ctx.now);
            if reserved.end > reserved.start {
                ctx.record.reserved(self.row, reserved);
            }
        }
        self.busy = true;
        self.busy_since = ctx.now;
        self.report(ctx.stack, || LinkEvent::BusyFrom(ctx.now));
    }

    /// Reports the event to what observes the link above, if anything does.
    #[inline]
    fn report(&self, stack: &mut Stack, event: impl FnOnce() -> LinkEvent) {
        if self.observed {
            stack.on_link(&event());
        }
    }

    fn arm(&self, ctx: &mut Context, at: Time) {
        ctx.agenda.arm(self.timer, at, Lane::Mac);
    }

    /// Back to contending; the medium may be idle already.
    fn rest(&mut self, ctx: &mut Context) {
        self.phase = Phase::Contending;
        self.contend(ctx);
    }
}
