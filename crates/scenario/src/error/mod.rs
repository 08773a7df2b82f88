//! The error of scenarios. A problem is a variant of the enum of its subject. Its sentences are made here,
//! and nowhere else.

mod flows;
mod key;
mod mac;
mod measure;
mod mobility;
mod phy;
mod run;
mod schemes;
mod settings;
mod topology;
mod trace;

pub use flows::{FlowProblem, Gap, GatewayReach};
pub use key::{ConnectionKind, Interval, ItemKind, KeyProblem, LimitedKind};
pub use mac::MacProblem;
pub use measure::{MeasureProblem, MediumProblem};
pub use mobility::MobilityProblem;
pub use phy::{PhyProblem, RateProblem};
pub use run::RunProblem;
pub use schemes::SchemeProblem;
pub use settings::{EditProblem, SettingProblem};
pub use topology::{FlowEnd, TopologyProblem};
pub use trace::TraceProblem;

use multihop_config::parameter_error::{Found, Wanted};
use std::fmt;
use thiserror::Error;

pub(crate) use multihop_core::{first_of as list, instead_of, shorten};

/// Problem with a scenario, as one line: place, what was found, and a remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}: {}; {}", place.with(key), self.found(), self.remedy())]
pub struct ScenarioError {
    /// Line of the file, or option of the command line.
    pub place: Place,
    /// Dotted path of the key, such as `flows[1].stop`.
    pub key: String,
    /// Value of the key as written; none if it is absent or a table.
    pub written: Option<String>,
    /// The problem.
    pub problem: Box<Problem>,
}

impl ScenarioError {
    /// The error about a place whose value is not shown.
    pub(crate) fn new(place: Place, key: impl Into<String>, problem: impl Into<Problem>) -> ScenarioError {
        ScenarioError { place, key: key.into(), written: None, problem: Box::new(problem.into()) }
    }

    /// What was found, with the value.
    pub fn found(&self) -> String {
        self.problem.found(self.written.as_deref())
    }

    /// A remedy.
    pub fn remedy(&self) -> String {
        self.problem.remedy()
    }
}

/// Defines an enum of problems. Each row is a variant with its data and two format strings: what was found,
/// and a remedy. The format strings can use the data, and may have further arguments. `VALUE` at the start of
/// a sentence is replaced by the value of the key, as written.
macro_rules! problems {
    (
        $(#[$about:meta])*
        $name:ident:
        $(
            $variant:ident $({ $($datum:ident: $type:ty),* $(,)? })? =>
            $found:literal $(, $in_found:expr)*;
            $remedy:literal $(, $in_remedy:expr)*;
        )*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // the sentences name the data
        pub enum $name {
            $(
                #[doc = concat!("`", $found, "`")]
                $variant $({ $($datum: $type),* })?,
            )*
        }

        impl $name {
            /// Statement of the problem, with the key's value as written in the file.
            #[allow(unused_variables)] // not every sentence uses all data
            pub(crate) fn found(&self, written: Option<&str>) -> String {
                match self {
                    $(
                        $name::$variant $({ $($datum),* })? => {
                            $crate::error::with_value($found, format!($found $(, $in_found)*), written)
                        }
                    )*
                }
            }

            /// A remedy.
            #[allow(unused_variables)]
            pub(crate) fn remedy(&self) -> String {
                match self {
                    $($name::$variant $({ $($datum),* })? => format!($remedy $(, $in_remedy)*),)*
                }
            }
        }
    };
}
use problems;

/// The sentence with the value in place of the `VALUE` at its start. Without a value, `VALUE` is removed.
fn with_value(format: &str, sentence: String, written: Option<&str>) -> String {
    const VALUE: &str = "VALUE ";
    match (written, format.starts_with(VALUE)) {
        (_, false) => sentence,
        (Some(written), true) => format!("{written} {}", &sentence[VALUE.len()..]),
        (None, true) => sentence[VALUE.len()..].to_owned(),
    }
}

/// Defines the enum of all problems, with one variant per subject.
macro_rules! subjects {
    ($($variant:ident($type:ty): $about:literal,)*) => {
        /// Problem with a scenario, by subject.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Problem {
            /// A value that does not fit its key, or a key that is missing or unknown.
            ParameterError {
                /// What was found.
                found: Found,
                /// What would be valid instead.
                wanted: Wanted,
            },
            $(
                #[doc = $about]
                $variant($type),
            )*
        }

        impl Problem {
            fn found(&self, written: Option<&str>) -> String {
                match self {
                    Problem::ParameterError { found, .. } => found.to_string(),
                    $(Problem::$variant(problem) => problem.found(written),)*
                }
            }

            fn remedy(&self) -> String {
                match self {
                    Problem::ParameterError { wanted, .. } => wanted.to_string(),
                    $(Problem::$variant(problem) => problem.remedy(),)*
                }
            }
        }

        $(
            impl From<$type> for Problem {
                fn from(problem: $type) -> Problem {
                    Problem::$variant(problem)
                }
            }
        )*
    };
}

subjects! {
    Key(KeyProblem): "Problem with any key.",
    Edit(EditProblem): "Problem with an edit of a scenario's text.",
    Flow(FlowProblem): "Problem with `[[flows]]` or `[traffic]`.",
    Mac(MacProblem): "Problem with `[mac]` or a queue.",
    Measure(MeasureProblem): "Problem with `[[measure]]`.",
    Medium(MediumProblem): "Problem with `[medium]`.",
    Mobility(MobilityProblem): "Problem with `[mobility]` or `[[outages]]`.",
    Phy(PhyProblem): "Problem with `[phy]` or channels.",
    Rate(RateProblem): "Problem with a rate of any key.",
    Run(RunProblem): "Problem with the run as a whole.",
    Scheme(SchemeProblem): "Problem with `[schemes]`.",
    Setting(SettingProblem): "Problem with `--set`.",
    Topology(TopologyProblem): "Problem with `[topology]`.",
    Trace(TraceProblem): "Problem with a motion file.",
}

/// Place of a value.
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
    /// Text of the place and the key. The key is left out if an option has the same name.
    fn with(&self, key: &str) -> String {
        let contains_key = match self {
            Place::Line { .. } => false,
            Place::Override(option) => option.trim_start_matches('-').replace('-', "_") == key,
            Place::Setting(path) => shorten(path.trim()) == key,
        };
        if contains_key { self.to_string() } else { format!("{self}: {key}") }
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
