//! Messages and their bytes.

use super::*;
use crate::routing::testing::cut;
use crate::slab::{Datagram, IpFields};
use multihop_core::Carrier;
use proptest::prelude::*;

/// RFC 4728, 6.1 to 6.7, with an IP header of 20 bytes; a chain of seven hops.
#[test]
fn messages_have_the_sizes_of_the_rfc() {
    let chain: Vec<NodeId> = (0..8).map(NodeId).collect();
    let size = |message: DsrMessage| size(&message.emit(chain[0]));
    assert_eq!(source_route_bytes(&chain), 4 + 4 + 6 * 4);
    assert_eq!(source_route_bytes(&chain[..2]), 8);
    assert_eq!(size(request(D, 1, 0, &chain[..1])), 20 + 4 + 8);
    assert_eq!(size(request(D, 1, 15, &chain[..7])), 20 + 4 + 8 + 6 * 4);
    assert_eq!(size(telling(BrokenLink { from: A, to: B })), 32 + 16);
    // 3 bytes and seven addresses, filled up to a multiple of 4.
    assert_eq!(size(reply(&chain, &chain)), 20 + 32 + 32);
    assert_eq!(size(error(A, B, &chain[..4])), 20 + 16 + 16);
}

fn telling(link: BrokenLink) -> DsrMessage {
    DsrMessage::Request(Request {
        target: D,
        number: 0x0203,
        reach: 0,
        nodes: path(&[ME]),
        broken: Some(link),
    })
}

/// 6.1: next header, flags, payload length. 6.2: type 1, length, identification, target, addresses. 6.4: type
/// 3, length, error type, salvage, error source, error destination, unreachable node.
#[test]
fn a_request_by_hand() {
    let message = request(D, 7, 15, &[ME, A, B]).emit(B);
    assert_eq!(message.on_air(), [59, 0, 0, 16, 1, 14, 0, 7, 10, 0, 0, 5, 10, 0, 0, 2, 10, 0, 0, 3]);
    assert_eq!(message.carrier, Carrier::Ip(48));
    assert_eq!(message.ip, IpFields { source: ME, destination: NodeId::BROADCAST, ttl: 14 });
    let message = telling(BrokenLink { from: A, to: B }).emit(ME);
    assert_eq!(message.on_air()[..12], [59, 0, 0, 24, 1, 6, 2, 3, 10, 0, 0, 5]);
    assert_eq!(message.on_air()[12..], [3, 14, 1, 0, 10, 0, 0, 2, 10, 0, 0, 1, 10, 0, 0, 3]);
    assert_eq!(message.ip.ttl, 1, "for neighbours alone");
}

/// 6.7: type 96, length, flags, salvage and segments left. 6.3: type 2, length, flags. 6.8: type 224.
#[test]
fn a_reply_by_hand() {
    let message = reply(&[ME, A, D], &[D, A, ME]).emit(D);
    #[rustfmt::skip]
    let expected = [
        59, 0, 0, 20,
        96, 6, 0, 1,
        10, 0, 0, 2,
        2, 9, 0,
        10, 0, 0, 2,
        10, 0, 0, 5,
        224,
    ];
    assert_eq!(message.on_air(), expected);
    assert_eq!((message.ip.source, message.ip.destination), (D, ME));
    assert_eq!(reply(&[ME, A, D], &[D, A, ME]).emit(A).on_air()[7], 0, "one segment less is left");
}

#[test]
fn an_error_by_hand() {
    let message = error(C, D, &[C, B, A, ME]).emit(B);
    assert_eq!(message.on_air()[..16], [59, 0, 0, 28, 96, 10, 0, 1, 10, 0, 0, 3, 10, 0, 0, 2]);
    assert_eq!(message.on_air()[16..], [3, 14, 1, 0, 10, 0, 0, 4, 10, 0, 0, 1, 10, 0, 0, 5]);
}

