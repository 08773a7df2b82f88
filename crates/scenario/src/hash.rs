//! The hash that identifies a scenario, whatever the seed.

use crate::canonical::canonical;
use crate::mobility::Moved;
use multihop_core::Span;
use multihop_sim::config::Config;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a run depends on besides the engine and the seed.
pub(super) struct Identity<'a> {
    /// The configuration, before starts of flows are drawn.
    pub(super) config: &'a Config,
    /// Name that the scenario gives itself. The name of its file is not part of it, so that a copy under another
    /// name is the same scenario.
    pub(super) name: Option<&'a str>,
    /// The longest random delay of each flow's start.
    pub(super) jitters: &'a [Span],
    /// Each scheme in use: its name in the registry, and the parameters that differ from their defaults.
    pub(super) schemes: &'a [(&'static str, Value)],
    /// How nodes move and when they are off, which may be drawn anew for each seed.
    pub(super) moved: &'a Moved,
}

impl Identity<'_> {
    /// SHA-256, in hexadecimal, of canonical JSON.
    ///
    /// The JSON has resolved values. Comments, formatting, units, the order of keys, and whether a default is
    /// stated do not change it.
    pub(super) fn hash(&self) -> String {
        hexadecimal(Sha256::digest(canonical(&self.json())))
    }

    fn json(&self) -> Value {
        let Identity { config, name, jitters, schemes, moved } = self;
        let mut json = json!(config);
        // The places of nodes that move follow from what moves them.
        moved.nodes.iter().for_each(|index| json["nodes"][*index]["position"] = Value::Null);
        let names = config.schemes.iter().map(|scheme| scheme.name.as_str());
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

/// Digits of a digest.
pub(super) fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
