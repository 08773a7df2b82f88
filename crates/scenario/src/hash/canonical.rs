//! Canonical JSON: one text for one value, by the JSON Canonicalization Scheme (RFC 8785).

use serde_json::{Number, Value};
use std::fmt::Write;

/// Text of a value without spaces, with the keys of each object in ascending order.
///
/// Numbers are written as ECMAScript writes them, so that `1.0` is `1`. Whole numbers beyond 2^53 keep all
/// their digits, which RFC 8785 would round.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    append(&mut text, value);
    text
}

fn append(text: &mut String, value: &Value) {
    match value {
        Value::Number(number) => append_number(text, number),
        Value::Array(list) => append_all(text, ['[', ']'], list, append),
        Value::Object(table) => {
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            append_all(text, ['{', '}'], entries, |text, (key, value)| {
                append(text, &Value::from(key.as_str()));
                text.push(':');
                append(text, value);
            });
        }
        plain => *text += &plain.to_string(),
    }
}

fn append_all<T>(
    text: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    append: impl Fn(&mut String, T),
) {
    text.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        append(text, item);
    }
    text.push(close);
}

/// Appends a whole number with all its digits, and any other as ECMAScript's `Number::toString` does (RFC
/// 8785, section 3.2.2.3).
fn append_number(text: &mut String, number: &Number) {
    let written = match number.as_f64().filter(|_| number.is_f64()) {
        None => write!(text, "{number}"),
        Some(0.0) => write!(text, "0"), // not -0
        Some(value) if (1e-6..1e21).contains(&value.abs()) => write!(text, "{value}"),
        Some(value) if value.abs() < 1.0 => write!(text, "{value:e}"),
        Some(value) => write!(text, "{}", format!("{value:e}").replace('e', "e+")),
    };
    written.expect("strings take all text");
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use serde_json::{Value, json};

    #[test]
    fn keys_are_sorted_and_lists_keep_their_order() {
        let value = json!({ "b": [3, 1, { "d": null, "c": true }], "a": "x y", "": {} });
        assert_eq!(canonical(&value), r#"{"":{},"a":"x y","b":[3,1,{"c":true,"d":null}]}"#);
    }

    /// RFC 8785, appendix B, for numbers up to 2^53.
    #[test]
    fn numbers_are_written_as_in_ecmascript() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
        ] {
            assert_eq!(canonical(&json!(f64::from_bits(bits))), expected);
        }
        assert_eq!(canonical(&json!([1.0, 1, -2.0, u64::MAX])), "[1,1,-2,18446744073709551615]");
    }

    /// RFC 8785, section 3.2.2.2.
    #[test]
    fn strings_have_the_shortest_escapes() {
        let text = "\u{20ac}$\u{f}\nA'B\"\\\\\"/";
        assert_eq!(canonical(&Value::from(text)), "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"");
    }
}
