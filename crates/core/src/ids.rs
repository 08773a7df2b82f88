//! Dense indices of the things in a scenario.

use serde::Serialize;

/// Node, as an index in the order in which the scenario lists nodes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NodeId(pub u32);

/// Flow, as an index in the order in which the scenario lists flows.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FlowId(pub u32);

/// End of a flow that a packet is addressed to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Port {
    /// The data receiver: the packet travels from the flow's source to its destination.
    Receiver,
    /// The data sender: the packet carries feedback back to the flow's source.
    Sender,
}

impl NodeId {
    /// Address of every neighbour.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// Index of the node in per-node tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// IPv4 address of the node: 10.0.0.1 for the first, 255.255.255.255 for [`NodeId::BROADCAST`].
    #[inline]
    pub const fn ipv4(self) -> [u8; 4] {
        if self.0 == NodeId::BROADCAST.0 {
            return [255; 4];
        }
        let [_, a, b, c] = (self.0 + 1).to_be_bytes();
        [10, a, b, c]
    }

    /// Node with this IPv4 address. The first byte only distinguishes the broadcast address.
    #[inline]
    pub const fn from_ipv4([net, a, b, c]: [u8; 4]) -> NodeId {
        if net == 255 {
            return NodeId::BROADCAST;
        }
        NodeId(u32::from_be_bytes([0, a, b, c]).wrapping_sub(1))
    }
}

impl FlowId {
    /// Marker of packets of routing protocols, which belong to no flow.
    pub const ROUTING: FlowId = FlowId(u32::MAX);
    /// Marker of packets between the router policies of a scheme, which belong to no flow.
    pub const SIGNALLING: FlowId = FlowId(u32::MAX - 1);
    /// Marker of address resolution, which belongs to no flow.
    pub const ARP: FlowId = FlowId(u32::MAX - 2);

    /// Marker of injected frames of one hop, which belong to no flow.
    pub const OUTSIDE: FlowId = FlowId(u32::MAX - 3);
    /// Marker of probes of a link, which a node sends for its estimators and which belong to no flow.
    pub const PROBES: FlowId = FlowId(u32::MAX - 4);

    /// Index of the flow in per-flow tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
