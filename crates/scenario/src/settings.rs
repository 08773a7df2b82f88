//! `--set KEY=VALUE`: values that replace, or add, any key of a scenario before it is read.
//!
//! A setting changes the parsed document, so that its value is read and checked like that of a file. The
//! spans of its values follow those of the file (see `Document`), by which messages know that a value is from
//! a setting.

use crate::document::{KeyPath, Result, Step, key};
use crate::error::{Place, ScenarioError, SettingProblem, shorten};
use serde::Deserialize;
use std::borrow::Cow;
use std::mem::{replace, take};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Maximum depth of a key, which bounds the recursion over a document.
const STEPS_MAX: usize = 16;

/// Key of the scenario and its new value.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Path of the key, as messages show it, such as `topology.hops`, `flows[0].start` or `schemes."my
    /// recn".threshold`.
    ///
    /// `flows[*].start` is the key of every entry of the list, and `flows[udp*].start` of the entries whose
    /// `name` matches, where `*` is any text. For a list, `flows.length` keeps the given number of first
    /// entries, and `flows.append` adds an entry, or each entry of a list. Missing tables on the path are
    /// created.
    pub path: String,
    /// TOML document whose key `value` is the new value: `value = 5`.
    pub value: String,
}

impl Setting {
    /// The place that messages name instead of a line.
    pub(super) fn place(&self) -> Place {
        Place::Setting(self.path.clone())
    }

    /// Applies the setting to the document. `start` is the offset of the beginning of `value`; `options` are
    /// the keys given by options of their own, with those options.
    pub(super) fn apply<'a>(
        &'a self,
        root: &mut Spanned<DeTable<'a>>,
        start: usize,
        options: &[(&str, &str)],
    ) -> Result<()> {
        let steps = parse(&self.path).ok_or_else(|| self.error(&self.path, SettingProblem::NoPath))?;
        self.refuse_options(&steps, options)?;
        let value = self.parse_value(start)?;
        let change = Change { setting: self, steps: &steps, value: &value };
        let mut node = Spanned::new(root.span(), DeValue::Table(take(root.get_mut())));
        let result = change.put(&mut node, &mut KeyPath::default());
        if let DeValue::Table(table) = node.into_inner() {
            *root.get_mut() = table;
        }
        result
    }

    /// Refuses keys that have options of their own.
    fn refuse_options(&self, steps: &[Target], options: &[(&str, &str)]) -> Result<()> {
        let [Target::Step(Step::Key(name))] = steps else { return Ok(()) };
        let problem = match name.as_str() {
            "seed" => SettingProblem::Seed,
            "scheme" => SettingProblem::Scheme,
            _ => match options.iter().find(|(key, _)| key == name) {
                Some((_, option)) => SettingProblem::Twice { option: (*option).into() },
                None => return Ok(()),
            },
        };
        Err(self.error(name, problem))
    }

    fn parse_value(&self, start: usize) -> Result<Spanned<DeValue<'_>>> {
        let document = DeTable::parse(&self.value).map_err(|error| {
            let message = shorten(&error.message().replace('\n', ", "));
            self.error(&self.path, SettingProblem::NoToml { message })
        })?;
        let mut entries = document.into_inner().into_iter();
        match (entries.next(), entries.next()) {
            (Some((key, value)), None) if key.get_ref() == "value" => Ok(shifted(value, start)),
            _ => Err(self.error(&self.path, SettingProblem::NotOne)),
        }
    }

    fn error(&self, key: &str, problem: SettingProblem) -> ScenarioError {
        let key = if key.is_empty() { "set".to_owned() } else { shorten(key) };
        ScenarioError::new(self.place(), key, problem)
    }
}

/// Step of the path of a setting.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// One key or one entry.
    Step(Step),
    /// Every entry of a list: `[*]`.
    Each,
    /// Entries whose name matches: `[udp*]`.
    Named(String),
}

/// Change to a document.
struct Change<'s, 'a> {
    setting: &'a Setting,
    steps: &'s [Target],
    value: &'s Spanned<DeValue<'a>>,
}

