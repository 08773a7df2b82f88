//! Body of a DATA frame: LLC, IPv4 (RFC 791) and transport headers of a simulated packet.
//!
//! The length of a body is that of the simulated frame, which depends on the rules of the MAC:
//!
//! * Standard: LLC/SNAP, IPv4 header, transport header and payload fill the body exactly.
//! * ns-2 counts 6 bytes more for the MAC header and none for LLC. An 802.2 header of 3 bytes with the
//!   service access point of IP (RFC 948) replaces LLC/SNAP, and 3 bytes of padding follow the datagram.
//! * If a scenario counts fewer bytes, the payload is truncated, then the transport header is omitted.
//!
//! The IPv4 total length is correct in all cases. A DSR source route and a congestion header follow the IPv4
//! header as separate protocols.
//!
//! A message of a routing protocol or a notice of router policies is complete, behind its own IPv4 header.
//! ns-2 counts no UDP header for AODV, so that the last bytes of its messages may be truncated.

use super::ip::{IPV4_HEADER, TCP, UDP, UDP_HEADER, checksum, endpoints, port, put_ipv4, put_udp};
use super::mpdu::address as hardware_address;
use super::tcp::{self, Options};
use crate::routing::{DSR_PROTOCOL, source_route_bytes, source_route_header};
use crate::slab::{Datagram, Handle, PacketContent, Slab, SourceRoute};
use multihop_core::{Carrier, Layout, NodeId, Packet, Port};

/// Packet in a DATA frame.
#[derive(Clone, Debug)]
pub(super) struct Contents<'p> {
    pub(super) packet: &'p Packet,
    pub(super) transport: Transport,
    /// Message of a routing protocol or notice of a router policy.
    message: Option<&'p Datagram>,
    /// Source route of the packet, and sender of the frame.
    route: Option<(&'p SourceRoute, NodeId)>,
    /// IPv4 and transport headers of a packet from outside, if known.
    headers: Option<&'p [u8]>,
}

impl<'p> Contents<'p> {
    /// Returns a packet in a frame of a sender.
    pub(super) fn of(
        packets: &'p Slab,
        handle: Handle,
        sender: NodeId,
        transport: Transport,
    ) -> Contents<'p> {
        let packet = &packets.get(handle).packet;
        let message = if packet.is_control() {
            packets.content(handle).and_then(PacketContent::datagram)
        } else {
            None
        };
        let route = packets.route(handle).map(|route| (route, sender));
        Contents { packet, transport, message, route, headers: None }
    }

    /// Sets the headers of a packet from outside.
    pub(super) fn with_headers(self, headers: Option<&'p [u8]>) -> Contents<'p> {
        Contents { headers: headers.filter(|headers| network_header(headers).is_some()), ..self }
    }

    /// Number of captured bytes besides MAC, IPv4 and transport headers.
    pub(super) fn extra_bytes(&self) -> usize {
        self.inner_bytes()
            + self.headers.map_or(0, |headers| headers.len().saturating_sub(IPV4_HEADER + MAX_TCP_HEADER))
    }

    /// Number of bytes between the IPv4 and transport headers, plus those of a message.
    fn inner_bytes(&self) -> usize {
        let route = self.route.map_or(0, |(route, _)| source_route_bytes(&route.nodes) as usize);
        let message = self.message.map_or(0, |message| message.on_air().len());
        route + message + self.packet.segment.feedback.on_air().len()
    }

    /// Returns the header of the source route, followed by protocol `next`; empty without a source route.
    fn route_header(&self, next: u8) -> Vec<u8> {
        self.route.map(|(route, sender)| source_route_header(route, sender, next)).unwrap_or_default()
    }
}

/// Transport protocol of a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Transport {
    /// TCP with the options that the simulated header counts.
    Tcp,
    /// UDP with its checksum.
    Udp,
    /// Packets from outside. If only their lengths are known, they are captured as UDP with a payload of the
    /// remaining length.
    Outside,
}

