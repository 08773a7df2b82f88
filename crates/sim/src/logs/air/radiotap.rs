//! Radiotap header of each frame (radiotap.org, "defined fields").

use crate::config::Channel;
use multihop_core::Span;
use multihop_dot11::{Band, Bandwidth, DataRate, HePpdu, HtPpdu, OfdmClock, Phy, Ppdu, VhtPpdu};

/// Returns the size of the longest header, with or without fields of MCS, VHT and HE.
pub(super) const fn longest(has_mcs: bool) -> usize {
    if has_mcs { 64 } else { 36 }
}

// Bits of the "present" word, in the order of their fields.
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

/// Unit and position of the timestamp: nanoseconds, at the last bit of the PPDU.
const TIMESTAMP_UNIT_AND_POSITION: u8 = 0x23;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// The captured frame includes its FCS.
const FLAG_FCS: u8 = 0x10;

const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// GFSK, the modulation of frequency hopping.
const CHANNEL_GFSK: u16 = 0x0800;
/// Half and quarter of the OFDM clock.
const CHANNEL_HALF: u16 = 0x4000;
const CHANNEL_QUARTER: u16 = 0x8000;

/// Flags of the A-MPDU status: the last MPDU is known; this MPDU is the last.
const LAST_IS_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// Flag of the L-SIG field: the length is known.
const LENGTH_IS_KNOWN: u16 = 0x0002;

/// Transmission after a CTS-to-self.
pub(super) const TX_WITH_CTS: u16 = 0x0002;
/// Transmission after RTS and CTS.
pub(super) const TX_WITH_RTS: u16 = 0x0004;
/// Transmission without acknowledgement.
pub(super) const TX_WITHOUT_ACK: u16 = 0x0008;

/// Radiotap fields that all frames at one rate share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RateFields {
    flags: u8,
    mhz: u16,
    channel: u16,
    rate: RateField,
    /// Signal extension, which belongs to a frame but not to the duration that its preamble announces.
    signal_extension: Span,
}

/// Field of the rate or modulation and coding scheme of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RateField {
    /// Rate in units of 500 kb/s, rounded up like Linux does for 2.25 Mb/s in 5 MHz.
    Rate(u8),
    Mcs([u8; 3]),
    Vht([u8; 12]),
    He([u8; 12]),
}

impl RateFields {
    /// Returns the fields of a rate on channel 1 at 2.4 GHz or channel 36 at 5 GHz. The channel flags are
    /// those of the frame's modulation, by which Linux distinguishes 802.11g frames from 802.11b frames.
    /// Frequency hopping is captured as one fixed channel.
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
        let (field, is_short) = match rate {
            DataRate::Bits(rate) => {
                (RateField::Rate(rate.bps().div_ceil(500_000) as u8), phy.has_short_preamble(rate))
            }
            DataRate::Mcs(mcs) => {
                (RateField::from_ppdu(&phy.ppdu(mcs).expect("the MCS belongs to the PHY")), false)
            }
        };
        let flags = FLAG_FCS | if is_short { FLAG_SHORT_PREAMBLE } else { 0 };
        let signal_extension =
            Span::from_us(if phy.options().band == Band::Ghz2_4 { SIGNAL_EXTENSION_US } else { 0 });
        let clock = match phy.options().bandwidth.clock() {
            OfdmClock::Full => 0,
            OfdmClock::Half => CHANNEL_HALF,
            OfdmClock::Quarter => CHANNEL_QUARTER,
        };
        RateFields { flags, mhz, channel: band | kind | clock, rate: field, signal_extension }
    }

    /// Returns the fields on another channel of the band. Radiotap names the centre frequency of the primary
    /// channel of 20 MHz.
    pub(super) fn on(self, channel: Channel) -> RateFields {
        RateFields { mhz: Channel { width_mhz: 20, ..channel }.centre_mhz() as u16, ..self }
    }
}

