//! The one error of scenarios, and nearest names.

use multihop_core::nearest_name;
use std::fmt;
use thiserror::Error;

/// What is wrong with a scenario, in one line: where, what was found, and what would do.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{place}: {key}: {found}; {remedy}")]
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
    /// An option that replaces a value, such as `--duration` or `--set topology.hops`.
    Override(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { origin, line } => write!(f, "{origin}:{line}"),
            Place::Override(option) => f.write_str(option),
        }
    }
}

/// What to say of a name that is not among the known ones: the nearest one, if it is near, and the list.
pub(crate) fn instead_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = nearest_name(name, known.iter().copied())
        .map(|nearest| format!("did you mean {nearest:?}? "))
        .unwrap_or_default();
    if known.is_empty() {
        return "there is none to choose from".into();
    }
    format!("{hint}known: {}", list(&known))
}

/// The first few of many names.
pub(crate) fn list<T: fmt::Display>(names: &[T]) -> String {
    const SHOWN: usize = 24;
    let shown: Vec<String> = names.iter().take(SHOWN).map(T::to_string).collect();
    let more = if names.len() > SHOWN { format!(", ... ({} in all)", names.len()) } else { String::new() };
    shown.join(", ") + &more
}

/// A text for a message: one line, and not too long.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut line = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN || c == '\n' {
            return line + "...";
        }
        line.push(if c.is_control() { '\u{fffd}' } else { c });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_proposed() {
        let known = ["chain", "grid"];
        assert_eq!(instead_of("chian", known), "did you mean \"chain\"? known: chain, grid");
        assert_eq!(instead_of("mesh", known), "known: chain, grid");
        let many: Vec<String> = (0..30).map(|i| format!("n{i}")).collect();
        assert!(list(&many).ends_with("n23, ... (30 in all)"));
    }

    #[test]
    fn long_and_broken_texts_are_shortened() {
        assert_eq!(shorten("a\nb"), "a...");
        assert_eq!(shorten(&"x".repeat(100)).len(), 63);
        assert_eq!(shorten("\u{1b}[0m"), "\u{fffd}[0m");
    }
}
