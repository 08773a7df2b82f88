//! Radiotap header in front of each captured frame (radiotap.org, "defined fields").

use crate::config::Channel;
use multihop_core::Span;
use multihop_dot11::{Band, Bandwidth, DataRate, HePpdu, HtPpdu, OfdmClock, Phy, Ppdu, VhtPpdu};

/// Length in bytes of the longest radiotap header, with or without modulation and coding schemes.
pub(super) const fn longest(schemes: bool) -> usize {
    if schemes { 64 } else { 36 }
}

// Bits of the word of present fields, in the order of the fields.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const ANTENNA_SIGNAL: u32 = 1 << 5;
const TX_FLAGS: u32 = 1 << 15;
const MCS: u32 = 1 << 19;
const A_MPDU_STATUS: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const TIMESTAMP: u32 = 1 << 22;
const HE: u32 = 1 << 23;
const L_SIG: u32 = 1 << 27;

/// Unit and position of the timestamp field: nanoseconds, at the last bit of the PPDU.
const TIMESTAMP_UNIT_AND_POSITION: u8 = 0x23;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// Flag: the frame ends with its FCS.
const FLAG_FCS: u8 = 0x10;

const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// Channel flag: GFSK, as frequency hopping uses it.
const CHANNEL_GFSK: u16 = 0x0800;
/// Channel flags: half and quarter clock (10 MHz and 5 MHz channels).
const CHANNEL_HALF: u16 = 0x4000;
const CHANNEL_QUARTER: u16 = 0x8000;

/// A-MPDU status flags: the last MPDU is known, and this MPDU is the last.
const LAST_IS_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// L-SIG flag: the length is known.
const LENGTH_IS_KNOWN: u16 = 0x0002;

/// TX flag: the frame was sent after a CTS-to-self.
pub(super) const TX_WITH_CTS: u16 = 0x0002;
/// TX flag: the frame was sent after RTS and CTS.
pub(super) const TX_WITH_RTS: u16 = 0x0004;
/// TX flag: no acknowledgement is expected.
pub(super) const TX_WITHOUT_ACK: u16 = 0x0008;

/// Radiotap fields that all frames at one rate share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RateFields {
    flags: u8,
    mhz: u16,
    channel: u16,
    how: RateField,
    /// Silent signal extension at the end of a frame, which the preamble does not announce.
    silence: Span,
}

/// Field that gives the rate or scheme of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RateField {
    /// Rate in units of 500 kb/s, rounded up. Only 2.25 Mb/s in 5 MHz is rounded, as in Linux.
    Rate(u8),
    Mcs([u8; 3]),
    Vht([u8; 12]),
    He([u8; 12]),
}

impl RateFields {
    /// Fields of a rate of this PHY. Without a channel in the scenario, the channel is 1 at 2.4 GHz and 36 at
    /// 5 GHz. The channel flags are those of the frame's modulation, by which Linux distinguishes 802.11g
    /// frames from 802.11b frames. A network that hops is recorded as if it stayed on one of its channels.
    pub(super) fn new(phy: &Phy, rate: DataRate) -> RateFields {
        let (mhz, band) = match phy.options().band {
            Band::Ghz2_4 => (2412, CHANNEL_2_GHZ),
            Band::Ghz5 => (5180, CHANNEL_5_GHZ),
        };
        let kind = match phy.modulation(rate) {
            Some(modulation) if modulation.is_ofdm() => CHANNEL_OFDM,
            Some(modulation) if modulation.is_gfsk() => CHANNEL_GFSK,
            _ => CHANNEL_CCK,
        };
        let (how, short) = match rate {
            DataRate::Bits(rate) => {
                (RateField::Rate(rate.bps().div_ceil(500_000) as u8), phy.has_short_preamble(rate))
            }
            DataRate::Mcs(mcs) => {
                (RateField::of(&phy.ppdu(mcs).expect("the scheme belongs to the PHY")), false)
            }
        };
        let flags = FLAG_FCS | if short { FLAG_SHORT_PREAMBLE } else { 0 };
        let silence = Span::from_us(if phy.options().band == Band::Ghz2_4 { SIGNAL_EXTENSION_US } else { 0 });
        let clock = match phy.options().bandwidth.clock() {
            OfdmClock::Full => 0,
            OfdmClock::Half => CHANNEL_HALF,
            OfdmClock::Quarter => CHANNEL_QUARTER,
        };
        RateFields { flags, mhz, channel: band | kind | clock, how, silence }
    }

