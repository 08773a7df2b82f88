//! PPDUs of every generation and their airtimes.
//!
//! Clauses are those of IEEE 802.11-2016, and of 802.11ax-2021 for HE.

use crate::ldpc::{Codewords, needs_extra_symbol};
use crate::{Microseconds, Modulation, Phy, Preamble, Standard};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Band of a channel. At 2.4 GHz every OFDM frame ends with a signal extension of 6 us.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Band {
    /// 2.4 GHz.
    #[serde(rename = "2.4 GHz")]
    Ghz2_4,
    /// 5 GHz; in captures every other band as well.
    #[serde(rename = "5 GHz")]
    Ghz5,
}

/// Width of a channel, or of an HE resource unit by its number of tones.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Bandwidth {
    /// 5 MHz, at quarter clock.
    #[serde(rename = "5 MHz")]
    Mhz5,
    /// 10 MHz, at half clock.
    #[serde(rename = "10 MHz")]
    Mhz10,
    /// 20 MHz.
    #[serde(rename = "20 MHz")]
    Mhz20,
    /// 40 MHz.
    #[serde(rename = "40 MHz")]
    Mhz40,
    /// 80 MHz.
    #[serde(rename = "80 MHz")]
    Mhz80,
    /// 160 MHz, or 80 + 80 MHz.
    #[serde(rename = "160 MHz")]
    Mhz160,
    /// 26 tones.
    #[serde(skip)]
    Tones26,
    /// 52 tones.
    #[serde(skip)]
    Tones52,
    /// 106 tones.
    #[serde(skip)]
    Tones106,
}

impl Bandwidth {
    /// Width of the channel in MHz; 20 MHz for resource units.
    pub const fn mhz(self) -> u32 {
        match self {
            Bandwidth::Mhz5 => 5,
            Bandwidth::Mhz10 => 10,
            Bandwidth::Mhz40 => 40,
            Bandwidth::Mhz80 => 80,
            Bandwidth::Mhz160 => 160,
            Bandwidth::Mhz20 | Bandwidth::Tones26 | Bandwidth::Tones52 | Bandwidth::Tones106 => 20,
        }
    }

    /// Clock of an OFDM PHY in this channel.
    pub const fn clock(self) -> OfdmClock {
        match self {
            Bandwidth::Mhz5 => OfdmClock::Quarter,
            Bandwidth::Mhz10 => OfdmClock::Half,
            _ => OfdmClock::Full,
        }
    }
}

/// Clock of an OFDM PHY (17.1): half and quarter clock give channels of 10 and 5 MHz.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OfdmClock {
    /// 20 MHz.
    Full,
    /// 10 MHz.
    Half,
    /// 5 MHz.
    Quarter,
}

/// HT PPDU (clause 19).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HtPpdu {
    /// Modulation and coding scheme, 0 to 32, which also determines the number of streams.
    pub mcs: u8,
    /// 20 or 40 MHz.
    pub bandwidth: Bandwidth,
    /// Guard intervals of 0.4 us instead of 0.8 us.
    pub short_gi: bool,
    /// Greenfield format, without the fields that older stations understand.
    pub greenfield: bool,
    /// Number of streams added by space-time block coding, 0 to 2.
    pub stbc: u8,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
    /// Number of extension spatial streams, for sounding, 0 to 3.
    pub extension_streams: u8,
}

/// Single-user VHT PPDU (clause 21).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VhtPpdu {
    /// Modulation and coding scheme, 0 to 9.
    pub mcs: u8,
    /// Number of spatial streams, 1 to 8.
    pub streams: u8,
    /// 20 to 160 MHz.
    pub bandwidth: Bandwidth,
    /// Guard intervals of 0.4 us instead of 0.8 us.
    pub short_gi: bool,
    /// Space-time block coding, which doubles the number of streams.
    pub stbc: bool,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
    /// Whether LDPC took an extra symbol, as reported by the receiver; computed if unknown.
    pub ldpc_extra_symbol: Option<bool>,
}

