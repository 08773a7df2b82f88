//! TCP BBR, version 3.

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_transport::{Bbr3, Bbr3Options, Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// TCP with version 3 of BBR. As `tcp-bbr`, it estimates the bandwidth of the bottleneck and the
    /// round-trip time of the empty path. In addition, losses bound the bandwidth and the data in flight. A
    /// probe for more bandwidth ends when more than 2 % of the data is lost. Between probes, each round trip
    /// with losses reduces the bounds to the data that was delivered, by 30 % at most. Losses are recovered
    /// by time (RACK-TLP) with every flavour. An ECN-Echo counts as a loss above 2 %. The receive window must
    /// exceed two bandwidth-delay products.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpBbr3 {
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpBbr3 {
    const NAME: &str = "tcp-bbr3";
    const SUMMARY: &str =
        "TCP with BBR (version 3): window and pace from a model of the path, with bounds by losses";
    const REFERENCE: &str = "draft-ietf-ccwg-bbr-06; RFC 2018, RFC 6298, RFC 8985";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check_recovery_by_time("base", "\"tcp-bbr3\"", "\"tcp-bbr\"")?;
        self.tcp.check()
    }
}

impl TcpScheme for TcpBbr3 {
    fn options(&self) -> TcpOptions {
        TcpOptions { delivery_rate: true, ..self.tcp.options_with(Recovery::Rack) }
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(Bbr3::new(Bbr3Options {
            segment_size: self.tcp.segment_size(),
            initial_window: self.tcp.first_window(),
        }))
    }
}
