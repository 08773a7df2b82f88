//! The body of a DATA frame: LLC, IPv4 (RFC 791) and transport headers made of a simulated packet.
//!
//! A body is as long as the simulated frame says, whatever headers its rules count. Under the standard's, LLC/SNAP, IPv4, the
//! transport's header and the payload fill it to the byte. ns-2 counts 6 bytes more for the MAC header and none for LLC; there the
//! 3 bytes of 802.2 with the service access point of IP (RFC 948) do, and 3 bytes of padding follow the datagram. The IPv4 total
//! length is true either way. A congestion header stands between IPv4 and the transport's header, as a protocol of its own.
//! Where a scenario counts yet fewer bytes, the payload is cut, then the transport's header left out.

use super::mpdu::address as hardware_address;
use multihop_core::{FlowId, NodeId, Packet, Port};

/// What carries a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Transport {
    /// With the options that the simulated header counts.
    Tcp,
    /// Its checksum is computed too.
    Udp,
}

const SNAP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
const IP_SAP: [u8; 3] = [0x06, 0x06, 0x03];
/// Of a body without a datagram: for no one in particular.
const NULL_SAP: [u8; 3] = [0, 0, 0x03];
/// Bytes of the shortest body that can be told what it is.
pub(super) const SHORTEST: usize = NULL_SAP.len();

const ARP_SNAP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x06];
const ARP_SAP: [u8; 3] = [0x98, 0x98, 0x03];
/// Bytes of a request and of a reply.
const ARP: usize = 28;

const IPV4_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// "Use for experimentation and testing" (RFC 3692): a congestion header, which TCP or UDP follows.
const CONGESTION_THEN_TCP: u8 = 253;
const CONGESTION_THEN_UDP: u8 = 254;
/// "Any host internal protocol" (IANA): a datagram whose frame has no room for the transport's header.
const CUT: u8 = 61;

/// Dynamic ports begin here (RFC 6335): flow 0, then one after another.
const FIRST_PORT: u32 = 49_152;
const PORTS: u32 = 65_536 - FIRST_PORT;
/// Of routing protocols; reserved, so that no dissector claims it.
const ROUTING_PORT: u16 = 49_151;
/// Of what router policies tell each other: for experiments (RFC 3692).
const SIGNALLING_PORT: u16 = 1_021;

/// A node's IPv4 address: 10.0.0.1 for the first.
fn address(node: NodeId) -> [u8; 4] {
    if node == NodeId::BROADCAST {
        return [255; 4];
    }
    let [_, a, b, c] = (node.0 + 1).to_be_bytes();
    [10, a, b, c]
}

/// Appends a request or a reply of address resolution (RFC 826), behind LLC/SNAP or, where there is no room for that, behind 802.2
/// with the service access point of ARP.
fn put_arp(out: &mut Vec<u8>, room: usize, packet: &Packet) {
    let llc: &[u8] = if room >= ARP_SNAP.len() + ARP { &ARP_SNAP } else { &ARP_SAP };
    if room < llc.len() + ARP {
        out.extend_from_slice(if room >= SHORTEST { &NULL_SAP } else { &[] });
        return;
    }
    let replies = packet.port == Port::Sender;
    out.extend_from_slice(llc);
    out.extend([0, 1, 8, 0, 6, 4, 0, 1 + u8::from(replies)]);
    out.extend(hardware_address(Some(packet.source)));
    out.extend(address(packet.source));
    out.extend(if replies { hardware_address(Some(packet.destination)) } else { [0; 6] });
    out.extend(address(packet.destination));
}

