//! Stack: the layers above a node's MAC. Interface queue, router policies, estimators, endpoints of flows,
//! and ports of wires.

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
mod probes;
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
use forwarding::LinkLayerDirection;
use multicast::Multicast;
use multihop_core::{DropCause, Dropped, LinkEvent, NodeId, Packet, Report, Span, Time};
use multihop_link::{Departure, Estimator, Hop, LinkView, Verdict};
pub use policies::Policies;
use probes::Probes;
use routed::Agent;
use std::collections::VecDeque;

/// Parts of the world that a stack may use besides itself.
pub struct StackContext<'a> {
    pub now: Time,
    pub agenda: &'a mut Agenda,
    pub network: &'a Network,
    pub packets: &'a mut Slab,
    pub record: &'a mut Recorder,
}

/// Layers above a node's MAC. The fields that tell whether anything is pending come first, because they are
/// read after most events.
#[repr(C, align(64))]
pub struct Stack {
    inbox: VecDeque<Handle>,
    /// Endpoints that changed since they were last drained.
    touched: Vec<u32>,
    link_slot: Slot,
    /// Whether the node is off: its ports start nothing, and its policies signal nothing.
    off: bool,
    /// Whether a policy, an estimator or an endpoint observes link events.
    observed: bool,
    /// Whether one of them also observes events of the medium.
    sensed: bool,
    /// Whether anything here observes the medium or overhears frames for other nodes.
    watched: bool,
    /// Whether an endpoint follows the departure of its packets.
    followed: bool,
    /// Agent of the routing protocol; none with static routes.
    agent: Option<Agent>,
    backlogged: BackloggedSources,
    queues: Queues,
    /// Packets in the link layer, with the instant at which they leave it.
    passing: VecDeque<(Time, LinkLayerDirection, Handle)>,
    /// Router policies of the interface queue.
    policies: Policies,
    id: NodeId,
    ends: Vec<End>,
    failures: Failures,
    /// Schedule of notices and probes; none if nothing here sends any.
    notices: Option<Notices>,
    /// Known addresses of neighbours; none without address resolution.
    neighbours: Option<Neighbours>,
    /// Probes of the links to next hops; none if no estimator requests any.
    probes: Option<Box<Probes>>,
    /// Transfer to the other radios of the node; none if it has one radio.
    bus: Option<Bus>,
    /// Ports of wires, in the order of their peers.
    ports: Vec<Port>,
    lifetime: Option<Span>,
    /// Estimators whose values are recorded, each with the number of its measurement.
    gauges: Vec<(u32, Box<dyn Estimator>)>,
    /// Largest number of packets that the MAC puts into one frame.
    frame_takes: usize,
    /// Endpoints that observe link events.
    observing_ends: Vec<u32>,
    multicast: Multicast,
}

const _: () = assert!(std::mem::offset_of!(Stack, queues) <= 128, "what may be pending is two cache lines");

