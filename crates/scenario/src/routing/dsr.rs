//! `[routing]` with `protocol = "dsr"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use multihop_sim::config::DsrConfig;

multihop_sim::dsr_parameters! { table!
    /// Dynamic source routing.
    Dsr of DsrConfig;
}

impl Dsr {
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<DsrConfig> {
        self.resolve_listed(document, &key!["routing"])
    }
}
