//! Configuration of a run: every key has a value, every name is an index, every quantity is in base units.
//!
//! The crate `multihop-scenario` makes a [`Config`] from a scenario file; tests make one directly.

mod fading;
mod flows;
mod hardware;
mod radios;
mod rate_control;
mod routing;

pub use crate::apps::VideoConfig;
pub use fading::FadingConfig;
pub use flows::{AppConfig, FlowConfig};
pub use radios::{Channel, RadioPower, Radios};
pub use rate_control::RateControlConfig;
pub use routing::{AodvConfig, DsdvConfig, DsrConfig, LocalRepair};

use crate::mobility::Mobility;
pub use hardware::HardwareQueueConfig;
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::{AccessCategory, DataRate, DcfRules, EdcaParameters, Phy};
use multihop_link::{Discipline, EstimatorConfig};
use multihop_schemes::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Configuration of a run.
///
/// The scenario hash is made of its serialized form. A field that is added, here or in a type of a field, has
/// `skip_serializing_if` for its default, so that the hashes of scenarios without it stay valid.
#[derive(Clone, Serialize)]
pub struct Config {
    /// Name of the run in results and reports.
    #[serde(skip)]
    pub name: String,
    /// Seed of every random stream.
    #[serde(skip)]
    pub seed: u64,
    /// Duration of the run.
    pub duration: Span,
    /// End of the warm-up: results count only later events.
    pub warmup: Span,
    /// Length of a step of the recorded time series.
    pub record_interval: Span,
    /// Nodes, followed by their additional radios. [`NodeId`]s index this list.
    pub nodes: Vec<NodeConfig>,
    /// Wires between the nodes: one entry for each direction, at most one for each ordered pair of nodes.
    pub wires: Vec<WireConfig>,
    /// PHY: rates and inter-frame spaces.
    pub phy: Phy,
    /// Rate of unicast DATA frames on links without a rate of their own.
    pub data_rate: DataRate,
    /// Rate of RTS, CTS, ACK and broadcast frames; none for the standard's rule. By that rule, an RTS or
    /// broadcast has the highest basic rate not above the data rate, and a response the highest basic rate
    /// not above the rate of the frame that it answers.
    pub control_rate: Option<Rate>,
    /// Rate of ACKs, if it differs from `control_rate`.
    pub ack_rate: Option<Rate>,
    /// MAC parameters.
    pub mac: MacConfig,
    /// Aggregation under block acknowledgement agreements; none for one packet per frame with an ACK each.
    pub aggregation: Option<AggregationConfig>,
    /// Retry limits and reordering of MPDUs under block acknowledgement agreements.
    pub persistence: Persistence,
    /// Instant at which recipients deliver MPDUs to the network layer.
    pub delivery: Delivery,
    /// Rate control of unicast DATA; none for fixed rates: `data_rate`, or the link's own rate.
    pub rate_control: Option<RateControlConfig>,
    /// EDCA parameters of each access category, by [`multihop_dot11::AccessCategory`]; none for one queue
    /// under the DCF.
    pub edca: Option<[EdcaParameters; AccessCategory::COUNT]>,
    /// Time that duration fields reserve within a transmission opportunity.
    pub protection: Protection,
    /// Whether a CTS-to-self at the rate of an RTS precedes DATA at OFDM rates or MCSs that no RTS precedes
    /// (802.11-2012, 9.3.2.11 and 9.23.1). If so, the propagation delay is at most a SIFS.
    pub cts_to_self: bool,
    /// Discipline of the interface queues.
    pub discipline: Discipline,
    /// Hardware queue below the discipline; none if the MAC dequeues packets when it builds a frame.
    pub hardware_queue: Option<HardwareQueueConfig>,
    /// Medium.
    pub medium: MediumConfig,
    /// Whether receivers decode only frames whose power reaches the standard's sensitivity for their rate.
    /// Only on media with powers and SINR.
    pub sensitivity_by_rate: bool,
    /// SINR from which preambles of HT, VHT and HE stations are detected; none if the preamble's bit errors
    /// alone decide. Only on media with powers and SINR.
    pub preamble_detection: Option<f64>,
    /// Fading of received powers; none for constant powers.
    pub fading: Option<FadingConfig>,
    /// Whether the propagation delay of each frame is its distance over the speed of light. If so,
    /// `medium.propagation_delay` is zero.
    pub delays_by_distance: bool,
    /// Whether causes are recorded ([`crate::outcome::Causes`]). Recording does not change the run.
    #[serde(skip)]
    pub causes: bool,
    /// Routing protocol, path metric, and reaction to link failures.
    pub routing: RoutingConfig,
    /// Schemes in use; [`FlowConfig::scheme`] indexes this list.
    #[serde(skip)]
    pub schemes: Vec<SchemeConfig>,
    /// Flows; [`multihop_core::FlowId`]s index this list.
    pub flows: Vec<FlowConfig>,
    /// Header bytes added to every packet below the transport, in addition to those of its scheme. ns-2 adds
    /// 20 with DSDV.
    pub extra_header: u32,
    /// Largest MSDU in bytes, LLC header included; none for no limit, as in ns-2. The limit is checked for
    /// the segments of schemes when they are resolved; for packets from outside by
    /// [`Config::largest_packet`].
    pub msdu_limit: Option<u32>,
    /// Whether nodes resolve their neighbours' addresses before they first send to them (ARP, RFC 826).
    pub arp: bool,
    /// Estimators whose values are recorded every `record_interval`.
    pub measurements: Vec<MeasurementConfig>,
    /// Motion of nodes, and their outages.
    #[serde(skip)]
    pub mobility: Mobility,
    /// Rates of unicast DATA frames between two nodes, in both directions, on links that neither `data_rate`
    /// nor [`NodeConfig::data_rate`] covers; at most one for each pair.
    pub link_rates: Vec<LinkRate>,
    /// Channels of the radios, and the entries of `nodes` that are additional radios of a node.
    pub radios: Radios,
    /// Transmit power and antenna gain of each entry of `nodes`. Empty if all have the transmit power of the
    /// medium and antennas without gain. Only with [`MediumModel::Sinr`].
    pub powers: Vec<RadioPower>,
}

