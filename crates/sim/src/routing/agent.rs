//! Interface between a routing protocol and its node.

use super::WatchedRoutes;
use crate::slab::{Datagram, Handle, Slab, SourceRoute};
use multihop_core::{DropCause, NodeId, Time};

/// Next hop of a packet without a source route.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextHop {
    /// Neighbour, which forwards the packet by its own table.
    Neighbour(NodeId),
    /// Source route to be written into the packet.
    Along(SourceRoute),
}

/// Packet handed to an agent. The agent owns it until an action decides its fate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RoutedPacket {
    pub(crate) handle: Handle,
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    /// Number of hops from the source to this node.
    pub(crate) hops: u16,
    /// Source route, if the packet has one.
    pub(crate) route: Option<SourceRoute>,
}

impl RoutedPacket {
    /// Packet of the store, as handed to an agent.
    pub(crate) fn new(packets: &Slab, handle: Handle) -> RoutedPacket {
        let packet = &packets.get(handle).packet;
        RoutedPacket {
            handle,
            source: packet.source,
            destination: packet.destination,
            hops: packet.hops,
            route: packets.route(handle).cloned(),
        }
    }
}

/// Object that the MAC gave up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GivenUp {
    /// Packet that the next hop does not have.
    Packet(RoutedPacket),
    /// Packet that the next hop has, although its ACK was lost: destination, hops to this node, and source
    /// route.
    Arrived { destination: NodeId, hops: u16, route: Option<SourceRoute> },
    /// Message of the agent that is lost.
    Message(Datagram),
    /// Message of the agent that the next hop has.
    MessageArrived,
}

/// Overheard frame for another node.
pub(crate) enum Overheard<'a> {
    /// Packet from this source, with a source route.
    Packet(NodeId, &'a SourceRoute),
    /// Message of the protocol.
    Message(&'a Datagram),
}

/// Action that an agent requests from its node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Broadcast a message of this many bytes above the MAC, IP header included.
    Broadcast(Datagram, u32),
    /// Send a message to one neighbour, which acknowledges it; bytes as in `Broadcast`.
    Unicast(Datagram, u32, NodeId),
    /// Route this held packet now.
    Route(Handle),
    /// Write this source route into a held packet, and send it.
    SendAlong(Handle, SourceRoute),
    /// Send a held packet to this neighbour, whatever the present routes are.
    SendTo(Handle, NodeId),
    /// Drop the packets in the interface queue for this next hop.
    Purge(NodeId),
    /// Drop a held packet for this cause.
    Drop(Handle, DropCause),
}

/// Routing protocol of one node, without input and output. After a call that changes its state, the node
/// calls [`poll`](Self::poll) until it returns none, then [`next_timer`](Self::next_timer).
///
/// An agent may hold packets; each is returned by an action, or stays until the end of the run.
pub(crate) trait RoutingAgent: Send {
    /// Next hop towards a destination in the present routing table.
    fn next_hop(&self, destination: NodeId) -> Option<NodeId>;

    /// Next hop of a packet for this destination. Called for every packet without a source route, so it is
    /// fast.
    fn route(&mut self, _now: Time, destination: NodeId) -> Option<NextHop> {
        self.next_hop(destination).map(NextHop::Neighbour)
    }

    /// Learns that the node forwards a packet along this source route, which contains the node.
    fn on_forwarded(&mut self, _way: &SourceRoute) {}

    /// Takes a packet without a next hop.
    fn on_no_route(&mut self, now: Time, packet: RoutedPacket);

    /// Handles an object that the MAC could not deliver to this next hop; `breaks` is whether the link breaks
    /// by the rule of [`failure_rule`](super::failure_rule). Returns whether the packets for that next hop in
    /// the interface queue are stranded.
    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, breaks: bool, what: GivenUp) -> bool;

    /// Takes a packet that waited in the interface queue for a link that broke.
    fn on_stranded(&mut self, _now: Time, packet: RoutedPacket) {
        unreachable!("no link of this protocol breaks, and {packet:?} is stranded");
    }

    /// Handles a message from a neighbour.
    fn on_message(&mut self, now: Time, from: NodeId, message: &Datagram);

    /// Whether the agent needs overheard frames.
    fn listens(&self) -> bool {
        false
    }

    /// Handles a frame that a neighbour sent to another node. Resulting actions are not due before the next
    /// call.
    fn on_overheard(&mut self, _now: Time, _from: NodeId, _what: Overheard) {}

    /// Routes of the node's flows that are watched for failures. The agent records a failure when it learns
    /// that the route in use is broken, by its own MAC, by silence or by a message; not when an unused route
    /// expires.
    fn watched_routes(&mut self) -> &mut WatchedRoutes;

    /// Handles the timer.
    fn on_timer(&mut self, now: Time);

    /// Next requested action, if there is one.
    fn poll(&mut self, now: Time) -> Option<Action>;

    /// Time of the agent's timer.
    fn next_timer(&self) -> Option<Time>;
}
