//! Transport machinery that does no input or output of its own ("sans-IO").
//!
//! * [`Endpoint`]: one end of a flow. The caller feeds it segments and time, then drains what it wants to send.
//! * [`Controller`]: a sender's congestion control; it only ever says how much may be sent.

mod controller;
mod endpoint;

pub use controller::{Acked, Allowance, Controller, Lost, LossKind, Marked, Sent};
pub use endpoint::{Delivered, Endpoint, Progress};