impl RateField {
    fn from_ppdu(ppdu: &Ppdu) -> RateField {
        match ppdu {
            Ppdu::Ht(ppdu) => RateField::Mcs(ht(*ppdu)),
            Ppdu::Vht(ppdu) => RateField::Vht(vht(*ppdu)),
            Ppdu::He(ppdu) => RateField::He(he(ppdu)),
            Ppdu::Fhss { .. } | Ppdu::Dsss { .. } | Ppdu::Ofdm { .. } => {
                unreachable!("these PPDUs have no MCS")
            }
        }
    }

    /// Returns the bit of the field in the "present" word, with that of the L-SIG field.
    fn present_bits(&self) -> u32 {
        match self {
            RateField::Rate(_) => RATE,
            RateField::Mcs(_) => MCS | L_SIG,
            RateField::Vht(_) => VHT | L_SIG,
            RateField::He(_) => HE | L_SIG,
        }
    }

    /// Returns the L-SIG field for a PPDU of an airtime: the length at 6 Mb/s that announces this airtime,
    /// which in HE is no multiple of three (19.3.9.3.5, 21.3.8.2.4; 802.11ax-2021, 27.3.11.5). A length of
    /// more than 12 bits is "not known".
    fn legacy_length(&self, airtime: Span) -> [u16; 2] {
        const SYMBOL: Span = Span::from_us(4);
        const PREAMBLE: Span = Span::from_us(20);
        let symbols = airtime.saturating_sub(PREAMBLE).rounded_up(SYMBOL).whole(SYMBOL);
        let reduction = if matches!(self, RateField::He(_)) { 2 } else { 0 };
        let length = (3 * symbols).saturating_sub(3 + reduction);
        if length < 1 << 12 { [LENGTH_IS_KNOWN, (length as u16) << 4] } else { [0; 2] }
    }
}

/// Signal extension of OFDM at 2.4 GHz (19.3.2.4.2).
const SIGNAL_EXTENSION_US: u64 = 6;

/// Returns `known`, `flags` and `mcs` of the MCS field. All subfields are known; STBC and extension streams
/// are not used.
fn ht(ppdu: HtPpdu) -> [u8; 3] {
    let is_40_mhz = u8::from(ppdu.bandwidth == Bandwidth::Mhz40);
    [0x7f, is_40_mhz | u8::from(ppdu.short_gi) << 2 | u8::from(ppdu.ldpc) << 4, ppdu.mcs]
}

/// Returns the VHT field. Known: STBC, guard interval, beamforming, bandwidth; MCS, streams and coding of the
/// first user.
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

/// Returns the HE field of a single-user PPDU. Known: MCS, dual-carrier modulation, coding, STBC, bandwidth,
/// Doppler, guard interval, number of HE-LTF symbols, beamforming.
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
    // HE-LTF symbols of 6.4 us are "2x", those of 12.8 us "4x".
    let training = if ppdu.training.ns() == 12_800 { 3 } else { 2 };
    // 1, 2, 4, 6 or 8 HE-LTF symbols by streams (802.11ax-2021, table 27-14) have the codes 0 to 4.
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

/// Event at a radio that a packet of the capture records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Observation {
    /// Reception.
    Received {
        /// Power at the antenna in dBm; none if the medium computes no powers.
        dbm: Option<i8>,
    },
    /// Transmission.
    Sent {
        /// Any of `TX_WITH_CTS`, `TX_WITH_RTS` and `TX_WITHOUT_ACK`.
        flags: u16,
    },
}

/// Times of a PPDU at an antenna.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// Time of the first bit behind preamble and PLCP header, in microseconds; equal for all MPDUs of an
    /// A-MPDU.
    pub tsft_us: u64,
    /// Time of the last bit, in nanoseconds.
    pub end_ns: u64,
    /// Airtime of the PPDU.
    pub airtime: Span,
}

/// Position of an MPDU in an A-MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Aggregate {
    /// Reference number that identifies the A-MPDU.
    pub reference: u32,
    /// Whether the MPDU is the last one.
    pub is_last: bool,
}

