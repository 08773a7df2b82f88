//! Frames that remote sniffers forward in UDP datagrams, in captures of Ethernet or IP:
//!
//! * TZSP (port 37008), from access points of `MikroTik` and others;
//! * PEEKREMOTE (port 5000; the newer header at any port), see [`super::peek`];
//! * Aruba ERM (port 5555), whose payload is a pcap record with or without four bytes of radio data,
//!   PEEKREMOTE, PPI, or radiotap.
//!
//! Layouts as in Wireshark's `packet-tzsp.c` and `packet-aruba-erm.c`.

use super::{
    Encoding, HeaderError, RadioChannel, RxInfo, Timestamp, avs, peek, ppi, prism, radiotap, split_header,
};
use crate::bytes::{ByteOrder, array};
use multihop_core::Rate;

const TZSP_PORT: u16 = 37_008;
const PEEK_PORT: u16 = 5_000;
const ARUBA_PORT: u16 = 5_555;

/// Data and frame read from a datagram.
type ParsedFrame<'p> = Result<(RxInfo, &'p [u8]), HeaderError>;

/// UDP datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct UdpDatagram<'p> {
    ports: [u16; 2],
    payload: &'p [u8],
    /// Number of payload bytes that were not captured, or that are in another IP fragment.
    cut: u32,
}

/// UDP datagram in a packet of this link type; none if it carries another protocol.
pub(super) fn datagram(link_type: u16, packet: &[u8]) -> Option<UdpDatagram<'_>> {
    let ip = match link_type {
        // BSD loopback: four bytes give the address family in the host's byte order.
        0 | 108 => packet.get(4..)?,
        1 => ethernet(packet)?,
        12 | 14 | 101 | 228 | 229 => packet,
        113 => packet.get(16..)?,
        276 => packet.get(20..)?,
        _ => return None,
    };
    udp(ip)
}

/// IP packet in an Ethernet frame, after up to two VLAN tags.
fn ethernet(packet: &[u8]) -> Option<&[u8]> {
    let mut at = 12;
    for _ in 0..=2 {
        match ByteOrder::Big.u16(packet, at)? {
            0x8100 | 0x88a8 | 0x9100 => at += 4,
            0x0800 | 0x86dd => return packet.get(at + 2..),
            _ => return None,
        }
    }
    None
}

fn udp(ip: &[u8]) -> Option<UdpDatagram<'_>> {
    const UDP: u8 = 17;
    const HEADER: usize = 8;
    let segment = match ip.first()? >> 4 {
        4 => {
            let offset = fragment_offset(ip)?;
            let header = usize::from(ip[0] & 0x0f) * 4;
            ip.get(header..).filter(|_| offset == 0 && header >= 20 && ip.get(9) == Some(&UDP))?
        }
        6 => ip.get(40..).filter(|_| ip.get(6) == Some(&UDP))?,
        _ => return None,
    };
    let [source, destination, length] = [0, 2, 4].map(|at| ByteOrder::Big.u16(segment, at));
    let length = usize::from(length?).checked_sub(HEADER)?;
    let behind = segment.get(HEADER..)?;
    // Short Ethernet frames are padded.
    let payload = &behind[..length.min(behind.len())];
    Some(UdpDatagram { ports: [source?, destination?], payload, cut: (length - payload.len()) as u32 })
}

/// Offset of an IPv4 fragment, in units of eight bytes.
fn fragment_offset(ip: &[u8]) -> Option<u16> {
    Some(ByteOrder::Big.u16(ip, 6)? & 0x1fff)
}

impl<'p> UdpDatagram<'p> {
    /// Reads the forwarded frame; none if no remote sniffer sent the datagram.
    pub fn parse(self) -> Option<ParsedFrame<'p>> {
        let parsed = if self.ports.contains(&TZSP_PORT) {
            tzsp(self.payload)
        } else if self.ports.contains(&ARUBA_PORT) {
            aruba(self.payload, self.cut as usize)
        } else if peek::is_new(self.payload)
            || self.ports.contains(&PEEK_PORT) && self.cut == 0 && peek::is_old(self.payload)
        {
            peek::parse(self.payload, false)
        } else {
            return None;
        };
        Some(parsed.map(|(reception, frame)| {
            let cut_bytes = reception.cut_bytes.saturating_add(self.cut);
            (RxInfo { cut_bytes, ..reception }, frame)
        }))
    }
}

