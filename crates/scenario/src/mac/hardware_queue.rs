//! `[mac.hardware_queue]`: what waits below the discipline.

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
    /// A queue of the hardware, below `discipline`, which has no say in it any more. At least one of the keys
    /// limits it. Without the table, packets are taken from the discipline when a frame is put together.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct HardwareQueue {
        /// Packets of an access category that the hardware has room for, those that are being sent included.
        /// Neighbours take turns, a frame each. Firmware of 802.11ac has room for a thousand and more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub packets: Option<u32> [1, 1_000_000],
        /// Frames of an access category, A-MPDUs where there are such, the one that is being sent included.
        /// Each is put together, of what waits then, when there is room for it. Linux's ath9k has 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aggregates: Option<u32> [1, 64],
        /// Airtime, as Linux limits it (AQL): `{}` for its limits. Only with `discipline = "stations"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aql: Option<Aql>,
    }
}

keys! {
    /// How much airtime may be pending in the hardware when a packet more is handed over, as it is expected
    /// by the last rate to each station.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Aql {
        /// Of a station.
        pub low: Duration ["10 us", "100 s"] = AirtimeLimits::default().low.into(),
        /// Of a station, while less than `threshold` is pending for all; where it is left out, at least
        /// `low`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually(Duration::from(AirtimeLimits::default().high)))]
        pub high: Option<Duration> ["10 us", "100 s"],
        /// Of all stations, up to which `high` holds.
        pub threshold: Duration ["10 us", "100 s"] = AirtimeLimits::default().threshold.into(),
    }
}

/// The queue of the hardware; none without the table.
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
