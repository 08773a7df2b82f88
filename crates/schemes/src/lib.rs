//! Congestion controls, one folder for each family.
//!
//! A [`Scheme`] is what is compared: a transport, its controller, and what it asks of routers. Its parameters
//! are a struct that serves as its factory. [`REGISTRY`] lists them all; adding a scheme is a file in its
//! family's folder, and one line there.
//!
//! | folder | schemes |
//! |---|---|
//! | `udp` | [`Udp`]: no congestion control |
//! | `tcp` | [`TcpNewReno`], [`TcpSack`]: AIMD, with two kinds of loss recovery; [`TcpCubic`], [`TcpVegas`], [`TcpWestwood`]; [`TcpBbr`]: a window and a pace from a model of the path; [`TcpAp`]: from round-trip times and hops |
//! | `tfrc` | [`Tfrc`]: datagrams at the rate of TCP's throughput equation; [`TfrcCapped`]: below a constant rate; [`ReTfrc`]: below the rate that saturates the MAC of a chain |
//! | `quick_and_plenty` | [`QuickAndPlenty`]: datagrams at the rate that keeps aggregates at a length |
//! | `marking` | [`Recn`], [`EcnRts`], [`EcnFsd`], [`EcnBusy`]: ECN marks from a metric of the MAC |
//! | `red` | [`Lred`], [`Nred`]: early drops at random, by retransmissions of the MAC or the use of a neighbourhood's medium |
//! | `xcp` | [`Xcp`]: routers signal by how much to change a window; [`XcpB`]: without a known capacity; [`XcpWinf`]: with rt-Winf's |
//! | `rcp` | [`Rcp`]: routers signal a rate; [`RcpWinf`]: with rt-Winf's estimates |
//! | `load` | [`Vcp`], [`Bmcc`]: routers signal their load factor in the two ECN bits |
//! | `abc` | [`Abc`]: routers mark each packet to accelerate or brake |
//! | `maxnet` | [`MaxNet`]: a rate that falls with the largest price on the path |
//! | `ewccp` | [`Ewccp`]: routers that share the medium report their queues to each other |
//!
//! A family's folder has its parameters (`mod.rs`, or a file for each scheme), its header's layout and echo
//! (`header.rs`), its `router.rs` and its `sender.rs`. What families share: [`tcp`] the parameters of a
//! connection, `capacity` where routers have capacities from, with the parameters of rt-Winf. The
//! language of their tables is that of `multihop_config`.

// The file of a scheme reads the same in this crate as in another.
extern crate self as multihop_schemes;

pub mod marking;
pub mod tcp;
pub mod tfrc;

mod abc;
mod capacity;
mod ewccp;
mod load;
mod maxnet;
mod overrides;
mod quick_and_plenty;
mod rcp;
mod red;
mod registry;
mod round_trip;
mod scheme;
#[cfg(test)]
mod testing;
mod udp;
#[cfg(test)]
mod wiring;
mod xcp;

pub use abc::Abc;
pub use capacity::{CapacityParameters, CapacitySource, SampledFrames, WinfParameters};
pub use ewccp::{Ewccp, OnTimeout, SharedLoad};
pub use load::{Bmcc, Vcp};
pub use marking::{Busyness, EcnBusy, EcnFsd, EcnRts, FrameEfficiency, Recn, RtsFailures, ServiceDelay};
pub use maxnet::MaxNet;
pub use multihop_config::parameter_error::ParameterError;
pub use quick_and_plenty::QuickAndPlenty;
pub use rcp::{Input, Offer, Pacing, Rcp, RcpConnection, RcpControl, RcpWinf, Refresh, WindowLimit};
pub use red::{Lred, Nred};
pub use registry::{Parameters, REGISTRY, SchemeEntry, find, find_among};
pub use scheme::{Scheme, SenderStation, TcpParts, TcpScheme};
pub use tcp::{
    DelayDispersion, Filter, SackRecovery, ShortPaths, TcpAp, TcpBbr, TcpCubic, TcpNewReno, TcpSack,
    TcpVegas, TcpWestwood,
};
pub use tfrc::{Ceiling, CurrentRtt, ExchangeOf, ReTfrc, Success, Tfrc, TfrcCapped, TfrcParameters};
pub use udp::Udp;
pub use xcp::{Psi, QueueTimer, Shuffled, Spare, Throughput, Xcp, XcpB, XcpConnection, XcpControl, XcpWinf};
