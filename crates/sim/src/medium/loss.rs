//! The share of DATA frames, and of acknowledgements, that is lost whatever the medium makes of them.

use crate::config::MediumConfig;
use multihop_core::{FrameKind, NodeId};

/// Which share of the frames is lost on each link, though they could be decoded.
#[derive(Clone, Debug, Default)]
pub struct FrameLoss {
    /// Is any lost so?
    loses: bool,
    /// Of DATA, on links that have none of their own.
    everywhere: f64,
    /// Of DATA, by transmitter: listeners with another one, in order. No rows at all where it is the same on
    /// all links.
    data: Vec<Vec<(u32, f64)>>,
    /// The same of ACKs and block acknowledgements. No rows where none is lost.
    acks: Vec<Vec<(u32, f64)>>,
}

/// The same, of one kind of one transmitter.
#[derive(Clone, Copy, Debug)]
pub struct LossFrom<'a> {
    everywhere: f64,
    row: &'a [(u32, f64)],
}

impl FrameLoss {
    /// The losses of a medium among so many nodes. What a link loses and what all links lose are independent.
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

    /// That of frames of a kind of `from`.
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
    /// Is nothing lost, whatever the listener?
    #[inline]
    pub fn is_none(&self) -> bool {
        self.everywhere <= 0.0 && self.row.is_empty()
    }

    /// The share that is lost on the way to this node.
    #[inline]
    pub fn to(&self, to: u32) -> f64 {
        if self.row.is_empty() {
            return self.everywhere;
        }
        let found = self.row.binary_search_by_key(&to, |(listener, _)| *listener);
        found.map_or(self.everywhere, |at| self.row[at].1)
    }
}
