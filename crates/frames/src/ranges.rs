//! Check of indices: whether every index of a log refers to an existing entry.

use crate::columns::Tables;
use crate::layout::{ENUMERATIONS, TABLES, Table};

/// Returns the first table and column with an index out of range; none if all indices are valid.
pub(crate) fn dangling(head: &str, tables: &Tables) -> Option<(&'static str, &'static str)> {
    let head: serde_json::Value = serde_json::from_str(head).unwrap_or_default();
    let count = |key| head.get(key).and_then(|list| list.as_array()).map_or(0, Vec::len);
    let size = |unit: &str| match unit {
        "node" => Some(count("nodes")),
        "flow" => Some(count("flows")),
        "ingress" => Some(tables.rows(Table::Ingress)),
        _ => ENUMERATIONS.iter().find(|(name, _)| *name == unit).map(|(_, names)| names.len()),
    };
    TABLES.iter().find_map(|(table, _)| {
        let dangles = |(place, column): (usize, &crate::Column)| {
            let size = size(column.unit)? as i64;
            // Only the sender of a frame is always known; -1 is "none" in other columns.
            let minimum = if column.name == "from" { 0 } else { -1 };
            let is_valid = tables.columns(*table)[place].iter().all(|value| (minimum..size).contains(&value));
            (!is_valid).then_some((table.name(), column.name))
        };
        table.columns().iter().enumerate().find_map(dangles)
    })
}
