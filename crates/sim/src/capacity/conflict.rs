//! Conflicts between links: pairs that cannot be used at the same time.

use crate::mac::Timing;
use crate::medium::{Collisions, Links, RateClass};
use crate::routing::LEAST_DELIVERY;
use multihop_core::NodeId;
use multihop_dot11::ACK_BYTES;

/// Pairs of links that exclude each other, by five definitions. Each list has pairs of indices into the list
/// of links, the smaller index first.
///
/// A signal is *fatal* to a frame if the frame is lost whichever of the two begins first:
///
/// * with capture, if the frame is not stronger by the capture ratio;
/// * without capture, and for measured delivery, if the signal is audible;
/// * with SINR, if even a frame of 14 bytes arrives with a probability below 1 %.
///
/// With SINR a shorter overlap may do no harm, so that exchanges that exclude each other may still overlap
/// slightly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conflicts {
    /// Pairs whose DATA frames cannot both arrive if they overlap: the links share a node, or one DATA frame
    /// is fatal to the other. Follows from the medium alone, for any MAC.
    pub data: Vec<(usize, usize)>,
    /// Pairs of which no two frames can both arrive if they overlap: the links share a node, or every frame
    /// of one exchange is fatal to every frame of the other. Such exchanges are disjoint from the first bit
    /// to the last.
    pub exchange: Vec<(usize, usize)>,
    /// Pairs that carrier sense separates, except for simultaneous starts: the links share a node, or one
    /// sender senses the other, or some frame of one exchange is fatal to a frame of the other.
    pub sensing: Vec<(usize, usize)>,
    /// Pairs in each other's interference sets (Tan, Jiang, Zhang and Shen, section II): the links share a
    /// node, or an endpoint of one senses an endpoint of the other. Receivers count, whatever their frames
    /// would destroy.
    pub interference: Vec<(usize, usize)>,
    /// Pairs of hidden senders: neither senses the other, and their DATA frames cannot both arrive if they
    /// overlap.
    pub hidden: Vec<(usize, usize)>,
}

/// Definitions of conflict that hold for one pair of links.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Conflict {
    /// Whether the pair is in [`Conflicts::data`].
    pub data: bool,
    /// Whether the pair is in [`Conflicts::exchange`].
    pub exchange: bool,
    /// Whether the pair is in [`Conflicts::sensing`].
    pub sensing: bool,
    /// Whether the pair is in [`Conflicts::interference`].
    pub interference: bool,
    /// Whether the pair is in [`Conflicts::hidden`].
    pub hidden: bool,
}

impl Conflicts {
    /// Computes the conflicts among these links. Links that are not `by_air` exclude nothing; all others
    /// exist in both directions, as routes need them.
    pub(super) fn new(
        used: &[(NodeId, NodeId)],
        by_air: impl Fn(&(NodeId, NodeId)) -> bool,
        links: &Links,
        timing: &Timing,
    ) -> Conflicts {
        let near = ConflictCandidates::new(used, &by_air, links);
        let firsts = used.iter().enumerate().filter(|(_, link)| by_air(link));
        let pairs = firsts.flat_map(|(a, link)| near.later(a, *link).into_iter().map(move |b| (a, b)));
        Conflicts::of(pairs, used, &FrameConflicts { links, timing })
    }

    /// Computes the conflicts of the given pairs of links, which are sorted.
    fn of(
        pairs: impl Iterator<Item = (usize, usize)>,
        used: &[(NodeId, NodeId)],
        air: &FrameConflicts<'_>,
    ) -> Conflicts {
        let mut made = Conflicts::default();
        for (a, b) in pairs {
            let conflict = air.conflict(used[a], used[b]);
            let lists = [
                (conflict.data, &mut made.data),
                (conflict.exchange, &mut made.exchange),
                (conflict.sensing, &mut made.sensing),
                (conflict.interference, &mut made.interference),
                (conflict.hidden, &mut made.hidden),
            ];
            for (_, list) in lists.into_iter().filter(|(applies, _)| *applies) {
                list.push((a, b));
            }
        }
        made
    }
}

