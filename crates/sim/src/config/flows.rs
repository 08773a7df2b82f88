//! Flows, and what they send.

use super::VideoConfig;
use multihop_core::{Dscp, FlowId, NodeId, Rate, Span};
use serde::Serialize;

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowConfig {
    /// Its name, for people.
    pub name: String,
    /// Where data is sent from.
    pub source: NodeId,
    /// Where data is sent to.
    pub destination: NodeId,
    /// The first of the flows of a multicast group, of which each has one receiver; none of a unicast flow.
    /// The flows of a group follow each other. They differ in name and destination alone, and the first one
    /// sends for all of them.
    pub group: Option<FlowId>,
    /// Index into [`Config::schemes`](super::Config::schemes).
    pub scheme: usize,
    /// What it sends.
    pub app: AppConfig,
    /// The codepoint of its packets, of its acknowledgements too.
    pub dscp: Dscp,
    /// When it starts.
    pub start: Span,
    /// When it stops offering data; none for never.
    pub stop: Option<Span>,
}

impl FlowConfig {
    /// Whether it is a multicast flow whose packets another flow of its group sends.
    pub fn is_sent_by_another(&self, id: FlowId) -> bool {
        self.group.is_some_and(|first| first != id)
    }
}

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum AppConfig {
    /// Always more to send. Window-limited transports send what their window allows; datagrams follow the
    /// interface queue, which never runs empty and never overflows because of this flow.
    Saturated,
    /// `bytes` bytes at once, then silence; the time to complete is recorded. None for endless, which is
    /// `Saturated` for TCP.
    Bulk {
        /// How much.
        bytes: Option<u64>,
    },
    /// A packet at equal intervals.
    Cbr {
        /// Payload rate.
        rate: Rate,
        /// Payload bytes of a packet.
        packet: u32,
        /// Each interval varies uniformly by up to this fraction: ns-2's `random_` is 0.5.
        jitter: f64,
    },
    /// Packets with exponential intervals.
    Poisson {
        /// Mean payload rate.
        rate: Rate,
        /// Payload bytes of a packet.
        packet: u32,
    },
    /// Transfers of `bytes` one after another, with a pause between the end of one and the start of the next.
    Transfers {
        /// Bytes of one transfer; the mean, if `exponential`.
        bytes: u64,
        /// The mean pause.
        pause: Span,
        /// Sizes and pauses are exponentially distributed, otherwise constant.
        exponential: bool,
        /// How many; none for as many as fit.
        count: Option<u32>,
    },
    /// Frames of a video.
    Video(VideoConfig),
    /// Nothing by itself: its packets come from outside, by [`World::inject`](crate::World::inject), whenever
    /// they come. Of its scheme there is only what routers do.
    External,
}

impl AppConfig {
    /// The name of the application in scenarios.
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

    /// Rate at which the application hands over data, in bit/s; none where it always has more, or takes the
    /// rate of its transport.
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

    /// The interval of packets that are sent at equal intervals, in seconds.
    pub fn equal_interval(&self) -> Option<f64> {
        match *self {
            AppConfig::Cbr { rate, packet, jitter: 0.0 } => {
                Some(rate.span_of_bytes(u64::from(packet)).seconds())
            }
            _ => None,
        }
    }
}
