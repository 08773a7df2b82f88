//! Congestion controls, one file each.
//!
//! A [`Scheme`] is what is compared: a transport, its controller, and what it asks of routers. Its parameters are a struct
//! that serves as its factory. [`REGISTRY`] lists them all; adding a scheme is one file here, its module, and one line there.
//!
//! | file | scheme |
//! |---|---|
//! | `udp.rs` | [`Udp`]: no congestion control |
//! | `tcp_newreno.rs`, `tcp_sack.rs` | [`TcpNewReno`], [`TcpSack`]: AIMD, with the two ways to repair losses |
//! | `tcp_cubic.rs`, `tcp_vegas.rs`, `tcp_westwood.rs` | [`TcpCubic`], [`TcpVegas`], [`TcpWestwood`]: other ways to open and cut the window |
//! | `tcp_bbr.rs` | [`TcpBbr`]: a window and a pace from a model of the path |
//! | `tcp_ap.rs` | [`TcpAp`]: a window and a pace from round-trip times and hops |
//! | `tfrc.rs`, `tfrc_capped.rs` | [`Tfrc`]: datagrams at the rate of TCP's throughput equation; [`TfrcCapped`]: below a constant rate |
//! | `re_tfrc.rs` | [`ReTfrc`]: below the rate that saturates the MAC of a chain, as `airtime_ceiling.rs` or `rate_estimation.rs` finds it |
//! | `recn.rs` | [`Recn`]: ECN marks from the MAC's transmission efficiency |
//! | `ecn_rts.rs`, `ecn_fsd.rs`, `ecn_busy.rs` | [`EcnRts`], [`EcnFsd`], [`EcnBusy`]: its rivals, from other metrics of the MAC |
//! | `lred.rs` | [`Lred`]: drops or marks by chance, and pauses, by the MAC's retransmissions |
//! | `nred.rs` | [`Nred`]: drops or marks by chance, by how busy a neighbourhood finds the medium |
//! | `xcp.rs`, `xcp_b.rs` | [`Xcp`]: routers say by how much to change a window; [`XcpB`]: without knowing a capacity |
//! | `rcp.rs` | [`Rcp`]: routers say at which rate to send |
//! | `xcp_winf.rs`, `rcp_winf.rs` | [`XcpWinf`], [`RcpWinf`]: both with what rt-Winf measures of the medium |
//! | `abc.rs` | [`Abc`]: routers tell for each packet whether to send two more or none |
//! | `ewccp.rs` | [`Ewccp`]: routers that share the medium tell each other of their queues |
//! | `vcp.rs`, `bmcc.rs` | [`Vcp`], [`Bmcc`]: routers tell their load factor in the two ECN bits, as a region or as a number |
//! | `maxnet.rs` | [`MaxNet`]: a rate that falls with the largest price on the way |
//!
//! `xcp_router.rs` and `xcp_sender.rs` hold what XCP and its derivatives share, `rcp_router.rs` and `rcp_sender.rs` the
//! same of RCP, `load_router.rs` and `load_sender.rs` of VCP and BMCC, `abc_router.rs` and `abc_sender.rs` the two parts of ABC, `interval.rs` how VCP and BMCC divide time, `winf.rs` the parameters of rt-Winf, `capacity.rs` where
//! routers have capacities from, `early_drop.rs` what schemes do that drop by chance. [`marking`] holds what RECN and its rivals share; [`tcp`] holds the parameters that all TCP schemes share, [`tfrc`] those of schemes with TFRC's transport; [`quantity`] holds the numbers with units in which parameters (and scenarios) are written.

// The file of a scheme reads the same in this crate as in another.
extern crate self as multihop_schemes;

pub mod marking;
pub mod quantity;
pub mod tcp;
pub mod tfrc;

