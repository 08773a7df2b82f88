//! Edits of a scenario's text by a program. Values change; comments, order and layout of the text remain.

use crate::document::{Document, KeyPath, Result, Step};
use crate::error::EditProblem;
use crate::settings::path_of;
use crate::{Overrides, load};
use multihop_core::NodeId;
use multihop_dot11::DataRate;
use multihop_sim::config::{Config, FlowConfig, TopologyConfig};
use serde::Deserialize;
use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

/// Change to the text of a scenario.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Path of a key, as messages show it: `topology.nodes[0].position`. Missing tables on the path are
    /// created. An index one past the end of a list adds an entry.
    pub path: String,
    /// New value in TOML, such as `"200 m"` with its quotes; none to remove the key or the entry of a list.
    pub value: Option<String>,
}

/// Values that a scenario states, in the types of TOML, without defaults.
///
/// # Errors
/// If the text is not TOML.
pub fn values(text: &str, origin: &str) -> Result<Json> {
    let document = Document::parse(text, origin)?;
    toml::from_str(text).map_err(|error| {
        document.error(&KeyPath::default(), EditProblem::NoToml { message: error.message().into() })
    })
}

/// The text with the given changes, in this order.
///
/// # Errors
/// If the text is not TOML, if a path leads through a value that is neither table nor list, or if a
/// new value is not TOML.
pub fn edit(text: &str, origin: &str, edits: &[Edit]) -> Result<String> {
    let (document, mut edited) = parse(text, origin)?;
    for Edit { path, value } in edits {
        let error = |problem: EditProblem| {
            let at = path_of(path).map_or_else(KeyPath::default, KeyPath);
            document.error(&at, problem)
        };
        let steps = path_of(path).ok_or_else(|| error(EditProblem::NoPath))?;
        let through_value = || error(EditProblem::ThroughValue);
        match value {
            Some(value) => {
                let value = value.parse().map_err(|_| error(EditProblem::NoTomlValue))?;
                put(edited.as_item_mut(), &steps, value).ok_or_else(through_value)?;
            }
            None => remove(edited.as_item_mut(), &steps).ok_or_else(through_value)?,
        }
    }
    Ok(edited.to_string())
}

/// The text with the nodes of a generated topology, and the flows of a pattern, listed one by one, so that
/// each can be changed. The scenario hash stays the same.
///
/// # Errors
/// If the scenario is invalid, or if a list cannot express it: wires, or nodes with several radios,
/// from a generator, and flows that differ in more than their ends.
pub fn list(text: &str, origin: &str) -> Result<String> {
    let config = load(text, origin, &Overrides::default())?;
    let (document, mut edited) = parse(text, origin)?;
    if edited["topology"].get("generator").is_some() {
        let at = KeyPath(vec!["topology".into(), "generator".into()]);
        if let Some(problem) = cannot_list_nodes(&config) {
            return Err(document.error(&at, problem));
        }
        if let Some(topology) = edited["topology"].as_table_like_mut() {
            topology.clear();
            topology.insert("nodes", Item::Value(Value::Array(nodes(&config.topology))));
        }
    }
    if let Some(traffic) = edited.remove("traffic") {
        let at = KeyPath(vec!["traffic".into()]);
        if let Some(key) = ["mix", "start_interval"].into_iter().find(|key| traffic.get(key).is_some()) {
            return Err(document.error(&at, EditProblem::FlowsDiffer { key }));
        }
        let listed = edited.get("flows").map_or(0, length);
        let tables =
            config.traffic.flows[listed..].iter().map(|flow| listed_flow(&config.topology, flow, &traffic));
        let flows = edited.as_table_mut().entry("flows").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let inline = || document.error(&at, EditProblem::InlineFlows);
        flows.as_array_of_tables_mut().ok_or_else(inline)?.extend(tables);
    }
    Ok(edited.to_string())
}

fn parse<'a>(text: &'a str, origin: &'a str) -> Result<(Document<'a>, DocumentMut)> {
    let document = Document::parse(text, origin)?;
    let edited = text.parse().map_err(|error: toml_edit::TomlError| {
        document.error(&KeyPath::default(), EditProblem::NoToml { message: error.message().into() })
    })?;
    Ok((document, edited))
}

