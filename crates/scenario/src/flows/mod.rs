//! `[[flows]]`: source, destination, traffic and time of each.

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
use crate::error::{FlowProblem, KeyProblem, Limited};
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

/// A flow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name. Default: `from->to`. A multicast flow of this name has a row `name->receiver` for each
    /// receiver.
    pub name: Option<String>,
    /// Name of the node that sends; `first` and `last` are the ends of the list of nodes.
    pub from: String,
    /// Name of the node that receives, or `first` or `last`. A list of names makes a multicast flow: each
    /// packet is sent once, to all of them, in a group-addressed frame over one hop. In names of the list,
    /// `*` stands for any characters: `["*"]` is every other node.
    pub to: Receivers,
    /// Name of its scheme: one of `multihop list`, or of `[schemes]`. It may be absent if the command line
    /// sets one.
    #[schemars(required)]
    pub scheme: Option<String>,
    /// What it sends.
    #[serde(default)]
    pub app: App,
    /// When it starts.
    #[serde(default)]
    pub start: Duration,
    /// Its start is later by up to this, uniformly, by the seed of the run.
    #[serde(default)]
    pub start_jitter: Duration,
    /// When it stops offering data. Default: never.
    pub stop: Option<Duration>,
}

/// An enum of what flows send, each of which may have a codepoint besides its own keys.
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
                    /// Differentiated services codepoint of its packets, and of their acknowledgements: a
                    /// number or a name such as "EF", "AF41" or "CS1". With `[mac.edca]` it says the access
                    /// category (RFC 8325). 0 is best effort.
                    #[serde(default, skip_serializing_if = "Codepoint::is_default")]
                    #[schemars(transform = usually(Codepoint::BEST_EFFORT))]
                    dscp: Codepoint,
                },
            )*
        }

        /// As a file has it, which the reader takes: serde's own tag would be one for both.
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
            /// The codepoint of its packets.
            fn dscp(&self) -> Dscp {
                match self {
                    $( $name::$variant { dscp, .. } => dscp.0, )*
                }
            }
        }
    };
}

apps! {
    /// What a flow sends.
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[schemars(tag = "kind")]
    App:
    /// Always more to send; datagrams keep the interface queue filled.
    Saturated {}
    /// One transfer that begins at once.
    Bulk {
        /// How much. Default: without end.
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
        /// Each interval varies uniformly by up to this fraction of it.
        #[serde(default)]
        #[schemars(transform = bounds!(0, 1))]
        jitter: f64,
    }
    /// Packets at exponential intervals.
    Poisson {
        /// Mean payload rate.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        rate: BitRate,
        /// Payload of a packet.
        #[schemars(transform = bounds!("1 B", "65507 B"))]
        packet: Size,
    }
    /// Transfers one after another, with pauses.
    Transfers {
        /// Size of a transfer; the mean, if exponential.
        #[schemars(transform = bounds!("1 B", "1000000 GB"))]
        size: Size,
        /// Pause from the end of one to the start of the next; the mean, if exponential.
        #[serde(default)]
        pause: Duration,
        /// How sizes and pauses are distributed.
        #[serde(default)]
        distribution: Distribution,
        /// How many. Default: as many as fit.
        #[schemars(transform = bounds!(1))]
        count: Option<u32>,
    }
    /// Frames of a video that is made while it is sent, each to be shown a while after it was made.
    Video {
        /// Frames per second.
        #[serde(default = "television")]
        #[schemars(transform = bounds!(0.1, 1000))]
        frame_rate: f64,
        /// Mean payload rate.
        #[schemars(transform = bounds!("1 b/s", "1000 Gb/s"))]
        rate: BitRate,
        /// A frame is to be shown this long after it was made; playback starts so much later.
        #[schemars(transform = bounds!("1 ms", "1 h"))]
        deadline: Duration,
        /// Frames from one key frame to the next; with 1, all frames are alike.
        #[serde(default = "alone")]
        #[schemars(transform = bounds!(1, 100_000))]
        gop: u32,
        /// How many times larger key frames are than others, where there are others.
        #[schemars(transform = default_if("gop above 1", KEY_RATIO), transform = bounds!(1, 1000))]
        key_ratio: Option<f64>,
        /// Coefficient of variation of sizes, lognormally around those of the pattern.
        #[serde(default)]
        #[schemars(transform = bounds!(0, 10))]
        variation: f64,
        /// Frames are skipped while more waits at the sender than the mean rate makes in this time; `"off"`
        /// for never. Default: the deadline.
        #[schemars(transform = bounds!("1 ms", "1 h"))]
        buffer: Option<Switch<Duration>>,
    }
    /// Nothing by itself: packets come from outside while the run is stepped (`multihop.Run`, `multihop
    /// emulate`). Of the scheme there is only what its routers do. `start` and `stop` hold nothing back.
    External {}
}

