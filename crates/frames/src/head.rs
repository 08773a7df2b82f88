//! Description of a log: its run or capture, its selection, its tables.

use crate::layout::{self, Column};
use serde::Serialize;

/// Description of a log, written before its rows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Head {
    /// Name of the scenario or of the capture.
    pub name: String,
    /// Source of the log: `run` or `capture`.
    pub source: &'static str,
    /// Columns and quantities of a capture that were inferred, not observed.
    pub inferred: Vec<&'static str>,
    /// Seed of the run; none for a capture.
    pub seed: Option<u64>,
    /// Duration of the run or of the capture, in nanoseconds.
    pub duration_ns: u64,
    /// Duration of the warm-up, which results of the run exclude, in nanoseconds.
    pub warmup_ns: u64,
    /// Propagation delay from the sender to all listeners, in nanoseconds; 0 if it depends on distance.
    pub propagation_ns: u64,
    /// Slot time, in nanoseconds.
    pub slot_ns: u64,
    /// Nodes, or radios of nodes, by index.
    pub nodes: Vec<Node>,
    /// Flows, by index.
    pub flows: Vec<Flow>,
    /// Indices of the selected nodes: the log contains only transmissions from or to them. Empty: all nodes.
    pub only_nodes: Vec<u32>,
    /// Indices of the selected flows: the log contains only frames that carry their packets, and responses to
    /// these frames. Empty: all flows.
    pub only_flows: Vec<u32>,
    /// Selected interval, in nanoseconds: the log contains only transmissions that begin in it. None: the
    /// whole run.
    pub only_between: Option<[u64; 2]>,
}

/// Node of a run, or station of a capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Node {
    /// Name of the node: text, never markup.
    pub name: String,
    /// Position at the start, in metres.
    pub position: Option<[f64; 2]>,
    /// Index of the node whose additional radio this entry is; none for the first or only radio.
    pub radio_of: Option<u32>,
}

/// Flow of a run, or pair of stations of a capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Flow {
    /// Name of the flow: text, never markup.
    pub name: String,
    /// Index of the node that sends the flow's data.
    pub source: u32,
    /// Index of the destination of the flow's data.
    pub destination: u32,
    /// Name of the flow's scheme.
    pub scheme: String,
}

#[derive(Serialize)]
struct Description<'h> {
    #[serde(flatten)]
    head: &'h Head,
    enumerations: Vec<(&'static str, &'static [&'static str])>,
    tables: Vec<TableDescription>,
}

#[derive(Serialize)]
struct TableDescription {
    name: &'static str,
    columns: &'static [Column],
}

impl Head {
    /// Returns the head with the description of all tables, as JSON.
    pub(crate) fn json(&self) -> String {
        let tables = layout::TABLES
            .iter()
            .map(|(table, _)| TableDescription { name: table.name(), columns: table.columns() });
        let description =
            Description { head: self, enumerations: layout::ENUMERATIONS.to_vec(), tables: tables.collect() };
        serde_json::to_string(&description).expect("numbers and strings convert to JSON")
    }
}

/// Returns the description of a log after its restriction to an interval; none if `head` is no description.
#[cfg(feature = "files")]
pub(crate) fn restrict(head: &str, [from, to]: [u64; 2]) -> Option<String> {
    let mut head: serde_json::Value = serde_json::from_str(head).ok()?;
    let selected = head.get("only_between").and_then(|between| between.as_array());
    let bound = |index: usize| selected.and_then(|bounds| bounds.get(index)?.as_u64());
    let interval = [bound(0).map_or(from, |first| first.max(from)), bound(1).map_or(to, |last| last.min(to))];
    head.as_object_mut()?.insert("only_between".into(), serde_json::json!(interval));
    serde_json::to_string(&head).ok()
}
