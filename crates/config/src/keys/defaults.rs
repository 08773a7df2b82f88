//! Defaults of keys that may be left out. Their schemas take the defaults from the constants that the code
//! uses.

use schemars::Schema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// States the default of a key that may be left out.
pub fn usually(value: impl Serialize) -> impl FnMut(&mut Schema) {
    move |schema| drop(schema.insert("default".into(), json!(value)))
}

/// States the defaults of a key that may be left out, one for each named case. A null default means none.
pub fn usually_by(cases: Vec<(&'static str, Value)>) -> impl FnMut(&mut Schema) {
    move |schema| {
        let cases = cases.iter().map(|(case, value)| (*case, Some(value)));
        state_default(schema.ensure_object(), cases);
    }
}

/// States the default of a key that has an effect in one case only and is refused in all others.
pub fn default_if(case: &'static str, value: impl Serialize) -> impl FnMut(&mut Schema) {
    usually_by(vec![(case, json!(value)), OTHERWISE])
}

/// Case without a default, for all cases that are not named.
pub const OTHERWISE: (&str, Value) = ("otherwise", Value::Null);

/// Removes a null default from a schema, and nulls from a default that is a table. A null stands for a key
/// that is left out, which no file contains.
pub(super) fn leave_out_nothing(schema: &mut Schema) {
    match schema.get_mut("default") {
        Some(Value::Null) => drop(schema.remove("default")),
        Some(default) => leave_out_nulls(default),
        None => (),
    }
}

fn leave_out_nulls(value: &mut Value) {
    if let Value::Object(table) = value {
        table.retain(|_, value| !value.is_null());
        table.values_mut().for_each(leave_out_nulls);
    }
}

/// Writes the defaults of a key into its schema: as `default` if they are equal in all cases, else as a
/// sentence at the end of the description.
pub fn state_default<'a>(
    property: &mut Map<String, Value>,
    cases: impl Iterator<Item = (&'a str, Option<&'a Value>)>,
) {
    let mut groups: Vec<(Option<&Value>, Vec<&str>)> = Vec::new();
    for (case, value) in cases {
        match groups.iter_mut().find(|(other, _)| *other == value) {
            Some((_, same)) => same.push(case),
            None => groups.push((value, vec![case])),
        }
    }
    let sentence = match &groups[..] {
        [(Some(value), _)] => return drop(property.insert("default".into(), (*value).clone())),
        [(None, _)] => "Default none.".into(),
        several => sentence(several),
    };
    if let Some(description) = property.get_mut("description") {
        *description = format!("{} {sentence}", description.as_str().unwrap_or_default()).into();
    }
}

/// Returns a sentence such as `Default "1 s" (rfc, linux) or "3 s" (ns2).`
fn sentence(groups: &[(Option<&Value>, Vec<&str>)]) -> String {
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "none".into(),
        // Written as in a file: 1 and not 1.0.
        Some(Value::Number(number)) => number.as_f64().map_or_else(String::new, |number| number.to_string()),
        Some(other) => other.to_string(),
    };
    let shown: Vec<String> =
        groups.iter().map(|(value, cases)| format!("{} ({})", shown(*value), cases.join(", "))).collect();
    match &shown[..] {
        [before @ .., last] if !before.is_empty() => format!("Default {} or {last}.", before.join(", ")),
        few => format!("Default {}.", few.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the schema of a key described as "A time." with these defaults by flavour.
    fn stated(values: &[Option<Value>; 3]) -> Value {
        let mut property = json!({ "description": "A time." });
        let cases = ["rfc", "ns2", "linux"].into_iter().zip(values.iter().map(Option::as_ref));
        state_default(property.as_object_mut().unwrap(), cases);
        property
    }

    #[test]
    fn cases_with_equal_defaults_are_grouped() {
        let (second, three) = (Some(json!("1 s")), Some(json!("3 s")));
        let one = json!({ "description": "A time.", "default": "1 s" });
        assert_eq!(stated(&[second.clone(), second.clone(), second.clone()]), one);
        let said = |values: &[Option<Value>; 3]| stated(values)["description"].clone();
        assert_eq!(said(&[const { None }; 3]), "A time. Default none.");
        let two = "A time. Default \"1 s\" (rfc, linux) or \"3 s\" (ns2).";
        assert_eq!(said(&[second.clone(), three, second]), two);
        let numbers = [None, Some(json!(2.0)), Some(json!(10))];
        assert_eq!(said(&numbers), "A time. Default none (rfc), 2 (ns2) or 10 (linux).");
    }
}
