//! The radiotap fields for HT, VHT and HE, each with a mask of known values.

use super::super::{HeEncoding, HeFormat, HtEncoding, VhtEncoding};
use crate::bytes::{ByteOrder, bit, field};
use multihop_dot11::Bandwidth;

/// The MCS field: known, flags, MCS.
pub(super) fn ht(bytes: &[u8]) -> HtEncoding {
    let [known, flags, mcs] = [bytes[0], bytes[1], bytes[2]].map(u16::from);
    HtEncoding {
        mcs: bit(known, 1).then_some(mcs as u8),
        // 2 and 3 are the lower and the upper half of 40 MHz.
        bandwidth: bit(known, 0).then(|| match field(flags, 0, 2) {
            1 => Bandwidth::Mhz40,
            _ => Bandwidth::Mhz20,
        }),
        short_gi: bit(known, 2).then(|| bit(flags, 2)),
        greenfield: bit(known, 3).then(|| bit(flags, 3)),
        ldpc: bit(known, 4).then(|| bit(flags, 4)),
        stbc: bit(known, 5).then(|| field(flags, 5, 2)),
        // The highest bits of both bytes form this number.
        extension_streams: bit(known, 6).then(|| field(known, 7, 1) * 2 + field(flags, 7, 1)),
    }
}

/// The VHT field: known, flags, bandwidth, MCS and streams of four users, coding, group, partial AID.
pub(super) fn vht(bytes: &[u8]) -> VhtEncoding {
    let known = ByteOrder::Little.u16(bytes, 0).unwrap_or_default();
    let flags = u16::from(bytes[2]);
    let users = bytes[4..8].iter().filter(|user| *user & 0x0f != 0).count() as u8;
    let first = bytes[4..8].iter().position(|user| user & 0x0f != 0);
    VhtEncoding {
        mcs: first.map(|user| bytes[4 + user] >> 4),
        streams: first.map(|user| bytes[4 + user] & 0x0f),
        bandwidth: bit(known, 6).then(|| vht_bandwidth(bytes[3])).flatten(),
        short_gi: bit(known, 2).then(|| bit(flags, 2)),
        ldpc: first.map(|user| bit(bytes[8], user as u32)),
        ldpc_extra_symbol: bit(known, 4).then(|| bit(flags, 4)),
        stbc: bit(known, 0).then(|| bit(flags, 0)),
        users,
    }
}

/// Bandwidth of a VHT code. Each width is followed by the codes of its parts.
fn vht_bandwidth(code: u8) -> Option<Bandwidth> {
    match code & 0x1f {
        0 | 2..=3 | 7..=10 | 18..=25 => Some(Bandwidth::Mhz20),
        1 | 5..=6 | 14..=17 => Some(Bandwidth::Mhz40),
        4 | 12..=13 => Some(Bandwidth::Mhz80),
        11 => Some(Bandwidth::Mhz160),
        _ => None,
    }
}

/// The HE field: six words, of which the first two are the mask of known values.
pub(super) fn he(bytes: &[u8]) -> HeEncoding {
    let word = |n: usize| ByteOrder::Little.u16(bytes, 2 * (n - 1)).unwrap_or_default();
    let (known, more_known) = (word(1), word(2));
    HeEncoding {
        format: match field(known, 0, 2) {
            0 => HeFormat::SingleUser,
            1 => HeFormat::ExtendedRange,
            2 => HeFormat::MultiUser,
            _ => HeFormat::TriggerBased,
        },
        mcs: bit(known, 5).then(|| field(word(3), 8, 4)),
        streams: Some(field(word(6), 0, 4)).filter(|streams| *streams != 0),
        bandwidth: bit(known, 14).then(|| he_bandwidth(field(word(5), 0, 4))).flatten(),
        guard_ns: [Some(800), Some(1_600), Some(3_200), None][usize::from(field(word(5), 4, 2))]
            .filter(|_| bit(more_known, 1)),
        training_ns: [None, Some(3_200), Some(6_400), Some(12_800)][usize::from(field(word(5), 6, 2))],
        dual_carrier: bit(known, 6).then(|| bit(word(3), 12)),
        ldpc: bit(known, 7).then(|| bit(word(3), 13)),
        stbc: bit(known, 9).then(|| bit(word(3), 15)),
    }
}

/// Bandwidth of an HE code. Resource units of 242, 484, 996 and 2 * 996 tones fill channels of 20 to 160 MHz.
fn he_bandwidth(code: u8) -> Option<Bandwidth> {
    match code {
        0 | 7 => Some(Bandwidth::Mhz20),
        1 | 8 => Some(Bandwidth::Mhz40),
        2 | 9 => Some(Bandwidth::Mhz80),
        3 | 10 => Some(Bandwidth::Mhz160),
        4 => Some(Bandwidth::Tones26),
        5 => Some(Bandwidth::Tones52),
        6 => Some(Bandwidth::Tones106),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_he_field() {
        let words: [u16; 6] = [
            1 << 14 | 1 << 9 | 1 << 7 | 1 << 6 | 1 << 5 | 1,
            1 << 1,
            1 << 13 | 11 << 8,
            0,
            2 << 6 | 1 << 4 | 2,
            2,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(
            he(&bytes),
            HeEncoding {
                format: HeFormat::ExtendedRange,
                mcs: Some(11),
                streams: Some(2),
                bandwidth: Some(Bandwidth::Mhz80),
                guard_ns: Some(1_600),
                training_ns: Some(6_400),
                dual_carrier: Some(false),
                ldpc: Some(true),
                stbc: Some(false),
            }
        );
        assert_eq!(he(&[0; 12]), HeEncoding::default());
    }

    #[test]
    fn every_code_of_a_bandwidth() {
        let counts =
            |code: fn(u8) -> Option<Bandwidth>, width| (0..32).filter(|n| code(*n) == Some(width)).count();
        assert_eq!(counts(vht_bandwidth, Bandwidth::Mhz20), 1 + 2 + 4 + 8);
        assert_eq!(counts(vht_bandwidth, Bandwidth::Mhz40), 1 + 2 + 4);
        assert_eq!(counts(vht_bandwidth, Bandwidth::Mhz80), 1 + 2);
        assert_eq!(counts(vht_bandwidth, Bandwidth::Mhz160), 1);
        assert_eq!(counts(he_bandwidth, Bandwidth::Mhz160), 2);
    }
}