impl<'a> Change<'_, 'a> {
    /// Changes the values below `node`, whose path is `at`.
    fn put(&self, node: &mut Spanned<DeValue<'a>>, at: &mut KeyPath) -> Result<()> {
        self.step(0, node, at)
    }

    fn step(&self, done: usize, node: &mut Spanned<DeValue<'a>>, at: &mut KeyPath) -> Result<()> {
        let Some(target) = self.steps.get(done) else {
            *node = self.value.clone();
            return Ok(());
        };
        let is_last = done + 1 == self.steps.len();
        match (target, node.get_mut()) {
            (Target::Step(Step::Key(name)), DeValue::Table(table)) => {
                if is_last || !table.contains_key(name.as_str()) {
                    self.insert_key(table, name, done, at)?;
                }
                let below = table.get_mut(name.as_str()).expect("the key exists or was inserted");
                self.below(name.into(), done, below, at)
            }
            (Target::Step(Step::Key(name)), DeValue::Array(list)) if is_last && name == "length" => {
                self.cut(list, at)
            }
            (Target::Step(Step::Key(name)), DeValue::Array(list)) if is_last && name == "append" => {
                match self.value.get_ref() {
                    DeValue::Array(more) => more.iter().for_each(|entry| list.push(entry.clone())),
                    _ => list.push(self.value.clone()),
                }
                Ok(())
            }
            (Target::Step(Step::Index(index)), DeValue::Array(list)) => {
                let length = list.len();
                match list.get_mut(*index) {
                    Some(entry) => self.below((*index).into(), done, entry, at),
                    None => Err(self.error(&at.join(*index), SettingProblem::NoEntry { length })),
                }
            }
            (Target::Each, DeValue::Array(list)) => {
                if list.is_empty() {
                    return Err(self.error(at, SettingProblem::NoEntries));
                }
                let mut entries = list.iter_mut().enumerate();
                entries.try_for_each(|(index, entry)| self.below(index.into(), done, entry, at))
            }
            (Target::Named(pattern), DeValue::Array(list)) => {
                let fits =
                    |entry: &Spanned<DeValue<'_>>| name_of(entry).is_some_and(|name| matches(pattern, name));
                if !list.iter().any(fits) {
                    return Err(self.error(at, SettingProblem::NoName { pattern: pattern.clone() }));
                }
                let mut entries = list.iter_mut().enumerate().filter(|(_, entry)| fits(entry));
                entries.try_for_each(|(index, entry)| self.below(index.into(), done, entry, at))
            }
            (Target::Step(Step::Key(_)), other) => {
                Err(self.error(at, SettingProblem::NoTable { kind: other.type_str() }))
            }
            (_, other) => Err(self.error(at, SettingProblem::NotList { kind: other.type_str() })),
        }
    }

    fn below(
        &self,
        step: Step,
        done: usize,
        node: &mut Spanned<DeValue<'a>>,
        at: &mut KeyPath,
    ) -> Result<()> {
        at.0.push(step);
        let result = self.step(done + 1, node, at);
        at.0.pop();
        result
    }

    /// Inserts a key of this setting in place of the file's.
    fn insert_key(&self, table: &mut DeTable<'a>, name: &str, done: usize, at: &KeyPath) -> Result<()> {
        if matches!(
            self.steps.get(done + 1),
            Some(Target::Each | Target::Named(_) | Target::Step(Step::Index(_)))
        ) {
            return Err(self.error(&at.join(name), SettingProblem::NoList));
        }
        let span: Range<usize> = self.value.span();
        table.remove(name); // also removes the key's place in the file
        let key = Spanned::new(span.clone(), Cow::Owned(name.to_owned()));
        table.insert(key, Spanned::new(span, DeValue::Table(DeTable::new())));
        Ok(())
    }

    /// Keeps the first entries of a list.
    fn cut(&self, list: &mut DeArray<'a>, at: &KeyPath) -> Result<()> {
        let at = at.join("length");
        let wanted = match self.value.get_ref() {
            DeValue::Integer(number) => usize::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let Some(wanted) = wanted else { return Err(self.error(&at, SettingProblem::NoLength)) };
        if wanted > list.len() {
            return Err(self.error(&at, SettingProblem::TooLong { wanted, length: list.len() }));
        }
        *list = replace(list, DeArray::new()).into_iter().take(wanted).collect();
        Ok(())
    }

    fn error(&self, at: &KeyPath, problem: SettingProblem) -> ScenarioError {
        let key = if at.0.is_empty() { &key!["set"] } else { at };
        ScenarioError::new(self.setting.place(), key.to_string(), problem)
    }
}

/// Steps of a path to one key; none if the text is not such a path.
pub(super) fn path_of(path: &str) -> Option<Vec<Step>> {
    let steps = parse(path)?.into_iter();
    steps.map(|target| if let Target::Step(step) = target { Some(step) } else { None }).collect()
}