/// Reads TZSP: four bytes, then tags with a type and a length, up to the end tag.
fn tzsp(payload: &[u8]) -> ParsedFrame<'_> {
    const HEADER: &str = "TZSP";
    let cut = || HeaderError::Cut { header: HEADER, needed: payload.len() + 1, found: payload.len() };
    let Some([version, kind, high, low]) = array(payload, 0) else { return Err(cut()) };
    if version != 1 {
        let found = u32::from(version);
        return Err(HeaderError::Value { header: HEADER, what: "version", found, known: "1" });
    }
    // Types 0 (received) and 1 (for transmission) have a frame; others do not.
    if kind > 1 {
        let what = match kind {
            3 => "a configuration",
            4 => "a keep-alive",
            5 => "a port opener",
            _ => "unknown content",
        };
        return Err(HeaderError::NoFrame { header: HEADER, what });
    }
    let mut tags = RxInfo::default();
    let (mut at, mut original) = (4, None);
    loop {
        let Some(&tag) = payload.get(at) else { return Err(cut()) };
        at += 1;
        match tag {
            0 => continue,
            1 => break,
            _ => {}
        }
        let Some(length) = payload.get(at).map(|&length| usize::from(length)) else { return Err(cut()) };
        let Some(value) = payload.get(at + 1..at + 1 + length) else { return Err(cut()) };
        at += 1 + length;
        match (tag, value) {
            (10, &[dbm]) => tags.signal_dbm = Some(dbm as i8),
            (11, &[dbm]) => tags.noise_dbm = Some(dbm as i8),
            (12, &[rate]) => tags.encoding = Some(Encoding::Legacy(tzsp_rate(rate))).filter(|_| rate != 0),
            (13, &[a, b, c, d]) => tags.tsft_us = Some(u32::from_be_bytes([a, b, c, d]).into()),
            (17, &[wrong]) => tags.bad_fcs = Some(wrong != 0),
            (18, &[number]) => tags.channel = RadioChannel::numbered(number.into()),
            (41, &[high, low]) => original = Some(usize::from(u16::from_be_bytes([high, low]))),
            _ => {}
        }
    }
    let inner = &payload[at..];
    let (mut reception, frame) = match u16::from_be_bytes([high, low]) {
        18 => (tags, inner),
        119 => prism::parse(inner)?,
        127 => avs::parse(inner)?,
        1 => return Err(HeaderError::NoFrame { header: HEADER, what: "Ethernet" }),
        other => {
            let found = u32::from(other);
            let known = "18 (802.11), 119 (Prism) or 127 (AVS)";
            return Err(HeaderError::Value { header: HEADER, what: "protocol", found, known });
        }
    };
    let cut = original.map_or(0, |original| original.saturating_sub(inner.len()));
    reception.cut_bytes = reception.cut_bytes.saturating_add(cut as u32);
    Ok((reception, frame))
}

/// Rate in units of 500 kb/s, or of 100 kb/s as in the first radios.
fn tzsp_rate(rate: u8) -> Rate {
    match rate {
        10 | 20 | 55 | 110 => Rate::from_kbps(100 * u64::from(rate)),
        _ => Rate::from_kbps(500 * u64::from(rate)),
    }
}

/// Reads Aruba ERM. The format is a setting of the controller and recognised by the first bytes of the
/// payload.
fn aruba(payload: &[u8], cut: usize) -> ParsedFrame<'_> {
    const HEADER: &str = "Aruba ERM";
    if peek::is_new(payload) {
        return peek::parse(payload, true);
    }
    if payload.first() == Some(&0) && ByteOrder::Little.u32(payload, 4) == Some(105) {
        return ppi::parse(payload);
    }
    if payload.first() == Some(&0)
        && let Ok((reception, frame)) = radiotap::parse(payload)
        && !reception.header_damaged
    {
        return Ok((reception, frame));
    }
    if let Some(parsed) = pcap_record(payload, cut) {
        return parsed;
    }
    if peek::is_old(payload) {
        return peek::parse(payload, true);
    }
    Err(HeaderError::NoFrame {
        header: HEADER,
        what: "an unknown format (types 0, 1, 3, 4, 5 and 6 are read)",
    })
}

