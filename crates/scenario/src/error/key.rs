//! What can be wrong with any key.

use super::{instead_of, problems};
use multihop_config::keys::Rule;
use std::fmt;

problems! {
    /// What can be wrong with any key.
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
    Beside { other: &'static str } =>
        "VALUE is given beside {other}";
        "remove one of the two";
    Unknown { what: Named, name: String, known: Vec<String> } =>
        "VALUE is not a {what}";
        "{}", instead_of(name, known);
    EmptyName =>
        "VALUE is an empty name";
        "give it a name";
    EmptyList =>
        "VALUE is an empty list";
        "name at least one, or remove the key";
    Taken { name: String, by: String } =>
        "{name:?} is already the name of {by}";
        "names must differ; give one of the two another";
    Twice =>
        "VALUE is there twice";
        "name each once";
    Loop { what: Joined, node: String } =>
        "a {what} from {node:?} to itself";
        "name another node, or remove the {what}";
    Above { key: &'static str, value: String, other: &'static str, limit: String } =>
        "{key} {value} is above {other} {limit}";
        "lower {key}, or raise {other}";
    TooMany { count: u64, what: Limited, most: u64 } =>
        "{count} {what} are too many";
        "at most {most} are simulated";
}

/// The range of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// Between two values, as they are written.
    Between(String, String),
    /// As the schema says.
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

/// An enum whose variants have a word each.
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
    /// What a name stands for.
    Named:
    Flow => "flow",
    Node => "node",
    Scheme => "scheme",
}

words! {
    /// What joins two nodes.
    Joined:
    Flow => "flow",
    Link => "link",
    Wire => "wire",
}

words! {
    /// Of what there may only be so many.
    Limited:
    Flows => "flows",
    Nodes => "nodes",
}
