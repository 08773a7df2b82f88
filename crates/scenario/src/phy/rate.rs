//! What DATA is sent at: a bit rate, or a modulation and coding scheme.

use crate::document::{Document, KeyPath, Result};
use crate::error::{ScenarioError, list};
use multihop_core::Rate;
use multihop_dot11::{self as dot11, Mcs, Phy, PpduOptions};
use multihop_schemes::quantity::{BitRate, Misread};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A bit rate such as `"54 Mb/s"`, or the number of a scheme: `"MCS 7"`, `"MCS 9 NSS 2"` in two spatial
/// streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DataRate {
    /// A bit rate.
    Bits(BitRate),
    /// A scheme, as its standard numbers it.
    Mcs {
        /// Its number: in 802.11n also 8 to 31, which have two to four streams.
        number: u8,
        /// Spatial streams. Default: what the number says, one if it says nothing.
        streams: Option<u8>,
    },
}

impl FromStr for DataRate {
    type Err = Misread;
    fn from_str(text: &str) -> std::result::Result<DataRate, Misread> {
        let misread = || Misread {
            found: format!("{text:?} is no modulation and coding scheme"),
            wanted: "\"MCS\" and its number, such as \"MCS 7\", or \"MCS 9 NSS 2\" for two spatial streams"
                .into(),
        };
        let Some(numbers) = text.trim().strip_prefix("MCS") else { return text.parse().map(DataRate::Bits) };
        let (number, streams) = numbers.split_once("NSS").map_or((numbers, None), |(a, b)| (a, Some(b)));
        let small = |text: &str| text.trim().parse::<u8>().map_err(|_| misread());
        Ok(DataRate::Mcs { number: small(number)?, streams: streams.map(small).transpose()? })
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataRate::Bits(rate) => rate.fmt(f),
            DataRate::Mcs { number, streams: None } => write!(f, "MCS {number}"),
            DataRate::Mcs { number, streams: Some(streams) } => write!(f, "MCS {number} NSS {streams}"),
        }
    }
}

impl<'de> Deserialize<'de> for DataRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<DataRate, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = DataRate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate as text, such as \"11 Mb/s\" or \"MCS 7\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> std::result::Result<DataRate, E> {
                text.parse().map_err(|misread: Misread| misread.error())
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl Serialize for DataRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for DataRate {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "DataRate".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<BitRate>();
        let scheme = json_schema!({
            "type": "string",
            "description": "a modulation and coding scheme, and its spatial streams",
            "pattern": "^\\s*MCS\\s*[0-9]+\\s*(NSS\\s*[0-9]+)?\\s*$",
        });
        json_schema!({ "anyOf": [rate, scheme] })
    }
}

/// The rate of control frames: a bit rate, because they have no schemes (802.11-2016, 10.7.6).
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ControlRate(pub BitRate);

impl<'de> Deserialize<'de> for ControlRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<ControlRate, D::Error> {
        match DataRate::deserialize(deserializer)? {
            DataRate::Bits(rate) => Ok(ControlRate(rate)),
            scheme @ DataRate::Mcs { .. } => {
                let found = format!("\"{scheme}\" is a scheme, and control frames have legacy rates");
                let wanted = "a bit rate, such as \"6 Mb/s\"".into();
                Err(Misread { found, wanted }.error())
            }
        }
    }
}

/// The rate that the value at `path` gives, if the PHY has it.
pub(crate) fn rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    value: DataRate,
) -> Result<dot11::DataRate> {
    match value {
        DataRate::Bits(rate) => {
            let missing = || no_bit_rate(document, path, phy, rate);
            legacy(phy, rate).map(dot11::DataRate::Bits).ok_or_else(missing)
        }
        DataRate::Mcs { number, streams } => {
            scheme_of(document, path, phy, number, streams).map(dot11::DataRate::Mcs)
        }
    }
}

/// The rate of control frames that the value at `path` gives, if the PHY has it.
pub(crate) fn control_rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    ControlRate(value): ControlRate,
) -> Result<Rate> {
    legacy(phy, value).ok_or_else(|| {
        let why = format!("is not a{} rate of {}", legacy_word(phy), name(phy));
        document.bad(path, why, legacy_rates(phy))
    })
}

fn legacy(phy: &Phy, value: BitRate) -> Option<Rate> {
    phy.rates().map(|(rate, _)| rate).find(|rate| BitRate(rate.bps() as f64) == value)
}

/// What tells rates of a bit rate from those of schemes, where there are both.
fn legacy_word(phy: &Phy) -> &'static str {
    if phy.standard().has_mcs() { " legacy" } else { "" }
}

fn legacy_rates(phy: &Phy) -> String {
    let rates: Vec<BitRate> = phy.rates().map(|(rate, _)| BitRate(rate.bps() as f64)).collect();
    format!("its{} rates: {}", legacy_word(phy), list(&rates))
}

