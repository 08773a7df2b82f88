//! Neighbourhood RED (Xu et al. 2003): random early detection over the distributed queue of a neighbourhood.
//!
//! A node cannot see the queues of the nodes that share its medium. It estimates their length by the busy
//! share of the medium and runs RED on that estimate. A node that contributes to congestion notifies its
//! neighbours. All of them drop packets in proportion to their own share. `notice.rs` has the notices,
//! `usage.rs` the measurement.

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
use notice::{CARRIER, CongestionNotice, NeighbourCongestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use usage::{MediumUsage, UsageShares};

/// Queue index of a medium that is always busy (W/C, a bit rate over the bits of a packet). The index of a
/// node is this times its busy share. Packets of 1 KiB per second at 2 Mb/s; unverified. Only the ratios to
/// the two thresholds matter.
const BUSY_INDEX: f64 = 244.0;
/// Weight of the latest interval in the means of indices, which start at 0 (`w_q`). Unverified.
const INDEX_WEIGHT: f64 = 0.2;
/// Share of time in frames from or to a node above which the node sends notices (`T_util`). A proposal: the
/// published value could not be verified.
const MIN_OWN_SHARE: f64 = 0.1;

keys! {
    /// `tcp-newreno` with nodes that drop data at random, or mark it with `ecn`, when the medium is busy
    /// around them or around a neighbour that signals it. Each node acts in proportion to its own share of
    /// the use.
    ///
    /// The authors' abstract confirms RED over the distributed queue of a neighbourhood, without changes to
    /// the MAC. The equations come from notes on their slides. The published constants could not be read, so
    /// that no default below is verified.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Nred {
        /// Time over which the use of the medium is measured (`T`). The default is unverified.
        pub interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Mean queue index up to which no data is dropped or marked. The default is a busy share of 0.41;
        /// unverified.
        pub min_threshold: f64 [0, 1_000_000_000] = 100.0,
        /// Mean queue index from which the probability is `max_probability`. The default is a busy share of
        /// 0.98; unverified.
        pub max_threshold: f64 [0, 1_000_000_000] = 240.0,
        /// Maximum probability of RED (`max_p`), for a node that alone uses all of the busy medium. The
        /// default is unverified.
        pub max_probability: f64 [0, 1] = 0.14,
        /// Whether nodes notify neighbours of congestion. A node does so if its mean index exceeded
        /// `min_threshold` at the end of two intervals and its own share of the latest exceeds 0.1. With
        /// false, each node uses its own measurements only.
        pub notices: bool = true,
        /// Time for which neighbours respond to a notice. The next notice of the same node replaces it. The
        /// default is two intervals, so that the loss of one broadcast matters little. It is a proposal: the
        /// published value could not be verified.
        pub lifetime: Duration ["1 ms", "1 h"] = Duration(0.2),
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for Nred {
    const NAME: &str = "nred";
    const SUMMARY: &str = "TCP NewReno; nodes drop or mark data by the busy share of the medium in their neighbourhood (constants unverified)";
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
        (!egress.is_wired).then(|| Box::new(NredPolicy::new(self, egress)) as Box<dyn RouterPolicy>)
    }
}

/// Latest notice of a neighbour.
#[derive(Clone, Copy, Debug)]
struct NeighbourNotice {
    by: NodeId,
    per_index: f64,
    until: Time,
}

/// Router policy of NRED.
struct NredPolicy {
    parameters: Nred,
    interval: Span,
    usage: MediumUsage,
    /// Mean queue index.
    index: f64,
    /// Part of the mean queue index in which this node transmitted or received.
    own_index: f64,
    /// This node's own [`NeighbourCongestion::per_index`] at the end of the latest interval.
    per_index: f64,
    /// End of the current interval.
    due: Time,
    signalled: Vec<NeighbourNotice>,
    phase: Rng,
    early_drop: EarlyDrop,
}

impl NredPolicy {
    fn new(parameters: &Nred, egress: &EgressQueue) -> NredPolicy {
        let interval = parameters.interval.span();
        let mut node = NredPolicy {
            parameters: parameters.clone(),
            interval,
            usage: MediumUsage::new(interval),
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

    /// Returns the probability with which a data packet is dropped or marked.
    fn probability(&self, now: Time) -> f64 {
        let heard = self
            .signalled
            .iter()
            .filter(|signalled| signalled.until > now)
            .map(|signalled| signalled.per_index);
        heard.fold(self.per_index, f64::max) * self.own_index
    }

    /// Ends an interval. Returns the congestion to signal, if any.
    fn end_interval(&mut self, shares: UsageShares) -> Option<NeighbourCongestion> {
        self.index += INDEX_WEIGHT * (BUSY_INDEX * shares.busy - self.index);
        self.own_index += INDEX_WEIGHT * (BUSY_INDEX * shares.own - self.own_index);
        let before = self.per_index;
        self.per_index = self.red_per_index();
        let persists = before > 0.0 && self.per_index > 0.0;
        let signals = self.parameters.notices && persists && shares.own > MIN_OWN_SHARE;
        let lifetime = self.parameters.lifetime.span();
        signals.then_some(NeighbourCongestion { per_index: self.per_index, lifetime })
    }

    /// Returns RED's probability divided by the mean index.
    fn red_per_index(&self) -> f64 {
        let Nred { min_threshold: min, max_threshold: max, max_probability, .. } = self.parameters;
        if self.index <= min {
            return 0.0;
        }
        max_probability * ((self.index - min) / (max - min)).min(1.0) / self.index
    }
}

impl RouterPolicy for NredPolicy {
    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.early_drop.decide(packet, self.probability(hop.now))
    }

    fn on_received(&mut self, hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.early_drop.decide(packet, self.probability(hop.now))
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.usage.on_link(event);
    }

    fn on_notice(&mut self, now: Time, from: NodeId, content: &[u8]) {
        let Some(congestion) = NeighbourCongestion::from_content(content) else { return };
        let signalled =
            NeighbourNotice { by: from, per_index: congestion.per_index, until: now + congestion.lifetime };
        match self.signalled.iter_mut().find(|known| known.by == from) {
            Some(known) => *known = signalled,
            None => self.signalled.push(signalled),
        }
    }

    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        let shares = self.usage.end_interval(now);
        self.due = now + self.interval;
        self.signalled.retain(|signalled| signalled.until > now);
        self.end_interval(shares).map(NeighbourCongestion::to_notice)
    }

    fn next_notice(&self) -> Option<Time> {
        Some(self.due)
    }

    /// Restarts the measurement. The first interval has a random additional length, so that intervals of
    /// neighbours do not end together.
    fn on_restart(&mut self, now: Time) {
        self.usage.start_interval(now);
        (self.index, self.own_index, self.per_index) = (0.0, 0.0, 0.0);
        self.signalled.clear();
        self.due = now + self.interval + Span::from_seconds(self.phase.unit() * self.interval.seconds());
    }
}

#[cfg(test)]
mod tests;
