//! Tests of the stated defaults of keys that may be left out.

use multihop_schemes::{REGISTRY, SchemeEntry, find};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Case of a default that depends on the radio, which these tests do not know.
const BY_RADIO: &str = "over radios that send A-MPDUs";
const FLAVOURS: [&str; 3] = ["rfc", "ns2", "linux"];

/// Returns the stated default of each key that may be left out: the schema's default, or the last sentence of
/// the description if that states a default.
fn stated(entry: &SchemeEntry) -> BTreeMap<String, String> {
    let resolved = entry.resolve(&json!({})).unwrap();
    let schema = entry.schema();
    let stated = |(key, property): (&String, &Value)| {
        let own = Some(&property["default"]).filter(|default| !default.is_null()).map(Value::to_string);
        let said = || {
            let (_, default) = property["description"].as_str()?.rsplit_once(" Default ")?;
            default.strip_suffix('.').map(str::to_owned)
        };
        Some((key.clone(), own.or_else(said)?))
    };
    let properties = schema["properties"].as_object().unwrap().iter();
    properties.filter(|(key, _)| resolved[key.as_str()].is_null()).filter_map(stated).collect()
}

/// Returns the value that such a sentence states for a flavour, as in a file; none if it states none.
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
fn defaults_that_follow_from_others_are_stated() {
    let of = |name| stated(find(name).unwrap());
    let (tcp, tfrc) = (of("tcp-newreno"), of("tfrc"));
    for (table, key, expected) in [
        (&tcp, "segment_size", "\"1460 B\" (rfc, ns2) or \"1448 B\" (linux)"),
        (&tcp, "delayed_ack", "\"100 ms\" (rfc), \"0 s\" (ns2) or \"40 ms\" (linux)"),
        (&tcp, "keep_sacked", "false (rfc) or none (ns2, linux)"),
        (&tcp, "window", "1024 (rfc), 20 (ns2) or 16384 (linux)"),
        (&tcp, "initial_window", "none (rfc), 2 (ns2) or 10 (linux)"),
        (&tcp, "byte_counting", "1 (rfc), none (ns2) or 1048576 (linux)"),
        (&tcp, "max_rto", "\"60 s\" (rfc, ns2) or \"120 s\" (linux)"),
        (&tcp, "output_limit", "\"4 MiB\""),
        (&tcp, "ack_every", "2 (rfc, linux) or none (ns2)"),
        (&tfrc, "header", "\"40 B\" (rfc) or \"32 B\" (ns2)"),
        (&tfrc, "initial_rate", "none (rfc) or \"2.4 kb/s\" (ns2)"),
        (&tfrc, "reports", "\"round-trip\" (rfc) or \"ns2\" (ns2)"),
        (&of("tcp-cubic"), "slow_start", "\"hystart++\" (rfc), \"standard\" (ns2) or \"hystart\" (linux)"),
        (&of("xcp"), "alpha", "0.4"),
        (&of("xcp-winf"), "alpha", "0.2"),
        (&of("xcp-winf"), "max_rtt", "\"500 ms\""),
        (&of("rcp"), "utilization", "1.0"),
        (&of("rcp"), "capacity_interval", "\"200 ms\""),
    ] {
        assert_eq!(table[key], expected, "{key}");
    }
}

/// Returns each scheme whose transport has flavours, with the plain scheme of that transport and its
/// flavours.
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
    REGISTRY.iter().filter(|entry| entry.preset_of.is_none()).filter_map(transport)
}

/// Defaults in which schemes differ from their transport.
#[test]
fn differences_from_the_transport_are_stated() {
    let mut found = Vec::new();
    for (entry, plain, _) in with_flavours() {
        let own = stated(entry);
        for (key, _) in stated(plain).iter().filter(|(key, default)| own[*key] != **default) {
            found.push(format!("{} {key} {}", entry.name, own[key]));
        }
    }
    let lines: Vec<&str> = DIFFERENCES.lines().collect();
    let missing: Vec<&str> = found.iter().map(String::as_str).filter(|line| !lines.contains(line)).collect();
    let outdated: Vec<&str> = lines.iter().copied().filter(|line| !found.iter().any(|f| f == line)).collect();
    assert!(
        missing.is_empty() && outdated.is_empty(),
        "if these defaults are meant, change DIFFERENCES in crates/schemes/tests/it/defaults.rs: add\n{}\nand remove\n{}",
        missing.join("\n"),
        outdated.join("\n")
    );
    assert_eq!(lines, found, "DIFFERENCES has the order of REGISTRY");
}

