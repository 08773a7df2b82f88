//! What was found where something else would do: values, of which the sentences are made here.

use crate::keys::Rule;
use multihop_core::{instead_of, shorten};
use std::fmt;

/// A parameter that does not do: which, what was found, and what would do. Shown, it is a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter, if it is one alone.
    pub parameter: Option<String>,
    /// What was found.
    pub found: Found,
    /// What would do.
    pub wanted: Wanted,
}

impl ParameterError {
    /// What was found of a parameter, and what would do.
    pub fn new(parameter: &str, found: Found, wanted: Wanted) -> ParameterError {
        ParameterError { parameter: Some(parameter.to_owned()), found, wanted }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parameter) = &self.parameter {
            write!(f, "{parameter}: ")?;
        }
        write!(f, "{}; {}", self.found, self.wanted)
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Nothing: the key is missing.
    Missing,
    /// A key that is not known; the path ends with it.
    UnknownKey,
    /// A parameter that this scheme does not have.
    UnknownParameter(&'static str),
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
    /// A value outside its range, as it is written.
    OutOfRange(String),
    /// Null, which stands for nothing.
    Nothing,
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
    /// A number that is infinite, too large, or none, as it is written.
    NotFinite(String),
    /// A date, as it is written.
    Date(String),
    /// A generator, and a list under this key.
    GeneratorAnd(String),
    /// A value that has no effect with that of another parameter.
    NoEffect(Box<Clash>),
    /// A value that has no effect without another parameter.
    NoEffectWithout(Box<(String, &'static str)>),
    /// A value that is above that of another parameter.
    Above(Box<Clash>),
    /// A value that is not above that of another parameter.
    NotAbove(Box<Clash>),
    /// A value that does not exist with that of another parameter.
    NotWith(Box<Clash>),
    /// A value that is not between those of two other parameters.
    NotBetween(Box<[Clash; 2]>),
    /// What the reader of a quantity says.
    Said(String),
}

/// A value that does not go with that of another parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    /// The value.
    pub value: String,
    /// The other parameter.
    pub with: &'static str,
    /// Its value.
    pub other: String,
}

impl Clash {
    /// The value, the other parameter, and its value, as they are written.
    pub fn new(value: impl fmt::Display, with: &'static str, other: impl fmt::Display) -> Box<Clash> {
        Box::new(Clash { value: value.to_string(), with, other: other.to_string() })
    }
}

/// What would do.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A value of this kind.
    Value(Kind),
    /// One of the known names instead of this.
    Known(String, Vec<String>),
    /// One of the known names instead of this, or a value of a kind.
    KnownOr(String, Vec<String>, Box<Kind>),
    /// A value within its range, as the rule says.
    Within(Box<Rule>),
    /// A whole number of bytes.
    WholeBytes,
    /// No key at all.
    NoKey,
    /// No such key any more, for this reason.
    Remove(&'static str),
    /// The key, with a value for example.
    Key(&'static str, &'static str),
    /// The key that says which of these a table is, with a value for example.
    Tag(&'static str, &'static str, &'static [&'static str]),
    /// One of two keys.
    OneOfTwo,
    /// At most 64 bits.
    Bits,
    /// A number as TOML has them.
    PlainNumber,
    /// Text.
    Quotes,
    /// A multiple of this.
    MultipleOf(u32),
    /// None, or another parameter with such a value.
    LeaveOutOr(&'static str, &'static str),
    /// None: the scheme of this name has it always.
    LeaveOutOf(&'static str),
    /// None: routers of the scheme have feedback of their own.
    LeaveOutFeedback,
    /// One of these.
    OneOf(&'static str),
    /// A value from the one to the other.
    Between(f64, f64),
    /// At most this.
    AtMost(String),
    /// A value between those of two other parameters, or others of these.
    BetweenOrMove,
    /// A higher value, or a lower one of another parameter.
    RaiseOrLower(&'static str),
    /// What the schema says.
    Schema,
}

/// A kind of value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A whole number up to this one.
    Whole(u32),
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
    /// A table whose tag, with a value for example, names one of these.
    Tagged(&'static str, &'static str, &'static [&'static str]),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// What the schema of a key says.
    Ruled(Box<Rule>),
    /// What a quantity's own reader says.
    Said(String),
}

impl Kind {
    /// Is what was found of this kind?
    pub fn fits(&self, found: &Found) -> bool {
        match self {
            Kind::Whole(most) => matches!(found, Found::Unsigned(number) if *number <= u64::from(*most)),
            Kind::Whole64 => matches!(found, Found::Unsigned(_)),
            Kind::Number => matches!(found, Found::Unsigned(_) | Found::Signed(_) | Found::Float(_)),
            Kind::Truth => matches!(found, Found::Truth(_)),
            Kind::Text | Kind::OneOf(_) | Kind::Ruled(_) | Kind::Said(_) => matches!(found, Found::Text(_)),
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
            Found::UnknownParameter(scheme) => write!(f, "unknown parameter of {scheme}"),
            Found::UnknownName(name) => write!(f, "unknown name {:?}", shorten(name)),
            Found::Text(text) => write!(f, "found the text {:?}", shorten(text)),
            Found::Unsigned(number) => write!(f, "found the number {number}"),
            Found::Signed(number) => write!(f, "found the number {number}"),
            Found::Float(number) => write!(f, "found the number {number}"),
            Found::OutOfRange(written) => write!(f, "{written} is out of range"),
            Found::Nothing => f.write_str("found nothing"),
            Found::Truth(value) => write!(f, "found {value}"),
            Found::List(_) => f.write_str("found a list"),
            Found::ListOf(length) => write!(f, "found a list of {length}"),
            Found::Table => f.write_str("found a table"),
            Found::Kind(kind) => write!(f, "found a value of the kind {kind}"),
            Found::TooLong(digits) => write!(f, "{} does not fit", shorten(digits)),
            Found::NoNumber(text) => write!(f, "{} is not a number", shorten(text)),
            Found::NotFinite(text) => write!(f, "{} is not a finite number", shorten(text)),
            Found::Date(date) => write!(f, "found the date {date}"),
            Found::GeneratorAnd(key) => write!(f, "there are a generator and a list of {key}"),
            Found::NoEffect(clash) => {
                write!(f, "{} has no effect with {} = {}", clash.value, clash.with, clash.other)
            }
            Found::NoEffectWithout(without) => write!(f, "{} has no effect without {}", without.0, without.1),
            Found::Above(clash) => write!(f, "{} is above {} ({})", clash.value, clash.with, clash.other),
            Found::NotWith(clash) => write!(f, "{} is none of {} = {}", clash.value, clash.with, clash.other),
            Found::NotBetween(ends) => {
                let [low, high] = &**ends;
                write!(f, "{} is not between {} ({}) ", low.value, low.with, low.other)?;
                write!(f, "and {} ({})", high.with, high.other)
            }
            Found::NotAbove(clash) => {
                write!(f, "{} is not above {} ({})", clash.value, clash.with, clash.other)
            }
            Found::Said(said) => f.write_str(said),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Value(kind) => write!(f, "expected {kind}"),
            Wanted::Known(name, known) => f.write_str(&instead_of(name, known)),
            Wanted::KnownOr(name, known, kind) => write!(f, "{}; or {kind}", instead_of(name, known)),
            Wanted::Within(rule) => write!(f, "give a value {}", rule.range()),
            Wanted::WholeBytes => f.write_str("give a whole number of bytes"),
            Wanted::NoKey => f.write_str("remove it: nothing may stand here"),
            Wanted::Remove(why) => write!(f, "remove it: {why}"),
            Wanted::Key(key, example) => write!(f, "add it, for example {key} = {example}"),
            Wanted::Tag(tag, example, known) => {
                write!(f, "{}; known: {}", Wanted::Key(tag, example), known.join(", "))
            }
            Wanted::OneOfTwo => f.write_str("remove one of the two"),
            Wanted::Bits => f.write_str("whole numbers have at most 64 bits"),
            Wanted::PlainNumber => f.write_str("write a number such as 0.5"),
            Wanted::Quotes => f.write_str("dates do not occur in scenarios; put text in quotes"),
            Wanted::MultipleOf(unit) => write!(f, "give a multiple of {unit}"),
            Wanted::LeaveOutOr(key, value) => write!(f, "leave it out, or set {key} = {value}"),
            Wanted::LeaveOutOf(scheme) => write!(f, "{scheme} needs it, so leave it out"),
            Wanted::LeaveOutFeedback => {
                f.write_str("routers of this scheme have feedback of their own, so leave it out")
            }
            Wanted::OneOf(names) => write!(f, "give {names}"),
            Wanted::Between(low, high) => write!(f, "give a value from {low} to {high}"),
            Wanted::AtMost(most) => write!(f, "make it at most {most}"),
            Wanted::BetweenOrMove => f.write_str("give a value between them, or move them"),
            Wanted::RaiseOrLower(key) => write!(f, "raise it, or lower {key}"),
            Wanted::Schema => f.write_str("see `multihop schema`"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole(most) => write!(f, "a whole number from 0 to {most}"),
            Kind::Whole64 => f.write_str("a whole number, not negative"),
            Kind::Number => f.write_str("a number"),
            Kind::Truth => f.write_str("true or false"),
            Kind::Text => f.write_str("text in quotes"),
            Kind::List => f.write_str("a list: [[name]] tables, or [...]"),
            Kind::ListOf(2) => f.write_str("a list of two"),
            Kind::ListOf(count) => write!(f, "a list of {count}"),
            Kind::Table => f.write_str("a table"),
            Kind::Tagged(tag, example, known) => {
                write!(f, "a table such as {{ {tag} = {example} }} (known: {})", known.join(", "))
            }
            Kind::OneOf(known) => write!(f, "one of the texts {}", known.join(", ")),
            Kind::Ruled(rule) => rule.fmt(f),
            Kind::Said(said) => f.write_str(said),
        }
    }
}
