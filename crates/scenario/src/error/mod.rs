//! The one error of scenarios. What is wrong is a value, a variant of the enum of its subject; its sentences
//! are made here, and nowhere else.

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

pub use flows::{FlowProblem, Gap, Reached};
pub use key::{Interval, Joined, KeyProblem, Limited, Named};
pub use mac::MacProblem;
pub use measure::{MeasureProblem, MediumProblem};
pub use mobility::MobilityProblem;
pub use phy::{PhyProblem, RateProblem};
pub use run::RunProblem;
pub use schemes::SchemeProblem;
pub use settings::{EditProblem, SettingProblem};
pub use topology::{TopologyProblem, Whereabouts};
pub use trace::TraceProblem;

use multihop_config::parameter_error::{Found, Wanted};
use std::fmt;
use thiserror::Error;

pub(crate) use multihop_core::{first_of as list, instead_of, shorten};

/// What is wrong with a scenario, in one line: where, what was found, and what would do.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}: {}; {}", place.with(key), self.found(), self.remedy())]
pub struct ScenarioError {
    /// The file, or the option of the command line.
    pub place: Place,
    /// Dotted path of the key, such as `flows[1].stop`.
    pub key: String,
    /// The value of the key as it is written, unless it is absent or a table.
    pub written: Option<String>,
    /// What is wrong.
    pub problem: Box<Problem>,
}

impl ScenarioError {
    /// The error that something is wrong at a place whose value is not shown.
    pub(crate) fn new(place: Place, key: impl Into<String>, problem: impl Into<Problem>) -> ScenarioError {
        ScenarioError { place, key: key.into(), written: None, problem: Box::new(problem.into()) }
    }

    /// What was found, with the value.
    pub fn found(&self) -> String {
        self.problem.found(self.written.as_deref())
    }

    /// What would do instead.
    pub fn remedy(&self) -> String {
        self.problem.remedy()
    }
}

/// An enum of what can be wrong. Each row is a variant with its data, what was found, and what would do: two
/// format strings, which see the data, with what else they need behind them. A sentence that begins with
/// `VALUE` has the value of the key there, as it is written.
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
        #[allow(missing_docs)] // of the data: the sentences name them
        pub enum $name {
            $(
                #[doc = concat!("`", $found, "`")]
                $variant $({ $($datum: $type),* })?,
            )*
        }

        impl $name {
            /// What was found, of a value as it is written.
            #[allow(unused_variables)] // not every sentence has all data
            pub(crate) fn found(&self, written: Option<&str>) -> String {
                match self {
                    $(
                        $name::$variant $({ $($datum),* })? => {
                            $crate::error::begun($found, format!($found $(, $in_found)*), written)
                        }
                    )*
                }
            }

            /// What would do.
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

/// A sentence with the value, if it is there, in place of the `VALUE` that its format begins with.
fn begun(format: &str, sentence: String, written: Option<&str>) -> String {
    const VALUE: &str = "VALUE ";
    match (written, format.starts_with(VALUE)) {
        (_, false) => sentence,
        (Some(written), true) => format!("{written} {}", &sentence[VALUE.len()..]),
        (None, true) => sentence[VALUE.len()..].to_owned(),
    }
}

/// Gathers the enums of all subjects.
macro_rules! subjects {
    ($($variant:ident($type:ty): $about:literal,)*) => {
        /// What is wrong, by subject.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Problem {
            /// A value that does not fit its key, or a key that is missing or not known.
            ParameterError {
                /// What was found.
                found: Found,
                /// What would do.
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
    Key(KeyProblem): "What can be wrong with any key.",
    Edit(EditProblem): "Of an edit of a scenario's text.",
    Flow(FlowProblem): "Of `[[flows]]` and `[traffic]`.",
    Mac(MacProblem): "Of `[mac]`, `[routing]` and queues.",
    Measure(MeasureProblem): "Of `[[measure]]`.",
    Medium(MediumProblem): "Of `[medium]`.",
    Mobility(MobilityProblem): "Of `[mobility]` and `[[outages]]`.",
    Phy(PhyProblem): "Of `[phy]` and channels.",
    Rate(RateProblem): "Of a rate, wherever it is given.",
    Run(RunProblem): "Of the run as a whole.",
    Scheme(SchemeProblem): "Of `[schemes]`.",
    Setting(SettingProblem): "Of `--set`.",
    Topology(TopologyProblem): "Of `[topology]`.",
    Trace(TraceProblem): "Of a file of motion.",
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
