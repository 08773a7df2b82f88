//! Defaults that the schema states: a file may state each of them without a change of meaning.

use multihop_scenario::{External, Overrides, Resolved, Setting, json_schema, resolve};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

const PLAIN: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[[flows]]
from = "n0"
to = "n2"
scheme = "udp"
"#;

const PATTERN: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[traffic]
pattern = "all-pairs"
scheme = "udp"
"#;

const PLACED: &str = r#"duration = "10 s"
[topology]
nodes = [
    { name = "n0", position = ["0 m", "0 m"] },
    { name = "n1", position = ["100 m", "0 m"] },
    { name = "n2", position = ["200 m", "0 m"] },
]
[routing]
protocol = "dsdv"
[[flows]]
from = "n0"
to = "n2"
scheme = "udp"
"#;

const MEASURED: &str = r#"duration = "10 s"
[medium]
model = "matrix"
quantity = "rssi"
[topology]
nodes = [{ name = "n0" }, { name = "n1" }]
links = [{ from = "n0", to = "n1", rssi = "-60 dBm" }, { from = "n1", to = "n0", rssi = "-60 dBm" }]
[[flows]]
from = "n0"
to = "n1"
scheme = "udp"
"#;

/// Each row: a table of the schema, its form if it has several, a scenario, and settings with which the
/// scenario has the table. Several rows of one table are different cases.
pub const TABLES: &str = r#"
| | | plain |
Aggregation | | mac.aggregation | plain | phy.standard = "802.11n"
App | saturated | flows[0].app | plain | flows[0].app = { kind = "saturated" }
App | bulk | flows[0].app | plain | flows[0].app = { kind = "bulk" }
App | cbr | flows[0].app | plain | flows[0].app = { kind = "cbr", rate = "1 Mb/s", packet = "1 kB" }
App | poisson | flows[0].app | plain | flows[0].app = { kind = "poisson", rate = "1 Mb/s", packet = "1 kB" }
App | transfers | flows[0].app | plain | flows[0].scheme = "tcp-sack" ; flows[0].app = { kind = "transfers", size = "1 kB" }
App | video | flows[0].app | plain | flows[0].scheme = "tcp-sack" ; flows[0].app = { kind = "video", rate = "1 Mb/s", deadline = "1 s" }
App | external | flows[0].app | plain | flows[0].app = { kind = "external" }
Aql | | mac.hardware_queue.aql | plain | mac.discipline = "stations" ; mac.hardware_queue.aql = {}
Codel | | mac.codel | plain | mac.discipline = "stations"
DualPi2 | | mac.dualpi2 | plain | mac.discipline = "dualpi2"
Edca | | mac.edca | plain | mac.edca = {}
Flow | | flows[0] | plain |
Generator | chain | topology | pattern | topology = { generator = "chain", hops = 2 }
Generator | grid | topology | pattern | topology = { generator = "grid", columns = 2, rows = 2 }
Generator | star | topology | pattern | topology = { generator = "star", arms = 3 }
Generator | cross | topology | pattern | topology = { generator = "cross", arm_hops = 2 }
Generator | exposed-terminal | topology | pattern | topology = { generator = "exposed-terminal" }
Generator | bar | topology | pattern | topology = { generator = "bar" }
Generator | parking-lot | topology | pattern | topology = { generator = "parking-lot", hops = 3 }
Generator | random-geometric | topology | pattern | topology = { generator = "random-geometric", nodes = 5, side = "300 m" } ; traffic = { pattern = "all-pairs", scheme = "udp" }
Generator | circle | topology | pattern | topology = { generator = "circle", stations = 3 }
Generator | dumbbell | topology | pattern | topology = { generator = "dumbbell", pairs = 2, rate = "1 Mb/s", delay = "1 ms" }
Generator | wlan | topology | pattern | topology = { generator = "wlan" }
LinkErrors | | medium.errors[0] | plain | medium = { model = "ranges", errors = [{ between = ["n0", "n1"], packet_error_rate = 0.1 }] }
Mac | | mac | plain |
Measure | rt-winf | measure[0] | plain | measure = [{ estimator = "rt-winf" }]
Measure | rt-winf-probe | measure[0] | plain | measure = [{ estimator = "rt-winf-probe" }]
Measure | idlegap | measure[0] | plain | measure = [{ estimator = "idlegap" }]
Measure | adhoc-probe | measure[0] | plain | measure = [{ estimator = "adhoc-probe" }]
Measure | busy-ratio | measure[0] | plain | measure = [{ estimator = "busy-ratio" }]
Measure | fsd | measure[0] | plain | measure = [{ estimator = "fsd" }]
Measure | packet-throughput | measure[0] | plain | measure = [{ estimator = "packet-throughput" }]
Measure | modelled-capacity | measure[0] | plain | measure = [{ estimator = "modelled-capacity" }]
Medium | ranges | medium | plain | medium = { model = "ranges" }
Medium | sinr | medium | plain | medium = { model = "sinr", path_loss = { model = "two-ray" } }
Medium | matrix | medium | measured |
Medium | matrix | medium | measured | medium.quantity = "delivery" ; topology.links = [{ from = "n0", to = "n1", delivery = 1.0 }, { from = "n1", to = "n0", delivery = 1.0 }]
Mobility | random-waypoint | mobility | placed | mobility = { model = "random-waypoint", nodes = ["n1"], area = ["1 km", "1 km"], max_speed = "1 m/s" }
Mobility | setdest | mobility | placed | mobility = { model = "setdest", file = "passing.tcl", nodes = ["n0", "n1", "n2"] }
Mobility | bonnmotion | mobility | placed | mobility = { model = "bonnmotion", file = "passing.movements", nodes = ["n0", "n1", "n2"] }
Mobility | fcd | mobility | placed | mobility = { model = "fcd", file = "passing.fcd.xml", nodes = ["n0", "n1", "n2"] }
Network | | network | plain |
Node | | topology.nodes[0] | placed | medium = { model = "sinr", transmit_power = "30 dBm" }
PathLossModel | two-ray | medium.path_loss | plain | medium = { model = "sinr", path_loss = { model = "two-ray" } }
PathLossModel | log-distance | medium.path_loss | plain | medium = { model = "sinr", path_loss = { model = "log-distance" } } ; topology.spacing = "20 m"
Phy | | phy | plain |
Pie | | mac.pie | plain | mac.discipline = "pie"
Radio | | topology.nodes[0].radios[0] | placed | routing = {} ; medium = { model = "sinr", transmit_power = "30 dBm" } ; topology.nodes[0].radios = [{ channel = 1 }]
Routing | static | routing | plain | routing = { on_link_failure = "break" }
Routing | static | routing | plain |
Routing | dsdv | routing | plain | routing = { protocol = "dsdv" }
Routing | dsr | routing | plain | routing = { protocol = "dsr" }
Routing | aodv | routing | plain | routing = { protocol = "aodv" }
Server | | topology.server | pattern | topology = { generator = "wlan", server = { rate = "1 Gb/s", delay = "1 ms" } }
Traffic | | traffic | pattern |
Traffic | | traffic | pattern | traffic.pattern = "random-pairs" ; traffic.flows = 1
Traffic | | traffic | pattern | traffic.pattern = "gateway"
Wire | | topology.wires[0] | placed | routing = {} ; topology.wires = [{ between = ["n0", "n1"], rate = "1 Mb/s", delay = "1 ms" }]
"#;

