//! From TOML to the types of the model, keeping the path and the place of whatever does not fit.
//!
//! It exists because serde's own way to distinguish alternatives by a tag (`model = "ranges"`) copies the table into a buffer
//! first, and with that loses where things are. Here an enum is read in one of two ways:
//!
//! * from a text: the variant of that name;
//! * from a table: the variant that the value of its tag names, see [`TAGS`], with the rest of the table as its fields.

use crate::document::{KeyPath, Step};
use crate::error::{instead_of, shorten};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Which key of a table names the variant of which enum, and the variant that a table without the key is, if it may lack it.
const TAGS: &[(&str, &str, Option<&str>)] = &[
    ("App", "kind", None),
    ("Generator", "generator", None),
    ("Measure", "estimator", None),
    ("Medium", "model", None),
    ("Mobility", "model", None),
    ("PathLossModel", "model", None),
    ("Routing", "protocol", Some("static")),
];

/// The enum whose variant is `generator` if the table has that key, and `nodes` otherwise.
const TOPOLOGY: &str = "Topology";

/// What does not fit, and where.
#[derive(Debug)]
pub(crate) struct ReadError {
    /// The key.
    pub(crate) path: KeyPath,
    /// Byte offset into the text.
    pub(crate) offset: Option<usize>,
    /// What was found.
    pub(crate) found: String,
    /// What would do.
    pub(crate) remedy: String,
}

/// Reads a `T`.
pub(crate) fn read<T: DeserializeOwned>(root: &Spanned<DeTable<'_>>) -> Result<T, ReadError> {
    let fields = Fields::new(root.get_ref(), None, root.span().start);
    let mut result = T::deserialize(Table(fields));
    if let Err(error) = &mut result {
        error.path.0.reverse(); // steps were added from the inside out
    }
    result
}

impl ReadError {
    fn new(found: impl Into<String>, remedy: impl Into<String>) -> ReadError {
        ReadError { path: KeyPath::default(), offset: None, found: found.into(), remedy: remedy.into() }
    }

