//! Outages: nodes that are off for a while.
//!
//! Only radios and the ends of wires are off; the layers above keep running:
//!
//! * The MAC finds the medium busy until the radio is on again, and starts nothing. Pending responses and
//!   expected responses fail.
//! * The interface queue keeps its packets, as a driver's does without its radio, and drops those that do not
//!   fit. The queue of a wire does the same.
//! * The packet being sent on a wire is truncated, and packets that arrive by wire are lost.

use crate::mobility::Outage;
use multihop_core::Time;

/// Part of a node's frame that its listeners receive; the frame on the air, or else the next one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransmittedPart {
    /// The whole frame.
    Whole,
    /// A truncated frame, because the radio was switched off meanwhile: it cannot be decoded.
    Cut,
    /// No frame, because the radio was off when the frame should have begun.
    Nothing,
}

/// Switching times of radios, and their effect on frames.
#[derive(Clone, Debug)]
pub struct Outages {
    /// For each node, instants at which it is switched off and on in turn, the next one last.
    pending: Vec<Vec<Time>>,
    /// Effect on each node's frame; empty if no radio is ever switched.
    sent: Vec<TransmittedPart>,
}

impl Outages {
    /// Outages of a run with this number of nodes. Outages of a node that overlap or touch are merged.
    pub fn new(outages: &[Outage], nodes: usize) -> Outages {
        let mut outages: Vec<&Outage> = outages.iter().filter(|outage| outage.from < outage.to).collect();
        outages.sort_by_key(|outage| (outage.node, outage.from));
        let mut pending = vec![Vec::new(); nodes];
        for outage in outages {
            let instants: &mut Vec<Time> = &mut pending[outage.node.index()];
            let [from, to] = [outage.from, outage.to].map(|span| Time::ZERO + span);
            match instants.last_mut() {
                Some(last) if *last >= from => *last = to.max(*last),
                _ => instants.extend([from, to]),
            }
        }
        for instants in &mut pending {
            instants.reverse();
        }
        let switched = if pending.iter().any(|instants| !instants.is_empty()) { nodes } else { 0 };
        Outages { pending, sent: vec![TransmittedPart::Whole; switched] }
    }

    /// Time at which the node's radio is switched next.
    pub fn next(&self, node: u32) -> Option<Time> {
        self.pending[node as usize].last().copied()
    }

    /// Switches the node's radio; returns whether it is off now.
    pub fn switch(&mut self, node: u32) -> bool {
        let pending = &mut self.pending[node as usize];
        let was_on = pending.len().is_multiple_of(2);
        pending.pop();
        was_on
    }

    /// Part of the node's frame that its listeners receive.
    #[inline]
    pub fn sent(&self, node: u32) -> TransmittedPart {
        self.sent.get(node as usize).copied().unwrap_or(TransmittedPart::Whole)
    }

    /// Sets the part of the node's frame that its listeners receive.
    #[inline]
    pub fn set_part(&mut self, node: u32, sent: TransmittedPart) {
        debug_assert!(
            sent == TransmittedPart::Whole || !self.sent.is_empty(),
            "only a radio that is switched cuts a frame"
        );
        if let Some(noted) = self.sent.get_mut(node as usize) {
            *noted = sent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{NodeId, Span};

    #[test]
    fn outages_that_touch_are_one() {
        let outage =
            |node, from, to| Outage { node: NodeId(node), from: Span::from_ms(from), to: Span::from_ms(to) };
        let given =
            [outage(1, 30, 40), outage(1, 5, 10), outage(1, 10, 20), outage(1, 15, 18), outage(0, 7, 7)];
        let mut outages = Outages::new(&given, 2);
        assert_eq!(outages.next(0), None);
        let mut seen = Vec::new();
        while let Some(at) = outages.next(1) {
            seen.push((at.ns() / 1_000_000, outages.switch(1)));
        }
        assert_eq!(seen, [(5, true), (20, false), (30, true), (40, false)]);
    }
}