/// Every default of the schema: table, form, key, and value.
fn stated(schema: &Value) -> Vec<(String, String, String, Value)> {
    let definitions = schema["$defs"].as_object().unwrap();
    let tables = definitions.iter().map(|(name, table)| (name.as_str(), table)).chain([("", schema)]);
    let mut found = Vec::new();
    for (name, table) in tables {
        let forms = ["oneOf", "anyOf"].iter().filter_map(|list| table[*list].as_array()).flatten();
        for form in forms.chain([table]) {
            let keys = || form["properties"].as_object().into_iter().flatten();
            let tag = keys().find_map(|(_, about)| about["const"].as_str()).unwrap_or_default();
            for (key, about) in keys() {
                if let Some(default) = about.get("default") {
                    found.push((name.to_owned(), tag.to_owned(), key.clone(), default.clone()));
                }
            }
        }
    }
    found
}

/// A scenario with these settings, or the message that refuses it.
pub fn resolved(text: &str, settings: &[Setting]) -> Result<Resolved, String> {
    let overrides =
        Overrides { set: settings.to_vec(), external: Some(External::Beside), ..Overrides::default() };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    resolve(text, &folder.join("case.toml").to_string_lossy(), &overrides).map_err(|error| error.to_string())
}

fn hash(text: &str, settings: &[Setting]) -> Result<String, String> {
    resolved(text, settings).map(|resolved| resolved.hash)
}

