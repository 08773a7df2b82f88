//! `[medium]`: which nodes sense each other, and which frames are received.

mod propagation;

pub use propagation::{FadingModel, PathLossModel};

use crate::document::{Document, Result, key};
use crate::error::{Joined, KeyProblem, MediumProblem, PhyProblem, Problem};
use crate::topology::Nodes;
use crate::values::{Delay, Switch};
use multihop_config::keys::{Bounds, usually};
use multihop_config::quantity::{Decibel, Duration, Length, Power, Size};
use multihop_config::{bounds, keys};
use multihop_core::NodeId;
use multihop_dot11::Phy;
use multihop_sim::config::{Config, FadingConfig, LinkError, MatrixQuantity, MediumConfig, MediumModel};
use schemars::transform::Transform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The medium.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model")]
pub enum Medium {
    /// ns-2's: fixed ranges of reception and carrier sense, powers by path loss, and pairwise capture.
    Ranges(Ranges),
    /// Path loss, cumulative interference, and error rates by SINR.
    Sinr(Sinr),
    /// Measured links, listed under `[topology]`; what is not listed is not sensed at all.
    Matrix(Matrix),
}

/// A table of `[medium]`: the keys that all models have, of which errors come on top of what is said, the
/// powers of receivers between two groups of its own where it has them, and more keys of its own.
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
                /// Propagation delay between any two nodes; `"distance"`, where all have positions, for that
                /// of light over their distance when a frame begins.
                #[serde(default)]
                pub propagation_delay: Delay ["0 s", "1 ms"],
                #[doc = concat!("Probability that a bit of a decodable frame is wrong", $besides, ".")]
                #[serde(default)]
                #[schemars(transform = probability())]
                pub bit_error_rate: f64,
                #[doc = concat!(
                    "Probability that a decodable DATA frame is lost, whatever its length", $besides, "."
                )]
                #[serde(default)]
                #[schemars(transform = probability())]
                pub packet_error_rate: f64,
                /// The same of single links, on top of that.
                #[serde(default)]
                pub errors: Vec<LinkErrors>,
                $(
                    $($before)*
                    #[doc = concat!(
                        "Noise power at every node, in 20 MHz: as `sensitivity` and `carrier_sense`, it is in ",
                        "proportion to the width of the channel.", $of
                    )]
                    #[schemars(transform = power(NOISE))]
                    pub noise: Option<Power>,
                    #[doc = concat!(
                        "Frames below this power are not noticed as frames: they only add to the noise.", $of
                    )]
                    #[schemars(transform = power(SENSITIVITY))]
                    pub sensitivity: Option<Power>,
                    $($between)*
                    #[doc = concat!(
                        "The medium is busy where the total received power is at least this, or a frame is ",
                        "being received.", $of
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
        /// Frames are decodable up to this distance. ns-2's 914 MHz `WaveLAN`, and with it the literature,
        /// has 250 m.
        pub receive_range: Length ["0.01 m", "10000 km"] = Length(250.0),
        /// Frames are sensed up to this distance.
        pub carrier_sense_range: Length ["0.01 m", "10000 km"] = Length(550.0),
        /// A frame survives a later one whose power is lower by at least this ratio; `"off"` for never.
        pub capture: Switch<Decibel> ["0 dB", "100 dB"] = Switch::At(Decibel(10.0)),
        /// How power falls with distance, which only matters for capture. Default: two-ray.
        pub path_loss: Option<PathLossModel>,
    }
}

medium! {
    /// Path loss, cumulative interference, and error rates by SINR.
    Sinr, with errors ", on top of noise and interference";
    powers "" between {
        /// Transmit power of every node.
        #[schemars(transform = level())]
        pub transmit_power: Power = Power(20.0),
    } and {
        /// Frames are decoded down to the power of the standard for their rate or scheme, besides what noise
        /// and interference do (802.11-2016, tables 17-18, 19-23 and 21-25; 802.11ax-2021, table 27-51): -82
        /// dBm at MCS 0 to -64 dBm at MCS 7, in 20 MHz. Weaker ones are noticed, down to `sensitivity`, and
        /// not decoded. Most receivers do better.
        pub sensitivity_by_rate: bool,
        /// A preamble is detected only where its signal is so far above noise and interference in its first 4
        /// us: `"off"` for what the bits of preamble and header decide alone, of which next to none are right
        /// at 0 dB and next to all at 4 dB. ns-3 has 4 dB. In 802.11n, ac and ax.
        pub preamble_detection: Switch<Decibel> ["-20 dB", "40 dB"] = Switch::Off,
    }
    {
        /// How power falls with distance. Default: log-distance.
        pub path_loss: Option<PathLossModel>,
        /// How it varies over time. Default: it does not.
        pub fading: Option<FadingModel>,
    }
}

medium! {
    /// Measured links.
    Matrix [with required keys], with errors ", on top of what was measured";
    powers " Only with quantity `rssi` or `delivery-and-rssi`." between {
        /// What was measured.
        pub quantity: Quantity,
        /// Size of the probes that were counted; other sizes follow by equal bit error rates. Only with
        /// quantity `delivery` or `delivery-and-rssi`.
        #[schemars(transform = usually(format!("{} B", PROBE_SIZE.0)))]
        pub probe_size: Option<Size> ["1 B", "65535 B"],
    } and {}
    {}
}

