//! Parsed text of a scenario, with the line of each value.

use crate::error::{Interval, KeyProblem, Place, Problem, RunProblem, ScenarioError, shorten};
use crate::reader::{ReadError, read};
use crate::removed::why_removed;
use crate::settings::Setting;
use multihop_config::parameter_error::Wanted;
use multihop_config::quantity::Duration;
use multihop_core::Span;
use serde::de::DeserializeOwned;
use std::fmt;
use std::iter::once;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Maximum time in seconds: a hundred years, so that sums of a few times fit into 64 bits of nanoseconds.
const TIME_MAX: f64 = 3.155_76e9;

/// Result of reading or checking a scenario.
pub(crate) type Result<T> = std::result::Result<T, ScenarioError>;

/// Step of the path of a value: a key of a table, or an index of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Key of a table.
    Key(String),
    /// Index of an array.
    Index(usize),
}

/// Path from the root to a value, shown as `flows[1].stop`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeyPath(pub(crate) Vec<Step>);

/// Makes a [`KeyPath`] of its steps: `key!["flows", 1, "stop"]`.
macro_rules! key {
    ($($step:expr),* $(,)?) => {
        $crate::document::KeyPath(vec![$($crate::document::Step::from($step)),*])
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
    /// The path of a value one step below.
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
                    if bare {
                        write!(f, "{dot}{key}")?;
                    } else {
                        let quoted = shorten(key).replace('\\', "\\\\").replace('"', "\\\"");
                        write!(f, "{dot}\"{quoted}\"")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Parsed scenario file, with the settings that replace parts of it.
pub(crate) struct Document<'a> {
    origin: &'a str,
    root: Spanned<DeTable<'a>>,
    /// Texts of the values, in the order of their offsets: the file, then the values of settings.
    sources: Vec<Source<'a>>,
    overridden: Vec<(&'static str, &'static str, String)>,
}

/// Text of values: the file or a setting.
struct Source<'a> {
    /// Offset of the text's beginning in spans.
    start: usize,
    text: &'a str,
    /// Setting of the text; none for the file.
    setting: Option<&'a Setting>,
}

impl<'a> Document<'a> {
    /// Parses a text.
    pub(crate) fn parse(text: &'a str, origin: &'a str) -> Result<Document<'a>> {
        let root = DeTable::parse(text).map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            let message = shorten(&error.message().replace('\n', ", "));
            let place = Place::Line { origin: origin.to_owned(), line };
            ScenarioError::new(place, "syntax", RunProblem::NoToml { message })
        })?;
        let sources = vec![Source { start: 0, text, setting: None }];
        Ok(Document { origin, root, sources, overridden: Vec::new() })
    }

    /// Name of the file in messages.
    pub(crate) fn origin(&self) -> &str {
        self.origin
    }

    /// Applies the settings to the document, in their order. `options` lists pairs of a key and the
    /// command-line option that sets the key. A setting of such a key is refused.
    pub(crate) fn set(&mut self, settings: &'a [Setting], options: &[(&str, &str)]) -> Result<()> {
        for setting in settings {
            // Plus one, so that the end of one text differs from the beginning of the next.
            let start = self.sources.last().map_or(0, |last| last.start + last.text.len() + 1);
            setting.apply(&mut self.root, start, options)?;
            self.sources.push(Source { start, text: &setting.value, setting: Some(setting) });
        }
        Ok(())
    }

    /// Records that an option of the command line gives the value of a top-level key.
    pub(crate) fn note_override(&mut self, key: &'static str, option: &'static str, value: &str) {
        self.overridden.push((key, option, value.to_owned()));
    }

    /// Deserializes the whole document as a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        read(&self.root).map_err(|ReadError { path, offset, found, wanted }| {
            let key = if path.0.is_empty() { "scenario".into() } else { path.to_string() };
            let wanted = why_removed(&path, &found).map_or(*wanted, Wanted::Remove);
            ScenarioError::new(
                self.place(offset.unwrap_or(0)),
                key,
                Problem::ParameterError { found, wanted },
            )
        })
    }

    /// Root table of the document.
    pub(crate) fn table(&self) -> &DeTable<'a> {
        self.root.get_ref()
    }

    /// Whether the file has the key.
    pub(crate) fn has(&self, path: &KeyPath) -> bool {
        self.find(path).1.is_some()
    }

    /// The error about the value at `path`.
    pub(crate) fn error(&self, path: &KeyPath, problem: impl Into<Problem>) -> ScenarioError {
        let (place, written) = self.given(path);
        let written = written.map(shorten);
        ScenarioError { written, ..ScenarioError::new(place, path.to_string(), problem) }
    }

    /// Place of the value at `path`, and the value as written.
    fn given(&self, path: &KeyPath) -> (Place, Option<&str>) {
        if let Some((_, option, value)) = self.override_of(path) {
            return (Place::Override((*option).to_owned()), Some(value.as_str()));
        }
        let (place, value) = self.find(path);
        let value = value.filter(|value| !value.get_ref().is_table()); // the key names tables
        (self.place(place.start), value.map(|value| self.written(value.span())))
    }

    /// `value`, if it is between two bounds, which are written as in a file: see [`bound`].
    pub(crate) fn between<Q: FromStr + PartialOrd>(
        &self,
        path: &KeyPath,
        value: Q,
        least: &str,
        most: &str,
    ) -> Result<Q> {
        if bound::<Q>(least) <= value && value <= bound::<Q>(most) {
            Ok(value)
        } else {
            Err(self.out_of_range(path, least, most))
        }
    }

    fn out_of_range(&self, path: &KeyPath, least: &str, most: &str) -> ScenarioError {
        self.error(path, KeyProblem::OutOfRange { range: Interval::Between(least.into(), most.into()) })
    }

    /// `value`, if it is from `low` to `high`.
    pub(crate) fn count(&self, path: &KeyPath, value: u32, low: u32, high: u32) -> Result<u32> {
        self.between(path, value, &low.to_string(), &high.to_string())
    }

    /// `value`, if it is from `low` seconds to a hundred years.
    pub(crate) fn time(&self, path: &KeyPath, value: Duration, low: f64) -> Result<Span> {
        if (low..=TIME_MAX).contains(&value.0) {
            return Ok(value.span());
        }
        let least = if low == 0.0 { "0 s".into() } else { Duration(low).to_string() };
        Err(self.out_of_range(path, &least, "100 years (the clock ends after 146)"))
    }

    fn override_of(&self, path: &KeyPath) -> Option<&(&'static str, &'static str, String)> {
        let [Step::Key(key)] = path.0.as_slice() else { return None };
        self.overridden.iter().find(|(overridden, ..)| overridden == key)
    }

    /// Option of the command line that gives the value of a key, if there is one.
    pub(crate) fn option_of(&self, path: &KeyPath) -> Option<String> {
        match self.given(path).0 {
            Place::Line { .. } => None,
            option => Some(option.to_string()),
        }
    }

    /// Place of the key, or of the innermost existing table around it, and the value if it exists.
    fn find(&self, path: &KeyPath) -> (Range<usize>, Option<&Spanned<DeValue<'a>>>) {
        let mut place = self.root.span();
        let mut table = Some(self.root.get_ref());
        let mut array = None;
        let mut found = None;
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
            found = Some(value);
            table = value.get_ref().as_table();
            array = value.get_ref().as_array();
        }
        (place, found)
    }

    /// Text of an offset.
    fn source(&self, offset: usize) -> &Source<'a> {
        let is_later = |source: &&Source<'_>| source.start > offset;
        let index = self.sources.len() - self.sources.iter().rev().take_while(is_later).count();
        &self.sources[index - 1] // the first begins at 0
    }

    fn place(&self, offset: usize) -> Place {
        let source = self.source(offset);
        match source.setting {
            Some(setting) => setting.place(),
            None => Place::Line { origin: self.origin.to_owned(), line: line_of(source.text, offset) },
        }
    }

    /// Text of a value, as written.
    fn written(&self, span: Range<usize>) -> &'a str {
        let source = self.source(span.start);
        source.text.get(span.start - source.start..span.end - source.start).unwrap_or_default()
    }
}

