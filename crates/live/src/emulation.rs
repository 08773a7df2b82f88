//! The loop: virtual time follows a clock, packets of devices go into a run, and come out where and when the
//! run delivers them.

use crate::counters::Counters;
use crate::datagram::{Datagram, Refusal, mark};
use crate::ethernet;
use crate::journal::Recorder;
use crate::lateness::Lateness;
use crate::shim::{Arrival, Headers, Outgoing, Shim};
use multihop_core::{DropCause, Ecn, FlowId, NodeId, Span, Time};
use multihop_sim::World;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::external::{Injection, OutsideFrame, PacketOutcome};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

/// Bytes of the longest packet that a kernel sends over a device, as over those of Wi-Fi, unless a program
/// changes that.
const MTU: u16 = 1_500;

/// Bytes of the longest packet that a kernel sends over a device of this run: no more than an MSDU has room
/// for.
pub fn mtu(config: &Config) -> u16 {
    u16::try_from(config.largest_packet()).map_or(MTU, |largest| largest.min(MTU))
}

/// All addresses of nodes begin with it.
const NET: u8 = 10;

/// A turn takes no more packets than this, as floods do not end.
const MOST_PACKETS: u32 = 256;

/// A turn waits no longer than this, so that the caller of the loop can end it.
const TURN_TIMEOUT: Span = Span::from_ms(20);

/// A broadcast that was sent may still be on its way for this long: as light takes to the farthest listener,
/// and more.
const FLIGHT: Span = Span::from_ms(1);

/// What routes: the run, or programs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// The run: devices carry packets of IPv4 from end to end.
    #[default]
    Ip,
    /// Programs: devices carry frames of Ethernet over one hop.
    Ethernet,
}

/// Real time.
pub trait Clock {
    /// The time since the start of the emulation; it never goes backwards.
    fn elapsed(&mut self) -> Span;
}

/// The devices of all nodes.
pub trait Wire {
    /// Waits until a device has a packet, but no longer than this; perhaps not so long.
    ///
    /// # Errors
    /// If the devices are gone.
    fn wait(&mut self, at_most: Span) -> io::Result<()>;

    /// Takes a packet that a node sends: the node, and its length in the buffer. None if no more are there;
    /// then `wait` has to look.
    ///
    /// # Errors
    /// If the devices are gone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>>;

    /// Gives a packet to a node. False if its device does not take it.
    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool;
}

/// The address of a node: 10.0.0.1 is the first, in 10.0.0.0/8.
///
/// # Panics
/// If there are more nodes than addresses.
pub fn address(node: NodeId) -> [u8; 4] {
    assert!(node.0 < (1 << 24) - 2, "10.0.0.0/8 has no address for node {}", node.0);
    let [_, high, middle, low] = (node.0 + 1).to_be_bytes();
    [NET, high, middle, low]
}

/// Is it beyond the air, on which only addresses of nodes are?
fn is_beyond([net, ..]: [u8; 4]) -> bool {
    net != NET
}

/// A run under real programs.
pub struct Emulation<C, W> {
    world: World,
    clock: C,
    wire: W,
    /// Real time per virtual time.
    slow: f64,
    mode: Mode,
    flows: Flows,
    /// Bytes of the longest packet that is injected.
    largest_packet: u32,
    /// By how much of virtual time a packet may be late so that the loop sleeps less often.
    slack: Span,
    /// The run has no traffic of its own, so that little happens while no packet is in the network.
    only_carries: bool,
    /// The packets in the network, by the numbers of the run.
    held: BTreeMap<u64, Held>,
    /// Of these, broadcasts that were sent, and when.
    sent: VecDeque<(Time, u64)>,
    journal: Option<Recorder<Box<dyn Write + Send>>>,
    shim: Option<Shim>,
    /// The node to which packets for addresses go that are no node's, and from which such come.
    gateway: Option<NodeId>,
    counters: Counters,
    lateness: Lateness,
    /// Payload bytes delivered, by flow.
    delivered: Vec<u64>,
    buffer: Vec<u8>,
}

struct Held {
    /// None of broadcasts, and between nodes that cannot reach each other at first.
    flow: Option<FlowId>,
    is_broadcast: bool,
    ecn: Ecn,
    payload: u32,
    packet: Vec<u8>,
    shimmed: Option<Shimmed>,
}

/// What the shim has to know of a packet.
struct Shimmed {
    datagram: Datagram,
    headers: Headers,
    /// How often its node's own MAC has given it up.
    given_up: u32,
}

/// Which flow takes packets from one node to another.
struct Flows {
    nodes: usize,
    of: Vec<Option<FlowId>>,
}

