//! Counters of access categories.

use super::Recorder;
use crate::config::Config;
use crate::outcome::CategoryOutcome;
use multihop_core::{DropCause, Interval, NodeId, Packet, Span, Time};
use multihop_dot11::{AccessCategory, user_priority};

/// Counters of an access category at a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct CategoryCounters {
    transmitting: Span,
    internal_collisions: u64,
    dropped: [u64; DropCause::ALL.len()],
}

impl Recorder {
    /// Adds counters for each access category, if the configuration has them.
    #[must_use]
    pub fn with_categories(mut self, config: &Config) -> Recorder {
        let nodes = if config.mac.edca.is_some() { config.topology.nodes.len() } else { 0 };
        self.categories = vec![[CategoryCounters::default(); AccessCategory::COUNT]; nodes];
        self
    }

    fn category(&mut self, node: NodeId, category: AccessCategory) -> Option<&mut CategoryCounters> {
        Some(&mut self.categories.get_mut(node.index())?[category as usize])
    }

    /// Counts a node's own frame of this category that ended: RTS, DATA, or a request for a block
    /// acknowledgement.
    pub fn transmitted_by(&mut self, node: NodeId, category: AccessCategory, air: Interval, now: Time) {
        let counted = self.after_warmup(air, now);
        if let Some(counters) = self.category(node, category) {
            counters.transmitting += counted;
        }
    }

    /// Counts an internal collision: a higher category of the node transmitted instead.
    pub fn collided_internally(&mut self, node: NodeId, category: AccessCategory, now: Time) {
        let counts = self.counts(now);
        if let Some(counters) = self.category(node, category) {
            counters.internal_collisions += u64::from(counts);
        }
    }

    /// Counts a packet of a flow lost at a node, by its category.
    pub(super) fn dropped_of_category(&mut self, node: NodeId, packet: &Packet, cause: DropCause) {
        let category = AccessCategory::from_priority(user_priority(packet.segment.dscp));
        if let Some(counters) = self.category(node, category) {
            counters.dropped[cause as usize] += 1;
        }
    }

    /// Results of the categories by node, the lowest category first.
    pub fn category_outcomes(&self, measured: Span) -> Vec<CategoryOutcome> {
        let nodes = (0..).zip(&self.categories);
        let rows = nodes.flat_map(|(node, counters)| {
            AccessCategory::ALL.into_iter().zip(counters).map(move |(category, counters)| CategoryOutcome {
                node,
                category,
                airtime: counters.transmitting.seconds() / measured.seconds(),
                internal_collisions: counters.internal_collisions,
                dropped: counters.dropped,
            })
        });
        rows.collect()
    }
}
