//! Transport machinery that does no input or output of its own ("sans-IO").
//!
//! * [`Endpoint`]: one end of a flow. The caller feeds it segments and time, then drains what it wants to send.
//! * [`Controller`]: a sender's congestion control; it only ever says how much may be sent. [`Reno`] is the one that most
//!   schemes build on; [`Cubic`], [`Vegas`], [`Westwood`] and [`AdaptivePacing`] each hold one, for its slow start and limits. [`Bbr`] does not: it
//!   follows a model of the path, made of samples of the delivery rate (`delivery_rate`).
//! * [`TcpSender`] and [`TcpReceiver`], with [`TcpOptions`] in which RFCs and ns-2 can differ. What is sent (loss recovery:
//!   `recovery`, `scoreboard`) is apart from how much (the controller) and from when (the timer: [`Rto`]).
//! * [`UdpSender`] and [`UdpReceiver`].
//! * [`TfrcSender`] and [`TfrcReceiver`]: datagrams at the rate that the throughput [`Equation`] of TCP gives, or at most that of a [`RateCeiling`].
//!
//! There are no payload bytes, only their number; there is no clock, only `now`; nothing here fails, because whatever can be
//! wrong was refused where options are read.

mod adaptive_pacing;
mod bbr;
mod controller;
mod cubic;
mod delivery_rate;
mod echo;
mod endpoint;
mod hystart;
mod messages;
mod options;
mod ranges;
mod receiver;
mod recovery;
mod reno;
mod rto;
mod scoreboard;
mod send_times;
mod sender;
mod tfrc;
mod udp;
mod vegas;
mod westwood;

pub use adaptive_pacing::{AdaptivePacing, AdaptivePacingOptions, Dispersion, ShortPath};
pub use bbr::{Bbr, BbrOptions};
pub use controller::{
    Acked, Allowance, Controller, Delivery, Heard, LossKind, Lost, Marked, Recovered, Returned, Sent,
};
pub use cubic::{Cubic, CubicOptions};
pub use echo::Echo;
pub use endpoint::{Delivered, Endpoint, Progress};
pub use options::{CongestionHeader, ExitWindow, Recovery, SackedAtTimeout, TcpOptions};
pub use receiver::TcpReceiver;
pub use reno::{Growth, Halving, Reno, RenoOptions};
pub use rto::{Rto, RtoOptions};
pub use sender::TcpSender;
pub use tfrc::{
    Averaging, Equation, EquationTimeout, FirstInterval, NoFeedback, Path, RateCeiling, RateChange, Release,
    Report, ReportTimer, SlowStart, TfrcDataHeader, TfrcOptions, TfrcReceiver, TfrcReportHeader, TfrcSender,
    Unlimited,
};
pub use udp::{UdpOptions, UdpReceiver, UdpSender};
pub use vegas::{Backlog, Vegas, VegasOptions};
pub use westwood::{BandwidthFilter, Westwood, WestwoodOptions};
