//! Congestion controls, one file each.
//!
//! A [`Scheme`] is what is compared: a transport, its controller, and what it asks of routers. Its parameters are a struct
//! that serves as its factory. [`REGISTRY`] lists them all; adding a scheme is one file here and one line there.
//!
//! | file | scheme |
//! |---|---|
//! | `udp.rs` | [`Udp`]: no congestion control |
//! | `tcp_newreno.rs`, `tcp_sack.rs` | [`TcpNewReno`], [`TcpSack`]: AIMD, with the two ways to repair losses |
//! | `tcp_cubic.rs`, `tcp_vegas.rs`, `tcp_westwood.rs` | [`TcpCubic`], [`TcpVegas`], [`TcpWestwood`]: other ways to open and cut the window |
//! | `tcp_ap.rs` | [`TcpAp`]: a window and a pace from round-trip times and hops |
//! | `recn.rs` | [`Recn`]: ECN marks from the MAC's transmission efficiency |
//! | `ecn_rts.rs`, `ecn_fsd.rs`, `ecn_busy.rs` | [`EcnRts`], [`EcnFsd`], [`EcnBusy`]: its rivals, from other metrics of the MAC |
//!
//! [`marking`] holds what RECN and its rivals share; [`tcp`] holds the parameters that all TCP schemes share; [`quantity`] holds the numbers with units in which parameters (and scenarios) are written.

pub mod marking;
pub mod quantity;
pub mod tcp;

mod ecn_busy;
mod ecn_fsd;
mod ecn_rts;
mod recn;
mod registry;
mod tcp_ap;
mod tcp_cubic;
mod tcp_newreno;
mod tcp_sack;
mod tcp_vegas;
mod tcp_westwood;
mod udp;

pub use ecn_busy::{Busyness, EcnBusy};
pub use ecn_fsd::{EcnFsd, ServiceDelay};
pub use ecn_rts::{EcnRts, RtsFailures};
pub use recn::{FrameEfficiency, Recn};
pub use registry::{Entry, Parameters, REGISTRY, find};
pub use tcp_ap::{DelayDispersion, ShortPaths, TcpAp};
pub use tcp_cubic::TcpCubic;
pub use tcp_newreno::TcpNewReno;
pub use tcp_sack::TcpSack;
pub use tcp_vegas::TcpVegas;
pub use tcp_westwood::{Filter, TcpWestwood};
pub use udp::Udp;

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
