//! The part of Tcl that motion scripts use: commands, variables with literal values, and arithmetic.

mod expression;

use std::collections::BTreeMap;

/// Word of a command.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Word {
    /// Text of the word, without the quotes or braces around it.
    pub(super) text: String,
    /// Whether the word is in braces, so that nothing in it is substituted.
    pub(super) braced: bool,
}

/// State of the parser at the end of the text so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Within {
    /// Between two words.
    #[default]
    Blank,
    /// In a word without quotes, at this depth of brackets.
    Bare(u32),
    Quotes,
    /// At this depth of braces.
    Braces(u32),
    Comment,
}

/// Parser that splits lines into commands of words. A command may span several lines.
#[derive(Debug, Default)]
pub(super) struct Commands {
    within: Within,
    escaped: bool,
    /// Line of the first word of the command.
    line: usize,
    words: Vec<Word>,
    word: Word,
}

/// Line in which a command begins, and the words of the command.
pub(super) type Command = (usize, Vec<Word>);

impl Commands {
    /// Commands that end in this line. `text` has no line feed. A `#` before a word begins a comment, as in
    /// other readers of such scripts; Tcl has comments only before commands.
    pub(super) fn line(&mut self, line: usize, text: &str) -> Vec<Command> {
        let mut ended = Vec::new();
        for c in text.chars() {
            self.character(line, c, &mut ended);
        }
        self.character(line, '\n', &mut ended);
        ended
    }

    /// Line in which the unfinished command begins, and the character that would end it; none if no command
    /// is unfinished.
    pub(super) fn open(&self) -> Option<(usize, char)> {
        match self.within {
            Within::Blank | Within::Comment => (!self.words.is_empty()).then_some((self.line, '\n')),
            Within::Quotes => Some((self.line, '"')),
            Within::Braces(_) => Some((self.line, '}')),
            Within::Bare(_) => Some((self.line, ']')),
        }
    }

    /// Size of the unfinished command in bytes.
    pub(super) fn pending(&self) -> usize {
        self.word.text.len() + self.words.iter().map(|word| word.text.len() + 1).sum::<usize>()
    }

    fn character(&mut self, line: usize, c: char, ended: &mut Vec<Command>) {
        let escaped = std::mem::take(&mut self.escaped);
        match self.within {
            Within::Comment if c == '\n' && !escaped => self.end_command(ended),
            Within::Comment => self.escaped = c == '\\',
            Within::Blank if escaped && c == '\n' => {} // the command continues in the next line
            Within::Blank if !escaped => self.begin(line, c, ended),
            Within::Blank => {
                self.begin_word(line, Within::Bare(0));
                self.word.text.extend(['\\', c]);
            }
            Within::Bare(depth) => self.bare(c, escaped, depth, ended),
            Within::Quotes if c == '"' && !escaped => self.end_word(),
            Within::Braces(1) if c == '}' && !escaped => self.end_word(),
            Within::Quotes | Within::Braces(_) => {
                if let Within::Braces(depth) = &mut self.within {
                    *depth = depth.saturating_add(u32::from(c == '{' && !escaped));
                    *depth -= u32::from(c == '}' && !escaped);
                }
                self.word.text.push(c);
                self.escaped = c == '\\' && !escaped;
            }
        }
    }

    fn begin(&mut self, line: usize, c: char, ended: &mut Vec<Command>) {
        match c {
            '\n' | ';' => self.end_command(ended),
            '\\' => self.escaped = true,
            '#' => self.within = Within::Comment,
            '"' => self.begin_word(line, Within::Quotes),
            '{' => {
                self.begin_word(line, Within::Braces(1));
                self.word.braced = true;
            }
            c if c.is_whitespace() => {}
            c => {
                self.begin_word(line, Within::Bare(0));
                self.bare(c, false, 0, ended);
            }
        }
    }

    fn bare(&mut self, c: char, escaped: bool, depth: u32, ended: &mut Vec<Command>) {
        match c {
            '\n' if escaped && depth == 0 => {
                self.word.text.pop();
                self.end_word();
            }
            '\n' | ';' if depth == 0 => {
                self.end_word();
                self.end_command(ended);
            }
            c if c.is_whitespace() && depth == 0 => self.end_word(),
            c => {
                let deeper = u32::from(c == '[' && !escaped);
                let ends = u32::from(c == ']' && !escaped);
                self.within = Within::Bare((depth + deeper).saturating_sub(ends));
                self.word.text.push(c);
                self.escaped = c == '\\' && !escaped;
            }
        }
    }

    fn begin_word(&mut self, line: usize, within: Within) {
        if self.words.is_empty() {
            self.line = line;
        }
        self.within = within;
    }

    fn end_word(&mut self) {
        self.words.push(std::mem::take(&mut self.word));
        self.within = Within::Blank;
    }

    fn end_command(&mut self, ended: &mut Vec<Command>) {
        self.within = Within::Blank;
        if !self.words.is_empty() {
            ended.push((self.line, std::mem::take(&mut self.words)));
        }
    }
}

