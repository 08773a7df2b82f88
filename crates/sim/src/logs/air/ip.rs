//! Headers of IPv4 (RFC 791) and UDP (RFC 768), their checksums, and the ports of flows.

use crate::routing::IpFields;
use multihop_core::{FlowId, Layout, Packet};

/// Size of the IPv4 header.
pub(super) const IPV4_HEADER: usize = 20;
/// Size of the UDP header.
pub(super) const UDP_HEADER: usize = 8;
pub(super) const TCP: u8 = Layout::PROTOCOLS[0].1;
pub(super) const UDP: u8 = Layout::PROTOCOLS[1].1;

/// First dynamic port (RFC 6335), which flow 0 uses; later flows use the following ports.
const FIRST_PORT: u32 = 49_152;
const PORTS: u32 = 65_536 - FIRST_PORT;

/// Addresses and TTL of an IPv4 header.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpEndpoints {
    source: [u8; 4],
    destination: [u8; 4],
    ttl: u8,
}

impl From<IpFields> for IpEndpoints {
    fn from(ip: IpFields) -> IpEndpoints {
        IpEndpoints { source: ip.source.ipv4(), destination: ip.destination.ipv4(), ttl: ip.ttl }
    }
}

/// Returns addresses and TTL of a packet of a flow. A multicast packet has a TTL of 1, because no router
/// forwards it.
pub(super) fn endpoints(packet: &Packet) -> IpEndpoints {
    if packet.is_multicast() {
        return IpEndpoints { source: packet.source.ipv4(), destination: group(packet.flow), ttl: 1 };
    }
    let ttl = 64u16.saturating_sub(packet.hops).max(1) as u8;
    IpFields { source: packet.source, destination: packet.destination, ttl }.into()
}

/// Returns the multicast group of a flow, in the organisation-local scope (RFC 2365, section 6.2).
fn group(flow: FlowId) -> [u8; 4] {
    let [_, a, b, c] = flow.0.to_be_bytes();
    [239, 0b1100_0000 | a & 0b11, b, c]
}

/// Returns the hardware address of a flow's multicast group, whose last 23 bits are those of the IPv4 address
/// (RFC 1112, section 6.4).
pub(super) fn group_hardware_address(flow: FlowId) -> [u8; 6] {
    let [_, a, b, c] = group(flow);
    [0x01, 0x00, 0x5e, a & 0x7f, b, c]
}

/// Appends the IPv4 header of a datagram that carries `length` bytes.
pub(super) fn put_ipv4(out: &mut Vec<u8>, packet: &Packet, ip: IpEndpoints, protocol: u8, length: usize) {
    let mut header = [0; IPV4_HEADER];
    header[0] = 0x45;
    header[1] = packet.segment.dscp.number() << 2 | packet.segment.ecn.bits();
    header[2..4].copy_from_slice(&((IPV4_HEADER + length) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&packet.identification().to_be_bytes());
    header[6] = 0x40; // do not fragment
    header[8] = ip.ttl;
    header[9] = protocol;
    header[12..16].copy_from_slice(&ip.source);
    header[16..].copy_from_slice(&ip.destination);
    let checksum = checksum(&[&header]).to_be_bytes();
    header[10..12].copy_from_slice(&checksum);
    out.extend(header);
}

/// Appends the UDP header of a datagram of `length` bytes, whose payload is `payload` and zeros.
pub(super) fn put_udp(out: &mut Vec<u8>, ip: IpEndpoints, port: u16, payload: &[u8], length: usize) {
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

/// Returns the port that both ends of a packet's flow use.
pub(super) fn port(packet: &Packet) -> u16 {
    (FIRST_PORT + packet.flow.0 % PORTS) as u16
}

/// Returns the pseudo header of the checksum of a segment of `length` bytes.
pub(super) fn pseudo_header(ip: IpEndpoints, protocol: u8, length: usize) -> [u8; 12] {
    let mut header = [0; 12];
    header[..4].copy_from_slice(&ip.source);
    header[4..8].copy_from_slice(&ip.destination);
    header[9] = protocol;
    header[10..].copy_from_slice(&(length as u16).to_be_bytes());
    header
}

/// Returns the Internet checksum of parts (RFC 1071); all but the last must have an even length.
pub(super) fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let word = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes.get(1).copied().unwrap_or(0)]);
    let mut sum: u32 = words.map(|bytes| u32::from(word(bytes))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
