//! Rates of frames.

use multihop_core::{NodeId, Rate};
use multihop_dot11::DataRate;
use serde::Serialize;

/// Rates of frames without rate control.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateConfig {
    /// Rate of unicast DATA frames on links without a rate of their own.
    #[serde(rename = "data_rate")]
    pub data: DataRate,
    /// Rate of RTS, CTS, ACK and broadcast frames; none for the standard's rule. By that rule, an RTS or
    /// broadcast has the highest basic rate not above the data rate, and a response the highest basic rate
    /// not above the rate of the frame that it answers.
    #[serde(rename = "control_rate")]
    pub control: Option<Rate>,
    /// Rate of ACKs, if it differs from `control`.
    #[serde(rename = "ack_rate")]
    pub ack: Option<Rate>,
    /// Rates of unicast DATA frames between two nodes, in both directions, on links that neither `data` nor
    /// [`NodeConfig::data_rate`](super::NodeConfig::data_rate) covers; at most one for each pair.
    #[serde(rename = "link_rates")]
    pub links: Vec<LinkRate>,
}

/// Rate of a link, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkRate {
    /// Ends of the link.
    pub between: [NodeId; 2],
    /// Rate of unicast DATA frames.
    pub rate: DataRate,
}
