//! Queue disciplines: `discipline` of `[mac]` and of wires, with the tables of parameters.

use crate::document::{Document, KeyPath, Result};
use crate::error::{KeyProblem, MacProblem};
use crate::parameters::of;
use multihop_config::keys;
use multihop_config::keys::{usually, usually_by};
use multihop_config::quantity::{Duration, Size};
use multihop_core::Span;
use multihop_link::{
    Adaptation, CodelOptions, DualPi2Options, DualQueueSchedule, FqCodelOptions, LowLatencyMarking,
    PieOptions, SlowStations, StationsOptions,
};
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
    /// One first-in first-out queue. Arriving packets are dropped or marked at random, by the queue delay
    /// (PIE, RFC 8033).
    Pie,
    /// A queue of low latency for packets with ECT(1) or CE, and one for all others. Both are dropped or
    /// marked at random, by the queue delay and by a common controller (`DualPI2`, RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2,
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

keys! {
    /// Parameters of `discipline = "pie"`, with the defaults of RFC 8033 and Linux.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Pie {
        /// Queue delay that the controller aims at (`QDELAY_REF`; RFC 8033, section 4.2).
        pub target: Duration ["10 us", "100 s"] = Duration(0.015),
        /// Time without drops after the queue was short (`MAX_BURST`; RFC 8033, section 4.4).
        pub max_burst: Duration ["0 s", "100 s"] = Duration(0.15),
        /// Whether packets of ECN-capable transports are marked instead of dropped, up to a drop probability
        /// of 10 % (RFC 8033, section 5.1). Off in Linux unless configured.
        pub ecn: bool = false,
    }
}

keys! {
    /// Parameters of `discipline = "dualpi2"`, with the defaults of Linux.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct DualPi2 {
        /// Delay of the classic queue that the controller aims at (RFC 9332, appendix A.1).
        pub target: Duration ["10 us", "100 s"] = Duration(0.015),
        /// Ratio of the marking probability of low latency to the square root of that of the classic queue
        /// (`k`; RFC 9332, section 2.1).
        pub coupling: f64 [0.1, 100] = 2.0,
        /// Delay of the low-latency queue above which its packets are marked, whatever the classic queue
        /// needs.
        pub threshold: Duration ["0 s", "100 s"] = Duration(0.001),
        /// Delay beyond `threshold` over which the marking probability grows from 0 to 1 (RFC 9332, appendix
        /// A.1: "400 us" from a threshold of "800 us"). "0 s" for a step, as in Linux.
        pub ramp: Duration ["0 s", "100 s"] = Duration(0.0),
        /// Share of the classic queue in percent while both queues have packets: weighted round robin. 0 for
        /// strict priority of low latency. Default: 10 (without `shift`).
        pub classic_share: Option<u32> [0, 100],
        /// Serve the packet that was queued longest, as if packets of low latency had arrived earlier by this
        /// time (time-shifted FIFO; RFC 9332, appendix A.1). Default: weighted round robin.
        pub shift: Option<Duration> ["0 s", "100 s"],
    }
}

/// Tables with parameters of disciplines. Only that of the given discipline may be present.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DisciplineTables<'a> {
    pub(super) codel: Option<&'a Codel>,
    pub(super) pie: Option<&'a Pie>,
    pub(super) dualpi2: Option<&'a DualPi2>,
}

/// Default of a key that both disciplines have.
fn by_discipline(of: impl Fn(&FqCodelOptions) -> Value) -> impl FnMut(&mut Schema) {
    let lines = [FqCodelOptions::default(), StationsOptions::default().lines];
    usually_by(["fq-codel", "stations"].into_iter().zip(lines.iter().map(of)).collect())
}

