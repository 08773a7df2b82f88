//! Problems with any key.

use super::{instead_of, problems};
use multihop_config::keys::Rule;
use std::fmt;

problems! {
    /// Problem with any key.
    KeyProblem:

    Missing { key: &'static str, example: &'static str } =>
        "missing";
        "add it, for example {key} = {example}";
    OutOfRange { range: Interval } =>
        "VALUE is out of range";
        "give a value {range}";
    NoEffect { key: &'static str, value: String, instead: &'static str } =>
        "VALUE has no effect with {key} = {value:?}";
        "remove it, or set {key} = {instead}";
    GivenTogether { other: &'static str } =>
        "VALUE is given together with {other}";
        "remove one of the two";
    Unknown { what: ItemKind, name: String, known: Vec<String> } =>
        "VALUE is not a {what}";
        "{}", instead_of(name, known);
    EmptyName =>
        "VALUE is an empty name";
        "give it a name";
    EmptyList =>
        "VALUE is an empty list";
        "name at least one, or remove the key";
    NameTaken { name: String, by: String } =>
        "{name:?} is already the name of {by}";
        "names must differ; give one of the two another";
    ListedTwice =>
        "VALUE is listed twice";
        "list each once";
    Loop { what: ConnectionKind, node: String } =>
        "a {what} from {node:?} to itself";
        "name another node, or remove the {what}";
    Above { key: &'static str, value: String, other: &'static str, limit: String } =>
        "{key} {value} is above {other} {limit}";
        "lower {key}, or raise {other}";
    TooMany { count: u64, what: LimitedKind, most: u64 } =>
        "{count} {what} are too many";
        "at most {most} are simulated";
}

/// Range of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// From one value to another, as written in a file.
    Between(String, String),
    /// Range of the schema.
    Rule(Box<Rule>),
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::Between(least, most) => write!(f, "from {least} to {most}"),
            Interval::Rule(rule) => f.write_str(&rule.range()),
        }
    }
}

/// Defines an enum whose variants have a word each.
macro_rules! words {
    ($(#[$about:meta])* $name:ident: $($variant:ident => $word:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($name::$variant => $word,)*
                })
            }
        }
    };
}

words! {
    /// Kind of item that a name refers to.
    ItemKind:
    Flow => "flow",
    Node => "node",
    Scheme => "scheme",
}

words! {
    /// Kind of connection between two nodes.
    ConnectionKind:
    Flow => "flow",
    Link => "link",
    Wire => "wire",
}

words! {
    /// Kind of item with a maximum number.
    LimitedKind:
    Flows => "flows",
    Nodes => "nodes",
}
