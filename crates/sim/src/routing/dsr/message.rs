//! What DSR's nodes say to each other, and how many bytes it takes (RFC 4728, section 6).

use multihop_core::NodeId;
use std::sync::Arc;

/// Bytes of an IP header, and of the fixed part of the DSR header (6.1).
const IP_HEADER: u32 = 20;
const FIXED: u32 = 4;
/// Bytes of an address.
const ADDRESS: u32 = 4;
/// Bytes of a route request (6.2) and of a route reply (6.3) without addresses that were recorded, of a route error about a
/// node that is not reachable (6.4), and of a source route without addresses (6.7).
const REQUEST: u32 = 8;
const REPLY: u32 = 3;
const ERROR: u32 = 16;
const SOURCE_ROUTE: u32 = 4;

/// A link that broke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BrokenLink {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// What DSR's nodes say to each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DsrMessage {
    /// Who knows a way to the target?
    Request(Request),
    /// This is one.
    Reply(Reply),
    /// That one is broken.
    Error(RouteError),
}

/// A route request, which floods the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) target: NodeId,
    /// Its number among the requests of its source.
    pub(crate) number: u32,
    /// How many times it may be relayed.
    pub(crate) reach: u16,
    /// Its source, and who relayed it so far.
    pub(crate) nodes: Vec<NodeId>,
    /// A break that its source was told of lately: who answers should not answer with that.
    pub(crate) broken: Option<BrokenLink>,
}

/// A route reply, which goes back to who asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The route, from who asked to the target.
    pub(crate) found: Arc<[NodeId]>,
    /// The nodes that the reply passes, from the first to who asked.
    pub(crate) way: Arc<[NodeId]>,
}

/// A route error, which goes to who wrote the route.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RouteError {
    pub(crate) link: BrokenLink,
    /// The nodes that the error passes, from who found the break to who wrote the route.
    pub(crate) way: Arc<[NodeId]>,
}

impl DsrMessage {
    /// The nodes that a reply or an error passes; who relayed a request so far.
    pub(super) fn way(&self) -> &[NodeId] {
        match self {
            DsrMessage::Request(request) => &request.nodes,
            DsrMessage::Reply(reply) => &reply.way,
            DsrMessage::Error(error) => &error.way,
        }
    }

    /// Bytes above the MAC, IP header included.
    pub(super) fn size(&self) -> u32 {
        match self {
            DsrMessage::Request(request) => {
                let relays = request.nodes.len() as u32 - 1;
                let error = if request.broken.is_some() { ERROR } else { 0 };
                IP_HEADER + FIXED + REQUEST + ADDRESS * relays + error
            }
            DsrMessage::Reply(reply) => {
                let option = REPLY + ADDRESS * (reply.found.len() as u32 - 1);
                IP_HEADER + source_route_bytes(&reply.way) + option.next_multiple_of(4)
            }
            DsrMessage::Error(error) => IP_HEADER + source_route_bytes(&error.way) + ERROR,
        }
    }
}

/// Bytes that a source route adds to a packet: the fixed part of the DSR header, and an address for each node between the ends.
/// ns-2 counts the same.
pub(crate) fn source_route_bytes(nodes: &[NodeId]) -> u32 {
    FIXED + SOURCE_ROUTE + ADDRESS * (nodes.len() as u32).saturating_sub(2)
}

/// Who comes after a node on a way that it is on.
///
/// # Panics
/// If it is not, or is the end.
pub(crate) fn next_on(way: &[NodeId], node: NodeId) -> NodeId {
    let at =
        way.iter().position(|other| *other == node).expect("nodes forward what came along a way of theirs");
    way[at + 1]
}
