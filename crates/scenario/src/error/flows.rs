//! What can be wrong with `[[flows]]` and `[traffic]`.

use super::run::given_by;
use super::{instead_of, problems};
use crate::document::{option_like, seconds};
use multihop_core::Span;
use std::fmt;

problems! {
    /// What can be wrong with flows.
    FlowProblem:

    NoScheme =>
        "missing";
        "name a scheme, for example scheme = \"tcp-newreno\"; `multihop list` has them all";
    EndlessTransfers =>
        "VALUE datagrams are not acknowledged, so that a transfer would never end";
        "use a TCP scheme, or app kind \"cbr\", \"poisson\" or \"video\"";
    EndlessWeb =>
        "VALUE datagrams are not acknowledged, so that a transfer would never end";
        "use a TCP scheme, or leave out \"web\"";
    StartsAfterRun { is_last: bool, run: Span, by: Option<String>, key: String } =>
        "VALUE lets the {}flow start when the run of {}{} has ended",
            if *is_last { "last " } else { "" }, seconds(*run), given_by(by.as_ref());
        "start earlier{}, or run for longer",
            by.as_ref().map(|_| format!(", such as {}", option_like("--set", key, "0 s"))).unwrap_or_default();
    StopsBeforeStart { latest_s: f64 } =>
        "VALUE is not after the start, which is at {latest_s} s at the latest";
        "stop later, or start earlier";
    TooFast { bytes: u32, interval_s: f64 } =>
        "VALUE with packets of {bytes} B means an interval of {interval_s:.2e} s";
        "the clock counts nanoseconds; lower the rate or enlarge the packet";

    // Multicast.
    NoReceivers =>
        "VALUE names no receiver";
        "name one node at least; [\"*\"] is every other node";
    AcknowledgedMulticast { scheme: String } =>
        "VALUE makes a multicast flow, but packets of {scheme:?} are acknowledged, and the sender waits for that";
        "use scheme \"udp\", or a flow for each receiver";
    ExternalMulticast =>
        "VALUE makes a multicast flow, but packets from outside have one receiver";
        "use app kind \"cbr\", \"poisson\", \"saturated\" or \"video\", or a flow for each receiver";

    // Videos.
    NoKeyFrames =>
        "VALUE needs frames that are no key frames";
        "give gop, the number of frames from one key frame to the next, or remove the key";
    FramesTooSmall { bytes: f64 } =>
        "VALUE leaves {bytes:.2} B for a frame";
        "a frame has a byte at least; raise the rate, or lower frame_rate or key_ratio";
    FramesTooLarge =>
        "VALUE makes frames too large";
        "frames have up to 4 GB; lower the rate, or raise frame_rate";

    // Patterns.
    IdleInPattern { pattern: &'static str } =>
        "VALUE has no effect with pattern {pattern:?}";
        "remove it, or choose another pattern";
    NotCanonical =>
        "VALUE is unknown for this topology, which has no canonical flows";
        "list [[flows]], or use \"random-pairs\", \"to-gateway\", \"gateway\", \"all-to-one\" or \"all-pairs\"";
    UnknownHops =>
        "VALUE is unknown before the run, because nodes move";
        "remove it, or list [[flows]]";
    NoSuchName { pattern: String, known: Vec<String> } =>
        "VALUE is no node's name";
        "{}", instead_of(pattern, known);
    TooFewPairs { found: usize, min_hops: usize } =>
        "VALUE flows are too many: there are {found} pairs of nodes over at least {min_hops} hops";
        "ask for fewer flows, or lower min_hops";
    NoGateway { example: String } =>
        "missing";
        "name the node that receives, for example gateway = {example:?}";

    // Clients and their gateways.
    UnknownGateways =>
        "VALUE has clients at their nearest gateways, which are not known before the run, because nodes move";
        "use \"to-gateway\", or list [[flows]]";
    NoClients { nodes: usize } =>
        "VALUE leaves no clients: there are {nodes} nodes";
        "ask for fewer gateways";
    TooFewReach { reached: Reached, number: &'static str } =>
        "VALUE {number} are too many: {reached}";
        "ask for fewer {number}{}", reached.remedy();
    NobodyReaches { reached: Reached } =>
        "no flow has two ends: {reached}";
        "choose another gateway{}", reached.remedy();
}

/// Which nodes reach a gateway, and what parts the others from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Number of nodes that may be an end of a flow and reach a gateway over enough hops.
    pub found: usize,
    /// Number of nodes that may be an end of a flow.
    pub users: usize,
    /// Names of the gateways.
    pub gateways: Vec<String>,
    /// Least number of hops of a flow.
    pub min_hops: usize,
    /// Names of the nodes without a path to any gateway.
    pub apart: Vec<String>,
    /// The shortest distance between a node with a path to a gateway and one without; none where distance
    /// does not decide.
    pub gap: Option<Gap>,
}

/// Two nodes that are too far apart for a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Names of the node without a path to a gateway and of the nearest one with such a path.
    pub ends: [String; 2],
    /// The distance between the two in metres.
    pub distance_m: f64,
    /// The longest link in metres.
    pub range_m: f64,
}

impl Reached {
    /// What else would do, after "ask for fewer".
    fn remedy(&self) -> String {
        let hops = if self.min_hops > 1 { ", lower min_hops" } else { "" };
        let links =
            if self.apart.is_empty() { "" } else { ", join them: closer nodes, more range, or wires" };
        format!("{hops}{links}")
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reached { found, users, gateways, min_hops, apart, gap } = self;
        let reach = if *found == 1 { "reaches" } else { "reach" };
        write!(f, "{found} of {users} nodes {reach} {}", listed(gateways))?;
        if *min_hops > 1 {
            write!(f, " over at least {min_hops} hops")?;
        }
        if apart.is_empty() {
            return Ok(());
        }
        write!(f, "; no path leads to {}", listed(apart))?;
        let Some(Gap { ends: [from, to], distance_m, range_m }) = gap else { return Ok(()) };
        write!(
            f,
            "; from {from:?} to {to:?}, the nearest with a path, it is {distance_m:.0} m, and links end at {range_m:.0} m"
        )
    }
}

/// Names with commas between, of many the first.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
