//! Causes of broken routes, and nodes that receive a RERR.

use super::*;
use crate::config::LocalRepair;

fn given_up(aodv: &mut Aodv, seconds: f64, next: NodeId, packet: RoutedPacket) -> (bool, Vec<Action>) {
    let strands = aodv.on_link_failure(at(seconds), next, true, GivenUp::Packet(packet));
    (strands, drain(aodv, at(seconds)))
}

/// PROTOCOLS: one packet that the MAC gave up is an error to all, and what waits for that neighbour is lost.
#[test]
fn one_failure_loses_a_neighbour_and_all_routes_through_it() {
    let mut aodv = node(prompt());
    let packets = handles(3);
    knows(&mut aodv, 1.0, B, 6, 7);
    knows_back(&mut aodv, 1.0, B, 8, 2);
    let (strands, actions) = given_up(&mut aodv, 1.1, B, own(D, packets[0]));
    assert!(strands);
    let lost = Action::Drop(packets[0], DropCause::RetryLimit);
    assert_eq!(actions, [lost, broadcast(error(&[(C, 9), (D, 7)]))]);
    assert_eq!((aodv.next_hop(C), aodv.next_hop(D)), (None, None));
    aodv.on_stranded(at(1.1), forwarded(C, packets[1], 1));
    assert_eq!(drain(&mut aodv, at(1.1)), [Action::Drop(packets[1], DropCause::LinkBroken)]);
    // It asks when it has a packet again, for what is newer.
    aodv.on_no_route(at(1.2), own(D, packets[2]));
    assert_eq!(requests(&run(&mut aodv, 1.2)), [(at(1.2), 30, 7)]);
}

#[test]
fn a_neighbour_that_is_lost_receives_no_rerr_any_more() {
    let mut aodv = node(prompt());
    knows_back(&mut aodv, 1.0, A, 8, 2);
    hear(&mut aodv, 1.1, B, AodvMessage::Reply(AodvReply { to: C, ..reply(6, 3) }));
    given_up(&mut aodv, 1.2, A, own(C, handles(1)[0]));
    assert_eq!(hear(&mut aodv, 1.3, B, error(&[(D, 7)])), [Action::Purge(B)], "A used the route to D");
}

/// RFC 3561, 6.11: only routes through the sender, not newer than the error; and their users receive an RERR.
#[test]
fn an_error_goes_to_those_who_used_the_route() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.0, B, 6, 3);
    assert_eq!(hear(&mut aodv, 1.1, A, error(&[(D, 7)])), [], "the route goes elsewhere");
    assert_eq!(hear(&mut aodv, 1.1, B, error(&[(C, 7), (D, 5)])), [], "the route is newer");
    assert_eq!(aodv.next_hop(D), Some(B));
    assert_eq!(hear(&mut aodv, 1.1, B, error(&[(D, 7)])), [Action::Purge(B)], "only the node itself used it");
    assert_eq!(aodv.next_hop(D), None);
    assert_eq!(hear(&mut aodv, 1.1, B, error(&[(D, 9)])), [], "there is no route any more");

    knows(&mut aodv, 2.0, B, 8, 3);
    knows_back(&mut aodv, 2.0, A, 8, 1);
    hear(&mut aodv, 2.1, A, AodvMessage::Request(AodvRequest { number: 1, ..request() }));
    let reported = hear(&mut aodv, 2.2, B, error(&[(D, 9)]));
    assert_eq!(reported, [Action::Purge(B), broadcast(error(&[(D, 9)]))]);
}

#[test]
fn a_sender_without_a_route_receives_an_rerr() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.0, B, 6, 3);
    hear(&mut aodv, 1.1, B, error(&[(D, 7)]));
    let packet = handles(1)[0];
    aodv.on_no_route(at(2.0), forwarded(D, packet, 1));
    let actions = drain(&mut aodv, at(2.0));
    assert_eq!(actions, [Action::Drop(packet, DropCause::NoRoute), broadcast(error(&[(D, 7)]))]);
}

