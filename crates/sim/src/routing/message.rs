//! Messages between neighbours, as bytes: those of routing protocols, and the notices of router policies.

use multihop_core::{Carrier, Layout, NodeId};
use std::sync::Arc;

/// IP datagram that a routing protocol or a router policy sends to a neighbour or to all. Copies share its
/// bytes, which only the protocol or the scheme interprets. It crosses one hop: a node that relays it makes a
/// new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) carrier: Carrier,
    pub(crate) ip: IpFields,
    bytes: Arc<[u8]>,
    air: usize,
}

/// Wire format of a routing protocol's messages, for dissectors and the reference.
#[derive(Clone, Copy, Debug)]
pub struct WireFormat {
    /// Carrier of the messages.
    pub carrier: Carrier,
    /// Layouts of the headers in the messages.
    pub layouts: &'static [Layout],
    /// Whether Wireshark has a dissector for them.
    pub in_wireshark: bool,
}

/// Fields of a message's IP header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IpFields {
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    pub(crate) ttl: u8,
}

impl Message {
    /// Creates a message of these bytes, the first `air` of which are transmitted. Simulated nodes share the
    /// others without airtime.
    pub(crate) fn new(carrier: Carrier, ip: IpFields, bytes: impl Into<Arc<[u8]>>, air: usize) -> Message {
        let bytes = bytes.into();
        debug_assert!(air <= bytes.len());
        Message { carrier, ip, bytes, air }
    }

    /// All bytes, transmitted or not.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Transmitted bytes.
    pub(crate) fn on_air(&self) -> &[u8] {
        &self.bytes[..self.air]
    }
}
