//! Messages and their bytes.

use super::*;
use crate::routing::aodv::wire::{CARRIER, LONGEST_LIFETIME};
use crate::routing::testing::cut;
use crate::slab::{Datagram, IpFields};
use multihop_core::Carrier;
use proptest::prelude::*;

/// RFC 3561, 5.1: type 1, flags (U), hop count, request id, destination and originator with their numbers;
/// then when it was asked.
#[test]
fn a_request_by_hand() {
    let message = AodvMessage::Request(request()).emit(A, NodeId::BROADCAST);
    #[rustfmt::skip]
    let expected = [
        1, 0x08, 0, 1,
        0, 0, 0, 5,
        10, 0, 0, 5,
        0, 0, 0, 0,
        10, 0, 0, 4,
        0, 0, 0, 8,
    ];
    assert_eq!(message.on_air(), expected);
    assert_eq!(message.bytes()[24..], 500_000_000u64.to_be_bytes());
    assert_eq!(message.carrier, Carrier::Udp(654));
    assert_eq!(message.ip, IpFields { source: A, destination: NodeId::BROADCAST, ttl: 30 });
    let known = AodvMessage::Request(AodvRequest { target_sequence: 7, ..request() });
    assert_eq!(known.emit(A, B).on_air()[1], 0, "the number of the destination is known");
}

/// RFC 3561, 5.2: type 2, flags, prefix size, hop count, destination with its number, originator, lifetime in
/// milliseconds.
#[test]
fn a_reply_by_hand() {
    let message = AodvMessage::Reply(reply(6, 3)).emit(B, ME);
    #[rustfmt::skip]
    let expected = [
        2, 0, 0, 2,
        10, 0, 0, 5,
        0, 0, 0, 6,
        10, 0, 0, 1,
        0, 0, 0x27, 0x10,
    ];
    assert_eq!(message.on_air(), expected);
    assert_eq!(message.ip, IpFields { source: B, destination: ME, ttl: 30 });
}

/// RFC 3561, 6.9: a reply about its sender with a hop count of 0, and a TTL of 1.
#[test]
fn a_hello_by_hand() {
    let message = hello(4).emit(B, NodeId::BROADCAST);
    assert_eq!(message.on_air(), [2, 0, 0, 0, 10, 0, 0, 3, 0, 0, 0, 4, 10, 0, 0, 3, 0, 0, 0x0b, 0xb8]);
    assert_eq!(message.ip.ttl, 1);
}

/// RFC 3561, 5.3: type 3, flag N, destination count, and destinations with their numbers.
#[test]
fn an_error_by_hand() {
    let message = error(&[(C, 7), (D, 9)]).emit(A, NodeId::BROADCAST);
    assert_eq!(message.on_air(), [3, 0, 0, 2, 10, 0, 0, 4, 0, 0, 0, 7, 10, 0, 0, 5, 0, 0, 0, 9]);
    assert_eq!(message.on_air().len(), message.bytes().len());
    let many: Vec<(NodeId, u32)> = (0..300).map(|id| (NodeId(id), 1)).collect();
    let message = error(&many).emit(A, NodeId::BROADCAST);
    assert_eq!(message.on_air()[3], 255);
    assert_eq!(
        AodvMessage::parse(&message),
        Some(error(&many)),
        "all of them, whatever the count has room for"
    );
}

#[test]
fn what_is_cut_off_is_no_message() {
    let whole = [
        AodvMessage::Request(request()),
        AodvMessage::Reply(reply(6, 3)),
        hello(4),
        error(&[(C, 7), (D, 9)]),
    ];
    for message in whole.map(|message| message.emit(A, B)) {
        assert!(AodvMessage::parse(&message).is_some());
        for length in 0..message.bytes().len() {
            assert_eq!(AodvMessage::parse(&cut(&message, length)), None, "{length} of {message:?}");
        }
    }
}

#[test]
fn a_lifetime_is_whole_milliseconds_and_has_an_end() {
    let stated = |lifetime| {
        let message = AodvMessage::Reply(AodvReply { lifetime, ..reply(6, 3) }).emit(B, ME);
        let Some(AodvMessage::Reply(read)) = AodvMessage::parse(&message) else { panic!("{message:?}") };
        read.lifetime
    };
    assert_eq!(stated(Span::from_us(2_999)), Span::from_ms(2));
    assert_eq!(stated(Span::from_ms(1 << 40)), LONGEST_LIFETIME);
}

fn node_id() -> impl Strategy<Value = NodeId> {
    (0..0x00ff_ffff_u32).prop_map(NodeId)
}

fn lifetime() -> impl Strategy<Value = Span> {
    any::<u32>().prop_map(|ms| Span::from_ms(ms.into()))
}

fn message() -> impl Strategy<Value = AodvMessage> {
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>());
    let request = (node_id(), node_id(), numbers, 1..=256_u16, 0..=255_u16).prop_map(
        |(source, target, (source_sequence, target_sequence, number, asked), hops, reach)| {
            let asked = Time::from_ns(asked);
            AodvRequest { source, source_sequence, number, target, target_sequence, hops, reach, asked }
        },
    );
    let reply = (node_id(), node_id(), any::<u32>(), lifetime(), 1..=256_u16, 0..=255_u16, any::<u64>())
        .prop_filter("a node does not ask for itself", |(to, target, ..)| to != target)
        .prop_map(|(to, target, sequence, lifetime, hops, reach, asked)| AodvReply {
            to,
            target,
            sequence,
            hops,
            lifetime,
            reach,
            asked: Time::from_ns(asked),
        });
    let hello = (node_id(), any::<u32>(), lifetime()).prop_map(|(sender, sequence, lifetime)| Hello {
        sender,
        sequence,
        lifetime,
    });
    let unreachable =
        (node_id(), any::<u32>()).prop_map(|(destination, sequence)| Unreachable { destination, sequence });
    prop_oneof![
        request.prop_map(AodvMessage::Request),
        reply.prop_map(AodvMessage::Reply),
        hello.prop_map(AodvMessage::Hello),
        prop::collection::vec(unreachable, 0..300).prop_map(AodvMessage::Error),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_is_what_its_bytes_say(message in message()) {
        prop_assert_eq!(AodvMessage::parse(&message.emit(A, B)), Some(message));
    }

    /// Types are few, and lengths that fit are as well: they are drawn more often than by chance.
    #[test]
    fn any_bytes_are_a_message_or_none(
        kind in 0..6_u8,
        length in prop_oneof![Just(24_usize), Just(28), Just(32), 0..80_usize],
        mut bytes in prop::collection::vec(any::<u8>(), 80),
        ttl in any::<u8>(),
    ) {
        bytes[0] = kind;
        bytes.truncate(length);
        let ip = IpFields { source: A, destination: B, ttl };
        let message = Datagram::new(CARRIER, ip, bytes, 0);
        if let Some(read) = AodvMessage::parse(&message) {
            prop_assert_eq!(AodvMessage::parse(&read.emit(A, B)), Some(read));
        }
    }
}