/// Single-user HE PPDU (802.11ax-2021, clause 27).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HePpdu {
    /// Modulation and coding scheme, 0 to 11.
    pub mcs: u8,
    /// Number of space-time streams, 1 to 8.
    pub streams: u8,
    /// Width of the channel or resource unit.
    pub bandwidth: Bandwidth,
    /// Guard interval: 800, 1600 or 3200 ns.
    pub guard: Span,
    /// Length of a long training symbol without its guard interval: 3200, 6400 or 12800 ns.
    pub training: Span,
    /// Extended range format, which sends the signal field twice.
    pub extended_range: bool,
    /// Dual carrier modulation, which sends each bit on two carriers.
    pub dual_carrier: bool,
    /// Space-time block coding, in which two streams carry the same data.
    pub stbc: bool,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
}

/// Format of a PPDU, with all parameters of its airtime.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ppdu {
    /// Frequency hopping (802.11-2012, clause 14; removed in later editions).
    Fhss {
        /// 1 or 2 Mb/s.
        rate: Rate,
    },
    /// Direct sequence and CCK (clauses 15 and 16).
    Dsss {
        /// 1, 2, 5.5 or 11 Mb/s.
        rate: Rate,
        /// Preamble format.
        preamble: Preamble,
    },
    /// OFDM, at 5 GHz (clause 17) or 2.4 GHz (clause 18).
    Ofdm {
        /// 6 to 54 Mb/s, or a half or a quarter of these.
        rate: Rate,
        /// Clock of the channel.
        clock: OfdmClock,
    },
    /// High throughput.
    Ht(HtPpdu),
    /// Very high throughput.
    Vht(VhtPpdu),
    /// High efficiency.
    He(HePpdu),
}

impl Ppdu {
    /// Airtime of a PSDU of `bytes` bytes, preamble included: TXTIME of the standard (16.3.4, 17.4.3,
    /// 18.5.3.2, 19.4.3, 21.4.3; 27.4.3). At 2.4 GHz the signal extension of OFDM is included
    /// ([`Ppdu::signal_extension`]).
    ///
    /// `bytes` counts from the first byte of the first MAC header to the last byte of the last FCS, including
    /// delimiters and padding within an A-MPDU. HE omits the packet extension of 0 to 16 us and midambles,
    /// which depend on capabilities of the receiver; its LDPC may take an extra symbol.
    ///
    /// None for combinations that the standard does not have.
    pub fn airtime(&self, bytes: u32, band: Band) -> Option<Span> {
        Some(self.payload_duration(bytes)? + self.overhead() + self.signal_extension(band))
    }

    /// Duration of the part that carries the PSDU.
    fn payload_duration(&self, bytes: u32) -> Option<Span> {
        let timing = |standard, rate: Rate, preamble| {
            let phy = Phy::new(standard, preamble);
            phy.modulation(rate)?;
            let timing = phy.timing(rate, Microseconds::Up);
            Some(timing.airtime(bytes) - timing.overhead())
        };
        match self {
            Ppdu::Fhss { rate } => timing(Standard::Fhss, *rate, Preamble::Long),
            Ppdu::Dsss { rate, preamble } => timing(Standard::Dot11b, *rate, *preamble),
            Ppdu::Ofdm { rate, clock } => {
                let slower = clock.slowdown();
                let data = timing(Standard::Dot11a, Rate::from_bps(rate.bps() * slower), Preamble::Long)?;
                Some(data * slower)
            }
            Ppdu::Ht(_) | Ppdu::Vht(_) | Ppdu::He(_) => Some(self.coded_duration(self.symbol_code()?, bytes)),
        }
    }

    /// Symbol code; none before HT and for combinations that the standard does not have.
    pub(crate) fn symbol_code(&self) -> Option<SymbolCode> {
        match self {
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => None,
            Ppdu::Ht(ht) => ht.symbol_code(),
            Ppdu::Vht(vht) => vht.symbol_code(),
            Ppdu::He(he) => he.symbol_code(),
        }
    }

    /// Duration of a PSDU of `bytes` bytes in symbols of this code; zero before HT.
    pub(crate) fn coded_duration(&self, code: SymbolCode, bytes: u32) -> Span {
        match self {
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => Span::ZERO,
            Ppdu::Ht(ht) => ht.payload_duration(code, bytes),
            Ppdu::Vht(vht) => vht.payload_duration(code, bytes),
            Ppdu::He(he) => he.payload_duration(code, bytes),
        }
    }