    /// Moves the fields to another channel of the band. Radiotap names the centre of the primary 20 MHz
    /// channel.
    pub(super) fn on(self, channel: Channel) -> RateFields {
        RateFields { mhz: Channel { width_mhz: 20, ..channel }.centre_mhz() as u16, ..self }
    }
}

impl RateField {
    fn of(ppdu: &Ppdu) -> RateField {
        match ppdu {
            Ppdu::Ht(ppdu) => RateField::Mcs(ht(*ppdu)),
            Ppdu::Vht(ppdu) => RateField::Vht(vht(*ppdu)),
            Ppdu::He(ppdu) => RateField::He(he(ppdu)),
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => {
                unreachable!("these have no schemes")
            }
        }
    }

    /// Bits of this field and of L-SIG in the word of present fields.
    fn field(&self) -> u32 {
        match self {
            RateField::Rate(_) => RATE,
            RateField::Mcs(_) => MCS | L_SIG,
            RateField::Vht(_) => VHT | L_SIG,
            RateField::He(_) => HE | L_SIG,
        }
    }

    /// L-SIG field of a PPDU: the length in bytes that takes the airtime at 6 Mb/s, reduced in HE so that it
    /// is no multiple of three (19.3.9.3.5, 21.3.8.2.4; 802.11ax-2021, 27.3.11.5). Marked as unknown if it
    /// needs more than 12 bits.
    fn legacy_length(&self, airtime: Span) -> [u16; 2] {
        const SYMBOL: Span = Span::from_us(4);
        const PREAMBLE: Span = Span::from_us(20);
        let symbols = airtime.saturating_sub(PREAMBLE).rounded_up(SYMBOL).whole(SYMBOL);
        let short = if matches!(self, RateField::He(_)) { 2 } else { 0 };
        let length = (3 * symbols).saturating_sub(3 + short);
        if length < 1 << 12 { [LENGTH_IS_KNOWN, (length as u16) << 4] } else { [0; 2] }
    }
}

/// Duration of the signal extension of OFDM at 2.4 GHz, in microseconds (19.3.2.4.2).
const SIGNAL_EXTENSION_US: u64 = 6;

/// HT field: `known`, `flags` and `mcs`. All properties are known, including the absence of space-time coding
/// and of extension streams.
fn ht(ppdu: HtPpdu) -> [u8; 3] {
    let wide = u8::from(ppdu.bandwidth == Bandwidth::Mhz40);
    [0x7f, wide | u8::from(ppdu.short_gi) << 2 | u8::from(ppdu.ldpc) << 4, ppdu.mcs]
}

/// VHT field. Space-time coding, guard interval, beamforming and bandwidth are known, and scheme, streams and
/// code of the first user.
fn vht(ppdu: VhtPpdu) -> [u8; 12] {
    let bandwidth = match ppdu.bandwidth {
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 4,
        Bandwidth::Mhz160 => 11,
        _ => 0,
    };
    let user = ppdu.mcs << 4 | ppdu.streams;
    [0x65, 0, u8::from(ppdu.short_gi) << 2, bandwidth, user, 0, 0, 0, u8::from(ppdu.ldpc), 0, 0, 0]
}

/// HE field of a single-user PPDU. Scheme, dual carrier modulation, code, space-time coding, bandwidth,
/// Doppler, guard interval, number of training symbols and beamforming are known.
fn he(ppdu: &HePpdu) -> [u8; 12] {
    let bandwidth = match ppdu.bandwidth {
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 2,
        Bandwidth::Mhz160 => 3,
        _ => 0,
    };
    let guard = match ppdu.guard.ns() {
        800 => 0,
        1_600 => 1,
        _ => 2,
    };
    // Training symbols of 6.4 us are "2x", those of 12.8 us "4x".
    let training = if ppdu.training.ns() == 12_800 { 3 } else { 2 };
    // 1, 2, 4, 6 or 8 training symbols by number of streams (802.11ax-2021, table 27-14), encoded as 0 to 4.
    let symbols = if ppdu.streams == 1 { 0 } else { u16::from(ppdu.streams).div_ceil(2) };
    let words: [u16; 6] = [
        0xc2e0,
        0x0016,
        u16::from(ppdu.mcs) << 8 | u16::from(ppdu.ldpc) << 13,
        0,
        bandwidth | guard << 4 | training << 6 | symbols << 8,
        u16::from(ppdu.streams),
    ];
    let mut bytes = [0; 12];
    bytes.chunks_exact_mut(2).zip(words).for_each(|(two, word)| two.copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// Role of the capturing radio in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RadioRole {
    /// The radio received the frame.
    Received {
        /// Power at the antenna in dBm; none if the medium has no powers.
        dbm: Option<i8>,
    },
    /// The radio sent the frame.
    Sent {
        /// Combination of `TX_WITH_CTS`, `TX_WITH_RTS` and `TX_WITHOUT_ACK`.
        flags: u16,
    },
}

/// Times of a PPDU at an antenna.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// Time of the first bit behind preamble and PLCP header, in microseconds. All MPDUs of an A-MPDU have
    /// the same, as drivers write it.
    pub tsft_us: u64,
    /// Time of the last bit, in nanoseconds.
    pub end_ns: u64,
    /// Airtime of the PPDU.
    pub airtime: Span,
}

