//! `[mac]`: the medium access control.

use crate::discipline::{Codel, Discipline};
use crate::document::{Document, Result, key};
use crate::values::{Limit, Switch};
use multihop_core::Span;
use multihop_dot11::{self as dot11, DcfRules};
use multihop_schemes::quantity::{Duration, Size};
use multihop_sim::config::MacConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distributed coordination function.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mac {
    /// The rule set.
    pub rules: RuleSet,
    /// DATA frames longer than this (MAC header and FCS included) use RTS/CTS: `"off"` for never, `"0 B"` for always.
    pub rts_threshold: Switch<Size>,
    /// Transmissions of an RTS, or of a DATA frame sent without RTS, before giving up.
    pub short_retry_limit: Limit,
    /// Transmissions of a DATA frame sent after RTS/CTS before giving up.
    pub long_retry_limit: Limit,
    /// Coverage class, by which the slot is 3 us longer each, and with it DIFS, EIFS and the timeouts of CTS and ACK: 450 m of distance
    /// each, there and back (aAirPropagationTime; 802.11-2007, 7.3.2.9 and 17.3.8.6). A link that needs more than it has gets every
    /// ACK too late. The standard has classes up to 31 (14 km), Linux up to 255, as here. Not with
    /// `response_timeout = "whole-response"`, which has an allowance of its own.
    #[schemars(range(min = 0, max = 255))]
    pub coverage_class: u32,
    /// Packets that the interface queue holds.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue: u32,
    /// How they wait. `queue` is the limit of all disciplines: Linux has 10240 for `fq-codel` and 8192 for `stations`.
    pub discipline: Discipline,
    /// Parameters of the discipline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codel: Option<Codel>,
    /// A packet that has waited in the interface queue for longer is dropped when its turn comes: `"off"` for never. ns-3 has
    /// 500 ms.
    pub lifetime: Switch<Duration>,
    /// Single rules that differ from those of the rule set.
    #[serde(rename = "override")]
    pub overrides: RuleOverrides,
}

/// A rule set of the distributed coordination function.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSet {
    /// The standard (IEEE 802.11-2012, clause 9.3).
    #[default]
    Ieee,
    /// ns-2.35, with its departures from the standard: for comparison with published simulations.
    Ns2,
    /// The assumptions of Bianchi's saturation model (2000): for comparison with it, at a propagation delay of zero.
    Bianchi,
}

/// Single rules, each a named difference between rule sets. What is absent is as in the rule set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleOverrides {
    /// How a back-off is drawn from a contention window.
    pub backoff_draw: Option<BackoffDraw>,
    /// A packet that finds the medium idle for DIFS, with no back-off pending, is sent at once. `ieee`: true.
    pub immediate_access: Option<bool>,
    /// A back-off frozen by a busy medium has one slot less to go: the convention of Bianchi (2000).
    pub busy_period_counts_as_slot: Option<bool>,
    /// A back-off waits a whole DIFS from where it begins or resumes, even in a medium that has long been idle. `ns2`: true.
    pub fresh_difs: Option<bool>,
    /// What a station does after a frame that it could not decode.
    pub eifs: Option<Eifs>,
    /// How long a sender waits for a CTS or an ACK.
    pub response_timeout: Option<ResponseTimeout>,
    /// One-way propagation allowance of `response_timeout = "whole-response"`. Default: 2 us.
    pub response_propagation: Option<Duration>,
    /// Fractions of microseconds in duration fields.
    pub duration_field: Option<Microseconds>,
    /// Fractions of microseconds in the airtime of direct-sequence payloads.
    pub airtime: Option<Microseconds>,
    /// A CTS is withheld while the medium is physically busy, not only while the NAV is set. `ns2`: true.
    pub cts_needs_idle_medium: Option<bool>,
    /// After a CTS, DATA is sent only if medium and NAV are idle. `ns2`: true.
    pub data_needs_idle_medium: Option<bool>,
    /// A DATA frame above the RTS threshold is accepted only right after one's own CTS. `ns2`: true.
    pub data_needs_own_cts: Option<bool>,
    /// An RTS that arrives while waiting for a CTS or ACK is answered once that wait has failed. `ieee`: true.
    pub answer_rts_while_waiting: Option<bool>,
    /// A NAV set by an overheard RTS is cleared if no frame follows. `ieee`: true.
    pub nav_reset_after_rts: Option<bool>,
    /// Frames of exactly the RTS threshold use RTS as well. `ns2`: true.
    pub rts_at_threshold: Option<bool>,
    /// MAC header and FCS of a DATA frame. `ieee`: 28 B, `ns2`: 34 B.
    pub data_header: Option<Size>,
    /// LLC/SNAP header of each network packet. `ieee`: 8 B, `ns2`: 0 B.
    pub llc_header: Option<Size>,
    /// Delay between the network layer and the interface queue, each way. `ns2`: 25 us.
    pub link_layer_delay: Option<Duration>,
}

