//! The round-trip time that senders whose routers speak to them reckon with.

use multihop_core::Span;

/// The smoothed round-trip time in seconds after one sample more, which has a weight of 1/8. It is exact
/// where TCP's (RFC 6298) may have the ticks of a clock.
pub(crate) fn smoothed(before: Option<f64>, sample: Span) -> f64 {
    let sample = sample.seconds();
    before.map_or(sample, |before| before + (sample - before) / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298: an eighth of the 80 ms that a sample is away.
    #[test]
    fn a_sample_has_an_eighth_of_the_weight() {
        assert!((smoothed(None, Span::from_ms(180)) - 0.18).abs() < 1e-12);
        assert!((smoothed(Some(0.1), Span::from_ms(180)) - 0.11).abs() < 1e-12);
        assert!((smoothed(Some(0.1), Span::from_ms(20)) - 0.09).abs() < 1e-12);
    }
}
