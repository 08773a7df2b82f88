//! Events at a node's MAC.
//!
//! An [`Attempt`] is one transmission attempt of a frame. An [`Exchange`] is the life of a frame at one node:
//! from the interface queue to its acknowledgement, or until the MAC gives it up. Quantities that papers
//! derive from them are methods here, so that each has one definition.
//!
//! Every source of events, the simulator or a capture, obeys these rules:
//!
//! * A node receives events in the order of their ends. An event of the medium's state arrives when the state
//!   changes. An [`Attempt`] arrives when its outcome is known, possibly after later frames. The [`Exchange`]
//!   of a frame follows its last attempt at once.
//! * [`DecodedFrame`] reports every frame that the node decoded, addressed to it or not, and none that it
//!   sent.
//! * The node's own RTS and DATA are part of its attempts. Its own CTS and ACK only make the medium busy.
//! * Times are local to the node: those of received frames include propagation.
//!
//! With aggregation there are two views of one transmission:
//!
//! * Per exchange. A PPDU of many MPDUs counts as one DATA frame, and its block acknowledgement as the ACK.
//!   An [`Attempt`] is one transmission of the PPDU. A [`DecodedFrame`] is a PPDU of which at least one MPDU
//!   was decoded, with the bytes of all decoded MPDUs. One [`Exchange`] follows each block acknowledgement,
//!   with the bytes of the acknowledged MPDUs; another reports the MPDUs that were given up. Its delays are
//!   means over its MPDUs, so that one retransmitted MPDU of 32 hardly changes them. RTS, DATA and slots of
//!   failed attempts count in the next exchange with that neighbour. Packet throughput (bytes by service
//!   delay) and transmission efficiency (airtime by service delay) keep their meaning. Requests for block
//!   acknowledgements are no attempts, as they carry no data.
//! * Per MPDU. [`LinkEvent::Mpdu`] precedes the exchange, for whatever counts packets, flows or retries. Its
//!   airtime is that of the whole exchange, which [`Exchange::mpdus`] shared.

use crate::{DropCause, FlowId, NodeId, Rate, Span, Time};

/// Interval of time, `start..end`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interval {
    /// Start of the interval.
    pub start: Time,
    /// End of the interval.
    pub end: Time,
}

impl Interval {
    /// Length of the interval.
    pub fn length(self) -> Span {
        self.end.since(self.start)
    }
}

/// One attempt to deliver a frame to its next hop. Frames that were not sent or not received are absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// Sending node.
    pub node: NodeId,
    /// The next hop.
    pub peer: NodeId,
    /// The flow of the packet in the frame.
    pub flow: FlowId,
    /// Contention window of this attempt: the back-off was drawn from at most this many slots.
    pub cw: u32,
    /// Back-off slots counted down for this attempt.
    pub slots: u32,
    /// The RTS, as sent.
    pub rts: Option<Interval>,
    /// The CTS, as received, or the CTS-to-self that the node sent.
    pub cts: Option<Interval>,
    /// The DATA, as sent.
    pub data: Option<Interval>,
    /// The ACK, as received.
    pub ack: Option<Interval>,
}

/// Outcome of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// The next hop acknowledged it.
    Acknowledged,
    /// The frame was broadcast, which no station acknowledges.
    Broadcast,
    /// The retry limit was reached.
    GivenUp,
}

/// Life of a frame at one node. Follows the last [`Attempt`] of the frame.
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
    /// Bit rate of the last DATA frame of the exchange.
    pub rate: Rate,
    /// Payload bytes of the transport among `bytes`; zero for acknowledgements and other control packets.
    pub payload: u32,
    /// Time at which the packet entered the interface queue.
    pub enqueued: Time,
    /// Time at which the MAC dequeued the packet (t0 of RECN, He et al. 2017).
    pub head_of_line: Time,
    /// Time at which the ACK was received, or the frame was given up.
    pub done: Time,
    /// Outcome of the exchange.
    pub fate: Fate,
    /// Number of RTS transmissions.
    pub rts_tries: u32,
    /// Number of RTS transmissions without a CTS.
    pub rts_failures: u32,
    /// Number of DATA transmissions.
    pub data_tries: u32,
    /// Number of back-off slots counted down.
    pub slots: u32,
    /// Time that a successful exchange of this frame takes on the air, from the first bit of the RTS (or of
    /// the DATA, without RTS) to the last bit of the ACK: `T_SL` of RECN.
    pub airtime: Span,
    /// Number of MPDUs in the last DATA frame of the exchange; one without aggregation.
    pub mpdus: u32,
}

