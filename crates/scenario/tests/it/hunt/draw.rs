//! Draws scenarios from their published schema, and from those of the schemes' parameters.
//!
//! All that the schema allows is drawn: each key or its absence, each variant, and numbers at the edges of
//! their ranges and between them. This file adds what the schema cannot express: names of existing items, and
//! sizes that keep runs short.

use multihop_core::Rng;
use multihop_scenario::json_schema;
use multihop_schemes::{REGISTRY, SchemeEntry};
use serde_json::{Map, Value, json};

/// Source of random scenarios, from the schemas.
pub struct Draw {
    scenario: Value,
    /// Schema of each scheme's parameters.
    schemes: Vec<(&'static str, Value)>,
}

/// Path of a value: its keys, from the outermost on.
type Path<'a> = &'a [&'a str];

/// Maximum values of keys that make a run long: nodes, flows and bytes.
const SHORT: [(&str, u64); 12] = [
    ("hops", 5),
    ("columns", 3),
    ("rows", 3),
    ("arms", 4),
    ("arm_hops", 2),
    ("stations", 6),
    ("clients", 4),
    ("pairs", 3),
    ("nodes", 8),
    ("flows", 4),
    ("count", 3),
    ("min_hops", 3),
];

/// Modulation and coding schemes; each standard has some of them.
const SCHEMES: [&str; 6] = ["MCS 0", "MCS 7", "MCS 3 NSS 2", "MCS 9", "MCS 11 NSS 4", "MCS 15"];

/// Hardware queues, below the discipline of mac80211.
const HARDWARE: [&str; 5] = [
    r#"{ "packets": 1 }"#,
    r#"{ "aggregates": 2 }"#,
    r#"{ "aql": {} }"#,
    r#"{ "packets": 100, "aql": { "low": "10 us", "high": "1 ms" } }"#,
    r#"{ "aggregates": 1, "aql": { "low": "1 ms", "threshold": "1 ms" } }"#,
];

/// Amounts of each unit: zero, the minimum, common ones, and more than most ranges allow.
const AMOUNTS: [(&str, &[&str]); 9] = [
    (
        "s|ms|us",
        &[
            "0 s", "1 ns", "1 us", "9 us", "60 us", "300 us", "1 ms", "5 ms", "20 ms", "100 ms", "1 s",
            "100 s", "30 h",
        ],
    ),
    (
        "b/s",
        &[
            "0 b/s", "1 b/s", "20 kb/s", "200 kb/s", "1 Mb/s", "2 Mb/s", "6 Mb/s", "11 Mb/s", "54 Mb/s",
            "1 Gb/s",
        ],
    ),
    (
        "B|kB",
        &["0 B", "1 B", "40 B", "300 B", "512 B", "1460 B", "1472 B", "2304 B", "10 kB", "1 MB", "1 GB"],
    ),
    ("m|km", &["0 m", "1 cm", "1 m", "100 m", "200 m", "249.9 m", "250 m", "500 m", "20 km"]),
    ("m/s", &["0 m/s", "1 m/s", "20 m/s", "3000 km/h"]),
    ("dBm", &["-200 dBm", "-100 dBm", "-90 dBm", "-75 dBm", "0 dBm", "20 dBm", "100 dBm"]),
    ("dBi", &["-10 dBi", "0 dBi", "3 dBi", "12 dBi", "100 dBi"]),
    ("dB)", &["0 dB", "3 dB", "10 dB", "100 dB"]),
    ("Hz", &["1 Hz", "914 MHz", "2.4 GHz", "1000 GHz"]),
];

/// Aggregation parameters.
const AGGREGATIONS: [&str; 4] = [
    r#"{ "a_msdu": "3839 B" }"#,
    r#"{ "a_msdu": "7935 B", "a_mpdu": "off" }"#,
    r#"{ "a_msdu": "7935 B", "delivery": "mpdu", "retry_limit": 1 }"#,
    r#"{ "delivery": "mpdu", "retry_limit": 2 }"#,
];

/// Multicast flows.
const MULTICAST: [&str; 6] = [
    r#"{ "from": "n0", "to": ["*"], "scheme": "udp" }"#,
    r#"{ "from": "n1", "to": ["n0", "n2"], "scheme": "udp" }"#,
    r#"{ "from": "n1", "to": ["n*"], "scheme": "udp", "app": { "kind": "cbr", "rate": "1 Mb/s", "packet": "300 B" } }"#,
    r#"{ "from": "n2", "to": ["n1"], "scheme": "udp", "app": { "kind": "poisson", "rate": "2 Mb/s", "packet": "1 kB" } }"#,
    r#"{ "from": "n0", "to": ["n2", "n1"], "scheme": "udp", "app": { "kind": "video", "rate": "2 Mb/s", "deadline": "100 ms" } }"#,
    r#"{ "from": "n1", "to": ["*"], "scheme": "udp", "name": "all", "start_jitter": "1 ms", "app": { "kind": "bulk", "size": "10 kB", "dscp": "EF" } }"#,
];

/// Motion files in the folder of the drawn scenario.
const FILES: [&str; 5] =
    ["passing.tcl", "passing.movements", "passing.fcd.xml", "forms.tcl", "degrees.fcd.xml"];

impl Draw {
    /// A source with the schemas of this build.
    pub fn new() -> Draw {
        let schema = |entry: &SchemeEntry| (entry.name, entry.schema());
        Draw { scenario: json_schema(), schemes: REGISTRY.iter().map(schema).collect() }
    }

    /// Draws a scenario.
    pub fn scenario(&self, rng: &mut Rng) -> Value {
        let mut made = self.drawing(rng).of(&self.scenario, &[]);
        if rng.below(4) == 0 {
            made["topology"] = self.listed(rng);
        }
        self.add_rare_features(rng, &mut made);
        self.fit(rng, &mut made);
        // Durations of up to a fifth of a second, and steps of the time series that fit.
        made["duration"] = pick(rng, &["1 ms", "10 ms", "50 ms", "100 ms", "200 ms"]).into();
        if made.get("record_interval").is_some() {
            made["record_interval"] = pick(rng, &["10 us", "333 us", "1 ms", "7 ms", "100 ms"]).into();
        }
        if made.get("warmup").is_some() {
            made["warmup"] = pick(rng, &["0 s", "500 us", "3 ms", "999 us"]).into();
        }
        self.parameters(rng, &mut made);
        made
    }

    /// Draws values again that contradict others: measured links need a list, and moving nodes need a
    /// protocol and no wires.
    fn fit(&self, rng: &mut Rng, made: &mut Value) {
        if made["medium"]["model"] == "matrix" {
            made.as_object_mut().and_then(|table| table.remove("mobility"));
            if !made["topology"]["generator"].is_null() {
                made["topology"] = self.listed(rng);
            }
            let quantity = made["medium"]["quantity"].as_str().unwrap_or_default().to_owned();
            let nodes = made["topology"]["nodes"].as_array().map_or(0, Vec::len);
            let link = |[from, to]: [usize; 2]| {
                let (rssi, delivery) =
                    (pick(rng, &["-60 dBm", "-85 dBm", "-95 dBm"]), pick(rng, &[1.0, 0.9, 0.3]));
                let mut link = json!({ "from": format!("n{from}"), "to": format!("n{to}") });
                if quantity != "rssi" {
                    link["delivery"] = json!(delivery);
                }
                if quantity != "delivery" {
                    link["rssi"] = json!(rssi);
                }
                link
            };
            let both = |node: usize| [[node, node + 1], [node + 1, node]];
            made["topology"]["links"] = (0..nodes.saturating_sub(1)).flat_map(both).map(link).collect();
        } else {
            made["topology"].as_object_mut().and_then(|table| table.remove("links"));
        }
        if made["mobility"].is_null() {
            return drop(made.as_object_mut().and_then(|table| table.remove("mobility")));
        }
        while matches!(made["routing"]["protocol"].as_str(), None | Some("static")) {
            made["routing"] = self.key(rng, "routing");
        }
        while ["wires", "server", "pairs", "clients"].iter().any(|key| !made["topology"][key].is_null()) {
            made["topology"] = self.key(rng, "topology");
        }
    }

    /// Adds features that few drawn scenarios would have: long links, disciplines, hardware queues, low retry
    /// limits, outages, routing protocols, mixed networks, narrow channels, CTS-to-self, multicast flows,
    /// powers of single nodes.
    fn add_rare_features(&self, rng: &mut Rng, made: &mut Value) {
        if rng.below(3) == 0 {
            if made["medium"].is_null() {
                made["medium"] = self.key(rng, "medium");
            }
            made["medium"]["propagation_delay"] =
                pick(rng, &["distance", "0 s", "20 us", "60 us", "300 us", "1 ms"]).into();
        }
        if rng.below(3) == 0 {
            made["mac"]["discipline"] = pick(rng, &["fq-codel", "stations", "pie", "dualpi2"]).into();
        }
        if rng.below(3) == 0 {
            made["mac"]["short_retry_limit"] = pick(rng, &[1, 2, 255]).into();
        }
        if rng.below(3) == 0 {
            made["routing"] = self.key(rng, "routing");
        }
        if rng.below(6) == 0 {
            self.aggregates_on_routes(rng, made);
        }
        if rng.below(6) == 0 {
            made["outages"] =
                json!([{ "node": "n1", "from": "5 ms", "to": pick(rng, &["5010 us", "9 ms", "1 s"]) }]);
        }
        if rng.below(4) > 0 {
            made.as_object_mut().and_then(|table| table.remove("mobility"));
        }
        match rng.below(16) {
            0 => made["phy"] = json!({ "standard": "802.11g", "mixed": true }),
            1 => {
                let width = pick(rng, &["5 MHz", "10 MHz"]);
                made["phy"] = json!({ "standard": "802.11a", "channel_width": width });
            }
            _ => {}
        }
        if rng.below(6) == 0 {
            made["mac"]["cts_to_self"] = true.into();
        }
        if rng.below(6) == 0 {
            let flow: Value = pick(rng, &MULTICAST).parse().expect("a table as JSON");
            match made["flows"].as_array_mut() {
                Some(flows) => flows.push(flow),
                None => made["flows"] = json!([flow]),
            }
        }
        if made["topology"]["nodes"].is_array() && rng.below(3) == 0 {
            made["medium"] = json!({ "model": "sinr" });
            for node in made["topology"]["nodes"].as_array_mut().into_iter().flatten() {
                node["transmit_power"] = pick(rng, &["10 dBm", "20 dBm", "30 dBm"]).into();
                node["antenna_gain"] = pick(rng, &["-3 dBi", "0 dBi", "9 dBi"]).into();
            }
        }
        if rng.below(5) == 0 {
            made["mac"]["discipline"] = "stations".into();
            made["mac"]["hardware_queue"] = pick(rng, &HARDWARE).parse().expect("a table as JSON");
        }
    }

    /// Adds aggregation that fails over links which a routing protocol then considers broken.
    fn aggregates_on_routes(&self, rng: &mut Rng, made: &mut Value) {
        made["phy"] = json!({ "standard": pick(rng, &["802.11n", "802.11ac", "802.11ax"]) });
        made["mac"]["aggregation"] = pick(rng, &AGGREGATIONS).parse().expect("a table as JSON");
        made["routing"] = json!({ "protocol": pick(rng, &["aodv", "dsr", "dsdv"]) });
        made["network"] = json!({ "arp": rng.below(2) == 0 });
        made["topology"] = json!({ "generator": "chain", "hops": 3, "spacing": "200 m" });
        made["medium"] = json!({ "model": "ranges", "carrier_sense_range": "250 m" });
        let mut flow = |ends: [&str; 2]| {
            let mut drawn = self.drawing(rng).of(&self.scenario["$defs"]["Flow"], &["flows"]);
            (drawn["from"], drawn["to"]) = (ends[0].into(), ends[1].into());
            drawn
        };
        made["flows"] = json!([flow(["n0", "n3"]), flow(["n3", "n0"]), flow(["n1", "n3"])]);
        made.as_object_mut().expect("a scenario is a table").remove("traffic");
    }

    fn listed(&self, rng: &mut Rng) -> Value {
        self.drawing(rng).of(&self.scenario["$defs"]["Listed"], &["topology"])
    }

    /// Draws the value of a key of a scenario again.
    pub fn redraw(&self, rng: &mut Rng, made: &mut Value, key: &str) {
        made[key] = self.key(rng, key);
        self.fit(rng, made);
    }

    /// Draws a value of this schema, a part of the scenario schema, for the key at this path.
    pub fn value(&self, rng: &mut Rng, schema: &Value, path: &[&str]) -> Value {
        Drawing { rng, root: &self.scenario, schemes: &self.schemes }.of(schema, path)
    }

    fn key(&self, rng: &mut Rng, key: &str) -> Value {
        if key == "flows" {
            return json!([self.drawing(rng).of(&self.scenario["$defs"]["Flow"], &[key])]);
        }
        self.drawing(rng).of(&self.scenario["properties"][key], &[key])
    }

    fn drawing<'a>(&'a self, rng: &'a mut Rng) -> Drawing<'a> {
        Drawing { rng, root: &self.scenario, schemes: &self.schemes }
    }

    /// Adds parameters of most schemes that the flows name.
    fn parameters(&self, rng: &mut Rng, made: &mut Value) {
        let mut tables = Map::new();
        let flows = made.get("flows").and_then(Value::as_array).into_iter().flatten();
        let named = flows.chain(made.get("traffic")).filter_map(|flow| flow["scheme"].as_str());
        for name in named {
            let schema = self.schemes.iter().find(|(known, _)| *known == name);
            if let Some((_, schema)) = schema.filter(|_| rng.below(3) > 0) {
                let mut drawing = Drawing { rng, root: schema, schemes: &self.schemes };
                tables.insert(name.into(), drawing.of(schema, &["schemes"]));
            }
        }
        made["schemes"] = Value::Object(tables);
    }
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u32) as usize]
}

