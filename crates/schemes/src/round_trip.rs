//! The round-trip time that senders whose routers speak to them reckon with.

use multihop_core::Span;

/// The smoothed round-trip time in seconds after one sample more, which has a weight of 1/8. It is exact where TCP's (RFC 6298) may have
/// the ticks of a clock.
pub(crate) fn smoothed(before: Option<f64>, sample: Span) -> f64 {
    let sample = sample.seconds();
    before.map_or(sample, |before| before + (sample - before) / 8.0)
}
