//! How power falls with distance, and how it varies over time.

use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, MediumProblem};
use multihop_config::bounds;
use multihop_config::quantity::{Decibel, Duration, Frequency, Length, Speed};
use multihop_dot11::{Band, Phy};
use multihop_sim::config::{FadingConfig, PathLoss};
use schemars::JsonSchema;
use serde::Deserialize;

/// How power falls with distance.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(tag = "model")]
pub enum PathLossModel {
    /// Friis up to the cross-over distance, then the fourth power (Rappaport 2002, 4.6).
    TwoRay {
        /// Carrier frequency, by default that of ns-2.
        #[serde(default = "ns2_frequency")]
        #[schemars(transform = bounds!("1 MHz", "1000 GHz"))]
        frequency: Frequency,
        /// Antenna height above ground, at both ends, by default that of ns-2.
        #[serde(default = "ns2_height")]
        #[schemars(transform = bounds!("0.01 m", "10 km"))]
        antenna_height: Length,
    },
    /// A power law beyond a reference distance.
    LogDistance {
        /// Exponent: 2 in free space, 3 to 4 in buildings and towns.
        #[serde(default = "town_exponent")]
        #[schemars(transform = bounds!(0.1, 10))]
        exponent: f64,
        /// Loss at the reference distance, by default that of free space at 2.4 GHz.
        #[serde(default = "metre_loss")]
        #[schemars(transform = bounds!("0 dB", "300 dB"))]
        reference_loss: Decibel,
        /// Reference distance.
        #[serde(default = "metre")]
        #[schemars(transform = bounds!("0.01 m", "100 km"))]
        reference_distance: Length,
    },
}

/// How the power of a link varies over time: it stays for a block, and is drawn anew for the next one. Routes
/// and bounds know its mean.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FadingModel {
    /// Power of the steady path over that of all scattered ones (Rice's K). Default: no steady path, a
    /// Rayleigh channel.
    #[schemars(transform = bounds!("-40 dB", "40 dB"))]
    pub k_factor: Option<Decibel>,
    /// How fast an end, or what reflects, moves: a block is 0.423 wavelengths over it (Rappaport 2002, Eq.
    /// 5.40.c), at 2.437 or 5.18 GHz.
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
    /// ns-2's.
    pub(super) fn two_ray() -> PathLossModel {
        PathLossModel::TwoRay { frequency: ns2_frequency(), antenna_height: ns2_height() }
    }

    /// That of buildings and towns.
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
                return Err(document.error(&at("coherence"), KeyProblem::Beside { other: "speed" }));
            }
            (None, None) => {
                return Err(document.error(&key!["medium", "fading"], MediumProblem::NoBlock));
            }
        };
        Ok(FadingConfig { rice_factor, block })
    }
}
