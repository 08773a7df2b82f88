//! `[[flows]]`: source, destination, traffic and time of each flow.

mod gateway;
mod receivers;
mod served;
mod traffic;
mod video;

pub use gateway::{FlowDirection, Kind};
pub use receivers::Receivers;
pub use traffic::{Pattern, Traffic};

use crate::Overrides;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{FlowProblem, KeyProblem, LimitedKind};
use crate::schemes::Schemes;
use crate::topology::Nodes;
use crate::values::{Codepoint, Switch};
use multihop_config::bounds;
use multihop_config::keys::{default_if, usually};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Dscp, FlowId, NodeId, Rng, Span};
use multihop_sim::config::{AppConfig, FlowConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use video::{KEY_RATIO, Video, alone, television};

/// Flow from one node to another, or to several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name of the flow. Default: `from->to`. A multicast flow with a name has a row `name->receiver` for
    /// each receiver.
    pub name: Option<String>,
    /// Name of the sending node. `first` and `last` are the ends of the list of nodes.
    pub from: String,
    /// Name of the receiving node, or `first` or `last`. A list of names makes a multicast flow: each packet
    /// is sent once, over one hop, in a group-addressed frame to all receivers. In the list, `*` stands for
    /// any characters: `["*"]` is every other node.
    pub to: Receivers,
    /// Name of the flow's scheme, from `multihop list` or `[schemes]`. The key may be absent if the command
    /// line sets a scheme.
    #[schemars(required)]
    pub scheme: Option<String>,
    /// Traffic of the flow.
    #[serde(default)]
    pub app: App,
    /// Start time.
    #[serde(default)]
    pub start: Duration,
    /// Maximum random delay of the start, uniform and drawn from the run's seed.
    #[serde(default)]
    pub start_jitter: Duration,
    /// Time at which the flow stops offering data. Default: the end of the run.
    pub stop: Option<Duration>,
}

