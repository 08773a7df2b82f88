//! PHY tables: rates, inter-frame spaces, and how long a frame is on the air.

use crate::ppdu::SymbolCode;
use crate::rates::{
    BASIC_DSSS, BASIC_FHSS, BASIC_HALF, BASIC_MIXED, BASIC_OFDM, BASIC_QUARTER, DOT11A, DOT11A_HALF,
    DOT11A_QUARTER, DOT11B, DOT11G, FHSS,
};
use crate::{Band, Clock, DataRate, Microseconds, Ppdu, PpduOptions};
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
    /// Frequency hopping, 1 and 2 Mb/s (802.11-1999 and 802.11-2012, clause 14). Hops, and the time that they
    /// take, are not modelled.
    #[serde(rename = "fhss")]
    Fhss,
    /// Direct sequence, 1 and 2 Mb/s (802.11-1999, clause 15).
    #[serde(rename = "dsss")]
    Dsss,
    /// High-rate direct sequence, 1 to 11 Mb/s (802.11b; 802.11-2012, clause 17).
    #[default]
    #[serde(rename = "802.11b")]
    Dot11b,
    /// OFDM at 5 GHz, 6 to 54 Mb/s in 20 MHz (802.11a; 802.11-2012, clause 18); in 10 MHz that of 802.11p, 3
    /// to 27 Mb/s, and in 5 MHz 1.5 to 13.5 Mb/s.
    #[serde(rename = "802.11a")]
    Dot11a,
    /// OFDM at 2.4 GHz with the rates of 802.11b as well (802.11g; 802.11-2012, clause 19).
    #[serde(rename = "802.11g")]
    Dot11g,
    /// High throughput at 2.4 and 5 GHz, up to 4 streams and 40 MHz (802.11n; 802.11-2016, clause 19).
    #[serde(rename = "802.11n")]
    Dot11n,
    /// Very high throughput at 5 GHz, up to 8 streams and 160 MHz (802.11ac; 802.11-2016, clause 21).
    #[serde(rename = "802.11ac")]
    Dot11ac,
    /// High efficiency at 2.4 and 5 GHz, up to 8 streams and 160 MHz, to one user at a time (802.11ax-2021,
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
    /// 96 us of preamble and header: 72 bits at 1 Mb/s and 48 at 2 Mb/s. Frames at 1 Mb/s keep the long one.
    Short,
}

/// What follows preamble and SIGNAL field in an OFDM frame.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfdmSymbols {
    /// Whole symbols of 4 us, with 16 service and 6 tail bits (18.3.5.4), and in 802.11g the silence of 6 us
    /// after them.
    #[default]
    Whole,
    /// The bytes of the frame at its rate and nothing else, as in ns-2, which knows no OFDM: for comparison
    /// with it.
    #[serde(rename = "ns2")]
    None,
}

/// How a rate is modulated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modulation {
    /// Gaussian frequency shift keying with two frequencies, one bit a symbol (14.6.5 of 802.11-1999).
    Gfsk2,
    /// The same with four frequencies, two bits a symbol.
    Gfsk4,
    /// Differential BPSK with the Barker code.
    Dbpsk,
    /// Differential QPSK with the Barker code.
    Dqpsk,
    /// Complementary code keying, 4 bits a symbol.
    Cck5_5,
    /// Complementary code keying, 8 bits a symbol.
    Cck11,
    /// OFDM: constellation bits per carrier (1, 2, 4, 6; 8 from VHT, 10 from HE on) and code rate as a
    /// fraction.
    Ofdm {
        /// Coded bits per carrier.
        bits: u8,
        /// Code rate, numerator and denominator.
        code: (u8, u8),
    },
}

impl Modulation {
    /// Whether it is one of OFDM; all others have a single carrier.
    pub const fn is_ofdm(self) -> bool {
        matches!(self, Modulation::Ofdm { .. })
    }

    /// Whether it is one of frequency hopping.
    pub const fn is_gfsk(self) -> bool {
        matches!(self, Modulation::Gfsk2 | Modulation::Gfsk4)
    }
}

/// A physical layer with its options chosen.
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
    /// First contention window, in slots.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
}

