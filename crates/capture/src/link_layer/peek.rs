//! Headers of access points that send frames to `AiroPeek` and `OmniPeek` ("PEEKREMOTE"), big-endian: the
//! older one of 20 bytes, and the newer one of 55 bytes that begins with a magic number. Layouts as in
//! Wireshark's `packet-peekremote.c`.

use super::{Encoding, HeaderError, HtEncoding, RadioChannel, RxInfo, split_header};
use crate::bytes::{ByteOrder, bit};
use multihop_core::Rate;
use multihop_dot11::{Bandwidth, Preamble};

const HEADER: &str = "PEEKREMOTE";
const OLD_LENGTH: usize = 20;
const NEW_LENGTH: usize = 55;
const MAGIC: u32 = 0x00ff_abcd;

/// Whether a datagram begins with the newer header.
pub(super) fn is_new(datagram: &[u8]) -> bool {
    ByteOrder::Big.u32(datagram, 0) == Some(MAGIC)
}

/// Whether a datagram may begin with the older header: reserved bits are zero, and its lengths match the
/// datagram.
pub(super) fn is_old(datagram: &[u8]) -> bool {
    let (Some(length), Some(slice)) = (ByteOrder::Big.u16(datagram, 2), ByteOrder::Big.u16(datagram, 4))
    else {
        return false;
    };
    let Some(&[flags, status]) = datagram.get(6..8).and_then(<[u8]>::first_chunk) else { return false };
    let follows = datagram.len().saturating_sub(OLD_LENGTH);
    let kept = if slice == 0 { length } else { slice };
    flags & 0xf8 == 0 && status & 0xb3 == 0 && follows > 0 && kept <= length && usize::from(kept) >= follows
}

/// Reads either header. An access point that mirrors (`from_access_point`) reports its own frames with a
/// signal of 100 %; these have no frame check sequence.
pub(super) fn parse(datagram: &[u8], from_access_point: bool) -> Result<(RxInfo, &[u8]), HeaderError> {
    if is_new(datagram) { new(datagram) } else { old(datagram, from_access_point) }
}

fn old(datagram: &[u8], from_access_point: bool) -> Result<(RxInfo, &[u8]), HeaderError> {
    let (header, frame) = split_header(HEADER, datagram, OLD_LENGTH)?;
    let sent = from_access_point && header[18] == 100;
    let mut reception = RxInfo {
        encoding: Some(header[16]).filter(|rate| *rate != 0).map(legacy),
        channel: RadioChannel::numbered(header[17].into()),
        fcs_present: Some(!sent),
        sent,
        ..RxInfo::default()
    };
    common(&header[..16], [0, 1], 2, &mut reception);
    Ok((reception, frame))
}

fn new(datagram: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
    let (Some(&version), Some(size)) = (datagram.get(4), ByteOrder::Big.u32(datagram, 5)) else {
        return Err(HeaderError::Cut { header: HEADER, needed: NEW_LENGTH, found: datagram.len() });
    };
    let (header, frame) = split_header(HEADER, datagram, size as usize)?;
    let mut reception = RxInfo { fcs_present: Some(true), ..RxInfo::default() };
    // In other versions only the length is known.
    if version != 2 || header.len() < NEW_LENGTH {
        return Ok((reception, frame));
    }
    let u16 = |at| ByteOrder::Big.u16(header, at).unwrap_or_default();
    let u32 = |at| ByteOrder::Big.u32(header, at).unwrap_or_default();
    let (mhz, flags) = (u32(17), u32(25));
    reception.channel = match u16::try_from(mhz) {
        Ok(mhz) if mhz != 0 => Some(RadioChannel { mhz, flags: 0 }),
        _ => RadioChannel::numbered(u16(15).into()),
    };
    let (is_vht, is_mcs) = (bit(flags, 7), bit(flags, 8));
    // The number of VHT streams is not reported, so that the airtime is unknown.
    reception.encoding = match (is_vht, is_mcs) {
        (true, _) => Some(Encoding::Vht(super::VhtEncoding::default())),
        (false, true) => Some(Encoding::Ht(HtEncoding {
            mcs: Some(u16(13) as u8),
            bandwidth: Some(if bit(flags, 2) { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 }),
            short_gi: Some(bit(flags, 3)),
            ..HtEncoding::default()
        })),
        (false, false) => u8::try_from(u16(13)).ok().filter(|rate| *rate != 0).map(legacy),
    };
    common(&header[29..NEW_LENGTH], [2, 3], 12, &mut reception);
    Ok((reception, frame))
}