impl Config {
    /// Largest packet from outside in bytes, IP header included: what fits into an MSDU, or the largest
    /// datagram if MSDUs have no limit.
    pub fn largest_packet(&self) -> u32 {
        let headers = self.mac.rules.llc_header + self.extra_header;
        self.msdu_limit.map_or(LARGEST_DATAGRAM, |largest| largest.saturating_sub(headers))
    }
}

/// Largest IP datagram in bytes (RFC 791, section 3.1).
const LARGEST_DATAGRAM: u32 = 65_535;

/// Rate of a link, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkRate {
    /// Ends of the link.
    pub between: [NodeId; 2],
    /// Rate of unicast DATA frames.
    pub rate: DataRate,
}

/// Node, or an additional radio of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeConfig {
    /// Name of the node in the scenario.
    pub name: String,
    /// Position in metres, at the start of the run if the node moves. On a medium that depends on distance, a
    /// node without a position has no radio.
    pub position: Option<[f64; 2]>,
    /// Base station with which the station is associated: by radio, it exchanges unicast frames only with
    /// that node (802.11-2012, clause 4: infrastructure BSS). None for base stations and for nodes outside a
    /// BSS.
    pub base: Option<NodeId>,
    /// Rate of unicast DATA frames between the station and its base station, in both directions, if it
    /// differs from [`Config::data_rate`].
    pub data_rate: Option<DataRate>,
}

/// One direction of a wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WireConfig {
    /// The sending end.
    pub from: NodeId,
    /// The receiving end.
    pub to: NodeId,
    /// Bit rate of the sending end.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Queue limit of the sending end in packets, without the packet in transmission.
    pub queue_limit: usize,
    /// Queue discipline of the sending end.
    pub discipline: Discipline,
    /// Probability that a packet is lost in transit, from 0 to below 1.
    pub loss: f64,
}

