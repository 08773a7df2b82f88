//! The law of the scenario hash: each key of the schema changes the hash, or does not change the run.

use crate::defaults::{TABLES, context, resolved, row};
use crate::hunt::draw::Draw;
use multihop_core::Rng;
use multihop_scenario::{Resolved, Setting, json_schema};
use multihop_sim::{Ties, World};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Tables without a default, as in [`TABLES`], and tables whose keys have no effect there.
const MORE: &str = r#"
| | | placed |
App | video | flows[0].app | plain | flows[0].scheme = "tcp-sack" ; flows[0].app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", gop = 5 }
Category | | mac.edca.ac_be | plain | mac.edca = {}
FadingModel | | medium.fading | plain | medium = { model = "sinr", path_loss = { model = "two-ray" }, fading = { coherence = "5 ms" } }
Generator | grid | topology | pattern | topology = { generator = "grid", columns = 2, rows = 2, jitter = "10 m" }
Generator | random-geometric | topology | pattern | topology = { generator = "random-geometric", nodes = 12, side = "300 m" } ; traffic = { pattern = "all-pairs", scheme = "udp" }
Generator | wlan | topology | pattern | topology = { generator = "wlan" } ; traffic = { pattern = "canonical", scheme = "udp" }
HardwareQueue | | mac.hardware_queue | plain | mac.discipline = "stations" ; mac.hardware_queue = { packets = 7 }
Link | | topology.links[0] | measured | topology.nodes = [{ name = "n0" }, { name = "n1" }, { name = "n2" }, { name = "n3" }] ; topology.links = [{ from = "n3", to = "n2", rssi = "-60 dBm" }, { from = "n0", to = "n1", rssi = "-60 dBm" }, { from = "n1", to = "n0", rssi = "-60 dBm" }]
Link | | topology.links[0] | measured | medium.quantity = "delivery" ; topology.links = [{ from = "n0", to = "n1", delivery = 1.0, reverse = 1.0 }]
Listed | | topology | placed | routing = {}
Mac | | mac | plain | mac.discipline = "cake"
Mac | | mac | plain | mac.discipline = "dualpi2"
Mac | | mac | plain | mac.discipline = "pie"
Mac | | mac | plain | mac.discipline = "stations"
Mac | | mac | plain | phy.standard = "802.11ac"
Mac | | mac | plain | phy.standard = "802.11g"
Measure | adhoc-probe | measure[0] | plain | flows[0].name = "n0" ; measure = [{ estimator = "adhoc-probe" }]
Measure | fte | measure[0] | plain | measure = [{ estimator = "fte" }]
Medium | matrix | medium | measured | medium.quantity = "delivery-and-rssi" ; topology.links = [{ from = "n0", to = "n1", rssi = "-60 dBm", delivery = 1.0 }, { from = "n1", to = "n0", rssi = "-60 dBm", delivery = 1.0 }]
Medium | sinr | medium | plain | phy.standard = "802.11n" ; medium = { model = "sinr", path_loss = { model = "two-ray" } }
Mobility | bonnmotion | mobility | placed | mobility = { model = "bonnmotion", file = "passing.movements" }
Mobility | fcd | mobility | placed | mobility = { model = "fcd", file = "passing.fcd.xml" }
Mobility | random-waypoint | mobility | placed | mobility = { model = "random-waypoint", area = ["1 km", "1 km"], max_speed = "3 m/s", min_speed = "1 m/s" }
Mobility | setdest | mobility | placed | mobility = { model = "setdest", file = "passing.tcl" }
Node | | topology.nodes[1] | placed | routing = {}
Node | | topology.nodes[1] | placed | routing = {} ; topology.nodes[1].base = "n0"
Outage | | outages[0] | plain | outages = [{ node = "n1", from = "1 s" }]
Phy | | phy | plain | phy.standard = "802.11a"
Phy | | phy | plain | phy.standard = "802.11ac"
Phy | | phy | plain | phy.standard = "802.11n"
Phy | | phy | plain | phy.standard = "802.11g"
Phy | | phy | placed | routing = {} ; topology.nodes[0].radios = [{ channel = 1 }, { channel = 3 }] ; topology.nodes[1].radios = [{ channel = 1 }, { channel = 3 }] ; topology.nodes[2].radios = [{ channel = 3 }]
Radio | | topology.nodes[0].radios[0] | placed | routing = {} ; topology.nodes[0].radios = [{ channel = 3 }, { channel = 1 }]
RateControl | | mac.rate_control | plain | medium = { model = "sinr", path_loss = { model = "log-distance" } } ; topology.spacing = "20 m" ; mac.rate_control = { algorithm = "minstrel-ht" } ; phy.standard = "802.11n"
Routing | aodv | routing | plain | schemes = { n0 = { base = "udp" }, n1 = { base = "udp" }, n2 = { base = "udp" }, n3 = { base = "udp" } } ; flows[0].scheme = "n0" ; routing = { protocol = "aodv" }
RuleOverrides | | mac.override | plain | mac.override = {}
RuleOverrides | | mac.override | plain | mac.override.response_timeout = "whole-response"
Traffic | | traffic | pattern | traffic.pattern = "gateway"
Traffic | | traffic | pattern | traffic.pattern = "all-to-one" ; traffic.gateway = "n2"
Wire | | topology.wires[0] | placed | routing = {} ; topology.wires = [{ between = ["n0", "n1"], rate = "1 Mb/s", delay = "1 ms", discipline = "cake" }]
Wire | | topology.wires[0] | placed | routing = {} ; topology.wires = [{ between = ["n0", "n1"], rate = "1 Mb/s", delay = "1 ms", discipline = "dualpi2" }]
Wire | | topology.wires[0] | placed | routing = {} ; topology.wires = [{ between = ["n0", "n1"], rate = "1 Mb/s", delay = "1 ms", discipline = "pie" }]
"#;

