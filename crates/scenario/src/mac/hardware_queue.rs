//! `[mac.hardware_queue]`: the queue of the hardware below the discipline.

use crate::discipline::Discipline;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, MacProblem};
use multihop_config::keys;
use multihop_config::keys::usually;
use multihop_config::quantity::Duration;
use multihop_link::AirtimeLimits;
use multihop_sim::config::HardwareQueueConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Hardware queue below `discipline`, which no longer controls the packets in it. At least one of the
    /// keys limits it. Without the table, the MAC dequeues packets from the discipline when it builds a
    /// frame.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct HardwareQueue {
        /// Maximum number of packets of an access category, those in transmission included. Neighbours take
        /// turns of one frame each. Firmware of 802.11ac has room for a thousand packets and more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub packets: Option<u32> [1, 1_000_000],
        /// Maximum number of frames of an access category (A-MPDUs where they are used), the frame in
        /// transmission included. Each frame is built from the queued packets when there is room for it.
        /// Linux's ath9k has 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aggregates: Option<u32> [1, 64],
        /// Limits of pending airtime, as in Linux (AQL); `{}` for Linux's values. Only with `discipline =
        /// "stations"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aql: Option<Aql>,
    }
}

keys! {
    /// Limits of the airtime pending in the hardware when another packet is handed over. The airtime is
    /// estimated from the last rate to each station.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Aql {
        /// Maximum pending airtime of a station once all stations together exceed `threshold`.
        pub low: Duration ["10 us", "100 s"] = AirtimeLimits::default().low.into(),
        /// Maximum pending airtime of a station while all stations together are below `threshold`. If absent,
        /// at least `low`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually(Duration::from(AirtimeLimits::default().high)))]
        pub high: Option<Duration> ["10 us", "100 s"],
        /// Pending airtime of all stations together up to which `high` applies.
        pub threshold: Duration ["10 us", "100 s"] = AirtimeLimits::default().threshold.into(),
    }
}

/// Hardware queue; none without the table.
pub(super) fn resolve(
    document: &Document<'_>,
    choice: Option<&HardwareQueue>,
    discipline: Discipline,
) -> Result<Option<HardwareQueueConfig>> {
    let Some(HardwareQueue { packets, aggregates, aql }) = choice else { return Ok(None) };
    let table = key!["mac", "hardware_queue"];
    if packets.is_none() && aggregates.is_none() && aql.is_none() {
        return Err(document.error(&table, MacProblem::NoLimit));
    }
    if aql.is_some() && discipline != Discipline::Stations {
        return Err(document.error(&table.join("aql"), MacProblem::NoStations));
    }
    Ok(Some(HardwareQueueConfig {
        packets: *packets,
        aggregates: *aggregates,
        airtime: aql.as_ref().map(|aql| aql.resolve(document, &table.join("aql"))).transpose()?,
    }))
}

impl Aql {
    fn resolve(&self, document: &Document<'_>, table: &KeyPath) -> Result<AirtimeLimits> {
        let low = self.low.span();
        let high = self.high.map_or(AirtimeLimits::default().high.max(low), Duration::span);
        if high < low {
            let [value, limit] = [low, high].map(|time| Duration::from(time).to_string());
            let problem = KeyProblem::Above { key: "low", value, other: "high", limit };
            return Err(document.error(&table.join("high"), problem));
        }
        Ok(AirtimeLimits { low, high, threshold: self.threshold.span() })
    }
}
