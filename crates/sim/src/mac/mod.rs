//! The distributed coordination function (DCF) of one station (IEEE 802.11-2012, clause 9.3), under a
//! [`DcfRules`](multihop_dot11::DcfRules) value.
//!
//! Read `phase` first: it lists the states of a station and every transition between them.
//!
//! | module | holds |
//! |---|---|
//! | `phase` | states, events and the transition table |
//! | `carrier_sense` | physical and virtual carrier sense: busy medium, NAV, EIFS |
//! | `contention` | inter-frame space and back-off before an exchange |
//! | `originator`, `outgoing` | exchange of the station's own frame: RTS, CTS, DATA, ACK, retries |
//! | `recipient` | responses to frames of other stations: CTS, ACK, duplicate detection |
//! | `rate_control` | choice of the DATA rate |
//! | `aggregation` | A-MPDUs and block acknowledgements |
//! | `edca` | four access categories that contend within one station |
//! | `txop` | several exchanges in one transmission opportunity |
//! | `hardware` | queue of the hardware below the interface queue |
//! | `timing`, `link_timing`, `access_parameters` | numbers that all stations share: of the run, of a link, of a category |

mod access_parameters;
mod aggregation;
mod carrier_sense;
mod contention;
mod edca;
mod hardware;
mod link_timing;
mod originator;
mod outgoing;
mod phase;
mod rate_control;
mod recipient;
mod timing;
mod txop;

#[cfg(test)]
pub(crate) mod tests;

pub use aggregation::Fullest;
pub use carrier_sense::Reservation;
pub use rate_control::candidates;
pub use timing::Timing;

use crate::agenda::{Agenda, Lane, Slot};
use crate::medium::{Frame, Loads, Radio, RateSet};
use crate::record::{MediumUse, Recorder};
use crate::slab::{Handle, Slab};
use crate::stack::Stack;
use multihop_core::{FrameKind, LinkEvent, NodeId, Rng, Span, Time};
use multihop_dot11::AccessCategory;
use outgoing::{FramePayload, OngoingAttempt, OutgoingFrame};
use phase::{Event, Phase};

/// The response that a station owes.
#[derive(Clone, Copy, Debug, Default)]
struct PendingResponse {
    /// Sender of the frame that is answered.
    to: NodeId,
    rates: RateSet,
    sequence: u32,
    /// Duration field of the response.
    duration: Span,
    /// Traffic identifier of a block acknowledgement.
    tid: u8,
}

