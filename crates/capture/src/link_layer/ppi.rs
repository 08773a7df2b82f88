//! The per-packet information header (CACE Technologies, 2007): fields with a type and a length.

use super::{AmpduStatus, Encoding, HeaderError, HtEncoding, RadioChannel, RxInfo, split_header};
use crate::LinkType;
use crate::bytes::{ByteOrder, bit};
use multihop_core::Rate;
use multihop_dot11::Bandwidth;

const HEADER: &str = "PPI";
const FIXED: usize = 8;

pub(super) fn parse(packet: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
    let little = ByteOrder::Little;
    let fixed = (packet.first(), packet.get(1), little.u16(packet, 2), little.u32(packet, 4));
    let (Some(&version), Some(&flags), Some(length), Some(link)) = fixed else {
        return Err(HeaderError::Cut { header: HEADER, needed: FIXED, found: packet.len() });
    };
    let wrong = |what, found: u32, known| Err(HeaderError::Value { header: HEADER, what, found, known });
    if version != 0 {
        return wrong("version", version.into(), "0");
    }
    if usize::from(length) < FIXED {
        return wrong("length", length.into(), "8 or more");
    }
    if link != u32::from(LinkType::Ieee80211.number()) {
        return wrong("link type", link, "105");
    }
    let (header, frame) = split_header(HEADER, packet, length.into())?;
    let mut reception = RxInfo::default();
    let mut fields = &header[FIXED..];
    while let (Some(kind), Some(size)) = (little.u16(fields, 0), little.u16(fields, 2)) {
        let size = usize::from(size);
        let Some(field) = fields.get(4..4 + size) else {
            reception.header_damaged = true;
            break;
        };
        match (kind, size) {
            (2, 20..) => common(field, &mut reception),
            (3, 12..) => ht(field, None, &mut reception),
            (4, 48..) => ht(field, Some((field[9], field[10])), &mut reception),
            _ => {}
        }
        // With the lowest flag, fields begin at multiples of four bytes.
        let step = if bit(flags, 0) { size.next_multiple_of(4) } else { size };
        fields = fields.get(4 + step..).unwrap_or_default();
    }
    Ok((reception, frame))
}

/// Reads the common field, which every frame has.
fn common(field: &[u8], reception: &mut RxInfo) {
    let u16 = |at| ByteOrder::Little.u16(field, at).unwrap_or_default();
    let flags = u16(8);
    let tsft = ByteOrder::Little.u64(field, 0).filter(|time| *time != 0);
    // With the second flag, the clock counts milliseconds.
    reception.tsft_us = tsft.map(|time| if bit(flags, 1) { time.saturating_mul(1_000) } else { time });
    reception.fcs_present = Some(bit(flags, 0));
    reception.bad_fcs = Some(bit(flags, 2));
    if u16(10) != 0 && reception.encoding.is_none() {
        reception.encoding = Some(Encoding::Legacy(Rate::from_kbps(500 * u64::from(u16(10)))));
    }
    if u16(12) != 0 {
        reception.channel = Some(RadioChannel { mhz: u16(12), flags: u16(14).into() });
    }
    let power = |at: usize| Some(field[at] as i8).filter(|power| *power != i8::MIN);
    (reception.signal_dbm, reception.noise_dbm) = (power(18), power(19));
}

/// Reads the fields for 802.11n; only the longer one has MCS and number of streams.
fn ht(field: &[u8], scheme: Option<(u8, u8)>, reception: &mut RxInfo) {
    let flags = ByteOrder::Little.u32(field, 0).unwrap_or_default();
    let reference = ByteOrder::Little.u32(field, 4).unwrap_or_default();
    if bit(flags, 4) {
        reception.aggregate = Some(AmpduStatus { reference, last: Some(!bit(flags, 5)) });
    }
    let Some((mcs, streams)) = scheme else { return };
    // 255: the frame has no MCS.
    if mcs == u8::MAX {
        return;
    }
    // Some writers number the schemes from zero for each number of streams.
    let mcs = if mcs < 8 && (1..=4).contains(&streams) { mcs + 8 * (streams - 1) } else { mcs };
    reception.encoding = Some(Encoding::Ht(HtEncoding {
        mcs: Some(mcs),
        bandwidth: Some(if bit(flags, 1) { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 }),
        short_gi: Some(bit(flags, 2)),
        greenfield: Some(bit(flags, 0)),
        ..HtEncoding::default()
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flags: u8, fields: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, field) in fields {
            body.extend(kind.to_le_bytes());
            body.extend((field.len() as u16).to_le_bytes());
            body.extend(*field);
            if flags & 1 == 1 {
                body.resize(body.len().next_multiple_of(4), 0);
            }
        }
        let mut bytes = vec![0, flags];
        bytes.extend(((FIXED + body.len()) as u16).to_le_bytes());
        bytes.extend(105_u32.to_le_bytes());
        bytes.extend(body);
        bytes
    }

    const COMMON: [u8; 20] = [5, 0, 0, 0, 0, 0, 0, 0, 0b101, 0, 22, 0, 0x6c, 0x09, 0x80, 0, 0, 0, 0xc4, 0x80];

    #[test]
    fn the_common_field() {
        let mut bytes = packet(1, &[(77, &[1, 2, 3]), (2, &COMMON)]);
        bytes.push(9);
        let (reception, frame) = parse(&bytes).unwrap();
        assert_eq!(frame, [9]);
        assert_eq!(
            reception,
            RxInfo {
                tsft_us: Some(5),
                encoding: Some(Encoding::Legacy(Rate::from_kbps(11_000))),
                channel: Some(RadioChannel { mhz: 2_412, flags: 0x80 }),
                signal_dbm: Some(-60),
                fcs_present: Some(true),
                bad_fcs: Some(true),
                ..RxInfo::default()
            }
        );
        assert_eq!(parse(&packet(0, &[(77, &[1, 2, 3]), (2, &COMMON)])).unwrap().0, reception);
    }

    #[test]
    fn the_field_for_802_11n() {
        let mut field = [0; 48];
        field[..4].copy_from_slice(&[0b11_0110, 0, 0, 0]);
        field[4] = 42;
        (field[9], field[10]) = (7, 2);
        let (reception, _) = parse(&packet(0, &[(4, &field), (2, &COMMON)])).unwrap();
        assert_eq!(reception.aggregate, Some(AmpduStatus { reference: 42, last: Some(false) }));
        let ht = HtEncoding {
            mcs: Some(15),
            bandwidth: Some(Bandwidth::Mhz40),
            short_gi: Some(true),
            greenfield: Some(false),
            ..HtEncoding::default()
        };
        assert_eq!(reception.encoding, Some(Encoding::Ht(ht)));
    }

    #[test]
    fn damage() {
        let mut bytes = packet(0, &[(2, &COMMON)]);
        bytes[10] = 200;
        assert!(parse(&bytes).unwrap().0.header_damaged);
        bytes[4] = 1;
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "the PPI header says link type 1; 105 would do");
        assert!(parse(&[0, 0, 8]).is_err());
    }
}