/// Encoding of a rate in units of 500 kb/s.
fn legacy(rate: u8) -> Encoding {
    Encoding::Legacy(Rate::from_kbps(500 * u64::from(rate)))
}

/// Reads the fields common to both headers: signal and noise in dBm; from `lengths` on, length of the frame,
/// captured length, flags, status, and timer.
fn common(part: &[u8], powers: [usize; 2], lengths: usize, reception: &mut RxInfo) {
    let power = |at: usize| Some(part[at] as i8).filter(|dbm| *dbm != 0);
    (reception.signal_dbm, reception.noise_dbm) = (power(powers[0]), power(powers[1]));
    let u16 = |at| ByteOrder::Big.u16(part, at).unwrap_or_default();
    let (length, slice) = (u16(lengths), u16(lengths + 2));
    reception.cut_bytes = if slice == 0 { 0 } else { length.saturating_sub(slice).into() };
    let (flags, status) = (part[lengths + 4], part[lengths + 5]);
    reception.bad_fcs = Some(bit(flags, 1) || bit(flags, 2));
    reception.preamble = Some(if bit(status, 6) { Preamble::Short } else { Preamble::Long });
    reception.tsft_us = ByteOrder::Big.u64(part, lengths + 6);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_header() {
        let mut datagram = vec![0xc4, 0xa1, 0, 30, 0, 10, 0b10, 0x40];
        datagram.extend(1_234_567_u64.to_be_bytes());
        datagram.extend([108, 36, 60, 0]);
        datagram.extend([7; 10]);
        assert!(is_old(&datagram) && !is_new(&datagram));
        let (reception, frame) = parse(&datagram, false).unwrap();
        assert_eq!(frame, [7; 10]);
        let expected = RxInfo {
            tsft_us: Some(1_234_567),
            encoding: Some(Encoding::Legacy(Rate::from_kbps(54_000))),
            preamble: Some(Preamble::Short),
            channel: RadioChannel::numbered(36),
            signal_dbm: Some(-60),
            noise_dbm: Some(-95),
            fcs_present: Some(true),
            bad_fcs: Some(true),
            cut_bytes: 20,
            ..RxInfo::default()
        };
        assert_eq!(reception, expected);
        datagram[18] = 100;
        assert_eq!(parse(&datagram, true).unwrap().0.fcs_present, Some(false), "its own");
        assert!(parse(&datagram[..19], true).is_err());
        datagram[6] = 0xf0;
        assert!(!is_old(&datagram), "reserved bits");
    }

    #[test]
    fn the_newer_header() {
        let mut datagram = MAGIC.to_be_bytes().to_vec();
        datagram.push(2);
        datagram.extend(55_u32.to_be_bytes());
        datagram.extend(6_u32.to_be_bytes());
        datagram.extend([0, 7, 0, 6]);
        datagram.extend(2_437_u32.to_be_bytes());
        datagram.extend(0_u32.to_be_bytes());
        datagram.extend((1_u32 << 8 | 1 << 3 | 1 << 2).to_be_bytes());
        datagram.extend([50, 0, 0xc4, 0xa1]);
        datagram.extend([0; 8]);
        datagram.extend([0, 12, 0, 12, 0, 0]);
        datagram.extend(99_u64.to_be_bytes());
        assert_eq!(datagram.len(), NEW_LENGTH);
        datagram.extend([9; 12]);
        let (reception, frame) = parse(&datagram, false).unwrap();
        assert_eq!(frame, [9; 12]);
        let ht = HtEncoding {
            mcs: Some(7),
            bandwidth: Some(Bandwidth::Mhz40),
            short_gi: Some(true),
            ..HtEncoding::default()
        };
        assert_eq!(reception.encoding, Some(Encoding::Ht(ht)));
        assert_eq!((reception.tsft_us, reception.signal_dbm, reception.cut_bytes), (Some(99), Some(-60), 0));
        assert_eq!(reception.channel.map(|channel| channel.mhz), Some(2_437));
        datagram[4] = 3;
        let (other, frame) = parse(&datagram, false).unwrap();
        assert_eq!((other.encoding, frame), (None, &[9; 12][..]), "another version");
        datagram[5..9].fill(0xff);
        assert!(parse(&datagram, false).is_err());
    }
}
