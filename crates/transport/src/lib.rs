//! Transport machinery that does no input or output of its own ("sans-IO").
//!
//! * [`Endpoint`]: one end of a flow. The caller feeds it segments and time, then drains what it wants to
//!   send.
//! * `cc`: congestion controls, behind the trait [`Controller`].
//! * `tcp`: [`TcpSender`] and [`TcpReceiver`], with [`TcpOptions`] in which RFCs and ns-2 can differ.
//! * `tfrc`: [`TfrcSender`] and [`TfrcReceiver`], datagrams at the rate that the throughput [`Equation`] of
//!   TCP gives, or at most that of a [`RateCeiling`].
//! * `udp`: [`UdpSender`] and [`UdpReceiver`].
//!
//! There are no payload bytes, only their number; there is no clock, only `now`; nothing here fails, because
//! whatever can be wrong was refused where options are read.

mod cc;
mod endpoint;
mod flavour;
mod messages;
mod tcp;
mod tfrc;
mod udp;

pub use cc::{
    AckInfo, Acked, AdaptivePacing, AdaptivePacingOptions, Allowance, Backlog, BandwidthFilter, Bbr,
    BbrOptions, BbrRules, Controller, Cubic, CubicOptions, Delivery, Dispersion, Growth, Halving, LossKind,
    Lost, Marked, Recovered, Reno, RenoOptions, Returned, Sent, ShortPath, Vegas, VegasOptions, Westwood,
    WestwoodOptions,
};
pub use endpoint::{Delivered, Endpoint, Progress};
pub use flavour::Flavour;
pub use messages::Messages;
pub use tcp::{
    CongestionHeader, Echo, ExitWindow, Recovery, Rto, RtoOptions, SackedAtTimeout, SmallQueues, TcpOptions,
    TcpReceiver, TcpSender,
};
pub use tfrc::{
    Averaging, Equation, EquationTimeout, FirstInterval, NoFeedback, Path, RateCeiling, RateChange, Release,
    Report, ReportTimer, SlowStart, TfrcDataHeader, TfrcOptions, TfrcReceiver, TfrcReportHeader, TfrcSender,
    Unlimited,
};
pub use udp::{UdpOptions, UdpReceiver, UdpSender};
