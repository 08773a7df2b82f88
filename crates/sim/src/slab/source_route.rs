//! Source routes of packets (DSR, RFC 4728).

use multihop_core::NodeId;
use std::sync::Arc;

/// Source route of a packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceRoute {
    /// Nodes of the route, each once, from the node that wrote it to the destination.
    pub(crate) nodes: Arc<[NodeId]>,
    /// Number of times that a node other than the packet's source replaced the route.
    pub(crate) salvaged: u8,
}
