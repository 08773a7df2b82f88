//! Congestion controls: how much a sender may have in flight, and at which pace.
//!
//! [`Controller`] is the trait. [`Reno`] is the control that most schemes build on; [`Cubic`], [`Vegas`],
//! [`Westwood`] and [`AdaptivePacing`] each hold one, for its slow start and limits. [`Bbr`] does not: it
//! follows a model of the path, made of samples of the delivery rate.

mod adaptive_pacing;
mod bbr;
mod controller;
mod cubic;
mod hystart;
mod reno;
mod vegas;
mod westwood;

pub use adaptive_pacing::{AdaptivePacing, AdaptivePacingOptions, Dispersion, ShortPath};
pub use bbr::{Bbr, BbrOptions, BbrRules};
pub use controller::{
    AckInfo, Acked, Allowance, Controller, Delivery, LossKind, Lost, Marked, Recovered, Returned, Sent,
};
pub use cubic::{Cubic, CubicOptions};
pub use reno::{Growth, Halving, Reno, RenoOptions};
pub use vegas::{Backlog, Vegas, VegasOptions};
pub use westwood::{BandwidthFilter, Westwood, WestwoodOptions};
