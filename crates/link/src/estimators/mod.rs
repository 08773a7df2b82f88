//! Estimators, and the values of a node that they write. Each estimator is one file or folder.

mod adhoc_probe;
mod busy_ratio;
mod catalogue;
mod custom;
mod idle_gap;
mod modelled_capacity;
mod occupied;
mod packet_throughput;
mod rate_in_use;
mod rt_winf;
mod service_delay;
mod smoothed;
mod transmission_efficiency;

pub use adhoc_probe::{AdHocProbe, AdHocProbeOptions};
pub use busy_ratio::{BusyRatio, BusyRatioOptions};
pub use catalogue::EstimatorConfig;
pub use custom::{CustomEstimator, DefineEstimator};
pub use idle_gap::{IdleGap, IdleGapOptions};
pub use modelled_capacity::{ModelledCapacity, ModelledCapacityOptions};
pub use occupied::Elapsed;
pub use packet_throughput::{PacketThroughput, PacketThroughputOptions};
pub use rate_in_use::{FirstHopRate, RateInUse, RatesInUse};
pub use rt_winf::{RtWinf, RtWinfOptions, RtWinfProbe, RtWinfProbeOptions, WinfReading, capacity_bps};
pub use service_delay::{ServiceDelay, ServiceDelayOptions};
pub use transmission_efficiency::TransmissionEfficiency;

use crate::Probing;
use multihop_core::{LinkEvent, Report, Time};

/// Values that a node knows about its own links: the "shared database" of the cross-layer papers. A value is
/// none unless its reader has requested its estimator ([`crate::RouterPolicy::estimators`]), and until the
/// estimator has measured something. The queue is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkView {
    /// Frame transmission efficiency `R_FTE`, in (0, 1]: the smoothed value (He et al. 2017).
    pub transmission_efficiency: Option<f64>,
    /// Channel busyness ratio `R_b`, in [0, 1]: share of the latest window in which the medium was busy or
    /// reserved (Zhai, Chen and Fang 2007).
    pub busy_ratio: Option<f64>,
    /// Capacity of a link in bits per second, of MSDUs or of the PHY, by the estimator in use.
    pub capacity_bps: Option<f64>,
    /// Unused part of the capacity, in bits per second.
    pub available_bps: Option<f64>,
    /// Throughput of the MAC while it serves packets, in bits per second, smoothed (Qazi, section V).
    pub packet_throughput_bps: Option<f64>,
    /// Bit rate of DATA in use, in bits per second, smoothed over packets.
    pub rate_bps: Option<f64>,
    /// Frame service delay `T_FSD` in seconds: the smoothed value (He et al. 2017).
    pub service_delay_s: Option<f64>,
    /// Bytes in the queue, without the packet that is about to enter it or has just left it.
    pub queue_bytes: u64,
}

/// Estimator: turns the link events of one node into numbers.
pub trait Estimator: Send {
    /// Processes an event of the node's MAC.
    fn on_link(&mut self, event: &LinkEvent);
    /// Whether the estimator processes events of the medium: [`LinkEvent::Decoded`], [`LinkEvent::Reported`],
    /// busy periods and NAVs. Otherwise it may not receive them, so that frames of other stations cost less.
    fn senses_medium(&self) -> bool {
        true
    }
    /// Writes the current estimate.
    fn write(&self, now: Time, view: &mut LinkView);
    /// Link report for the node's next ACK; none for estimators without reports.
    fn report(&self, _now: Time) -> Option<Report> {
        None
    }
    /// Probes that the node sends for this estimator; none for estimators of existing traffic.
    fn probing(&self) -> Option<Probing> {
        None
    }
}
