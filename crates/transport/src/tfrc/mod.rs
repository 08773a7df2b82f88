//! TCP-friendly rate control (RFC 5348): datagrams paced at the rate that TCP would have.
//!
//! The receiver detects losses (`loss_detection`), computes loss intervals and a loss event rate
//! (`loss_intervals`), and reports them with the receive rate. From the report the sender computes its
//! allowed rate (`rate`, with the [`Equation`]), at which it sends. [`TfrcOptions`] names each difference
//! between RFC 5348 and ns-2. A model of the path's capacity may cap the rate: [`RateCeiling`].

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

pub use ceiling::{RateCeiling, TfrcReport, Unlimited};
pub use equation::{Equation, EquationPath};
pub use header::{TfrcDataHeader, TfrcReportHeader};
pub use loss_intervals::Averaging;
pub(crate) use loss_intervals::LossIntervals;
pub use options::{
    EquationTimeout, FirstInterval, NoFeedback, RateChange, Release, ReportTimer, SlowStart, TfrcOptions,
};
pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;
