//! What schemas say of defaults that follow from the flavour.

use multihop_schemes::{REGISTRY, SchemeEntry, find};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FLAVOURS: [&str; 3] = ["rfc", "ns2", "linux"];

/// The last sentence of each key of a scheme's transport, if it is of a default.
fn stated(entry: &SchemeEntry) -> BTreeMap<String, String> {
    let schema = entry.schema();
    let described = |(key, property): (&String, &Value)| {
        let description = property["description"].as_str()?;
        let (_, default) = description.rsplit_once(" Default ")?;
        Some((key.clone(), default.strip_suffix('.')?.to_owned()))
    };
    schema["properties"].as_object().unwrap().iter().filter_map(described).collect()
}

/// The value that such a sentence has for a flavour, as in a file.
fn value_of(sentence: &str, flavour: &str) -> Option<Value> {
    let groups = sentence.replace(" or ", ", ").replace("), ", ")\n");
    let of = |group: &str| match group.strip_suffix(')').and_then(|group| group.split_once(" (")) {
        Some((value, flavours)) => flavours.split(", ").any(|one| one == flavour).then(|| value.to_owned()),
        None => Some(group.to_owned()),
    };
    let value = groups.lines().find_map(of).unwrap_or_else(|| panic!("{sentence} of {flavour}"));
    (value != "none").then(|| serde_json::from_str(&value).unwrap_or_else(|_| panic!("{sentence}")))
}

#[test]
fn defaults_of_flavours_are_stated() {
    let tcp = stated(find("tcp-newreno").unwrap());
    let tfrc = stated(find("tfrc").unwrap());
    for (table, key, expected) in [
        (&tcp, "segment_size", "\"1460 B\" (rfc, ns2) or \"1448 B\" (linux)"),
        (&tcp, "delayed_ack", "\"100 ms\" (rfc), \"0 s\" (ns2) or \"40 ms\" (linux)"),
        (&tcp, "keep_sacked", "false (rfc), none (ns2) or true (linux)"),
        (&tcp, "window", "1024 (rfc, linux) or 20 (ns2)"),
        (&tcp, "initial_window", "none (rfc), 2 (ns2) or 10 (linux)"),
        (&tcp, "byte_counting", "1 (rfc), none (ns2) or 2 (linux)"),
        (&tcp, "max_rto", "\"60 s\" (rfc, ns2) or \"120 s\" (linux)"),
        (&tcp, "output_limit", "\"4 MiB\""),
        (&tfrc, "header", "\"40 B\" (rfc) or \"32 B\" (ns2)"),
        (&tfrc, "equation_limit", "none (rfc) or \"200 Mb/s\" (ns2)"),
        (&tfrc, "initial_rate", "none (rfc) or \"2.4 kb/s\" (ns2)"),
        (&tfrc, "reports", "\"round-trip\" (rfc) or \"ns2\" (ns2)"),
    ] {
        assert_eq!(table[key], expected, "{key}");
    }
}

/// The schemes that have a transport with flavours: the scheme that has that transport alone, and the
/// flavours of which it has defaults.
fn with_flavours()
-> impl Iterator<Item = (&'static SchemeEntry, &'static SchemeEntry, &'static [&'static str])> {
    let transport = |entry: &'static SchemeEntry| {
        let scheme = entry.build(&json!({})).unwrap();
        let plain = |name| find(name).unwrap();
        match (scheme.tcp(), scheme.tfrc()) {
            (Some(_), _) => Some((entry, plain("tcp-newreno"), &FLAVOURS[..])),
            (_, Some(_)) => Some((entry, plain("tfrc"), &FLAVOURS[..2])),
            _ => None,
        }
    };
    REGISTRY.iter().filter_map(transport)
}

/// What schemes have in place of the defaults of their transport, each by its own file.
#[test]
fn departures_of_schemes_are_stated() {
    let mut found = Vec::new();
    for (entry, plain, _) in with_flavours() {
        let own = stated(entry);
        for (key, _) in stated(plain).iter().filter(|(key, default)| own[*key] != **default) {
            found.push(format!("{} {key} {}", entry.name, own[key]));
        }
    }
    let expected = "tcp-vegas limited_transmit true (rfc, linux) or false (ns2)
tcp-ap delayed_ack \"0 s\"
tcp-ap timestamps true (rfc, linux) or false (ns2)
re-tfrc rate_change \"incremental\"
recn ecn true
ecn-rts ecn true
ecn-fsd ecn true
ecn-busy ecn true
xcp keep_sacked true (rfc, linux) or none (ns2)
xcp timestamps true
xcp-b keep_sacked true (rfc, linux) or none (ns2)
xcp-b timestamps true
rcp keep_sacked true
rcp timestamps true
rcp window 1024
xcp-winf keep_sacked true (rfc, linux) or none (ns2)
xcp-winf timestamps true
rcp-winf keep_sacked true
rcp-winf timestamps true
rcp-winf window 1024
ewccp delayed_ack \"0 s\"
ewccp local_repairs 10
vcp keep_sacked true
vcp window 1024
abc keep_sacked true
abc window 1024
bmcc keep_sacked true
bmcc window 1024
maxnet keep_sacked true
maxnet window 1024";
    assert_eq!(found.join("\n"), expected);
}

/// A default that is given is as good as one that is left out.
#[test]
fn what_is_stated_is_what_is_left_out() {
    let mut given = 0;
    for (entry, plain, flavours) in with_flavours() {
        let own = stated(entry);
        let build = |parameters: Value| {
            let scheme = entry.build(&parameters).ok()?;
            Some((scheme.tcp().map(|parts| parts.options), scheme.tfrc()))
        };
        for (flavour, key) in
            flavours.iter().flat_map(|flavour| stated(plain).into_keys().map(move |key| (flavour, key)))
        {
            let Some(value) = value_of(&own[&key], flavour) else { continue };
            // Some are refused alone, as what has no effect.
            let Some(options) = build(json!({ "flavour": flavour, &*key: value })) else { continue };
            assert_eq!(
                Some(options),
                build(json!({ "flavour": flavour })),
                "{key} of {}, {flavour}",
                entry.name
            );
            given += 1;
        }
    }
    assert!(given > 1_000, "{given}");
}

#[test]
fn what_schemes_share_names_none_of_them() {
    for name in ["tcp-newreno", "tfrc"] {
        let schema = find(name).unwrap().schema();
        for (key, property) in schema["properties"].as_object().unwrap() {
            let description = property["description"].as_str().unwrap().to_owned();
            let mut words = description.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let named = words.find(|word| REGISTRY.iter().any(|entry| entry.name == *word));
            assert_eq!(named, None, "{key} of {name}");
        }
    }
}
