//! Values of keys that are a word or a quantity.

use multihop_config::quantity::{Duration, ParseError};
use multihop_core::Dscp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Quantity, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Switch<T> {
    /// `"off"`.
    Off,
    /// Quantity.
    At(T),
}

/// Propagation delay: a duration, or `"distance"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Distance over the speed of light.
    Distance,
    /// Equal delay between any two nodes.
    Same(Duration),
}

/// Maximum number, or `"none"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// `"none"`.
    None,
    /// Maximum number.
    At(u32),
}

/// Differentiated services codepoint: a number, or a name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Codepoint(pub Dscp);

/// Duration in seconds, parsed from text such as `"100 ms"`.
///
/// # Errors
/// A sentence, if the text is not a duration with a unit.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse().map(|Duration(seconds)| seconds).map_err(|misread: ParseError| misread.to_string())
}

/// Visitor for a quantity, or a word that stands for none.
struct WordOr<T>(&'static str, PhantomData<T>);

impl<T: FromStr<Err = ParseError>> Visitor<'_> for WordOr<T> {
    type Value = Option<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity = "x".parse::<T>().map_or_else(|misread| misread.wanted, |_| "a quantity".into());
        write!(f, "\"{}\", or as text {quantity}", self.0)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.0 {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|ParseError { found, wanted }| {
            ParseError { found, wanted: format!("{wanted}, or \"{}\"", self.0) }.error()
        })
    }
}

impl<T> Switch<T> {
    /// The quantity; none for `"off"`.
    pub(crate) fn at(self) -> Option<T> {
        match self {
            Switch::Off => None,
            Switch::At(value) => Some(value),
        }
    }
}

impl<'de, T: FromStr<Err = ParseError>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Switch<T>, D::Error> {
        let value = deserializer.deserialize_str(WordOr("off", PhantomData))?;
        Ok(value.map_or(Switch::Off, Switch::At))
    }
}

impl Default for Delay {
    /// One microsecond, in which light travels 300 m.
    fn default() -> Delay {
        Delay::Same(Duration(1e-6))
    }
}

impl Serialize for Delay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Delay::Distance => serializer.serialize_str("distance"),
            Delay::Same(delay) => delay.serialize(serializer),
        }
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
                    Err(E::invalid_value(Unexpected::Str(text), &self))
                }
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<Limit, E> {
                let error = || E::invalid_value(Unexpected::Unsigned(count), &self);
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

impl Codepoint {
    /// Codepoint of packets without one.
    pub(crate) const BEST_EFFORT: Codepoint = Codepoint(Dscp::BEST_EFFORT);

    /// Whether this is the codepoint of packets without one.
    #[allow(clippy::trivially_copy_pass_by_ref)] // signature that serde requires
    pub(crate) fn is_default(&self) -> bool {
        *self == Codepoint::BEST_EFFORT
    }
}

impl<'de> Deserialize<'de> for Codepoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Codepoint, D::Error> {
        struct NumberOrName;
        impl Visitor<'_> for NumberOrName {
            type Value = Codepoint;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 63, or a name such as \"EF\", \"AF41\" or \"CS1\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Codepoint, E> {
                let known = Dscp::NAMED.into_iter().find(|(name, _)| *name == text);
                let error = || E::invalid_value(Unexpected::Str(text), &self);
                known.map(|(_, dscp)| Codepoint(dscp)).ok_or_else(error)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Codepoint, E> {
                let known = u8::try_from(number).ok().and_then(Dscp::new);
                known.map(Codepoint).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }
        deserializer.deserialize_any(NumberOrName)
    }
}

impl Serialize for Codepoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0.number())
    }
}

impl JsonSchema for Codepoint {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Codepoint".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Dscp::NAMED.map(|(name, _)| name);
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 63 }, { "enum": names }] })
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
    /// The limit in the engine's type; none for no limit.
    pub fn get(self) -> Option<u32> {
        match self {
            Limit::None => None,
            Limit::At(count) => Some(count),
        }
    }
}
