//! Numbers with units, as they are written in scenarios: `"2 Mb/s"`, `"200 m"`, `"30 s"`, `"10 dB"`.
//!
//! Each quantity is a newtype over `f64` in its base unit. A number without a unit is refused, because the
//! unit would be a guess.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use multihop_core::{Rate, Span};

/// Error of a text that is not a quantity, with a remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// Description of the fault, with the text.
    pub found: String,
    /// Description of an acceptable text.
    pub wanted: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.found, self.wanted)
    }
}

impl ParseError {
    /// Returns this error as an error of the deserializer.
    pub fn error<E: Error>(&self) -> E {
        E::invalid_value(Unexpected::Other(&self.found), &self.wanted.as_str())
    }
}

/// Kind of quantity, identified by the name of its Rust type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    name: &'static str,
    kind: &'static str,
    units: &'static [(&'static str, f64)],
}

impl Quantity {
    const ALL: [Quantity; 9] = [
        Duration::QUANTITY,
        BitRate::QUANTITY,
        Size::QUANTITY,
        Length::QUANTITY,
        Speed::QUANTITY,
        Decibel::QUANTITY,
        Gain::QUANTITY,
        Power::QUANTITY,
        Frequency::QUANTITY,
    ];

    /// Returns the quantity of this name, which schemas state as `x-quantity`; none if it is unknown.
    pub fn named(name: &str) -> Option<&'static Quantity> {
        const ALL: &[Quantity] = &Quantity::ALL;
        ALL.iter().find(|quantity| quantity.name == name)
    }

    /// Parses a text and returns the number in base units.
    ///
    /// # Errors
    /// Describes the fault of the text and a remedy.
    pub fn parse(&self, text: &str) -> Result<f64, ParseError> {
        parse(text, self.kind, self.units)
    }

    /// Whether the quantity has no fractions of its base unit, which holds for bytes.
    pub fn is_whole(&self) -> bool {
        self.name == Size::QUANTITY.name
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        write!(f, "{} as text with a unit ({}), such as \"1 {}\"", self.kind, names.join(", "), names[0])
    }
}

/// Parses the number and the unit of `text` and scales the number to the base unit.
fn parse(text: &str, kind: &str, units: &[(&str, f64)]) -> Result<f64, ParseError> {
    let text = text.trim();
    let misread = |found: String| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        ParseError { found, wanted: format!("{kind}: a number and one of the units {}", names.join(", ")) }
    };
    let split = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || "+-".contains(d));
            !(c.is_ascii_digit() || ".+-_".contains(c) || exponent)
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = (&text[..split], text[split..].trim());
    let value = plain(number)
        .and_then(|number| number.parse::<f64>().ok())
        .ok_or_else(|| misread(format!("{text:?} has no number that can be read")))?;
    if unit.is_empty() {
        return Err(misread(format!("{text:?} has no unit")));
    }
    let (_, scale) = units
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| misread(format!("{unit:?} in {text:?} is not a unit of {kind}")))?;
    let scaled = value * scale;
    if scaled.is_finite() { Ok(scaled) } else { Err(misread(format!("{text:?} is not a finite number"))) }
}