#[test]
fn a_failure_that_breaks_nothing_loses_its_packet_alone() {
    let packet = handles(1)[0];
    let message = || GivenUp::Message(AodvMessage::Reply(reply(6, 3)).emit(ME, B));
    for link_layer_detection in [true, false] {
        let mut aodv = node(AodvConfig { link_layer_detection, ..prompt() });
        run(&mut aodv, 0.0);
        knows(&mut aodv, 0.1, B, 6, 3);
        for breaks in [false, !link_layer_detection] {
            assert!(!aodv.on_link_failure(at(0.2), B, breaks, GivenUp::Packet(own(D, packet))));
            assert_eq!(drain(&mut aodv, at(0.2)), [Action::Drop(packet, DropCause::RetryLimit)]);
        }
        assert!(!aodv.on_link_failure(at(0.2), B, true, message()), "ns-2 makes nothing of messages");
        assert!(!aodv.on_link_failure(at(0.2), B, true, GivenUp::MessageArrived));
        assert!(!aodv.on_link_failure(at(0.2), B, true, GivenUp::Packet(own(A, packet))), "never heard of");
        drain(&mut aodv, at(0.2));
        assert_eq!(aodv.next_hop(D), Some(B));
    }
}

/// The ACK of a packet that came through was lost: the link counts as broken, and there is nothing to lose.
#[test]
fn a_break_without_a_loss_is_reported_as_well() {
    let mut aodv = node(prompt());
    knows(&mut aodv, 1.0, B, 6, 3);
    let arrived = GivenUp::Arrived { destination: D, hops: 1, route: None };
    assert!(aodv.on_link_failure(at(1.1), B, true, arrived));
    assert_eq!(drain(&mut aodv, at(1.1)), [broadcast(error(&[(D, 7)]))]);
}

// ---- repair ----

/// Nearer to the destination than to the source a node holds the packet and asks, with the number that it
/// had; it sends no RERR, and what waits in the interface queue stays there.
#[test]
fn a_node_nearer_to_the_destination_repairs_as_in_ns2() {
    let mut aodv = node(prompt());
    let packets = handles(3);
    knows(&mut aodv, 1.0, B, 6, 3);
    let (strands, actions) = given_up(&mut aodv, 1.1, B, forwarded(D, packets[0], 4));
    assert!(!strands);
    let asked: Vec<(Time, Action)> = actions.into_iter().map(|action| (at(1.1), action)).collect();
    assert_eq!((requests(&asked), asked.len()), (vec![(at(1.1), 30, 6)], 1));
    // Others wait as well.
    assert_eq!(aodv.route(at(1.2), D), None);
    aodv.on_no_route(at(1.2), forwarded(D, packets[1], 4));
    aodv.on_no_route(at(1.2), own(D, packets[2]));
    assert_eq!(drain(&mut aodv, at(1.2)), []);
    // It answers others with the route that it lost, which lives for ever.
    let reported =
        hear(&mut aodv, 1.3, A, AodvMessage::Request(AodvRequest { target_sequence: 6, ..request() }));
    let lifetime = Span::from_seconds(4_294_967_296.0);
    let answer = AodvReply { to: C, lifetime, hops: 4, asked: at(0.5), ..reply(6, 4) };
    assert_eq!(reported, [unicast(AodvMessage::Reply(answer), A)]);
    // What nodes beyond the break reply is no better than what was lost.
    assert_eq!(hear(&mut aodv, 1.3, A, AodvMessage::Reply(reply(6, 3))), []);
    assert_eq!(aodv.route(at(1.3), D), None);
    let released = hear(&mut aodv, 1.4, A, AodvMessage::Reply(reply(8, 5)));
    assert_eq!(released, [Action::SendTo(packets[0], A)]);
    assert_eq!(run(&mut aodv, 1.42).len(), 2);
}

/// A repair that began at 1.1 s floods the network, as the distance counts as known only once the route was
/// lost. It waits for 1.8 s, until 2.9 s, which ns-2 takes for a delay: it is over at 4 s. The route is gone
/// then, and no RERR is sent.
#[test]
fn a_repair_ends_late_in_ns2() {
    let mut aodv = node(AodvConfig { rreq_retries: 1000, ..prompt() });
    let packets = handles(3);
    knows(&mut aodv, 1.0, B, 6, 3);
    given_up(&mut aodv, 1.1, B, forwarded(D, packets[0], 4));
    assert_eq!(requests(&run(&mut aodv, 3.999)), [(at(3.0), 30, 6)], "it asks on");
    aodv.on_no_route(at(3.999), forwarded(D, packets[1], 4));
    assert_eq!(drain(&mut aodv, at(3.999)), []);
    run(&mut aodv, 4.0);
    aodv.on_no_route(at(4.1), forwarded(D, packets[2], 4));
    let lost = [Action::Drop(packets[2], DropCause::NoRoute), broadcast(error(&[(D, 6)]))];
    assert_eq!(drain(&mut aodv, at(4.1)), lost);
}

