//! The table of schemes, and how one is built from parameters.

use crate::{
    Abc, Bmcc, EcnBusy, EcnFsd, EcnRts, Ewccp, Lred, MaxNet, Nred, QuickAndPlenty, Rcp, RcpWinf, ReTfrc,
    Recn, TcpAp, TcpBbr, TcpCubic, TcpNewReno, TcpSack, TcpVegas, TcpWestwood, Tfrc, TfrcCapped, Udp, Vcp,
    Xcp, XcpB, XcpWinf,
};
use crate::{Misfit, Scheme};
use multihop_core::{Layout, nearest_name};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Every scheme. Adding one is a file with its parameters, and a line here.
pub const REGISTRY: &[SchemeEntry] = &[
    SchemeEntry::of::<Udp>(),
    SchemeEntry::of::<TcpNewReno>(),
    SchemeEntry::of::<TcpSack>(),
    SchemeEntry::of::<TcpCubic>(),
    SchemeEntry::of::<TcpVegas>(),
    SchemeEntry::of::<TcpWestwood>(),
    SchemeEntry::of::<TcpBbr>(),
    SchemeEntry::of::<TcpAp>(),
    SchemeEntry::of::<Tfrc>(),
    SchemeEntry::of::<TfrcCapped>(),
    SchemeEntry::of::<ReTfrc>(),
    SchemeEntry::of::<QuickAndPlenty>(),
    SchemeEntry::of::<Recn>(),
    SchemeEntry::of::<EcnRts>(),
    SchemeEntry::of::<EcnFsd>(),
    SchemeEntry::of::<EcnBusy>(),
    SchemeEntry::of::<Lred>(),
    SchemeEntry::of::<Nred>(),
    SchemeEntry::of::<Xcp>(),
    SchemeEntry::of::<XcpB>(),
    SchemeEntry::of::<Rcp>(),
    SchemeEntry::of::<XcpWinf>(),
    SchemeEntry::of::<RcpWinf>(),
    SchemeEntry::of::<Ewccp>(),
    SchemeEntry::of::<Vcp>(),
    SchemeEntry::of::<Abc>(),
    SchemeEntry::of::<Bmcc>(),
    SchemeEntry::of::<MaxNet>(),
];

/// The parameters of a scheme, which are its factory. Doc comments of the fields are the documentation of the parameters.
pub trait Parameters: DeserializeOwned + JsonSchema + Scheme + Serialize + 'static {
    /// As it is called in scenarios.
    const NAME: &str;
    /// What it is, in a line.
    const SUMMARY: &str;
    /// The RFCs or the paper that define it.
    const REFERENCE: &str;
    /// All that the application hands over arrives, in order and once; else what is lost stays lost.
    const RELIABLE: bool = true;
    /// The layouts of its congestion headers.
    const HEADERS: &'static [Layout] = &[];
    /// Are all values in range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    fn check(&self) -> Result<(), Misfit>;
}

/// A scheme that can be named.
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// As it is called in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The RFCs or the paper that define it.
    pub reference: &'static str,
    /// All that the application hands over arrives, in order and once; else what is lost stays lost.
    pub reliable: bool,
    /// The layouts of its congestion headers.
    pub headers: &'static [Layout],
    schema: fn() -> Value,
    build: fn(&Value) -> Result<Arc<dyn Scheme>, Misfit>,
    resolve: fn(&Value) -> Result<Value, Misfit>,
}

impl SchemeEntry {
    /// The scheme with these parameters. One that is not in the [`REGISTRY`] can be built all the same, and be named by scenarios that
    /// are given it.
    pub const fn of<P: Parameters>() -> SchemeEntry {
        SchemeEntry {
            name: P::NAME,
            summary: P::SUMMARY,
            reference: P::REFERENCE,
            reliable: P::RELIABLE,
            headers: P::HEADERS,
            schema: schema::<P>,
            build: |parameters| Ok(Arc::new(parse::<P>(parameters)?)),
            resolve: |parameters| Ok(json!(parse::<P>(parameters)?)),
        }
    }

    /// JSON Schema of the parameters.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// The scheme with these parameters, an object; what is left out takes its default.
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub fn build(&self, parameters: &Value) -> Result<Arc<dyn Scheme>, Misfit> {
        (self.build)(parameters)
    }

