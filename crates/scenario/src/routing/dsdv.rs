//! `[routing]` with `protocol = "dsdv"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use multihop_sim::config::DsdvConfig;

multihop_sim::dsdv_parameters! { table!
    /// Destination-sequenced distance vectors.
    Dsdv of DsdvConfig;
}

impl Dsdv {
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<DsdvConfig> {
        self.resolve_listed(document, &key!["routing"])
    }
}