/// Appends a header. The timestamp field contains the end of the frame, like the packet's time, but names its
/// position; TSFT has no fractions of microseconds. The CRCs of A-MPDU delimiters are "not known".
pub(super) fn put(
    out: &mut Vec<u8>,
    stamps: Stamps,
    fields: RateFields,
    aggregate: Option<Aggregate>,
    observation: Observation,
) {
    let start = out.len();
    let event_bits = match observation {
        Observation::Received { dbm: None } => 0,
        Observation::Received { dbm: Some(_) } => ANTENNA_SIGNAL,
        Observation::Sent { .. } => TX_FLAGS,
    };
    out.extend([0; 4]);
    let event_bits = event_bits | if aggregate.is_some() { A_MPDU_STATUS } else { 0 };
    out.extend((TSFT | FLAGS | CHANNEL | fields.rate.present_bits() | event_bits | TIMESTAMP).to_le_bytes());
    out.extend(stamps.tsft_us.to_le_bytes());
    out.push(fields.flags);
    if let RateField::Rate(rate) = fields.rate {
        out.push(rate);
    }
    align(out, start, 2);
    out.extend(fields.mhz.to_le_bytes());
    out.extend(fields.channel.to_le_bytes());
    match observation {
        Observation::Received { dbm } => out.extend(dbm.map(i8::to_le_bytes).into_iter().flatten()),
        Observation::Sent { flags } => out.extend(flags.to_le_bytes()),
    }
    if let RateField::Mcs(bytes) = fields.rate {
        out.extend(bytes);
    }
    if let Some(Aggregate { reference, is_last }) = aggregate {
        align(out, start, 4);
        out.extend(reference.to_le_bytes());
        out.extend((LAST_IS_KNOWN | if is_last { IS_LAST } else { 0 }).to_le_bytes());
        out.extend([0; 2]);
    }
    if let RateField::Vht(bytes) = fields.rate {
        align(out, start, 2);
        out.extend(bytes);
    }
    align(out, start, 8);
    out.extend(stamps.end_ns.to_le_bytes());
    // The accuracy is not given; the last byte contains flags.
    out.extend([0, 0, TIMESTAMP_UNIT_AND_POSITION, 0]);
    if let RateField::He(bytes) = fields.rate {
        out.extend(bytes);
    }
    if fields.rate.present_bits() & L_SIG != 0 {
        let words = fields.rate.legacy_length(stamps.airtime.saturating_sub(fields.signal_extension));
        out.extend(words.into_iter().flat_map(u16::to_le_bytes));
    }
    let length = ((out.len() - start) as u16).to_le_bytes();
    out[start + 2..start + 4].copy_from_slice(&length);
}

