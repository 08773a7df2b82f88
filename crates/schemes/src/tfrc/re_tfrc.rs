//! RE TFRC (Li, Agu, Claypool and Kinicki 2003): TFRC below the rate that saturates the MAC of a chain.

use crate::tfrc::TfrcParameters;
use crate::tfrc::airtime_ceiling::AirtimeCeiling;
use crate::tfrc::rate_estimation::{CurrentRtt, RadioPath, RateEstimation, SaturatedChain};
use crate::{ParameterError, Parameters, Scheme, SenderStation};
use multihop_config::keys;
use multihop_config::keys::usually;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_config::quantity::Duration;
use multihop_core::{HeaderFormat, Rate, Span};
use multihop_link::{ActiveFlows, ContentionDelay, FirstHopRate, ServiceTimes, SuccessProbability};
use multihop_transport::{Endpoint, RateCeiling, RateChange, TfrcOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit of the sending rate.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// Rate for which the airtime around a node of the chain is sufficient, divided among the flows that the
    /// node knows.
    #[default]
    Airtime,
    /// Receive rate scaled to the round-trip time of saturation (Fig. 17).
    RoundTrip,
}

/// Content of an exchange of a saturated station.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangeOf {
    /// One packet.
    Packet,
    /// Full A-MPDU.
    #[default]
    Aggregate,
}

/// Method by which the model computes the probability that a transmission succeeds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Success {
    /// Fixed point of Bianchi 2000.
    #[default]
    FixedPoint,
    /// First-order approximation of Carvalho and Garcia-Luna-Aceves.
    Linear,
}

/// Time for which a flow counts after the sender's node sent or decoded a packet of it (`ceiling` "airtime").
const FLOW_WINDOW: Duration = Duration(5.0);

keys! {
    /// `tfrc` that keeps its rate below the rate that saturates the MAC of a chain. After the first loss
    /// event, each report lowers the equation's rate to the scaled receive rate. The scale is the round-trip
    /// time of a just saturated path over the current one. The time of saturation is that of a model of the
    /// MAC, or the measured minimum if that is longer. The model uses the hops of the path and the PHY of the
    /// sender's station. The rate rises by one packet per round-trip time (`rate_change`) in every `flavour`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct ReTfrc {
        /// Limit of the rate. "airtime" is a share of the airtime around a node of the chain. "round-trip" is
        /// the receive rate scaled to the round-trip time of saturation (the paper's Figure 17).
        pub ceiling: Ceiling,
        /// Exchange that saturates the MAC: of one "packet", or of a full "aggregate", as a station with a
        /// backlogged queue sends. Over radios without A-MPDUs both are one packet.
        #[schemars(transform = usually(ExchangeOf::default()))]
        pub exchange: Option<ExchangeOf>,
        /// Share of the airtime that data may use ("airtime" only). With 1 the rate is one packet per
        /// exchange at each hop, for at most four hops. Default: computed, as one packet per at most five
        /// exchanges plus the gain of a packet on the previous one. On the paper's chain of seven hops that
        /// is 300 kb/s, as in its Figure 7, or a share of 0.79.
        pub airtime_share: Option<f64> [0.01, 1],
        /// Number of hops of the path. Default: the hops that reports take.
        pub hops: Option<u32> [1, 1000],
        /// Current round-trip time by which the rate is scaled ("round-trip" only): of the "latest" report,
        /// or "smoothed" as the paper's equations literally say. The smoothed time lags, so that the rate
        /// continues to fall long after a queue has drained.
        pub current_rtt: CurrentRtt,
        /// Time for which the minimum round-trip time is kept ("round-trip" only). Not in the paper.
        pub rtt_window: Duration ["1 ms", "1 h"] = Duration(10.0),
        /// Whether the model includes the growth of contention windows ("round-trip" only). False is the
        /// equation as printed.
        pub growing_windows: bool = true,
        /// Probability of success in the model ("round-trip" only): the "fixed-point" of Bianchi, or the
        /// "linear" first-order approximation.
        pub success: Success,
        /// TFRC connection.
        #[serde(flatten)]
        pub tfrc: TfrcParameters,
    }
}

impl Parameters for ReTfrc {
    const NAME: &str = "re-tfrc";
    const SUMMARY: &str =
        "TFRC below the rate that saturates the MAC of a chain, shared among the flows in reach";
    const REFERENCE: &str = "Li, Agu, Claypool and Kinicki 2003; RFC 5348";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = super::HEADERS;

