//! A run, fully resolved: everything has a value, every name is an index, every quantity is in base units.
//!
//! The crate `multihop-scenario` makes one from a file; tests make them directly.

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

/// Everything that a run needs.
///
/// The scenario hash is made of its serialized form. A field that is added, here or in a type of a field, has
/// `skip_serializing_if` for its default, so that the hashes of scenarios without it stay valid.
#[derive(Clone, Serialize)]
pub struct Config {
    /// The run's name, for people.
    #[serde(skip)]
    pub name: String,
    /// Seed of every random stream.
    #[serde(skip)]
    pub seed: u64,
    /// When the run ends.
    pub duration: Span,
    /// What happens before this instant is not counted in results.
    pub warmup: Span,
    /// Length of a step in the recorded time series.
    pub record_interval: Span,
    /// The nodes, and after them their further radios; [`NodeId`]s index this list.
    pub nodes: Vec<NodeConfig>,
    /// Wires between them, each direction an entry of its own; of two nodes each direction at most once.
    pub wires: Vec<WireConfig>,
    /// Rates and inter-frame spaces.
    pub phy: Phy,
    /// Rate of unicast DATA frames, where no link has one of its own.
    pub data_rate: DataRate,
    /// Rate of RTS, CTS, ACK and broadcasts; none for the standard's rule (RTS and broadcast at the highest
    /// basic rate not above the data rate, responses at the highest basic rate not above that of the frame
    /// they answer).
    pub control_rate: Option<Rate>,
    /// Rate of ACKs, where it differs from `control_rate`.
    pub ack_rate: Option<Rate>,
    /// The MAC.
    pub mac: MacConfig,
    /// Aggregation under block acknowledgement agreements; none for one packet and one ACK at a time.
    pub aggregation: Option<AggregationConfig>,
    /// How long its ends hold on to MPDUs, where that is not as usual.
    pub persistence: Persistence,
    /// When its recipients pass MPDUs on.
    pub delivery: Delivery,
    /// How stations choose the rate of unicast DATA; none where each link has the one above, or one of its
    /// own.
    pub rate_control: Option<RateControlConfig>,
    /// What each access category contends with, by [`multihop_dot11::AccessCategory`]; none for one queue
    /// under the DCF.
    pub edca: Option<[EdcaParameters; AccessCategory::COUNT]>,
    /// What frames of their transmission opportunities reserve.
    pub protection: Protection,
    /// A CTS to the station itself, at the rate of an RTS, precedes frames at rates of OFDM or at schemes
    /// that no RTS precedes (9.3.2.11, 9.23.1). The propagation delay is no longer than a SIFS then.
    pub cts_to_self: bool,
    /// How packets wait for it.
    pub discipline: Discipline,
    /// The queue of the hardware below; none if the MAC takes packets from the discipline when it puts a
    /// frame together.
    pub hardware_queue: Option<HardwareQueueConfig>,
    /// The medium.
    pub medium: MediumConfig,
    /// With powers and SINR: a receiver decodes no frame whose power is below the standard's sensitivity of
    /// its rate.
    pub sensitivity_by_rate: bool,
    /// With powers and SINR: the ratio from which preambles of HT, VHT and HE stations are detected; none
    /// where their bits decide alone.
    pub preamble_detection: Option<f64>,
    /// How its powers vary over time, if they do.
    pub fading: Option<FadingConfig>,
    /// Frames reach each listener as late as light does; `medium.propagation_delay` is zero then.
    pub delays_by_distance: bool,
    /// Are causes recorded ([`crate::outcome::Causes`])? It changes nothing else.
    #[serde(skip)]
    pub causes: bool,
    /// What finds routes, and what happens when a link fails.
    pub routing: RoutingConfig,
    /// The schemes in use; [`FlowConfig::scheme`] indexes this list.
    #[serde(skip)]
    pub schemes: Vec<SchemeConfig>,
    /// The flows; [`multihop_core::FlowId`]s index this list.
    pub flows: Vec<FlowConfig>,
    /// Header bytes added to every packet below the transport, besides those of its scheme: ns-2 adds 20 with
    /// DSDV.
    pub extra_header: u32,
    /// Bytes of the largest MSDU, with the LLC header; none for no limit, as in ns-2. What sends packets
    /// keeps it: schemes when they are resolved, packets from outside by [`Config::largest_packet`].
    pub msdu_limit: Option<u32>,
    /// Nodes ask for their neighbours' addresses before they send them anything (RFC 826).
    pub arp: bool,
    /// Estimators whose values are recorded, in steps of `record_interval`.
    pub measurements: Vec<MeasurementConfig>,
    /// How nodes move, and when they are off.
    #[serde(skip)]
    pub mobility: Mobility,
    /// Rates of unicast DATA frames between two nodes, both ways, where it is none of the others; each pair
    /// at most once.
    pub link_rates: Vec<LinkRate>,
    /// Channels, and which entries of `nodes` are radios of one node.
    pub radios: Radios,
    /// Transmit power and antenna gain of each entry of `nodes`; empty if all have the transmit power of the
    /// medium and antennas without gain. Only with [`MediumModel::Sinr`].
    pub powers: Vec<RadioPower>,
}

