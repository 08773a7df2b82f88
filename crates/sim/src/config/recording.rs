//! Recorded results.

use multihop_core::{NodeId, Span};
use multihop_link::EstimatorConfig;
use serde::Serialize;

/// Recorded results of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingConfig {
    /// End of the warm-up: results count only later events.
    pub warmup: Span,
    /// Length of a step of the recorded time series.
    #[serde(rename = "record_interval")]
    pub interval: Span,
    /// Estimators whose values are recorded at each step.
    pub measurements: Vec<MeasurementConfig>,
    /// Whether causes are recorded ([`crate::outcome::Causes`]). Recording does not change the run.
    #[serde(skip)]
    pub causes: bool,
}

/// Estimator at some nodes, whose values are recorded at each record interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasurementConfig {
    /// Label of the estimator in results.
    pub name: String,
    /// Nodes that have the estimator, each at most once.
    pub nodes: Vec<NodeId>,
    /// Estimator and its parameters.
    pub estimator: EstimatorConfig,
}
