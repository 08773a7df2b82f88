//! The text of a scenario, with the line of everything in it.

use super::error::{Place, ScenarioError, shorten};
use super::reader::{ReadError, read};
use multihop_core::Span;
use multihop_schemes::quantity::Duration;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeArray, DeTable};

/// The longest time in seconds: a hundred years, so that sums of a few fit into 64 bits of nanoseconds.
const TIME_MAX: f64 = 3.155_76e9;

/// What every check returns.
pub(crate) type Result<T> = std::result::Result<T, ScenarioError>;

/// A step on the way to a value: a key of a table, or an index of an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A key.
    Key(String),
    /// An index.
    Index(usize),
}

/// The way from the root to a value, shown as `flows[1].stop`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeyPath(pub(crate) Vec<Step>);

/// `key!["flows", 1, "stop"]`.
macro_rules! key {
    ($($step:expr),* $(,)?) => {
        $crate::scenario::document::KeyPath(vec![$($crate::scenario::document::Step::from($step)),*])
    };
}
pub(crate) use key;

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Step {
        Step::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

impl KeyPath {
    /// One step further.
    pub(crate) fn join(&self, step: impl Into<Step>) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(step.into());
        KeyPath(steps)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let bare =
                        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
                    let dot = if i == 0 { "" } else { "." };
                    if bare { write!(f, "{dot}{key}")? } else { write!(f, "{dot}\"{}\"", shorten(key))? }
                }
            }
        }
        Ok(())
    }
}

/// A parsed scenario file and the overrides that were put on top of it.
pub(crate) struct Document<'a> {
    text: &'a str,
    origin: &'a str,
    root: Spanned<DeTable<'a>>,
    overridden: Vec<(&'static str, &'static str, String)>,
}

impl<'a> Document<'a> {
    /// Parses the text.
    pub(crate) fn parse(text: &'a str, origin: &'a str) -> Result<Document<'a>> {
        let root = DeTable::parse(text).map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            ScenarioError {
                place: Place::Line { origin: origin.to_owned(), line },
                key: "syntax".into(),
                found: format!("not valid TOML: {}", shorten(&error.message().replace('\n', ", "))),
                remedy:
                    "correct this line (a value is `key = \"text\"`, a number, true or false; see toml.io)"
                        .into(),
            }
        })?;
        Ok(Document { text, origin, root, overridden: Vec::new() })
    }

    /// Says that the value of a top-level key comes from an option of the command line.
    pub(crate) fn note_override(&mut self, key: &'static str, option: &'static str, value: &str) {
        self.overridden.push((key, option, value.to_owned()));
    }

    /// Reads the whole document as a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        read(&self.root).map_err(|ReadError { path, offset, found, remedy }| ScenarioError {
            place: self.line(offset.unwrap_or(0)),
            key: if path.0.is_empty() { "scenario".into() } else { path.to_string() },
            found,
            remedy,
        })
    }

    /// Whether the file has this key.
    pub(crate) fn has(&self, path: &KeyPath) -> bool {
        self.find(path).1.is_some()
    }

    /// The error that something is wrong about the value at `path`.
    pub(crate) fn fail(
        &self,
        path: &KeyPath,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ScenarioError {
        let place = match self.override_of(path) {
            Some((_, option, _)) => Place::Override(option),
            None => self.line(self.find(path).0.start),
        };
        ScenarioError { place, key: path.to_string(), found: found.into(), remedy: remedy.into() }
    }

    /// The error that the value at `path` is wrong; the message begins with the value as it is written.
    pub(crate) fn bad(
        &self,
        path: &KeyPath,
        why: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> ScenarioError {
        let value = match self.override_of(path) {
            Some((_, _, value)) => Some(shorten(value)),
            None => self.find(path).1.map(|span| shorten(self.text.get(span).unwrap_or_default())),
        };
        let value = value.map(|value| value + " ").unwrap_or_default();
        self.fail(path, format!("{value}{why}"), remedy)
    }

    /// `value`, if it is within the bounds; `low` and `high` name them.
    pub(crate) fn within(
        &self,
        path: &KeyPath,
        value: f64,
        bounds: RangeInclusive<f64>,
        (low, high): (&str, &str),
    ) -> Result<f64> {
        if bounds.contains(&value) {
            Ok(value)
        } else {
            Err(self.bad(path, "is out of range", format!("give a value from {low} to {high}")))
        }
    }

    /// A time from `low` seconds on.
    pub(crate) fn time(&self, path: &KeyPath, value: Duration, low: f64) -> Result<Span> {
        let lowest = if low == 0.0 { "0 s".into() } else { Duration(low).to_string() };
        self.within(path, value.0, low..=TIME_MAX, (&lowest, "100 years (the clock ends after 146)"))?;
        Ok(value.span())
    }

    fn override_of(&self, path: &KeyPath) -> Option<&(&'static str, &'static str, String)> {
        let [Step::Key(key)] = path.0.as_slice() else { return None };
        self.overridden.iter().find(|(overridden, ..)| overridden == key)
    }

    /// Where the key is, or the innermost table around it that is there, and the value if it is there.
    fn find(&self, path: &KeyPath) -> (Range<usize>, Option<Range<usize>>) {
        let mut place = self.root.span();
        let mut table = Some(self.root.get_ref());
        let mut array = None;
        let mut value_span = None;
        for step in &path.0 {
            let (key, value) = match step {
                Step::Key(key) => match table.and_then(|table| table.get_key_value(key.as_str())) {
                    Some((key, value)) => (Some(key), value),
                    None => return (place, None),
                },
                Step::Index(index) => match array.and_then(|array: &DeArray<'_>| array.get(*index)) {
                    Some(value) => (None, value),
                    None => return (place, None),
                },
            };
            place = key.map_or(value.span(), Spanned::span);
            value_span = Some(value.span());
            table = value.get_ref().as_table();
            array = value.get_ref().as_array();
        }
        (place, value_span)
    }

    fn line(&self, offset: usize) -> Place {
        Place::Line { origin: self.origin.to_owned(), line: line_of(self.text, offset) }
    }
}

/// A time for a message.
pub(crate) fn seconds(time: Span) -> String {
    format!("{} s", time.seconds())
}

/// The line of a byte offset, counted from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}
