//! For how long a frame was on the air, by what its receiver said of it.

use crate::link_layer::{Encoding, HeEncoding, HeFormat, HtEncoding, VhtEncoding};
use crate::{Channel, Reception};
use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, Clock, HePpdu, HtPpdu, MPDU_DELIMITER, Ppdu, Preamble, VhtPpdu};

/// For how long a frame of `air_bytes` bytes, MAC header and frame check sequence included, was on the air by
/// itself, from its preamble to its last symbol.
///
/// Of a PPDU of HT and later whose sending is not known it is what the legacy preamble announced, if that was
/// reported. None where the receiver did not say enough ([`ppdu`]) or said something that cannot be. The
/// silence that belongs to OFDM frames at 2.4 GHz is not part of it: see [`txtime`]. For the frames of an
/// A-MPDU, which share a preamble, there is [`aggregate_airtime`].
pub fn airtime(reception: &Reception, air_bytes: u32) -> Option<Span> {
    match ppdu(reception) {
        Some(ppdu) => airtime_of(&ppdu, reception, air_bytes),
        None => legacy_airtime(reception),
    }
}

/// The same of a frame of which is known how it was sent, by [`ppdu`].
pub fn airtime_of(ppdu: &Ppdu, reception: &Reception, air_bytes: u32) -> Option<Span> {
    on_air(ppdu, psdu_bytes(reception, air_bytes), Band::Ghz5)
}

/// For how long an A-MPDU of frames of so many bytes was on the air: each stands behind a delimiter of four
/// bytes, and all but the last are padded to a multiple of four (9.7.1). None as for [`airtime`].
///
/// Frames that are not reported, and padding at the end, are not in it.
pub fn aggregate_airtime(ppdu: &Ppdu, air_bytes: impl IntoIterator<Item = u32>) -> Option<Span> {
    let add = |psdu: u32, frame: u32| {
        psdu.checked_next_multiple_of(4)
            .map_or(u32::MAX, |psdu| psdu.saturating_add(MPDU_DELIMITER).saturating_add(frame))
    };
    on_air(ppdu, air_bytes.into_iter().fold(0, add), Band::Ghz5)
}

/// For how long a PPDU of HT, VHT or HE was on the air, by the length in the legacy signal field of its
/// preamble: in whole symbols of 4 us, rounded up (19.3.9.3.5). None where the receiver did not say.
pub fn legacy_airtime(reception: &Reception) -> Option<Span> {
    let length = u64::from(reception.legacy_length?);
    let has_another = matches!(
        reception.encoding,
        Some(Encoding::Ht(_) | Encoding::Vht(_) | Encoding::He(_) | Encoding::Eht)
    );
    has_another.then(|| Span::from_us(20 + 4 * (length + 3).div_ceil(3)))
}

/// No frame is on the air for longer than the length field of direct sequence can say, 16 bits of
/// microseconds (15.2.3.6), and its preamble; those of other PHYs say less. A length that needs more time is
/// wrong.
const LONGEST: Span = Span::from_us(192 + 65_535);

fn on_air(ppdu: &Ppdu, bytes: u32, band: Band) -> Option<Span> {
    ppdu.airtime(bytes, band).filter(|&span| span <= LONGEST)
}

/// The same with that silence of 6 us, where the receiver named a channel at 2.4 GHz: TXTIME of the standard,
/// after which SIFS and DIFS count (18.3.2.4).
pub fn txtime(reception: &Reception, air_bytes: u32) -> Option<Span> {
    let low = reception.channel.is_some_and(Channel::is_2_4_ghz);
    let band = if low { Band::Ghz2_4 } else { Band::Ghz5 };
    on_air(&ppdu(reception)?, psdu_bytes(reception, air_bytes), band)
}

/// Bytes that a frame of `air_bytes` bytes takes in its PSDU: in an A-MPDU it stands behind a delimiter of
/// four (9.7.1), and all frames of VHT and HE are in one, if need be alone (10.13.7). In an A-MPDU, all but
/// the last are padded to a multiple of four, which is not counted here.
pub fn psdu_bytes(reception: &Reception, air_bytes: u32) -> u32 {
    let always = matches!(reception.encoding, Some(Encoding::Vht(_) | Encoding::He(_)));
    if always || reception.aggregate.is_some() { air_bytes.saturating_add(MPDU_DELIMITER) } else { air_bytes }
}

