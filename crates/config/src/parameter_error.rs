//! Errors of parameters: the value found and a remedy. The `Display` implementations build the sentences.

use crate::keys::Rule;
use multihop_core::{instead_of, shorten};
use std::fmt;

/// Error of a parameter: its name, the value found and a remedy. `Display` shows one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// Name of the parameter; none if the error concerns several.
    pub parameter: Option<String>,
    /// Value or fault found.
    pub found: Found,
    /// Remedy, or the values that would be accepted.
    pub wanted: Wanted,
}

impl ParameterError {
    /// Creates an error of one parameter.
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

/// Value or fault found in place of an acceptable value.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Required key that is missing.
    Missing,
    /// Unknown key; the path of the error ends with it.
    UnknownKey,
    /// Parameter that the scheme of this name does not have.
    UnknownParameter(&'static str),
    /// Unknown name.
    UnknownName(String),
    /// Text.
    Text(String),
    /// Whole number.
    Unsigned(u64),
    /// Negative whole number.
    Signed(i64),
    /// Number that is not whole.
    Float(f64),
    /// Value outside its range, as written.
    OutOfRange(String),
    /// Null, which stands for a missing value.
    Nothing,
    /// `true` or `false`.
    Truth(bool),
    /// List of this length.
    List(usize),
    /// List of this length where another length is required.
    ListOf(usize),
    /// Table.
    Table,
    /// Value of this TOML type.
    Kind(&'static str),
    /// Whole number with too many digits, as written.
    TooLong(String),
    /// Text that is not a number, as written.
    NoNumber(String),
    /// Number that is infinite, too large or NaN, as written.
    NotFinite(String),
    /// Date, as written.
    Date(String),
    /// Generator and a list under this key, of which only one is allowed.
    GeneratorAnd(String),
    /// Value that has no effect with the value of another parameter.
    NoEffect(Box<Clash>),
    /// Value that has no effect without another parameter: the value, and the other parameter's name.
    NoEffectWithout(Box<(String, &'static str)>),
    /// Value above that of another parameter.
    Above(Box<Clash>),
    /// Value not above that of another parameter.
    NotAbove(Box<Clash>),
    /// Value that is not available with the value of another parameter.
    NotWith(Box<Clash>),
    /// Value that is not between those of two other parameters.
    NotBetween(Box<[Clash; 2]>),
    /// Message of the parser of a quantity.
    Said(String),
}

/// Value that conflicts with the value of another parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    /// Value of the parameter in error.
    pub value: String,
    /// Name of the other parameter.
    pub with: &'static str,
    /// Value of the other parameter.
    pub other: String,
}

impl Clash {
    /// Creates a conflict from the value, the other parameter's name and its value, as written.
    pub fn new(value: impl fmt::Display, with: &'static str, other: impl fmt::Display) -> Box<Clash> {
        Box::new(Clash { value: value.to_string(), with, other: other.to_string() })
    }
}

/// Remedy, or the values that would be accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Value of this kind.
    Value(Kind),
    /// One of the known names, in place of the given name.
    Known(String, Vec<String>),
    /// One of the known names, or a value of a kind, in place of the given name.
    KnownOr(String, Vec<String>, Box<Kind>),
    /// Value within the range of the rule.
    Within(Box<Rule>),
    /// Whole number of bytes.
    WholeBytes,
    /// Removal of the key.
    NoKey,
    /// Removal of a key that is no longer supported, with the reason.
    Remove(&'static str),
    /// The missing key, with an example of its value.
    Key(&'static str, &'static str),
    /// The missing key that selects the kind of a table, with an example and all kinds.
    Tag(&'static str, &'static str, &'static [&'static str]),
    /// Removal of one of two keys.
    OneOfTwo,
    /// Number of at most 64 bits.
    Bits,
    /// Number in plain TOML notation.
    PlainNumber,
    /// Text in quotes.
    Quotes,
    /// Multiple of this number.
    MultipleOf(u32),
    /// Removal of the parameter, or another parameter with this value.
    LeaveOutOr(&'static str, &'static str),
    /// Removal of the parameter, because the scheme of this name always sets it.
    LeaveOutOf(&'static str),
    /// Removal of the parameter, because the scheme's routers have their own feedback.
    LeaveOutFeedback,
    /// One of these values, in words.
    OneOf(&'static str),
    /// Value from the first number to the second.
    Between(f64, f64),
    /// Value of at most this.
    AtMost(String),
    /// Value between those of two other parameters, or a change of these.
    BetweenOrMove,
    /// Higher value, or a lower value of the named parameter.
    RaiseOrLower(&'static str),
    /// Value that conforms to the schema.
    Schema,
    /// Remedy in words.
    Said(String),
}

/// Kind of value that would be accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Whole number from 0 to this number.
    Whole(u32),
    /// Whole number of 64 bits.
    Whole64,
    /// Number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Text.
    Text,
    /// List.
    List,
    /// List of this length.
    ListOf(usize),
    /// Table.
    Table,
    /// Table with a tag key: the tag, an example of its value and all values.
    Tagged(&'static str, &'static str, &'static [&'static str]),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// Value that follows the rule of a key's schema.
    Ruled(Box<Rule>),
    /// Value described by the parser of a quantity.
    Said(String),
}

impl Kind {
    /// Whether the value found is of this kind.
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
            Found::NotWith(clash) => {
                write!(f, "{} is not available with {} = {}", clash.value, clash.with, clash.other)
            }
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
            Wanted::NoKey => f.write_str("remove it: no key is allowed here"),
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
            Wanted::BetweenOrMove => f.write_str("give a value between them, or change them"),
            Wanted::RaiseOrLower(key) => write!(f, "raise it, or lower {key}"),
            Wanted::Schema => f.write_str("see `multihop schema`"),
            Wanted::Said(remedy) => f.write_str(remedy),
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
