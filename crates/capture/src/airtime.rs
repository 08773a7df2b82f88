//! Airtime of a captured frame, from what its receiver reported.

use crate::link_layer::{Encoding, HeEncoding, HeFormat, HtEncoding, VhtEncoding};
use crate::{RadioChannel, RxInfo};
use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, HePpdu, HtPpdu, MPDU_DELIMITER, OfdmClock, Ppdu, Preamble, VhtPpdu};

/// Airtime of a single frame of `air_bytes` bytes, MAC header and frame check sequence included, from its
/// preamble to its last symbol.
///
/// For a PPDU of HT or later with unknown format, the airtime is taken from the legacy signal field, if the
/// receiver reported it. None if the receiver reported too little ([`ppdu`]) or impossible values. The signal
/// extension of OFDM at 2.4 GHz is not included: see [`txtime`]. For the frames of an A-MPDU, which share a
/// preamble, see [`aggregate_airtime`].
pub fn airtime(reception: &RxInfo, air_bytes: u32) -> Option<Span> {
    match ppdu(reception) {
        Some(ppdu) => airtime_of(&ppdu, reception, air_bytes),
        None => legacy_airtime(reception),
    }
}

/// Airtime of a frame whose PPDU format is known from [`ppdu`].
pub fn airtime_of(ppdu: &Ppdu, reception: &RxInfo, air_bytes: u32) -> Option<Span> {
    bounded_airtime(ppdu, psdu_bytes(reception, air_bytes), Band::Ghz5)
}

/// Airtime of an A-MPDU of frames of these sizes. Each frame follows a delimiter of four bytes, and all but
/// the last are padded to a multiple of four (9.7.1). None as for [`airtime`].
///
/// Frames that the receiver did not report, and padding at the end, are not included.
pub fn aggregate_airtime(ppdu: &Ppdu, air_bytes: impl IntoIterator<Item = u32>) -> Option<Span> {
    let add = |psdu: u32, frame: u32| {
        psdu.checked_next_multiple_of(4)
            .map_or(u32::MAX, |psdu| psdu.saturating_add(MPDU_DELIMITER).saturating_add(frame))
    };
    bounded_airtime(ppdu, air_bytes.into_iter().fold(0, add), Band::Ghz5)
}

/// Airtime of a PPDU of HT, VHT or HE from the length in its legacy signal field, in whole symbols of 4 us,
/// rounded up (19.3.9.3.5). None if the receiver did not report the length.
pub fn legacy_airtime(reception: &RxInfo) -> Option<Span> {
    let length = u64::from(reception.legacy_length?);
    let has_another = matches!(
        reception.encoding,
        Some(Encoding::Ht(_) | Encoding::Vht(_) | Encoding::He(_) | Encoding::Eht)
    );
    has_another.then(|| Span::from_us(20 + 4 * (length + 3).div_ceil(3)))
}

/// Longest possible airtime: the length field of direct sequence counts 16 bits of microseconds (15.2.3.6),
/// plus its preamble. Other PHYs have shorter limits, so that a larger result means a wrong length.
const MAX_AIRTIME: Span = Span::from_us(192 + 65_535);

fn bounded_airtime(ppdu: &Ppdu, bytes: u32, band: Band) -> Option<Span> {
    ppdu.airtime(bytes, band).filter(|&span| span <= MAX_AIRTIME)
}

/// TXTIME of the standard, after which SIFS and DIFS count (18.3.2.4): the airtime, and the signal extension
/// of 6 us if the receiver reported a channel at 2.4 GHz.
pub fn txtime(reception: &RxInfo, air_bytes: u32) -> Option<Span> {
    let low = reception.channel.is_some_and(RadioChannel::is_2_4_ghz);
    let band = if low { Band::Ghz2_4 } else { Band::Ghz5 };
    bounded_airtime(&ppdu(reception)?, psdu_bytes(reception, air_bytes), band)
}

/// PSDU bytes of a frame of `air_bytes` bytes. In an A-MPDU a delimiter of four bytes precedes the frame
/// (9.7.1); VHT and HE always send an A-MPDU, even of one frame (10.13.7). Padding between frames is not
/// counted.
pub fn psdu_bytes(reception: &RxInfo, air_bytes: u32) -> u32 {
    let always = matches!(reception.encoding, Some(Encoding::Vht(_) | Encoding::He(_)));
    if always || reception.aggregate.is_some() { air_bytes.saturating_add(MPDU_DELIMITER) } else { air_bytes }
}

/// PPDU format of a frame, from what its receiver reported.
///
/// Options that the receiver did not report have their usual values: long preamble, long guard intervals,
/// mixed format, convolutional coding, no space-time block coding, and for HE guard intervals of 0.8 us with
/// training symbols of 6.4 us. Rate, scheme, streams and bandwidth are not guessed; without them the result
/// is none. It is also none for multi-user HE frames, whose length is not that of one user's frame.
pub fn ppdu(reception: &RxInfo) -> Option<Ppdu> {
    match reception.encoding? {
        Encoding::Legacy(rate) => Some(legacy_ppdu(rate, reception.preamble, reception.channel)),
        Encoding::Ht(encoding) => ht(encoding).map(Ppdu::Ht),
        Encoding::Vht(encoding) => vht(encoding).map(Ppdu::Vht),
        Encoding::He(encoding) => he(encoding).map(Ppdu::He),
        Encoding::Eht => None,
    }
}

