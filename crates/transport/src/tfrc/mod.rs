//! TCP-friendly rate control (RFC 5348): a sender of datagrams that is paced at the rate that TCP would have.
//!
//! The receiver detects losses (`loss_detection`), makes intervals of loss events and a loss event rate of
//! those (`loss_intervals`), and reports it with the rate at which data comes. The sender makes a rate of
//! that (`rate`, with the [`Equation`]) and lets packets leave at it. Where RFC 5348 and ns-2 differ,
//! [`TfrcOptions`] has a name for it. A model of what the path carries may cap the rate: [`RateCeiling`].

mod ceiling;
mod data_limited;
mod equation;
mod header;
mod loss_detection;
mod loss_intervals;
mod options;
mod rate;
mod receive_rates;
mod receiver;
mod sender;

pub use ceiling::{RateCeiling, Report, Unlimited};
pub use equation::{Equation, Path};
pub use header::{TfrcDataHeader, TfrcReportHeader};
pub use loss_intervals::Averaging;
pub use options::{
    EquationTimeout, FirstInterval, NoFeedback, RateChange, Release, ReportTimer, SlowStart, TfrcOptions,
};
pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;
