//! What is wrong with the parameters of a scheme, as a value.

use std::fmt;

/// A parameter that does not do: what was found, and what would do. Shown, it is a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The parameter, if it is one alone.
    pub parameter: Option<String>,
    /// What was found, with the parameter's name.
    pub found: String,
    /// What would do.
    pub remedy: String,
}

impl Misfit {
    /// The value of a parameter, and what would do.
    pub fn of(parameter: &str, value: impl fmt::Display, remedy: impl Into<String>) -> Misfit {
        let found = format!("{parameter} is {value}");
        Misfit { parameter: Some(parameter.to_owned()), found, remedy: remedy.into() }
    }

    /// What is wrong with more than one parameter.
    pub fn among(found: impl Into<String>, remedy: impl Into<String>) -> Misfit {
        Misfit { parameter: None, found: found.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found, self.remedy)
    }
}