/// PPDU format of a legacy rate. 1 and 2 Mb/s are direct sequence or, by the channel flags, frequency
/// hopping. The other rates of direct sequence, 5.5 and 11 Mb/s, do not exist in OFDM at half clock, nor 1
/// and 2 Mb/s at quarter clock.
fn legacy_ppdu(rate: Rate, preamble: Option<Preamble>, channel: Option<RadioChannel>) -> Ppdu {
    let hops = channel.is_some_and(RadioChannel::is_gfsk);
    match rate.bps() / 1_000 {
        1_000 | 2_000 if hops => Ppdu::Fhss { rate },
        1_000 | 2_000 | 5_500 | 11_000 => Ppdu::Dsss { rate, preamble: preamble.unwrap_or(Preamble::Long) },
        _ => {
            let clock = match channel {
                Some(channel) if channel.is_half() => OfdmClock::Half,
                Some(channel) if channel.is_quarter() => OfdmClock::Quarter,
                _ => OfdmClock::Full,
            };
            // The rate field counts 500 kb/s: 2.25 Mb/s is reported as 2.5 Mb/s, which OFDM does not have.
            let rounded = clock == OfdmClock::Quarter && rate == Rate::from_kbps(2_500);
            Ppdu::Ofdm { rate: if rounded { Rate::from_kbps(2_250) } else { rate }, clock }
        }
    }
}

fn ht(encoding: HtEncoding) -> Option<HtPpdu> {
    Some(HtPpdu {
        mcs: encoding.mcs?,
        bandwidth: encoding.bandwidth?,
        short_gi: encoding.short_gi.unwrap_or_default(),
        greenfield: encoding.greenfield.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or_default(),
        extension_streams: encoding.extension_streams.unwrap_or_default(),
    })
}

fn vht(encoding: VhtEncoding) -> Option<VhtPpdu> {
    Some(VhtPpdu {
        mcs: encoding.mcs?,
        streams: encoding.streams?,
        bandwidth: encoding.bandwidth?,
        short_gi: encoding.short_gi.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or_default(),
        ldpc_extra_symbol: encoding.ldpc_extra_symbol,
    })
}

