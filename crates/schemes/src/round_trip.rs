//! Smoothed round-trip time of senders with explicit feedback from routers.

use multihop_core::Span;

/// Returns the smoothed round-trip time, in seconds, after one more sample with a weight of 1/8 (RFC 6298).
/// The time is exact; TCP's may be rounded to clock ticks.
pub(crate) fn smoothed(before: Option<f64>, sample: Span) -> f64 {
    let sample = sample.seconds();
    before.map_or(sample, |before| before + (sample - before) / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298: the estimate moves by an eighth of the 80 ms difference to the sample.
    #[test]
    fn a_sample_has_an_eighth_of_the_weight() {
        assert!((smoothed(None, Span::from_ms(180)) - 0.18).abs() < 1e-12);
        assert!((smoothed(Some(0.1), Span::from_ms(180)) - 0.11).abs() < 1e-12);
        assert!((smoothed(Some(0.1), Span::from_ms(20)) - 0.09).abs() < 1e-12);
    }
}
