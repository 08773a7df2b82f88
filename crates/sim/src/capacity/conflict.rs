//! Which links exclude each other.

use crate::mac::Timing;
use crate::medium::{Collisions, Links, RateClass};
use crate::routing::LEAST_DELIVERY;
use multihop_core::NodeId;
use multihop_dot11::ACK_BYTES;

/// Five ways in which the exchanges of two links may exclude each other, each a list of pairs of indices into
/// the list of links, the smaller index first.
///
/// A signal is *fatal* to a frame if the frame is lost whatever the two begin with: in a medium with capture,
/// if the frame is not stronger by the capture ratio; without capture (and for measured delivery), if the
/// signal is audible at all; with SINR, if even a frame of 14 bytes would get through it with less than 1 %.
/// There a shorter overlap may do no harm, so that times that exclude each other may still overlap by that
/// little.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conflicts {
    /// DATA of one and DATA of the other cannot both arrive if they overlap: they share a node, or one is
    /// fatal to the other. This follows from the medium alone, whatever the MAC does.
    pub data: Vec<(usize, usize)>,
    /// No two frames of the exchanges can both arrive if they overlap: the links share a node, or every frame
    /// of one and every frame of the other are as above. Then the exchanges are disjoint from the first bit
    /// to the last.
    pub exchange: Vec<(usize, usize)>,
    /// Carrier sense keeps them apart, but for simultaneous starts: the links share a node, or one sender
    /// senses the other, or any frame of one is fatal to one of the other.
    pub sensing: Vec<(usize, usize)>,
    /// They are in each other's interference sets: the links share a node, or an endpoint of one senses an
    /// endpoint of the other (Tan, Jiang, Zhang and Shen, section II). Receivers count, whatever their frames
    /// would destroy.
    pub interference: Vec<(usize, usize)>,
    /// Hidden senders: neither senses the other, and DATA of one and DATA of the other cannot both arrive if
    /// they overlap.
    pub hidden: Vec<(usize, usize)>,
}

/// In which of the ways two links exclude each other.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Conflict {
    /// See [`Conflicts::data`].
    pub data: bool,
    /// See [`Conflicts::exchange`].
    pub exchange: bool,
    /// See [`Conflicts::sensing`].
    pub sensing: bool,
    /// See [`Conflicts::interference`].
    pub interference: bool,
    /// See [`Conflicts::hidden`].
    pub hidden: bool,
}

impl Conflicts {
    /// Among these links; those that are not `by_air` exclude nothing.
    pub(super) fn new(
        used: &[(NodeId, NodeId)],
        by_air: impl Fn(&(NodeId, NodeId)) -> bool,
        links: &Links,
        timing: &Timing,
    ) -> Conflicts {
        let air = Air { links, timing };
        let mut made = Conflicts::default();
        let used = || used.iter().enumerate().filter(|(_, link)| by_air(link));
        for (a, first) in used() {
            for (b, second) in used().filter(|(b, _)| *b > a) {
                let conflict = air.conflict(*first, *second);
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
        }
        made
    }
}

/// A frame on its way: from, to, and at which of the rates of its link.
type Flight = (NodeId, NodeId, RateClass);

/// The medium as it looks to single frames.
struct Air<'a> {
    links: &'a Links,
    timing: &'a Timing,
}

impl Air<'_> {
    fn conflict(&self, a: (NodeId, NodeId), b: (NodeId, NodeId)) -> Conflict {
        let data = |(from, to): (NodeId, NodeId)| (from, to, RateClass::Data);
        let excludes = self.exclude(data(a), data(b));
        let senders_sense = a.0 == b.0 || self.either_senses(a.0, b.0);
        let hidden = excludes && !senders_sense;
        if a.0 == b.0 || a.0 == b.1 || a.1 == b.0 || a.1 == b.1 {
            return Conflict { data: true, exchange: true, sensing: true, interference: true, hidden };
        }
        let exclusive: Vec<bool> =
            frames(a).iter().flat_map(|one| frames(b).map(|other| self.exclude(*one, other))).collect();
        Conflict {
            data: excludes,
            exchange: exclusive.iter().all(|exclusive| *exclusive),
            sensing: exclusive.contains(&true) || senders_sense,
            interference: [a.0, a.1]
                .iter()
                .any(|one| [b.0, b.1].iter().any(|other| self.either_senses(*one, *other))),
            hidden,
        }
    }

    /// Can at most one of two frames that overlap arrive?
    fn exclude(&self, one: Flight, other: Flight) -> bool {
        self.is_fatal(other.0, one) || self.is_fatal(one.0, other)
    }

    /// Is a signal of `source` fatal to the frame?
    fn is_fatal(&self, source: NodeId, (from, to, class): Flight) -> bool {
        let Some(signal) = self.links.between(from, to) else { return true };
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

    /// Is the medium busy at one of two nodes while the other sends?
    fn either_senses(&self, one: NodeId, other: NodeId) -> bool {
        self.senses(one, other) || self.senses(other, one)
    }

    /// Is the medium busy at `node` while `source` sends?
    fn senses(&self, node: NodeId, source: NodeId) -> bool {
        let Some(link) = self.links.between(source, node) else { return false };
        let locks = match &self.timing.collisions {
            Collisions::Pairwise { .. } => true,
            Collisions::Sinr { sensitivity, .. } => link.energy >= *sensitivity,
        };
        locks || link.energy >= self.timing.busy_from
    }
}

/// Every kind of frame that an exchange over a link may have.
fn frames((sender, receiver): (NodeId, NodeId)) -> [Flight; 4] {
    [
        (sender, receiver, RateClass::Control),
        (receiver, sender, RateClass::Cts),
        (sender, receiver, RateClass::Data),
        (receiver, sender, RateClass::Ack),
    ]
}
