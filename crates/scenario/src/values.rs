//! Values that are either a word or a quantity.

use multihop_schemes::quantity::{Duration, Misread};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A quantity, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Switch<T> {
    /// `"off"`.
    Off,
    /// A quantity.
    At(T),
}

/// A propagation delay: a duration, or `"distance"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// That of light over the distance.
    Distance,
    /// The same between any two nodes.
    Same(Duration),
}

/// A count, or `"none"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// `"none"`.
    None,
    /// A count.
    At(u32),
}

/// A length of time in seconds, of text such as `"100 ms"`.
///
/// # Errors
/// A sentence, if it is none or has no unit.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse().map(|Duration(seconds)| seconds).map_err(|misread: Misread| misread.to_string())
}

/// Reads a quantity, or this word: none.
struct WordOr<T>(&'static str, PhantomData<T>);

impl<T: FromStr<Err = Misread>> Visitor<'_> for WordOr<T> {
    type Value = Option<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity = "x".parse::<T>().map_or_else(|misread| misread.wanted, |_| "a quantity".into());
        write!(f, "\"{}\", or as text {quantity}", self.0)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.0 {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|Misread { found, wanted }| {
            Misread { found, wanted: format!("{wanted}, or \"{}\"", self.0) }.error()
        })
    }
}

impl<T> Switch<T> {
    /// The quantity, if it is not `"off"`.
    pub(crate) fn at(self) -> Option<T> {
        match self {
            Switch::Off => None,
            Switch::At(value) => Some(value),
        }
    }
}

impl<'de, T: FromStr<Err = Misread>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Switch<T>, D::Error> {
        let value = deserializer.deserialize_str(WordOr("off", PhantomData))?;
        Ok(value.map_or(Switch::Off, Switch::At))
    }
}

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Delay, D::Error> {
        let value = deserializer.deserialize_str(WordOr("distance", PhantomData))?;
        Ok(value.map_or(Delay::Distance, Delay::Same))
    }
}

impl JsonSchema for Delay {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = generator.subschema_for::<Duration>();
        json_schema!({ "anyOf": [{ "const": "distance" }, duration] })
    }
}

impl<T: fmt::Display> Serialize for Switch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Switch::Off => serializer.serialize_str("off"),
            Switch::At(value) => serializer.collect_str(value),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Switch<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("SwitchOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "const": "off" }, quantity] })
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        struct Count;
        impl Visitor<'_> for Count {
            type Value = Limit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 1 to 255, or \"none\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                if text == "none" {
                    Ok(Limit::None)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                }
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<Limit, E> {
                let error = || E::invalid_value(serde::de::Unexpected::Unsigned(count), &self);
                u32::try_from(count)
                    .ok()
                    .filter(|count| (1..=255).contains(count))
                    .map(Limit::At)
                    .ok_or_else(error)
            }
        }
        deserializer.deserialize_any(Count)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Limit::None => serializer.serialize_str("none"),
            Limit::At(count) => serializer.serialize_u32(*count),
        }
    }
}

impl JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "none" }, { "type": "integer", "minimum": 1, "maximum": 255 }] })
    }
}

impl Limit {
    /// As the engine wants it.
    pub fn get(self) -> Option<u32> {
        match self {
            Limit::None => None,
            Limit::At(count) => Some(count),
        }
    }
}
