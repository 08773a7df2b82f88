//! RE TFRC.

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

/// What the rate is held below.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// What the air around a node of the chain has room for, divided among the flows that the node knows of.
    #[default]
    Airtime,
    /// The receive rate, scaled to the round-trip time of saturation (Fig. 17).
    RoundTrip,
}

/// What an exchange of a saturated station carries.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangeOf {
    /// One packet.
    Packet,
    /// As many as an A-MPDU holds.
    #[default]
    Aggregate,
}

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

/// With "airtime": how long a flow counts of which the sender's node last sent or decoded a packet.
const FLOW_WINDOW: Duration = Duration(5.0);

keys! {
    /// `tfrc` that keeps its rate below the one that saturates the MAC of a chain. After the first loss event
    /// each report lowers the rate of the equation to the receive rate, scaled by the round-trip time that
    /// the path should have when it just saturates over the present one. That is the round-trip time of a
    /// model of the MAC, from the hops of the path and the PHY of the sender's own station, or the least one
    /// that was measured, whichever is more. The rate rises by a packet per round-trip time (`rate_change`),
    /// whatever the `flavour`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct ReTfrc {
        /// What the rate is held below: a share of the air around a node of the chain ("airtime"), or the
        /// receive rate scaled to the round-trip time of saturation ("round-trip", the paper's Figure 17).
        pub ceiling: Ceiling,
        /// The exchange that saturates the MAC: of one "packet", or of a full "aggregate", which is what a
        /// station sends whose queue never runs empty; over radios that send no A-MPDUs that is a packet.
        #[schemars(transform = usually(ExchangeOf::default()))]
        pub exchange: Option<ExchangeOf>,
        /// With "airtime": the rate as a share of a packet per so many exchanges as there are hops, but at
        /// most four. Default: as computed, a packet per at most five exchanges and what a packet may gain on
        /// the one before it, which is 300 kb/s on the paper's chain of seven hops as in its Figure 7, a
        /// share of 0.79.
        pub airtime_share: Option<f64> [0.01, 1],
        /// Hops of the path. Default: as many as reports take.
        pub hops: Option<u32> [1, 1000],
        /// With "round-trip": the present round-trip time that the rate is scaled by: that of the "latest"
        /// report, or the "smoothed" one, as in the paper's equations if they are taken literally. That lags
        /// behind, so that the rate goes on falling long after a queue has gone.
        pub current_rtt: CurrentRtt,
        /// With "round-trip": for how long the least round-trip time is remembered (which the paper does not
        /// say).
        pub rtt_window: Duration ["1 ms", "1 h"] = Duration(10.0),
        /// With "round-trip": whether the model counts that contention windows grow. False is the equation as
        /// it is printed.
        pub growing_windows: bool = true,
        /// With "round-trip": how the model finds the probability of a success: the "fixed-point" of Bianchi,
        /// or a "linear" one to the first order.
        pub success: Success,
        /// The connection.
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
    /// Without a station there is no model: the least round-trip time is all that is known.
    fn sender(&self) -> Box<dyn Endpoint> {
        self.below(self.round_trip(None))
    }

    fn sender_at(&self, station: &SenderStation) -> Box<dyn Endpoint> {
        self.below(match self.ceiling {
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

    fn reliable(&self) -> bool {
        false
    }

    fn tfrc(&self) -> Option<TfrcOptions> {
        Some(self.connection().options())
    }
}

impl ReTfrc {
    /// Its own default: Figure 17 changes the rate incrementally.
    fn connection(&self) -> TfrcParameters {
        let rate_change = self.tfrc.rate_change.or(Some(RateChange::Incremental));
        TfrcParameters { rate_change, ..self.tfrc.clone() }
    }

    fn below(&self, ceiling: Box<dyn RateCeiling>) -> Box<dyn Endpoint> {
        self.connection().sender(ceiling)
    }

    fn airtime(&self, station: &SenderStation) -> Box<dyn RateCeiling> {
        let header = self.connection().options().header;
        let flows = ActiveFlows::new(station.flow, FLOW_WINDOW.span());
        Box::new(AirtimeCeiling::new(
            station,
            self.is_full(),
            header,
            self.known_hops(),
            self.airtime_share,
            flows,
        ))
    }

    fn round_trip(&self, path: Option<RadioPath>) -> Box<dyn RateCeiling> {
        let equation = self.connection().options().equation;
        let window = self.rtt_window.span();
        Box::new(RateEstimation::new(path, self.known_hops(), self.current_rtt, equation, window))
    }

    /// Is an exchange one of a full A-MPDU, where there are any?
    fn is_full(&self) -> bool {
        self.exchange.unwrap_or_default() == ExchangeOf::Aggregate
    }

    fn known_hops(&self) -> Option<u16> {
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

/// The paper's delta, of which it gives no value: about that of 300 m.
const PROPAGATION: Span = Span::from_us(1);

#[cfg(test)]
mod tests {
    #[test]
    fn hops_are_those_of_reports_unless_given() {
        use crate::ReTfrc;
        assert_eq!(ReTfrc::default().known_hops(), None);
        assert_eq!(ReTfrc { hops: Some(7), ..ReTfrc::default() }.known_hops(), Some(7));
    }

    #[test]
    fn the_rate_changes_by_steps_unless_something_else_is_chosen() {
        use crate::ReTfrc;
        use crate::tfrc::{RateChange, TfrcParameters};
        assert_eq!(ReTfrc::default().connection().rate_change, Some(RateChange::Incremental));
        let tfrc = TfrcParameters { rate_change: Some(RateChange::AtOnce), ..TfrcParameters::default() };
        assert_eq!(ReTfrc { tfrc, ..ReTfrc::default() }.connection().rate_change, Some(RateChange::AtOnce));
    }
}
