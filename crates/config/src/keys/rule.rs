//! Rules for values of keys, read from a JSON Schema, and checks of values against them.

use super::defaults::leave_out_nothing;
use crate::parameter_error::{Found, Kind, ParameterError, Wanted};
use crate::quantity::Quantity;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value, json};
use std::fmt;

/// Returns the JSON Schema of a type, without references.
pub fn schema_of<T: JsonSchema>() -> Value {
    made::<T>(SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true))
}

/// Returns the JSON Schema of a type, with references to the schemas of its parts.
pub fn schema_with_references<T: JsonSchema>() -> Value {
    made::<T>(SchemaSettings::draft2020_12())
}

fn made<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with_transform(RecursiveTransform(leave_out_nothing));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Rules of a table: the values that each of its keys may have.
#[derive(Clone, Debug)]
pub struct Rules {
    schema: Value,
}

/// Rule for the value of one key. Several kinds of values may be allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    nothing: bool,
    truth: bool,
    whole: bool,
    number: bool,
    text: bool,
    list: bool,
    table: bool,
    words: Vec<String>,
    quantity: Option<&'static Quantity>,
    least: Option<Value>,
    excludes_least: bool,
    most: Option<Value>,
    excludes_most: bool,
    /// Whether whole numbers are limited to 32 bits.
    is_short: bool,
}

impl Rules {
    /// Returns the rules of a struct that is read from a table.
    pub fn of<T: JsonSchema>() -> Rules {
        let mut schema = schema_of::<T>();
        schema["additionalProperties"] = json!(false);
        Rules { schema }
    }

    /// Returns the JSON Schema of the table.
    pub fn into_schema(self) -> Value {
        self.schema
    }

    /// Returns the keys of the table.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let properties = self.schema["properties"].as_object();
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// Returns the rule of a key; none for an unknown key.
    pub fn rule(&self, key: &str) -> Option<Rule> {
        Some(Rule::of(self.schema["properties"].get(key)?))
    }

    /// Returns the default of a key; none if it has no default or one that depends on other keys.
    pub fn default_of(&self, key: &str) -> Option<&Value> {
        self.schema["properties"].get(key)?.get("default")
    }

    /// Checks that each key is known and that its value is of the right kind and in range. `name` names the
    /// table in messages.
    ///
    /// # Errors
    /// Names the key, the value found and a remedy.
    pub fn check(&self, name: &'static str, given: &Map<String, Value>) -> Result<(), ParameterError> {
        given.iter().try_for_each(|(key, value)| {
            let checked = match self.rule(key) {
                None => {
                    let known = self.keys().map(str::to_owned).collect();
                    Err((Found::UnknownParameter(name), Wanted::Known(key.clone(), known)))
                }
                Some(rule) => rule.check(value),
            };
            checked.map_err(|(found, wanted)| ParameterError { parameter: Some(key.clone()), found, wanted })
        })
    }

    /// Reads a table from these values. A key that is left out has its default.
    ///
    /// # Errors
    /// Same as [`Rules::check`].
    pub fn read<T: DeserializeOwned>(
        &self,
        name: &'static str,
        given: &Map<String, Value>,
    ) -> Result<T, ParameterError> {
        self.check(name, given)?;
        let read = |given: Map<String, Value>| serde_json::from_value::<T>(Value::Object(given));
        read(given.clone()).map_err(|error| {
            // All parameters have defaults, so each can be read alone to find the one that fails.
            let alone = |(key, value): &(&String, &Value)| {
                read(Map::from_iter([((*key).clone(), (*value).clone())])).is_err()
            };
            ParameterError {
                parameter: given.iter().find(alone).map(|(key, _)| key.clone()),
                found: Found::Said(error.to_string()),
                wanted: Wanted::Schema,
            }
        })
    }
}

impl Rule {
    /// Returns the rule of a schema without references.
    pub fn of(schema: &Value) -> Rule {
        let mut rule = Rule::default();
        rule.collect(schema);
        rule
    }

    /// Whether the value may be a number, with or without a unit.
    pub fn has_numbers(&self) -> bool {
        self.whole || self.number || self.quantity.is_some()
    }

