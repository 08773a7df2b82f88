//! Congestion controls, which set the window and the pacing rate of a sender.
//!
//! [`Controller`] is the trait. [`Reno`] is the base of most schemes; [`Cubic`], [`Vegas`], [`Westwood`],
//! [`Prague`] and [`AdaptivePacing`] each contain one, for its slow start and limits. [`Bbr`] does not: it models the path
//! from samples of the delivery rate.

mod adaptive_pacing;
mod bbr;
mod controller;
mod cubic;
mod hystart;
mod prague;
mod reno;
mod vegas;
mod westwood;

pub use adaptive_pacing::{AdaptivePacing, AdaptivePacingOptions, Dispersion, ShortPath};
pub use bbr::{Bbr, BbrOptions, BbrRules};
pub use controller::{
    AckInfo, Acked, Allowance, Controller, DeliverySample, LossKind, Lost, Marked, Recovered, Returned,
    SentSegment,
};
pub use cubic::{Cubic, CubicOptions};
pub use prague::{Prague, PragueOptions};
pub use reno::{Growth, Halving, Reno, RenoOptions};
pub use vegas::{BacklogEstimate, Vegas, VegasOptions};
pub use westwood::{BandwidthFilter, Westwood, WestwoodOptions};