impl PendingResponse {
    fn new(frame: &Frame, duration: Span) -> PendingResponse {
        PendingResponse { to: frame.from, rates: frame.rates, sequence: frame.sequence, duration, tid: 0 }
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
    /// The packet that an RTS, or a CTS to the station itself, is sent for.
    pub packet: Option<Handle>,
}

/// What contends for the medium: the DCF, or one of the EDCAFs of a station (802.11-2016, 10.22.2.1).
#[derive(Clone, Debug)]
#[repr(C)]
struct Edcaf {
    /// Slots to go, if a back-off is pending.
    backoff: Option<u32>,
    /// Since when slots count, while they do.
    counting: Option<Time>,
    /// `drawn` is false for the zero of an immediate access.
    drawn: bool,
    category: AccessCategory,
    cw: u32,
    sequence: u32,
    current: Option<OutgoingFrame>,
    attempt: OngoingAttempt,
}

impl Edcaf {
    /// One with nothing to send.
    fn new(category: AccessCategory, cw: u32) -> Edcaf {
        Edcaf {
            drawn: false,
            category,
            cw,
            backoff: None,
            counting: None,
            sequence: 0,
            current: None,
            attempt: OngoingAttempt::default(),
        }
    }
}

/// A station's MAC: its carrier sense, physical and virtual, which frames of others change, and behind that
/// what it does itself. With the radio the former is two cache lines of each station around a sender.
#[derive(Clone, Debug)]
pub struct Mac {
    id: NodeId,
    /// `BUSY`, `NEEDS_SLOW_PATH`, `OBSERVED`, `NEEDS_EVERY_FRAME`, `WAITS_LONGER`.
    state: u8,
    /// Since when the medium is busy, or idle.
    since: Time,
    nav: Time,
    /// When the NAV may be reset, if no frame begins before; never, if it may not.
    nav_reset: Time,
    /// For how long it could not use the medium, up to the last change.
    used: MediumUse,
    station: Box<StationState>,
}

const _: () = assert!(size_of::<Mac>() <= 56, "with the radio and the place of the stack two cache lines");

/// What the station does itself. It begins with what goes on when it contends.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct StationState {
    timer: Slot,
    /// The response is overdue, but a frame is being received: its end decides.
    receiving_at_timeout: bool,
    /// What the stack says of itself ([`Stack::watches`]).
    watched: bool,
    /// EIFS less DIFS after the last frame that could not be decoded, unless a correct one followed; under
    /// EDCA also the end of the last wait for a response that did not come.
    eifs_until: Time,
    /// The other functions, besides `function`; none under the DCF.
    edca: Option<Box<edca::Edca>>,
    phase: Phase,
    /// What contends, and exchanges its frames; of several the one whose exchange is the last that began.
    function: Edcaf,
    /// None where the MAC takes packets from the interface queue.
    hardware: Option<Box<hardware::HardwareQueue>>,
    /// The response that is owed, or was owed last.
    pending_response: PendingResponse,
    air: Slot,
    frame: Option<Frame>,
    rng: Rng,
    /// Sequence number of the last DATA frame from each neighbour, by traffic identifier (9.3.2.10;
    /// 802.11-2016, 10.3.2.11.2).
    heard_last: Vec<(NodeId, u8, u32)>,
    /// None without aggregation.
    agreements: Option<Box<aggregation::Agreements>>,
    /// None where rates are fixed.
    rates: Option<Box<rate_control::StationRates>>,
}

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
        let station = StationState {
            timer,
            air,
            rng,
            phase: Phase::Contending,
            eifs_until: Time::ZERO,
            function: Edcaf::new(AccessCategory::BestEffort, timing.best_effort().cw_min),
            edca: None,
            receiving_at_timeout: false,
            watched: false,
            pending_response: PendingResponse::default(),
            frame: None,
            heard_last: Vec::new(),
            agreements: None,
            rates: None,
            hardware: None,
        };
        Mac {
            id,
            state: 0,
            since: Time::ZERO,
            nav: Time::ZERO,
            nav_reset: Time::NEVER,
            used: MediumUse::default(),
            station: Box::new(station),
        }
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
        self.station.frame.expect("the air slot fires only for a frame on the air")
    }

    /// How it came to send this frame of its own, which begins now.
    pub fn access(&self, frame: &Frame) -> Access {
        let Some(out) = self.station.function.current.as_ref().filter(|_| {
            matches!(frame.kind, FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckRequest)
                || frame.is_to_self()
        }) else {
            return Access::default();
        };
        let attempt = &self.station.function.attempt;
        let announces = frame.kind == FrameKind::Rts || frame.is_to_self();
        let first = announces || (attempt.rts.is_none() && attempt.cts.is_none());
        let tries = match frame.kind {
            FrameKind::Rts => out.rts_tries,
            FrameKind::Cts => 0,
            _ => out.data_tries,
        };
        Access {
            tries: if frame.to.is_some() { tries } else { 0 },
            slots: if first { self.station.function.attempt.slots } else { 0 },
            since: first.then_some(out.head_of_line),
            packet: match out.payload {
                FramePayload::Packet(handle) => Some(handle),
                FramePayload::Mpdus { .. } | FramePayload::Request { .. } => None,
            },
        }
    }

    /// Has it something to do, but no timer and no signal that it waits for? Then it would be silent for
    /// ever.
    pub fn is_stuck(&self, agenda: &Agenda) -> bool {
        self.functions().any(|function| function.current.is_some())
            && !self.is_busy()
            && !agenda.is_armed(self.station.timer)
    }

    /// Does it hold a packet?
    #[cfg(test)]
    pub fn holds_packet(&self) -> bool {
        self.station.function.current.is_some()
    }

    /// What the timer sends; the shortest DATA frame takes `shortest`.
    pub fn next_sent(&self, timing: &Timing, shortest: Span) -> NextSent {
        // With several functions, or a choice of rates, what is sent is decided then.
        let is_decided = self.station.edca.is_none() && self.station.rates.is_none();
        match self.station.phase {
            Phase::Contending | Phase::DataDue if is_decided => match self.station.function.current {
                Some(OutgoingFrame {
                    payload: FramePayload::Packet(packet),
                    peer: to,
                    airtime: data,
                    ..
                }) => NextSent::Packet { packet, to, data },
                Some(_) => NextSent::Unknown(shortest),
                // A back-off after a frame, with nothing to send.
                None => NextSent::Nothing,
            },
            Phase::CtsDue | Phase::AckDue | Phase::BlockAckDue => {
                NextSent::Unknown(timing.shortest_answer() + timing.sifs + shortest)
            }
            _ => NextSent::Unknown(shortest),
        }
    }

    /// Will its timer leave all above as it is? A frame follows after SIFS, or the DATA did not come, and no
    /// policy or estimator observes the link.
    #[inline]
    pub fn answers_by_itself(&self) -> bool {
        let by_itself = matches!(
            self.station.phase,
            Phase::DataDue | Phase::CtsDue | Phase::AwaitingData | Phase::AckDue
        );
        by_itself && !self.is_observed() && self.station.agreements.is_none()
    }

    /// Will the end of its own frame leave all above as it is? Only a broadcast's life ends by it.
    #[inline]
    pub fn sends_by_itself(&self) -> bool {
        !matches!(self.station.phase, Phase::Broadcasting) && !self.is_observed()
    }

    /// The timer went off.
    pub fn on_timer(&mut self, ctx: &mut Context) {
        match self.station.phase {
            Phase::Contending => self.on_access(ctx),
            Phase::AwaitingCts | Phase::AwaitingAck => self.on_response_overdue(ctx),
            Phase::DataDue => self.send_data_after_cts(ctx),
            Phase::NextFrameDue => self.begin_exchange(ctx),
            Phase::CfEndDue => self.send_cf_end(ctx),
            Phase::CtsDue => self.send_cts(ctx),
            Phase::AckDue => self.send_ack(ctx),
            Phase::BlockAckDue => self.send_block_ack(ctx),
            Phase::AwaitingData => self.resume_contention(ctx, Event::DataOverdue),
            Phase::Broadcasting | Phase::SendingControl => {
                unreachable!("no timer runs in {:?}", self.station.phase)
            }
        }
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
        self.station.frame.take().expect("the air slot fires only for a frame on the air")
    }

    /// Its own transmission is over at the listeners; it is off the air.
    pub fn on_sent(&mut self, ctx: &mut Context, frame: &Frame) {
        ctx.radio.stop();
        let packet = frame.packet.map(|handle| &ctx.packets.get(handle).packet);
        let air = frame.air_at_sender(ctx.timing.propagation);
        ctx.record.transmitted(self.id, frame, air, packet, ctx.now);
        if self.station.edca.is_some()
            && matches!(
                self.station.phase,
                Phase::AwaitingCts | Phase::DataDue | Phase::AwaitingAck | Phase::Broadcasting
            )
        {
            ctx.record.transmitted_by(self.id, self.station.function.category, air, ctx.now);
        }
        if frame.kind == FrameKind::CfEnd {
            self.report(ctx.stack, || LinkEvent::NavReset(ctx.now)); // of what answers to it had reserved
        }
        match self.station.phase {
            Phase::SendingControl => self.station.phase.change(Event::TransmissionEnded),
            Phase::AwaitingData if !ctx.timing.rules.data_needs_own_cts => {
                self.station.phase.change(Event::TransmissionEnded);
            }
            Phase::Broadcasting => self.finish(ctx, multihop_core::Fate::Broadcast),
            _ => {}
        }
    }

    /// Puts a frame on the air.
    fn transmit(&mut self, ctx: &mut Context, frame: Frame) {
        debug_assert!(self.station.function.counting.is_none() && self.station.frame.is_none());
        if !self.is_busy() {
            self.turn_busy(ctx);
        }
        ctx.radio.transmit(ctx.now + frame.airtime());
        ctx.agenda.arm(self.station.air, frame.air.start, Lane::AirStart);
        self.station.frame = Some(frame);
    }

    /// Reports the event to what observes the link above, if anything does.
    #[inline]
    fn report(&self, stack: &mut Stack, event: impl FnOnce() -> LinkEvent) {
        if self.is_observed() {
            stack.on_link(&event());
        }
    }

    fn arm(&self, ctx: &mut Context, at: Time) {
        ctx.agenda.arm(self.station.timer, at, Lane::Mac);
    }

    /// Contends again after an event; the medium may be idle already.
    fn resume_contention(&mut self, ctx: &mut Context, event: Event) {
        self.station.phase.change(event);
        self.contend(ctx);
    }
}