/// Pads to a multiple of a field's size, counted from the start of the header.
fn align(out: &mut Vec<u8>, start: usize, size: usize) {
    out.resize(start + (out.len() - start).next_multiple_of(size), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rate;
    use multihop_dot11::{Coding, GuardInterval, Mcs, PpduOptions, Preamble, Standard};

    /// 222 us are a preamble of 20 us and 50.5 symbols of 4 us, rounded up to 51.
    const STAMPS: Stamps = Stamps { tsft_us: 0x0102, end_ns: 0x0506, airtime: Span::from_us(222) };
    /// Length 51 * 3 - 3 = 150.
    const LEGACY_LENGTH: [u8; 4] = [2, 0, 0x60, 0x09];
    /// Length 148, 2 less in HE.
    const LEGACY_LENGTH_HE: [u8; 4] = [2, 0, 0x40, 0x09];

    fn header(fields: RateFields, observation: Observation) -> Vec<u8> {
        header_in(None, fields, observation)
    }

    fn header_in(aggregate: Option<Aggregate>, fields: RateFields, observation: Observation) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, STAMPS, fields, aggregate, observation);
        assert!(out.len() <= longest(!matches!(fields.rate, RateField::Rate(_))));
        out
    }

    #[test]
    fn every_field_is_aligned() {
        let phy = Phy::new(Standard::Dot11b, Preamble::Short);
        let fields = RateFields::new(&phy, Rate::from_kbps(5_500).into());
        let common = [2, 1, 0, 0, 0, 0, 0, 0, 0x12, 11, 0x6c, 0x09, 0xa0, 0x00];
        let stamp = [6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x23, 0];
        let heard = header(fields, Observation::Received { dbm: Some(-70) });
        assert_eq!(heard[..8], [0, 0, 36, 0, 0x2f, 0, 0x40, 0]);
        assert_eq!(heard[8..22], common);
        assert_eq!(heard[22..24], [186, 0]);
        assert_eq!(heard[24..], stamp);
        let powerless = header(fields, Observation::Received { dbm: None });
        assert_eq!((powerless.len(), powerless[4]), (36, 0x0f));
        assert_eq!(powerless[22..24], [0, 0]);
        let sent = header(fields, Observation::Sent { flags: TX_WITH_RTS });
        assert_eq!(sent[..8], [0, 0, 36, 0, 0x0f, 0x80, 0x40, 0]);
        assert_eq!(sent[8..22], common);
        assert_eq!(sent[22..24], [4, 0]);
        assert_eq!(sent[24..], stamp);
    }

    #[test]
    fn the_channel_flags_are_those_of_the_modulation() {
        let of = |standard, kbps| {
            let fields = RateFields::new(&Phy::new(standard, Preamble::Short), Rate::from_kbps(kbps).into());
            let RateField::Rate(rate) = fields.rate else { panic!("{fields:?}") };
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
    fn narrow_channels_have_flags() {
        let of = |bandwidth, kbps| {
            let phy = Phy::new(Standard::Dot11a, Preamble::Long);
            let phy = phy.with_options(PpduOptions { bandwidth, ..phy.options() });
            let fields = RateFields::new(&phy, Rate::from_kbps(kbps).into());
            (fields.channel, fields.rate)
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
        header(fields(standard, bandwidth, guard, mcs), Observation::Received { dbm: Some(-70) })
    }

    /// Definitions of radiotap.org: MCS, VHT, HE.
    #[test]
    fn mcs_vht_and_he_have_separate_fields() {
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

    /// The status follows the MCS field and precedes the VHT field, aligned to four bytes: reference, flags,
    /// delimiter CRC, one reserved byte.
    #[test]
    fn mpdus_of_an_a_mpdu_have_a_status() {
        let scheme = Mcs { scheme: 7, streams: 1 };
        let of = |standard, is_last| {
            let fields = fields(standard, Bandwidth::Mhz20, GuardInterval::Ns800, scheme);
            header_in(
                Some(Aggregate { reference: 0x0201, is_last }),
                fields,
                Observation::Received { dbm: None },
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

    /// The airtime excludes the signal extension at 2.4 GHz. The limit of 12 bits is 5484 us.
    #[test]
    fn the_preamble_announces_the_airtime() {
        let field = RateField::Mcs([0; 3]);
        let of = |us| field.legacy_length(Span::from_us(us));
        assert_eq!((of(5_484), of(5_488)), ([2, 4_095 << 4], [0, 0]));
        let options = PpduOptions { band: Band::Ghz2_4, ..PpduOptions::for_standard(Standard::Dot11n) };
        let phy = Phy::new(Standard::Dot11n, Preamble::Long).with_options(options);
        let low = header(
            RateFields::new(&phy, Mcs { scheme: 7, streams: 1 }.into()),
            Observation::Received { dbm: None },
        );
        // 216 us: 49 symbols.
        assert_eq!(low[low.len() - 4..], [2, 0, 0, 9]);
    }

    #[test]
    fn a_wide_channel_has_the_frequency_of_its_primary_channel() {
        let scheme = Mcs { scheme: 7, streams: 1 };
        let fields = fields(Standard::Dot11ac, Bandwidth::Mhz80, GuardInterval::Ns800, scheme);
        let channel = Channel { number: 153, width_mhz: 80, overlaps: false };
        assert_eq!((fields.mhz, fields.on(channel).mhz), (5180, 5765));
    }
}
