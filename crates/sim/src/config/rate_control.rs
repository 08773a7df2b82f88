//! Rate control of unicast DATA.

use multihop_link::Algorithm;
use serde::Serialize;

/// Rate control: each station chooses a rate of the PHY for unicast DATA to each neighbour.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct RateControlConfig {
    /// Algorithm of rate control.
    pub algorithm: Algorithm,
    /// Maximum number of spatial streams; without meaning before 802.11n.
    pub streams: u8,
    /// Maximum number of transmissions of a frame, with or without RTS, in place of the MAC's retry limits.
    pub tries: Option<u32>,
}