/// `path = value` as a setting.
pub fn setting(line: &str) -> Setting {
    let (path, value) = line.split_once(" = ").unwrap();
    Setting { path: path.into(), value: format!("value = {value}") }
}

/// Table and form of a row, and its other fields.
pub fn row(line: &str) -> ((&str, &str), [&str; 3]) {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [table, form, path, scenario, settings] = cells.try_into().unwrap();
    ((table, form), [path, scenario, settings])
}

/// The scenario of this name, and the settings of a row.
pub fn context(scenario: &str, lines: &str) -> (String, Vec<Setting>) {
    let scenarios = [("plain", PLAIN), ("pattern", PATTERN), ("placed", PLACED), ("measured", MEASURED)];
    let (_, text) = scenarios.iter().find(|(name, _)| *name == scenario).unwrap();
    (text.to_string(), lines.split(" ; ").filter(|line| !line.is_empty()).map(setting).collect())
}

/// Problem with a default in the table of a row.
fn problem([path, scenario, lines]: [&str; 3], key: &str, default: &Value) -> Option<String> {
    let (mut text, mut settings) = context(scenario, lines);
    let without = hash(&text, &settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
    if path.is_empty() && !default.is_object() {
        text = toml::to_string(&json!({ key: default })).unwrap() + &text;
    } else {
        let value = toml::to_string(&json!({ "value": default })).unwrap();
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        settings.push(Setting { path, value });
    }
    match hash(&text, &settings) {
        Ok(with) if with == without => None,
        Ok(_) => Some("means something else".into()),
        Err(error) => Some(error),
    }
}

#[test]
fn stating_a_default_of_the_schema_changes_nothing() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for (table, form, key, default) in stated(&json_schema()) {
        let rows =
            TABLES.trim().lines().map(row).filter(|(name, _)| *name == (table.as_str(), form.as_str()));
        let problems: Vec<Option<String>> = rows.map(|(_, row)| problem(row, &key, &default)).collect();
        if problems.iter().all(Option::is_some) {
            wrong.push(format!("{table} {form} {key} = {default}: {problems:?}"));
        }
        seen.insert((table, form));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for ((table, form), _) in TABLES.trim().lines().map(row) {
        assert!(seen.contains(&(table.to_owned(), form.to_owned())), "{table} {form} has no default");
    }
}

/// No file can state null.
#[test]
fn no_default_of_the_schema_is_null() {
    for (table, form, key, default) in stated(&json_schema()) {
        assert!(!default.to_string().contains("null"), "{table} {form} {key}: {default}");
    }
}

/// A default that depends on the radio must not be left out of the hash: on radios with aggregation, an
/// absent key means another value.
#[test]
fn a_default_of_other_radios_changes_a_run_with_aggregation() {
    let over = |radio: &str, keys: &str| {
        let text = format!(
            "duration = \"1 s\"\n[phy]\n{radio}\n[topology]\ngenerator = \"chain\"\nhops = 1\nspacing = \"10 m\"\n\
             [traffic]\npattern = \"canonical\"\nscheme = \"tested\"\n[schemes.tested]\n{keys}"
        );
        resolve(&text, "case.toml", &Overrides::default()).unwrap().hash
    };
    let radio = "standard = \"802.11ac\"\nchannel_width = \"80 MHz\"\ndata_rate = \"MCS 4 NSS 2\"";
    for (base, stated) in [("xcp-winf", "reading = \"whole\""), ("recn", "access = \"contention\"")] {
        let base = format!("base = \"{base}\"\n");
        assert_ne!(over(radio, &base), over(radio, &format!("{base}{stated}")), "{base}");
    }
}
