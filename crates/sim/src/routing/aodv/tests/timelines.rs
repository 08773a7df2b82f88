//! Requests, replies, and how routes end without a break.

use super::*;

// ---- bytes ----

/// Sizes of ns-2: 7, 6, and 1 + 2n words, and an IP header.
#[test]
fn messages_have_ns2s_sizes() {
    assert_eq!(AodvMessage::Request(request()).size(&AodvConfig::default()), 20 + 28);
    assert_eq!(AodvMessage::Reply(reply(2, 1)).size(&AodvConfig::default()), 20 + 24);
    assert_eq!(hello(2).size(&AodvConfig::default()), 20 + 24);
    assert_eq!(error(&[(A, 3), (B, 5)]).size(&AodvConfig::default()), 20 + 4 + 2 * 8);
}

// ---- asking ----

/// A destination that was never known: in ns-2 the first RREQ floods the network. Each request waits for
/// twice 30 hops of 30 ms, and then as many times longer as there were requests; the node looks every half
/// second. The fifth time it gives up, and pauses for 10 s.
#[test]
fn requests_become_rarer_until_the_node_gives_up() {
    let mut aodv = node(prompt());
    let packets = handles(2);
    aodv.on_no_route(at(1.0), own(D, packets[0]));
    let first = AodvRequest {
        source: ME,
        source_sequence: 4,
        number: 1,
        target: D,
        target_sequence: 0,
        hops: 1,
        reach: 30,
        asked: at(1.0),
    };
    assert_eq!(drain(&mut aodv, at(1.0)), [broadcast(AodvMessage::Request(first))]);
    let done = run(&mut aodv, 20.0);
    assert_eq!(requests(&done), [(at(3.0), 30, 0), (at(7.0), 30, 0), (at(12.5), 30, 0)]);
    assert_eq!(done.last(), Some(&(at(20.0), Action::Drop(packets[0], DropCause::NoRoute))));
    // It holds packets that come during the pause.
    aodv.on_no_route(at(25.0), own(D, packets[1]));
    assert_eq!(requests(&run(&mut aodv, 31.9)), [(at(30.0), 30, 0)]);
}

#[test]
fn a_destination_that_was_known_is_looked_for_a_little_farther_away() {
    for (hops, expected) in [(1, [3, 5, 7, 30]), (3, [5, 7, 30, 30]), (6, [8, 30, 30, 30]), (7, [30; 4])] {
        let mut aodv = node(prompt());
        knows(&mut aodv, 1.0, A, 6, hops);
        aodv.on_message(at(1.1), A, &error(&[(D, 7)]).emit(A, ME));
        aodv.on_no_route(at(1.2), own(D, handles(1)[0]));
        let reaches: Vec<u16> = requests(&run(&mut aodv, 20.0)).iter().map(|(_, reach, _)| *reach).collect();
        assert_eq!(reaches[..4], expected, "{hops} hops");
    }
}

/// A route of 7 hops that took 0.14 s to find: 20 ms per hop instead of 30.
#[test]
fn waits_are_as_long_as_discoveries_were() {
    let mut aodv = node(prompt());
    hear(&mut aodv, 0.14, A, AodvMessage::Reply(reply(6, 7)));
    aodv.on_message(at(1.1), A, &error(&[(D, 7)]).emit(A, ME));
    aodv.on_no_route(at(1.2), own(D, handles(1)[0]));
    // The wait of 1.2 s is noticed at the next half second.
    assert_eq!(requests(&run(&mut aodv, 3.5)), [(at(1.2), 30, 7), (at(2.5), 30, 7)]);
}

#[test]
fn sixty_four_packets_wait_and_each_for_thirty_seconds() {
    let mut aodv = node(AodvConfig { rreq_retries: 1000, ..prompt() });
    let packets = handles(66);
    let mut dropped = Vec::new();
    for packet in &packets {
        aodv.on_no_route(at(1.0), own(D, *packet));
        dropped.extend(drain(&mut aodv, at(1.0)).into_iter().filter(|a| matches!(a, Action::Drop(..))));
    }
    let lost = |packet: &Handle| Action::Drop(*packet, DropCause::NoRoute);
    assert_eq!(dropped, packets[..2].iter().map(lost).collect::<Vec<_>>());
    let later: Vec<(Time, Action)> =
        run(&mut aodv, 40.0).into_iter().filter(|(_, action)| matches!(action, Action::Drop(..))).collect();
    let expected: Vec<(Time, Action)> = packets[2..].iter().map(|packet| (at(31.5), lost(packet))).collect();
    assert_eq!(later, expected);
}

// ---- replies ----

