//! How powers vary over time.

use multihop_core::Span;
use serde::Serialize;

/// Block fading of powers by SINR.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FadingConfig {
    /// Power of the steady path over that of all scattered ones: 0 for a Rayleigh channel.
    pub rice_factor: f64,
    /// For how long a gain stays.
    pub block: Span,
}

impl FadingConfig {
    /// How long a channel stays much as it is where scattered paths come from all sides and an end, or what
    /// reflects, moves at `speed` metres per second: `0.423 / f_d`, with the Doppler shift `f_d = speed /
    /// wavelength` (Rappaport, *Wireless Communications*, 2002, Eq. 5.40.c).
    pub fn coherence(speed: f64, frequency_hz: f64) -> Span {
        Span::from_seconds(0.423 * 299_792_458.0 / (speed * frequency_hz))
    }
}