/// How a back-off is drawn from a contention window `cw`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffDraw {
    /// Uniform in 0..=cw (`ieee`).
    Inclusive,
    /// Uniform in 0..cw (`ns2`).
    Exclusive,
}

/// What a station does after a frame that it could not decode.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eifs {
    /// It waits EIFS instead of DIFS, until a correct frame (`ieee`).
    UntilCorrectFrame,
    /// It sets its NAV to EIFS (`ns2`).
    AsNav,
    /// It waits DIFS as always (the assumption of Bianchi 2000).
    Never,
}

/// How long a sender waits for a CTS or an ACK.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseTimeout {
    /// Until the response should have begun (`ieee`).
    FirstBit,
    /// Until the response should have ended (`ns2`).
    WholeResponse,
    /// As long as EIFS has others wait, less DIFS (`bianchi`).
    Eifs,
}

/// How fractions of a microsecond are treated.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Microseconds {
    /// Rounded up.
    Up,
    /// Rounded to the nearest.
    Nearest,
    /// Kept.
    Exact,
}

impl Default for Mac {
    fn default() -> Mac {
        Mac {
            rules: RuleSet::Ieee,
            rts_threshold: Switch::Off,
            short_retry_limit: Limit::At(7), // dot11ShortRetryLimit and dot11LongRetryLimit, defaults of annex C
            long_retry_limit: Limit::At(4),
            coverage_class: 0,
            queue: 50,
            discipline: Discipline::DropTail,
            codel: None,
            lifetime: Switch::Off,
            overrides: RuleOverrides::default(),
        }
    }
}

impl Mac {
    /// The MAC over a PHY.
    pub(super) fn resolve(&self, document: &Document<'_>, phy: &dot11::Phy) -> Result<MacConfig> {
        let rts_threshold = match self.rts_threshold {
            Switch::Off => None,
            Switch::At(size) => {
                let bounds = ("0 B", "65535 B (or \"off\")");
                document.within(&key!["mac", "rts_threshold"], size.0, 0.0..=65_535.0, bounds)?;
                Some(size.bytes() as u32)
            }
        };
        document.within(&key!["mac", "queue"], f64::from(self.queue), 1.0..=1e6, ("1", "1000000 packets"))?;
        let lifetime = match self.lifetime {
            Switch::Off => None,
            Switch::At(time) => {
                document.within(
                    &key!["mac", "lifetime"],
                    time.0,
                    1e-6..=1e6,
                    ("1 us", "1000000 s (or \"off\")"),
                )?;
                Some(time.span())
            }
        };
        Ok(MacConfig {
            rules: self.overrides.resolve(document, self.rules)?,
            rts_threshold,
            short_retry_limit: self.short_retry_limit.get(),
            long_retry_limit: self.long_retry_limit.get(),
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            queue_limit: self.queue as usize,
            lifetime,
        })
    }

    /// The PHY with the slot that the coverage class needs.
    pub(super) fn cover(
        &self,
        document: &Document<'_>,
        phy: dot11::Phy,
        rules: &DcfRules,
    ) -> Result<dot11::Phy> {
        let at = key!["mac", "coverage_class"];
        let class = document.count(&at, self.coverage_class, 0, 255)?;
        if class > 0 && rules.response_timeout != dot11::ResponseTimeout::FirstBit {
            return Err(document.bad(
                &at,
                "has no effect on timeouts that wait for the whole response",
                "set mac.override.response_timeout = \"first-bit\", or mac.override.response_propagation and phy.slot \
                 instead of a class",
            ));
        }
        Ok(phy.with_coverage_class(class))
    }
}

