//! Whether what a log says by an index is there.

use crate::Table;
use crate::layout::ENUMERATIONS;
use crate::timeline::Transmission;

/// How many nodes and flows a description has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranges {
    nodes: i64,
    flows: i64,
}

impl Ranges {
    /// Those of a description as JSON.
    pub(crate) fn of(head: &str) -> Option<Ranges> {
        let head: serde_json::Value = serde_json::from_str(head).ok()?;
        let count = |key| i64::try_from(head.get(key)?.as_array()?.len()).ok();
        Some(Ranges { nodes: count("nodes")?, flows: count("flows")? })
    }

    /// How many values a unit has, if it is of indices.
    fn count(self, unit: &str) -> Option<i64> {
        match unit {
            "node" => Some(self.nodes),
            "flow" => Some(self.flows),
            _ => ENUMERATIONS.iter().find(|(name, _)| *name == unit).map(|(_, names)| names.len() as i64),
        }
    }

    /// Whether all indices of these columns are there; -1 is none.
    pub(crate) fn have(self, table: Table, columns: &[Vec<i64>]) -> bool {
        table.columns().iter().zip(columns).all(|(column, values)| {
            self.count(column.unit).is_none_or(|count| values.iter().all(|value| (-1..count).contains(value)))
        })
    }

    /// Whether all indices of a transmission are there.
    pub(crate) fn have_those_of(self, row: &Transmission) -> bool {
        let is = |unit, value| self.count(unit).is_none_or(|count| (-1..count).contains(&value));
        is("outcome", row.outcome)
            && is("node", row.collided)
            && is("overlap", row.overlap)
            && row.mpdus.iter().all(|mpdu| {
                is("flow", mpdu.stream[0]) && is("carries", mpdu.stream[1]) && is("outcome", mpdu.outcome)
            })
    }
}
