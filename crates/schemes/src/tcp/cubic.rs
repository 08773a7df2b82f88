//! TCP CUBIC.

use crate::overrides::Stated;
use crate::tcp::{Flavour, HostTcp};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_transport::{Controller, Cubic, CubicOptions, LinuxCubic, Recovery, SlowStartExit, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// End of the first slow start of `tcp-cubic`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum SlowStart {
    /// When round-trip times grow, or at a loss (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// When round-trip times grow, when acknowledgements take half a round trip, or at a loss (Linux).
    #[serde(rename = "hystart")]
    HyStart,
    /// At a loss (RFC 5681).
    #[serde(rename = "standard")]
    Standard,
}

keys! {
    /// `tcp-sack` with the window of CUBIC. After a reduction the window returns to its earlier size along a
    /// cubic function of time. It grows as fast as Reno's window where Reno is faster. With the flavour linux
    /// it grows in whole segments, and by at least 5 % per round trip before the first loss.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpCubic {
        /// Steepness of the window's growth, `C` of RFC 9438, in segments per second cubed.
        pub scale: f64 [0.001, 1_000] = 0.4,
        /// Share of the window that remains after a loss, `beta_cubic` of RFC 9438.
        pub beta: f64 [0.1, 1] = 0.7,
        /// Share of the window that remains after an ECN-Echo. Default: `beta`; RFC 8511 proposes 0.85.
        pub beta_ecn: Option<f64> [0.1, 1],
        /// End of the first slow start. "hystart++" ends it when round-trip times have grown by an eighth, at
        /// least 4 ms and at most 16 ms (RFC 9406; RFC 9438, section 4.10). Until then `byte_counting` limits
        /// the growth, instead of 8 segments per acknowledgement. "hystart" ends each slow start of 16
        /// segments or more by the same growth, or when acknowledgements take half a round trip (Linux).
        /// "standard" ends it at a loss (RFC 5681). Each segment is timed at no cost in bytes.
        pub slow_start: Option<SlowStart>,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: HostTcp,
    }
}

impl Parameters for TcpCubic {
    const NAME: &str = "tcp-cubic";
    const SUMMARY: &str = "TCP with the window of CUBIC, and recovery from selective acknowledgements";
    const REFERENCE: &str = "RFC 9438; RFC 2018, RFC 6298, RFC 6675, RFC 9406";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }

    fn own_defaults(&self) -> Vec<Stated> {
        vec![("slow_start", Some(json!(self.slow_start())))]
    }
}

impl TcpCubic {
    fn slow_start(&self) -> SlowStart {
        let by_flavour = match self.tcp.flavour {
            Flavour::Rfc => SlowStart::HyStartPlusPlus,
            Flavour::Ns2 => SlowStart::Standard,
            Flavour::Linux => SlowStart::HyStart,
        };
        self.slow_start.unwrap_or(by_flavour)
    }

    fn is_linux(&self) -> bool {
        self.tcp.flavour == Flavour::Linux
    }
}

impl TcpScheme for TcpCubic {
    fn options(&self) -> TcpOptions {
        let time_every_segment = self.is_linux() || self.slow_start() != SlowStart::Standard;
        TcpOptions { time_every_segment, ..self.tcp.options(Recovery::Sack) }
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = CubicOptions {
            reno: self.tcp.reno_options(),
            scale: self.scale,
            beta: self.beta,
            beta_ecn: self.beta_ecn.unwrap_or(self.beta),
            slow_start: match self.slow_start() {
                SlowStart::HyStartPlusPlus => SlowStartExit::HyStartPlusPlus,
                SlowStart::HyStart => SlowStartExit::HyStart,
                SlowStart::Standard => SlowStartExit::Loss,
            },
        };
        if self.is_linux() {
            Box::new(LinuxCubic::new(&options, self.tcp.options(Recovery::Sack).window_pacing))
        } else {
            Box::new(Cubic::new(options))
        }
    }
}
