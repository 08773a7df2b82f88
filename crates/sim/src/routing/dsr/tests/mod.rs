//! Scripted timelines of one node, without the engine.

mod breaks;
mod cache;
mod wire;

use super::*;
use crate::routing::testing::{at, handles};
use crate::slab::{Handle, SourceRoute};

const ME: NodeId = NodeId(0);
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
const C: NodeId = NodeId(3);
const D: NodeId = NodeId(4);
const E: NodeId = NodeId(5);

/// Without jitter, so that everything is due at once or at a known time.
fn prompt() -> DsrConfig {
    DsrConfig { broadcast_jitter: Span::ZERO, ..DsrConfig::default() }
}

fn node(parameters: DsrConfig) -> Dsr {
    Dsr::new(ME, parameters, Rng::at(1, &["dsr"]))
}

fn handle() -> Handle {
    handles(1)[0]
}

/// Actions that the agent requests now.
fn drain(dsr: &mut Dsr, now: Time) -> Vec<Action> {
    std::iter::from_fn(|| dsr.poll(now)).collect()
}

/// Lets the timer run until this instant, and collects what it asks for.
fn run(dsr: &mut Dsr, until: f64) -> Vec<(Time, Action)> {
    let mut done = Vec::new();
    while let Some(now) = dsr.next_timer().filter(|next| *next <= at(until)) {
        dsr.on_timer(now);
        done.extend(drain(dsr, now).into_iter().map(|action| (now, action)));
    }
    done
}

/// The request that it broadcasts, if it does.
fn asked(action: &Action) -> Option<Request> {
    let Action::Broadcast(message, _) = action else { return None };
    let Some(DsrMessage::Request(request)) = DsrMessage::parse(message) else { return None };
    Some(request)
}

/// The requests among them, with their reach.
fn requests(done: &[(Time, Action)]) -> Vec<(Time, u16)> {
    let request = |(time, action): &(Time, Action)| Some((*time, asked(action)?.reach));
    done.iter().filter_map(request).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "messages are made where they are heard")]
fn hear(dsr: &mut Dsr, seconds: f64, from: NodeId, message: DsrMessage) -> Vec<Action> {
    dsr.on_message(at(seconds), from, &message.emit(from));
    drain(dsr, at(seconds))
}

fn path(nodes: &[NodeId]) -> Path {
    nodes.iter().copied().collect()
}

fn request(target: NodeId, number: u16, reach: u16, nodes: &[NodeId]) -> DsrMessage {
    DsrMessage::Request(Request { target, number, reach, nodes: path(nodes), broken: None })
}

fn reply(found: &[NodeId], route: &[NodeId]) -> DsrMessage {
    DsrMessage::Reply(Reply { found: path(found), route: path(route) })
}

fn error(from: NodeId, to: NodeId, route: &[NodeId]) -> DsrMessage {
    DsrMessage::Error(RouteError { link: BrokenLink { from, to }, route: path(route) })
}

#[expect(clippy::needless_pass_by_value, reason = "as in `hear`")]
fn unicast(message: DsrMessage, to: NodeId) -> Action {
    let message = message.emit(ME);
    let size = size(&message);
    Action::Unicast(message, size, to)
}

fn along(nodes: &[NodeId], salvaged: u8) -> SourceRoute {
    SourceRoute { nodes: nodes.into(), salvaged }
}

/// A packet of A's on its route to D, which this node has.
fn forwarded(handle: Handle, nodes: &[NodeId], salvaged: u8) -> RoutedPacket {
    let route = Some(along(nodes, salvaged));
    RoutedPacket { handle, source: A, destination: *nodes.last().unwrap(), hops: 1, route }
}

/// A packet of its own.
fn own(destination: NodeId, handle: Handle) -> RoutedPacket {
    RoutedPacket { handle, source: ME, destination, hops: 0, route: None }
}

/// Teaches the agent a route to D, by the RREP to its RREQ.
fn knows(dsr: &mut Dsr, route: &[NodeId]) {
    let back: Vec<NodeId> = route.iter().rev().copied().collect();
    assert_eq!(hear(dsr, 0.0, back[1], reply(route, &back)), []);
}

// ---- discovery ----

