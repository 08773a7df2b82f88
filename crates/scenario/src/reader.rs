//! Deserializes TOML to the types of the model, and reports errors with the path and place of a value.
//!
//! serde's own deserialization of tagged enums (`model = "ranges"`) copies the table to a buffer, and thereby
//! loses the places of values. This reader reads an enum in one of two ways:
//!
//! * from a text: the variant of that name;
//! * from a table: the variant named by the value of its tag, see [`TAGS`], with the other keys of the table
//!   as its fields.

use crate::document::{KeyPath, Step};
use multihop_config::parameter_error::{Found, Kind, Wanted};
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

/// Enums with a tag: name of the enum, key of the tag, and the variant of a table without the tag, if the tag
/// is optional.
const TAGS: &[(&str, &str, Option<&str>)] = &[
    ("App", "kind", None),
    ("Generator", "generator", None),
    ("Measure", "estimator", None),
    ("Medium", "model", None),
    ("Mobility", "model", None),
    ("PathLossModel", "model", None),
    ("Routing", "protocol", Some("static")),
];

/// Enum whose variant is `generator` if the table has that key, and `nodes` otherwise.
const TOPOLOGY: &str = "Topology";

/// Value that does not fit the model, with its place.
#[derive(Debug)]
pub(crate) struct ReadError {
    /// Path of the key.
    pub(crate) path: KeyPath,
    /// Byte offset in the text.
    pub(crate) offset: Option<usize>,
    /// What was found.
    pub(crate) found: Found,
    /// What would be valid instead.
    pub(crate) wanted: Box<Wanted>,
}

/// Deserializes a `T`.
pub(crate) fn read<T: DeserializeOwned>(root: &Spanned<DeTable<'_>>) -> Result<T, ReadError> {
    let fields = Fields::new(root.get_ref(), None, root.span().start);
    let mut result = T::deserialize(Table(fields));
    if let Err(error) = &mut result {
        error.path.0.reverse(); // steps were added from the innermost to the outermost
    }
    result
}

impl ReadError {
    fn new(found: Found, wanted: Wanted) -> ReadError {
        ReadError { path: KeyPath::default(), offset: None, found, wanted: Box::new(wanted) }
    }

    fn under(mut self, step: impl Into<Step>, offset: usize) -> ReadError {
        self.path.0.push(step.into());
        self.offset.get_or_insert(offset);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found, self.wanted)
    }
}

impl std::error::Error for ReadError {}