/// Defines an enum of applications. Each variant has a codepoint in addition to its own keys.
macro_rules! apps {
    (
        $(#[$about:meta])*
        $name:ident:
        $( $(#[$variant_about:meta])* $variant:ident { $( $(#[$key_about:meta])* $key:ident: $type:ty, )* } )*
    ) => {
        $(#[$about])*
        pub enum $name {
            $(
                $(#[$variant_about])*
                $variant {
                    $( $(#[$key_about])* $key: $type, )*
                    /// Differentiated services codepoint of the flow's packets and acknowledgements: a
                    /// number, or a name such as "EF", "AF41" or "CS1". With `[mac.edca]` it selects the
                    /// access category (RFC 8325). 0 is best effort.
                    #[serde(default, skip_serializing_if = "Codepoint::is_default")]
                    #[schemars(transform = usually(Codepoint::BEST_EFFORT))]
                    dscp: Codepoint,
                },
            )*
        }

        /// Serialized as in a file. The reader of this crate handles the tag; serde's own tag attribute would
        /// apply to both directions.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                #[serde(tag = "kind", rename_all = "kebab-case")]
                enum Written {
                    $(
                        $variant {
                            $( $key: $type, )*
                            #[serde(skip_serializing_if = "Codepoint::is_default")]
                            dscp: Codepoint,
                        },
                    )*
                }
                let written = match *self {
                    $( $name::$variant { $( $key, )* dscp } => Written::$variant { $( $key, )* dscp }, )*
                };
                written.serialize(serializer)
            }
        }

        impl $name {
            /// Codepoint of the flow's packets.
            fn dscp(&self) -> Dscp {
                match self {
                    $( $name::$variant { dscp, .. } => dscp.0, )*
                }
            }
        }
    };
}

apps! {
    /// Traffic of a flow.
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[schemars(tag = "kind")]
    App:
    /// Always more data to send. Datagrams keep the interface queue filled.
    Saturated {}
    /// One transfer, from the start of the flow.
    Bulk {
        /// Bytes to transfer. Default: unlimited.
        #[schemars(transform = bounds!("1 B", "1000000 GB"))]
        size: Option<Size>,
    }
    /// Packets at equal intervals.
    Cbr {
        /// Payload rate.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        rate: BitRate,
        /// Payload of a packet.
        #[schemars(transform = bounds!("1 B", "65507 B"))]
        packet: Size,
        /// Maximum relative deviation of an interval, uniformly distributed.
        #[serde(default)]
        #[schemars(transform = bounds!(0, 1))]
        jitter: f64,
    }
    /// Packets at exponentially distributed intervals.
    Poisson {
        /// Mean payload rate.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        rate: BitRate,
        /// Payload of a packet.
        #[schemars(transform = bounds!("1 B", "65507 B"))]
        packet: Size,
    }
    /// Consecutive transfers, with pauses between them.
    Transfers {
        /// Size of a transfer; the mean size with `distribution = "exponential"`.
        #[schemars(transform = bounds!("1 B", "1000000 GB"))]
        size: Size,
        /// Pause from the end of a transfer to the start of the next; the mean pause with `distribution =
        /// "exponential"`.
        #[serde(default)]
        pause: Duration,
        /// Distribution of sizes and pauses.
        #[serde(default)]
        distribution: Distribution,
        /// Number of transfers. Default: as many as fit into the run.
        #[schemars(transform = bounds!(1))]
        count: Option<u32>,
    }
    /// Frames of a live video, each with a deadline for its display.
    Video {
        /// Frames per second.
        #[serde(default = "television")]
        #[schemars(transform = bounds!(0.1, 1000))]
        frame_rate: f64,
        /// Mean payload rate; the maximum with `min_rate`.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        rate: BitRate,
        /// Minimum rate of an encoder that adapts: the size of each frame follows the rate that the sender's
        /// congestion control asks for, between `min_rate` and `rate`. Senders without such a rate (UDP, TCP)
        /// get `rate`. Default: a fixed rate.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        min_rate: Option<BitRate>,
        /// Time from the creation of a frame to its display. Playback starts this long after the first frame.
        #[schemars(transform = bounds!("1 ms", "1 h"))]
        deadline: Duration,
        /// Number of frames from one key frame to the next. With 1, all frames are of one kind.
        #[serde(default = "alone")]
        #[schemars(transform = bounds!(1, 100_000))]
        gop: u32,
        /// Ratio of the size of key frames to that of other frames. Only with `gop` above 1.
        #[schemars(transform = default_if("gop above 1", KEY_RATIO), transform = bounds!(1, 1000))]
        key_ratio: Option<f64>,
        /// Coefficient of variation of frame sizes, lognormally distributed around the size of the frame's
        /// kind.
        #[serde(default)]
        #[schemars(transform = bounds!(0, 10))]
        variation: f64,
        /// Maximum backlog at the sender, as a time at the mean rate. The sender skips frames while its
        /// backlog is longer; `"off"` for never. Default: `deadline`.
        #[schemars(transform = bounds!("1 ms", "1 h"))]
        buffer: Option<Switch<Duration>>,
    }
    /// Generates no traffic. Packets are injected from outside while the run is stepped (`multihop.Run`,
    /// `multihop emulate`). Only the scheme's router policies apply. `start` and `stop` have no effect.
    External {}
}

impl Default for App {
    /// `saturated`.
    fn default() -> App {
        App::SATURATED
    }
}

/// Distribution of sizes and pauses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Constant.
    #[default]
    Constant,
    /// Exponential with the given means.
    Exponential,
}

/// Keys that `[[flows]]` and `[traffic]` have in common.
pub(super) struct FlowTemplate<'a> {
    /// Path of the table in the file.
    pub(super) at: KeyPath,
    /// Name of the scheme.
    pub(super) scheme: Option<&'a str>,
    /// Traffic of the flow.
    pub(super) app: &'a App,
    /// Whether the application is an entry of `traffic.mix`.
    pub(super) is_from_mix: bool,
    /// Whether each packet has several receivers.
    pub(super) is_multicast: bool,
    /// Start time.
    pub(super) start: Duration,
    /// Interval between the starts of consecutive flows.
    pub(super) start_interval: Duration,
    /// Maximum random delay of each start.
    pub(super) start_jitter: Duration,
    /// Time at which the flow stops offering data; none for the end of the run.
    pub(super) stop: Option<Duration>,
}

/// Flows of a scenario while they are made, with what their checks need.
pub(super) struct Flows<'a> {
    /// Scenario file.
    pub(super) document: &'a Document<'a>,
    /// The nodes.
    pub(super) nodes: &'a Nodes,
    /// Options of the command line, which may replace the schemes of flows.
    pub(super) overrides: &'a Overrides,
    /// Duration of the run.
    pub(super) duration: Span,
    /// Flows made so far, with their start jitters.
    pub(super) planned: Vec<PlannedFlow>,
}

/// Flow whose random start delay has not been drawn yet.
#[derive(Clone, Debug)]
pub(super) struct PlannedFlow {
    /// The flow.
    pub(super) flow: FlowConfig,
    /// Whether the user gave the flow's name.
    named: bool,
    /// Maximum random delay of the start.
    pub(super) jitter: Span,
    /// Path of the flow's table, for messages.
    pub(super) at: KeyPath,
}

/// Maximum number of flows of a scenario.
const FLOWS_MAX: usize = 100_000;

impl Flows<'_> {
    /// Adds the listed flows.
    pub(super) fn list(&mut self, flows: &[Flow], schemes: &mut Schemes<'_>) -> Result<()> {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, flow) in flows.iter().enumerate() {
            let at = key!["flows", i];
            let from = self.nodes.find(self.document, &at.join("from"), &flow.from)?;
            let to = flow.to.resolve(self.document, self.nodes, &at.join("to"), from)?;
            if let Some(name) = &flow.name {
                let at = at.join("name");
                if name.trim().is_empty() {
                    return Err(self.document.error(&at, KeyProblem::EmptyName));
                }
                if let Some(first) = names.insert(name, i) {
                    let by = key!["flows", first].to_string();
                    return Err(self.document.error(&at, KeyProblem::NameTaken { name: name.clone(), by }));
                }
            }
            let template = FlowTemplate {
                at,
                scheme: flow.scheme.as_deref(),
                app: &flow.app,
                is_from_mix: false,
                is_multicast: matches!(flow.to, Receivers::Group(_)),
                start: flow.start,
                start_interval: Duration::default(),
                start_jitter: flow.start_jitter,
                stop: flow.stop,
            };
            match &flow.to {
                Receivers::One(_) => self.add(&template, flow.name.as_deref(), &[(from, to[0])], schemes)?,
                Receivers::Group(_) => {
                    self.add_multicast(&template, flow.name.as_deref(), (from, &to), schemes)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a flow for each pair.
    pub(super) fn add(
        &mut self,
        template: &FlowTemplate<'_>,
        name: Option<&str>,
        pairs: &[(usize, usize)],
        schemes: &mut Schemes<'_>,
    ) -> Result<()> {
        let count = self.planned.len() + pairs.len();
        if count > FLOWS_MAX {
            let (count, most) = (count as u64, FLOWS_MAX as u64);
            let problem = KeyProblem::TooMany { count, what: LimitedKind::Flows, most };
            return Err(self.document.error(&template.at, problem));
        }
        let first = self.planned.len();
        let chosen: Vec<usize> = (first..count)
            // The flows of a multicast group share the scheme of their one sender.
            .map(|index| self.scheme_of(if template.is_multicast { first } else { index }, template, schemes))
            .collect::<Result<_>>()?;
        let app = template.app.resolve(self.document, &template.at.join("app"))?;
        let unreliable = chosen.iter().any(|&scheme| !schemes.used[scheme].scheme.is_reliable());
        if matches!(app, AppConfig::Transfers { .. }) && unreliable {
            let (at, problem) = if template.is_from_mix {
                (template.at.join("mix"), FlowProblem::EndlessWeb)
            } else {
                (template.at.join("app").join("kind"), FlowProblem::EndlessTransfers)
            };
            return Err(self.document.error(&at, problem));
        }
        let (start, interval, jitter, stop) = self.times(template, pairs.len())?;
        for ((place, &(source, destination)), scheme) in (0..).zip(pairs).zip(chosen) {
            let [from, to] = [source, destination].map(|node| &self.nodes.list[node].name);
            let flow = FlowConfig {
                name: name.map_or_else(|| format!("{from}->{to}"), str::to_owned),
                source: NodeId(source as u32),
                destination: NodeId(destination as u32),
                group: None,
                scheme,
                app,
                dscp: template.app.dscp(),
                start: start + interval * place,
                stop,
            };
            self.planned.push(PlannedFlow { flow, named: name.is_some(), jitter, at: template.at.clone() });
        }
        Ok(())
    }

    /// Index of a flow's scheme: the command line's if it replaces the flow's, the file's otherwise. A
    /// multicast flow keeps the file's scheme if packets of the command line's are acknowledged.
    fn scheme_of(
        &self,
        index: usize,
        template: &FlowTemplate<'_>,
        schemes: &mut Schemes<'_>,
    ) -> Result<usize> {
        let at = template.at.join("scheme");
        let is_replaced = self.overrides.varying.as_ref().is_none_or(|varying| varying.contains(&index));
        let set = self.overrides.scheme.as_deref().filter(|_| is_replaced);
        let set = set.map(|scheme| schemes.find(&key!["scheme"], scheme)).transpose()?;
        let keeps = |set: usize| template.is_multicast && !schemes.used[set].scheme.is_uncontrolled();
        match (set, template.scheme) {
            (Some(set), Some(own)) if keeps(set) => schemes.find(&at, own),
            (Some(set), _) => Ok(set),
            (None, Some(own)) => schemes.find(&at, own),
            (None, None) => Err(self.document.error(&at, FlowProblem::NoScheme)),
        }
    }

    /// Adds flows with injected packets, between all nodes that can reach each other.
    pub(super) fn add_external(&mut self, component: &[u32], schemes: &mut Schemes<'_>) -> Result<()> {
        let template = FlowTemplate {
            at: key!["flows"],
            scheme: Some("udp"),
            app: &App::External { dscp: Codepoint::BEST_EFFORT },
            is_from_mix: false,
            is_multicast: false,
            start: Duration::default(),
            start_interval: Duration::default(),
            start_jitter: Duration::default(),
            stop: None,
        };
        self.add(&template, None, &traffic::all_pairs(component), schemes)
    }

    /// Makes the names of all flows unique: adds a number to equal names that the user did not give.
    pub(super) fn number_duplicates(&mut self) {
        let named = self.planned.iter().filter(|made| made.named).map(|made| made.flow.name.clone());
        let mut taken: BTreeSet<String> = named.collect();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for made in self.planned.iter_mut().filter(|made| !made.named) {
            let number = seen.entry(made.flow.name.clone()).or_default();
            let mut name = made.flow.name.clone();
            loop {
                *number += 1;
                if *number > 1 {
                    name = format!("{} #{number}", made.flow.name);
                }
                if taken.insert(name.clone()) {
                    break;
                }
            }
            made.flow.name = name;
        }
    }

    /// Start time of the first flow, interval between starts, maximum random delay, and stop time.
    fn times(&self, template: &FlowTemplate<'_>, flows: usize) -> Result<(Span, Span, Span, Option<Span>)> {
        let time = |key: &str, value: Duration| self.document.time(&template.at.join(key), value, 0.0);
        let start = time("start", template.start)?;
        let interval = time("start_interval", template.start_interval)?;
        let jitter = time("start_jitter", template.start_jitter)?;
        // Floating point, because a hundred years times the number of flows overflows the clock.
        let after_first = interval.seconds() * flows.saturating_sub(1) as f64;
        let latest = (start + jitter).seconds() + after_first;
        if latest >= self.duration.seconds() {
            let keys = [("start_interval", after_first > 0.0), ("start_jitter", jitter > Span::ZERO)];
            let key = keys.into_iter().find(|(_, given)| *given).map_or("start", |(key, _)| key);
            let (at, by) = (template.at.join(key), self.document.option_of(&key!["duration"]));
            let (is_last, run, key) = (after_first > 0.0, self.duration, at.to_string());
            return Err(self.document.error(&at, FlowProblem::StartsAfterRun { is_last, run, by, key }));
        }
        let Some(stop) = template.stop else { return Ok((start, interval, jitter, None)) };
        let stop = time("stop", stop)?;
        if stop.seconds() <= latest {
            let problem = FlowProblem::StopsBeforeStart { latest_s: latest };
            return Err(self.document.error(&template.at.join("stop"), problem));
        }
        Ok((start, interval, jitter, Some(stop)))
    }
}

impl PlannedFlow {
    /// The flow with its random start delay, drawn from the run's seed.
    pub(super) fn with_drawn_start(self, index: usize, seed: u64) -> FlowConfig {
        let index = self.flow.group.map_or(index, FlowId::index); // flows of a group start together
        let mut rng = Rng::at(seed, &["flow", &index.to_string(), "start"]);
        let later = Span::from_seconds(rng.unit() * self.jitter.seconds());
        FlowConfig { start: self.flow.start + later, ..self.flow }
    }
}

impl App {
    /// Saturated traffic of best effort.
    pub(super) const SATURATED: App = App::Saturated { dscp: Codepoint::BEST_EFFORT };

    fn resolve(&self, document: &Document<'_>, at: &KeyPath) -> Result<AppConfig> {
        Ok(match *self {
            App::Saturated { .. } => AppConfig::Saturated,
            App::External { .. } => AppConfig::External,
            App::Bulk { size: None, .. } => AppConfig::Bulk { bytes: None },
            App::Bulk { size: Some(size), .. } => AppConfig::Bulk { bytes: Some(size.bytes()) },
            App::Cbr { rate, packet, jitter, .. } => {
                let packet = packets(document, at, rate, packet)?;
                AppConfig::Cbr { rate: rate.rate(), packet, jitter }
            }
            App::Poisson { rate, packet, .. } => {
                AppConfig::Poisson { packet: packets(document, at, rate, packet)?, rate: rate.rate() }
            }
            App::Transfers { size, pause, distribution, count, .. } => AppConfig::Transfers {
                bytes: size.bytes(),
                pause: document.time(&at.join("pause"), pause, 0.0)?,
                exponential: distribution == Distribution::Exponential,
                count,
            },
            App::Video {
                frame_rate, rate, min_rate, deadline, gop, key_ratio, variation, buffer, ..
            } => {
                let video = Video { frame_rate, rate, min_rate, deadline, gop, key_ratio, variation, buffer };
                AppConfig::Video(video.resolve(document, at)?)
            }
        })
    }
}

/// Packet size of a packet source in bytes. Refuses intervals shorter than the clock's resolution.
fn packets(document: &Document<'_>, at: &KeyPath, rate: BitRate, packet: Size) -> Result<u32> {
    let bytes = packet.bytes() as u32;
    let interval_s = f64::from(bytes) * 8.0 / rate.0;
    if interval_s < 1e-9 {
        return Err(document.error(&at.join("rate"), FlowProblem::TooFast { bytes, interval_s }));
    }
    Ok(bytes)
}
