//! `[mac.aggregation]`: several packets in one frame, under block acknowledgement agreements.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::MacProblem;
use crate::parameters::of;
use crate::schemes::HEADERS_MIN;
use crate::values::{Limit, Switch};
use multihop_config::keys;
use multihop_config::keys::usually_by;
use multihop_config::quantity::{Duration, Size};
use multihop_core::Span;
use multihop_dot11::{MPDU_DELIMITER, Phy, Standard};
use multihop_sim::config::{
    AggregationConfig, AppConfig, BlockAckConfig, Config, Delivery, FlowConfig, Persistence, TrafficConfig,
};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

keys! {
    /// Aggregation of packets to one neighbour in 802.11n, ac and ax. With both `a_mpdu` and `a_msdu`
    /// `"off"`, each packet has an ACK of its own.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Aggregation {
        /// Maximum size of an A-MPDU: at least one MPDU of the flows, at most what the standard allows;
        /// `"off"` for no A-MPDUs.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|limits| format!("{} B", limits.a_mpdu))))]
        pub a_mpdu: Option<Switch<Size>>,
        /// Maximum size of an A-MSDU, subframe headers included; `"off"` for one packet in each MPDU. The
        /// standard allows 3839 B and 7935 B in 802.11n, and 11398 B in 802.11ac and ax. An MPDU within an
        /// A-MPDU of 802.11n has at most 4095 B.
        pub a_msdu: Switch<Size> = Switch::Off,
        /// Maximum number of MPDUs in an A-MPDU. Default: `window`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mpdus: Option<u32> [1, 256],
        /// Window of a block acknowledgement agreement in sequence numbers. Above 64, block acknowledgements
        /// are 24 bytes longer.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|limits| limits.window)))]
        pub window: Option<u32> [1, 256],
        /// Maximum airtime of an A-MPDU, up to the maximum that the length field of the legacy preamble
        /// encodes. Linux has 4 ms.
        pub max_duration: Duration = LONGEST_PPDU.into(),
        /// Minimum time between the starts of two MPDUs of an A-MPDU that their recipient needs (minimum MPDU
        /// start spacing): 0 to 16 us.
        pub spacing: Duration = Duration(0.0),
        /// Maximum number of transmissions of an MPDU, alone or in an A-MPDU. With `"none"` only its lifetime
        /// limits them, as in ns-3 and in the standard under a block acknowledgement agreement (802.11-2020,
        /// 10.23.2.12.1). An MPDU is also dropped after `mac.short_retry_limit` transmissions alone. By
        /// default 15, as in Linux's iwlwifi and mt76, or `mac.short_retry_limit` if that is higher;
        /// `mac.rate_control.tries` with rate control.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub retry_limit: Option<Limit>,
        /// Maximum number of consecutive `BlockAckReq` frames without a response, after which the MPDUs sent
        /// are dropped; `"none"` for no limit. By default 60, as in iwlwifi, and no limit with `retry_limit =
        /// "none"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub request_limit: Option<Limit>,
        /// Time that a recipient waits for a missing MPDU before it delivers the MPDUs behind it. `"off"` for
        /// no limit, as in the standard and in ns-3. The default is that of Linux.
        pub reordering_timeout: Switch<Duration> = Switch::At(REORDERING_TIMEOUT),
        /// Instant at which a recipient delivers the MPDUs of an A-MPDU to the network layer.
        pub delivery: Delivery,
        /// Whether A-MPDUs of several MPDUs follow RTS/CTS whatever `mac.rts_threshold` is.
        pub rts: bool,
    }
}

/// `aPPDUMaxTime` of HT-mixed, VHT and HE PPDUs: the maximum that the length field of a legacy preamble
/// encodes.
const LONGEST_PPDU: Span = Span::from_us(5_484);

/// `HT_RX_REORDER_BUF_TIMEOUT` of Linux's mac80211.
const REORDERING_TIMEOUT: Duration = Duration(0.1);