/// Line of a key in a TOML text, or of the innermost existing table around it, counted from 1; none if the
/// text is not TOML.
pub fn locate(text: &str, path: &[Step]) -> Option<usize> {
    let document = Document::parse(text, "").ok()?;
    Some(line_of(text, document.find(&KeyPath(path.to_vec())).0.start))
}

/// Number or quantity at the start of a text. The remaining text is only for messages.
pub(crate) fn bound<Q: FromStr>(text: &str) -> Q {
    let ends = text.rmatch_indices(' ').map(|(end, _)| end);
    let mut beginnings = once(text.len()).chain(ends).map(|end| &text[..end]);
    beginnings.find_map(|beginning| beginning.parse().ok()).expect("bounds are written as in a file")
}

/// Text of an option that gives `value` to `key`, in the style of another option, such as `--duration` or
/// `--set duration`.
pub(crate) fn option_like(other: &str, key: &str, value: impl fmt::Display) -> String {
    if other.starts_with("--set") {
        format!("--set '{key}=\"{value}\"'")
    } else {
        format!("--{} \"{value}\"", key.replace('_', "-"))
    }
}

/// Text of a time, for a message.
pub(crate) fn seconds(time: Span) -> String {
    // Division, because a product with 1e-9 may show its rounding.
    format!("{} s", time.ns() as f64 / 1e9)
}

/// Line of a byte offset, counted from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}
