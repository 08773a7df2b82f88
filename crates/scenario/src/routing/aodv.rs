//! `[routing]` with `protocol = "aodv"`.

use crate::document::{Document, Result, key};
use crate::parameters::table;
use crate::schemes::Schemes;
use multihop_core::Span;
use multihop_schemes::keys::usually_by;
use multihop_schemes::quantity::Duration;
use multihop_sim::config::{AodvConfig, Config, LocalRepair, RoutingProtocol};
use schemars::Schema;
use serde_json::json;

multihop_sim::aodv_parameters! { table!
    /// Ad hoc on-demand distance vectors.
    #[schemars(transform = state_rreq_jitter)]
    Aodv of AodvConfig;
}

/// The default under a MAC that may access an idle medium at once, or always draws a back-off.
fn rreq_jitter(immediate_access: bool) -> Span {
    if immediate_access { Span::from_ms(10) } else { Span::ZERO }
}

fn state_rreq_jitter(schema: &mut Schema) {
    let key = schema.pointer_mut("/properties/rreq_jitter").and_then(|key| key.try_into().ok());
    let usual = |immediate_access| json!(Duration::from(rreq_jitter(immediate_access)));
    let cases = vec![("with immediate_access", usual(true)), ("without", usual(false))];
    usually_by(cases)(key.expect("a key of the table"));
}

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
        Ok(AodvConfig {
            // `blind_to` comes later: schemes are numbered once it is known which are in use.
            rreq_jitter: match self.rreq_jitter {
                Some(jitter) => document.time(&key!["routing", "rreq_jitter"], jitter, 0.0)?,
                None => rreq_jitter(immediate_access),
            },
            ..self.resolve_listed(document, &key!["routing"])?
        })
    }
}
