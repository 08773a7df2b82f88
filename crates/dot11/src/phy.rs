//! PHY tables: rates, inter-frame spaces, and airtimes of frames.

use crate::ppdu::SymbolCode;
use crate::rates::{
    BASIC_DSSS, BASIC_FHSS, BASIC_HALF, BASIC_MIXED, BASIC_OFDM, BASIC_QUARTER, DOT11A, DOT11A_HALF,
    DOT11A_QUARTER, DOT11B, DOT11G, FHSS,
};
use crate::{Band, DataRate, Microseconds, OfdmClock, Ppdu, PpduOptions};
use multihop_core::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of an RTS frame, FCS included (8.3.1.2).
pub const RTS_BYTES: u32 = 20;
/// Bytes of a CTS frame, FCS included (8.3.1.3).
pub const CTS_BYTES: u32 = 14;
/// Bytes of an ACK frame, FCS included (8.3.1.4).
pub const ACK_BYTES: u32 = 14;
/// Bytes of a CF-End frame, FCS included (8.3.1.6).
pub const CF_END_BYTES: u32 = 20;

/// An IEEE 802.11 physical layer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Standard {
    /// Frequency hopping, 1 and 2 Mb/s (802.11-1999 and 802.11-2012, clause 14). Hops and their durations are
    /// not modelled.
    #[serde(rename = "fhss")]
    Fhss,
    /// Direct sequence, 1 and 2 Mb/s (802.11-1999, clause 15).
    #[serde(rename = "dsss")]
    Dsss,
    /// High-rate direct sequence, 1 to 11 Mb/s (802.11b; 802.11-2012, clause 17).
    #[default]
    #[serde(rename = "802.11b")]
    Dot11b,
    /// OFDM at 5 GHz (802.11a; 802.11-2012, clause 18): 6 to 54 Mb/s in 20 MHz, 3 to 27 Mb/s in 10 MHz
    /// (802.11p), 1.5 to 13.5 Mb/s in 5 MHz.
    #[serde(rename = "802.11a")]
    Dot11a,
    /// OFDM at 2.4 GHz, together with the rates of 802.11b (802.11g; 802.11-2012, clause 19).
    #[serde(rename = "802.11g")]
    Dot11g,
    /// High throughput at 2.4 and 5 GHz, up to 4 streams and 40 MHz (802.11n; 802.11-2016, clause 19).
    #[serde(rename = "802.11n")]
    Dot11n,
    /// Very high throughput at 5 GHz, up to 8 streams and 160 MHz (802.11ac; 802.11-2016, clause 21).
    #[serde(rename = "802.11ac")]
    Dot11ac,
    /// High efficiency at 2.4 and 5 GHz, up to 8 streams and 160 MHz, single-user PPDUs only (802.11ax-2021,
    /// clause 27).
    #[serde(rename = "802.11ax")]
    Dot11ax,
}

/// Preamble of direct-sequence frames.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preamble {
    /// 192 us of preamble and header: 144 and 48 bits at 1 Mb/s.
    #[default]
    Long,
    /// 96 us of preamble and header: 72 bits at 1 Mb/s and 48 at 2 Mb/s. Frames at 1 Mb/s use the long
    /// preamble.
    Short,
}

/// Airtime of the payload of an OFDM frame, after preamble and SIGNAL field.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfdmSymbols {
    /// Whole symbols of 4 us, with 16 service and 6 tail bits (18.3.5.4); in 802.11g followed by a signal
    /// extension of 6 us.
    #[default]
    Whole,
    /// Bytes of the frame divided by the rate, as in ns-2, which has no OFDM symbols: for comparison with
    /// ns-2.
    #[serde(rename = "ns2")]
    None,
}

/// Modulation of a rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modulation {
    /// Gaussian frequency shift keying with two frequencies, one bit per symbol (14.6.5 of 802.11-1999).
    Gfsk2,
    /// Gaussian frequency shift keying with four frequencies, two bits per symbol.
    Gfsk4,
    /// Differential BPSK with the Barker code.
    Dbpsk,
    /// Differential QPSK with the Barker code.
    Dqpsk,
    /// Complementary code keying, 4 bits per symbol.
    Cck5_5,
    /// Complementary code keying, 8 bits per symbol.
    Cck11,
    /// OFDM with a constellation of 1, 2, 4 or 6 bits per carrier (8 from VHT on, 10 from HE on) and a code
    /// rate.
    Ofdm {
        /// Number of coded bits per carrier.
        bits: u8,
        /// Code rate as numerator and denominator.
        code: (u8, u8),
    },
}

