//! Processing of AODV messages.

use super::table::{AodvRoute, Hop};
use super::wire::{AodvMessage, AodvReply, AodvRequest, LONGEST_LIFETIME, Unreachable};
use super::{Action, Aodv};
use crate::config::AodvConfig;
use multihop_core::{NodeId, Span, Time};

impl Aodv {
    /// Replies to a RREQ or relays it; learns the reverse route in both cases.
    pub(super) fn on_request(&mut self, now: Time, from: NodeId, request: &AodvRequest) {
        let key = (request.source, request.number);
        if request.source == self.id || self.seen.get(&key).is_some_and(|until| *until > now) {
            return;
        }
        self.seen.insert(key, now + AodvConfig::PATH_DISCOVERY_TIME);
        self.learn_reverse_route(now, from, request);
        if request.target == self.id {
            self.reply(request);
        } else if !self.reply_as_intermediate(now, request) && request.reach > 1 {
            let known = self.table.get(&request.target).map_or(0, |entry| entry.sequence);
            let relayed = AodvRequest {
                target_sequence: known.max(request.target_sequence),
                hops: request.hops + 1,
                reach: request.reach - 1,
                ..request.clone()
            };
            self.broadcast_soon(now, &AodvMessage::Request(relayed));
        }
    }

    fn learn_reverse_route(&mut self, now: Time, from: NodeId, request: &AodvRequest) {
        let alive = now + AodvConfig::REVERSE_ROUTE_LIFE;
        let entry = self.table.entry(request.source).or_default();
        entry.expires = entry.expires.max(alive);
        if !entry.is_beaten_by(request.source_sequence, request.hops) {
            return;
        }
        let hop = Hop { next: from, hops: request.hops };
        entry.set(request.source_sequence, hop, entry.expires.max(alive));
        if entry.discovery.is_on() {
            entry.discovery.found(request.hops);
            entry.refresh(now, self.parameters.active_route_timeout);
        }
        self.release(now, request.source, now, Span::ZERO);
    }

    /// Replies as the target of the RREQ, with a sequence number greater than any that another node knows.
    fn reply(&mut self, request: &AodvRequest) {
        self.sequence = (self.sequence.max(request.target_sequence) + 1).next_multiple_of(2);
        self.send_reply(request, self.sequence, 1, AodvConfig::MY_ROUTE_TIMEOUT);
    }

    /// Replies from the routing table if the route is recent enough. Returns whether it did.
    fn reply_as_intermediate(&mut self, now: Time, request: &AodvRequest) -> bool {
        let Some(entry) = self.table.get(&request.target).filter(|_| self.parameters.intermediate_replies)
        else {
            return false;
        };
        let Some(hop) = entry.known().filter(|_| entry.sequence >= request.target_sequence) else {
            return false;
        };
        // ns-2 interprets the remaining time of a repaired route, which is negative, as an unsigned number of
        // seconds.
        let lifetime =
            if entry.is_repaired() { LONGEST_LIFETIME } else { whole_seconds(entry.expires.since(now)) };
        let (sequence, next) = (entry.sequence, hop.next);
        let Some(back) = self.send_reply(request, sequence, hop.hops + 1, lifetime) else { return true };
        let mut neighbour_of = |destination: NodeId, precursor: NodeId| {
            self.table.entry(destination).or_default().precursors.insert(precursor);
        };
        neighbour_of(request.target, back);
        neighbour_of(request.source, next);
        true
    }

    /// Sends a RREP to the originator. Returns the next hop, if there is one.
    fn send_reply(
        &mut self,
        request: &AodvRequest,
        sequence: u32,
        hops: u16,
        lifetime: Span,
    ) -> Option<NodeId> {
        let back = self.table.get(&request.source).and_then(AodvRoute::known)?.next;
        let reply = AodvReply {
            to: request.source,
            target: request.target,
            sequence,
            hops,
            lifetime,
            reach: self.parameters.network_diameter,
            asked: request.asked,
        };
        self.unicast(&AodvMessage::Reply(reply), back);
        Some(back)
    }

    /// Learns the route of a reply and relays the reply, if the route is better than the known one. Otherwise
    /// drops the reply.
    pub(super) fn on_reply(&mut self, now: Time, from: NodeId, reply: &AodvReply) {
        let AodvReply { to, target, sequence, hops, .. } = *reply;
        let entry = self.table.entry(target).or_default();
        if target == self.id || !entry.is_beaten_by(sequence, hops) {
            return;
        }
        entry.set(sequence, Hop { next: from, hops }, now + reply.lifetime);
        entry.discovery.found(hops);
        if to == self.id {
            entry.discovery.took(now.since(reply.asked), hops);
        }
        self.release(now, target, now, AodvConfig::RELEASE_INTERVAL);
        if to != self.id && reply.reach > 1 {
            self.relay(now, reply);
        }
    }

    fn relay(&mut self, now: Time, reply: &AodvReply) {
        let Some(back) = self.table.get_mut(&reply.to) else { return };
        let Some(Hop { next, .. }) = back.known() else { return };
        back.refresh(now, self.parameters.active_route_timeout);
        self.table.entry(reply.target).or_default().precursors.insert(next);
        let relayed = AodvReply { hops: reply.hops + 1, reach: reply.reach - 1, ..reply.clone() };
        self.unicast(&AodvMessage::Reply(relayed), next);
    }

    /// Breaks the routes through this neighbour to these destinations, and sends a RERR to their precursors.
    pub(super) fn on_error(&mut self, now: Time, from: NodeId, list: &[Unreachable]) {
        let mut unreachables = Vec::new();
        let mut any = false;
        for unreachable in list {
            let Some(entry) = self.table.get_mut(&unreachable.destination) else { continue };
            let is_meant = entry.known().is_some_and(|hop| hop.next == from);
            if !is_meant || entry.sequence > unreachable.sequence {
                continue;
            }
            entry.invalidate(unreachable.sequence);
            self.watched.note_failure(unreachable.destination);
            any = true;
            if !std::mem::take(&mut entry.precursors).is_empty() {
                unreachables.push(*unreachable);
            }
        }
        if any {
            self.actions.push_back(Action::Purge(from));
        }
        if !unreachables.is_empty() {
            self.broadcast_soon(now, &AodvMessage::Error(unreachables));
        }
    }

    /// Records a hello of a neighbour. A new neighbour changes the meaning of the node's own sequence number.
    pub(super) fn on_hello(&mut self, now: Time, from: NodeId) {
        let Some(hellos) = &mut self.hellos else { return };
        let rules = &self.parameters;
        let lifetime = rules.hello_interval.seconds()
            * f64::from(AodvConfig::ALLOWED_HELLO_LOSS)
            * AodvConfig::HELLO_SLACK;
        if hellos.neighbours.insert(from, now + Span::from_seconds(lifetime)).is_none() {
            self.sequence += 2;
        }
    }
}

/// Lifetime rounded to whole seconds, as transmitted.
fn whole_seconds(lifetime: Span) -> Span {
    let second = Span::from_ms(1_000);
    second * lifetime.whole(second)
}