    /// Whether the rule limits values more than their type does.
    pub fn is_bounded(&self) -> bool {
        self.most.is_some() || self.least.as_ref().is_some_and(|least| *least != json!(0))
    }

    /// Whether the value is in the range. Values that are not numbers always are.
    pub fn is_in_range(&self, value: &Value) -> bool {
        let value = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => self.quantity.and_then(|quantity| quantity.parse(text).ok()),
            _ => None,
        };
        value.is_none_or(|value| self.contains(value))
    }

    /// Whether two values are equal, whatever units they are written in.
    pub fn is_same_value(&self, one: &Value, other: &Value) -> bool {
        let size = |value: &Value| self.quantity?.parse(value.as_str()?).ok();
        one == other || size(one).is_some_and(|one| size(other) == Some(one))
    }

    /// Adds the values that a schema allows.
    fn collect(&mut self, schema: &Value) {
        let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for alternative in ["anyOf", "oneOf", "allOf"].iter().flat_map(|key| each(&schema[key])) {
            self.collect(&alternative);
        }
        let words = each(&schema["enum"]).into_iter().chain(schema.get("const").cloned());
        let before = self.words.len();
        self.words.extend(words.filter_map(|word| word.as_str().map(str::to_owned)));
        let has_words = self.words.len() > before;
        if let Some(name) = schema["x-quantity"].as_str() {
            self.quantity = Quantity::named(name);
        }
        let types = match &schema["type"] {
            Value::String(one) => vec![one.clone()],
            types => each(types).iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        };
        for one in types {
            match one.as_str() {
                "null" => self.nothing = true,
                "boolean" => self.truth = true,
                "integer" => self.whole = true,
                "number" => self.number = true,
                "string" => self.text |= !has_words && self.quantity.is_none(),
                "array" => self.list = true,
                _ => self.table = true,
            }
        }
        self.is_short |= schema["format"] == "uint32";
        for keyword in ["minimum", "x-minimum", "exclusiveMinimum"] {
            if let Some(least) = schema.get(keyword) {
                (self.least, self.excludes_least) = (Some(least.clone()), keyword == "exclusiveMinimum");
            }
        }
        for keyword in ["maximum", "x-maximum", "exclusiveMaximum"] {
            if let Some(most) = schema.get(keyword) {
                (self.most, self.excludes_most) = (Some(most.clone()), keyword == "exclusiveMaximum");
            }
        }
    }

    /// Checks that the value is of an allowed kind and in its range.
    ///
    /// # Errors
    /// Returns the value found and a remedy.
    pub fn check(&self, value: &Value) -> Result<(), (Found, Wanted)> {
        match value {
            Value::Number(number) if self.number || (self.whole && self.fits_type(number)) => {
                self.within(number.as_f64().unwrap_or(f64::NAN), value)
            }
            Value::String(text) if self.words.contains(text) => Ok(()),
            Value::String(text) if self.quantity.is_some() || !self.words.is_empty() => self.read(text),
            Value::Null if self.nothing => Ok(()),
            Value::Bool(_) if self.truth => Ok(()),
            Value::String(_) if self.text => Ok(()),
            Value::Array(_) if self.list => Ok(()),
            Value::Object(_) if self.table => Ok(()),
            other => Err((found(other), Wanted::Value(Kind::Ruled(Box::new(self.clone()))))),
        }
    }

    /// Checks a text that is not one of the allowed words.
    fn read(&self, text: &str) -> Result<(), (Found, Wanted)> {
        let unknown = || Found::UnknownName(text.to_owned());
        let Some(quantity) = self.quantity else {
            return Err((unknown(), Wanted::Known(text.to_owned(), self.words.clone())));
        };
        match quantity.parse(text) {
            // Bytes are indivisible.
            Ok(size) if self.contains(size) && quantity.is_whole() && size.fract() != 0.0 => {
                Err((Found::Text(text.to_owned()), Wanted::WholeBytes))
            }
            Ok(value) => self.within(value, &json!(text)),
            Err(misread) if self.words.is_empty() => {
                Err((Found::Said(misread.found), Wanted::Value(Kind::Said(misread.wanted))))
            }
            Err(misread) => {
                let is_number =
                    text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
                let found = if is_number { Found::Said(misread.found) } else { unknown() };
                Err((
                    found,
                    Wanted::KnownOr(
                        text.to_owned(),
                        self.words.clone(),
                        Box::new(Kind::Said(misread.wanted)),
                    ),
                ))
            }
        }
    }

    /// Whether the type of the key can hold this whole number.
    fn fits_type(&self, number: &Number) -> bool {
        number.as_u64().is_some_and(|number| !self.is_short || u32::try_from(number).is_ok())
    }

    fn within(&self, value: f64, written: &Value) -> Result<(), (Found, Wanted)> {
        if self.contains(value) {
            return Ok(());
        }
        Err((Found::OutOfRange(written.to_string()), Wanted::Within(Box::new(self.clone()))))
    }

    /// Whether this number, in base units, is in the range.
    fn contains(&self, value: f64) -> bool {
        let bound = |bound: &Option<Value>| match bound.as_ref()? {
            Value::String(text) => self.quantity?.parse(text).ok(),
            number => number.as_f64(),
        };
        let above = bound(&self.least)
            .is_none_or(|least| if self.excludes_least { least < value } else { least <= value });
        above
            && bound(&self.most)
                .is_none_or(|most| if self.excludes_most { value < most } else { value <= most })
    }

    /// Returns the range in words, such as "from 1 to 1000"; empty if there is none.
    pub fn range(&self) -> String {
        let shown = |bound: &Value| match bound {
            Value::String(text) => text.clone(),
            // Written as in a file: 1 and not 1.0.
            number => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        };
        let range = match (self.least.as_ref().map(shown), self.most.as_ref().map(shown)) {
            (Some(least), Some(most)) if self.excludes_least => format!("above {least}, up to {most}"),
            (Some(least), Some(most)) if self.excludes_most => format!("from {least} to below {most}"),
            (Some(least), Some(most)) => format!("from {least} to {most}"),
            (Some(least), None) => format!("of at least {least}"),
            (None, Some(most)) => format!("up to {most}"),
            (None, None) => return String::new(),
        };
        // A word such as "off" is allowed besides the range.
        let words: Vec<String> = self.words.iter().map(|word| format!("{word:?}")).collect();
        if words.is_empty() { range } else { format!("{range} (or {})", words.join(", ")) }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = Some(self.range()).filter(|range| !range.is_empty()).map(|range| format!(" {range}"));
        let range = range.unwrap_or_default();
        let mut kinds = Vec::new();
        if self.number {
            kinds.push(format!("a number{range}"));
        } else if self.whole && self.is_short && self.most.is_none() {
            kinds.push(format!(
                "a whole number from {} to {}",
                self.least.as_ref().unwrap_or(&json!(0)),
                u32::MAX
            ));
        } else if self.whole {
            kinds.push(format!("a whole number{range}"));
        }
        if self.truth {
            kinds.push("true or false".into());
        }
        if !self.words.is_empty() {
            kinds.push(format!("one of the texts {}", self.words.join(", ")));
        }
        if let Some(quantity) = self.quantity {
            kinds.push(format!(
                "{quantity}{}",
                if range.is_empty() { String::new() } else { format!(",{range}") }
            ));
        }
        if self.text {
            kinds.push("text in quotes".into());
        }
        if self.list {
            kinds.push("a list".into());
        }
        if self.table {
            kinds.push("a table".into());
        }
        f.write_str(&kinds.join(", or "))
    }
}

