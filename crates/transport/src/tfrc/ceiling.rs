//! Rate caps below the rate of RFC 5348.

use multihop_core::{LinkEvent, Time};

/// Report of the receiver, for a rate ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcReport {
    /// Time of arrival.
    pub now: Time,
    /// Smoothed round-trip time in seconds, including the sample of this report.
    pub rtt: f64,
    /// Round-trip sample of this report in seconds.
    pub sample: f64,
    /// Loss event rate; 0 before the first loss.
    pub loss_event_rate: f64,
    /// Receive rate in bytes per second, counted like `packet_size`.
    pub receive_rate: f64,
    /// Number of hops of the report.
    pub hops: u16,
    /// Packet size of the throughput equation in bytes.
    pub packet_size: u32,
    /// Allowed sending rate before this report in bytes per second.
    pub rate: f64,
    /// Rate of the throughput equation with this report in bytes per second; infinite before the first loss.
    pub equation: f64,
}

/// Rate cap of a TFRC sender below the rate of RFC 5348: `X = min(X_calc, cap)`.
pub trait RateCeiling: Send {
    /// Cap until the first report, in bytes per second.
    fn at_start(&self) -> f64 {
        f64::INFINITY
    }

    /// Cap on the send rate at any time, after oscillation reduction, in bytes per second.
    fn at_any_time(&self) -> f64 {
        f64::INFINITY
    }

    /// Cap after a report, until the next one, in bytes per second.
    fn on_report(&mut self, report: &TfrcReport) -> f64;

    /// Whether the ceiling observes the events of the node's MAC.
    fn observes_link(&self) -> bool {
        false
    }

    /// Processes an event of the node's MAC, for any flow.
    fn on_link(&mut self, _event: &LinkEvent) {}
}

/// No cap: only the rate of the equation applies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unlimited;

impl RateCeiling for Unlimited {
    fn on_report(&mut self, _report: &TfrcReport) -> f64 {
        f64::INFINITY
    }
}