#[test]
fn a_reply_lets_packets_go_one_after_another() {
    let mut aodv = node(prompt());
    let packets = handles(3);
    for packet in &packets {
        aodv.on_no_route(at(1.0), own(D, *packet));
    }
    assert_eq!(drain(&mut aodv, at(1.0)).len(), 1, "one request for all");
    let first = hear(&mut aodv, 1.2, B, AodvMessage::Reply(reply(6, 3)));
    assert_eq!(first, [Action::SendTo(packets[0], B)]);
    assert_eq!(aodv.route(at(1.2), D), Some(NextHop::Neighbour(B)));
    let rest = run(&mut aodv, 1.3);
    let expected = [(at(1.21), Action::SendTo(packets[1], B)), (at(1.22), Action::SendTo(packets[2], B))];
    assert_eq!(rest, expected, "10 ms apart, lest ARP drops them in ns-2");
}

#[test]
fn newer_routes_win_and_shorter_ones_of_the_same_age() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.0, A, 6, 4);
    let mut reported = |next: NodeId, sequence: u32, hops: u16| {
        assert_eq!(hear(&mut aodv, 1.1, next, AodvMessage::Reply(reply(sequence, hops))), []);
        aodv.next_hop(D)
    };
    assert_eq!(reported(B, 4, 1), Some(A), "older");
    assert_eq!(reported(B, 6, 4), Some(A), "no shorter");
    assert_eq!(reported(B, 6, 3), Some(B));
    assert_eq!(reported(C, 8, 9), Some(C), "newer");
}

#[test]
fn a_reply_goes_back_to_who_asked_and_says_who_uses_the_route() {
    let mut aodv = node(prompt());
    let passing = AodvReply { to: C, ..reply(6, 3) };
    assert_eq!(hear(&mut aodv, 1.0, B, AodvMessage::Reply(passing.clone())), [], "there is no reverse route");
    knows_back(&mut aodv, 1.0, A, 8, 2);
    let passing = AodvReply { sequence: 8, ..passing };
    let relayed = AodvReply { hops: 4, reach: 29, ..passing.clone() };
    let expected = [unicast(AodvMessage::Reply(relayed), A)];
    assert_eq!(hear(&mut aodv, 1.1, B, AodvMessage::Reply(passing.clone())), expected);
    assert_eq!(hear(&mut aodv, 1.2, B, AodvMessage::Reply(passing.clone())), [], "nothing new");
    let last = AodvReply { sequence: 10, reach: 1, ..passing };
    assert_eq!(hear(&mut aodv, 1.2, B, AodvMessage::Reply(last)), [], "it went as far as it may");
    // A uses the route now, and receives an RERR.
    assert_eq!(hear(&mut aodv, 2.0, B, error(&[(D, 11)]))[1], broadcast(error(&[(D, 11)])));
    // The reply took the reverse route, which lives on: for 10 s, not for 6.
    run(&mut aodv, 11.0);
    assert_eq!(aodv.next_hop(C), Some(A));
    run(&mut aodv, 11.5);
    assert_eq!(aodv.next_hop(C), None);
}

// ---- answering ----

#[test]
fn a_request_is_relayed_once_and_teaches_the_way_back() {
    let mut aodv = node(prompt());
    let relayed = AodvRequest { hops: 3, reach: 29, ..request() };
    let expected = [broadcast(AodvMessage::Request(relayed))];
    assert_eq!(hear(&mut aodv, 1.0, A, AodvMessage::Request(request())), expected);
    assert_eq!((aodv.next_hop(C), aodv.next_hop(A)), (Some(A), None));
    let again = AodvRequest { hops: 1, ..request() };
    assert_eq!(hear(&mut aodv, 1.1, B, AodvMessage::Request(again)), [], "it has seen it");
    assert_eq!(aodv.next_hop(C), Some(A));
    let end = AodvRequest { number: 6, reach: 1, ..request() };
    assert_eq!(hear(&mut aodv, 1.2, B, AodvMessage::Request(end)), [], "it went as far as it may");
    let mine = AodvRequest { source: ME, number: 7, ..request() };
    assert_eq!(hear(&mut aodv, 1.2, B, AodvMessage::Request(mine)), []);
    run(&mut aodv, 7.1);
    let old = hear(&mut aodv, 7.2, B, AodvMessage::Request(request()));
    assert_eq!(old.len(), 1, "after 6 s it does not know any more");
}

#[test]
fn relays_ask_for_routes_as_recent_as_the_one_that_they_lost() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 0.0, B, 6, 2);
    hear(&mut aodv, 0.5, B, error(&[(D, 7)]));
    let relayed = AodvRequest { hops: 3, reach: 29, target_sequence: 7, ..request() };
    let expected = [broadcast(AodvMessage::Request(relayed))];
    assert_eq!(hear(&mut aodv, 1.0, A, AodvMessage::Request(request())), expected);
}

