//! Closed forms of what a link carries and of how long packets take, which schemes compute in place of
//! measuring.

mod contention_delay;
mod link_capacity;

pub use contention_delay::{Contention, ContentionDelay, ServiceTimes, SuccessProbability};
pub use link_capacity::LinkCapacity;
