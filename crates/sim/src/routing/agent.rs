//! What a routing protocol is to a node.

use super::dsdv::Update;
use crate::slab::Handle;
use multihop_core::{DropCause, NodeId, Time};

/// What nodes of a routing protocol say to each other. A message goes one hop: who relays it makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Part of a DSDV table.
    Dsdv(Update),
}

/// What an agent wants its node to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Send this to every neighbour; it takes so many bytes above the MAC, IP header included.
    Broadcast(Message, u32),
    /// Route this packet, which the agent held, now.
    Route(Handle),
    /// Drop this packet, which the agent held.
    Drop(Handle, DropCause),
}

/// The routing protocol of one node, without input and output: one call that changes something, then [`poll`](Self::poll)
/// until it has nothing more to ask for, then [`next_timer`](Self::next_timer).
///
/// An agent may hold packets; each comes back by an action, or stays until the end of the run.
pub(crate) trait RoutingAgent: Send {
    /// Where packets for this destination go, as far as the node knows. It is asked for every packet, so it is quick.
    fn next_hop(&self, destination: NodeId) -> Option<NodeId>;

    /// There is no next hop for this packet.
    fn on_no_route(&mut self, now: Time, destination: NodeId, packet: Handle);

    /// The MAC gave a packet up that it could not deliver to this next hop.
    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, packet: Handle);

    /// A message came from a neighbour.
    fn on_message(&mut self, now: Time, from: NodeId, message: &Message);

    /// The timer went off.
    fn on_timer(&mut self, now: Time);

    /// The next thing to do, if there is one.
    fn poll(&mut self, now: Time) -> Option<Action>;

    /// When it wants to be called next.
    fn next_timer(&self) -> Option<Time>;
}