#[test]
fn requests_are_held_back_by_jitter() {
    let mut aodv = node(AodvConfig { rreq_jitter: Span::from_ms(10), ..AodvConfig::default() });
    assert_eq!(hear(&mut aodv, 1.0, A, AodvMessage::Request(request())), []);
    let relayed = run(&mut aodv, 1.02);
    aodv.on_no_route(at(2.0), own(D, handles(1)[0]));
    let own = run(&mut aodv, 2.02);
    for (done, since) in [(relayed, 1.0), (own, 2.0)] {
        assert!(done.len() == 1 && done[0].0 > at(since) && done[0].0 <= at(since + 0.01), "{done:?}");
    }
}

/// The number becomes even and greater than any that was asked for.
#[test]
fn the_target_answers_with_a_new_number() {
    let mut aodv = node(prompt());
    for (number, asked, sequence) in [(1, 0, 4), (2, 0, 6), (3, 6, 8), (4, 9, 10), (5, 10, 12)] {
        let target = AodvRequest { target: ME, number, target_sequence: asked, ..request() };
        let answer = AodvReply {
            to: C,
            target: ME,
            sequence,
            hops: 1,
            lifetime: Span::from_ms(10_000),
            reach: 30,
            asked: at(0.5),
        };
        let expected = [unicast(AodvMessage::Reply(answer), A)];
        assert_eq!(hear(&mut aodv, 1.0, A, AodvMessage::Request(target)), expected);
    }
}

#[test]
fn an_intermediate_node_with_a_fresh_enough_route_replies() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.0, B, 6, 3);
    let asks = |number: u32, target_sequence: u32| {
        AodvMessage::Request(AodvRequest { number, target_sequence, ..request() })
    };
    let answer = |lifetime: u64| {
        let answer = AodvReply {
            to: C,
            sequence: 6,
            hops: 4,
            lifetime: Span::from_ms(lifetime * 1_000),
            asked: at(0.5),
            ..reply(6, 4)
        };
        vec![unicast(AodvMessage::Reply(answer), A)]
    };
    assert_eq!(hear(&mut aodv, 1.5, A, asks(1, 6)), answer(9), "whole seconds are left");
    assert!(matches!(hear(&mut aodv, 1.5, A, asks(2, 7))[..], [Action::Broadcast(..)]), "not recent enough");
    // Both the originator's and the target's side use this node from now on.
    assert_eq!(hear(&mut aodv, 2.0, B, error(&[(D, 7)]))[1], broadcast(error(&[(D, 7)])));

    let mut silent = node(AodvConfig { intermediate_replies: false, ..prompt() });
    knows(&mut silent, 1.0, B, 6, 3);
    assert!(matches!(hear(&mut silent, 1.5, A, asks(1, 6))[..], [Action::Broadcast(..)]));
}

#[test]
fn a_request_brings_the_route_that_packets_wait_for() {
    let mut aodv = node(prompt());
    let packets = handles(2);
    for packet in &packets {
        aodv.on_no_route(at(1.0), own(C, *packet));
    }
    drain(&mut aodv, at(1.0));
    let done = hear(&mut aodv, 1.1, A, AodvMessage::Request(AodvRequest { reach: 1, ..request() }));
    assert_eq!(done, [Action::SendTo(packets[0], A), Action::SendTo(packets[1], A)], "all at once");
    assert_eq!(requests(&run(&mut aodv, 9.0)), [], "nothing is looked for any more");
}

// ---- expiry ----

/// A route that is not used ends after 10 s, at the next look; the reverse route of a request after 6 s. The
/// number becomes odd, so that only the destination's next one is good enough.
#[test]
fn routes_that_no_packet_takes_expire() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.1, B, 6, 3);
    knows_back(&mut aodv, 1.1, A, 8, 2);
    run(&mut aodv, 7.0);
    assert_eq!((aodv.next_hop(D), aodv.next_hop(C)), (Some(B), Some(A)));
    run(&mut aodv, 7.5);
    assert_eq!((aodv.next_hop(D), aodv.next_hop(C)), (Some(B), None));
    assert_eq!(aodv.route(at(9.0), D), Some(NextHop::Neighbour(B)), "a packet takes it");
    run(&mut aodv, 19.0);
    assert_eq!(aodv.next_hop(D), Some(B));
    run(&mut aodv, 19.5);
    assert_eq!(aodv.next_hop(D), None);
    aodv.on_no_route(at(20.0), own(D, handles(1)[0]));
    assert_eq!(requests(&run(&mut aodv, 20.0)), [(at(20.0), 5, 7)], "3 hops were known, and 7 is the number");
}