impl Default for App {
    /// `saturated`.
    fn default() -> App {
        App::SATURATED
    }
}

/// How sizes and pauses are distributed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All the same.
    #[default]
    Constant,
    /// Exponential, with the given means.
    Exponential,
}

/// What flows and generated traffic have in common.
pub(super) struct Offer<'a> {
    /// The table that it stands in.
    pub(super) at: KeyPath,
    /// Name of the scheme.
    pub(super) scheme: Option<&'a str>,
    /// What it sends.
    pub(super) app: &'a App,
    /// That is one of the things of `mix`.
    pub(super) of_mix: bool,
    /// Each packet is for several receivers.
    pub(super) multicast: bool,
    /// When it starts.
    pub(super) start: Duration,
    /// How much later each starts than the one before it.
    pub(super) start_interval: Duration,
    /// And how much later at most, by chance.
    pub(super) start_jitter: Duration,
    /// When it stops.
    pub(super) stop: Option<Duration>,
}

/// What every check of flows needs.
pub(super) struct Flows<'a> {
    /// The file.
    pub(super) document: &'a Document<'a>,
    /// The nodes.
    pub(super) nodes: &'a Nodes,
    /// Which flows have another scheme than the file says.
    pub(super) overrides: &'a Overrides,
    /// Length of the run.
    pub(super) duration: Span,
    /// What has been made so far, with the start jitter of each.
    pub(super) made: Vec<PlannedFlow>,
}

/// A flow whose start has not been jittered yet.
#[derive(Clone, Debug)]
pub(super) struct PlannedFlow {
    /// The flow.
    pub(super) flow: FlowConfig,
    /// The user gave its name.
    named: bool,
    /// How much later it starts at most.
    pub(super) jitter: Span,
    /// The table that it comes from, for messages.
    pub(super) at: KeyPath,
}

