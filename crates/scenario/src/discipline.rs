//! Queue disciplines: `discipline` of `[mac]` and of wires, and `codel` of `[mac]`.

use crate::document::{Document, KeyPath, Result};
use crate::error::{KeyProblem, MacProblem};
use crate::parameters::of;
use multihop_config::keys;
use multihop_config::keys::{usually, usually_by};
use multihop_config::quantity::{Duration, Size};
use multihop_link::{Adaptation, CodelOptions, FqCodelOptions, SlowStations, StationsOptions};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Queue discipline of an interface queue.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// One first-in first-out queue. Packets that do not fit are dropped.
    #[default]
    DropTail,
    /// One queue for each flow, served in turns. Packets that are queued for too long are marked or dropped
    /// (FQ-CoDel, RFC 8290).
    FqCodel,
    /// FQ-CoDel for each next hop; next hops are served by airtime, as in Linux's mac80211. Not on wires.
    Stations,
}

keys! {
    /// Parameters of `discipline = "fq-codel"` and `"stations"`, with the defaults of Linux's `fq_codel` and
    /// mac80211.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Codel {
        /// Acceptable standing queue delay (CoDel's target; RFC 8289).
        #[schemars(transform = by_discipline(of!(|lines| Duration::from(lines.codel.target))))]
        pub target: Option<Duration> ["10 us", "100 s"],
        /// Time for which the queue delay may exceed `target` before packets are marked or dropped (CoDel's
        /// interval; RFC 8289).
        #[schemars(transform = by_discipline(of!(|lines| Duration::from(lines.codel.interval))))]
        pub interval: Option<Duration> ["10 us", "100 s"],
        /// Whether packets of ECN-capable transports are marked instead of dropped.
        #[schemars(transform = by_discipline(of!(|lines| lines.codel.ecn)))]
        pub ecn: Option<bool>,
        /// Bytes that a flow may send in its turn.
        #[schemars(transform = by_discipline(of!(|lines| Size(f64::from(lines.quantum)))))]
        pub quantum: Option<Size> ["64 B", "1048576 B"],
        /// Number of queues to which flows are hashed; with `"stations"`, the number for each next hop.
        #[schemars(transform = by_discipline(of!(|lines| lines.flows)))]
        pub flows: Option<u32> [1, 65_536],
        /// Airtime of a next hop in its turn. Only with `"stations"`.
        #[schemars(transform = usually(Duration::from(StationsOptions::default().airtime_quantum)))]
        pub airtime_quantum: Option<Duration> ["10 us", "100 s"],
        /// Whether slow neighbours have a target of 50 ms, an interval of 300 ms and no ECN, as in mac80211.
        /// A neighbour is slow if the expected throughput of its link is below 6 Mb/s times the number of
        /// neighbours. Only with `"stations"`.
        #[schemars(transform = usually(false))]
        pub slow: Option<bool>,
        /// Minimum target of a neighbour, as a number of its latest exchanges: each with a full A-MPDU, or
        /// with the packets queued at that time. Only with `"stations"`.
        #[schemars(transform = usually(Adaptation::default().exchanges))]
        pub target_exchanges: Option<u32> [0, 1000],
    }
}

/// Default of a key that both disciplines have.
fn by_discipline(of: impl Fn(&FqCodelOptions) -> Value) -> impl FnMut(&mut Schema) {
    let lines = [FqCodelOptions::default(), StationsOptions::default().lines];
    usually_by(["fq-codel", "stations"].into_iter().zip(lines.iter().map(of)).collect())
}

impl Discipline {
    /// The discipline with its parameters. `at` is the path of the table with the keys `discipline` and
    /// `codel`.
    pub(super) fn resolve(
        self,
        document: &Document<'_>,
        at: &KeyPath,
        codel: Option<&Codel>,
    ) -> Result<multihop_link::Discipline> {
        let path = at.join("codel");
        let Some(codel) = codel else { return Ok(self.with_defaults()) };
        match self.with_defaults() {
            multihop_link::Discipline::DropTail => {
                let (key, value) = ("discipline", "drop-tail".into());
                let instead = "\"fq-codel\" or \"stations\"";
                Err(document.error(&path, KeyProblem::NoEffect { key, value, instead }))
            }
            multihop_link::Discipline::FqCodel(defaults) => {
                let given = [
                    ("airtime_quantum", codel.airtime_quantum.is_some()),
                    ("slow", codel.slow.is_some()),
                    ("target_exchanges", codel.target_exchanges.is_some()),
                ];
                if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                    return Err(document.error(&path.join(key), MacProblem::NoAirtime));
                }
                codel.lines(document, &path, defaults).map(multihop_link::Discipline::FqCodel)
            }
            multihop_link::Discipline::Stations(defaults) => {
                let lines = codel.lines(document, &path, defaults.lines)?;
                Ok(multihop_link::Discipline::Stations(StationsOptions {
                    lines,
                    airtime_quantum: codel.airtime_quantum.map_or(defaults.airtime_quantum, Duration::span),
                    adaptation: codel.adaptation(),
                    ..defaults
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
    fn adaptation(&self) -> Adaptation {
        let slow = self.slow.unwrap_or(false).then(SlowStations::default);
        Adaptation { slow, exchanges: self.target_exchanges.unwrap_or(Adaptation::default().exchanges) }
    }

    fn lines(
        &self,
        document: &Document<'_>,
        path: &KeyPath,
        defaults: FqCodelOptions,
    ) -> Result<FqCodelOptions> {
        let codel = CodelOptions {
            target: self.target.map_or(defaults.codel.target, Duration::span),
            interval: self.interval.map_or(defaults.codel.interval, Duration::span),
            ecn: self.ecn.unwrap_or(defaults.codel.ecn),
        };
        check_target(document, path, codel, self.target.is_some())?;
        Ok(FqCodelOptions {
            codel,
            quantum: self.quantum.map_or(defaults.quantum, |size| size.bytes() as u32),
            flows: self.flows.unwrap_or(defaults.flows),
            ..defaults
        })
    }
}

/// Refuses a target that is longer than the interval.
fn check_target(document: &Document<'_>, path: &KeyPath, codel: CodelOptions, is_given: bool) -> Result<()> {
    if codel.target <= codel.interval {
        return Ok(());
    }
    let [target, interval] = [codel.target, codel.interval].map(Duration::from);
    let key = if is_given { "target" } else { "interval" };
    Err(document.error(&path.join(key), MacProblem::TargetTooLong { target, interval }))
}
