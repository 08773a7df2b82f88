//! What a MAC saw, as typed events.
//!
//! There are two grains. An [`Attempt`] is one try to get a frame across; an [`Exchange`] is a frame's whole
//! life at one node, from the moment it was queued until it was acknowledged or given up. Quantities that
//! papers derive from them are methods here, so that each has one definition.
//!
//! A source of events, the simulator or a capture, keeps to this:
//!
//! * They come to one node in the order of their ends, an event of the medium's state when it happens. An
//!   [`Attempt`] comes when its outcome is known, which may be after frames that came later; its [`Exchange`]
//!   follows at once if it was the last.
//! * [`DecodedFrame`] is every frame that the node decoded, those that were for it included, and none that it
//!   sent.
//! * The node's own RTS and DATA are in its attempts; its own CTS and ACK show in nothing but the busy
//!   medium.
//! * Times are those at the node: of what it hears, after propagation.
//!
//! With aggregation there are two views of one thing:
//!
//! * Per exchange: a PPDU of many MPDUs is one DATA frame, and the block acknowledgement its ACK. An
//!   [`Attempt`] is one try of that, a [`DecodedFrame`] one PPDU of which an MPDU at least was decoded, with
//!   the bytes of all that were. An [`Exchange`] follows each block acknowledgement, with the bytes of the
//!   MPDUs that it acknowledged; another one has those that were given up. Its delays are the means of
//!   theirs, so that one MPDU of 32 that was sent twice hardly changes them, and a PPDU of which all were
//!   lost counts in full. RTS, DATA and slots of tries that were in vain are in the next exchange with that
//!   neighbour. Bytes by service delay (packet throughput) and airtime by service delay (transmission
//!   efficiency) mean what they mean without aggregation. Requests for block acknowledgements are no
//!   attempts: they carry no data.
//! * Per MPDU: [`LinkEvent::Mpdu`], before that, for what counts packets, flows or retries. Its airtime is
//!   that of the whole exchange, which it shared with [`Exchange::mpdus`].

use crate::{DropCause, FlowId, NodeId, Rate, Span, Time};

/// A stretch of time, `start..end`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interval {
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

impl Interval {
    /// How long it is.
    pub fn length(self) -> Span {
        self.end.since(self.start)
    }
}

/// One try to deliver a frame to its next hop. Frames that were not sent, or not heard, are absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// The node that tried.
    pub node: NodeId,
    /// The next hop.
    pub peer: NodeId,
    /// The flow of the packet in the frame.
    pub flow: FlowId,
    /// Contention window of this try: the back-off was drawn from at most this many slots.
    pub cw: u32,
    /// Back-off slots that were counted down for it.
    pub slots: u32,
    /// The RTS, as sent.
    pub rts: Option<Interval>,
    /// The CTS, as received; without RTS, that which the node sent to itself.
    pub cts: Option<Interval>,
    /// The DATA, as sent.
    pub data: Option<Interval>,
    /// The ACK, as received.
    pub ack: Option<Interval>,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// The next hop acknowledged it.
    Acknowledged,
    /// A broadcast: sent, with no acknowledgement to wait for.
    Broadcast,
    /// The retry limit was reached.
    GivenUp,
}

/// A frame's whole life at one node. It follows the last [`Attempt`] of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// The sending node.
    pub node: NodeId,
    /// The next hop.
    pub peer: NodeId,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Bytes that the MAC was asked to carry.
    pub size: u32,
    /// Bit rate of its DATA frames: of the last one, where they differ.
    pub rate: Rate,
    /// Payload bytes of the transport among them; none in acknowledgements and other packets of control.
    pub payload: u32,
    /// When the packet entered the interface queue.
    pub enqueued: Time,
    /// When the MAC took it from the queue (t0 of RECN, He et al. 2017).
    pub head_of_line: Time,
    /// When its ACK was received, or the frame was given up.
    pub done: Time,
    /// How it ended.
    pub fate: Fate,
    /// RTS transmissions.
    pub rts_tries: u32,
    /// Those of them that no CTS answered.
    pub rts_failures: u32,
    /// DATA transmissions.
    pub data_tries: u32,
    /// Back-off slots counted down.
    pub slots: u32,
    /// Time that a successful exchange of this frame takes on the air, from the first bit of the RTS (or of
    /// the DATA, without RTS) to the last bit of the ACK: `T_SL` of RECN.
    pub airtime: Span,
    /// MPDUs that the last DATA frame of the exchange carried: one without aggregation.
    pub mpdus: u32,
}

impl Exchange {
    /// From the head of the line to the acknowledgement: `T_FSD` of RECN (He et al. 2017, Eq. 6).
    pub fn service_delay(&self) -> Span {
        self.done.since(self.head_of_line)
    }

    /// Time in the interface queue before the MAC took the packet.
    pub fn queueing_delay(&self) -> Span {
        self.head_of_line.since(self.enqueued)
    }