/// Keys whose drawn values change nothing, or contradict other keys.
const WITHOUT: [(&str, &str, &str); 13] = [
    ("", "", "description"),
    ("", "", "schemes"), // of those that are not in use
    ("", "", "seed"),
    ("FadingModel", "", "speed"), // beside `coherence`
    ("Listed", "", "links"),      // see `Link`
    ("Medium", "matrix", "quantity"),
    ("Mobility", "bonnmotion", "dimensions"),
    ("Mobility", "bonnmotion", "file"),
    ("Mobility", "fcd", "times"),
    ("Mobility", "setdest", "file"),
    ("Mobility", "setdest", "first_node"),
    ("Outage", "", "one_of"), // beside `node`
    ("Phy", "", "channel"),   // of all nodes alike
];

/// Number of values that are tried for each key.
const TRIES: u64 = 32;

/// Every key of the schema: table, form, key, and its schema.
fn keys(schema: &Value) -> Vec<(String, String, String, Value)> {
    let definitions = schema["$defs"].as_object().unwrap();
    let tables = definitions.iter().map(|(name, table)| (name.as_str(), table)).chain([("", schema)]);
    let mut found = Vec::new();
    for (name, table) in tables.filter(|(name, _)| *name != "Parameters") {
        let forms = ["oneOf", "anyOf"].iter().filter_map(|list| table[*list].as_array()).flatten();
        for form in forms.chain([table]) {
            let keys = || form["properties"].as_object().into_iter().flatten();
            let tag = keys().find_map(|(_, about)| about["const"].as_str()).unwrap_or_default();
            if tag == "python" {
                continue; // needs Python: tests/controllers
            }
            for (key, about) in keys().filter(|(_, about)| about.get("const").is_none()) {
                found.push((name.to_owned(), tag.to_owned(), key.clone(), about.clone()));
            }
        }
    }
    found
}

/// Fingerprint of a run of one second.
fn outcome(resolved: &Resolved) -> u64 {
    let mut config = resolved.config.clone();
    config.duration = config.duration.min(multihop_core::Span::from_ms(1_000));
    World::new(&config, Ties::InOrder).finish().fingerprint
}

/// Whether a value of this key changes the hash. Asserts that a value that does not change it does not change
/// the run.
fn is_in_hash(draw: &Draw, key: &str, about: &Value, [path, scenario, lines]: [&str; 3]) -> bool {
    let (text, settings) = context(scenario, lines);
    let without = resolved(&text, &settings).unwrap_or_else(|error| panic!("{path} {settings:?}: {error}"));
    let tables = path.split(['.', '[', ']']).filter(|step| !step.is_empty() && *step != "0" && *step != "1");
    let within: Vec<&str> = tables.chain([key]).collect();
    let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let mut runs = 0;
    (0..TRIES).any(|number| {
        let value = draw.value(&mut Rng::at(number, &[key]), about, &within);
        let value = toml::to_string(&json!({ "value": value })).unwrap();
        let settings = [&settings[..], &[Setting { path: path.clone(), value: value.clone() }]].concat();
        let Ok(with) = resolved(&text, &settings) else { return false };
        if with.hash == without.hash && runs < 2 {
            runs += 1;
            assert_eq!(outcome(&with), outcome(&without), "{path} {value} with {settings:?}");
        }
        with.hash != without.hash
    })
}

#[test]
fn each_key_changes_the_hash_or_does_not_change_the_run() {
    let (keys, draw) = (keys(&json_schema()), Draw::new());
    let mut never = BTreeSet::new();
    for (table, form, key, about) in &keys {
        let rows = TABLES.trim().lines().chain(MORE.trim().lines()).map(row);
        let mut rows = rows.filter(|(name, _)| *name == (table.as_str(), form.as_str())).peekable();
        assert!(rows.peek().is_some(), "no row of {table} {form}");
        if !rows.any(|(_, row)| is_in_hash(&draw, key, about, row)) {
            never.insert((table.as_str(), form.as_str(), key.as_str()));
        }
    }
    assert_eq!(never, BTreeSet::from(WITHOUT));
}
