//! Headers of IPv4 (RFC 791) and UDP (RFC 768), their checksums, and the ports of flows.

use crate::routing::IpFields;
use multihop_core::{Layout, Packet};

pub(super) const IPV4_HEADER: usize = 20;
pub(super) const UDP_HEADER: usize = 8;
pub(super) const TCP: u8 = Layout::PROTOCOLS[0].1;
pub(super) const UDP: u8 = Layout::PROTOCOLS[1].1;

/// Dynamic ports begin here (RFC 6335): flow 0, then one after another.
const FIRST_PORT: u32 = 49_152;
const PORTS: u32 = 65_536 - FIRST_PORT;

/// What the IPv4 header of a packet says that is no message between neighbours.
pub(super) fn ip_fields(packet: &Packet) -> IpFields {
    let ttl = 64u16.saturating_sub(packet.hops).max(1) as u8;
    IpFields { source: packet.source, destination: packet.destination, ttl }
}

/// The header of a datagram that carries `length` bytes.
pub(super) fn put_ipv4(out: &mut Vec<u8>, packet: &Packet, ip: IpFields, protocol: u8, length: usize) {
    let mut header = [0; IPV4_HEADER];
    header[0] = 0x45;
    header[1] = packet.segment.dscp.number() << 2 | packet.segment.ecn.bits();
    header[2..4].copy_from_slice(&((IPV4_HEADER + length) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&packet.identification().to_be_bytes());
    header[6] = 0x40; // do not fragment
    header[8] = ip.ttl;
    header[9] = protocol;
    header[12..16].copy_from_slice(&ip.source.ipv4());
    header[16..].copy_from_slice(&ip.destination.ipv4());
    let checksum = checksum(&[&header]).to_be_bytes();
    header[10..12].copy_from_slice(&checksum);
    out.extend(header);
}

/// The header of a datagram of `length` bytes, whose payload is this, and zeros.
pub(super) fn put_udp(out: &mut Vec<u8>, ip: IpFields, port: u16, payload: &[u8], length: usize) {
    let port = port.to_be_bytes();
    let mut header = [0; UDP_HEADER];
    header[..2].copy_from_slice(&port);
    header[2..4].copy_from_slice(&port);
    header[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    // "If the computed checksum is zero, it is transmitted as all ones" (RFC 768).
    let checksum = match checksum(&[&pseudo_header(ip, UDP, length), &header, payload]) {
        0 => u16::MAX,
        other => other,
    };
    header[6..].copy_from_slice(&checksum.to_be_bytes());
    out.extend(header);
}

/// Both ends of a flow use the same port.
pub(super) fn port(packet: &Packet) -> u16 {
    (FIRST_PORT + packet.flow.0 % PORTS) as u16
}

pub(super) fn pseudo_header(ip: IpFields, protocol: u8, length: usize) -> [u8; 12] {
    let mut header = [0; 12];
    header[..4].copy_from_slice(&ip.source.ipv4());
    header[4..8].copy_from_slice(&ip.destination.ipv4());
    header[9] = protocol;
    header[10..].copy_from_slice(&(length as u16).to_be_bytes());
    header
}

/// The Internet checksum of parts, all but the last of even length (RFC 1071).
pub(super) fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let word = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes.get(1).copied().unwrap_or(0)]);
    let mut sum: u32 = words.map(|bytes| u32::from(word(bytes))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
