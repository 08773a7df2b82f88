//! Configuration of the MAC.

use multihop_core::Span;
use multihop_dot11::{AccessCategory, DcfRules, EdcaParameters};
use multihop_link::{AirtimeLimits, Algorithm, Discipline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Interface queue, and hardware queue below it.
    #[serde(flatten)]
    pub queue: QueueConfig,
    /// Largest MSDU in bytes, LLC header included; none for no limit, as in ns-2. The limit is checked for
    /// the segments of schemes when they are resolved; for packets from outside by
    /// [`Config::largest_packet`](crate::config::Config::largest_packet).
    pub msdu_limit: Option<u32>,
    /// EDCA parameters of each access category, by [`AccessCategory`]; none for one queue under the DCF.
    pub edca: Option<[EdcaParameters; AccessCategory::COUNT]>,
    /// Time that duration fields reserve within a transmission opportunity.
    pub protection: Protection,
    /// Whether a CTS-to-self at the rate of an RTS precedes DATA at OFDM rates or MCSs that no RTS precedes
    /// (802.11-2012, 9.3.2.11 and 9.23.1). If so, the propagation delay is at most a SIFS.
    pub cts_to_self: bool,
    /// Rate control of unicast DATA; none for fixed rates.
    pub rate_control: Option<RateControlConfig>,
    /// Aggregation and block acknowledgements.
    #[serde(flatten)]
    pub block_ack: BlockAckConfig,
}

/// Interface queue of a radio, and hardware queue below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueConfig {
    /// Limit of the interface queue in packets.
    #[serde(rename = "queue_limit")]
    pub limit: usize,
    /// Maximum time of a packet in the interface queue, after which it is dropped; none for no limit
    /// (802.11-2012, 9.19.2.6, `dot11EDCATableMSDULifetime`).
    pub lifetime: Option<Span>,
    /// Discipline of the interface queue.
    pub discipline: Discipline,
    /// Hardware queue below the discipline; none if the MAC dequeues packets when it builds a frame.
    #[serde(rename = "hardware_queue")]
    pub hardware: Option<HardwareQueueConfig>,
}

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

/// Aggregation under block acknowledgement agreements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct BlockAckConfig {
    /// Limits on aggregation; none for one packet per frame with an ACK each.
    pub aggregation: Option<AggregationConfig>,
    /// Retry limits and reordering of MPDUs.
    pub persistence: Persistence,
    /// Instant at which recipients deliver MPDUs to the network layer.
    pub delivery: Delivery,
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
