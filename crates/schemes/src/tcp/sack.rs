//! TCP with selective acknowledgements.

use crate::tcp::TcpParameters;
use crate::{Misfit, Parameters, TcpScheme};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As `tcp-newreno`, but the receiver says what arrived, so that all losses of a window are repaired in about one round trip.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpSack {
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Parameters for TcpSack {
    const NAME: &str = "tcp-sack";
    const SUMMARY: &str = "TCP with loss recovery from selective acknowledgements";
    const REFERENCE: &str = "RFC 2018, RFC 5681, RFC 6298, RFC 6675";

    fn check(&self) -> Result<(), Misfit> {
        self.tcp.check()
    }
}

impl TcpScheme for TcpSack {
    fn options(&self) -> TcpOptions {
        self.tcp.options(Recovery::Sack)
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }
}