impl Modulation {
    /// Whether the modulation is OFDM; all others have a single carrier.
    pub const fn is_ofdm(self) -> bool {
        matches!(self, Modulation::Ofdm { .. })
    }

    /// Whether the modulation is one of frequency hopping.
    pub const fn is_gfsk(self) -> bool {
        matches!(self, Modulation::Gfsk2 | Modulation::Gfsk4)
    }
}

/// Physical layer with its options.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Phy {
    standard: Standard,
    options: PpduOptions,
    preamble: Preamble,
    basic: &'static [Rate],
    symbols: OfdmSymbols,
    /// Slot time.
    pub slot: Span,
    /// Short inter-frame space.
    pub sifs: Span,
    /// Minimum contention window, in slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
    pub cw_max: u32,
}

impl Phy {
    /// Physical layer with the values of the standard (14.9, 15.4.8, 17.3.3, 18.4.4, 19.8.4; 802.11-2016,
    /// 19.4.4 and 21.4.4). `preamble` only affects direct-sequence frames.
    ///
    /// Networks are assumed to have no 802.11b stations: 802.11g has the short slot of 9 us and the basic
    /// rates 6, 12 and 24 Mb/s; for others see [`Phy::with_long_slot`] and [`Phy::mixed`]. Standards with
    /// schemes ([`Standard::has_mcs`]) have the options of [`PpduOptions::for_standard`]; for others see
    /// [`Phy::with_options`].
    pub fn new(standard: Standard, preamble: Preamble) -> Phy {
        let (slot, sifs, cw_min, basic): (_, _, _, &[Rate]) = match standard {
            Standard::Fhss => (50, 28, 15, &BASIC_FHSS),
            Standard::Dsss | Standard::Dot11b => (20, 10, 31, &BASIC_DSSS),
            Standard::Dot11g => (9, 10, 15, &BASIC_OFDM),
            Standard::Dot11a | Standard::Dot11n | Standard::Dot11ac | Standard::Dot11ax => {
                (9, 16, 15, &BASIC_OFDM)
            }
        };
        let (slot, sifs) = (Span::from_us(slot), Span::from_us(sifs));
        let (options, symbols) = (PpduOptions::for_standard(standard), OfdmSymbols::Whole);
        Phy { standard, options, preamble, basic, symbols, slot, sifs, cw_min, cw_max: 1023 }
    }

    /// This PHY, of a standard with schemes or 802.11a, in a channel with these options. SIFS is that of the
    /// band (802.11-2016, 19.4.4, table 19-25). At half and quarter clock, slot and SIFS are those of table
    /// 17-21, and rates are divided by 2 and 4. Options that the standard does not have give a PHY without
    /// schemes.
    #[must_use]
    pub fn with_options(self, options: PpduOptions) -> Phy {
        let of_band = if options.band == Band::Ghz2_4 { 10 } else { 16 };
        let sifs = |us: u64| Span::from_us(us);
        match options.bandwidth.clock() {
            OfdmClock::Full => Phy { options, sifs: sifs(of_band), ..self },
            OfdmClock::Half => {
                Phy { options, slot: Span::from_us(13), sifs: sifs(32), basic: &BASIC_HALF, ..self }
            }
            OfdmClock::Quarter => {
                Phy { options, slot: Span::from_us(21), sifs: sifs(64), basic: &BASIC_QUARTER, ..self }
            }
        }
    }

    /// 802.11g in a network with 802.11b stations: slots of 20 us, and basic rates 1, 2, 5.5 and 11 Mb/s
    /// (19.8.4).
    ///
    /// The minimum contention window stays at 15, as between stations with OFDM rates. Protection frames are
    /// sent by the MAC, at [`Phy::request_rate`].
    pub fn mixed(preamble: Preamble) -> Phy {
        Phy { basic: &BASIC_MIXED, ..Phy::new(Standard::Dot11g, preamble).with_long_slot() }
    }

    /// This PHY with slots of 20 us, which 802.11g uses unless all stations support the short slot (19.8.4).
    #[must_use]
    pub fn with_long_slot(self) -> Phy {
        Phy { slot: Span::from_us(20), ..self }
    }

    /// This PHY with another payload timing of OFDM frames.
    #[must_use]
    pub fn with_ofdm_symbols(self, symbols: OfdmSymbols) -> Phy {
        Phy { symbols, ..self }
    }

    /// This PHY with the slot time of a coverage class: aAirPropagationTime, part of aSlotTime, grows by 3 us
    /// per class (802.11-2007, 7.3.2.9 and 17.3.8.6, as cited by Linux drivers). The standard defines classes
    /// up to 31.
    #[must_use]
    pub fn with_coverage_class(self, class: u32) -> Phy {
        Phy { slot: self.slot + Span::from_us(3) * u64::from(class), ..self }
    }

