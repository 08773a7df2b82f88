//! TCP Vegas.

use crate::range::number_in_range;
use crate::tcp::{Flavour, TcpParameters};
use crate::{Misfit, Parameters, TcpScheme};
use multihop_transport::{Controller, Recovery, RenoOptions, TcpOptions, Vegas, VegasOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP that keeps a few segments queued on the path: it compares the round-trip time with the least one that it saw, and opens or
/// closes the window by one segment per round trip. Every segment is timed, at no cost in bytes.
///
/// The flavour ns2 also counts what is queued as ns-2 does (one segment less, in whole segments), has a fine timeout of the mean
/// and two deviations instead of four, takes the round trip of the SYN for one of data, has no Limited Transmit, and starts with
/// two segments after a timeout.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpVegas {
    /// With fewer segments queued than this, the window grows. Default 1.
    pub alpha: f64,
    /// With more segments queued than this, the window shrinks. Default 3.
    pub beta: f64,
    /// With more segments queued than this, slow start ends. Default 1.
    pub gamma: f64,
    /// One duplicate acknowledgement is enough for a segment that was sent longer ago than the fine timeout. Default true.
    pub fine_timeout: bool,
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Default for TcpVegas {
    fn default() -> TcpVegas {
        TcpVegas { alpha: 1.0, beta: 3.0, gamma: 1.0, fine_timeout: true, tcp: TcpParameters::default() }
    }
}

impl Parameters for TcpVegas {
    const NAME: &str = "tcp-vegas";
    const SUMMARY: &str = "TCP that keeps few segments queued, by round-trip times";
    const REFERENCE: &str = "Brakmo and Peterson 1995; RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), Misfit> {
        for (name, value) in [("alpha", self.alpha), ("beta", self.beta), ("gamma", self.gamma)] {
            number_in_range(name, value, 0.0, 1e6)?;
        }
        if self.alpha > self.beta {
            let (alpha, beta) = (self.alpha, self.beta);
            let value = format!("{alpha}, above beta ({beta})");
            return Err(Misfit::of("alpha", value, format!("make it at most {beta}")));
        }
        self.tcp.check()
    }
}

impl TcpScheme for TcpVegas {
    fn options(&self) -> TcpOptions {
        let options = self.tcp.options(Recovery::NewReno);
        // ns-2's Vegas answers the first two duplicates with silence, or with a repetition.
        let limited_transmit = match self.tcp.limited_transmit {
            None => options.limited_transmit && self.tcp.flavour == Flavour::Rfc,
            Some(_) => options.limited_transmit,
        };
        TcpOptions { time_every_segment: true, limited_transmit, ..options }
    }

    fn control(&self) -> Box<dyn Controller> {
        // A window that is not used is no evidence that the path would carry it.
        let reno = RenoOptions { grow_when_app_limited: false, ..self.tcp.reno_options() };
        let defaults = match self.tcp.flavour {
            Flavour::Rfc => VegasOptions::rfc(reno),
            Flavour::Ns2 => VegasOptions::ns2(reno),
        };
        let vegas = Vegas::new(VegasOptions {
            alpha: self.alpha,
            beta: self.beta,
            gamma: self.gamma,
            fine_grained_rto: defaults.fine_grained_rto.filter(|_| self.fine_timeout),
            ..defaults
        });
        Box::new(vegas)
    }
}
