//! `[routing]` with `protocol = "aodv"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use crate::schemes::Schemes;
use multihop_core::Span;
use multihop_sim::config::{AodvConfig, LocalRepair, RoutingConfig, RoutingProtocol};

multihop_sim::aodv_parameters! { table!
    /// Ad hoc on-demand distance vectors.
    Aodv of AodvConfig;
}

/// Maximum random delay of a node's own RREQs on a MAC that may access an idle medium at once. A MAC that
/// always draws a backoff needs none.
const RREQ_JITTER: Span = Span::from_ms(10);

impl Aodv {
    /// Sets the indices of the schemes whose packets do not break links, once the schemes in use are known.
    pub(crate) fn resolve_blind_to(&self, schemes: &Schemes<'_>, routing: &mut RoutingConfig) -> Result<()> {
        let RoutingProtocol::Aodv(aodv) = &mut routing.protocol else { return Ok(()) };
        for (i, name) in self.blind_to.iter().enumerate() {
            aodv.blind_to.extend(schemes.in_use(&key!["routing", "blind_to", i], name)?);
        }
        Ok(())
    }

    /// The parameters, on a MAC that may access an idle medium at once (`immediate_access`) or not.
    pub(super) fn resolve(&self, document: &Document<'_>, immediate_access: bool) -> Result<AodvConfig> {
        // `resolve_blind_to` follows later: schemes have no indices before those in use are known.
        let listed = self.resolve_listed(document, &key!["routing"])?;
        Ok(AodvConfig { rreq_jitter: if immediate_access { RREQ_JITTER } else { Span::ZERO }, ..listed })
    }
}