    /// Standard of this PHY.
    pub fn standard(&self) -> Standard {
        self.standard
    }

    /// PPDU options; before 802.11n, a 20 MHz channel in the band of the standard.
    pub fn options(&self) -> PpduOptions {
        self.options
    }

    /// Bit rates of this PHY, ascending, with their modulations. Standards with schemes ([`Phy::schemes`])
    /// have the rates of 802.11a as well.
    pub fn rates(&self) -> impl Iterator<Item = (Rate, Modulation)> {
        self.table().iter().copied()
    }

    /// Whether frames at `rate` have the short preamble: never at 1 Mb/s, nor with OFDM or frequency hopping.
    pub fn has_short_preamble(&self, rate: Rate) -> bool {
        let can = |m| matches!(m, Modulation::Dqpsk | Modulation::Cck5_5 | Modulation::Cck11);
        self.preamble == Preamble::Short && self.modulation(rate).is_some_and(can)
    }

    /// Basic rates, ascending: every station of the network can receive them.
    ///
    /// The standard leaves the choice to the network. Here they are, in Mb/s:
    ///
    /// * direct sequence: 1 and 2, so that stations of 802.11-1999 could take part;
    /// * 802.11g with 802.11b stations: 1, 2, 5.5 and 11;
    /// * OFDM: 6, 12 and 24, divided by 2 or 4 at half or quarter clock;
    /// * frequency hopping: 1.
    pub fn basic_rates(&self) -> &'static [Rate] {
        self.basic
    }

    /// Rate of a CTS or an ACK in response to a frame at `rate`: the highest basic rate not above it with the
    /// same kind of modulation, else the highest such mandatory rate of the PHY (9.7.6.5.2; 802.11-2007,
    /// 9.6). A scheme counts as its 802.11a rate ([`crate::Mcs::non_ht_reference`]; 802.11-2016, 10.7.6.5).
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn response_rate(&self, rate: impl Into<DataRate>) -> Rate {
        let rate = match rate.into() {
            DataRate::Bits(rate) => rate,
            DataRate::Mcs(mcs) => mcs.non_ht_reference(),
        };
        let modulation = self.modulation(rate).expect("the rate belongs to the PHY");
        let mandatory: &[Rate] = match (modulation.is_ofdm(), self.standard) {
            (true, _) => match self.clock() {
                OfdmClock::Full => &BASIC_OFDM,
                OfdmClock::Half => &BASIC_HALF,
                OfdmClock::Quarter => &BASIC_QUARTER,
            },
            (false, Standard::Fhss) => &BASIC_FHSS,
            (false, Standard::Dsss) => &BASIC_DSSS,
            (false, _) => &BASIC_MIXED,
        };
        let same_kind =
            |other: Rate| self.modulation(other).is_some_and(|m| m.is_ofdm() == modulation.is_ofdm());
        let highest = |rates: &[Rate]| rates.iter().rev().copied().find(|r| *r <= rate && same_kind(*r));
        highest(self.basic).or_else(|| highest(mandatory)).expect("the lowest rate of each kind is mandatory")
    }

    /// Rate of an RTS or a CTS-to-self before DATA at `rate`. If all basic rates are direct sequence, it is
    /// the highest basic rate not above `rate`, so that 802.11b stations decode it (9.7.6.2, 9.23.1).
    /// Otherwise it is the response rate.
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn request_rate(&self, rate: impl Into<DataRate>) -> Rate {
        let rate = rate.into();
        let is_ofdm = |rate| self.modulation(rate).is_some_and(Modulation::is_ofdm);
        let at_most = |bits: &Rate| self.bit_rate(rate).is_some_and(|rate| *bits <= rate);
        let mixed = is_ofdm(rate) && !self.basic.iter().any(|basic| is_ofdm(DataRate::Bits(*basic)));
        let highest = self.basic.iter().rev().copied().find(at_most).filter(|_| mixed);
        highest.unwrap_or_else(|| self.response_rate(rate))
    }

    /// Distributed inter-frame space: SIFS and two slots (9.3.2.3.5).
    pub fn difs(&self) -> Span {
        self.sifs + self.slot * 2
    }

    /// Extended inter-frame space: SIFS, the airtime of an ACK at the lowest basic rate, and DIFS
    /// (9.3.2.3.7).
    ///
    /// The text says the lowest *mandatory* rate. The two only differ for 802.11g without 802.11b stations,
    /// where no station would send that ACK at 1 Mb/s.
    pub fn eifs(&self) -> Span {
        self.sifs + self.airtime(self.basic[0], ACK_BYTES, Microseconds::Up) + self.difs()
    }

    /// aPHY-RX-START-Delay: time from the first bit of a frame at `rate` until the PHY reports its start,
    /// used in response timeouts (15.4.8, 17.3.3, 18.4.4, 19.8.4). Stations of 802.11n and later follow a
    /// later edition: 20 us, preamble and SIGNAL field of the PPDUs that carry responses (802.11-2020, tables
    /// 17-21 and 18-5).
    ///
    /// From memory, not verified: the 128 us of clause 14 (preamble and header), and the 49 and 97 us of
    /// channels of 10 and 5 MHz (802.11-2012, table 18-17).
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn rx_start_delay(&self, rate: Rate) -> Span {
        let modulation = self.modulation(rate).expect("the rate belongs to the PHY");
        if !modulation.is_ofdm() {
            return self.overhead(rate);
        }
        let us = match (self.standard().has_mcs(), self.options.band, self.clock()) {
            (true, ..) => 20,
            (false, Band::Ghz2_4, _) => 24,
            (false, Band::Ghz5, OfdmClock::Full) => 25,
            (false, Band::Ghz5, OfdmClock::Half) => 49,
            (false, Band::Ghz5, OfdmClock::Quarter) => 97,
        };
        Span::from_us(us)
    }

    /// Timing of frames at `rate`: look it up once and use it for every frame.
    ///
    /// `rounding` only affects direct-sequence payloads, whose length field counts whole microseconds
    /// (17.2.3.6). All others have whole symbols.
    ///
    /// # Panics
    /// If this PHY does not have the rate or the scheme.
    pub fn timing(&self, rate: impl Into<DataRate>, rounding: Microseconds) -> FrameTiming {
        let rate = match rate.into() {
            DataRate::Bits(rate) => rate,
            DataRate::Mcs(mcs) => {
                let ppdu = self.ppdu(mcs).expect("the scheme belongs to the PHY");
                let code = ppdu.symbol_code().expect("the scheme exists");
                let extension = ppdu.signal_extension(self.options.band);
                let payload = Payload::Scheme { ppdu, code, extension };
                return FrameTiming { overhead: ppdu.overhead(), payload };
            }
        };
        let modulation = self.modulation(rate).expect("the rate belongs to the PHY");
        let bits = Payload::Bits { kbps: rate.bps() / 1_000, rounding };
        let (overhead_us, payload) = match (modulation, self.preamble) {
            (Modulation::Ofdm { .. }, _) => {
                ((OFDM_PREAMBLE_US + OFDM_SIGNAL_US) * self.clock().slowdown(), self.symbols(rate))
            }
            (Modulation::Gfsk2, _) => (FHSS_OVERHEAD_US, Payload::Whitened { bits_per_symbol: 1 }),
            (Modulation::Gfsk4, _) => (FHSS_OVERHEAD_US, Payload::Whitened { bits_per_symbol: 2 }),
            (Modulation::Dbpsk, _) | (_, Preamble::Long) => (144 + 48, bits),
            (_, Preamble::Short) => (72 + 24, bits),
        };
        FrameTiming { overhead: Span::from_us(overhead_us), payload }
    }

    /// Airtime of a frame of `bytes` bytes, MAC header and FCS included, at `rate`, preamble included.
    ///
    /// [`Phy::timing`] explains `rounding`, and is cheaper for many frames.
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn airtime(&self, rate: impl Into<DataRate>, bytes: u32, rounding: Microseconds) -> Span {
        self.timing(rate, rounding).airtime(bytes)
    }

    /// Duration of preamble and PLCP header of a frame at `rate`.
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn overhead(&self, rate: impl Into<DataRate>) -> Span {
        self.timing(rate, Microseconds::Exact).overhead()
    }

    fn table(&self) -> &'static [(Rate, Modulation)] {
        match self.standard {
            Standard::Fhss => &FHSS,
            Standard::Dsss => &DOT11B[..2],
            Standard::Dot11b => &DOT11B,
            Standard::Dot11g => &DOT11G,
            Standard::Dot11a if self.clock() == OfdmClock::Half => &DOT11A_HALF,
            Standard::Dot11a if self.clock() == OfdmClock::Quarter => &DOT11A_QUARTER,
            Standard::Dot11a | Standard::Dot11n | Standard::Dot11ac | Standard::Dot11ax => &DOT11A,
        }
    }

    fn symbols(&self, rate: Rate) -> Payload {
        if self.symbols == OfdmSymbols::None {
            return Payload::Bits { kbps: rate.bps() / 1_000, rounding: Microseconds::Exact };
        }
        let extension_us = if self.options.band == Band::Ghz2_4 { SIGNAL_EXTENSION_US } else { 0 };
        let symbol_us = OFDM_SYMBOL_US * self.clock().slowdown();
        let bits_per_symbol = (rate.bps() * symbol_us / 1_000_000) as u32;
        let symbol = Span::from_us(symbol_us);
        Payload::Symbols { bits_per_symbol, symbol, extension: Span::from_us(extension_us) }
    }

    /// Clock of OFDM in this PHY's channel.
    fn clock(&self) -> OfdmClock {
        self.options.bandwidth.clock()
    }
}

