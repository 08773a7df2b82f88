//! Checks a file against the ranges of its keys. A range is defined at its key, and read here from the JSON
//! Schema.

use crate::Scenario;
use crate::document::{Document, KeyPath, Result, Step};
use crate::error::{Interval, KeyProblem};
use multihop_config::keys::{Rule, schema_of};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Ranges of a scenario's keys.
static SCENARIO: LazyLock<Ranges> =
    LazyLock::new(|| Ranges::of(&schema_of::<Scenario>()).unwrap_or_default());

/// Ranges at and below a path of a file. Values without a range are left out.
#[derive(Debug, Default)]
struct Ranges {
    /// Range of the value itself.
    own: Option<Rule>,
    /// Ranges of a table's entries.
    entries: BTreeMap<String, Ranges>,
    /// Ranges of a list's elements: of each by its index, or of all.
    elements: Vec<Ranges>,
    all_elements: Option<Box<Ranges>>,
    /// Forms that the value may have.
    forms: Vec<Form>,
}

/// Form of a table, such as a variant of an enum.
#[derive(Debug)]
struct Form {
    /// Values of the keys that identify the form.
    tags: Vec<(String, Value)>,
    /// Whether these keys may be absent.
    optional: bool,
    ranges: Ranges,
}

/// Refuses values that are out of their range.
///
/// # Errors
/// The first such value in the file, with its range.
pub(crate) fn check(document: &Document<'_>) -> Result<()> {
    SCENARIO.check_table(document, document.table(), &mut KeyPath::default())
}

/// Refuses values below one key of the document that are out of their range.
///
/// # Errors
/// Same as [`check`].
pub(crate) fn check_below(document: &Document<'_>, key: &str) -> Result<()> {
    match (SCENARIO.entries.get(key), document.table().get(key)) {
        (Some(ranges), Some(value)) => ranges.check(document, value, &mut KeyPath(vec![key.into()])),
        _ => Ok(()),
    }
}

impl Ranges {
    /// Ranges in a schema without references, if there are any.
    fn of(schema: &Value) -> Option<Ranges> {
        let rule = Rule::of(schema);
        let entries = schema["properties"].as_object().into_iter().flatten();
        let elements = schema["prefixItems"].as_array().into_iter().flatten();
        let elements: Vec<Option<Ranges>> = elements.map(Ranges::of).collect();
        let is_empty = elements.iter().all(Option::is_none);
        let forms = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
        let found = Ranges {
            own: rule.is_bounded().then_some(rule),
            entries: entries.filter_map(|(key, value)| Some((key.clone(), Ranges::of(value)?))).collect(),
            elements: if is_empty {
                Vec::new()
            } else {
                elements.into_iter().map(Option::unwrap_or_default).collect()
            },
            all_elements: schema.get("items").and_then(Ranges::of).map(Box::new),
            forms: forms.filter_map(Form::of).collect(),
        };
        (!found.is_empty()).then_some(found)
    }

    fn is_empty(&self) -> bool {
        self.own.is_none()
            && self.entries.is_empty()
            && self.elements.is_empty()
            && self.all_elements.is_none()
            && self.forms.is_empty()
    }

    fn check(&self, document: &Document<'_>, value: &Spanned<DeValue<'_>>, at: &mut KeyPath) -> Result<()> {
        match value.get_ref() {
            DeValue::Table(table) => self.check_table(document, table, at),
            DeValue::Array(list) => list.iter().enumerate().try_for_each(|(index, element)| {
                let forms = self.forms.iter().map(|form| &form.ranges);
                forms.chain([self]).try_for_each(|ranges| {
                    let within = ranges.elements.get(index).or(ranges.all_elements.as_deref());
                    within.map_or(Ok(()), |within| below(at, index, |at| within.check(document, element, at)))
                })
            }),
            plain => match &self.own {
                Some(rule) if !rule.is_in_range(&as_json(plain)) => {
                    let range = Interval::Rule(Box::new(rule.clone()));
                    Err(document.error(at, KeyProblem::OutOfRange { range }))
                }
                _ => Ok(()),
            },
        }
    }

    fn check_table(&self, document: &Document<'_>, table: &DeTable<'_>, at: &mut KeyPath) -> Result<()> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start); // the first mistake in the file is reported first
        entries.into_iter().try_for_each(|(key, value)| {
            let name: &Cow<'_, str> = key.get_ref();
            match self.entries.get(name.as_ref()) {
                Some(within) => below(at, name.as_ref(), |at| within.check(document, value, at)),
                None => Ok(()),
            }
        })?;
        let mut forms = self.forms.iter().filter(|form| form.matches(table));
        forms.try_for_each(|form| form.ranges.check_table(document, table, at))
    }
}

impl Form {
    fn of(schema: &Value) -> Option<Form> {
        let entries = schema["properties"].as_object().into_iter().flatten();
        let tags =
            entries.filter_map(|(key, value)| Some((key.clone(), value.get("const")?.clone()))).collect();
        let optional = schema["required"].as_array().is_none_or(Vec::is_empty);
        Some(Form { tags, optional, ranges: Ranges::of(schema)? })
    }

    /// Whether a table has this form.
    fn matches(&self, table: &DeTable<'_>) -> bool {
        self.tags.iter().all(|(key, tag)| {
            table.get(key.as_str()).map_or(self.optional, |value| as_json(value.get_ref()) == *tag)
        })
    }
}

/// Calls `check` with the path one step below.
fn below(
    at: &mut KeyPath,
    step: impl Into<Step>,
    check: impl FnOnce(&mut KeyPath) -> Result<()>,
) -> Result<()> {
    at.0.push(step.into());
    let result = check(at);
    at.0.pop();
    result
}

/// JSON of a value that is neither table nor list.
fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().ok()),
        DeValue::Boolean(truth) => json!(truth),
        _ => Value::Null,
    }
}