impl Phy {
    /// The physical layer with the values of the standard (14.9, 15.4.8, 17.3.3, 18.4.4, 19.8.4; 802.11-2016,
    /// 19.4.4 and 21.4.4). `preamble` only matters for direct-sequence frames.
    ///
    /// 802.11g is that of a network without 802.11b stations: the short slot of 9 us, the OFDM rates 6, 12
    /// and 24 Mb/s as basic rates. For others see [`Phy::with_long_slot`] and [`Phy::mixed`]. The standards
    /// with schemes, [`Standard::has_mcs`], are those of [`PpduOptions::of`], in networks without 802.11b
    /// stations too; for others see [`Phy::with_options`].
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
        let (options, symbols) = (PpduOptions::of(standard), OfdmSymbols::Whole);
        Phy { standard, options, preamble, basic, symbols, slot, sifs, cw_min, cw_max: 1023 }
    }

    /// A standard with schemes, or 802.11a, in this channel. Its SIFS is that of the band (802.11-2016,
    /// 19.4.4, table 19-25); at half and a quarter of the clock slot and SIFS are those of table 17-21, and
    /// rates a half and a quarter. Options that the standard does not have make a PHY without schemes.
    #[must_use]
    pub fn with_options(self, options: PpduOptions) -> Phy {
        let of_band = if options.band == Band::Ghz2_4 { 10 } else { 16 };
        let sifs = |us: u64| Span::from_us(us);
        match options.bandwidth.clock() {
            Clock::Full => Phy { options, sifs: sifs(of_band), ..self },
            Clock::Half => {
                Phy { options, slot: Span::from_us(13), sifs: sifs(32), basic: &BASIC_HALF, ..self }
            }
            Clock::Quarter => {
                Phy { options, slot: Span::from_us(21), sifs: sifs(64), basic: &BASIC_QUARTER, ..self }
            }
        }
    }

    /// 802.11g in a network that has 802.11b stations too: slots of 20 us, and basic rates 1, 2, 5.5 and 11
    /// Mb/s (19.8.4).
    ///
    /// The contention window still begins at 15, as between stations that have the OFDM rates. Frames of
    /// protection are a matter of what the MAC sends; [`Phy::request_rate`] is their rate.
    pub fn mixed(preamble: Preamble) -> Phy {
        Phy { basic: &BASIC_MIXED, ..Phy::new(Standard::Dot11g, preamble).with_long_slot() }
    }

    /// The same with slots of 20 us, which 802.11g has unless all stations support the short slot (19.8.4).
    #[must_use]
    pub fn with_long_slot(self) -> Phy {
        Phy { slot: Span::from_us(20), ..self }
    }

    /// The same with other OFDM frames.
    #[must_use]
    pub fn with_ofdm_symbols(self, symbols: OfdmSymbols) -> Phy {
        Phy { symbols, ..self }
    }

    /// The same with the longer slot of a coverage class: aAirPropagationTime, which is part of aSlotTime, is
    /// 3 us for each (802.11-2007, 7.3.2.9 and 17.3.8.6, as Linux's drivers cite them; those that the
    /// standard defines end at 31).
    #[must_use]
    pub fn with_coverage_class(self, class: u32) -> Phy {
        Phy { slot: self.slot + Span::from_us(3) * u64::from(class), ..self }
    }

    /// The standard that it was made for.
    pub fn standard(&self) -> Standard {
        self.standard
    }

    /// What its PPDUs have in common; of the standards before 802.11n, those of 20 MHz in their band.
    pub fn options(&self) -> PpduOptions {
        self.options
    }

    /// The bit rates that it has, ascending, with their modulations: with schemes ([`Phy::schemes`]) those of
    /// 802.11a beside them.
    pub fn rates(&self) -> impl Iterator<Item = (Rate, Modulation)> {
        self.table().iter().copied()
    }

    /// Do frames at `rate` have the short preamble? Those at 1 Mb/s never do, nor do those of OFDM and of
    /// frequency hopping.
    pub fn has_short_preamble(&self, rate: Rate) -> bool {
        let can = |m| matches!(m, Modulation::Dqpsk | Modulation::Cck5_5 | Modulation::Cck11);
        self.preamble == Preamble::Short && self.modulation(rate).is_some_and(can)
    }

    /// The basic rates, ascending, at which every station of the network can receive.
    ///
    /// The standard leaves the choice to the network; here it is 1 and 2 Mb/s for direct sequence, so that
    /// stations of 802.11-1999 could take part, and the mandatory ones for the others: 6, 12 and 24 Mb/s for
    /// OFDM, 1 Mb/s for frequency hopping.
    pub fn basic_rates(&self) -> &'static [Rate] {
        self.basic
    }

    /// The rate of a CTS or an ACK that answers a frame at `rate`: the highest basic rate not above it and of
    /// the same kind of modulation, or else the highest such rate that the PHY makes mandatory (9.7.6.5.2;
    /// 802.11-2007, 9.6). In place of a scheme counts its rate among those of 802.11a
    /// ([`crate::Mcs::non_ht_reference`]; 802.11-2016, 10.7.6.5).
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
                Clock::Full => &BASIC_OFDM,
                Clock::Half => &BASIC_HALF,
                Clock::Quarter => &BASIC_QUARTER,
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

    /// The rate of an RTS, or of a CTS that a station sends to itself, before DATA at `rate`: that of a
    /// response, or the highest basic rate not above it where all basic rates are of direct sequence, so that
    /// stations of 802.11b decode it (9.7.6.2, 9.23.1).
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
    /// The text says the lowest *mandatory* rate, which is the same but for 802.11g without 802.11b stations:
    /// there no station would send the ACK at 1 Mb/s that the text waits for.
    pub fn eifs(&self) -> Span {
        self.sifs + self.airtime(self.basic[0], ACK_BYTES, Microseconds::Up) + self.difs()
    }

    /// aPHY-RX-START-Delay: how long after its first bit a frame at `rate` is known to be one, for the
    /// timeouts that wait for the beginning of a response (15.4.8, 17.3.3, 18.4.4, 19.8.4; that of clause 14,
    /// the 128 us of preamble and header, is from memory of its table of characteristics and could not be
    /// verified). Stations of 802.11n and later go by a later edition, in which it is the 20 us of preamble
    /// and SIGNAL field (802.11-2020, tables 17-21 and 18-5): that of the PPDUs in which responses are. The
    /// 49 and 97 us of channels of 10 and 5 MHz are from memory of 802.11-2012, table 18-17, not verified.
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
            (false, Band::Ghz5, Clock::Full) => 25,
            (false, Band::Ghz5, Clock::Half) => 49,
            (false, Band::Ghz5, Clock::Quarter) => 97,
        };
        Span::from_us(us)
    }

    /// How a frame at `rate` is timed: look it up once, use it for every frame.
    ///
    /// `rounding` only concerns direct-sequence payloads, whose length field counts whole microseconds
    /// (17.2.3.6); the others have whole symbols anyway.
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
                ((OFDM_PREAMBLE_US + OFDM_SIGNAL_US) * self.clock().slower(), self.symbols(rate))
            }
            (Modulation::Gfsk2, _) => (FHSS_OVERHEAD_US, Payload::Whitened { bits_per_symbol: 1 }),
            (Modulation::Gfsk4, _) => (FHSS_OVERHEAD_US, Payload::Whitened { bits_per_symbol: 2 }),
            (Modulation::Dbpsk, _) | (_, Preamble::Long) => (144 + 48, bits),
            (_, Preamble::Short) => (72 + 24, bits),
        };
        FrameTiming { overhead: Span::from_us(overhead_us), payload }
    }

    /// How long a frame of `bytes` bytes, MAC header and FCS included, is on the air at `rate`, preamble
    /// included.
    ///
    /// See [`Phy::timing`] for `rounding`, and for the cheaper way when there are many frames.
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn airtime(&self, rate: impl Into<DataRate>, bytes: u32, rounding: Microseconds) -> Span {
        self.timing(rate, rounding).airtime(bytes)
    }

    /// Preamble and PLCP header of a frame at `rate`.
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
            Standard::Dot11a if self.clock() == Clock::Half => &DOT11A_HALF,
            Standard::Dot11a if self.clock() == Clock::Quarter => &DOT11A_QUARTER,
            Standard::Dot11a | Standard::Dot11n | Standard::Dot11ac | Standard::Dot11ax => &DOT11A,
        }
    }

    fn symbols(&self, rate: Rate) -> Payload {
        if self.symbols == OfdmSymbols::None {
            return Payload::Bits { kbps: rate.bps() / 1_000, rounding: Microseconds::Exact };
        }
        let extension_us = if self.options.band == Band::Ghz2_4 { SIGNAL_EXTENSION_US } else { 0 };
        let symbol_us = OFDM_SYMBOL_US * self.clock().slower();
        let bits_per_symbol = (rate.bps() * symbol_us / 1_000_000) as u32;
        let symbol = Span::from_us(symbol_us);
        Payload::Symbols { bits_per_symbol, symbol, extension: Span::from_us(extension_us) }
    }

    /// How fast its OFDM is clocked.
    fn clock(&self) -> Clock {
        self.options.bandwidth.clock()
    }
}