/// Airtimes of frames at one rate of one PHY; made by [`Phy::timing`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameTiming {
    overhead: Span,
    payload: Payload,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Payload {
    /// Direct sequence: consecutive bits (15.4.5.3; 17.3.4).
    Bits { kbps: u64, rounding: Microseconds },
    /// OFDM: whole symbols (18.4.3), and for 802.11g a signal extension (19.8.3).
    Symbols { bits_per_symbol: u32, symbol: Span, extension: Span },
    /// Frequency hopping: symbols of 1 us, and before each block a symbol that tells whether the block is
    /// inverted.
    Whitened { bits_per_symbol: u32 },
    /// HT, VHT and HE.
    Scheme { ppdu: Ppdu, code: SymbolCode, extension: Span },
}

impl FrameTiming {
    /// Airtime of a frame of `bytes` bytes, MAC header and FCS included, from its preamble to its end. VHT
    /// and HE send the frame behind a delimiter ([`Ppdu::psdu_bytes`]).
    pub fn airtime(&self, bytes: u32) -> Span {
        match self.payload {
            Payload::Scheme { ppdu, .. } => self.psdu_airtime(ppdu.psdu_bytes(bytes)),
            _ => self.psdu_airtime(bytes),
        }
    }

    /// Airtime of a PSDU of `bytes` bytes; an A-MPDU counts from its first delimiter to the end of the last
    /// frame.
    pub fn psdu_airtime(&self, bytes: u32) -> Span {
        let bits = 8 * u64::from(bytes);
        self.overhead
            + match self.payload {
                Payload::Bits { kbps, rounding } => rounding.apply(nearest_ns(bits, kbps)),
                Payload::Symbols { bits_per_symbol, symbol, extension } => {
                    let symbols = (SERVICE_BITS + bits + TAIL_BITS).div_ceil(u64::from(bits_per_symbol));
                    symbol * symbols + extension
                }
                Payload::Whitened { bits_per_symbol } => {
                    let symbols = bits.div_ceil(u64::from(bits_per_symbol));
                    Span::from_us((symbols + symbols.div_ceil(FHSS_BLOCK_SYMBOLS)) * FHSS_SYMBOL_US)
                }
                Payload::Scheme { ppdu, code, extension } => ppdu.coded_duration(code, bytes) + extension,
            }
    }