/// Limits of a standard (802.11-2016, table 9-19 and 10.13; 802.11ax-2021, 9.4.2.248 and 26.6.2).
struct Limits {
    a_mpdu: f64,
    a_msdu: f64,
    /// Maximum size of an MPDU within an A-MPDU, in bytes.
    mpdu: u32,
    window: u32,
    single_delimited: bool,
}

fn limits(standard: Standard) -> Limits {
    match standard {
        Standard::Dot11ac => {
            Limits { a_mpdu: 1_048_575.0, a_msdu: 11_398.0, mpdu: 11_454, window: 64, single_delimited: true }
        }
        Standard::Dot11ax => Limits {
            a_mpdu: 6_500_631.0,
            a_msdu: 11_398.0,
            mpdu: 11_454,
            window: 256,
            single_delimited: true,
        },
        _ => Limits { a_mpdu: 65_535.0, a_msdu: 7_935.0, mpdu: 4_095, window: 64, single_delimited: false },
    }
}

/// Default of a key whose default is the standard's limit.
fn by_standard(of: impl Fn(&Limits) -> Value) -> impl FnMut(&mut Schema) {
    let standards = [Standard::Dot11n, Standard::Dot11ac, Standard::Dot11ax];
    let allowed = standards.map(|standard| of(&limits(standard)));
    usually_by(["802.11n", "802.11ac", "802.11ax"].into_iter().zip(allowed).collect())
}

/// Aggregation and block acknowledgements of a network; none before 802.11n.
pub(super) fn resolve(
    document: &Document<'_>,
    choice: Option<&Aggregation>,
    phy: &Phy,
) -> Result<BlockAckConfig> {
    let table = key!["mac", "aggregation"];
    if !phy.standard().has_mcs() {
        return match choice {
            None => Ok(BlockAckConfig::default()),
            Some(_) => Err(document.error(&table, MacProblem::NoAggregation)),
        };
    }
    let choice = choice.cloned().unwrap_or_default();
    Ok(BlockAckConfig {
        aggregation: choice.resolve(document, &table, &limits(phy.standard()))?,
        persistence: choice.persistence(),
        delivery: choice.delivery,
    })
}

/// Refuses parameters that contradict the flows.
pub(crate) fn check(document: &Document<'_>, config: &Config) -> Result<()> {
    check_delivery(document, config)?;
    check_room(document, config)
}

/// Refuses to deliver MPDUs one by one to a scheme that recognises those of an A-MPDU by their common arrival
/// time.
fn check_delivery(document: &Document<'_>, config: &Config) -> Result<()> {
    if config.mac.block_ack.delivery == Delivery::Ppdu {
        return Ok(());
    }
    let mut used = config.traffic.flows.iter().map(|flow| &config.traffic.schemes[flow.scheme]);
    let Some(used) = used.find(|used| used.scheme.is_aggregate_aware()) else { return Ok(()) };
    let is_tcp = used.scheme.tcp().is_some();
    let instead = if is_tcp { "set receive_offload = false of the scheme" } else { "choose another scheme" };
    let problem = MacProblem::NoCommonArrival { scheme: used.name.clone(), instead };
    Err(document.error(&key!["mac", "aggregation", "delivery"], problem))
}

/// Refuses A-MPDUs that are too short for the packets of all flows: each MPDU would be sent alone.
fn check_room(document: &Document<'_>, config: &Config) -> Result<()> {
    let Some(AggregationConfig { a_mpdu, mpdus: 2.., .. }) = config.mac.block_ack.aggregation else {
        return Ok(());
    };
    let (rules, traffic) = (&config.mac.rules, &config.traffic);
    let around = MPDU_DELIMITER + rules.data_header + rules.llc_header + config.network.extra_header;
    let least = traffic.flows.iter().map(|flow| least_packet(traffic, flow)).min().unwrap_or(0);
    if least == 0 || a_mpdu >= around + least {
        return Ok(());
    }
    let problem = MacProblem::NoRoom { least: around + least };
    Err(document.error(&key!["mac", "aggregation", "a_mpdu"], problem))
}