impl Config {
    /// Bytes of the largest packet from outside, from the header of IP on: what fits into an MSDU, or into a
    /// datagram where MSDUs have no limit.
    pub fn largest_packet(&self) -> u32 {
        let headers = self.mac.rules.llc_header + self.extra_header;
        self.msdu_limit.map_or(LARGEST_DATAGRAM, |largest| largest.saturating_sub(headers))
    }
}

/// Bytes of the largest datagram of IP (RFC 791, section 3.1).
const LARGEST_DATAGRAM: u32 = 65_535;

/// The rate of a link, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkRate {
    /// Its ends.
    pub between: [NodeId; 2],
    /// Rate of unicast DATA frames.
    pub rate: DataRate,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeConfig {
    /// Its name in the scenario.
    pub name: String,
    /// Where it stands, or where it is at the beginning if it moves, in metres. Where the medium goes by
    /// distance, a node without a position has no radio.
    pub position: Option<[f64; 2]>,
    /// The base station that it is associated with: by radio it exchanges unicast frames with that node alone
    /// (802.11-2012, clause 4: an infrastructure BSS). None of a base station itself, and of stations that
    /// are in no such network.
    pub base: Option<NodeId>,
    /// Rate of unicast DATA frames between it and its base station, both ways, where it is not
    /// [`Config::data_rate`].
    pub data_rate: Option<DataRate>,
}

/// One direction of a wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WireConfig {
    /// The sending end.
    pub from: NodeId,
    /// The receiving end.
    pub to: NodeId,
    /// Rate at which the sending end puts bits on it.
    pub rate: Rate,
    /// Time that each bit takes from end to end.
    pub delay: Span,
    /// Packets that wait at the sending end at most, besides the one that is being sent.
    pub queue_limit: usize,
    /// How they wait.
    pub discipline: Discipline,
    /// Probability with which each packet is lost on the way, from 0 to below 1.
    pub loss: f64,
}

/// MAC parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacConfig {
    /// The rule set.
    pub rules: DcfRules,
    /// DATA frames longer than this many bytes (MAC header and FCS included) use RTS/CTS; none for never.
    pub rts_threshold: Option<u32>,
    /// Transmissions of an RTS, or of a DATA frame sent without RTS, before giving up; none for no limit.
    pub short_retry_limit: Option<u32>,
    /// Transmissions of a DATA frame sent after RTS/CTS before giving up; none for no limit.
    pub long_retry_limit: Option<u32>,
    /// First contention window; the PHY's by default.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Packets that the interface queue holds.
    pub queue_limit: usize,
    /// A packet that has waited in the interface queue for longer is not sent any more; none for no limit
    /// (9.19.2.6, `dot11EDCATableMSDULifetime`).
    pub lifetime: Option<Span>,
}

/// Aggregation (802.11-2016, 10.12, 10.13 and 10.24), under agreements that are taken to exist from the
/// beginning.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AggregationConfig {
    /// MPDUs of an A-MPDU at most; one for none.
    pub mpdus: u32,
    /// Sequence numbers that an agreement covers at a time: at least `mpdus`, at most 256. Beyond 64 block
    /// acknowledgements are longer.
    pub window: u32,
    /// Bytes of an A-MPDU at most.
    pub a_mpdu: u32,
    /// Bytes of an A-MSDU at most; none for one packet per MPDU.
    pub a_msdu: Option<u32>,
    /// Bytes of an MPDU in an A-MPDU at most, where it is of several packets.
    pub mpdu: u32,
    /// Airtime of an A-MPDU at most.
    pub max_duration: Span,
    /// Least time between the beginnings of two MPDUs of an A-MPDU.
    pub spacing: Span,
    /// A receiver passes on what it holds when an MPDU has been missing for so long.
    pub reordering_timeout: Span,
    /// A-MPDUs of more than one MPDU are sent after RTS/CTS, however long they are.
    pub rts: bool,
    /// A single MPDU is sent as an A-MPDU of one, as in VHT and HE PPDUs (10.13.8).
    pub single_delimited: bool,
}