/// The most flows of a scenario.
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
                    return Err(self.document.error(&at, KeyProblem::Taken { name: name.clone(), by }));
                }
            }
            let offer = Offer {
                at,
                scheme: flow.scheme.as_deref(),
                app: &flow.app,
                of_mix: false,
                multicast: matches!(flow.to, Receivers::Group(_)),
                start: flow.start,
                start_interval: Duration::default(),
                start_jitter: flow.start_jitter,
                stop: flow.stop,
            };
            match &flow.to {
                Receivers::One(_) => self.add(&offer, flow.name.as_deref(), &[(from, to[0])], schemes)?,
                Receivers::Group(_) => {
                    self.add_multicast(&offer, flow.name.as_deref(), (from, &to), schemes)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a flow for each pair.
    pub(super) fn add(
        &mut self,
        offer: &Offer<'_>,
        name: Option<&str>,
        pairs: &[(usize, usize)],
        schemes: &mut Schemes<'_>,
    ) -> Result<()> {
        let count = self.made.len() + pairs.len();
        if count > FLOWS_MAX {
            let (count, most) = (count as u64, FLOWS_MAX as u64);
            let problem = KeyProblem::TooMany { count, what: Limited::Flows, most };
            return Err(self.document.error(&offer.at, problem));
        }
        let first = self.made.len();
        let chosen: Vec<usize> = (first..count)
            // The rows of a multicast flow are one sender's.
            .map(|index| self.scheme_of(if offer.multicast { first } else { index }, offer, schemes))
            .collect::<Result<_>>()?;
        let app = offer.app.resolve(self.document, &offer.at.join("app"))?;
        let unreliable = chosen.iter().any(|&scheme| !schemes.used[scheme].scheme.is_reliable());
        if matches!(app, AppConfig::Transfers { .. }) && unreliable {
            let (at, problem) = if offer.of_mix {
                (offer.at.join("mix"), FlowProblem::EndlessWeb)
            } else {
                (offer.at.join("app").join("kind"), FlowProblem::EndlessTransfers)
            };
            return Err(self.document.error(&at, problem));
        }
        let (start, interval, jitter, stop) = self.times(offer, pairs.len())?;
        for ((place, &(source, destination)), scheme) in (0..).zip(pairs).zip(chosen) {
            let [from, to] = [source, destination].map(|node| &self.nodes.list[node].name);
            let flow = FlowConfig {
                name: name.map_or_else(|| format!("{from}->{to}"), str::to_owned),
                source: NodeId(source as u32),
                destination: NodeId(destination as u32),
                group: None,
                scheme,
                app,
                dscp: offer.app.dscp(),
                start: start + interval * place,
                stop,
            };
            self.made.push(PlannedFlow { flow, named: name.is_some(), jitter, at: offer.at.clone() });
        }
        Ok(())
    }

    /// Index of the scheme of a flow: that of the command line where it replaces the flow's, else the file's.
    /// Multicast flows keep theirs beside one that acknowledges packets.
    fn scheme_of(&self, index: usize, offer: &Offer<'_>, schemes: &mut Schemes<'_>) -> Result<usize> {
        let at = offer.at.join("scheme");
        let is_replaced = self.overrides.varying.as_ref().is_none_or(|varying| varying.contains(&index));
        let set = self.overrides.scheme.as_deref().filter(|_| is_replaced);
        let set = set.map(|scheme| schemes.find(&key!["scheme"], scheme)).transpose()?;
        let keeps = |set: usize| offer.multicast && !schemes.used[set].scheme.is_uncontrolled();
        match (set, offer.scheme) {
            (Some(set), Some(own)) if keeps(set) => schemes.find(&at, own),
            (Some(set), _) => Ok(set),
            (None, Some(own)) => schemes.find(&at, own),
            (None, None) => Err(self.document.error(&at, FlowProblem::NoScheme)),
        }
    }

    /// Adds flows whose packets come from outside, between all nodes that can reach each other.
    pub(super) fn add_external(&mut self, component: &[u32], schemes: &mut Schemes<'_>) -> Result<()> {
        let offer = Offer {
            at: key!["flows"],
            scheme: Some("udp"),
            app: &App::External { dscp: Codepoint::BEST_EFFORT },
            of_mix: false,
            multicast: false,
            start: Duration::default(),
            start_interval: Duration::default(),
            start_jitter: Duration::default(),
            stop: None,
        };
        self.add(&offer, None, &traffic::all_pairs(component), schemes)
    }

    /// Makes the names of all flows differ: what was not named by the user has a number.
    pub(super) fn number_duplicates(&mut self) {
        let named = self.made.iter().filter(|made| made.named).map(|made| made.flow.name.clone());
        let mut taken: BTreeSet<String> = named.collect();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for made in self.made.iter_mut().filter(|made| !made.named) {
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

    /// When the first of so many flows starts, how much later each one after it, and by chance at most, and
    /// when all stop.
    fn times(&self, offer: &Offer<'_>, flows: usize) -> Result<(Span, Span, Span, Option<Span>)> {
        let time = |key: &str, value: Duration| self.document.time(&offer.at.join(key), value, 0.0);
        let start = time("start", offer.start)?;
        let interval = time("start_interval", offer.start_interval)?;
        let jitter = time("start_jitter", offer.start_jitter)?;
        // As floating point first, because a hundred years times the flows do not fit into the clock.
        let after_first = interval.seconds() * flows.saturating_sub(1) as f64;
        let latest = (start + jitter).seconds() + after_first;
        if latest >= self.duration.seconds() {
            let keys = [("start_interval", after_first > 0.0), ("start_jitter", jitter > Span::ZERO)];
            let key = keys.into_iter().find(|(_, given)| *given).map_or("start", |(key, _)| key);
            let (at, by) = (offer.at.join(key), self.document.option_of(&key!["duration"]));
            let (is_last, run, key) = (after_first > 0.0, self.duration, at.to_string());
            return Err(self.document.error(&at, FlowProblem::StartsAfterRun { is_last, run, by, key }));
        }
        let Some(stop) = offer.stop else { return Ok((start, interval, jitter, None)) };
        let stop = time("stop", stop)?;
        if stop.seconds() <= latest {
            let problem = FlowProblem::StopsBeforeStart { latest_s: latest };
            return Err(self.document.error(&offer.at.join("stop"), problem));
        }
        Ok((start, interval, jitter, Some(stop)))
    }
}

impl PlannedFlow {
    /// The flow with its start drawn from the run's seed.
    pub(super) fn started(self, index: usize, seed: u64) -> FlowConfig {
        let index = self.flow.group.map_or(index, FlowId::index); // flows of a group start together
        let mut rng = Rng::at(seed, &["flow", &index.to_string(), "start"]);
        let later = Span::from_seconds(rng.unit() * self.jitter.seconds());
        FlowConfig { start: self.flow.start + later, ..self.flow }
    }
}

impl App {
    /// `saturated`, of best effort.
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
            App::Video { frame_rate, rate, deadline, gop, key_ratio, variation, buffer, .. } => {
                let video = Video { frame_rate, rate, deadline, gop, key_ratio, variation, buffer };
                AppConfig::Video(video.resolve(document, at)?)
            }
        })
    }
}

/// Bytes of the packets of a packet source, whose intervals the clock must resolve.
fn packets(document: &Document<'_>, at: &KeyPath, rate: BitRate, packet: Size) -> Result<u32> {
    let bytes = packet.bytes() as u32;
    let interval_s = f64::from(bytes) * 8.0 / rate.0;
    if interval_s < 1e-9 {
        return Err(document.error(&at.join("rate"), FlowProblem::TooFast { bytes, interval_s }));
    }
    Ok(bytes)
}