/// The error that DATA has no such bit rate; where it is that of a scheme, of which.
fn no_bit_rate(document: &Document<'_>, path: &KeyPath, phy: &Phy, value: BitRate) -> ScenarioError {
    let (this, standard) = (phy.options(), name(phy));
    if !phy.standard().has_mcs() {
        return document.bad(path, format!("is not a rate of {standard}"), legacy_rates(phy));
    }
    let here = schemes_with(phy, value);
    if !here.is_empty() {
        let why = format!("is the rate of {} of {standard} {}", list(&here), said_of(this));
        return document.bad(path, why, format!("give the scheme, \"{}\"", here[0]));
    }
    let why = format!("is no rate of {standard} {}", said_of(this));
    let usual = format!("{}; or a scheme, such as \"MCS 7\"", legacy_rates(phy));
    let (standard, band) = (phy.standard(), this.band);
    let channels = standard.bandwidths(band).iter().flat_map(|bandwidth| {
        let guards = standard.guard_intervals().iter();
        guards.map(|guard| PpduOptions { bandwidth: *bandwidth, guard: *guard, ..this })
    });
    let elsewhere = channels.filter_map(|options| {
        let schemes = schemes_with(&phy.with_options(options), value);
        schemes.first().map(|scheme| format!("{scheme} has it {}", said_of(options)))
    });
    let found: Vec<String> = elsewhere.collect();
    document.bad(path, why, if found.is_empty() { usual } else { found.join("; ") })
}

/// The names of the schemes with this bit rate, to the one decimal place of Mb/s that tables of rates have.
fn schemes_with(phy: &Phy, value: BitRate) -> Vec<String> {
    let close = |mcs: &Mcs| phy.bit_rate(*mcs).is_some_and(|rate| (rate.bps() as f64 - value.0).abs() <= 5e4);
    phy.schemes().filter(close).map(|mcs| scheme_name(phy, mcs)).collect()
}

/// A channel and its guard intervals, as sentences have them.
fn said_of(options: PpduOptions) -> String {
    let guard = options.guard.span().ns();
    format!("in {} MHz with guard intervals of {guard} ns", options.bandwidth.mhz())
}

fn scheme_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    number: u8,
    streams: Option<u8>,
) -> Result<Mcs> {
    if !phy.standard().has_mcs() {
        let why = format!("is a scheme, and {} has none", name(phy));
        return Err(document.bad(path, why, legacy_rates(phy)));
    }
    let by_number = phy.standard() == dot11::Standard::Dot11n && number > 7;
    if let Some(why) = unequal(number).filter(|_| by_number) {
        return Err(document.bad(path, why, "give one of MCS 0 to 31"));
    }
    let wanted = if by_number {
        Mcs { streams: number / 8 + 1, scheme: number % 8 }
    } else {
        Mcs { streams: streams.unwrap_or(1), scheme: number }
    };
    if by_number && streams.is_some_and(|streams| streams != wanted.streams) {
        let why = format!("gives two numbers of streams: MCS {number} of 802.11n has {}", wanted.streams);
        return Err(document.bad(path, why, "give the number alone, or 0 to 7 with NSS"));
    }
    if phy.schemes().any(|known| known == wanted) {
        return Ok(wanted);
    }
    let alike: Vec<u8> =
        phy.schemes().filter(|known| known.streams == wanted.streams).map(|known| known.scheme).collect();
    let channel = format!("{} in {} MHz", name(phy), phy.options().bandwidth.mhz());
    if alike.is_empty() {
        let all: BTreeSet<u8> = phy.schemes().map(|known| known.streams).collect();
        let why = format!("has {} streams, and {channel} has other numbers of them", wanted.streams);
        return Err(document.bad(path, why, format!("NSS can be {}", list(&Vec::from_iter(all)))));
    }
    let why = format!("does not exist: {channel} has no such scheme with NSS {}", wanted.streams);
    Err(document.bad(path, why, format!("with so many streams there are MCS {}", list(&alike))))
}

/// What a number of HT is that has not the same modulation in up to four streams (802.11-2016, tables 19-27
/// to 19-41).
fn unequal(number: u8) -> Option<&'static str> {
    match number {
        0..=31 => None,
        32 => Some("is the duplicate of 6 Mb/s in both halves of 40 MHz, which is not modelled"),
        33..=76 => Some("has streams of unequal modulation, which is not modelled"),
        _ => Some("is reserved: 802.11n has no such scheme"),
    }
}

/// A scheme as scenarios name it.
pub(crate) fn scheme_name(phy: &Phy, mcs: Mcs) -> String {
    let of_all_streams = phy.standard() == dot11::Standard::Dot11n;
    let number = if of_all_streams { (mcs.streams - 1) * 8 + mcs.scheme } else { mcs.scheme };
    let streams = (!of_all_streams && mcs.streams > 1).then_some(mcs.streams);
    DataRate::Mcs { number, streams }.to_string()
}

/// A standard as scenarios name it.
pub(crate) fn name(phy: &Phy) -> String {
    serde_json::to_string(&phy.standard()).expect("a standard is a text")
}