/// Sets the value at the path `steps`; none if the path leads through a value.
fn put(item: &mut Item, steps: &[Step], mut value: Value) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        if let Some(old) = item.as_value() {
            *value.decor_mut() = old.decor().clone();
        }
        *item = Item::Value(value);
        return Some(());
    };
    match step {
        Step::Key(key) => {
            if item.get(key).is_none() && !rest.is_empty() {
                let made = match (&rest[0], &item) {
                    (Step::Index(_), Item::Table(_)) if rest.len() > 1 => {
                        Item::ArrayOfTables(ArrayOfTables::new())
                    }
                    (Step::Index(_), _) => Item::Value(Value::Array(Array::new())),
                    (Step::Key(_), Item::Table(_)) => Item::Table(Table::new()),
                    (Step::Key(_), _) => Item::Value(Value::InlineTable(InlineTable::new())),
                };
                item.as_table_like_mut()?.insert(key, made);
            }
            item.as_table_like()?;
            put(item.get_mut(key)?, rest, value)
        }
        Step::Index(index) => {
            if *index == length(item) {
                match (&mut *item, rest.is_empty()) {
                    (Item::ArrayOfTables(tables), true) => {
                        tables.push(value.as_inline_table()?.clone().into_table());
                        return Some(());
                    }
                    (Item::ArrayOfTables(tables), false) => tables.push(Table::new()),
                    (item, true) => {
                        item.as_array_mut()?.push(value);
                        return Some(());
                    }
                    (item, false) => item.as_array_mut()?.push(InlineTable::new()),
                }
            }
            put(item.get_mut(index)?, rest, value)
        }
    }
}

/// Removes the value at the path `steps`, if it exists; none if the path leads through a value.
fn remove(item: &mut Item, steps: &[Step]) -> Option<()> {
    let (step, rest) = steps.split_first()?;
    match (step, rest.is_empty()) {
        (Step::Key(key), true) => {
            item.as_table_like_mut()?.remove(key);
        }
        (Step::Index(index), true) if *index < length(item) => match item {
            Item::ArrayOfTables(tables) => drop(tables.remove(*index)),
            other => drop(other.as_array_mut()?.remove(*index)),
        },
        (Step::Key(key), false) if item.get(key).is_some() => remove(item.get_mut(key)?, rest)?,
        (Step::Index(index), false) if *index < length(item) => remove(item.get_mut(index)?, rest)?,
        _ => {}
    }
    Some(())
}

/// Number of entries of a list.
fn length(item: &Item) -> usize {
    match item {
        Item::ArrayOfTables(tables) => tables.len(),
        other => other.as_array().map_or(0, Array::len),
    }
}

/// Reason why a list of nodes cannot express a generated topology, if there is one.
fn cannot_list_nodes(config: &Config) -> Option<EditProblem> {
    if !config.topology.wires.is_empty() {
        Some(EditProblem::Wires)
    } else if !config.topology.radios.are_one_each() {
        Some(EditProblem::Radios)
    } else if config.mobility.moves() {
        Some(EditProblem::Motion)
    } else {
        None
    }
}

/// Nodes as inline tables, one per line.
fn nodes(topology: &TopologyConfig) -> Array {
    let mut list = Array::new();
    for node in &topology.nodes {
        let mut entry = InlineTable::new();
        entry.insert("name", node.name.as_str().into());
        if let Some(position) = node.position {
            let position: Array = position.map(|metres| format!("{metres} m")).into_iter().collect();
            entry.insert("position", position.into());
        }
        if let Some(base) = node.base {
            entry.insert("base", topology.nodes[base.index()].name.as_str().into());
        }
        if let Some(DataRate::Bits(rate)) = node.data_rate {
            entry.insert("data_rate", format!("{} b/s", rate.bps()).into());
        }
        list.push_formatted(Value::InlineTable(entry).decorated("\n    ", ""));
    }
    list.set_trailing_comma(true);
    list.set_trailing("\n");
    list
}

