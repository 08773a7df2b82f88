//! Any text as a scenario: a configuration, or one sentence that says where, what and what would do.

use multihop_scenario::{Overrides, resolve};

/// Reads the scenario.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = resolve(text, "fuzz.toml", &Overrides::default()) {
        assert!(!error.found().is_empty() && !error.remedy().is_empty(), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
