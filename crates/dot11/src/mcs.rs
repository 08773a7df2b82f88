//! Modulation and coding schemes of HT, VHT and HE, and the channels that they use.
//!
//! Clauses are those of IEEE 802.11-2016, and of 802.11ax-2021 for HE.

use crate::{Band, Bandwidth, ErrorTable, HePpdu, HtPpdu, Modulation, Phy, Ppdu, Standard, VhtPpdu};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Modulation and coding scheme with a number of spatial streams.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Mcs {
    /// Number of spatial streams, from 1.
    pub streams: u8,
    /// Index of the scheme within one stream count: 0 to 7 in HT, to 9 in VHT, to 11 in HE. HT itself counts
    /// on with the streams: HT MCS 15 is scheme 7 in two streams.
    pub scheme: u8,
}

/// Rate of a frame: a bit rate of the standards up to 802.11g, or a scheme of later ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum DataRate {
    /// Bit rate.
    Bits(Rate),
    /// Modulation and coding scheme; its bit rate depends on the channel.
    Mcs(Mcs),
}

/// Guard interval of OFDM.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum GuardInterval {
    /// 400 ns: short guard interval of HT and VHT.
    #[serde(rename = "400 ns")]
    Ns400,
    /// 800 ns: long guard interval of HT and VHT, and the shortest of HE.
    #[default]
    #[serde(rename = "800 ns")]
    Ns800,
    /// 1600 ns, in HE only.
    #[serde(rename = "1600 ns")]
    Ns1600,
    /// 3200 ns, in HE only.
    #[serde(rename = "3200 ns")]
    Ns3200,
}

/// Code for forward error correction.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity check code.
    Ldpc,
}

/// Options common to all HT, VHT and HE PPDUs in a network.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct PpduOptions {
    /// Band of the channel.
    pub band: Band,
    /// Width of the channel.
    pub bandwidth: Bandwidth,
    /// Guard interval of DATA frames.
    pub guard: GuardInterval,
    /// Forward error correction of DATA frames.
    pub coding: Coding,
}

impl From<Rate> for DataRate {
    fn from(rate: Rate) -> DataRate {
        DataRate::Bits(rate)
    }
}

impl From<Mcs> for DataRate {
    fn from(mcs: Mcs) -> DataRate {
        DataRate::Mcs(mcs)
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataRate::Bits(rate) => rate.fmt(f),
            DataRate::Mcs(mcs) => mcs.fmt(f),
        }
    }
}

impl fmt::Display for Mcs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCS {} NSS {}", self.scheme, self.streams)
    }
}

impl Mcs {
    /// 802.11a rate with the same modulation and code rate, or the next lower one. Response rates follow from
    /// this rate (10.7.6.5.4, "non-HT reference rate", table 10-7; for HE 10.6.6.5.4 of 802.11ax-2021).
    pub fn non_ht_reference(self) -> Rate {
        Rate::from_kbps(match self.scheme {
            0 => 6_000,
            1 => 12_000,
            2 => 18_000,
            3 => 24_000,
            4 => 36_000,
            5 => 48_000,
            _ => 54_000,
        })
    }
}

impl GuardInterval {
    /// Length of the guard interval.
    pub const fn span(self) -> Span {
        Span::from_ns(match self {
            GuardInterval::Ns400 => 400,
            GuardInterval::Ns800 => 800,
            GuardInterval::Ns1600 => 1_600,
            GuardInterval::Ns3200 => 3_200,
        })
    }
}

impl PpduOptions {
    /// Default options of a standard: a 20 MHz channel, at 5 GHz where the standard has both bands, with
    /// guard intervals of 800 ns. Convolutional coding, except for 802.11ax, which has none in wide channels.
    pub fn for_standard(standard: Standard) -> PpduOptions {
        let coding = if standard == Standard::Dot11ax { Coding::Ldpc } else { Coding::Bcc };
        let band = if standard.bands().contains(&Band::Ghz5) { Band::Ghz5 } else { Band::Ghz2_4 };
        PpduOptions { band, bandwidth: Bandwidth::Mhz20, guard: GuardInterval::Ns800, coding }
    }

    /// PPDU format of a scheme; none if the scheme does not exist.
    fn ppdu(self, standard: Standard, Mcs { streams, scheme }: Mcs) -> Option<Ppdu> {
        let (bandwidth, ldpc) = (self.bandwidth, self.coding == Coding::Ldpc);
        let short_gi = self.guard == GuardInterval::Ns400;
        let ppdu = match standard {
            Standard::Dot11n if scheme < 8 && (1..=4).contains(&streams) => Ppdu::Ht(HtPpdu {
                mcs: 8 * (streams - 1) + scheme,
                bandwidth,
                short_gi,
                greenfield: false,
                stbc: 0,
                ldpc,
                extension_streams: 0,
            }),
            Standard::Dot11ac if is_encoded_evenly(bandwidth, scheme, streams) => Ppdu::Vht(VhtPpdu {
                mcs: scheme,
                streams,
                bandwidth,
                short_gi,
                stbc: false,
                ldpc,
                ldpc_extra_symbol: None,
            }),
            // Above 20 MHz, four streams or scheme 9 there is no convolutional coding (27.3.12.5.1).
            Standard::Dot11ax if ldpc || (bandwidth == Bandwidth::Mhz20 && streams <= 4 && scheme <= 9) => {
                Ppdu::He(HePpdu {
                    mcs: scheme,
                    streams,
                    bandwidth,
                    guard: self.guard.span(),
                    training: he_training(self.guard),
                    extended_range: false,
                    dual_carrier: false,
                    stbc: false,
                    ldpc,
                })
            }
            _ => return None,
        };
        ppdu.rate().map(|_| ppdu)
    }
}

