//! The distributed coordination function (DCF) of one station (IEEE 802.11-2012, clause 9.3), under a
//! [`DcfRules`](multihop_dot11::DcfRules) value.
//!
//! Read `phase` first: it lists the states of a station and every transition between them.
//!
//! | module | holds |
//! |---|---|
//! | `config` | parameters |
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
//! | `timing`, `link_timing`, `access_parameters` | times and limits: of the run, of a link, of a category |

mod access_parameters;
mod aggregation;
mod carrier_sense;
pub(crate) mod config;
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
use phase::{MacEvent, Phase};

/// A response that a station owes.
#[derive(Clone, Copy, Debug, Default)]
struct PendingResponse {
    /// Sender of the frame that is answered.
    to: NodeId,
    /// Rates of the link on which the response is sent.
    rates: RateSet,
    /// Sequence number of the frame that is answered.
    sequence: u32,
    /// Duration field of the response.
    duration: Span,
}

impl PendingResponse {
    fn new(frame: &Frame, duration: Span) -> PendingResponse {
        PendingResponse { to: frame.from, rates: frame.rates, sequence: frame.sequence, duration }
    }
}

/// Circumstances in which a station began to send a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Number of the attempt of an RTS or of unicast DATA, from 1; 0 for other frames.
    pub tries: u32,
    /// Back-off slots counted down before the frame, if it begins an exchange.
    pub slots: u32,
    /// Time at which the packet became head of line, if the frame begins an exchange.
    pub since: Option<Time>,
    /// Packet for which an RTS or a CTS-to-self is sent.
    pub packet: Option<Handle>,
}

/// A channel access function: the DCF, or one of the EDCA functions of a station (802.11-2016, 10.22.2.1).
#[derive(Clone, Debug)]
#[repr(C)]
struct Edcaf {
    /// Remaining slots of the pending back-off.
    backoff: Option<u32>,
    /// Start of the first counted slot while the back-off runs.
    counting: Option<Time>,
    /// Whether the back-off was drawn at random. False for the zero slots of an immediate access.
    drawn: bool,
    category: AccessCategory,
    cw: u32,
    sequence: u32,
    current: Option<OutgoingFrame>,
    attempt: OngoingAttempt,
}

impl Edcaf {
    /// A function without a frame.
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

/// MAC of a station. Its own fields are carrier sense, which every frame of another station changes; with the
/// radio they fill two cache lines. What the station does itself is in `station`.
#[derive(Clone, Debug)]
pub struct Mac {
    id: NodeId,
    /// Flags of `carrier_sense`.
    state: u8,
    /// Time of the last change between busy and idle.
    since: Time,
    nav: Time,
    /// Time at which the NAV is reset unless a frame begins before; [`Time::NEVER`] for no reset.
    nav_reset: Time,
    /// Time for which the medium was busy or reserved, up to `since`.
    used: MediumUse,
    station: Box<StationState>,
}

const _: () = assert!(size_of::<Mac>() <= 56, "two cache lines with the radio and the pointer to the stack");

/// State of a station's own actions. The fields that contention reads come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct StationState {
    timer: Slot,
    /// Whether a frame is being received after the response timeout. The end of that frame decides.
    receiving_at_timeout: bool,
    /// Result of [`Stack::watches`].
    watched: bool,
    /// Earliest start of the inter-frame space: EIFS less DIFS after the last frame with an FCS error, unless
    /// a correct frame followed. Under EDCA also the end of the last failed wait for a response.
    eifs_until: Time,
    /// The functions of the other access categories; none under the DCF.
    edca: Option<Box<edca::Edca>>,
    phase: Phase,
    /// The channel access function. Under EDCA: the function whose exchange began last.
    function: Edcaf,
    /// None if the MAC dequeues directly from the interface queue.
    hardware: Option<Box<hardware::HardwareQueue>>,
    /// The response that is owed, or was owed last.
    pending_response: PendingResponse,
    /// Slot of the agenda for the start and the end of own frames.
    air: Slot,
    /// The own frame that is on the air.
    frame: Option<Frame>,
    rng: Rng,
    /// Sequence number of the last DATA frame from each neighbour, by traffic identifier (9.3.2.10;
    /// 802.11-2016, 10.3.2.11.2).
    last_sequences: Vec<(NodeId, u8, u32)>,
    /// None without aggregation.
    agreements: Option<Box<aggregation::Agreements>>,
    /// None if rates are fixed.
    rates: Option<Box<rate_control::StationRates>>,
}

/// Parts of the node, and of the state that the run shares, which a MAC can change while it handles an event.
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

