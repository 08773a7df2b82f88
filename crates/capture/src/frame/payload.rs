//! Payload of a data frame: LLC and SNAP (RFC 1042), IPv4 (RFC 791), IPv6 (RFC 8200), TCP (RFC 9293), UDP
//! (RFC 768).

use super::{DataHeader, Frame};
use crate::bytes::{ByteOrder, array};

/// Payload with an LLC and SNAP header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Payload {
    /// Ethertype: 0x0800 for IPv4, 0x86dd for IPv6, 0x0806 for ARP, 0x888e for EAPOL.
    pub ethertype: u16,
    /// IP header.
    pub network: Option<IpPacket>,
}

/// IP packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IpPacket {
    /// Version: 4 or 6.
    pub version: u8,
    /// Length of the packet in bytes, header included.
    pub total_bytes: u32,
    /// Protocol of the payload: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// Transport header; none in fragments after the first.
    pub transport: Option<TransportHeader>,
}

/// Transport header of a segment or datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransportHeader {
    /// TCP.
    Tcp {
        /// Ports.
        ports: Ports,
        /// Number of data bytes, by the length of the IP packet.
        payload_bytes: u32,
    },
    /// UDP.
    Udp {
        /// Ports.
        ports: Ports,
        /// Number of data bytes, by the UDP header.
        payload_bytes: u32,
    },
}

/// Ports of a segment or datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Payload of a data frame's body; none if it is encrypted, empty, a later fragment, an A-MSDU, or without an
/// LLC header.
pub(super) fn read(body: &[u8], frame: &Frame, data: DataHeader) -> Option<Payload> {
    let later_fragment = frame.sequence.is_some_and(|sequence| sequence.fragment > 0);
    if frame.protected || data.null || data.a_msdu || later_fragment {
        return None;
    }
    snap(body).or_else(|| snap(behind_mesh_control(body).filter(|_| data.qos)?))
}

/// Number of bytes of the packets in an A-MSDU of `length` bytes, of which `body` were captured (9.3.2.2).
/// Each packet follows two addresses, a length, and LLC/SNAP.
pub(super) fn a_msdu_bytes(body: &[u8], length: u32) -> Option<u32> {
    const ADDRESSES: usize = 12;
    const LLC: u32 = 8;
    let (mut at, mut bytes) = (0, 0);
    while at + ADDRESSES + 2 <= length as usize {
        let msdu = body.get(at + ADDRESSES..at + ADDRESSES + 2)?;
        let msdu = u16::from_be_bytes([msdu[0], msdu[1]]);
        bytes += u32::from(msdu).saturating_sub(LLC);
        at = (at + ADDRESSES + 2 + usize::from(msdu)).next_multiple_of(4);
    }
    Some(bytes)
}

/// Body after the mesh control field, whose two lowest bits give its number of addresses (9.2.4.7.3).
fn behind_mesh_control(body: &[u8]) -> Option<&[u8]> {
    let addresses = body.first()? & 3;
    if addresses == 3 { None } else { body.get(6 + 6 * usize::from(addresses)..) }
}

/// Payload after LLC and SNAP with the organization code of RFC 1042 or of 802.1H.
fn snap(body: &[u8]) -> Option<Payload> {
    let ([0xaa, 0xaa, 0x03, 0, 0, 0 | 0xf8], ethertype) = (array(body, 0)?, ByteOrder::Big.u16(body, 6)?)
    else {
        return None;
    };
    let packet = &body[8..];
    let network = match ethertype {
        IPV4 => ipv4(packet),
        IPV6 => ipv6(packet),
        _ => None,
    };
    Some(Payload { ethertype, network })
}

fn ipv4(packet: &[u8]) -> Option<IpPacket> {
    let first = *packet.first()?;
    let (version, header) = (first >> 4, usize::from(first & 0x0f) * 4);
    let total = usize::from(ByteOrder::Big.u16(packet, 2)?);
    let protocol = *packet.get(9)?;
    if version != 4 || header < 20 || total < header {
        return None;
    }
    let fragment_offset = ByteOrder::Big.u16(packet, 6)? & 0x1fff;
    let segment = packet.get(header..).filter(|_| fragment_offset == 0);
    let transport = segment.and_then(|segment| transport(protocol, segment, total - header));
    Some(IpPacket { version, total_bytes: total as u32, protocol, transport })
}