/// Appends the headers in a body of `room` bytes; what is missing at its end is zero.
pub(super) fn put(out: &mut Vec<u8>, room: usize, packet: &Packet, transport: Transport) {
    if packet.is_arp() {
        return put_arp(out, room, packet);
    }
    let header = match transport {
        Transport::Tcp => TCP_HEADER,
        Transport::Udp => UDP_HEADER,
    };
    let payload = if packet.is_control() {
        (packet.size as usize).saturating_sub(IPV4_HEADER + header)
    } else {
        packet.segment.payload as usize
    };
    let congestion = packet.segment.feedback.on_air();
    let all_options = if transport == Transport::Tcp { Options::new(packet, usize::MAX).length } else { 0 };
    let datagram = IPV4_HEADER + congestion.len() + header + all_options + payload;
    let llc: &[u8] = if room >= SNAP.len() + datagram { &SNAP } else { &IP_SAP };
    let Some(inside) = room.checked_sub(llc.len() + IPV4_HEADER) else {
        out.extend_from_slice(if room >= SHORTEST { &NULL_SAP } else { &[] });
        return;
    };
    out.extend_from_slice(llc);
    let Some(inside) = inside.checked_sub(header + congestion.len()) else {
        put_ipv4(out, packet, CUT, inside);
        return;
    };
    let inside = inside.min(usize::from(u16::MAX) - IPV4_HEADER - header - congestion.len());
    match transport {
        Transport::Tcp => {
            let options = Options::new(packet, inside.saturating_sub(payload));
            let length = header + options.length + payload.min(inside - options.length);
            put_outer(out, packet, (TCP, CONGESTION_THEN_TCP), length);
            put_tcp(out, packet, &options, length);
        }
        Transport::Udp => {
            let length = header + payload.min(inside);
            put_outer(out, packet, (UDP, CONGESTION_THEN_UDP), length);
            put_udp(out, packet, length);
        }
    }
}

/// What is before a transport's segment of `length` bytes: IPv4, and the congestion header if there is one. The protocol is the first of
/// these, or the second behind a congestion header.
fn put_outer(out: &mut Vec<u8>, packet: &Packet, (plain, behind): (u8, u8), length: usize) {
    let congestion = packet.segment.feedback.on_air();
    let protocol = if congestion.is_empty() { plain } else { behind };
    put_ipv4(out, packet, protocol, congestion.len() + length);
    out.extend_from_slice(congestion);
}