    fn under(mut self, step: impl Into<Step>, offset: usize) -> ReadError {
        self.path.0.push(step.into());
        self.offset.get_or_insert(offset);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found, self.remedy)
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> ReadError {
        // The messages of quantities already have the form "what was found; what would do".
        let message = message.to_string();
        let (found, remedy) = message.split_once("; ").unwrap_or((&message, "see `multihop schema`"));
        ReadError::new(found, remedy)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        let found = match unexpected {
            Unexpected::Str(text) => format!("found the text {:?}", shorten(text)),
            Unexpected::Signed(n) => format!("found the number {n}"),
            Unexpected::Unsigned(n) => format!("found the number {n}"),
            Unexpected::Float(n) => format!("found the number {n}"),
            Unexpected::Bool(b) => format!("found {b}"),
            Unexpected::Map => "found a table".into(),
            Unexpected::Seq => "found a list".into(),
            other => format!("found {other}"),
        };
        let expected = expected.to_string();
        let expected = match expected.as_str() {
            "u32" => "a whole number from 0 to 4294967295",
            "u64" => "a whole number, not negative",
            "f64" => "a number",
            "a boolean" => "true or false",
            "a string" => "text in quotes",
            "a sequence" => "a list: [[name]] tables, or [...]",
            "an array of length 2" => "a list of two",
            other if other.starts_with("struct ") => "a table",
            "a map" => "a table",
            other => other,
        };
        ReadError::new(found, format!("expected {expected}"))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> ReadError {
        let error = ReadError::invalid_type(Unexpected::Seq, expected);
        ReadError { found: format!("found a list of {length}"), ..error }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> ReadError {
        let _ = field; // the path ends with it
        let remedy = match expected {
            [] => "remove it: nothing may stand here".into(),
            _ => instead_of(field, expected.iter().copied()),
        };
        ReadError::new("unknown key", remedy)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> ReadError {
        ReadError::new(
            format!("unknown name {:?}", shorten(variant)),
            instead_of(variant, expected.iter().copied()),
        )
    }

    fn missing_field(field: &'static str) -> ReadError {
        let mut error =
            ReadError::new("missing", format!("add it, for example {field} = {}", example(field)));
        error.path.0.push(field.into());
        error
    }
}

/// A value for the message about a key that is missing.
fn example(field: &str) -> &'static str {
    match field {
        "duration" => "\"100 s\"",
        "topology" => "{ generator = \"chain\", hops = 7 }",
        "generator" => "\"chain\"",
        "pattern" => "\"random-pairs\"",
        "model" => "\"ranges\"",
        "protocol" => "\"dsdv\"",
        "kind" => "\"saturated\"",
        "estimator" => "\"rt-winf\"",
        "quantity" => "\"delivery\"",
        "rate" => "\"500 kb/s\"",
        "packet" => "\"1000 B\"",
        "size" => "\"1 MB\"",
        "side" => "\"1000 m\"",
        "between" => "[\"n0\", \"n1\"]",
        "delay" => "\"10 ms\"",
        "deadline" => "\"400 ms\"",
        "packet_error_rate" => "0.1",
        "from" | "name" => "\"n0\"",
        "to" => "\"n1\"",
        _ => "5",
    }
}

type Key<'i> = Spanned<Cow<'i, str>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// The entries of a table, less its tag.
struct Fields<'t, 'i> {
    entries: std::vec::IntoIter<(&'t Key<'i>, &'t Value<'i>)>,
    current: Option<(&'t Key<'i>, &'t Value<'i>)>,
    offset: usize,
}

impl<'t, 'i> Fields<'t, 'i> {
    fn new(table: &'t DeTable<'i>, tag: Option<&str>, offset: usize) -> Fields<'t, 'i> {
        let mut entries: Vec<_> =
            table.iter().filter(|(key, _)| Some(key.get_ref().as_ref()) != tag).collect();
        entries.sort_by_key(|(key, _)| key.span().start); // the first mistake in the file is reported first
        Fields { entries: entries.into_iter(), current: None, offset }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.current = self.entries.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        let name: &str = key.get_ref();
        let text: StrDeserializer<'_, ReadError> = name.into_deserializer();
        seed.deserialize(text).map(Some).map_err(|error| error.under(name, key.span().start))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let (key, value) = self.current.expect("serde asks for a key before its value");
        let name: &str = key.get_ref();
        seed.deserialize(Node(value)).map_err(|error| error.under(name, key.span().start))
    }
}

/// A table as a whole.
struct Table<'t, 'i>(Fields<'t, 'i>);

impl<'de> Deserializer<'de> for Table<'_, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let offset = self.0.offset;
        visitor.visit_map(self.0).map_err(|mut error| {
            error.offset.get_or_insert(offset); // a missing key is missing from here
            error
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The elements of a list.
struct Elements<'t, 'i>(std::iter::Enumerate<std::slice::Iter<'t, Value<'i>>>);

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some((index, value)) = self.0.next() else { return Ok(None) };
        seed.deserialize(Node(value)).map(Some).map_err(|error| error.under(index, value.span().start))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// A value of any kind.
struct Node<'t, 'i>(&'t Value<'i>);

impl<'t, 'i> Node<'t, 'i> {
    fn table(&self, table: &'t DeTable<'i>, tag: Option<&str>) -> Table<'t, 'i> {
        Table(Fields::new(table, tag, self.0.span().start))
    }
}

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(number) => {
                let digits = number.as_str();
                if let Ok(value) = u64::from_str_radix(digits, number.radix()) {
                    return visitor.visit_u64(value);
                }
                let value = i64::from_str_radix(digits, number.radix()).map_err(|_| {
                    ReadError::new(
                        format!("{} does not fit", shorten(digits)),
                        "whole numbers have at most 64 bits",
                    )
                })?;
                visitor.visit_i64(value)
            }
            DeValue::Float(number) => {
                let value: f64 = number.as_str().parse().map_err(|_| {
                    ReadError::new(
                        format!("{} is not a number", shorten(number.as_str())),
                        "write a number such as 0.5",
                    )
                })?;
                visitor.visit_f64(value)
            }
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Datetime(value) => Err(ReadError::new(
                format!("found the date {value}"),
                "dates do not occur in scenarios; put text in quotes",
            )),
            DeValue::Array(elements) => visitor.visit_seq(Elements(elements.iter().enumerate())),
            DeValue::Table(table) => self.table(table, None).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let known = TAGS.iter().find(|(tagged, ..)| *tagged == name);
        let (tag, default) = known.map_or((None, None), |(_, tag, default)| (Some(*tag), *default));
        match (self.0.get_ref(), tag) {
            (DeValue::String(variant), None) => {
                visitor.visit_enum(Variant { name: variant, key: None, content: Content::Nothing })
            }
            (DeValue::Table(table), None) if name == TOPOLOGY => {
                if !table.contains_key("generator") {
                    return visitor.visit_enum(Variant {
                        name: "nodes",
                        key: None,
                        content: Content::Whole(self),
                    });
                }
                let lists = ["nodes", "links"].into_iter().filter_map(|key| table.get_key_value(key));
                if let Some((key, _)) = lists.into_iter().find(|(_, value)| value.get_ref().is_array()) {
                    let error = ReadError::new(
                        format!("there are a generator and a list of {}", key.get_ref()),
                        "remove one of the two",
                    );
                    return Err(error.under(key.get_ref().as_ref(), key.span().start));
                }
                visitor.visit_enum(Variant { name: "generator", key: None, content: Content::Whole(self) })
            }
            (DeValue::Table(table), Some(tag)) => {
                let start = self.0.span().start;
                let Some((key, value)) = table.get_key_value(tag) else {
                    if let Some(name) = default {
                        let content = Content::Fields(self.table(table, None));
                        return visitor.visit_enum(Variant { name, key: None, content });
                    }
                    let mut error = ReadError::new(
                        "missing",
                        format!(
                            "add it, for example {tag} = {}; known: {}",
                            example(tag),
                            variants.join(", ")
                        ),
                    );
                    error.path.0.push(tag.into());
                    error.offset = Some(start);
                    return Err(error);
                };
                let key = (tag, key.span().start);
                let DeValue::String(variant) = value.get_ref() else {
                    let error =
                        wrong_kind(value.get_ref(), &format!("one of the texts {}", variants.join(", ")));
                    return Err(error.under(key.0, key.1));
                };
                let content = Content::Fields(self.table(table, Some(tag)));
                visitor.visit_enum(Variant { name: variant, key: Some(key), content })
            }
            (other, Some(tag)) => {
                let known = variants.join(", ");
                Err(wrong_kind(
                    other,
                    &format!("a table such as {{ {tag} = {} }} (known: {known})", example(tag)),
                ))
            }
            (other, None) if name == TOPOLOGY => Err(wrong_kind(other, "a table")),
            (other, None) => Err(wrong_kind(other, &format!("one of the texts {}", variants.join(", ")))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// The message that a value is of the wrong kind altogether.
fn wrong_kind(value: &DeValue<'_>, expected: &str) -> ReadError {
    ReadError::new(format!("found a value of the kind {}", value.type_str()), format!("expected {expected}"))
}

/// A variant of an enum, with what it holds.
struct Variant<'t, 'i> {
    name: &'t str,
    key: Option<(&'static str, usize)>,
    content: Content<'t, 'i>,
}

/// What a variant holds.
enum Content<'t, 'i> {
    /// It is a text.
    Nothing,
    /// The table less its tag.
    Fields(Table<'t, 'i>),
    /// The table with the key that named the variant.
    Whole(Node<'t, 'i>),
}

impl<'de, 't, 'i> EnumAccess<'de> for Variant<'t, 'i> {
    type Error = ReadError;
    type Variant = Content<'t, 'i>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'t, 'i>), ReadError> {
        let name: StrDeserializer<'_, ReadError> = self.name.into_deserializer();
        let value = seed.deserialize(name).map_err(|error| match self.key {
            Some((key, offset)) => error.under(key, offset),
            None => error,
        })?;
        Ok((value, self.content))
    }
}

impl<'de> VariantAccess<'de> for Content<'_, '_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self {
            Content::Nothing => Ok(()),
            Content::Fields(table) => Nothing::deserialize(table).map(|Nothing {}| ()),
            Content::Whole(node) => Nothing::deserialize(node).map(|Nothing {}| ()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        match self {
            Content::Nothing => Err(ReadError::new("found a text", "expected a table")),
            Content::Fields(table) => seed.deserialize(table),
            Content::Whole(node) => seed.deserialize(node),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self {
            Content::Nothing => Err(ReadError::new("found a text", "expected a table")),
            Content::Fields(table) => table.deserialize_any(visitor),
            Content::Whole(node) => node.deserialize_any(visitor),
        }
    }
}

/// The fields of a variant without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}