/// State while a value of a schema is drawn.
struct Drawing<'a> {
    rng: &'a mut Rng,
    root: &'a Value,
    schemes: &'a [(&'static str, Value)],
}

impl<'a> Drawing<'a> {
    fn of(&mut self, schema: &'a Value, path: Path) -> Value {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(&name[1..]).unwrap_or_else(|| panic!("{name} is not defined"));
            return self.of(target, path);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        for keyword in ["oneOf", "anyOf", "enum"] {
            if let Some(variants) = schema.get(keyword).and_then(Value::as_array) {
                let possible: Vec<&Value> = variants.iter().filter(|of| of["type"] != "null").collect();
                let chosen = possible[self.rng.below(possible.len() as u32) as usize];
                return if keyword == "enum" { chosen.clone() } else { self.of(chosen, path) };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| **kind != "null").and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind.unwrap_or_else(|| panic!("no type at {path:?}: {schema}")) {
            "object" => self.table(schema, path),
            "array" => self.list(schema, path),
            "string" => self.text(schema, path),
            "boolean" => (self.rng.below(2) == 0).into(),
            "integer" => self.whole(schema, path).into(),
            "number" => self.real(schema).into(),
            other => panic!("type {other} at {path:?}"),
        }
    }

    /// A table with its required keys and some optional ones: few in most tables, so that most scenarios are
    /// valid.
    fn table(&mut self, schema: &'a Value, path: Path) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let one_in = if path.is_empty() { 3 } else { pick(self.rng, &[4, 8, 16]) };
        let mut table = Map::new();
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let must = required.contains(&key.as_str()) || (path == ["topology"] && key == "nodes");
            let never = matches!(key.as_str(), "description" | "schemes");
            if must || (!never && self.rng.below(one_in) == 0) {
                let within: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
                table.insert(key.clone(), self.of(property, &within));
            }
        }
        Value::Object(table)
    }