#[test]
fn neighbours_are_asked_first_then_everyone() {
    let mut dsr = node(prompt());
    assert_eq!(dsr.next_timer(), None, "an idle node has nothing to do");
    dsr.on_no_route(at(1.0), own(D, handle()));
    let first =
        DsrMessage::Request(Request { target: D, number: 1, reach: 0, nodes: path(&[ME]), broken: None });
    assert_eq!(drain(&mut dsr, at(1.0)), [Action::Broadcast(first.emit(ME), 32)]);
    let asked = requests(&run(&mut dsr, 1.4));
    assert_eq!(asked.len(), 1, "{asked:?}");
    // When the buffer is looked through for the first time after 30 ms, which it is every 30 to 60 ms.
    assert!(asked[0].0 > at(1.03) && asked[0].0 <= at(1.09), "{asked:?}");
    assert_eq!(asked[0].1, 15);
}

/// After 0.5 s, 1 s, 2 s, 4 s, 8 s, and then every 10 s; each time neighbours first.
#[test]
fn requests_become_rarer() {
    let patient = DsrConfig { buffer_timeout: Span::from_ms(100_000), ..prompt() };
    let starts = |parameters: DsrConfig| -> Vec<f64> {
        let mut dsr = node(parameters);
        dsr.on_no_route(at(0.0), own(D, handle()));
        let done = run(&mut dsr, 50.0);
        let begun = requests(&done).into_iter().filter(|(_, reach)| *reach == 0);
        begun.map(|(time, _)| time.seconds()).collect()
    };
    let near = |times: Vec<f64>, expected: &[f64]| {
        assert_eq!(times.len(), expected.len(), "{times:?}");
        // The buffer is looked through every 60 ms at least, and what is late once is late ever after.
        let late = times.iter().zip(expected).map(|(time, expected)| time - expected);
        late.enumerate().for_each(|(i, late)| assert!((0.0..=0.06 * i as f64).contains(&late), "{times:?}"));
    };
    near(starts(patient.clone()), &[0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5, 45.5]);
    let ns2 = DsrConfig { request_period: Span::from_ms(2_000), request_backoff: 4, ..patient };
    near(starts(ns2), &[0.0, 2.0, 10.0, 20.0, 30.0, 40.0]);
}

#[test]
fn a_packet_that_comes_while_an_answer_may_come_asks_nothing() {
    let mut dsr = node(prompt());
    let packets = handles(2);
    dsr.on_no_route(at(1.0), own(D, packets[0]));
    assert_eq!(drain(&mut dsr, at(1.0)).len(), 1);
    dsr.on_no_route(at(1.01), own(D, packets[1]));
    assert_eq!(drain(&mut dsr, at(1.01)), []);
    dsr.on_no_route(at(1.02), own(E, packets[1]));
    assert_eq!(drain(&mut dsr, at(1.02)).len(), 1, "another destination is another discovery");
}

#[test]
fn a_reply_lets_packets_go_one_after_another() {
    let mut dsr = node(prompt());
    let packets = handles(4);
    for (packet, to) in packets.iter().zip([D, E, D, C]) {
        dsr.on_no_route(at(1.0), own(to, *packet));
    }
    drain(&mut dsr, at(1.0));
    dsr.on_message(at(1.001), A, &reply(&[ME, A, C, D], &[D, C, A, ME]).emit(A));
    let left = [(0, 1.001, D), (2, 1.031, D), (3, 1.061, C)];
    let sent: Vec<(Time, Action)> = run(&mut dsr, 1.07)
        .into_iter()
        .filter(|(_, action)| matches!(action, Action::SendAlong(..)))
        .collect();
    let route = |to: NodeId| along(if to == D { &[ME, A, C, D] } else { &[ME, A, C] }, 0);
    let expected: Vec<(Time, Action)> =
        left.iter().map(|(i, time, to)| (at(*time), Action::SendAlong(packets[*i], route(*to)))).collect();
    assert_eq!(sent, expected);
    assert_eq!(dsr.route(at(0.0), D), Some(NextHop::Along(route(D))));
    assert_eq!((dsr.next_hop(C), dsr.next_hop(E)), (Some(A), None));
    // It begins anew when the route is lost.
    dsr.on_no_route(at(1.08), own(D, packets[0]));
    assert_eq!(requests(&[(at(1.08), drain(&mut dsr, at(1.08)).remove(0))]), [(at(1.08), 0)]);
}