/// How long the ends of a block acknowledgement agreement hold on to an MPDU.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Persistence {
    /// Transmissions of an MPDU, alone or among others, before it is given up, if not [`MPDU_RETRY_LIMIT`] or
    /// the MAC's `short_retry_limit`, whichever is higher; `u32::MAX` for no end. An MPDU that was sent alone
    /// `short_retry_limit` times is given up besides.
    pub retry_limit: Option<u32>,
    /// Requests for a block acknowledgement in a row without an answer before what was sent is given up;
    /// `u32::MAX` for no end. By default [`REQUEST_LIMIT`], or no end if MPDUs have no retry limit.
    pub request_limit: Option<u32>,
    /// A receiver waits for what is missing without end.
    pub reorders_without_end: bool,
}

/// Transmissions of an MPDU before it is given up: `IWL_DEFAULT_TX_RETRY` of Linux's iwlwifi, and
/// `MT_TXD3_REM_TX_COUNT` of its mt76.
pub const MPDU_RETRY_LIMIT: u32 = 15;

/// Requests for a block acknowledgement before a station gives up: `IWL_BAR_DFAULT_RETRY_LIMIT` of iwlwifi.
pub const REQUEST_LIMIT: u32 = 60;

/// What duration fields reserve in a transmission opportunity (802.11-2020, 9.2.5.2).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// The exchange of the frame, and the next one, if one follows.
    #[default]
    Single,
    /// All that is left of the opportunity. Its holder returns what it does not use with a CF-End, if there
    /// is time for one (802.11-2020, 10.23.2.10).
    Multiple,
}

/// When a recipient passes on the MPDUs of an A-MPDU.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Together, when the A-MPDU is over: as adapters hand them to their hosts.
    #[default]
    Ppdu,
    /// Each when it is over itself, as the standard has it (802.11-2016, 10.24.7.6.2), and as ns-3.
    Mpdu,
}

/// The medium: which nodes sense each other, and which frames are received.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediumConfig {
    /// Propagation delay between any two nodes, where it does not go by distance.
    pub propagation_delay: Span,
    /// Probability that a bit of a decodable frame is wrong, on top of what the model says.
    pub bit_error_rate: f64,
    /// Probability that a decodable DATA frame is lost, on top of what the model says.
    pub packet_error_rate: f64,
    /// The same of single links, on top of that: each directed link at most once.
    pub link_errors: Vec<LinkError>,
    /// Which nodes sense each other.
    pub model: MediumModel,
}

/// What a directed link loses that others do not.
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

