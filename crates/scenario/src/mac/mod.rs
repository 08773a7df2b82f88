//! `[mac]`: the medium access control.

mod aggregation;
mod edca;
mod hardware_queue;
mod rate_control;

use self::aggregation::Aggregation;
pub(crate) use self::aggregation::check as check_aggregation;
use self::edca::Edca;
use self::hardware_queue::HardwareQueue;
use self::rate_control::RateControl;
pub(crate) use self::rate_control::check as check_rate_control;
use crate::discipline::{Codel, Discipline};
use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, MacProblem};
use crate::parameters::overrides;
use crate::values::{Limit, Switch};
use multihop_config::keys;
use multihop_config::keys::{default_if, usually_by};
use multihop_config::quantity::{Duration, Size};
use multihop_dot11::{self as dot11, AccessCategory, DcfRules, EdcaParameters, EifsRule, NS2_PROPAGATION};
use multihop_sim::config::{
    AggregationConfig, Delivery, HardwareQueueConfig, MacConfig, MediumConfig, Persistence, Protection,
    RateControlConfig,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

keys! {
    /// The distributed coordination function.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Mac {
        /// The rule set.
        pub rules: RuleSet = RuleSet::Ieee,
        /// DATA to a single station whose PSDU is longer than this follows RTS/CTS (`dot11RTSThreshold`;
        /// 802.11-2020, 10.3.1). MAC header and FCS count, and of an A-MPDU all of it. `"off"` for never,
        /// `"0 B"` for always.
        pub rts_threshold: Switch<Size> ["0 B", "65535 B"] = Switch::Off,
        /// A CTS that the sender addresses to itself precedes DATA at rates of OFDM or at schemes that no RTS
        /// precedes. It has the rate of an RTS: stations that cannot decode the DATA set their NAV by it
        /// (802.11-2012, 9.3.2.11 and 9.23.1).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(vec![("phy.mixed", json!(true)), ("otherwise", json!(false))]))]
        pub cts_to_self: Option<bool> = None,
        /// Transmissions of an RTS, or of a DATA frame sent without RTS, before giving up
        /// (`dot11ShortRetryLimit`; 802.11-2012, annex C).
        pub short_retry_limit: Limit = Limit::At(7),
        /// Transmissions of a DATA frame sent after RTS/CTS before giving up (`dot11LongRetryLimit`;
        /// 802.11-2012, annex C).
        pub long_retry_limit: Limit = Limit::At(4),
        /// Coverage class, by which the slot is 3 us longer each, and with it DIFS, EIFS and the timeouts of
        /// CTS and ACK: 450 m of distance each, there and back (aAirPropagationTime; 802.11-2007, 7.3.2.9 and
        /// 17.3.8.6). A link that needs more receives every ACK too late. The standard has classes up
        /// to 31 (14 km), Linux up to 255, as here. Not with `response_timeout = "whole-response"`, which has
        /// an allowance of its own.
        pub coverage_class: u32 [0, 255] = 0,
        /// Packets that the interface queue holds, by default as many as in ns-2; with A-MPDUs at least four
        /// times the packets that one may have, as at each hop one waits for its acknowledgement and the next
        /// for the medium, while bursts as long come in.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(queues()))]
        pub queue: Option<u32> [1, 1_000_000] = None,
        /// How they wait. `queue` is the limit of all disciplines: Linux has 10240 for `fq-codel` and 8192
        /// for `stations`.
        pub discipline: Discipline = Discipline::DropTail,
        /// Parameters of the discipline.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub codel: Option<Codel> = None,
        /// A queue of the hardware, below the discipline.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hardware_queue: Option<HardwareQueue> = None,
        /// A packet that has waited in the interface queue for longer is dropped when its turn comes: `"off"`
        /// for never. ns-3 has 500 ms.
        pub lifetime: Switch<Duration> ["1 us", "1000000 s"] = Switch::Off,
        /// Several packets in one frame. 802.11n, ac and ax aggregate where this table is left out as well,
        /// by the defaults of its keys; `a_mpdu = "off"` switches it off. Other standards have none, and
        /// refuse the table.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aggregation: Option<Aggregation> = None,
        /// A rate for each neighbour in place of `phy.data_rate`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate_control: Option<RateControl> = None,
        /// A queue and contention of its own for each access category. Default: one queue under the
        /// distributed coordination function.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub edca: Option<Edca> = None,
        /// Single rules that differ from those of the rule set.
        #[serde(rename = "override")]
        pub overrides: RuleOverrides = RuleOverrides::default(),
    }
}

