//! TCP-AP: TCP with adaptive pacing (`ElRakabawy`, Klemm and Lindemann 2005).

use crate::tcp::{Flavour, TcpParameters};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_transport::{
    AdaptivePacing, AdaptivePacingOptions, Controller, Dispersion, Recovery, RtoOptions, ShortPath,
    TcpOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measure of the variation of the delay.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayDispersion {
    /// Mean absolute deviation over the mean, as in the authors' program.
    #[default]
    Mad,
    /// Standard deviation over the mean (coefficient of variation), as in the paper.
    Cov,
}

/// Delay between segments on a path with fewer hops than interfere.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortPaths {
    /// Delay over all hops of the path, as in the paper.
    #[default]
    H,
    /// Delay over one hop, as in the authors' program.
    One,
}

/// Number of delays over which the variation is computed.
const HISTORY: u32 = 50;
/// Interval between segments before the first round-trip sample.
const INITIAL_INTERVAL: Duration = Duration(0.05);

keys! {
    /// `tcp-newreno` with paced segments. The interval between segments is the delay over the four hops that
    /// interfere. The sender estimates that delay from the round-trip time, the hops of the acknowledgement
    /// and the data rate of the links, which is a parameter. The retransmission timer does not back off.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpAp {
        /// Data rate of the links.
        pub rate: BitRate ["1 kb/s", "100 Gb/s"] = BitRate(2e6),
        /// Bytes of headers from TCP to PHY. They are added to the payload of a segment; an acknowledgement
        /// consists of them.
        pub overhead: Size ["0 B", "65535 B"] = Size(112.0),
        /// Number of hops within which transmissions interfere.
        pub interfering_hops: u32 [1, 1000] = 4,
        /// Measure of the variation of the delay: "mad", the mean absolute deviation, as in the authors'
        /// program, or "cov", the standard deviation, as in the paper.
        pub dispersion: DelayDispersion,
        /// Delay on a path with fewer hops than interfere: of all its hops ("h", the paper) or of one hop
        /// ("one", the authors' program).
        pub short: ShortPaths,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for TcpAp {
    const NAME: &str = "tcp-ap";
    const SUMMARY: &str = "TCP with adaptive pacing, at intervals of the delay over the interfering hops";
    const REFERENCE: &str = "ElRakabawy, Klemm and Lindemann 2005; RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        self.connection().check()
    }
}

impl TcpScheme for TcpAp {
    fn options(&self) -> TcpOptions {
        let options = self.connection().options(Recovery::NewReno);
        let rto = RtoOptions { exponential: false, ..options.rto };
        // ns-2 has timestamps in every header, at no cost in bytes.
        let time_every_segment = !options.timestamps;
        TcpOptions { rto, time_every_segment, ..options }
    }

    fn control(&self) -> Box<dyn Controller> {
        let pacing = AdaptivePacing::new(AdaptivePacingOptions {
            reno: self.tcp.reno_options(),
            rate: self.rate.rate(),
            overhead: self.overhead.bytes() as u32,
            interfering_hops: self.interfering_hops as u16,
            dispersion: match self.dispersion {
                DelayDispersion::Mad => Dispersion::MeanAbsolute,
                DelayDispersion::Cov => Dispersion::Standard,
            },
            short: match self.short {
                ShortPaths::H => ShortPath::AllHops,
                ShortPaths::One => ShortPath::OneHop,
            },
            history: HISTORY as usize,
            initial_interval: INITIAL_INTERVAL.span(),
        });
        Box::new(pacing)
    }
}

impl TcpAp {
    /// Returns the connection with the scheme's own defaults. A delayed acknowledgement would count as delay
    /// on the path.
    fn connection(&self) -> TcpParameters {
        TcpParameters {
            delayed_ack: self.tcp.delayed_ack.or(Some(Duration(0.0))),
            timestamps: self.tcp.timestamps.or(Some(self.tcp.flavour != Flavour::Ns2)),
            ..self.tcp.clone()
        }
    }
}
