//! Problems with a run as a whole.

use super::problems;
use crate::document::{option_like, seconds};
use multihop_config::quantity::{Duration, Length};
use multihop_core::Span;

problems! {
    /// Problem with a run as a whole.
    RunProblem:

    NoToml { message: String } =>
        "not valid TOML: {message}";
        "correct this line (a value is `key = \"text\"`, a number, true or false; see toml.io)";
    NoFlows =>
        "the scenario has no flows";
        "add [[flows]] with from, to and scheme, or [traffic] with a pattern";

    // Times.
    AllWarmup { duration: Span, by: Option<String> } =>
        "VALUE is not shorter than the duration of {}{}", seconds(*duration), given_by(by.as_ref());
        "give a shorter warm-up{}, or a longer duration",
            by.as_ref().map(|by| format!(", such as {}", option_like(by, "warmup", tenth(*duration)))).unwrap_or_default();
    StepTooLong { duration: Span, by: Option<String> } =>
        "VALUE is longer than the run of {}{}", seconds(*duration), given_by(by.as_ref());
        "give a time up to the duration{}",
            by.as_ref().map(|by| format!(", such as {}", option_like(by, "record_interval", tenth(*duration)))).unwrap_or_default();
    TooManyRows { rows: u64, flows: u64, most: u64, least: Duration } =>
        "VALUE makes {rows} rows of time series ({flows} flows)";
        "at most {most} rows are recorded; give at least {least}";
    TooManyMeasured { steps: u64, gauges: u64, rows: u64, most: u64 } =>
        "{steps} steps of {gauges} estimators make {rows} rows";
        "at most {most} rows are recorded; name fewer nodes with at, or make record_interval longer";

    // The medium between all nodes.
    TooManyLinks { nodes: usize, most: usize } =>
        "{nodes} nodes make more than {most} links of carrier sense";
        "use fewer nodes, larger distances, or shorter ranges";
    NoDistance { node: String } =>
        "VALUE needs positions, and {node:?} has none";
        "give all nodes positions, or a time such as \"1 us\"";
    DelayTooLong { distance: Length, delay: Duration, most: Duration } =>
        "VALUE means that frames are sensed {distance} away, {delay} after they are sent";
        "delays by distance are possible up to {most}, the shortest pause or frame; give a time, or put nodes closer together";
}

/// A tenth of a duration.
fn tenth(duration: Span) -> Duration {
    Duration::from(duration / 10)
}

/// Text of the option that gives a value, in brackets.
pub(super) fn given_by(option: Option<&String>) -> String {
    option.map(|option| format!(" ({option})")).unwrap_or_default()
}
