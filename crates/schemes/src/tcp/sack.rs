//! TCP with selective acknowledgements.

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// As `tcp-newreno`, but the receiver says what arrived, so that all losses of a window are repaired in
    /// about one round trip.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpSack {
        /// The connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
        /// How losses are repaired: "rfc6675" (default, in both flavours), or "sack1", as ns-2.35's
        /// Agent/TCP/Sack1 does. That forgets what was selectively acknowledged with each new acknowledgement
        /// outside recovery, lets one segment go for each of the first two duplicates and none for others,
        /// ignores duplicates after a timeout until something new is acknowledged, and in recovery counts the
        /// packets in the network by acknowledgements, however many are known to be lost.
        pub recovery: Option<SackRecovery>,
    }
}

/// How losses are repaired from selective acknowledgements.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SackRecovery {
    /// RFC 6675.
    Rfc6675,
    /// ns-2.35's `Agent/TCP/Sack1`.
    Sack1,
}

impl Parameters for TcpSack {
    const NAME: &str = "tcp-sack";
    const SUMMARY: &str = "TCP with loss recovery from selective acknowledgements";
    const REFERENCE: &str = "RFC 2018, RFC 5681, RFC 6298, RFC 6675";

    fn check(&self) -> Result<(), ParameterError> {
        if self.recovery == Some(SackRecovery::Sack1)
            && let Some(keep) = self.tcp.keep_sacked
        {
            let found = Found::NoEffect(Clash::new(keep, "recovery", "\"sack1\""));
            return Err(ParameterError::new(
                "keep_sacked",
                found,
                Wanted::LeaveOutOr("recovery", "\"rfc6675\""),
            ));
        }
        self.tcp.check()
    }
}

impl TcpScheme for TcpSack {
    fn options(&self) -> TcpOptions {
        self.tcp.options(match self.recovery {
            None | Some(SackRecovery::Rfc6675) => Recovery::Sack,
            Some(SackRecovery::Sack1) => Recovery::Sack1,
        })
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn recovery_is_that_of_the_rfc_unless_ns2s_is_asked_for() {
        let recovery = |parameters| {
            let sack: TcpSack = serde_json::from_value(parameters).unwrap();
            sack.check().map(|()| sack.options().recovery)
        };
        assert_eq!(recovery(json!({})), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "flavour": "ns2" })), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "recovery": "rfc6675", "keep_sacked": true })), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "recovery": "sack1" })), Ok(Recovery::Sack1));
        assert_eq!(
            recovery(json!({ "recovery": "sack1", "keep_sacked": false })),
            Err(ParameterError::new(
                "keep_sacked",
                Found::NoEffect(Clash::new(false, "recovery", "\"sack1\"")),
                Wanted::LeaveOutOr("recovery", "\"rfc6675\"")
            ))
        );
    }
}
