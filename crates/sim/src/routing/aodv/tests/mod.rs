//! Scripted timelines of one node, without the engine; and of many, whose routes must never lead in a circle.

mod breaks;
mod loops;
mod timelines;
mod wire;

use super::wire::AodvReply;
use super::*;
use crate::routing::testing::{at, handles};
use crate::slab::Handle;

const ME: NodeId = NodeId(0);
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
const C: NodeId = NodeId(3);
const D: NodeId = NodeId(4);

/// Without jitter, so that everything is due at once or at a known time.
fn prompt() -> AodvConfig {
    AodvConfig { broadcast_jitter: Span::ZERO, rreq_jitter: Span::ZERO, ..AodvConfig::default() }
}

fn node(parameters: AodvConfig) -> Aodv {
    Aodv::new(ME, parameters, Rng::at(1, &["aodv"]))
}

/// A packet of the node's own.
fn own(destination: NodeId, handle: Handle) -> RoutedPacket {
    RoutedPacket { handle, source: ME, destination, hops: 0, route: None }
}

/// A packet of A's, which took so many hops to this node.
fn forwarded(destination: NodeId, handle: Handle, hops: u16) -> RoutedPacket {
    RoutedPacket { handle, source: A, destination, hops, route: None }
}

/// Actions that the agent requests now.
fn drain(aodv: &mut Aodv, now: Time) -> Vec<Action> {
    std::iter::from_fn(|| aodv.poll(now)).collect()
}

/// Lets the timer run until this instant, and collects what it asks for.
fn run(aodv: &mut Aodv, until: f64) -> Vec<(Time, Action)> {
    let mut done = Vec::new();
    while let Some(now) = aodv.next_timer().filter(|next| *next <= at(until)) {
        aodv.on_timer(now);
        done.extend(drain(aodv, now).into_iter().map(|action| (now, action)));
    }
    done
}

#[expect(clippy::needless_pass_by_value, reason = "messages are made where they are heard")]
fn hear(aodv: &mut Aodv, seconds: f64, from: NodeId, message: AodvMessage) -> Vec<Action> {
    aodv.on_message(at(seconds), from, &message.emit(from, ME));
    drain(aodv, at(seconds))
}

/// Message that an action broadcasts, if any.
fn said(action: &Action) -> Option<AodvMessage> {
    let Action::Broadcast(message, _) = action else { return None };
    AodvMessage::parse(message)
}

/// The requests among what was done: when, how far, and with which number of the target.
fn requests(done: &[(Time, Action)]) -> Vec<(Time, u16, u32)> {
    let request = |(time, action): &(Time, Action)| match said(action) {
        Some(AodvMessage::Request(request)) => Some((*time, request.reach, request.target_sequence)),
        _ => None,
    };
    done.iter().filter_map(request).collect()
}

/// A request of C's for D that the node hears from a neighbour.
fn request() -> AodvRequest {
    AodvRequest {
        source: C,
        source_sequence: 8,
        number: 5,
        target: D,
        target_sequence: 0,
        hops: 2,
        reach: 30,
        asked: at(0.5),
    }
}

/// A reply about D for this node, which it hears from a neighbour.
fn reply(sequence: u32, hops: u16) -> AodvReply {
    AodvReply {
        to: ME,
        target: D,
        sequence,
        hops,
        lifetime: Span::from_ms(10_000),
        reach: 30,
        asked: at(0.0),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as in `hear`")]
fn broadcast(message: AodvMessage) -> Action {
    Action::Broadcast(message.emit(ME, NodeId::BROADCAST), message.size(&AodvConfig::default()))
}

#[expect(clippy::needless_pass_by_value, reason = "as in `hear`")]
fn unicast(message: AodvMessage, to: NodeId) -> Action {
    Action::Unicast(message.emit(ME, to), message.size(&AodvConfig::default()), to)
}

/// A hello of B's.
fn hello(sequence: u32) -> AodvMessage {
    AodvMessage::Hello(Hello { sender: B, sequence, lifetime: Span::from_ms(3_000) })
}

fn error(list: &[(NodeId, u32)]) -> AodvMessage {
    let unreachable = |(destination, sequence): &(NodeId, u32)| Unreachable {
        destination: *destination,
        sequence: *sequence,
    };
    AodvMessage::Error(list.iter().map(unreachable).collect())
}

/// The node has a route to D with this number over that neighbour.
fn knows(aodv: &mut Aodv, seconds: f64, next: NodeId, sequence: u32, hops: u16) {
    let reported = AodvReply { asked: at(seconds), ..reply(sequence, hops) };
    assert_eq!(hear(aodv, seconds, next, AodvMessage::Reply(reported)), []);
    assert_eq!(aodv.next_hop(D), Some(next));
}

/// The node has a route to C with this number over that neighbour, because C asked.
fn knows_back(aodv: &mut Aodv, seconds: f64, next: NodeId, sequence: u32, hops: u16) {
    let asked =
        AodvRequest { source_sequence: sequence, number: 100 + sequence, hops, reach: 1, ..request() };
    assert_eq!(
        hear(aodv, seconds, next, AodvMessage::Request(AodvRequest { target: NodeId(99), ..asked })),
        []
    );
    assert_eq!(aodv.next_hop(C), Some(next));
}
