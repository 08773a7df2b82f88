//! What packets say that belong to no flow.

use crate::routing;

/// What a packet says that belongs to no flow; copies share it. It goes one hop: a node that relays it makes
/// a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Of a routing protocol, which alone understands it.
    Routing(routing::Message),
    /// Of a router policy of this scheme, to those of its neighbours: a [`multihop_link::Notice`].
    Notice { scheme: usize, message: routing::Message },
    /// Of address resolution: the packet itself says all.
    Arp,
    /// A frame from outside of the run: its number says all.
    Outside,
}
