//! TCP Westwood+.

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_transport::{BandwidthFilter, Controller, Recovery, TcpOptions, Westwood, WestwoodOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How samples of the bandwidth are smoothed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// 0.9 of the past and 0.1 of the sample.
    #[default]
    Exponential,
    /// 0.9 of the past and 0.1 of the mean of the sample and the one before, as ns-3 has it.
    Tustin,
}

keys! {
    /// `tcp-newreno` that after a loss goes on with what the path holds: the bandwidth by its
    /// acknowledgements, sampled once per round trip and smoothed, times the least round-trip time.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpWestwood {
        /// How samples of the bandwidth are smoothed: "exponential", as published, or "tustin", as in ns-3.
        pub filter: Filter,
        /// The connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpWestwood {
    const NAME: &str = "tcp-westwood";
    const SUMMARY: &str =
        "TCP Westwood+, which after a loss sets the window by the bandwidth that it measured";
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