/// Place of an MPDU in an A-MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Aggregate {
    /// Reference number, the same for all MPDUs of an A-MPDU and unique to it.
    pub reference: u32,
    /// Whether the MPDU is the last of its A-MPDU.
    pub is_last: bool,
}

/// Appends a radiotap header. Its timestamp field repeats the end of the frame with a stated meaning, because
/// TSFT has no fractions of microseconds. The delimiter checksum is marked as unknown.
pub(super) fn put(
    out: &mut Vec<u8>,
    stamps: Stamps,
    fields: RateFields,
    aggregate: Option<Aggregate>,
    seen: RadioRole,
) {
    let start = out.len();
    let which = match seen {
        RadioRole::Received { dbm: None } => 0,
        RadioRole::Received { dbm: Some(_) } => ANTENNA_SIGNAL,
        RadioRole::Sent { .. } => TX_FLAGS,
    };
    out.extend([0; 4]);
    let which = which | if aggregate.is_some() { A_MPDU_STATUS } else { 0 };
    out.extend((TSFT | FLAGS | CHANNEL | fields.how.field() | which | TIMESTAMP).to_le_bytes());
    out.extend(stamps.tsft_us.to_le_bytes());
    out.push(fields.flags);
    if let RateField::Rate(rate) = fields.how {
        out.push(rate);
    }
    align(out, start, 2);
    out.extend(fields.mhz.to_le_bytes());
    out.extend(fields.channel.to_le_bytes());
    match seen {
        RadioRole::Received { dbm } => out.extend(dbm.map(i8::to_le_bytes).into_iter().flatten()),
        RadioRole::Sent { flags } => out.extend(flags.to_le_bytes()),
    }
    if let RateField::Mcs(bytes) = fields.how {
        out.extend(bytes);
    }
    if let Some(Aggregate { reference, is_last }) = aggregate {
        align(out, start, 4);
        out.extend(reference.to_le_bytes());
        out.extend((LAST_IS_KNOWN | if is_last { IS_LAST } else { 0 }).to_le_bytes());
        out.extend([0; 2]);
    }
    if let RateField::Vht(bytes) = fields.how {
        align(out, start, 2);
        out.extend(bytes);
    }
    align(out, start, 8);
    out.extend(stamps.end_ns.to_le_bytes());
    // The accuracy is not given; the last byte has flags.
    out.extend([0, 0, TIMESTAMP_UNIT_AND_POSITION, 0]);
    if let RateField::He(bytes) = fields.how {
        out.extend(bytes);
    }
    if fields.how.field() & L_SIG != 0 {
        let words = fields.how.legacy_length(stamps.airtime.saturating_sub(fields.silence));
        out.extend(words.into_iter().flat_map(u16::to_le_bytes));
    }
    let length = ((out.len() - start) as u16).to_le_bytes();
    out[start + 2..start + 4].copy_from_slice(&length);
}

