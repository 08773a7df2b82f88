//! TCP `NewReno`: AIMD with loss recovery by RFC 6582.

use crate::tcp::HostTcp;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reliable transport with additive increase and multiplicative decrease. It repairs one loss per round trip
/// from duplicate and partial acknowledgements.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpNewReno {
    /// TCP connection.
    #[serde(flatten)]
    pub tcp: HostTcp,
}

impl Parameters for TcpNewReno {
    const NAME: &str = "tcp-newreno";
    const SUMMARY: &str = "TCP with NewReno loss recovery";
    const REFERENCE: &str = "RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }
}

impl TcpScheme for TcpNewReno {
    fn options(&self) -> TcpOptions {
        self.tcp.options(Recovery::NewReno)
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }
}
