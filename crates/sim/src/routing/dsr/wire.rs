//! Messages of DSR (RFC 4728, section 6), and their bytes: a fixed header and options, right behind the IP
//! header.
//!
//! The first and the last node of a route are the source and the destination of the IP header. The TTL of a
//! request limits the number of relays.

use crate::routing::wire_format::WireFormat;
use crate::slab::{Datagram, IpFields, SourceRoute};
use multihop_core::{Bits, Carrier, Header, NodeId, header};
use std::ops::Deref;

/// IP protocol number (section 11).
pub(crate) const PROTOCOL: u8 = 48;
/// IP with this protocol number.
pub(crate) const CARRIER: Carrier = Carrier::Ip(PROTOCOL);
/// Next header field of a message without a payload (6.1).
const NO_NEXT_HEADER: u8 = 59;

/// Types of options (6.2 to 6.9).
const PAD_N: u8 = 0;
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const SOURCE_ROUTE: u8 = 96;
const PAD_1: u8 = 224;

/// Error type of an unreachable node (6.4).
const NODE_UNREACHABLE: u8 = 1;

const ADDRESS: usize = 4;
/// Length in bytes of the part of an option that its length field does not count.
const BEFORE_LENGTH: usize = 2;
/// Length in bytes of the longest message: a reply of 63 addresses with a source route of 62.
const LONGEST: usize =
    Fixed::LEN + (SourceRouteOption::LEN + 62 * ADDRESS) + (ReplyOption::LEN + 63 * ADDRESS + 1);

/// Wire format of DSR, for dissectors and the reference.
pub(crate) const FORMAT: WireFormat = WireFormat {
    carrier: CARRIER,
    layouts: &[
        Fixed::LAYOUT,
        RequestOption::LAYOUT,
        ReplyOption::LAYOUT,
        ErrorOption::LAYOUT,
        SourceRouteOption::LAYOUT,
    ],
    in_wireshark: true,
};

header! {
    /// Fixed header of DSR (RFC 4728, 6.1), before the options
    struct Fixed: "dsr" = 4 of 4 {
        /// IP protocol of the next header; 59 for none
        next_header: u8 [0..1] "",
        /// Length of the options in bytes
        payload_length: u16 [2..4] "B",
    }
}

header! {
    /// Route request of DSR (RFC 4728, 6.2), before the addresses of its relays
    struct RequestOption: "dsr_rreq" = 8 of 8 {
        /// Type: 1
        kind: u8 [0..1] "",
        /// Length of the rest of the option in bytes
        length: u8 [1..2] "B",
        /// Number of the request among those of its source
        identification: u16 [2..4] "",
        /// Destination that the request asks for
        target: NodeId [4..8] "",
    }
}

header! {
    /// Route reply of DSR (RFC 4728, 6.3), before the addresses of the route from its second node on
    struct ReplyOption: "dsr_rrep" = 3 of 3 {
        /// Type: 2
        kind: u8 [0..1] "",
        /// Length of the rest of the option in bytes
        length: u8 [1..2] "B",
    }
}

header! {
    /// Route error of DSR about a node that is not reachable (RFC 4728, 6.4)
    struct ErrorOption: "dsr_rerr" = 16 of 16 {
        /// Type: 3
        kind: u8 [0..1] "",
        /// Length of the rest of the option in bytes: 14
        length: u8 [1..2] "B",
        /// Type of the error: 1, node unreachable
        error_type: u8 [2..3] "",
        /// Node that found the link broken
        error_source: NodeId [4..8] "",
        /// Node whose route contains the link
        error_destination: NodeId [8..12] "",
        /// Next hop that did not acknowledge
        unreachable: NodeId [12..16] "",
    }
}

header! {
    /// Source route of DSR (RFC 4728, 6.7), before the addresses of the nodes between its ends
    struct SourceRouteOption: "dsr_source_route" = 4 of 4 {
        /// Type: 96
        kind: u8 [0..1] "",
        /// Length of the rest of the option in bytes
        length: u8 [1..2] "B",
        /// Number of times that nodes replaced the route
        salvage: Bits<4> [2..4, bit 6] "",
        /// Number of addresses behind the receiver still to be visited
        segments_left: Bits<6> [2..4, bit 0] "",
    }
}

/// Link that broke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct BrokenLink {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
}

/// Message of DSR.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, on the stack")]
pub(super) enum DsrMessage {
    /// Route request.
    Request(Request),
    /// Route reply.
    Reply(Reply),
    /// Route error.
    Error(RouteError),
}

/// Route request, which floods the network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) target: NodeId,
    /// Number of the request among those of its source.
    pub(super) number: u16,
    /// Number of times that the request may be relayed, counted from its source.
    pub(super) reach: u16,
    /// Source of the request, and the nodes that have relayed it.
    pub(super) nodes: Path,
    /// Break recently reported to the source: a reply should not contain that link.
    pub(super) broken: Option<BrokenLink>,
}

