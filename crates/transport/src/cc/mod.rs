//! Congestion controls, which set the window and the pacing rate of a sender.
//!
//! [`Controller`] is the trait. [`Reno`] is the base of most schemes; [`Cubic`], [`Vegas`], [`Westwood`],
//! [`Prague`] and [`AdaptivePacing`] each contain one, for its slow start and limits. [`Bbr`] and [`Bbr3`] do
//! not: they model the path from samples of the delivery rate.

mod adaptive_pacing;
mod bbr;
mod bbr3;
mod controller;
mod cubic;
mod filters;
mod hystart;
mod path_model;
mod prague;
mod reno;
#[cfg(test)]
mod testing;
mod vegas;
mod westwood;

pub use adaptive_pacing::{AdaptivePacing, AdaptivePacingOptions, Dispersion, ShortPath};
pub use bbr::{Bbr, BbrOptions, BbrRules};
pub use bbr3::{Bbr3, Bbr3Options};
pub use controller::{
    AckInfo, Acked, Allowance, Controller, DeliverySample, LossKind, Lost, LostSegment, Marked, Recovered,
    Returned, SentSegment,
};
pub use cubic::{Cubic, CubicOptions};
pub use prague::{Prague, PragueOptions};
pub use reno::{Growth, Halving, Reno, RenoOptions};
pub use vegas::{BacklogEstimate, Vegas, VegasOptions};
pub use westwood::{BandwidthFilter, Westwood, WestwoodOptions};