/// Errors of visitors. serde's visitors are called only if the kind of the value is right: see
/// [`Node::expect`]. The other errors are those of quantities, whose texts are kept.
impl Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> ReadError {
        ReadError::new(Found::Said(message.to_string()), Wanted::Schema)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        let found = match unexpected {
            Unexpected::Str(text) => Found::Text(text.to_owned()),
            Unexpected::Signed(number) => Found::Signed(number),
            Unexpected::Unsigned(number) => Found::Unsigned(number),
            Unexpected::Float(number) => Found::Float(number),
            Unexpected::Bool(value) => Found::Truth(value),
            Unexpected::Map => Found::Table,
            Unexpected::Seq => Found::List(0),
            Unexpected::Other(said) => Found::Said(said.to_owned()),
            other => Found::Said(format!("found {other}")),
        };
        ReadError::new(found, Wanted::Value(Kind::Said(expected.to_string())))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::invalid_type(unexpected, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> ReadError {
        let wanted = match expected {
            [] => Wanted::NoKey,
            _ => known(field, expected),
        };
        ReadError::new(Found::UnknownKey, wanted)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> ReadError {
        ReadError::new(Found::UnknownName(variant.to_owned()), known(variant, expected))
    }

    fn missing_field(field: &'static str) -> ReadError {
        let mut error = ReadError::new(Found::Missing, Wanted::Key(field, example(field)));
        error.path.0.push(field.into());
        error
    }
}

type Key<'i> = Spanned<Cow<'i, str>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// Entries of a table without its tag.
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

/// Table without a tag of its own.
struct Table<'t, 'i>(Fields<'t, 'i>);

impl<'de> Deserializer<'de> for Table<'_, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let offset = self.0.offset;
        visitor.visit_map(self.0).map_err(|mut error| {
            error.offset.get_or_insert(offset); // place of a missing key
            error
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Elements of a list.
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

/// Value of any kind.
struct Node<'t, 'i>(&'t Value<'i>);

impl<'t, 'i> Node<'t, 'i> {
    fn table(&self, table: &'t DeTable<'i>, tag: Option<&str>) -> Table<'t, 'i> {
        Table(Fields::new(table, tag, self.0.span().start))
    }

    /// Kind of the value for messages. Refuses values that no key can have.
    fn found(&self) -> Result<Found, ReadError> {
        Ok(match self.0.get_ref() {
            DeValue::String(text) => Found::Text(text.to_string()),
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                let unsigned = u64::from_str_radix(digits, radix).map(Found::Unsigned);
                unsigned
                    .or_else(|_| i64::from_str_radix(digits, radix).map(Found::Signed))
                    .map_err(|_| ReadError::new(Found::TooLong(digits.to_owned()), Wanted::Bits))?
            }
            DeValue::Float(number) => {
                let no_number = || Found::NoNumber(number.as_str().to_owned());
                let value = number.as_str().parse();
                let value: f64 = value.map_err(|_| ReadError::new(no_number(), Wanted::PlainNumber))?;
                if !value.is_finite() {
                    // No key of a scenario accepts it, and the JSON of a scheme's parameters cannot express
                    // it.
                    let found = Found::NotFinite(number.as_str().to_owned());
                    return Err(ReadError::new(found, Wanted::PlainNumber));
                }
                Found::Float(value)
            }
            DeValue::Boolean(value) => Found::Truth(*value),
            DeValue::Datetime(value) => {
                return Err(ReadError::new(Found::Date(value.to_string()), Wanted::Quotes));
            }
            DeValue::Array(elements) => Found::List(elements.len()),
            DeValue::Table(_) => Found::Table,
        })
    }

    /// Passes a value of this kind to the visitor, and refuses others.
    fn expect<'de, V: Visitor<'de>>(self, kind: Kind, visitor: V) -> Result<V::Value, ReadError> {
        match self.found()? {
            found if kind.fits(&found) => self.deserialize_any(visitor),
            Found::List(length) if matches!(kind, Kind::ListOf(_)) => {
                Err(ReadError::new(Found::ListOf(length), Wanted::Value(kind)))
            }
            found => Err(ReadError::new(found, Wanted::Value(kind))),
        }
    }

    /// The error that the value is of the wrong kind.
    fn wrong_kind(&self, wanted: Kind) -> ReadError {
        ReadError::new(Found::Kind(self.0.get_ref().type_str()), Wanted::Value(wanted))
    }
}

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match (self.found()?, self.0.get_ref()) {
            (Found::Text(text), _) => visitor.visit_str(&text),
            (Found::Unsigned(number), _) => visitor.visit_u64(number),
            (Found::Signed(number), _) => visitor.visit_i64(number),
            (Found::Float(number), _) => visitor.visit_f64(number),
            (Found::Truth(value), _) => visitor.visit_bool(value),
            (_, DeValue::Array(elements)) => visitor.visit_seq(Elements(elements.iter().enumerate())),
            (_, DeValue::Table(table)) => self.table(table, None).deserialize_any(visitor),
            (found, _) => Err(ReadError::new(found, Wanted::Schema)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Truth, visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Whole(u32::from(u16::MAX)), visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Whole(u32::MAX), visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Whole64, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Number, visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Text, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::List, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::ListOf(count), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.expect(Kind::Table, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.expect(Kind::Table, visitor)
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
                    let found = Found::GeneratorAnd(key.get_ref().to_string());
                    let error = ReadError::new(found, Wanted::OneOfTwo);
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
                    let mut error = ReadError::new(Found::Missing, Wanted::Tag(tag, example(tag), variants));
                    error.path.0.push(tag.into());
                    error.offset = Some(start);
                    return Err(error);
                };
                let key = (tag, key.span().start);
                let DeValue::String(variant) = value.get_ref() else {
                    let error = Node(value).wrong_kind(Kind::OneOf(variants));
                    return Err(error.under(key.0, key.1));
                };
                let content = Content::Fields(self.table(table, Some(tag)));
                visitor.visit_enum(Variant { name: variant, key: Some(key), content })
            }
            (_, Some(tag)) => Err(self.wrong_kind(Kind::Tagged(tag, example(tag), variants))),
            (_, None) if name == TOPOLOGY => Err(self.wrong_kind(Kind::Table)),
            (_, None) => Err(self.wrong_kind(Kind::OneOf(variants))),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 f32 char str bytes byte_buf unit unit_struct tuple_struct identifier ignored_any
    }
}

/// Variant of an enum with its content.
struct Variant<'t, 'i> {
    name: &'t str,
    key: Option<(&'static str, usize)>,
    content: Content<'t, 'i>,
}

/// Content of a variant.
enum Content<'t, 'i> {
    /// None: the variant is a text.
    Nothing,
    /// Table without its tag.
    Fields(Table<'t, 'i>),
    /// Table with the key that selected the variant.
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
            Content::Nothing => Err(text_for_table()),
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
            Content::Nothing => Err(text_for_table()),
            Content::Fields(table) => table.deserialize_any(visitor),
            Content::Whole(node) => node.deserialize_any(visitor),
        }
    }
}

/// The error that a text stands for a variant with fields.
fn text_for_table() -> ReadError {
    ReadError::new(Found::Said("found a text".into()), Wanted::Value(Kind::Table))
}

/// Fields of a variant without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The names that serde accepts, for a message.
fn known(name: &str, known: &[&str]) -> Wanted {
    Wanted::Known(name.to_owned(), owned(known))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Example value for the message about a missing key.
fn example(field: &str) -> &'static str {
    match field {
        "duration" => "\"100 s\"",
        "topology" => "{ generator = \"chain\", hops = 7 }",
        "generator" => "\"chain\"",
        "pattern" => "\"random-pairs\"",
        "model" => "\"ranges\"",
        "protocol" => "\"dsdv\"",
        "kind" => "\"saturated\"",
        "algorithm" => "\"minstrel-ht\"",
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