/// Maximum nesting of brackets and indices of variables.
const DEEPEST: u32 = 50;

/// Maximum size of a variable's text in bytes, because a variable may contain another one twice, and so on.
const LONGEST: usize = 10_000;

/// Variables with known texts.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Sets a variable to a word, or removes the variable if the word's text is unknown.
    pub(super) fn set(&mut self, name: &str, value: &Word) {
        let known = if value.braced { Some(value.text.clone()) } else { self.text(&value.text) };
        match known {
            Some(text) => drop(self.0.insert(name.to_owned(), text)),
            None => self.remove(name),
        }
    }

    /// Removes a variable, whose value is unknown from now on.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Text with its variables and its `[expr ...]` replaced by their values; none if a value is unknown.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        self.within(text, 0)
    }

    /// Same as [`Variables::text`], for a text at this depth of nesting.
    fn within(&self, text: &str, depth: u32) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        let mut known = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '[']) {
            known.push_str(&rest[..at]);
            let found = &rest[at + 1..];
            rest = if rest[at..].starts_with('$') {
                let (name, after) = variable(found)?;
                known.push_str(self.0.get(&self.within(name, depth + 1)?)?);
                after
            } else {
                let (script, after) = found.split_at(closing(found)?);
                let expression = script.trim().strip_prefix("expr")?;
                let braced = expression.trim().strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
                known.push_str(&expression::value(&self.within(braced.unwrap_or(expression), depth + 1)?)?);
                &after[1..]
            };
        }
        known.push_str(rest);
        (known.len() <= LONGEST).then_some(known)
    }
}

/// Splits the text behind a `$`, such as `name(index) more` or `{name} more`, into the name and the remaining
/// text.
fn variable(text: &str) -> Option<(&str, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        return braced.split_once('}');
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let end = match text[end..].strip_prefix('(') {
        Some(index) => end + 1 + index.find(')')? + 1,
        None => end,
    };
    (end > 0).then(|| text.split_at(end))
}

/// Index of the bracket that closes a text, which starts behind the opening bracket.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += i64::from(c == '[') - i64::from(c == ']');
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands of a text, with words joined by `|`, and the line in which each begins.
    fn commands(text: &str) -> Vec<String> {
        let mut commands = Commands::default();
        let lines = text.split('\n').enumerate().flat_map(|(at, line)| commands.line(at + 1, line));
        let shown = |(line, words): Command| {
            let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
            format!("{line} {}", words.join("|"))
        };
        lines.map(shown).collect()
    }

    #[test]
    fn words_end_as_in_tcl() {
        assert_eq!(commands("set a 1; set b  2;# more"), ["1 set|a|1", "1 set|b|2"]);
        assert_eq!(commands("$n at 1 \"a b; c #d\" # e"), ["1 $n|at|1|a b; c #d"]);
        assert_eq!(commands("for {set i 0} {\n a {b}\n} c\nd"), ["1 for|set i 0|\n a {b}\n|c", "4 d"]);
        assert_eq!(commands("a \\\n b\\\nc"), ["1 a|b|c"]);
        assert_eq!(commands("set x [expr 1 + [f 2]] y"), ["1 set|x|[expr 1 + [f 2]]|y"]);
        assert_eq!(commands("a \"b\\\"c\" {d\\}e}"), ["1 a|b\\\"c|d\\}e"]);
        assert_eq!(commands("# a { b\nc"), ["2 c"]);
        assert_eq!(commands("a \\x"), ["1 a|\\x"]);
    }

    #[test]
    fn unfinished_commands_are_reported_with_their_line() {
        let mut open = Commands::default();
        assert_eq!((open.line(3, "a \"b").len(), open.open()), (0, Some((3, '"'))));
        assert_eq!((open.line(4, "c\"").len(), open.open()), (1, None));
        assert_eq!((open.line(5, "a {b").len(), open.open()), (0, Some((5, '}'))));
    }

    #[test]
    fn texts_are_known_if_all_variables_and_expressions_in_them_are() {
        let mut variables = Variables::default();
        let word = |text: &str, braced| Word { text: text.into(), braced };
        variables.set("stop", &word("100", false));
        variables.set("val(x)", &word("$stop", false));
        variables.set("i", &word("2", false));
        variables.set("p(2)", &word("$braced", true));
        variables.set("r", &word("[expr rand()*4]", false));
        let cases = [
            ("5.0", Some("5.0")),
            ("$stop.5", Some("100.5")),
            ("${stop}5", Some("1005")),
            ("$val(x)", Some("100")),
            ("$p($i)", Some("$braced")),
            ("[expr $val(x)-1.5]", Some("98.5")),
            ("[expr {$stop / 8}]", Some("12")),
            ("[expr 2*(3+[expr 1])]", Some("8")),
            ("$r", None),
            ("$none", None),
            ("[lindex $argv 0]", None),
            ("[expr 1", None),
            ("$", None),
        ];
        for (text, known) in cases {
            assert_eq!(variables.text(text).as_deref(), known, "{text}");
        }
        variables.remove("stop");
        assert_eq!(variables.text("$stop"), None);
    }
}
