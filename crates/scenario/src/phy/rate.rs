//! What DATA is sent at: a bit rate, or a modulation and coding scheme.

use crate::document::{Document, KeyPath, Result};
use crate::error::list;
use multihop_dot11::{self as dot11, Mcs, Phy};
use multihop_schemes::quantity::{BitRate, Misread};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A bit rate such as `"54 Mb/s"`, or the number of a scheme: `"MCS 7"`, `"MCS 9 NSS 2"` in two spatial streams.
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

/// The rate that the value at `path` gives, if the PHY has it.
pub(crate) fn rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    value: DataRate,
) -> Result<dot11::DataRate> {
    match value {
        DataRate::Bits(rate) => bit_rate_of(document, path, phy, rate).map(dot11::DataRate::Bits),
        DataRate::Mcs { number, streams } => {
            scheme_of(document, path, phy, number, streams).map(dot11::DataRate::Mcs)
        }
    }
}

/// The bit rate that the value at `path` gives, if the PHY has it.
pub(crate) fn bit_rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    value: BitRate,
) -> Result<multihop_core::Rate> {
    let rates: Vec<BitRate> = phy.rates().map(|(rate, _)| BitRate(rate.bps() as f64)).collect();
    if rates.contains(&value) {
        return Ok(value.rate());
    }
    let schemes = if phy.standard().has_mcs() { "; or a scheme, such as \"MCS 7\"" } else { "" };
    let why = format!("is not a rate of {}", name(phy));
    Err(document.bad(path, why, format!("its rates: {}{schemes}", list(&rates))))
}

fn scheme_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &Phy,
    number: u8,
    streams: Option<u8>,
) -> Result<Mcs> {
    if !phy.standard().has_mcs() {
        let rates: Vec<BitRate> = phy.rates().map(|(rate, _)| BitRate(rate.bps() as f64)).collect();
        let why = format!("is a scheme, and {} has none", name(phy));
        return Err(document.bad(path, why, format!("its rates: {}", list(&rates))));
    }
    let by_number = phy.standard() == dot11::Standard::Dot11n && number > 7;
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
