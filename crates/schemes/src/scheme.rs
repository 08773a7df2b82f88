//! What a scheme is to the simulator, and the part of it that all TCPs share.

use multihop_core::{FlowId, NodeId, Rate};
use multihop_link::{AggregateLimits, EgressQueue, PacketExchange, PhyTimes, RouterPolicy};
use multihop_transport::{Controller, Echo, Endpoint, TcpOptions, TcpReceiver, TcpSender, TfrcOptions};

/// What a sender may know of itself and the radio of its own station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderStation {
    /// The sender's own flow, as link events have it.
    pub flow: FlowId,
    /// Times of the PHY and contention windows.
    pub phy: PhyTimes,
    /// The least size of packets, in bytes at the network layer, before which the MAC sends RTS; none if it
    /// never does.
    pub rts_from: Option<u32>,
    /// What an A-MPDU may be; none where packets are not aggregated.
    pub aggregates: Option<AggregateLimits>,
}

impl SenderStation {
    /// The exchange of packets of `size` bytes at a bit rate: of one, or, where they are aggregated, of a
    /// `full` A-MPDU.
    pub(crate) fn exchange(&self, rate: Rate, size: u32, full: bool) -> (PhyTimes, PacketExchange) {
        let phy = self.phy.at(rate);
        let exchange = match &self.aggregates {
            Some(limits) if full => phy.full_exchange(size, self.rts_from, limits),
            _ => phy.exchange(size, self.rts_from),
        };
        (phy, exchange)
    }
}

/// What is compared: a transport, its controller, and what it asks of routers.
pub trait Scheme: Send + Sync {
    /// The data sender of a new flow.
    fn sender(&self) -> Box<dyn Endpoint>;
    /// The same at a station. Most transports do not look at what is below them.
    fn sender_at(&self, _station: &SenderStation) -> Box<dyn Endpoint> {
        self.sender()
    }
    /// The data receiver of a new flow.
    fn receiver(&self) -> Box<dyn Endpoint>;
    /// What `node` does to packets of this scheme's flows at the queue before `egress`, if anything.
    fn router(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        None
    }
    /// Payload bytes of a full segment or datagram.
    fn segment_size(&self) -> u32;
    /// The parts of which the ends of a TCP connection are made; none of other transports.
    fn tcp(&self) -> Option<TcpParts> {
        None
    }
    /// The options of both ends of a TFRC connection; none of other transports.
    fn tfrc(&self) -> Option<TfrcOptions> {
        None
    }
    /// Does the transport send whatever it is given at once, without a window or a rate of its own?
    fn datagrams(&self) -> bool {
        false
    }
    /// Does the transport bring what it is given as one stream of which nothing is missing, and say so?
    /// Others send datagrams, each a message of its own, and those that are lost are lost.
    fn reliable(&self) -> bool {
        !self.datagrams()
    }
    /// Does the receiver take packets that arrive at one instant for those of one aggregate?
    fn sees_aggregates(&self) -> bool {
        false
    }
}

/// What the ends of a TCP connection are made of.
pub struct TcpParts {
    /// The options of both ends.
    pub options: TcpOptions,
    /// The sender's congestion control.
    pub controller: Box<dyn Controller>,
    /// What the receiver makes of congestion headers and marks, if anything beyond RFC 3168.
    pub echo: Option<Box<dyn Echo>>,
}

/// A scheme whose flows are TCP connections: options of both ends, the sender's congestion control, what the
/// receiver echoes, and what it asks of routers.
pub trait TcpScheme: Send + Sync {
    /// The options of both ends.
    fn options(&self) -> TcpOptions;
    /// The congestion control of the sender of a new flow.
    fn control(&self) -> Box<dyn Controller>;
    /// What the receiver of a new flow makes of congestion headers and marks, if anything beyond RFC 3168.
    fn echo(&self) -> Option<Box<dyn Echo>> {
        None
    }
    /// As [`Scheme::router`].
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

    fn sees_aggregates(&self) -> bool {
        self.options().receive_offload
    }
}