/// Scheme, parameter and default, wherever the default is not that of the plain transport. Flavours are in
/// brackets.
const DIFFERENCES: &str = "tcp-vegas limited_transmit true (rfc), false (ns2) or none (linux)
tcp-bbr3 keep_sacked none
tcp-bbr3 limited_transmit none
tcp-prague accurate_ecn true
tcp-prague keep_sacked none
tcp-prague limited_transmit none
tcp-prague segmentation_offload false
tcp-ap ack_every none
tcp-ap delayed_ack \"0 s\"
tcp-ap timestamps true (rfc, linux) or false (ns2)
atcp ecn true
atcp keep_sacked false (rfc), none (ns2) or true (linux)
atcp limited_transmit true
re-tfrc rate_change \"incremental\"
recn ecn true
ecn-rts ecn true
ecn-fsd ecn true
ecn-busy ecn true
xcp keep_sacked true (rfc) or none (ns2, linux)
xcp timestamps true
xcp-b keep_sacked true (rfc) or none (ns2, linux)
xcp-b timestamps true
rcp keep_sacked true (rfc, ns2) or none (linux)
rcp timestamps true
rcp window 1024
xcp-winf keep_sacked true (rfc) or none (ns2, linux)
xcp-winf timestamps true
rcp-winf keep_sacked true (rfc, ns2) or none (linux)
rcp-winf timestamps true
rcp-winf window 1024
ewccp local_repairs 10
wcp keep_sacked true (rfc, ns2) or none (linux)
wcp segmentation_offload false
wcp window 1024
wcp-cap keep_sacked true (rfc, ns2) or none (linux)
wcp-cap segmentation_offload false
wcp-cap window 1024
vcp keep_sacked true (rfc, ns2) or none (linux)
vcp window 1024
abc keep_sacked true (rfc, ns2) or none (linux)
abc window 1024
bmcc keep_sacked true (rfc, ns2) or none (linux)
bmcc window 1024
maxnet keep_sacked true (rfc, ns2) or none (linux)
maxnet window 1024";

/// Giving a default has the same effect as leaving the key out.
#[test]
fn stated_defaults_are_the_effective_ones() {
    let mut given = 0;
    for (entry, _, flavours) in with_flavours() {
        let own = stated(entry);
        let read = |parameters: Value| {
            let scheme = entry.build(&parameters).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            let options = (scheme.tcp().map(|parts| parts.options), scheme.tfrc());
            (options, entry.resolve(&parameters).unwrap())
        };
        for flavour in flavours {
            let left_out = read(json!({ "flavour": flavour }));
            for (key, default) in own.iter().filter(|(_, default)| !default.contains(BY_RADIO)) {
                let Some(value) = value_of(default, flavour) else { continue };
                let stated = read(json!({ "flavour": flavour, &**key: value }));
                assert_eq!(stated, left_out, "{key} of {}, {flavour}", entry.name);
                given += 1;
            }
        }
    }
    assert!(given > 1_000, "{given}");
}

#[test]
fn shared_parameters_name_no_scheme() {
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

/// A default that is a value stands in the schema's `default`, where programs find it, and not in the
/// description.
#[test]
fn no_description_repeats_a_default() {
    for entry in REGISTRY {
        for (key, property) in entry.schema()["properties"].as_object().unwrap() {
            let description = property["description"].as_str().unwrap().replace('\n', " ");
            for sentence in description.split(". ").filter_map(|sentence| sentence.strip_prefix("Default")) {
                let value = sentence.trim_start_matches([':', ' ']);
                let is_value = value.starts_with(|c: char| c.is_ascii_digit() || c == '"')
                    || ["true", "false"].iter().any(|word| value.starts_with(word));
                let by_case = [" (rfc", " (ns2", BY_RADIO].iter().any(|case| value.contains(case));
                assert!(!is_value || by_case, "{key} of {}: {sentence}", entry.name);
            }
        }
    }
}