    fn list(&mut self, schema: &'a Value, path: Path) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(match path {
            ["topology", "nodes"] => 2,
            ["flows"] => 1,
            _ => 0,
        });
        let most = schema["maxItems"].as_u64().unwrap_or(5);
        let length = least + u64::from(self.rng.below((most - least + 1) as u32));
        let entry = |index| {
            let mut made = self.of(&schema["items"], path);
            if path == ["flows"] && made["from"] == made["to"] {
                made["to"] = "n0".into();
                made["from"] = format!("n{}", 1 + self.rng.below(3)).into();
            }
            // Nodes have the names of generated nodes.
            if path == ["topology", "nodes"] {
                made["name"] = format!("n{index}").into();
                if made.get("base").is_some() {
                    made["base"] = "n0".into();
                }
                if index == 0 {
                    made.as_object_mut().and_then(|table| table.remove("base"));
                }
                if made.get("base").is_none() && self.rng.below(16) > 0 {
                    made.as_object_mut().and_then(|table| table.remove("data_rate"));
                }
                // Most nodes are in range of each other.
                if self.rng.below(16) > 0 {
                    made["position"] =
                        json!([format!("{} m", 90 * index), format!("{} m", self.rng.below(200))]);
                }
            }
            made
        };
        (0..length).map(entry).collect()
    }

    fn text(&mut self, schema: &Value, path: Path) -> Value {
        if let Some(pattern) = schema["pattern"].as_str() {
            if pattern.contains("MCS") {
                return pick(self.rng, &SCHEMES).into();
            }
            let known = AMOUNTS.iter().find(|(unit, _)| pattern.contains(&format!("({unit}")));
            let (_, amounts) = known.unwrap_or_else(|| panic!("an unknown unit at {path:?}: {pattern}"));
            // Ranges end between the middle of the amounts and their ends.
            let quarter = if self.rng.below(4) > 0 { amounts.len() / 4 } else { 0 };
            return pick(self.rng, &amounts[quarter..amounts.len() - quarter]).into();
        }
        match path.last().copied().unwrap_or_default() {
            "scheme" => self.schemes[self.rng.below(self.schemes.len() as u32) as usize].0.into(),
            "file" => pick(self.rng, &FILES).into(),
            "name" => pick(self.rng, &["a", "b", "\u{1b}[2J", "ü \"x\""]).into(),
            _ => format!("n{}", self.rng.below(4)).into(),
        }
    }

    fn whole(&mut self, schema: &Value, path: Path) -> i64 {
        let least = schema["minimum"].as_i64().unwrap_or(0);
        let mut most = schema["maximum"].as_i64().unwrap_or(i64::from(u32::MAX));
        let short = SHORT.iter().find(|(key, _)| path.last() == Some(key));
        if let Some((_, limit)) = short.filter(|_| matches!(path[0], "topology" | "traffic" | "mobility")) {
            most = *limit as i64;
        }
        let between = [least, least + 1, least + i64::from(self.rng.below(8)), most / 2, most - 1, most];
        pick(self.rng, &between).clamp(least, most)
    }

    fn real(&mut self, schema: &Value) -> f64 {
        let least = schema["minimum"].as_f64().or(schema["exclusiveMinimum"].as_f64()).unwrap_or(0.0);
        let most = schema["maximum"].as_f64().or(schema["exclusiveMaximum"].as_f64()).unwrap_or(1e3);
        let share = pick(self.rng, &[0.0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1.0]);
        least + share * (most - least)
    }
}
