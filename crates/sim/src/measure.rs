//! Estimators whose values are written down while the run goes on, beside what the simulator itself knows.

use crate::config::Config;
use crate::mac::Timing;
use crate::medium::NodeOrder;
use crate::node::Node;
use crate::outcome::MeasurementRow;
use multihop_core::{NodeId, Span, Time};

/// The time series of estimators.
#[derive(Debug, Default)]
pub struct Measurements {
    /// The nodes that have estimators, and for how long each could not use the medium up to the last row.
    nodes: Vec<(u32, Span)>,
    rows: Vec<MeasurementRow>,
}

impl Measurements {
    /// Puts the estimators of a configuration into its nodes.
    pub fn new(config: &Config, timing: &Timing, nodes: &mut [Node]) -> Measurements {
        let mut measured = vec![false; nodes.len()];
        for (index, measurement) in config.measurements.iter().enumerate() {
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

    /// Writes down a row for each, at the end of a step of this length.
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

    /// All rows, of which none is left.
    pub fn take_rows(&mut self) -> Vec<MeasurementRow> {
        std::mem::take(&mut self.rows)
    }

    /// Puts rows back that were taken.
    pub fn put_back(&mut self, rows: &[MeasurementRow]) {
        self.rows = rows.to_vec();
    }
}