/// Returns a number without its underscores; none unless each underscore has a digit before it and three
/// digits after it.
fn plain(number: &str) -> Option<String> {
    let is_group = |(at, _): (usize, &str)| {
        let digits = number[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        digits == 3 && number[..at].ends_with(|before: char| before.is_ascii_digit())
    };
    number.match_indices('_').all(is_group).then(|| number.replace('_', ""))
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, [$(($unit:literal, $scale:literal)),+ $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl $name {
            const UNITS: &[(&str, f64)] = &[$(($unit, $scale)),+];
            const QUANTITY: Quantity = Quantity { name: stringify!($name), kind: $kind, units: Self::UNITS };

            /// Returns the quantity in its shortest form. A whole number of up to four digits is in the base
            /// unit, such as "1460 B"; others are as in [`Display`](fmt::Display).
            pub fn shown(&self) -> String {
                // Rounded as in `Display`, to hide the rounding of the scale.
                let value: f64 = format!("{:.11e}", self.0).parse().unwrap_or(self.0);
                if value.abs() < 1e4 && value.fract() == 0.0 {
                    format!("{value} {}", Self::UNITS[0].0)
                } else {
                    self.to_string()
                }
            }
        }

        impl FromStr for $name {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<$name, ParseError> {
                parse(text, $kind, Self::UNITS).map($name)
            }
        }

        impl fmt::Display for $name {
            /// Writes the quantity in the largest unit that keeps the number at or above one. If the base
            /// unit is much shorter, it is used: "1500 B" and not "1.46484375 KiB".
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let fits = |scale: f64| (self.0 / scale).abs() >= 1.0;
                let best = Self::UNITS.iter().filter(|(_, scale)| fits(*scale)).max_by(|a, b| a.1.total_cmp(&b.1));
                let text = |(unit, scale): &(&str, f64)| {
                    // Twelve significant digits hide the rounding of the scale, not of the value.
                    let shown: f64 = format!("{:.11e}", self.0 / scale).parse().unwrap_or(self.0 / scale);
                    format!("{shown} {unit}")
                };
                let (largest, base) = (text(best.unwrap_or(&Self::UNITS[0])), text(&Self::UNITS[0]));
                f.write_str(if base.len() + 2 < largest.len() { &base } else { &largest })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{}", $name::QUANTITY)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(|misread: ParseError| misread.error())
                    }
                    fn visit_i64<E: Error>(self, v: i64) -> Result<$name, E> {
                        Err(E::invalid_type(Unexpected::Signed(v), &self))
                    }
                    fn visit_f64<E: Error>(self, v: f64) -> Result<$name, E> {
                        Err(E::invalid_type(Unexpected::Float(v), &self))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!($kind, ", with its unit"),
                    "x-quantity": stringify!($name),
                    "pattern": concat!("^\\s*[+-]?\\.?[0-9]+(_[0-9]{3})*(\\.[0-9]+(_[0-9]{3})*)?\\.?([eE][+-]?[0-9]+)?\\s*(", $pattern, ")\\s*$"),
                })
            }
        }
    };
}

quantity!(
    /// Length of time in seconds.
    Duration, "a time", "s|ms|us|µs|ns|min|h",
    [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("min", 60.0), ("h", 3600.0)]
);
quantity!(
    /// Bit rate in bits per second.
    BitRate, "a bit rate", "b/s|kb/s|Mb/s|Gb/s",
    [("b/s", 1.0), ("kb/s", 1e3), ("Mb/s", 1e6), ("Gb/s", 1e9)]
);
quantity!(
    /// Amount of data in bytes.
    Size, "a size", "B|kB|MB|GB|KiB|MiB",
    [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1024.0), ("MiB", 1_048_576.0)]
);
quantity!(
    /// Length in metres.
    Length, "a length", "m|km|cm",
    [("m", 1.0), ("km", 1e3), ("cm", 1e-2)]
);
quantity!(
    /// Speed in metres per second.
    Speed, "a speed", "m/s|km/h",
    [("m/s", 1.0), ("km/h", 0.277_777_777_777_777_8)]
);
quantity!(
    /// Ratio in decibels.
    Decibel, "a ratio", "dB",
    [("dB", 1.0)]
);
quantity!(
    /// Antenna gain in dBi.
    Gain, "an antenna gain", "dBi|dB",
    [("dBi", 1.0), ("dB", 1.0)]
);
quantity!(
    /// Power in dBm.
    Power, "a power", "dBm",
    [("dBm", 1.0)]
);
quantity!(
    /// Frequency in hertz.
    Frequency, "a frequency", "Hz|kHz|MHz|GHz",
    [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)]
);

impl Duration {
    /// Converts to a span; negative values become zero.
    pub fn span(self) -> Span {
        Span::from_seconds(self.0)
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration(span.seconds())
    }
}