    /// Duration of preamble and PLCP header.
    pub fn overhead(&self) -> Span {
        self.overhead
    }
}

/// `Rate::span_of_bits` in 64 bits: there are fewer than 2^35 bits, and all rates are whole kb/s.
fn nearest_ns(bits: u64, kbps: u64) -> Span {
    Span::from_ns((bits * 1_000_000 + kbps / 2) / kbps)
}

// Durations of the parts of an OFDM frame (18.3.2.4, 18.4.3).
const OFDM_PREAMBLE_US: u64 = 16;
const OFDM_SIGNAL_US: u64 = 4;
const OFDM_SYMBOL_US: u64 = 4;
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

/// Preamble and header of frequency hopping: 80 bits of synchronisation, 16 of delimiter and 32 of header at
/// 1 Mb/s (14.3.2; Gast, *802.11 Wireless Networks*, table 11-4).
const FHSS_OVERHEAD_US: u64 = 80 + 16 + 32;
const FHSS_SYMBOL_US: u64 = 1;
/// Number of PSDU symbols per block. Whitening adds a symbol to each block to balance ones and zeros
/// (14.3.2.3, "32/33 bias suppression"; as in Garg, *Wireless Communications and Networking*, 21.7). That an
/// incomplete last block has one too is from memory of the clause, not verified.
const FHSS_BLOCK_SYMBOLS: u64 = 32;

/// Signal extension: silence after an OFDM frame at 2.4 GHz, which gives the decoder the time that the longer
/// SIFS provides at 5 GHz (19.8.3).
const SIGNAL_EXTENSION_US: u64 = 6;
