//! `[routing]` with `protocol = "aodv"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use crate::schemes::Schemes;
use multihop_core::Span;
use multihop_sim::config::{AodvConfig, Config, LocalRepair, RoutingProtocol};

multihop_sim::aodv_parameters! { table!
    /// Ad hoc on-demand distance vectors.
    Aodv of AodvConfig;
}

/// Longest random delay of a node's own RREQs under a MAC that may access an idle medium at once. A MAC that
/// always draws a back-off needs none.
const RREQ_JITTER: Span = Span::from_ms(10);

impl Aodv {
    /// Numbers the schemes whose packets break no link, once those in use are known.
    pub(crate) fn resolve_blind_to(&self, schemes: &Schemes<'_>, config: &mut Config) -> Result<()> {
        let RoutingProtocol::Aodv(aodv) = &mut config.routing.protocol else { return Ok(()) };
        for (i, name) in self.blind_to.iter().enumerate() {
            aodv.blind_to.extend(schemes.in_use(&key!["routing", "blind_to", i], name)?);
        }
        Ok(())
    }

    /// The parameters, under a MAC that may access an idle medium at once.
    pub(super) fn resolve(&self, document: &Document<'_>, immediate_access: bool) -> Result<AodvConfig> {
        // `blind_to` comes later: schemes are numbered once it is known which are in use.
        let listed = self.resolve_listed(document, &key!["routing"])?;
        Ok(AodvConfig { rreq_jitter: if immediate_access { RREQ_JITTER } else { Span::ZERO }, ..listed })
    }
}
