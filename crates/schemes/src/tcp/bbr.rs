//! TCP BBR, version 1.

use crate::tcp::{Flavour, TcpParameters};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_transport::{Bbr, BbrOptions, BbrRules, Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Window in bandwidth-delay products, outside of startup, drain and round-trip probing.
const WINDOW_GAIN: f64 = 2.0;
/// Time without a round-trip sample as short as the minimum, after which the sender measures the minimum
/// again with four segments in flight.
const ROUND_TRIP_WINDOW: Duration = Duration(10.0);

keys! {
    /// `tcp-sack` with BBR. It estimates the bandwidth of the bottleneck and the round-trip time of the empty
    /// path. The bandwidth sets the pace; both limit the data in flight. Losses and ECN-Echo do not slow it
    /// down. The receive window must exceed two bandwidth-delay products. With the flavour linux, the pace is
    /// 1 % below the bandwidth, and the window adds the recent excess of acknowledged data over the bandwidth
    /// (ACK aggregation).
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpBbr {
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpBbr {
    const NAME: &str = "tcp-bbr";
    const SUMMARY: &str = "TCP with BBR (version 1): window and pace from a model of the path";
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
        let draft = BbrOptions::draft(self.tcp.segment_size(), self.tcp.first_window());
        let pacing_shift = self.tcp.options(Recovery::Sack).pacing_shift.unwrap_or(draft.pacing_shift);
        let bbr = Bbr::new(BbrOptions {
            pacing_shift,
            window_gain: WINDOW_GAIN,
            round_trip_window: ROUND_TRIP_WINDOW.span(),
            rules: if self.tcp.flavour == Flavour::Linux { BbrRules::Linux } else { BbrRules::Draft },
            ..draft
        });
        Box::new(bbr)
    }
}