/// Transmission that a station begins when its timer fires.
#[derive(Clone, Copy, Debug)]
pub enum NextSent {
    /// No transmission.
    Nothing,
    /// DATA with this packet, possibly after RTS and CTS.
    Packet {
        /// The packet in the frame.
        packet: Handle,
        /// Next hop; none for a broadcast.
        to: Option<NodeId>,
        /// Airtime of the DATA frame.
        data: Span,
    },
    /// A transmission of unknown kind. A packet reaches its destination after this time at the earliest.
    Unknown(Span),
}

impl Mac {
    /// An idle station. `timer` and `air` are slots of the agenda.
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
            last_sequences: Vec::new(),
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

    /// Identifier of the station.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The station's frame on the air.
    ///
    /// # Panics
    /// If no frame is on the air.
    pub fn on_air(&self) -> Frame {
        self.station.frame.expect("the air slot fires only for a frame on the air")
    }

    /// Circumstances of an own frame that begins now.
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

    /// Whether a frame is pending while neither a timer nor a signal can wake the station. Such a station
    /// would stay silent for ever.
    pub fn is_stuck(&self, agenda: &Agenda) -> bool {
        self.functions().any(|function| function.current.is_some())
            && !self.is_busy()
            && !agenda.is_armed(self.station.timer)
    }

    /// Whether the station has an outgoing frame.
    #[cfg(test)]
    pub fn holds_packet(&self) -> bool {
        self.station.function.current.is_some()
    }

    /// Transmission that begins when the timer fires. `shortest` is the airtime of the shortest DATA frame.
    pub fn next_sent(&self, timing: &Timing, shortest: Span) -> NextSent {
        // With several functions, or with rate control, the frame is chosen when the timer fires.
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
                // A back-off after a frame, without a next frame.
                None => NextSent::Nothing,
            },
            Phase::CtsDue | Phase::AckDue | Phase::BlockAckDue => {
                NextSent::Unknown(timing.shortest_answer() + timing.sifs + shortest)
            }
            _ => NextSent::Unknown(shortest),
        }
    }

    /// Whether the timer changes nothing above the MAC: a frame follows after SIFS, or DATA is overdue, and
    /// no policy or estimator observes the link.
    #[inline]
    pub fn answers_by_itself(&self) -> bool {
        let by_itself = matches!(
            self.station.phase,
            Phase::DataDue | Phase::CtsDue | Phase::AwaitingData | Phase::AckDue
        );
        by_itself && !self.is_observed() && self.station.agreements.is_none()
    }

    /// Whether the end of the own frame changes nothing above the MAC. Only a broadcast ends with its frame.
    #[inline]
    pub fn sends_by_itself(&self) -> bool {
        !matches!(self.station.phase, Phase::Broadcasting) && !self.is_observed()
    }

    /// The timer fired.
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
            Phase::AwaitingData => self.resume_contention(ctx, MacEvent::DataOverdue),
            Phase::Broadcasting | Phase::SendingControl => {
                unreachable!("no timer runs in {:?}", self.station.phase)
            }
        }
    }

    /// The radio was switched off. The medium appears busy from now on.
    pub fn on_switched_off(&mut self, ctx: &mut Context) {
        self.fail_if_late(ctx); // the frame that was being received cannot be the response any more
    }

    /// Removes the station's frame from the air.
    ///
    /// # Panics
    /// If no frame is on the air.
    #[inline]
    pub fn take_off_air(&mut self) -> Frame {
        self.station.frame.take().expect("the air slot fires only for a frame on the air")
    }

    /// The own frame has ended at the listeners.
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
            // The CF-End also ends what responses to this station had reserved.
            self.report(ctx.stack, || LinkEvent::NavReset(ctx.now));
        }
        match self.station.phase {
            Phase::SendingControl => self.station.phase.change(MacEvent::TransmissionEnded),
            Phase::AwaitingData if !ctx.timing.rules.data_needs_own_cts => {
                self.station.phase.change(MacEvent::TransmissionEnded);
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

    /// Reports an event to the observers of the medium, if there are any.
    #[inline]
    fn report(&self, stack: &mut Stack, event: impl FnOnce() -> LinkEvent) {
        if self.is_sensed() {
            stack.on_link(&event());
        }
    }

    /// Arms the timer.
    fn arm(&self, ctx: &mut Context, at: Time) {
        ctx.agenda.arm(self.station.timer, at, Lane::Mac);
    }

    /// Returns to contention after an event. The medium may be idle already.
    fn resume_contention(&mut self, ctx: &mut Context, event: MacEvent) {
        self.station.phase.change(event);
        self.contend(ctx);
    }
}