/// How long frames at one rate of one PHY are on the air. Made by [`Phy::timing`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameTiming {
    overhead: Span,
    payload: Payload,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Payload {
    /// Direct sequence: bits in a row (15.4.5.3; 17.3.4).
    Bits { kbps: u64, rounding: Microseconds },
    /// OFDM: whole symbols (18.4.3), and for 802.11g a silence after them (19.8.3).
    Symbols { bits_per_symbol: u32, symbol: Span, extension: Span },
    /// Frequency hopping: symbols of 1 us, and in front of each block of them one that says whether the block
    /// is inverted.
    Whitened { bits_per_symbol: u32 },
    /// HT, VHT and HE.
    Scheme { ppdu: Ppdu, code: SymbolCode, extension: Span },
}

impl FrameTiming {
    /// How long a frame of `bytes` bytes, MAC header and FCS included, is on the air, from its preamble to
    /// its end. VHT and HE send it behind a delimiter ([`Ppdu::psdu_of`]).
    pub fn airtime(&self, bytes: u32) -> Span {
        match self.payload {
            Payload::Scheme { ppdu, .. } => self.psdu_airtime(ppdu.psdu_of(bytes)),
            _ => self.psdu_airtime(bytes),
        }
    }

    /// The same of a PSDU of so many bytes: in an A-MPDU from its first delimiter to the end of the last
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
                Payload::Scheme { ppdu, code, extension } => ppdu.coded(code, bytes) + extension,
            }
    }

    /// Preamble and PLCP header.
    pub fn overhead(&self) -> Span {
        self.overhead
    }
}

