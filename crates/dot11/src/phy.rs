//! PHY tables: rates, inter-frame spaces, and how long a frame is on the air.

use crate::Microseconds;
use multihop_core::{Rate, Span};

/// An IEEE 802.11 physical layer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standard {
    /// Direct sequence, 1 and 2 Mb/s (802.11-1999, clause 15).
    Dsss,
    /// High-rate direct sequence, adding 5.5 and 11 Mb/s (802.11b; 802.11-2012, clause 17).
    Dot11b,
    /// OFDM at 5 GHz, 6 to 54 Mb/s in 20 MHz (802.11a; 802.11-2012, clause 18).
    Dot11a,
    /// OFDM at 2.4 GHz with the rates of 802.11b as well (802.11g; 802.11-2012, clause 19).
    Dot11g,
}

/// Length of the preamble of direct-sequence frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Preamble {
    /// 144 bits of preamble and 48 of header at 1 Mb/s: 192 us.
    Long,
    /// 72 bits of preamble at 1 Mb/s and 48 of header at 2 Mb/s: 96 us. Not for 1 Mb/s frames, which keep the long one.
    Short,
}

/// How a rate is modulated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modulation {
    /// Differential BPSK with the Barker code.
    Dbpsk,
    /// Differential QPSK with the Barker code.
    Dqpsk,
    /// Complementary code keying, 4 bits a symbol.
    Cck5_5,
    /// Complementary code keying, 8 bits a symbol.
    Cck11,
    /// OFDM: constellation bits per carrier (1, 2, 4, 6) and code rate as a fraction.
    Ofdm {
        /// Coded bits per carrier.
        bits: u8,
        /// Code rate, numerator and denominator.
        code: (u8, u8),
    },
}

/// A physical layer with its options chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Phy {
    standard: Standard,
    preamble: Preamble,
    /// Slot time.
    pub slot: Span,
    /// Short inter-frame space.
    pub sifs: Span,
    /// First contention window, in slots.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
}

const DSSS_RATES: [(u64, Modulation); 4] =
    [(1_000, Modulation::Dbpsk), (2_000, Modulation::Dqpsk), (5_500, Modulation::Cck5_5), (11_000, Modulation::Cck11)];

const OFDM_RATES: [(u64, Modulation); 8] = [
    (6_000, Modulation::Ofdm { bits: 1, code: (1, 2) }),
    (9_000, Modulation::Ofdm { bits: 1, code: (3, 4) }),
    (12_000, Modulation::Ofdm { bits: 2, code: (1, 2) }),
    (18_000, Modulation::Ofdm { bits: 2, code: (3, 4) }),
    (24_000, Modulation::Ofdm { bits: 4, code: (1, 2) }),
    (36_000, Modulation::Ofdm { bits: 4, code: (3, 4) }),
    (48_000, Modulation::Ofdm { bits: 6, code: (2, 3) }),
    (54_000, Modulation::Ofdm { bits: 6, code: (3, 4) }),
];

impl Phy {
    /// The physical layer with the values of the standard. `preamble` only matters for direct-sequence frames.
    ///
    /// 802.11g uses the short slot of 9 us, as in a network without 802.11b stations (clause 19.4.5).
    pub fn new(standard: Standard, preamble: Preamble) -> Phy {
        let (slot, sifs, cw_min) = match standard {
            Standard::Dsss | Standard::Dot11b => (20, 10, 31),
            Standard::Dot11a => (9, 16, 15),
            Standard::Dot11g => (9, 10, 15),
        };
        Phy { standard, preamble, slot: Span::from_us(slot), sifs: Span::from_us(sifs), cw_min, cw_max: 1023 }
    }

    /// The standard that it was made for.
    pub fn standard(&self) -> Standard {
        self.standard
    }

    /// The rates that it has, ascending, with their modulations.
    pub fn rates(&self) -> impl Iterator<Item = (Rate, Modulation)> {
        let (dsss, ofdm): (&[_], &[_]) = match self.standard {
            Standard::Dsss => (&DSSS_RATES[..2], &[]),
            Standard::Dot11b => (&DSSS_RATES, &[]),
            Standard::Dot11a => (&[], &OFDM_RATES),
            Standard::Dot11g => (&DSSS_RATES, &OFDM_RATES),
        };
        let mut rates: Vec<_> = dsss.iter().chain(ofdm).map(|&(kbps, modulation)| (Rate::from_kbps(kbps), modulation)).collect();
        rates.sort_by_key(|(rate, _)| *rate);
        rates.into_iter()
    }

