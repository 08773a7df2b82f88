//! Whose defaults a connection has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which defaults a connection starts from.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// The current standards.
    #[default]
    Rfc,
    /// ns-2.35, in which most published results were obtained.
    Ns2,
    /// The Linux kernel.
    Linux,
}

impl Flavour {
    /// As files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Flavour::Rfc => "rfc",
            Flavour::Ns2 => "ns2",
            Flavour::Linux => "linux",
        }
    }
}