/// Candidates for conflicts: links of which an endpoint is, hears, or is heard by an endpoint of the other.
/// In a large network they are a small part of all pairs.
struct ConflictCandidates {
    /// For each node: itself, the nodes that it hears, and those that hear it.
    nodes: Vec<Vec<NodeId>>,
    /// For each node: the radio links that begin or end there.
    ends: Vec<Vec<usize>>,
}

impl ConflictCandidates {
    fn new(
        used: &[(NodeId, NodeId)],
        by_air: impl Fn(&(NodeId, NodeId)) -> bool,
        links: &Links,
    ) -> ConflictCandidates {
        let all = || (0..links.nodes() as u32).map(NodeId);
        let mut nodes: Vec<Vec<NodeId>> = all().map(|node| vec![node]).collect();
        for from in all() {
            for to in links.of(from).iter().map(|link| NodeId(link.to)) {
                nodes[from.index()].push(to);
                nodes[to.index()].push(from);
            }
        }
        let mut ends = vec![Vec::new(); links.nodes()];
        for (index, (from, to)) in used.iter().enumerate().filter(|(_, link)| by_air(link)) {
            ends[from.index()].push(index);
            ends[to.index()].push(index);
        }
        ConflictCandidates { nodes, ends }
    }

    /// Radio links near this one with a larger index, sorted.
    fn later(&self, index: usize, (from, to): (NodeId, NodeId)) -> Vec<usize> {
        let mut nodes = [&*self.nodes[from.index()], &*self.nodes[to.index()]].concat();
        nodes.sort_unstable();
        nodes.dedup();
        let ends = nodes.iter().flat_map(|node| &self.ends[node.index()]);
        let mut found: Vec<usize> = ends.filter(|other| **other > index).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Frame in flight: transmitter, receiver, and rate class.
type Flight = (NodeId, NodeId, RateClass);

/// Medium, with the tests for pairs of frames.
struct FrameConflicts<'a> {
    links: &'a Links,
    timing: &'a Timing,
}

impl FrameConflicts<'_> {
    fn conflict(&self, a: (NodeId, NodeId), b: (NodeId, NodeId)) -> Conflict {
        let data = |(from, to): (NodeId, NodeId)| (from, to, RateClass::Data);
        let excludes = self.exclude(data(a), data(b));
        let senders_sense = a.0 == b.0 || self.either_senses(a.0, b.0);
        let hidden = excludes && !senders_sense;
        if a.0 == b.0 || a.0 == b.1 || a.1 == b.0 || a.1 == b.1 {
            return Conflict { data: true, exchange: true, sensing: true, interference: true, hidden };
        }
        let all = frames(a);
        let mut exclusive = all.iter().flat_map(|one| frames(b).map(|other| self.exclude(*one, other)));
        Conflict {
            data: excludes,
            exchange: exclusive.clone().all(|exclusive| exclusive),
            sensing: senders_sense || exclusive.any(|exclusive| exclusive),
            interference: [a.0, a.1]
                .iter()
                .any(|one| [b.0, b.1].iter().any(|other| self.either_senses(*one, *other))),
            hidden,
        }
    }

    /// Whether at most one of two overlapping frames can arrive.
    fn exclude(&self, one: Flight, other: Flight) -> bool {
        self.is_fatal(other.0, one) || self.is_fatal(one.0, other)
    }

    /// Whether a signal of `source` is fatal to the frame.
    fn is_fatal(&self, source: NodeId, (from, to, class): Flight) -> bool {
        let signal = self.links.between(from, to).expect("links by air are there both ways");
        let Some(noise) = self.links.between(source, to) else { return false };
        match &self.timing.collisions {
            Collisions::Pairwise { capture } => signal.power / noise.power < capture.unwrap_or(f64::INFINITY),
            Collisions::Sinr { noise: floor, errors, measured, .. } => {
                let bits = f64::from(ACK_BYTES) * 8.0;
                let errors = &errors[self.timing.between(from, to).index(class)];
                let per_bit = if *measured {
                    let floor = errors.noise_of(signal, *floor as f64);
                    signal.ln_bit_success + errors.due_to(noise.power, signal.power, floor)
                } else {
                    errors.table.bit_success_ln(signal.power / (*floor as f64 + noise.power))
                };
                (per_bit * bits).exp() < LEAST_DELIVERY
            }
        }
    }

    /// Whether the medium is busy at one of two nodes while the other sends.
    fn either_senses(&self, one: NodeId, other: NodeId) -> bool {
        self.senses(one, other) || self.senses(other, one)
    }