/// RFC 3561, 6.12: one request with a new number, as far as the destination was and 2 hops more. If nothing
/// comes of it in time, what waits is lost, and neighbours receive an RERR.
#[test]
fn a_repair_by_the_rfc_is_over_in_time() {
    let rules = AodvConfig { local_repair: LocalRepair::Rfc, ..prompt() };
    let mut aodv = node(rules.clone());
    let packets = handles(3);
    knows(&mut aodv, 1.0, B, 6, 3);
    knows_back(&mut aodv, 1.0, B, 8, 2);
    let (strands, actions) = given_up(&mut aodv, 1.1, B, forwarded(D, packets[0], 4));
    assert!(strands);
    let asked: Vec<(Time, Action)> = actions.iter().map(|action| (at(1.1), action.clone())).collect();
    assert_eq!(requests(&asked), [(at(1.1), 5, 7)]);
    assert_eq!(actions[1], broadcast(error(&[(C, 9)])), "the other routes are broken");
    aodv.on_stranded(at(1.1), forwarded(D, packets[1], 4));
    aodv.on_stranded(at(1.1), forwarded(C, packets[2], 4));
    assert_eq!(drain(&mut aodv, at(1.1)), [Action::Drop(packets[2], DropCause::LinkBroken)]);
    let reported = hear(&mut aodv, 1.2, A, AodvMessage::Request(request()));
    assert!(
        matches!(reported[..], [Action::Broadcast(..)]),
        "it does not answer with what it lost: {reported:?}"
    );
    // Twice 5 hops of 30 ms.
    let done = run(&mut aodv, 1.5);
    let lost = |packet: Handle| (at(1.4), Action::Drop(packet, DropCause::NoRoute));
    assert_eq!(done, [lost(packets[0]), lost(packets[1]), (at(1.4), broadcast(error(&[(D, 7)])))]);

    let mut aodv = node(rules);
    knows(&mut aodv, 1.0, B, 6, 3);
    given_up(&mut aodv, 1.1, B, forwarded(D, packets[0], 4));
    let released = hear(&mut aodv, 1.3, A, AodvMessage::Reply(reply(8, 9)));
    assert_eq!(released, [Action::SendTo(packets[0], A)]);
    assert_eq!(run(&mut aodv, 3.0), []);
}

#[test]
fn far_from_the_destination_and_without_repair_packets_are_lost() {
    for (local_repair, hops) in [(LocalRepair::Ns2, 3), (LocalRepair::Rfc, 3), (LocalRepair::Off, 4)] {
        let mut aodv = node(AodvConfig { local_repair, ..prompt() });
        knows(&mut aodv, 1.0, B, 6, 3);
        let packet = handles(1)[0];
        let (strands, actions) = given_up(&mut aodv, 1.1, B, forwarded(D, packet, hops));
        assert!(strands, "{local_repair:?}");
        assert_eq!(actions, [Action::Drop(packet, DropCause::RetryLimit), broadcast(error(&[(D, 7)]))]);
    }
}

// ---- silence ----

/// Hellos come every second, give or take a quarter. A neighbour is lost after 4.5 s of silence, at the next
/// look.
#[test]
fn without_the_mac_a_neighbour_is_lost_by_its_silence() {
    let mut aodv = node(AodvConfig { link_layer_detection: false, ..prompt() });
    let hellos: Vec<Time> = run(&mut aodv, 100.0).into_iter().map(|(time, _)| time).collect();
    let between = hellos.windows(2).map(|pair| pair[1].since(pair[0]).seconds());
    assert!(between.clone().all(|gap| (0.75..=1.25).contains(&gap)), "{hellos:?}");
    let (least, most) =
        between.fold((9.0_f64, 0.0_f64), |(least, most), gap| (least.min(gap), most.max(gap)));
    assert!(least < 0.8 && most > 1.2 && (95..=105).contains(&hellos.len()), "{least} {most} {hellos:?}");

    assert_eq!(hear(&mut aodv, 100.1, B, hello(4)), []);
    knows(&mut aodv, 100.1, B, 6, 3);
    let news = |done: Vec<(Time, Action)>| -> Vec<(Time, Action)> {
        let is_hello = |action: &Action| matches!(said(action), Some(AodvMessage::Hello(_)));
        done.into_iter().filter(|(_, action)| !is_hello(action)).collect()
    };
    assert_eq!(news(run(&mut aodv, 104.7)), []);
    assert_eq!(news(run(&mut aodv, 105.0)), [(at(105.0), broadcast(error(&[(D, 7)])))]);
    assert_eq!(aodv.next_hop(D), None);
}
