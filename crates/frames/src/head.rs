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
    /// A frame is at its listeners by this much later than at its sender, in nanoseconds; 0 where that goes by distance.
    pub propagation_ns: u64,
    /// Slot time in nanoseconds.
    pub slot_ns: u64,
    /// Nodes, or radios of nodes, in the order of their indices.
    pub nodes: Vec<Node>,
    /// Flows, in the order of their indices.
    pub flows: Vec<Flow>,
    /// Only transmissions of or to these nodes are there, by index; all if there are none.
    pub only_nodes: Vec<u32>,
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
    /// By which starts are divided.
    pub(crate) fn slot(&self) -> i64 {
        self.slot_ns.max(1) as i64
    }

    /// The head with the description of all tables, as JSON.
    pub(crate) fn json(&self) -> Vec<u8> {
        let tables = layout::TABLES
            .iter()
            .map(|(table, _)| DescribedTable { name: table.name(), columns: table.columns() });
        let described =
            Described { head: self, enumerations: layout::ENUMERATIONS.to_vec(), tables: tables.collect() };
        serde_json::to_vec(&described).expect("numbers and texts are JSON")
    }
}