    /// Whether the medium is busy at `node` while `source` sends.
    fn senses(&self, node: NodeId, source: NodeId) -> bool {
        let Some(link) = self.links.between(source, node) else { return false };
        let locks = match &self.timing.collisions {
            Collisions::Pairwise { .. } => true,
            Collisions::Sinr { sensitivity, .. } => link.energy >= *sensitivity,
        };
        locks || link.energy >= self.timing.busy_from
    }
}

/// Frames that an exchange over a link may have.
fn frames((sender, receiver): (NodeId, NodeId)) -> [Flight; 4] {
    [
        (sender, receiver, RateClass::Control),
        (receiver, sender, RateClass::Cts),
        (sender, receiver, RateClass::Data),
        (receiver, sender, RateClass::Ack),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, MatrixLink, MatrixQuantity, MediumModel, NodeConfig, PathLoss};
    use crate::mac::tests::script::config;
    use crate::routing::LinkQuality;
    use multihop_core::Rng;
    use multihop_dot11::DcfRules;

    const NODES: u32 = 60;

    /// Nodes at random in a square of `side` metres, most of them out of reach of each other.
    fn scattered(model: MediumModel, side: f64) -> Config {
        let mut config = config(DcfRules::IEEE, None);
        config.medium.model = model;
        let mut rng = Rng::at(1, &["places"]);
        let mut place = || side * f64::from(rng.below(1_000)) / 1_000.0;
        let node = |place: [f64; 2]| NodeConfig { position: Some(place), ..config.topology.nodes[0].clone() };
        config.topology.nodes = (0..NODES).map(|_| node([place(), place()])).collect();
        config
    }

    /// Signals between nodes of near numbers, many in one direction only.
    fn measured() -> MediumModel {
        let mut rng = Rng::at(1, &["links"]);
        let pairs = (0..NODES).flat_map(|a| (a + 1..NODES.min(a + 4)).map(move |b| (a, b)));
        let directed = pairs.flat_map(|(a, b)| [(a, b), (b, a)]);
        let heard = directed.filter(|_| rng.below(3) > 0);
        let links = heard.map(|(a, b)| MatrixLink { from: NodeId(a), to: NodeId(b), value: 0.9 }).collect();
        MediumModel::Matrix { links, quantity: MatrixQuantity::Delivery { probe_size: 1500 } }
    }

    #[test]
    fn links_near_each_other_are_all_that_exclude_each_other() {
        let path_loss =
            PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 };
        let ranges = |capture_ratio| MediumModel::Ranges {
            receive_range: 250.0,
            carrier_sense_range: 550.0,
            capture_ratio,
            path_loss,
        };
        let sinr = MediumModel::Sinr {
            transmit_power_mw: 100.0,
            noise_mw: 1e-10,
            sensitivity_mw: 1e-9,
            carrier_sense_mw: 1e-9,
            path_loss: PathLoss::LogDistance {
                exponent: 4.0,
                reference_loss_db: 40.0,
                reference_distance: 1.0,
            },
        };
        for (model, side) in
            [(ranges(None), 3_000.0), (ranges(Some(10.0)), 3_000.0), (sinr, 1_000.0), (measured(), 1.0)]
        {
            let quality = LinkQuality::new(&scattered(model, side));
            let (links, timing) = quality.parts();
            let used: Vec<_> = quality.usable().iter().map(|(from, to, _)| (*from, *to)).collect();
            let pairs = || (0..used.len()).flat_map(|a| (a + 1..used.len()).map(move |b| (a, b)));
            let all = Conflicts::of(pairs(), &used, &FrameConflicts { links, timing });
            assert_eq!(Conflicts::new(&used, |_| true, links, timing), all);
            let most = pairs().count();
            let near = ConflictCandidates::new(&used, |_| true, links);
            let looked_at: usize = (0..used.len()).map(|a| near.later(a, used[a]).len()).sum();
            assert!(looked_at < most * 9 / 10, "{looked_at} of {most}");
            for list in [&all.data, &all.exchange, &all.sensing, &all.interference, &all.hidden] {
                assert!(!list.is_empty() && list.len() < most / 2, "{} of {most}", list.len());
            }
        }
    }
}
