//! Estimators, and the database of a node that they write to. Each is one file, or a folder.

mod adhoc_probe;
mod busy_ratio;
mod catalogue;
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
pub use idle_gap::{IdleGap, IdleGapOptions};
pub use modelled_capacity::{ModelledCapacity, ModelledCapacityOptions};
pub use occupied::Elapsed;
pub use packet_throughput::{PacketThroughput, PacketThroughputOptions};
pub use rate_in_use::{FirstHopRate, RateInUse, RatesInUse};
pub use rt_winf::{RtWinf, RtWinfOptions, RtWinfProbe, RtWinfProbeOptions, WinfReading, capacity_bps};
pub use service_delay::{ServiceDelay, ServiceDelayOptions};
pub use transmission_efficiency::TransmissionEfficiency;

use multihop_core::{LinkEvent, Report, Time};

/// What a node knows about its own links: the "shared database" of the cross-layer papers. A value is absent
/// unless its reader has asked for its estimator ([`crate::RouterPolicy::estimators`]), and until that has
/// had something to measure. The queue is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkView {
    /// Frame transmission efficiency `R_FTE`, in (0, 1]: the smoothed value (He et al. 2017).
    pub transmission_efficiency: Option<f64>,
    /// Channel busyness ratio `R_b`, in [0, 1]: the share of the latest window in which the medium could not
    /// be used (Zhai, Chen and Fang 2007).
    pub busy_ratio: Option<f64>,
    /// What a link carries, in bits per second: by its estimator, of the MAC's service data, or of the PHY.
    pub capacity_bps: Option<f64>,
    /// The part of it that is unused, in bits per second.
    pub available_bps: Option<f64>,
    /// What the network layer receives while the MAC is busy with its packets, in bits per second: smoothed
    /// (Qazi, section V).
    pub packet_throughput_bps: Option<f64>,
    /// Bit rate of DATA in bits per second: that in use, smoothed over packets.
    pub rate_bps: Option<f64>,
    /// Frame service delay `T_FSD` in seconds: the smoothed value (He et al. 2017).
    pub service_delay_s: Option<f64>,
    /// Bytes that wait in the queue: without a packet that is about to enter it, or that just left it.
    pub queue_bytes: u64,
}

/// Turns link events of one node into numbers.
pub trait Estimator: Send {
    /// Something happened at the node's MAC.
    fn on_link(&mut self, event: &LinkEvent);
    /// Writes the present estimate.
    fn write(&self, now: Time, view: &mut LinkView);
    /// What the node's next ACK says of its links; nothing, if it says nothing.
    fn report(&self, _now: Time) -> Option<Report> {
        None
    }
}