impl Exchange {
    /// Service delay, from the head of the line to the acknowledgement: `T_FSD` of RECN (He et al. 2017, Eq.
    /// 6).
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

/// Kinds of frames in an exchange.
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
    /// Block acknowledgement. Estimators receive it as [`FrameKind::Ack`], which also ends an exchange.
    BlockAck,
    /// CF-End: ends a transmission opportunity before its reservation expires.
    CfEnd,
}

/// Decoded frame, whatever its receiver address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodedFrame {
    /// Node that decoded the frame.
    pub node: NodeId,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Transmitter. CTS and ACK carry no transmitter address on the air; the simulator provides it.
    pub from: NodeId,
    /// Receiver; none for a broadcast.
    pub to: Option<NodeId>,
    /// Time on the air.
    pub air: Interval,
    /// Duration field of the MAC header.
    pub duration: Span,
    /// Bytes that the MAC was asked to carry; zero for control frames.
    pub size: u32,
    /// Flow of the packet in the frame, by the addresses and ports of its headers; none for control frames
    /// and where headers were not read.
    pub flow: Option<FlowId>,
    /// Bit rate of the payload.
    pub rate: Rate,
}

/// Arrival of a data packet at its destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// Destination.
    pub node: NodeId,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Number of the packet within the flow, in the order of sending.
    pub number: u64,
    /// Bytes that the MAC was asked to carry.
    pub size: u32,
    /// Time at which the transport sent the packet, by the clock of its source.
    pub sent: Time,
    /// Time of arrival.
    pub at: Time,
}

/// Loss of a packet at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropped {
    /// Node that lost the packet.
    pub node: NodeId,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Bytes that the MAC was, or would have been, asked to carry.
    pub size: u32,
    /// Time of the loss.
    pub at: Time,
    /// Cause of the loss.
    pub cause: DropCause,
}

/// Link report that a node with a suitable estimator adds to an ACK (Barreto 2015, Eq. 11). The ACK of 802.11
/// has no field for such a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Capacity of the links, in bits per second.
    pub capacity_bps: f64,
    /// Unused part of the capacity, in bits per second.
    pub available_bps: f64,
}

/// Link report received in an ACK for this node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// Transmitter of the ACK.
    pub from: NodeId,
    /// Time at which the ACK was received.
    pub at: Time,
    /// Content of the report.
    pub report: Report,
}

/// Event at a node's MAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEvent {
    /// An attempt ended.
    Attempt(Attempt),
    /// The life of one MPDU of an aggregate ended. The [`LinkEvent::Exchange`] that covers the MPDU follows
    /// at once. Absent without aggregation.
    Mpdu(Exchange),
    /// A frame's life ended.
    Exchange(Exchange),
    /// A frame was decoded.
    Decoded(DecodedFrame),
    /// A decoded ACK carried a link report. Follows the [`LinkEvent::Decoded`] of the ACK.
    Reported(Reported),
    /// Physical carrier sense reports a busy medium from this instant on, own transmissions included.
    BusyFrom(Time),
    /// Length of a busy period, reported when the medium turns idle.
    Busy(Interval),
    /// At the first instant the network allocation vector was set to the second. The frame that set it ends
    /// at the first instant, so that the medium is busy until then.
    NavSet(Interval),
    /// The network allocation vector was reset at this instant: nothing followed the RTS that had set it
    /// (9.3.2.4), or a CF-End released the reservation. Reported when the station next evaluates the vector,
    /// at the latest when the medium turns busy.
    NavReset(Time),
    /// The node lost a packet.
    Dropped(Dropped),
    /// A data packet reached its destination at this node.
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