mod abc;
mod abc_router;
mod abc_sender;
mod airtime_ceiling;
mod bmcc;
mod capacity;
mod early_drop;
mod ecn_busy;
mod ecn_fsd;
mod ecn_rts;
mod ewccp;
mod interval;
mod load_router;
mod load_sender;
mod lred;
mod maxnet;
mod nred;
mod rate_estimation;
mod rcp;
mod rcp_router;
mod rcp_sender;
mod rcp_winf;
mod re_tfrc;
mod recn;
mod registry;
mod round_trip;
mod tcp_ap;
mod tcp_bbr;
mod tcp_cubic;
mod tcp_newreno;
mod tcp_sack;
mod tcp_vegas;
mod tcp_westwood;
mod tfrc_capped;
mod udp;
mod vcp;
mod winf;
mod xcp;
mod xcp_b;
mod xcp_router;
mod xcp_sender;
mod xcp_winf;

pub use abc::Abc;
pub use bmcc::Bmcc;
pub use capacity::{CapacityParameters, CapacitySource};
pub use ecn_busy::{Busyness, EcnBusy};
pub use ecn_fsd::{EcnFsd, ServiceDelay};
pub use ecn_rts::{EcnRts, RtsFailures};
pub use ewccp::{Ewccp, OnTimeout, SharedLoad};
pub use lred::Lred;
pub use maxnet::MaxNet;
pub use nred::Nred;
pub use rate_estimation::CurrentRtt;
pub use rcp::{Rcp, RcpConnection, RcpControl};
pub use rcp_sender::{Pacing, Refresh, WindowLimit};
pub use rcp_winf::{Input, Offer, RcpWinf};
pub use re_tfrc::{Ceiling, ReTfrc, Success};
pub use recn::{FrameEfficiency, Recn};
pub use registry::{Entry, Parameters, REGISTRY, find, find_among};
pub use tcp_ap::{DelayDispersion, ShortPaths, TcpAp};
pub use tcp_bbr::TcpBbr;
pub use tcp_cubic::TcpCubic;
pub use tcp_newreno::TcpNewReno;
pub use tcp_sack::TcpSack;
pub use tcp_vegas::TcpVegas;
pub use tcp_westwood::{Filter, TcpWestwood};
pub use tfrc::{Tfrc, TfrcParameters};
pub use tfrc_capped::TfrcCapped;
pub use udp::Udp;
pub use vcp::Vcp;
pub use winf::{Reading, Watched, WinfParameters};
pub use xcp::{Xcp, XcpConnection, XcpControl};
pub use xcp_b::XcpB;
pub use xcp_winf::{Psi, QueueTimer, Shuffled, Spare, Throughput, XcpWinf};

use multihop_core::{FlowId, NodeId};
use multihop_link::{Outlet, PhyTimes, RouterPolicy};
use multihop_transport::Endpoint;

/// What a sender may know of itself and the radio of its own station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// The sender's own flow, as link events have it.
    pub flow: FlowId,
    /// Times of the PHY and contention windows.
    pub phy: PhyTimes,
    /// The least size of packets, in bytes at the network layer, before which the MAC sends RTS; none if it never does.
    pub rts_from: Option<u32>,
}

/// What is compared: a transport, its controller, and what it asks of routers.
pub trait Scheme: Send + Sync {
    /// The data sender of a new flow.
    fn sender(&self) -> Box<dyn Endpoint>;
    /// The same at a station. Most transports do not look at what is below them.
    fn sender_at(&self, _station: &Station) -> Box<dyn Endpoint> {
        self.sender()
    }
    /// The data receiver of a new flow.
    fn receiver(&self) -> Box<dyn Endpoint>;
    /// What `node` does to packets of this scheme's flows at the queue before `outlet`, if anything.
    fn router(&self, _node: NodeId, _outlet: &Outlet) -> Option<Box<dyn RouterPolicy>> {
        None
    }
    /// Payload bytes of a full segment or datagram.
    fn segment_size(&self) -> u32;
    /// Does the transport send whatever it is given at once, without a window or a rate of its own?
    fn datagrams(&self) -> bool {
        false
    }
    /// Does the transport bring what it is given as one stream of which nothing is missing, and say so? Others send datagrams, each a
    /// message of its own, and those that are lost are lost.
    fn reliable(&self) -> bool {
        !self.datagrams()
    }
}