impl<C: Clock, W: Wire> Emulation<C, W> {
    /// An emulation of this run, which has not begun. A virtual second takes `slow` real ones.
    ///
    /// # Panics
    /// If `slow` is not positive.
    pub fn new(world: World, clock: C, wire: W, slow: f64) -> Emulation<C, W> {
        assert!(slow > 0.0 && slow.is_finite(), "time cannot pass {slow} times as slowly");
        let flows = Flows::of(&world);
        Emulation {
            delivered: vec![0; world.config().flows.len()],
            only_carries: world.config().flows.iter().all(|flow| flow.app == AppConfig::External),
            largest_packet: world.config().largest_packet(),
            slack: Span::ZERO,
            world,
            clock,
            wire,
            slow,
            mode: Mode::Ip,
            flows,
            held: BTreeMap::new(),
            sent: VecDeque::new(),
            journal: None,
            shim: None,
            gateway: None,
            counters: Counters::default(),
            lateness: Lateness::default(),
            buffer: vec![0; usize::from(u16::MAX)],
        }
    }

    /// Writes what is injected.
    #[must_use]
    pub fn recorded(mut self, journal: Recorder<Box<dyn Write + Send>>) -> Emulation<C, W> {
        self.journal = Some(journal);
        self
    }

    /// A packet may be late by this much of real time where that saves the loop from waking: each time costs
    /// as much of the processor as a packet.
    #[must_use]
    pub fn with_slack(mut self, slack: Span) -> Emulation<C, W> {
        self.slack = Span::from_ns((slack.ns() as f64 / self.slow) as u64);
        self
    }

    /// What devices carry, if it is not packets of IPv4.
    #[must_use]
    pub fn carrying(mut self, mode: Mode) -> Emulation<C, W> {
        self.mode = mode;
        self
    }

    /// The ends of a scheme stand below the TCP of kernels.
    #[must_use]
    pub fn below_tcp(mut self, shim: Shim) -> Emulation<C, W> {
        self.shim = Some(shim);
        self.largest_packet = self.largest_packet.saturating_sub(Headers::MOST_BYTES);
        self
    }

    /// A node leads to networks beyond the air.
    #[must_use]
    pub fn through(mut self, gateway: NodeId) -> Emulation<C, W> {
        self.gateway = Some(gateway);
        self
    }

    /// Lets virtual time come up to real time, waits for packets until the run may next deliver one, but not
    /// for long, and injects them. False when the run is over.
    ///
    /// What happens in the run before it delivers something need not happen at its instant of real time, but
    /// before the next packet is injected.
    ///
    /// # Errors
    /// If the devices cannot be read.
    pub fn turn(&mut self) -> io::Result<bool> {
        if !self.catch_up() {
            return Ok(false);
        }
        let released = self.shim.as_ref().and_then(Shim::next).unwrap_or(Time::NEVER);
        let next = self.next_delivery().min(released);
        let before = self.clock.elapsed();
        let at_most = self.real(next).saturating_sub(before).min(TURN_TIMEOUT);
        self.wire.wait(at_most)?;
        // A process that was suspended, or had no core, finds packets that may have waited since.
        let overslept = self.clock.elapsed().saturating_sub(before + at_most);
        for _ in 0..MOST_PACKETS {
            let Some((from, length)) = self.wire.read(&mut self.buffer)? else { break };
            if overslept > Span::ZERO {
                self.lateness.add(overslept);
            }
            // A packet is injected when all before it has happened.
            self.catch_up();
            self.offer(from, length);
        }
        Ok(true)
    }

    /// Ends the journal now, if there is one, where the run is to end.
    ///
    /// # Errors
    /// If the journal could not be written, now or before: it ends there.
    pub fn end_journal(&mut self) -> io::Result<()> {
        // What the last packet makes due at its very instant has happened in a replay.
        self.settle_until(self.world.now());
        let (now, fingerprint) = (self.world.now(), self.world.fingerprint());
        self.journal.take().map_or(Ok(()), |journal| journal.end(now, fingerprint))
    }

    /// Ends the run now, and the journal with it. What is still in the network counts as queued.
    ///
    /// # Errors
    /// If the journal could not be written.
    pub fn end(mut self) -> io::Result<(World, Counters, Lateness)> {
        self.end_journal()?;
        let counters = self.counters();
        Ok((self.world, counters, self.lateness))
    }

    /// Real time since the start.
    pub fn elapsed(&mut self) -> Span {
        self.clock.elapsed()
    }

    /// The run.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The devices.
    pub fn wire(&self) -> &W {
        &self.wire
    }

    /// What became of the packets until now.
    pub fn counters(&self) -> Counters {
        let waiting = self.shim.as_ref().map_or(0, Shim::waiting);
        Counters { queued: (self.held.len() - self.sent.len() + waiting) as u64, ..self.counters.clone() }
    }

    /// How late packets were, in real time.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Payload bytes that were delivered, by flow.
    pub fn delivered(&self) -> &[u64] {
        &self.delivered
    }

