//! Samples for the tests of congestion controls.

use crate::DeliverySample;
use multihop_core::Time;

/// Delivery of the last `size` of `delivered` bytes, without losses, marks, or samples of rate and round
/// trip. Its data was sent after all other data was delivered.
pub(super) fn delivery(now: Time, size: u64, delivered: u64, in_flight: u64) -> DeliverySample {
    DeliverySample {
        now,
        size,
        marked: None,
        delivered,
        prior_delivered: delivered - size,
        rate: None,
        app_limited: false,
        rtt: None,
        in_flight_before: in_flight,
        in_flight,
        lost: 0,
        in_flight_at_send: in_flight,
        lost_since_send: 0,
        recovering: false,
        fast_recovery: false,
        departure: now,
    }
}
