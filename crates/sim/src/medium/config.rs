//! Configuration of the medium.

use multihop_core::{NodeId, Span};
use serde::Serialize;

/// Medium: decides which nodes sense each other and which frames are received.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediumConfig {
    /// Propagation delay between any two nodes, unless it depends on their distance.
    pub propagation_delay: Span,
    /// Probability of a bit error in a decodable frame, in addition to the errors of the model.
    pub bit_error_rate: f64,
    /// Probability that a decodable DATA frame is lost, in addition to the errors of the model.
    pub packet_error_rate: f64,
    /// Loss probabilities of single links, in addition to `packet_error_rate`; at most one entry for each
    /// directed link.
    pub link_errors: Vec<LinkError>,
    /// Model of reception and carrier sense.
    pub model: MediumModel,
    /// Whether the propagation delay of each frame is its distance over the speed of light. If so,
    /// `propagation_delay` is zero.
    pub delays_by_distance: bool,
    /// Whether receivers decode only frames whose power reaches the standard's sensitivity for their rate.
    /// Only on media with powers and SINR.
    pub sensitivity_by_rate: bool,
    /// SINR from which preambles of HT, VHT and HE stations are detected; none if the preamble's bit errors
    /// alone decide. Only on media with powers and SINR.
    pub preamble_detection: Option<f64>,
    /// Fading of received powers; none for constant powers.
    pub fading: Option<FadingConfig>,
}

impl MediumConfig {
    /// Received power at which the medium is busy, in milliwatts; zero for models without powers.
    pub fn carrier_sense_mw(&self) -> f64 {
        match &self.model {
            MediumModel::Sinr { carrier_sense_mw, .. }
            | MediumModel::Sensed { carrier_sense_mw, .. }
            | MediumModel::Matrix { quantity: MatrixQuantity::Rssi { carrier_sense_mw, .. }, .. } => {
                *carrier_sense_mw
            }
            MediumModel::Ranges { .. }
            | MediumModel::Matrix { quantity: MatrixQuantity::Delivery { .. }, .. } => 0.0,
        }
    }
}

/// Additional losses of a directed link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkError {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Probability that a decodable DATA frame is lost.
    pub packet_error_rate: f64,
    /// Probability that a decodable ACK or block acknowledgement is lost.
    pub ack_error_rate: f64,
}

/// Model of reception and carrier sense.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum MediumModel {
    /// The model of ns-2: fixed ranges, powers by path loss, and pairwise capture.
    Ranges {
        /// Maximum distance at which frames are decodable, in metres.
        receive_range: f64,
        /// Maximum distance at which frames are sensed, in metres.
        carrier_sense_range: f64,
        /// Minimum ratio of a frame's power to that of a later, overlapping frame for the first frame to
        /// survive; none if no frame survives.
        capture_ratio: Option<f64>,
        /// Path loss; it matters only for capture.
        path_loss: PathLoss,
    },
    /// Path loss, cumulative interference, error rates by SINR.
    Sinr {
        /// Transmit power in milliwatts, where
        /// [`TopologyConfig::powers`](crate::config::TopologyConfig::powers) is empty.
        transmit_power_mw: f64,
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// Minimum power at which a frame is detected, in milliwatts. Weaker frames only add to the noise.
        sensitivity_mw: f64,
        /// Carrier-sense threshold in milliwatts: the medium is busy if the total received power reaches it
        /// or a frame is being received.
        carrier_sense_mw: f64,
        /// Path loss.
        path_loss: PathLoss,
    },
    /// Measured links. Nodes without a listed link do not sense each other.
    Matrix {
        /// Directed links.
        links: Vec<MatrixLink>,
        /// Measured quantity.
        quantity: MatrixQuantity,
    },
    /// Measured links with received powers, and received powers of pairs without a measured link. Nodes
    /// without an entry do not sense each other. Without interference, a link delivers frames as measured.
    /// Carrier sense, interference and capture follow from the SINR, as ADR 14 describes.
    Sensed {
        /// Directed links.
        links: Vec<SensedLink>,
        /// Size of the probe frames in bytes.
        probe_size: u32,
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// As in [`MediumModel::Sinr`].
        sensitivity_mw: f64,
        /// As in [`MediumModel::Sinr`].
        carrier_sense_mw: f64,
    },
}

/// Path loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum PathLoss {
    /// Two-ray ground: Friis up to the cross-over distance, then the fourth power (Rappaport 2002, 4.6).
    TwoRayGround {
        /// Carrier frequency in hertz.
        frequency_hz: f64,
        /// Antenna height above ground in metres, at both ends.
        antenna_height: f64,
    },
    /// Log-distance: a power law beyond a reference distance.
    LogDistance {
        /// Path-loss exponent.
        exponent: f64,
        /// Loss at the reference distance, in dB.
        reference_loss_db: f64,
        /// Reference distance in metres.
        reference_distance: f64,
    },
}

/// A measured directed link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MatrixLink {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Delivery probability, or received power in dBm.
    pub value: f64,
}

/// Directed link with a known received power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SensedLink {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Probability that a probe frame is delivered; none for a signal that is sensed but never decoded.
    pub delivery: Option<f64>,
    /// Received power in dBm.
    pub rssi: f64,
}

/// Measured quantity of a link matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MatrixQuantity {
    /// Delivery probabilities of probe frames. Those of other sizes follow from an equal bit error rate. Any
    /// overlap of frames at a receiver destroys them.
    Delivery {
        /// Size of the probe frames in bytes.
        probe_size: u32,
    },
    /// Received powers. Errors and capture follow from the SINR.
    Rssi {
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// As in [`MediumModel::Sinr`].
        sensitivity_mw: f64,
        /// As in [`MediumModel::Sinr`].
        carrier_sense_mw: f64,
    },
}

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