    /// All parameters of the scheme with these, in the one form that each value has, whatever unit it was given in. A default
    /// that follows from other parameters is null.
    ///
    /// # Errors
    /// As [`SchemeEntry::build`].
    pub fn resolve(&self, parameters: &Value) -> Result<Value, Misfit> {
        (self.resolve)(parameters)
    }
}

/// The scheme of the [`REGISTRY`] that is called `name`.
///
/// # Errors
/// A sentence with the nearest name, or with all of them.
pub fn find(name: &str) -> Result<&'static SchemeEntry, String> {
    find_among(REGISTRY, name)
}

/// The scheme of `entries` that is called `name`.
///
/// # Errors
/// A sentence with the nearest name, or with all of them.
pub fn find_among<'a>(entries: &'a [SchemeEntry], name: &str) -> Result<&'a SchemeEntry, String> {
    let names = || entries.iter().map(|entry| entry.name);
    entries
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| format!("there is no scheme {name:?}; {}", suggestion(name, names())))
}

fn schema<P: Parameters>() -> Value {
    let mut schema = schema_for!(P).to_value();
    schema["additionalProperties"] = json!(false);
    schema
}

fn parse<P: Parameters>(parameters: &Value) -> Result<P, Misfit> {
    let Value::Object(given) = parameters else {
        let found = format!("parameters of {} must be a table, not {parameters}", P::NAME);
        return Err(Misfit::among(found, LISTED));
    };
    let schema = schema::<P>();
    let known = schema["properties"].as_object().expect("parameters are a struct");
    if let Some(unknown) = given.keys().find(|key| !known.contains_key(*key)) {
        let found = format!("{} has no parameter {unknown:?}", P::NAME);
        return Err(Misfit::among(found, suggestion(unknown, known.keys().map(String::as_str))));
    }
    let parsed: P = serde_json::from_value(parameters.clone()).map_err(|error| blame::<P>(given, &error))?;
    parsed.check()?;
    Ok(parsed)
}

/// What to do where a message has no better advice.
const LISTED: &str = "see the parameters in `multihop list`";

/// serde does not say which key of a table it stumbled over; since every key has a default, each can be tried alone.
fn blame<P: Parameters>(given: &Map<String, Value>, error: &serde_json::Error) -> Misfit {
    let alone = |(key, value): (&String, &Value)| {
        let table = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        let error = serde_json::from_value::<P>(table).err()?;
        Some(Misfit::of(key, format!("{value}: {error}"), LISTED))
    };
    given.iter().find_map(alone).unwrap_or_else(|| Misfit::among(error.to_string(), LISTED))
}

fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest_name(name, known.clone()) {
        Some(nearest) => format!("did you mean {nearest:?}?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{FieldKind, NodeId};

    #[test]
    fn every_entry_is_documented_and_builds_from_nothing() {
        for entry in REGISTRY {
            assert!(!entry.summary.is_empty() && !entry.reference.is_empty(), "{}", entry.name);
            let schema = entry.schema();
            let properties = schema["properties"].as_object().unwrap();
            assert!(!properties.is_empty(), "{}", entry.name);
            for (key, property) in properties {
                let description = property["description"].as_str().unwrap_or_default();
                assert!(description.len() > 20, "{} of {} is not documented: {property}", key, entry.name);
            }
            let scheme = entry.build(&json!({})).unwrap();
            assert!(scheme.segment_size() > 0);
            assert_eq!(find(entry.name).unwrap().summary, entry.summary);
        }
    }

    /// A capture says which header follows by the type alone.
    #[test]
    fn each_type_is_one_header() {
        let mut known: Vec<Layout> = Vec::new();
        for layout in REGISTRY.iter().flat_map(|entry| entry.headers) {
            let has_type = layout.kind.is_some_and(|kind| kind <= Layout::KIND_BITS);
            assert!(has_type && layout.air <= layout.len, "{layout:?}");
            let same = known.iter().find(|other| other.kind == layout.kind || other.name == layout.name);
            assert!(same.is_none_or(|other| other == layout), "{layout:?} and {same:?}");
            if same.is_some() {
                continue;
            }
            known.push(*layout);
            let mut taken = vec![0u8; layout.len];
            taken[0] = Layout::KIND_BITS;
            for field in layout.fields {
                assert!(!field.meaning.is_empty() && field.to <= layout.len, "{field:?}");
                for byte in &mut taken[field.from..field.to] {
                    let bits = match field.kind {
                        FieldKind::Flag(bit) => 1 << bit,
                        FieldKind::Bits(bit, width) => (((1u16 << width) - 1) << bit) as u8,
                        _ => 0xff,
                    };
                    assert_eq!(*byte & bits, 0, "{layout:?}: {field:?} overlaps another field");
                    *byte |= bits;
                }
            }
        }
        assert!(known.len() >= 9, "{known:?}");
    }

    #[test]
    fn names_are_distinct() {
        for (index, entry) in REGISTRY.iter().enumerate() {
            assert!(REGISTRY[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = |name: &str| find(name).map(|_| ()).unwrap_err();
        assert!(error("tcp-newrno").contains("did you mean \"tcp-newreno\"?"), "{}", error("tcp-newrno"));
        assert!(
            error("carrier-pigeon").contains("known are udp, tcp-newreno"),
            "{}",
            error("carrier-pigeon")
        );
    }

    #[test]
    fn what_is_wrong_with_a_parameter_is_said_with_its_name() {
        let cases = [
            (
                "udp",
                json!({ "segment_size": "0 B" }),
                "segment_size is 0 B; it must be a whole number of bytes between 1 B and",
            ),
            (
                "udp",
                json!({ "segment_size": 1472 }),
                "segment_size is 1472: invalid type: integer `1472`, expected a size as text with a unit",
            ),
            ("udp", json!([]), "parameters of udp must be a table, not []"),
            (
                "tcp-sack",
                json!({ "min_rt": "1 s" }),
                "tcp-sack has no parameter \"min_rt\"; did you mean \"min_rto\"?",
            ),
            (
                "tcp-sack",
                json!({ "min_rto": 1 }),
                "min_rto is 1: invalid type: integer `1`, expected a time as text with a unit",
            ),
            ("tcp-sack", json!({ "min_rto": "-1 s" }), "min_rto is -1 s; it must be between 0 s and 1 h"),
            (
                "tcp-sack",
                json!({ "min_rto": "70 s" }),
                "min_rto is 70 s, above max_rto (60 s); make it at most 60 s",
            ),
            (
                "tcp-newreno",
                json!({ "flavour": "ns3" }),
                "flavour is \"ns3\": unknown variant `ns3`, expected one of `rfc`, `ns2`, `linux`",
            ),
            ("tcp-newreno", json!({ "window": 0 }), "window is 0; it must be between 1"),
            ("tcp-cubic", json!({ "beta": 1.5 }), "beta is 1.5; it must be between 0.1 and 1"),
            ("tcp-cubic", json!({ "scale": 0.0 }), "scale is 0; it must be between 0.001 and 1000"),
            ("tcp-vegas", json!({ "alpha": 4.0 }), "alpha is 4, above beta (3); make it at most 3"),
            ("tcp-bbr", json!({ "window_gain": 0.5 }), "window_gain is 0.5; it must be between 1 and 100"),
            (
                "tcp-bbr",
                json!({ "round_trip_window": "10 ms" }),
                "round_trip_window is 10 ms; it must be between 100 ms and 1 h",
            ),
            ("tcp-vegas", json!({ "gamma": -1.0 }), "gamma is -1; it must be between 0 and"),
            (
                "tcp-westwood",
                json!({ "filter": "kalman" }),
                "filter is \"kalman\": unknown variant `kalman`, expected `exponential` or `tustin`",
            ),
            ("tfrc", json!({ "rtt_weight": 0.0 }), "rtt_weight is 0; it must be above 0, and at most 1"),
            (
                "tfrc",
                json!({ "initial_rate": "1 b/s" }),
                "initial_rate is 1 b/s; it must be between 8 b/s and",
            ),
            ("tfrc", json!({ "acknowledged": 0.0 }), "acknowledged is 0; it must be between 0.5 and 100"),
            ("tfrc", json!({ "slow_start_factor": 0.5 }), "slow_start_factor is 0.5; it must be between 1"),
            ("tfrc", json!({ "pacing": "burst" }), "pacing is \"burst\": unknown variant `burst`"),
            (
                "tfrc-capped",
                json!({ "cap": 300 }),
                "cap is 300: invalid type: integer `300`, expected a bit rate as text with a unit",
            ),
            ("re-tfrc", json!({ "hops": 0 }), "hops is 0; it must be between 1 and 1000 hops"),
            ("re-tfrc", json!({ "rtt_window": "0 s" }), "rtt_window is 0 s; it must be between 1 ms and 1 h"),
            ("re-tfrc", json!({ "success": "sure" }), "success is \"sure\": unknown variant `sure`"),
            ("tfrc-capped", json!({ "cap": "0 b/s" }), "cap is 0 b/s; it must be between 8 b/s and 16 Gb/s"),
            ("tcp-ap", json!({ "rate": "0 b/s" }), "rate is 0 b/s; it must be between 1 kb/s and 100 Gb/s"),
            ("tcp-ap", json!({ "history": 0 }), "history is 0; it must be between 1 and 10000 delays"),
            ("tcp-ap", json!({ "short": "two" }), "short is \"two\": unknown variant `two`"),
        ];
        blamed(&cases);
    }

    #[test]
    fn what_is_wrong_with_a_parameter_of_routers_is_said_with_its_name() {
        let cases = [
            ("recn", json!({ "threshold": 1.5 }), "threshold is 1.5; it must be between 0 and 1"),
            (
                "recn",
                json!({ "threshold": "low" }),
                "threshold is \"low\": invalid type: string \"low\", expected f64",
            ),
            ("recn", json!({ "threshold": null }), "threshold is null"),
            ("recn", json!({ "ecn": false }), "ecn is false; recn needs it"),
            ("recn", json!({ "smoothing": 0.0 }), "smoothing is 0; it must be above 0, and at most 1"),
            ("ecn-rts", json!({ "ecn": false }), "ecn is false; ecn-rts needs it"),
            (
                "ecn-rts",
                json!({ "threshold": 0 }),
                "threshold is 0; it must be between 1 and 1000 unanswered RTS",
            ),
            (
                "ecn-rts",
                json!({ "threshold": 2.5 }),
                "threshold is 2.5: invalid type: floating point `2.5`, expected u32",
            ),
            (
                "ecn-fsd",
                json!({ "threshold": 0.03 }),
                "threshold is 0.03: invalid type: floating point `0.03`, expected a time as text with a unit",
            ),
            (
                "ecn-fsd",
                json!({ "threshold": "-1 ms" }),
                "threshold is -1 ms; it must be between 0 s and 1 h",
            ),
            ("ecn-busy", json!({ "threshold": -0.1 }), "threshold is -0.1; it must be between 0 and 1"),
            (
                "ecn-busy",
                json!({ "busy_window": "0 s" }),
                "busy_window is 0 s; it must be between 1 ms and 1 min",
            ),
            ("ewccp", json!({ "psi": 0.0 }), "psi is 0; it must be between 0.001 and 10"),
            ("ewccp", json!({ "summary_bits": 100 }), "summary_bits is 100; it must be a multiple of 32"),
            (
                "ewccp",
                json!({ "signalling_hops": 0 }),
                "signalling_hops is 0; it must be between 1 and 16 hops",
            ),
            ("ewccp", json!({ "load": "guessed" }), "load is \"guessed\": unknown variant `guessed`"),
            (
                "lred",
                json!({ "max_threshold": 1.0 }),
                "max_threshold is 1; it must be above min_threshold (1)",
            ),
            ("abc", json!({ "token_limit": 1.0 }), "token_limit is 1; it must be between 2 and 1000000"),
            ("abc", json!({ "drain_time": "0 s" }), "drain_time is 0 s; it must be between 1 ms and 1 min"),
            ("abc", json!({ "ecn": true }), "ecn is true; routers of this scheme have feedback of their own"),
            ("lred", json!({ "retry_weight": 0.0 }), "retry_weight is 0; it must be above 0, and at most 1"),
            ("lred", json!({ "max_probability": 2.0 }), "max_probability is 2; it must be between 0 and 1"),
            (
                "lred",
                json!({ "given_up_retries": 2000 }),
                "given_up_retries is 2000; it must be between 0 and 1000 retransmissions",
            ),
            ("nred", json!({ "interval": "0 s" }), "interval is 0 s; it must be between 1 ms and 1 min"),
            ("nred", json!({ "busy_index": -1.0 }), "busy_index is -1; it must be between 0 and"),
            (
                "nred",
                json!({ "min_threshold": 300.0 }),
                "max_threshold is 240; it must be above min_threshold (300)",
            ),
            ("nred", json!({ "lifetime": "2 h" }), "lifetime is 2 h; it must be between 1 ms and 1 h"),
            (
                "nred",
                json!({ "index_weight": 1.5 }),
                "index_weight is 1.5; it must be above 0, and at most 1",
            ),
            ("nred", json!({ "min_own_share": 1.5 }), "min_own_share is 1.5; it must be between 0 and 1"),
            ("xcp", json!({ "alpha": -1.0 }), "alpha is -1; it must be between 0 and 2"),
            ("xcp", json!({ "ecn": true }), "ecn is true; routers of this scheme have feedback of their own"),
            (
                "xcp",
                json!({ "capacity": "1 b/s" }),
                "capacity is 1 b/s; it must be between 8 b/s and 16 Gb/s",
            ),
            ("rcp", json!({ "slot": "0 s" }), "slot is 0 s; it must be between 1 ms and 1 min"),
            (
                "xcp-winf",
                json!({ "psi": "caps" }),
                "psi is \"caps\": unknown variant `caps`, expected `flow` or `cap`",
            ),
            ("rcp-winf", json!({ "capacity_smoothing": 0.0 }), "capacity_smoothing is 0; it must be above 0"),
            (
                "ecn-busy",
                json!({ "busy_windw": "1 s" }),
                "ecn-busy has no parameter \"busy_windw\"; did you mean \"busy_window\"?",
            ),
        ];
        blamed(&cases);
    }

    fn blamed(cases: &[(&str, Value, &str)]) {
        for (name, parameters, expected) in cases {
            let error = find(name).unwrap().build(parameters).err().map(|misfit| misfit.to_string());
            let error = error.unwrap_or_default();
            assert!(error.contains(expected), "{name} {parameters}: {error}");
        }
    }

    /// Which schemes ask something of nodes, and which of these measure the medium for it with an estimator, with defaults alone.
    #[test]
    fn what_each_scheme_asks_of_nodes() {
        let asked = |entry: &SchemeEntry| {
            let scheme = entry.build(&json!({})).unwrap();
            let router = scheme.router(NodeId(0), &crate::testing::EGRESS)?;
            Some((entry.name, router.estimators(&crate::testing::phy()).len()))
        };
        let found: Vec<(&str, usize)> = REGISTRY.iter().filter_map(asked).collect();
        let expected = [
            ("recn", 0),
            ("ecn-rts", 0),
            ("ecn-fsd", 0),
            ("ecn-busy", 1), // how busy the medium is
            ("lred", 0),
            ("nred", 0),
            ("xcp", 1), // from here on: what the link carries, where no source is named
            ("xcp-b", 0),
            ("rcp", 1),
            ("xcp-winf", 1),
            ("rcp-winf", 1),
            ("ewccp", 0),
            ("vcp", 1),
            ("abc", 1),
            ("bmcc", 1),
            ("maxnet", 1),
        ];
        for scheme in expected {
            assert!(found.contains(&scheme), "{scheme:?} of {found:?}");
        }
        for ends_alone in ["udp", "tcp-newreno", "tcp-bbr", "tfrc"] {
            assert!(found.iter().all(|(name, _)| *name != ends_alone), "{ends_alone} asks nothing of nodes");
        }
    }

    /// Each parameter is stated, whatever was left out, and what was given is in it.
    #[test]
    fn resolved_parameters_are_all_of_the_scheme() {
        for entry in REGISTRY {
            let resolved = entry.resolve(&json!({})).unwrap();
            for key in entry.schema()["properties"].as_object().unwrap().keys() {
                assert!(resolved.get(key).is_some(), "{key} of {}", entry.name);
            }
        }
        let size = |text| {
            find("udp").unwrap().resolve(&json!({ "segment_size": text })).unwrap()["segment_size"].clone()
        };
        assert_eq!(size("1.5 kB"), size("1500 B"));
        assert_ne!(size("1.5 kB"), size("1400 B"));
    }
}
