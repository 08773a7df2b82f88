//! Dynamic source routing (Johnson and Maltz; RFC 4728), close to ns-2.35 (dsr/dsragent.cc).
//!
//! A node without a route floods a request; a node that relays it appends itself. The target, or a node that
//! knows the rest of the route, sends the complete route back. The source then writes the whole route into
//! each packet. The node before a broken link sends a RERR to the source, and sends the packet on by another
//! route if it knows one.
//!
//! * `wire`: messages, and their bytes. `cache`: route cache.
//! * `discovery`: times of requests.
//!
//! Omitted features of ns-2: flow state (data packets without source routes once a flow is established),
//! route errors about lost route errors, and broken replies in the send buffer. Added features: nodes that
//! forward a reply learn from it, and replies from caches have a random delay.

mod cache;
mod discovery;
mod wire;

#[cfg(test)]
mod tests;

pub(super) use wire::FORMAT;
pub(crate) use wire::{PROTOCOL as DSR_PROTOCOL, next_on, source_route_bytes, source_route_header};

use super::buffer::SendBuffer;
use super::{Action, GivenUp, NextHop, Overheard, RoutedPacket, RoutingAgent, WatchedRoutes, uniform};
use crate::config::DsrConfig;
use crate::slab::{Datagram, SourceRoute};
use cache::RouteCache;
use discovery::{Discoveries, DiscoveryStep};
use multihop_core::{DropCause, NodeId, Rng, Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::{BrokenLink, DsrMessage, Path, Reply, Request, RouteError};

/// Length in bytes of an IP header.
const IP_HEADER: u32 = 20;
/// Time for which a node's requests include the last reported break (`max_err_hold`).
const ERROR_HOLD: Span = Span::from_ms(1_000);
/// Shortest interval between two reports of the same shorter route (`grat_hold_down_time`), and number of
/// such reports that are remembered (`RTREP_HOLDOFF_SIZE`).
const REPLY_HOLD_OFF: Span = Span::from_ms(1_000);
const HELD_OFF_ROUTES: usize = 10;

/// DSR agent of a node.
pub(super) struct Dsr {
    id: NodeId,
    parameters: DsrConfig,
    rng: Rng,
    cache: RouteCache,
    discoveries: Discoveries,
    /// Number of the next request.
    number: u16,
    buffer: SendBuffer,
    watched: WatchedRoutes,
    /// Time of the next check of the send buffer, if a packet waits.
    next_check: Option<Time>,
    /// Last break reported to the node, and time of the report.
    reported: Option<(Time, BrokenLink)>,
    /// Routes reported to their sources as longer than necessary, and times of the reports.
    shortened: VecDeque<(Time, Arc<[NodeId]>)>,
    /// Scheduled actions and their times.
    later: Vec<(Time, Action)>,
    actions: VecDeque<Action>,
}

impl Dsr {
    /// Creates the agent of node `id`.
    pub(super) fn new(id: NodeId, parameters: DsrConfig, rng: Rng) -> Dsr {
        let longest = usize::from(parameters.route_limit) + 1;
        Dsr {
            id,
            rng,
            cache: RouteCache::new(id, longest, DsrConfig::ROUTES, DsrConfig::OVERHEARD_ROUTES),
            discoveries: Discoveries::default(),
            number: 1,
            buffer: SendBuffer::new(parameters.buffer),
            watched: WatchedRoutes::default(),
            next_check: None,
            reported: None,
            shortened: VecDeque::new(),
            later: Vec::new(),
            actions: VecDeque::new(),
            parameters,
        }
    }

    // ---- route discovery ----

    /// Holds a packet until a route is found.
    fn hold(&mut self, now: Time, packet: RoutedPacket) {
        if self.next_check.is_none() {
            // The phase is that of a periodic check since the start.
            let whole = self.check_after();
            self.next_check = Some(now + uniform(&mut self.rng, whole));
        }
        if let Some(oldest) = self.buffer.hold(now, packet) {
            self.actions.push_back(Action::Drop(oldest.handle, DropCause::NoRoute));
        }
    }

    fn check_after(&mut self) -> Span {
        Span::from_seconds(DsrConfig::BUFFER_CHECK.seconds() * (1.0 + self.rng.unit()))
    }

    /// Checks the packets that wait: sends those with a route, drops those that are too old, and repeats
    /// requests for the others.
    fn check(&mut self, now: Time) {
        let mut buffer = std::mem::replace(&mut self.buffer, SendBuffer::new(0));
        buffer.sift(|held| {
            let handle = held.packet.handle;
            if held.is_older(now, self.parameters.buffer_timeout) {
                self.actions.push_back(Action::Drop(handle, DropCause::NoRoute));
                return false;
            }
            if let Some(route) = self.route_of(&held.packet) {
                self.actions.push_back(Action::SendAlong(handle, route));
                return false;
            }
            let stays = self.ask(now, held.destination(), held.packet.source == self.id);
            if !stays {
                self.actions.push_back(Action::Drop(handle, DropCause::NoRoute));
            }
            stays
        });
        self.buffer = buffer;
        self.next_check = (!self.buffer.is_empty()).then(|| now + self.check_after());
    }

    /// Route of a waiting packet, if one is known now.
    fn route_of(&mut self, packet: &RoutedPacket) -> Option<SourceRoute> {
        let nodes = self.cache.take(packet.destination)?;
        Some(SourceRoute { nodes, salvaged: packet.route.as_ref().map_or(0, |route| route.salvaged) })
    }

    /// Sends a request if one is due. Returns whether the packet should wait.
    fn ask(&mut self, now: Time, target: NodeId, is_own: bool) -> bool {
        match self.discoveries.next_step(now, target, is_own, &self.parameters) {
            DiscoveryStep::Ask(reach) => {
                let reported = self.reported.filter(|(since, _)| now.since(*since) < ERROR_HOLD);
                if reach > 0 {
                    self.reported = None;
                }
                let broken = reported.map(|(_, link)| link);
                let nodes = Path::from_iter([self.id]);
                let request = Request { target, number: self.number, reach, nodes, broken };
                self.number = self.number.wrapping_add(1);
                self.broadcast(now, request);
                true
            }
            DiscoveryStep::Wait => true,
            DiscoveryStep::GiveUp => false,
        }
    }

    // ---- sending ----

    fn jitter(&mut self) -> Span {
        uniform(&mut self.rng, self.parameters.broadcast_jitter)
    }

    fn broadcast(&mut self, now: Time, request: Request) {
        let message = DsrMessage::Request(request).emit(self.id);
        let size = size(&message);
        let due = now + self.jitter();
        self.later.push((due, Action::Broadcast(message, size)));
    }

    /// Sends a message on along its route, which contains this node but does not end at it.
    fn unicast(&self, message: &DsrMessage) -> Action {
        let next = next_on(message.route(), self.id);
        let message = message.emit(self.id);
        let size = size(&message);
        Action::Unicast(message, size, next)
    }

    /// Sends a RREP to the originator of the RREQ.
    fn reply(&mut self, now: Time, found: Path, route: Path) {
        self.cache.add(&route);
        let reply = self.unicast(&DsrMessage::Reply(Reply { found, route }));
        let due = now + self.jitter();
        self.later.push((due, reply));
    }

    // ---- receiving ----

    fn on_request(&mut self, now: Time, request: &Request) {
        if let Some(link) = request.broken {
            self.cut(link);
        }
        let source = request.nodes[0];
        let is_full = request.nodes.len() > usize::from(self.parameters.route_limit);
        if request.nodes.contains(&self.id) || is_full {
            return;
        }
        let is_new = self.discoveries.is_new(source, request.target, request.number);
        let mut nodes = request.nodes.clone();
        nodes.push(self.id);
        if request.target == self.id {
            // Every copy is answered, because each took another route.
            let route = nodes.iter().rev().copied().collect();
            self.reply(now, nodes, route);
            return;
        }
        let may_go_on = request.nodes.len() <= usize::from(request.reach);
        if is_new && !self.answers_from_cache(now, &nodes, request.target) && may_go_on {
            self.broadcast(now, Request { nodes, ..request.clone() });
        }
    }

    /// Replies from the route cache; `nodes` lead from the originator of the RREQ to this node. Returns
    /// whether it did.
    fn answers_from_cache(&mut self, now: Time, nodes: &[NodeId], target: NodeId) -> bool {
        let rest = self.cache.find(target).filter(|_| self.parameters.reply_from_cache);
        let Some(rest) = rest else { return false };
        let whole: Vec<NodeId> = nodes.iter().chain(&rest[1..]).copied().collect();
        let found = without_loops(&whole);
        if found.len() > usize::from(self.parameters.route_limit) + 1 || !found.contains(&self.id) {
            return false;
        }
        self.reply(now, found.into_iter().collect(), nodes.iter().rev().copied().collect());
        true
    }

    /// Forwards a reply, or uses it at the originator.
    fn on_reply(&mut self, now: Time, message: &DsrMessage, reply: &Reply) {
        if reply.route.last() != Some(&self.id) {
            self.cache.learn(&reply.route);
            self.cache.learn(&reply.found);
            self.actions.push_back(self.unicast(message));
            return;
        }
        self.cache.add(&reply.found);
        self.discoveries.found(*reply.found.last().expect("a route has two ends"));
        let mut due = now;
        let mut buffer = std::mem::replace(&mut self.buffer, SendBuffer::new(0));
        buffer.sift(|held| {
            let Some(route) = self.route_of(&held.packet) else { return true };
            self.later.push((due, Action::SendAlong(held.packet.handle, route)));
            due += DsrConfig::RELEASE_INTERVAL;
            false
        });
        self.buffer = buffer;
    }

    fn on_error(&mut self, now: Time, message: &DsrMessage, error: &RouteError) {
        self.cut(error.link);
        if error.route.last() == Some(&self.id) {
            self.reported = Some((now, error.link));
        } else {
            self.cache.learn(&error.route);
            self.actions.push_back(self.unicast(message));
        }
    }

    // ---- breaks ----

    /// Removes a broken link from the cache. Watched routes that contain it have failed, even if another
    /// route is known.
    fn cut(&mut self, link: BrokenLink) {
        let cache = &self.cache;
        self.watched.note_failures(|to| cache.find(to).is_some_and(|route| has_link(route, link)));
        self.cache.cut(link);
    }

    /// Sends a packet along another route after a link of its route broke; otherwise holds the packet, or
    /// drops it for this cause.
    fn salvage(&mut self, now: Time, mut packet: RoutedPacket, cause: DropCause) {
        let is_own = packet.source == self.id;
        let salvaged = packet.route.as_ref().map_or(0, |route| route.salvaged);
        if !is_own && salvaged >= self.parameters.salvage_limit {
            self.actions.push_back(Action::Drop(packet.handle, cause));
            return;
        }
        let salvaged = if is_own { salvaged } else { salvaged + 1 };
        if let Some(nodes) = self.cache.take(packet.destination) {
            self.actions.push_back(Action::SendAlong(packet.handle, SourceRoute { nodes, salvaged }));
            return;
        }
        if let Some(route) = &mut packet.route {
            route.salvaged = salvaged;
        }
        // For another node's packet the request is sent at the next check of the buffer; a route may be heard
        // of until then.
        if is_own {
            self.ask(now, packet.destination, true);
        }
        self.hold(now, packet);
    }

    /// Sends a message along another route, unless it is a reply that contains the broken link.
    fn salvage_message(&mut self, message: &DsrMessage, link: BrokenLink) {
        let to = *message.route().last().expect("a route has two ends");
        let Some(route) = self.cache.find(to).map(|route| route.iter().copied().collect()) else { return };
        let salvaged = match message {
            DsrMessage::Request(_) => unreachable!("requests are broadcast"),
            DsrMessage::Reply(reply) if has_link(&reply.found, link) => return,
            DsrMessage::Reply(reply) => DsrMessage::Reply(Reply { found: reply.found.clone(), route }),
            DsrMessage::Error(error) => DsrMessage::Error(RouteError { link: error.link, route }),
        };
        self.actions.push_back(self.unicast(&salvaged));
    }

    /// Sends a RERR to the node that wrote this source route, a link of which broke here.
    fn report_break(&mut self, route: &[NodeId], link: BrokenLink) {
        let at = route.iter().position(|node| *node == self.id).expect("it came along this route");
        if at > 0 {
            let route = route[..=at].iter().rev().copied().collect();
            self.actions.push_back(self.unicast(&DsrMessage::Error(RouteError { link, route })));
        }
    }

    // ---- listening ----

    /// Learns from a frame that a neighbour sent along this route.
    fn learn_from(&mut self, neighbour: NodeId, route: &[NodeId]) {
        if route.contains(&self.id) {
            self.cache.learn(route);
        } else {
            self.cache.learn_through(neighbour, route);
        }
    }

    /// Reports a shorter route: a neighbour sent a packet that reaches this node later, so that the nodes
    /// between can be left out.
    fn shorten(&mut self, now: Time, from: NodeId, route: &Arc<[NodeId]>) {
        let place = |node| route.iter().position(|other| *other == node);
        let (Some(heard), Some(here)) = (place(from), place(self.id)) else { return };
        let was_reported = |(since, reported): &(Time, Arc<[NodeId]>)| {
            reported == route && now.since(*since) < REPLY_HOLD_OFF
        };
        if here <= heard + 1 || self.shortened.iter().any(was_reported) {
            return;
        }
        self.shortened.retain(|(_, reported)| reported != route);
        if self.shortened.len() == HELD_OFF_ROUTES {
            self.shortened.pop_front();
        }
        self.shortened.push_back((now, route.clone()));
        let found = route[..=heard].iter().chain(&route[here..]).copied().collect();
        let route = std::iter::once(self.id).chain(route[..=heard].iter().rev().copied()).collect();
        self.reply(now, found, route);
    }
}

impl RoutingAgent for Dsr {
    fn next_hop(&self, destination: NodeId) -> Option<NodeId> {
        self.cache.find(destination).map(|route| route[1])
    }

    fn route(&mut self, _: Time, destination: NodeId) -> Option<NextHop> {
        let nodes = self.cache.take(destination)?;
        Some(NextHop::Along(SourceRoute { nodes, salvaged: 0 }))
    }

    fn on_forwarded(&mut self, route: &SourceRoute) {
        self.cache.learn(&route.nodes);
    }

    /// Holds the node's own packet; forwarded packets have a source route.
    fn on_no_route(&mut self, now: Time, packet: RoutedPacket) {
        self.ask(now, packet.destination, true);
        self.hold(now, packet);
    }

    fn on_link_failure(&mut self, now: Time, next_hop: NodeId, breaks: bool, what: GivenUp) -> bool {
        let link = BrokenLink { from: self.id, to: next_hop };
        if breaks {
            self.cut(link);
        }
        match what {
            GivenUp::Packet(packet) if breaks => {
                let route = packet.route.clone();
                self.salvage(now, packet, DropCause::RetryLimit);
                self.report_break(&route.expect("it was sent along a route").nodes, link);
            }
            GivenUp::Packet(packet) => {
                self.actions.push_back(Action::Drop(packet.handle, DropCause::RetryLimit));
            }
            GivenUp::Arrived { route: Some(route), .. } if breaks => self.report_break(&route.nodes, link),
            GivenUp::Message(message) if breaks => {
                let Some(message) = parse(&message) else { return breaks };
                self.salvage_message(&message, link);
                if matches!(message, DsrMessage::Reply(_)) {
                    self.report_break(message.route(), link);
                }
            }
            GivenUp::Arrived { .. } | GivenUp::Message(_) | GivenUp::MessageArrived => {}
        }
        breaks
    }

    fn on_stranded(&mut self, now: Time, packet: RoutedPacket) {
        self.salvage(now, packet, DropCause::LinkBroken);
    }

    fn on_message(&mut self, now: Time, _: NodeId, message: &Datagram) {
        let Some(message) = parse(message) else { return };
        match &message {
            DsrMessage::Request(request) => self.on_request(now, request),
            DsrMessage::Reply(reply) => self.on_reply(now, &message, reply),
            DsrMessage::Error(error) => self.on_error(now, &message, error),
        }
    }

    fn listens(&self) -> bool {
        self.parameters.listen
    }

    fn on_overheard(&mut self, now: Time, from: NodeId, what: Overheard) {
        match what {
            Overheard::Packet(source, _) if source == self.id => {}
            Overheard::Packet(_, route) => {
                self.learn_from(from, &route.nodes);
                self.shorten(now, from, &route.nodes);
            }
            Overheard::Message(message) => {
                let Some(message) = parse(message) else { return };
                match &message {
                    DsrMessage::Reply(reply) => self.cache.learn(&reply.found),
                    DsrMessage::Error(error) => self.cut(error.link),
                    DsrMessage::Request(_) => unreachable!("requests are broadcast"),
                }
                self.learn_from(from, message.route());
            }
        }
    }

    fn watched_routes(&mut self) -> &mut WatchedRoutes {
        &mut self.watched
    }

    fn on_timer(&mut self, now: Time) {
        if self.next_check.is_some_and(|due| due <= now) {
            self.check(now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let at = self.later.iter().position(|(due, _)| *due <= now)?;
        Some(self.later.remove(at).1)
    }

    fn next_timer(&self) -> Option<Time> {
        self.later.iter().map(|(due, _)| *due).chain(self.next_check).min()
    }
}

/// Decodes a message. All nodes run DSR, so that every message is one of DSR.
fn parse(message: &Datagram) -> Option<DsrMessage> {
    let parsed = DsrMessage::parse(message);
    debug_assert!(parsed.is_some(), "no message of DSR: {message:?}");
    parsed
}

/// Length in bytes of a message above the MAC, IP header included.
fn size(message: &Datagram) -> u32 {
    IP_HEADER + message.on_air().len() as u32
}

fn has_link(route: &[NodeId], link: BrokenLink) -> bool {
    let (there, back) = ([link.from, link.to], [link.to, link.from]);
    route.windows(2).any(|pair| pair == there || pair == back)
}

/// Removes the loops from a route.
fn without_loops(route: &[NodeId]) -> Vec<NodeId> {
    let mut result = Vec::with_capacity(route.len());
    let mut at = 0;
    while let Some(node) = route.get(at) {
        result.push(*node);
        let last = route.iter().rposition(|other| other == node).expect("it is there");
        at = last + 1;
    }
    result
}
