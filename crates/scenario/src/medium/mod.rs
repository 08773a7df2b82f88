//! `[medium]`: decides which nodes sense each other and which frames are received.

mod propagation;

pub use propagation::{FadingModel, PathLossModel};

use crate::document::{Document, Result, key};
use crate::error::{ConnectionKind, KeyProblem, MediumProblem, PhyProblem, Problem};
use crate::topology::Nodes;
use crate::values::{Delay, Switch};
use multihop_config::keys::{Bounds, usually};
use multihop_config::quantity::{Decibel, Duration, Length, Power, Size};
use multihop_config::{bounds, keys};
use multihop_core::NodeId;
use multihop_dot11::Phy;
use multihop_sim::config::{
    FadingConfig, LinkError, MatrixQuantity, MediumConfig, MediumModel, TopologyConfig,
};
use schemars::transform::Transform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Model of the medium.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model")]
pub enum Medium {
    /// The model of ns-2: fixed ranges of reception and carrier sense, powers by path loss, and pairwise
    /// capture.
    Ranges(Ranges),
    /// Path loss, cumulative interference, and error rates by SINR.
    Sinr(Sinr),
    /// Measured links, listed under `[topology]`. Nodes without a listed link do not sense each other.
    Matrix(Matrix),
}

/// Table of `[medium]`: the keys that all models have, the powers of receivers if the model has them, and the
/// model's own keys. `$besides` completes the descriptions of error rates.
macro_rules! medium {
    (
        $(#[$doc:meta])*
        $name:ident $([$($form:ident)*])?, with errors $besides:literal;
        $(powers $of:literal between { $($before:tt)* } and { $($between:tt)* })?
        { $($own:tt)* }
    ) => {
        keys! {
            $(#[$doc])*
            #[derive(Clone, Debug, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $name $($($form)*)? {
                /// Propagation delay between any two nodes. With `"distance"` it is the distance at the start
                /// of a frame over the speed of light; all nodes then need positions.
                #[serde(default)]
                pub propagation_delay: Delay ["0 s", "1 ms"],
                #[doc = concat!("Probability of a bit error in a decodable frame", $besides, ".")]
                #[serde(default)]
                #[schemars(transform = probability())]
                pub bit_error_rate: f64,
                #[doc = concat!(
                    "Probability that a decodable DATA frame is lost, whatever its length", $besides, "."
                )]
                #[serde(default)]
                #[schemars(transform = probability())]
                pub packet_error_rate: f64,
                /// Additional losses of single links.
                #[serde(default)]
                pub errors: Vec<LinkErrors>,
                $(
                    $($before)*
                    #[doc = concat!(
                        "Noise power at every node in 20 MHz. Noise, `sensitivity` and `carrier_sense` are ",
                        "proportional to the width of the channel.", $of
                    )]
                    #[schemars(transform = power(NOISE))]
                    pub noise: Option<Power>,
                    #[doc = concat!(
                        "Minimum power in 20 MHz at which a frame is detected. Weaker frames only add to ",
                        "the noise.", $of
                    )]
                    #[schemars(transform = power(SENSITIVITY))]
                    pub sensitivity: Option<Power>,
                    $($between)*
                    #[doc = concat!(
                        "Carrier-sense threshold in 20 MHz: the medium is busy if the total received power ",
                        "reaches it or a frame is being received.", $of
                    )]
                    #[schemars(transform = power(CARRIER_SENSE))]
                    pub carrier_sense: Option<Power>,
                )?
                $($own)*
            }
        }
    };
}

medium! {
    /// Fixed ranges of reception and carrier sense.
    Ranges, with errors "";
    {
        /// Maximum distance at which frames are decodable. The default is that of ns-2's 914 MHz `WaveLAN`,
        /// which the literature uses.
        pub receive_range: Length ["0.01 m", "10000 km"] = Length(250.0),
        /// Maximum distance at which frames are sensed.
        pub carrier_sense_range: Length ["0.01 m", "10000 km"] = Length(550.0),
        /// Minimum ratio of a frame's power to that of a later, overlapping frame for the first frame to
        /// survive; `"off"` for no capture.
        pub capture: Switch<Decibel> ["0 dB", "100 dB"] = Switch::At(Decibel(10.0)),
        /// Path loss; it matters only for capture. Default: two-ray.
        pub path_loss: Option<PathLossModel>,
    }
}