/// Models of the medium.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum MediumModel {
    /// ns-2's: fixed ranges, powers by path loss, and pairwise capture.
    Ranges {
        /// Frames are decodable up to this distance, in metres.
        receive_range: f64,
        /// Frames are sensed up to this distance, in metres.
        carrier_sense_range: f64,
        /// A frame survives a later, weaker one if its power is at least this many times higher; none for
        /// never.
        capture_ratio: Option<f64>,
        /// How power falls with distance; it only matters for capture.
        path_loss: PathLoss,
    },
    /// Path loss, cumulative interference, error rates by SINR.
    Sinr {
        /// Transmit power in milliwatts, where [`Config::powers`] is empty.
        transmit_power_mw: f64,
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// Frames below this power are not noticed as frames, in milliwatts: they only add to noise.
        sensitivity_mw: f64,
        /// The medium is busy where the total received power is at least this, in milliwatts, or a frame is
        /// being received.
        carrier_sense_mw: f64,
        /// How power falls with distance.
        path_loss: PathLoss,
    },
    /// Measured links; what is not listed is not heard at all.
    Matrix {
        /// The directed links.
        links: Vec<MatrixLink>,
        /// What was measured.
        quantity: MatrixQuantity,
    },
    /// Measured links with received powers, and received powers of pairs that were not measured; what is not
    /// listed is not heard at all. What a link delivers alone is what was measured; carrier sense,
    /// interference and capture are by SINR, as ADR 14 says.
    Sensed {
        /// The directed links.
        links: Vec<SensedLink>,
        /// Size of the probes that were counted.
        probe_size: u32,
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// As in [`MediumModel::Sinr`].
        sensitivity_mw: f64,
        /// As in [`MediumModel::Sinr`].
        carrier_sense_mw: f64,
    },
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum PathLoss {
    /// Friis up to the cross-over distance, then the fourth power (Rappaport 2002, 4.6).
    TwoRayGround {
        /// Carrier frequency in hertz.
        frequency_hz: f64,
        /// Antenna height above ground in metres, at both ends.
        antenna_height: f64,
    },
    /// A power law beyond a reference distance.
    LogDistance {
        /// Exponent.
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

/// A directed link of which the received power is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SensedLink {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Probability that a probe is delivered; none of a signal that is sensed, but never decoded.
    pub delivery: Option<f64>,
    /// Received power in dBm.
    pub rssi: f64,
}

/// What a link matrix holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MatrixQuantity {
    /// Probabilities that a frame of `probe_size` bytes is delivered; other sizes by equal bit error rates.
    /// Any overlap of frames at a receiver destroys them.
    Delivery {
        /// Size of the probes that were counted.
        probe_size: u32,
    },
    /// Received powers; errors and capture by SINR.
    Rssi {
        /// Noise power in milliwatts.
        noise_mw: f64,
        /// As in [`MediumModel::Sinr`].
        sensitivity_mw: f64,
        /// As in [`MediumModel::Sinr`].
        carrier_sense_mw: f64,
    },
}

/// What finds routes, and what happens when the MAC gives a packet up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoutingConfig {
    /// What finds the routes.
    pub protocol: RoutingProtocol,
    /// What a path costs. Under a protocol, it says which paths the run expects: those that count a flow's
    /// hops.
    pub metric: RouteMetric,
    /// What happens when the MAC gives a packet up; only with static routes.
    pub on_link_failure: LinkFailureRule,
}

/// What finds the routes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum RoutingProtocol {
    /// No protocol: they are computed before the run.
    Static,
    /// DSDV (Perkins and Bhagwat 1994), as ns-2 has it.
    Dsdv(DsdvConfig),
    /// DSR (RFC 4728), close to ns-2's.
    Dsr(DsrConfig),
    /// AODV (RFC 3561), as ns-2 has it.
    Aodv(AodvConfig),
}

/// What a path costs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Metric")]
#[serde(rename_all = "kebab-case")]
pub enum RouteMetric {
    /// The number of hops; links that deliver less than half of the DATA frames only where there is no other
    /// way.
    #[default]
    Hops,
    /// Expected transmissions, DATA and ACK (De Couto et al. 2003).
    Etx,
}

/// What happens when the MAC gives a packet up.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum LinkFailureRule {
    /// Only that packet is lost.
    Ignore,
    /// After this many consecutive failures towards a next hop, what waits in the queue for it is lost as
    /// well, and the route is unusable for the hold time; then it is tried again.
    Break {
        /// Consecutive failures.
        failures: u32,
        /// How long the route stays unusable.
        hold: Span,
    },
}

/// A scheme in use.
#[derive(Clone, Serialize)]
pub struct SchemeConfig {
    /// Its name in the registry, or the name that the scenario gave to a variant.
    pub name: String,
    /// The scheme with its parameters.
    #[serde(skip)]
    pub scheme: Arc<dyn Scheme>,
}

/// An estimator at some nodes, whose values are recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasurementConfig {
    /// What results call it.
    pub name: String,
    /// The nodes, each once.
    pub nodes: Vec<NodeId>,
    /// What each of them has.
    pub estimator: EstimatorConfig,
}

impl Config {
    /// The wire from one node to another, if there is one. What goes from the one to the other always takes
    /// it.
    pub fn wire(&self, from: NodeId, to: NodeId) -> Option<&WireConfig> {
        self.wires.iter().find(|wire| (wire.from, wire.to) == (from, to))
    }

    /// The node that sends what this one has for a multicast group: its base station (802.11-2020, 10.3.6:
    /// such frames go to the access point, acknowledged, which distributes them), or the other end of the one
    /// wire of a node without a radio. None if it sends group-addressed frames itself.
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

    /// Which scheme each flow has, by flow.
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
