//! Layering of the crates: each may depend only on those below it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Crate, and the project's crates that it may use.
const EDGES: [(&str, &[&str]); 15] = [
    ("multihop-core", &[]),
    ("multihop-config", &["multihop-core"]),
    ("multihop-frames", &[]),
    ("multihop-identity", &[]),
    ("multihop-dot11", &["multihop-config", "multihop-core"]),
    ("multihop-capture", &["multihop-core", "multihop-dot11"]),
    (
        "multihop-measure",
        &["multihop-capture", "multihop-core", "multihop-dot11", "multihop-frames", "multihop-link"],
    ),
    ("multihop-transport", &["multihop-config", "multihop-core"]),
    ("multihop-link", &["multihop-config", "multihop-core", "multihop-dot11"]),
    ("multihop-schemes", &["multihop-config", "multihop-core", "multihop-link", "multihop-transport"]),
    (
        "multihop-sim",
        &[
            "multihop-config",
            "multihop-core",
            "multihop-dot11",
            "multihop-frames",
            "multihop-link",
            "multihop-schemes",
            "multihop-transport",
        ],
    ),
    (
        "multihop-scenario",
        &[
            "multihop-config",
            "multihop-core",
            "multihop-dot11",
            "multihop-link",
            "multihop-schemes",
            "multihop-sim",
            "multihop-transport",
        ],
    ),
    ("multihop-live", &["multihop-core", "multihop-schemes", "multihop-sim", "multihop-transport"]),
    ("multihop-web", &["multihop-core", "multihop-frames", "multihop-scenario", "multihop-sim"]),
    (
        "multihop-py",
        &[
            "multihop-capture",
            "multihop-config",
            "multihop-core",
            "multihop-dot11",
            "multihop-frames",
            "multihop-link",
            "multihop-live",
            "multihop-measure",
            "multihop-scenario",
            "multihop-schemes",
            "multihop-sim",
            "multihop-transport",
        ],
    ),
];

#[test]
fn dependencies_point_one_way() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let found: BTreeMap<String, Vec<String>> = packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("a list").iter();
            // Dependencies of tests are no edges of the product.
            let ours = dependencies.filter(|dependency| dependency["kind"].is_null()).map(name);
            (name(package), ours.filter(|used| used.starts_with("multihop-")).collect())
        })
        .collect();
    assert_eq!(found.len(), EDGES.len(), "every crate has its line in EDGES: {found:?}");
    for (package, used) in &found {
        let allowed =
            EDGES.iter().find(|(known, _)| known == package).map_or(&[][..], |(_, allowed)| allowed);
        for dependency in used {
            assert!(allowed.contains(&dependency.as_str()), "{package} must not depend on {dependency}");
        }
    }
    let core = packages.iter().find(|package| package["name"] == "multihop-core").expect("it is there");
    let of_core: Vec<String> = core["dependencies"].as_array().expect("a list").iter().map(name).collect();
    assert_eq!(of_core, ["serde"], "core only adds the derived form of its types");
    let sim = packages.iter().find(|package| package["name"] == "multihop-sim").expect("it is there");
    let used = sim["dependencies"].as_array().expect("a list").iter().filter(|used| used["kind"].is_null());
    for reader in ["toml", "quick-xml", "flate2", "sha2"] {
        assert!(used.clone().all(|used| used["name"] != reader), "the engine reads no files: {reader}");
    }
}
