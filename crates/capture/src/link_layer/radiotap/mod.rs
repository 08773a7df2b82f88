//! Radiotap, the header of most operating systems (radiotap.org).
//!
//! A header is a length and presence words, followed by fields. [`fields`] iterates over the fields;
//! [`parse`] combines them.

mod fields;
mod high_rates;

pub use fields::{RadiotapField, RadiotapFields};

use super::{
    AmpduStatus, Encoding, HeaderError, RadioChannel, RxInfo, Timestamp, TimestampInstant, split_header,
};
use crate::bytes::{ByteOrder, bit};
use multihop_core::Rate;
use multihop_dot11::Preamble;

const HEADER: &str = "radiotap";

/// Fields of the header at the start of `packet`.
///
/// # Errors
/// If the header is incomplete or of an unknown version.
pub fn fields(packet: &[u8]) -> Result<RadiotapFields<'_>, HeaderError> {
    header(packet).map(|(header, _)| RadiotapFields::new(header))
}

/// Data of the header at the start of `packet`, and the bytes of the frame after it.
///
/// If a field is repeated per antenna, the first one is used for the frame.
///
/// # Errors
/// If the header is incomplete or of an unknown version. If only its fields are damaged, the frame is still
/// returned: see [`RxInfo::header_damaged`].
pub fn parse(packet: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
    let (header, frame) = header(packet)?;
    let mut reception = RxInfo::default();
    for field in RadiotapFields::new(header) {
        match field {
            RadiotapField::Known { bit, round: 0, bytes } => read(bit, bytes, &mut reception),
            RadiotapField::Known { .. } | RadiotapField::Vendor { .. } | RadiotapField::Unknown { .. } => {}
            RadiotapField::TypeLengthValue { kind, .. } => read_type(kind, &mut reception),
            RadiotapField::Damaged => reception.header_damaged = true,
        }
    }
    Ok((reception, frame))
}

/// Splits the header from the frame.
fn header(packet: &[u8]) -> Result<(&[u8], &[u8]), HeaderError> {
    const LEAST: u16 = 8;
    let length = ByteOrder::Little.u16(packet, 2);
    let (Some(&version), Some(length)) = (packet.first(), length) else {
        return Err(HeaderError::Cut { header: HEADER, needed: LEAST.into(), found: packet.len() });
    };
    if version != 0 {
        let found = version.into();
        return Err(HeaderError::Value { header: HEADER, what: "version", found, known: "0" });
    }
    if length < LEAST {
        let found = length.into();
        return Err(HeaderError::Value { header: HEADER, what: "length", found, known: "8 or more" });
    }
    split_header(HEADER, packet, length.into())
}

/// Stores a field, which has the size in the table.
fn read(number: u8, bytes: &[u8], reception: &mut RxInfo) {
    let u16 = |at| ByteOrder::Little.u16(bytes, at).unwrap_or_default();
    let u32 = |at| ByteOrder::Little.u32(bytes, at).unwrap_or_default();
    match number {
        0 => reception.tsft_us = ByteOrder::Little.u64(bytes, 0),
        1 => read_flags(bytes[0], reception),
        // In units of 500 kb/s. Drivers write zero for an unknown rate.
        2 if bytes[0] != 0 => {
            let rate = Rate::from_kbps(500 * u64::from(bytes[0]));
            reception.encoding.get_or_insert(Encoding::Legacy(rate));
        }
        3 => reception.channel = Some(RadioChannel { mhz: u16(0), flags: u16(2).into() }),
        5 => reception.signal_dbm = Some(bytes[0] as i8),
        6 => reception.noise_dbm = Some(bytes[0] as i8),
        11 => reception.antenna = Some(bytes[0]),
        // Only transmitted frames have transmit flags and retry counts.
        15..=17 => reception.sent = true,
        18 => {
            let extended = RadioChannel { mhz: u16(4), flags: u32(0) };
            reception.channel.get_or_insert(extended);
        }
        19 => reception.encoding = Some(Encoding::Ht(high_rates::ht(bytes))),
        20 => {
            let flags = u16(4);
            let last = bit(flags, 2).then(|| bit(flags, 3));
            reception.aggregate = Some(AmpduStatus { reference: u32(0), last });
        }
        21 => reception.encoding = Some(Encoding::Vht(high_rates::vht(bytes))),
        22 => reception.timestamp = timestamp(bytes),
        27 => reception.legacy_length = bit(u16(0), 1).then(|| u16(2) >> 4),
        23 => reception.encoding = Some(Encoding::He(high_rates::he(bytes))),
        26 => reception.has_no_frame = true,
        _ => {}
    }
}

