//! The AVS header: 64 bytes or more of big-endian numbers (the "AVS WLAN capture frame format", version 1).

use super::{Encoding, HeaderError, RadioChannel, RxInfo, split_header};
use crate::bytes::ByteOrder;
use multihop_core::Rate;
use multihop_dot11::Preamble;

const HEADER: &str = "AVS";

/// Magic number; its last digit is the version.
const MAGIC: u32 = 0x8021_1000;
const LEAST: u32 = 64;

pub(super) fn is_avs(packet: &[u8]) -> bool {
    ByteOrder::Big.u32(packet, 0).is_some_and(|magic| magic & 0xffff_fff0 == MAGIC)
}

pub(super) fn parse(packet: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
    let (Some(magic), Some(length)) = (ByteOrder::Big.u32(packet, 0), ByteOrder::Big.u32(packet, 4)) else {
        return Err(HeaderError::Cut { header: HEADER, needed: LEAST as usize, found: packet.len() });
    };
    if !is_avs(packet) {
        let known = "2149650432 plus a version";
        return Err(HeaderError::Value { header: HEADER, what: "magic number", found: magic, known });
    }
    if length < LEAST {
        return Err(HeaderError::Value {
            header: HEADER,
            what: "length",
            found: length,
            known: "64 or more",
        });
    }
    let (header, frame) = split_header(HEADER, packet, length as usize)?;
    let u32 = |at| ByteOrder::Big.u32(header, at).unwrap_or_default();
    // Only power of type 2 is in dBm.
    let dbm = |at| i8::try_from(u32(at) as i32).ok().filter(|_| u32(44) == 2);
    let reception = RxInfo {
        tsft_us: ByteOrder::Big.u64(header, 8).filter(|time| *time != 0),
        // In units of 100 kb/s.
        encoding: Some(u32(32))
            .filter(|rate| *rate != 0)
            .map(|rate| Encoding::Legacy(Rate::from_kbps(100 * u64::from(rate)))),
        preamble: match u32(56) {
            1 => Some(Preamble::Short),
            2 => Some(Preamble::Long),
            _ => None,
        },
        channel: RadioChannel::numbered(u32(28)),
        signal_dbm: dbm(48),
        noise_dbm: dbm(52),
        antenna: u8::try_from(u32(36)).ok(),
        ..RxInfo::default()
    };
    Ok((reception, frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(power_kind: u32) -> Vec<u8> {
        let low: [u32; 10] = [6, 1, 110, 2, 0, power_kind, -50_i32 as u32, -90_i32 as u32, 1, 1];
        let mut bytes = (MAGIC | 1).to_be_bytes().to_vec();
        bytes.extend(LEAST.to_be_bytes());
        bytes.extend(123_456_u64.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend(low.iter().flat_map(|number| number.to_be_bytes()));
        bytes
    }

    #[test]
    fn every_number() {
        let mut bytes = header(2);
        assert_eq!(bytes.len(), 64);
        bytes.push(9);
        let (reception, frame) = parse(&bytes).unwrap();
        assert_eq!(frame, [9]);
        assert_eq!(
            reception,
            RxInfo {
                tsft_us: Some(123_456),
                encoding: Some(Encoding::Legacy(Rate::from_kbps(11_000))),
                preamble: Some(Preamble::Short),
                channel: Some(RadioChannel { mhz: 2_412, flags: 0 }),
                signal_dbm: Some(-50),
                noise_dbm: Some(-90),
                antenna: Some(2),
                ..RxInfo::default()
            }
        );
        let raw = parse(&header(1)).unwrap().0;
        assert_eq!((raw.signal_dbm, raw.noise_dbm), (None, None));
    }

    #[test]
    fn refused_with_a_reason() {
        assert!(matches!(parse(&[0x80, 0x21, 0x10, 1]), Err(HeaderError::Cut { found: 4, .. })));
        assert!(matches!(parse(&[0; 64]), Err(HeaderError::Value { what: "magic number", .. })));
        assert!(matches!(parse(&header(2)[..60]), Err(HeaderError::Cut { needed: 64, found: 60, .. })));
    }
}
