//! What was found where something else would do: values, of which the sentences are made here.

use crate::error::{instead_of, shorten};
use std::fmt;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// Nothing: the key is missing.
    Missing,
    /// A key that is not known; the path ends with it.
    UnknownKey,
    /// A name that is not known.
    UnknownName(String),
    /// A text.
    Text(String),
    /// A whole number.
    Unsigned(u64),
    /// A whole number below zero.
    Signed(i64),
    /// Any other number.
    Float(f64),
    /// `true` or `false`.
    Truth(bool),
    /// A list of so many.
    List(usize),
    /// A list of so many, where another number of them would do.
    ListOf(usize),
    /// A table.
    Table,
    /// A value of this kind of TOML.
    Kind(&'static str),
    /// A whole number that is too long, as it is written.
    TooLong(String),
    /// A number that is none, as it is written.
    NoNumber(String),
    /// A date, as it is written.
    Date(String),
    /// A generator, and a list under this key.
    GeneratorAnd(String),
    /// What a quantity's own reader says.
    Said(String),
}

/// What would do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// A value of this kind.
    Value(Kind),
    /// One of the known names instead of this.
    Known(String, &'static [&'static str]),
    /// No key at all.
    NoKey,
    /// The key.
    Key(&'static str),
    /// The key that says which of these a table is.
    Tag(&'static str, &'static [&'static str]),
    /// One of two keys.
    OneOfTwo,
    /// At most 64 bits.
    Bits,
    /// A number as TOML has them.
    PlainNumber,
    /// Text.
    Quotes,
    /// What the schema says.
    Schema,
}

/// A kind of value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A whole number of 32 bits.
    Whole32,
    /// A whole number of 64 bits.
    Whole64,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Text.
    Text,
    /// A list.
    List,
    /// A list of so many.
    ListOf(usize),
    /// A table.
    Table,
    /// A table whose tag names one of these.
    Tagged(&'static str, &'static [&'static str]),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// What a quantity's own reader says.
    Said(String),
}

impl Kind {
    /// Is what was found of this kind?
    pub(crate) fn fits(&self, found: &Found) -> bool {
        match self {
            Kind::Whole32 => matches!(found, Found::Unsigned(number) if u32::try_from(*number).is_ok()),
            Kind::Whole64 => matches!(found, Found::Unsigned(_)),
            Kind::Number => matches!(found, Found::Unsigned(_) | Found::Signed(_) | Found::Float(_)),
            Kind::Truth => matches!(found, Found::Truth(_)),
            Kind::Text | Kind::OneOf(_) | Kind::Said(_) => matches!(found, Found::Text(_)),
            Kind::List => matches!(found, Found::List(_)),
            Kind::ListOf(count) => matches!(found, Found::List(length) if length == count),
            Kind::Table | Kind::Tagged(..) => matches!(found, Found::Table),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Missing => f.write_str("missing"),
            Found::UnknownKey => f.write_str("unknown key"),
            Found::UnknownName(name) => write!(f, "unknown name {:?}", shorten(name)),
            Found::Text(text) => write!(f, "found the text {:?}", shorten(text)),
            Found::Unsigned(number) => write!(f, "found the number {number}"),
            Found::Signed(number) => write!(f, "found the number {number}"),
            Found::Float(number) => write!(f, "found the number {number}"),
            Found::Truth(value) => write!(f, "found {value}"),
            Found::List(_) => f.write_str("found a list"),
            Found::ListOf(length) => write!(f, "found a list of {length}"),
            Found::Table => f.write_str("found a table"),
            Found::Kind(kind) => write!(f, "found a value of the kind {kind}"),
            Found::TooLong(digits) => write!(f, "{} does not fit", shorten(digits)),
            Found::NoNumber(text) => write!(f, "{} is not a number", shorten(text)),
            Found::Date(date) => write!(f, "found the date {date}"),
            Found::GeneratorAnd(key) => write!(f, "there are a generator and a list of {key}"),
            Found::Said(said) => f.write_str(said),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Value(kind) => write!(f, "expected {kind}"),
            Wanted::Known(name, known) => f.write_str(&instead_of(name, known.iter().copied())),
            Wanted::NoKey => f.write_str("remove it: nothing may stand here"),
            Wanted::Key(key) => write!(f, "add it, for example {key} = {}", example(key)),
            Wanted::Tag(tag, known) => {
                write!(f, "{}; known: {}", Wanted::Key(tag), known.join(", "))
            }
            Wanted::OneOfTwo => f.write_str("remove one of the two"),
            Wanted::Bits => f.write_str("whole numbers have at most 64 bits"),
            Wanted::PlainNumber => f.write_str("write a number such as 0.5"),
            Wanted::Quotes => f.write_str("dates do not occur in scenarios; put text in quotes"),
            Wanted::Schema => f.write_str("see `multihop schema`"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole32 => f.write_str("a whole number from 0 to 4294967295"),
            Kind::Whole64 => f.write_str("a whole number, not negative"),
            Kind::Number => f.write_str("a number"),
            Kind::Truth => f.write_str("true or false"),
            Kind::Text => f.write_str("text in quotes"),
            Kind::List => f.write_str("a list: [[name]] tables, or [...]"),
            Kind::ListOf(2) => f.write_str("a list of two"),
            Kind::ListOf(count) => write!(f, "a list of {count}"),
            Kind::Table => f.write_str("a table"),
            Kind::Tagged(tag, known) => {
                write!(f, "a table such as {{ {tag} = {} }} (known: {})", example(tag), known.join(", "))
            }
            Kind::OneOf(known) => write!(f, "one of the texts {}", known.join(", ")),
            Kind::Said(said) => f.write_str(said),
        }
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
