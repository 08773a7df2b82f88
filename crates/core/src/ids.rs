//! Dense indices of the things in a scenario.

/// A node: an index in the order in which the scenario lists them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub u32);

/// A flow: an index in the order in which the scenario lists them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
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
}

impl FlowId {
    /// No flow: what routing protocols send to each other.
    pub const ROUTING: FlowId = FlowId(u32::MAX);
    /// No flow: what the routers of a scheme tell each other.
    pub const SIGNALLING: FlowId = FlowId(u32::MAX - 1);
    /// No flow: requests and replies of address resolution.
    pub const ARP: FlowId = FlowId(u32::MAX - 2);

    /// As an index into per-flow tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
