//! TCP Prague.

use crate::tcp::{HostTcp, TcpParameters};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Found, Wanted};
use multihop_config::quantity::Duration;
use multihop_transport::{Controller, Prague, PragueOptions, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// TCP with the window of Prague, for queues of low latency (L4S, RFC 9330). Data carries ECT(1), and
    /// each acknowledgement counts marks (accurate ECN, RFC 9768). Once per round trip with marks, the window
    /// falls by half of the share of marked data. A loss acts as in `tcp-newreno`. Segments are paced one by
    /// one at a window per round trip; `segmentation_offload` sends bursts instead. Losses are recovered by
    /// time (RFC 8985) with every flavour.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpPrague {
        /// Round-trip time as which shorter ones count, so that flows share a queue equally. "0 s" for none.
        pub least_round_trip: Duration ["0 s", "1 s"] = Duration(0.025),
        /// Number of round trips after slow start from which shorter round trips count as longer.
        pub transition: u32 [0, 1_000_000] = 500,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: HostTcp,
    }
}

impl Parameters for TcpPrague {
    const NAME: &str = "tcp-prague";
    const SUMMARY: &str = "TCP with the window of Prague (L4S): small reductions by the share of marked data";
    const REFERENCE: &str = "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331, RFC 9768, RFC 8985";

    fn check(&self) -> Result<(), ParameterError> {
        if self.tcp.accurate_ecn == Some(false) {
            return Err(ParameterError::new(
                "accurate_ecn",
                Found::Truth(false),
                Wanted::LeaveOutOf(Self::NAME),
            ));
        }
        self.tcp.check_recovery_by_time("base", "\"tcp-prague\"", "\"tcp-cubic\"")?;
        self.tcp.check()
    }
}

impl TcpScheme for TcpPrague {
    fn options(&self) -> TcpOptions {
        let connection = self.connection();
        TcpOptions { delivery_rate: true, scalable: true, ..connection.options_with(Recovery::Rack) }
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(Prague::new(PragueOptions {
            least_round_trip: self.least_round_trip.span(),
            transition: self.transition,
            ..PragueOptions::draft(self.connection().reno_options())
        }))
    }
}

impl TcpPrague {
    /// Returns the connection with the scheme's own defaults.
    fn connection(&self) -> TcpParameters {
        TcpParameters { accurate_ecn: Some(true), ..self.tcp.paced_one_by_one() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_transport::Flavour;
    use serde_json::json;

    fn prague(parameters: serde_json::Value) -> TcpPrague {
        serde_json::from_value(parameters).unwrap()
    }

    #[test]
    fn every_flavour_recovers_by_time_and_counts_marks() {
        for flavour in ["rfc", "ns2", "linux"] {
            let options = TcpScheme::options(&prague(json!({ "flavour": flavour })));
            assert_eq!(options.recovery, Recovery::Rack, "{flavour}");
            assert!(options.accurate_ecn && options.scalable && options.delivery_rate);
            assert!(!options.segmentation_offload, "paced one by one");
        }
        let bursts = prague(json!({ "flavour": "linux", "segmentation_offload": true }));
        assert!(TcpScheme::options(&bursts).segmentation_offload && bursts.tcp.flavour == Flavour::Linux);
    }

    #[test]
    fn accurate_feedback_cannot_be_switched_off() {
        let error = prague(json!({ "accurate_ecn": false })).check().unwrap_err().to_string();
        assert_eq!(error, "accurate_ecn: found false; tcp-prague needs it, so leave it out");
        assert_eq!(prague(json!({ "accurate_ecn": true })).check(), Ok(()));
    }
}
