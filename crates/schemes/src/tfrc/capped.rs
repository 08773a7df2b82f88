//! TFRC below a constant rate.

use crate::tfrc::TfrcParameters;
use crate::{Parameters, Scheme};
use multihop_config::keys;
use multihop_config::quantity::BitRate;
use multihop_core::HeaderFormat;
use multihop_transport::{Endpoint, RateCeiling, TfrcOptions, TfrcReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// `tfrc` that never exceeds a constant rate: the rate-constrained TFRC with which Li, Agu, Claypool and
    /// Kinicki find the best rate of a chain (section III.B).
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TfrcCapped {
        /// Maximum rate in payload bits per second. Payload is what `segment_size` counts, without any
        /// header.
        pub cap: BitRate ["8 b/s", "16 Gb/s"] = BitRate(300e3),
        /// TFRC connection.
        #[serde(flatten)]
        pub tfrc: TfrcParameters,
    }
}

impl Parameters for TfrcCapped {
    const NAME: &str = "tfrc-capped";
    const SUMMARY: &str = "TFRC below a constant rate";
    const REFERENCE: &str = "Li, Agu, Claypool and Kinicki 2003; RFC 5348";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = super::HEADERS;
}

impl Scheme for TfrcCapped {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tfrc.sender(Box::new(Constant { rate: self.cap.bytes_per_second() }))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tfrc.receiver()
    }

    fn segment_size(&self) -> u32 {
        self.tfrc.segment_size()
    }

    fn is_reliable(&self) -> bool {
        false
    }

    fn tfrc(&self) -> Option<TfrcOptions> {
        Some(self.tfrc.options())
    }
}

/// Ceiling at a constant rate.
struct Constant {
    /// Rate in bytes per second.
    rate: f64,
}

impl RateCeiling for Constant {
    fn at_start(&self) -> f64 {
        self.rate
    }

    fn at_any_time(&self) -> f64 {
        self.rate
    }

    fn on_report(&mut self, _report: &TfrcReport) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_below_the_cap_from_the_start_on() {
        let cap = Constant { rate: BitRate(300e3).bytes_per_second() };
        assert_eq!((cap.at_start(), cap.at_any_time()), (37_500.0, 37_500.0));
    }

    #[test]
    fn the_cap_is_the_same_after_a_report() {
        let report = TfrcReport {
            now: multihop_core::Time::ZERO,
            rtt: 0.1,
            sample: 0.1,
            loss_event_rate: 0.01,
            receive_rate: 1e6,
            hops: 1,
            packet_size: 1_500,
            equation: 2e5,
            rate: 1e5,
        };
        let mut cap = Constant { rate: 37_500.0 };
        assert_eq!(cap.on_report(&report), 37_500.0);
    }
}