/// A flow of a pattern as a table, with traffic and times from the table of the pattern.
fn listed_flow(topology: &TopologyConfig, flow: &FlowConfig, traffic: &Item) -> Table {
    let name = |node: NodeId| topology.nodes[topology.radios.node_of(node).index()].name.as_str();
    let mut table = Table::new();
    table.insert("from", name(flow.source).into());
    table.insert("to", name(flow.destination).into());
    for key in ["scheme", "app", "start", "start_jitter", "stop"] {
        if let Some(same) = traffic.get(key) {
            table.insert(key, same.clone());
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    const TEXT: &str = r#"# A chain.
duration = "10 s"   # not long
[topology]
nodes = [
    { name = "a", position = ["0 m", "0 m"] },   # here
    { name = "b", position = ["9 m", "0 m"] },
]
[[flows]]
from = "a"
to = "b"
scheme = "udp"
"#;

    fn edited(path: &str, value: Option<&str>) -> String {
        let edits = [Edit { path: path.into(), value: value.map(str::to_owned) }];
        edit(TEXT, "file", &edits).unwrap()
    }

    #[test]
    fn an_edit_changes_nothing_but_its_value() {
        let moved = edited("topology.nodes[0].position", Some("[\"3.5 m\", \"-1 m\"]"));
        assert_eq!(moved, TEXT.replacen("[\"0 m\", \"0 m\"]", "[\"3.5 m\", \"-1 m\"]", 1));
        assert_eq!(edited("duration", Some("\"20 s\"")), TEXT.replace("10 s", "20 s"));
    }

    #[test]
    fn missing_tables_and_entries_are_created() {
        assert!(edited("mac.queue", Some("5")).ends_with("\n[mac]\nqueue = 5\n"));
        let app = edited("flows[0].app.kind", Some("\"bulk\""));
        assert_eq!(values(&app, "file").unwrap()["flows"][0]["app"]["kind"], "bulk");
        let flow = edited("flows[1].from", Some("\"b\""));
        assert_eq!(values(&flow, "file").unwrap()["flows"][1]["from"], "b");
        let node = edited("topology.nodes[2]", Some("{ name = \"c\" }"));
        assert_eq!(values(&node, "file").unwrap()["topology"]["nodes"][2]["name"], "c");
    }

    #[test]
    fn a_removal_changes_nothing_else() {
        assert_eq!(edited("flows[0].scheme", None), TEXT.replace("scheme = \"udp\"\n", ""));
        assert!(!edited("topology.nodes[1]", None).contains("\"b\", position"));
        assert_eq!(edited("phy.standard", None), TEXT);
    }

    #[test]
    fn impossible_edits_are_refused() {
        let wrong = |path: &str, value: &str| {
            let edits = [Edit { path: path.into(), value: Some(value.into()) }];
            edit(TEXT, "file", &edits).unwrap_err().to_string()
        };
        assert!(wrong("duration.x", "1").contains("duration.x: the path leads through a value"));
        assert!(wrong("mac.queue", "= 5").contains("mac.queue: the new value is not TOML"));
        assert!(wrong("a b", "1").contains("not a path to a key"));
        assert!(wrong("topology.nodes[7].name", "1").contains("leads through a value"));
        let broken = edit("duration = ", "file", &[]).unwrap_err().to_string();
        assert!(broken.starts_with("file:1: syntax: "), "{broken}");
    }

    #[test]
    fn listing_a_scenario_keeps_its_hash() {
        let generated = r#"
name = "x"
duration = "10 s"
[topology]
generator = "wlan"
clients = 2
radius = "10 m"
rates = ["11 Mb/s", "1 Mb/s"]
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
[traffic]
pattern = "canonical"
scheme = "tcp-newreno"
start_jitter = "1 s"
"#;
        let hash = |text: &str| resolve(text, "file", &Overrides::default()).unwrap().hash;
        let listed = list(generated, "file").unwrap();
        assert_eq!(hash(&listed), hash(generated), "{listed}");
        assert!(!listed.contains("generator") && !listed.contains("[traffic]"), "{listed}");
        assert_eq!(list(&listed, "file").unwrap(), listed);
    }

    #[test]
    fn scenarios_that_a_list_cannot_express_are_refused() {
        let text = r#"
duration = "9 s"
[topology]
generator = "dumbbell"
pairs = 1
rate = "10 Mb/s"
delay = "10 ms"
access_rates = ["100 Mb/s"]
access_delays = ["5 ms"]
[traffic]
pattern = "canonical"
scheme = "tcp-newreno"
"#;
        let error = list(text, "file").unwrap_err().to_string();
        assert!(error.contains("the generator makes wires"), "{error}");
    }
}
