//! The frame that a station wants to deliver, and its ongoing attempt.

use super::Timing;
use super::link_timing::LinkTiming;
use crate::medium::{RateClass, RateSet};
use crate::slab::Handle;
use multihop_core::{FlowId, Interval, NodeId, Span, Time};
use multihop_dot11::AccessCategory;
use multihop_link::Departure;

/// Payload of an outgoing frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum FramePayload {
    /// One packet in a frame of its own.
    Packet(Handle),
    /// MPDUs of the transmit window with this index: several in an aggregate, or one.
    Mpdus { window: u32, aggregate: bool },
    /// A block acknowledgement request for the transmit window with this index.
    Request { window: u32 },
}

impl FramePayload {
    /// Index of the transmit window that the payload belongs to.
    pub fn window(self) -> Option<u32> {
        match self {
            FramePayload::Packet(_) => None,
            FramePayload::Mpdus { window, .. } | FramePayload::Request { window } => Some(window),
        }
    }
}

/// The frame that a station wants to deliver.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutgoingFrame {
    pub payload: FramePayload,
    /// Next hop; none for a broadcast.
    pub peer: Option<NodeId>,
    pub flow: FlowId,
    /// Network-layer bytes.
    pub size: u32,
    /// MAC bytes, header and FCS included.
    pub bytes: u32,
    /// Rates of the link to the next hop.
    pub rates: RateSet,
    /// Airtime of the DATA frame.
    pub airtime: Span,
    pub with_rts: bool,
    /// Time at which the packet entered the interface queue.
    pub enqueued: Time,
    /// Time at which the packet became head of line.
    pub head_of_line: Time,
    pub rts_tries: u32,
    pub rts_failures: u32,
    pub data_tries: u32,
    /// Short retry count (`SSRC`): failures since the last CTS.
    pub short_retries: u32,
    /// Long retry count (`SLRC`): failures of DATA after a CTS.
    pub long_retries: u32,
    /// Back-off slots counted down before earlier attempts.
    pub slots: u32,
    /// Slots that a router policy adds to the first back-off.
    pub extra_slots: u32,
}

impl OutgoingFrame {
    /// A frame that was not sent yet, of unknown length.
    #[inline]
    pub fn new(
        payload: FramePayload,
        peer: Option<NodeId>,
        flow: FlowId,
        rates: RateSet,
        now: Time,
    ) -> OutgoingFrame {
        OutgoingFrame {
            payload,
            peer,
            flow,
            size: 0,
            bytes: 0,
            rates,
            airtime: Span::ZERO,
            with_rts: false,
            enqueued: now,
            head_of_line: now,
            rts_tries: 0,
            rts_failures: 0,
            data_tries: 0,
            short_retries: 0,
            long_retries: 0,
            slots: 0,
            extra_slots: 0,
        }
    }

    /// Whether a block acknowledgement answers the frame.
    pub fn wants_block_ack(&self) -> bool {
        matches!(self.payload, FramePayload::Mpdus { aggregate: true, .. } | FramePayload::Request { .. })
    }

    /// Whether the frame is a block acknowledgement request.
    pub fn is_request(&self) -> bool {
        matches!(self.payload, FramePayload::Request { .. })
    }

    /// Airtime of the CTS-to-self before the frame, with the SIFS after it; zero without protection or if an
    /// RTS precedes the frame.
    pub fn protection(&self, link: &LinkTiming) -> Span {
        let is_data = self.peer.is_some() && !self.is_request();
        link.protection(if is_data { RateClass::Data } else { RateClass::Control })
    }

    /// Airtime of the acknowledgement, and timeout after which it is overdue.
    pub fn response(&self, link: &LinkTiming) -> (Span, Span) {
        if self.wants_block_ack() {
            (link.block_ack, link.block_ack_timeout)
        } else {
            (link.ack, link.ack_timeout)
        }
    }

    /// State of the frame at the start of its DATA, for a packet that became head of line at that time and
    /// was sent so often before.
    pub fn departure(
        &self,
        timing: &Timing,
        category: AccessCategory,
        now: Time,
        head_of_line: Time,
        data_tries: u32,
    ) -> Departure {
        let (ack, _) = self.response(timing.on(self.rates));
        Departure {
            now,
            service_so_far: now.since(head_of_line),
            data: self.airtime,
            ack,
            sifs: timing.sifs,
            propagation: timing.propagation,
            exchange: timing.exchange_with(self.rates, self.airtime, ack, self.with_rts),
            access: timing.mean_access(category),
            rts_tries: self.rts_tries,
            rts_failures: self.rts_failures,
            data_tries,
        }
    }
}

/// The ongoing attempt of an outgoing frame, reported as [`multihop_core::Attempt`] when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OngoingAttempt {
    /// Back-off slots counted down before the attempt.
    pub slots: u32,
    pub rts: Option<Interval>,
    pub cts: Option<Interval>,
    pub data: Option<Interval>,
}