medium! {
    /// Path loss, cumulative interference, and error rates by SINR.
    Sinr, with errors ", in addition to noise and interference";
    powers "" between {
        /// Transmit power of every node.
        #[schemars(transform = level())]
        pub transmit_power: Power = Power(20.0),
    } and {
        /// Whether frames are decoded only at powers from the standard's sensitivity for their rate or MCS
        /// upwards, in addition to the effects of noise and interference (802.11-2016, tables 17-18, 19-23
        /// and 21-25; 802.11ax-2021, table 27-51). In 20 MHz the sensitivity is from -82 dBm at MCS 0 to -64
        /// dBm at MCS 7. Weaker frames down to `sensitivity` are detected and not decoded. Most receivers are
        /// better than the standard demands.
        pub sensitivity_by_rate: bool,
        /// Minimum SINR in the first 4 us of a preamble for its detection, in 802.11n, ac and ax. With
        /// `"off"` only bit errors in preamble and header decide: hardly any are correct at 0 dB, and almost
        /// all at 4 dB. ns-3 has 4 dB.
        pub preamble_detection: Switch<Decibel> ["-20 dB", "40 dB"] = Switch::Off,
    }
    {
        /// Path loss. Default: log-distance.
        pub path_loss: Option<PathLossModel>,
        /// Fading of received powers. Default: no fading.
        pub fading: Option<FadingModel>,
    }
}

medium! {
    /// Measured links.
    Matrix [with required keys], with errors ", in addition to the measured losses";
    powers " Only with quantity `rssi` or `delivery-and-rssi`." between {
        /// Measured quantity.
        pub quantity: Quantity,
        /// Size of the probe frames. Delivery probabilities of other sizes follow from an equal bit error
        /// rate. Only with quantity `delivery` or `delivery-and-rssi`.
        #[schemars(transform = usually(format!("{} B", PROBE_SIZE.0)))]
        pub probe_size: Option<Size> ["1 B", "65535 B"],
    } and {}
    {}
}

/// Additional losses of a link between two nodes: probabilities that decodable DATA frames and
/// acknowledgements are lost. Bit errors, other control frames and other links are not affected.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkErrors {
    /// Names of the two nodes.
    pub between: [String; 2],
    /// Probability that a decodable DATA frame from the first node to the second is lost, whatever its
    /// length.
    #[schemars(transform = probability())]
    pub packet_error_rate: f64,
    /// Probability that a decodable DATA frame from the second node to the first is lost. Default:
    /// `packet_error_rate`.
    #[schemars(transform = probability())]
    pub packet_error_rate_back: Option<f64>,
    /// Probability that a decodable ACK or `BlockAck` from the first node to the second is lost.
    #[schemars(transform = probability())]
    #[serde(default)]
    pub ack_error_rate: f64,
    /// Probability that a decodable ACK or `BlockAck` from the second node to the first is lost. Default:
    /// `ack_error_rate`.
    #[schemars(transform = probability())]
    pub ack_error_rate_back: Option<f64>,
}

/// Measured quantity of links.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Share of probe frames that arrived. Any overlap of frames at a receiver destroys them.
    Delivery,
    /// Received power. Errors and capture follow from the SINR.
    Rssi,
    /// Share of probe frames, and received power. Without interference, a link delivers frames as measured.
    /// Carrier sense, interference and capture follow from the received powers. A direction with only a power
    /// is sensed and never decoded.
    DeliveryAndRssi,
}

/// Permitted range of a probability.
fn probability() -> Bounds {
    bounds!(0, 1)
}

/// Permitted range of a transmit power.
pub(crate) fn level() -> Bounds {
    bounds!("-150 dBm", "40 dBm")
}

/// Range and default of an optional power.
fn power(usual: Power) -> impl FnMut(&mut Schema) {
    move |schema| {
        level().transform(schema);
        usually(usual)(schema);
    }
}

const PROBE_SIZE: Size = Size(1500.0);
const NOISE: Power = Power(-95.0);
const SENSITIVITY: Power = Power(-92.0); // sensitivity of receivers at 1 Mb/s; at higher rates, error rates decide
const CARRIER_SENSE: Power = Power(-82.0); // 802.11-2012, 18.3.10.6

