//! Fading of received powers.

use multihop_core::Span;
use serde::Serialize;

/// Block fading on a medium with SINR: the gain of a link is constant for a block and drawn anew for the
/// next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FadingConfig {
    /// Ratio of the power of the line-of-sight path to that of all scattered paths (Rice's K); 0 for a
    /// Rayleigh channel.
    pub rice_factor: f64,
    /// Length of a block.
    pub block: Span,
}

impl FadingConfig {
    /// Coherence time of a channel with isotropic scattering, whose end or reflectors move at `speed` metres
    /// per second: `0.423 / f_d`, with the Doppler shift `f_d = speed / wavelength` (Rappaport, *Wireless
    /// Communications*, 2002, Eq. 5.40.c).
    pub fn coherence(speed: f64, frequency_hz: f64) -> Span {
        Span::from_seconds(0.423 * 299_792_458.0 / (speed * frequency_hz))
    }
}
