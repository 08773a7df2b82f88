//! Neighbourhood RED: random early detection over the distributed queue of a neighbourhood (Xu et al. 2003).
//!
//! A node cannot see the queues of those that it shares the medium with. It takes the share of time in which
//! the medium is busy for an index of their length, and runs RED on that. A node that is itself part of the
//! congestion notifies the neighbours, and all of them drop of their traffic according to their part in it.
//! `notice.rs` has what they signal, `usage.rs` how they measure.

pub(crate) mod notice;
mod usage;

use crate::red::{EarlyDrop, check_order};
use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_core::{Carrier, HeaderFormat, LinkEvent, NodeId, Packet, Rng, Span, Time};
use multihop_link::{EgressQueue, Hop, LinkView, Notice, RouterPolicy, Verdict};
use multihop_transport::{Controller, Recovery, TcpOptions};
use notice::{CARRIER, Congestion, CongestionNotice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use usage::{Shares, Usage};

/// Queue index of a medium that is always busy: the index is this times the share of time in which
/// the node transmits, receives, senses a signal, or has its NAV set (W/C, a bit rate over a packet's
/// bits). The default is packets of 1 KiB per second at 2 Mb/s; unverified. Only its ratios to the
/// two thresholds matter.
const BUSY_INDEX: f64 = 244.0;
/// Weight of the latest interval in the means of indices, which begin at 0 (`w_q`). The default is
/// unverified.
const INDEX_WEIGHT: f64 = 0.2;
/// Share of time in frames from or to a node above which it notifies of congestion (`T_util`). The
/// default is a proposal: the published value could not be verified.
const MIN_OWN_SHARE: f64 = 0.1;

keys! {
    /// `tcp-newreno`, and nodes that drop data by chance, or mark it with `ecn`, by how busy the medium is
    /// around them or around a neighbour that says so, each in proportion to its own part in that.
    ///
    /// The authors' abstract confirms RED over the distributed queue of a neighbourhood, without changes to
    /// the MAC; the equations are from notes on their slides. The published constants could not be read: no
    /// default below is verified.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Nred {
        /// Time over which the use of the medium is measured (`T`). The default is unverified.
        pub interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Mean queue index up to which nothing is dropped or marked. The default is a busy share of 0.41;
        /// unverified.
        pub min_threshold: f64 [0, 1_000_000_000] = 100.0,
        /// Mean queue index from which on the probability is `max_probability`. The default is a busy share
        /// of 0.98; unverified.
        pub max_threshold: f64 [0, 1_000_000_000] = 240.0,
        /// The greatest RED probability, which a node that uses the busy medium alone applies to its packets
        /// (`max_p`). The default is unverified.
        pub max_probability: f64 [0, 1] = 0.14,
        /// Neighbours are notified of congestion: by a node whose mean index was above `min_threshold` at the
        /// end of two intervals, and whose own share of the latest is above `min_own_share`. With false each
        /// node goes by what it finds itself.
        pub notices: bool = true,
        /// How long neighbours heed a notice; the next one of the same node replaces it. The default is two
        /// intervals, so that the loss of one broadcast matters little; a proposal: the published value could
        /// not be verified.
        pub lifetime: Duration ["1 ms", "1 h"] = Duration(0.2),
        /// The connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for Nred {
    const NAME: &str = "nred";
    const SUMMARY: &str = "TCP NewReno; nodes drop or mark by how busy their neighbourhood finds the medium (constants unverified)";
    const REFERENCE: &str = "Xu, Gerla, Qi and Shu 2003 (MobiCom); RFC 3168";
    const NOTICES: Option<(Carrier, HeaderFormat)> = Some((CARRIER, HeaderFormat::of::<CongestionNotice>()));

    fn check(&self) -> Result<(), ParameterError> {
        check_order(self.min_threshold, self.max_threshold)?;
        self.tcp.check()
    }
}

impl TcpScheme for Nred {
    fn options(&self) -> TcpOptions {
        self.tcp.options(Recovery::NewReno)
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }

    fn policy(&self, _node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        (!egress.is_wired).then(|| Box::new(Neighbour::new(self, egress)) as Box<dyn RouterPolicy>)
    }
}

/// What a neighbour signalled last.
#[derive(Clone, Copy, Debug)]
struct Signalled {
    by: NodeId,
    per_index: f64,
    until: Time,
}

/// The node's part.
struct Neighbour {
    parameters: Nred,
    interval: Span,
    usage: Usage,
    /// Mean queue index, and the part of it that is this node's own.
    index: f64,
    own_index: f64,
    /// As [`Congestion::per_index`], of what this node found at the end of the latest interval.
    per_index: f64,
    /// The end of the present interval.
    due: Time,
    signalled: Vec<Signalled>,
    phase: Rng,
    early_drop: EarlyDrop,
}

impl Neighbour {
    fn new(parameters: &Nred, egress: &EgressQueue) -> Neighbour {
        let interval = parameters.interval.span();
        let mut node = Neighbour {
            parameters: parameters.clone(),
            interval,
            usage: Usage::new(interval),
            index: 0.0,
            own_index: 0.0,
            per_index: 0.0,
            due: Time::ZERO,
            signalled: Vec::new(),
            phase: Rng::at(egress.seed, &["phase"]),
            early_drop: EarlyDrop::new(egress),
        };
        node.on_restart(Time::ZERO);
        node
    }

    /// With which a packet of data is dropped or marked.
    fn probability(&self, now: Time) -> f64 {
        let heard = self
            .signalled
            .iter()
            .filter(|signalled| signalled.until > now)
            .map(|signalled| signalled.per_index);
        heard.fold(self.per_index, f64::max) * self.own_index
    }

    /// An interval is over. Returns what there is to signal.
    fn measure(&mut self, shares: Shares) -> Option<Congestion> {
        self.index += INDEX_WEIGHT * (BUSY_INDEX * shares.busy - self.index);
        self.own_index += INDEX_WEIGHT * (BUSY_INDEX * shares.own - self.own_index);
        let before = self.per_index;
        self.per_index = self.red();
        let persists = before > 0.0 && self.per_index > 0.0;
        let signals = self.parameters.notices && persists && shares.own > MIN_OWN_SHARE;
        let lifetime = self.parameters.lifetime.span();
        signals.then_some(Congestion { per_index: self.per_index, lifetime })
    }

    /// RED's probability over the mean index.
    fn red(&self) -> f64 {
        let Nred { min_threshold: min, max_threshold: max, max_probability, .. } = self.parameters;
        if self.index <= min {
            return 0.0;
        }
        max_probability * ((self.index - min) / (max - min)).min(1.0) / self.index
    }
}

impl RouterPolicy for Neighbour {
    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.early_drop.judge(packet, self.probability(hop.now))
    }

    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.early_drop.judge(packet, self.probability(hop.now))
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.usage.on_link(event);
    }

    fn on_notice(&mut self, now: Time, from: NodeId, content: &[u8]) {
        let Some(congestion) = Congestion::from_content(content) else { return };
        let signalled =
            Signalled { by: from, per_index: congestion.per_index, until: now + congestion.lifetime };
        match self.signalled.iter_mut().find(|known| known.by == from) {
            Some(known) => *known = signalled,
            None => self.signalled.push(signalled),
        }
    }

    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        let shares = self.usage.end(now);
        self.due = now + self.interval;
        self.signalled.retain(|signalled| signalled.until > now);
        self.measure(shares).map(Congestion::to_notice)
    }

    fn next_notice(&self) -> Option<Time> {
        Some(self.due)
    }

    /// The first interval is longer than the others, by chance, so that intervals of neighbours do not end
    /// together.
    fn on_restart(&mut self, now: Time) {
        self.usage.begin(now);
        (self.index, self.own_index, self.per_index) = (0.0, 0.0, 0.0);
        self.signalled.clear();
        self.due = now + self.interval + Span::from_seconds(self.phase.unit() * self.interval.seconds());
    }
}

#[cfg(test)]
mod tests;
