//! `[mac.edca]`: a queue and a contention function for each access category.

use super::RuleSet;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, MacProblem};
use crate::parameters::of;
use multihop_config::keys;
use multihop_config::keys::usually_by;
use multihop_config::quantity::Duration;
use multihop_core::Span;
use multihop_dot11::{AccessCategory, EdcaParameters, Phy, Preamble, Standard};
use multihop_sim::config::Protection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

keys! {
    /// Enhanced distributed channel access (EDCA): four queues at each node, each with a contention function
    /// of its own. The codepoint of a flow, `app.dscp`, selects the queue of its packets (RFC 8325). An empty
    /// table has the defaults of the standard.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Edca {
        /// Background.
        #[serde(rename = "ac_bk", skip_serializing_if = "Option::is_none")]
        pub background: Option<Category>,
        /// Best effort, and all packets without a codepoint of another category.
        #[serde(rename = "ac_be", skip_serializing_if = "Option::is_none")]
        pub best_effort: Option<Category>,
        /// Video.
        #[serde(rename = "ac_vi", skip_serializing_if = "Option::is_none")]
        pub video: Option<Category>,
        /// Voice, and messages of routing protocols.
        #[serde(rename = "ac_vo", skip_serializing_if = "Option::is_none")]
        pub voice: Option<Category>,
        /// Time that duration fields reserve within a transmission opportunity. `"single"`: the exchange of
        /// the frame and the next one. `"multiple"`, as in ns-3: the remainder of the limit, of which unused
        /// time is returned with a CF-End if there is time for one.
        pub protection: Protection,
    }
}

keys! {
    /// EDCA parameters of an access category. Absent keys have the values of table 9-137 of 802.11-2016.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Category {
        /// Number of slots of the arbitration inter-frame space, after SIFS (AIFSN).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(of_categories(Standard::Dot11a, KEYS, of!(|usual| usual.aifsn))))]
        pub aifsn: Option<u32> [1, 15],
        /// Minimum contention window in slots: 2^n - 1. Default: the PHY's minimum window; half of it for
        /// `ac_vi`, and a quarter for `ac_vo`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cw_min: Option<u32> [0, 32_767],
        /// Maximum contention window in slots: 2^n - 1. Default: the PHY's maximum window; the PHY's minimum
        /// window for `ac_vi`, and half of that for `ac_vo`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cw_max: Option<u32> [0, 32_767],
        /// Maximum duration of a transmission opportunity, in which exchanges follow each other after SIFS: a
        /// multiple of 32 us, `"0 s"` for one exchange. A frame that takes longer alone is sent all the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(txop_limits()))]
        pub txop_limit: Option<Duration> ["0 s", "2.09712 s"],
    }
}

const KEYS: [&str; AccessCategory::COUNT] = ["ac_bk", "ac_be", "ac_vi", "ac_vo"];

/// Default of each category on a standard, by name.
fn of_categories(
    standard: Standard,
    names: [&'static str; AccessCategory::COUNT],
    of: impl Fn(EdcaParameters) -> Value,
) -> Vec<(&'static str, Value)> {
    let phy = Phy::new(standard, Preamble::Long);
    let of = |category| of(EdcaParameters::new(category, &phy));
    names.into_iter().zip(AccessCategory::ALL.map(of)).collect()
}

fn txop_limits() -> Vec<(&'static str, Value)> {
    let limit = |of: EdcaParameters| json!(Duration::from(of.txop_limit));
    let direct = ["ac_bk of 802.11b", "ac_be of 802.11b", "ac_vi of 802.11b", "ac_vo of 802.11b"];
    [of_categories(Standard::Dot11a, KEYS, limit), of_categories(Standard::Dot11b, direct, limit)].concat()
}

/// Unit of TXOP limits in frames (802.11-2016, 9.4.2.29).
const TXOP_UNIT: Span = Span::from_us(32);

/// EDCA parameters of the categories; none without the table.
pub(super) fn resolve(
    document: &Document<'_>,
    choice: Option<&Edca>,
    rules: RuleSet,
    phy: &Phy,
) -> Result<Option<[EdcaParameters; AccessCategory::COUNT]>> {
    let Some(edca) = choice else { return Ok(None) };
    let table = key!["mac", "edca"];
    if rules == RuleSet::Ns2 {
        return Err(document.error(&table, MacProblem::NoCategories));
    }
    let category = |category: AccessCategory| {
        let (key, choice) = match category {
            AccessCategory::Background => ("ac_bk", &edca.background),
            AccessCategory::BestEffort => ("ac_be", &edca.best_effort),
            AccessCategory::Video => ("ac_vi", &edca.video),
            AccessCategory::Voice => ("ac_vo", &edca.voice),
        };
        let default = EdcaParameters::new(category, phy);
        let own = |choice: &Category| choice.resolve(document, &table.join(key), default);
        choice.as_ref().map_or(Ok(default), own)
    };
    let [background, best_effort, video, voice] = AccessCategory::ALL.map(category);
    let all = [background?, best_effort?, video?, voice?];
    if edca.protection == Protection::Multiple && all.iter().all(|each| each.txop_limit == Span::ZERO) {
        return Err(document.error(&table.join("protection"), MacProblem::NoOpportunity));
    }
    Ok(Some(all))
}

impl Category {
    fn resolve(
        &self,
        document: &Document<'_>,
        table: &KeyPath,
        default: EdcaParameters,
    ) -> Result<EdcaParameters> {
        let at = |key: &str| table.join(key);
        let window = |key: &str, slots: u32| {
            if (slots + 1).is_power_of_two() {
                return Ok(slots);
            }
            let (above, below) =
                ((slots + 1).next_power_of_two() - 1, (slots + 1).next_power_of_two() / 2 - 1);
            Err(document.error(&at(key), MacProblem::NoWindow { below, above }))
        };
        let cw_min = window("cw_min", self.cw_min.unwrap_or(default.cw_min))?;
        let cw_max = window("cw_max", self.cw_max.unwrap_or(default.cw_max))?;
        if cw_min > cw_max {
            let key = if self.cw_min.is_some() { "cw_min" } else { "cw_max" };
            let (value, limit) = (cw_min.to_string(), cw_max.to_string());
            let problem = KeyProblem::Above { key: "cw_min", value, other: "cw_max", limit };
            return Err(document.error(&at(key), problem));
        }
        let limit = |limit: Duration| {
            let units = limit.span().ns() / TXOP_UNIT.ns();
            if TXOP_UNIT * units == limit.span() {
                return Ok(limit.span());
            }
            let [below, above] = [units, units + 1].map(|units| Duration::from(TXOP_UNIT * units));
            Err(document.error(&at("txop_limit"), MacProblem::NoTxopLimit { below, above }))
        };
        Ok(EdcaParameters {
            aifsn: self.aifsn.unwrap_or(default.aifsn),
            cw_min,
            cw_max,
            txop_limit: self.txop_limit.map_or(Ok(default.txop_limit), limit)?,
        })
    }
}