    /// PSDU bytes of a single frame of `bytes` bytes. VHT and HE always send an A-MPDU, even of one frame,
    /// which adds a delimiter (9.7.1, 10.13.7).
    pub fn psdu_bytes(&self, bytes: u32) -> u32 {
        if matches!(self, Ppdu::Vht(_) | Ppdu::He(_)) { bytes.saturating_add(MPDU_DELIMITER) } else { bytes }
    }

    /// Modulation of the PSDU; none before HT, where [`Phy::modulation`] applies, and for combinations that
    /// the standard does not have.
    pub fn modulation(&self) -> Option<Modulation> {
        let code = self.symbol_code()?;
        Some(Modulation::Ofdm { bits: code.bits as u8, code: (code.code.0 as u8, code.code.1 as u8) })
    }

    /// Signal extension: silence after every OFDM frame at 2.4 GHz. SIFS stays at 10 us there, and the
    /// decoder has the time that a SIFS of 16 us provides at 5 GHz (18.3.2.4, 19.3.2).
    pub fn signal_extension(&self, band: Band) -> Span {
        match (self, band) {
            (Ppdu::Fhss { .. } | Ppdu::Dsss { .. }, _) | (_, Band::Ghz5) => Span::ZERO,
            (_, Band::Ghz2_4) => Span::from_us(6),
        }
    }

    /// Airtime before the first bit of the first MAC header: preamble, and PLCP header or signal fields.
    pub fn overhead(&self) -> Span {
        match self {
            Ppdu::Fhss { rate } => Phy::new(Standard::Fhss, Preamble::Long).overhead(*rate),
            Ppdu::Dsss { rate, preamble } => Phy::new(Standard::Dot11b, *preamble).overhead(*rate),
            Ppdu::Ofdm { clock, .. } => Span::from_us(20) * clock.slowdown(),
            Ppdu::Ht(ht) => ht.preamble(),
            Ppdu::Vht(vht) => vht.preamble(),
            Ppdu::He(he) => he.preamble(),
        }
    }

    /// Bit rate of the PSDU; none for combinations that the standard does not have.
    pub fn rate(&self) -> Option<Rate> {
        let symbols = |bits: u64, symbol: Span| Rate::from_bps(bits * 1_000_000_000 / symbol.ns());
        match self {
            Ppdu::Fhss { rate } | Ppdu::Dsss { rate, .. } | Ppdu::Ofdm { rate, .. } => Some(*rate),
            Ppdu::Ht(ht) => Some(symbols(ht.symbol_code()?.data_bits, symbol(ht.short_gi))),
            Ppdu::Vht(vht) => Some(symbols(vht.symbol_code()?.data_bits, symbol(vht.short_gi))),
            Ppdu::He(he) => Some(symbols(he.symbol_code()?.data_bits, he.symbol())),
        }
    }
}

/// Capacity and coding of a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SymbolCode {
    /// `N_DBPS`: data bits per symbol.
    data_bits: u64,
    /// `N_CBPS`: coded bits per symbol.
    coded_bits: u64,
    /// `N_BPSCS`: coded bits per carrier and stream.
    bits: u64,
    /// Code rate as numerator and denominator.
    code: (u64, u64),
}

impl OfdmClock {
    /// Factor by which symbols last longer than at full clock.
    pub const fn slowdown(self) -> u64 {
        match self {
            OfdmClock::Full => 1,
            OfdmClock::Half => 2,
            OfdmClock::Quarter => 4,
        }
    }
}

impl HtPpdu {
    fn streams(self) -> u8 {
        if self.mcs == DUPLICATE_MCS { 1 } else { self.mcs / 8 + 1 }
    }

