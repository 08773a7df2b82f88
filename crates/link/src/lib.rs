//! The layer between network and MAC: estimators, router policies and queue disciplines.
//!
//! All code here takes [`LinkEvent`](multihop_core::LinkEvent)s and packets and is independent of the
//! simulator, so that it also runs on captures.
//!
//! * `estimators`: [`Estimator`]s turn link events into numbers, one file or folder each: of capacity and
//!   available bandwidth [`RtWinf`], [`RtWinfProbe`], [`IdleGap`], [`AdHocProbe`], [`PacketThroughput`] and
//!   [`ModelledCapacity`], and [`RateInUse`]; of contention [`TransmissionEfficiency`], [`ServiceDelay`] and
//!   [`BusyRatio`]. An estimator runs where a policy or a scenario's `[[measure]]` requests it;
//!   [`EstimatorConfig`] lists all estimators.
//! * [`PhyTimes`] describes the PHY to estimators, with the upper bound on capacity. `models`:
//!   [`LinkCapacity`] models the throughput of a link in a shared medium, [`ContentionDelay`] the delay of
//!   packets among saturated stations.
//! * [`LinkView`] is the node's cross-layer database: estimators write it, router policies and local
//!   controllers read it.
//! * [`RouterPolicy`] inspects, marks and drops packets at a forwarding node.
//! * [`Prober`] decides when a node sends the probes ([`Probing`]) that an estimator requests.
//! * [`ActiveFlows`] counts the flows that share the medium with a sender's own.
//! * `rate_control`: [`RateControl`] chooses the rates of DATA to a neighbour from a [`RateTable`], by
//!   acknowledgements.
//! * [`InterfaceQueue`] holds packets in the order of a [`Discipline`].

mod active_flows;
mod estimators;
mod models;
mod phy_times;
mod policy;
mod probing;
mod queue;
mod rate_control;

#[cfg(test)]
mod testing;

pub use active_flows::ActiveFlows;
pub use estimators::{
    AdHocProbe, AdHocProbeOptions, BusyRatio, BusyRatioOptions, CustomEstimator, DefineEstimator, Elapsed,
    Estimator, EstimatorConfig, FirstHopRate, IdleGap, IdleGapOptions, LinkView, ModelledCapacity,
    ModelledCapacityOptions, PacketThroughput, PacketThroughputOptions, RateInUse, RatesInUse, RtWinf,
    RtWinfOptions, RtWinfProbe, RtWinfProbeOptions, ServiceDelay, ServiceDelayOptions,
    TransmissionEfficiency, WinfReading, capacity_bps,
};
pub use models::{Contention, ContentionDelay, LinkCapacity, ServiceTimes, SuccessProbability};
pub use phy_times::{AggregateLimits, PacketExchange, PhyTimes};
pub use policy::{Departure, EgressQueue, Hop, Notice, QueueEvent, RouterPolicy, Verdict};
pub use probing::{ProbeStep, Prober, Probing};
pub use queue::{
    Adaptation, AirtimeLimits, Arrival, CakeOptions, CodelOptions, Discipline, DualPi2Options,
    DualQueueSchedule, FqCodelOptions, InterfaceQueue, LinkState, LowLatencyMarking, PieOptions, Priority,
    Queued, SlowStations, StationsOptions,
};
pub use rate_control::{
    AVERAGE_BYTES, Algorithm, Attempted, Candidate, Chain, RateControl, RateTable, Stage,
};
