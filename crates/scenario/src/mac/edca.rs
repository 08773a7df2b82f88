//! `[mac.edca]`: a queue and contention of its own for each access category.

use super::RuleSet;
use crate::document::{Document, KeyPath, Result, key};
use crate::error::{KeyProblem, MacProblem};
use multihop_core::Span;
use multihop_dot11::{AccessCategory, EdcaParameters, Phy};
use multihop_schemes::bounds;
use multihop_schemes::quantity::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Enhanced distributed channel access: four queues at each node, which contend for themselves. Packets go
/// into them by the codepoint of their flow, `app.dscp` (RFC 8325). An empty table has the defaults of the
/// standard.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Edca {
    /// Background. Default: AIFSN 7, the windows of the PHY, 2.528 ms (802.11b and earlier: 3.264 ms).
    #[serde(rename = "ac_bk", skip_serializing_if = "Option::is_none")]
    pub background: Option<Category>,
    /// Best effort, and everything without a codepoint of another category. Default: AIFSN 3, the windows of
    /// the PHY, 2.528 ms (802.11b and earlier: 3.264 ms).
    #[serde(rename = "ac_be", skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<Category>,
    /// Video. Default: AIFSN 2, from half the first window of the PHY to that, 4.096 ms (802.11b and earlier:
    /// 6.016 ms).
    #[serde(rename = "ac_vi", skip_serializing_if = "Option::is_none")]
    pub video: Option<Category>,
    /// Voice, and messages of routing protocols. Default: AIFSN 2, from a quarter of the first window of the
    /// PHY to half of it, 2.08 ms (802.11b and earlier: 3.264 ms).
    #[serde(rename = "ac_vo", skip_serializing_if = "Option::is_none")]
    pub voice: Option<Category>,
}

/// What an access category contends with. What is absent is as in table 9-137 of 802.11-2016.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Category {
    /// Slots of the arbitration inter-frame space, which come after SIFS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds!(1, 15))]
    pub aifsn: Option<u32>,
    /// First contention window: 2^n - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds!(0, 32_767))]
    pub cw_min: Option<u32>,
    /// Largest contention window: 2^n - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds!(0, 32_767))]
    pub cw_max: Option<u32>,
    /// How long a transmission opportunity may last, in which frames follow each other after SIFS: a multiple
    /// of 32 us, `"0 s"` for one exchange. A frame that takes longer alone is sent nevertheless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds!("0 s", "2.09712 s"))]
    pub txop_limit: Option<Duration>,
}

/// What a field says TXOP limits in (802.11-2016, 9.4.2.29).
const TXOP_UNIT: Span = Span::from_us(32);

/// What the categories contend with; none without the table.
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
    Ok(Some([background?, best_effort?, video?, voice?]))
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
            let [below, above] = [units, units + 1].map(|units| Duration((TXOP_UNIT * units).seconds()));
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
