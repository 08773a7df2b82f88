//! What a log says of itself, and of what it is a log of.

use crate::layout::{self, Column};
use serde::Serialize;

/// The description at the beginning of a log.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Head {
    /// The name of the scenario or of the capture.
    pub name: String,
    /// `run` or `capture`.
    pub source: &'static str,
    /// Names of columns and quantities that were not observed but concluded, of captures.
    pub inferred: Vec<&'static str>,
    /// The seed of the run; none of a capture.
    pub seed: Option<u64>,
    /// How long it is, in nanoseconds.
    pub duration_ns: u64,
    /// From when on the tables of the run count, in nanoseconds.
    pub warmup_ns: u64,
    /// A frame is at its listeners by this much later than at its sender, in nanoseconds; 0 where that goes
    /// by distance.
    pub propagation_ns: u64,
    /// Slot time in nanoseconds.
    pub slot_ns: u64,
    /// Nodes, or radios of nodes, in the order of their indices.
    pub nodes: Vec<Node>,
    /// Flows, in the order of their indices.
    pub flows: Vec<Flow>,
    /// Only transmissions of or to these nodes are there, by index; all if there are none.
    pub only_nodes: Vec<u32>,
    /// Only what carries packets of these flows, and answers to it, is there, by index; all if there are
    /// none.
    pub only_flows: Vec<u32>,
    /// Only what began in this interval is there, in nanoseconds; none for everything.
    pub only_between: Option<[u64; 2]>,
}

/// A node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Node {
    /// Its name: text, never markup.
    pub name: String,
    /// Where it is at the beginning, in metres.
    pub position: Option<[f64; 2]>,
    /// The index of the node that it is a further radio of; none of the first or only radio.
    pub radio_of: Option<u32>,
}

/// A flow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Flow {
    /// Its name: text, never markup.
    pub name: String,
    /// The index of the node that its data comes from.
    pub source: u32,
    /// The index of the node that its data is for.
    pub destination: u32,
    /// The name of its scheme.
    pub scheme: String,
}

#[derive(Serialize)]
struct Described<'h> {
    #[serde(flatten)]
    head: &'h Head,
    enumerations: Vec<(&'static str, &'static [&'static str])>,
    tables: Vec<DescribedTable>,
}

#[derive(Serialize)]
struct DescribedTable {
    name: &'static str,
    columns: &'static [Column],
}

impl Head {
    /// Returns the head with the description of all tables, as JSON.
    pub(crate) fn json(&self) -> String {
        let tables = layout::TABLES
            .iter()
            .map(|(table, _)| DescribedTable { name: table.name(), columns: table.columns() });
        let described =
            Described { head: self, enumerations: layout::ENUMERATIONS.to_vec(), tables: tables.collect() };
        serde_json::to_string(&described).expect("numbers and texts are JSON")
    }
}

/// A description of a log of which only this interval is left.
#[cfg(feature = "files")]
pub(crate) fn cut(head: &str, [from, to]: [u64; 2]) -> Option<String> {
    let mut head: serde_json::Value = serde_json::from_str(head).ok()?;
    let known = head.get("only_between").and_then(|between| between.as_array());
    let end = |index: usize| known.and_then(|ends| ends.get(index)?.as_u64());
    let left = [end(0).map_or(from, |known| known.max(from)), end(1).map_or(to, |known| known.min(to))];
    head.as_object_mut()?.insert("only_between".into(), serde_json::json!(left));
    serde_json::to_string(&head).ok()
}