/// Stores a type-length-value field. Those of 802.11be describe the PPDU in a form that is not read; only the
/// generation is stored.
fn read_type(kind: u16, reception: &mut RxInfo) {
    const U_SIG: u16 = 33;
    const EHT: u16 = 34;
    if matches!(kind, U_SIG | EHT) {
        reception.encoding = Some(Encoding::Eht);
    }
}

/// Timestamp; none if its unit is unknown, or if only its lower half is valid.
fn timestamp(bytes: &[u8]) -> Option<Timestamp> {
    let (time, accuracy) = (ByteOrder::Little.u64(bytes, 0)?, ByteOrder::Little.u16(bytes, 8)?);
    let (&what, &flags) = (bytes.get(10)?, bytes.get(11)?);
    let unit_ns: u32 = match what & 0x0f {
        0 => 1_000_000,
        1 => 1_000,
        3 => 1,
        _ => return None,
    };
    let position = match what >> 4 {
        0 => Some(TimestampInstant::MpduStart),
        1 => Some(TimestampInstant::Acquisition),
        2 => Some(TimestampInstant::PpduEnd),
        3 => Some(TimestampInstant::MpduEnd),
        _ => None,
    };
    let is_half = flags & 1 != 0;
    let has_accuracy = flags & 2 != 0;
    Some(Timestamp {
        ns: time.checked_mul(unit_ns.into()).filter(|_| !is_half)?,
        accuracy_ns: if has_accuracy { unit_ns.saturating_mul(accuracy.max(1).into()) } else { unit_ns },
        position,
    })
}

fn read_flags(flags: u8, reception: &mut RxInfo) {
    reception.preamble = Some(if bit(flags, 1) { Preamble::Short } else { Preamble::Long });
    reception.fcs_present = Some(bit(flags, 4));
    reception.padded = bit(flags, 5);
    reception.bad_fcs = Some(bit(flags, 6));
}

#[cfg(test)]
mod tests {
    use super::super::{HtEncoding, VhtEncoding};
    use super::*;
    use multihop_dot11::Bandwidth;

    /// Radiotap header of these presence words and fields, with its length.
    fn packet(words: &[u32], fields: &[u8]) -> Vec<u8> {
        let length = (4 + 4 * words.len() + fields.len()) as u16;
        let mut packet = vec![0, 0];
        packet.extend(length.to_le_bytes());
        packet.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        packet.extend(fields);
        packet
    }

    fn reception(words: &[u32], fields: &[u8]) -> RxInfo {
        parse(&packet(words, fields)).unwrap().0
    }

    #[test]
    fn fields_are_aligned_and_the_frame_follows() {
        // TSFT, flags, rate, channel, signal, noise, antenna: the channel happens to begin at an even byte.
        let mut bytes = packet(
            &[0b1000_0110_1111],
            &[1, 0, 0, 0, 0, 0, 0, 0, 0x52, 22, 0x6c, 0x09, 0xa0, 0, 0xd0, 0xa1, 3],
        );
        bytes.extend([0xaa, 0xbb]);
        let (reception, frame) = parse(&bytes).unwrap();
        assert_eq!(frame, [0xaa, 0xbb]);
        assert_eq!(
            reception,
            RxInfo {
                tsft_us: Some(1),
                encoding: Some(Encoding::Legacy(Rate::from_kbps(11_000))),
                preamble: Some(Preamble::Short),
                channel: Some(RadioChannel { mhz: 2_412, flags: 0xa0 }),
                signal_dbm: Some(-48),
                noise_dbm: Some(-95),
                antenna: Some(3),
                fcs_present: Some(true),
                bad_fcs: Some(true),
                ..RxInfo::default()
            }
        );
    }

    #[test]
    fn padding_before_an_aligned_field_is_passed() {
        // Flags, then XChannel at a multiple of four: 8 + 1 becomes 12.
        let seen = reception(&[1 << 18 | 1 << 1], &[0, 9, 9, 9, 0x80, 0, 1, 0, 0x85, 0x09, 6, 0]);
        assert_eq!(seen.channel, Some(RadioChannel { mhz: 2_437, flags: 0x1_0080 }));
        assert!(seen.channel.unwrap().is_2_4_ghz() && !seen.header_damaged);
    }

