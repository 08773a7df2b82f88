//! Contents of packets that belong to no flow.

use crate::routing;

/// Content of a packet that belongs to no flow. Copies share it. The packet crosses one hop: a node that
/// relays it makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Message of a routing protocol, opaque to the engine.
    Routing(routing::Message),
    /// Notice of a router policy of this scheme to neighbours: a [`multihop_link::Notice`].
    Notice { scheme: usize, message: routing::Message },
    /// Request or reply of address resolution, described by the packet itself.
    Arp,
    /// Injected frame, identified by its number.
    Outside,
}