/// Route reply, which returns to the originator of the RREQ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    /// Route from the originator to the target.
    pub(super) found: Path,
    /// Nodes that the reply passes, from its sender to the originator.
    pub(super) route: Path,
}

/// Route error, which goes to the source of the route.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RouteError {
    pub(super) link: BrokenLink,
    /// Nodes that the error passes, from the one that found the break to the source of the route.
    pub(super) route: Path,
}

/// Sequence of nodes: as many as the six bits of "segments left" count, and two ends.
#[derive(Clone)]
pub(super) struct Path {
    nodes: [NodeId; Path::LONGEST],
    len: usize,
}

impl Path {
    const LONGEST: usize = 64;

    /// Appends a node.
    ///
    /// # Panics
    /// If the path has its largest length.
    pub(super) fn push(&mut self, node: NodeId) {
        self.nodes[self.len] = node;
        self.len += 1;
    }

    /// Path with these addresses between two ends; none if it would be too long.
    fn between(first: NodeId, addresses: &[u8], last: Option<NodeId>) -> Option<Path> {
        let addresses = addresses.chunks_exact(ADDRESS);
        let count = 1 + addresses.len() + usize::from(last.is_some());
        let is_whole = addresses.remainder().is_empty() && count <= Path::LONGEST;
        let inner = addresses.map(|bytes| NodeId::from_ipv4([bytes[0], bytes[1], bytes[2], bytes[3]]));
        is_whole.then(|| std::iter::once(first).chain(inner).chain(last).collect())
    }
}

impl Deref for Path {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.nodes[..self.len]
    }
}

impl FromIterator<NodeId> for Path {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Path {
        let mut path = Path { nodes: [NodeId(0); Path::LONGEST], len: 0 };
        nodes.into_iter().for_each(|node| path.push(node));
        path
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl DsrMessage {
    /// Nodes that a reply or an error passes, or that have relayed a request.
    pub(super) fn route(&self) -> &[NodeId] {
        match self {
            DsrMessage::Request(request) => &request.nodes,
            DsrMessage::Reply(reply) => &reply.route,
            DsrMessage::Error(error) => &error.route,
        }
    }

    /// Encodes the message as this node sends it.
    pub(super) fn emit(&self, sender: NodeId) -> Datagram {
        let mut out = Writer::new();
        let route = self.route();
        let (source, mut destination, mut ttl) = (route[0], route[route.len() - 1], u8::MAX);
        match self {
            DsrMessage::Request(request) => {
                destination = NodeId::BROADCAST;
                ttl = (usize::from(request.reach) + 2).saturating_sub(route.len()) as u8;
                out.request(request);
                if let Some(link) = request.broken {
                    out.error(link, source);
                }
            }
            DsrMessage::Reply(reply) => {
                out.source_route(route, 0, sender);
                out.reply(&reply.found);
            }
            DsrMessage::Error(error) => {
                out.source_route(route, 0, sender);
                out.error(error.link, destination);
            }
        }
        let bytes = out.finish(NO_NEXT_HEADER);
        Datagram::new(CARRIER, IpFields { source, destination, ttl }, bytes, bytes.len())
    }

    /// Decodes a message; none if it is malformed.
    pub(super) fn parse(message: &Datagram) -> Option<DsrMessage> {
        let IpFields { source, destination, ttl } = message.ip;
        let options = DsrOptions::parse(message.bytes())?;
        let route = |addresses| Path::between(source, addresses, Some(destination));
        let link = |error: ErrorOption| BrokenLink { from: error.error_source, to: error.unreachable };
        match options {
            DsrOptions { request: Some((request, relays)), reply: None, source_route: None, error } => {
                let nodes = Path::between(source, relays, None)?;
                let reach = (usize::from(ttl) + nodes.len()).saturating_sub(2) as u16;
                let (target, number) = (request.target, request.identification);
                Some(DsrMessage::Request(Request { target, number, reach, nodes, broken: error.map(link) }))
            }
            DsrOptions { request: None, reply: Some(found), source_route: Some(between), error: None } => {
                let found = Path::between(destination, found, None)?;
                Some(DsrMessage::Reply(Reply { found, route: route(between)? }))
            }
            DsrOptions { request: None, reply: None, source_route: Some(between), error: Some(error) } => {
                Some(DsrMessage::Error(RouteError { link: link(error), route: route(between)? }))
            }
            _ => None,
        }
    }
}

/// Options of a message; addresses are bytes.
#[derive(Default)]
struct DsrOptions<'m> {
    request: Option<(RequestOption, &'m [u8])>,
    reply: Option<&'m [u8]>,
    error: Option<ErrorOption>,
    source_route: Option<&'m [u8]>,
}

impl DsrOptions<'_> {
    fn parse(bytes: &[u8]) -> Option<DsrOptions<'_>> {
        let (head, mut rest) = bytes.split_at_checked(Fixed::LEN)?;
        if usize::from(Fixed::parse(head)?.payload_length) != rest.len() {
            return None;
        }
        let mut options = DsrOptions::default();
        while let Some((kind, after)) = rest.split_first() {
            if *kind == PAD_1 {
                rest = after;
                continue;
            }
            let (option, next) = rest.split_at_checked(BEFORE_LENGTH + usize::from(*after.first()?))?;
            match *kind {
                REQUEST => {
                    let (head, relays) = option.split_at_checked(RequestOption::LEN)?;
                    options.request = Some((RequestOption::parse(head)?, relays));
                }
                REPLY => options.reply = Some(option.get(ReplyOption::LEN..)?),
                ERROR => options.error = Some(ErrorOption::parse(option)?),
                SOURCE_ROUTE => options.source_route = Some(option.get(SourceRouteOption::LEN..)?),
                PAD_N => {}
                _ => return None,
            }
            rest = next;
        }
        Some(options)
    }
}