    #[test]
    fn per_antenna_fields_do_not_replace_those_of_the_frame() {
        let first = 1 << 31 | 1 << 29 | 1 << 5;
        let seen = reception(&[first, first | 1 << 11, 1 << 5], &[0xd0, 0xc0, 1, 0xb0]);
        assert_eq!((seen.signal_dbm, seen.antenna, seen.header_damaged), (Some(-48), None, false));
        let bytes = packet(&[first, 1 << 5], &[0xd0, 0xc0]);
        let rounds: Vec<RadiotapField<'_>> = fields(&bytes).unwrap().collect();
        assert_eq!(
            rounds,
            [
                RadiotapField::Known { bit: 5, round: 0, bytes: &[0xd0] },
                RadiotapField::Known { bit: 5, round: 1, bytes: &[0xc0] },
            ]
        );
    }

    #[test]
    fn what_lies_beyond_the_header_is_not_read() {
        let mut bytes = packet(&[0b11], &[1, 2, 3, 4]);
        bytes.extend([5, 6, 7, 8, 9]);
        let (seen, frame) = parse(&bytes).unwrap();
        assert_eq!(seen, RxInfo { header_damaged: true, ..RxInfo::default() });
        assert_eq!(frame, [5, 6, 7, 8, 9]);
        assert!(reception(&[1 << 31], &[]).header_damaged, "words without end");
    }

    #[test]
    fn fields_of_a_type_and_a_length_are_passed_over() {
        // Flags and signal; then, at a multiple of four, a vendor field, EHT, and two bytes that are no
        // field.
        let mut rest = vec![0x10, 0xc4, 0, 0, 30, 0, 3, 0, 1, 2, 3, 0];
        rest.extend([34, 0, 4, 0, 5, 6, 7, 8, 0, 0]);
        let bytes = packet(&[1 << 28 | 1 << 5 | 1 << 1], &rest);
        let seen: Vec<RadiotapField<'_>> = fields(&bytes).unwrap().skip(2).collect();
        let vendor = RadiotapField::TypeLengthValue { kind: 30, bytes: &[1, 2, 3] };
        let eht = RadiotapField::TypeLengthValue { kind: 34, bytes: &[5, 6, 7, 8] };
        assert_eq!(seen, [vendor, eht]);
        let (reception, _) = parse(&bytes).unwrap();
        assert_eq!((reception.encoding, reception.signal_dbm), (Some(Encoding::Eht), Some(-60)));
        assert!(!reception.header_damaged);
        assert!(reception_of_tlv_beyond_the_end().header_damaged);
    }

    fn reception_of_tlv_beyond_the_end() -> RxInfo {
        reception(&[1 << 28], &[30, 0, 200, 0, 1, 2])
    }

    #[test]
    fn bits_without_a_known_meaning_end_the_fields_and_damage_nothing() {
        let bytes = packet(&[1 << 31 | 1 << 1, 1 << 3 | 1 << 9], &[0x10, 9, 9, 9, 9]);
        let seen: Vec<RadiotapField<'_>> = fields(&bytes).unwrap().collect();
        assert_eq!(
            seen,
            [RadiotapField::Known { bit: 1, round: 0, bytes: &[0x10] }, RadiotapField::Unknown { bit: 35 }]
        );
        let reception = parse(&bytes).unwrap().0;
        assert_eq!((reception.fcs_present, reception.header_damaged), (Some(true), false));
    }

    /// Header of `ath9k_htc` as in nzyme's issue 1498: two presence words before the timer, which begins at a
    /// multiple of eight.
    #[test]
    fn the_timer_behind_two_words_is_aligned() {
        let mut fields = vec![0; 4];
        fields.extend(0x0003_6d17_u64.to_le_bytes());
        fields.extend([0x10, 0x02, 0x6c, 0x09, 0xa0, 0x00, 0xd0, 0x01, 0, 0, 0xd0, 0x00]);
        let seen = reception(&[0xa000_402f, 0x0000_0820], &fields);
        assert_eq!((seen.tsft_us, seen.channel.map(|channel| channel.mhz)), (Some(0x36d17), Some(2_412)));
        assert!(!seen.header_damaged);
    }