impl Discipline {
    /// The discipline with its parameters. `at` is the path of the table with the keys `discipline`, `codel`,
    /// `pie` and `dualpi2`.
    pub(super) fn resolve(
        self,
        document: &Document<'_>,
        at: &KeyPath,
        tables: DisciplineTables<'_>,
    ) -> Result<multihop_link::Discipline> {
        self.check_tables(document, at, tables)?;
        let codel = tables.codel.map(|codel| (codel, at.join("codel")));
        match (self.with_defaults(), codel) {
            (multihop_link::Discipline::FqCodel(defaults), Some((codel, path))) => {
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
            (multihop_link::Discipline::Stations(defaults), Some((codel, path))) => {
                let lines = codel.lines(document, &path, defaults.lines)?;
                Ok(multihop_link::Discipline::Stations(StationsOptions {
                    lines,
                    airtime_quantum: codel.airtime_quantum.map_or(defaults.airtime_quantum, Duration::span),
                    adaptation: codel.adaptation(),
                    ..defaults
                }))
            }
            (multihop_link::Discipline::Pie(defaults), _) => {
                Ok(multihop_link::Discipline::Pie(tables.pie.map_or(defaults, Pie::options)))
            }
            (multihop_link::Discipline::DualPi2(defaults), _) => match tables.dualpi2 {
                Some(table) => {
                    table.options(document, &at.join("dualpi2")).map(multihop_link::Discipline::DualPi2)
                }
                None => Ok(multihop_link::Discipline::DualPi2(defaults)),
            },
            (discipline, _) => Ok(discipline),
        }
    }

    /// Refuses a table of another discipline.
    fn check_tables(self, document: &Document<'_>, at: &KeyPath, tables: DisciplineTables<'_>) -> Result<()> {
        let (value, own) = match self {
            Discipline::DropTail => ("drop-tail", ""),
            Discipline::FqCodel => ("fq-codel", "codel"),
            Discipline::Stations => ("stations", "codel"),
            Discipline::Pie => ("pie", "pie"),
            Discipline::DualPi2 => ("dualpi2", "dualpi2"),
        };
        let given = [
            ("codel", tables.codel.is_some(), "\"fq-codel\" or \"stations\""),
            ("pie", tables.pie.is_some(), "\"pie\""),
            ("dualpi2", tables.dualpi2.is_some(), "\"dualpi2\""),
        ];
        match given.into_iter().find(|(table, is_given, _)| *is_given && *table != own) {
            Some((table, _, instead)) => {
                let (key, value) = ("discipline", value.into());
                Err(document.error(&at.join(table), KeyProblem::NoEffect { key, value, instead }))
            }
            None => Ok(()),
        }
    }

    fn with_defaults(self) -> multihop_link::Discipline {
        match self {
            Discipline::DropTail => multihop_link::Discipline::DropTail,
            Discipline::FqCodel => multihop_link::Discipline::FqCodel(FqCodelOptions::default()),
            Discipline::Stations => multihop_link::Discipline::Stations(StationsOptions::default()),
            Discipline::Pie => multihop_link::Discipline::Pie(PieOptions::default()),
            Discipline::DualPi2 => multihop_link::Discipline::DualPi2(DualPi2Options::default()),
        }
    }
}

impl Pie {
    fn options(&self) -> PieOptions {
        let (target, max_burst) = (self.target.span(), self.max_burst.span());
        PieOptions { target, max_burst, ecn: self.ecn, ..PieOptions::default() }
    }
}

impl DualPi2 {
    fn options(&self, document: &Document<'_>, path: &KeyPath) -> Result<DualPi2Options> {
        let defaults = DualPi2Options::default();
        let schedule = match (self.shift, self.classic_share) {
            (Some(_), Some(_)) => {
                let problem = KeyProblem::GivenTogether { other: "classic_share" };
                return Err(document.error(&path.join("shift"), problem));
            }
            (Some(shift), None) => DualQueueSchedule::TimeShifted { shift: shift.span() },
            (None, Some(classic)) => DualQueueSchedule::Weighted { classic },
            (None, None) => defaults.schedule,
        };
        let (from, range) = (self.threshold.span(), self.ramp.span());
        let marking = match range {
            Span::ZERO => LowLatencyMarking::Step { threshold: from },
            range => LowLatencyMarking::Ramp { from, range },
        };
        let (target, coupling) = (self.target.span(), self.coupling);
        Ok(DualPi2Options { target, coupling, marking, schedule, ..defaults })
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
