//! Messages between neighbours, as bytes: those of routing protocols, and the notices of router policies.

use multihop_core::{Carrier, Layout, NodeId};
use std::sync::Arc;

/// What a node sends to another, or to all neighbours, for a routing protocol or a router policy: an IP
/// datagram. Copies share its bytes, which the protocol or the scheme alone understands. It goes one hop: a
/// node that relays it makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) carrier: Carrier,
    pub(crate) ip: IpFields,
    bytes: Arc<[u8]>,
    air: usize,
}

/// What dissectors and the reference know of the messages of a routing protocol.
#[derive(Clone, Copy, Debug)]
pub struct WireFormat {
    /// What carries them.
    pub carrier: Carrier,
    /// The layouts of what they are made of.
    pub layouts: &'static [Layout],
    /// Wireshark has a dissector of them.
    pub in_wireshark: bool,
}

/// What the IP header says of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IpFields {
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    pub(crate) ttl: u8,
}

impl Message {
    /// These bytes, of which the first `air` are on the air. Simulated nodes share what follows.
    pub(crate) fn new(carrier: Carrier, ip: IpFields, bytes: impl Into<Arc<[u8]>>, air: usize) -> Message {
        let bytes = bytes.into();
        debug_assert!(air <= bytes.len());
        Message { carrier, ip, bytes, air }
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes that are on the air.
    pub(crate) fn on_air(&self) -> &[u8] {
        &self.bytes[..self.air]
    }
}
