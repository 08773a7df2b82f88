//! Queue disciplines: `discipline` and `codel` of `[mac]` and of wires.

use crate::document::{Document, KeyPath, Result};
use multihop_core::Span;
use multihop_link::{CodelOptions, FqCodelOptions, StationsOptions};
use multihop_schemes::quantity::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets wait in an interface queue.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// In one line; what does not fit is lost.
    #[default]
    DropTail,
    /// In a line for each flow, served in turns, where packets that wait too long are marked or dropped (RFC 8290).
    FqCodel,
    /// The same for each next hop, and these served by airtime, as in Linux's mac80211. Not on wires.
    Stations,
}

/// Parameters of `discipline = "fq-codel"` and `"stations"`; defaults are those of Linux's `fq_codel` and of its mac80211.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Codel {
    /// Time in the queue that is acceptable for good. Default: 5 ms, with `"stations"` 20 ms.
    pub target: Option<Duration>,
    /// For how long it may be exceeded before packets are marked or dropped. Default: 100 ms.
    pub interval: Option<Duration>,
    /// Packets whose transport understands ECN are marked and not dropped. Default: true.
    pub ecn: Option<bool>,
    /// Bytes that a flow may send in its turn. Default: 1514 B, with `"stations"` 300 B.
    pub quantum: Option<Size>,
    /// Lines over which flows are spread by a hash, with `"stations"` those of each next hop. Default: 1024, with `"stations"` 4096.
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: Option<u32>,
    /// Bytes that wait at most. Default: 32 MiB, with `"stations"` 4 MiB.
    pub byte_limit: Option<Size>,
    /// Packets that an overflow takes at most from the fattest line. Default: 64, with `"stations"` 1.
    #[schemars(range(min = 1, max = 65_536))]
    pub drop_batch: Option<u32>,
    /// Airtime that a next hop gets in its turn. Default: 256 us. Only with `"stations"`.
    pub airtime_quantum: Option<Duration>,
    /// Frames from a neighbour are charged to it like those to it. Default: true. Only with `"stations"`.
    pub charge_received: Option<bool>,
}

impl Discipline {
    /// The discipline with its parameters. `at` is the path of the table that has the keys `discipline` and `codel`.
    pub(super) fn resolve(
        self,
        document: &Document<'_>,
        at: &KeyPath,
        codel: Option<&Codel>,
    ) -> Result<multihop_link::Discipline> {
        let path = at.join("codel");
        let Some(codel) = codel else { return Ok(self.with_defaults()) };
        match self.with_defaults() {
            multihop_link::Discipline::DropTail => Err(document.fail(
                &path,
                "has no effect with discipline \"drop-tail\"",
                "remove it, or set discipline = \"fq-codel\" or \"stations\" above it",
            )),
            multihop_link::Discipline::FqCodel(defaults) => {
                let given = [
                    ("airtime_quantum", codel.airtime_quantum.is_some()),
                    ("charge_received", codel.charge_received.is_some()),
                ];
                if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                    return Err(document.bad(
                        &path.join(key),
                        "has no effect with discipline \"fq-codel\", which knows no airtime",
                        "remove it, or set discipline = \"stations\"",
                    ));
                }
                codel.lines(document, &path, defaults).map(multihop_link::Discipline::FqCodel)
            }
            multihop_link::Discipline::Stations(defaults) => {
                let lines = codel.lines(document, &path, defaults.lines)?;
                let airtime_quantum = match codel.airtime_quantum {
                    None => defaults.airtime_quantum,
                    Some(time) => span(document, &path.join("airtime_quantum"), time)?,
                };
                Ok(multihop_link::Discipline::Stations(StationsOptions {
                    lines,
                    airtime_quantum,
                    charge_received: codel.charge_received.unwrap_or(defaults.charge_received),
                }))
            }
        }
    }

    fn with_defaults(self) -> multihop_link::Discipline {
        match self {
            Discipline::DropTail => multihop_link::Discipline::DropTail,
            Discipline::FqCodel => multihop_link::Discipline::FqCodel(FqCodelOptions::default()),
            Discipline::Stations => multihop_link::Discipline::Stations(StationsOptions::default()),
        }
    }
}

impl Codel {
    fn lines(
        &self,
        document: &Document<'_>,
        path: &KeyPath,
        defaults: FqCodelOptions,
    ) -> Result<FqCodelOptions> {
        let time = |key: &str, value: Option<Duration>, default: Span| {
            value.map_or(Ok(default), |time| span(document, &path.join(key), time))
        };
        let count = |key: &str, value: Option<u32>, default: u32| {
            value.map_or(Ok(default), |count| document.count(&path.join(key), count, 1, 65_536))
        };
        let codel = CodelOptions {
            target: time("target", self.target, defaults.codel.target)?,
            interval: time("interval", self.interval, defaults.codel.interval)?,
            ecn: self.ecn.unwrap_or(defaults.codel.ecn),
        };
        if codel.target > codel.interval {
            let key = if self.target.is_some() { "target" } else { "interval" };
            let why = format!(
                "makes the target of {} longer than the interval of {}",
                Duration(codel.target.seconds()),
                Duration(codel.interval.seconds())
            );
            let remedy =
                "make the target 5 to 10 % of the interval, which is about the longest round-trip time";
            return Err(document.bad(&path.join(key), why, remedy));
        }
        let quantum = match self.quantum {
            None => defaults.quantum,
            Some(size) => document.between(&path.join("quantum"), size, "64 B", "1048576 B")?.bytes() as u32,
        };
        let byte_limit = match self.byte_limit {
            None => defaults.byte_limit,
            Some(size) => {
                // The largest datagram fits.
                document.between(&path.join("byte_limit"), size, "100 kB", "1000 GB")?.bytes()
            }
        };
        Ok(FqCodelOptions {
            codel,
            quantum,
            flows: count("flows", self.flows, defaults.flows)?,
            byte_limit,
            drop_batch: count("drop_batch", self.drop_batch, defaults.drop_batch)?,
        })
    }
}

fn span(document: &Document<'_>, at: &KeyPath, time: Duration) -> Result<Span> {
    document.between(at, time, "10 us", "100 s").map(Duration::span)
}
