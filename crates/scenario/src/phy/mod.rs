//! `[phy]`: physical layer.

pub(crate) mod rate;

use crate::document::{Document, Result, key};
use crate::error::{KeyProblem, PhyProblem};
use crate::parameters::of;
use crate::phy::rate::{ControlRate, DataRate, control_rate_of, rate_of};
use crate::topology::radios::AdjacentChannels;
use multihop_config::keys;
use multihop_config::keys::{OTHERWISE, default_if, usually, usually_by};
use multihop_config::quantity::Duration;
use multihop_dot11::{
    self as dot11, Band, Bandwidth, Coding, GuardInterval, OfdmSymbols, Preamble, Standard,
};
use multihop_sim::config::RateConfig;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

keys! {
    /// Physical layer.
    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Phy {
        /// Standard, which sets rates, slot, SIFS and contention windows.
        pub standard: Standard,
        /// Preamble of 802.11b frames; in 802.11g, of frames at 802.11b rates.
        pub preamble: Preamble,
        /// 802.11g: whether the network has stations of 802.11b. If so, slots are 20 us long,
        /// `mac.cts_to_self` is on, and the basic rates are 1, 2, 5.5 and 11 Mb/s, at which RTS and
        /// broadcasts are sent (802.11-2012, 19.8.4 and 9.23.1). A node with a `data_rate` of 802.11b is such
        /// a station.
        pub mixed: bool,
        /// Airtime of the payload of OFDM frames, after preamble and SIGNAL field.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = default_if("802.11a, 802.11g", OfdmSymbols::default()))]
        pub ofdm_symbols: Option<OfdmSymbols>,
        /// 802.11n, ac and ax: band of the channel.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|options| options.band)))]
        pub band: Option<Band>,
        /// 802.11n, ac and ax: width of the channel. 802.11a also has 10 MHz, as in 802.11p, and 5 MHz. At
        /// these widths, symbols, preambles and SIFS are two and four times as long, slots 13 and 21 us, and
        /// rates a half and a quarter.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|options| options.bandwidth)))]
        pub channel_width: Option<Bandwidth>,
        /// 802.11n, ac and ax: guard interval of DATA. 400 and 800 ns in 802.11n and ac; 800, 1600 and 3200
        /// ns in 802.11ax.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|options| options.guard)))]
        pub guard_interval: Option<GuardInterval>,
        /// 802.11n, ac and ax: forward error correction of DATA. Affects airtimes; error rates are always
        /// those of "bcc".
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = by_standard(of!(|options| options.coding)))]
        pub coding: Option<Coding>,
        /// Rate of unicast DATA frames on links without a rate of their own: a bit rate, or in 802.11n, ac
        /// and ax an MCS with its spatial streams, such as `"MCS 7"` or `"MCS 9 NSS 2"`. In 802.11n, `"MCS
        /// 15"` is `"MCS 7 NSS 2"`. Default: the standard's highest rate in one stream.
        pub data_rate: Option<DataRate>,
        /// Rate of RTS, CTS, ACK and broadcast frames. Default: the standard's rule, the highest basic rate
        /// not above the data rate.
        pub control_rate: Option<ControlRate>,
        /// Rate of ACKs, if it differs from that of other control frames. Default: `control_rate`, or the
        /// standard's rule.
        pub ack_rate: Option<ControlRate>,
        /// Slot time. Default: the standard's.
        pub slot: Option<Duration>,
        /// Short inter-frame space. Default: the standard's.
        pub sifs: Option<Duration>,
        /// Minimum contention window in slots. Default: the standard's.
        pub cw_min: Option<u32> [1, 65535],
        /// Maximum contention window in slots. Default: the standard's.
        pub cw_max: Option<u32> [1, 65535],
        /// Channel number of nodes without one in `[topology]`; for a wide channel, the number of any of its
        /// 20 MHz channels. The default is the first channel of the band.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually_by(first_channels()))]
        pub channel: Option<u16> [1, 196],
        /// Effect of transmissions on partly overlapping channels on each other.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(transform = usually(AdjacentChannels::default()))]
        pub adjacent_channels: Option<AdjacentChannels>,
    }
}

/// Default of an option of PPDUs, which standards before 802.11n do not have.
fn by_standard(of: impl Fn(dot11::PpduOptions) -> Value) -> impl FnMut(&mut Schema) {
    let standards = [Standard::Dot11n, Standard::Dot11ac, Standard::Dot11ax];
    let usual = standards.map(|standard| of(dot11::Phy::new(standard, Preamble::Long).options()));
    let cases = ["802.11n", "802.11ac", "802.11ax"].into_iter().zip(usual);
    usually_by(cases.chain([OTHERWISE]).collect())
}

fn first_channels() -> Vec<(&'static str, Value)> {
    [
        ("2.4 GHz", Band::Ghz2_4, Bandwidth::Mhz20),
        ("5 GHz", Band::Ghz5, Bandwidth::Mhz20),
        ("5 GHz, wider than 20 MHz", Band::Ghz5, Bandwidth::Mhz40),
    ]
    .map(|(name, band, width)| (name, json!(band.channels(width).next())))
    .to_vec()
}