#[test]
fn sixty_four_packets_wait_and_each_for_thirty_seconds() {
    let mut dsr = node(prompt());
    let packets = handles(66);
    for (i, packet) in packets.iter().enumerate() {
        dsr.on_no_route(at(1.0 + i as f64 / 100.0), own(D, *packet));
        let oldest = i.checked_sub(64).map(|oldest| Action::Drop(packets[oldest], DropCause::NoRoute));
        let dropped: Vec<Action> = drain(&mut dsr, at(1.0 + i as f64 / 100.0))
            .into_iter()
            .filter(|action| matches!(action, Action::Drop(..)))
            .collect();
        assert_eq!(dropped, Vec::from_iter(oldest));
    }
    let dropped: Vec<(Time, Handle)> = run(&mut dsr, 60.0)
        .into_iter()
        .filter_map(|(time, action)| match action {
            Action::Drop(handle, DropCause::NoRoute) => Some((time, handle)),
            _ => None,
        })
        .collect();
    assert_eq!(dropped.iter().map(|(_, handle)| *handle).collect::<Vec<_>>(), packets[2..]);
    for (i, (time, _)) in dropped.iter().enumerate() {
        let age = time.seconds() - (1.0 + (i + 2) as f64 / 100.0);
        assert!((30.0..=30.06).contains(&age), "{age}");
    }
    assert_eq!(dsr.next_timer(), None, "nothing waits any more");
}

// ---- answering ----

#[test]
fn the_target_answers_every_copy_over_the_way_that_it_came() {
    let mut dsr = node(prompt());
    let answers = hear(&mut dsr, 1.0, B, request(ME, 1, 15, &[D, C, B]));
    assert_eq!(answers, [unicast(reply(&[D, C, B, ME], &[ME, B, C, D]), B)]);
    let answers = hear(&mut dsr, 1.001, A, request(ME, 1, 15, &[D, A]));
    assert_eq!(answers, [unicast(reply(&[D, A, ME], &[ME, A, D]), A)]);
    assert_eq!(dsr.route(at(0.0), D), Some(NextHop::Along(along(&[ME, A, D], 0))), "links work both ways");
}

#[test]
fn a_request_is_relayed_once_and_as_far_as_it_may_go() {
    let mut dsr = node(prompt());
    let relayed = |nodes: &[NodeId], number, reach| {
        let message = request(D, number, reach, nodes).emit(ME);
        let size = size(&message);
        vec![Action::Broadcast(message, size)]
    };
    assert_eq!(hear(&mut dsr, 1.0, B, request(D, 3, 15, &[C, B])), relayed(&[C, B, ME], 3, 15));
    assert_eq!(hear(&mut dsr, 1.1, A, request(D, 3, 15, &[C, A])), [], "heard before");
    assert_eq!(hear(&mut dsr, 1.2, A, request(D, 2, 15, &[C, A])), [], "older than one heard before");
    assert_eq!(
        hear(&mut dsr, 1.2, A, request(E, 2, 15, &[C, A])).len(),
        1,
        "but that was for another target"
    );
    assert_eq!(hear(&mut dsr, 1.3, B, request(D, 4, 15, &[C, ME, B])), [], "it is on the route already");
    assert_eq!(hear(&mut dsr, 1.4, C, request(D, 5, 0, &[C])), [], "for neighbours only");
    assert_eq!(hear(&mut dsr, 1.5, B, request(D, 6, 2, &[C, B])), relayed(&[C, B, ME], 6, 2));
    assert_eq!(hear(&mut dsr, 1.6, B, request(D, 7, 2, &[C, A, B])), []);
    let long: Vec<NodeId> = (10..25).map(NodeId).collect();
    assert_eq!(hear(&mut dsr, 1.7, B, request(D, 1, 15, &long)).len(), 1, "a 15th relay");
    let longer: Vec<NodeId> = (30..46).map(NodeId).collect();
    assert_eq!(hear(&mut dsr, 1.8, B, request(D, 1, 99, &longer)), [], "a route has 15 hops at most");
}