impl Default for Medium {
    fn default() -> Medium {
        Medium::Ranges(Ranges::default())
    }
}

impl Medium {
    /// The medium. The topology adds the links of a matrix; [`Medium::link_errors`] adds the losses of single
    /// links once nodes are known.
    pub(super) fn resolve(&self, document: &Document<'_>, phy: &Phy) -> Result<MediumConfig> {
        let (bit, packet) = match self {
            Medium::Ranges(m) => (m.bit_error_rate, m.packet_error_rate),
            Medium::Sinr(m) => (m.bit_error_rate, m.packet_error_rate),
            Medium::Matrix(m) => (m.bit_error_rate, m.packet_error_rate),
        };
        let (delay, delays_by_distance) = match self.propagation_delay() {
            Delay::Same(delay) => (delay, false),
            Delay::Distance => (Duration::default(), true),
        };
        let model = match self {
            Medium::Ranges(ranges) => ranges.resolve(document)?,
            Medium::Sinr(sinr) => sinr.resolve(phy),
            Medium::Matrix(matrix) => matrix.resolve(document, phy)?,
        };
        Ok(MediumConfig {
            propagation_delay: delay.span(),
            bit_error_rate: bit,
            packet_error_rate: packet,
            link_errors: Vec::new(),
            model,
            delays_by_distance,
            sensitivity_by_rate: matches!(self, Medium::Sinr(Sinr { sensitivity_by_rate: true, .. })),
            preamble_detection: self.preamble_detection(document, phy)?,
            fading: self.fading(document, phy)?,
        })
    }

    /// Fading of received powers; none for constant powers.
    fn fading(&self, document: &Document<'_>, phy: &Phy) -> Result<Option<FadingConfig>> {
        let Medium::Sinr(Sinr { fading: Some(fading), .. }) = self else { return Ok(None) };
        fading.resolve(document, phy).map(Some)
    }

    /// SINR from which preambles are detected; none if only their bit errors decide.
    fn preamble_detection(&self, document: &Document<'_>, phy: &Phy) -> Result<Option<f64>> {
        let Medium::Sinr(Sinr { preamble_detection: Switch::At(ratio), .. }) = self else { return Ok(None) };
        if !phy.standard().has_mcs() {
            let problem = PhyProblem::NoDetection { standard: phy.standard() };
            return Err(document.error(&key!["medium", "preamble_detection"], problem));
        }
        Ok(Some(ratio.ratio()))
    }

    fn propagation_delay(&self) -> Delay {
        let (Medium::Ranges(Ranges { propagation_delay, .. })
        | Medium::Sinr(Sinr { propagation_delay, .. })
        | Medium::Matrix(Matrix { propagation_delay, .. })) = self;
        *propagation_delay
    }

    /// Losses of single links in a configuration with known nodes and wires.
    pub(super) fn link_errors(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        topology: &TopologyConfig,
    ) -> Result<Vec<LinkError>> {
        let (Medium::Ranges(Ranges { errors, .. })
        | Medium::Sinr(Sinr { errors, .. })
        | Medium::Matrix(Matrix { errors, .. })) = self;
        let mut made = Vec::with_capacity(2 * errors.len());
        let mut known: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
        for (i, entry) in errors.iter().enumerate() {
            let at = key!["medium", "errors", i];
            let [first, second] = &entry.between;
            let find = |index: usize, name: &str| {
                let node = nodes.find(document, &at.join("between").join(index), name)?;
                Ok(NodeId(node as u32))
            };
            let (a, b) = (find(0, first)?, find(1, second)?);
            let refuse = |problem: Problem| Err(document.error(&at.join("between"), problem));
            let between = entry.between.clone();
            if a == b {
                return refuse(KeyProblem::Loop { what: ConnectionKind::Link, node: first.clone() }.into());
            }
            if topology.wire(a, b).is_some() {
                return refuse(MediumProblem::ErrorsOfWire { between }.into());
            }
            if let Some(first) = known.insert((a.min(b), a.max(b)), i) {
                return refuse(MediumProblem::SecondErrors { between, first }.into());
            }
            let both = |there: f64, back: Option<f64>| [there, back.unwrap_or(there)];
            let data = both(entry.packet_error_rate, entry.packet_error_rate_back);
            let ack = both(entry.ack_error_rate, entry.ack_error_rate_back);
            for ((from, to), way) in [(a, b), (b, a)].into_iter().zip(0..) {
                made.push(LinkError { from, to, packet_error_rate: data[way], ack_error_rate: ack[way] });
            }
        }
        Ok(made)
    }
}

