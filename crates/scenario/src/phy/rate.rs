//! Rates of DATA: bit rates, and modulation and coding schemes (MCS).

use crate::document::{Document, KeyPath, Result};
use crate::error::RateProblem;
use multihop_config::quantity::{BitRate, ParseError};
use multihop_core::Rate;
use multihop_dot11::{self as dot11, Mcs, Phy, PpduOptions};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A bit rate such as `"54 Mb/s"`, or an MCS such as `"MCS 7"`, with several spatial streams `"MCS 9 NSS 2"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DataRate {
    /// Bit rate.
    Bits(BitRate),
    /// MCS, with the number that its standard gives it.
    Mcs {
        /// Number of the MCS. In 802.11n, 8 to 31 have two to four streams.
        number: u8,
        /// Number of spatial streams. Default: that of the number, or one.
        streams: Option<u8>,
    },
}

impl FromStr for DataRate {
    type Err = ParseError;
    fn from_str(text: &str) -> std::result::Result<DataRate, ParseError> {
        let misread = || ParseError {
            found: format!("{text:?} is not a modulation and coding scheme"),
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
                text.parse().map_err(|misread: ParseError| misread.error())
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
            "description": "modulation and coding scheme, and its number of spatial streams",
            "pattern": "^\\s*MCS\\s*[0-9]+\\s*(NSS\\s*[0-9]+)?\\s*$",
        });
        json_schema!({ "anyOf": [rate, scheme] })
    }
}

/// Rate of control frames: a bit rate, because control frames have no MCS (802.11-2016, 10.7.6).
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ControlRate(pub BitRate);

impl<'de> Deserialize<'de> for ControlRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<ControlRate, D::Error> {
        match DataRate::deserialize(deserializer)? {
            DataRate::Bits(rate) => Ok(ControlRate(rate)),
            scheme @ DataRate::Mcs { .. } => {
                let found = format!("\"{scheme}\" is an MCS, but control frames have legacy rates");
                let wanted = "a bit rate, such as \"6 Mb/s\"".into();
                Err(ParseError { found, wanted }.error())
            }
        }
    }
}

/// The rate given by the value at `path`, if the PHY has it.
pub(crate) fn rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    value: DataRate,
) -> Result<dot11::DataRate> {
    match value {
        DataRate::Bits(rate) => {
            let missing = || document.error(path, no_bit_rate(phy, rate));
            legacy(phy, rate).map(dot11::DataRate::Bits).ok_or_else(missing)
        }
        DataRate::Mcs { number, streams } => {
            let scheme = scheme_of(phy, number, streams);
            scheme.map(dot11::DataRate::Mcs).map_err(|problem| document.error(path, problem))
        }
    }
}

/// The rate of control frames given by the value at `path`, if the PHY has it.
pub(crate) fn control_rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    ControlRate(value): ControlRate,
) -> Result<Rate> {
    legacy(phy, value).ok_or_else(|| document.error(path, not_a_rate(phy)))
}

fn legacy(phy: &Phy, value: BitRate) -> Option<Rate> {
    phy.rates().map(|(rate, _)| rate).find(|rate| BitRate(rate.bps() as f64) == value)
}

/// The problem that a PHY does not have a bit rate.
fn not_a_rate(phy: &Phy) -> RateProblem {
    RateProblem::NotARate { standard: phy.standard(), rates: legacy_rates(phy) }
}

fn legacy_rates(phy: &Phy) -> Vec<BitRate> {
    phy.rates().map(|(rate, _)| BitRate(rate.bps() as f64)).collect()
}

/// The problem that DATA does not have a bit rate, with the MCSs that have it.
fn no_bit_rate(phy: &Phy, value: BitRate) -> RateProblem {
    let (standard, channel) = (phy.standard(), phy.options());
    if !standard.has_mcs() {
        return not_a_rate(phy);
    }
    let schemes = schemes_with(phy, value);
    if !schemes.is_empty() {
        return RateProblem::RateOfScheme { standard, channel, schemes };
    }
    let channels = standard.bandwidths(channel.band).iter().flat_map(|bandwidth| {
        let guards = standard.guard_intervals().iter();
        guards.map(|guard| PpduOptions { bandwidth: *bandwidth, guard: *guard, ..channel })
    });
    let elsewhere = channels.filter_map(|other| {
        let schemes = schemes_with(&phy.with_options(other), value);
        schemes.into_iter().next().map(|scheme| (scheme, other))
    });
    let elsewhere: Vec<(String, PpduOptions)> = elsewhere.collect();
    if elsewhere.is_empty() {
        RateProblem::NoRate { standard, channel, rates: legacy_rates(phy) }
    } else {
        RateProblem::RateElsewhere { standard, channel, elsewhere }
    }
}

/// Names of the MCSs with this bit rate, compared to 0.1 Mb/s, the precision of tables of rates.
fn schemes_with(phy: &Phy, value: BitRate) -> Vec<String> {
    let close = |mcs: &Mcs| phy.bit_rate(*mcs).is_some_and(|rate| (rate.bps() as f64 - value.0).abs() <= 5e4);
    phy.schemes().filter(close).map(|mcs| scheme_name(phy, mcs)).collect()
}

fn scheme_of(phy: &Phy, number: u8, streams: Option<u8>) -> std::result::Result<Mcs, RateProblem> {
    let standard = phy.standard();
    if !standard.has_mcs() {
        return Err(RateProblem::NoSchemes { standard, rates: legacy_rates(phy) });
    }
    let by_number = standard == dot11::Standard::Dot11n && number > 7;
    if let Some(problem) = unequal(number).filter(|_| by_number) {
        return Err(problem);
    }
    let wanted = if by_number {
        Mcs { streams: number / 8 + 1, scheme: number % 8 }
    } else {
        Mcs { streams: streams.unwrap_or(1), scheme: number }
    };
    if by_number && streams.is_some_and(|streams| streams != wanted.streams) {
        return Err(RateProblem::TwoNumbers { number, streams: wanted.streams });
    }
    if phy.schemes().any(|known| known == wanted) {
        return Ok(wanted);
    }
    let (mhz, streams) = (phy.options().bandwidth.mhz(), wanted.streams);
    let alike = phy.schemes().filter(|known| known.streams == streams).map(|known| known.scheme);
    let known: Vec<u8> = alike.collect();
    if known.is_empty() {
        let all: BTreeSet<u8> = phy.schemes().map(|known| known.streams).collect();
        return Err(RateProblem::NoStreams { standard, mhz, streams, known: Vec::from_iter(all) });
    }
    Err(RateProblem::NoScheme { standard, mhz, streams, known })
}

/// The problem with an HT number that is not an MCS with equal modulation in up to four streams (802.11-2016,
/// tables 19-27 to 19-41).
fn unequal(number: u8) -> Option<RateProblem> {
    match number {
        0..=31 => None,
        32 => Some(RateProblem::Duplicate),
        33..=76 => Some(RateProblem::Unequal),
        _ => Some(RateProblem::Reserved),
    }
}

/// Name of an MCS in scenarios.
pub(crate) fn scheme_name(phy: &Phy, mcs: Mcs) -> String {
    let of_all_streams = phy.standard() == dot11::Standard::Dot11n;
    let number = if of_all_streams { (mcs.streams - 1) * 8 + mcs.scheme } else { mcs.scheme };
    let streams = (!of_all_streams && mcs.streams > 1).then_some(mcs.streams);
    DataRate::Mcs { number, streams }.to_string()
}
