//! Hardware queue of a radio.

use multihop_link::AirtimeLimits;
use serde::Serialize;

/// Limits of the hardware queue of each access category. At least one limit is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct HardwareQueueConfig {
    /// Maximum number of packets, those in transmission included.
    pub packets: Option<u32>,
    /// Maximum number of frames (A-MPDUs where they are used), the frame in transmission included. Each is
    /// built from the queued packets when there is room for it.
    pub aggregates: Option<u32>,
    /// Maximum pending airtime of each station (AQL). Only with [`multihop_link::Discipline::Stations`].
    pub airtime: Option<AirtimeLimits>,
}
