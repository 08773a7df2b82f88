//! TCP-friendly rate control (RFC 5348): a sender of datagrams that is paced at the rate that TCP would have.

mod ceiling;
mod equation;

pub use ceiling::{RateCeiling, Report, Unlimited};
pub use equation::{Equation, Path};
