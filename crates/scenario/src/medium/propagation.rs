//! Path loss and fading.

use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, MediumProblem};
use multihop_config::bounds;
use multihop_config::quantity::{Decibel, Duration, Frequency, Length, Speed};
use multihop_dot11::{Band, Phy};
use multihop_sim::config::{FadingConfig, PathLoss};
use schemars::JsonSchema;
use serde::Deserialize;

/// Path loss.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(tag = "model")]
pub enum PathLossModel {
    /// Two-ray ground: Friis up to the cross-over distance, then the fourth power (Rappaport 2002, 4.6).
    TwoRay {
        /// Carrier frequency. The default is that of ns-2.
        #[serde(default = "ns2_frequency")]
        #[schemars(transform = bounds!("1 MHz", "1000 GHz"))]
        frequency: Frequency,
        /// Antenna height above ground at both ends. The default is that of ns-2.
        #[serde(default = "ns2_height")]
        #[schemars(transform = bounds!("0.01 m", "10 km"))]
        antenna_height: Length,
    },
    /// Log-distance: a power law beyond a reference distance.
    LogDistance {
        /// Path-loss exponent: 2 in free space, 3 to 4 in buildings and towns.
        #[serde(default = "town_exponent")]
        #[schemars(transform = bounds!(0.1, 10))]
        exponent: f64,
        /// Loss at the reference distance. The default is that of free space at 2.4 GHz over 1 m.
        #[serde(default = "metre_loss")]
        #[schemars(transform = bounds!("0 dB", "300 dB"))]
        reference_loss: Decibel,
        /// Reference distance.
        #[serde(default = "metre")]
        #[schemars(transform = bounds!("0.01 m", "100 km"))]
        reference_distance: Length,
    },
}

/// Block fading: the power of a link is constant for a block and drawn anew for the next. Routes and bounds
/// are based on its mean.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FadingModel {
    /// Ratio of the power of the line-of-sight path to that of all scattered paths (Rice's K). Default: no
    /// line-of-sight path, a Rayleigh channel.
    #[schemars(transform = bounds!("-40 dB", "40 dB"))]
    pub k_factor: Option<Decibel>,
    /// Speed of the nodes or of reflectors. The length of a block is 0.423 wavelengths over this speed
    /// (Rappaport 2002, Eq. 5.40.c), at 2.437 or 5.18 GHz.
    #[schemars(transform = bounds!("0.001 m/s", "1000 m/s"))]
    pub speed: Option<Speed>,
    /// Length of a block, in place of `speed`.
    #[schemars(transform = bounds!("1 us", "1000 s"))]
    pub coherence: Option<Duration>,
}

fn ns2_frequency() -> Frequency {
    Frequency(914e6)
}
fn ns2_height() -> Length {
    Length(1.5)
}
fn town_exponent() -> f64 {
    3.0
}
fn metre_loss() -> Decibel {
    Decibel(40.0)
}
fn metre() -> Length {
    Length(1.0)
}

impl PathLossModel {
    /// The model of ns-2.
    pub(super) fn two_ray() -> PathLossModel {
        PathLossModel::TwoRay { frequency: ns2_frequency(), antenna_height: ns2_height() }
    }

    /// The model of buildings and towns.
    pub(super) fn log_distance() -> PathLossModel {
        PathLossModel::LogDistance {
            exponent: town_exponent(),
            reference_loss: metre_loss(),
            reference_distance: metre(),
        }
    }

    pub(super) fn resolve(self) -> PathLoss {
        match self {
            PathLossModel::TwoRay { frequency, antenna_height } => {
                PathLoss::TwoRayGround { frequency_hz: frequency.0, antenna_height: antenna_height.0 }
            }
            PathLossModel::LogDistance { exponent, reference_loss, reference_distance } => {
                PathLoss::LogDistance {
                    exponent,
                    reference_loss_db: reference_loss.0,
                    reference_distance: reference_distance.0,
                }
            }
        }
    }
}

impl FadingModel {
    pub(super) fn resolve(&self, document: &Document<'_>, phy: &Phy) -> Result<FadingConfig> {
        let at = |key: &str| key!["medium", "fading", key];
        let rice_factor = match self.k_factor {
            None => 0.0,
            Some(k) => k.ratio(),
        };
        let block = match (self.speed, self.coherence) {
            (Some(speed), None) => {
                let frequency = if phy.options().band == Band::Ghz5 { 5.18e9 } else { 2.437e9 };
                FadingConfig::coherence(speed.0, frequency)
            }
            (None, Some(coherence)) => coherence.span(),
            (Some(_), Some(_)) => {
                return Err(document.error(&at("coherence"), KeyProblem::GivenTogether { other: "speed" }));
            }
            (None, None) => {
                return Err(document.error(&key!["medium", "fading"], MediumProblem::NoBlock));
            }
        };
        Ok(FadingConfig { rice_factor, block })
    }
}
