//! PPDUs of every generation, and how long they are on the air.
//!
//! Clauses are those of IEEE 802.11-2016, and of 802.11ax-2021 for HE.

use crate::ldpc::{Codewords, needs_extra_symbol};
use crate::{Microseconds, Modulation, Phy, Preamble, Standard};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the channel lies: at 2.4 GHz a silence of 6 us belongs to every frame of OFDM.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Band {
    /// 2.4 GHz.
    #[serde(rename = "2.4 GHz")]
    Ghz2_4,
    /// 5 GHz; in captures every other band as well.
    #[serde(rename = "5 GHz")]
    Ghz5,
}

/// Width of a channel, or of a part of it (a resource unit of HE, by the number of its tones).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Bandwidth {
    /// 5 MHz, at a quarter of the clock.
    #[serde(rename = "5 MHz")]
    Mhz5,
    /// 10 MHz, at half of the clock.
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
    /// 160 MHz, or twice 80 MHz.
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
    /// Width in MHz of the channel; parts of one lie in 20 MHz.
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

    /// The clock of an OFDM PHY in such a channel.
    pub const fn clock(self) -> Clock {
        match self {
            Bandwidth::Mhz5 => Clock::Quarter,
            Bandwidth::Mhz10 => Clock::Half,
            _ => Clock::Full,
        }
    }
}

/// How fast the clock of an OFDM PHY runs (17.1): half and quarter make channels of 10 and 5 MHz.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Clock {
    /// 20 MHz.
    Full,
    /// 10 MHz.
    Half,
    /// 5 MHz.
    Quarter,
}

/// A PPDU of high throughput (clause 19).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HtPpdu {
    /// Modulation and coding scheme, which says how many streams there are; 0 to 32 are known here.
    pub mcs: u8,
    /// 20 or 40 MHz.
    pub bandwidth: Bandwidth,
    /// Guard intervals of 0.4 us instead of 0.8 us.
    pub short_gi: bool,
    /// Without the part that older stations understand.
    pub greenfield: bool,
    /// Streams added by space-time block coding, 0 to 2.
    pub stbc: u8,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
    /// Extension spatial streams, for sounding, 0 to 3.
    pub extension_streams: u8,
}

/// A PPDU of very high throughput to one user (clause 21).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VhtPpdu {
    /// Modulation and coding scheme, 0 to 9.
    pub mcs: u8,
    /// Spatial streams, 1 to 8.
    pub streams: u8,
    /// 20 to 160 MHz.
    pub bandwidth: Bandwidth,
    /// Guard intervals of 0.4 us instead of 0.8 us.
    pub short_gi: bool,
    /// Space-time block coding, which doubles the streams.
    pub stbc: bool,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
    /// Whether LDPC took a symbol more, where that is known; otherwise it is computed.
    pub ldpc_extra_symbol: Option<bool>,
}

/// A PPDU of high efficiency to one user (802.11ax-2021, clause 27).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HePpdu {
    /// Modulation and coding scheme, 0 to 11.
    pub mcs: u8,
    /// Space-time streams, 1 to 8.
    pub streams: u8,
    /// Width.
    pub bandwidth: Bandwidth,
    /// Guard interval: 800, 1600 or 3200 ns.
    pub guard: Span,
    /// Length of a long training symbol without its guard interval: 3200, 6400 or 12800 ns.
    pub training: Span,
    /// Extended range, whose signal field is sent twice.
    pub extended_range: bool,
    /// Dual carrier modulation, which sends everything twice.
    pub dual_carrier: bool,
    /// Space-time block coding: half of the streams carry the same.
    pub stbc: bool,
    /// Low-density parity check instead of convolutional coding.
    pub ldpc: bool,
}

/// How a PPDU is sent: what its airtime follows from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ppdu {
    /// Frequency hopping (802.11-2012, clause 14; later editions have it no more).
    Fhss {
        /// 1 or 2 Mb/s.
        rate: Rate,
    },
    /// Direct sequence and CCK (clauses 15 and 16).
    Dsss {
        /// 1, 2, 5.5 or 11 Mb/s.
        rate: Rate,
        /// Its preamble.
        preamble: Preamble,
    },
    /// OFDM, at 5 GHz (clause 17) or 2.4 GHz (clause 18).
    Ofdm {
        /// 6 to 54 Mb/s, or a half or a quarter of that.
        rate: Rate,
        /// Its clock.
        clock: Clock,
    },
    /// High throughput.
    Ht(HtPpdu),
    /// Very high throughput.
    Vht(VhtPpdu),
    /// High efficiency.
    He(HePpdu),
}

