//! The queue of a radio's hardware.

use multihop_link::AirtimeLimits;
use serde::Serialize;

/// What the hardware of a radio holds of each access category. What has no limit is bounded by the others.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct HardwareQueueConfig {
    /// Packets at most, those that are being sent included.
    pub packets: Option<u32>,
    /// Frames at most, A-MPDUs where there are such, the one that is being sent included: each is of what
    /// waits when there is room for it.
    pub aggregates: Option<u32>,
    /// Airtime at most, of each station; only under [`multihop_link::Discipline::Stations`].
    pub airtime: Option<AirtimeLimits>,
}