/// Packets of an interface queue in ns-2.
const QUEUE: u32 = 50;

/// Packets of an interface queue that is left out; A-MPDUs have so many packets, if there are any.
fn usual_queue(mpdus: Option<u32>) -> u32 {
    mpdus.map_or(QUEUE, |mpdus| QUEUE.max(4 * mpdus))
}

/// The default of `queue`: without A-MPDUs, and with as many packets in them as standards allow.
fn queues() -> Vec<(&'static str, Value)> {
    let cases = [("no A-MPDUs", None), ("A-MPDUs of 64", Some(64)), ("A-MPDUs of 256", Some(256))];
    cases.map(|(case, mpdus)| (case, json!(usual_queue(mpdus)))).into()
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
    /// The assumptions of Bianchi's saturation model (2000): for comparison with it, at a propagation delay
    /// of zero.
    Bianchi,
}

multihop_dot11::dcf_rules! { overrides!
    /// Single rules, each a named difference between rule sets. What is absent is as in the rule set.
    RuleOverrides of DcfRules in ["mac", "override"], with {
        /// One-way propagation allowance of `response_timeout = "whole-response"`.
        #[schemars(transform = default_if("whole-response", Duration::from(NS2_PROPAGATION)))]
        pub response_propagation: Option<Duration>,
    };
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

impl Mac {
    /// The MAC over a PHY.
    pub(crate) fn resolve(
        &self,
        document: &Document<'_>,
        phy: &dot11::Phy,
        aggregation: Option<&AggregationConfig>,
    ) -> Result<MacConfig> {
        let queue = self.queue.unwrap_or_else(|| usual_queue(aggregation.map(|limits| limits.mpdus)));
        Ok(MacConfig {
            rules: self.overrides.resolve(
                document,
                self.rules,
                self.edca.is_some() || phy.standard().has_mcs(),
            )?,
            rts_threshold: self.rts_threshold.at().map(|size| size.bytes() as u32),
            short_retry_limit: self.short_retry_limit.get(),
            long_retry_limit: self.long_retry_limit.get(),
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            queue_limit: queue as usize,
            lifetime: self.lifetime.at().map(Duration::span),
        })
    }

    /// Aggregation over a PHY, if there is any.
    pub(crate) fn aggregation(
        &self,
        document: &Document<'_>,
        phy: &dot11::Phy,
    ) -> Result<Option<AggregationConfig>> {
        aggregation::resolve(document, self.aggregation.as_ref(), phy)
    }

    /// How long the ends of its agreements hold on to MPDUs.
    pub(crate) fn persistence(&self) -> Persistence {
        self.aggregation.as_ref().map_or_else(Persistence::default, Aggregation::persistence)
    }

    /// When their recipients pass MPDUs on.
    pub(crate) fn delivery(&self) -> Delivery {
        self.aggregation.as_ref().map(|aggregation| aggregation.delivery).unwrap_or_default()
    }

    /// The queue of the hardware, if it has one.
    pub(crate) fn hardware_queue(&self, document: &Document<'_>) -> Result<Option<HardwareQueueConfig>> {
        hardware_queue::resolve(document, self.hardware_queue.as_ref(), self.discipline)
    }

    /// How stations choose rates over a PHY, if they do.
    pub(crate) fn rate_control(
        &self,
        document: &Document<'_>,
        phy: &dot11::Phy,
        nominal: dot11::DataRate,
    ) -> Result<Option<RateControlConfig>> {
        rate_control::resolve(document, self.rate_control.as_ref(), phy, nominal)
    }

    /// What access categories contend with, if there are any.
    pub(crate) fn edca(
        &self,
        document: &Document<'_>,
        phy: &dot11::Phy,
    ) -> Result<Option<[EdcaParameters; AccessCategory::COUNT]>> {
        edca::resolve(document, self.edca.as_ref(), self.rules, phy)
    }

    /// Does a CTS to the station itself precede frames of OFDM? Not where they propagate for longer than the
    /// SIFS behind it: the medium has one frame of a station at a time.
    pub(crate) fn cts_to_self(
        &self,
        document: &Document<'_>,
        choice: &crate::phy::Phy,
        phy: &dot11::Phy,
        medium: &MediumConfig,
    ) -> Result<bool> {
        let at = key!["mac", "cts_to_self"];
        let protects = self.cts_to_self.unwrap_or(choice.mixed);
        if self.cts_to_self == Some(true) && !phy.rates().any(|(_, modulation)| modulation.is_ofdm()) {
            return Err(document.error(&at, MacProblem::NoOfdm));
        }
        if protects && medium.propagation_delay > phy.sifs {
            let [delay, sifs] = [medium.propagation_delay, phy.sifs].map(Duration::from);
            return Err(document.error(&at, MacProblem::CtsStillOnItsWay { delay, sifs }));
        }
        Ok(protects)
    }

    /// What frames of their transmission opportunities reserve.
    pub(crate) fn protection(&self) -> Protection {
        self.edca.as_ref().map(|edca| edca.protection).unwrap_or_default()
    }

    /// The PHY with the slot that the coverage class needs.
    pub(crate) fn cover(
        &self,
        document: &Document<'_>,
        phy: dot11::Phy,
        rules: &DcfRules,
    ) -> Result<dot11::Phy> {
        let at = key!["mac", "coverage_class"];
        let class = self.coverage_class;
        if class > 0 && rules.response_timeout != dot11::ResponseTimeout::FirstBit {
            return Err(document.error(&at, MacProblem::ClassWithoutTimeout));
        }
        Ok(phy.with_coverage_class(class))
    }
}

impl RuleOverrides {
    fn resolve(&self, document: &Document<'_>, set: RuleSet, quality_of_service: bool) -> Result<DcfRules> {
        let of_standard = |rules: DcfRules| {
            if quality_of_service { rules.with_quality_of_service() } else { rules }
        };
        let base = match set {
            RuleSet::Ieee => of_standard(DcfRules::IEEE),
            RuleSet::Ns2 => DcfRules::NS2,
            RuleSet::Bianchi => of_standard(DcfRules::BIANCHI),
        };
        let response_timeout = self.response_timeout(document, base)?;
        Ok(DcfRules { response_timeout, ..self.resolve_listed(base) })
    }

    fn response_timeout(&self, document: &Document<'_>, base: DcfRules) -> Result<dot11::ResponseTimeout> {
        use dot11::ResponseTimeout as Rule;
        let rule = match (self.response_timeout, base.response_timeout) {
            (None, rule) | (Some(ResponseTimeout::WholeResponse), rule @ Rule::WholeResponse { .. }) => rule,
            (Some(ResponseTimeout::FirstBit), _) => Rule::FirstBit,
            (Some(ResponseTimeout::WholeResponse), _) => Rule::WholeResponse { propagation: NS2_PROPAGATION },
            (Some(ResponseTimeout::Eifs), _) => Rule::Eifs,
        };
        let at = key!["mac", "override", "response_propagation"];
        match (rule, self.response_propagation) {
            (rule, None) => Ok(rule),
            (Rule::WholeResponse { .. }, Some(given)) => {
                let propagation = document.between(&at, given, "0 s", "1 s")?.span();
                Ok(Rule::WholeResponse { propagation })
            }
            (rule, Some(_)) => {
                let value = if rule == Rule::Eifs { "eifs" } else { "first-bit" }.into();
                let (key, instead) = ("response_timeout", "\"whole-response\"");
                Err(document.error(&at, KeyProblem::NoEffect { key, value, instead }))
            }
        }
    }
}
