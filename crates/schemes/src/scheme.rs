//! Interface between a scheme and the simulator, and its implementation for all TCP schemes.

use multihop_core::{FlowId, NodeId, Rate};
use multihop_link::{AggregateLimits, EgressQueue, PacketExchange, PhyTimes, RouterPolicy};
use multihop_transport::{Controller, Echo, Endpoint, TcpOptions, TcpReceiver, TcpSender, TfrcOptions};

/// Properties of a sender's flow and of the radio of its station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderStation {
    /// Flow of the sender, as identified in link events.
    pub flow: FlowId,
    /// Times of the PHY and contention windows.
    pub phy: PhyTimes,
    /// Smallest packet, in bytes at the network layer, that the MAC precedes with RTS; none if it never sends
    /// RTS.
    pub rts_from: Option<u32>,
    /// Limits on an A-MPDU; none if the radio does not aggregate packets.
    pub aggregates: Option<AggregateLimits>,
}

impl SenderStation {
    /// Returns the exchange of packets of `size` bytes at a bit rate, with the PHY times at that rate. The
    /// exchange is of a full A-MPDU if `full` is set and the radio aggregates, else of one packet.
    pub(crate) fn exchange(&self, rate: Rate, size: u32, full: bool) -> (PhyTimes, PacketExchange) {
        let phy = self.phy.at(rate);
        let exchange = match &self.aggregates {
            Some(limits) if full => phy.full_exchange(size, self.rts_from, limits),
            _ => phy.exchange(size, self.rts_from),
        };
        (phy, exchange)
    }
}

/// Congestion control scheme: a transport, its congestion controller and its router policy.
pub trait Scheme: Send + Sync {
    /// Creates the data sender of a new flow.
    fn sender(&self) -> Box<dyn Endpoint>;
    /// Creates the data sender of a new flow at `_station`. Most transports ignore the station.
    fn sender_at(&self, _station: &SenderStation) -> Box<dyn Endpoint> {
        self.sender()
    }
    /// Creates the data receiver of a new flow.
    fn receiver(&self) -> Box<dyn Endpoint>;
    /// Creates the policy of `node` for this scheme's packets at the queue before `egress`; none if routers
    /// do nothing.
    fn router(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        None
    }
    /// Payload bytes of a full segment or datagram.
    fn segment_size(&self) -> u32;
    /// Parts of the ends of a TCP connection; none for other transports.
    fn tcp(&self) -> Option<TcpParts> {
        None
    }
    /// Options of both ends of a TFRC connection; none for other transports.
    fn tfrc(&self) -> Option<TfrcOptions> {
        None
    }
    /// Whether the sender transmits data as soon as the application writes, without a window or a rate.
    fn is_uncontrolled(&self) -> bool {
        false
    }
    /// Whether the transport delivers a complete, ordered byte stream and acknowledges it. Other transports
    /// send datagrams and do not retransmit them.
    fn is_reliable(&self) -> bool {
        !self.is_uncontrolled()
    }
    /// Whether the receiver treats packets that arrive at the same instant as one aggregate.
    fn is_aggregate_aware(&self) -> bool {
        false
    }
}

/// Parts of the two ends of a TCP connection.
pub struct TcpParts {
    /// Options of both ends of the connection.
    pub options: TcpOptions,
    /// Congestion controller of the sender.
    pub controller: Box<dyn Controller>,
    /// Feedback that the receiver returns beyond RFC 3168, from congestion headers and ECN marks; none if
    /// there is no such feedback.
    pub echo: Option<Box<dyn Echo>>,
}

/// Scheme whose flows are TCP connections.
pub trait TcpScheme: Send + Sync {
    /// Options of both ends of the connection.
    fn options(&self) -> TcpOptions;
    /// Creates the congestion controller of a new flow's sender.
    fn control(&self) -> Box<dyn Controller>;
    /// Creates the receiver's feedback beyond RFC 3168, from congestion headers and ECN marks; none if there
    /// is no such feedback.
    fn echo(&self) -> Option<Box<dyn Echo>> {
        None
    }
    /// Creates a router policy, like [`Scheme::router`].
    fn policy(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        None
    }
}

impl<T: TcpScheme> Scheme for T {
    fn sender(&self) -> Box<dyn Endpoint> {
        Box::new(TcpSender::new(self.options(), self.control()))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(match self.echo() {
            Some(echo) => TcpReceiver::with_echo(self.options(), echo),
            None => TcpReceiver::new(self.options()),
        })
    }

    fn router(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        self.policy(node, egress)
    }

    fn tcp(&self) -> Option<TcpParts> {
        Some(TcpParts { options: self.options(), controller: self.control(), echo: self.echo() })
    }

    fn segment_size(&self) -> u32 {
        self.options().segment_size
    }

    fn is_aggregate_aware(&self) -> bool {
        self.options().receive_offload
    }
}
