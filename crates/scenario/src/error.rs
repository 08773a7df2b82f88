//! The one error of scenarios.

use std::fmt;
use thiserror::Error;

pub(crate) use multihop_core::{first_of as list, instead_of, shorten};

/// What is wrong with a scenario, in one line: where, what was found, and what would do.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}: {found}; {remedy}", place.with(key))]
pub struct ScenarioError {
    /// The file, or the option of the command line.
    pub place: Place,
    /// Dotted path of the key, such as `flows[1].stop`.
    pub key: String,
    /// What was found, with the value.
    pub found: String,
    /// What would do instead.
    pub remedy: String,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line {
        /// The file, as the caller names it.
        origin: String,
        /// The line.
        line: usize,
    },
    /// An option that replaces a value, such as `--duration`.
    Override(String),
    /// `--set` with this path.
    Setting(String),
}

impl Place {
    /// The place and the key, which is said once where an option is of the same name.
    fn with(&self, key: &str) -> String {
        let says_key = match self {
            Place::Line { .. } => false,
            Place::Override(option) => option.trim_start_matches('-').replace('-', "_") == key,
            Place::Setting(path) => shorten(path.trim()) == key,
        };
        if says_key { self.to_string() } else { format!("{self}: {key}") }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { origin, line } => write!(f, "{origin}:{line}"),
            Place::Override(option) => f.write_str(option),
            Place::Setting(path) => write!(f, "--set {}", shorten(path)),
        }
    }
}