    fn check(&self) -> Result<(), ParameterError> {
        if let (Some(share), Ceiling::RoundTrip) = (self.airtime_share, self.ceiling) {
            let found = Found::NoEffect(Clash::new(share, "ceiling", "\"round-trip\""));
            return Err(ParameterError::new(
                "airtime_share",
                found,
                Wanted::LeaveOutOr("ceiling", "\"airtime\""),
            ));
        }
        Ok(())
    }
}

impl Scheme for ReTfrc {
    /// Creates a sender without a model of the path: only the minimum round-trip time is known.
    fn sender(&self) -> Box<dyn Endpoint> {
        self.sender_below(self.round_trip(None))
    }

    fn sender_at(&self, station: &SenderStation) -> Box<dyn Endpoint> {
        self.sender_below(match self.ceiling {
            Ceiling::Airtime => self.airtime(station),
            Ceiling::RoundTrip => self.round_trip(Some(self.radio_path(station))),
        })
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.connection().receiver()
    }

    fn segment_size(&self) -> u32 {
        self.tfrc.segment_size()
    }

    fn is_reliable(&self) -> bool {
        false
    }

    fn tfrc(&self) -> Option<TfrcOptions> {
        Some(self.connection().options())
    }
}

impl ReTfrc {
    /// Returns the connection with the scheme's own default: Figure 17 changes the rate incrementally.
    fn connection(&self) -> TfrcParameters {
        let rate_change = self.tfrc.rate_change.or(Some(RateChange::Incremental));
        TfrcParameters { rate_change, ..self.tfrc.clone() }
    }

    fn sender_below(&self, ceiling: Box<dyn RateCeiling>) -> Box<dyn Endpoint> {
        self.connection().sender(ceiling)
    }

    fn airtime(&self, station: &SenderStation) -> Box<dyn RateCeiling> {
        let header = self.connection().options().header;
        let flows = ActiveFlows::new(station.flow, FLOW_WINDOW.span());
        Box::new(AirtimeCeiling::new(
            station,
            self.is_full(),
            header,
            self.configured_hops(),
            self.airtime_share,
            flows,
        ))
    }

    fn round_trip(&self, path: Option<RadioPath>) -> Box<dyn RateCeiling> {
        let equation = self.connection().options().equation;
        let window = self.rtt_window.span();
        Box::new(RateEstimation::new(path, self.configured_hops(), self.current_rtt, equation, window))
    }

    /// Whether an exchange carries a full A-MPDU, if the radio aggregates.
    fn is_full(&self) -> bool {
        self.exchange.unwrap_or_default() == ExchangeOf::Aggregate
    }

    fn configured_hops(&self) -> Option<u16> {
        self.hops.map(|hops| hops as u16)
    }

    fn radio_path(&self, station: &SenderStation) -> RadioPath {
        let (scheme, station) = (self.clone(), *station);
        let chain = move |rate| scheme.saturated_chain(&station, rate);
        RadioPath { chain: Box::new(chain), in_use: FirstHopRate::new(station.flow, station.phy.data_rate) }
    }

    fn saturated_chain(&self, station: &SenderStation, rate: Rate) -> SaturatedChain {
        let options = self.connection().options();
        let times = |size, full| {
            let (phy, exchange) = station.exchange(rate, size, full);
            ServiceTimes::of(&phy, &exchange, PROPAGATION)
        };
        let success = match self.success {
            Success::FixedPoint => SuccessProbability::FixedPoint,
            Success::Linear => SuccessProbability::Linear,
        };
        let growing_windows = self.growing_windows;
        SaturatedChain {
            model: ContentionDelay { success, growing_windows, ..ContentionDelay::new(&station.phy) },
            data: times(options.segment_size + options.header, self.is_full()),
            feedback: times(options.report_size, false),
        }
    }
}

/// Propagation delay, the paper's delta without a value: about that of 300 m.
const PROPAGATION: Span = Span::from_us(1);

#[cfg(test)]
mod tests {
    #[test]
    fn hops_are_unknown_unless_given() {
        use crate::ReTfrc;
        assert_eq!(ReTfrc::default().configured_hops(), None);
        assert_eq!(ReTfrc { hops: Some(7), ..ReTfrc::default() }.configured_hops(), Some(7));
    }

    #[test]
    fn the_rate_changes_incrementally_unless_given() {
        use crate::ReTfrc;
        use crate::tfrc::{RateChange, TfrcParameters};
        assert_eq!(ReTfrc::default().connection().rate_change, Some(RateChange::Incremental));
        let tfrc = TfrcParameters { rate_change: Some(RateChange::AtOnce), ..TfrcParameters::default() };
        assert_eq!(ReTfrc { tfrc, ..ReTfrc::default() }.connection().rate_change, Some(RateChange::AtOnce));
    }
}
