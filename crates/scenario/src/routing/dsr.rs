//! `[routing]` with `protocol = "dsr"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use multihop_core::Span;
use multihop_schemes::quantity::Duration;
use multihop_sim::config::DsrConfig;

multihop_sim::dsr_parameters! { table!
    /// Dynamic source routing.
    Dsr of DsrConfig;
}

/// What a file would have for the engine's default.
fn usual_timeout() -> Duration {
    Duration(DsrConfig::DEFAULT.nonprop_request_timeout.map_or(0.0, Span::seconds))
}

impl Dsr {
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<DsrConfig> {
        let first =
            document.time(&key!["routing", "nonprop_request_timeout"], self.nonprop_request_timeout, 0.0)?;
        Ok(DsrConfig {
            nonprop_request_timeout: (first > Span::ZERO).then_some(first),
            ..self.resolve_listed(document, &key!["routing"])?
        })
    }
}