    fn symbol_code(self) -> Option<SymbolCode> {
        // Streams need antennas: four at most (19.3.9.4.6).
        if self.mcs <= DUPLICATE_MCS && self.streams() + self.stbc.min(4) + self.extension_streams.min(4) > 4
        {
            return None;
        }
        let carriers = match self.bandwidth {
            // 6 Mb/s, duplicated over both halves of 40 MHz.
            Bandwidth::Mhz40 if self.mcs == DUPLICATE_MCS => 48,
            _ if self.mcs >= DUPLICATE_MCS => return None,
            Bandwidth::Mhz20 => 52,
            Bandwidth::Mhz40 => 108,
            _ => return None,
        };
        symbol_code(if self.mcs == DUPLICATE_MCS { 0 } else { self.mcs % 8 }, self.streams(), carriers)
    }

    /// Preamble (19.3.9): training for each space-time stream and for extension streams.
    fn preamble(self) -> Span {
        let extension = [0, 1, 2, 4][usize::from(self.extension_streams.min(3))];
        let training = training_symbols(self.streams() + self.stbc) + extension;
        Span::from_us(if self.greenfield {
            8 + 8 + 8 + 4 * (training - 1)
        } else {
            LEGACY_PREAMBLE_US + 8 + 4 + 4 * training
        })
    }

    /// Duration of the PSDU (19.3.11 and 19.4.3). With short guard intervals the mixed format ends at a
    /// multiple of 4 us, as its legacy length field counts.
    fn payload_duration(self, code: SymbolCode, bytes: u32) -> Span {
        let block = if self.stbc > 0 { 2 } else { 1 };
        let payload = SERVICE_BITS + 8 * u64::from(bytes);
        let symbols = if self.ldpc {
            let symbols = blocks(payload, code.data_bits, block);
            let words = Codewords { payload, available: symbols * code.coded_bits, code: code.code };
            if needs_extra_symbol(words) { symbols + block } else { symbols }
        } else {
            // Above 300 Mb/s (1200 bits per symbol) there are two encoders (tables 19-27 to 19-36).
            let encoders = if code.data_bits > 1_200 { 2 } else { 1 };
            blocks(payload + TAIL_BITS * encoders, code.data_bits, block)
        };
        let span = symbol(self.short_gi) * symbols;
        if self.greenfield { span } else { span.rounded_up(symbol(false)) }
    }
}

impl VhtPpdu {
    fn symbol_code(self) -> Option<SymbolCode> {
        let carriers = match self.bandwidth {
            Bandwidth::Mhz20 => 52,
            Bandwidth::Mhz40 => 108,
            Bandwidth::Mhz80 => 234,
            Bandwidth::Mhz160 => 468,
            _ => return None,
        };
        if self.mcs > 9 || (self.stbc && self.streams > 4) {
            return None;
        }
        // Schemes whose symbols would carry a fraction of a bit do not exist (21.5).
        let code = symbol_code(self.mcs, self.streams, carriers)?;
        (code.data_bits * code.code.1 == code.coded_bits * code.code.0).then_some(code)
    }

    /// Preamble (21.3.4): signal fields A and B, and training for each space-time stream.
    fn preamble(self) -> Span {
        let streams = if self.stbc { 2 * self.streams } else { self.streams };
        Span::from_us(LEGACY_PREAMBLE_US + 8 + 4 + 4 * training_symbols(streams) + 4)
    }

    /// Duration of the PSDU (21.3.10 and 21.4.3).
    fn payload_duration(self, code: SymbolCode, bytes: u32) -> Span {
        let block = if self.stbc { 2 } else { 1 };
        let payload = SERVICE_BITS + 8 * u64::from(bytes);
        let symbols = if self.ldpc {
            let symbols = blocks(payload, code.data_bits, block);
            // The payload is padded to fill whole symbols first.
            let words = Codewords {
                payload: symbols * code.data_bits,
                available: symbols * code.coded_bits,
                code: code.code,
            };
            let extra = self.ldpc_extra_symbol.unwrap_or_else(|| needs_extra_symbol(words));
            if extra { symbols + block } else { symbols }
        } else {
            blocks(payload + TAIL_BITS * VhtPpdu::encoders(code), code.data_bits, block)
        };
        (symbol(self.short_gi) * symbols).rounded_up(symbol(false))
    }
}

