//! Schemes whose routers signal their load factor in the two ECN bits: [`Vcp`] as a region, [`Bmcc`] as a
//! number. Both use the same router policy and the same sender.

mod adpm;
mod bmcc;
pub(crate) mod header;
mod interval;
mod router;
mod sender;
mod vcp;

pub use bmcc::Bmcc;
pub use sender::AdditionLimit;
pub use vcp::Vcp;