#[test]
fn a_node_with_a_cached_route_replies_even_to_neighbours() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, A, E, D]);
    let answers = hear(&mut dsr, 1.0, B, request(D, 1, 0, &[C, B]));
    assert_eq!(answers, [unicast(reply(&[C, B, ME, A, E, D], &[ME, B, C]), B)]);
    // The route back and the rest overlap: what lies between is left out.
    let answers = hear(&mut dsr, 2.0, B, request(E, 2, 15, &[C, A, B]));
    assert_eq!(answers.len(), 1, "the reply would not lead over this node, so that it relays: {answers:?}");
    assert!(matches!(&answers[0], Action::Broadcast(..)), "{answers:?}");

    let mut dsr = node(DsrConfig { reply_from_cache: false, ..prompt() });
    knows(&mut dsr, &[ME, A, E, D]);
    assert_eq!(hear(&mut dsr, 1.0, B, request(D, 1, 0, &[C, B])), []);
}

#[test]
fn a_route_with_a_loop_is_straightened() {
    assert_eq!(without_loops(&[A, B, C, B, D]), [A, B, D]);
    assert_eq!(without_loops(&[A, B, C, A, D, C, E]), [A, D, C, E]);
    assert_eq!(without_loops(&[A, B]), [A, B]);
}

#[test]
fn replies_and_errors_are_passed_on_and_teach() {
    let mut dsr = node(prompt());
    let message = reply(&[C, B, ME, A, D], &[D, A, ME, B, C]);
    assert_eq!(hear(&mut dsr, 1.0, A, message.clone()), [unicast(message, B)]);
    assert_eq!(dsr.route(at(0.0), D), Some(NextHop::Along(along(&[ME, A, D], 0))));
    assert_eq!(dsr.route(at(0.0), C), Some(NextHop::Along(along(&[ME, B, C], 0))));
    let message = error(A, D, &[A, ME, B, C]);
    assert_eq!(hear(&mut dsr, 2.0, A, message.clone()), [unicast(message, B)]);
    assert_eq!((dsr.route(at(0.0), D), dsr.next_hop(A)), (None, Some(A)), "only the broken link is gone");
}

// ---- listening ----

#[test]
fn what_is_heard_teaches_a_way_through_the_neighbour() {
    let mut dsr = node(prompt());
    dsr.on_overheard(at(1.0), B, Overheard::Packet(A, &along(&[A, B, C, D], 0)));
    assert_eq!(dsr.route(at(0.0), D), Some(NextHop::Along(along(&[ME, B, C, D], 0))));
    assert_eq!(dsr.route(at(0.0), A), None, "what lies behind the neighbour is not ahead of it");
    let reported = error(B, C, &[B, A]).emit(B);
    dsr.on_overheard(at(2.0), B, Overheard::Message(&reported));
    assert_eq!((dsr.route(at(0.0), D), dsr.next_hop(B)), (None, Some(B)));
    let reported = reply(&[E, ME, C, D], &[D, C, A, E]).emit(C);
    dsr.on_overheard(at(3.0), C, Overheard::Message(&reported));
    assert_eq!(dsr.route(at(0.0), D), Some(NextHop::Along(along(&[ME, C, D], 0))));
    assert_eq!(drain(&mut dsr, at(3.0)), []);
    assert!(dsr.listens() && !node(DsrConfig { listen: false, ..prompt() }).listens());
}

#[test]
fn the_source_of_a_detour_receives_an_rrep_once_a_second() {
    let mut dsr = node(prompt());
    let detour = along(&[A, B, C, E, ME, D], 0);
    let mut reported = |seconds: f64, from: NodeId, route: &SourceRoute| {
        dsr.on_overheard(at(seconds), from, Overheard::Packet(A, route));
        drain(&mut dsr, at(seconds))
    };
    assert_eq!(reported(1.0, B, &detour), [unicast(reply(&[A, B, ME, D], &[ME, B, A]), B)]);
    assert_eq!(reported(1.9, B, &detour), []);
    assert_eq!(reported(2.0, B, &detour).len(), 1);
    assert_eq!(reported(3.0, E, &detour), [], "the next node is no detour");
    assert_eq!(reported(4.0, D, &detour), [], "it has been here");
}