/// MAC parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacConfig {
    /// Rules of the DCF.
    pub rules: DcfRules,
    /// Length above which DATA frames follow RTS/CTS, in bytes, MAC header and FCS included; none for no
    /// RTS/CTS.
    pub rts_threshold: Option<u32>,
    /// Maximum number of transmissions of an RTS, or of a DATA frame sent without RTS; none for no limit.
    pub short_retry_limit: Option<u32>,
    /// Maximum number of transmissions of a DATA frame sent after RTS/CTS; none for no limit.
    pub long_retry_limit: Option<u32>,
    /// Minimum contention window in slots, by default the PHY's.
    pub cw_min: u32,
    /// Maximum contention window in slots.
    pub cw_max: u32,
    /// Limit of the interface queue in packets.
    pub queue_limit: usize,
    /// Maximum time of a packet in the interface queue, after which it is dropped; none for no limit
    /// (802.11-2012, 9.19.2.6, `dot11EDCATableMSDULifetime`).
    pub lifetime: Option<Span>,
}

/// Aggregation (802.11-2016, 10.12, 10.13 and 10.24) under block acknowledgement agreements that exist from
/// the start of the run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AggregationConfig {
    /// Maximum number of MPDUs in an A-MPDU; 1 for no A-MPDUs.
    pub mpdus: u32,
    /// Window of a block acknowledgement agreement in sequence numbers: at least `mpdus`, at most 256. Above
    /// 64, block acknowledgements are longer.
    pub window: u32,
    /// Maximum size of an A-MPDU in bytes.
    pub a_mpdu: u32,
    /// Maximum size of an A-MSDU in bytes; none for one packet per MPDU.
    pub a_msdu: Option<u32>,
    /// Maximum size of an MPDU of several packets within an A-MPDU, in bytes.
    pub mpdu: u32,
    /// Maximum airtime of an A-MPDU.
    pub max_duration: Span,
    /// Minimum time between the starts of two MPDUs of an A-MPDU (minimum MPDU start spacing).
    pub spacing: Span,
    /// Time that a recipient waits for a missing MPDU before it delivers the MPDUs behind it.
    pub reordering_timeout: Span,
    /// Whether A-MPDUs of more than one MPDU follow RTS/CTS whatever their length.
    pub rts: bool,
    /// Whether a single MPDU is sent as an A-MPDU of one MPDU, as in VHT and HE PPDUs (802.11-2016, 10.13.8).
    pub single_delimited: bool,
}

/// Retry limits and reordering of MPDUs under a block acknowledgement agreement.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Persistence {
    /// Maximum number of transmissions of an MPDU, alone or in an A-MPDU; `u32::MAX` for no limit. By default
    /// [`MPDU_RETRY_LIMIT`] or the MAC's `short_retry_limit`, whichever is higher. An MPDU is also dropped
    /// after `short_retry_limit` transmissions alone.
    pub retry_limit: Option<u32>,
    /// Maximum number of consecutive `BlockAckReq` frames without a response, after which the MPDUs sent are
    /// dropped; `u32::MAX` for no limit. By default [`REQUEST_LIMIT`], or no limit if MPDUs have no retry
    /// limit.
    pub request_limit: Option<u32>,
    /// Whether a recipient waits for a missing MPDU without a time limit.
    pub reorders_without_end: bool,
}

/// Default maximum number of transmissions of an MPDU: `IWL_DEFAULT_TX_RETRY` of Linux's iwlwifi, and
/// `MT_TXD3_REM_TX_COUNT` of its mt76.
pub const MPDU_RETRY_LIMIT: u32 = 15;

/// Default maximum number of `BlockAckReq` frames: `IWL_BAR_DFAULT_RETRY_LIMIT` of Linux's iwlwifi.
pub const REQUEST_LIMIT: u32 = 60;

/// Time that duration fields reserve in a transmission opportunity (802.11-2020, 9.2.5.2).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Up to the end of the frame's exchange, and of the next exchange if one follows.
    #[default]
    Single,
    /// The remainder of the opportunity. Its holder returns unused time with a CF-End if there is time for
    /// one (802.11-2020, 10.23.2.10).
    Multiple,
}

