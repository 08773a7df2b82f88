//! Where a sender may be held below what RFC 5348 allows it.

use multihop_core::{LinkEvent, Time};

/// What a report of the receiver said, for a rate ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// When it came.
    pub now: Time,
    /// Smoothed round-trip time in seconds, with this report's sample.
    pub rtt: f64,
    /// The sample of this report in seconds.
    pub sample: f64,
    /// Loss event rate; 0 while nothing was lost.
    pub loss_event_rate: f64,
    /// Rate at which data arrives in bytes per second, of what `packet_size` counts.
    pub receive_rate: f64,
    /// Hops that the report took.
    pub hops: u16,
    /// Packet size of the throughput equation in bytes.
    pub packet_size: u32,
    /// Allowed sending rate before this report in bytes per second.
    pub rate: f64,
    /// Rate of the throughput equation with this report in bytes per second; infinite while nothing was lost.
    pub equation: f64,
}

/// A rate cap of a TFRC sender below what RFC 5348 allows: `X = min(X_calc, cap)`.
pub trait RateCeiling: Send {
    /// The most that the rate may be until the first report, in bytes per second.
    fn at_start(&self) -> f64 {
        f64::INFINITY
    }

    /// The most at which packets may leave at any time, whatever oscillation reduction makes of the rate, in
    /// bytes per second.
    fn at_any_time(&self) -> f64 {
        f64::INFINITY
    }

    /// A report came: the most that the rate may be until the next one, in bytes per second.
    fn on_report(&mut self, report: &Report) -> f64;

    /// Does it want to know what happens at the node's MAC?
    fn observes_link(&self) -> bool {
        false
    }

    /// Something happened at the node's MAC, whichever flow it is of.
    fn on_link(&mut self, _event: &LinkEvent) {}
}

/// The rate of the equation is the only limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unlimited;

impl RateCeiling for Unlimited {
    fn on_report(&mut self, _report: &Report) -> f64 {
        f64::INFINITY
    }
}
