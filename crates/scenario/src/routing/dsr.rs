//! `[routing]` with `protocol = "dsr"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use multihop_core::Span;
use multihop_schemes::quantity::Duration;
use multihop_sim::config::DsrConfig;

multihop_sim::dsr_parameters! { table!
    /// Dynamic source routing.
    Dsr of DsrConfig in ["routing"];
}

impl Dsr {
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<DsrConfig> {
        let first =
            document.time(&key!["routing", "ask_neighbours_first"], self.ask_neighbours_first, 0.0)?;
        Ok(DsrConfig {
            ask_neighbours_first: (first > Span::ZERO).then_some(first),
            ..self.resolve_listed(document)?
        })
    }
}
