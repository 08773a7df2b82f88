//! Messages of AODV (RFC 3561, section 5), and their bytes.
//!
//! Two fields are not among the bytes on the air. The number of hops left is the TTL of the IP header. The
//! start of the discovery follows the last byte, as in ns-2, whose nodes measure the duration of discoveries
//! by it.

use crate::config::AodvConfig;
use crate::routing::wire_format::WireFormat;
use crate::slab::{Datagram, IpFields};
use multihop_core::{Carrier, Header, NodeId, Span, Time, header};

/// UDP with the port of section 3.
pub(crate) const CARRIER: Carrier = Carrier::Udp(654);

/// Message types (section 5).
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;

const MILLISECOND: Span = Span::from_ms(1);

/// Longest lifetime of a route that a reply can state.
pub(super) const LONGEST_LIFETIME: Span = Span::from_ms(u32::MAX as u64);

/// Wire format of AODV, for dissectors and the reference.
pub(crate) const FORMAT: WireFormat = WireFormat {
    carrier: CARRIER,
    layouts: &[Rreq::LAYOUT, Rrep::LAYOUT, Rerr::LAYOUT, Destination::LAYOUT],
    in_wireshark: true,
};

header! {
    /// Route request of AODV (RREQ; RFC 3561, 5.1)
    struct Rreq: "aodv_rreq" = 24 of 32 {
        /// Type: 1
        kind: u8 [0..1] "",
        /// Whether any sequence number of the destination is acceptable (U)
        unknown: bool [1..2, bit 3] "",
        /// Hops from the originator to the sender of this message
        hop_count: u8 [3..4] "",
        /// Number of the request among those of its originator
        id: u32 [4..8] "",
        /// Destination that the request asks for
        destination: NodeId [8..12] "",
        /// Smallest sequence number of an acceptable route
        destination_sequence: u32 [12..16] "",
        /// Node that asks for a route
        originator: NodeId [16..20] "",
        /// Sequence number of the originator
        originator_sequence: u32 [20..24] "",
        /// Time at which the originator sent the request
        asked: u64 [24..32] "ns",
    }
}

header! {
    /// Route reply of AODV, or a hello (RREP; RFC 3561, 5.2 and 6.9)
    struct Rrep: "aodv_rrep" = 20 of 28 {
        /// Type: 2
        kind: u8 [0..1] "",
        /// Hops from the sender of this message to the destination
        hop_count: u8 [3..4] "",
        /// Destination of the route; in a hello, its sender
        destination: NodeId [4..8] "",
        /// Sequence number of the route
        destination_sequence: u32 [8..12] "",
        /// Node that asked for the route; in a hello, its sender
        originator: NodeId [12..16] "",
        /// Lifetime of the route unless a packet uses it
        lifetime: u32 [16..20] "ms",
        /// Time at which the originator sent the request
        asked: u64 [20..28] "ns",
    }
}

header! {
    /// Route error of AODV (RERR; RFC 3561, 5.3), before its destinations
    struct Rerr: "aodv_rerr" = 4 of 4 {
        /// Type: 3
        kind: u8 [0..1] "",
        /// Number of destinations that follow; 255 for more
        count: u8 [3..4] "",
    }
}

header! {
    /// Unreachable destination in a route error of AODV
    struct Destination: "aodv_rerr_destination" = 8 of 8 {
        /// Unreachable destination
        node: NodeId [0..4] "",
        /// Sequence number of the route that broke
        sequence: u32 [4..8] "",
    }
}

/// Message of AODV.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AodvMessage {
    /// Route request (RREQ, 5.1).
    Request(AodvRequest),
    /// Route reply (RREP, 5.2).
    Reply(AodvReply),
    /// Route error (RERR, 5.3): destinations that the sender cannot reach any more.
    Error(Vec<Unreachable>),
    /// Hello of a neighbour (6.9).
    Hello(Hello),
}

/// Route request (RFC 3561, 5.1), which floods a part of the network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AodvRequest {
    /// Originator of the request.
    pub(super) source: NodeId,
    /// Sequence number of the originator.
    pub(super) source_sequence: u32,
    /// Number of the request among those of its originator.
    pub(super) number: u32,
    /// Destination that the request asks for.
    pub(super) target: NodeId,
    /// Smallest sequence number of an acceptable route.
    pub(super) target_sequence: u32,
    /// Hops from the originator to the receiver: one more than the hop count field.
    pub(super) hops: u16,
    /// Hops that the request may still travel, including the hop to the receiver: the TTL.
    pub(super) reach: u16,
    /// Time at which the originator sent the request.
    pub(super) asked: Time,
}

/// Route reply (5.2), which returns to the originator of the RREQ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AodvReply {
    /// Originator of the request.
    pub(super) to: NodeId,
    /// Destination of the route.
    pub(super) target: NodeId,
    /// Sequence number of the route.
    pub(super) sequence: u32,
    /// Hops from the receiver to the destination: one more than the hop count field.
    pub(super) hops: u16,
    /// Lifetime of the route unless a packet uses it: whole milliseconds, at most `LONGEST_LIFETIME`.
    pub(super) lifetime: Span,
    /// Hops that the reply may still travel: the TTL.
    pub(super) reach: u16,
    /// Time at which the originator sent the request.
    pub(super) asked: Time,
}

/// Unreachable destination in a route error (5.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Unreachable {
    pub(super) destination: NodeId,
    /// Largest sequence number of the routes concerned.
    pub(super) sequence: u32,
}

/// Hello message (6.9): a reply about its sender, to its sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Hello {
    pub(super) sender: NodeId,
    /// Sequence number of the sender.
    pub(super) sequence: u32,
    /// Time without another hello after which the neighbour is lost.
    pub(super) lifetime: Span,
}

