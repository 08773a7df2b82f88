//! Reduces a scenario that breaks a law: removes all values that the failure does not need.

use super::mend::{Step, at, remove};
use serde_json::Value;

/// Maximum number of calls of `fails`.
const ROUNDS_MAX: usize = 400;

/// The smallest scenario found that still fails in the same way.
pub fn shrink(scenario: &Value, fails: impl Fn(&Value) -> bool) -> Value {
    let mut best = scenario.clone();
    let mut asked = 0;
    loop {
        let mut paths = Vec::new();
        walk(&best, &mut Vec::new(), &mut paths);
        let smaller = paths.iter().find_map(|path| {
            let mut candidate = best.clone();
            let changed = remove(&mut candidate, path);
            asked += 1;
            (changed && asked <= ROUNDS_MAX && fails(&candidate)).then_some(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Paths of all values, the outer ones first.
fn walk(value: &Value, here: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let children: Vec<Step> = match value {
        Value::Object(table) => table.keys().cloned().map(Step::Key).collect(),
        Value::Array(list) => (0..list.len()).map(Step::Place).collect(),
        _ => Vec::new(),
    };
    for step in &children {
        here.push(step.clone());
        paths.push(here.clone());
        here.pop();
    }
    for step in children {
        here.push(step);
        let mut value = value.clone();
        if let Some(child) = at(&mut value, &here[here.len() - 1..]) {
            walk(&child.clone(), here, paths);
        }
        here.pop();
    }
}

#[test]
fn values_that_the_failure_does_not_need_are_removed() {
    let scenario = serde_json::json!({ "a": 1, "b": { "c": [1, 2, 3], "d": true }, "e": [] });
    let needs = |value: &Value| value["b"]["c"].as_array().is_some_and(|list| list.contains(&2.into()));
    assert_eq!(shrink(&scenario, needs), serde_json::json!({ "b": { "c": [2] } }));
}
