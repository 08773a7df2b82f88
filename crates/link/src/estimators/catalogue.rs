//! All estimators, as a value with their options.

use crate::{
    AdHocProbe, AdHocProbeOptions, BusyRatio, Elapsed, Estimator, IdleGap, ModelledCapacity,
    ModelledCapacityOptions, PacketThroughput, PacketThroughputOptions, PhyTimes, RtWinf, RtWinfOptions,
    RtWinfProbe, RtWinfProbeOptions, ServiceDelay, TransmissionEfficiency,
};
use multihop_core::Span;

/// An estimator with its options, not yet at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EstimatorConfig {
    /// [`RtWinf`].
    RtWinf(RtWinfOptions),
    /// [`RtWinfProbe`].
    RtWinfProbe(RtWinfProbeOptions),
    /// [`IdleGap`].
    IdleGap {
        /// What the time of NAVs is divided by.
        elapsed: Elapsed,
    },
    /// [`AdHocProbe`].
    AdHocProbe(AdHocProbeOptions),
    /// [`BusyRatio`].
    BusyRatio {
        /// How far it looks back.
        window: Span,
    },
    /// [`ServiceDelay`].
    ServiceDelay {
        /// Weight of a new frame.
        gain: f64,
    },
    /// [`TransmissionEfficiency`].
    TransmissionEfficiency,
    /// [`PacketThroughput`].
    PacketThroughput(PacketThroughputOptions),
    /// [`ModelledCapacity`].
    ModelledCapacity(ModelledCapacityOptions),
}

impl EstimatorConfig {
    /// One that has heard nothing yet, at a node whose PHY has these times.
    pub fn build(&self, phy: PhyTimes) -> Box<dyn Estimator> {
        match *self {
            EstimatorConfig::RtWinf(options) => Box::new(RtWinf::new(options, phy)),
            EstimatorConfig::RtWinfProbe(options) => Box::new(RtWinfProbe::new(options, phy)),
            EstimatorConfig::IdleGap { elapsed } => Box::new(IdleGap::new(elapsed, phy.data_rate)),
            EstimatorConfig::AdHocProbe(options) => Box::new(AdHocProbe::new(options)),
            EstimatorConfig::BusyRatio { window } => Box::new(BusyRatio::new(window)),
            EstimatorConfig::ServiceDelay { gain } => Box::new(ServiceDelay::new(gain)),
            EstimatorConfig::TransmissionEfficiency => Box::new(TransmissionEfficiency::default()),
            EstimatorConfig::PacketThroughput(options) => Box::new(PacketThroughput::new(options)),
            EstimatorConfig::ModelledCapacity(options) => Box::new(ModelledCapacity::new(options, phy)),
        }
    }
}