/// Salvage has bits 6 to 9 of the second half of the option's first word, segments left bits 0 to 5.
#[test]
fn the_header_of_a_data_packet_by_hand() {
    let header = source_route_header(&along(&[ME, A, B, D], 9), A, 6);
    assert_eq!(header, [6, 0, 0, 12, 96, 10, 0x02, 0x41, 10, 0, 0, 2, 10, 0, 0, 3]);
}

#[test]
fn padding_is_skipped() {
    let mut bytes = request(D, 7, 15, &[ME, A]).emit(A).on_air().to_vec();
    bytes.extend([224, 0, 1, 0]);
    bytes[3] += 4;
    let ip = IpFields { source: ME, destination: NodeId::BROADCAST, ttl: 15 };
    let message = Datagram::new(Carrier::Ip(48), ip, bytes, 0);
    assert_eq!(DsrMessage::parse(&message), Some(request(D, 7, 15, &[ME, A])));
}

#[test]
fn what_is_cut_off_is_no_message() {
    let reported = telling(BrokenLink { from: A, to: B });
    let whole =
        [request(D, 7, 15, &[ME, A]), reported, reply(&[ME, A, D], &[D, A, ME]), error(C, D, &[C, B, ME])];
    for message in whole.map(|message| message.emit(A)) {
        assert!(DsrMessage::parse(&message).is_some());
        for length in 0..message.bytes().len() {
            assert_eq!(DsrMessage::parse(&cut(&message, length)), None, "{length} of {message:?}");
        }
    }
}

fn node_id() -> impl Strategy<Value = NodeId> {
    (0..0x00ff_ffff_u32).prop_map(NodeId)
}

fn nodes(least: usize, most: usize) -> impl Strategy<Value = Path> {
    prop::collection::vec(node_id(), least..=most).prop_map(|nodes| path(&nodes))
}

fn link() -> impl Strategy<Value = BrokenLink> {
    (node_id(), node_id()).prop_map(|(from, to)| BrokenLink { from, to })
}

fn message() -> impl Strategy<Value = DsrMessage> {
    let request = (node_id(), any::<u16>(), nodes(1, 63), 0..=62_u16, prop::option::of(link())).prop_map(
        |(target, number, nodes, more, broken)| {
            let reach = nodes.len() as u16 - 1 + more;
            DsrMessage::Request(Request { target, number, reach, nodes, broken })
        },
    );
    let reply = (nodes(2, 64), nodes(1, 63)).prop_map(|(route, rest)| {
        let asker = route[route.len() - 1];
        DsrMessage::Reply(Reply {
            found: std::iter::once(asker).chain(rest.iter().copied()).collect(),
            route,
        })
    });
    let error =
        (link(), nodes(2, 64)).prop_map(|(link, route)| DsrMessage::Error(RouteError { link, route }));
    prop_oneof![request, reply, error]
}

/// Sequences of DSR options, valid or not.
fn options() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![Just(0_u8), Just(1), Just(2), Just(3), Just(96), Just(224), any::<u8>()];
    let option = (kind, any::<bool>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..40));
    let bytes = option.prop_map(|(kind, is_true, length, rest)| {
        let length = if is_true { rest.len() as u8 } else { length };
        [kind, length].into_iter().chain(rest).collect::<Vec<u8>>()
    });
    prop::collection::vec(bytes, 0..5).prop_map(|options| options.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_is_what_its_bytes_say(message in message()) {
        let sender = message.route()[0];
        prop_assert_eq!(DsrMessage::parse(&message.emit(sender)), Some(message));
    }

    #[test]
    fn any_bytes_are_a_message_or_none(options in options(), is_true: bool, length: u16, ttl: u8) {
        let length = if is_true { options.len() as u16 } else { length };
        let head = [59, 0, (length >> 8) as u8, length as u8];
        let bytes: Vec<u8> = head.into_iter().chain(options).collect();
        let ip = IpFields { source: A, destination: B, ttl };
        let message = Datagram::new(Carrier::Ip(48), ip, bytes, 0);
        DsrMessage::parse(&message);
    }
}
