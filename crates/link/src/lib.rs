//! What sits between the network layer and the MAC: estimators, router policies and queue disciplines.
//!
//! Everything here is fed by [`LinkEvent`](multihop_core::LinkEvent)s and packets, and knows nothing of the
//! simulator, so that the same code runs on captures.
//!
//! * `estimators`: [`Estimator`]s turn link events into numbers, one file or folder each: of capacity and
//!   available bandwidth [`RtWinf`], [`RtWinfProbe`], [`IdleGap`], [`AdHocProbe`], [`PacketThroughput`] and
//!   [`ModelledCapacity`], and [`RateInUse`]; of contention [`TransmissionEfficiency`], [`ServiceDelay`] and
//!   [`BusyRatio`]. Those run that a policy or a scenario's `[[measure]]` asks for; [`EstimatorConfig`] lists
//!   them.
//! * [`PhyTimes`] is what they know of the PHY, and the upper bound that follows from it; `models`:
//!   [`LinkCapacity`] is the model of what a link carries in a shared medium, [`ContentionDelay`] that of how
//!   long packets take among saturated stations.
//! * [`LinkView`] is the node's cross-layer database: estimators write it, router policies and local
//!   controllers read it.
//! * [`RouterPolicy`] is what a forwarding node does to packets.
//! * [`ActiveFlows`] is what a sender knows of its own flow and of others.
//! * `rate_control`: [`RateControl`] chooses the rates of DATA to a neighbour from a [`RateTable`], by what
//!   arrived.
//! * [`InterfaceQueue`] holds packets, by a [`Discipline`].

mod active_flows;
mod estimators;
mod models;
mod phy_times;
mod policy;
mod queue;
mod rate_control;

#[cfg(test)]
mod testing;

pub use active_flows::ActiveFlows;
pub use estimators::{
    AdHocProbe, AdHocProbeOptions, BusyRatio, BusyRatioOptions, Elapsed, Estimator, EstimatorConfig,
    FirstHopRate, IdleGap, IdleGapOptions, LinkView, ModelledCapacity, ModelledCapacityOptions,
    PacketThroughput, PacketThroughputOptions, RateInUse, RatesInUse, RtWinf, RtWinfOptions, RtWinfProbe,
    RtWinfProbeOptions, ServiceDelay, ServiceDelayOptions, TransmissionEfficiency, WinfReading, capacity_bps,
};
pub use models::{Contention, ContentionDelay, LinkCapacity, ServiceTimes, SuccessProbability};
pub use phy_times::{AggregateLimits, PacketExchange, PhyTimes};
pub use policy::{Departure, EgressQueue, Hop, Notice, QueueEvent, RouterPolicy, Verdict};
pub use queue::{
    Adaptation, AirtimeLimits, Arrival, CodelOptions, Discipline, FqCodelOptions, InterfaceQueue, LinkState,
    Priority, Queued, SlowStations, StationsOptions,
};
pub use rate_control::{
    AVERAGE_BYTES, Algorithm, Attempted, Candidate, Chain, RateControl, RateTable, Stage,
};