    /// Nothing is to be handed over before this instant, unless something is injected first.
    fn next_delivery(&mut self) -> Time {
        let is_empty = self.held.is_empty() && self.only_carries;
        if is_empty { self.world.end() } else { self.world.next_delivery_within(self.slack) }
    }

    /// Virtual time comes up to real time. False when the run is over.
    fn catch_up(&mut self) -> bool {
        let now = Time::ZERO + self.passed();
        // What the shim holds back leaves at its instant.
        while let Some(at) = self.shim.as_ref().and_then(Shim::next).filter(|at| *at < now) {
            if !self.settle_until(at) {
                return false;
            }
        }
        self.settle_until(now)
    }

    /// Lets everything happen up to this instant, and injects what the shim releases then.
    fn settle_until(&mut self, until: Time) -> bool {
        let next = self.world.advance(until);
        while let Some(outcome) = self.world.poll_outcome() {
            self.settle(&outcome);
        }
        self.put_released();
        let now = self.world.now();
        while let Some((_, number)) = self.sent.front().filter(|(at, _)| *at + FLIGHT < now) {
            self.held.remove(number);
            self.sent.pop_front();
        }
        next.is_some()
    }

    /// Virtual time that should have passed.
    fn passed(&mut self) -> Span {
        let elapsed = self.clock.elapsed();
        if self.slow == 1.0 { elapsed } else { Span::from_ns((elapsed.ns() as f64 / self.slow) as u64) }
    }

    /// The real time of an instant of the run.
    fn real(&self, at: Time) -> Span {
        let virtual_time = at.since(Time::ZERO);
        // Rounded up: a moment earlier, the event would not be due.
        if self.slow == 1.0 {
            virtual_time
        } else {
            Span::from_ns((virtual_time.ns() as f64 * self.slow).ceil() as u64)
        }
    }

    /// A node sends what is in the buffer.
    fn offer(&mut self, from: NodeId, length: usize) {
        self.counters.read += 1;
        let taken = match self.mode {
            Mode::Ip => self.inject(from, length),
            Mode::Ethernet => self.inject_frame(from, length),
        };
        if let Err(refusal) = taken {
            self.counters.refused[refusal as usize] += 1;
        }
    }

    fn inject(&mut self, from: NodeId, length: usize) -> Result<(), Refusal> {
        let packet = &self.buffer[..length];
        let (datagram, flow) = self.route(from, packet)?;
        if let Some(shim) = &mut self.shim {
            shim.send(self.world.now(), packet, flow, datagram)?;
            self.put_released();
        } else {
            self.put(packet.to_vec(), flow, datagram, None);
        }
        Ok(())
    }

    fn put_released(&mut self) {
        let now = self.world.now();
        while let Some(outgoing) = self.shim.as_mut().and_then(|shim| shim.poll(now)) {
            let Outgoing { packet, flow, datagram, headers } = outgoing;
            self.put(packet, flow, datagram, Some(Shimmed { datagram, headers, given_up: 0 }));
        }
    }

    fn put(&mut self, packet: Vec<u8>, flow: FlowId, datagram: Datagram, shimmed: Option<Shimmed>) {
        let Datagram { payload, header, ecn, stream, .. } = datagram;
        let headers = &packet[..header as usize];
        let between = shimmed.as_ref().map_or_else(Headers::default, |shimmed| shimmed.headers);
        let (header, congestion) = (header + between.bytes(), between.congestion);
        let injection = Injection { flow, payload, header, ecn, stream, congestion };
        if let Some(journal) = &mut self.journal {
            journal.inject(self.world.now(), &injection, headers, &packet);
        }
        let number = self.world.inject_with_headers(&injection, headers);
        let held = Held { flow: Some(flow), is_broadcast: false, ecn, payload, packet, shimmed };
        self.held.insert(number, held);
    }

    fn inject_frame(&mut self, from: NodeId, length: usize) -> Result<(), Refusal> {
        let packet = &self.buffer[..length];
        let to = ethernet::destination(packet, from, self.flows.nodes)?;
        let payload = (length - ethernet::HEADER) as u32;
        if payload > self.largest_packet {
            return Err(Refusal::TooLong);
        }
        let frame = OutsideFrame { from, to, size: payload };
        if let Some(journal) = &mut self.journal {
            journal.inject_frame(self.world.now(), &frame, packet);
        }
        let flow = to.and_then(|to| self.flows.between(from, to));
        let (ecn, packet) = (Ecn::NotCapable, packet.to_vec());
        let held = Held { flow, is_broadcast: to.is_none(), ecn, payload, packet, shimmed: None };
        self.held.insert(self.world.inject_frame(&frame), held);
        Ok(())
    }

