//! Modulation and coding schemes of HT, VHT and HE, and the channels that they are used in.
//!
//! Clauses are those of IEEE 802.11-2016, and of 802.11ax-2021 for HE.

use crate::{Band, Bandwidth, ErrorTable, HePpdu, HtPpdu, Modulation, Phy, Ppdu, Standard, VhtPpdu};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A modulation and coding scheme, and how many spatial streams it is sent in.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Mcs {
    /// Spatial streams, from 1.
    pub streams: u8,
    /// 0 to 7 in HT, to 9 in VHT, to 11 in HE. HT numbers on with the streams: its MCS 15 is scheme 7 in two
    /// streams.
    pub scheme: u8,
}

/// What a frame is sent at: a bit rate of the standards up to 802.11g, or a scheme of the later ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum DataRate {
    /// A bit rate.
    Bits(Rate),
    /// A scheme; how fast it is depends on the channel.
    Mcs(Mcs),
}

/// A guard interval of OFDM.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum GuardInterval {
    /// The short one of HT and VHT.
    #[serde(rename = "400 ns")]
    Ns400,
    /// The long one of HT and VHT, and the shortest of HE.
    #[default]
    #[serde(rename = "800 ns")]
    Ns800,
    /// Of HE.
    #[serde(rename = "1600 ns")]
    Ns1600,
    /// Of HE.
    #[serde(rename = "3200 ns")]
    Ns3200,
}

/// A code for forward error correction.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity check code.
    Ldpc,
}

/// What all PPDUs of HT, VHT and HE in a network have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct PpduOptions {
    /// Where the channel lies.
    pub band: Band,
    /// How wide it is.
    pub bandwidth: Bandwidth,
    /// Guard interval of DATA.
    pub guard: GuardInterval,
    /// Code of DATA.
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
    /// The rate of 802.11a with the same modulation and code rate, or the next below: what the rates of
    /// responses follow from (10.7.6.5.4, "non-HT reference rate", table 10-7; for HE 10.6.6.5.4 of
    /// 802.11ax-2021).
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
    /// How long it is.
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
    /// A channel of 20 MHz, at 5 GHz where the standard is for both bands, with guard intervals of 800 ns.
    /// Convolutional coding, but for 802.11ax, whose wide channels have none.
    pub fn of(standard: Standard) -> PpduOptions {
        let coding = if standard == Standard::Dot11ax { Coding::Ldpc } else { Coding::Bcc };
        let band = if standard.bands().contains(&Band::Ghz5) { Band::Ghz5 } else { Band::Ghz2_4 };
        PpduOptions { band, bandwidth: Bandwidth::Mhz20, guard: GuardInterval::Ns800, coding }
    }

    /// How a scheme is sent; none if it does not exist.
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

/// Schemes of VHT whose encoders would each have a fraction of a block of the code in a symbol are left out
/// (tables of 21.5).
fn is_encoded_evenly(bandwidth: Bandwidth, scheme: u8, streams: u8) -> bool {
    !matches!(
        (bandwidth, scheme, streams),
        (Bandwidth::Mhz80, 6, 3 | 7) | (Bandwidth::Mhz80, 9, 6) | (Bandwidth::Mhz160, 9, 3)
    )
}

/// A long training symbol of HE: the combinations that every station supports (27.3.4, table 27-1).
fn he_training(guard: GuardInterval) -> Span {
    Span::from_ns(if guard == GuardInterval::Ns3200 { 12_800 } else { 6_400 })
}

impl Standard {
    /// Does it have modulation and coding schemes? They are sent as HT, VHT or HE PPDUs, in
    /// quality-of-service DATA frames.
    pub const fn has_mcs(self) -> bool {
        matches!(self, Standard::Dot11n | Standard::Dot11ac | Standard::Dot11ax)
    }

    /// The bands that it is for.
    pub const fn bands(self) -> &'static [Band] {
        match self {
            Standard::Fhss | Standard::Dsss | Standard::Dot11b | Standard::Dot11g => &[Band::Ghz2_4],
            Standard::Dot11a | Standard::Dot11ac => &[Band::Ghz5],
            Standard::Dot11n | Standard::Dot11ax => &[Band::Ghz2_4, Band::Ghz5],
        }
    }

    /// The widths that its channels have in a band.
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

    /// The guard intervals of its DATA.
    pub const fn guard_intervals(self) -> &'static [GuardInterval] {
        match self {
            Standard::Dot11n | Standard::Dot11ac => &[GuardInterval::Ns400, GuardInterval::Ns800],
            Standard::Dot11ax => &[GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200],
            _ => &[GuardInterval::Ns800],
        }
    }
}

impl Phy {
    /// How DATA at a scheme is sent; none if this PHY does not have the scheme.
    pub fn ppdu(&self, mcs: Mcs) -> Option<Ppdu> {
        self.options().ppdu(self.standard(), mcs)
    }

    /// The schemes that it has, by streams and in ascending order; none before 802.11n.
    pub fn schemes(&self) -> impl Iterator<Item = Mcs> {
        let all = (1..=8).flat_map(|streams| (0..12).map(move |scheme| Mcs { streams, scheme }));
        all.filter(|mcs| self.ppdu(*mcs).is_some())
    }

    /// The highest rate that it has, of schemes that of the highest in one stream.
    pub fn highest(&self) -> DataRate {
        let one = self.schemes().take_while(|mcs| mcs.streams == 1).map(DataRate::Mcs);
        let legacy = self.rates().map(|(rate, _)| DataRate::Bits(rate));
        one.last().or(legacy.last()).unwrap_or(DataRate::Bits(self.basic_rates()[0]))
    }

    /// Bits per second at a rate or a scheme; none if this PHY does not have it.
    pub fn bit_rate(&self, rate: impl Into<DataRate>) -> Option<Rate> {
        match rate.into() {
            DataRate::Bits(rate) => self.rates().find(|(known, _)| *known == rate).map(|(rate, _)| rate),
            DataRate::Mcs(mcs) => self.ppdu(mcs)?.rate(),
        }
    }

    /// How frames at a rate or a scheme are modulated; none if this PHY does not have it.
    pub fn modulation(&self, rate: impl Into<DataRate>) -> Option<Modulation> {
        match rate.into() {
            DataRate::Bits(rate) => {
                self.rates().find(|(known, _)| *known == rate).map(|(_, modulation)| modulation)
            }
            DataRate::Mcs(mcs) => self.ppdu(mcs)?.modulation(),
        }
    }

    /// What noise does to frames at a rate or a scheme; none if this PHY does not have it. Signal and noise
    /// are those of the whole channel.
    pub fn error_table(&self, rate: impl Into<DataRate>) -> Option<ErrorTable> {
        let rate = rate.into();
        let streams = if let DataRate::Mcs(mcs) = rate { mcs.streams } else { 1 };
        self.modulation(rate).map(|modulation| ErrorTable::new(modulation).with_streams(streams))
    }
}
