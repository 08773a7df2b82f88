//! Shipped scenarios, and the published schema. What the schema accepts is tested in
//! `tests/simulation/test_schema.py`.

use multihop_core::Rate;
use multihop_scenario::{Overrides, Resolved, catalogue, json_schema, resolve};
use multihop_sim::config::{AppConfig, MediumModel};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of all shipped scenarios, in order of their names.
pub fn shipped_files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let within = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        within(&folder).into_iter().partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| within(folder)));
    files.sort();
    files
}

/// Name and text of every shipped scenario.
fn shipped() -> Vec<(String, String)> {
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    shipped_files().iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect()
}

fn resolved(name: &str) -> Resolved {
    let (_, text) = shipped().into_iter().find(|(file, _)| file == name).unwrap();
    resolve(&text, name, &Overrides::default()).unwrap()
}

#[test]
fn every_shipped_scenario_resolves_and_has_a_description() {
    let files = shipped();
    assert!(files.len() >= 6);
    for (name, text) in files {
        let resolved = resolve(&text, &name, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
        assert!(resolved.description.is_some_and(|text| text.len() > 20), "{name}");
        assert_eq!(format!("{}.toml", resolved.config.name), name);
        assert!(text.starts_with("# "), "{name} begins with an explanation");
    }
}

#[test]
fn the_chain_is_seven_hops_of_newreno() {
    let config = resolved("chain.toml").config;
    assert_eq!(config.topology.nodes.len(), 8);
    assert_eq!((config.traffic.flows[0].source.0, config.traffic.flows[0].destination.0), (0, 7));
    assert_eq!(config.traffic.schemes[0].name, "tcp-newreno");
    assert_eq!(config.rates.data, Rate::from_kbps(2_000).into());
    assert_eq!(config.mac.rts_threshold, Some(0));
    assert_eq!(config.traffic.flows[0].app, AppConfig::Bulk { bytes: None });
    assert!(config.traffic.flows[0].start.seconds() > 0.0 && config.traffic.flows[0].start.seconds() < 1.0);
}

#[test]
fn the_demo_is_a_mesh_with_ten_flows() {
    let config = resolved("mesh-demo.toml").config;
    assert_eq!((config.topology.nodes.len(), config.traffic.flows.len()), (25, 10));
    let MediumModel::Matrix { links, .. } = &config.medium.model else { panic!("{:?}", config.medium) };
    assert!(links.len() > 100, "{} links", links.len());
}

/// Calls `see` with the path and the schema of each key.
fn each_key(schema: &Value, path: &str, see: &mut impl FnMut(String, &Value)) {
    let Some(object) = schema.as_object() else { return };
    for (key, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        see(format!("{path}.{key}"), property);
        each_key(property, &format!("{path}.{key}"), see);
    }
    for list in ["oneOf", "anyOf"] {
        for variant in object.get(list).and_then(Value::as_array).into_iter().flatten() {
            each_key(variant, path, see);
        }
    }
    for (name, definition) in object.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        each_key(definition, name, see);
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    let mut bare = Vec::new();
    each_key(&json_schema(), "", &mut |path, property| {
        if property.get("description").is_none() && property.get("const").is_none() {
            bare.push(path);
        }
    });
    assert!(bare.is_empty(), "without a description: {bare:?}");
}

/// A single default belongs to the schema's `default`, where programs find it, and not to the description.
/// Defaults that depend on a case are in the description, with the case in brackets.
#[test]
fn no_description_repeats_a_default() {
    let mut repeated = Vec::new();
    each_key(&json_schema(), "", &mut |path, property| {
        let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        for said in description.split(". ").filter_map(|sentence| sentence.strip_prefix("Default")) {
            let value = said.trim_start_matches([':', ' ']);
            let is_value = value.starts_with(|c: char| c.is_ascii_digit() || c == '"')
                || ["true", "false"].iter().any(|word| value.starts_with(word));
            if is_value && !value.trim_end_matches('.').ends_with(')') {
                repeated.push(format!("{path}: {said}"));
            }
        }
    });
    assert!(repeated.is_empty(), "{repeated:#?}");
}

/// A default that depends on a case must not be the schema's `default`, which programs would apply to all
/// cases.
#[test]
fn a_default_by_case_is_not_the_default_of_the_schema() {
    let schema = json_schema();
    for (table, key, cases) in [
        ("Mac", "queue", "50 (no A-MPDUs), 256 (A-MPDUs of 64) or 1024 (A-MPDUs of 256)"),
        ("RateControl", "tries", "21 (minstrel-ht) or none (ideal)"),
        ("Phy", "guard_interval", "\"800 ns\" (802.11n, 802.11ac, 802.11ax) or none (otherwise)"),
        ("Phy", "ofdm_symbols", "\"whole\" (802.11a, 802.11g) or none (otherwise)"),
        ("RuleOverrides", "response_propagation", "\"2 µs\" (whole-response) or none (otherwise)"),
    ] {
        let property = &schema["$defs"][table]["properties"][key];
        assert_eq!(property.get("default"), None, "{key}");
        let description = property["description"].as_str().unwrap().replace('\n', " ");
        assert!(description.ends_with(&format!("Default {cases}.")), "{description}");
    }
}

#[test]
fn every_name_of_the_catalogue_has_a_summary() {
    let catalogue = catalogue();
    let names = |list: &str| -> Vec<String> {
        let entries = catalogue[list].as_array().unwrap_or_else(|| panic!("no {list}"));
        for entry in entries {
            assert!(entry["summary"].as_str().is_some_and(|text| text.len() > 5), "{list}: {entry}");
        }
        entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("schemes").contains(&"recn".into()));
    assert_eq!(
        names("phys"),
        ["fhss", "dsss", "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"]
    );
    assert_eq!(
        catalogue["phys"][2]["rates_bps"],
        serde_json::json!([1_000_000, 2_000_000, 5_500_000, 11_000_000])
    );
    assert_eq!(catalogue["phys"][2]["default_rate_bps"], 11_000_000);
    assert_eq!(catalogue["phys"][2]["channels"], serde_json::json!((1..=14).collect::<Vec<u16>>()));
    assert_eq!(catalogue["phys"][2]["schemes"], serde_json::json!([]));
    let (n, ac) = (&catalogue["phys"][5], &catalogue["phys"][6]);
    assert_eq!((&n["default_rate_bps"], &n["channels"][0]), (&65_000_000.into(), &34.into()));
    assert_eq!(n["schemes"][15], serde_json::json!({"name": "MCS 15", "bps": 130_000_000}));
    assert!(ac["schemes"].as_array().unwrap().iter().any(|scheme| scheme["name"] == "MCS 7 NSS 2"));
    assert_eq!(names("rules"), ["ieee", "ns2", "bianchi"]);
    assert_eq!(names("media"), ["ranges", "sinr", "matrix"]);
    assert_eq!(names("path_losses"), ["two-ray", "log-distance"]);
    assert_eq!(names("metrics"), ["hops", "etx"]);
    assert_eq!(names("link_failures"), ["ignore", "break"]);
    assert_eq!(names("apps"), ["saturated", "bulk", "cbr", "poisson", "transfers", "video", "external"]);
    assert_eq!(
        names("traffic"),
        ["canonical", "random-pairs", "to-gateway", "all-to-one", "all-pairs", "gateway"]
    );
    assert_eq!(names("directions"), ["downloads", "uploads", "both"]);
    assert_eq!(names("mixes"), ["download", "web", "video", "call"]);
    assert_eq!(names("generators").len(), 11);
    let estimators = [
        "rt-winf",
        "rt-winf-probe",
        "idlegap",
        "adhoc-probe",
        "busy-ratio",
        "fsd",
        "fte",
        "packet-throughput",
        "modelled-capacity",
        "python",
    ];
    assert_eq!(names("estimators"), estimators);
    assert!(
        catalogue["estimators"][0]["parameters"]["properties"]["full_busy"]["description"]
            .as_str()
            .unwrap()
            .contains("NAVs")
    );
    assert_eq!(names("link_quantities"), ["delivery", "rssi", "delivery-and-rssi"]);
    for list in ["preambles", "distributions"] {
        assert_eq!(names(list).len(), 2, "{list}");
    }
    assert!(
        catalogue["generators"][0]["parameters"]["properties"]["hops"]["description"]
            .as_str()
            .unwrap()
            .contains("hops")
    );
}