fn he(encoding: HeEncoding) -> Option<HePpdu> {
    if matches!(encoding.format, HeFormat::MultiUser | HeFormat::TriggerBased) {
        return None;
    }
    let bandwidth = encoding.bandwidth?;
    // LDPC is optional only for the lowest schemes in up to 20 MHz.
    let default_ldpc = !matches!(bandwidth, Bandwidth::Mhz20 | Bandwidth::Tones106);
    let ns = |ns: Option<u16>, default| Span::from_ns(ns.map_or(default, u64::from));
    Some(HePpdu {
        mcs: encoding.mcs?,
        streams: encoding.streams?,
        bandwidth,
        guard: ns(encoding.guard_ns, 800),
        training: ns(encoding.training_ns, 6_400),
        extended_range: encoding.format == HeFormat::ExtendedRange,
        dual_carrier: encoding.dual_carrier.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or(default_ldpc),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kbps: u64, mhz: u16, flags: u32) -> RxInfo {
        RxInfo {
            encoding: Some(Encoding::Legacy(Rate::from_kbps(kbps))),
            channel: Some(RadioChannel { mhz, flags }),
            ..RxInfo::default()
        }
    }

    fn us(span: Option<Span>) -> Option<u64> {
        span.map(|span| span.ns() / 1_000)
    }

    #[test]
    fn the_silence_is_part_of_txtime_only() {
        let low = at(54_000, 2_437, 0xc0);
        assert_eq!((us(airtime(&low, 1_528)), us(txtime(&low, 1_528))), (Some(248), Some(254)));
        let high = at(54_000, 5_180, 0x140);
        assert_eq!(us(txtime(&high, 1_528)), Some(248));
        let cck = at(11_000, 2_437, 0xa0);
        assert_eq!(us(txtime(&cck, 14)), Some(203), "long preamble where none is stated");
        let short = RxInfo { preamble: Some(Preamble::Short), ..cck };
        assert_eq!(us(txtime(&short, 14)), Some(107));
    }

    #[test]
    fn frames_of_an_a_mpdu_share_a_preamble_and_are_padded() {
        let ht = HtEncoding { mcs: Some(7), bandwidth: Some(Bandwidth::Mhz20), ..HtEncoding::default() };
        let how = ppdu(&RxInfo { encoding: Some(Encoding::Ht(ht)), ..RxInfo::default() }).unwrap();
        // (4 + 1501 + 3) + (4 + 1501 + 3) + (4 + 41) = 3061 bytes, 24510 bits with service and tail, 95
        // symbols of 260 bits.
        assert_eq!(us(aggregate_airtime(&how, [1_501, 1_501, 41])), Some(36 + 95 * 4));
        // Without padding, 10 bytes less would still take 94 symbols: 3055 bytes are 94.1 symbols.
        assert_eq!(us(aggregate_airtime(&how, [1_501, 1_501, 31])), Some(36 + 94 * 4));
        assert_eq!(us(aggregate_airtime(&how, [100])), Some(36 + 4 * 4), "one: 104 bytes, 854 bits");
        assert_eq!(us(aggregate_airtime(&how, [])), Some(36 + 4));
        assert_eq!(aggregate_airtime(&how, [u32::MAX, 7]), None);
    }

    #[test]
    fn the_legacy_preamble_announces_the_airtime() {
        let of = |encoding, length| {
            legacy_airtime(&RxInfo {
                encoding: Some(encoding),
                legacy_length: Some(length),
                ..RxInfo::default()
            })
        };
        let [ht, he] = [Encoding::Ht(HtEncoding::default()), Encoding::He(HeEncoding::default())];
        // 51 symbols. The HE length is not a multiple of three.
        assert_eq!(
            (us(of(ht, 150)), us(of(he, 148)), us(of(ht, 4_095))),
            (Some(224), Some(224), Some(5_484))
        );
        assert_eq!(of(Encoding::Legacy(Rate::from_kbps(6_000)), 150), None, "there it is the frame's own");
    }

    #[test]
    fn no_frame_takes_longer_than_its_length_field_can_say() {
        let slow = at(1_000, 2_437, 0xa0);
        assert_eq!(us(airtime(&slow, 8_191)), Some(192 + 65_528));
        assert_eq!(airtime(&slow, 8_192), None);
        assert_eq!(txtime(&at(6_000, 2_437, 0), u32::MAX), None);
    }

    #[test]
    fn frequency_hopping_is_known_by_its_channel() {
        // 112 symbols and 4 of whitening; 6112 and 191; behind 128 us of preamble and header.
        assert_eq!(us(airtime(&at(1_000, 2_412, 0x880), 14)), Some(128 + 112 + 4));
        assert_eq!(us(txtime(&at(2_000, 2_412, 0x880), 1_528)), Some(128 + 6_112 + 191));
        assert_eq!(us(airtime(&at(11_000, 2_412, 0x880), 14)), Some(203), "it has no 11 Mb/s");
    }

    #[test]
    fn narrow_channels_are_slower() {
        assert_eq!(us(airtime(&at(27_000, 5_890, 1 << 14), 1_528)), Some(496));
        assert_eq!(us(airtime(&at(27_000, 5_890, 0), 1_528)), None, "no rate at full clock");
        assert_eq!(us(airtime(&at(13_500, 5_890, 1 << 15), 1_528)), Some(992));
        // 12246 bits in symbols of 36 bits and 16 us.
        assert_eq!(us(airtime(&at(2_500, 5_890, 1 << 15), 1_528)), Some(80 + 341 * 16), "2.25 Mb/s");
    }

    #[test]
    fn schemes_need_their_bandwidth_and_streams() {
        let with = |encoding| RxInfo { encoding: Some(encoding), ..RxInfo::default() };
        let ht = HtEncoding { mcs: Some(7), bandwidth: Some(Bandwidth::Mhz20), ..HtEncoding::default() };
        assert_eq!(us(airtime(&with(Encoding::Ht(ht)), 1_500)), Some(36 + 188));
        let unknown = HtEncoding { bandwidth: None, ..ht };
        assert_eq!(airtime(&with(Encoding::Ht(unknown)), 1_500), None);
        let vht = VhtEncoding {
            mcs: Some(9),
            streams: Some(1),
            bandwidth: Some(Bandwidth::Mhz80),
            ..VhtEncoding::default()
        };
        assert_eq!(us(airtime(&with(Encoding::Vht(vht)), 3_000)), Some(40 + 64));
        let he = HeEncoding {
            mcs: Some(0),
            streams: Some(1),
            bandwidth: Some(Bandwidth::Mhz20),
            ldpc: Some(true),
            ..HeEncoding::default()
        };
        let by_itself = Span::from_ns(36_000 + 7_200 + 7 * 13_600);
        assert_eq!(airtime(&with(Encoding::He(he)), 96), Some(by_itself), "816 bits with the delimiter");
        assert!(
            airtime(&with(Encoding::He(he)), 97) > Some(by_itself),
            "824 bits, and 819 fit into 7 symbols"
        );
        let several = HeEncoding { format: HeFormat::MultiUser, ..he };
        assert_eq!(airtime(&with(Encoding::He(several)), 100), None);
        assert_eq!(airtime(&RxInfo::default(), 100), None);
    }
}
