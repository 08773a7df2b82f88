//! Fields of the kernel's packets that a run needs (RFC 791), and ECN marking of packets (RFC 3168).

use multihop_core::Ecn;

/// Length of an IPv4 header without options, in bytes.
const HEADER: usize = 20;
/// Offset of the ECN field, in its lowest two bits.
const TRAFFIC_CLASS: usize = 1;
const CHECKSUM: usize = 10;
const CE: u8 = 0b11;

/// Fields of an IPv4 packet that a run needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Datagram {
    /// Source address.
    pub source: [u8; 4],
    /// Destination address.
    pub destination: [u8; 4],
    /// Number of bytes after the network and transport headers.
    pub payload: u32,
    /// Number of bytes of these headers.
    pub header: u32,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Hash of addresses, protocol and ports, for flow queues; without ports for fragments, as in the kernel.
    pub stream: u16,
}

/// Reason why a packet of the kernel is not injected.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Refusal {
    /// The packet is not IP, or its header is broken.
    Malformed,
    /// The packet is IPv6.
    Ipv6,
    /// The destination is not a single host.
    Multicast,
    /// The source is not the address of the node.
    ForeignSource,
    /// No node has the destination's address, or no node can reach it.
    UnknownDestination,
    /// The same segment is already queued in the [shim](crate::shim).
    Repeated,
    /// The packet exceeds the maximum MSDU.
    TooLong,
    /// The connection has the maximum number of segments queued in the [shim](crate::shim).
    ShimFull,
}

impl Refusal {
    /// All refusals, in the order of counters.
    pub const ALL: [Refusal; 8] = [
        Refusal::Malformed,
        Refusal::Ipv6,
        Refusal::Multicast,
        Refusal::ForeignSource,
        Refusal::UnknownDestination,
        Refusal::Repeated,
        Refusal::TooLong,
        Refusal::ShimFull,
    ];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::Malformed => "malformed",
            Refusal::Ipv6 => "ipv6",
            Refusal::Multicast => "multicast",
            Refusal::ForeignSource => "foreign_source",
            Refusal::UnknownDestination => "unknown_destination",
            Refusal::Repeated => "repeated",
            Refusal::TooLong => "too_long",
            Refusal::ShimFull => "shim_full",
        }
    }
}

impl Datagram {
    /// Parses a packet of the kernel.
    ///
    /// # Errors
    /// If it is not a complete IPv4 packet to a single host.
    pub fn parse(packet: &[u8]) -> Result<Datagram, Refusal> {
        match packet.first().map(|first| first >> 4) {
            Some(4) => {}
            Some(6) => return Err(Refusal::Ipv6),
            _ => return Err(Refusal::Malformed),
        }
        let network = usize::from(packet[0] & 15) * 4;
        if network < HEADER || packet.len() < network {
            return Err(Refusal::Malformed);
        }
        let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let address = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
        let total = usize::from(word(2));
        if total < network || total > packet.len() {
            return Err(Refusal::Malformed);
        }
        let (source, destination, protocol) = (address(12), address(16), packet[9]);
        if destination[0] >= 224 || destination == [10, 255, 255, 255] {
            return Err(Refusal::Multicast);
        }
        let (more_fragments, offset) = (word(6) & 0x2000 != 0, word(6) & 0x1fff);
        let is_fragment = more_fragments || offset > 0;
        let inside = &packet[network..total];
        let transport = if offset > 0 { 0 } else { transport_header(protocol, inside) };
        let has_ports = !is_fragment && matches!(protocol, 6 | 17 | 33 | 132) && inside.len() >= 4;
        let ports = if has_ports { &inside[..4] } else { &[] };
        Ok(Datagram {
            source,
            destination,
            payload: (inside.len() - transport) as u32,
            header: (network + transport) as u32,
            ecn: Ecn::from_bits(packet[TRAFFIC_CLASS]),
            stream: stream_hash(&[&source, &destination, &[protocol], ports]),
        })
    }
}

/// Length in bytes of the transport header at the beginning of `inside`.
fn transport_header(protocol: u8, inside: &[u8]) -> usize {
    let length = match protocol {
        6 => inside.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4),
        1 | 17 => 8,
        _ => 0,
    };
    length.min(inside.len())
}

/// FNV-1a hash, folded to 16 bits.
fn stream_hash(parts: &[&[u8]]) -> u16 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as u16
}

/// Sets congestion experienced in a packet that [`Datagram::parse`] has accepted, and updates its checksum
/// (RFC 1624, equation 3).
pub fn mark(packet: &mut [u8]) {
    let class = packet[TRAFFIC_CLASS] | CE;
    set_byte(packet, TRAFFIC_CLASS, class, CHECKSUM);
}

