//! What sits between the network layer and the MAC: estimators, router policies and queue disciplines.
//!
//! Everything here is fed by [`LinkEvent`](multihop_core::LinkEvent)s and packets, and knows nothing of the simulator, so that
//! the same code runs on captures.
//!
//! * [`Estimator`]s turn link events into numbers, one file each: [`TransmissionEfficiency`], [`BusyRatio`]. Those that a policy
//!   asks for run.
//! * [`LinkView`] is the node's cross-layer database: estimators write it, router policies and local controllers read it.
//! * [`RouterPolicy`] is what a forwarding node does to packets.
//! * [`DropTail`] is the interface queue.

mod busy_ratio;
mod estimator;
mod policy;
mod queue;
mod transmission_efficiency;

pub use busy_ratio::BusyRatio;
pub use estimator::{Estimator, LinkView};
pub use policy::{Departure, RouterPolicy, Verdict};
pub use queue::{DropTail, Priority};
pub use transmission_efficiency::TransmissionEfficiency;
