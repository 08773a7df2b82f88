//! Address resolution (RFC 826): a node asks for a neighbour's address before the first unicast to it.
//!
//! As in ns-2, one packet per neighbour waits for an address. Each further packet replaces it (RFC 1122,
//! 2.3.2.2: at least the latest is saved) and repeats the request; there is no timer. The neighbour counts as
//! unreachable when a packet follows three unanswered requests. Known addresses do not expire.

use super::{Stack, StackContext};
use crate::slab::{Handle, PacketContent};
use multihop_core::{DropCause, FlowId, NodeId, Packet, Port};

/// Length in bytes of a request and of a reply, for addresses of 6 and 4 bytes.
const SIZE: u32 = 28;
/// Number of unanswered requests after which the neighbour is given up.
const REQUESTS_MAX: u32 = 3;

/// Known and requested addresses of a node's neighbours, in the order of neighbours.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    known: Vec<(NodeId, Address)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Address {
    Known,
    /// Requested address: number of requests, and the packet that waits.
    Asked {
        requests: u32,
        held: Handle,
    },
}

/// Result of looking up a neighbour's address.
#[derive(Debug, Eq, PartialEq)]
enum Resolution {
    Known,
    /// The packet waits, and replaces this one, if any.
    Ask(Option<Handle>),
    /// The neighbour does not answer: the packet and this waiting one are given up.
    GiveUp(Handle),
}

impl Neighbours {
    fn resolve(&mut self, peer: NodeId, handle: Handle) -> Resolution {
        let at = match self.known.binary_search_by_key(&peer, |(node, _)| *node) {
            Ok(at) => at,
            Err(at) => {
                self.known.insert(at, (peer, Address::Asked { requests: 1, held: handle }));
                return Resolution::Ask(None);
            }
        };
        match self.known[at].1 {
            Address::Known => Resolution::Known,
            Address::Asked { requests: REQUESTS_MAX, held } => {
                self.known.remove(at);
                Resolution::GiveUp(held)
            }
            Address::Asked { requests, held } => {
                self.known[at].1 = Address::Asked { requests: requests + 1, held: handle };
                Resolution::Ask(Some(held))
            }
        }
    }

    /// Learns the address of a neighbour. A node that is not the target learns it if it has asked for it (RFC
    /// 826, "Packet Reception"). Returns the packet that waited for it.
    fn learn(&mut self, peer: NodeId, talks_to_us: bool) -> Option<Handle> {
        match self.known.binary_search_by_key(&peer, |(node, _)| *node) {
            Ok(at) => match std::mem::replace(&mut self.known[at].1, Address::Known) {
                Address::Known => None,
                Address::Asked { held, .. } => Some(held),
            },
            Err(at) => {
                if talks_to_us {
                    self.known.insert(at, (peer, Address::Known));
                }
                None
            }
        }
    }

    /// Removes the packet that waits for this neighbour.
    fn forget(&mut self, peer: NodeId) -> Option<Handle> {
        let at = self.known.binary_search_by_key(&peer, |(node, _)| *node).ok()?;
        let Address::Asked { held, .. } = self.known[at].1 else { return None };
        self.known.remove(at);
        Some(held)
    }

    fn has_address(&self, peer: NodeId) -> bool {
        let at = self.known.binary_search_by_key(&peer, |(node, _)| *node);
        at.is_ok_and(|at| self.known[at].1 == Address::Known)
    }
}

impl Stack {
    /// Enables address resolution: addresses are unknown until requested.
    pub fn resolve_addresses(&mut self) {
        self.neighbours = Some(Neighbours::default());
    }

    /// Whether packets to this neighbour can be sent at once.
    pub(super) fn is_known(&self, peer: NodeId) -> bool {
        self.neighbours.as_ref().is_none_or(|neighbours| neighbours.has_address(peer))
    }

    /// Whether the neighbour's address is known. Otherwise the packet waits for it, or is given up.
    pub(super) fn is_resolved(&mut self, around: &mut StackContext, handle: Handle, peer: NodeId) -> bool {
        let Some(neighbours) = &mut self.neighbours else { return true };
        match neighbours.resolve(peer, handle) {
            Resolution::Known => return true,
            Resolution::Ask(displaced) => {
                if let Some(other) = displaced {
                    self.lose(around.now, other, DropCause::QueueFull, around.packets, around.record);
                }
                self.say_address(around, Port::Receiver, peer);
            }
            Resolution::GiveUp(held) => {
                for packet in [held, handle] {
                    self.on_given_up(around.now, peer, packet, around.packets, around.record);
                }
            }
        }
        false
    }

    /// Handles a request or a reply, which may be for another node.
    pub(super) fn take_arp(&mut self, around: &mut StackContext, packet: &Packet) {
        let Some(neighbours) = &mut self.neighbours else { return };
        let for_us = packet.destination == self.id;
        if let Some(held) = neighbours.learn(packet.source, for_us) {
            self.admit(around, held, packet.source);
        }
        if for_us && packet.port == Port::Receiver {
            self.say_address(around, Port::Sender, packet.source);
        }
    }

    /// Removes the packet that waits for the address of an unreachable neighbour.
    pub(super) fn forget_address(&mut self, peer: NodeId) -> Option<Handle> {
        self.neighbours.as_mut()?.forget(peer)
    }

    /// Broadcasts a request, or sends a reply to the sender of a request.
    fn say_address(&mut self, around: &mut StackContext, port: Port, to: NodeId) {
        let handle = self.control_packet(around, (FlowId::ARP, port), PacketContent::Arp, SIZE, to);
        let peer = (port == Port::Sender).then_some(to);
        self.queue_up(around, handle, peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testing;

    fn handles() -> [Handle; 4] {
        testing::handles(4).try_into().expect("as many as were asked for")
    }

    #[test]
    fn the_latest_packet_waits_and_the_fourth_gives_up() {
        let [a, b, c, d] = handles();
        let mut neighbours = Neighbours::default();
        let peer = NodeId(7);
        assert_eq!(neighbours.resolve(peer, a), Resolution::Ask(None));
        assert_eq!(neighbours.resolve(peer, b), Resolution::Ask(Some(a)));
        assert_eq!(neighbours.resolve(peer, c), Resolution::Ask(Some(b)));
        assert_eq!(neighbours.resolve(peer, d), Resolution::GiveUp(c));
        assert_eq!(neighbours.resolve(peer, a), Resolution::Ask(None), "it begins anew");
        assert_eq!(neighbours.learn(peer, true), Some(a));
        assert_eq!(neighbours.resolve(peer, b), Resolution::Known);
        assert_eq!(neighbours.forget(peer), None);
        assert!(neighbours.has_address(peer));
    }

    #[test]
    fn the_target_of_a_request_learns_the_address_of_its_sender() {
        let [a, ..] = handles();
        let mut neighbours = Neighbours::default();
        assert_eq!(neighbours.learn(NodeId(1), false), None);
        assert!(!neighbours.has_address(NodeId(1)));
        assert_eq!(neighbours.learn(NodeId(2), true), None);
        assert!(neighbours.has_address(NodeId(2)), "a request carries the address of its sender");
        assert_eq!(neighbours.resolve(NodeId(3), a), Resolution::Ask(None));
        assert_eq!(neighbours.learn(NodeId(3), false), Some(a));
        assert_eq!(neighbours.resolve(NodeId(4), a), Resolution::Ask(None));
        assert_eq!(neighbours.forget(NodeId(4)), Some(a));
    }
}