/// Steps of a path; none if the text is not a path.
fn parse(path: &str) -> Option<Vec<Target>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    while steps.len() < STEPS_MAX {
        if let Some(inside) = rest.strip_prefix('[').filter(|_| !steps.is_empty()) {
            let (index, after) = inside.split_once(']')?;
            steps.push(match index {
                "*" => Target::Each,
                _ if index.bytes().all(|digit| digit.is_ascii_digit()) => {
                    Target::Step(Step::Index(index.parse().ok()?))
                }
                _ if index.starts_with(|c: char| c.is_alphanumeric() || c == '*' || c == '_') => {
                    Target::Named(index.to_owned())
                }
                _ => return None,
            });
            rest = after;
        } else {
            let (name, after) = parse_key(if steps.is_empty() { rest } else { rest.strip_prefix('.')? })?;
            steps.push(Target::Step(Step::Key(name)));
            rest = after;
        }
        if rest.is_empty() {
            return Some(steps);
        }
    }
    None
}

/// Name of an entry of a list.
fn name_of<'t>(entry: &'t Spanned<DeValue<'_>>) -> Option<&'t str> {
    entry.get_ref().as_table()?.get("name")?.get_ref().as_str()
}

/// Whether a name matches a pattern, in which `*` is any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| name.strip_prefix(head)) else { return false };
    let Some(tail) = parts.next_back() else { return rest.is_empty() };
    // The first match of a part leaves the most text for the parts after it.
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(tail)
}

/// Splits a text into the key at its start, bare or in double quotes, and the remaining text.
fn parse_key(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c))).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let mut name = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((name, &quoted[at + 1..])),
            '\\' => name.push(characters.next().filter(|(_, escaped)| "\"\\".contains(*escaped))?.1),
            other => name.push(other),
        }
    }
    None
}

/// The value with all its spans moved by `start`.
fn shifted(value: Spanned<DeValue<'_>>, start: usize) -> Spanned<DeValue<'_>> {
    let moved = |span: Range<usize>| span.start + start..span.end + start;
    let span = moved(value.span());
    let inner = match value.into_inner() {
        DeValue::Array(list) => {
            DeValue::Array(list.into_iter().map(|element| shifted(element, start)).collect())
        }
        DeValue::Table(table) => {
            let entry = |(key, value): (Spanned<Cow<'_, str>>, _)| {
                let span = moved(key.span());
                (Spanned::new(span, Cow::Owned(key.into_inner().into_owned())), shifted(value, start))
            };
            DeValue::Table(table.into_iter().map(entry).collect())
        }
        plain => plain,
    };
    Spanned::new(span, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_reverses_the_display_of_paths() {
        let path = key!["schemes", "my \"own\" recn\\", "list", 12, "threshold"];
        let steps: Vec<Target> = path.0.iter().cloned().map(Target::Step).collect();
        assert_eq!(parse(&path.to_string()), Some(steps), "{path}");
        let each =
            [Target::Step(Step::Key("flows".into())), Target::Each, Target::Step(Step::Key("app".into()))];
        assert_eq!(parse("flows[*].app").as_deref(), Some(each.as_slice()));
        let named = [Target::Step(Step::Key("flows".into())), Target::Named("udp 1*".into())];
        assert_eq!(parse("flows[udp 1*]").as_deref(), Some(named.as_slice()));
    }

    #[test]
    fn a_star_in_a_pattern_matches_any_text() {
        for (pattern, name) in [
            ("udp*", "udp"),
            ("udp*", "udp12"),
            ("*", "ü"),
            ("*p*2", "udp12"),
            ("a", "a"),
            ("**", ""),
            ("a*a", "aa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("udp*", "tcp1"), ("*3", "udp12"), ("a", "ab"), ("a*b*c", "acb"), ("a*a", "a"), ("*ab*b", "ab")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        // A search that tries every division of the text would take exponential time.
        assert!(!matches(&format!("{}b", "*a".repeat(20)), &"a".repeat(60)));
    }

    #[test]
    fn malformed_paths_are_refused() {
        for text in [
            "", ".", "a.", ".a", "a..b", "a[", "a[]", "a[-1]", "a[+1]", "a[1", "[0]", "a b", "\"a", "a\"b\"",
            "ü", "a[1]b",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&"a.".repeat(100_000)), None);
        assert_eq!(parse("a[99999999999999999999999]"), None);
    }
}
