//! The Prism header: a message of items, each with an identifier, a status and a number.
//!
//! There is no specification. This reader follows the structures of linux-wlan-ng, whose identifiers number
//! the items 1 to 10 in their third byte (in an older message, in the fourth half-byte). Numbers have the
//! byte order of the writing host.

use super::{Encoding, HeaderError, RadioChannel, RxInfo, avs, split_header};
use crate::bytes::ByteOrder;
use multihop_core::Rate;

const HEADER: &str = "Prism";

/// Message code, length and device name, followed by items.
const FIXED: usize = 8 + 16;
const ITEM: usize = 12;

const CODE: u32 = 0x44;
const OLDER_CODE: u32 = 0x41;

pub(super) fn parse(packet: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
    if avs::is_avs(packet) {
        return avs::parse(packet);
    }
    let (Some(little), Some(big)) = (ByteOrder::Little.u32(packet, 0), ByteOrder::Big.u32(packet, 0)) else {
        return Err(HeaderError::Cut { header: HEADER, needed: FIXED, found: packet.len() });
    };
    let order = if matches!(big, CODE | OLDER_CODE) { ByteOrder::Big } else { ByteOrder::Little };
    if order == ByteOrder::Little && !matches!(little, CODE | OLDER_CODE) {
        return Err(HeaderError::Value {
            header: HEADER,
            what: "message code",
            found: little,
            known: "68 or 65",
        });
    }
    let length = order.u32(packet, 4).unwrap_or_default();
    if (length as usize) < FIXED {
        return Err(HeaderError::Value {
            header: HEADER,
            what: "length",
            found: length,
            known: "24 or more",
        });
    }
    let (header, frame) = split_header(HEADER, packet, length as usize)?;
    let mut reception = RxInfo::default();
    for item in header[FIXED..].chunks_exact(ITEM) {
        read(order, item, &mut reception);
    }
    Ok((reception, frame))
}

fn read(order: ByteOrder, item: &[u8], reception: &mut RxInfo) {
    let u32 = |at| order.u32(item, at).unwrap_or_default();
    let (identifier, supplied, value) = (u32(0), order.u16(item, 4) == Some(0), u32(8));
    if !supplied {
        return;
    }
    let number = match (identifier & 0xffff, identifier >> 16) {
        (0x0044, number) => number,
        (rest, 0) if rest & 0x0fff == OLDER_CODE => rest >> 12,
        _ => return,
    };
    // Whether powers are in dBm depends on the driver; other units are never negative.
    let dbm = i8::try_from(value as i32).ok().filter(|power| *power < 0);
    match number {
        2 => reception.tsft_us = Some(value.into()),
        3 => reception.channel = RadioChannel::numbered(value),
        6 => reception.signal_dbm = dbm,
        7 => reception.noise_dbm = dbm,
        8 if value != 0 => {
            reception.encoding = Some(Encoding::Legacy(Rate::from_kbps(500 * u64::from(value))));
        }
        9 => reception.sent = value != 0,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(items: &[(u32, u16, u32)]) -> Vec<u8> {
        let mut bytes = CODE.to_le_bytes().to_vec();
        bytes.extend(((FIXED + ITEM * items.len()) as u32).to_le_bytes());
        bytes.extend([0; 16]);
        for (identifier, status, value) in items {
            bytes.extend(identifier.to_le_bytes());
            bytes.extend(status.to_le_bytes());
            bytes.extend(4_u16.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn items_in_any_order_and_those_not_supplied_are_passed() {
        let mut bytes = message(&[
            (0x0008_0044, 0, 22),
            (0x0003_0044, 0, 6),
            (0x0006_0044, 0, (-40_i32) as u32),
            (0x0007_0044, 1, (-95_i32) as u32),
            (0x2041, 0, 77),
        ]);
        bytes.extend([1, 2]);
        let (reception, frame) = parse(&bytes).unwrap();
        assert_eq!(frame, [1, 2]);
        assert_eq!(
            reception,
            RxInfo {
                tsft_us: Some(77),
                encoding: Some(Encoding::Legacy(Rate::from_kbps(11_000))),
                channel: Some(RadioChannel { mhz: 2_437, flags: 0 }),
                signal_dbm: Some(-40),
                ..RxInfo::default()
            }
        );
    }

    #[test]
    fn other_messages_and_short_ones_are_refused() {
        assert_eq!(
            parse(&[9, 0, 0, 0, 0, 0, 0, 0]).unwrap_err().to_string(),
            "the Prism header says message code 9; 68 or 65 would do"
        );
        let bytes = message(&[(0x0008_0044, 0, 22)]);
        assert!(matches!(parse(&bytes[..30]), Err(HeaderError::Cut { needed: 36, found: 30, .. })));
        assert!(parse(&bytes[..3]).is_err());
    }
}
