//! Scenario hash, which identifies a scenario apart from its seed.

mod canonical;

use crate::mobility::MotionIdentity;
pub(crate) use canonical::canonical;
use multihop_core::Span;
use multihop_sim::config::Config;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Keys of the groups `mac` and `medium` that the hashed JSON has at its top level, as older hashes do.
const TOP_LEVEL: [(&str, &str); 3] = [
    ("mac", "aggregation cts_to_self delivery discipline edca hardware_queue"),
    ("mac", "msdu_limit persistence protection rate_control"),
    ("medium", "delays_by_distance fading preamble_detection sensitivity_by_rate"),
];

/// Data on which a run depends, apart from the engine and the seed.
pub(super) struct Identity<'a> {
    /// Configuration before the random start delays of flows are drawn.
    pub(super) config: &'a Config,
    /// Name that the scenario states. The name of its file is not part of the hash, so that a renamed copy is
    /// the same scenario.
    pub(super) name: Option<&'a str>,
    /// Maximum random delay of each flow's start.
    pub(super) jitters: &'a [Span],
    /// Each scheme in use: its name in the registry, and the parameters that differ from their defaults.
    pub(super) schemes: &'a [(&'static str, Value)],
    /// Motion and outages of nodes, apart from the parts drawn from the seed.
    pub(super) moved: &'a MotionIdentity,
}

impl Identity<'_> {
    /// SHA-256 of the canonical JSON, in hexadecimal.
    ///
    /// The JSON has resolved values. Comments, formatting, units, the order of keys, and stated defaults do
    /// not change it.
    pub(super) fn hash(&self) -> String {
        hexadecimal(Sha256::digest(canonical(&self.json())))
    }

    fn json(&self) -> Value {
        let Identity { config, name, jitters, schemes, moved } = self;
        let mut json = json!(config);
        for (group, keys) in TOP_LEVEL {
            for key in keys.split(' ') {
                let value = json[group].as_object_mut().and_then(|group| group.remove(key));
                json[key] = value.expect("the group has the key");
            }
        }
        // The positions of moving nodes follow from their motion.
        moved.nodes.iter().for_each(|index| json["nodes"][*index]["position"] = Value::Null);
        let names = config.traffic.schemes.iter().map(|scheme| scheme.name.as_str());
        let schemes: Vec<Value> = names
            .zip(*schemes)
            .map(|(name, (base, parameters))| json!({ "name": name, "base": base, "parameters": parameters }))
            .collect();
        json["schemes"] = json!(schemes);
        json["jitters"] = json!(jitters);
        if let Some(name) = name {
            json["name"] = json!(name);
        }
        if moved.is_any() {
            json["moved"] = json!({
                "nodes": moved.nodes,
                "motion": moved.motion,
                "outages": moved.outages,
                "resolution": config.mobility.resolution,
            });
        }
        json
    }
}

/// Hexadecimal digits of a digest.
pub(super) fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
