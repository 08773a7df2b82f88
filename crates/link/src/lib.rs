//! What sits between the network layer and the MAC: estimators, router policies and queue disciplines.
//!
//! Everything here is fed by [`LinkEvent`](multihop_core::LinkEvent)s and packets, and knows nothing of the simulator, so that
//! the same code runs on captures.
//!
//! * [`Estimator`]s turn link events into numbers, one file each: of capacity and available bandwidth [`RtWinf`],
//!   [`RtWinfProbe`], [`IdleGap`], [`AdHocProbe`], [`PacketThroughput`] and [`ModelledCapacity`]; of contention [`TransmissionEfficiency`],
//!   [`ServiceDelay`] and [`BusyRatio`]. Those run that a policy asks for, or somebody who writes them down; [`EstimatorConfig`]
//!   lists them.
//! * [`PhyTimes`] is what they know of the PHY, and the upper bound that follows from it; [`LinkCapacity`] is the model of what a link
//!   carries in a shared medium, [`ContentionDelay`] that of how long packets take among saturated stations.
//! * [`LinkView`] is the node's cross-layer database: estimators write it, router policies and local controllers read it.
//! * [`RouterPolicy`] is what a forwarding node does to packets.
//! * [`ActiveFlows`] is what a sender knows of its own flow and of others.
//! * [`InterfaceQueue`] holds packets, by a [`Discipline`].

mod active_flows;
mod adhoc_probe;
mod busy_ratio;
mod catalogue;
mod contention_delay;
mod estimator;
mod idle_gap;
mod link_capacity;
mod medium;
mod modelled_capacity;
mod node_capacity;
mod occupied;
mod packet_throughput;
mod peers;
mod phy_times;
mod policy;
mod queue;
mod rt_winf;
mod rt_winf_probe;
mod service_delay;
mod smoothed;
mod transmission_efficiency;

#[cfg(test)]
mod testing;

pub use active_flows::ActiveFlows;
pub use adhoc_probe::{AdHocProbe, AdHocProbeOptions};
pub use busy_ratio::BusyRatio;
pub use catalogue::EstimatorConfig;
pub use contention_delay::{Contention, ContentionDelay, ServiceTimes, SuccessProbability};
pub use estimator::{Estimator, LinkView};
pub use idle_gap::IdleGap;
pub use link_capacity::LinkCapacity;
pub use modelled_capacity::{ModelledCapacity, ModelledCapacityOptions};
pub use node_capacity::capacity_bps;
pub use occupied::Elapsed;
pub use packet_throughput::{PacketThroughput, PacketThroughputOptions};
pub use phy_times::PhyTimes;
pub use policy::{Departure, Hop, Notice, Outlet, Passage, RouterPolicy, Verdict};
pub use queue::{
    Arrival, CodelOptions, Discipline, FqCodelOptions, InterfaceQueue, Priority, StationsOptions, Taken,
};
pub use rt_winf::{RtWinf, RtWinfOptions, WinfReading};
pub use rt_winf_probe::{RtWinfProbe, RtWinfProbeOptions};
pub use service_delay::ServiceDelay;
pub use transmission_efficiency::TransmissionEfficiency;
