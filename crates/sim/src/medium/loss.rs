//! Frame loss probabilities that a scenario sets besides the losses of the medium.

use crate::config::MediumConfig;
use multihop_core::{FrameKind, NodeId};

/// Probability of loss of decodable frames, per link.
#[derive(Clone, Debug, Default)]
pub struct FrameLoss {
    /// Whether any loss probability is not zero.
    loses: bool,
    /// Loss probability of DATA on links without a probability of their own.
    everywhere: f64,
    /// Loss probability of DATA by transmitter: pairs of listener and probability, sorted. Empty where it is
    /// equal on all links.
    data: Vec<Vec<(u32, f64)>>,
    /// Loss probability of ACKs and block acknowledgements, in the same form. Empty where none is lost.
    acks: Vec<Vec<(u32, f64)>>,
}

/// Loss probabilities of one kind of frame from one transmitter.
#[derive(Clone, Copy, Debug)]
pub struct LossFrom<'a> {
    everywhere: f64,
    row: &'a [(u32, f64)],
}

impl FrameLoss {
    /// Loss probabilities of a medium with this number of nodes. Losses of a single link and of all links are
    /// independent.
    pub fn new(medium: &MediumConfig, nodes: usize) -> FrameLoss {
        let everywhere = medium.packet_error_rate;
        let rows = |is_needed: bool| vec![Vec::new(); if is_needed { nodes } else { 0 }];
        let mut data = rows(!medium.link_errors.is_empty());
        let mut acks = rows(medium.link_errors.iter().any(|link| link.ack_error_rate > 0.0));
        for link in &medium.link_errors {
            let kept = (1.0 - everywhere) * (1.0 - link.packet_error_rate);
            data[link.from.index()].push((link.to.0, 1.0 - kept));
            if link.ack_error_rate > 0.0 {
                acks[link.from.index()].push((link.to.0, link.ack_error_rate));
            }
        }
        for row in data.iter_mut().chain(&mut acks) {
            row.sort_by_key(|(to, _)| *to);
        }
        FrameLoss { loses: everywhere > 0.0 || !data.is_empty(), everywhere, data, acks }
    }

    /// Loss probabilities of frames of a kind from a transmitter.
    #[inline]
    pub fn from(&self, from: NodeId, kind: FrameKind) -> LossFrom<'_> {
        if !self.loses {
            return LossFrom { everywhere: 0.0, row: &[] };
        }
        match kind {
            FrameKind::Data => LossFrom { everywhere: self.everywhere, row: row(&self.data, from) },
            FrameKind::Ack | FrameKind::BlockAck => LossFrom { everywhere: 0.0, row: row(&self.acks, from) },
            FrameKind::Rts | FrameKind::Cts | FrameKind::BlockAckRequest | FrameKind::CfEnd => {
                LossFrom { everywhere: 0.0, row: &[] }
            }
        }
    }
}

fn row(rows: &[Vec<(u32, f64)>], from: NodeId) -> &[(u32, f64)] {
    rows.get(from.index()).map_or(&[], Vec::as_slice)
}

impl LossFrom<'_> {
    /// Whether the probability is zero for every listener.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.everywhere <= 0.0 && self.row.is_empty()
    }

    /// Probability of loss on the way to this node.
    #[inline]
    pub fn to(&self, to: u32) -> f64 {
        if self.row.is_empty() {
            return self.everywhere;
        }
        let found = self.row.binary_search_by_key(&to, |(listener, _)| *listener);
        found.map_or(self.everywhere, |at| self.row[at].1)
    }
}