/// As `Rate::span_of_bits`, in 64 bits: there are fewer than 2^35 bits, and all rates are whole kb/s.
fn nearest_ns(bits: u64, kbps: u64) -> Span {
    Span::from_ns((bits * 1_000_000 + kbps / 2) / kbps)
}

// Durations of the parts of an OFDM frame (18.3.2.4, 18.4.3).
const OFDM_PREAMBLE_US: u64 = 16;
const OFDM_SIGNAL_US: u64 = 4;
const OFDM_SYMBOL_US: u64 = 4;
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

/// 80 bits of synchronisation, 16 of delimiter and 32 of header at 1 Mb/s (14.3.2; Gast, *802.11 Wireless
/// Networks*, table 11-4).
const FHSS_OVERHEAD_US: u64 = 80 + 16 + 32;
const FHSS_SYMBOL_US: u64 = 1;
/// Whitening adds a symbol to each 32 of the PSDU, to keep the number of ones near that of zeros (14.3.2.3,
/// "32/33 bias suppression"; as in Garg, *Wireless Communications and Networking*, 21.7). That an incomplete
/// last block has one too is from memory of the clause, not verified.
const FHSS_BLOCK_SYMBOLS: u64 = 32;

/// Silence after an OFDM frame at 2.4 GHz, which gives the decoder the time that the longer SIFS gives it at
/// 5 GHz (19.8.3).
const SIGNAL_EXTENSION_US: u64 = 6;
