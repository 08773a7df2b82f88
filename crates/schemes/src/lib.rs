//! Congestion control schemes, one folder for each family.
//!
//! A [`Scheme`] is a transport, its congestion controller and its router policy. A struct of parameters
//! builds each scheme. [`REGISTRY`] lists all schemes. To add a scheme, add a file to its family's folder and
//! a line to [`REGISTRY`].
//!
//! | folder | schemes |
//! |---|---|
//! | `udp` | [`Udp`]: no congestion control |
//! | `tcp` | [`TcpNewReno`], [`TcpSack`]: AIMD, with two kinds of loss recovery; [`TcpCubic`], [`TcpVegas`], [`TcpWestwood`]; [`TcpBbr`], [`TcpBbr3`]: window and pace from a model of the path; [`TcpPrague`]: scalable, for queues of low latency; [`TcpAp`]: pace from round-trip times and hops; [`TcpElfn`], [`Atcp`]: senders that learn of failures of their route |
//! | `tfrc` | [`Tfrc`]: datagrams at the rate of TCP's throughput equation; [`TfrcCapped`]: below a constant rate; [`ReTfrc`]: below the rate that saturates the MAC of a chain |
//! | `media` | [`Nada`], [`Gcc`], [`Scream`]: real-time media, with feedback on each packet |
//! | `quick_and_plenty` | [`QuickAndPlenty`]: datagrams at the rate that keeps aggregates at a target length |
//! | `marking` | [`Recn`], [`EcnRts`], [`EcnFsd`], [`EcnBusy`]: ECN marks from a metric of the MAC |
//! | `red` | [`Lred`], [`Nred`]: random early drops, by retransmissions of the MAC or the busy share of the medium |
//! | `xcp` | [`Xcp`]: routers signal changes of windows; [`XcpB`]: without a known capacity; [`XcpWinf`]: with rt-Winf's estimates |
//! | `rcp` | [`Rcp`]: routers signal a rate; [`RcpWinf`]: with rt-Winf's estimates |
//! | `load` | [`Vcp`], [`Bmcc`]: routers signal their load factor in the two ECN bits |
//! | `abc` | [`Abc`]: routers mark each packet to accelerate or brake |
//! | `maxnet` | [`MaxNet`]: a rate that falls with the largest price on the path |
//! | `ewccp` | [`Ewccp`]: routers that share the medium report their queues to each other |
//! | `wcp` | [`Wcp`]: rates that congested links of the neighbourhood halve; [`WcpCap`]: rates that share the airtime of the neighbourhood |
//!
//! Each family's folder holds:
//! - the parameters (`mod.rs`, or one file for each scheme),
//! - the congestion header and its echo (`header.rs`),
//! - the router policy (`router.rs`) and the sender (`sender.rs`).
//!
//! Families share [`tcp`], the parameters of TCP connections, and `capacity`, the sources of a link's
//! capacity with the parameters of rt-Winf. Tables of parameters are written in the language of
//! `multihop_config`.

// Lets paths that begin with `multihop_schemes` resolve in this crate too.
extern crate self as multihop_schemes;

pub mod marking;
pub mod tcp;
pub mod tfrc;

mod abc;
mod capacity;
mod ewccp;
mod load;
mod maxnet;
mod media;
mod neighbourhood;
mod overrides;
mod published;
mod quick_and_plenty;
mod rcp;
mod red;
mod registry;
mod round_trip;
mod scheme;
#[cfg(test)]
mod testing;
mod udp;
mod wcp;
#[cfg(test)]
mod wiring;
mod xcp;

pub use abc::Abc;
pub use capacity::{CapacityParameters, CapacitySource, SampledFrames, WinfParameters};
pub use ewccp::{Ewccp, OnTimeout, SharedLoad};
pub use load::{AdditionLimit, Bmcc, Vcp};
pub use marking::{Busyness, EcnBusy, EcnFsd, EcnRts, FrameEfficiency, Recn, RtsFailures, ServiceDelay};
pub use maxnet::MaxNet;
pub use media::{Gcc, Nada, Scream};
pub use multihop_config::parameter_error::ParameterError;
pub use quick_and_plenty::QuickAndPlenty;
pub use rcp::{Input, Offer, Pacing, Rcp, RcpConnection, RcpControl, RcpWinf, Refresh, WindowLimit};
pub use red::{Lred, Nred};
pub use registry::{Parameters, REGISTRY, SchemeEntry, find, find_among};
pub use scheme::{Scheme, SenderStation, TcpParts, TcpScheme};
pub use tcp::{
    Atcp, DelayDispersion, Filter, SackRecovery, ShortPaths, TcpAp, TcpBbr, TcpBbr3, TcpCubic, TcpElfn,
    TcpNewReno, TcpPrague, TcpSack, TcpVegas, TcpWestwood,
};
pub use tfrc::{Ceiling, CurrentRtt, ExchangeOf, ReTfrc, Success, Tfrc, TfrcCapped, TfrcParameters};
pub use udp::Udp;
pub use wcp::{Wcp, WcpCap};
pub use xcp::{Psi, QueueTimer, Shuffled, Spare, Throughput, Xcp, XcpB, XcpConnection, XcpControl, XcpWinf};
