//! Closed forms of link capacity and packet delay, which schemes compute instead of measuring.

mod contention_delay;
mod link_capacity;

pub use contention_delay::{Contention, ContentionDelay, ServiceTimes, SuccessProbability};
pub use link_capacity::LinkCapacity;
