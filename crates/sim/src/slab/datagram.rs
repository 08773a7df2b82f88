//! IP datagrams between neighbours: messages of routing protocols, and notices of router policies.

use multihop_core::{Carrier, NodeId};
use std::sync::Arc;

/// IP datagram that a routing protocol or a router policy sends to a neighbour or to all. Copies share its
/// bytes, which only the protocol or the scheme interprets. It crosses one hop: a node that relays it makes a
/// new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Datagram {
    pub(crate) carrier: Carrier,
    pub(crate) ip: IpFields,
    bytes: Arc<[u8]>,
    air: usize,
}

/// Fields of a datagram's IP header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IpFields {
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    pub(crate) ttl: u8,
}

impl Datagram {
    /// Creates a datagram of these bytes, the first `air` of which are transmitted. Simulated nodes share the
    /// others without airtime.
    pub(crate) fn new(carrier: Carrier, ip: IpFields, bytes: impl Into<Arc<[u8]>>, air: usize) -> Datagram {
        let bytes = bytes.into();
        debug_assert!(air <= bytes.len());
        Datagram { carrier, ip, bytes, air }
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
