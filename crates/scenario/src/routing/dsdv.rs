//! `[routing]` with `protocol = "dsdv"`.

use crate::document::{Document, Result, key};
use crate::error::MacProblem;
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
            let problem = MacProblem::NoEntry { entry: self.entry_size, header: self.header_size };
            return Err(document.error(&key!["routing", "update_size_limit"], problem));
        }
        Ok(listed)
    }
}