/// Header under construction.
struct Writer {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Writer {
    /// Starts with an empty fixed header.
    fn new() -> Writer {
        Writer { bytes: [0; LONGEST], len: Fixed::LEN }
    }

    fn put<H: Header>(&mut self, row: &H) {
        row.emit(&mut self.bytes[self.len..self.len + H::LEN]);
        self.len += H::LEN;
    }

    fn addresses(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            self.bytes[self.len..self.len + ADDRESS].copy_from_slice(&node.ipv4());
            self.len += ADDRESS;
        }
    }

    fn request(&mut self, request: &Request) {
        let relays = &request.nodes[1..];
        let length = length::<RequestOption>(relays.len());
        let (identification, target) = (request.number, request.target);
        self.put(&RequestOption { kind: REQUEST, length, identification, target });
        self.addresses(relays);
    }

    /// Appends a reply option, padded to a multiple of four bytes.
    fn reply(&mut self, found: &[NodeId]) {
        self.put(&ReplyOption { kind: REPLY, length: length::<ReplyOption>(found.len() - 1) });
        self.addresses(&found[1..]);
        self.bytes[self.len] = PAD_1;
        self.len += 1;
    }

    fn error(&mut self, link: BrokenLink, destination: NodeId) {
        self.put(&ErrorOption {
            kind: ERROR,
            length: length::<ErrorOption>(0),
            error_type: NODE_UNREACHABLE,
            error_source: link.from,
            error_destination: destination,
            unreachable: link.to,
        });
    }

    /// Appends the source route of a packet that this node, which is on it, sends to the next.
    fn source_route(&mut self, route: &[NodeId], salvaged: u8, sender: NodeId) {
        let between = &route[1..route.len() - 1];
        let passed = route.iter().position(|node| *node == sender).unwrap_or(0);
        self.put(&SourceRouteOption {
            kind: SOURCE_ROUTE,
            length: length::<SourceRouteOption>(between.len()),
            salvage: Bits(salvaged),
            segments_left: Bits(between.len().saturating_sub(passed) as u8),
        });
        self.addresses(between);
    }

    fn finish(&mut self, next_header: u8) -> &[u8] {
        let (head, options) = self.bytes[..self.len].split_at_mut(Fixed::LEN);
        Fixed { next_header, payload_length: options.len() as u16 }.emit(head);
        &self.bytes[..self.len]
    }
}

/// Value of the length field of an option with this number of addresses.
fn length<H: Header>(addresses: usize) -> u8 {
    let length = H::LEN - BEFORE_LENGTH + ADDRESS * addresses;
    u8::try_from(length).expect("routes are no longer than an option has room for")
}

/// Header between IP and the transport that has the source route of a packet, as node `sender` sends it.
pub(crate) fn source_route_header(route: &SourceRoute, sender: NodeId, next_header: u8) -> Vec<u8> {
    let mut out = Writer::new();
    out.source_route(&route.nodes, route.salvaged, sender);
    out.finish(next_header).to_vec()
}

/// Number of bytes that a source route adds to a packet: the fixed header, and an option with an address for
/// each node between the ends. ns-2 counts the same.
pub(crate) fn source_route_bytes(nodes: &[NodeId]) -> u32 {
    (Fixed::LEN + SourceRouteOption::LEN + ADDRESS * nodes.len().saturating_sub(2)) as u32
}

/// Node behind this one on a route.
///
/// # Panics
/// If the node is not on the route, or is its end.
pub(crate) fn next_on(route: &[NodeId], node: NodeId) -> NodeId {
    let at = route
        .iter()
        .position(|other| *other == node)
        .expect("nodes forward what came along a route of theirs");
    route[at + 1]
}
