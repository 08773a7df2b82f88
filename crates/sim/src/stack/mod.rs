//! What lies above a node's MAC: interface queue, router policies, estimators, and the ends of flows; and its
//! ports onto wires.

mod arp;
mod backlogged;
mod bus;
mod control;
mod departures;
mod end;
mod failures;
mod forwarding;
mod interface_queue;
mod multicast;
mod policies;
mod ports;
mod queues;
mod routed;

pub use end::End;
pub use failures::Failures;
pub use forwarding::{FlowRoute, Network};
pub use interface_queue::Waiting;
pub use ports::Port;
pub use queues::Queues;

use crate::agenda::{Agenda, Lane, Slot};
use crate::record::Recorder;
use crate::slab::{Handle, Slab};
use arp::Neighbours;
use backlogged::BackloggedSources;
use bus::Bus;
use control::Notices;
use forwarding::Direction;
use multicast::Multicast;
use multihop_core::{DropCause, Dropped, LinkEvent, NodeId, Packet, Report, Span, Time};
use multihop_link::{Departure, Estimator, Hop, LinkView, Verdict};
pub use policies::Policies;
use routed::Agent;
use std::collections::VecDeque;

/// What a stack may touch besides itself.
pub struct StackContext<'a> {
    pub now: Time,
    pub agenda: &'a mut Agenda,
    pub network: &'a Network,
    pub packets: &'a mut Slab,
    pub record: &'a mut Recorder,
}

/// What lies above a node's MAC. It begins with what says whether anything is pending, which is asked after
/// most events of the node.
#[repr(C, align(64))]
pub struct Stack {
    inbox: VecDeque<Handle>,
    /// Ends whose endpoint changed since it was last drained.
    touched: Vec<u32>,
    link_slot: Slot,
    /// The node is off: its ports begin nothing, and its policies signal nothing.
    off: bool,
    /// A policy or estimator here asks for link events.
    observed: bool,
    /// The same, or what neighbours send to others.
    watched: bool,
    /// An end wants to know when what it sent has left.
    followed: bool,
    /// The agent of the routing protocol; none if they are static.
    agent: Option<Agent>,
    backlogged: BackloggedSources,
    queues: Queues,
    /// Packets in the link layer, with the instant at which they leave it.
    passing: VecDeque<(Time, Direction, Handle)>,
    /// Of the interface queue.
    policies: Policies,
    id: NodeId,
    ends: Vec<End>,
    failures: Failures,
    /// None if no policy could signal anything.
    notices: Option<Notices>,
    /// Neighbours whose addresses are known; none if all are from the beginning.
    neighbours: Option<Neighbours>,
    /// To the other radios of the node; none if it has one.
    bus: Option<Bus>,
    /// Onto wires, in the order of their peers.
    ports: Vec<Port>,
    lifetime: Option<Span>,
    /// Estimators whose values are written down, each with the number of its measurement.
    gauges: Vec<(u32, Box<dyn Estimator>)>,
    /// Packets that the MAC can put into one frame.
    frame_takes: usize,
    /// The ends that want to know what the MAC saw.
    observing_ends: Vec<u32>,
    multicast: Multicast,
}

const _: () = assert!(std::mem::offset_of!(Stack, queues) <= 128, "what may be pending is two cache lines");

impl Stack {
    /// A stack without flows. `queues` are those of the radio.
    pub fn new(
        id: NodeId,
        queues: Queues,
        lifetime: Option<Span>,
        policies: Policies,
        link_slot: Slot,
        failures: Failures,
    ) -> Stack {
        Stack {
            id,
            queues,
            ports: Vec::new(),
            bus: None,
            off: false,
            ends: Vec::new(),
            inbox: VecDeque::new(),
            passing: VecDeque::new(),
            link_slot,
            failures,
            touched: Vec::new(),
            backlogged: BackloggedSources::default(),
            agent: None,
            neighbours: None,
            lifetime,
            gauges: Vec::new(),
            observed: !policies.is_empty(),
            watched: !policies.is_empty(),
            observing_ends: Vec::new(),
            multicast: Multicast::default(),
            followed: false,
            frame_takes: 1,
            policies,
            notices: None,
        }
    }

    /// The MAC can put so many packets into one frame.
    pub fn set_aggregate_limit(&mut self, packets: usize) {
        self.frame_takes = packets;
    }