impl Ranges {
    fn resolve(&self, document: &Document<'_>) -> Result<MediumModel> {
        let at = |key: &str| key!["medium", key];
        let (receive_range, carrier_sense_range) = (self.receive_range.0, self.carrier_sense_range.0);
        if carrier_sense_range < receive_range {
            let key = if document.has(&at("carrier_sense_range")) {
                "carrier_sense_range"
            } else {
                "receive_range"
            };
            let (senses, receives) = (self.carrier_sense_range, self.receive_range);
            let problem = MediumProblem::SensesTooLittle { senses, receives };
            return Err(document.error(&at(key), problem));
        }
        let capture_ratio = self.capture.at().map(Decibel::ratio);
        let path_loss = self.path_loss.unwrap_or_else(PathLossModel::two_ray).resolve();
        Ok(MediumModel::Ranges { receive_range, carrier_sense_range, capture_ratio, path_loss })
    }
}

impl Sinr {
    fn resolve(&self, phy: &Phy) -> MediumModel {
        let [noise_mw, sensitivity_mw, carrier_sense_mw] =
            in_channel(phy, [self.noise, self.sensitivity, self.carrier_sense]);
        MediumModel::Sinr {
            transmit_power_mw: self.transmit_power.milliwatts(),
            noise_mw,
            sensitivity_mw,
            carrier_sense_mw,
            path_loss: self.path_loss.unwrap_or_else(PathLossModel::log_distance).resolve(),
        }
    }
}

impl Matrix {
    fn resolve(&self, document: &Document<'_>, phy: &Phy) -> Result<MediumModel> {
        let foreign = match self.quantity {
            Quantity::Delivery if self.noise.is_some() => Some("noise"),
            Quantity::Delivery if self.sensitivity.is_some() => Some("sensitivity"),
            Quantity::Delivery if self.carrier_sense.is_some() => Some("carrier_sense"),
            Quantity::Rssi if self.probe_size.is_some() => Some("probe_size"),
            _ => None,
        };
        if let Some(key) = foreign {
            let (value, instead) = match self.quantity {
                Quantity::Delivery => ("delivery", "\"rssi\" or \"delivery-and-rssi\""),
                _ => ("rssi", "\"delivery\" or \"delivery-and-rssi\""),
            };
            let problem = KeyProblem::NoEffect { key: "quantity", value: value.into(), instead };
            return Err(document.error(&key!["medium", key], problem));
        }
        let probe_size = self.probe_size.unwrap_or(PROBE_SIZE).bytes() as u32;
        let [noise_mw, sensitivity_mw, carrier_sense_mw] =
            in_channel(phy, [self.noise, self.sensitivity, self.carrier_sense]);
        let quantity = match self.quantity {
            Quantity::Delivery => MatrixQuantity::Delivery { probe_size },
            Quantity::Rssi => MatrixQuantity::Rssi { noise_mw, sensitivity_mw, carrier_sense_mw },
            Quantity::DeliveryAndRssi => {
                return Ok(MediumModel::Sensed {
                    links: Vec::new(),
                    probe_size,
                    noise_mw,
                    sensitivity_mw,
                    carrier_sense_mw,
                });
            }
        };
        Ok(MediumModel::Matrix { links: Vec::new(), quantity })
    }
}

/// Noise, sensitivity and carrier-sense threshold of the whole channel, in milliwatts. A file states them for
/// 20 MHz; they are proportional to the width. The engine adds powers in whole femtowatts, of which 10 W are
/// 10^16.
fn in_channel(phy: &Phy, [noise, sensitivity, carrier_sense]: [Option<Power>; 3]) -> [f64; 3] {
    [(noise, NOISE), (sensitivity, SENSITIVITY), (carrier_sense, CARRIER_SENSE)].map(|(given, usual)| {
        given.unwrap_or(usual).milliwatts() * f64::from(phy.options().bandwidth.mhz()) / 20.0
    })
}