impl Ppdu {
    /// For how long a PSDU of `bytes` bytes is on the air, preamble included: TXTIME of the standard (16.3.4,
    /// 17.4.3, 18.5.3.2, 19.4.3, 21.4.3; 27.4.3). At 2.4 GHz it includes the silence after OFDM,
    /// [`Ppdu::signal_extension`].
    ///
    /// `bytes` counts from the first byte of the first MAC header to the last byte of the last FCS, with what
    /// lies between the frames of an A-MPDU. HE is without the packet extension of 0 to 16 us and without
    /// mid-ambles, which depend on capabilities of the receiver; its LDPC may take a symbol more.
    ///
    /// None for combinations that the standard does not have.
    pub fn airtime(&self, bytes: u32, band: Band) -> Option<Span> {
        Some(self.data(bytes)? + self.overhead() + self.signal_extension(band))
    }

    /// The part of the airtime that carries the PSDU.
    fn data(&self, bytes: u32) -> Option<Span> {
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
                let slower = clock.slower();
                let data = timing(Standard::Dot11a, Rate::from_bps(rate.bps() * slower), Preamble::Long)?;
                Some(data * slower)
            }
            Ppdu::Ht(_) | Ppdu::Vht(_) | Ppdu::He(_) => Some(self.coded(self.symbol_code()?, bytes)),
        }
    }

    /// What a symbol carries; none for combinations that the standard does not have, and before HT.
    pub(crate) fn symbol_code(&self) -> Option<SymbolCode> {
        match self {
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => None,
            Ppdu::Ht(ht) => ht.symbol_code(),
            Ppdu::Vht(vht) => vht.symbol_code(),
            Ppdu::He(he) => he.symbol_code(),
        }
    }

    /// How long such symbols carry a PSDU; nothing before HT.
    pub(crate) fn coded(&self, code: SymbolCode, bytes: u32) -> Span {
        match self {
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => Span::ZERO,
            Ppdu::Ht(ht) => ht.data(code, bytes),
            Ppdu::Vht(vht) => vht.data(code, bytes),
            Ppdu::He(he) => he.data(code, bytes),
        }
    }

    /// Bytes of the PSDU that a frame of `bytes` bytes makes by itself: those of VHT and HE are always in an
    /// A-MPDU, if need be alone, behind a delimiter (9.7.1, 10.13.7).
    pub fn psdu_of(&self, bytes: u32) -> u32 {
        if matches!(self, Ppdu::Vht(_) | Ppdu::He(_)) { bytes.saturating_add(MPDU_DELIMITER) } else { bytes }
    }

    /// How the PSDU is modulated; none for combinations that the standard does not have, and before HT, where
    /// a PHY says it.
    pub fn modulation(&self) -> Option<Modulation> {
        let code = self.symbol_code()?;
        Some(Modulation::Ofdm { bits: code.bits as u8, code: (code.code.0 as u8, code.code.1 as u8) })
    }

    /// The silence at the end of every frame of OFDM at 2.4 GHz, which keeps the SIFS of 10 us there and
    /// gives the decoder the time that 16 us give it elsewhere (18.3.2.4, 19.3.2).
    pub fn signal_extension(&self, band: Band) -> Span {
        match (self, band) {
            (Ppdu::Fhss { .. } | Ppdu::Dsss { .. }, _) | (_, Band::Ghz5) => Span::ZERO,
            (_, Band::Ghz2_4) => Span::from_us(6),
        }
    }

    /// The part of the airtime before the first bit of the first MAC header: preamble and PLCP header or
    /// signal fields.
    pub fn overhead(&self) -> Span {
        match self {
            Ppdu::Fhss { rate } => Phy::new(Standard::Fhss, Preamble::Long).overhead(*rate),
            Ppdu::Dsss { rate, preamble } => Phy::new(Standard::Dot11b, *preamble).overhead(*rate),
            Ppdu::Ofdm { clock, .. } => Span::from_us(20) * clock.slower(),
            Ppdu::Ht(ht) => ht.preamble(),
            Ppdu::Vht(vht) => vht.preamble(),
            Ppdu::He(he) => he.preamble(),
        }
    }

    /// Bits per second of the PSDU; none for combinations that the standard does not have.
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

/// What a symbol carries, and how it is coded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SymbolCode {
    /// `N_DBPS`: bits of data.
    data_bits: u64,
    /// `N_CBPS`: bits on the air.
    coded_bits: u64,
    /// `N_BPSCS`: bits of a carrier in one stream.
    bits: u64,
    /// Code rate.
    code: (u64, u64),
}

impl Clock {
    /// How many times longer symbols last than at full clock.
    pub const fn slower(self) -> u64 {
        match self {
            Clock::Full => 1,
            Clock::Half => 2,
            Clock::Quarter => 4,
        }
    }
}

