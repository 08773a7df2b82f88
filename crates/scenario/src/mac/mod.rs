//! `[mac]`: medium access control.

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
use crate::discipline::{Codel, Discipline, DisciplineTables, DualPi2, Pie};
use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, MacProblem};
use crate::parameters::overrides;
use crate::schemes::MSDU_MAX;
use crate::values::{Limit, Switch};
use multihop_config::keys;
use multihop_config::keys::{default_if, usually_by};
use multihop_config::quantity::{Duration, Size};
use multihop_dot11::{self as dot11, DcfRules, EifsRule, NS2_PROPAGATION};
use multihop_sim::config::{Config, MacConfig, QueueConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

keys! {
    /// Distributed coordination function (DCF).
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Mac {
        /// Set of rules of the DCF.
        pub rules: RuleSet = RuleSet::Ieee,
        /// Length of the PSDU above which unicast DATA follows RTS/CTS (`dot11RTSThreshold`; 802.11-2020,
        /// 10.3.1). The length includes MAC header and FCS, and all MPDUs of an A-MPDU. `"off"` for never,
        /// `"0 B"` for always.
        pub rts_threshold: Switch<Size> ["0 B", "65535 B"] = Switch::Off,
        /// Whether a CTS-to-self precedes DATA at OFDM rates or MCSs, unless an RTS precedes the DATA. The
        /// CTS has the rate of an RTS, so that stations that cannot decode the DATA set their NAV
        /// (802.11-2012, 9.3.2.11 and 9.23.1).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(vec![("phy.mixed", json!(true)), ("otherwise", json!(false))]))]
        pub cts_to_self: Option<bool> = None,
        /// Maximum number of transmissions of an RTS, or of a DATA frame sent without RTS
        /// (`dot11ShortRetryLimit`; 802.11-2012, annex C).
        pub short_retry_limit: Limit = Limit::At(7),
        /// Maximum number of transmissions of a DATA frame sent after RTS/CTS (`dot11LongRetryLimit`;
        /// 802.11-2012, annex C).
        pub long_retry_limit: Limit = Limit::At(4),
        /// Coverage class for long links. Each class adds 3 us to the slot, DIFS, EIFS and the timeouts of
        /// CTS and ACK, which covers 450 m of distance (aAirPropagationTime; 802.11-2007, 7.3.2.9 and
        /// 17.3.8.6). On a link that needs a higher class, every ACK arrives too late. The standard has
        /// classes up to 31 (14 km), Linux up to 255. Not with `response_timeout = "whole-response"`, which
        /// has its own propagation allowance.
        pub coverage_class: u32 [0, 255] = 0,
        /// Limit of the interface queue in packets. The default is that of ns-2; with A-MPDUs, at least four
        /// times the MPDUs of an A-MPDU. At each hop, one A-MPDU is then unacknowledged and another in
        /// contention while two more arrive.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(queues()))]
        pub queue: Option<u32> [1, 1_000_000] = None,
        /// Queue discipline of the interface queue. `queue` limits every discipline: Linux has 10240 for
        /// `fq-codel` and 8192 for `stations`.
        pub discipline: Discipline = Discipline::DropTail,
        /// Parameters of the disciplines "fq-codel" and "stations".
        #[serde(skip_serializing_if = "Option::is_none")]
        pub codel: Option<Codel> = None,
        /// Parameters of the discipline "pie".
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pie: Option<Pie> = None,
        /// Parameters of the discipline "dualpi2".
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dualpi2: Option<DualPi2> = None,
        /// Hardware queue below the discipline.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hardware_queue: Option<HardwareQueue> = None,
        /// Maximum time of a packet in the interface queue. A packet queued for longer is dropped when it is
        /// dequeued; `"off"` for never. ns-3 has 500 ms.
        pub lifetime: Switch<Duration> ["1 us", "1000000 s"] = Switch::Off,
        /// Aggregation: several packets in one frame. 802.11n, ac and ax aggregate with the defaults of the
        /// keys even without the table; `a_mpdu = "off"` switches aggregation off. Other standards refuse the
        /// table.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aggregation: Option<Aggregation> = None,
        /// Rate control: a rate for each neighbour in place of `phy.data_rate`. Default: fixed rates.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate_control: Option<RateControl> = None,
        /// EDCA: a queue and a contention function for each access category. Default: one queue under the
        /// DCF.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub edca: Option<Edca> = None,
        /// Single rules that differ from the rule set.
        #[serde(rename = "override")]
        pub overrides: RuleOverrides = RuleOverrides::default(),
    }
}

/// Limit of an interface queue in ns-2, in packets.
const QUEUE: u32 = 50;

/// Default of `queue` where A-MPDUs have at most `mpdus` MPDUs; none without A-MPDUs.
fn default_queue(mpdus: Option<u32>) -> u32 {
    mpdus.map_or(QUEUE, |mpdus| QUEUE.max(4 * mpdus))
}

/// Default of `queue`: without A-MPDUs, and with as many MPDUs in them as standards allow.
fn queues() -> Vec<(&'static str, Value)> {
    let cases = [("no A-MPDUs", None), ("A-MPDUs of 64", Some(64)), ("A-MPDUs of 256", Some(256))];
    cases.map(|(case, mpdus)| (case, json!(default_queue(mpdus)))).into()
}

/// Rule set of the distributed coordination function.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSet {
    /// The standard (IEEE 802.11-2012, clause 9.3).
    #[default]
    Ieee,
    /// ns-2.35 with its deviations from the standard, for comparison with published simulations.
    Ns2,
    /// Assumptions of Bianchi's saturation model (2000), for comparison with the model at a propagation delay
    /// of zero.
    Bianchi,
}