    #[test]
    fn headers_that_are_none() {
        assert_eq!(
            parse(&[0x30, 0x30, 8, 0, 0, 0, 0, 0]).unwrap_err().to_string(),
            "the radiotap header says version 48; 0 would do"
        );
        assert_eq!(
            parse(&[0, 0, 7, 0, 0, 0, 0, 0]).unwrap_err().to_string(),
            "the radiotap header says length 7; 8 or more would do"
        );
        let cut = HeaderError::Cut { header: "radiotap", needed: 9, found: 8 };
        assert_eq!(parse(&[0, 0, 9, 0, 0, 0, 0, 0]), Err(cut));
        assert!(parse(&[0, 0, 9]).is_err());
    }

    #[test]
    fn a_timestamp_says_what_it_is_the_time_of() {
        let of =
            |what, flags| reception(&[1 << 22], &[0x39, 5, 0, 0, 0, 0, 0, 0, 22, 0, what, flags]).timestamp;
        let exact = Timestamp { ns: 1_337, accuracy_ns: 1, position: Some(TimestampInstant::PpduEnd) };
        assert_eq!(of(0x23, 0), Some(exact));
        // Timestamps of Intel radios: microseconds at the beginning of the preamble, accurate to 22 us.
        let rough =
            Timestamp { ns: 1_337_000, accuracy_ns: 22_000, position: Some(TimestampInstant::Acquisition) };
        assert_eq!(of(0x11, 2), Some(rough));
        assert_eq!(of(0xf1, 0).unwrap().position, None);
        assert_eq!(of(0x31, 0).unwrap().position, Some(TimestampInstant::MpduEnd));
        assert_eq!((of(0x02, 0), of(0x03, 1)), (None, None), "no known unit; half of a number");
    }

    #[test]
    fn only_known_parts_of_the_mcs_field_count() {
        let known = reception(&[1 << 19], &[0x3f, 0b0011_1101, 7]);
        let ht = HtEncoding {
            mcs: Some(7),
            bandwidth: Some(Bandwidth::Mhz40),
            short_gi: Some(true),
            greenfield: Some(true),
            ldpc: Some(true),
            stbc: Some(1),
            extension_streams: None,
        };
        assert_eq!(known.encoding, Some(Encoding::Ht(ht)));
        let unknown = reception(&[1 << 19], &[0, 0xff, 7]);
        assert_eq!(unknown.encoding, Some(Encoding::Ht(HtEncoding::default())));
        let sounding = reception(&[1 << 19], &[0xc0, 0x80, 0]).encoding;
        let three = HtEncoding { extension_streams: Some(3), ..HtEncoding::default() };
        assert_eq!(sounding, Some(Encoding::Ht(three)));
    }

    #[test]
    fn the_vht_field() {
        // STBC, GI, LDPC symbol and bandwidth known; 80 MHz; first user MCS 9 with two streams, LDPC.
        let field = [0x55, 0, 0b0001_0100, 4, 0x92, 0, 0, 0, 1, 0, 0, 0];
        let vht = VhtEncoding {
            mcs: Some(9),
            streams: Some(2),
            bandwidth: Some(Bandwidth::Mhz80),
            short_gi: Some(true),
            ldpc: Some(true),
            ldpc_extra_symbol: Some(true),
            stbc: Some(false),
            users: 1,
        };
        assert_eq!(reception(&[1 << 21], &field).encoding, Some(Encoding::Vht(vht)));
    }

    #[test]
    fn the_length_in_the_legacy_preamble_counts_if_it_is_known() {
        let of = |known| reception(&[1 << 27], &[known, 0, 0xfb, 0x12]).legacy_length;
        assert_eq!((of(3), of(2), of(1)), (Some(0x12f), Some(0x12f), None));
    }

    #[test]
    fn the_ampdu_field() {
        let last = reception(&[1 << 20], &[7, 0, 0, 0, 0b1100, 0, 0, 0]).aggregate;
        assert_eq!(last, Some(AmpduStatus { reference: 7, last: Some(true) }));
        let unknown = reception(&[1 << 20], &[7, 0, 0, 0, 0b1000, 0, 0, 0]).aggregate;
        assert_eq!(unknown, Some(AmpduStatus { reference: 7, last: None }));
    }
}
