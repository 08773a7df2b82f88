//! Makes refused scenarios valid, guided by the message. This finds the edges of ranges that are not in the
//! schema.

use super::draw::Draw;
use multihop_core::Rng;
use multihop_scenario::{Problem, ScenarioError, TopologyProblem};
use serde_json::Value;

/// Step of a path: a key, or an index in a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Key of a table.
    Key(String),
    /// Index in a list.
    Place(usize),
}

/// Steps of a path as messages show it, such as `flows[1].stop` or `schemes."my recn".threshold`.
pub fn steps(path: &str) -> Vec<Step> {
    let mut made = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').unwrap_or(quoted.len());
            made.push(Step::Key(quoted[..end].into()));
            rest = quoted[end..].trim_start_matches('"');
        } else if let Some(place) = rest.strip_prefix('[') {
            let end = place.find(']').unwrap_or(place.len());
            made.push(Step::Place(place[..end].parse().unwrap_or(0)));
            rest = place[end..].trim_start_matches(']');
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            made.push(Step::Key(rest[..end].into()));
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches('.');
    }
    made
}

/// The value at these steps.
pub fn at<'a>(root: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Place(place) => value.get_mut(place),
    })
}

/// Removes the value at these steps. Returns whether there was one.
pub fn remove(root: &mut Value, steps: &[Step]) -> bool {
    let Some((last, before)) = steps.split_last() else { return false };
    match (at(root, before), last) {
        (Some(Value::Object(table)), Step::Key(key)) => table.remove(key).is_some(),
        (Some(Value::Array(list)), Step::Place(place)) if *place < list.len() => {
            list.remove(*place);
            true
        }
        _ => false,
    }
}

/// Changes the refused value to an edge of its range, removes it, or draws its whole table again.
pub fn mend(scenario: &mut Value, error: &ScenarioError, draw: &Draw, rng: &mut Rng) {
    let mut path = steps(&error.key);
    let (found, remedy) = (error.found(), error.remedy());
    let edges = edges(&remedy);
    if let (Some(value), Some((low, high))) = (at(scenario, &path), edges) {
        let edge = if rng.below(2) == 0 { low } else { high };
        let edge = match value {
            Value::String(_) => Some(Value::from(edge)),
            Value::Number(number) if number.is_f64() => edge.parse::<f64>().ok().map(Value::from),
            _ => edge.parse::<i64>().ok().map(Value::from),
        };
        if let Some(edge) = edge.filter(|edge| edge != value) {
            *value = edge;
            return;
        }
    }
    if let (Some(Value::String(value)), Some(most)) = (at(scenario, &path), at_most(&remedy)) {
        *value = most.into();
        return;
    }
    let known = ["known: ", "its rates: "].iter().find_map(|list| remedy.split_once(list));
    let known = known.map(|(_, names)| names.split(", ").collect::<Vec<_>>());
    let no_path = matches!(
        *error.problem,
        Problem::Topology(
            TopologyProblem::NoPath { .. }
                | TopologyProblem::NoPathBecause { .. }
                | TopologyProblem::NoPathAtRate { .. },
        )
    );
    // The range of the medium may be too short for any topology.
    let reaches = scenario["medium"].is_null() || scenario["medium"]["model"] == "matrix";
    if no_path && !reaches && rng.below(2) == 0 {
        return draw.redraw(rng, scenario, "medium");
    }
    if no_path || known.as_ref().is_some_and(|known| known.len() == 1) {
        return draw.redraw(rng, scenario, "topology");
    }
    if let (Some(Value::String(value)), Some(known)) = (at(scenario, &path), known) {
        *value = known[rng.below(known.len() as u32) as usize].into();
        return;
    }
    if let Some(Value::String(value)) = at(scenario, &path)
        && value.starts_with('n')
        && rng.below(8) > 0
    {
        *value = format!("n{}", rng.below(3)); // another node
        return;
    }
    let tags = ["model", "protocol", "generator", "pattern"].map(|tag| Step::Key(tag.into()));
    let other_table = path.last().is_some_and(|last| tags.contains(last))
        || ["missing", "unknown key"].iter().any(|start| found.starts_with(start));
    if other_table || rng.below(4) == 0 {
        path.truncate(1);
    }
    // A problem with a missing key is a problem of the table around it.
    while path.len() > 1 {
        if remove(scenario, &path) {
            return;
        }
        path.pop();
    }
    if let Some(Step::Key(key)) = path.pop() {
        let needed = matches!(key.as_str(), "topology" | "flows");
        if !needed && rng.below(2) == 0 && remove(scenario, &[Step::Key(key.clone())]) {
            return;
        }
        draw.redraw(rng, scenario, &key);
    }
}

/// Ends of the range in `give a value from 0 s to 1 ms`.
fn edges(remedy: &str) -> Option<(&str, &str)> {
    let (low, rest) = remedy.split_once("from ")?.1.split_once(" to ")?;
    let high = rest.split([';', '(', ',']).next().unwrap_or(rest);
    Some((low.trim(), high.trim()))
}

/// End of the range in `give at most 640 B, or set mac.rules`.
fn at_most(remedy: &str) -> Option<&str> {
    let rest = remedy.split_once("give at most ")?.1;
    Some(rest.split([';', '(', ',']).next().unwrap_or(rest).trim())
}

#[test]
fn paths_and_ranges_are_read_from_messages() {
    let path = steps("flows[1].\"my recn\".stop");
    let key = |key: &str| Step::Key(key.into());
    assert_eq!(path, [key("flows"), Step::Place(1), key("my recn"), key("stop")]);
    assert_eq!(edges("give a value from 0 B to 65535 B (or \"off\")"), Some(("0 B", "65535 B")));
    assert_eq!(edges("remove it"), None);
    assert_eq!(at_most("give at most 640 B, or set mac.rules"), Some("640 B"));
}
