//! Congestion controls, one file each.
//!
//! A [`Scheme`] is what is compared: a transport, its controller, and what it asks of routers. Its parameters are a struct
//! that serves as its factory. `REGISTRY` lists them all; adding a scheme is one file here and one line there.
//!
//! [`quantity`] holds the numbers with units in which parameters (and scenarios) are written.

pub mod quantity;

use multihop_core::NodeId;
use multihop_link::RouterPolicy;
use multihop_transport::Endpoint;

/// What is compared: a transport, its controller, and what it asks of routers.
pub trait Scheme: Send + Sync {
    /// The data sender of a new flow.
    fn sender(&self) -> Box<dyn Endpoint>;
    /// The data receiver of a new flow.
    fn receiver(&self) -> Box<dyn Endpoint>;
    /// What `node` does to packets of this scheme's flows, if anything.
    fn router(&self, _node: NodeId) -> Option<Box<dyn RouterPolicy>> {
        None
    }
    /// Payload bytes of a full segment or datagram.
    fn segment_size(&self) -> u32;
    /// Does the transport send whatever it is given at once, without a window of its own?
    fn datagrams(&self) -> bool {
        false
    }
}
