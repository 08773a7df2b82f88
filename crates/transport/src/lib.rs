//! Transport protocols without input and output of their own ("sans-IO").
//!
//! * [`Endpoint`]: one end of a flow. The caller passes segments and time to it, then drains the segments to
//!   send.
//! * `cc`: congestion controls, behind the trait [`Controller`].
//! * `tcp`: [`TcpSender`] and [`TcpReceiver`], with [`TcpOptions`] for the differences between RFCs, ns-2 and
//!   Linux.
//! * `tfrc`: [`TfrcSender`] and [`TfrcReceiver`], datagrams at the rate of TCP's throughput [`Equation`],
//!   optionally capped by a [`RateCeiling`].
//! * `media`: [`MediaSender`] and [`MediaReceiver`], datagrams with feedback on each packet, under a
//!   [`MediaControl`]: [`Nada`], [`Gcc`] or [`Scream`].
//! * `udp`: [`UdpSender`] and [`UdpReceiver`].
//!
//! Payload is represented by its number of bytes, and time by the argument `now`. Nothing in this crate
//! fails, because options are validated when they are read.

mod cc;
mod endpoint;
mod flavour;
mod gcc;
mod media;
mod messages;
mod nada;
mod scream;
mod tcp;
mod tfrc;
mod udp;

pub use cc::{
    AckInfo, Acked, AdaptivePacing, AdaptivePacingOptions, Allowance, BacklogEstimate, BandwidthFilter, Bbr,
    Bbr3, Bbr3Options, BbrOptions, BbrRules, Controller, Cubic, CubicOptions, DeliverySample, Dispersion,
    Growth, Halving, LinuxCubic, LossKind, Lost, LostSegment, Marked, Prague, PragueOptions, Recovered, Reno,
    RenoOptions, Returned, SentSegment, ShortPath, SlowStartExit, Vegas, VegasOptions, Westwood,
    WestwoodOptions,
};
pub use endpoint::{Delivered, Endpoint, Progress};
pub use flavour::Flavour;
pub use gcc::{Gcc, GccOptions};
pub use media::{
    FeedbackOptions, FrameQueued, MediaControl, MediaFeedback, MediaHeader, MediaOptions, MediaReceiver,
    MediaReport, MediaSender, PacketFate,
};
pub use messages::Messages;
pub use nada::{Nada, NadaOptions};
pub use scream::{Scream, ScreamOptions};
pub use tcp::{
    CongestionHeader, Echo, ExitWindow, Recovery, Rto, RtoOptions, SackedAtTimeout, SmallQueues, Standby,
    TcpOptions, TcpReceiver, TcpSender, WindowAfterFailure,
};
pub use tfrc::{
    Averaging, Equation, EquationPath, EquationTimeout, FirstInterval, NoFeedback, RateCeiling, RateChange,
    Release, ReportTimer, SlowStart, TfrcDataHeader, TfrcOptions, TfrcReceiver, TfrcReport, TfrcReportHeader,
    TfrcSender, Unlimited,
};
pub use udp::{UdpOptions, UdpReceiver, UdpSender};