/// Instant at which a recipient delivers the MPDUs of an A-MPDU to the network layer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// All together at the end of the A-MPDU, as network adapters hand them to their hosts.
    #[default]
    Ppdu,
    /// Each at its own end, as in the standard (802.11-2016, 10.24.7.6.2) and in ns-3.
    Mpdu,
}

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
        /// Transmit power in milliwatts, where [`Config::powers`] is empty.
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

/// Routing protocol, path metric, and reaction to a packet that the MAC drops at its retry limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoutingConfig {
    /// Routing protocol.
    pub protocol: RoutingProtocol,
    /// Cost of a path. Under a routing protocol, the metric only determines the expected paths, by which the
    /// hops of a flow are counted.
    pub metric: RouteMetric,
    /// Reaction to a packet that the MAC drops at its retry limit. Only with static routes.
    pub on_link_failure: LinkFailureRule,
}

/// Routing protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum RoutingProtocol {
    /// Static routes, computed before the run.
    Static,
    /// DSDV (Perkins and Bhagwat 1994), as in ns-2.
    Dsdv(DsdvConfig),
    /// DSR (RFC 4728), close to ns-2's implementation.
    Dsr(DsrConfig),
    /// AODV (RFC 3561), as in ns-2.
    Aodv(AodvConfig),
}

/// Cost of a path.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Metric")]
#[serde(rename_all = "kebab-case")]
pub enum RouteMetric {
    /// Number of hops. Links that deliver less than half of the DATA frames are used only if no other path
    /// exists.
    #[default]
    Hops,
    /// Expected number of transmissions, DATA and ACK (De Couto et al. 2003).
    Etx,
}

/// Reaction to a packet that the MAC drops at its retry limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum LinkFailureRule {
    /// Drop only that packet.
    Ignore,
    /// After a number of consecutive failures towards a next hop, drop the queued packets for it too. The
    /// route is unusable for the hold time, and then tried again.
    Break {
        /// Number of consecutive failures that break the link.
        failures: u32,
        /// Time for which the route is unusable.
        hold: Span,
    },
}

/// Scheme in use.
#[derive(Clone, Serialize)]
pub struct SchemeConfig {
    /// Name of the scheme in the registry, or of the variant in the scenario.
    pub name: String,
    /// Scheme with its parameters.
    #[serde(skip)]
    pub scheme: Arc<dyn Scheme>,
}

/// Estimator at some nodes, whose values are recorded at each record interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasurementConfig {
    /// Label of the estimator in results.
    pub name: String,
    /// Nodes that have the estimator, each at most once.
    pub nodes: Vec<NodeId>,
    /// Estimator and its parameters.
    pub estimator: EstimatorConfig,
}

impl Config {
    /// The wire from one node to another, if there is one. Packets between the two always take it.
    pub fn wire(&self, from: NodeId, to: NodeId) -> Option<&WireConfig> {
        self.wires.iter().find(|wire| (wire.from, wire.to) == (from, to))
    }

    /// The node that relays multicast packets of `source`; none if `source` sends group-addressed frames
    /// itself.
    ///
    /// The relay is the base station of a station, which sends such packets to it in acknowledged frames
    /// (802.11-2020, 10.3.6). The relay of a node without a radio is the other end of its only wire.
    pub fn multicast_relay(&self, source: NodeId) -> Option<NodeId> {
        let node = &self.nodes[source.index()];
        let by_distance = matches!(self.medium.model, MediumModel::Ranges { .. } | MediumModel::Sinr { .. });
        if node.base.is_some() || !by_distance || node.position.is_some() {
            return node.base;
        }
        let mut wires = self.wires.iter().filter(|wire| wire.from == source);
        wires.next().filter(|_| wires.next().is_none()).map(|wire| wire.to)
    }

    /// The node whose group-addressed frames carry the packets of a multicast flow.
    pub fn multicast_sender(&self, flow: &FlowConfig) -> NodeId {
        self.multicast_relay(flow.source).unwrap_or(flow.source)
    }

    /// Index of each flow's scheme, by flow.
    pub fn scheme_of(&self) -> Arc<[usize]> {
        self.flows.iter().map(|flow| flow.scheme).collect()
    }
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
