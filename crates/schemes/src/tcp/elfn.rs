//! TCP-ELFN: explicit link failure notification (Holland and Vaidya 1999).

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_transport::{Controller, Recovery, Standby, TcpOptions, WindowAfterFailure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// `tcp-newreno` whose sender receives a notice when its route fails. The sender then stops the
    /// retransmission timer, keeps window and timeout, and probes with its first unacknowledged segment. An
    /// acknowledgement ends this.
    ///
    /// The notice comes from the routing protocol of the sender's node, or from the node itself if it has no
    /// usable route. With static routes a break at another node is not reported.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpElfn {
        /// Interval between probes while the route is down. Default of the paper.
        pub probe_interval: Duration ["1 ms", "1 h"] = Duration(2.0),
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpElfn {
    const NAME: &str = "tcp-elfn";
    const SUMMARY: &str = "TCP NewReno that freezes while its route is down, and probes";
    const REFERENCE: &str = "Holland and Vaidya 1999; RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }
}

impl TcpScheme for TcpElfn {
    fn options(&self) -> TcpOptions {
        let standby = Standby {
            probe_interval: self.probe_interval.span(),
            window: WindowAfterFailure::Unchanged,
            hides_losses: false,
        };
        TcpOptions { standby: Some(standby), ..self.tcp.options(Recovery::NewReno) }
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }
}
