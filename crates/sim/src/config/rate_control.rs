//! Rate control of unicast DATA.

use multihop_link::Algorithm;
use serde::Serialize;

/// Stations choose the rate of DATA for each neighbour, among those of the PHY.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct RateControlConfig {
    /// How they choose.
    pub algorithm: Algorithm,
    /// Spatial streams that they use at most; of no meaning before 802.11n.
    pub streams: u8,
    /// Transmissions of a frame, with RTS or without, before it is given up, in place of the MAC's limits.
    pub tries: Option<u32>,
}
