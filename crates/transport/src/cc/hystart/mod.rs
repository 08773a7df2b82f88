//! Ends of slow start before the bottleneck queue overflows: `HyStart++` of RFC 9406, and `HyStart` of Linux.

mod linux;
mod plus_plus;

pub(crate) use linux::HyStart;
pub(crate) use plus_plus::HyStartPlusPlus;
