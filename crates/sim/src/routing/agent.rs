//! What a routing protocol is to a node.

use super::message::Message;
use crate::slab::Handle;
use multihop_core::{DropCause, NodeId, Time};
use std::sync::Arc;

/// The source route of a packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceRoute {
    /// Its nodes, each once, from the one that wrote it to the destination.
    pub(crate) nodes: Arc<[NodeId]>,
    /// How often another node than the packet's source wrote it anew.
    pub(crate) salvaged: u8,
}

/// Where a packet without a source route goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextHop {
    /// To this neighbour, which forwards it by its own table.
    Neighbour(NodeId),
    /// Along these nodes, which are written into it.
    Along(SourceRoute),
}

/// A packet that an agent is handed. It is the agent's until an action says what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RoutedPacket {
    pub(crate) handle: Handle,
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    /// Hops that it took to this node.
    pub(crate) hops: u16,
    /// Its source route, if it has one.
    pub(crate) route: Option<SourceRoute>,
}

/// What the MAC gave up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GivenUp {
    /// A packet.
    Packet(RoutedPacket),
    /// A packet for this destination, which took so many hops to this node, with its source route. The next
    /// hop has it, though its ACK did not come.
    Arrived { destination: NodeId, hops: u16, route: Option<SourceRoute> },
    /// A message of the agent's, which is lost.
    Message(Message),
    /// A message of the agent's, which the next hop has.
    MessageArrived,
}

/// What an agent hears that is for others.
pub(crate) enum Overheard<'a> {
    /// A packet from this source with a source route.
    Packet(NodeId, &'a SourceRoute),
    /// A message.
    Message(&'a Message),
}

/// What an agent wants its node to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Send this to every neighbour; it takes so many bytes above the MAC, IP header included.
    Broadcast(Message, u32),
    /// Send this to one neighbour, which acknowledges it; bytes as above.
    Unicast(Message, u32, NodeId),
    /// Route this packet, which the agent held, now.
    Route(Handle),
    /// Write this source route into a packet, which the agent held, and send it.
    SendAlong(Handle, SourceRoute),
    /// Send this packet, which the agent held, to this neighbour, whatever routes say by now.
    SendTo(Handle, NodeId),
    /// Lose the packets that wait in the interface queue for this next hop.
    Purge(NodeId),
    /// Drop this packet, which the agent held.
    Drop(Handle, DropCause),
}

/// The routing protocol of one node, without input and output: one call that changes something, then
/// [`poll`](Self::poll) until it has nothing more to ask for, then [`next_timer`](Self::next_timer).
///
/// An agent may hold packets; each comes back by an action, or stays until the end of the run.
pub(crate) trait RoutingAgent: Send {
    /// Where packets for this destination go, as far as the node knows.
    fn next_hop(&self, destination: NodeId) -> Option<NodeId>;

    /// Where a packet for this destination goes. It is asked for every packet without a source route, so it
    /// is quick.
    fn route(&mut self, _now: Time, destination: NodeId) -> Option<NextHop> {
        self.next_hop(destination).map(NextHop::Neighbour)
    }

    /// The node forwards a packet along this source route, which it is on.
    fn on_forwarded(&mut self, _way: &SourceRoute) {}

    /// There is no next hop for this packet.
    fn on_no_route(&mut self, now: Time, packet: RoutedPacket);

    /// The MAC gave something up that it could not deliver to this next hop, which breaks the link if the
    /// rule of [`failure_rule`](super::failure_rule) says so. Returns whether what waits for that next hop in
    /// the interface queue is stranded.
    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, breaks: bool, what: GivenUp) -> bool;

    /// The link broke that this packet waited for in the interface queue.
    fn on_stranded(&mut self, _now: Time, packet: RoutedPacket) {
        unreachable!("no link of this protocol breaks, and {packet:?} is stranded");
    }

    /// A message came from a neighbour.
    fn on_message(&mut self, now: Time, from: NodeId, message: &Message);

    /// Does it want what is overheard?
    fn listens(&self) -> bool {
        false
    }

    /// A neighbour sent this to another node. Nothing that comes of it may be due before the next call.
    fn on_overheard(&mut self, _now: Time, _from: NodeId, _what: Overheard) {}

    /// The timer went off.
    fn on_timer(&mut self, now: Time);

    /// The next thing to do, if there is one.
    fn poll(&mut self, now: Time) -> Option<Action>;

    /// When it wants to be called next.
    fn next_timer(&self) -> Option<Time>;
}