/// Changes the byte at offset `at` of a header, and updates the checksum at offset `checksum` (RFC 1624,
/// equation 3).
pub(crate) fn set_byte(header: &mut [u8], at: usize, to: u8, checksum: usize) {
    let word = |header: &[u8], at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let before = word(header, at & !1);
    header[at] = to;
    let after = word(header, at & !1);
    let mut wide = u32::from(!word(header, checksum)) + u32::from(!before) + u32::from(after);
    while wide > 0xffff {
        wide = (wide & 0xffff) + (wide >> 16);
    }
    header[checksum..checksum + 2].copy_from_slice(&(!(wide as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;

    /// A TCP segment of 100 payload bytes with 12 bytes of options from 10.0.0.1 to 10.0.0.3, with ECT(0).
    fn segment() -> Vec<u8> {
        let mut packet = vec![0; 20 + 32 + 100];
        packet[0] = 0x45;
        packet[1] = 0b10;
        packet[2..4].copy_from_slice(&152_u16.to_be_bytes());
        packet[9] = 6;
        packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
        packet[16..20].copy_from_slice(&[10, 0, 0, 3]);
        packet[20..24].copy_from_slice(&[0x13, 0x89, 0xc0, 0x01]);
        packet[32] = 8 << 4;
        let sum = !checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// Ones' complement sum; all ones over a header with a correct checksum.
    fn checksum(header: &[u8]) -> u16 {
        let mut sum: u32 = header.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn headers_and_payload_are_separate() {
        let read = Datagram::parse(&segment()).unwrap();
        assert_eq!((read.source, read.destination), ([10, 0, 0, 1], [10, 0, 0, 3]));
        assert_eq!((read.header, read.payload, read.ecn), (52, 100, Ecn::Ect0));
        let mut udp = segment();
        udp[9] = 17;
        let read = Datagram::parse(&udp).unwrap();
        assert_eq!((read.header, read.payload), (28, 124));
    }

    #[test]
    fn a_mark_leaves_the_checksum_right() {
        for class in [1, 2, 0xb9, 0xba] {
            let mut packet = segment();
            packet[1] = class;
            packet[10..12].fill(0);
            let sum = !checksum(&packet[..20]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            mark(&mut packet);
            assert_eq!(packet[1], class | 3);
            assert_eq!(checksum(&packet[..20]), 0xffff);
            assert_eq!(Datagram::parse(&packet).unwrap().ecn, Ecn::CongestionExperienced);
        }
    }

    #[test]
    fn connections_are_streams_and_fragments_are_one() {
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut packet = segment();
            change(&mut packet);
            Datagram::parse(&packet).unwrap()
        };
        let plain = of(&|_| ());
        assert_ne!(plain.stream, of(&|packet| packet[21] ^= 1).stream, "another port");
        assert_eq!(plain.stream, of(&|packet| packet[1] = 0).stream, "the same connection");
        let fragments = [0x20, 0x3f].map(|flags| {
            of(&|packet: &mut Vec<u8>| {
                packet[6] = flags;
                packet[21] = flags;
            })
        });
        assert_eq!(fragments[0].stream, fragments[1].stream, "of whatever ports they seem to have");
        assert_eq!(
            (fragments[1].header, fragments[1].payload),
            (20, 132),
            "no transport header in the middle"
        );
    }

    #[test]
    fn what_cannot_be_carried_is_refused() {
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut packet = segment();
            change(&mut packet);
            Datagram::parse(&packet).unwrap_err()
        };
        assert_eq!(refused(&|packet| packet.clear()), Refusal::Malformed);
        assert_eq!(refused(&|packet| packet.truncate(19)), Refusal::Malformed);
        assert_eq!(refused(&|packet| packet.truncate(151)), Refusal::Malformed);
        assert_eq!(refused(&|packet| packet[0] = 0x44), Refusal::Malformed);
        assert_eq!(refused(&|packet| packet[3] = 19), Refusal::Malformed);
        assert_eq!(refused(&|packet| packet[0] = 0x65), Refusal::Ipv6);
        assert_eq!(refused(&|packet| packet[16] = 224), Refusal::Multicast);
        assert_eq!(refused(&|packet| packet[16..20].fill(255)), Refusal::Multicast);
        assert_eq!(refused(&|packet| packet[17..20].fill(255)), Refusal::Multicast);
    }

    /// Random bytes give a datagram whose lengths add up, or a refusal.
    #[test]
    fn no_bytes_panic() {
        let mut rng = Rng::at(1, &["datagram"]);
        let whole = segment();
        let mut parsed = 0;
        for _ in 0..200_000 {
            let mut packet = whole.clone();
            for _ in 0..rng.below(6) {
                let at = rng.below(packet.len() as u32) as usize;
                packet[at] = rng.below(256) as u8;
            }
            packet.truncate(rng.below(160) as usize + usize::from(rng.below(3) > 0) * 160);
            if let Ok(read) = Datagram::parse(&packet) {
                parsed += 1;
                assert!((read.header + read.payload) as usize <= packet.len());
                mark(&mut packet);
            }
        }
        assert!(parsed > 20_000, "{parsed}");
    }
}
