//! Estimators of a run whose values are recorded, next to the quantities that the simulator itself measures.

use crate::config::RecordingConfig;
use crate::mac::Timing;
use crate::medium::NodeOrder;
use crate::node::Node;
use crate::outcome::MeasurementRow;
use multihop_core::{NodeId, Span, Time};

/// Time series of estimators.
#[derive(Debug, Default)]
pub struct Measurements {
    /// Nodes with estimators, and for how long each could not use the medium up to the last row.
    nodes: Vec<(u32, Span)>,
    rows: Vec<MeasurementRow>,
}

impl Measurements {
    /// Installs the estimators of a configuration in its nodes.
    pub fn new(recording: &RecordingConfig, timing: &Timing, nodes: &mut [Node]) -> Measurements {
        let mut measured = vec![false; nodes.len()];
        for (index, measurement) in recording.measurements.iter().enumerate() {
            for node in &measurement.nodes {
                nodes[node.index()]
                    .stack
                    .add_gauge(index as u32, measurement.estimator.build(timing.phy_times()));
                measured[node.index()] = true;
            }
        }
        let nodes = (0..nodes.len() as u32).filter(|node| measured[*node as usize]);
        Measurements { nodes: nodes.map(|node| (node, Span::ZERO)).collect(), rows: Vec::new() }
    }

    /// Records one row per estimator at the end of a step of length `step`.
    pub fn take(&mut self, now: Time, step: Span, nodes: &[Node], order: &NodeOrder) {
        for (index, before) in &mut self.nodes {
            let at = order.of(NodeId(*index));
            let Node { radio, mac, stack } = &nodes[at];
            let media_use = mac.medium_use(radio, now);
            let unusable = media_use.busy + media_use.nav_only;
            let true_busy_ratio = (unusable - std::mem::replace(before, unusable)).seconds() / step.seconds();
            for (measurement, view) in stack.gauges(now) {
                let time_s = now.seconds();
                self.rows.push(MeasurementRow { time_s, measurement, node: *index, view, true_busy_ratio });
            }
        }
    }

    /// Removes and returns all rows.
    pub fn take_rows(&mut self) -> Vec<MeasurementRow> {
        std::mem::take(&mut self.rows)
    }

    /// Puts back rows that [`Measurements::take_rows`] returned.
    pub fn put_back(&mut self, rows: &[MeasurementRow]) {
        self.rows = rows.to_vec();
    }
}