/// Describes a value of the wrong kind.
fn found(value: &Value) -> Found {
    match value {
        Value::Null => Found::Nothing,
        Value::Bool(truth) => Found::Truth(*truth),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Found::Unsigned(number),
            (None, Some(number)) => Found::Signed(number),
            _ => Found::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Found::Text(text.clone()),
        Value::Array(list) => Found::List(list.len()),
        Value::Object(_) => Found::Table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{BitRate, Duration, Size};
    use serde::{Deserialize, Serialize};

    #[derive(Default, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Flavour {
        #[default]
        Rfc,
        Ns2,
        Linux,
    }

    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Method {
        PhyRate,
        Model,
    }

    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(untagged)]
    pub enum Source {
        Named(Method),
        Rate(BitRate),
    }

    crate::keys! {
        /// Table with a key of each kind.
        #[derive(Deserialize, JsonSchema, Serialize)]
        pub struct Each {
            /// A whole number.
            pub count: u32 [1, 1000] = 2,
            /// A weight.
            pub weight: f64 [above 0, 1] = 0.5,
            /// An optional time.
            pub time: Option<Duration> ["1 ms", "1 min"],
            /// A size.
            pub size: Size ["1 B", "1 kB"] = Size(10.0),
            /// Source of the capacity.
            pub capacity: Option<Source> ["8 b/s", "16 Gb/s"],
            /// Flavour of the transport.
            pub flavour: Flavour,
            /// A truth value.
            pub truth: bool,
        }
    }

    fn checked(given: &Value) -> Result<(), String> {
        let rules = Rules::of::<Each>();
        rules.check("each", given.as_object().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn values_pass_up_to_the_bounds() {
        for given in [
            json!({ "count": 1 }),
            json!({ "count": 1000 }),
            json!({ "weight": 1 }),
            json!({ "weight": 1e-9 }),
            json!({ "time": "1 ms" }),
            json!({ "time": "60 s" }),
            json!({ "time": null }),
            json!({ "size": "1000 B" }),
            json!({ "capacity": "model" }),
            json!({ "capacity": "2 Mb/s" }),
            json!({ "flavour": "ns2", "truth": true }),
        ] {
            assert_eq!(checked(&given), Ok(()), "{given}");
        }
    }

    #[test]
    fn other_values_are_refused_with_a_remedy() {
        let kinds =
            "a time as text with a unit (s, ms, us, µs, ns, min, h), such as \"1 s\", from 1 ms to 1 min";
        for (given, expected) in [
            (json!({ "count": 0 }), "count: 0 is out of range; give a value from 1 to 1000"),
            (json!({ "count": 1.5 }), "count: found the number 1.5; expected a whole number from 1 to 1000"),
            (json!({ "count": -1 }), "count: found the number -1; expected a whole number from 1 to 1000"),
            (json!({ "weight": 0 }), "weight: 0 is out of range; give a value above 0, up to 1"),
            (
                json!({ "weight": "low" }),
                "weight: found the text \"low\"; expected a number above 0, up to 1",
            ),
            (json!({ "weight": null }), "weight: found nothing; expected a number above 0, up to 1"),
            (json!({ "time": 1 }), &format!("time: found the number 1; expected {kinds}")),
            (json!({ "time": "61 s" }), "time: \"61 s\" is out of range; give a value from 1 ms to 1 min"),
            (
                json!({ "time": "1 kg" }),
                "time: \"kg\" in \"1 kg\" is not a unit of a time; expected a time: a number",
            ),
            (json!({ "size": "1.5 B" }), "size: found the text \"1.5 B\"; give a whole number of bytes"),
            (
                json!({ "capacity": "modl" }),
                "capacity: unknown name \"modl\"; did you mean \"model\"? known: phy-rate,",
            ),
            (
                json!({ "capacity": "1 b/s" }),
                "capacity: \"1 b/s\" is out of range; give a value from 8 b/s to 16 Gb/s",
            ),
            (
                json!({ "flavour": "ns3" }),
                "flavour: unknown name \"ns3\"; did you mean \"ns2\"? known: rfc, ns2, linux",
            ),
            (json!({ "truth": 1 }), "truth: found the number 1; expected true or false"),
            (
                json!({ "cuont": 1 }),
                "cuont: unknown parameter of each; did you mean \"count\"? known: capacity,",
            ),
        ] {
            let error = checked(&given).unwrap_err();
            assert!(error.starts_with(expected), "{given}: {error}");
        }
    }
}