fn ipv6(packet: &[u8]) -> Option<IpPacket> {
    const FIXED: usize = 40;
    // Extension headers: hop-by-hop options, routing, fragment, destination options.
    const FRAGMENT: u8 = 44;
    const BETWEEN: [u8; 4] = [0, 43, FRAGMENT, 60];
    let version = packet.first()? >> 4;
    let mut left = usize::from(ByteOrder::Big.u16(packet, 4)?);
    let mut protocol = *packet.get(6)?;
    if version != 6 {
        return None;
    }
    let network = |protocol, transport| {
        let total_bytes = (FIXED + usize::from(ByteOrder::Big.u16(packet, 4)?)) as u32;
        Some(IpPacket { version, total_bytes, protocol, transport })
    };
    let mut rest = packet.get(FIXED..).unwrap_or_default();
    while BETWEEN.contains(&protocol) {
        let (Some(&next), Some(&units)) = (rest.first(), rest.get(1)) else { return network(protocol, None) };
        let later_fragment =
            protocol == FRAGMENT && ByteOrder::Big.u16(rest, 2).is_none_or(|offset| offset & 0xfff8 != 0);
        let length = if protocol == FRAGMENT { 8 } else { 8 + 8 * usize::from(units) };
        if later_fragment || left < length {
            return network(next, None);
        }
        left -= length;
        rest = rest.get(length..).unwrap_or_default();
        protocol = next;
    }
    network(protocol, transport(protocol, rest, left))
}

/// Transport header at the start of `segment`, which had `length` bytes on the air.
fn transport(protocol: u8, segment: &[u8], length: usize) -> Option<TransportHeader> {
    let ports =
        Ports { source: ByteOrder::Big.u16(segment, 0)?, destination: ByteOrder::Big.u16(segment, 2)? };
    match protocol {
        TCP => {
            let header = usize::from(segment.get(12)? >> 4) * 4;
            let payload_bytes = length.checked_sub(header).filter(|_| header >= 20)? as u32;
            Some(TransportHeader::Tcp { ports, payload_bytes })
        }
        UDP => {
            let payload_bytes = u32::from(ByteOrder::Big.u16(segment, 4)?).checked_sub(8)?;
            Some(TransportHeader::Udp { ports, payload_bytes })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLC and SNAP, then `packet`.
    fn body(ethertype: u16, packet: &[u8]) -> Vec<u8> {
        let mut body = vec![0xaa, 0xaa, 3, 0, 0, 0];
        body.extend(ethertype.to_be_bytes());
        body.extend(packet);
        body
    }

    fn v4(protocol: u8, total: u16, fragment: u16, segment: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend(total.to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(fragment.to_be_bytes());
        packet.extend([64, protocol]);
        packet.extend([0; 10]);
        packet.extend(segment);
        packet
    }

    fn network(bytes: &[u8]) -> IpPacket {
        snap(bytes).unwrap().network.unwrap()
    }

    const PORTS: Ports = Ports { source: 1000, destination: 80 };

    fn tcp_header() -> Vec<u8> {
        let mut header = vec![0x03, 0xe8, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];
        header.resize(32, 0);
        header
    }

    #[test]
    fn tcp_over_ipv4_by_the_length_of_the_packet() {
        // 20 + 32 + 100 bytes, of which the last 100 were not captured.
        let packet = body(IPV4, &v4(TCP, 152, 0x4000, &tcp_header()));
        let found = network(&packet);
        assert_eq!((found.version, found.total_bytes), (4, 152));
        assert_eq!(found.transport, Some(TransportHeader::Tcp { ports: PORTS, payload_bytes: 100 }));
        let later = network(&body(IPV4, &v4(TCP, 152, 0x2001, &tcp_header())));
        assert_eq!((later.protocol, later.transport), (TCP, None));
        assert_eq!(network(&packet[..30]).transport, None, "cut in the IP header");
    }

    #[test]
    fn udp_over_ipv6_behind_an_options_header() {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((8 + 8 + 4_u16).to_be_bytes());
        packet.extend([0, 64]);
        packet.extend([0; 32]);
        packet.extend([UDP, 0, 0, 0, 0, 0, 0, 0]);
        packet.extend([0x03, 0xe8, 0, 80, 0, 12, 0, 0]);
        let found = network(&body(IPV6, &packet));
        assert_eq!((found.version, found.total_bytes, found.protocol), (6, 60, UDP));
        assert_eq!(found.transport, Some(TransportHeader::Udp { ports: PORTS, payload_bytes: 4 }));
    }

    #[test]
    fn other_bodies() {
        assert_eq!(snap(&body(0x0806, &[1, 2])), Some(Payload { ethertype: 0x0806, network: None }));
        assert_eq!(snap(&[0x42, 0x42, 3, 0, 0, 0, 0, 0]), None, "LLC without SNAP");
        assert_eq!(snap(&body(IPV4, &[0x65; 30])).unwrap().network, None, "version 6 as IPv4");
        let mut behind_mesh = vec![1, 31, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6];
        behind_mesh.extend(body(0x0806, &[]));
        assert_eq!(behind_mesh_control(&behind_mesh).and_then(snap).unwrap().ethertype, 0x0806);
    }
}