    /// Adds an end of a flow; returns its index.
    pub fn add_end(&mut self, end: End) -> u32 {
        if end.endpoint.observes_link() {
            self.observing_ends.push(self.ends.len() as u32);
            (self.observed, self.watched) = (true, true);
        }
        self.followed |= end.endpoint.follows_departures();
        self.ends.push(end);
        (self.ends.len() - 1) as u32
    }

    /// Adds an estimator whose values are written down, for the measurement of this number.
    pub fn add_gauge(&mut self, measurement: u32, estimator: Box<dyn Estimator>) {
        (self.observed, self.watched) = (true, true);
        self.gauges.push((measurement, estimator));
    }

    /// What the estimators say that are written down, each alone, with the number of its measurement.
    pub fn gauges(&self, now: Time) -> impl Iterator<Item = (u32, LinkView)> {
        self.gauges.iter().map(move |(measurement, estimator)| {
            let mut view = LinkView::default();
            estimator.write(now, &mut view);
            (*measurement, view)
        })
    }

    /// What the node's next ACK says of its links, where an estimator has something to say.
    pub fn report(&self, now: Time) -> Option<Report> {
        let written = || self.gauges.iter().find_map(|(_, estimator)| estimator.report(now));
        self.policies.report(now).or_else(written)
    }

    /// An end.
    pub fn end(&self, index: u32) -> &End {
        &self.ends[index as usize]
    }

    /// Packets in the interface queue, or in those of all categories.
    #[inline]
    pub fn queue_length(&self) -> usize {
        self.queues.len()
    }

    /// Does any scheme's policy act at the interface queue?
    pub fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    // ---- from the MAC ----

    /// A DATA frame is about to leave.
    pub fn on_departure(&mut self, now: Time, departure: impl Fn() -> Departure, packet: &mut Packet) {
        self.policies.consult(now, packet, |policy, packet, view| policy.on_data(&departure(), packet, view));
    }

    /// A packet came from the air, from this neighbour.
    pub fn on_received(
        &mut self,
        now: Time,
        from: NodeId,
        handle: Handle,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        let packet = &mut packets.get_mut(handle).packet;
        packet.hops += 1;
        let hop = Hop { now, peer: from };
        let verdict =
            self.policies.consult(now, packet, |policy, packet, view| policy.on_received(hop, packet, view));
        if verdict == Verdict::Drop {
            self.lose(now, handle, DropCause::Policy, packets, record);
        } else {
            self.inbox.push_back(handle);
        }
    }

    /// Does anybody here want to know of link events?
    #[inline]
    pub fn observes(&self) -> bool {
        self.observed
    }

    /// Does anybody here want to know of what does not concern the node itself: of link events, or of what
    /// neighbours send to others?
    #[inline]
    pub fn watches(&self) -> bool {
        self.watched
    }

    /// Something happened at the MAC.
    #[inline]
    pub fn on_link(&mut self, event: &LinkEvent) {
        if self.observed {
            self.report_event(event);
        }
    }

    #[inline(never)]
    fn report_event(&mut self, event: &LinkEvent) {
        self.policies.on_link(event);
        self.gauges.iter_mut().for_each(|(_, estimator)| estimator.on_link(event));
        for end in &self.observing_ends {
            self.ends[*end as usize].endpoint.on_link(event);
        }
    }

    /// The MAC delivered a packet to a next hop.
    #[inline]
    pub fn on_delivered(&mut self, peer: NodeId) {
        self.failures.on_delivered(peer);
    }

    /// The MAC gave a packet to a next hop up. If that breaks the link, what waits for it goes as well.
    pub fn on_given_up(
        &mut self,
        now: Time,
        peer: NodeId,
        handle: Handle,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        let entry = packets.get(handle);
        if entry.packet.is_outside() && entry.passed_on {
            packets.remove(handle);
            return;
        }
        if entry.packet.is_arp() || entry.packet.is_outside() {
            return self.lose(now, handle, DropCause::RetryLimit, packets, record);
        }
        if entry.passed_on {
            // The MAC cannot know it: what it misses is the acknowledgement.
            let packet = entry.packet;
            self.signal_given_up(now, &packet);
        }
        let sees = self.failures.see(&packets.get(handle).packet);
        let breaks = sees && self.failures.on_given_up(now, peer);
        let strands = if self.agent.is_some() && sees {
            self.report_failure(now, peer, breaks, handle, packets, record)
        } else if packets.get(handle).passed_on {
            let packet = packets.remove(handle).packet;
            self.on_departed(now, &packet);
            breaks
        } else {
            self.lose(now, handle, DropCause::RetryLimit, packets, record);
            breaks
        };
        if strands {
            self.purge(now, peer, packets, record);
        }
    }

