//! Arithmetic of Tcl on numbers: `+ - * /` and parentheses.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting of parentheses and signs.
const DEEPEST: u32 = 50;

/// Number of Tcl. The quotient of two integers is an integer.
#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Real(f64),
}

use Number::{Integer, Real};

/// Value of an expression, as text; none if it is more than arithmetic on numbers.
pub(super) fn value(text: &str) -> Option<String> {
    let mut parser = Parser { rest: text.chars().peekable(), depth: 0 };
    let value = parser.sum()?;
    parser.skip_blanks();
    match (parser.rest.next(), value) {
        (None, Integer(value)) => Some(value.to_string()),
        (None, Real(value)) => value.is_finite().then(|| value.to_string()),
        (Some(_), _) => None,
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: u32,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn operator(&mut self, among: [char; 2]) -> Option<char> {
        self.skip_blanks();
        self.rest.next_if(|c| among.contains(c))
    }

    fn sum(&mut self) -> Option<Number> {
        let mut value = self.product()?;
        while let Some(operator) = self.operator(['+', '-']) {
            let other = self.product()?;
            value = match (operator, value, other) {
                ('+', Integer(a), Integer(b)) => Integer(a.checked_add(b)?),
                (_, Integer(a), Integer(b)) => Integer(a.checked_sub(b)?),
                ('+', a, b) => Real(a.real() + b.real()),
                (_, a, b) => Real(a.real() - b.real()),
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<Number> {
        let mut value = self.factor()?;
        while let Some(operator) = self.operator(['*', '/']) {
            let other = self.factor()?;
            value = match (operator, value, other) {
                ('*', Integer(a), Integer(b)) => Integer(a.checked_mul(b)?),
                (_, Integer(a), Integer(b)) => Integer(floored(a, b)?),
                ('*', a, b) => Real(a.real() * b.real()),
                (_, a, b) => Real(a.real() / b.real()),
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<Number> {
        self.skip_blanks();
        if !matches!(self.rest.peek()?, '(' | '-' | '+') {
            return self.number();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = match self.rest.next()? {
            '(' => {
                let value = self.sum()?;
                self.operator([')', ')'])?;
                value
            }
            '-' => match self.factor()? {
                Integer(value) => Integer(value.checked_neg()?),
                Real(value) => Real(-value),
            },
            _ => self.factor()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn number(&mut self) -> Option<Number> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| {
            let sign = matches!(c, '+' | '-') && text.ends_with(['e', 'E']);
            sign || c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E')
        }) {
            text.push(c);
        }
        let whole = text.parse().map(Integer);
        whole.or_else(|_| text.parse().map(Real)).ok()
    }
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Integer(value) => value as f64,
            Real(value) => value,
        }
    }
}

/// Quotient of integers in Tcl, rounded down.
fn floored(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn expressions_have_the_values_of_tcl() {
        let cases = [
            ("1+2*3", "7"),
            ("(1 + 2) * 3", "9"),
            ("7/2", "3"),
            ("-7/2", "-4"),
            ("7/2.0", "3.5"),
            ("-(2-5)", "3"),
            ("1.5e-1 * 10", "1.5"),
            ("2 - -3", "5"),
            (" 4. ", "4"),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "1+", "rand()*4", "1/0", "1.0/0", "(1", "1)", "2 3", "9223372036854775807+1", "e"] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&"(".repeat(100_000)), None);
    }
}