/// LLC/SNAP header of IPv4.
const SNAP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
/// 802.2 header with the service access point of IP.
const IP_SAP: [u8; 3] = [0x06, 0x06, 0x03];
/// 802.2 header of a body without a datagram: the null service access point.
const NULL_SAP: [u8; 3] = [0, 0, 0x03];
/// Size of the shortest body with an 802.2 header.
pub(super) const SHORTEST: usize = NULL_SAP.len();

/// LLC/SNAP header of ARP.
const ARP_SNAP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x06];
/// 802.2 header with the service access point of ARP.
const ARP_SAP: [u8; 3] = [0x98, 0x98, 0x03];
/// Size of an ARP request and of an ARP reply.
const ARP: usize = 28;

/// Size of the longest TCP header.
const MAX_TCP_HEADER: usize = 60;
/// Protocol number of a congestion header before TCP.
const CONGESTION_THEN_TCP: u8 = Layout::PROTOCOLS[0].0;
/// Protocol number of a congestion header before UDP.
const CONGESTION_THEN_UDP: u8 = Layout::PROTOCOLS[1].0;
/// Protocol number of a datagram whose transport header is omitted: "any host internal protocol" (IANA).
const TRUNCATED: u8 = 61;

/// Appends an ARP request or reply (RFC 826) behind LLC/SNAP or, in a shorter body, behind an 802.2 header
/// with the service access point of ARP.
fn put_arp(out: &mut Vec<u8>, room: usize, packet: &Packet) {
    let llc: &[u8] = if room >= ARP_SNAP.len() + ARP { &ARP_SNAP } else { &ARP_SAP };
    if room < llc.len() + ARP {
        out.extend_from_slice(if room >= SHORTEST { &NULL_SAP } else { &[] });
        return;
    }
    let is_reply = packet.port == Port::Sender;
    out.extend_from_slice(llc);
    out.extend([0, 1, 8, 0, 6, 4, 0, 1 + u8::from(is_reply)]);
    out.extend(hardware_address(Some(packet.source)));
    out.extend(packet.source.ipv4());
    out.extend(if is_reply { hardware_address(Some(packet.destination)) } else { [0; 6] });
    out.extend(packet.destination.ipv4());
}

/// Appends the headers of a body of `room` bytes, and a message. The caller fills the rest of the body with
/// zeros.
pub(super) fn put(out: &mut Vec<u8>, room: usize, contents: &Contents) {
    let packet = contents.packet;
    if packet.is_arp() {
        return put_arp(out, room, packet);
    }
    if let Some(message) = contents.message {
        return put_message(out, room, packet, message);
    }
    let header = match contents.transport {
        Transport::Tcp => tcp::HEADER,
        Transport::Udp => UDP_HEADER,
        Transport::Outside => return put_outside(out, room, contents),
    };
    let payload = if packet.is_control() {
        (packet.size as usize).saturating_sub(IPV4_HEADER + header)
    } else {
        packet.segment.payload as usize
    };
    let inner = contents.inner_bytes();
    let is_tcp = contents.transport == Transport::Tcp;
    let all_options = if is_tcp { Options::new(packet, usize::MAX).length } else { 0 };
    let Some(available) = put_llc(out, room, inner + header + all_options + payload) else { return };
    let Some(available) = available.checked_sub(header + inner) else {
        put_ipv4(out, packet, endpoints(packet), TRUNCATED, available);
        return;
    };
    let available = available.min(usize::from(u16::MAX) - IPV4_HEADER - header - inner);
    if is_tcp {
        let options = Options::new(packet, available.saturating_sub(payload));
        let length = header + options.length + payload.min(available - options.length);
        put_outer(out, contents, (TCP, CONGESTION_THEN_TCP), length);
        tcp::put(out, packet, &options, length);
    } else {
        let length = header + payload.min(available);
        put_outer(out, contents, (UDP, CONGESTION_THEN_UDP), length);
        put_udp(out, endpoints(packet), port(packet), &[], length);
    }
}