/// Minimum network-layer size of a flow's full packets, in bytes; 0 if unknown.
fn least_packet(traffic: &TrafficConfig, flow: &FlowConfig) -> u32 {
    let scheme = &traffic.schemes[flow.scheme].scheme;
    let payload = match flow.app {
        AppConfig::External => return 0,
        AppConfig::Cbr { packet, .. } | AppConfig::Poisson { packet, .. } if !scheme.is_reliable() => packet,
        _ => scheme.segment_size(),
    };
    payload + HEADERS_MIN
}

impl Aggregation {
    /// Retry limits and reordering of MPDUs under an agreement.
    fn persistence(&self) -> Persistence {
        let most = |limit: Limit| limit.get().unwrap_or(u32::MAX);
        Persistence {
            retry_limit: self.retry_limit.map(most),
            request_limit: self.request_limit.map(most),
            reorders_without_end: self.reordering_timeout == Switch::Off,
        }
    }

    /// The first given key that has no effect without A-MPDUs, or without any aggregation (`nothing`).
    fn without_effect(&self, nothing: bool) -> Option<(&'static str, MacProblem)> {
        let of_a_mpdus = [
            ("mpdus", self.mpdus.is_some()),
            ("window", self.window.is_some()),
            ("request_limit", self.request_limit.is_some()),
            ("spacing", self.spacing.0 > 0.0),
            ("delivery", self.delivery != Delivery::Ppdu),
            ("rts", self.rts),
        ];
        let of_all = [
            ("max_duration", self.max_duration != LONGEST_PPDU.into()),
            ("retry_limit", self.retry_limit.is_some()),
            ("reordering_timeout", self.reordering_timeout != Switch::At(REORDERING_TIMEOUT)),
        ];
        let of_a_mpdus = of_a_mpdus.map(|key| (key, MacProblem::NoAMpdus));
        let of_all = of_all.map(|(key, is_given)| ((key, nothing && is_given), MacProblem::NoAggregates));
        let mut keys = of_a_mpdus.into_iter().chain(of_all);
        keys.find_map(|((key, is_given), problem)| is_given.then_some((key, problem)))
    }

    fn resolve(
        &self,
        document: &Document<'_>,
        table: &KeyPath,
        limits: &Limits,
    ) -> Result<Option<AggregationConfig>> {
        let at = |key: &str| table.join(key);
        let size = |key: &str, value: Switch<Size>, most: f64| {
            let within = |size: Size| {
                Ok(document.between(&at(key), size, "1 B", &format!("{most} B"))?.bytes() as u32)
            };
            value.at().map(within).transpose()
        };
        let time = |key: &str, value: Duration, most: &str| {
            Ok(document.between(&at(key), value, "0 s", most)?.span())
        };
        let a_mpdu = size("a_mpdu", self.a_mpdu.unwrap_or(Switch::At(Size(limits.a_mpdu))), limits.a_mpdu)?;
        let a_msdu = size("a_msdu", self.a_msdu, limits.a_msdu)?;
        if a_mpdu.is_none()
            && let Some((key, problem)) = self.without_effect(a_msdu.is_none())
        {
            return Err(document.error(&at(key), problem));
        }
        let window = document.count(&at("window"), self.window.unwrap_or(limits.window), 1, limits.window)?;
        let mpdus = match (self.mpdus, a_mpdu) {
            (Some(mpdus), _) => document.count(&at("mpdus"), mpdus, 1, window)?,
            (None, Some(_)) => window,
            (None, None) => 1,
        };
        if a_mpdu.is_none() && a_msdu.is_none() {
            return Ok(None);
        }
        Ok(Some(AggregationConfig {
            mpdus,
            window,
            a_mpdu: a_mpdu.unwrap_or(u32::MAX),
            a_msdu,
            mpdu: if mpdus > 1 { limits.mpdu } else { u32::MAX },
            max_duration: time("max_duration", self.max_duration, "5484 us")?,
            spacing: time("spacing", self.spacing, "16 us")?,
            reordering_timeout: time(
                "reordering_timeout",
                self.reordering_timeout.at().unwrap_or(REORDERING_TIMEOUT),
                "10 s",
            )?,
            rts: self.rts,
            single_delimited: limits.single_delimited,
        }))
    }
}