impl BitRate {
    /// Converts to bytes per second.
    pub fn bytes_per_second(self) -> f64 {
        self.0 / 8.0
    }

    /// Converts to a rate; negative values become zero.
    pub fn rate(self) -> Rate {
        Rate::from_bps(self.0.round() as u64)
    }
}

impl Size {
    /// Rounds to whole bytes; negative values become zero.
    pub fn bytes(self) -> u64 {
        self.0.round() as u64
    }
}

impl Decibel {
    /// Converts to a ratio of powers.
    pub fn ratio(self) -> f64 {
        10f64.powf(self.0 / 10.0)
    }
}

impl Gain {
    /// Converts to a ratio of powers.
    pub fn ratio(self) -> f64 {
        Decibel(self.0).ratio()
    }
}

impl Power {
    /// Converts to milliwatts.
    pub fn milliwatts(self) -> f64 {
        10f64.powf(self.0 / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_need_units_and_units_must_be_known() {
        assert_eq!("5.5 Mb/s".parse(), Ok(BitRate(5.5e6)));
        assert_eq!("11Mb/s".parse(), Ok(BitRate(11e6)));
        assert_eq!("1e3 m".parse(), Ok(Length(1000.0)));
        assert_eq!("-82 dBm".parse(), Ok(Power(-82.0)));
        assert_eq!("10 min".parse(), Ok(Duration(600.0)));
        let error = "30".parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains("no unit") && error.contains("ms"), "{error}");
        let error = "30 m".parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains("\"m\"") && error.contains("not a unit of a time"), "{error}");
        for number in [
            "_1", "1_", "1__000", "1_.5", "1._500", "_", "1e_300", "+_100", "1_0", "1_00", "1_0000",
            "1_000_0",
        ] {
            assert!(format!("{number} s").parse::<Duration>().is_err(), "{number}");
        }
        assert_eq!("1_000.000_001e0 s".parse(), Ok(Duration(1_000.000_001)));
        assert!("fast".parse::<BitRate>().unwrap_err().found.contains("no number"));
        assert!("nan s".parse::<Duration>().is_err());
        assert!("1e999 s".parse::<Duration>().unwrap_err().found.contains("finite"));
    }

    #[test]
    fn a_displayed_quantity_can_be_parsed() {
        for text in ["2 Mb/s", "5.5 Mb/s", "0 b/s"] {
            assert_eq!(text.parse::<BitRate>().unwrap().to_string(), text);
        }
        for text in ["100 us", "1.5 s", "10 min"] {
            let value: Duration = text.parse().unwrap();
            assert_eq!(value.to_string().parse::<Duration>().unwrap(), value);
        }
    }

    #[test]
    fn the_base_unit_is_used_where_it_is_much_shorter() {
        let sizes = [1500.0, 1472.0, 4e6, 65_536.0, 1e9].map(|bytes| Size(bytes).to_string());
        assert_eq!(sizes, ["1500 B", "1472 B", "4000000 B", "64 KiB", "1 GB"]);
        assert_eq!([Duration(0.1), Duration(90.0)].map(|time| time.to_string()), ["100 ms", "90 s"]);
    }

    #[test]
    fn short_whole_numbers_are_shown_in_the_base_unit() {
        assert_eq!([Size(1460.0), Size(4_194_304.0)].map(|size| size.shown()), ["1460 B", "4 MiB"]);
        assert_eq!(
            [Duration(60.000_000_000_000_01), Duration(0.1)].map(|time| time.shown()),
            ["60 s", "100 ms"]
        );
    }

    #[test]
    fn ten_decibels_are_ten_times_the_power() {
        for (db, ratio) in [(10.0, 10.0), (-20.0, 0.01), (0.0, 1.0)] {
            assert!((Decibel(db).ratio() / ratio - 1.0).abs() < 1e-12);
            assert!((Power(db).milliwatts() / ratio - 1.0).abs() < 1e-12);
        }
    }
}
