//! Contents of packets that belong to no flow.

use super::Datagram;

/// Content of a packet that belongs to no flow. Copies share it. The packet crosses one hop: a node that
/// relays it makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PacketContent {
    /// Message of a routing protocol, opaque to the engine.
    Routing(Datagram),
    /// Notice of a router policy of this scheme to neighbours: a [`multihop_link::Notice`].
    Notice { scheme: usize, notice: Datagram },
    /// Request or reply of address resolution, described by the packet itself.
    Arp,
    /// Probe of a link, whose content does not matter.
    Probe,
    /// Injected frame, identified by its number.
    Outside,
}

impl PacketContent {
    /// Message of a routing protocol; none for other contents.
    pub(crate) fn routing(&self) -> Option<&Datagram> {
        match self {
            PacketContent::Routing(message) => Some(message),
            PacketContent::Notice { .. }
            | PacketContent::Arp
            | PacketContent::Probe
            | PacketContent::Outside => None,
        }
    }

    /// Datagram that the packet is; none for address resolution, probes and injected frames.
    pub(crate) fn datagram(&self) -> Option<&Datagram> {
        match self {
            PacketContent::Routing(datagram) | PacketContent::Notice { notice: datagram, .. } => {
                Some(datagram)
            }
            PacketContent::Arp | PacketContent::Probe | PacketContent::Outside => None,
        }
    }
}