impl Phy {
    /// The PHY, and the rates of frames. The topology adds the rates of single links.
    pub(crate) fn resolve(&self, document: &Document<'_>) -> Result<(dot11::Phy, RateConfig)> {
        if self.preamble == Preamble::Short
            && matches!(self.standard, Standard::Fhss | Standard::Dsss | Standard::Dot11a)
        {
            return Err(document.error(&key!["phy", "preamble"], PhyProblem::NoShortPreamble));
        }
        if self.mixed && self.standard != Standard::Dot11g {
            let problem = PhyProblem::NotMixed { standard: self.standard };
            return Err(document.error(&key!["phy", "mixed"], problem));
        }
        let phy = if self.mixed {
            dot11::Phy::mixed(self.preamble)
        } else {
            dot11::Phy::new(self.standard, self.preamble)
        };
        let mut phy = self.in_channel(document, phy)?;
        if let Some(symbols) = self.ofdm_symbols {
            if phy.standard().has_mcs() || !phy.rates().any(|(_, modulation)| modulation.is_ofdm()) {
                return Err(document.error(&key!["phy", "ofdm_symbols"], PhyProblem::NoOfdm));
            }
            phy = phy.with_ofdm_symbols(symbols);
        }
        let inter_frame = |key, value: Option<Duration>, default| match value {
            None => Ok(default),
            Some(time) => document.between(&key!["phy", key], time, "100 ns", "10 ms").map(Duration::span),
        };
        phy.slot = inter_frame("slot", self.slot, phy.slot)?;
        phy.sifs = inter_frame("sifs", self.sifs, phy.sifs)?;
        let window = |key, value: Option<u32>, default| match value {
            None => Ok(default),
            Some(slots) => document.count(&key!["phy", key], slots, 1, 65_535),
        };
        phy.cw_min = window("cw_min", self.cw_min, phy.cw_min)?;
        phy.cw_max = window("cw_max", self.cw_max, phy.cw_max)?;
        if phy.cw_min > phy.cw_max {
            let key = if self.cw_min.is_some() { "cw_min" } else { "cw_max" };
            let (value, limit) = (phy.cw_min.to_string(), phy.cw_max.to_string());
            let problem = KeyProblem::Above { key: "cw_min", value, other: "cw_max", limit };
            return Err(document.error(&key!["phy", key], problem));
        }
        let data = self.data_rate.map(|rate| rate_of(document, &key!["phy", "data_rate"], &phy, rate));
        let bits = |key: &str, value: Option<ControlRate>| {
            value.map(|value| control_rate_of(document, &key!["phy", key], &phy, value)).transpose()
        };
        let rates = RateConfig {
            data: data.transpose()?.unwrap_or_else(|| phy.highest()),
            control: bits("control_rate", self.control_rate)?,
            ack: bits("ack_rate", self.ack_rate)?,
            links: Vec::new(),
        };
        Ok((phy, rates))
    }

    /// The PHY with the options of its PPDUs.
    fn in_channel(&self, document: &Document<'_>, phy: dot11::Phy) -> Result<dot11::Phy> {
        let usual = phy.options();
        if !self.standard.has_mcs() {
            let has_widths = self.standard.bandwidths(usual.band).len() > 1;
            let given = [
                ("band", self.band.is_some()),
                ("channel_width", self.channel_width.is_some() && !has_widths),
                ("guard_interval", self.guard_interval.is_some()),
                ("coding", self.coding.is_some()),
            ];
            if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                let standard = self.standard;
                let problem = match key {
                    "channel_width" => PhyProblem::OneWidth { standard },
                    _ => PhyProblem::NoChoice { standard },
                };
                return Err(document.error(&key!["phy", key], problem));
            }
            if self.channel_width.is_none_or(|width| width == usual.bandwidth) {
                return Ok(phy);
            }
        }
        let options = dot11::PpduOptions {
            band: self.band.unwrap_or(usual.band),
            bandwidth: self.channel_width.unwrap_or(usual.bandwidth),
            guard: self.guard_interval.unwrap_or(usual.guard),
            coding: self.coding.unwrap_or(usual.coding),
        };
        let standard = self.standard;
        let refuse = |key: &str, problem: PhyProblem| Err(document.error(&key!["phy", key], problem));
        if !standard.bands().contains(&options.band) {
            let there = quoted_names(standard.bands());
            return refuse("band", PhyProblem::NotOfStandard { standard, there });
        }
        let widths = standard.bandwidths(options.band);
        if !widths.contains(&options.bandwidth) {
            let (band, there) = (options.band, quoted_names(widths));
            return refuse("channel_width", PhyProblem::NotInBand { standard, band, there });
        }
        if !standard.guard_intervals().contains(&options.guard) {
            let there = quoted_names(standard.guard_intervals());
            return refuse("guard_interval", PhyProblem::NotOfStandard { standard, there });
        }
        let phy = phy.with_options(options);
        if standard.has_mcs() && phy.schemes().next().is_none() {
            let there = quoted_names(&[Coding::Ldpc]);
            return refuse("coding", PhyProblem::NotInWideChannel { standard, there });
        }
        Ok(phy)
    }
}

/// Names of options, as in scenario files.
fn quoted_names<T: Serialize>(choices: &[T]) -> Vec<String> {
    choices.iter().map(|choice| serde_json::to_string(choice).expect("a choice is a text")).collect()
}