    /// A packet is lost here.
    pub fn lose(
        &mut self,
        now: Time,
        handle: Handle,
        cause: DropCause,
        packets: &mut Slab,
        record: &mut Recorder,
    ) {
        let packet = packets.remove(handle).packet;
        record.dropped(self.id, &packet, cause, now);
        if cause == DropCause::RetryLimit {
            self.signal_given_up(now, &packet);
        }
        self.on_departed(now, &packet);
        let dropped = Dropped { node: self.id, flow: packet.flow, size: packet.size, at: now, cause };
        self.on_link(&LinkEvent::Dropped(dropped));
    }

    /// Packets that came from the air and were not looked at yet.
    #[cfg(test)]
    pub fn inbox(&self) -> usize {
        self.inbox.len()
    }

    // ---- from the agenda ----

    /// The node is switched off.
    pub fn switch_off(&mut self, around: &mut StackContext) {
        self.off = true;
        self.arm_notices(around.now, around.agenda);
        self.stop_wires(around);
    }

    /// The node is on again. What waited in its queues is still there; what its policies knew is not.
    pub fn switch_on(&mut self, around: &mut StackContext) {
        self.off = false;
        self.policies.restart(around.now);
        self.arm_notices(around.now, around.agenda);
        self.restart_wires(around);
    }

    /// An end's deadline has come.
    pub fn on_deadline(&mut self, now: Time, end: u32) {
        self.ends[end as usize].endpoint.on_timeout(now);
        self.touched.push(end);
    }

    /// An application's time has come.
    pub fn on_app(&mut self, around: &mut StackContext, index: u32) {
        let end = &mut self.ends[index as usize];
        let (app, slot) = end.app.as_mut().expect("only ends with an application have its slot");
        let offer = app.on_time(around.now, end.endpoint.backlog());
        if offer.frame {
            around.record.frame_made(end.flow, offer.bytes, around.now);
        }
        if offer.withdraw {
            end.endpoint.withdraw();
        }
        let follows = app.follows_queue(around.now);
        if offer.bytes > 0 {
            end.endpoint.push(around.now, offer.bytes);
        }
        if let Some(again) = offer.again {
            around.agenda.arm(*slot, again, Lane::Upper);
        }
        if follows {
            let end = &self.ends[index as usize];
            let output = self.output_towards(around, end.peer, end.dscp);
            self.backlogged.add(index, output);
        }
        self.touched.push(index);
    }

    /// Is nothing pending above the MAC?
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.inbox.is_empty()
            && self.touched.is_empty()
            && self.agent.as_ref().is_none_or(|agent| !agent.pending)
            && (self.backlogged.is_empty() || (self.notices.is_none() && !self.needs_refill()))
    }

    /// Handles everything that is pending above the MAC; afterwards the queue may hold something for it.
    pub fn settle(&mut self, around: &mut StackContext) {
        loop {
            if let Some(end) = self.touched.pop() {
                self.drain(around, end);
            } else if let Some(handle) = self.inbox.pop_front() {
                // Unlike unicasts, broadcasts owe no ACK, so that an answer may start at once. It must not start before all that
                // ends at this instant has ended.
                let answers_at_once = around.packets.get(handle).packet.is_control();
                if around.network.link_layer_delay > Span::ZERO || answers_at_once {
                    self.delay(around, Direction::Up, handle);
                } else {
                    self.pass_up(around, handle);
                }
            } else if !self.serve_agent(around) && !self.refill(around) {
                self.arm_notices(around.now, around.agenda);
                return;
            }
        }
    }

    /// Lets an end send what it wants to, and arms its deadline.
    fn drain(&mut self, around: &mut StackContext, index: u32) {
        while let Some(segment) = self.ends[index as usize].endpoint.poll_segment(around.now) {
            let end = &mut self.ends[index as usize];
            let packet = end.packet(self.id, &segment, around);
            self.emit(around, packet);
        }
        let end = &self.ends[index as usize];
        match end.endpoint.poll_timeout() {
            Some(deadline) => around.agenda.arm(end.deadline, deadline.max(around.now), Lane::Upper),
            None => around.agenda.disarm(end.deadline),
        }
    }
}
