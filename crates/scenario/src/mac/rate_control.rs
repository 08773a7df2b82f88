//! `[mac.rate_control]`: stations choose the rate of DATA for each neighbour.

use crate::document::{Document, Result, key};
use crate::error::MacProblem;
use multihop_config::bounds;
use multihop_config::keys::usually_by;
use multihop_dot11::{DataRate, Phy};
use multihop_link::Algorithm;
use multihop_sim::config::{Config, MatrixQuantity, MediumModel, RateControlConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum number of transmissions of a retry chain of three rates in Linux.
const CHAIN_TRIES: u32 = 21;

/// Rate control: each station chooses a rate of the PHY for unicast DATA to each neighbour. Routing metrics
/// and the rate of broadcasts are still based on `phy.data_rate`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RateControl {
    /// Algorithm of rate control.
    pub algorithm: RateAlgorithm,
    /// Maximum number of spatial streams in 802.11n, ac and ax. Streams share the transmit power, and
    /// receivers separate them by zero forcing, so that several streams need a stronger signal than in ns-3.
    /// Default: the number of streams of `phy.data_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds!(1, 8))]
    pub streams: Option<u32>,
    /// Maximum number of transmissions of a frame, with or without RTS. Replaces `mac.short_retry_limit` and
    /// `long_retry_limit`, which apply to `ideal` by default. Linux allows drivers at most seven
    /// transmissions at each of the three rates of a retry chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = usually_by(tries()), transform = bounds!(1, 255))]
    pub tries: Option<u32>,
}

/// Default of `tries`.
fn tries() -> Vec<(&'static str, Value)> {
    vec![("minstrel-ht", json!(CHAIN_TRIES)), ("ideal", Value::Null)]
}

/// Algorithm of rate control.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateAlgorithm {
    /// The rate with the highest goodput at the signal-to-noise ratio of the last frame from the neighbour.
    /// Only on media with received powers.
    Ideal,
    /// Minstrel-HT, as in Linux: statistics of delivered frames at each rate, and samples of other rates.
    MinstrelHt,
}

/// Rate control of a network; none for fixed rates.
pub(super) fn resolve(
    document: &Document<'_>,
    choice: Option<&RateControl>,
    phy: &Phy,
    nominal: DataRate,
) -> Result<Option<RateControlConfig>> {
    let Some(RateControl { algorithm, streams, tries }) = choice else { return Ok(None) };
    let at = key!["mac", "rate_control", "streams"];
    let most = phy.schemes().map(|mcs| mcs.streams).max();
    let streams = match (streams, most, nominal) {
        (None, _, DataRate::Mcs(mcs)) => mcs.streams,
        (None, ..) => 1,
        (Some(streams), Some(most), _) => document.count(&at, *streams, 1, u32::from(most))? as u8,
        (Some(_), None, _) => {
            return Err(document.error(&at, MacProblem::NoStreams));
        }
    };
    let algorithm = match algorithm {
        RateAlgorithm::Ideal => Algorithm::Ideal,
        RateAlgorithm::MinstrelHt => Algorithm::MinstrelHt,
    };
    let tries = match (tries, algorithm) {
        (Some(tries), _) => Some(*tries),
        (None, Algorithm::MinstrelHt) => Some(CHAIN_TRIES),
        (None, Algorithm::Ideal) => None,
    };
    Ok(Some(RateControlConfig { algorithm, streams, tries }))
}

/// Refuses scenarios that contradict rate control, once nodes and medium are known.
pub(crate) fn check(document: &Document<'_>, config: &Config) -> Result<()> {
    let Some(control) = config.mac.rate_control else { return Ok(()) };
    let fixed =
        !config.rates.links.is_empty() || config.topology.nodes.iter().any(|node| node.data_rate.is_some());
    if fixed {
        return Err(document.error(&key!["mac", "rate_control"], MacProblem::FixedRates));
    }
    let has_powers = match &config.medium.model {
        MediumModel::Sinr { .. } | MediumModel::Sensed { .. } => true,
        MediumModel::Matrix { quantity, .. } => matches!(quantity, MatrixQuantity::Rssi { .. }),
        MediumModel::Ranges { .. } => false,
    };
    if control.algorithm == Algorithm::Ideal && !has_powers {
        return Err(document.error(&key!["mac", "rate_control", "algorithm"], MacProblem::NoPowers));
    }
    Ok(())
}
