//! TCP with loss recovery from selective acknowledgements.

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Like `tcp-newreno`, but with selective acknowledgements, so that all losses of a window are repaired
    /// in about one round trip.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpSack {
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
        /// Algorithm of loss recovery: "rfc6675", the default of rfc and ns2; "rack", the default of linux,
        /// which detects losses by time (RFC 8985); or "sack1", ns-2.35's Agent/TCP/Sack1. The latter forgets
        /// selective acknowledgements at each new acknowledgement outside recovery. It sends one segment for
        /// each of the first two duplicates and none for others. After a timeout it ignores duplicates until
        /// new data is acknowledged. In recovery it counts packets in the network by acknowledgements,
        /// regardless of known losses.
        pub recovery: Option<SackRecovery>,
    }
}

/// Algorithm of loss recovery from selective acknowledgements.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SackRecovery {
    /// RFC 6675.
    Rfc6675,
    /// ns-2.35's `Agent/TCP/Sack1`.
    Sack1,
    /// RACK-TLP.
    Rack,
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
        match self.recovery {
            None => self.tcp.check(),
            Some(SackRecovery::Rack) => {
                self.tcp.check_recovery_by_time("recovery", "\"rack\"", "\"rfc6675\"")?;
                self.tcp.check_common()
            }
            Some(SackRecovery::Rfc6675 | SackRecovery::Sack1) => self.tcp.check_common(),
        }
    }
}

impl TcpScheme for TcpSack {
    fn options(&self) -> TcpOptions {
        match self.recovery {
            None => self.tcp.options(Recovery::Sack),
            Some(SackRecovery::Rack) => self.tcp.options_with(Recovery::Rack),
            Some(SackRecovery::Rfc6675) => self.tcp.options_with(Recovery::Sack),
            Some(SackRecovery::Sack1) => self.tcp.options_with(Recovery::Sack1),
        }
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
    fn recovery_follows_the_rfc_unless_sack1_is_given() {
        let recovery = |parameters| {
            let sack: TcpSack = serde_json::from_value(parameters).unwrap();
            sack.check().map(|()| sack.options().recovery)
        };
        assert_eq!(recovery(json!({})), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "flavour": "ns2" })), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "recovery": "rfc6675", "keep_sacked": true })), Ok(Recovery::Sack));
        assert_eq!(recovery(json!({ "recovery": "sack1" })), Ok(Recovery::Sack1));
        assert_eq!(recovery(json!({ "flavour": "linux" })), Ok(Recovery::Rack));
        assert_eq!(recovery(json!({ "recovery": "rack" })), Ok(Recovery::Rack));
        let kept = json!({ "flavour": "linux", "recovery": "rfc6675", "keep_sacked": false });
        assert_eq!(recovery(kept), Ok(Recovery::Sack));
        let said = recovery(json!({ "flavour": "linux", "keep_sacked": false })).unwrap_err().to_string();
        assert_eq!(
            said,
            "keep_sacked: false has no effect with flavour = \"linux\"; leave it out, or set flavour = \"rfc\""
        );
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