    /// `R_FTE`, the share of the service delay that a successful exchange needs (He et al. 2017, Eq. 2). None
    /// for a frame that was not acknowledged.
    pub fn transmission_efficiency(&self) -> Option<f64> {
        (self.fate == Fate::Acknowledged).then(|| self.airtime.seconds() / self.service_delay().seconds())
    }
}

/// The frames of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data, unicast or broadcast.
    Data,
    /// Acknowledgement.
    Ack,
    /// Request for a block acknowledgement.
    BlockAckRequest,
    /// Block acknowledgement. Estimators see it as [`FrameKind::Ack`], which ends an exchange as it does.
    BlockAck,
    /// End of a transmission opportunity, ahead of what was reserved for it.
    CfEnd,
}

/// A frame that was decoded, whatever its receiver address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodedFrame {
    /// The node that decoded it.
    pub node: NodeId,
    /// What it was.
    pub kind: FrameKind,
    /// Transmitter. A CTS or ACK on the air carries no transmitter address; the simulator knows it all the
    /// same.
    pub from: NodeId,
    /// Receiver; none for a broadcast.
    pub to: Option<NodeId>,
    /// When it was on the air.
    pub air: Interval,
    /// Its duration field.
    pub duration: Span,
    /// Bytes that the MAC was asked to carry; zero for control frames.
    pub size: u32,
    /// The flow of the packet in it, by the addresses and ports of its headers; none in control frames, and
    /// where they were not read.
    pub flow: Option<FlowId>,
    /// Its bit rate.
    pub rate: Rate,
}

/// A packet of data reached the node that it is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// The node that it is for.
    pub node: NodeId,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Its number among those of the flow, in the order in which they were sent.
    pub number: u64,
    /// Bytes that the MAC was asked to carry.
    pub size: u32,
    /// When the transport sent it, by the clock of its source.
    pub sent: Time,
    /// When it came.
    pub at: Time,
}

/// A packet was lost at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropped {
    /// Where it was lost.
    pub node: NodeId,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Bytes that the MAC was, or would have been, asked to carry.
    pub size: u32,
    /// When.
    pub at: Time,
    /// Why.
    pub cause: DropCause,
}

/// What a node says of its links in an ACK, where it has an estimator that does (Barreto 2015, Eq. 11). The
/// ACK of 802.11 has no field for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// What they carry, in bits per second.
    pub capacity_bps: f64,
    /// The unused part of it, in bits per second.
    pub available_bps: f64,
}

/// A report came in an ACK for this node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// Transmitter of the ACK.
    pub from: NodeId,
    /// When it had come.
    pub at: Time,
    /// What it said.
    pub report: Report,
}

/// What happened at a node's MAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEvent {
    /// A try ended.
    Attempt(Attempt),
    /// The life of one MPDU of an aggregate ended, which was or will be a part of the [`LinkEvent::Exchange`]
    /// that follows at once. Not without aggregation.
    Mpdu(Exchange),
    /// A frame's life ended.
    Exchange(Exchange),
    /// A frame was decoded.
    Decoded(DecodedFrame),
    /// An ACK that was decoded had a report in it; follows its [`LinkEvent::Decoded`].
    Reported(Reported),
    /// The medium is sensed busy (physically, own transmissions included) from this instant on.
    BusyFrom(Time),
    /// The medium was sensed busy for this long; known when it falls idle.
    Busy(Interval),
    /// The network allocation vector was set, at the first instant, to the second. The frame that set it ends
    /// at the first, so that the medium is busy up to there.
    NavSet(Interval),
    /// The network allocation vector is over from this instant on, before its time: nothing followed the RTS
    /// that had set it (9.3.2.4), or a CF-End says that nothing is reserved any more. Reported when the
    /// station next looks at it, and at the latest when the medium turns busy.
    NavReset(Time),
    /// A packet was lost here.
    Dropped(Dropped),
    /// A packet of data came to its end here.
    Arrived(Arrived),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// He et al. 2017 with 1 Mb/s and 1000-byte frames: 9406 us of exchange; DIFS and a mean back-off of 310
    /// us more when idle.
    #[test]
    fn efficiency_of_an_uncontended_exchange() {
        let at = |us: u64| Time::from_ns(us * 1_000);
        let exchange = Exchange {
            node: NodeId(0),
            peer: NodeId(1),
            flow: FlowId(0),
            size: 1000,
            rate: Rate::from_kbps(1_000),
            payload: 960,
            enqueued: at(100),
            head_of_line: at(1_000),
            done: at(1_000 + 9_406 + 50 + 310),
            fate: Fate::Acknowledged,
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 1,
            slots: 15,
            airtime: Span::from_us(9_406),
            mpdus: 1,
        };
        let efficiency = exchange.transmission_efficiency().unwrap();
        assert!((efficiency - 0.963).abs() < 5e-4, "{efficiency}");
        assert_eq!(exchange.queueing_delay(), Span::from_us(900));
        assert_eq!(Exchange { fate: Fate::GivenUp, ..exchange }.transmission_efficiency(), None);
    }
}
