//! TCP `NewReno`.

use crate::tcp::TcpParameters;
use crate::{Parameters, Scheme};
use multihop_transport::{Endpoint, Recovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reliable transport with additive increase and multiplicative decrease, which repairs one loss per round trip from
/// duplicate and partial acknowledgements.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpNewReno {
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Parameters for TcpNewReno {
    const NAME: &str = "tcp-newreno";
    const SUMMARY: &str = "TCP with NewReno loss recovery";
    const REFERENCE: &str = "RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), String> {
        self.tcp.check()
    }
}

impl Scheme for TcpNewReno {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tcp.sender(Recovery::NewReno)
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tcp.receiver(Recovery::NewReno)
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
}