impl RuleOverrides {
    fn resolve(&self, document: &Document<'_>, set: RuleSet) -> Result<DcfRules> {
        let base = match set {
            RuleSet::Ieee => DcfRules::IEEE,
            RuleSet::Ns2 => DcfRules::NS2,
            RuleSet::Bianchi => DcfRules::BIANCHI,
        };
        let at = |key: &str| key!["mac", "override", key];
        let header = |key, value: Option<Size>, default| match value {
            None => Ok(default),
            Some(size) => {
                document.within(&at(key), size.0, 0.0..=256.0, ("0 B", "256 B")).map(|_| size.bytes() as u32)
            }
        };
        let delay = |key, value: Option<Duration>, default| match value {
            None => Ok(default),
            Some(time) => document.within(&at(key), time.0, 0.0..=1.0, ("0 s", "1 s")).map(|_| time.span()),
        };
        Ok(DcfRules {
            backoff_draw: self.backoff_draw.map_or(base.backoff_draw, |draw| match draw {
                BackoffDraw::Inclusive => dot11::BackoffDraw::Inclusive,
                BackoffDraw::Exclusive => dot11::BackoffDraw::Exclusive,
            }),
            immediate_access: self.immediate_access.unwrap_or(base.immediate_access),
            busy_period_counts_as_slot: self
                .busy_period_counts_as_slot
                .unwrap_or(base.busy_period_counts_as_slot),
            fresh_difs: self.fresh_difs.unwrap_or(base.fresh_difs),
            eifs: self.eifs.map_or(base.eifs, |eifs| match eifs {
                Eifs::UntilCorrectFrame => dot11::EifsRule::UntilCorrectFrame,
                Eifs::AsNav => dot11::EifsRule::AsNav,
                Eifs::Never => dot11::EifsRule::Never,
            }),
            response_timeout: self.response_timeout(document, base, &delay)?,
            duration_field: self.duration_field.map_or(base.duration_field, Microseconds::rule),
            airtime: self.airtime.map_or(base.airtime, Microseconds::rule),
            cts_needs_idle_medium: self.cts_needs_idle_medium.unwrap_or(base.cts_needs_idle_medium),
            data_needs_idle_medium: self.data_needs_idle_medium.unwrap_or(base.data_needs_idle_medium),
            data_needs_own_cts: self.data_needs_own_cts.unwrap_or(base.data_needs_own_cts),
            answer_rts_while_waiting: self.answer_rts_while_waiting.unwrap_or(base.answer_rts_while_waiting),
            nav_reset_after_rts: self.nav_reset_after_rts.unwrap_or(base.nav_reset_after_rts),
            rts_at_threshold: self.rts_at_threshold.unwrap_or(base.rts_at_threshold),
            data_header: header("data_header", self.data_header, base.data_header)?,
            llc_header: header("llc_header", self.llc_header, base.llc_header)?,
            link_layer_delay: delay("link_layer_delay", self.link_layer_delay, base.link_layer_delay)?,
        })
    }

    fn response_timeout(
        &self,
        document: &Document<'_>,
        base: DcfRules,
        delay: &dyn Fn(&'static str, Option<Duration>, Span) -> Result<Span>,
    ) -> Result<dot11::ResponseTimeout> {
        use dot11::ResponseTimeout as Rule;
        let rule = match (self.response_timeout, base.response_timeout) {
            (None, rule) | (Some(ResponseTimeout::WholeResponse), rule @ Rule::WholeResponse { .. }) => rule,
            (Some(ResponseTimeout::FirstBit), _) => Rule::FirstBit,
            (Some(ResponseTimeout::WholeResponse), _) => {
                Rule::WholeResponse { propagation: Span::from_us(2) }
            }
            (Some(ResponseTimeout::Eifs), _) => Rule::Eifs,
        };
        let (Rule::WholeResponse { propagation }, given) = (rule, self.response_propagation) else {
            let name = if rule == Rule::Eifs { "eifs" } else { "first-bit" };
            return match self.response_propagation {
                None => Ok(rule),
                Some(_) => Err(document.bad(
                    &key!["mac", "override", "response_propagation"],
                    format!("has no effect with response_timeout \"{name}\""),
                    "remove it, or set response_timeout = \"whole-response\"",
                )),
            };
        };
        Ok(Rule::WholeResponse { propagation: delay("response_propagation", given, propagation)? })
    }
}

impl Microseconds {
    fn rule(self) -> dot11::Microseconds {
        match self {
            Microseconds::Up => dot11::Microseconds::Up,
            Microseconds::Nearest => dot11::Microseconds::Nearest,
            Microseconds::Exact => dot11::Microseconds::Exact,
        }
    }
}
