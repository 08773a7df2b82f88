//! The share of DATA frames that is lost whatever the medium makes of them.

use crate::config::MediumConfig;
use multihop_core::NodeId;

/// Which share of the DATA frames is lost on each link, though they could be decoded.
#[derive(Clone, Debug, Default)]
pub struct DataLoss {
    /// On links that have none of their own.
    everywhere: f64,
    /// By transmitter: listeners to whom it is another, in order. No rows at all where it is the same on all links.
    rows: Vec<Vec<(u32, f64)>>,
}

/// The same, of one transmitter.
#[derive(Clone, Copy, Debug)]
pub struct LossFrom<'a> {
    everywhere: f64,
    row: &'a [(u32, f64)],
}

impl DataLoss {
    /// The losses of a medium among so many nodes. What a link loses and what all links lose are independent.
    pub fn new(medium: &MediumConfig, nodes: usize) -> DataLoss {
        let everywhere = medium.packet_error_rate;
        let mut rows = vec![Vec::new(); if medium.link_errors.is_empty() { 0 } else { nodes }];
        for link in &medium.link_errors {
            let kept = (1.0 - everywhere) * (1.0 - link.packet_error_rate);
            rows[link.from.index()].push((link.to.0, 1.0 - kept));
        }
        for row in &mut rows {
            row.sort_by_key(|(to, _)| *to);
        }
        DataLoss { everywhere, rows }
    }

    /// That of frames of `from`.
    pub fn from(&self, from: NodeId) -> LossFrom<'_> {
        let row = self.rows.get(from.index()).map_or(&[][..], Vec::as_slice);
        LossFrom { everywhere: self.everywhere, row }
    }
}

impl LossFrom<'_> {
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
