//! TCP BBR, version 1.

use crate::tcp::{Flavour, TcpParameters};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_transport::{Bbr, BbrOptions, BbrRules, Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window in bandwidth-delay products while bandwidth is used and probed for.
const WINDOW_GAIN: f64 = 2.0;
/// The round trip of the empty path is measured anew, with four segments in flight, when nothing as
/// short was seen for this long.
const ROUND_TRIP_WINDOW: Duration = Duration(10.0);

keys! {
    /// `tcp-sack` with BBR: it estimates the bandwidth of the bottleneck and the round trip of the empty
    /// path, paces by the one and limits what is in flight by both. Losses do not slow it down. It answers no
    /// ECN-Echo. It needs a receive window of more than two bandwidth-delay products. With the flavour linux
    /// its pace is 1 % below the bandwidth, and its window has as much on top as acknowledgements of late
    /// came ahead of the bandwidth, in bunches.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpBbr {
        /// The connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpBbr {
    const NAME: &str = "tcp-bbr";
    const SUMMARY: &str = "TCP with the model and the pace of BBR (version 1)";
    const REFERENCE: &str = "draft-cardwell-iccrg-bbr-congestion-control-00; \
        draft-cheng-iccrg-delivery-rate-estimation-00; RFC 2018, RFC 6298, RFC 6675";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }
}

impl TcpScheme for TcpBbr {
    fn options(&self) -> TcpOptions {
        TcpOptions { delivery_rate: true, ..self.tcp.options(Recovery::Sack) }
    }

    fn control(&self) -> Box<dyn Controller> {
        let bbr = Bbr::new(BbrOptions {
            window_gain: WINDOW_GAIN,
            round_trip_window: ROUND_TRIP_WINDOW.span(),
            rules: if self.tcp.flavour == Flavour::Linux { BbrRules::Linux } else { BbrRules::Draft },
            ..BbrOptions::draft(self.tcp.segment_size(), self.tcp.first_window())
        });
        Box::new(bbr)
    }
}