/// Whether each encoder of a VHT scheme has a whole number of code blocks per symbol. The tables of 21.5 omit
/// the schemes listed here, for which this is not so.
fn is_encoded_evenly(bandwidth: Bandwidth, scheme: u8, streams: u8) -> bool {
    !matches!(
        (bandwidth, scheme, streams),
        (Bandwidth::Mhz80, 6, 3 | 7) | (Bandwidth::Mhz80, 9, 6) | (Bandwidth::Mhz160, 9, 3)
    )
}

/// Length of an HE long training symbol, in the combinations that every station supports (27.3.4, table
/// 27-1).
fn he_training(guard: GuardInterval) -> Span {
    Span::from_ns(if guard == GuardInterval::Ns3200 { 12_800 } else { 6_400 })
}

impl Standard {
    /// Whether the standard has modulation and coding schemes. They are sent as HT, VHT or HE PPDUs that
    /// carry QoS DATA frames.
    pub const fn has_mcs(self) -> bool {
        matches!(self, Standard::Dot11n | Standard::Dot11ac | Standard::Dot11ax)
    }

    /// Bands of the standard.
    pub const fn bands(self) -> &'static [Band] {
        match self {
            Standard::Fhss | Standard::Dsss | Standard::Dot11b | Standard::Dot11g => &[Band::Ghz2_4],
            Standard::Dot11a | Standard::Dot11ac => &[Band::Ghz5],
            Standard::Dot11n | Standard::Dot11ax => &[Band::Ghz2_4, Band::Ghz5],
        }
    }

    /// Channel widths of the standard in a band.
    pub const fn bandwidths(self, band: Band) -> &'static [Bandwidth] {
        const WIDTHS: &[Bandwidth] =
            &[Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160];
        match (self, band) {
            (Standard::Dot11a, Band::Ghz5) => &[Bandwidth::Mhz5, Bandwidth::Mhz10, Bandwidth::Mhz20],
            (Standard::Dot11ac | Standard::Dot11ax, Band::Ghz5) => WIDTHS,
            (Standard::Dot11n, _) | (Standard::Dot11ax, Band::Ghz2_4) => WIDTHS.split_at(2).0,
            _ => WIDTHS.split_at(1).0,
        }
    }

    /// Guard intervals allowed for DATA frames.
    pub const fn guard_intervals(self) -> &'static [GuardInterval] {
        match self {
            Standard::Dot11n | Standard::Dot11ac => &[GuardInterval::Ns400, GuardInterval::Ns800],
            Standard::Dot11ax => &[GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200],
            _ => &[GuardInterval::Ns800],
        }
    }
}

impl Phy {
    /// PPDU format of DATA at a scheme; none if this PHY does not have the scheme.
    pub fn ppdu(&self, mcs: Mcs) -> Option<Ppdu> {
        self.options().ppdu(self.standard(), mcs)
    }

    /// Schemes of this PHY, ascending within each number of streams; none before 802.11n.
    pub fn schemes(&self) -> impl Iterator<Item = Mcs> {
        let all = (1..=8).flat_map(|streams| (0..12).map(move |scheme| Mcs { streams, scheme }));
        all.filter(|mcs| self.ppdu(*mcs).is_some())
    }

    /// Highest rate of this PHY; for standards with schemes, the highest scheme of one stream.
    pub fn highest(&self) -> DataRate {
        let one = self.schemes().take_while(|mcs| mcs.streams == 1).map(DataRate::Mcs);
        let legacy = self.rates().map(|(rate, _)| DataRate::Bits(rate));
        one.last().or(legacy.last()).unwrap_or(DataRate::Bits(self.basic_rates()[0]))
    }

    /// Bit rate of a rate or a scheme; none if this PHY does not have it.
    pub fn bit_rate(&self, rate: impl Into<DataRate>) -> Option<Rate> {
        match rate.into() {
            DataRate::Bits(rate) => self.rates().find(|(known, _)| *known == rate).map(|(rate, _)| rate),
            DataRate::Mcs(mcs) => self.ppdu(mcs)?.rate(),
        }
    }

    /// Modulation of a rate or a scheme; none if this PHY does not have it.
    pub fn modulation(&self, rate: impl Into<DataRate>) -> Option<Modulation> {
        match rate.into() {
            DataRate::Bits(rate) => {
                self.rates().find(|(known, _)| *known == rate).map(|(_, modulation)| modulation)
            }
            DataRate::Mcs(mcs) => self.ppdu(mcs)?.modulation(),
        }
    }

    /// Table of errors by SINR for a rate or an MCS; none if the PHY has no such rate. The SINR is that of
    /// all spatial streams together; each stream has an equal share of the power.
    pub fn error_table(&self, rate: impl Into<DataRate>) -> Option<ErrorTable> {
        let rate = rate.into();
        let streams = if let DataRate::Mcs(mcs) = rate { mcs.streams } else { 1 };
        self.modulation(rate).map(|modulation| ErrorTable::new(modulation).with_streams(streams))
    }
}
