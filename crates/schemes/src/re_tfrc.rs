//! RE TFRC.

use crate::quantity::Duration;
use crate::rate_estimation::{CurrentRtt, RateEstimation, SaturatedChain};
use crate::tcp::{in_range, span_in_range};
use crate::tfrc::{Change, TfrcParameters};
use crate::{Parameters, Scheme, Station};
use multihop_core::Span;
use multihop_link::{ContentionDelay, ServiceTimes, SuccessProbability};
use multihop_transport::Endpoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the model finds the probability that a transmission succeeds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Success {
    /// The fixed point of Bianchi 2000.
    #[default]
    FixedPoint,
    /// To the first order, as Carvalho and Garcia-Luna-Aceves do.
    Linear,
}

/// `tfrc` that keeps its rate below the one that saturates the MAC of a chain. After the first loss event each report lowers the rate of
/// the equation to the receive rate, scaled by the round-trip time that the path should have when it just saturates over the present
/// one. That is the round-trip time of a model of the MAC, from the hops of the path and the PHY of the sender's own station, or the least
/// one that was measured, whichever is more. The rate rises by a packet per round-trip time (`rate_change`), whatever the `flavour`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ReTfrc {
    /// Hops of the path. Default: as many as reports take.
    pub hops: Option<u32>,
    /// The present round-trip time that the rate is scaled by: that of the "latest" report, or the "smoothed" one, as in the paper's equations
    /// if they are taken literally. That lags behind, so that the rate goes on falling long after a queue has gone. Default "latest".
    pub current_rtt: CurrentRtt,
    /// For how long the least round-trip time is remembered (which the paper does not say). Default "10 s".
    pub rtt_window: Duration,
    /// Whether the model counts that contention windows grow. Default true; false is the equation as it is printed.
    pub growing_windows: bool,
    /// How the model finds the probability of a success: the "fixed-point" of Bianchi, or a "linear" one to the first order. Default
    /// "fixed-point".
    pub success: Success,
    /// The connection.
    #[serde(flatten)]
    pub tfrc: TfrcParameters,
}

impl Default for ReTfrc {
    fn default() -> ReTfrc {
        ReTfrc {
            hops: None,
            current_rtt: CurrentRtt::default(),
            rtt_window: Duration(10.0),
            growing_windows: true,
            success: Success::default(),
            tfrc: TfrcParameters::default(),
        }
    }
}

impl Parameters for ReTfrc {
    const NAME: &str = "re-tfrc";
    const SUMMARY: &str =
        "TFRC below the rate that saturates the MAC of a chain, by a model of its round-trip time";
    const REFERENCE: &str = "Li, Agu, Claypool and Kinicki 2003; RFC 5348";
    const RELIABLE: bool = false;

    fn check(&self) -> Result<(), String> {
        in_range("hops", self.hops, 1, 1000, "hops")?;
        span_in_range("rtt_window", Some(self.rtt_window), 1e-3, 3600.0)?;
        self.tfrc.check()
    }
}

impl Scheme for ReTfrc {
    /// Without a station there is no model: the least round-trip time is all that is known.
    fn sender(&self) -> Box<dyn Endpoint> {
        self.below(None)
    }

    fn sender_at(&self, station: &Station) -> Box<dyn Endpoint> {
        let options = self.connection().options();
        let times = |size| {
            let handshake = station.rts_from.is_some_and(|least| size >= least);
            ServiceTimes::new(&station.phy, size, handshake, PROPAGATION)
        };
        let success = match self.success {
            Success::FixedPoint => SuccessProbability::FixedPoint,
            Success::Linear => SuccessProbability::Linear,
        };
        let growing_windows = self.growing_windows;
        self.below(Some(SaturatedChain {
            model: ContentionDelay { success, growing_windows, ..ContentionDelay::new(&station.phy) },
            data: times(options.segment_size + options.header),
            feedback: times(options.report),
        }))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.connection().receiver()
    }

    fn segment_size(&self) -> u32 {
        self.tfrc.segment_size()
    }

    fn reliable(&self) -> bool {
        false
    }
}

impl ReTfrc {
    /// Its own default: Figure 17 changes the rate incrementally.
    fn connection(&self) -> TfrcParameters {
        let rate_change = self.tfrc.rate_change.or(Some(Change::Incremental));
        TfrcParameters { rate_change, ..self.tfrc.clone() }
    }

    fn below(&self, chain: Option<SaturatedChain>) -> Box<dyn Endpoint> {
        let hops = self.hops.map(|hops| hops as u16);
        let connection = self.connection();
        let equation = connection.options().equation;
        let window = self.rtt_window.span();
        connection.sender(Box::new(RateEstimation::new(chain, hops, self.current_rtt, equation, window)))
    }
}

/// The paper's delta, of which it gives no value: about that of 300 m.
const PROPAGATION: Span = Span::from_us(1);
