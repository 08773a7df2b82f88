//! Configuration of a run: every key has a value, every name is an index, every quantity is in base units.
//!
//! The crate `multihop-scenario` makes a [`Config`] from a scenario file; tests make one directly. A group
//! that belongs to one module is defined there.

mod radios;
mod rates;
mod recording;
mod topology;
mod traffic;

pub use crate::apps::VideoConfig;
pub use crate::mac::config::*;
pub use crate::medium::config::*;
pub use crate::routing::config::*;
pub use radios::{Channel, RadioPower, Radios};
pub use rates::{LinkRate, RateConfig};
pub use recording::{MeasurementConfig, RecordingConfig};
pub use topology::{NodeConfig, TopologyConfig, WireConfig};
pub use traffic::{AppConfig, FlowConfig, SchemeConfig, TrafficConfig};

use crate::mobility::Mobility;
use multihop_core::{NodeId, Span};
use multihop_dot11::Phy;
use serde::Serialize;

/// Configuration of a run.
///
/// The scenario hash is made of its serialized form, in which most groups are flattened. A field that is
/// added, here or in a type of a field, has `skip_serializing_if` for its default, so that the hashes of
/// scenarios without it stay valid.
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
    /// Nodes, wires and radios.
    #[serde(flatten)]
    pub topology: TopologyConfig,
    /// Motion of nodes, and their outages.
    #[serde(skip)]
    pub mobility: Mobility,
    /// Medium.
    pub medium: MediumConfig,
    /// PHY: rates and inter-frame spaces.
    pub phy: Phy,
    /// Rates of frames.
    #[serde(flatten)]
    pub rates: RateConfig,
    /// MAC parameters.
    pub mac: MacConfig,
    /// Routing protocol, path metric, and reaction to link failures.
    pub routing: RoutingConfig,
    /// Network layer.
    #[serde(flatten)]
    pub network: NetworkConfig,
    /// Flows and their schemes.
    #[serde(flatten)]
    pub traffic: TrafficConfig,
    /// Recorded results.
    #[serde(flatten)]
    pub recording: RecordingConfig,
}

/// Network layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NetworkConfig {
    /// Header bytes added to every packet below the transport, in addition to those of its scheme. ns-2 adds
    /// 20 with DSDV.
    pub extra_header: u32,
    /// Whether nodes resolve their neighbours' addresses before they first send to them (ARP, RFC 826).
    pub arp: bool,
}

/// Largest IP datagram in bytes (RFC 791, section 3.1).
const LARGEST_DATAGRAM: u32 = 65_535;

impl Config {
    /// Largest packet from outside in bytes, IP header included: what fits into an MSDU, or the largest
    /// datagram if MSDUs have no limit.
    pub fn largest_packet(&self) -> u32 {
        let headers = self.mac.rules.llc_header + self.network.extra_header;
        self.mac.msdu_limit.map_or(LARGEST_DATAGRAM, |largest| largest.saturating_sub(headers))
    }

    /// The node that relays multicast packets of `source`; none if `source` sends group-addressed frames
    /// itself.
    ///
    /// The relay is the base station of a station, which sends such packets to it in acknowledged frames
    /// (802.11-2020, 10.3.6). The relay of a node without a radio is the other end of its only wire.
    pub fn multicast_relay(&self, source: NodeId) -> Option<NodeId> {
        let node = &self.topology.nodes[source.index()];
        let by_distance = matches!(self.medium.model, MediumModel::Ranges { .. } | MediumModel::Sinr { .. });
        if node.base.is_some() || !by_distance || node.position.is_some() {
            return node.base;
        }
        let mut wires = self.topology.wires.iter().filter(|wire| wire.from == source);
        wires.next().filter(|_| wires.next().is_none()).map(|wire| wire.to)
    }

    /// The node whose group-addressed frames carry the packets of a multicast flow.
    pub fn multicast_sender(&self, flow: &FlowConfig) -> NodeId {
        self.multicast_relay(flow.source).unwrap_or(flow.source)
    }
}