/// The header of a datagram that carries `length` bytes.
fn put_ipv4(out: &mut Vec<u8>, packet: &Packet, protocol: u8, length: usize) {
    let mut header = [0; IPV4_HEADER];
    header[0] = 0x45;
    header[1] = packet.segment.ecn.bits();
    header[2..4].copy_from_slice(&((IPV4_HEADER + length) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&packet.identification().to_be_bytes());
    header[6] = 0x40; // do not fragment
    header[8] = 64u16.saturating_sub(packet.hops).max(1) as u8;
    header[9] = protocol;
    header[12..16].copy_from_slice(&address(packet.source));
    header[16..].copy_from_slice(&address(packet.destination));
    let checksum = checksum(&[&header]).to_be_bytes();
    header[10..12].copy_from_slice(&checksum);
    out.extend(header);
}

/// The header of a segment of `length` bytes, whose payload is all zeros.
fn put_tcp(out: &mut Vec<u8>, packet: &Packet, options: &Options, length: usize) {
    let segment = &packet.segment;
    let flags = segment.flags;
    // A SYN takes a sequence number, which the simulator does not count.
    let seq = if flags.syn { 0 } else { segment.seq + 1 };
    let ack = if flags.ack { segment.ack + 1 } else { 0 };
    let window = match packet.port {
        // The simulated sender receives no data, and has no window.
        Port::Receiver => u16::MAX,
        Port::Sender => segment.window.min(u64::from(u16::MAX)) as u16,
    };
    let port = port(packet).to_be_bytes();
    let mut header = [0; TCP_HEADER];
    header[..2].copy_from_slice(&port);
    header[2..4].copy_from_slice(&port);
    header[4..8].copy_from_slice(&(seq as u32).to_be_bytes());
    header[8..12].copy_from_slice(&(ack as u32).to_be_bytes());
    header[12] = ((TCP_HEADER + options.length) as u8 / 4) << 4;
    let bits = [flags.syn, flags.ack, flags.ece, flags.cwr];
    header[13] = bits.iter().zip([0x02, 0x10, 0x40, 0x80]).filter(|(on, _)| **on).map(|(_, bit)| bit).sum();
    header[14..16].copy_from_slice(&window.to_be_bytes());
    let pseudo = pseudo_header(packet, TCP, length);
    let checksum = checksum(&[&pseudo, &header, options.bytes()]).to_be_bytes();
    header[16..18].copy_from_slice(&checksum);
    out.extend(header);
    out.extend_from_slice(options.bytes());
}

/// The header of a datagram of `length` bytes, whose payload is all zeros.
fn put_udp(out: &mut Vec<u8>, packet: &Packet, length: usize) {
    let port = port(packet).to_be_bytes();
    let mut header = [0; UDP_HEADER];
    header[..2].copy_from_slice(&port);
    header[2..4].copy_from_slice(&port);
    header[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    // "If the computed checksum is zero, it is transmitted as all ones" (RFC 768).
    let checksum = match checksum(&[&pseudo_header(packet, UDP, length), &header]) {
        0 => u16::MAX,
        other => other,
    };
    header[6..].copy_from_slice(&checksum.to_be_bytes());
    out.extend(header);
}

/// Both ends of a flow use the same port.
fn port(packet: &Packet) -> u16 {
    match packet.flow {
        FlowId::ROUTING => ROUTING_PORT,
        FlowId::SIGNALLING => SIGNALLING_PORT,
        FlowId(flow) => (FIRST_PORT + flow % PORTS) as u16,
    }
}

fn pseudo_header(packet: &Packet, protocol: u8, length: usize) -> [u8; 12] {
    let mut header = [0; 12];
    header[..4].copy_from_slice(&address(packet.source));
    header[4..8].copy_from_slice(&address(packet.destination));
    header[9] = protocol;
    header[10..].copy_from_slice(&(length as u16).to_be_bytes());
    header
}

/// The Internet checksum of parts of even length (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// TCP options.
struct Options {
    bytes: [u8; 40],
    length: usize,
}

impl Options {
    const NOP: u8 = 1;
    const SACK: u8 = 5;
    const TIMESTAMPS: u8 = 8;

    /// What `room` has place for: timestamps, then SACK blocks, which ns-2 counts with fewer bytes than they take.
    fn new(packet: &Packet, room: usize) -> Options {
        let mut options = Options { bytes: [0; 40], length: 0 };
        let segment = &packet.segment;
        if let Some(echo) = segment.echo
            && room >= 12
        {
            let milliseconds = |time: multihop_core::Time| (time.ns() / 1_000_000) as u32;
            let (value, reply) = match packet.port {
                Port::Receiver => (milliseconds(echo), 0),
                Port::Sender => (milliseconds(packet.created), milliseconds(echo)),
            };
            options.put(&[Options::NOP, Options::NOP, Options::TIMESTAMPS, 10]);
            options.put(&value.to_be_bytes());
            options.put(&reply.to_be_bytes());
        }
        let blocks = segment.sack.as_slice();
        let fit = (room - options.length.min(room)).saturating_sub(4) / 8;
        let blocks = &blocks[..blocks.len().min(fit)];
        if !blocks.is_empty() {
            options.put(&[Options::NOP, Options::NOP, Options::SACK, 2 + 8 * blocks.len() as u8]);
            for block in blocks {
                options.put(&((block.start + 1) as u32).to_be_bytes());
                options.put(&((block.end + 1) as u32).to_be_bytes());
            }
        }
        options
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{Flags, SackBlock, Segment, Time};

    fn packet(segment: Segment) -> Packet {
        Packet {
            segment,
            flow: FlowId(2),
            port: Port::Receiver,
            source: NodeId(0),
            destination: NodeId(258),
            size: segment.payload + segment.header,
            number: 7,
            created: Time::from_ns(5_000_000),
            hops: 1,
        }
    }

    fn data(payload: u32) -> Packet {
        let flags = Flags { ack: true, ..Flags::default() };
        packet(Segment { seq: 1460, payload, header: 40, flags, ..Segment::default() })
    }

    fn body(room: usize, packet: &Packet, transport: Transport) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, room, packet, transport);
        assert!(out.len() <= room);
        out
    }

    fn total_length(ipv4: &[u8]) -> u16 {
        u16::from_be_bytes([ipv4[2], ipv4[3]])
    }

    /// As receivers check: the sum over everything with its checksum is all ones.
    fn is_sound(ipv4: &[u8]) -> bool {
        let length = total_length(ipv4) - 20;
        let mut pseudo = [0; 12];
        pseudo[..8].copy_from_slice(&ipv4[12..20]);
        pseudo[9] = ipv4[9];
        pseudo[10..].copy_from_slice(&length.to_be_bytes());
        checksum(&[&ipv4[..20]]) == 0 && checksum(&[&pseudo, &ipv4[20..]]) == 0
    }

    #[test]
    fn under_the_standards_rules_the_headers_fill_the_body() {
        let body = body(8 + 1500, &data(1460), Transport::Tcp);
        assert_eq!(body[..8], SNAP);
        let ipv4 = &body[8..];
        assert_eq!(total_length(ipv4), 1500);
        assert_eq!(ipv4[8..10], [63, TCP]);
        assert_eq!(ipv4[12..20], [10, 0, 0, 1, 10, 0, 1, 3]);
        assert_eq!(ipv4[20..24], [0xc0, 2, 0xc0, 2]);
        assert_eq!(ipv4[24..28], 1461u32.to_be_bytes(), "the SYN had number 0");
        assert!(is_sound(ipv4), "{ipv4:?}");
    }

    #[test]
    fn under_ns2s_rules_a_shorter_llc_header_leaves_the_datagram_whole() {
        let body = body(6 + 40, &data(0), Transport::Tcp);
        assert_eq!(body[..3], IP_SAP);
        assert_eq!((body.len(), total_length(&body[3..])), (43, 40));
        assert!(is_sound(&body[3..]));
    }

    #[test]
    fn options_are_listed_as_far_as_there_is_room() {
        let mut packet = packet(Segment {
            header: 40 + 12 + 20,
            flags: Flags { ack: true, ..Flags::default() },
            echo: Some(Time::from_ns(3_000_000)),
            ..Segment::default()
        });
        packet.port = Port::Sender;
        packet.segment.sack.push(SackBlock { start: 100, end: 200 });
        packet.segment.sack.push(SackBlock { start: 300, end: 400 });
        let whole = body(8 + 72, &packet, Transport::Tcp);
        let options = &whole[48..];
        assert_eq!(options[..12], [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 3]);
        assert_eq!(options[12..20], [1, 1, 5, 18, 0, 0, 0, 101]);
        assert_eq!((whole.len(), whole[8 + 32]), (80, 13 << 4));
        assert!(is_sound(&whole[8..]));
        // ns-2 counts the blocks alone.
        let short = body(6 + 68, &packet, Transport::Tcp);
        assert_eq!((short[3 + 32], total_length(&short[3..])), (11 << 4, 64));
        assert!(is_sound(&short[3..]));
    }

    #[test]
    fn what_has_no_room_is_left_out_from_the_inside() {
        let cut =
            body(3 + 20 + 8 + 10, &packet(Segment { payload: 50, ..Segment::default() }), Transport::Udp);
        assert_eq!((cut.len(), total_length(&cut[3..])), (31, 38));
        let bare = body(3 + 20 + 7, &data(0), Transport::Tcp);
        assert_eq!((bare[3 + 9], total_length(&bare[3..])), (CUT, 27));
        assert_eq!(body(22, &data(0), Transport::Tcp), NULL_SAP);
        assert!(body(2, &data(0), Transport::Tcp).is_empty());
    }

    #[test]
    fn a_routing_packet_is_a_broadcast_datagram() {
        let update = Packet {
            flow: FlowId::ROUTING,
            destination: NodeId::BROADCAST,
            size: 20 + 36,
            ..packet(Segment::default())
        };
        let body = body(8 + 56, &update, Transport::Udp);
        let ipv4 = &body[8..];
        assert_eq!((total_length(ipv4), &ipv4[16..20]), (56, &[255; 4][..]));
        assert_eq!(ipv4[20..22], ROUTING_PORT.to_be_bytes());
        assert!(is_sound(ipv4));
    }
}
