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
        let listed = self.resolve_listed(document, &key!["routing"])?;
        if listed.update_size_limit < listed.header_size + listed.entry_size {
            let why = format!(
                "leaves no room for an entry of {} after the header of {}",
                self.entry_size, self.header_size
            );
            return Err(document.bad(&key!["routing", "update_size_limit"], why, "give at least their sum"));
        }
        Ok(listed)
    }
}
