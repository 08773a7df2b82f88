//! Sets of default options.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the default options of a connection.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// The current standards.
    #[default]
    Rfc,
    /// ns-2.35, which most published results are based on.
    Ns2,
    /// The Linux kernel.
    Linux,
}

impl Flavour {
    /// Name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Flavour::Rfc => "rfc",
            Flavour::Ns2 => "ns2",
            Flavour::Linux => "linux",
        }
    }
}
