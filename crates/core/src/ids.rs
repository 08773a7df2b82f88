//! Dense indices of the things in a scenario.

use serde::Serialize;

/// A node: an index in the order in which the scenario lists them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NodeId(pub u32);

/// A flow: an index in the order in which the scenario lists them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FlowId(pub u32);

/// Which end of a flow a packet is addressed to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Port {
    /// The data receiver: the packet travels from the flow's source to its destination.
    Receiver,
    /// The data sender: the packet carries feedback back to the flow's source.
    Sender,
}

impl NodeId {
    /// No node in particular: every neighbour.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// As an index into per-node tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The IPv4 address: 10.0.0.1 for the first node, 255.255.255.255 for [`NodeId::BROADCAST`].
    #[inline]
    pub const fn ipv4(self) -> [u8; 4] {
        if self.0 == NodeId::BROADCAST.0 {
            return [255; 4];
        }
        let [_, a, b, c] = (self.0 + 1).to_be_bytes();
        [10, a, b, c]
    }

    /// The node of this IPv4 address. The first byte says no more than whether it is everyone's.
    #[inline]
    pub const fn from_ipv4([net, a, b, c]: [u8; 4]) -> NodeId {
        if net == 255 {
            return NodeId::BROADCAST;
        }
        NodeId(u32::from_be_bytes([0, a, b, c]).wrapping_sub(1))
    }
}

impl FlowId {
    /// No flow: what routing protocols send to each other.
    pub const ROUTING: FlowId = FlowId(u32::MAX);
    /// No flow: what the routers of a scheme signal to each other.
    pub const SIGNALLING: FlowId = FlowId(u32::MAX - 1);
    /// No flow: requests and replies of address resolution.
    pub const ARP: FlowId = FlowId(u32::MAX - 2);

    /// No flow: frames of one hop that come from outside of a run.
    pub const OUTSIDE: FlowId = FlowId(u32::MAX - 3);

    /// As an index into per-flow tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
