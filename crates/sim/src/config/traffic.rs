//! Flows, their schemes and their traffic.

use super::VideoConfig;
use multihop_core::{Dscp, FlowId, NodeId, Rate, Span};
use multihop_schemes::Scheme;
use serde::Serialize;
use std::sync::Arc;

/// Flows and their schemes.
#[derive(Clone, Default, Serialize)]
pub struct TrafficConfig {
    /// Schemes in use; [`FlowConfig::scheme`] indexes this list.
    #[serde(skip)]
    pub schemes: Vec<SchemeConfig>,
    /// Flows; [`FlowId`]s index this list.
    pub flows: Vec<FlowConfig>,
}

impl TrafficConfig {
    /// Index of each flow's scheme, by flow.
    pub fn scheme_of(&self) -> Arc<[usize]> {
        self.flows.iter().map(|flow| flow.scheme).collect()
    }
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

/// Flow from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowConfig {
    /// Name of the flow in results.
    pub name: String,
    /// Node that sends data.
    pub source: NodeId,
    /// Node that receives data.
    pub destination: NodeId,
    /// First flow of the multicast group to which the flow belongs; none for a unicast flow. A group has one
    /// flow for each receiver. Its flows are consecutive and differ only in name and destination. The first
    /// flow sends for all of them.
    pub group: Option<FlowId>,
    /// Index into [`TrafficConfig::schemes`].
    pub scheme: usize,
    /// Traffic of the flow.
    pub app: AppConfig,
    /// Differentiated services codepoint of the flow's packets and acknowledgements.
    pub dscp: Dscp,
    /// Start time.
    pub start: Span,
    /// Time at which the flow stops offering data; none for the end of the run.
    pub stop: Option<Span>,
}

impl FlowConfig {
    /// Whether another flow of the same multicast group sends this flow's packets.
    pub fn is_sent_by_another(&self, id: FlowId) -> bool {
        self.group.is_some_and(|first| first != id)
    }
}

/// Traffic of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum AppConfig {
    /// Always more data to send. TCP sends what its window allows. Datagrams keep the interface queue filled:
    /// it never runs empty, and this flow never overflows it.
    Saturated,
    /// One transfer that starts at once; its completion time is recorded. Without a size it never ends, which
    /// for TCP is the same as `Saturated`.
    Bulk {
        /// Bytes to transfer; none for unlimited.
        bytes: Option<u64>,
    },
    /// Packets at equal intervals.
    Cbr {
        /// Payload rate.
        rate: Rate,
        /// Payload of a packet in bytes.
        packet: u32,
        /// Maximum relative deviation of an interval, uniformly distributed. ns-2's `random_` is 0.5.
        jitter: f64,
    },
    /// Packets at exponentially distributed intervals.
    Poisson {
        /// Mean payload rate.
        rate: Rate,
        /// Payload of a packet in bytes.
        packet: u32,
    },
    /// Consecutive transfers, with a pause after the end of each.
    Transfers {
        /// Bytes of a transfer; the mean if `exponential`.
        bytes: u64,
        /// Pause between transfers; the mean if `exponential`.
        pause: Span,
        /// Whether sizes and pauses are exponentially distributed; constant otherwise.
        exponential: bool,
        /// Number of transfers; none for as many as fit into the run.
        count: Option<u32>,
    },
    /// Frames of a video.
    Video(VideoConfig),
    /// No traffic of its own: packets are injected by [`World::inject`](crate::World::inject). Only the
    /// scheme's router policies apply.
    External,
}

impl AppConfig {
    /// Name of the application in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            AppConfig::Saturated => "saturated",
            AppConfig::Bulk { .. } => "bulk",
            AppConfig::Cbr { .. } => "cbr",
            AppConfig::Poisson { .. } => "poisson",
            AppConfig::Transfers { .. } => "transfers",
            AppConfig::Video(_) => "video",
            AppConfig::External => "external",
        }
    }

    /// Rate at which the application offers data, in bit/s; none if the rate is not limited by the
    /// application.
    pub fn offered_bps(&self) -> Option<f64> {
        match *self {
            AppConfig::Cbr { rate, .. } | AppConfig::Poisson { rate, .. } => Some(rate.bps() as f64),
            AppConfig::Video(video) => Some(video.rate_bps),
            AppConfig::Saturated
            | AppConfig::Bulk { .. }
            | AppConfig::Transfers { .. }
            | AppConfig::External => None,
        }
    }

    /// Interval of packets in seconds, for traffic at equal intervals.
    pub fn equal_interval(&self) -> Option<f64> {
        match *self {
            AppConfig::Cbr { rate, packet, jitter: 0.0 } => {
                Some(rate.span_of_bytes(u64::from(packet)).seconds())
            }
            _ => None,
        }
    }
}