    /// How `rate` is modulated; none if this PHY does not have it.
    pub fn modulation(&self, rate: Rate) -> Option<Modulation> {
        self.rates().find(|(known, _)| *known == rate).map(|(_, modulation)| modulation)
    }

    /// The basic rates, at which every station can receive: those that the PHY makes mandatory and that control frames use.
    pub fn basic_rates(&self) -> &'static [Rate] {
        const DSSS: [Rate; 2] = [Rate::from_kbps(1_000), Rate::from_kbps(2_000)];
        const OFDM: [Rate; 3] = [Rate::from_kbps(6_000), Rate::from_kbps(12_000), Rate::from_kbps(24_000)];
        match self.standard {
            Standard::Dsss | Standard::Dot11b => &DSSS,
            Standard::Dot11a | Standard::Dot11g => &OFDM,
        }
    }

    /// The highest basic rate that is not above `rate`, or the lowest one: the rate of a response (9.7.6.5.2).
    pub fn response_rate(&self, rate: Rate) -> Rate {
        let basic = self.basic_rates();
        basic.iter().copied().filter(|b| *b <= rate).next_back().unwrap_or(basic[0])
    }

    /// Distributed inter-frame space: SIFS and two slots (9.3.2.3.5).
    pub fn difs(&self) -> Span {
        self.sifs + self.slot * 2
    }

    /// Extended inter-frame space: SIFS, the airtime of an ACK at the lowest basic rate, and DIFS (9.3.2.3.7).
    pub fn eifs(&self) -> Span {
        self.sifs + self.airtime(self.basic_rates()[0], ACK_BYTES, Microseconds::Up) + self.difs()
    }

    /// How long a frame of `bytes` bytes, MAC header and FCS included, is on the air at `rate`, preamble included.
    ///
    /// `rounding` only concerns direct-sequence payloads, whose length field counts whole microseconds; OFDM has whole symbols
    /// of 4 us, and 802.11g ends with 6 us of silence (signal extension).
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn airtime(&self, rate: Rate, bytes: u32, rounding: Microseconds) -> Span {
        let modulation = self.modulation(rate).expect("the rate belongs to the PHY");
        self.overhead(rate)
            + match modulation {
                Modulation::Ofdm { .. } => {
                    let bits_per_symbol = rate.bps() * 4 / 1_000_000;
                    let bits = 16 + 8 * u64::from(bytes) + 6; // SERVICE, PSDU, tail (18.3.5.3)
                    Span::from_us(4 * bits.div_ceil(bits_per_symbol)) + self.signal_extension()
                }
                _ => rounding.apply(rate.span_of_bytes(u64::from(bytes))),
            }
    }

    /// Preamble and PLCP header of a frame at `rate`.
    ///
    /// # Panics
    /// If this PHY does not have the rate.
    pub fn overhead(&self, rate: Rate) -> Span {
        let modulation = self.modulation(rate).expect("the rate belongs to the PHY");
        match (modulation, self.preamble) {
            (Modulation::Ofdm { .. }, _) => Span::from_us(20), // 16 us training and 4 us SIGNAL (18.4.3)
            (Modulation::Dbpsk, _) | (_, Preamble::Long) => Span::from_us(192),
            (_, Preamble::Short) => Span::from_us(96),
        }
    }

    fn signal_extension(&self) -> Span {
        match self.standard {
            Standard::Dot11g => Span::from_us(6),
            _ => Span::ZERO,
        }
    }
}

/// Bytes of an RTS frame, FCS included (8.3.1.2).
pub const RTS_BYTES: u32 = 20;
/// Bytes of a CTS frame, FCS included (8.3.1.3).
pub const CTS_BYTES: u32 = 14;
/// Bytes of an ACK frame, FCS included (8.3.1.4).
pub const ACK_BYTES: u32 = 14;
