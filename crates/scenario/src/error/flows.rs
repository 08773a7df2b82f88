//! Problems with `[[flows]]` and `[traffic]`.

use super::run::given_by;
use super::{instead_of, problems};
use crate::document::{option_like, seconds};
use multihop_config::quantity::BitRate;
use multihop_core::Span;
use std::fmt;

problems! {
    /// Problem with flows.
    FlowProblem:

    NoScheme =>
        "missing";
        "name a scheme, for example scheme = \"tcp-newreno\"; `multihop list` has them all";
    EndlessTransfers =>
        "VALUE needs a scheme with acknowledgements: a transfer of datagrams never ends";
        "use a TCP scheme, or app kind \"cbr\", \"poisson\" or \"video\"";
    EndlessWeb =>
        "VALUE needs a scheme with acknowledgements: a transfer of datagrams never ends";
        "use a TCP scheme, or leave out \"web\"";
    StartsAfterRun { is_last: bool, run: Span, by: Option<String>, key: String } =>
        "VALUE makes the {}flow start after the end of the run of {}{}",
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
        "name at least one node; [\"*\"] is every other node";
    AcknowledgedMulticast { scheme: String } =>
        "VALUE makes a multicast flow, but a sender of {scheme:?} waits for acknowledgements";
        "use scheme \"udp\", or a flow for each receiver";
    ExternalMulticast =>
        "VALUE makes a multicast flow, but injected packets have one receiver";
        "use app kind \"cbr\", \"poisson\", \"saturated\" or \"video\", or a flow for each receiver";

    // Videos.
    NoKeyFrames =>
        "VALUE has no effect if all frames are key frames";
        "give gop, the number of frames from one key frame to the next, or remove the key";
    FramesTooSmall { bytes: f64 } =>
        "VALUE leaves {bytes:.2} B for a frame";
        "a frame has at least one byte; raise the rate, or lower frame_rate or key_ratio";
    MinRateAbove { rate: BitRate } =>
        "VALUE is above rate ({rate})";
        "lower min_rate, or raise rate";
    FramesTooLarge =>
        "VALUE makes frames too large";
        "frames have up to 4 GB; lower the rate, or raise frame_rate";

    // Patterns.
    UnusedByPattern { pattern: &'static str } =>
        "VALUE has no effect with pattern {pattern:?}";
        "remove it, or choose another pattern";
    NotCanonical =>
        "VALUE is unknown for this topology, which has no canonical flows";
        "list [[flows]], or use \"random-pairs\", \"to-gateway\", \"gateway\", \"all-to-one\" or \"all-pairs\"";
    UnknownHops =>
        "VALUE cannot be checked before the run, because nodes move";
        "remove it, or list [[flows]]";
    NoSuchName { pattern: String, known: Vec<String> } =>
        "VALUE matches no node";
        "{}", instead_of(pattern, known);
    TooFewPairs { found: usize, min_hops: usize } =>
        "VALUE flows are too many: there are {found} pairs of nodes over at least {min_hops} hops";
        "ask for fewer flows, or lower min_hops";
    NoGateway { example: String } =>
        "missing";
        "name the node that receives, for example gateway = {example:?}";

    // Clients and their gateways.
    UnknownGateways =>
        "VALUE needs the nearest gateways, which are unknown before the run, because nodes move";
        "use \"to-gateway\", or list [[flows]]";
    NoClients { nodes: usize } =>
        "VALUE leaves no clients: there are {nodes} nodes";
        "ask for fewer gateways";
    TooFewReach { reached: GatewayReach, number: &'static str } =>
        "VALUE {number} are too many: {reached}";
        "ask for fewer {number}{}", reached.remedy();
    NoneReaches { reached: GatewayReach } =>
        "there are no flows: {reached}";
        "choose another gateway{}", reached.remedy();
}

/// Number of nodes that reach a gateway, and the gap to the others.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayReach {
    /// Number of nodes that may be an end of a flow and reach a gateway over enough hops.
    pub found: usize,
    /// Number of nodes that may be an end of a flow.
    pub users: usize,
    /// Names of the gateways.
    pub gateways: Vec<String>,
    /// Minimum number of hops of a flow.
    pub min_hops: usize,
    /// Names of the nodes without a path to any gateway.
    pub apart: Vec<String>,
    /// Nearest pair of a node with a path to a gateway and a possible flow end without one. None unless links
    /// have a range that this distance exceeds; none also in networks too large to compare all pairs.
    pub gap: Option<Gap>,
}

/// Two nodes that are too far apart for a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Names of two nodes: one without a path to a gateway, and the nearest node that has such a path.
    pub ends: [String; 2],
    /// Distance between the two nodes in metres.
    pub distance_m: f64,
    /// Maximum length of a link in metres.
    pub range_m: f64,
}

impl GatewayReach {
    /// Further remedies, after "ask for fewer".
    fn remedy(&self) -> String {
        let hops = if self.min_hops > 1 { ", lower min_hops" } else { "" };
        let links =
            if self.apart.is_empty() { "" } else { ", join them: closer nodes, more range, or wires" };
        format!("{hops}{links}")
    }
}

impl fmt::Display for GatewayReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GatewayReach { found, users, gateways, min_hops, apart, gap } = self;
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
            "; {from:?} is {distance_m:.0} m from {to:?}, the nearest node with a path, and links reach {range_m:.0} m"
        )
    }
}

/// The first names of a list, separated by commas.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