impl HtPpdu {
    fn streams(self) -> u8 {
        if self.mcs == DUPLICATE_MCS { 1 } else { self.mcs / 8 + 1 }
    }

    fn symbol_code(self) -> Option<SymbolCode> {
        // What there are streams for, there must be antennas for: four at most (19.3.9.4.6).
        if self.mcs <= DUPLICATE_MCS && self.streams() + self.stbc.min(4) + self.extension_streams.min(4) > 4
        {
            return None;
        }
        let carriers = match self.bandwidth {
            // 6 Mb/s, twice over 40 MHz.
            Bandwidth::Mhz40 if self.mcs == DUPLICATE_MCS => 48,
            _ if self.mcs >= DUPLICATE_MCS => return None,
            Bandwidth::Mhz20 => 52,
            Bandwidth::Mhz40 => 108,
            _ => return None,
        };
        symbol_code(if self.mcs == DUPLICATE_MCS { 0 } else { self.mcs % 8 }, self.streams(), carriers)
    }

    /// 19.3.9: training for each space-time stream, and for extension streams.
    fn preamble(self) -> Span {
        let extension = [0, 1, 2, 4][usize::from(self.extension_streams.min(3))];
        let training = training_symbols(self.streams() + self.stbc) + extension;
        Span::from_us(if self.greenfield {
            8 + 8 + 8 + 4 * (training - 1)
        } else {
            LEGACY_PREAMBLE_US + 8 + 4 + 4 * training
        })
    }

    /// 19.3.11 and 19.4.3. With short guard intervals the mixed format ends at a multiple of 4 us, as its
    /// legacy length says.
    fn data(self, code: SymbolCode, bytes: u32) -> Span {
        let block = if self.stbc > 0 { 2 } else { 1 };
        let payload = SERVICE_BITS + 8 * u64::from(bytes);
        let symbols = if self.ldpc {
            let symbols = blocks(payload, code.data_bits, block);
            let words = Codewords { payload, available: symbols * code.coded_bits, code: code.code };
            if needs_extra_symbol(words) { symbols + block } else { symbols }
        } else {
            // Above 300 Mb/s, 1200 bits a symbol, two encoders work (tables 19-27 to 19-36).
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

    /// 21.3.4: signal fields A and B, and training for each space-time stream.
    fn preamble(self) -> Span {
        let streams = if self.stbc { 2 * self.streams } else { self.streams };
        Span::from_us(LEGACY_PREAMBLE_US + 8 + 4 + 4 * training_symbols(streams) + 4)
    }

    /// 21.3.10 and 21.4.3.
    fn data(self, code: SymbolCode, bytes: u32) -> Span {
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
    /// `N_ES`, each of which has bits of tail: as many as serve 540 Mb/s each at long guard intervals, and as
    /// share the coded bits of a symbol evenly, in whole blocks of the punctured code (tables of 21.5).
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

    /// 27.3.4: the repeated legacy signal field, signal field A, short training, and long training for each
    /// stream.
    fn preamble(&self) -> Span {
        let signal_us = if self.extended_range { 16 } else { 8 };
        let training = (self.training + self.guard) * training_symbols(self.streams);
        Span::from_us(LEGACY_PREAMBLE_US + 4 + signal_us + 4) + training
    }

    /// 27.3.12 and 27.4.3.
    fn data(&self, code: SymbolCode, bytes: u32) -> Span {
        let block = if self.stbc { 2 } else { 1 };
        let tail = if self.ldpc { 0 } else { TAIL_BITS };
        let payload = SERVICE_BITS + 8 * u64::from(bytes) + tail;
        self.symbol() * blocks(payload, code.data_bits, block)
    }
}

/// Bytes of the delimiter in front of a frame in an A-MPDU (9.7.1).
pub const MPDU_DELIMITER: u32 = 4;

/// Legacy training fields and signal field, in front of the mixed format and of all later ones.
const LEGACY_PREAMBLE_US: u64 = 16 + 4;
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

/// The one scheme of HT that sends the same in both halves of 40 MHz.
const DUPLICATE_MCS: u8 = 32;

/// Bits per carrier and code rate of the schemes that HT, VHT and HE number alike (tables of 19.5, 21.5 and
/// 27.5).
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

/// A symbol of HT and VHT.
fn symbol(short_gi: bool) -> Span {
    Span::from_ns(if short_gi { 3_600 } else { 4_000 })
}

/// Long training symbols for so many space-time streams (table 21-13).
fn training_symbols(streams: u8) -> u64 {
    [1, 1, 2, 4, 4, 6, 6, 8, 8][usize::from(streams.min(8))]
}

/// Symbols for `bits` bits, in whole blocks.
fn blocks(bits: u64, bits_per_symbol: u64, block: u64) -> u64 {
    block * bits.div_ceil(block * bits_per_symbol)
}