    fn route(&self, from: NodeId, packet: &[u8]) -> Result<(Datagram, FlowId), Refusal> {
        let datagram = Datagram::parse(packet)?;
        let forwards = self.gateway == Some(from);
        if datagram.source != address(from) && !(forwards && is_beyond(datagram.source)) {
            return Err(Refusal::ForeignSource);
        }
        let beyond = || self.gateway.filter(|_| !forwards && is_beyond(datagram.destination));
        let to = self.flows.node(datagram.destination).or_else(beyond).ok_or(Refusal::UnknownDestination)?;
        let flow = self.flows.between(from, to).ok_or(Refusal::UnknownDestination)?;
        if datagram.header + datagram.payload > self.largest_packet {
            return Err(Refusal::TooLong);
        }
        Ok((datagram, flow))
    }

    /// Something became of a packet.
    fn settle(&mut self, outcome: &PacketOutcome) {
        let number = outcome.number();
        match *outcome {
            PacketOutcome::Lost { cause, node, .. } => {
                if let Some(held) = self.held.remove(&number) {
                    self.lost(held, node, cause);
                }
            }
            PacketOutcome::Delivered { at, ecn, congestion, hops, .. } => {
                let Some(mut held) = self.held.remove(&number) else { return };
                let marked = ecn == Ecn::CongestionExperienced && held.ecn != ecn;
                if marked {
                    mark(&mut held.packet);
                }
                if let (Some(shim), Some(Shimmed { headers, .. })) = (&mut self.shim, &held.shimmed) {
                    let headers = Headers { congestion, ..*headers };
                    shim.deliver(at, &mut held.packet, &Arrival { headers, ecn, hops });
                }
                let to = held.flow.map(|flow| self.world.config().flows[flow.index()].destination);
                let taken = to.is_some_and(|to| self.hand_over(to, &held, at));
                self.counters.marked += u64::from(marked && taken);
            }
            PacketOutcome::Heard { at, node, .. } => {
                let Some(held) = self.held.remove(&number) else { return };
                // Of a broadcast this is a copy: it is accounted for when it was sent.
                if held.is_broadcast {
                    self.hand_copy_over(node, &held, at);
                    self.held.insert(number, held);
                } else {
                    self.hand_over(node, &held, at);
                }
            }
            PacketOutcome::Sent { at, .. } => {
                self.counters.delivered += 1;
                self.sent.push_back((at, number));
            }
        }
    }

    /// A packet was lost at a node; unless that is its source, and the shim sends it again.
    fn lost(&mut self, held: Held, node: NodeId, cause: DropCause) {
        if let (Some(shim), Held { flow: Some(flow), packet, shimmed: Some(shimmed), .. }) =
            (&self.shim, &held)
            && self.world.config().flows[flow.index()].source == node
            && shim.repairs(packet, cause, shimmed.given_up)
        {
            let Shimmed { datagram, headers, given_up } = *shimmed;
            let again = Shimmed { datagram, headers, given_up: given_up + 1 };
            let flow = *flow;
            self.put(held.packet, flow, datagram, Some(again));
        } else {
            self.counters.lost[cause as usize] += 1;
        }
    }

    /// Gives a packet to its destination. False if its device does not take it.
    fn hand_over(&mut self, to: NodeId, held: &Held, at: Time) -> bool {
        let taken = self.hand_copy_over(to, held, at);
        if taken {
            self.counters.delivered += 1;
        } else {
            self.counters.device_full += 1;
        }
        if let Some(flow) = held.flow.filter(|_| taken) {
            self.delivered[flow.index()] += u64::from(held.payload);
        }
        taken
    }

    fn hand_copy_over(&mut self, to: NodeId, held: &Held, at: Time) -> bool {
        let taken = self.wire.write(to, &held.packet);
        if taken {
            let due = self.real(at);
            self.lateness.add(self.clock.elapsed().saturating_sub(due));
        }
        taken
    }
}

impl Flows {
    fn of(world: &World) -> Flows {
        let config = world.config();
        let nodes = config.nodes.len();
        let mut of = vec![None; nodes * nodes];
        for (index, flow) in config.flows.iter().enumerate() {
            let place = &mut of[flow.source.index() * nodes + flow.destination.index()];
            if flow.app == AppConfig::External && place.is_none() {
                *place = Some(FlowId(index as u32));
            }
        }
        Flows { nodes, of }
    }

    /// The node that has an address.
    fn node(&self, address: [u8; 4]) -> Option<NodeId> {
        let [net, high, middle, low] = address;
        let number = u32::from_be_bytes([0, high, middle, low]);
        (net == NET && number > 0 && number as usize <= self.nodes).then(|| NodeId(number - 1))
    }

    fn between(&self, from: NodeId, to: NodeId) -> Option<FlowId> {
        self.of[from.index() * self.nodes + to.index()]
    }
}