/// How a frame was sent, by what its receiver said.
///
/// What is not said is taken to be usual: long preamble, long guard intervals, mixed format, convolutional
/// coding, no space-time block coding, and for HE 0.8 us of guard interval with training symbols of 6.4 us.
/// Rate, scheme, streams and bandwidth are not guessed: without them there is nothing. Nor is there of HE
/// frames to or from several users, whose length is not that of one of them.
pub fn ppdu(reception: &Reception) -> Option<Ppdu> {
    match reception.encoding? {
        Encoding::Legacy(rate) => Some(legacy(rate, reception.preamble, reception.channel)),
        Encoding::Ht(encoding) => ht(encoding).map(Ppdu::Ht),
        Encoding::Vht(encoding) => vht(encoding).map(Ppdu::Vht),
        Encoding::He(encoding) => he(encoding).map(Ppdu::He),
        Encoding::Eht => None,
    }
}

/// Frequency hopping has 1 and 2 Mb/s as direct sequence has: that the channel says. The rates of direct
/// sequence are none of those of OFDM, but for 5.5 and 11 Mb/s, which OFDM has not even at half its clock,
/// and 1 and 2 Mb/s, which it has not at a quarter.
fn legacy(rate: Rate, preamble: Option<Preamble>, channel: Option<Channel>) -> Ppdu {
    let hops = channel.is_some_and(Channel::is_gfsk);
    match rate.bps() / 1_000 {
        1_000 | 2_000 if hops => Ppdu::Fhss { rate },
        1_000 | 2_000 | 5_500 | 11_000 => Ppdu::Dsss { rate, preamble: preamble.unwrap_or(Preamble::Long) },
        _ => {
            let clock = match channel {
                Some(channel) if channel.is_half() => Clock::Half,
                Some(channel) if channel.is_quarter() => Clock::Quarter,
                _ => Clock::Full,
            };
            // The field of rates counts 500 kb/s: 2.25 Mb/s is written as 2.5 Mb/s, which OFDM has not.
            let rounded = clock == Clock::Quarter && rate == Rate::from_kbps(2_500);
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
    // Only the lowest schemes at up to 20 MHz may do without it.
    let usual_ldpc = !matches!(bandwidth, Bandwidth::Mhz20 | Bandwidth::Tones106);
    let ns = |ns: Option<u16>, usual| Span::from_ns(ns.map_or(usual, u64::from));
    Some(HePpdu {
        mcs: encoding.mcs?,
        streams: encoding.streams?,
        bandwidth,
        guard: ns(encoding.guard_ns, 800),
        training: ns(encoding.training_ns, 6_400),
        extended_range: encoding.format == HeFormat::ExtendedRange,
        dual_carrier: encoding.dual_carrier.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or(usual_ldpc),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kbps: u64, mhz: u16, flags: u32) -> Reception {
        Reception {
            encoding: Some(Encoding::Legacy(Rate::from_kbps(kbps))),
            channel: Some(Channel { mhz, flags }),
            ..Reception::default()
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
        let short = Reception { preamble: Some(Preamble::Short), ..cck };
        assert_eq!(us(txtime(&short, 14)), Some(107));
    }

    #[test]
    fn frames_of_an_a_mpdu_share_a_preamble_and_are_padded() {
        let ht = HtEncoding { mcs: Some(7), bandwidth: Some(Bandwidth::Mhz20), ..HtEncoding::default() };
        let how = ppdu(&Reception { encoding: Some(Encoding::Ht(ht)), ..Reception::default() }).unwrap();
        // (4 + 1501 + 3) + (4 + 1501 + 3) + (4 + 41) = 3061 bytes, 24510 bits with service and tail, 95 symbols of 260.
        assert_eq!(us(aggregate_airtime(&how, [1_501, 1_501, 41])), Some(36 + 95 * 4));
        // Without the padding it would be 3055 bytes: 94.1 symbols, as many. 10 bytes less are one symbol less, with it 95 still.
        assert_eq!(us(aggregate_airtime(&how, [1_501, 1_501, 31])), Some(36 + 94 * 4));
        assert_eq!(us(aggregate_airtime(&how, [100])), Some(36 + 4 * 4), "one: 104 bytes, 854 bits");
        assert_eq!(us(aggregate_airtime(&how, [])), Some(36 + 4));
        assert_eq!(aggregate_airtime(&how, [u32::MAX, 7]), None);
    }

    #[test]
    fn the_legacy_preamble_announces_the_airtime() {
        let of = |encoding, length| {
            legacy_airtime(&Reception {
                encoding: Some(encoding),
                legacy_length: Some(length),
                ..Reception::default()
            })
        };
        let [ht, he] = [Encoding::Ht(HtEncoding::default()), Encoding::He(HeEncoding::default())];
        // 51 symbols; HE has a length that is no multiple of three.
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
        let with = |encoding| Reception { encoding: Some(encoding), ..Reception::default() };
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
        assert_eq!(airtime(&Reception::default(), 100), None);
    }
}