/// What is lost between two nodes besides: DATA frames, and acknowledgements, that could be decoded. Bits,
/// other control frames and other links are as they are.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkErrors {
    /// Names of the two nodes.
    pub between: [String; 2],
    /// Probability that a decodable DATA frame is lost, whatever its length.
    #[schemars(transform = probability())]
    pub packet_error_rate: f64,
    /// The same from the second node to the first. Default: `packet_error_rate`.
    #[schemars(transform = probability())]
    pub packet_error_rate_back: Option<f64>,
    /// Probability that a decodable ACK or `BlockAck` from the first node to the second is lost.
    #[schemars(transform = probability())]
    #[serde(default)]
    pub ack_error_rate: f64,
    /// The same from the second node to the first, of acknowledgements of what the first sends. Default:
    /// `ack_error_rate`.
    #[schemars(transform = probability())]
    pub ack_error_rate_back: Option<f64>,
}

/// What was measured of a link.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The share of probe frames that arrived. Any overlap of frames at a receiver destroys them.
    Delivery,
    /// The received power. Errors and capture follow from the SINR.
    Rssi,
    /// Both: what a link delivers without contention is as measured; carrier sense, interference and capture
    /// follow from the received powers. A direction with a power alone is sensed, and never decoded.
    DeliveryAndRssi,
}

/// The range of a probability.
fn probability() -> Bounds {
    bounds!(0, 1)
}

/// The range of a power.
pub(crate) fn level() -> Bounds {
    bounds!("-150 dBm", "40 dBm")
}

/// A power that may be left out, and what it is then.
fn power(usual: Power) -> impl FnMut(&mut Schema) {
    move |schema| {
        level().transform(schema);
        usually(usual)(schema);
    }
}

const PROBE_SIZE: Size = Size(1500.0);
const NOISE: Power = Power(-95.0);
const SENSITIVITY: Power = Power(-92.0); // what receivers do at 1 Mb/s; above it, error rates decide
const CARRIER_SENSE: Power = Power(-82.0); // 802.11-2012, 18.3.10.6

impl Default for Medium {
    fn default() -> Medium {
        Medium::Ranges(Ranges::default())
    }
}

impl Medium {
    /// The medium; the links of a matrix are added by the topology, and errors of single links when nodes are
    /// known.
    pub(super) fn resolve(&self, document: &Document<'_>, phy: &Phy) -> Result<MediumConfig> {
        let (bit, packet) = match self {
            Medium::Ranges(m) => (m.bit_error_rate, m.packet_error_rate),
            Medium::Sinr(m) => (m.bit_error_rate, m.packet_error_rate),
            Medium::Matrix(m) => (m.bit_error_rate, m.packet_error_rate),
        };
        let delay = match self.propagation_delay() {
            Delay::Same(delay) => delay,
            Delay::Distance => Duration::default(),
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
        })
    }

    /// How powers vary over time, if they do.
    pub(super) fn fading(&self, document: &Document<'_>, phy: &Phy) -> Result<Option<FadingConfig>> {
        let Medium::Sinr(Sinr { fading: Some(fading), .. }) = self else { return Ok(None) };
        fading.resolve(document, phy).map(Some)
    }

    /// Does the power at which frames are decoded go by their rate?
    pub(super) fn has_sensitivity_by_rate(&self) -> bool {
        matches!(self, Medium::Sinr(Sinr { sensitivity_by_rate: true, .. }))
    }

    /// The ratio of signal power to noise and interference from which preambles are detected, if there is
    /// one.
    pub(super) fn preamble_detection(&self, document: &Document<'_>, phy: &Phy) -> Result<Option<f64>> {
        let Medium::Sinr(Sinr { preamble_detection: Switch::At(ratio), .. }) = self else { return Ok(None) };
        if !phy.standard().has_mcs() {
            let problem = PhyProblem::NoDetection { standard: phy.standard() };
            return Err(document.error(&key!["medium", "preamble_detection"], problem));
        }
        Ok(Some(ratio.ratio()))
    }

    /// Are frames delayed by distance?
    pub(super) fn delays_by_distance(&self) -> bool {
        self.propagation_delay() == Delay::Distance
    }

    fn propagation_delay(&self) -> Delay {
        let (Medium::Ranges(Ranges { propagation_delay, .. })
        | Medium::Sinr(Sinr { propagation_delay, .. })
        | Medium::Matrix(Matrix { propagation_delay, .. })) = self;
        *propagation_delay
    }

    /// The errors of single links of a configuration whose nodes and wires are known.
    pub(super) fn link_errors(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        config: &Config,
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
                return refuse(KeyProblem::Loop { what: Joined::Link, node: first.clone() }.into());
            }
            if config.wire(a, b).is_some() {
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

/// Noise, sensitivity and the threshold of carrier sense in milliwatts. In a file they are those of 20 MHz:
/// in the whole channel they are in proportion to the width. The engine adds powers up in whole femtowatts,
/// of which 10 W are 10^16.
fn in_channel(phy: &Phy, [noise, sensitivity, carrier_sense]: [Option<Power>; 3]) -> [f64; 3] {
    [(noise, NOISE), (sensitivity, SENSITIVITY), (carrier_sense, CARRIER_SENSE)].map(|(given, usual)| {
        given.unwrap_or(usual).milliwatts() * f64::from(phy.options().bandwidth.mhz()) / 20.0
    })
}