impl AodvMessage {
    /// Length in bytes above the MAC, IP header included.
    pub(super) fn size(&self, sizes: &AodvConfig) -> u32 {
        match self {
            AodvMessage::Request(_) => sizes.rreq_size,
            AodvMessage::Reply(_) | AodvMessage::Hello(_) => sizes.rrep_size,
            AodvMessage::Error(list) => {
                sizes.rerr_size + AodvConfig::RERR_DESTINATION_SIZE * list.len() as u32
            }
        }
    }

    /// Encodes the message as node `from` sends it to a neighbour or to all.
    pub(super) fn emit(&self, from: NodeId, to: NodeId) -> Datagram {
        let ip = |ttl| IpFields { source: from, destination: to, ttl };
        match self {
            AodvMessage::Request(request) => row(ip(byte(request.reach.into())), &request.row()),
            AodvMessage::Reply(reply) => row(ip(byte(reply.reach.into())), &reply.row()),
            AodvMessage::Hello(hello) => row(ip(1), &hello.row()),
            AodvMessage::Error(list) => {
                let mut bytes = vec![0; Rerr::LEN + Destination::LEN * list.len()];
                let (head, places) = bytes.split_at_mut(Rerr::LEN);
                Rerr { kind: ERROR, count: byte(list.len()) }.emit(head);
                for (place, entry) in places.chunks_exact_mut(Destination::LEN).zip(list) {
                    Destination { node: entry.destination, sequence: entry.sequence }.emit(place);
                }
                let air = bytes.len();
                Datagram::new(CARRIER, ip(1), bytes, air)
            }
        }
    }

    /// Decodes a message; none if it is malformed. A reply about its originator is a hello, because no node
    /// asks for itself.
    pub(super) fn parse(message: &Datagram) -> Option<AodvMessage> {
        let (bytes, reach) = (message.bytes(), u16::from(message.ip.ttl));
        match *bytes.first()? {
            REQUEST => Rreq::parse(bytes).map(|row| AodvMessage::Request(AodvRequest::of(&row, reach))),
            REPLY => Rrep::parse(bytes).map(|row| {
                if row.originator == row.destination {
                    return AodvMessage::Hello(Hello::of(&row));
                }
                AodvMessage::Reply(AodvReply::of(&row, reach))
            }),
            ERROR => unreachables(bytes).map(AodvMessage::Error),
            _ => None,
        }
    }
}

/// Destinations of a route error.
fn unreachables(bytes: &[u8]) -> Option<Vec<Unreachable>> {
    let (head, places) = bytes.split_at_checked(Rerr::LEN)?;
    let places = places.chunks_exact(Destination::LEN);
    if !places.remainder().is_empty() || Rerr::parse(head)?.count != byte(places.len()) {
        return None;
    }
    let entry = |row: Destination| Unreachable { destination: row.node, sequence: row.sequence };
    places.map(|place| Destination::parse(place).map(entry)).collect()
}

/// Message that consists of one header.
fn row<H: Header>(ip: IpFields, header: &H) -> Datagram {
    let mut bytes = [0; Rreq::LEN];
    header.emit(&mut bytes[..H::LEN]);
    Datagram::new(CARRIER, ip, &bytes[..H::LEN], H::LAYOUT.air)
}

/// Number in a byte, capped at 255.
fn byte(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn milliseconds(lifetime: Span) -> u32 {
    u32::try_from(lifetime.whole(MILLISECOND)).unwrap_or(u32::MAX)
}

impl AodvRequest {
    fn row(&self) -> Rreq {
        Rreq {
            kind: REQUEST,
            unknown: self.target_sequence == 0,
            hop_count: byte(usize::from(self.hops) - 1),
            id: self.number,
            destination: self.target,
            destination_sequence: self.target_sequence,
            originator: self.source,
            originator_sequence: self.source_sequence,
            asked: self.asked.ns(),
        }
    }

    fn of(row: &Rreq, reach: u16) -> AodvRequest {
        AodvRequest {
            source: row.originator,
            source_sequence: row.originator_sequence,
            number: row.id,
            target: row.destination,
            target_sequence: row.destination_sequence,
            hops: u16::from(row.hop_count) + 1,
            reach,
            asked: Time::from_ns(row.asked),
        }
    }
}

impl AodvReply {
    fn row(&self) -> Rrep {
        Rrep {
            kind: REPLY,
            hop_count: byte(usize::from(self.hops) - 1),
            destination: self.target,
            destination_sequence: self.sequence,
            originator: self.to,
            lifetime: milliseconds(self.lifetime),
            asked: self.asked.ns(),
        }
    }

    fn of(row: &Rrep, reach: u16) -> AodvReply {
        AodvReply {
            to: row.originator,
            target: row.destination,
            sequence: row.destination_sequence,
            hops: u16::from(row.hop_count) + 1,
            lifetime: MILLISECOND * u64::from(row.lifetime),
            reach,
            asked: Time::from_ns(row.asked),
        }
    }
}

impl Hello {
    fn row(&self) -> Rrep {
        Rrep {
            kind: REPLY,
            hop_count: 0,
            destination: self.sender,
            destination_sequence: self.sequence,
            originator: self.sender,
            lifetime: milliseconds(self.lifetime),
            asked: 0,
        }
    }

    fn of(row: &Rrep) -> Hello {
        Hello {
            sender: row.destination,
            sequence: row.destination_sequence,
            lifetime: MILLISECOND * u64::from(row.lifetime),
        }
    }
}
