//! TCP Westwood+ (Grieco and Mascolo 2004).

use crate::tcp::HostTcp;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_transport::{BandwidthFilter, Controller, Recovery, TcpOptions, Westwood, WestwoodOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filter that smooths samples of the bandwidth.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// 0.9 of the past value and 0.1 of the sample.
    #[default]
    Exponential,
    /// 0.9 of the past value and 0.1 of the mean of this sample and the previous one, as in ns-3.
    Tustin,
}

keys! {
    /// `tcp-newreno` that after a loss sets the window to the path's bandwidth-delay product. The bandwidth
    /// is estimated from acknowledgements once per round trip and smoothed. The delay is the minimum
    /// round-trip time.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpWestwood {
        /// Filter that smooths samples of the bandwidth: "exponential", as published, or "tustin", as in
        /// ns-3.
        pub filter: Filter,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: HostTcp,
    }
}

impl Parameters for TcpWestwood {
    const NAME: &str = "tcp-westwood";
    const SUMMARY: &str = "TCP Westwood+: after a loss the window is set from the measured bandwidth";
    const REFERENCE: &str = "Grieco and Mascolo 2004; RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }
}

impl TcpScheme for TcpWestwood {
    fn options(&self) -> TcpOptions {
        self.tcp.options(Recovery::NewReno)
    }

    fn control(&self) -> Box<dyn Controller> {
        let filter = match self.filter {
            Filter::Exponential => BandwidthFilter::Exponential,
            Filter::Tustin => BandwidthFilter::Tustin,
        };
        Box::new(Westwood::new(WestwoodOptions { reno: self.tcp.reno_options(), filter }))
    }
}