/// Pads to a multiple of the field's size, counted from the start of the header.
fn align(out: &mut Vec<u8>, start: usize, size: usize) {
    out.resize(start + (out.len() - start).next_multiple_of(size), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rate;
    use multihop_dot11::{Coding, GuardInterval, Mcs, PpduOptions, Preamble, Standard};

    /// 222 us are 50.5 symbols of 4 us behind 20 us: 51.
    const STAMPS: Stamps = Stamps { tsft_us: 0x0102, end_ns: 0x0506, airtime: Span::from_us(222) };
    /// 51 * 3 - 3, and in HE 2 less.
    const LEGACY_LENGTH: [u8; 4] = [2, 0, 0x60, 0x09];
    const LEGACY_LENGTH_HE: [u8; 4] = [2, 0, 0x40, 0x09];

    fn header(fields: RateFields, seen: RadioRole) -> Vec<u8> {
        header_in(None, fields, seen)
    }

    fn header_in(aggregate: Option<Aggregate>, fields: RateFields, seen: RadioRole) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, STAMPS, fields, aggregate, seen);
        assert!(out.len() <= longest(!matches!(fields.how, RateField::Rate(_))));
        out
    }

    #[test]
    fn every_field_is_where_its_alignment_puts_it() {
        let phy = Phy::new(Standard::Dot11b, Preamble::Short);
        let fields = RateFields::new(&phy, Rate::from_kbps(5_500).into());
        let common = [2, 1, 0, 0, 0, 0, 0, 0, 0x12, 11, 0x6c, 0x09, 0xa0, 0x00];
        let stamp = [6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x23, 0];
        let heard = header(fields, RadioRole::Received { dbm: Some(-70) });
        assert_eq!(heard[..8], [0, 0, 36, 0, 0x2f, 0, 0x40, 0]);
        assert_eq!(heard[8..22], common);
        assert_eq!(heard[22..24], [186, 0]);
        assert_eq!(heard[24..], stamp);
        let powerless = header(fields, RadioRole::Received { dbm: None });
        assert_eq!((powerless.len(), powerless[4]), (36, 0x0f));
        assert_eq!(powerless[22..24], [0, 0]);
        let sent = header(fields, RadioRole::Sent { flags: TX_WITH_RTS });
        assert_eq!(sent[..8], [0, 0, 36, 0, 0x0f, 0x80, 0x40, 0]);
        assert_eq!(sent[8..22], common);
        assert_eq!(sent[22..24], [4, 0]);
        assert_eq!(sent[24..], stamp);
    }

    #[test]
    fn the_channel_is_that_of_the_modulation() {
        let of = |standard, kbps| {
            let fields = RateFields::new(&Phy::new(standard, Preamble::Short), Rate::from_kbps(kbps).into());
            let RateField::Rate(rate) = fields.how else { panic!("{fields:?}") };
            (fields.mhz, fields.channel, rate, fields.flags)
        };
        assert_eq!(of(Standard::Dot11a, 54_000), (5180, 0x0140, 108, 0x10));
        assert_eq!(of(Standard::Fhss, 2_000), (2412, 0x0880, 4, 0x10));
        assert_eq!(of(Standard::Dot11g, 6_000), (2412, 0x00c0, 12, 0x10));
        assert_eq!(of(Standard::Dot11g, 11_000), (2412, 0x00a0, 22, 0x12));
        assert_eq!(
            of(Standard::Dsss, 1_000),
            (2412, 0x00a0, 2, 0x10),
            "1 Mb/s frames keep the long preamble"
        );
    }

    /// Half and quarter clock are bits 14 and 15 of the channel flags (radiotap.org, "Channel").
    #[test]
    fn narrow_channels_say_so() {
        let of = |bandwidth, kbps| {
            let phy = Phy::new(Standard::Dot11a, Preamble::Long);
            let phy = phy.with_options(PpduOptions { bandwidth, ..phy.options() });
            let fields = RateFields::new(&phy, Rate::from_kbps(kbps).into());
            (fields.channel, fields.how)
        };
        assert_eq!(of(Bandwidth::Mhz10, 27_000), (0x4140, RateField::Rate(54)));
        assert_eq!(of(Bandwidth::Mhz5, 13_500), (0x8140, RateField::Rate(27)));
        assert_eq!(of(Bandwidth::Mhz5, 2_250), (0x8140, RateField::Rate(5)));
        let channel = Channel { number: 178, width_mhz: 10, overlaps: true };
        let phy = Phy::new(Standard::Dot11a, Preamble::Long);
        assert_eq!(RateFields::new(&phy, Rate::from_kbps(6_000).into()).on(channel).mhz, 5890);
    }

    fn fields(standard: Standard, bandwidth: Bandwidth, guard: GuardInterval, mcs: Mcs) -> RateFields {
        let options =
            PpduOptions { bandwidth, guard, coding: Coding::Ldpc, ..PpduOptions::for_standard(standard) };
        let phy = Phy::new(standard, Preamble::Long).with_options(options);
        RateFields::new(&phy, mcs.into())
    }

    fn with(standard: Standard, bandwidth: Bandwidth, guard: GuardInterval, mcs: Mcs) -> Vec<u8> {
        header(fields(standard, bandwidth, guard, mcs), RadioRole::Received { dbm: Some(-70) })
    }

    /// By the definitions of radiotap.org: MCS, VHT, HE.
    #[test]
    fn schemes_have_fields_of_their_own() {
        let ht =
            with(Standard::Dot11n, Bandwidth::Mhz40, GuardInterval::Ns400, Mcs { scheme: 7, streams: 2 });
        assert_eq!(ht[..8], [0, 0, 48, 0, 0x2b, 0, 0x48, 8]);
        assert_eq!(ht[16..26], [0x10, 0, 0x3c, 0x14, 0x40, 0x01, 186, 0x7f, 0x15, 15]);
        let vht =
            with(Standard::Dot11ac, Bandwidth::Mhz80, GuardInterval::Ns800, Mcs { scheme: 9, streams: 3 });
        assert_eq!(vht[..8], [0, 0, 56, 0, 0x2b, 0, 0x60, 8]);
        assert_eq!(vht[22..36], [186, 0, 0x65, 0, 0, 4, 0x93, 0, 0, 0, 1, 0, 0, 0]);
        let he =
            with(Standard::Dot11ax, Bandwidth::Mhz160, GuardInterval::Ns3200, Mcs { scheme: 11, streams: 8 });
        assert_eq!(he[..8], [0, 0, 52, 0, 0x2b, 0, 0xc0, 8]);
        assert_eq!(
            (&ht[44..], &vht[52..], &he[48..]),
            (&LEGACY_LENGTH[..], &LEGACY_LENGTH[..], &LEGACY_LENGTH_HE[..])
        );
        assert_eq!(he[36..48], [0xe0, 0xc2, 0x16, 0, 0x00, 0x2b, 0, 0, 0xe3, 4, 8, 0]);
    }
    /// The A-MPDU status lies between the MCS and VHT fields, at a multiple of four bytes: reference, flags,
    /// checksum, a reserved byte.
    #[test]
    fn mpdus_of_an_a_mpdu_say_so() {
        let scheme = Mcs { scheme: 7, streams: 1 };
        let of = |standard, is_last| {
            let fields = fields(standard, Bandwidth::Mhz20, GuardInterval::Ns800, scheme);
            header_in(
                Some(Aggregate { reference: 0x0201, is_last }),
                fields,
                RadioRole::Received { dbm: None },
            )
        };
        let (ht, vht, he) =
            (of(Standard::Dot11n, false), of(Standard::Dot11ac, true), of(Standard::Dot11ax, true));
        let [more, last] = [[1, 2, 0, 0, 0x04, 0, 0, 0], [1, 2, 0, 0, 0x0c, 0, 0, 0]];
        assert_eq!(ht[..8], [0, 0, 56, 0, 0x0b, 0, 0x58, 8]);
        assert_eq!((&ht[22..25], &ht[28..36]), (&[0x7f, 0x10, 7][..], &more[..]));
        assert_eq!(vht[..8], [0, 0, 64, 0, 0x0b, 0, 0x70, 8]);
        assert_eq!((&vht[24..32], &vht[32..38]), (&last[..], &[0x65, 0, 0, 0, 0x71, 0][..]));
        assert_eq!(he[..8], [0, 0, 60, 0, 0x0b, 0, 0xd0, 8]);
        assert_eq!(
            (&he[24..32], &he[32..36], &he[44..46]),
            (&last[..], &[6, 5, 0, 0][..], &[0xe0, 0xc2][..])
        );
    }

    /// The silence at 2.4 GHz is not announced; 12 bits end at 5484 us.
    #[test]
    fn the_preamble_announces_the_airtime() {
        let how = RateField::Mcs([0; 3]);
        let of = |us| how.legacy_length(Span::from_us(us));
        assert_eq!((of(5_484), of(5_488)), ([2, 4_095 << 4], [0, 0]));
        let options = PpduOptions { band: Band::Ghz2_4, ..PpduOptions::for_standard(Standard::Dot11n) };
        let phy = Phy::new(Standard::Dot11n, Preamble::Long).with_options(options);
        let low = header(
            RateFields::new(&phy, Mcs { scheme: 7, streams: 1 }.into()),
            RadioRole::Received { dbm: None },
        );
        // 216 us: 49 symbols.
        assert_eq!(low[low.len() - 4..], [2, 0, 0, 9]);
    }

    #[test]
    fn a_wide_channel_is_named_by_its_primary() {
        let scheme = Mcs { scheme: 7, streams: 1 };
        let fields = fields(Standard::Dot11ac, Bandwidth::Mhz80, GuardInterval::Ns800, scheme);
        let channel = Channel { number: 153, width_mhz: 80, overlaps: false };
        assert_eq!((fields.mhz, fields.on(channel).mhz), (5180, 5765));
    }
}
