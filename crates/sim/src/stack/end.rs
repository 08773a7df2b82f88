//! Endpoint of a flow: a transport, and at the sending end an application.

use super::StackContext;
use crate::agenda::Slot;
use crate::apps::App;
use multihop_core::{Dscp, FlowId, NodeId, Packet, Port, Segment};
use multihop_transport::Endpoint;

/// Endpoint of a flow.
pub struct End {
    pub(super) flow: FlowId,
    /// End of the flow: sender or receiver.
    pub(super) port: Port,
    pub(super) peer: NodeId,
    pub(super) endpoint: Box<dyn Endpoint>,
    pub(super) deadline: Slot,
    pub(super) app: Option<(App, Slot)>,
    pub(super) numbered: u64,
    pub(super) segment_size: u64,
    pub(super) dscp: Dscp,
}

impl End {
    /// Creates an endpoint of `flow`. `port` is its end; `app` is the sender's application with its slot.
    pub fn new(
        flow: FlowId,
        port: Port,
        peer: NodeId,
        endpoint: Box<dyn Endpoint>,
        deadline: Slot,
        app: Option<(App, Slot)>,
        segment_size: u32,
    ) -> End {
        let segment_size = u64::from(segment_size);
        End { flow, port, peer, endpoint, deadline, app, numbered: 0, segment_size, dscp: Dscp::default() }
    }

    /// Sets the DSCP of the endpoint's packets.
    #[must_use]
    pub fn marked(self, dscp: Dscp) -> End {
        End { dscp, ..self }
    }

    /// Transport of the endpoint.
    pub fn endpoint(&self) -> &dyn Endpoint {
        self.endpoint.as_ref()
    }

    /// Application, at the sending end.
    pub fn app(&self) -> Option<&App> {
        self.app.as_ref().map(|(app, _)| app)
    }

    /// Builds the packet of a segment that this node sends.
    pub(super) fn packet(&mut self, node: NodeId, segment: &Segment, around: &StackContext) -> Packet {
        self.numbered += 1;
        Packet {
            segment: Segment { dscp: self.dscp, ..*segment },
            flow: self.flow,
            port: match self.port {
                Port::Sender => Port::Receiver,
                Port::Receiver => Port::Sender,
            },
            source: node,
            destination: self.peer,
            size: segment.payload + segment.header + around.network.extra_header,
            number: self.numbered,
            created: around.now,
            hops: 0,
        }
    }
}