/// Reads a pcap record: seconds, microseconds, captured and original length, big-endian; then optionally
/// rate, channel and signal in per cent; then the frame. `cut` more bytes of the payload are missing.
fn pcap_record(payload: &[u8], cut: usize) -> Option<ParsedFrame<'_>> {
    const RECORD: usize = 16;
    const RADIO: usize = 4;
    let [seconds, micros, captured, original] = [0, 4, 8, 12].map(|at| ByteOrder::Big.u32(payload, at));
    let (captured, original) = (captured?, original?);
    let behind = payload.len().checked_sub(RECORD)? + cut;
    let is_record = micros? < 1_000_000
        && captured <= original
        && [behind, behind.saturating_sub(RADIO)].contains(&(captured as usize));
    if !is_record {
        return None;
    }
    let ns = (u64::from(seconds?) * 1_000_000 + u64::from(micros?)) * 1_000;
    let mut reception = RxInfo {
        timestamp: Some(Timestamp { ns, accuracy_ns: 1_000, position: None }),
        cut_bytes: original - captured,
        ..RxInfo::default()
    };
    // The first byte of a rate is zero, which begins a frame only if it is an association request.
    let [high, low, channel, percent] = array(payload, RECORD)?;
    if high != 0 || low == 0 || percent > 100 || channel == 0 {
        return Some(split_header("Aruba ERM", payload, RECORD).map(|(_, frame)| (reception, frame)));
    }
    let sent = percent == 100;
    reception.encoding = Some(Encoding::Legacy(Rate::from_kbps(500 * u64::from(low))));
    reception.channel = RadioChannel::numbered(channel.into());
    (reception.sent, reception.fcs_present) = (sent, Some(!sent));
    Some(split_header("Aruba ERM", payload, RECORD + RADIO).map(|(_, frame)| (reception, frame)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkType;

    const ACK: [u8; 10] = [0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1];

    fn ipv4(port: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        packet.extend([0x80, 0]);
        packet.extend(port.to_be_bytes());
        packet.extend((payload.len() as u16 + 8).to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        packet
    }

    fn ethernet_of(tags: &[u8], ip: &[u8]) -> Vec<u8> {
        let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        packet.extend(tags);
        packet.extend([0x08, 0]);
        packet.extend(ip);
        packet.resize(packet.len().max(60), 0);
        packet
    }

    fn parse(number: u16, packet: &[u8]) -> Result<(RxInfo, Vec<u8>), HeaderError> {
        let link_type = LinkType::from_number(number);
        RxInfo::parse(link_type, packet).map(|(reception, frame)| (reception, frame.to_vec()))
    }

    fn tzsp_of(kind: u8, protocol: u16, tags: &[u8], frame: &[u8]) -> Vec<u8> {
        let mut payload = vec![1, kind];
        payload.extend(protocol.to_be_bytes());
        payload.extend(tags);
        payload.push(1);
        payload.extend(frame);
        payload
    }

    #[test]
    fn tzsp_over_each_link() {
        let tags = [0, 10, 1, 0xc4, 12, 1, 108, 18, 1, 6, 13, 4, 0, 0, 1, 0, 41, 2, 0, 14, 77, 2, 9, 9];
        let ip = ipv4(TZSP_PORT, &tzsp_of(0, 18, &tags, &ACK));
        let vlan = ethernet_of(&[0x81, 0, 0, 5], &ip);
        let links = [
            (1, ethernet_of(&[], &ip)),
            (1, vlan),
            (101, ip.clone()),
            (113, [vec![0; 16], ip.clone()].concat()),
            (276, [vec![0; 20], ip.clone()].concat()),
            (0, [vec![2, 0, 0, 0], ip.clone()].concat()),
        ];
        for (number, packet) in links {
            let (reception, frame) = parse(number, &packet).unwrap();
            assert_eq!(frame, ACK, "{number}");
            let expected = RxInfo {
                signal_dbm: Some(-60),
                encoding: Some(Encoding::Legacy(Rate::from_kbps(54_000))),
                channel: RadioChannel::numbered(6),
                tsft_us: Some(256),
                cut_bytes: 4,
                ..RxInfo::default()
            };
            assert_eq!(reception, expected);
        }
    }

    #[test]
    fn tzsp_without_a_frame_says_what_it_has() {
        let of = |payload: &[u8]| parse(101, &ipv4(TZSP_PORT, payload)).unwrap_err().to_string();
        let what = of(&tzsp_of(4, 0, &[], &[]));
        assert_eq!(what, "the TZSP packet carries a keep-alive and no 802.11 frame");
        assert_eq!(of(&tzsp_of(0, 1, &[], &ACK)), "the TZSP packet carries Ethernet and no 802.11 frame");
        assert!(of(&tzsp_of(0, 99, &[], &ACK)).starts_with("the TZSP header says protocol 99"));
        assert!(of(&[2, 0, 0, 18, 1]).starts_with("the TZSP header says version 2"));
        for length in 0..6 {
            let payload = &tzsp_of(0, 18, &[10, 1, 5], &[])[..length];
            assert!(parse(101, &ipv4(TZSP_PORT, payload)).is_err(), "{length}");
        }
    }

    #[test]
    fn rates_of_the_first_radios() {
        let mbps = |rate| tzsp_rate(rate).bps() as f64 / 1e6;
        assert_eq!([10, 20, 55, 110, 2, 11, 22, 108].map(mbps), [1.0, 2.0, 5.5, 11.0, 1.0, 5.5, 11.0, 54.0]);
    }

    #[test]
    fn every_format_of_aruba_erm() {
        let of = |payload: &[u8]| parse(101, &ipv4(ARUBA_PORT, payload)).unwrap();
        let record = |captured: u32, original: u32| {
            let words = [1_600_000_000_u32, 250_000, captured, original];
            words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
        };
        let (plain, frame) = of(&[record(10, 14), ACK.to_vec()].concat());
        assert_eq!((frame.as_slice(), plain.cut_bytes, plain.fcs_present), (&ACK[..], 4, None));
        assert_eq!(plain.timestamp.unwrap().ns, 1_600_000_000_250_000_000);
        // The length may or may not include the four bytes of radio data.
        for captured in [10, 14] {
            let payload = [record(captured, captured), vec![0, 12, 36, 50], ACK.to_vec()].concat();
            let (radio, frame) = of(&payload);
            assert_eq!((frame.as_slice(), radio.fcs_present), (&ACK[..], Some(true)));
            assert_eq!(radio.encoding, Some(Encoding::Legacy(Rate::from_kbps(6_000))));
            assert_eq!(radio.channel.unwrap().mhz, 5_180);
        }
        let own = [record(10, 10), vec![0, 12, 36, 100], ACK.to_vec()].concat();
        assert_eq!((of(&own).0.sent, of(&own).0.fcs_present), (true, Some(false)));
        let ppi = [vec![0, 0, 8, 0], 105_u32.to_le_bytes().to_vec(), ACK.to_vec()].concat();
        assert_eq!(of(&ppi).1, ACK);
        let radiotap = [vec![0, 0, 9, 0, 2, 0, 0, 0, 0x10], ACK.to_vec()].concat();
        assert_eq!((of(&radiotap).0.fcs_present, of(&radiotap).1.as_slice()), (Some(true), &ACK[..]));
        let mut peek = vec![0xc4, 0xa1, 0, 10, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 22, 11, 60, 0];
        peek.extend(ACK);
        assert_eq!((of(&peek).0.tsft_us, of(&peek).1.as_slice()), (Some(9), &ACK[..]));
        let unknown = parse(101, &ipv4(ARUBA_PORT, &[0xff; 40])).unwrap_err();
        assert!(unknown.to_string().contains("unknown format"), "{unknown}");
    }

    #[test]
    fn other_datagrams_are_none() {
        assert!(parse(101, &ipv4(53, &tzsp_of(0, 18, &[], &ACK))).is_err());
        assert!(parse(1, &ethernet_of(&[], &ipv4(PEEK_PORT, &[0xff; 30]))).is_err(), "no PEEKREMOTE");
        let mut tcp = ipv4(TZSP_PORT, &tzsp_of(0, 18, &[], &ACK));
        tcp[9] = 6;
        assert!(parse(101, &tcp).is_err());
        let mut later = ipv4(TZSP_PORT, &tzsp_of(0, 18, &[], &ACK));
        later[7] = 9;
        assert!(parse(101, &later).is_err(), "a later fragment of IP");
    }
}