impl VhtPpdu {
    /// `N_ES`, number of encoders, each with its own tail bits. Each encoder serves at most 540 Mb/s at long
    /// guard intervals, and all have equal shares of the coded bits of a symbol, in whole blocks of the
    /// punctured code (tables of 21.5).
    fn encoders(code: SymbolCode) -> u64 {
        let shared = |encoders: &u64| code.coded_bits.is_multiple_of(encoders * code.code.1);
        let fewest = code.data_bits.div_ceil(540 * 4);
        (fewest..=code.coded_bits).find(shared).unwrap_or(fewest)
    }
}

impl HePpdu {
    fn symbol_code(&self) -> Option<SymbolCode> {
        let carriers = match self.bandwidth {
            Bandwidth::Mhz20 => 234,
            Bandwidth::Mhz40 => 468,
            Bandwidth::Mhz80 => 980,
            Bandwidth::Mhz160 => 1_960,
            Bandwidth::Mhz5 | Bandwidth::Mhz10 => return None,
            Bandwidth::Tones26 => 24,
            Bandwidth::Tones52 => 48,
            Bandwidth::Tones106 => 102,
        };
        let carriers = if self.dual_carrier { carriers / 2 } else { carriers };
        let streams = if self.stbc { self.streams / 2 } else { self.streams };
        if self.mcs > 11 || self.streams > 8 { None } else { symbol_code(self.mcs, streams, carriers) }
    }

    fn symbol(&self) -> Span {
        Span::from_ns(12_800) + self.guard
    }

    /// Preamble (27.3.4): the repeated legacy signal field, signal field A, short training, and long training
    /// for each stream.
    fn preamble(&self) -> Span {
        let signal_us = if self.extended_range { 16 } else { 8 };
        let training = (self.training + self.guard) * training_symbols(self.streams);
        Span::from_us(LEGACY_PREAMBLE_US + 4 + signal_us + 4) + training
    }

    /// Duration of the PSDU (27.3.12 and 27.4.3).
    fn payload_duration(&self, code: SymbolCode, bytes: u32) -> Span {
        let block = if self.stbc { 2 } else { 1 };
        let tail = if self.ldpc { 0 } else { TAIL_BITS };
        let payload = SERVICE_BITS + 8 * u64::from(bytes) + tail;
        self.symbol() * blocks(payload, code.data_bits, block)
    }
}

/// Bytes of the delimiter in front of a frame in an A-MPDU (9.7.1).
pub const MPDU_DELIMITER: u32 = 4;

/// Legacy training fields and signal field, which precede the mixed format and all later formats.
const LEGACY_PREAMBLE_US: u64 = 16 + 4;
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

/// HT scheme that sends the same in both halves of 40 MHz.
const DUPLICATE_MCS: u8 = 32;

/// Coded bits per carrier and code rate of the schemes, which HT, VHT and HE number alike (tables of 19.5,
/// 21.5 and 27.5).
const SCHEMES: [(u64, (u64, u64)); 12] = [
    (1, (1, 2)),
    (2, (1, 2)),
    (2, (3, 4)),
    (4, (1, 2)),
    (4, (3, 4)),
    (6, (2, 3)),
    (6, (3, 4)),
    (6, (5, 6)),
    (8, (3, 4)),
    (8, (5, 6)),
    (10, (3, 4)),
    (10, (5, 6)),
];

fn symbol_code(scheme: u8, streams: u8, carriers: u64) -> Option<SymbolCode> {
    let (bits, code) = *SCHEMES.get(usize::from(scheme))?;
    let coded_bits = carriers * bits * u64::from(streams);
    let data_bits = coded_bits * code.0 / code.1;
    ((1..=8).contains(&streams) && data_bits > 0).then_some(SymbolCode { data_bits, coded_bits, bits, code })
}

/// Duration of an HT or VHT symbol.
fn symbol(short_gi: bool) -> Span {
    Span::from_ns(if short_gi { 3_600 } else { 4_000 })
}

/// Number of long training symbols for a number of space-time streams (table 21-13).
fn training_symbols(streams: u8) -> u64 {
    [1, 1, 2, 4, 4, 6, 6, 8, 8][usize::from(streams.min(8))]
}

/// Number of symbols for `bits` bits, in whole blocks of `block` symbols.
fn blocks(bits: u64, bits_per_symbol: u64, block: u64) -> u64 {
    block * bits.div_ceil(block * bits_per_symbol)
}
