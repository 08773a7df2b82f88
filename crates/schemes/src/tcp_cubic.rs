//! TCP CUBIC.

use crate::tcp::{TcpParameters, number_in_range};
use crate::{Parameters, Scheme};
use multihop_transport::{Cubic, CubicOptions, Endpoint, Recovery, TcpSender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `tcp-sack` with the window of CUBIC: after a reduction it returns along a cubic function of time to where it was, and where that
/// is slower than Reno, it is as fast as Reno.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpCubic {
    /// `C` of RFC 9438, in segments per second cubed: how steeply the window grows. Default 0.4.
    pub scale: f64,
    /// `beta_cubic` of RFC 9438: what is left of the window after a loss. Default 0.7.
    pub beta: f64,
    /// What is left of the window after an ECN-Echo. Default: `beta`; RFC 8511 proposes 0.85.
    pub beta_ecn: Option<f64>,
    /// Give way faster to new flows when the window is falling (RFC 9438, section 4.7). Default true.
    pub fast_convergence: bool,
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Default for TcpCubic {
    fn default() -> TcpCubic {
        TcpCubic {
            scale: 0.4,
            beta: 0.7,
            beta_ecn: None,
            fast_convergence: true,
            tcp: TcpParameters::default(),
        }
    }
}

impl Parameters for TcpCubic {
    const NAME: &str = "tcp-cubic";
    const SUMMARY: &str = "TCP with the window of CUBIC, and recovery from selective acknowledgements";
    const REFERENCE: &str = "RFC 9438; RFC 2018, RFC 6298, RFC 6675";

    fn check(&self) -> Result<(), String> {
        number_in_range("scale", self.scale, 1e-3, 1e3)?;
        number_in_range("beta", self.beta, 0.1, 1.0)?;
        number_in_range("beta_ecn", self.beta_ecn.unwrap_or(self.beta), 0.1, 1.0)?;
        self.tcp.check()
    }
}

impl Scheme for TcpCubic {
    fn sender(&self) -> Box<dyn Endpoint> {
        let cubic = Cubic::new(CubicOptions {
            reno: self.tcp.reno_options(),
            scale: self.scale,
            beta: self.beta,
            beta_ecn: self.beta_ecn.unwrap_or(self.beta),
            fast_convergence: self.fast_convergence,
        });
        Box::new(TcpSender::new(self.tcp.options(Recovery::Sack), Box::new(cubic)))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tcp.receiver(Recovery::Sack)
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
}