multihop_dot11::dcf_rules! { overrides!
    /// Single rules, each a named difference between rule sets. Absent keys have the value of the rule set.
    RuleOverrides of DcfRules in ["mac", "override"], with {
        /// One-way propagation allowance of `response_timeout = "whole-response"`.
        #[schemars(transform = default_if("whole-response", Duration::from(NS2_PROPAGATION)))]
        pub response_propagation: Option<Duration>,
    };
}

/// Time that a sender waits for a CTS or an ACK.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseTimeout {
    /// Until the expected start of the response (`ieee`).
    FirstBit,
    /// Until the expected end of the response (`ns2`).
    WholeResponse,
    /// EIFS minus DIFS (`bianchi`).
    Eifs,
}

impl Mac {
    /// The PHY with the slot of the coverage class, and the MAC parameters on it. `mixed` is the default of
    /// `cts_to_self`; `nominal` is the rate of unicast DATA without rate control.
    pub(crate) fn resolve(
        &self,
        document: &Document<'_>,
        (phy, mixed): (dot11::Phy, bool),
        nominal: dot11::DataRate,
    ) -> Result<(dot11::Phy, MacConfig)> {
        let block_ack = aggregation::resolve(document, self.aggregation.as_ref(), &phy)?;
        let quality_of_service = self.edca.is_some() || phy.standard().has_mcs();
        let rules = self.overrides.resolve(document, self.rules, quality_of_service)?;
        let phy = self.apply_coverage_class(document, phy, &rules)?;
        if self.cts_to_self == Some(true) && !phy.rates().any(|(_, modulation)| modulation.is_ofdm()) {
            return Err(document.error(&key!["mac", "cts_to_self"], MacProblem::NoOfdm));
        }
        let mpdus = block_ack.aggregation.map(|limits| limits.mpdus);
        let queue = QueueConfig {
            limit: self.queue.unwrap_or_else(|| default_queue(mpdus)) as usize,
            lifetime: self.lifetime.at().map(Duration::span),
            discipline: self.queue_discipline(document)?,
            hardware: hardware_queue::resolve(document, self.hardware_queue.as_ref(), self.discipline)?,
        };
        let mac = MacConfig {
            rules,
            rts_threshold: self.rts_threshold.at().map(|size| size.bytes() as u32),
            short_retry_limit: self.short_retry_limit.get(),
            long_retry_limit: self.long_retry_limit.get(),
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            queue,
            msdu_limit: (self.rules == RuleSet::Ieee).then_some(MSDU_MAX),
            edca: edca::resolve(document, self.edca.as_ref(), self.rules, &phy)?,
            protection: self.edca.as_ref().map(|edca| edca.protection).unwrap_or_default(),
            cts_to_self: self.cts_to_self.unwrap_or(mixed),
            rate_control: rate_control::resolve(document, self.rate_control.as_ref(), &phy, nominal)?,
            block_ack,
        };
        Ok((phy, mac))
    }

    /// Queue discipline of the radios, with its parameters.
    fn queue_discipline(&self, document: &Document<'_>) -> Result<multihop_link::Discipline> {
        let Mac { codel, pie, dualpi2, .. } = self;
        let (codel, pie, dualpi2) = (codel.as_ref(), pie.as_ref(), dualpi2.as_ref());
        self.discipline.resolve(document, &key!["mac"], DisciplineTables { codel, pie, dualpi2 })
    }

    /// The PHY with the slot of the coverage class.
    fn apply_coverage_class(
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

/// Refuses a CTS-to-self that propagates for longer than the SIFS behind it, because the medium carries at
/// most one frame of a station at a time.
pub(crate) fn check_cts_to_self(document: &Document<'_>, config: &Config) -> Result<()> {
    let [delay, sifs] = [config.medium.propagation_delay, config.phy.sifs];
    if !config.mac.cts_to_self || delay <= sifs {
        return Ok(());
    }
    let [delay, sifs] = [delay, sifs].map(Duration::from);
    Err(document.error(&key!["mac", "cts_to_self"], MacProblem::CtsLongerThanSifs { delay, sifs }))
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
