//! Parameters of a TCP connection of a host of today.

use crate::tcp::{Flavour, TcpParameters};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::ops::Deref;

/// [`TcpParameters`] whose `flavour` is [`Flavour::Linux`] unless another one is given. Schemes that carry
/// the name of a congestion control of the Linux kernel have these parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct HostTcp(pub TcpParameters);

impl HostTcp {
    /// Flavour when none is given.
    pub const FLAVOUR: Flavour = Flavour::Linux;
}

impl Default for HostTcp {
    fn default() -> HostTcp {
        HostTcp(TcpParameters { flavour: HostTcp::FLAVOUR, ..TcpParameters::default() })
    }
}

impl Deref for HostTcp {
    type Target = TcpParameters;

    fn deref(&self) -> &TcpParameters {
        &self.0
    }
}

impl<'de> Deserialize<'de> for HostTcp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostTcp, D::Error> {
        #[derive(Deserialize)]
        struct Given {
            flavour: Option<Flavour>,
            #[serde(flatten)]
            others: TcpParameters,
        }
        let Given { flavour, others } = Given::deserialize(deserializer)?;
        Ok(HostTcp(TcpParameters { flavour: flavour.unwrap_or(HostTcp::FLAVOUR), ..others }))
    }
}

impl JsonSchema for HostTcp {
    fn schema_name() -> Cow<'static, str> {
        "HostTcp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = TcpParameters::json_schema(generator);
        if let Some(default) = schema.pointer_mut("/properties/flavour/default") {
            *default = json!(HostTcp::FLAVOUR);
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use multihop_transport::Recovery;

    fn host(parameters: serde_json::Value) -> HostTcp {
        serde_json::from_value(parameters).unwrap()
    }

    #[test]
    fn a_connection_without_a_flavour_is_that_of_a_host() {
        assert_eq!(host(json!({})), HostTcp::default());
        let given = host(json!({ "initial_window": 4, "min_rto": "50 ms" }));
        assert_eq!((given.flavour, given.initial_window), (Flavour::Linux, Some(4)));
        assert_eq!(given.options(Recovery::Sack).recovery, Recovery::Rack);
        for (name, flavour) in [("rfc", Flavour::Rfc), ("ns2", Flavour::Ns2), ("linux", Flavour::Linux)] {
            let given = host(json!({ "flavour": name, "window": 64 }));
            assert_eq!((given.flavour, given.window), (flavour, Some(64)));
            assert_eq!(serde_json::to_value(&given).unwrap()["flavour"], name);
        }
    }

    /// `tcp-sack` is not a congestion control of the kernel, which has it as `reno`.
    #[test]
    fn schemes_named_after_the_kernels_have_its_flavour() {
        let default = |name: &str| find(name).unwrap().schema()["properties"]["flavour"]["default"].clone();
        for name in ["newreno", "cubic", "bbr", "bbr3", "prague", "vegas", "westwood"] {
            assert_eq!(default(&format!("tcp-{name}")), "linux", "{name}");
        }
        for name in ["tcp-sack", "tcp-ap", "recn", "ewccp", "xcp", "bmcc"] {
            assert_eq!(default(name), "rfc", "{name}");
        }
    }
}