/// Appends the headers of a packet from outside. A packet shorter than a UDP header has none.
fn put_outside(out: &mut Vec<u8>, room: usize, contents: &Contents) {
    if let Some(headers) = contents.headers {
        return put_known_headers(out, room, contents, headers);
    }
    let packet = contents.packet;
    let (segment, inner) = (&packet.segment, contents.inner_bytes());
    let behind_ipv4 = ((segment.payload + segment.header) as usize).saturating_sub(IPV4_HEADER);
    let length = behind_ipv4.saturating_sub(segment.feedback.on_air().len());
    let Some(available) = put_llc(out, room, inner + length) else { return };
    let length = length.min(available.saturating_sub(inner));
    if length < UDP_HEADER {
        put_ipv4(out, packet, endpoints(packet), TRUNCATED, behind_ipv4.min(available));
    } else {
        put_outer(out, contents, (UDP, CONGESTION_THEN_UDP), length);
        put_udp(out, endpoints(packet), port(packet), &[], length);
    }
}

/// Appends the known headers of a packet from outside, with its current ECN codepoint and TTL. The transport
/// checksum is that of the original payload, which the capture does not contain.
fn put_known_headers(out: &mut Vec<u8>, room: usize, contents: &Contents, headers: &[u8]) {
    let packet = contents.packet;
    let segment = &packet.segment;
    let network = network_header(headers).expect("the constructor checks the headers");
    let (mut ipv4, transport) = (headers[..network].to_vec(), &headers[network..]);
    let congestion = segment.feedback.on_air();
    let behind_ipv4 =
        ((segment.payload + segment.header) as usize).saturating_sub(IPV4_HEADER + congestion.len());
    if put_llc(out, room, contents.inner_bytes() + behind_ipv4).is_none() {
        return;
    }
    let protocol = if congestion.is_empty() { ipv4[9] } else { CONGESTION_THEN_TCP };
    let route = contents.route_header(protocol);
    let length = segment.payload as usize + segment.header as usize + route.len();
    ipv4[1] = ipv4[1] & !3 | segment.ecn.bits();
    ipv4[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    ipv4[8] = ipv4[8].saturating_sub(packet.hops.min(255) as u8).max(1);
    ipv4[9] = if route.is_empty() { protocol } else { DSR_PROTOCOL };
    ipv4[10..12].fill(0);
    let sum = checksum(&[&ipv4]).to_be_bytes();
    ipv4[10..12].copy_from_slice(&sum);
    let parts = [&ipv4, &route, congestion, transport];
    let remaining = room - if out.ends_with(&SNAP) { SNAP.len() } else { IP_SAP.len() };
    out.extend(parts.into_iter().flatten().take(remaining));
}

/// Returns the length of the IPv4 header at the start of `headers`; none if there is no complete one.
fn network_header(headers: &[u8]) -> Option<usize> {
    let length =
        headers.first().filter(|first| **first >> 4 == 4).map(|first| usize::from(first & 15) * 4)?;
    (length >= IPV4_HEADER && length <= headers.len()).then_some(length)
}

/// Appends LLC/SNAP, or an 802.2 header if LLC/SNAP leaves no room for `length` bytes behind the IPv4 header.
/// Returns the number of bytes available behind the IPv4 header; none if the body is too short for it.
fn put_llc(out: &mut Vec<u8>, room: usize, length: usize) -> Option<usize> {
    let llc: &[u8] = if room >= SNAP.len() + IPV4_HEADER + length { &SNAP } else { &IP_SAP };
    let available = room.checked_sub(llc.len() + IPV4_HEADER);
    out.extend_from_slice(match available {
        Some(_) => llc,
        None if room >= SHORTEST => &NULL_SAP,
        None => &[],
    });
    available
}

/// Appends a message of a routing protocol, truncated to the length of the body.
fn put_message(out: &mut Vec<u8>, room: usize, packet: &Packet, message: &Datagram) {
    let (ip, bytes) = (message.ip.into(), message.on_air());
    let header = if matches!(message.carrier, Carrier::Udp(_)) { UDP_HEADER } else { 0 };
    let Some(available) = put_llc(out, room, header + bytes.len()) else { return };
    let Some(available) = available.checked_sub(header) else {
        put_ipv4(out, packet, ip, TRUNCATED, available);
        return;
    };
    let bytes = &bytes[..bytes.len().min(available)];
    let length = header + bytes.len();
    match message.carrier {
        Carrier::Ip(protocol) => put_ipv4(out, packet, ip, protocol, length),
        Carrier::Udp(port) => {
            put_ipv4(out, packet, ip, UDP, length);
            put_udp(out, ip, port, bytes, length);
        }
    }
    out.extend_from_slice(bytes);
}

/// Appends the headers before a transport segment of `length` bytes: IPv4, source route and congestion
/// header. The protocol number is `plain`, or `congestion_then` with a congestion header.
fn put_outer(out: &mut Vec<u8>, contents: &Contents, (plain, congestion_then): (u8, u8), length: usize) {
    let packet = contents.packet;
    let congestion = packet.segment.feedback.on_air();
    let protocol = if congestion.is_empty() { plain } else { congestion_then };
    let route = contents.route_header(protocol);
    let first = if route.is_empty() { protocol } else { DSR_PROTOCOL };
    put_ipv4(out, packet, endpoints(packet), first, route.len() + congestion.len() + length);
    out.extend(route);
    out.extend_from_slice(congestion);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::IpFields;
    use multihop_core::{AccEcnOption, Flags, FlowId, SackBlock, Segment, Time};

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
        put(&mut out, room, &Contents { packet, transport, message: None, route: None, headers: None });
        assert!(out.len() <= room);
        out
    }

    fn total_length(ipv4: &[u8]) -> u16 {
        u16::from_be_bytes([ipv4[2], ipv4[3]])
    }

    /// Whether the IPv4 and transport checksums are correct, by the check of receivers.
    fn has_valid_checksums(ipv4: &[u8]) -> bool {
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
        assert!(has_valid_checksums(ipv4), "{ipv4:?}");
    }

    /// Packets: TCP data and acknowledgement with timestamps, ping, fragment, four bytes of a protocol
    /// without ports. The IPv4 total length is that of the packet; the UDP length covers all bytes behind
    /// IPv4.
    #[test]
    fn a_packet_from_outside_keeps_its_length() {
        for (header, payload, protocol) in [
            (52, 1448, UDP),
            (52, 0, UDP),
            (28, 56, UDP),
            (20, 1480, UDP),
            (20, 4, TRUNCATED),
            (20, 0, TRUNCATED),
        ] {
            let packet = packet(Segment { payload, header, ..Segment::default() });
            let (size, room) = (payload + header, 8 + (payload + header) as usize);
            let body = body(room, &packet, Transport::Outside);
            assert_eq!(body[..8], SNAP, "{header} {payload}");
            let ipv4 = &body[8..];
            assert_eq!((u32::from(total_length(ipv4)), ipv4[9]), (size, protocol), "{header} {payload}");
            if protocol == UDP {
                assert_eq!(u32::from(u16::from_be_bytes([ipv4[24], ipv4[25]])), size - 20);
                assert!(has_valid_checksums(ipv4), "{header} {payload}");
            }
        }
    }

    /// Packets: TCP from port 5201 with timestamps and a CE mark after one hop; the same behind a congestion
    /// header; bytes that are no headers.
    #[test]
    fn a_packet_from_outside_keeps_its_known_headers() {
        let tcp = [&[0x14, 0x51, 0x9a, 0xd2, 0, 0, 0, 9, 0, 0, 0, 7, 0x80, 0x10][..], &[3; 18]].concat();
        let ipv4 = [0x45, 0x0a, 5, 220, 0x12, 0x34, 0x40, 0, 64, TCP, 1, 2, 10, 0, 0, 1, 10, 0, 1, 3];
        let headers = [&ipv4[..], &tcp].concat();
        let ecn = multihop_core::Ecn::CongestionExperienced;
        let packet = packet(Segment { payload: 1448, header: 52, ecn, ..Segment::default() });
        let body = |headers, packet: &Packet, room| {
            let (transport, message, route) = (Transport::Outside, None, None);
            let mut out = Vec::new();
            put(
                &mut out,
                room,
                &Contents { packet, transport, message, route, headers: None }.with_headers(Some(headers)),
            );
            out
        };
        let whole = body(&headers, &packet, 8 + 1500);
        assert_eq!(whole[..8], SNAP);
        assert_eq!(whole[8..18], [0x45, 0x0b, 5, 220, 0x12, 0x34, 0x40, 0, 63, TCP]);
        assert_eq!((checksum(&[&whole[8..28]]), &whole[28..]), (0, &tcp[..]));
        let feedback = multihop_core::HeaderBytes::from_bytes(&[9; 8], 8).unwrap();
        let segment = Segment { header: 60, feedback, ..packet.segment };
        let behind = body(&headers, &Packet { segment, size: 1508, ..packet }, 8 + 1508);
        assert_eq!((total_length(&behind[8..]), behind[17]), (1508, CONGESTION_THEN_TCP));
        assert_eq!((&behind[28..36], &behind[36..]), (&[9; 8][..], &tcp[..]));
        for invalid in [&headers[..19], &[0x65; 40], &[0x44; 40], &[]] {
            assert_eq!(body(invalid, &packet, 8 + 1500)[17], UDP);
        }
    }

    #[test]
    fn under_ns2_rules_a_shorter_llc_header_leaves_the_datagram_complete() {
        let body = body(6 + 40, &data(0), Transport::Tcp);
        assert_eq!(body[..3], IP_SAP);
        assert_eq!((body.len(), total_length(&body[3..])), (43, 40));
        assert!(has_valid_checksums(&body[3..]));
    }

    #[test]
    fn options_are_limited_to_the_available_bytes() {
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
        assert!(has_valid_checksums(&whole[8..]));
        // ns-2 counts the blocks alone.
        let short = body(6 + 68, &packet, Transport::Tcp);
        assert_eq!((short[3 + 32], total_length(&short[3..])), (11 << 4, 64));
        assert!(has_valid_checksums(&short[3..]));
    }

    /// RFC 9768: AE is the last bit of the 13th byte, and the option `AccECN1` of 8 bytes has the bytes of
    /// ECT(1) and of CE.
    #[test]
    fn accurate_ecn_has_a_flag_and_an_option() {
        let mut packet = packet(Segment {
            header: 40 + 12 + 8 + 12,
            flags: Flags { ack: true, ..Flags::default() }.with_ace(0b101),
            echo: Some(Time::from_ns(3_000_000)),
            acc_ecn: Some(AccEcnOption::new(0x01_0203, 0x04_0506)),
            ..Segment::default()
        });
        packet.port = Port::Sender;
        packet.segment.sack.push(SackBlock { start: 100, end: 200 });
        let whole = body(8 + 72, &packet, Transport::Tcp);
        assert_eq!(whole[8 + 32..8 + 34], [13 << 4 | 1, 0x50]);
        assert_eq!(whole[48 + 12..48 + 24], [174, 8, 1, 2, 3, 4, 5, 6, 1, 1, 5, 10]);
        assert!(has_valid_checksums(&whole[8..]));
        let short = body(8 + 52, &packet, Transport::Tcp);
        assert_eq!(short.len(), 3 + 52, "timestamps alone have room");
    }

    #[test]
    fn a_short_body_is_truncated_from_its_end() {
        let cut =
            body(3 + 20 + 8 + 10, &packet(Segment { payload: 50, ..Segment::default() }), Transport::Udp);
        assert_eq!((cut.len(), total_length(&cut[3..])), (31, 38));
        let bare = body(3 + 20 + 7, &data(0), Transport::Tcp);
        assert_eq!((bare[3 + 9], total_length(&bare[3..])), (TRUNCATED, 27));
        assert_eq!(body(22, &data(0), Transport::Tcp), NULL_SAP);
        assert!(body(2, &data(0), Transport::Tcp).is_empty());
    }

    fn message(carrier: Carrier, bytes: &[u8]) -> Datagram {
        let ip = IpFields { source: NodeId(3), destination: NodeId::BROADCAST, ttl: 7 };
        Datagram::new(carrier, ip, bytes, bytes.len() - 1)
    }

    fn routing(room: usize, message: &Datagram) -> Vec<u8> {
        let packet = Packet { flow: FlowId::ROUTING, ..packet(Segment::default()) };
        let contents = Contents {
            packet: &packet,
            transport: Transport::Udp,
            message: Some(message),
            route: None,
            headers: None,
        };
        let mut out = Vec::new();
        put(&mut out, room, &contents);
        out
    }

    #[test]
    fn a_routing_message_is_complete() {
        let body = routing(8 + 20 + 8 + 5, &message(Carrier::Udp(654), &[1, 2, 3, 4, 5, 6]));
        let ipv4 = &body[8..];
        assert_eq!((total_length(ipv4), ipv4[8], ipv4[9]), (33, 7, UDP));
        assert_eq!(
            ipv4[12..20],
            [10, 0, 0, 4, 255, 255, 255, 255],
            "addresses of the message, not of the packet"
        );
        assert_eq!(ipv4[20..26], [2, 142, 2, 142, 0, 13]);
        assert_eq!(ipv4[28..], [1, 2, 3, 4, 5], "bytes that are not on the air are omitted");
        assert!(has_valid_checksums(ipv4));
        let body = routing(8 + 25, &message(Carrier::Ip(114), &[1, 2, 3, 4, 5, 6]));
        assert_eq!((body[8 + 9], &body[8 + 20..]), (114, &[1, 2, 3, 4, 5][..]));
    }

    #[test]
    fn a_routing_message_is_truncated_to_a_short_body() {
        let message = message(Carrier::Udp(654), &[1, 2, 3, 4, 5, 6]);
        let whole = routing(3 + 33, &message);
        assert_eq!((&whole[..3], &whole[3 + 28..]), (&IP_SAP[..], &[1, 2, 3, 4, 5][..]));
        let cut = routing(3 + 31, &message);
        assert_eq!((total_length(&cut[3..]), &cut[3 + 28..]), (31, &[1, 2, 3][..]));
        assert!(has_valid_checksums(&cut[3..]));
        assert_eq!(routing(3 + 27, &message)[3 + 9], TRUNCATED);
        assert_eq!(routing(3 + 19, &message), NULL_SAP);
    }

    #[test]
    fn a_source_route_precedes_the_transport_header() {
        let route = SourceRoute { nodes: [0, 4, 258].map(NodeId).into(), salvaged: 0 };
        let packet = data(100);
        let contents = Contents {
            packet: &packet,
            transport: Transport::Tcp,
            message: None,
            route: Some((&route, NodeId(0))),
            headers: None,
        };
        assert_eq!(contents.extra_bytes(), 12);
        let mut out = Vec::new();
        put(&mut out, 8 + 152, &contents);
        let ipv4 = &out[8..];
        assert_eq!((total_length(ipv4), ipv4[9]), (152, DSR_PROTOCOL));
        assert_eq!(ipv4[20..32], [TCP, 0, 0, 8, 96, 6, 0, 1, 10, 0, 0, 5]);
        assert_eq!(ipv4[32..34], [0xc0, 2]);
    }
}