impl Stack {
    /// Creates a stack without flows. `queues` are those of the radio.
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
            probes: policies.probing().map(Probes::new).map(Box::new),
            lifetime,
            gauges: Vec::new(),
            observed: !policies.is_empty(),
            sensed: policies.sense_medium(),
            watched: policies.sense_medium(),
            observing_ends: Vec::new(),
            multicast: Multicast::default(),
            followed: false,
            frame_takes: 1,
            policies,
            notices: None,
        }
    }

    /// Sets the number of packets that the MAC can put into one frame.
    pub fn set_aggregate_limit(&mut self, packets: usize) {
        self.frame_takes = packets;
    }

    /// Adds an endpoint of a flow; returns its index.
    pub fn add_end(&mut self, end: End) -> u32 {
        if end.endpoint.observes_link() {
            self.observing_ends.push(self.ends.len() as u32);
            self.observe(true);
        }
        self.followed |= end.endpoint.follows_departures();
        self.ends.push(end);
        (self.ends.len() - 1) as u32
    }

    /// Adds an estimator whose values are recorded, for the measurement with this number.
    pub fn add_gauge(&mut self, measurement: u32, estimator: Box<dyn Estimator>) {
        self.observe(estimator.senses_medium());
        if self.probes.is_none() {
            self.probes = estimator.probing().map(Probes::new).map(Box::new);
        }
        self.gauges.push((measurement, estimator));
    }

    /// Values of the recorded estimators, each with the number of its measurement.
    pub fn gauges(&self, now: Time) -> impl Iterator<Item = (u32, LinkView)> {
        self.gauges.iter().map(move |(measurement, estimator)| {
            let mut view = LinkView::default();
            estimator.write(now, &mut view);
            (*measurement, view)
        })
    }

    /// Report about the node's links for its next ACK, if an estimator has one.
    pub fn report(&self, now: Time) -> Option<Report> {
        let written = || self.gauges.iter().find_map(|(_, estimator)| estimator.report(now));
        self.policies.report(now).or_else(written)
    }

    /// Endpoint with this index.
    pub fn end(&self, index: u32) -> &End {
        &self.ends[index as usize]
    }

    /// Number of packets in the interface queue, or in those of all categories.
    #[inline]
    pub fn queue_length(&self) -> usize {
        self.queues.len()
    }

    /// Whether any scheme's policy acts at the interface queue.
    pub fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Whether the node sends notices or probes at times of its own.
    pub fn has_notices(&self) -> bool {
        self.has_policies() || self.probes.is_some()
    }

    // ---- from the MAC ----

    /// Handles a DATA frame that is about to be sent.
    pub fn on_departure(&mut self, now: Time, departure: impl Fn() -> Departure, packet: &mut Packet) {
        self.policies.consult(now, packet, |policy, packet, view| policy.on_data(&departure(), packet, view));
    }

    /// Handles a packet received from this neighbour.
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

    /// Adds an observer of link events, also of the medium's if it `senses` them.
    fn observe(&mut self, senses: bool) {
        self.observed = true;
        self.sensed |= senses;
        self.watched |= senses;
    }

    /// Whether anything here observes link events.
    #[inline]
    pub fn observes(&self) -> bool {
        self.observed
    }

    /// Whether anything here observes events of the medium: busy periods, NAVs, and decoded frames.
    #[inline]
    pub fn senses(&self) -> bool {
        self.sensed
    }

    /// Whether anything here observes frames that do not involve the node.
    #[inline]
    pub fn watches(&self) -> bool {
        self.watched
    }

    /// Reports a link event.
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

    /// Records that the MAC delivered a packet to a next hop.
    #[inline]
    pub fn on_delivered(&mut self, peer: NodeId) {
        self.failures.on_delivered(peer);
    }

    /// Handles a packet that the MAC gave up. If that breaks the link, the packets waiting for the next hop
    /// leave the queue too.
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
        if entry.packet.is_arp() || entry.packet.is_probe() || entry.packet.is_outside() {
            return self.lose(now, handle, DropCause::RetryLimit, packets, record);
        }
        if entry.passed_on {
            // The MAC cannot know: only the acknowledgement was lost.
            let packet = entry.packet;
            self.signal_given_up(now, &packet);
        }
        let sees = self.failures.counts_loss(&packets.get(handle).packet);
        let breaks = sees && self.failures.on_given_up(now, peer);
        let strands = if self.agent.is_some() && sees {
            self.report_failure(now, peer, breaks, handle, packets, record)
        } else if packets.get(handle).passed_on {
            let packet = packets.remove(handle).packet;
            self.on_departed(now, &packet);
            breaks
        } else {
            let packet = packets.get(handle).packet;
            self.lose(now, handle, DropCause::RetryLimit, packets, record);
            if breaks {
                self.signal_no_route(now, &packet);
            }
            breaks
        };
        if strands {
            self.purge(now, peer, packets, record);
        }
    }

    /// Drops a packet at this node.
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
        if matches!(cause, DropCause::NoRoute | DropCause::LinkBroken) {
            self.signal_no_route(now, &packet);
        }
        self.on_departed(now, &packet);
        let dropped = Dropped { node: self.id, flow: packet.flow, size: packet.size, at: now, cause };
        self.on_link(&LinkEvent::Dropped(dropped));
    }

    /// Number of received packets not processed yet.
    #[cfg(test)]
    pub fn inbox(&self) -> usize {
        self.inbox.len()
    }

    // ---- from the agenda ----

    /// Switches the node off.
    pub fn switch_off(&mut self, around: &mut StackContext) {
        self.off = true;
        self.arm_notices(around.now, around.agenda);
        self.stop_wires(around);
    }

    /// Switches the node on. Its queues keep their packets; its policies lose their state.
    pub fn switch_on(&mut self, around: &mut StackContext) {
        self.off = false;
        self.policies.restart(around.now);
        self.arm_notices(around.now, around.agenda);
        self.restart_wires(around);
    }

    /// Handles the deadline of an endpoint.
    pub fn on_deadline(&mut self, now: Time, end: u32) {
        self.ends[end as usize].endpoint.on_timeout(now);
        self.touched.push(end);
    }

    /// Handles the timer of an application.
    pub fn on_app(&mut self, around: &mut StackContext, index: u32) {
        let end = &mut self.ends[index as usize];
        let (app, slot) = end.app.as_mut().expect("only ends with an application have its slot");
        let encoder_rate = if app.adapts() { end.endpoint.encoder_rate() } else { None };
        let offer = app.on_time(around.now, end.endpoint.backlog(), encoder_rate);
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

    /// Whether nothing is pending above the MAC.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.inbox.is_empty()
            && self.touched.is_empty()
            && self.agent.as_ref().is_none_or(|agent| !agent.pending)
            && (self.backlogged.is_empty() || (self.notices.is_none() && !self.needs_refill()))
    }

    /// Processes everything pending above the MAC; afterwards the queue may hold packets for it.
    pub fn settle(&mut self, around: &mut StackContext) {
        loop {
            if let Some(end) = self.touched.pop() {
                self.drain(around, end);
            } else if let Some(handle) = self.inbox.pop_front() {
                // Broadcasts are not acknowledged, so that a response may start at once. It must not start
                // before all frames that end at this instant have ended.
                let answers_at_once = around.packets.get(handle).packet.is_control();
                if around.network.link_layer_delay > Span::ZERO || answers_at_once {
                    self.delay(around, LinkLayerDirection::Up, handle);
                } else {
                    self.pass_up(around, handle);
                }
            } else if !self.serve_agent(around) && !self.refill(around) {
                self.arm_notices(around.now, around.agenda);
                return;
            }
        }
    }

    /// Lets an endpoint send its segments, and arms its deadline.
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
